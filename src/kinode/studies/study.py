"""Study: the results of many runs, by what varied."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.atomic_files import writing
from kinode.errors import ArgumentError, find_close
from kinode.hooks import hook
from kinode.sheets.tables import Sheet, Shown, Table, format_number
from kinode.studies.kept_results import BY_SIZE
from kinode.studies.worker import DONE, FAILURE, NOT_RUN, STATUS_WORDS

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped]
    import xarray


ROWS_SHOWN = 8


class Study(Shown):
    """The results of many runs; ``study["main.reaction.force|peak"]`` is an array with named dimensions.

    Attributes
    ----------
    data : xarray.Dataset
        All results and coordinates, units as attributes; ``status`` says how each run ended.
    notes : tuple of str
        What is to be known of the study.

    Examples
    --------
    >>> study = kn.sweep("examples/pendulum.yaml", {"pivot.q": [0.1, 0.2, 0.3]}, 1.0, keep="pivot.reaction.force|peak")
    >>> study["pivot.reaction.force|peak"].dims, study.counts["done"]
    (('pivot.q',), 3)
    """

    def __init__(
        self, data: xarray.Dataset, kept: Sequence[str], axes: Sequence[str], notes: Sequence[str] = (),
        evaluation: Callable[[Study, Any], Array] | None = None,
    ) -> None:  # fmt: skip
        self.data, self.kept, self.axes, self.notes = data, tuple(kept), tuple(axes), tuple(notes)
        self.evaluation = evaluation

    # -- what it holds -----------------------------------------------------------------------------
    def __len__(self) -> int:
        return int(self.data["status"].size)

    def __getitem__(self, text: str) -> xarray.DataArray:
        """A result, or the values of an axis, by its text."""
        if text not in self.data.variables:
            near = find_close(str(text), [*self.kept, *self.axes])
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise ArgumentError(f"the study keeps no {text!r}{hint}; it has {', '.join(self.kept)}")
        return self.data[text]

    @property
    def counts(self) -> dict[str, int]:
        """How many runs ended in which way."""
        found, numbers = np.unique(self.data["status"].values, return_counts=True)
        return {STATUS_WORDS[int(code)]: int(number) for code, number in zip(found, numbers)}

    @property
    def complete(self) -> bool:
        """Whether every run was made."""
        return NOT_RUN not in self.data["status"].values

    @property
    def failures(self) -> list[dict[str, Any]]:
        """The runs that failed: their values, and the message."""
        flat = self.data["status"].values.reshape(-1)
        messages = self.data["message"].values.reshape(-1)
        return [{**self._values(int(k)), "message": str(messages[k])} for k in np.flatnonzero(flat == FAILURE)]

    def _values(self, k: int) -> dict[str, Any]:
        """The values of a run by its place in the flat order."""
        places = dict(zip(self.data["status"].dims, np.unravel_index(k, self.data["status"].shape)))
        found = {}
        for name in self.axes:
            column = self.data[name]
            value = column.values[tuple(places[dim] for dim in column.dims)]
            found[name] = value.item() if isinstance(value, np.generic) else value
        return found

    def best(self, of: str, *, largest: bool = False) -> dict[str, Any]:
        """The run with the least value of a result, or the largest; peaks are compared by their size.

        Parameters
        ----------
        of : str
            What is compared, one number for each run.
        largest : bool, default False

        Returns
        -------
        dict
            The values of the run by name, and all its single numbers.

        Examples
        --------
        >>> over = {"pivot.q": [0.1, 0.2, 0.3]}
        >>> study = kn.sweep("examples/pendulum.yaml", over, 1.0, keep="pivot.reaction.force|peak")
        >>> study.best("pivot.reaction.force|peak")["pivot.q"]
        0.1
        """
        result = self[of]
        if result.dims != self.data["status"].dims:
            raise ArgumentError(f"best: {of} is no single number for each run; keep {of}|peak, or another one")
        values = result.values.reshape(-1)
        sizes = np.abs(values) if of.rpartition("|")[2].strip() in BY_SIZE else values
        if not np.isfinite(sizes).any():
            raise ArgumentError(f"best: no run has a value of {of}")
        k = int(np.nanargmax(sizes) if largest else np.nanargmin(sizes))
        numbers = {text: float(self.data[text].values.reshape(-1)[k]) for text in self.scalars}
        return {**self._values(k), **numbers}

    @property
    def scalars(self) -> tuple[str, ...]:
        """What is kept as one number for each run."""
        dims = self.data["status"].dims
        return tuple(text for text in self.kept if self.data[text].dims == dims)

    # -- in whole matrices -------------------------------------------------------------------------
    @cached_property
    def names(self) -> tuple[str, ...]:
        """The axes whose values are numbers, in the order of the columns of ``evaluate``."""
        return tuple(name for name in self.axes if self.data[name].dtype.kind in "fiu")

    def evaluate(self, X: Any) -> Array:
        """Make further runs of the same model: rows of values in, rows of results out.

        That is what programs for optimization and sensitivity analysis (SALib, pymoo, Optuna, OpenTURNS) ask for.

        Parameters
        ----------
        X : array
            (run, axis), in SI units, in the order of ``study.names``.

        Returns
        -------
        array
            (run, result), in the order of ``study.scalars``; nan where a run failed.
        """
        if self.evaluation is None:
            raise ArgumentError("evaluate: a study from a file has no model; call kn.sweep")
        return self.evaluation(self, X)

    # -- out ---------------------------------------------------------------------------------------
    def to_dataframe(self) -> pandas.DataFrame:
        """One row for each run: its values, its single numbers, its status and message."""
        columns: dict[str, Any] = {}
        dims = self.data["status"].dims
        for name in self.axes:
            column = self.data[name]
            spread = column.expand_dims({dim: self.data.sizes[dim] for dim in dims if dim not in column.dims})
            columns[name] = spread.transpose(*dims).values.reshape(-1)
        columns |= {text: self.data[text].values.reshape(-1) for text in self.scalars}
        columns["status"] = np.array(STATUS_WORDS, dtype=object)[self.data["status"].values.reshape(-1)]
        columns["message"] = self.data["message"].values.reshape(-1).astype(object)
        import pandas

        return pandas.DataFrame(columns)

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write one row for each run, with units in the heading."""
        with writing(path) as stream:
            stream.write(self.csv_text())

    def csv_text(self) -> str:
        """One row for each run as text, with units in the heading."""
        frame = self.to_dataframe()
        heading = {name: f"{name} [{self.units(name)}]" for name in frame.columns if self.units(name)}
        return str(frame.rename(columns=heading).to_csv(index=False, lineterminator="\n"))

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write one row for each run as Parquet; needs pyarrow."""
        from io import BytesIO

        from kinode.atomic_files import write_bytes

        image = BytesIO()
        try:
            self.to_dataframe().to_parquet(image, index=False)
        except ImportError:
            raise ArgumentError("to_parquet: needs pyarrow: pip install pyarrow") from None
        write_bytes(path, image.getbuffer())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all results as NetCDF; ``kn.load`` reads them again."""
        from kinode.studies.store import save_study

        save_study(self, path)

    def units(self, name: str) -> str:
        """The SI unit of a result or an axis; "" for none."""
        return str(self.data[name].attrs.get("units", "")) if name in self.data.variables else ""

    def plot(self, *of: str, **options: Any) -> Any:
        """Plot results over what varied: lines over one axis, a heat map over two, a scatter matrix of samples.

        Parameters
        ----------
        *of : str
            Which results; all single numbers if left out.
        **options
            ``kind`` ("lines", "map", "scatter", "tornado"), ``x``, ``file``, ``title``, ``size``.

        Returns
        -------
        matplotlib.figure.Figure
        """
        return hook("plot_study")(self, *of, **options)

    def report(self, folder: str | os.PathLike[str]) -> Any:
        """Write an HTML report of the study into a folder, with its tables and plots; gives the file."""
        return hook("report_study")(self, folder)

    # -- words -------------------------------------------------------------------------------------
    @property
    def head(self) -> str:
        """How many runs over what."""
        counts = ", ".join(f"{number} {word}" for word, number in self.counts.items() if word != STATUS_WORDS[DONE])
        over = ", ".join(f"{name} ({self.data[name].size})" for name in self.axes)
        return f"{len(self)} runs over {over}" + (f"; {counts}" if counts else "")

    @property
    def table(self) -> Table:
        """Least, mean and largest of each single number."""
        rows = []
        for text in self.scalars:
            values = self.data[text].values.reshape(-1)
            values = values[np.isfinite(values)]
            ends = (values.min(), values.mean(), values.max()) if len(values) else ()
            numbers = [format_number(float(x)) for x in ends] or [""] * 3
            rows.append((text, *numbers, self.units(text)))
        return Table(("result", "least", "mean", "largest", "unit"), rows, "wnnnu")

    @property
    def sheet(self) -> Sheet:
        lines: list[Table | str] = [self.table] if self.scalars else []
        others = [text for text in self.kept if text not in self.scalars]
        lines += [f"over time: {', '.join(others)}"] if others else []
        failures = self.failures if STATUS_WORDS[FAILURE] in self.counts else []
        for failure in failures[:ROWS_SHOWN]:
            values = ", ".join(f"{name} = {_format(value)}" for name, value in failure.items() if name != "message")
            lines.append(f"failed at {values}: {failure['message']}")
        if len(failures) > ROWS_SHOWN:
            lines.append(f"and {len(failures) - ROWS_SHOWN} more")
        return Sheet(self.head, parts=[*lines, *self.notes])

    def __repr__(self) -> str:
        return f"<Study: {self.head}>"


