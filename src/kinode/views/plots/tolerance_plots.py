"""Plots of tolerances: quantities over time, each with a band of three standard deviations, and what causes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kinode.errors import ArgumentError
from kinode.views.plots.time_plots import WIDTH
from kinode.views.style import COLORS, INK, MUTED, label, new_figure, save_figure, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from kinode.results.sensitivities.tolerance import Spread, Tolerance

HEIGHT = 1.9  # inches of one quantity
BAND = 3.0  # standard deviations


def plot_tolerance(
    tolerance: Tolerance, *names: str, file: Any = None, size: tuple[float, float] | None = None, shown: bool = True
) -> Figure:
    """Plot quantities over time with a band of three standard deviations, and beside each what its parameters cause.

    Parameters
    ----------
    tolerance : Tolerance
        From ``run.tolerance``.
    *names : str
        Which quantities; all if left out.
    file : path, optional
        A .png, .svg or .pdf file to write.
    size : (float, float), optional
        Width and height in inches.
    shown : bool, default True
        Whether an interactive session displays it.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> run = kn.simulate(kn.load("examples/pendulum.yaml"), 1.0, samples=21, sensitivity=["L"])
    >>> figure = run.tolerance({"L": "1 mm"}).plot("pivot.reaction.force", file="band.png")
    """
    chosen = [tolerance[name] for name in names or tolerance.spreads]
    if not chosen:
        raise ArgumentError("plot: the tolerance has no quantities")
    with style():
        figure = new_figure(size or (WIDTH, 0.6 + HEIGHT * len(chosen)), shown=file is None and shown)
        axes = figure.subplots(len(chosen), 2, sharex=True, squeeze=False)
        for (left, right), spread in zip(axes, chosen, strict=True):
            _draw_band(left, spread)
            _draw_parts(right, spread)
        for each in axes[-1]:
            each.set_xlabel(label("t", "s"))
        axes[0, 1].legend(loc="upper left")
        if file is not None:
            save_figure(figure, file)
    return figure


def _draw_band(axes: Axes, spread: Spread) -> None:
    """A quantity with its band; a line marks the peak."""
    width = BAND * spread.sigma
    axes.fill_between(spread.t, spread.value - width, spread.value + width, color=COLORS[0], alpha=0.3, lw=0)
    axes.plot(spread.t, spread.value, color=COLORS[0])
    axes.axvline(spread.time, color=MUTED, lw=0.8, ls=":")
    axes.set_ylabel(label(spread.name, spread.unit))


def _draw_parts(axes: Axes, spread: Spread) -> None:
    """The standard deviation, and what each parameter alone would cause."""
    axes.plot(spread.t, spread.sigma, color=INK, label="all")
    for k, (name, part) in enumerate(spread.parts.items()):
        axes.plot(spread.t, abs(part), color=COLORS[k % len(COLORS)], lw=1.0, label=name)
    axes.axvline(spread.time, color=MUTED, lw=0.8, ls=":")
    axes.set_ylabel(label("standard deviation", spread.unit))
