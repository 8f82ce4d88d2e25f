"""Error against time, drawn: where a line is lower and further to the left, the program is the better one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from kinode.views.style import COLORS, MUTED, style
from loop_curves import PROGRAMS, Point
from loop_models import find_mechanism

MARKS = {"kinode": "o", "exudyn": "s", "mujoco": "^"}
WORDS = {"kinode": "kinode", "exudyn": "Exudyn", "mujoco": "MuJoCo"}
LINES = ("-", "--", ":", "-.")
SHOWN = 0.05  # larger errors are no solutions


def draw_curves(curves: dict[str, dict[str, list[Point]]], folder: Path) -> Path:
    """An axes for each mechanism, a line for each way of solving; one legend for all."""
    with style():
        figure = Figure(figsize=(10.4, 5.2), layout="constrained")
        rows: Any = figure.subplots(1, len(curves), sharey=True, squeeze=False)[0]
        entries: dict[str, Any] = {}
        for axes, (name, found) in zip(rows, curves.items()):
            draw_mechanism(axes, found)
            axes.set_title(find_mechanism(name).title)
            axes.set_xlabel("time of a run, warm")
            axes.xaxis.set_major_formatter(lambda value, _: time_words(value))
            axes.xaxis.set_minor_formatter(NullFormatter())
            entries |= {str(line.get_label()): line for line in axes.get_lines() if line.get_marker() != "None"}
        rows[0].yaxis.set_major_formatter(lambda value, _: f"{value:.0e}")
        rows[0].set_ylabel("largest error of any pose at the end")
        figure.legend(entries.values(), entries.keys(), loc="outside lower center", ncols=3, handlelength=3.4)
        path = folder / "loops_work_precision.png"
        figure.savefig(path, dpi=130, metadata={"Software": None})
    return path


def time_words(seconds: float) -> str:
    """A power of ten of seconds, in ms below one."""
    return f"{seconds:g} s" if seconds >= 1.0 else f"{seconds * 1e3:g} ms"


def draw_mechanism(axes: Any, curves: dict[str, list[Point]]) -> None:
    """The lines of one mechanism."""
    axes.axhline(1e-4, color=MUTED, linewidth=0.8)
    axes.annotate("error of the rows that ask", (0.01, 1e-4), (0, 3), xycoords=("axes fraction", "data"),
                  textcoords="offset points", color=MUTED, fontsize=7.5)  # fmt: skip
    for color, program in zip(COLORS, PROGRAMS):
        for k, variant in enumerate(dict.fromkeys(point.variant for point in curves[program])):
            points = [p for p in curves[program] if p.variant == variant and p.error < SHOWN]
            axes.loglog(
                [p.seconds for p in points],
                [p.error for p in points],
                LINES[k],
                color=color,
                marker=MARKS[program],
                markersize=3.5,
                linewidth=1.2,
                label=f"{WORDS[program]}, {variant}",
            )
