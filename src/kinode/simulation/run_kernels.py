"""The kernels of a run: prepared once for the runs of a system with the same options; its events for integrators.

Events are event functions, resets, clocks and Python samplers.  A run with other values of parameters, inputs or the
start takes a fraction of a millisecond beside its integration.  ``kn.simulate`` and batches begin their runs here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from threading import Lock
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import Error, LawError
from kinode.jit.llvm_code import choose_lanes
from kinode.kernels.kernel_options import DerivativeOptions, Kernel
from kinode.kernels.tree_size import is_large
from kinode.model.base.events import EventTable
from kinode.model.base.fields import short, unknown
from kinode.model.system_checks import find_asking
from kinode.ode.input_table import Inputs, split_inputs
from kinode.ode.integrate import PreparedRun
from kinode.ode.kernel_spec import Call, EventSpec, JacobianSpec, KernelSpec
from kinode.ode.loops.run_codes import JacobianForm
from kinode.simulation.watched_laws import NONE, find_bounds


def find_event_kernels(table: EventTable) -> list[str]:
    """The names of the kernels that the events of a system need."""
    needed = {
        "roots": bool(table.roots),
        "glance": any(entry.root.by_state for entry in table.roots),
        "jump": bool(table.roots),
        "sample": not all(entry.sampler.call is not None for entry in table.samplers),
    }
    return [name for name, used in needed.items() if used]


def find_spec(dynamics: Dynamics, p: Array, inputs: Inputs) -> tuple[EventSpec, int]:
    """The kernels and tables of a system's events, and the size of the work array that its kernels need."""
    table = dynamics.topology.events
    assert table is not None
    base = dynamics.topology.layout.role_slices["z"].start
    in_python = tuple(entry.sampler.call is not None for entry in table.samplers)
    of_state = tuple(entry.root.by_state for entry in table.roots)
    used = find_event_kernels(table)
    names = ("roots", "glance", "jump", "sample")
    kernels = [dynamics.kernels.machine(Kernel(name)) if name in used else None for name in names]
    roots, cheap_roots, jump, sample = (0 if kernel is None else kernel.address for kernel in kernels)
    sampled = [dynamics.topology.layout.discrete_of[entry.owner] for entry in table.samplers]
    reads = kernels[0].reads_z if kernels[0] is not None else ()
    spec = EventSpec(
        owners=tuple(entry.owner for entry in table.roots),
        modes=tuple(entry.at if entry.at < 0 else base + entry.at for entry in table.roots),
        values=tuple(float(entry.root.value) for entry in table.roots),
        of_state=of_state, functions=roots, cheap=cheap_roots, reset=jump, sample=sample, n_discrete=table.n_held,
        ticks=tuple((entry.ticks, entry.phase) for entry in table.samplers), tick=table.tick, in_python=in_python,
        modes_depend=reads is None or any(where.start <= k < where.stop for where in sampled for k in reads),
        call=_calls(dynamics, table, p, inputs) if any(in_python) else None,
    )  # fmt: skip
    return spec, max(kernel.sizes["work"] for kernel in kernels if kernel) if any(kernels) else 0


def _calls(dynamics: Dynamics, table: EventTable, p: Array, inputs: Inputs) -> Call:
    """The function that calls Python samplers one after the other and writes their results into y."""
    layout = dynamics.topology.layout
    base = layout.role_slices["z"].start
    indices = {c.name: base + c.index for c in dynamics.coordinates if c.role == "z"}

    own = [
        {name: indices[f"{entry.owner}.{name}"] for name, _ in dynamics.system[entry.owner].discrete_states}
        for entry in table.samplers
    ]

    def read(reads: Sequence[str], t: float, y: Array) -> dict[str, Any]:
        if all(name in indices for name in reads):  # samples that compiled code has just taken
            return {name: float(y[indices[name]]) for name in reads}
        q, u, z = layout.split(y)
        values = dynamics.evaluate(reads, t, q, u, z=z, p=p, inputs=inputs)
        return {name: float(value) if np.ndim(value) == 0 else value for name, value in values.items()}

    def call(t: float, y: Array, which: Sequence[int]) -> None:
        for s in which:
            entry = table.samplers[s]
            values = _call_sampler(entry.owner, entry.sampler.call, t, read(entry.sampler.reads, t, y), own[s])
            for name, value in values.items():
                y[own[s][name]] = value

    return call


def _call_sampler(
    owner: str, function: Any, t: float, values: dict[str, Any], own: Mapping[str, int]
) -> dict[str, float]:
    """The discrete states that a user's function returns, checked."""
    at = f"at t = {t:.9g} s"
    try:
        returned = function(t, values)
    except Error:
        raise
    except Exception as error:  # whatever a user's function may raise
        raise LawError(f"its function fails {at} with {type(error).__name__}: {error}", component=owner) from error
    numbers = {}
    for name, value in returned.items():
        if name not in own:
            raise LawError(
                unknown(f"its function gives {at} what is not among its states:", name, own), component=owner
            )
        try:
            numbers[name] = float(value)
        except (TypeError, ValueError):
            message = f"its function gives {at} {short(value)}, and a number is expected"
            raise LawError(message, component=owner) from None
        if not math.isfinite(numbers[name]):
            raise LawError(f"its function gives {at} {name} = {numbers[name]}", component=owner)
    return numbers


