"""What plots of contributions share: which are shown by name, stacks of them, pairs of axes over one time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.views.plots.time_plots import MOST_LINES, WIDTH
from kinode.views.style import COLORS, INK, MUTED, label, new_figure, save_figure, style, tick

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LEAST_SHOWN = 1e-9  # of the largest contribution
REST, SUM = "all others", "magnitude of the sum"
HEIGHT = 5.6  # inches of a pair of axes


@contextmanager
def paired_axes(title: str, file: Any, size: tuple[float, float] | None, height: float = HEIGHT) -> Iterator[Figure]:
    """A figure of two axes over one time; with a file it is written at the end."""
    with style():
        figure = new_figure(size or (WIDTH, height), shown=file is None)
        rows: Any = figure.subplots(2, 1, sharex=True)
        yield figure
        figure.suptitle(title, x=0.01, ha="left", weight="bold")
        rows[-1].set_xlabel(label("time", "s"))
        if file is not None:
            save_figure(figure, file)


def find_largest(parts: Mapping[str, Array], peaks: Mapping[str, float] | None = None) -> dict[str, Array]:
    """The contributions that can be told apart, the largest first; the others as one, and without those that vanish."""
    if peaks is None:
        peaks = {name: float(np.abs(values).max(initial=0.0)) for name, values in parts.items()}
    least = LEAST_SHOWN * max(peaks.values(), default=0.0)
    names = sorted((name for name in peaks if peaks[name] > least), key=lambda name: -peaks[name])
    kept = names if len(names) <= MOST_LINES else names[: MOST_LINES - 1]
    largest = {name: parts[name] for name in kept}
    if len(kept) < len(names):
        largest[REST] = np.sum([parts[name] for name in names[len(kept) :]], axis=0)
    return largest


def find_color(name: str, order: list[str]) -> str:
    """The color of a contribution by its place in an order; the rest is gray."""
    return MUTED if name == REST else COLORS[order.index(name) % len(COLORS)]


def draw_bands(axes: Axes, t: Array, along: Mapping[str, Array], size: Array, order: list[str]) -> None:
    """Contributions on top of one another, those below zero downwards, and the magnitude of their sum."""
    up, down = np.zeros_like(size), np.zeros_like(size)
    for name, values in along.items():
        color = find_color(name, order)
        for base, part in ((up, np.maximum(values, 0.0)), (down, np.minimum(values, 0.0))):
            shown = name if base is up else None
            axes.fill_between(t, base, base + part, color=color, alpha=0.75, linewidth=0, label=shown)
            base += part
    axes.plot(t, size, color=INK, linewidth=1.4, label=SUM)


def finish_axes(axes: Axes, words: str, unit: str, columns: int) -> None:
    """The label of the values, and a legend above the axes."""
    axes.set_ylabel(label(words, unit))
    axes.yaxis.set_major_formatter(tick)
    axes.margins(x=0.0)
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.01), ncols=columns)
