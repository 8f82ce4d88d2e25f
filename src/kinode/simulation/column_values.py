"""Derivatives of the states of a run: what they are by, their start, and their values, a column for each name."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.ode.input_table import Inputs, split_inputs

LOADED = "loaded"
"""In place of the start of a run that was read from a file."""


@dataclass(frozen=True, eq=False)
class ColumnRequest:
    """Names, and for each the array and position of a parameter or input; None for an initial value."""

    names: tuple[str, ...]
    by: tuple[tuple[str, int] | None, ...]

    def values(self, p: Array, inputs: Inputs) -> list[float | None]:
        """The values of parameters and inputs; None for initial values."""
        arrays = {"p": p, "inputs": split_inputs(inputs)[0]}
        return [None if by is None else float(arrays[by[0]][by[1]]) for by in self.by]


@dataclass(frozen=True, eq=False)
class StartColumns:
    """A request with the derivatives of the start: a row for each name."""

    request: ColumnRequest
    matrix: Array
    start: Any = None
    """The argument ``start=`` of the run."""

    def scales(self, p: Array, inputs: Inputs) -> tuple[float, ...]:
        """For each column the size of what it is the derivative by, for its tolerance; 1 where that is zero."""
        return tuple(abs(value or 0.0) or 1.0 for value in self.request.values(p, inputs))


@dataclass(frozen=True, eq=False)
class RunColumns:
    """The derivatives of the states of a run, ``values[k, j]`` of y[k] by the j-th name.

    ``lost`` says from when on they do not exist, and why; rows after ``lost_time`` mean nothing.
    """

    request: ColumnRequest
    values: Array
    lost_time: float | None = None
    lost: str = ""
    start: Any = None
    """The argument ``start=`` of the run; ``LOADED`` for one from a file, which does not keep it."""

    @property
    def message(self) -> str:
        """From when on there are no derivatives, and why; empty if there are to the end."""
        if self.lost_time is None:
            return ""
        return f"the run has no derivative from t = {self.lost_time:.9g} s on: {self.lost}"

    @property
    def facts(self) -> dict[str, str]:
        """What the facts of a run say of its derivatives."""
        return {"sensitivity": ", ".join(self.request.names)} | (
            {"sensitivity_end": self.message} if self.message else {}
        )

    def cut(self, rows: int) -> RunColumns:
        """The first rows."""
        return replace(self, values=self.values[:rows])


def join_row(y: Array, columns: StartColumns | None) -> Array:
    """The start of a run: the state, then its columns."""
    return y if columns is None else np.concatenate([y, columns.matrix.ravel()])


def describe_lost(dynamics: Dynamics, why: Any, function: int) -> str:
    """Why derivatives do not exist any more, in words."""
    from kinode.ode.loops.run_codes import Lost

    table = dynamics.topology.events
    owner = table.roots[function].owner if table is not None and table.roots else "a law of time"
    return {
        Lost.GRAZING: f"{owner} only touches a threshold there (grazing): a small change decides whether it is crossed",
        Lost.TOGETHER: f"{owner} changes at the same instant as another: a small change decides which comes first",
        Lost.APPEARS: f"a condition of {owner} is met just there: a small change decides whether its mode changes",
    }[why]