DIRECTION = Kernel("direction")
WHOLE_UP_TO = 32
"""States up to which the Jacobian of an implicit method is one function; of more states that takes long to compile."""
RATE_BY_STATE = DerivativeOptions(of=("rate",), by=(("coordinates", None), ("u", None), ("z", None)))
"""The Jacobian of the rate by the state."""
MOST_KEPT = 8
"""Prepared runs of a compiled system: those that were used last."""

_LOCK = Lock()


def find_kernel(dynamics: Dynamics, p: Array, inputs: Inputs, with_jacobian: bool) -> KernelSpec:
    """The compiled functions that an integration of a system needs, those of its events and bounds among them."""
    table, courses = dynamics.topology.events, split_inputs(inputs)[1]
    key = with_jacobian, NONE if courses is None else courses.entries
    make = partial(_make_kernel, dynamics, p, inputs, *key)
    if table is not None and any(entry.sampler.call is not None for entry in table.samplers):
        return make()  # functions in Python are given p and inputs
    return dynamics.kernels.once(("functions of a run", *key), make)


def _find_kernels(dynamics: Dynamics) -> list[Kernel]:
    """The kernels that every run of a system needs."""
    loops = ["projection"] if dynamics.topology.constrained else []
    events = [] if dynamics.topology.events is None else find_event_kernels(dynamics.topology.events)
    asked = ["completed_step"] if find_asking(dynamics.system) else []
    return [Kernel(name) for name in ("rate", *loops, *events, *asked)]


def _make_kernel(
    dynamics: Dynamics, p: Array, inputs: Inputs, with_jacobian: bool, varying: frozenset[int]
) -> KernelSpec:
    dynamics.kernels.prepare(_find_kernels(dynamics))
    rate = dynamics.kernels.machine(Kernel("rate"))
    projection = dynamics.kernels.machine(Kernel("projection")) if dynamics.topology.constrained else None
    asked = find_asking(dynamics.system) and dynamics.topology.layout.n_y
    completed = dynamics.kernels.machine(Kernel("completed_step")) if asked else None
    work = max(code.sizes["work"] for code in (rate, projection, completed) if code is not None)
    events, event_work = (None, 0) if dynamics.topology.events is None else find_spec(dynamics, p, inputs)
    bounds, bound_work = find_bounds(dynamics, varying)
    return KernelSpec(
        rate.address, dynamics.n_q, dynamics.n_u, dynamics.n_z, n_work=max(work, event_work, bound_work),
        projection=projection.address if projection else 0, completed=completed.address if completed else 0,
        bounds=bounds, events=events,
        jacobian=_find_jacobian(dynamics) if with_jacobian else None,
    )  # fmt: skip


def _find_jacobian(dynamics: Dynamics) -> JacobianSpec:
    """Derivatives of the rate, for an implicit method."""
    from kinode.kernels.derivatives.derivative_words import ACCELERATIONS_BY_MOTION, has_paired_recursion

    kernels, topology, form = dynamics.kernels, dynamics.topology, JacobianForm.WHOLE
    if is_large(topology) and has_paired_recursion(topology):
        code, form = kernels.machine(Kernel("derivatives", ACCELERATIONS_BY_MOTION)), JacobianForm.ACCELERATIONS
    elif topology.layout.n_y <= WHOLE_UP_TO and not is_large(topology):
        code = kernels.machine(Kernel("derivatives", RATE_BY_STATE))
    else:
        code, form = kernels.machine(DIRECTION, choose_lanes()), JacobianForm.COLUMNS
    return JacobianSpec(code.address, code.sizes["work"], code.lanes, form)


def find_prepared(
    dynamics: Dynamics, kernel: KernelSpec, span: tuple[float, float], times: Array | None, breaks: Array,
    options: dict[str, Any],
) -> PreparedRun:  # fmt: skip
    """The prepared run of a system from one time to another; a new one where none was kept.

    Parameters
    ----------
    dynamics : Dynamics
    kernel : KernelSpec
        Its compiled functions.
    span : tuple of float
        Start and end in s.
    times : array or None
        Output times in s.
    breaks : array
        Times at which laws jump, in s; the same array for the same laws and values.
    options : dict
        Further arguments of ``integrate``, of plain numbers and texts.
    """
    kept: dict[Any, tuple[Any, PreparedRun]] = dynamics.kernels.once("prepared runs", dict)
    key = (span, None if times is None else times.tobytes(), *options.items())
    with _LOCK:
        known = kept.pop(key, None)
        if known is not None and known[1].kernel is kernel and known[0] is breaks:
            kept[key] = known
            return known[1]
        prepared = PreparedRun(kernel, *span, times=times, breaks=breaks, **options)
        kept[key] = breaks, prepared
        while len(kept) > MOST_KEPT:
            del kept[next(iter(kept))]
    return prepared
