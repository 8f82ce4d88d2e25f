"""Lookup tables: values on a grid of one to four axes, interpolated; laws call them by name.

Every method is a polynomial on each cell of the grid, in the distances from the cell's lower corner:

    nearest, previous   degree 0         linear   degree 1 along each axis
    cubic, quintic      degree 3, 5 along each axis: splines with two or four continuous derivatives and
                        not-a-knot ends [C. de Boor, A Practical Guide to Splines, 1978]; one or two axes

One formula gives the value and the exact derivatives of any order.  It uses arithmetic, ``interval``, ``fetch`` and
``where`` only, and works on every scalar type.

Outside its axes a table is an error ("error"), keeps its edge values ("hold"), continues its outermost polynomials
("extrapolate") or begins again ("repeat"); one word for all axes, or one for each.  In compiled code the error is the
value NaN.  Along an axis that repeats, the last point is the first one of the next period, and a spline is the periodic
one: it is as smooth at the seam as elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Any, Literal

import numpy as np

from kinode.algebra.named_data import NamedData
from kinode.algebra.scalars import Scalar, apply, is_number, mod
from kinode.errors import LawError, ModelError, counted, find_close, suggest
from kinode.expressions.syntax_tree import Expression
from kinode.expressions.table_files import read_table_file

__all__ = ["METHODS", "OUTSIDE", "Table", "read_table_file"]

Method = Literal["linear", "cubic", "quintic", "nearest", "previous"]
Outside = Literal["error", "hold", "extrapolate", "repeat"]
METHODS = ("linear", "cubic", "quintic", "nearest", "previous")
DEGREES = {"cubic": 3, "quintic": 5}
OUTSIDE = ("error", "hold", "extrapolate", "repeat")
CLOSED = 1e-9  # difference of the values at both ends of a period, relative to the largest value: rounding
MOST_AXES = 4


@dataclass(frozen=True)
class Table:
    """Values on a grid.

    Parameters
    ----------
    name : str
        The name by which laws call the table.
    axes : sequence of sequences of float
        The grid points along each axis, increasing.  A single axis may be given without the outer sequence.
    values : sequence of float
        The values, nested or flat; the last axis varies fastest.
    method : {"linear", "cubic", "quintic", "nearest", "previous"}
        Interpolation between the grid points.
    outside : {"error", "hold", "extrapolate", "repeat"}, or one of them for each axis
        The value outside the axes.  Along an axis that repeats, the values at both ends are equal.
    exchangeable : bool
        Whether compiled code reads the numbers when it is loaded: another table of the same name and size needs no new
        code.  Only with ``outside="extrapolate"``.
    columns : tuple of str
        Of a file, what each axis and the values are called there, and the units that were read.

    Examples
    --------
    >>> Table("torque", (0, 1, 2), (0, 3, 4)).evaluate(0.5)
    1.5
    """

    name: str
    axes: tuple[tuple[float, ...], ...]
    values: tuple[float, ...]
    method: Method = "linear"
    outside: Outside | tuple[Outside, ...] = "error"
    exchangeable: bool = field(default=False, compare=False)
    columns: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        _choose(self.name, "method", self.method, METHODS)
        axes = _read_axes(self.name, self.axes)
        outside = _read_outside(self.name, self.outside, len(axes))
        if self.method in DEGREES and len(axes) > 2:
            message = f"{self.method} takes one or two axes, not {len(axes)}; use linear"
            raise ModelError(message, component=self.name, field="method")
        object.__setattr__(self, "axes", axes)
        object.__setattr__(self, "outside", outside)
        object.__setattr__(self, "values", _read_values(self.name, self.values, tuple(len(axis) for axis in axes)))
        for k, words in enumerate(self.outsides):
            if words == "repeat":
                self._check_closed(k)

    @cached_property
    def exchangeable_data(self) -> dict[str, NamedData]:
        """The numbers that compiled code reads when it is loaded, by name; empty if they are part of it."""
        edges, tables = self._pieces
        if not self.exchangeable or set(self.outsides) != {"extrapolate"} or any(len(breaks) == 2 for breaks in edges):
            return {}
        named = {f"{self.name}.axis{k}": breaks for k, breaks in enumerate(edges)}
        named |= {f"{self.name}.power{'_'.join(map(str, power))}": values for power, values in tables.items()}
        return {name: NamedData(name, numbers) for name, numbers in named.items()}

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of points along each axis."""
        return tuple(len(axis) for axis in self.axes)

    @property
    def outsides(self) -> tuple[Outside, ...]:
        """What is outside of each axis."""
        return self.outside if isinstance(self.outside, tuple) else (self.outside,) * len(self.axes)

    def period(self, axis: int) -> float:
        """The length after which the table begins again along an axis; infinite if it does not repeat."""
        return self.axes[axis][-1] - self.axes[axis][0] if self.outsides[axis] == "repeat" else math.inf

    def array(self) -> np.ndarray:
        """The values as an array with one dimension for each axis."""
        return np.array(self.values).reshape(self.shape)

    def evaluate(self, *args: Scalar, along: tuple[int, ...] = ()) -> Scalar:
        """The interpolated value, or its derivative along each of the axes in turn, for any scalar type."""
        self._check_call(args, along)
        if any(type(arg) is Expression for arg in args):
            if along:
                return Expression("call_derivative", (self.name, tuple(sorted(along)), *args))
            return Expression("call", (self.name, *args))
        if all(is_number(arg) for arg in args):
            args = tuple(float(arg) for arg in args)
            if any(math.isnan(arg) for arg in args):
                return math.nan
        if all(is_number(arg) or isinstance(arg, np.ndarray) for arg in args):
            self._refuse_outside(args)
        value = self._interpolate(tuple(self._moved_inside(k, arg) for k, arg in enumerate(args)), along)
        for k, outside in enumerate(self.outsides):
            if outside == "error":
                value = apply("where", self._inside(k, args[k]), value, math.nan)
            elif outside == "hold" and k in along:
                value = apply("where", self._inside(k, args[k]), value, 0.0)
        return value

    def corners(self, axis: int) -> tuple[float, ...]:
        """The points where the value or its slope jumps along an axis; a spline has them at held ends only.

        Along an axis that repeats these are the points of one period, without its end.
        """
        line, outside = self.axes[axis], self.outsides[axis]
        if self.method in DEGREES:
            return (line[0], line[-1]) if outside == "hold" else ()
        middles = tuple(np.convolve(line, (0.5, 0.5), "valid").tolist())
        if outside == "repeat":
            return middles if self.method == "nearest" else line[:-1]
        return (line[0], *middles, line[-1]) if self.method == "nearest" else line

    def derivative(self, axis: int, *args: Scalar) -> Scalar:
        """The exact derivative of the interpolated value along an axis; at a grid point, the one to its right."""
        return self.evaluate(*args, along=(axis,))

    def call(self, args: tuple[Scalar, ...], axes: tuple[int, ...] = ()) -> Scalar:
        """``evaluate`` with the arguments in the order of ``syntax_tree.Calling``."""
        return self.evaluate(*args, along=axes)

    def _check_call(self, args: tuple[Scalar, ...], along: tuple[int, ...]) -> None:
        count = len(self.axes)
        if len(args) != count:
            raise LawError(f"takes {counted(count, 'argument')}, not {len(args)}", component=self.name)
        for axis in along:
            if not 0 <= axis < count:
                raise LawError(f"there is no axis {axis}; the first is 0, the last {count - 1}", component=self.name)

    def _refuse_outside(self, args: tuple[float | np.ndarray, ...]) -> None:
        for k, (x, axis) in enumerate(zip(args, self.axes, strict=True)):
            values = np.atleast_1d(x)
            outside = values[(values < axis[0]) | (values > axis[-1])]
            if self.outsides[k] == "error" and len(outside):
                raise LawError(
                    f"{outside[0]:.12g} lies outside axis {k}, which goes from {axis[0]:.12g} to {axis[-1]:.12g}; "
                    "widen the table, or choose outside='hold', 'extrapolate' or 'repeat'",
                    component=self.name,
                )

    def _inside(self, k: int, x: Scalar) -> Scalar:
        return apply("less_equal", self.axes[k][0], x) * apply("less_equal", x, self.axes[k][-1])

    def _moved_inside(self, k: int, x: Scalar) -> Scalar:
        """The argument: at the edge if it is outside and held, in the first period if the axis repeats."""
        low, high = self.axes[k][0], self.axes[k][-1]
        if self.outsides[k] == "hold":
            return apply("where", apply("less", x, low), low, apply("where", apply("less", high, x), high, x))
        return low + mod(x - low, high - low) if self.outsides[k] == "repeat" else x

    def _check_closed(self, k: int) -> None:
        """Refuse an axis that repeats and has other values at its end than at its start: a point may be missing."""
        array, axis = self.array(), self.axes[k]
        first, last = (array.take(end, axis=k).ravel() for end in (0, -1))
        worst = int(np.argmax(abs(last - first)))
        if abs(last[worst] - first[worst]) > CLOSED * abs(array).max():
            raise ModelError(
                f"axis {k} repeats, but its value at {axis[-1]:.12g}, {last[worst]:.12g}, is not that at "
                f"{axis[0]:.12g}, {first[worst]:.12g}: add the point that closes the period; "
                "a table with a jump there is called with mod(x, period)",
                component=self.name,
                field="outside",
            )

    @cached_property
    def _pieces(self) -> tuple[list[tuple[float, ...]], dict[tuple[int, ...], tuple[float, ...]]]:
        """The edges of the cells along each axis, and for each combination of powers the coefficient in every cell."""
        array, edges = self.array(), []
        for k, axis in enumerate(self.axes):
            values = np.moveaxis(array, 2 * k, 0)
            coefficients, breaks = _split(np.array(axis), values, self.method, self.outsides[k] == "repeat")
            # The points of this axis are replaced by its powers and its cells.
            array = np.moveaxis(coefficients, (0, 1), (2 * k, 2 * k + 1))
            edges.append(tuple(breaks.tolist()))
        powers = [range(array.shape[2 * k]) for k in range(len(self.axes))]
        tables = {}
        for power in product(*powers):
            index = tuple(entry for p in power for entry in (p, slice(None)))
            tables[power] = tuple(array[index].ravel().tolist())
        return edges, tables

    @cached_property
    def _named_pieces(self) -> tuple[list[tuple[float, ...]], dict[tuple[int, ...], tuple[float, ...]]]:
        """The same, by name where the numbers are exchangeable."""
        (edges, tables), data = self._pieces, self.exchangeable_data
        if not data:
            return edges, tables
        named = {power: data[f"{self.name}.power{'_'.join(map(str, power))}"] for power in tables}
        return [data[f"{self.name}.axis{k}"] for k in range(len(edges))], dict(named)

    def _interpolate(self, args: tuple[Scalar, ...], along: tuple[int, ...]) -> Scalar:
        edges, tables = self._named_pieces
        index: Scalar = 0.0
        distances = []
        for x, breaks in zip(args, edges, strict=True):
            cell = 0.0 if len(breaks) == 2 else apply("interval", breaks, x)
            index = index * float(len(breaks) - 1) + cell
            distances.append(x - _fetch(breaks if isinstance(breaks, NamedData) else breaks[:-1], cell))

        def combine(k: int, power: tuple[int, ...]) -> Scalar:
            if k == len(args):
                return _fetch(tables[power], index)
            order = along.count(k)
            total: Scalar = 0.0
            for p in range(max(key[k] for key in tables), order - 1, -1):
                total = total * distances[k] + combine(k + 1, (*power, p)) * float(math.perm(p, order))
            return total

        return combine(0, ())


