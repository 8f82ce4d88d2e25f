"""``make bench ONLY=loops``: mechanisms with loops, kinode beside Exudyn and MuJoCo at the same error of the end state.

    python benchmarks/loops.py                      all mechanisms; writes docs/reference/benchmarks.md and the picture
    python benchmarks/loops.py --only andrews       some of them; writes nothing
    python benchmarks/loops.py --seconds 20         the longest that a program may take for a mechanism

Each program goes through each mechanism with finer and finer steps (loop_curves.py). A row takes from each the fastest
run that is accurate enough: kinode's error is within the row's, a peer's within twice that, since its steps are
tried by factors of the square root of two. The exit code is 1 when a row misses what was asked for.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import measure
import startup
from loop_curves import PROGRAMS, Point, best_point, curve
from loop_models import NAMES, ROOT, find_mechanism
from loop_picture import draw_curves

ERRORS = (1e-4, 1e-6)
ASKED = 100.0  # times as fast as Exudyn, at the first of the errors
KINDNESS = 2.0  # a peer's error may be so many times the row's
COLD = """
import sys
sys.path.insert(0, {place!r})
import kinode as kn
from loop_models import find_mechanism
mechanism = find_mechanism({name!r})
until = mechanism.until
run = kn.simulate(mechanism.make(), until, times=[0.0, until], method={method!r}, rtol={rtol!r}, atol={atol!r})
"""
Curves = dict[str, list[Point]]


@dataclass(frozen=True)
class Row:
    """A mechanism at one error: the best run of each program, and kinode's from nothing."""

    title: str
    error: float
    best: dict[str, Point | None]
    floor: dict[str, float] = field(default_factory=dict)  # the least error that a program reached at all
    cold: float | None = None

    def ratio(self, program: str) -> float | None:
        """How many times as fast kinode is."""
        ours, theirs = self.best["kinode"], self.best[program]
        return None if ours is None or theirs is None else theirs.seconds / ours.seconds

    @property
    def passed(self) -> bool | None:
        """Whether it is as fast as asked for; a peer that does not get there is no comparison."""
        if self.error != ERRORS[0]:
            return None
        if self.best["kinode"] is None:
            return False
        found = self.ratio("exudyn")
        return None if found is None else found >= ASKED

    def cell(self, program: str) -> str:
        point = self.best[program]
        if point is None:
            least = self.floor.get(program)
            return "does not arrive" if least is None else f"not reached: {least:.0e}"
        return f"{time_words(point.seconds)} ({point.error:.0e})"

    def cells(self) -> list[str]:
        ratios = [self.ratio(program) for program in ("exudyn", "mujoco")]
        shown = ["-" if ratio is None else f"{ratio:.3g}" for ratio in ratios]
        mark = {True: "yes", False: "NO", None: ""}[self.passed]
        asked = f"at least {ASKED:g}" if self.error == ERRORS[0] else ""
        cold = "" if self.cold is None else time_words(self.cold)
        names = [self.cell(program) for program in PROGRAMS]
        return [
            f"{self.title}, to {self.error:.0e}",
            names[0],
            names[1],
            shown[0],
            asked,
            mark,
            names[2],
            shown[1],
            cold,
        ]


HEADINGS = ["work", "kinode", "Exudyn", "ratio", "asked for", "met", "MuJoCo", "ratio", "kinode, cold"]


def time_words(seconds: float) -> str:
    """In ms below a second."""
    return f"{seconds * 1e3:.3g} ms" if seconds < 1.0 else f"{seconds:.3g} s"


def rows_of(name: str, curves: Curves) -> Iterator[Row]:
    """The rows of a mechanism."""
    title = find_mechanism(name).title
    for error in ERRORS:
        limits = {program: error * (1.0 if program == "kinode" else KINDNESS) for program in PROGRAMS}
        best = {program: best_point(curves[program], limits[program]) for program in PROGRAMS}
        floor = {program: min(p.error for p in curves[program]) for program in PROGRAMS if curves[program]}
        ours = best["kinode"]
        cold = run_cold(name, ours) if ours is not None and error == ERRORS[0] else None
        yield Row(title, error, best, floor, cold)


