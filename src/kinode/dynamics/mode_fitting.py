"""The modes of a state that was given without them: by the signs of speeds, then changed until all fit.

The rules are those of the integrator loops (ode/loops/event_handling.py): a root is violated where it is clearly
negative, or zero and falling; the worst of them ends its mode.  Nothing jumps here: speeds are as they were given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.kernels.state import State
from kinode.model.base.events import TOLERANCE, RootEntry

if TYPE_CHECKING:
    from kinode.dynamics.compile import Dynamics

TRIES, BY_WORST = 40, 12
SOON = 1e-12  # seconds: where accelerations are given, what rests moves the way that they will move it

# What does not ask for modes, or has them among its arguments.
PLAIN = frozenset(
    {"mass_matrix", "bias", "energy", "pose", "jacobian", "closure", "measures", "projection", "unit_wrench",
     "unit_loads", "rate", "power", "direction", "slope", "roots", "loaded_roots", "jump", "sample", "settled", "law"}
)  # fmt: skip
UNMOVED = frozenset({"mass_matrix", "pose", "jacobian", "closure", "measures"})  # by positions, whatever the modes
WITH_ACCELERATIONS = frozenset({"effort", "reactions_of_motion", "holding_of_motion"})


def needs_modes(dynamics: Dynamics, kernel: str) -> bool:
    """Whether a kernel asks for modes that a state may lack."""
    return dynamics.topology.events is not None and kernel not in PLAIN


def check_modes(dynamics: Dynamics, kernel: str, z: Array) -> None:
    """Refuse modes that were given to a kernel and are none."""
    if dynamics.topology.events is not None and kernel not in UNMOVED:
        dynamics.topology.events.check_modes(z)


def find_modes(dynamics: Dynamics, kernel: str, given: dict[str, Array]) -> Array:
    """z with modes, for the arguments of a kernel; of a batch for each row."""
    rows = {len(array) for array in given.values() if array.ndim == 2}
    if not rows:
        return _one(dynamics, kernel, given)
    count = rows.pop()
    each = [{name: x[k] if x.ndim == 2 else x for name, x in given.items()} for k in range(count)]
    return np.array([_one(dynamics, kernel, row) for row in each])


def _one(dynamics: Dynamics, kernel: str, given: dict[str, Array]) -> Array:
    t, q, u, z, p, inputs = (given[name] for name in ("t", "q", "u", "z", "p", "inputs"))

    def run(name: str, z: Array, x: Any = None) -> Array:
        return dynamics._call(name, float(t[0]), q, u, z, p, inputs, x)

    if kernel in WITH_ACCELERATIONS:
        u = u + SOON * given["x"]
        return run("settled", z)
    z = run("settled", z)
    table = dynamics.topology.events
    assert table is not None
    m, loaded = len(table.roots), kernel == "loaded_acceleration"  # what is added bears on what can be held
    for tries in range(TRIES if m else 0):
        found = run("loaded_roots", z, given["x"]) if loaded else run("roots", z)
        k = _violated(dynamics, z, found[:m], found[m:], tries)
        if k is None:
            break
        z = run("jump", z, np.eye(m)[k])[dynamics.n_q + dynamics.n_u :]
    return z


def _violated(dynamics: Dynamics, z: Array, g: Array, rates: Array, tries: int) -> int | None:
    """The root that is violated most, or after some tries the first."""
    table = dynamics.topology.events
    assert table is not None
    found, worst = None, 0.0
    for k, entry in enumerate(table.roots):
        if entry.at < 0 or z[entry.at] != entry.root.value:
            continue
        bad = 0.0
        if g[k] < -TOLERANCE:
            bad = -g[k]
        elif g[k] <= TOLERANCE and rates[k] < 0.0:
            bad = -TOLERANCE * rates[k] / (1.0 - rates[k])
        if bad > 0.0 and (found is None or (tries < BY_WORST and bad > worst)):
            found, worst = k, bad
    return found


def find_misfit(dynamics: Dynamics, state: State, p: Any, inputs: Any) -> RootEntry | None:
    """The mode that a state contradicts most: a diode that should conduct, a gear beyond its play; None if all fit.

    Only what the state tells by itself is looked at: friction and rigid ends depend on what presses.
    """
    table = dynamics.topology.events
    if table is None or not table.roots:
        return None
    g = dynamics._call("roots", state.t, state.q, state.u, state.z, p, inputs, None)[: len(table.roots)]
    rigid = {name for name, joint in dynamics.system.joints.items() if joint.ends is not None and joint.ends.rigid}
    told = (
        (float(x), entry)
        for x, entry in zip(g, table.roots, strict=True)
        if entry.root.by_state and entry.at >= 0 and state.z[entry.at] == entry.root.value and entry.owner not in rigid
    )
    worst = min(told, key=lambda one: one[0], default=None)
    return worst[1] if worst is not None and worst[0] < -TOLERANCE else None


def with_mode(state: State, entry: RootEntry) -> State:
    """A state in which the mode of a root is the one that begins where the root ends."""
    z = state.z.copy()
    z[entry.at] = entry.root.then
    return State(state.t, state.q, state.u, z)


def fit_modes(dynamics: Dynamics, state: State, p: Any, inputs: Any) -> State:
    """The state with modes that do not contradict it."""
    for _ in range(TRIES):
        entry = find_misfit(dynamics, state, p, inputs)
        if entry is None:
            break
        state = with_mode(state, entry)
    return state
