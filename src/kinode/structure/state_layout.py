"""The layout of the state: the components that the entries of q, u and z belong to; and the point of an evaluation.

q and u hold the coordinates and speeds of the tree joints in order of declaration.  Joints with a prescribed motion
(functions of time) and coupled joints (functions of another joint) have none.  z holds, in this order: the integrals of
prescribed speeds, the states that components and networks have of their own, and the discrete states, which only events
change.

An ``EvaluationPoint`` is time, state, parameters and inputs as one value.  Entries may be floats, traced scalars, dual
numbers or symbols.  Floats may also form a batch of points: a 2-D array (a 1-D array of times) has one row for each
point, and all points share the other arrays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array, Scalar
from kinode.model.joints.joint import Joint, coordinate_names
from kinode.model.system import System

if TYPE_CHECKING:
    from kinode.algebra.trace import Tape
    from kinode.structure.network_blocks import Network


EMPTY = np.empty(0)
FLOAT = np.dtype(np.float64)


@dataclass(frozen=True, eq=False)
class EvaluationPoint:
    """Where a model is evaluated.

    ``t`` is the time, ``q`` the coordinates, ``u`` the speeds, ``z`` the other states with the discrete ones at the
    end, ``p`` the parameters and ``inputs`` the inputs, all in the order of the ``StateLayout``.
    """

    t: Scalar
    q: Array
    u: Array
    z: Array = field(default_factory=lambda: EMPTY)
    p: Array = field(default_factory=lambda: EMPTY)
    inputs: Array = field(default_factory=lambda: EMPTY)

    @property
    def y(self) -> Array:
        """The state vector [q, u, z]."""
        return np.concatenate([self.q, self.u, self.z], axis=-1)

    @property
    def is_plain(self) -> bool:
        """Whether it is one point of float64, of a time that is a number."""
        arrays = (self.q, self.u, self.z, self.p, self.inputs)
        return isinstance(self.t, float) and all(x.ndim == 1 and x.dtype == FLOAT for x in arrays)

    @property
    def n_rows(self) -> int | None:
        """The number of points in a batch; None for a single point."""
        counts = [np.size(self.t)] if np.ndim(self.t) else []
        counts += [len(x) for x in (self.q, self.u, self.z, self.p, self.inputs) if np.ndim(x) == 2]
        return counts[0] if counts else None

    def row(self, k: int) -> EvaluationPoint:
        """One point of a batch."""
        arrays = (x[k] if np.ndim(x) == 2 else x for x in (self.q, self.u, self.z, self.p, self.inputs))
        return EvaluationPoint(self.t[k] if np.ndim(self.t) else self.t, *arrays)

    def replaced(self, **changes: Any) -> EvaluationPoint:
        """The point with some of its arrays replaced."""
        given = {"t": self.t, "q": self.q, "u": self.u, "z": self.z, "p": self.p, "inputs": self.inputs, **changes}
        return EvaluationPoint(**given)


NamedUnits = tuple[tuple[str, str], ...]  # name and unit of each state of a component


@dataclass(frozen=True)
class Coordinate:
    """One entry of the state: its name, index, role, owner and unit."""

    name: str
    index: int
    role: str  # q, u, z
    joint: str  # the owner: a joint, or for z any component
    kind: str  # angle, length, dimensionless (of quaternions)

    @property
    def suffix(self) -> str:
        """The end of a coordinate's or speed's name: ``.x`` of ``ball.u.x``, nothing where a joint has but one."""
        return self.name.removeprefix(f"{self.joint}.{self.role}")


@dataclass(frozen=True, eq=False)
class StateLayout:
    """The slices of components in q, u and z; it splits, joins and names state vectors."""

    q_of: Mapping[str, slice]
    u_of: Mapping[str, slice]
    z_of: Mapping[str, slice]  # states that are integrated
    discrete_of: Mapping[str, slice]  # discrete states, at the end of z
    coordinates: tuple[Coordinate, ...]
    quaternions: tuple[int, ...]  # indices in [q, u, z] at which unit quaternions begin
    parameters: tuple[str, ...]
    inputs: tuple[str, ...]

    @cached_property
    def n_q(self) -> int:
        """Number of coordinates."""
        return _end(self.q_of)

    @cached_property
    def n_u(self) -> int:
        """Number of speeds."""
        return _end(self.u_of)

    @cached_property
    def n_z(self) -> int:
        """Number of other states."""
        return max(_end(self.z_of), _end(self.discrete_of))

    @property
    def n_y(self) -> int:
        """Length of the state vector [q, u, z]."""
        return self.n_q + self.n_u + self.n_z

    @cached_property
    def role_slices(self) -> Mapping[str, slice]:
        """The slices of q, u and z in the state vector."""
        a, b = self.n_q, self.n_q + self.n_u
        return {"q": slice(0, a), "u": slice(a, b), "z": slice(b, b + self.n_z)}

    def split(self, y: Array) -> tuple[Array, Array, Array]:
        """q, u and z of a state vector, or of a batch with one in each row."""
        a, b = self.n_q, self.n_q + self.n_u
        return y[..., :a], y[..., a:b], y[..., b:]

    def traced_point(self, tape: Tape, *, moving: bool = True) -> EvaluationPoint:
        """A point whose entries are the inputs t, q, u, z, p and inputs of a tape; q and u only if ``moving``."""
        n_q, n_u = (self.n_q, self.n_u) if moving else (0, 0)
        sizes = (("q", n_q), ("u", n_u), ("z", self.n_z), ("p", len(self.parameters)))
        arrays = {name: tape.inputs(name, size) for name, size in (*sizes, ("inputs", len(self.inputs)))}
        return EvaluationPoint(tape.input("t", 0), **arrays)

    def point(self, t: Any, y: Array, p: Any, inputs: Any) -> EvaluationPoint:
        """The evaluation point of a state vector."""
        return EvaluationPoint(t, *self.split(y), p, inputs)


def _end(slices: Mapping[str, slice]) -> int:
    return max((where.stop for where in slices.values()), default=0)


def lay_out_state(system: System, joints: Sequence[Joint], network: Network | None) -> StateLayout:
    """The layout of a system; ``joints`` are those with coordinates or a prescribed speed."""
    q_of, u_of, z_of, discrete_of = _Slices(), _Slices(), _Slices(), _Slices()
    for joint in joints:
        if joint.speed is not None:
            z_of.append(joint.name, len(joint.states))
        else:
            q_of.append(joint.name, joint.n_q)
            u_of.append(joint.name, joint.n_u)
    own = system.joints
    for name, component in system.components.items():
        if name not in own and component.states:
            z_of.append(name, len(component.states))
    network_states: Mapping[str, NamedUnits] = {} if network is None else network.states_of
    for name, states in network_states.items():
        z_of.append(name, len(states))
    discrete_of.size = z_of.size
    for name, component in system.components.items():
        if component.discrete_states:
            discrete_of.append(name, len(component.discrete_states))
    coordinates = [
        *_joint_coordinates(system, q_of.slices, u_of.slices),
        *_other_coordinates(z_of.slices, {n: network_states.get(n) or tuple(system[n].states) for n in z_of.slices}),
        *_other_coordinates(discrete_of.slices, {n: tuple(system[n].discrete_states) for n in discrete_of.slices}),
    ]
    return StateLayout(
        q_of.slices,
        u_of.slices,
        z_of.slices,
        discrete_of.slices,
        tuple(coordinates),
        (*_quaternions(system, q_of.slices, 0), *_quaternions(system, z_of.slices, q_of.size + u_of.size)),
        tuple(name for name, parameter in system.parameters.items() if isinstance(parameter.value, float)),
        tuple(system.inputs),
    )


class _Slices:
    """Consecutive slices by name."""

    def __init__(self) -> None:
        self.slices: dict[str, slice] = {}
        self.size = 0

    def append(self, name: str, count: int) -> None:
        self.slices[name] = slice(self.size, self.size + count)
        self.size += count


def _joint_coordinates(system: System, q_of: Mapping[str, slice], u_of: Mapping[str, slice]) -> list[Coordinate]:
    """The entries of q, then those of u; both are in the order of joints."""
    joints, positions, speeds = system.joints, list[Coordinate](), list[Coordinate]()
    for name, where in q_of.items():
        joint, start = joints[name], u_of[name].start
        moving = joint.coordinates
        if len(moving) == 1 and joint.n_q == 1:  # most joints of large systems
            ((_, kind),) = moving
            positions.append(Coordinate(f"{name}.q", where.start, "q", name, kind))
            speeds.append(Coordinate(f"{name}.u", start, "u", name, kind))
            continue
        names, kinds = coordinate_names(joint)
        for k, (part, kind) in enumerate(zip(names, kinds, strict=True)):
            text = f"{name}.q" if len(names) == 1 else f"{name}.q.{part}"
            positions.append(Coordinate(text, where.start + k, "q", name, kind))
        for k, (part, kind) in enumerate(moving):
            text = f"{name}.u" if len(moving) == 1 else f"{name}.u.{part}"
            speeds.append(Coordinate(text, start + k, "u", name, kind))
    return positions + speeds


def _other_coordinates(slices: Mapping[str, slice], states: Mapping[str, NamedUnits]) -> list[Coordinate]:
    return [
        Coordinate(f"{name}.{state}", where.start + k, "z", name, unit)
        for name, where in slices.items()
        for k, (state, unit) in enumerate(states[name])
    ]


def _quaternions(system: System, slices: Mapping[str, slice], offset: int) -> list[int]:
    owners = ((system.joints[name], where) for name, where in slices.items() if name in system.joints)
    return [offset + where.start + joint.quaternion for joint, where in owners if joint.quaternion is not None]
