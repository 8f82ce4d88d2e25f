"""Strips below a plot that show the modes of components over time.

A strip has a bar for each interval between two events of a component, in the color of its mode ("sticks", "slides
forward").  An event that changes no mode is a tick.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kinode.simulation.event_log import Event
from kinode.views.style import COLORS, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from kinode.results.trajectory import Trajectory

ROW = 0.26  # inches
Stretch = tuple[float, float, str]


@dataclass(frozen=True)
class Strip:
    """One mode of a component over time, and the times of events that changed no mode."""

    name: str
    stretches: tuple[Stretch, ...]
    jumps: tuple[float, ...]


def find_strips(run: Trajectory) -> list[Strip]:
    """A strip for each mode that changed, in the order in which the components were declared.

    A joint may have two, of its friction and of its stop: they have no words in common.
    """
    modes: dict[str, list[tuple[set[str], list[Event]]]] = {}
    for event in run.events:
        if event.kind == "singular":
            continue
        mine = modes.setdefault(event.component, [])
        words = {event.was, event.becomes}
        for known, events in mine:
            if known & words:
                known |= words
                events.append(event)
                break
        else:
            mine.append((words, [event]))
    rank = {name: k for k, name in enumerate(run.dynamics.system.components)}
    span = float(run.t[0]), float(run.t[-1])
    return [_strip(name, events, *span) for name in sorted(modes, key=rank.__getitem__) for _, events in modes[name]]


def _strip(name: str, events: Sequence[Event], start: float, end: float) -> Strip:
    changes = [event for event in events if event.kind == "mode"]
    times = [start, *(event.time for event in changes), end]
    words = [events[0].was, *(event.becomes for event in changes)]
    stretches = tuple((a, b, word) for a, b, word in zip(times, times[1:], words) if b > a)
    return Strip(name, stretches, tuple(event.time for event in events if event.kind == "jump"))


def find_colors(strips: Sequence[Strip]) -> dict[str, str]:
    """Each word and its color, in the order in which they first appear."""
    words = dict.fromkeys(word for strip in strips for _, _, word in strip.stretches)
    return {word: COLORS[k % len(COLORS)] for k, word in enumerate(words)}


def draw_strips(axes: Axes, strips: Sequence[Strip]) -> None:
    """The strips, the first on top, with a legend of the words."""
    colors = find_colors(strips)
    for row, strip in enumerate(strips):
        for word, color in colors.items():
            bars = [(a, b - a) for a, b, what in strip.stretches if what == word]
            if bars:
                axes.broken_barh(bars, (row - 0.36, 0.72), facecolors=color, linewidth=0)
        if strip.jumps:
            axes.vlines(strip.jumps, row - 0.36, row + 0.36, colors=INK, linewidth=0.8)
    for word, color in colors.items():
        axes.plot([], [], color=color, linewidth=5, solid_capstyle="butt", label=word)
    axes.set(ylim=(len(strips) - 0.5, -0.5), yticks=range(len(strips)), yticklabels=[strip.name for strip in strips])
    axes.grid(visible=False)
    axes.margins(x=0.0)
