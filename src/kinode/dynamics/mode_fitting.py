"""Consistent modes of a state that is given without them: first from the signs of speeds, then by mode iteration.

The rules are those of the integrator loops (ode/loops/instants.py): an event function is violated where it is
clearly negative, or zero and falling.  The one that is violated most ends its mode.  Speeds do not change here.
"""

from __future__ import annotations

import numpy as np

from kinode.algebra.scalars import Array
from kinode.kernels.compiled_kernels import Kernels
from kinode.kernels.kernel_options import Kernel
from kinode.kernels.kernel_table import KernelRow, Modes, added_efforts, added_loads, count_loads, find_row
from kinode.model.base.events import TOLERANCE, EventTable, RootEntry
from kinode.structure.state_layout import EvaluationPoint
from kinode.structure.topology import Topology

SETTLED, ROOTS, LOADED_ROOTS, JUMP = (Kernel(name) for name in ("settled", "roots", "loaded_roots", "jump"))
ITERATIONS = 40  # at most, of the mode iteration
WORST_FIRST = 12  # iterations in which the worst violation ends its mode; afterwards the first does, against cycles
ACCELERATION_STEP = 1e-12  # s: given accelerations act this long, so that a joint at rest gets a direction of motion


def with_modes(kernels: Kernels, kernel: Kernel, point: EvaluationPoint, x: Array) -> EvaluationPoint:
    """The point of a call without z, with consistent modes; in a batch for each state."""
    if not needs_modes(kernels.topology, kernel):
        return point
    count = len(x) if x.ndim == 2 else point.n_rows
    if count is None:
        return point.replaced(z=_fit(kernels, kernel, point, x))
    rows = [_fit(kernels, kernel, point.row(k), x[k] if x.ndim == 2 else x) for k in range(count)]
    return point.replaced(z=np.array(rows).reshape(count, kernels.topology.n_z))


def needs_modes(topology: Topology, kernel: Kernel) -> bool:
    """Whether a call without z needs consistent modes."""
    return topology.events is not None and find_row(kernel).modes in (Modes.FITTED, Modes.BY_ACCELERATION)


def check_modes(topology: Topology, kernel: Kernel, z: Array) -> None:
    """Refuse values in z that are not modes."""
    if topology.events is not None and find_row(kernel).modes is not Modes.UNUSED:
        topology.events.check_modes(z)


def _fit(kernels: Kernels, kernel: Kernel, point: EvaluationPoint, x: Array) -> Array:
    """z with consistent modes, for one state."""
    row = find_row(kernel)
    if row.modes is Modes.BY_ACCELERATION:
        return kernels.call(SETTLED, point.replaced(u=point.u + ACCELERATION_STEP * x[: len(point.u)]))
    point = point.replaced(z=kernels.call(SETTLED, point))
    table = kernels.topology.events
    assert table is not None
    m = len(table.roots)
    for iteration in range(ITERATIONS if m else 0):
        # added loads change which joints can stay locked
        loads = _loads_in(kernels, row, x)
        values = kernels.call(ROOTS, point) if loads is None else kernels.call(LOADED_ROOTS, point, loads)
        k = _violated(table, point.z, values[:m], values[m:], iteration)
        if k is None:
            break
        y = kernels.call(JUMP, point, np.eye(m)[k])
        point = point.replaced(z=kernels.topology.layout.split(y)[2])
    return point.z


def _loads_in(kernels: Kernels, row: KernelRow, x: Array) -> Array | None:
    """The added loads in the argument ``x`` of a kernel; None if there are none."""
    if row.given is added_loads:
        return x
    if row.given is not added_efforts or not x.any():
        return None
    topology = kernels.topology
    loads = np.zeros(count_loads(topology))
    loads[: topology.n_u] = x[: topology.n_u]
    return loads


def _violated(table: EventTable, z: Array, g: Array, rates: Array, iteration: int) -> int | None:
    """Index of the event function that is violated most, after some iterations of the first; None if none is."""
    violated, worst = None, 0.0
    for k, entry in enumerate(table.roots):
        if entry.at < 0 or z[entry.at] != entry.root.value:
            continue
        violation = 0.0
        if g[k] < -TOLERANCE:
            violation = -g[k]
        elif g[k] <= TOLERANCE and rates[k] < 0.0:
            violation = -TOLERANCE * rates[k] / (1.0 - rates[k])
        if violation > 0.0 and (violated is None or (iteration < WORST_FIRST and violation > worst)):
            violated, worst = k, violation
    return violated


def find_misfit(kernels: Kernels, point: EvaluationPoint) -> RootEntry | None:
    """The event function of the mode that a state contradicts most; None where all modes are consistent.

    Examples are a diode that should conduct and a gear beyond its play.  Only event functions of the state alone are
    checked: those of friction and rigid stops depend on contact forces.
    """
    table = kernels.topology.events
    if table is None or not table.roots:
        return None
    g = kernels.call(ROOTS, point)[: len(table.roots)]
    joints = kernels.topology.system.joints
    rigid = {name for name, joint in joints.items() if joint.ends is not None and joint.ends.rigid}
    values = (
        (float(x), entry)
        for x, entry in zip(g, table.roots, strict=True)
        if entry.root.by_state and entry.at >= 0 and point.z[entry.at] == entry.root.value and entry.owner not in rigid
    )
    worst = min(values, key=lambda pair: pair[0], default=None)
    return worst[1] if worst is not None and worst[0] < -TOLERANCE else None


def with_mode(point: EvaluationPoint, entry: RootEntry) -> EvaluationPoint:
    """The point with the mode that follows the one of an event function."""
    z = point.z.copy()
    z[entry.at] = entry.root.then
    return point.replaced(z=z)


def fit_modes(kernels: Kernels, point: EvaluationPoint) -> EvaluationPoint:
    """The point with modes that the state does not contradict."""
    for _ in range(ITERATIONS):
        entry = find_misfit(kernels, point)
        if entry is None:
            break
        point = with_mode(point, entry)
    return point
