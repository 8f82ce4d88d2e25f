"""Plots of fits and of tolerances: runs beside what was measured, and runs with the band of what numbers leave open.

A fit shows the residuals below; a tolerance shows a band of three standard deviations, and what causes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kinode.errors import ArgumentError
from kinode.views.plots.time_plots import WIDTH
from kinode.views.style import COLORS, INK, MUTED, label, new_figure, save_figure, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from kinode.results.sensitivity import Spread, Tolerance
    from kinode.studies.fits.fit_result import Fit, FittedRecord


HEIGHT = 3.2  # inches of a channel
MOST_CHANNELS = 12


def plot_fit(
    fit: Fit, *, checks: bool = False, file: Any = None, title: str | None = None,
    size: tuple[float, float] | None = None, shown: bool = True,
) -> Figure:  # fmt: skip
    """Plot the channels of a fit over time.

    Parameters
    ----------
    fit : Fit
    checks : bool, default False
        Whether the records are those held back.
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
    records = fit.checks if checks else fit.records
    if not records:
        raise ArgumentError("plot: no record was held back; identify(check=...) takes some")
    pairs = [(record, channel) for record in records for channel in record.residuals][:MOST_CHANNELS]
    with style():
        figure = new_figure(size or (WIDTH, HEIGHT * len(pairs)), shown=file is None and shown)
        rows: Any = figure.subplots(
            2 * len(pairs), 1, squeeze=False, gridspec_kw={"height_ratios": [2, 1] * len(pairs)}
        )
        for k, (record, channel) in enumerate(pairs):
            _draw(rows[2 * k, 0], rows[2 * k + 1, 0], fit, record, channel)
        rows[-1, 0].set_xlabel(label("time", "s"))
        figure.suptitle(title or "Measured and fitted", x=0.01, ha="left", weight="bold")
        if file is not None:
            save_figure(figure, file)
    return figure


def _draw(upper: Any, lower: Any, fit: Fit, record: FittedRecord, channel: str) -> None:
    """One channel of a record: both courses, then the residuals with the band of the noise."""
    t, unit, noise = record.times[channel], str(record.run.units(channel)), fit.noise[channel]
    upper.plot(t, record.measured[channel], ".", ms=2.5, color=MUTED, label="measured")
    upper.plot(record.run.t, record.run[channel], color=COLORS[0], label="fitted model")
    upper.set_ylabel(label(channel, unit))
    upper.set_title(record.name, loc="left", fontsize="small")
    upper.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, borderaxespad=0.0)
    upper.tick_params(labelbottom=False)
    lower.axhspan(-2.0 * noise, 2.0 * noise, color=MUTED, alpha=0.2, lw=0, label="noise, 95 %")
    lower.plot(t, record.residuals[channel], ".", ms=2.0, color=COLORS[1 % len(COLORS)])
    lower.set_ylabel(label("residual", unit))


BAND_HEIGHT = 1.9  # inches of one quantity
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
        figure = new_figure(size or (WIDTH, 0.6 + BAND_HEIGHT * len(chosen)), shown=file is None and shown)
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
