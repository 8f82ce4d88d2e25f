"""The modes of a state that was given without them: by the signs of speeds, then changed until all fit.

The rules are those of the integrator loops (solve/events_loops.py): a root is violated where it is clearly negative, or
zero and falling; the worst of them ends its mode.  Nothing jumps here: speeds are as they were given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.model.events import TOLERANCE

if TYPE_CHECKING:
    from kinode.codegen.dynamics import Dynamics

TRIES, BY_WORST = 40, 12
SOON = 1e-12  # seconds: where accelerations are given, what rests moves the way that they will move it

# What does not ask for modes, or has them among its arguments.
PLAIN = frozenset(
    {"mass_matrix", "bias", "energy", "pose", "jacobian", "closure", "measures", "projection", "unit_wrench",
     "unit_loads", "rate", "power", "direction", "slope", "roots", "jump", "sample", "settled", "law"}
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
    m = len(table.roots)
    for tries in range(TRIES if m else 0):
        found = run("roots", z)
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
