"""Error against time, drawn: where a line is lower and further to the left, the program is the better one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from kinode.views.style import COLORS, MUTED, style
from loop_curves import PROGRAMS, Point
from loop_models import find_mechanism

MARKS = {"kinode": "o", "exudyn": "s", "mujoco": "^"}
WORDS = {"kinode": "kinode", "exudyn": "Exudyn", "mujoco": "MuJoCo"}
LINES = ("-", "--", ":", "-.")
SHOWN = 0.3  # larger errors are no solutions


def draw_curves(curves: dict[str, dict[str, list[Point]]], folder: Path) -> Path:
    """An axes for each mechanism, a line for each way of solving."""
    with style():
        figure = Figure(figsize=(10.4, 4.6), layout="constrained")
        rows: Any = figure.subplots(1, len(curves), sharey=True, squeeze=False)[0]
        for axes, (name, found) in zip(rows, curves.items()):
            draw_mechanism(axes, found)
            axes.set_title(find_mechanism(name).title)
            axes.set_xlabel("time of a run, warm [s]")
        rows[0].set_ylabel("largest error of any pose at the end")
        path = folder / "loops_work_precision.png"
        figure.savefig(path, dpi=130, metadata={"Software": None})
    return path


def draw_mechanism(axes: Any, curves: dict[str, list[Point]]) -> None:
    """The lines of one mechanism."""
    for color, program in zip(COLORS, PROGRAMS):
        for k, variant in enumerate(dict.fromkeys(point.variant for point in curves[program])):
            points = [p for p in curves[program] if p.variant == variant and p.error < SHOWN]
            if points:
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
    axes.axhline(1e-4, color=MUTED, linewidth=0.8)
    axes.annotate("error of the rows that ask", (0.99, 1e-4), (0, 3), xycoords=("axes fraction", "data"),
                  textcoords="offset points", ha="right", color=MUTED, fontsize=7.5)  # fmt: skip
    axes.legend(loc="upper right", fontsize=8)
