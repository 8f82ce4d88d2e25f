"""The columns of derivatives of one run: their record for the loops, and where they ended."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kinode.jit.pointers import floats_of
from kinode.ode.event_spec import Array
from kinode.ode.kernel_spec import ColumnSpec
from kinode.ode.loops.run_codes import Lost
from kinode.ode.loops.run_memory import RunMemory
from kinode.ode.solution import LostColumns


def set_columns(run: RunMemory, spec: ColumnSpec, provide: Callable[..., list[Array]]) -> None:
    """Give a run its columns; ``provide`` makes their arrays."""
    columns, rates = run.columns, spec.break_rates
    columns.count, columns.functions, columns.n_inputs = spec.count, spec.functions, spec.n_inputs
    x, out, before, shifts = provide(spec.n_argument, spec.n_functions, run.model.n, spec.count)
    columns.x, columns.out, columns.before, columns.shifts = map(floats_of, (x, out, before, shifts))
    columns.breaks_shift = int(rates is not None)
    columns.break_shifts = floats_of(np.zeros(0) if rates is None else np.ascontiguousarray(rates).ravel())


def find_lost(run: RunMemory, absolute: Callable[[float], float]) -> LostColumns | None:
    """From when on the columns are no derivatives; None if they are to the end."""
    columns = run.columns
    if columns.lost == Lost.NOTHING:
        return None
    return LostColumns(absolute(columns.lost_time), Lost(columns.lost), columns.lost_function)
