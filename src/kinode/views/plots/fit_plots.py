"""Plots of fits: what was measured beside the runs of the fitted model, and the residuals below."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kinode.errors import ArgumentError
from kinode.views.plots.time_plots import WIDTH
from kinode.views.style import COLORS, MUTED, label, new_figure, save_figure, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kinode.tasks.fits.fit_result import Fit, FittedRecord

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
