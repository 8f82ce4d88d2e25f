"""Plots of results against time: ``plot`` for any quantities, ``plot_loads`` for what a joint carries.

One axes for each unit, one time axis; vectors are lines for their parts.  matplotlib is imported when a
plot is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError
from kinode.kernels.state import Wrench
from kinode.views.plots.mode_strips import ROW, draw_strips, find_strips
from kinode.views.style import COLORS, INK, find_prefix, label, new_figure, save_figure, style, thin, tick

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from kinode.results.trajectory import Trajectory

WIDTH = 8.0  # inches; 800 pixels
UNITS = {"force": "N", "moment": "N*m"}
MOST_LINES = 6  # in an axes: a reader can tell them apart
MANY_EVENTS = 60  # beyond which their marks would cover the lines
LEGEND_EM = 0.95 * 9.0 / 72.0  # inches, the size of the legend's text
WORD_OF_UNIT = {
    "rad": "angle", "deg": "angle", "m": "length", "N": "force", "N*m": "moment", "J": "energy", "W": "power",
    "m/s": "velocity", "rad/s": "angular velocity", "deg/s": "angular velocity",
    "m/s^2": "acceleration", "rad/s^2": "angular acceleration", "A": "current",
    "V": "voltage",
}  # fmt: skip
DEGREES = {"rad": "deg", "rad/s": "deg/s", "rad/s^2": "deg/s^2", "rad/s**2": "deg/s^2", "rad/s2": "deg/s^2"}


@dataclass(frozen=True, eq=False)
class PlotLine:
    """One line of a plot: its name, its unit, a value for each time."""

    name: str
    unit: str
    values: Array


def plot(
    run: Trajectory, *names: str, file: Any = None, degrees: bool = False, title: str | None = None,
    size: tuple[float, float] | None = None, between: tuple[float, float] | None = None, modes: bool = False,
) -> Figure:  # fmt: skip
    """Quantities against time, one axes for each unit.

    Parameters
    ----------
    run : Trajectory
    *names : str
        Names of quantities, such as ``elbow.q``; the coordinates of all joints if left out.
    file : path, optional
        A .png, .svg or .pdf file to write.
    degrees : bool, default False
        Whether angles are in degrees.
    title : str, optional
        Text above the plot.
    size : (float, float), optional
        Width and height in inches.
    between : (float, float), optional
        First and last time in s; the whole run if left out.
    modes : bool, default False
        Whether a strip below shows the modes of each component with events.

    Returns
    -------
    matplotlib.figure.Figure
    """
    lines = [line for name in (names or coordinate_names(run)) for line in find_lines(run, name, degrees=degrees)]
    if not lines:
        raise ArgumentError("plot: the run has no coordinates; name the quantities to plot")
    kept = _find_span(run, between)
    groups = group_lines([PlotLine(line.name, line.unit, line.values[kept]) for line in lines])
    strips = find_strips(run) if modes else []
    heights = [2.3] * len(groups) + [0.5 + ROW * len(strips)] * bool(strips)
    with style():
        figure = new_figure(size or (WIDTH, 0.7 + sum(heights)), shown=file is None)
        rows: Any = figure.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
        for axes, group in zip(rows, groups):
            draw_lines(axes, run.t[kept], group)
            if between is not None:
                axes.set_xlim(*between)
            mark_events(axes, run)
        if strips:
            span = rows[0].get_xlim()
            draw_strips(rows[-1], strips)
            draw_legend(rows[-1])
            rows[-1].set_xlim(*span)
        rows[-1].set_xlabel(label("time", "s"))
        if title:
            figure.suptitle(title, x=0.01, ha="left", fontweight="bold")
        if file is not None:
            save_figure(figure, file)
    return figure


def _find_span(run: Trajectory, between: tuple[float, float] | None) -> slice:
    """The stored times within a span, and one more on either side, so that lines reach its edges."""
    if between is None:
        return slice(None)
    start, end = (float(x) for x in between)
    first, last = np.searchsorted(run.t, start, "left"), np.searchsorted(run.t, end, "right")
    if not start < end or last == first:
        raise ArgumentError(f"between: the run has no times between {start:g} and {end:g} s")
    return slice(max(int(first) - 1, 0), int(last) + 1)


def plot_loads(
    run: Trajectory, joint: str, *, part: str = "total", hold: Any = None,
    file: Any = None, size: tuple[float, float] | None = None,
) -> Figure:  # fmt: skip
    """Reaction force and moment of a joint against time: components in the axes of its parent side, and magnitude.

    Parameters
    ----------
    run : Trajectory
    joint : str
        Name of the joint.
    part : str, default "total"
        total, static or kinetic, as in ``run.reaction``.
    hold : sequence of str, optional
        Joints that support closed loops, as in ``run.reaction``.
    file : path, optional
        A .png, .svg or .pdf file to write.
    size : (float, float), optional
        Width and height in inches.

    Returns
    -------
    matplotlib.figure.Figure
    """
    with style():
        figure = new_figure(size or (WIDTH, 5.2), shown=file is None)
        rows: Any = figure.subplots(2, 1, sharex=True)
        draw_loads(rows, run, run.reaction(joint, part=part, hold=hold))
        words = "" if part == "total" else f", {part} part"
        rows[0].set_title(f"{joint}: reaction{words}", pad=26)
        if file is not None:
            save_figure(figure, file)
    return figure


def draw_loads(rows: Sequence[Axes], run: Trajectory, wrench: Wrench) -> None:
    """Force into the first axes, moment into the second."""
    for axes, word, values in zip(rows, ("force", "moment"), (wrench.force, wrench.moment)):
        unit = UNITS[word]
        lines = [PlotLine(axis, unit, values[:, k]) for k, axis in enumerate("xyz")]
        draw_lines(axes, run.t, [*lines, PlotLine("magnitude", unit, np.linalg.norm(values, axis=1))], word=word)
        whole = axes.get_lines()[-1]
        whole.set(color=INK, linewidth=whole.get_linewidth() * 1.2, zorder=1.9, alpha=0.9)
        draw_legend(axes)
    rows[-1].set_xlabel(label("time", "s"))


def find_lines(run: Trajectory, name: str, *, degrees: bool = False) -> list[PlotLine]:
    """The lines of a quantity: one, or one for each component of a vector."""
    values = run[name]
    if values.ndim == 1:
        return [_line(name, str(run.units(name)), values, degrees)]
    head, at, axes = name.partition("@")
    columns = values.reshape(len(values), -1)
    parts = run.parts(name) or tuple(str(k) for k in range(columns.shape[1]))
    texts = [f"{head}.{part}{at}{axes}" for part in parts]
    return [_line(text, str(run.units(text)), columns[:, k], degrees) for k, text in enumerate(texts)]


def _line(name: str, unit: str, values: Array, degrees: bool) -> PlotLine:
    if degrees and unit in DEGREES:
        return PlotLine(name, DEGREES[unit], np.rad2deg(values))
    return PlotLine(name, unit, values)


def group_lines(lines: Sequence[PlotLine]) -> list[list[PlotLine]]:
    """Lines of one unit together, in the order in which units first appear."""
    groups: dict[str, list[PlotLine]] = {}
    for line in lines:
        groups.setdefault(line.unit, []).append(line)
    return list(groups.values())


def draw_lines(axes: Axes, t: Array, lines: Sequence[PlotLine], *, word: str | None = None) -> None:
    """Lines of one unit into an axes, with legend and labels."""
    shared = common_start([line.name for line in lines])
    unit, size = find_prefix(lines[0].unit, find_peak(lines))
    for k, line in enumerate(lines):
        name = line.name[len(shared) :] if word is None else line.name
        style_of = ("-", "--", ":")[k // len(COLORS) % 3]
        axes.plot(*thin(t, line.values / size), style_of, color=COLORS[k % len(COLORS)], label=name)
    if word is None:
        word = (shared.rstrip(".") if len(lines) > 1 else lines[0].name) or WORD_OF_UNIT.get(lines[0].unit, "")
    axes.set_ylabel(label(short(word, 34), unit))
    axes.yaxis.set_major_formatter(tick)
    axes.margins(x=0.0)
    if len(t) > 1 and t[-1] > t[0]:
        axes.set_xlim(float(t[0]), float(t[-1]))
    _limit(axes, lines, size)
    if len(lines) > 1:
        draw_legend(axes)


def mark_events(axes: Axes, run: Trajectory) -> None:
    """Events as thin lines; many of them as short ticks at the foot of the plot."""
    start, end = axes.get_xlim()
    times = [event.time for event in run.events if start <= event.time <= end]
    if times:
        few, across = len(times) <= MANY_EVENTS, axes.get_xaxis_transform()
        top = 1.0 if few else 0.04
        axes.vlines(times, 0, top, transform=across, colors="0.6", linewidth=0.6, linestyles=":" if few else "-")


def draw_legend(axes: Axes) -> None:
    """A legend above the axes, in one row as far as it fits."""
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.01), ncols=find_columns(axes))


def find_columns(axes: Axes) -> int:
    """How many entries of the legend fit beside each other, five at the most."""
    figure: Any = axes.get_figure()
    width = axes.get_position().width * figure.get_size_inches()[0]
    names = [str(line.get_label()) for line in axes.get_lines()]
    entry = (3.1 + 0.6 * max(map(len, names))) * LEGEND_EM  # handle, gaps and text as ``style.settings`` has them
    return max(1, min(len(names), 5, int(width / entry)))


def make_room(axes: Axes, rows: int | None = None) -> None:
    """Raise a figure of one axes by what its legend needs beyond the one row that ``small_axes`` leaves it."""
    if axes.get_legend() is None:
        return
    rows = -(-len(axes.get_lines()) // find_columns(axes)) if rows is None else rows
    figure: Any = axes.get_figure()
    width, height = figure.get_size_inches()
    taller = height + 1.6 * LEGEND_EM * (rows - 1)
    x, y, w, h = axes.get_position().bounds
    figure.set_size_inches(width, taller)
    axes.set_position((x, y * height / taller, w, h * height / taller))


def find_peak(lines: Sequence[PlotLine]) -> float:
    """The largest value of all lines, without its sign."""
    return max(
        (float(np.nanmax(np.abs(x.values), initial=0.0, where=np.isfinite(x.values))) for x in lines), default=0.0
    )


def _limit(axes: Axes, lines: Sequence[PlotLine], scale: float) -> None:
    """Limits around the values; a nearly constant line is not magnified until its rounding shows."""
    values = np.concatenate([line.values for line in lines]) / scale
    values = values[np.isfinite(values)]
    if not values.size:
        return
    low, high = float(values.min()), float(values.max())
    size = max(abs(low), abs(high))
    if high - low <= 1e-9 * size or high == low:
        room = 0.1 * size or 1.0
        axes.set_ylim(low - room, high + room)


def common_start(names: Sequence[str]) -> str:
    """What all names share up to a dot: ``elbow.reaction.force.`` of its x, y and z."""
    if len(names) < 2:
        return ""
    words = [name.split(".") for name in names]
    shared: list[str] = []
    for column in zip(*words):
        if len(set(column)) > 1 or any(len(w) == len(shared) + 1 for w in words):
            break
        shared.append(column[0])
    return ".".join(shared) + "." if shared else ""


def short(text: str, length: int) -> str:
    """A text that fits, its middle left out."""
    if len(text) <= length:
        return text
    half = (length - 1) // 2
    return f"{text[:half]}…{text[-half:]}"


def coordinate_names(run: Trajectory, role: str = "q") -> list[str]:
    """Names of the joints' coordinates (or speeds) that vary: those of the state, and the driven ones."""
    return [f"{name}.{role}" for name, joint in run.system.joints.items() if joint.n_u]
