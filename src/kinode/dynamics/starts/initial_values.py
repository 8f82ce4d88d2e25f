"""Requested initial values of each joint: coordinates and speeds, exact or guessed, with a weight.

They come from the fields of joints (q=, u=, guess=) and from values by name; ``assembler.py`` solves for a state that
meets them.  The offset of a joint from its requested value is measured along its speeds: differences of coordinates,
and for a quaternion the rotation vector from the requested orientation to the actual one, in child axes.  Guesses that
a start could not keep are said to the user, since the mechanism may have come out on another branch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinode.algebra.scalars import Array
from kinode.algebra.spatial import rotation_from_quaternion
from kinode.errors import ArgumentError
from kinode.kernels.state import State
from kinode.model.base.fields import unknown
from kinode.model.joints.joint import Joint, coordinate_names

if TYPE_CHECKING:
    from kinode.dynamics.compiled_system import Dynamics
    from kinode.kernels.call_arguments import Arguments


GUESS_WEIGHT = 1.0  # of a joint with a guess
LATER_FIELDS = frozenset({"a", "b", "motion", "speed", "effort", "damping", "stiffness", "friction", "compliance"})
"""Fields of joints in which no initial value is written."""
DEFAULT_WEIGHT = 1e-6  # of a joint without one: it moves before a joint with a guess does


@dataclass(frozen=True, eq=False)
class JointInitialValue:
    """The requested initial value of one joint.

    ``exact_q`` and ``exact_u`` mark the freedoms whose values are exact, in the order of the joint's speeds.  The
    speeds are a function of the assembled coordinates, since those of a free joint may be given in parent axes.
    """

    q: Array
    u: Callable[[Array], Array]
    exact_q: Array
    exact_u: Array
    weight: float = DEFAULT_WEIGHT
    has_u: bool = False  # whether a speed is requested


@dataclass(frozen=True, eq=False)
class InitialValues:
    """The requested initial values of all joints without a prescribed motion, and the other states z."""

    joints: dict[str, JointInitialValue]
    z: Array
    weights: dict[str, float] = field(default_factory=dict)  # by joint, in place of the weights of its value
    given_states: frozenset[str] = frozenset()  # names of the entries of z that the caller gives


def weight_of(values: InitialValues, name: str) -> float:
    """How much the coordinates of a joint count where not all can be kept."""
    return values.weights.get(name, values.joints[name].weight)


def is_guessed(values: InitialValues, name: str) -> bool:
    """Whether a joint has a guess, or a weight of its own."""
    return weight_of(values, name) > DEFAULT_WEIGHT


def read_initial_values(
    arguments: Arguments, values: Mapping[str, Any], resolve: Callable[[Any], float], as_guess: bool = False
) -> InitialValues:
    """The initial values of the model, overridden by values by name; these are exact, or guesses."""
    topology = arguments.topology
    joint_values, z = {}, np.zeros(topology.n_z)
    for name, where in topology.z_of.items():
        z[where] = _initial_states_of(arguments, name, resolve)
    for name, where in topology.layout.discrete_of.items():
        z[where] = arguments.system[name].initial_discrete_states(resolve)
    for name, joint in arguments.system.joints.items():
        if joint.n_u and not joint.driven:
            joint_values[name] = constant_value_of(arguments, joint) or initial_value_of(joint, resolve)
    other_states = {c.name: c for c in topology.coordinates if c.role == "z"} if values else {}
    for text, value in values.items():
        owner, _, rest = text.partition(".")
        while owner not in arguments.system.joints and "." in rest:  # joints of subsystems have names with points
            part, _, rest = rest.partition(".")
            owner = f"{owner}.{part}"
        role, _, part = rest.partition(".")
        if text in other_states:
            z[other_states[text].index] = arguments.read_number(text, value)
        elif owner in topology.z_of and rest == "q":
            z[topology.z_of[owner]] = _vector(text, value, arguments.system.joints[owner].n_q)
        elif owner in joint_values and role in ("q", "u"):
            joint_values[owner] = _override(arguments, joint_values[owner], owner, role, part, value, as_guess)
        elif owner in arguments.system.joints and role in ("q", "u") and arguments.system.joints[owner].driven:
            raise ArgumentError(f"{text} is given by the law that drives {owner}; leave it out")
        else:
            names = _names(arguments, joint_values, other_states)
            raise ArgumentError(unknown("the state has no coordinate", text, names))
    if topology.events is not None:
        topology.events.check_modes(z)
    for name, requested in joint_values.items():
        _check_quaternion(arguments.system.joints[name], requested)
    return InitialValues(joint_values, z, given_states=frozenset(values.keys() & other_states.keys()))


def _initial_states_of(arguments: Arguments, name: str, resolve: Callable[[Any], float]) -> Array:
    """The initial values of a component's own states; found once where they name no parameter."""
    topology, known = arguments.topology, arguments.derived.setdefault("initial states", {})
    if name not in known:
        network = topology.network
        if network is not None and name in network.states_of:
            constant = all(isinstance(value, float) for value in network.initial_values(name))
        else:
            constant = not arguments.system[name].expressions()
        known[name] = topology.initial_states(name, arguments.system.nominal) if constant else None
    values = known[name]
    return topology.initial_states(name, resolve) if values is None else values


