"""Both sides of a balance of force and moment about a frame, over time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError
from kinode.views.plots.plot_parts import find_color, find_largest, finish_axes, paired_axes
from kinode.views.plots.time_plots import UNITS
from kinode.views.style import INK, MOST_POINTS, find_prefix

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from kinode.results.frame_balances.run_balance import RunBalance

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
    title = f"{balance.of}: {of} along {AXES[k]} of {balance.about}"
    with paired_axes(title, file, size) as figure:
        sides = (("acting", balance.acting), ("motion", balance.motion))
        for axes, (word, side), total in zip(figure.axes, sides, sums, strict=True):
            parts = {name: values[:, k] for name, values in getattr(side, f"{of}s").items()}
            _draw(axes, balance.t, parts, total[:, k], f"{of} {AXES[k]}, {word}", UNITS[of])
    return figure


def _draw(axes: Axes, t: Array, parts: Mapping[str, Array], total: Array, words: str, unit: str) -> None:
    """Each term as a line, the largest first, and the sum."""
    every = -(-len(t) // MOST_POINTS)
    largest = max((float(np.abs(values).max(initial=0.0)) for values in parts.values()), default=0.0)
    unit, scale = find_prefix(unit, largest)
    shown = find_largest(parts)
    for name, values in shown.items():
        color = find_color(name, list(shown))
        axes.plot(t[::every], values[::every] / scale, color=color, linewidth=1.2, label=name)
    axes.plot(t[::every], total[::every] / scale, color=INK, linewidth=1.6, label="sum")
    finish_axes(axes, words, unit, min(5, len(shown) + 1))