def run_cold(name: str, point: Point) -> float:
    """Seconds from the first line of a new process to the end state, with an empty cache; the better of two."""
    place = str(Path(__file__).resolve().parent)
    settings = {"method": point.variant, "rtol": point.setting, "atol": point.setting / 100}
    found = []
    for _ in range(2):
        with tempfile.TemporaryDirectory(prefix="kinode-bench-") as cache:
            found.append(startup.fresh(COLD.format(place=place, name=name, **settings), cache, limit=120.0)[0])
    return min(found)


GROWTH = (10, 20, 40, 80)


def growth() -> list[tuple[int, float, int]]:
    """N, seconds of one evaluation of the rate of N four-bars, and its operations."""
    import kinode as kn
    from kinode.algebra.trace import count_operations
    from kinode.kernels.kernel_options import Kernel
    from kinode.kernels.kernel_traces import trace

    found = []
    for n in GROWTH:
        dynamics = kn.compile(find_mechanism(f"four_bars_{n}").make())
        state = dynamics.initial
        seconds = measure.best(measure.call(dynamics.acceleration, state.t, state.q, state.u))
        operations = sum(count_operations(trace(dynamics.topology, Kernel("acceleration"))).values())
        found.append((n, seconds, operations))
    return found


def growth_table(found: list[tuple[int, float, int]]) -> str:
    """What an evaluation costs as the number of loops grows."""
    lines = [
        "| accelerations of N four-bars | one call from Python | for each loop | operations |",
        "|---|--:|--:|--:|",
    ]
    lines += [f"| {n} | {t * 1e6:.3g} us | {t / n * 1e9:.3g} ns | {count:,} |" for n, t, count in found]
    return "\n".join(lines)


def markdown(rows: list[Row]) -> str:
    """The table as it stands in the documentation."""
    lines = [
        f"Measured on {measure.machine()}, {datetime.now(UTC):%Y-%m-%d}.",
        "",
        "| " + " | ".join(HEADINGS) + " |",
        "|---|--:|--:|--:|---|---|--:|--:|--:|",
    ]
    return "\n".join([*lines, *("| " + " | ".join(row.cells()) + " |" for row in rows)])


def main() -> int:
    """Run, print, write."""
    parser = argparse.ArgumentParser(description="Loops: kinode beside Exudyn and MuJoCo, to the same error.")
    parser.add_argument("--only", default="", help="a regular expression: the mechanisms it is found in")
    parser.add_argument("--seconds", type=float, default=60.0, help="the longest for a program and a mechanism")
    options = parser.parse_args()
    names = [name for name in NAMES if re.search(options.only, name)]
    curves: dict[str, Curves] = {}
    rows: list[Row] = []
    for name in names:
        curves[name] = {program: curve(program, name, options.seconds) for program in PROGRAMS}
        new = list(rows_of(name, curves[name]))
        rows += new
        for row in new:
            print(" | ".join(row.cells()), flush=True)
            print("    " + "; ".join(f"{key}: {p.variant}, {p.setting:.3g}" for key, p in row.best.items() if p))
    if names == list(NAMES):
        draw_curves({name: curves[name] for name in ("andrews", "four_bars_10")}, ROOT / "docs" / "pictures")
        text = f"{markdown(rows)}\n\n{growth_table(growth())}"
        measure.write_between_markers(ROOT / "docs" / "reference" / "benchmarks.md", text, "loops")
        print("Written to docs/reference/benchmarks.md.")
    return 1 if any(row.passed is False for row in rows) else 0


if __name__ == "__main__":
    try:
        raise SystemExit(main())
    except (RuntimeError, subprocess.TimeoutExpired) as trouble:
        sys.exit(f"loops: {trouble}")