def _fetch(values: tuple[float, ...], index: Scalar) -> Scalar:
    if not isinstance(values, NamedData) and all(value == values[0] for value in values):
        return values[0]
    return apply("fetch", values, index)


def _split(axis: np.ndarray, values: np.ndarray, method: str, repeats: bool) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients (power, cell, other dimensions) along one axis, and the edges of its cells."""
    if repeats:
        values = np.concatenate([values[:-1], values[:1]])  # equal to rounding before, equal now
    if method == "linear":
        widths = np.diff(axis).reshape(-1, *(1,) * (values.ndim - 1))
        return np.stack([values[:-1], np.diff(values, axis=0) / widths]), axis
    if method in DEGREES:
        return _spline(axis, values, DEGREES[method], repeats)
    if method == "nearest":
        return values[None], np.concatenate([axis[:1], axis[:-1] + np.diff(axis) / 2, axis[-1:]])
    return values[None], np.append(axis, axis[-1] + (axis[-1] - axis[0]))


def _spline(axis: np.ndarray, values: np.ndarray, degree: int, repeats: bool) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients and edges of a spline; the degree is lower if there are few points."""
    from scipy.interpolate import make_interp_spline

    k = min(degree, len(axis) - 1)
    spline = make_interp_spline(axis, values, k=k, bc_type="periodic" if repeats else None)
    edges = spline.t[k : len(spline.t) - k]  # knots are repeated at the ends
    return np.stack([spline(edges[:-1], nu=p) / math.factorial(p) for p in range(k + 1)]), edges