def _format(value: Any) -> str:
    return format_number(value) if isinstance(value, float) else str(value)


TIME = "time"
Coordinate = tuple[str, str, str, list[Any]]
"""Name, unit, dimension and values of what varied."""


def compose_data(
    dims: Mapping[str, int], coordinates: Iterable[Coordinate], times: Sequence[float],
    results: Iterable[tuple[str, str, Array]], status: Array, messages: Sequence[str],
) -> xarray.Dataset:  # fmt: skip
    """The results of all runs as arrays with named dimensions."""
    import xarray

    shape = tuple(dims.values())
    data = xarray.Dataset()
    for name, unit, dim, listed in coordinates:
        attrs = {"units": unit} if unit else {}
        data = data.assign_coords({name: xarray.Variable(dim, np.asarray(listed), attrs)})
    for text, unit, values in results:
        attrs = {"units": unit, "long_name": text} if unit else {"long_name": text}
        inner = values.shape[1:]
        names = [TIME, *(f"{text} part" for _ in inner[1:])] if inner else []
        names = names[:2] + [f"{name} {k}" for k, name in enumerate(names[2:], 2)]
        data[text] = xarray.Variable((*dims, *names), values.reshape(*shape, *inner), attrs)
        if inner and TIME not in data.coords:
            data = data.assign_coords({TIME: xarray.Variable(TIME, np.asarray(times), {"units": "s"})})
    data["status"] = xarray.Variable(tuple(dims), np.asarray(status, dtype=np.int8).reshape(shape))
    data["message"] = xarray.Variable(tuple(dims), np.asarray(messages, dtype=object).reshape(shape))
    return data
