"""The states at which ``kn.verify`` compares formulations: random, with closed loops and consistent modes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.dynamics.support_argument import find_support
from kinode.errors import ArgumentError
from kinode.formulations.formulation_table import InstantValues
from kinode.kernels.state import State
from kinode.multibody.instant_events import consistent_discrete_states
from kinode.multibody.restraints.loop_statics import Support
from kinode.multibody.snapshot import Snapshot
from kinode.structure.evaluation_point import EvaluationPoint
from kinode.structure.topology import Topology

LARGE_SYSTEM = 300  # speeds times bodies: from here on one random state is enough
WALK_STEPS = 3  # from the initial position to a random one, in loops
STEP_SIZE = 0.1  # of one such step, relative to random speeds times 1 s


def enough_states(topology: Topology, most: int = 5) -> int:
    """Number of random states to compare: one for large systems, which take long and have many entries each."""
    return most if topology.n_u * len(topology.system.bodies) < LARGE_SYSTEM else 1


def find_states(
    topology: Topology, states: int | Sequence[Any] | None, rng: np.random.Generator, closed: Dynamics | None = None
) -> list[InstantValues]:
    """Random states, or those given, with the parameters and inputs of the model.

    With constraints (``closed``), random states are near the initial one and satisfy them.
    """
    system = topology.system
    values = system.parameter_values()
    p = np.array([values[name] for name in topology.parameters])
    inputs = np.array([system.nominal(x.value) for x in system.inputs.values()])
    if states is None:
        states = enough_states(topology)
    if isinstance(states, int):
        if states < 1:
            raise ArgumentError(f"states: at least one is needed, not {states}")
        length = find_length(topology)
        drawn = [random_state(topology, rng, length) for _ in range(states)]
        if closed is not None:
            drawn = [_close(closed, state) for state in drawn]
        return _numbers(closed, drawn, p, inputs)
    if isinstance(states, str) or not all(hasattr(s, part) for s in states for part in "tquz"):
        raise ArgumentError("states: how many, or a list of states with t, q, u, z, is expected")
    arrays = [[np.asarray(x, dtype=float) for x in (s.q, s.u, s.z)] for s in states]
    given = [(float(s.t), q, u, z) for s, (q, u, z) in zip(states, arrays, strict=True)]
    return _numbers(closed, given, p, inputs)


def _numbers(
    closed: Dynamics | None, states: Sequence[tuple[float, Array, Array, Array]], p: Array, inputs: Array
) -> list[InstantValues]:
    """States as arguments of formulations, with a static support of loops for the comparison of static reactions."""
    points: list[InstantValues] = []
    support: Support = None
    for t, q, u, z in states:
        support = None if closed is None else find_support(closed, State(t, q, u, z), support)
        points.append(InstantValues(t, q, u, z, p, inputs, hold=support))
    return points


def _close(dynamics: Dynamics, state: tuple[float, Array, Array, Array]) -> tuple[float, Array, Array, Array]:
    """A state that satisfies the constraints: steps from the initial position in a random direction, random speeds.

    States of other components, such as currents, keep their random values.
    """
    t, _, u, random_z = state
    start, loops, no_fixed = dynamics.initial, dynamics.loops, np.zeros(dynamics.n_u, dtype=bool)
    q, z = start.q, start.z.copy()
    for owner, where in dynamics.topology.z_of.items():
        if owner not in dynamics.system.joints:
            z[where] = random_z[where]
    for _ in range(WALK_STEPS):
        speeds = loops.close_speeds(dynamics.point(State(t, q, STEP_SIZE * u, z)), no_fixed)
        there = dynamics.topology.advance_q(q, speeds)
        q = loops.close(dynamics.point(State(t, there, speeds, z)), no_fixed)
    speeds = loops.close_speeds(dynamics.point(State(t, q, u, z)), no_fixed)
    return with_modes(dynamics.topology, t, q, speeds, z)


def find_length(topology: Topology) -> float:
    """Typical length of the model in m: the largest offset of a joint or center of mass, 1 if there is none."""
    geometry = topology.geometry(topology.tree, topology.system.nominal)
    offsets = [X.p for X in geometry.placements] + [i.moment / i.mass for i in geometry.inertias if i.mass > 0]
    return max((float(np.abs(np.asarray(x, dtype=float)).max()) for x in offsets), default=0.0) or 1.0


def random_state(
    topology: Topology, rng: np.random.Generator, length: float = 1.0
) -> tuple[float, Array, Array, Array]:
    """t, q, u, z: angles and rates of the order of 1, lengths of the order of ``length``, unit quaternions."""
    layout = topology.layout
    y = rng.uniform(-1.0, 1.0, layout.n_y)
    for c in topology.coordinates:
        if c.kind == "length":
            y[layout.role_slices[c.role].start + c.index] *= length
    for k in topology.layout.quaternions:
        y[k : k + 4] = rng.normal(size=4)
        y[k : k + 4] /= np.linalg.norm(y[k : k + 4])
    return with_modes(topology, float(rng.uniform(0.0, 1.0)), *layout.split(y))


def with_modes(topology: Topology, t: float, q: Array, u: Array, z: Array) -> tuple[float, Array, Array, Array]:
    """The state with modes consistent with its speeds: moving joints slide and touch no end stop."""
    if topology.events is None:
        return t, q, u, z
    system, n_discrete = topology.system, topology.events.n_held
    values = system.parameter_values()
    p = np.array([values[name] for name in topology.parameters])
    inputs = np.array([system.nominal(x.value) for x in system.inputs.values()])
    z = np.concatenate([z[: len(z) - n_discrete], np.zeros(n_discrete)])
    return (
        t,
        q,
        u,
        np.array(consistent_discrete_states(Snapshot(topology, EvaluationPoint(t, q, u, z, p, inputs))), dtype=float),
    )
