"""What initial values ask of each joint: coordinates and speeds, exact or a guess, and how much it should keep them.

Fields of joints (q=, u=, guess=) and values by name are read here; ``assembler.py`` finds a state that fulfills them.
Departures are measured along the speeds of a joint: differences of coordinates, and of a quaternion the rotation vector
that leads from the wished orientation to the actual one, in child axes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.algebra.spatial import rotation_from_quaternion
from kinode.errors import ArgumentError
from kinode.kernels.call_arguments import Arguments
from kinode.model.base.fields import unknown
from kinode.model.joints.joint import Joint
from kinode.model.quantity_names import coordinate_names

GUESSED, NOT_REQUESTED = 1.0, 1e-6  # weights of joints with a guess, and without one: these give way


@dataclass(frozen=True, eq=False)
class JointInitialValue:
    """What is asked of one joint; ``exact_q`` and ``exact_u`` mark freedoms, in the order of its speeds.

    Speeds are a function of the coordinates that are found: those of a free joint may be given in its parent's axes.
    """

    q: Array
    u: Callable[[Array], Array]
    exact_q: Array
    exact_u: Array
    weight: float = NOT_REQUESTED
    said_u: bool = False  # whether anything is said of its speeds


@dataclass(frozen=True, eq=False)
class InitialValues:
    """What is asked of all joints that move freely, and the states that no joint of them has."""

    joints: dict[str, JointInitialValue]
    z: Array
    weights: dict[str, float] = field(default_factory=dict)  # as the caller gives them
    said: frozenset[str] = frozenset()  # states of components that were given by name


def weight_of(values: InitialValues, name: str) -> float:
    """How much the coordinates of a joint count where not all can be kept."""
    return values.weights.get(name, values.joints[name].weight)


def is_guessed(values: InitialValues, name: str) -> bool:
    """Whether a joint has a guess, or a weight of its own."""
    return weight_of(values, name) > NOT_REQUESTED


def read_initial_values(
    arguments: Arguments, values: Mapping[str, Any], resolve: Callable[[Any], float], rough: bool = False
) -> InitialValues:
    """The initial values of the model, and values by name, which have precedence; they are exact, or rough."""
    topology = arguments.topology
    found, z = {}, np.zeros(topology.n_z)
    for name, where in topology.z_of.items():
        z[where] = topology.initial_states(name, resolve)
    for name, where in topology.layout.discrete_of.items():
        z[where] = arguments.system[name].initial_discrete_states(resolve)
    for name, joint in arguments.system.joints.items():
        if joint.n_u and not joint.driven:
            found[name] = initial_value_of(joint, resolve)
    names = {c.name: c for c in topology.coordinates if c.role == "z"}
    for text, value in values.items():
        owner, _, rest = text.partition(".")
        while owner not in arguments.system.joints and "." in rest:  # joints of subsystems have names with points
            part, _, rest = rest.partition(".")
            owner = f"{owner}.{part}"
        role, _, part = rest.partition(".")
        if text in names:
            z[names[text].index] = arguments.read_number(text, value)
        elif owner in topology.z_of and rest == "q":
            z[topology.z_of[owner]] = _vector(text, value, arguments.system.joints[owner].n_q)
        elif owner in found and role in ("q", "u"):
            found[owner] = _with(arguments, found[owner], owner, role, part, value, rough)
        elif owner in arguments.system.joints and role in ("q", "u") and arguments.system.joints[owner].driven:
            raise ArgumentError(f"{text} is given by the law that drives {owner}; leave it out")
        else:
            raise ArgumentError(unknown("the state has no coordinate", text, _names(arguments, found, names)))
    if topology.events is not None:
        topology.events.check_modes(z)
    joints = {name: _checked(arguments.system.joints[name], wish) for name, wish in found.items()}
    return InitialValues(joints, z, said=frozenset(values) & names.keys())


def initial_value_of(joint: Joint, resolve: Callable[[Any], float]) -> JointInitialValue:
    """What the fields of a joint ask for."""
    return JointInitialValue(
        joint.initial_q(resolve), lambda q: joint.initial_u(resolve, q), joint.exact_q, joint.exact_u,
        NOT_REQUESTED if joint.guess is None else GUESSED, joint.u is not None,
    )  # fmt: skip


def _with(
    arguments: Arguments, wish: JointInitialValue, owner: str, role: str, part: str, value: Any, rough: bool
) -> JointInitialValue:
    """A wish with a value, or one part of it, replaced."""
    joint = arguments.system.joints[owner]
    parts = coordinate_names(joint)[0] if role == "q" else tuple(name for name, _ in joint.coordinates)
    text = f"{owner}.{role}.{part}" if part else f"{owner}.{role}"
    if part and part not in parts:
        raise ArgumentError(unknown("the state has no coordinate", text, [f"{owner}.{role}.{x}" for x in parts]))
    which = slice(parts.index(part), parts.index(part) + 1) if part else slice(0, len(parts))
    size = which.stop - which.start
    new = np.array([arguments.read_number(text, value)]) if size == 1 else _vector(text, value, size)
    exact = (wish.exact_q if role == "q" else wish.exact_u).copy()
    if role == "u":
        exact[which] = not rough
        return replace(wish, u=lambda q: _put(wish.u(q), which, new), exact_u=exact, said_u=True)
    exact[which] = not rough  # a part of a quaternion holds the whole orientation
    if joint.quaternion is not None and which.stop > joint.quaternion:
        exact[joint.quaternion :] = not rough
    weight = GUESSED if rough else wish.weight
    return replace(wish, q=_put(wish.q, which, new), exact_q=exact, weight=weight)


def _put(values: Array, which: slice, new: Array) -> Array:
    found = values.copy()
    found[which] = new
    return found


def _vector(text: str, value: Any, size: int) -> Array:
    try:
        array = np.asarray(value, dtype=float).reshape(-1)
    except (TypeError, ValueError):
        raise ArgumentError(f"{text}: numbers are expected, not {value!r:.80}") from None
    if array.size != size:
        raise ArgumentError(f"{text}: {size} numbers are expected, not {array.size}")
    return array


def _names(arguments: Arguments, found: Mapping[str, JointInitialValue], others: Mapping[str, Any]) -> list[str]:
    """Every name that a start may give."""
    names = list(others)
    for name in found:
        joint = arguments.system.joints[name]
        for role, parts in (("q", coordinate_names(joint)[0]), ("u", tuple(part for part, _ in joint.coordinates))):
            names += [f"{name}.{role}"] if len(parts) == 1 else [f"{name}.{role}.{part}" for part in parts]
    return names


def _checked(joint: Joint, wish: JointInitialValue) -> JointInitialValue:
    if joint.quaternion is None:
        return wish
    length = float(np.linalg.norm(wish.q[joint.quaternion : joint.quaternion + 4]))
    if abs(length - 1.0) > 1e-3:
        raise ArgumentError(f"a quaternion of the state has length {length:.6g}, not 1: {joint.name}.q")
    return wish


# -- departures -------------------------------------------------------------------------------------------------------
def depart(joint: Joint, q: Array, wished: Array) -> tuple[Array, Array]:
    """How far a joint is from what is wished, along its speeds, and the change of that for unit speeds."""
    n, head = joint.n_u, joint.quaternion
    if head is None:
        return q - wished, np.eye(n)
    turn = _rotation_vector(wished[head:], q[head:])
    change = np.zeros((n, n))
    change[:head, :head] = rotation_from_quaternion(q[head:]).astype(float) if head else 0.0
    change[head:, head:] = _inverse_right_jacobian(turn)
    return np.concatenate([q[:head] - wished[:head], turn]), change


def _rotation_vector(a: Array, b: Array) -> Array:
    """The shortest turn from orientation a to b, both unit quaternions, in the axes of either."""
    scalar = float(a @ b)
    vector = a[0] * b[1:] - b[0] * a[1:] - np.cross(a[1:], b[1:])
    size = float(np.linalg.norm(vector))
    if size < 1e-12:
        stretch = 2.0
    else:
        stretch = 2.0 * float(np.arctan2(size, abs(scalar))) / size
    found: Array = vector * (stretch if scalar >= 0 else -stretch)
    return found


def _inverse_right_jacobian(turn: Array) -> Array:
    """Change of a rotation vector for a unit angular velocity in child axes."""
    angle = float(np.linalg.norm(turn))
    x, y, z = turn
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    if angle < 1e-4:
        factor = 1.0 / 12.0
    else:
        factor = (1.0 - 0.5 * angle / np.tan(0.5 * angle)) / angle**2
    found: Array = np.eye(3) + 0.5 * K + factor * (K @ K)
    return found
