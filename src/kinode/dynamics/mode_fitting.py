"""Consistent modes of a state that is given without them: first from the signs of speeds, then by mode iteration.

The rules are those of the integrator loops (ode/loops/instants.py): an event function is violated where it is
clearly negative, or zero and falling.  The one that is violated most ends its mode.  Speeds do not change here.  The
iteration is a loop of machine code, which calls from Python run before their kernel.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from kinode.algebra.scalars import Array
from kinode.jit.loop.memory import Floats, Ints, Struct, call, floats, floats_of, ints_of, struct
from kinode.jit.python_function import HELD, Before
from kinode.kernels.compiled_kernels import Kernels
from kinode.kernels.kernel_options import Kernel
from kinode.kernels.kernel_table import Modes, added_efforts, added_loads, count_loads, find_row
from kinode.model.base.events import TOLERANCE, RootEntry
from kinode.structure.state_layout import EvaluationPoint
from kinode.structure.topology import Topology

if TYPE_CHECKING:
    from kinode.ode.compiled_loops import CompiledLoop

SETTLED, ROOTS, LOADED_ROOTS, JUMP = (Kernel(name) for name in ("settled", "roots", "loaded_roots", "jump"))
ITERATIONS = 40  # at most, of the mode iteration
WORST_FIRST = 12  # iterations in which the worst violation ends its mode; afterwards the first does, against cycles
ACCELERATION_STEP = 1e-12  # s: given accelerations act this long, so that a joint at rest gets a direction of motion
T, Q, U, Z, P, INPUTS, X = range(7)  # places of the arguments of a call


@struct
class ModeMemory(Struct):
    """What the loop needs: kernels, event functions with the modes that they end, room for results.

    ``pointers`` are the arguments of the call.  ``loaded_roots`` is 0 where x has no loads; ``n_x`` is the number of
    its entries where only those that ``n_u`` counts are loads, else 0.  ``known`` has for each mode its place in z, the
    number of its values, and these.  ``own_z`` is where ``z`` is: a call with another z is only checked.
    """

    is_fitted: int
    by_acceleration: int
    settled: int
    roots: int
    loaded_roots: int
    jump: int
    n_u: int
    n_x: int
    n_z: int
    z_start: int
    n_roots: int
    n_modes: int
    own_z: int
    pointers: Ints
    at: Ints
    value: Floats
    known: Floats
    initial: Floats
    z: Floats
    u: Floats
    g: Floats
    y: Floats
    mask: Floats
    loads: Floats
    work: Floats


def fit_call(memory: ModeMemory) -> int:
    """Give a call consistent modes, or check the modes that it has; 0 where they are known."""
    places, none = memory.pointers, memory.loads
    if places[Z] != memory.own_z:
        return check_known(memory, floats(places[Z]))
    if memory.is_fitted == 0:
        return 0
    t, q, u, z = floats(places[T]), floats(places[Q]), floats(places[U]), memory.z
    p, inputs, x, work = floats(places[P]), floats(places[INPUTS]), floats(places[X]), memory.work
    if memory.by_acceleration != 0:
        for i in range(memory.n_u):
            memory.u[i] = u[i] + ACCELERATION_STEP * x[i]
        u = memory.u
    call(memory.settled, t, q, u, memory.initial, p, inputs, none, work, z)
    if memory.by_acceleration != 0:
        return 0
    roots, loads = memory.roots, memory.loads
    if memory.loaded_roots != 0 and (memory.n_x == 0 or copy_efforts(memory, x)):
        roots, loads = memory.loaded_roots, x if memory.n_x == 0 else memory.loads
    for iteration in range(ITERATIONS if memory.n_roots > 0 else 0):
        call(roots, t, q, u, z, p, inputs, loads, work, memory.g)
        k = find_violated(memory, iteration)
        if k < 0:
            return 0
        memory.mask[k] = 1.0
        call(memory.jump, t, q, u, z, p, inputs, memory.mask, work, memory.y)
        memory.mask[k] = 0.0
        for i in range(memory.n_z):
            z[i] = memory.y[memory.z_start + i]
    return 0


def copy_efforts(memory: ModeMemory, x: Floats) -> bool:
    """Take over the added efforts in x, which change which joints can stay locked; whether any entry of x is not 0."""
    some = False
    for i in range(memory.n_x):
        some = some or x[i] != 0.0
    for i in range(memory.n_u):
        memory.loads[i] = x[i]
    return some


def find_violated(memory: ModeMemory, iteration: int) -> int:
    """The event function that is violated most, after some iterations of the first; -1 if none is."""
    violated, worst, m, g = -1, 0.0, memory.n_roots, memory.g
    for k in range(m):
        violation = 0.0
        if memory.at[k] >= 0 and memory.z[memory.at[k]] == memory.value[k]:
            if g[k] < -TOLERANCE:
                violation = -g[k]
            elif g[k] <= TOLERANCE and g[m + k] < 0.0:
                violation = -TOLERANCE * g[m + k] / (1.0 - g[m + k])
        if violation > 0.0 and (violated < 0 or (iteration < WORST_FIRST and violation > worst)):
            violated, worst = k, violation
    return violated


def check_known(memory: ModeMemory, z: Floats) -> int:
    """0 where all modes of a state are among those that they can have, else 1."""
    known, start = memory.known, 0
    for _ in range(memory.n_modes):
        at, count, is_known = int(known[start]), int(known[start + 1]), False
        for i in range(count):
            is_known = is_known or z[at] == known[start + 2 + i]
        if not is_known:
            return 1
        start += 2 + count
    return 0


def find_fit(kernels: Kernels, kernel: Kernel, initial: Array, n_x: int) -> Before | None:
    """The loop that gives calls of a kernel their modes, from these values of z; None where it depends on none."""
    topology, row = kernels.topology, find_row(kernel)
    table, n_u = topology.events, topology.n_u
    if table is None or row.modes is Modes.UNUSED:
        return None
    is_fitted, by_acceleration, m = row.modes is not Modes.GIVEN, row.modes is Modes.BY_ACCELERATION, len(table.roots)
    own = {"settled": SETTLED} if is_fitted else {}
    if is_fitted and m and not by_acceleration:
        own |= {"roots": ROOTS, "jump": JUMP}
        own |= {"loaded_roots": LOADED_ROOTS} if row.given in (added_loads, added_efforts) else {}
    kernels.prepare(own.values())
    machines = {name: kernels.machine(each) for name, each in own.items()}
    known = [float(x) for at, (_, values) in table.modes.items() for x in (at, len(values), *values)]
    z, pointers = np.array([*initial, 0.0]), np.zeros(HELD + 1, dtype=np.int64)
    memory = ModeMemory(
        is_fitted=is_fitted, by_acceleration=by_acceleration, n_u=n_u, n_x=n_x if row.given is added_efforts else 0,
        n_z=len(initial), z_start=topology.n_q + n_u, n_roots=m, n_modes=len(table.modes), own_z=z.ctypes.data,
        pointers=ints_of(pointers), at=ints_of(np.array([entry.at for entry in table.roots], dtype=np.int64)),
        **{name: machine.address for name, machine in machines.items()},
    )  # fmt: skip
    memory.z, memory.initial, memory.known = floats_of(z), floats_of(z.copy()), floats_of(np.array(known))
    memory.value = floats_of(np.array([float(entry.root.value) for entry in table.roots]))
    sizes = {"u": n_u, "g": 2 * m, "y": topology.layout.n_y, "mask": m, "loads": count_loads(topology)}
    sizes["work"] = max((machine.sizes["work"] for machine in machines.values()), default=0)
    for name, size in sizes.items():
        setattr(memory, name, floats_of(np.zeros(size + 1)))
    return Before(_load_fit(), memory, pointers, {"z": z}, tuple(machines.values()))


@cache
def _load_fit() -> CompiledLoop:
    """The loop in machine code: compiled when it is first used, or found in the cache."""
    from kinode.jit.python_function import load_together  # which systems without modes do without
    from kinode.ode.compiled_loops import CompiledLoop

    return CompiledLoop(load_together(f"loop {fit_call.__module__}.{fit_call.__name__}", (fit_call,))[1][0])


def with_modes(kernels: Kernels, kernel: Kernel, point: EvaluationPoint, x: Array) -> EvaluationPoint:
    """The point of a call without z, with consistent modes; in a batch for each state."""
    if not needs_modes(kernels.topology, kernel):
        return point
    count = len(x) if x.ndim == 2 else point.n_rows
    rows = [point] if count is None else [point.row(k) for k in range(count)]
    fit = find_fit(kernels, kernel, rows[0].z, x.shape[-1]) if rows else None
    if fit is None:
        return point.replaced(z=np.zeros((0, kernels.topology.n_z)))
    z = fit.defaults["z"]
    found = np.empty((len(rows), len(z) - 1))
    for k, row in enumerate(rows):
        given = ([row.t], row.q, row.u, z, row.p, row.inputs, x[k] if x.ndim == 2 else x)
        arrays = [np.ascontiguousarray(values, dtype=float) for values in given]
        fit.pointers[: len(arrays)] = [values.ctypes.data for values in arrays]
        fit.loop(fit.record)
        found[k] = z[:-1]
    return point.replaced(z=found[0] if count is None else found)


def needs_modes(topology: Topology, kernel: Kernel) -> bool:
    """Whether a call without z needs consistent modes."""
    return topology.events is not None and find_row(kernel).modes in (Modes.FITTED, Modes.BY_ACCELERATION)


def check_modes(topology: Topology, kernel: Kernel, z: Array) -> None:
    """Refuse values in z that are not modes."""
    if topology.events is not None and find_row(kernel).modes is not Modes.UNUSED:
        topology.events.check_modes(z)


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
