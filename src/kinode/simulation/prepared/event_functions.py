"""The events of a compiled system as the integrators take them: event functions, resets, clocks, Python samplers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import Error, LawError
from kinode.kernels.kernel_options import Kernel
from kinode.model.base.events import EventTable
from kinode.model.base.fields import short, unknown
from kinode.ode.event_spec import Call, EventSpec
from kinode.ode.runs.input_table import Inputs


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
