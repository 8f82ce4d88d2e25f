"""The design of a study: which values each run has, by the number of the run, and the values that are drawn.

A design is a product of blocks.  A list of values is a block of its own, and a dimension of the results; all axes that
are drawn are one block of samples, and the columns of a table are one block of rows, with the dimension ``run``.  The
values of a run follow from its number alone, so that they depend neither on the order of the runs nor on who makes
them.

Drawn are ``kn.normal``, ``kn.uniform``, and a range to explore, ``kn.between``: a design gives each run a number
between 0 and 1 for each axis, and a distribution makes a value of it.  So random samples, Latin hypercubes and Sobol
points are one mechanism.
"""

from __future__ import annotations

import hashlib
import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError, find_close

RUN = "run"
"""The dimension of samples and of the rows of a table."""
SAMPLED = ("random", "latin", "sobol")
DESIGNS = ("grid", "rows", *SAMPLED)
MOST_RUNS = 10**10


@dataclass(frozen=True, eq=False)
class Axis:
    """What varies: its name, its unit in SI, and its values, or how they are spread."""

    name: str
    unit: str
    values: Sequence[Any] = ()
    """SI numbers, or texts of a field such as method."""
    spread: tuple[Distribution, tuple[float, float]] | None = None
    label: str = ""
    """What it is called among the results, where a result has its name; else its name."""
    role: str = "value"
    """"value" (of a parameter, an input or the start), "field" (of kn.simulate) or "model"."""

    @property
    def title(self) -> str:
        """What it is called among the results."""
        return self.label or self.name


