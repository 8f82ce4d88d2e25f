"""Plots of studies: results over one axis, a map over two, samples against each other, what matters most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError, find_close
from kinode.views.plots.time_plots import WIDTH
from kinode.views.style import COLORS, INK, MUTED, label, new_figure, save_figure, style, tick

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from kinode.studies.study import Study

KINDS = ("lines", "map", "scatter", "tornado")
MOST_LINES = 8
MOST_COLUMNS = 8  # of a scatter matrix
DOTS = 4000  # of a scatter plot, at the most


def plot_study(
    study: Study, *of: str, kind: str | None = None, x: str | None = None, file: Any = None, title: str | None = None,
    size: tuple[float, float] | None = None, shown: bool = True,
) -> Figure:  # fmt: skip
    """Plot results of a study.

    Parameters
    ----------
    study : Study
    *of : str
        Which results; all single numbers if left out.
    kind : {"lines", "map", "scatter", "tornado"}, optional
        Lines over one axis, a colored map over two, a matrix of samples, or bars of what matters most; by default what
        fits the study.
    x : str, optional
        The axis along the page; the longest if left out.
    file : path, optional
        A .png, .svg or .pdf file to write.
    title : str, optional
        Text above the plot.
    size : (float, float), optional
        Width and height in inches.
    shown : bool, default True
        Whether an interactive session displays it.

    Returns
    -------
    matplotlib.figure.Figure
    """
    texts = of or study.scalars
    for text in texts:
        _check_result(study, text)
    if not texts:
        raise ArgumentError("plot: the study keeps no single numbers; plot study.data as xarray does")
    kind = kind or _suitable(study)
    if kind not in KINDS:
        near = find_close(str(kind), KINDS)
        raise ArgumentError(
            f"kind: {kind!r} is none of {', '.join(KINDS)}" + (f"; did you mean {near[0]}?" if near else "")
        )
    draw = {"lines": _draw_lines, "map": _draw_maps, "scatter": _draw_scatter, "tornado": _draw_tornado}[kind]
    with style():
        figure = draw(study, texts, x, size, file is None and shown)
        if title:
            figure.suptitle(title, x=0.01, ha="left", fontweight="bold")
        if file is not None:
            save_figure(figure, file)
    return figure


def _check_result(study: Study, text: str) -> None:
    result = study[text]
    if result.dims != study.data["status"].dims:
        raise ArgumentError(f"plot: {text} is no single number for each run; keep {text}|peak, or another one")


def _suitable(study: Study) -> str:
    dims = study.data["status"].dims
    if "run" in dims:
        return "scatter"
    lengths = sorted(study.data.sizes[dim] for dim in dims)
    return "map" if len(lengths) >= 2 and lengths[-2] > MOST_LINES else "lines"


def _find_x(study: Study, x: str | None) -> str:
    if x is None:
        return str(max(study.data["status"].dims, key=lambda dim: study.data.sizes[dim]))
    if x not in study.axes:
        near = find_close(x, study.axes)
        raise ArgumentError(f"x: the study has no axis {x!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
    return x


def _numbers(study: Study, name: str) -> tuple[Array, list[str] | None]:
    """The values of an axis; texts are counted, and shown at the ticks."""
    values = study.data[name].values
    if values.dtype.kind in "fiu":
        return np.asarray(values, dtype=float), None
    return np.arange(len(values), dtype=float), [str(value) for value in values]


def _finish_x(study: Study, axes: Axes, name: str, words: list[str] | None) -> None:
    axes.set_xlabel(label(name, study.units(name)))
    if words is not None:
        axes.set_xticks(range(len(words)), words)


def _draw_lines(
    study: Study, texts: Sequence[str], x: str | None, size: tuple[float, float] | None, shown: bool
) -> Figure:
    along = _find_x(study, x)
    figure = new_figure(size or (WIDTH, 0.6 + 2.6 * len(texts)), shown=shown)
    rows: Any = figure.subplots(len(texts), 1, sharex=True, squeeze=False)[:, 0]
    for axes, text in zip(rows, texts):
        result = study.data[text]
        over = along if along in result.dims else str(study.data[along].dims[0])
        place, words = _numbers(study, along)
        order = np.argsort(place)
        others = [dim for dim in result.dims if dim != over]
        flat = result.transpose(over, *others).values.reshape(len(place), -1)
        names = _name_lines(study, others)
        step = max(1, -(-flat.shape[1] // MOST_LINES))
        for k in range(0, flat.shape[1], step):
            color = COLORS[k // step % len(COLORS)]
            axes.plot(place[order], flat[order, k], "o-", color=color, markersize=2.8, label=names[k])
        axes.set_ylabel(label(text, study.units(text)))
        axes.yaxis.set_major_formatter(tick)
        if len(names) > 1:
            more = f", every {step}th" if step > 1 else ""
            axes.legend(
                loc="lower left", bbox_to_anchor=(0.0, 1.01), ncols=4, title=f"{', '.join(map(str, others))}{more}"
            )
        _finish_x(study, axes, along, words)
    return figure


def _name_lines(study: Study, dims: Sequence[Any]) -> list[str]:
    names = [""]
    for dim in dims:
        values = study.data[dim].values if dim in study.data.coords else np.arange(study.data.sizes[dim])
        words = [f"{value:.4g}" if isinstance(value, float | np.floating) else str(value) for value in values]
        names = [f"{first}, {word}" if first else word for first in names for word in words]
    return names


def _draw_maps(
    study: Study, texts: Sequence[str], x: str | None, size: tuple[float, float] | None, shown: bool
) -> Figure:
    along = _find_x(study, x)
    dims = study.data["status"].dims
    others = sorted((dim for dim in dims if dim != along), key=lambda dim: -study.data.sizes[dim])
    if along not in dims or not others or "run" in dims:
        raise ArgumentError("kind: a map needs a grid over two axes")
    up = str(others[0])
    if any(study.data.sizes[dim] > 1 for dim in others[1:]):
        raise ArgumentError(
            f"kind: a map shows two axes, and {others[1]} varies too; choose one of its values in study.data"
        )
    figure = new_figure(size or (WIDTH, 0.4 + 3.4 * len(texts)), shown=shown)
    rows: Any = figure.subplots(len(texts), 1, sharex=True, squeeze=False)[:, 0]
    for axes, text in zip(rows, texts):
        values = study.data[text].transpose(up, along, *others[1:]).values.reshape(study.data.sizes[up], -1)
        (across, words), (height, up_words) = _numbers(study, along), _numbers(study, up)
        mesh = axes.pcolormesh(_edges(across), _edges(height), values, cmap="cividis", shading="flat")
        bar = figure.colorbar(mesh, ax=axes, label=label(text, study.units(text)), format=tick)
        bar.outline.set_visible(False)
        axes.grid(False)
        axes.set_ylabel(label(up, study.units(up)))
        if up_words is not None:
            axes.set_yticks(range(len(up_words)), up_words)
        _finish_x(study, axes, along, words)
    return figure


def _edges(values: Array) -> Array:
    """The edges of cells around values."""
    if len(values) == 1:
        return np.array([values[0] - 0.5, values[0] + 0.5])
    middle = (values[1:] + values[:-1]) / 2
    return np.concatenate([[2 * values[0] - middle[0]], middle, [2 * values[-1] - middle[-1]]])


def _columns(study: Study) -> dict[str, Array]:
    """The axes with numbers, one value for each run."""
    frame = study.to_dataframe()
    return {name: np.asarray(frame[name], dtype=float) for name in study.axes if frame[name].dtype.kind in "fiu"}


def _draw_scatter(
    study: Study, texts: Sequence[str], x: str | None, size: tuple[float, float] | None, shown: bool
) -> Figure:
    columns = _columns(study)
    if x is not None:
        columns = {_find_x(study, x): columns[x]}
    if not columns:
        raise ArgumentError("kind: scatter needs an axis with numbers")
    names = list(columns)[:MOST_COLUMNS]
    wide, high = max(WIDTH / 2, 2.1 * len(names)), 0.6 + 2.0 * len(texts)
    figure = new_figure(size or (wide, high), shown=shown)
    rows: Any = figure.subplots(len(texts), len(names), sharex="col", sharey="row", squeeze=False)
    step = max(1, -(-len(study) // DOTS))
    for row, text in zip(rows, texts):
        values = study.data[text].values.reshape(-1)
        for axes, name in zip(row, names):
            axes.plot(columns[name][::step], values[::step], ".", color=COLORS[0], markersize=3.0, alpha=0.55)
            axes.yaxis.set_major_formatter(tick)
        row[0].set_ylabel(label(text, study.units(text)))
    for axes, name in zip(rows[-1], names):
        axes.set_xlabel(label(name, study.units(name)))
    return figure


def find_shares(study: Study, text: str) -> list[tuple[str, float, float]]:
    """By how much a result changes over the range of each axis, all else at its mean: a linear fit over all runs.

    Gives the name, the change from the lowest to the highest value, and the share of the spread that it explains; the
    largest first.
    """
    columns, values = _columns(study), study.data[text].values.reshape(-1)
    good = np.isfinite(values)
    varying = {name: column for name, column in columns.items() if np.ptp(column[good]) > 0.0} if good.any() else {}
    if not varying or good.sum() <= len(varying) + 1:
        raise ArgumentError(f"tornado: {text} has too few runs for a fit over {', '.join(columns)}")
    units = {name: (column[good] - column[good].mean()) / np.ptp(column[good]) for name, column in varying.items()}
    matrix = np.column_stack([np.ones(int(good.sum())), *units.values()])
    slopes = np.linalg.lstsq(matrix, values[good], rcond=None)[0][1:]
    spread = float(np.var(values[good])) or 1.0
    shares = [float(slope**2 * np.var(column)) / spread for slope, column in zip(slopes, units.values())]
    return sorted(zip(units, slopes.tolist(), shares), key=lambda entry: -abs(entry[1]))


def _draw_tornado(
    study: Study, texts: Sequence[str], x: str | None, size: tuple[float, float] | None, shown: bool
) -> Figure:
    found = {text: find_shares(study, text) for text in texts}
    count = max(len(entries) for entries in found.values())
    figure = new_figure(size or (WIDTH, (0.9 + 0.34 * count) * len(texts)), shown=shown)
    rows: Any = figure.subplots(len(texts), 1, squeeze=False)[:, 0]
    for axes, (text, entries) in zip(rows, found.items()):
        middle = float(np.nanmean(study.data[text].values))
        for k, (_, change, share) in enumerate(entries):
            axes.barh(k, change, left=middle - change / 2, color=COLORS[0 if change >= 0 else 1], height=0.62)
            end = middle + abs(change) / 2
            axes.annotate(
                f"{100 * share:.0f} %", (end, k), xytext=(4, 0), textcoords="offset points", va="center", color=MUTED
            )
        axes.axvline(middle, color=INK, linewidth=0.8)
        axes.set_yticks(range(len(entries)), [name for name, _, _ in entries])
        axes.invert_yaxis()
        axes.grid(axis="y", visible=False)
        axes.xaxis.set_major_formatter(tick)
        axes.set_xlabel(label(text, study.units(text)))
    return figure
