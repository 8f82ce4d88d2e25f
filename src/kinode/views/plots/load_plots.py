"""Plots of loads over time: contributions to a joint's load, pressure around a shaft, spectra, balances, shaking.

Contributions are vectors: each is shown by its component along their sum, so that the stack adds up to the magnitude of
the sum at every time; a contribution that relieves the joint is below zero.  A balance has both sides of force and
moment about a frame; shaking is the acceleration of a point by chain segment and by term, stacked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError
from kinode.results.causes import Causes
from kinode.results.load_spectra import Spectrum
from kinode.results.shaft_loads import Pressure
from kinode.views.plots.time_plots import MOST_LINES, UNITS, WIDTH, short
from kinode.views.style import COLORS, INK, MOST_POINTS, MUTED, find_prefix, label, new_figure, save_figure, style, tick

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from kinode.results.causes import AccelerationCauses
    from kinode.results.run_balance import RunBalance


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
    from kinode.results.load_spectra import read_frequency

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
            _draw_balance(axes, balance.t, parts, total[:, k], f"{of} {AXES[k]}, {word}", UNITS[of])
    return figure


def _draw_balance(axes: Axes, t: Array, parts: Mapping[str, Array], total: Array, words: str, unit: str) -> None:
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


def plot_shaking(causes: AccelerationCauses, *, file: Any = None, size: tuple[float, float] | None = None) -> Figure:
    """The acceleration breakdown of a point: by chain segment (upper axes) and by term (lower axes).

    A negative contribution reduces the acceleration.

    Parameters
    ----------
    causes : AccelerationCauses
        The breakdown, from ``run.acceleration_by_cause``.
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
    >>> figure = run.acceleration_by_cause("lower.tip").plot(file="acceleration.png")
    """
    with paired_axes(f"{causes.of}: acceleration by {causes.by}, and by term", file, size) as figure:
        for axes, names in zip(figure.axes, (causes.tiers, causes.terms), strict=True):
            draw_stack(axes, causes.t, {name: causes[name] for name in names}, causes.total)
    return figure


def draw_stack(axes: Axes, t: Array, parts: Mapping[str, Array], total: Array) -> None:
    """Each vector by its component along the sum, the largest first, and the magnitude of the sum."""
    every = -(-len(t) // MOST_POINTS)
    t, total = t[::every], total[::every]
    size = np.linalg.norm(total, axis=1)
    direction = total / np.where(size > LEAST_SHOWN * size.max(initial=0.0), size, np.inf)[:, None]
    along = {name: np.einsum("ti,ti->t", values[::every], direction) for name, values in parts.items()}
    unit, scale = find_prefix("m/s^2", float(size.max(initial=0.0)))
    shown = {name: values / scale for name, values in find_largest(along).items()}
    draw_bands(axes, t, shown, size / scale, list(shown))
    finish_axes(axes, "acceleration", unit, min(5, len(shown) + 1))
