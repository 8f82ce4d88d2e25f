"""Base parameters: the combinations of inertial numbers that efforts depend on.

A column of the regressor that is a combination of columns before it adds nothing to the efforts: its number only shifts
theirs.  Columns in the order of the tree leave the usual form, in which the mass of an outer body goes into the mass
moments and inertias of the bodies that carry it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError

if TYPE_CHECKING:
    from kinode.dynamics.regressors.inertial_regressor import Regressor

SHOWN = 1e-6  # share of the largest factor of a combination; smaller ones are rounding


@dataclass(frozen=True, eq=False)
class BaseParameters:
    """The combinations of numbers that efforts depend on.

    Attributes
    ----------
    names : tuple of str
        As sums: ``upper.inertia.zz + 0.16*lower.mass``.
    units : tuple of str
    values : array
        Those of the model.
    combinations : array
        (combination, number): ``combinations @ numbers`` are their values.
    independent : tuple of int
        The columns of the regressor that belong to them: ``matrix[..., independent] @ values`` are the efforts.
    unseen : tuple of str
        Numbers that no effort depends on.
    condition : float
        Of the columns, each in units of its length: how well the motions show the combinations (1 is best).
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    values: Array
    combinations: Array
    independent: tuple[int, ...]
    unseen: tuple[str, ...]
    condition: float

    def __len__(self) -> int:
        return len(self.names)

    def __str__(self) -> str:
        width = max((len(name) for name in self.names), default=0)
        rows = (f"{name:{width}}  {value:.6g} {unit}" for name, value, unit in zip(self.names, self.values, self.units))
        hidden = f"\nno effort depends on {', '.join(self.unseen)}" if self.unseen else ""
        return "\n".join(rows) + f"\ncondition {self.condition:.3g}" + hidden


def find_base(regressor: Regressor, rtol: float) -> BaseParameters:
    """The base parameters that the rows of a regressor show."""
    columns = regressor.stacked
    if not np.isfinite(columns).all():
        raise ArgumentError("regressor: numbers that are not finite have no base parameters")
    independent, factors = split_columns(columns, rtol)
    names, n = regressor.names, len(regressor.names)
    combinations = np.zeros((len(independent), n))
    combinations[:, independent] = np.eye(len(independent))
    dependent = [k for k in range(n) if k not in set(independent)]
    combinations[:, dependent] = factors
    unseen = tuple(names[k] for k in dependent if not combinations[:, k].any())
    chosen = columns[:, independent]
    lengths = np.linalg.norm(chosen, axis=0)
    condition = float(np.linalg.cond(chosen / lengths)) if independent else 1.0
    return BaseParameters(
        tuple(_write_sum(names, row, k) for row, k in zip(combinations, independent, strict=True)),
        tuple(regressor.units[k] for k in independent),
        combinations @ regressor.values, combinations, tuple(independent), unseen, condition,
    )  # fmt: skip


def split_columns(columns: Array, rtol: float) -> tuple[list[int], Array]:
    """The columns that are no combination of those before them, and the factors that make the others of them."""
    if len(columns) < columns.shape[1]:
        columns = np.vstack([columns, np.zeros((columns.shape[1] - len(columns), columns.shape[1]))])
    lengths = np.linalg.norm(columns, axis=0)
    seen = lengths > rtol * max(lengths.max(initial=0.0), np.finfo(float).tiny)
    R = np.asarray(
        np.linalg.qr(columns / np.where(seen, lengths, np.inf), mode="r")
    )  # it has the same combinations in fewer rows
    independent: list[int] = []
    known = np.zeros((len(R), 0))  # an orthonormal basis of the columns that were taken
    for k in np.flatnonzero(seen):
        left = R[:, k] - known @ (known.T @ R[:, k])
        left -= known @ (known.T @ left)
        size = float(np.linalg.norm(left))
        if size > rtol:
            independent.append(int(k))
            known = np.column_stack([known, left / size])
    dependent = [k for k in range(columns.shape[1]) if k not in set(independent)]
    factors = np.zeros((len(independent), len(dependent)))
    if independent and dependent:
        factors = np.linalg.lstsq(R[:, independent], R[:, dependent], rcond=None)[0]
        factors = factors / lengths[independent][:, None] * lengths[dependent]
        largest = np.abs(factors).max(axis=0)
        factors[np.abs(factors) <= SHOWN * largest] = 0.0
    return independent, factors


def _write_sum(names: tuple[str, ...], row: Array, first: int) -> str:
    """A combination as a sum, beginning with its own number."""
    text = names[first]
    for k in np.flatnonzero(row):
        if k != first:
            size = abs(row[k])
            factor = "" if abs(size - 1.0) < 1e-9 else f"{size:.6g}*"
            text += f" {'-' if row[k] < 0 else '+'} {factor}{names[k]}"
    return text