def _choose(name: str, field: str, given: object, choices: tuple[str, ...]) -> None:
    if given not in choices:
        close = find_close(str(given), choices, likeness=0.7)
        message = suggest(f"{given!r} is not known", given, close, otherwise=f"; there are {', '.join(choices)}")
        raise ModelError(message, component=name, field=field)


def _read_outside(name: str, given: Any, n_axes: int) -> Outside | tuple[Outside, ...]:
    """One word for all axes, or one for each of them."""
    words: list[Any] = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [given]
    for word in words:
        _choose(name, "outside", word, OUTSIDE)
    if len(words) not in (1, n_axes):
        message = f"one word for all axes or one for each of the {n_axes} is expected, not {len(words)}"
        raise ModelError(message, component=name, field="outside")
    one: Outside = words[0]
    return one if len(set(words)) == 1 else tuple(words)


def _read_numbers(name: str, field: str, given: Any) -> np.ndarray:
    try:
        array = np.array(given, dtype=float)
    except (TypeError, ValueError) as error:
        raise ModelError("these are not numbers in rows of equal length", component=name, field=field) from error
    if not np.all(np.isfinite(array)):
        raise ModelError("every number must be finite", component=name, field=field)
    return array


def _read_axes(name: str, given: Any) -> tuple[tuple[float, ...], ...]:
    axes = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else []
    if axes and all(is_number(x) for x in axes):
        axes = [axes]
    if not 1 <= len(axes) <= MOST_AXES:
        raise ModelError(f"a table has 1 to {MOST_AXES} axes, not {len(axes)}", component=name, field="axes")
    result = []
    for k, axis in enumerate(axes):
        points = _read_numbers(name, "axes", axis)
        if points.ndim != 1 or len(points) < 2:
            raise ModelError(f"axis {k} needs at least 2 points in a row", component=name, field="axes")
        if np.any(np.diff(points) <= 0):
            at = int(np.argmax(np.diff(points) <= 0))
            message = f"axis {k} must increase from point to point: {points[at + 1]:.12g} follows {points[at]:.12g}"
            raise ModelError(message, component=name, field="axes")
        result.append(tuple(points.tolist()))
    return tuple(result)


def _read_values(name: str, given: Any, shape: tuple[int, ...]) -> tuple[float, ...]:
    values = _read_numbers(name, "values", given)
    if values.shape != shape and values.shape != (math.prod(shape),):
        has, needs = (" x ".join(str(n) for n in size) or "one number" for size in (values.shape, shape))
        raise ModelError(f"the axes need {needs} values, but there are {has}", component=name, field="values")
    return tuple(values.ravel().tolist())
