"""Prepared runs of a compiled system: what runs with the same options share is made once and kept with the system.

A run with other values of parameters, inputs or the start then takes a fraction of a millisecond beside its
integration.  ``kn.simulate`` and batches begin their runs here.
"""

from __future__ import annotations

from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.jit.llvm_code import choose_lanes
from kinode.kernels.compiled_kernels import Kernels
from kinode.kernels.kernel_options import DerivativeOptions, Kernel
from kinode.kernels.tree_size import is_large
from kinode.model.system_checks import find_asking
from kinode.ode.kernel_spec import JacobianSpec, KernelSpec
from kinode.ode.loops.run_codes import JacobianForm
from kinode.ode.runs.input_table import Inputs, split_inputs
from kinode.ode.runs.prepared_run import PreparedRun
from kinode.simulation.law_bounds.watched_laws import NONE, find_bounds
from kinode.simulation.prepared.event_functions import find_event_kernels, find_spec

DIRECTION = Kernel("direction")
WHOLE_UP_TO = 32
"""States up to which the Jacobian of an implicit method is one function; of more states that takes long to compile."""
RATE_BY_STATE = DerivativeOptions(of=("rate",), by=(("coordinates", None), ("u", None), ("z", None)))
"""The Jacobian of the rate by the state."""
MOST_KEPT = 8
"""Prepared runs of a compiled system: those that were used last."""

_KERNELS: WeakKeyDictionary[Dynamics, dict[Any, tuple[Kernels, KernelSpec]]] = WeakKeyDictionary()
_PREPARED: WeakKeyDictionary[Dynamics, dict[Any, tuple[Any, PreparedRun]]] = WeakKeyDictionary()
_LOCK = Lock()


def find_kernel(dynamics: Dynamics, p: Array, inputs: Inputs, with_jacobian: bool) -> KernelSpec:
    """The compiled functions that an integration of a system needs, those of its events and bounds among them."""
    kept, kernels = _KERNELS.setdefault(dynamics, {}), dynamics.kernels
    courses = split_inputs(inputs)[1]
    key = with_jacobian, NONE if courses is None else courses.entries
    known = kept.get(key)
    if known is not None and known[0] is kernels:  # others, where other constraint rows are in use
        return known[1]
    kernel = _make_kernel(dynamics, p, inputs, *key)
    if kernel.events is None or kernel.events.call is None:  # functions in Python are given p and inputs
        kept[key] = kernels, kernel
    return kernel


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
    from kinode.kernels.derivatives.recursion_scope import ACCELERATIONS_BY_MOTION, has_paired_recursion

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
    kept = _PREPARED.setdefault(dynamics, {})
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
