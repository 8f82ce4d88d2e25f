"""The compiled functions of a run with columns: each gives the derivatives of its result beside it."""

from __future__ import annotations

from dataclasses import replace

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.jit.machine_code import Machine
from kinode.kernels.kernel_options import ColumnOptions, Kernel
from kinode.ode.event_spec import EventSpec
from kinode.ode.kernel_spec import ColumnSpec, KernelSpec
from kinode.ode.loops.run_codes import JacobianForm
from kinode.simulation.prepared.event_functions import find_event_kernels
from kinode.simulation.state_columns.column_values import ColumnRequest


def add_columns(
    dynamics: Dynamics, kernel: KernelSpec, request: ColumnRequest, scales: tuple[float, ...], break_rates: Array | None
) -> KernelSpec:
    """The functions of an integration with columns.

    Parameters
    ----------
    dynamics : Dynamics
    kernel : KernelSpec
        Its functions without columns.
    request : ColumnRequest
        What the columns are derivatives by.
    scales : tuple of float
        The size of each of these.
    break_rates : array or None
        Rates of the times of breaks, a row for each.
    """
    kernels = _find_options(dynamics, request)
    dynamics.kernels.prepare(kernels.values())
    machines = {name: dynamics.kernels.machine(options) for name, options in kernels.items()}
    works = [machine.sizes["work"] for machine in machines.values()]
    functions = machines.get("roots")
    columns = ColumnSpec(
        len(request.names), scales,
        functions=0 if functions is None else functions.address,
        n_functions=0 if functions is None else functions.sizes["out"],
        n_inputs=len(dynamics.topology.inputs),
        n_argument=max(machine.sizes["x"] for machine in machines.values()),
        break_rates=break_rates,
    )  # fmt: skip
    return replace(
        kernel, address=machines["rate"].address, n_work=max(kernel.n_work, *works), columns=columns,
        jacobian=kernel.jacobian if kernel.jacobian and kernel.jacobian.form == JacobianForm.WHOLE else None,
        projection=machines["projection"].address if "projection" in machines else 0,
        events=None if kernel.events is None else _replace_events(kernel.events, machines),
    )  # fmt: skip


def _find_options(dynamics: Dynamics, request: ColumnRequest) -> dict[str, Kernel]:
    """The kernels with columns, by the name of the kernel without."""
    table, by = dynamics.topology.events, request.by
    options = {"rate": ColumnOptions(Kernel("rate"), by)}
    if dynamics.topology.constrained:
        options["projection"] = ColumnOptions(Kernel("projection"), by)
    used = () if table is None else find_event_kernels(table)
    for name in ("jump", "sample"):
        if name in used:
            options[name] = ColumnOptions(Kernel(name), by, with_time=True)
    if "roots" in used:
        options["roots"] = ColumnOptions(Kernel("roots"), (*by, None), with_time=True)
    return {name: Kernel("columns", each) for name, each in options.items()}


def _replace_events(events: EventSpec, machines: dict[str, Machine]) -> EventSpec:
    """The events with reset maps and samples that give columns too."""
    jump, sample = machines.get("jump"), machines.get("sample")
    reset = events.reset if jump is None else jump.address
    return replace(events, reset=reset, sample=events.sample if sample is None else sample.address)