def constant_value_of(arguments: Arguments, joint: Joint) -> JointInitialValue | None:
    """The initial value of a joint that names no parameter, found once; None for others."""
    known: dict[Any, JointInitialValue | None] = arguments.derived.setdefault("initial values", {})
    kind = type(joint)
    inherits = kind.initial_q is Joint.initial_q and kind.initial_u is Joint.initial_u
    if joint.q is None and joint.guess is None and joint.u is None and inherits:
        if kind not in known:  # one for all joints of a kind that request nothing
            known[kind] = initial_value_of(joint, arguments.system.nominal)
        return known[kind]
    if joint.name not in known:
        constant = all(field in LATER_FIELDS for field, _ in joint.expressions())
        known[joint.name] = initial_value_of(joint, arguments.system.nominal) if constant else None
    return known[joint.name]


def initial_value_of(joint: Joint, resolve: Callable[[Any], float]) -> JointInitialValue:
    """The initial value that the fields of a joint request."""
    return JointInitialValue(
        joint.initial_q(resolve), lambda q: joint.initial_u(resolve, q), joint.exact_q, joint.exact_u,
        DEFAULT_WEIGHT if joint.guess is None else GUESS_WEIGHT, joint.u is not None,
    )  # fmt: skip


def _override(
    arguments: Arguments, requested: JointInitialValue, owner: str, role: str, part: str, value: Any, as_guess: bool
) -> JointInitialValue:
    """The initial value of a joint with q or u (``role``), or one component of it (``part``), replaced."""
    joint = arguments.system.joints[owner]
    parts = coordinate_names(joint)[0] if role == "q" else tuple(name for name, _ in joint.coordinates)
    text = f"{owner}.{role}.{part}" if part else f"{owner}.{role}"
    if part and part not in parts:
        raise ArgumentError(unknown("the state has no coordinate", text, [f"{owner}.{role}.{x}" for x in parts]))
    which = slice(parts.index(part), parts.index(part) + 1) if part else slice(0, len(parts))
    size = which.stop - which.start
    new = np.array([arguments.read_number(text, value)]) if size == 1 else _vector(text, value, size)
    exact = (requested.exact_q if role == "q" else requested.exact_u).copy()
    exact[which] = not as_guess
    if role == "u":
        return replace(requested, u=lambda q: _put(requested.u(q), which, new), exact_u=exact, has_u=True)
    if joint.quaternion is not None and which.stop > joint.quaternion:
        exact[joint.quaternion :] = not as_guess  # one component of a quaternion fixes the whole orientation
    weight = GUESS_WEIGHT if as_guess else requested.weight
    return replace(requested, q=_put(requested.q, which, new), exact_q=exact, weight=weight)


def _put(values: Array, which: slice, new: Array) -> Array:
    """A copy of an array with some entries replaced."""
    changed = values.copy()
    changed[which] = new
    return changed


def _vector(text: str, value: Any, size: int) -> Array:
    try:
        array = np.asarray(value, dtype=float).reshape(-1)
    except (TypeError, ValueError):
        raise ArgumentError(f"{text}: numbers are expected, not {value!r:.80}") from None
    if array.size != size:
        raise ArgumentError(f"{text}: {size} numbers are expected, not {array.size}")
    return array


