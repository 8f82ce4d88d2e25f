"""The layout of the state: the components that the entries of q, u and z belong to.

q and u hold the coordinates and speeds of the tree joints in order of declaration.  Joints with a prescribed motion
(functions of time) and coupled joints (functions of another joint) have none.  z holds, in this order: the integrals of
prescribed speeds, the states that components and networks have of their own, and the discrete states, which only events
change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from kinode.algebra.scalars import Array
from kinode.model.joints.joint import Joint, coordinate_names
from kinode.model.system import System
from kinode.records import dataclass
from kinode.structure.evaluation_point import EvaluationPoint

if TYPE_CHECKING:
    from kinode.algebra.trace import Tape
    from kinode.structure.network_blocks import Network

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

    def traced_point(self, tape: Tape) -> EvaluationPoint:
        """A point whose entries are the inputs t, q, u, z, p and inputs of a tape."""
        sizes = (("q", self.n_q), ("u", self.n_u), ("z", self.n_z), ("p", len(self.parameters)))
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
    for name, component in system.components.items():
        if name not in system.joints and component.states:
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
    order = {"q": 0, "u": 1, "z": 2}
    return StateLayout(
        q_of.slices,
        u_of.slices,
        z_of.slices,
        discrete_of.slices,
        tuple(sorted(coordinates, key=lambda c: (order[c.role], c.index))),
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
    coordinates = []
    for name in q_of:
        joint = system.joints[name]
        speeds = tuple(part for part, _ in joint.coordinates), tuple(kind for _, kind in joint.coordinates)
        for role, where, (names, kinds) in (("q", q_of[name], coordinate_names(joint)), ("u", u_of[name], speeds)):
            for k, (part, kind) in enumerate(zip(names, kinds, strict=True)):
                text = f"{name}.{role}" if len(names) == 1 else f"{name}.{role}.{part}"
                coordinates.append(Coordinate(text, where.start + k, role, name, kind))
    return coordinates


def _other_coordinates(slices: Mapping[str, slice], states: Mapping[str, NamedUnits]) -> list[Coordinate]:
    return [
        Coordinate(f"{name}.{state}", where.start + k, "z", name, unit)
        for name, where in slices.items()
        for k, (state, unit) in enumerate(states[name])
    ]


def _quaternions(system: System, slices: Mapping[str, slice], offset: int) -> list[int]:
    owners = ((system.joints[name], where) for name, where in slices.items() if name in system.joints)
    return [offset + where.start + joint.quaternion for joint, where in owners if joint.quaternion is not None]
