"""Both sides of a balance of force and moment about a frame, over time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError
from kinode.views.plots.time_plots import MOST_LINES, WIDTH
from kinode.views.style import COLORS, INK, MOST_POINTS, MUTED, find_prefix, label, new_figure, save_figure, style, tick

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from kinode.results.frame_balances.run_balance import RunBalance

LEAST_SHOWN = 1e-9  # of the largest term
REST = "the rest"
AXES = ("x", "y", "z")


def plot_balance(
    balance: RunBalance, *, of: str = "force", axis: str | None = None, file: Any = None,
    size: tuple[float, float] | None = None,
) -> Figure:  # fmt: skip
    """What acts (upper axes) and what the motion needs (lower axes), each with its sum.

    Parameters
    ----------
    balance : RunBalance
        The balance, from ``run.balance``.
    of : {"force", "moment"}
        Which of the two.
    axis : {"x", "y", "z"}, optional
        The component, along an axis of the frame; default is the one with the largest sum.
    file : path, optional
        A .png, .svg or .pdf file to write.
    size : (float, float), optional
        Width and height in inches.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> run = kn.simulate(kn.load("examples/double_pendulum.yaml"), 0.1, samples=3)
    >>> figure = run.balance("lower", about="upper").plot(axis="x", file="balance.png")
    """
    if of not in ("force", "moment"):
        raise ArgumentError(f"of: force or moment, not {of!r}")
    if axis is not None and axis not in AXES:
        raise ArgumentError(f"axis: x, y or z, not {axis!r}")
    sums = [getattr(side, of) for side in (balance.acting, balance.motion)]
    k = AXES.index(axis) if axis else int(np.argmax(np.abs(sums[0]).max(axis=0, initial=0.0)))
    with style():
        figure = new_figure(size or (WIDTH, 5.6), shown=file is None)
        rows: Any = figure.subplots(2, 1, sharex=True)
        sides = (("acting", balance.acting), ("motion", balance.motion))
        for axes, (word, side), total in zip(rows, sides, sums):
            parts = {name: values[:, k] for name, values in getattr(side, f"{of}s").items()}
            _draw(axes, balance.t, parts, total[:, k], f"{of} {AXES[k]}, {word}", "N" if of == "force" else "N*m")
        title = f"{balance.of}: {of} along {AXES[k]} of {balance.about}"
        figure.suptitle(title, x=0.01, ha="left", fontsize=10, fontweight="bold")
        rows[-1].set_xlabel(label("time", "s"))
        if file is not None:
            save_figure(figure, file)
    return figure


def _draw(axes: Axes, t: Array, parts: Mapping[str, Array], total: Array, words: str, unit: str) -> None:
    """Each term as a line, the largest first, and the sum."""
    every = -(-len(t) // MOST_POINTS)
    peaks = {name: float(np.abs(values).max(initial=0.0)) for name, values in parts.items()}
    largest = max(peaks.values(), default=0.0)
    order = sorted((name for name in parts if peaks[name] > LEAST_SHOWN * largest), key=lambda name: -peaks[name])
    shown = {name: parts[name] for name in order[:MOST_LINES]}
    if len(order) > MOST_LINES:
        shown[REST] = np.sum([parts[name] for name in order[MOST_LINES:]], axis=0)
    unit, scale = find_prefix(unit, largest)
    for k, (name, values) in enumerate(shown.items()):
        color = MUTED if name == REST else COLORS[k % len(COLORS)]
        axes.plot(t[::every], values[::every] / scale, color=color, linewidth=1.2, label=name)
    axes.plot(t[::every], total[::every] / scale, color=INK, linewidth=1.6, label="sum")
    axes.set_ylabel(label(words, unit))
    axes.yaxis.set_major_formatter(tick)
    axes.margins(x=0.0)
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.01), ncols=min(5, len(shown) + 1))