@dataclass(frozen=True, eq=False)
class Design:
    """The axes of a study by blocks, and how many runs there are.

    Attributes
    ----------
    kind : str
        "grid", "rows", "random", "latin" or "sobol".
    axes : tuple of Axis
    count : int
        Samples, or rows of the table; 0 where there is only a grid.
    seed : int
        What random samples begin with.
    """

    kind: str
    axes: tuple[Axis, ...]
    count: int
    seed: int
    shares: Mapping[str, Array]
    """For Latin hypercubes and Sobol points: a number between 0 and 1 for each sample."""

    @property
    def lists(self) -> tuple[Axis, ...]:
        """The axes that are dimensions of their own."""
        return () if self.kind == "rows" else tuple(axis for axis in self.axes if axis.spread is None)

    @property
    def roles(self) -> dict[str, str]:
        """The role of each axis."""
        return {axis.name: axis.role for axis in self.axes}

    @property
    def dims(self) -> dict[str, int]:
        """Dimensions of the results, with their lengths."""
        runs = {RUN: self.count} if self.count or not self.lists else {}
        return {**{axis.title: len(axis.values) for axis in self.lists}, **runs}

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the dimensions."""
        return tuple(self.dims.values())

    def __len__(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))

    def values(self, name: str, runs: Array) -> list[Any]:
        """The values of an axis in the runs of the given numbers."""
        axis = next(axis for axis in self.axes if axis.name == name)
        places = dict(zip(self.dims, np.unravel_index(np.asarray(runs, dtype=np.int64), self.shape)))
        if axis.spread is None:
            place = places[RUN if self.kind == "rows" else axis.title]
            return [axis.values[k] for k in place]
        distribution, numbers = axis.spread
        drawn: list[Any] = distribution.values(self._shares(name, places[RUN]), numbers).tolist()
        return drawn

    def columns(self, first: int, last: int) -> dict[str, Array]:
        """The values of each axis in the runs from the first up to, without, the last."""
        runs = np.arange(first, last)
        found = {}
        for axis in self.axes:
            values = self.values(axis.name, runs)
            is_number = all(type(value) is float for value in values)
            found[axis.name] = np.array(values, dtype=float if is_number else object)
        return found

    def rows(self, first: int, last: int) -> list[dict[str, Any]]:
        """The same by run."""
        return list_rows(self.columns(first, last))

    def outline(self) -> Design:
        """The names and roles of the axes alone; of a long table it is as short as of a short one."""
        return Design(self.kind, tuple(Axis(axis.name, axis.unit, role=axis.role) for axis in self.axes), 0, 0, {})

    def coordinates(self) -> Iterator[tuple[Axis, str, list[Any]]]:
        """Each axis with its dimension and its values along it."""
        for axis in self.axes:
            if axis in self.lists or self.kind == "rows":
                yield axis, RUN if self.kind == "rows" else axis.title, list(axis.values)
            else:
                shares = self._shares(axis.name, np.arange(self.count))
                distribution, numbers = axis.spread or (None, (0.0, 1.0))
                assert distribution is not None
                yield axis, RUN, distribution.values(shares, numbers).tolist()

    def _shares(self, name: str, samples: Array) -> Array:
        if self.kind != "random":
            return np.asarray(self.shares[name][samples])
        return random_shares(self.seed, name, samples)

    def digest(self) -> str:
        """What tells this design from others."""
        told = [
            (axis.name, axis.unit, list(axis.values), axis.spread and (axis.spread[0].kind, axis.spread[1]))
            for axis in self.axes
        ]
        return hashlib.sha256(repr((self.kind, self.count, self.seed, told)).encode()).hexdigest()


def list_rows(columns: Mapping[str, Array]) -> list[dict[str, Any]]:
    """The rows of a table of columns."""
    return [dict(zip(columns, row)) for row in zip(*(column.tolist() for column in columns.values()))]


def random_shares(seed: int, name: str, samples: Array) -> Array:
    """Numbers between 0 and 1, each from the seed, the name of the axis and the number of the sample alone."""
    samples = np.asarray(samples, dtype=np.int64)
    if not len(samples):
        return np.zeros(0)
    first, last = int(samples.min()), int(samples.max())
    key = int.from_bytes(hashlib.sha256(f"{seed} {name}".encode()).digest()[:16], "little")
    stream = np.random.Philox(key=key)
    stream.advance(first // 4)  # four numbers at each count
    raw = stream.random_raw(last - first // 4 * 4 + 1)[samples - first // 4 * 4]
    return np.asarray(((raw >> np.uint64(11)).astype(float) + 0.5) * 2.0**-53)


def make_design(axes: Sequence[Axis], kind: str | None, n: int | None, seed: int) -> Design:
    """The design of some axes; raises ``ArgumentError`` for an impossible one."""
    spread = [axis for axis in axes if axis.spread is not None]
    kind = _find_kind(kind, spread)
    if kind == "rows":
        return _make_table(axes, spread, n, seed)
    if kind == "grid" and spread:
        if n is None:
            names = ", ".join(axis.name for axis in spread)
            raise ArgumentError(f"n: how many values of {names}? Give n=, or a list of values")
        axes = [axis if axis.spread is None else _spaced(axis, _check_count(n)) for axis in axes]
        return _checked(Design("grid", tuple(axes), 0, seed, {}))
    if kind == "grid":
        if n is not None:
            raise ArgumentError("n: a grid of lists has as many runs as it has points; n is for samples")
        return _checked(Design("grid", tuple(axes), 0, seed, {}))
    if not spread:
        raise ArgumentError(f'design: "{kind}" draws values, and all axes are lists; see kn.between and kn.normal')
    if n is None:
        raise ArgumentError(f'n: how many samples does the design "{kind}" have?')
    count = _check_count(n)
    return _checked(Design(kind, tuple(axes), count, seed, _draw(kind, spread, count, seed)))


def _find_kind(kind: str | None, spread: Sequence[Axis]) -> str:
    if kind is None:
        return "random" if any(axis.spread and axis.spread[0].random for axis in spread) else "grid"
    if kind not in DESIGNS:
        near = find_close(str(kind), DESIGNS)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ArgumentError(f"design: {kind!r} is none of {', '.join(DESIGNS)}{hint}")
    return kind


def _make_table(axes: Sequence[Axis], spread: Sequence[Axis], n: int | None, seed: int) -> Design:
    if spread:
        raise ArgumentError(f"{spread[0].name}: the rows of a table are values; {spread[0].spread[0]} is drawn")  # type: ignore[index]
    lengths = {axis.name: len(axis.values) for axis in axes}
    if len(set(lengths.values())) > 1:
        each = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise ArgumentError(f"over: the columns of a table have the same length, not {each}")
    if n is not None:
        raise ArgumentError("n: a table has as many runs as it has rows; n is for samples")
    return _checked(Design("rows", tuple(axes), next(iter(lengths.values())), seed, {}))


def _spaced(axis: Axis, count: int) -> Axis:
    """An axis of evenly spaced values from one end of a range to the other."""
    distribution, (first, last) = axis.spread or (None, (0.0, 0.0))
    if distribution is None or distribution.random:
        raise ArgumentError(f'{axis.name}: {distribution} is drawn, and has no place in a grid; use design="random"')
    return Axis(axis.name, axis.unit, np.linspace(first, last, count).tolist(), None, axis.label, axis.role)


def _check_count(n: Any) -> int:
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise ArgumentError(f"n: a number of samples from 1 is expected, not {n!r}")
    return int(n)


def _checked(design: Design) -> Design:
    for axis in design.axes:
        if axis.spread is None and not len(axis.values):
            raise ArgumentError(f"{axis.name}: the list of its values is empty")
    if np.prod([float(length) for length in design.shape]) > MOST_RUNS:
        raise ArgumentError(f"over: these are more than {MOST_RUNS:.0e} runs")
    return design


def _draw(kind: str, spread: Sequence[Axis], count: int, seed: int) -> dict[str, Array]:
    """Numbers between 0 and 1 for all samples and axes, of designs that know all their samples."""
    if kind == "random":
        return {}
    from scipy.stats import qmc

    sampler = (qmc.LatinHypercube if kind == "latin" else qmc.Sobol)(len(spread), rng=np.random.default_rng(seed))
    with warnings.catch_warnings():  # numbers that are no power of two are balanced less well, and of use
        warnings.simplefilter("ignore", UserWarning)
        points = sampler.random(count)
    return {axis.name: np.ascontiguousarray(points[:, k]) for k, axis in enumerate(spread)}


ReadNumber = Callable[[Any], float]
"""From a number, or a text with a unit, to a number in SI units."""


@dataclass(frozen=True)
class Distribution:
    """How the values of an axis are spread: its kind, and two values as they were given.

    Attributes
    ----------
    kind : {"normal", "uniform", "between"}
    first, second : float or str
        Mean and standard deviation, or the two ends.
    """

    kind: str
    first: Any
    second: Any

    def __str__(self) -> str:
        return f"{self.kind}({self.first}, {self.second})"

    @property
    def random(self) -> bool:
        """Whether it is a spread; the ends of a range to explore are none."""
        return self.kind != "between"

    def numbers(self, name: str, read: ReadNumber) -> tuple[float, float]:
        """Its two values in SI units."""
        first, second = read(self.first), read(self.second)
        if self.kind == "normal":
            second = self._difference(read)
            if not (math.isfinite(first) and math.isfinite(second) and second > 0.0):
                raise ArgumentError(f"{name}: {self}: the standard deviation is a positive number")
        elif not (math.isfinite(first) and math.isfinite(second) and first < second):
            raise ArgumentError(f"{name}: {self}: the first end lies below the second")
        return first, second

    def _difference(self, read: ReadNumber) -> float:
        """The standard deviation; of a unit with an offset (degC) a difference counts from its zero."""
        if not isinstance(self.second, str):
            return read(self.second)
        number, _, unit = self.second.strip().partition(" ")
        try:
            float(number)
        except ValueError:
            return read(self.second)
        return read(self.second) - read(f"0 {unit}")

    def values(self, shares: Array, numbers: tuple[float, float]) -> Array:
        """The values below which the given shares of all values lie, in SI units."""
        first, second = numbers
        if self.kind != "normal":
            return np.asarray(first + shares * (second - first))
        from scipy.special import ndtri

        least = np.finfo(float).tiny
        return np.asarray(first + second * ndtri(np.clip(shares, least, 1.0 - 2.0**-53)))


def normal(mean: float | str, sigma: float | str) -> Distribution:
    """Values of a normal distribution, for an axis of ``kn.sweep``.

    Parameters
    ----------
    mean, sigma : float or str
        Mean and standard deviation, in SI units or as text with a unit.

    Returns
    -------
    Distribution

    Examples
    --------
    >>> print(kn.normal("500 mm", "0.1 mm"))
    normal(500 mm, 0.1 mm)
    """
    return Distribution("normal", mean, sigma)


def uniform(low: float | str, high: float | str) -> Distribution:
    """Values that are as likely anywhere between two ends, for an axis of ``kn.sweep``.

    Parameters
    ----------
    low, high : float or str
        The ends, in SI units or as text with a unit.

    Returns
    -------
    Distribution

    Examples
    --------
    >>> print(kn.uniform(0.1, 0.3))
    uniform(0.1, 0.3)
    """
    return Distribution("uniform", low, high)


def between(low: float | str, high: float | str) -> Distribution:
    """A range to explore, for an axis of ``kn.sweep``; unlike ``kn.uniform`` it is no statement of likelihood.

    Parameters
    ----------
    low, high : float or str
        The ends, in SI units or as text with a unit.

    Returns
    -------
    Distribution

    Examples
    --------
    >>> print(kn.between("0.4 m", "0.6 m"))
    between(0.4 m, 0.6 m)
    """
    return Distribution("between", low, high)
