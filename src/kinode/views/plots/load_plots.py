"""Plots of the loads of a joint: contributions stacked over time, pressure around a shaft, spectra.

Contributions are vectors: each is shown by its component along their sum, so that the stack adds up to the magnitude of
the sum at every time; a contribution that relieves the joint is below zero.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.results.reaction_causes import Causes
from kinode.results.shafts.load_spectra import Spectrum
from kinode.results.shafts.shaft_loads import Pressure
from kinode.views.plots.plot_parts import HEIGHT, SUM, draw_bands, find_largest, finish_axes, paired_axes
from kinode.views.plots.time_plots import MOST_LINES, UNITS, WIDTH, short
from kinode.views.style import COLORS, MOST_POINTS, find_prefix, label, new_figure, save_figure, style, tick

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_TURNS = 3.0  # of a shaft that a polar plot shows


# -- contributions ---------------------------------------------------------------------------------
def plot_causes(causes: Causes, *, file: Any = None, size: tuple[float, float] | None = None) -> Figure:
    """The breakdown of the kinetic share of a joint's reaction: force and moment, stacked over time.

    Parameters
    ----------
    causes : Causes
        The breakdown, from ``run.causes``.
    file : path, optional
        A .png, .svg or .pdf file to write.
    size : (float, float), optional
        Width and height in inches.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> run = kn.simulate(kn.load("examples/rotor.yaml"), 0.04, samples=5)
    >>> figure = run.causes("shaft", by="body").plot(file="causes.png")
    """
    taller = 1.6 if causes.by == "term" else 0.0  # a row of the legend for each
    title = f"{causes.joint}: kinetic part of the reaction by {causes.by}"
    with paired_axes(title, file, size, HEIGHT + taller) as figure:
        for axes, of in zip(figure.axes, ("force", "moment"), strict=True):
            draw_causes(axes, causes, of)
    return figure


def draw_causes(axes: Axes, causes: Causes, of: str) -> int:
    """One stack: the largest contributions by name, the others as one; return the rows of the legend."""
    total, parts = (causes.force, causes.forces) if of == "force" else (causes.moment, causes.moments)
    every = -(-len(causes.t) // MOST_POINTS)
    t, total = causes.t[::every], total[::every]
    size = np.linalg.norm(total, axis=1)
    peaks = {x.name: getattr(x, of).peak for x in causes.shares}
    largest = {name: values[::every] for name, values in find_largest(parts, peaks).items()}
    unit, scale = find_prefix(UNITS[of], float(size.max(initial=0.0)))
    along = {name: _along(values, total, size) / scale for name, values in largest.items()}
    # Where there are colors enough, a name has the same in both stacks.
    order = [x.name for x in causes.shares] if len(causes.shares) <= len(COLORS) else list(along)
    draw_bands(axes, t, along, size / scale, order)
    figure: Any = axes.get_figure()
    room = figure.get_size_inches()[0] / (0.35 + 0.075 * max(map(len, (*along, SUM))))
    columns = max(1, min(int(room), len(along) + 1))
    finish_axes(axes, of, unit, columns)
    return -(-(len(along) + 1) // columns)


def _along(values: Array, total: Array, size: Array) -> Array:
    """The part of a vector along the direction of the sum; none where the sum has no direction."""
    along: Array = (values * total).sum(axis=1) / np.where(size > 0, size, 1.0)
    return along


# -- pressure around a shaft -----------------------------------------------------------------------
def plot_polar(pressure: Pressure, *, file: Any = None, size: tuple[float, float] | None = None) -> Figure:
    """Polar plot of the force across a shaft's axis, in fixed and in rotating axes.

    Of a long run the last three turns are drawn.

    Parameters
    ----------
    pressure : Pressure
        The force of the shaft on its parent, from ``run.pressure``.
    file : path, optional
        A .png, .svg or .pdf file to write.
    size : (float, float), optional
        Width and height in inches.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> run = kn.simulate(kn.load("examples/rotor.yaml"), 0.04, samples=41)
    >>> figure = run.pressure("shaft").plot(file="pressure.png")
    """
    with style():
        figure = new_figure(size or (WIDTH, 4.4), shown=file is None)
        pair: Any = figure.subplots(1, 2, subplot_kw={"projection": "polar"})
        draw_polar(pair, pressure)
        s = pressure.shaft
        figure.suptitle(
            f"{s.joint}: {pressure.part} pressure of {s.child} on {s.parent}", x=0.01, ha="left", weight="bold"
        )
        if file is not None:
            save_figure(figure, file)
    return figure


def draw_polar(pair: Any, pressure: Pressure) -> None:
    """Both pictures, to one scale."""
    turns = np.abs(pressure.angle - pressure.angle[-1]) / (2.0 * np.pi)
    last = turns <= MOST_TURNS
    peak = float(pressure.magnitude[last].max(initial=0.0))
    unit, scale = find_prefix("N", peak)
    texts = (f"fixed axes, of {pressure.shaft.parent}", f"turning axes, of {pressure.shaft.child}")
    for axes, values, words in zip(pair, (pressure.fixed, pressure.turning), texts):
        x, y = values[last].T
        r = np.hypot(x, y) / scale
        steady = np.ptp(np.column_stack([x, y]), axis=0).max(initial=0.0) < 0.02 * peak
        angle = np.unwrap(np.arctan2(y, x))
        if steady:  # a constant force: a spoke shows it, a line would be a dot
            axes.plot([angle[-1]] * 2, [0.0, r[-1]], color=COLORS[1], linewidth=2.0)
        else:
            axes.plot(angle, r, color=COLORS[0])
        axes.plot(angle[-1:], r[-1:], "o", color=COLORS[1], markersize=5)
        axes.set_title(words, loc="center", fontweight="normal", pad=12)
        axes.set_rlim(0.0, 1.1 * peak / scale if peak > 0 else 1.0)
        axes.set_rlabel_position(100.0)
        axes.yaxis.set_major_locator(_few())
        axes.yaxis.set_major_formatter(lambda value, _=None: f"{tick(value)} {unit}" if value else "")


def _few() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(3, prune="lower")


# -- spectra ---------------------------------------------------------------------------------------
def plot_spectrum(
    spectrum: Spectrum, *, frequency: str | None = None, file: Any = None, size: tuple[float, float] | None = None
) -> Figure:
    """Amplitudes of a load over frequency or order, up to the highest line of the spectrum.

    Parameters
    ----------
    spectrum : Spectrum
        The spectrum, from ``run.spectrum``.
    frequency : str, optional
        A natural frequency to mark, such as "55 Hz"; only in a spectrum over time.
    file : path, optional
        A .png, .svg or .pdf file to write.
    size : (float, float), optional
        Width and height in inches.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> run = kn.simulate(kn.load("examples/rotor.yaml"), 0.2, samples=401)
    >>> figure = run.spectrum("shaft").plot(frequency="55 Hz", file="spectrum.png")
    """
    from kinode.results.shafts.load_spectra import read_frequency

    with style():
        figure = new_figure(size or (WIDTH, 3.2), shown=file is None)
        axes = figure.subplots()
        unit, scale = find_prefix(spectrum.unit, float(spectrum.amplitude.max(initial=0.0)))
        over = spectrum.over == "time"
        tops = [line.high if over else line.order or 0.0 for line in spectrum.lines]
        natural = None if frequency is None or not over else read_frequency(frequency)
        end = 1.25 * max([*tops, natural or 0.0, 8.0 * spectrum.resolution])
        axes.plot(spectrum.abscissa, spectrum.amplitude / scale, color=COLORS[0])
        for top, line in list(zip(tops, spectrum.lines))[:MOST_LINES]:
            axes.annotate(
                tick(float(f"{top:.3g}")),
                (top, line.amplitude / scale),
                (0, 3),
                textcoords="offset points",
                ha="center",
            )
        if natural is not None:
            axes.axvline(natural, color=COLORS[1], linestyle="--", label=f"natural, {tick(float(f'{natural:.4g}'))} Hz")
            axes.legend(loc="upper right")
        axes.set_xlim(0.0, min(end, float(spectrum.abscissa[-1])))
        axes.set_ylim(bottom=0.0)
        axes.set_xlabel(label("frequency", "Hz") if over else "order of the shaft's turning")
        axes.set_ylabel(label(spectrum.of, unit))
        axes.yaxis.set_major_formatter(tick)
        axes.set_title(short(f"{spectrum.joint}: spectrum of the {spectrum.part} {spectrum.of}", 70))
        if file is not None:
            save_figure(figure, file)
    return figure