def _names(arguments: Arguments, joints: Iterable[str], other_states: Iterable[str]) -> list[str]:
    """Every name by which an initial value can be given."""
    names = list(other_states)
    for name in joints:
        joint = arguments.system.joints[name]
        for role, parts in (("q", coordinate_names(joint)[0]), ("u", tuple(part for part, _ in joint.coordinates))):
            names += [f"{name}.{role}"] if len(parts) == 1 else [f"{name}.{role}.{part}" for part in parts]
    return names


def _check_quaternion(joint: Joint, requested: JointInitialValue) -> None:
    """Refuse a quaternion whose length is not 1."""
    if joint.quaternion is None:
        return
    length = float(np.linalg.norm(requested.q[joint.quaternion : joint.quaternion + 4]))
    if abs(length - 1.0) > 1e-3:
        raise ArgumentError(f"a quaternion of the state has length {length:.6g}, not 1: {joint.name}.q")


# -- offsets ----------------------------------------------------------------------------------------------------------
def find_offset(joint: Joint, q: Array, requested: Array) -> tuple[Array, Array]:
    """Offset of a joint from its requested coordinates, along its speeds, and its change for unit speeds."""
    from kinode.algebra.rotations import inverse_right_jacobians, rotation_vector_between

    n, head = joint.n_u, joint.quaternion
    if head is None:
        return q - requested, np.eye(n)
    turn = rotation_vector_between(requested[head:], q[head:])
    change = np.zeros((n, n))
    change[:head, :head] = rotation_from_quaternion(q[head:]).astype(float) if head else 0.0
    change[head:, head:] = inverse_right_jacobians(turn[None])[0]
    return np.concatenate([q[:head] - requested[:head], turn]), change


FAR = 0.25  # rad, or characteristic lengths


class FarGuess(NamedTuple):
    """A joint that starts far from its guess."""

    joint: str
    guess: Array
    actual: Array
    units: tuple[str, ...]  # rad, m, or nothing for quaternions

    @property
    def message(self) -> str:
        """The joint and both values, in words."""
        guess, actual = (_values(values, self.units) for values in (self.guess, self.actual))
        return (
            f"{self.joint} starts at {actual}, far from its guess {guess}: no closed position that was found keeps it"
        )


def find_far_guesses(
    dynamics: Dynamics, state: State, values: Mapping[str, Any] | None, p: Array, inputs: Array
) -> list[FarGuess]:
    """The joints that start far from their guesses; ``values`` are those that were given by name."""
    start = dynamics.start
    if not start.open_topology.constrained or not _has_guess(dynamics):
        return []
    counting = p[start.parameters_that_count]
    key = (state.t, state.q.tobytes(), counting.tobytes(), inputs.tobytes(), repr(values))
    far = start.far_guesses.get(key)
    if far is None:
        far = _find(dynamics, state, values, p, inputs)
        start.far_guesses = {key: far}  # one run after another begins alike
    return far


def _has_guess(dynamics: Dynamics) -> bool:
    known = dynamics.arguments.derived
    if "guesses" not in known:
        known["guesses"] = any(joint.guess is not None for joint in dynamics.system.joints.values())
    return bool(known["guesses"])


def _find(
    dynamics: Dynamics, state: State, values: Mapping[str, Any] | None, p: Array, inputs: Array
) -> list[FarGuess]:
    requested = read_initial_values(dynamics.arguments, values or {}, dynamics.arguments.resolver(p))
    guessed = [name for name in requested.joints if is_guessed(requested, name)]
    if not guessed:
        return []
    q_of, length, far = dynamics.start.open_topology.q_of, dynamics.start.loops.length, []
    coordinates = {name: state.q[q_of[name]] for name in guessed if name in q_of}
    if len(coordinates) < len(guessed):  # those of cut joints and followers follow from the others
        problem = dynamics.start.assembler(requested, state.t, p, inputs).problem
        coordinates = problem.coordinates(problem.position_of(state.q))
    for name in guessed:
        joint, guess, actual = dynamics.system.joints[name], requested.joints[name].q, coordinates[name]
        sizes = [1.0 if kind == "angle" else length for _, kind in joint.coordinates]
        if np.linalg.norm(find_offset(joint, actual, guess)[0] / sizes) > FAR:
            units = tuple({"angle": "rad", "length": "m"}.get(unit, "") for _, unit in joint.coordinate_names)
            far.append(FarGuess(name, guess, actual, units))
    return far


def _values(values: Array, units: tuple[str, ...]) -> str:
    texts = [f"{value:.4g} {unit}".rstrip() for value, unit in zip(values, units, strict=True)]
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"
