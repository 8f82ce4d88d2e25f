"""``make bench ONLY=circuits``: an arm with drives and control beside MuJoCo at the same error, and how networks grow.

    python benchmarks/circuits.py               all of it; writes docs/reference/benchmarks.md
    python benchmarks/circuits.py --quick       few settings and small networks; writes nothing

Six electric axes move a UR5 for ten seconds.  Each program is run with finer and finer steps, and from each the fastest
run is taken that is accurate enough: kinode's error is within the row's, a peer's within twice that, since its steps
are halved from run to run.  MuJoCo has the drives in a Python loop in two ways, and the faster counts: its own step
with moments held, or Runge-Kutta over all states in Python with its accelerations.  The exit code is 1 when the arm is
less than five times as fast, or a network takes more than half as much again for each component as smaller ones.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

import circuit_models as models
import kinode as kn
import measure
from kinode.algebra.trace import count_operations
from kinode.kernels import kernel_traces
from kinode.kernels.kernel_options import Kernel
from loops import time_words

ROOT = Path(__file__).resolve().parent.parent
ERRORS = (1e-4, 1e-6)
ASKED, KINDNESS = 5.0, 2.0
LONGEST = 30.0  # seconds for one run of a peer
START = {"held": 2.5e-3, "within": 5e-3}  # seconds: about the largest steps with which the currents are stable
SIZES = (20, 50, 100, 200, 500)
LINEAR = 1.5  # times for each component, of the largest against the median of all


@dataclass(frozen=True)
class Point:
    """One run: its setting, seconds and error."""

    setting: str
    seconds: float
    error: float


def timed(function: Callable[[], Any], rounds: int) -> tuple[float, Any]:
    """The best of several runs in seconds of the processor, which other work on the machine adds less to."""
    best, value = float("inf"), None
    for _ in range(rounds):
        start = process_time()
        value = function()
        best = min(best, process_time() - start)
        if best > 3.0:
            break
    return best, value


def error_of(found: np.ndarray, reference: np.ndarray) -> float:
    """The largest difference of joint angles, in rad."""
    return float(np.abs(found - reference).max()) if np.isfinite(found).all() else float("inf")


def kinode_curve(reference: np.ndarray, tolerances: list[float]) -> list[Point]:
    """kinode with tighter and tighter tolerances."""
    found = []
    for method in ("dopri5", "dop853"):
        for rtol in tolerances:
            seconds, q = timed(lambda: models.simulate(method, rtol), 7)  # noqa: B023
            found.append(Point(f"{method}, rtol {rtol:.0e}", seconds, error_of(q, reference)))
    return found


def peer_curve(name: str, function: Callable[[float], np.ndarray], reference: np.ndarray, least: float) -> list[Point]:
    """A peer with half the step again and again, until it is accurate enough or takes too long."""
    found: list[Point] = []
    step = START[name]
    while True:
        seconds, q = timed(lambda: function(step), 3)  # noqa: B023
        found.append(Point(f"{name}, {step * 1e3:g} ms", seconds, error_of(q, reference)))
        if found[-1].error <= KINDNESS * least or 2 * seconds > LONGEST:
            return found
        step /= 2


def best(points: list[Point], error: float) -> Point | None:
    """The fastest run that is accurate enough."""
    return min((p for p in points if p.error <= error), key=lambda p: p.seconds, default=None)


def compare_arm(quick: bool) -> tuple[list[list[str]], bool]:
    """The rows of the arm, and whether what was asked for was met."""
    reference = models.simulate("dop853", 1e-12)
    errors = ERRORS[:1] if quick else ERRORS
    ours = kinode_curve(reference, [10.0**-k for k in range(1, 5 if quick else 9)])
    ways = {"held": models.once_a_step, "within": models.within_steps}
    peers = {name: peer_curve(name, function, reference, errors[-1]) for name, function in ways.items()}
    floor = min(p.error for p in peers["within"])
    print(f"MuJoCo and kinode agree to {floor:.1e} rad")
    for point in (*ours, *peers["held"], *peers["within"]):
        print(f"    {point.setting:24} {time_words(point.seconds):>9}  {point.error:.1e}")
    bare, _ = timed(lambda: models.bare_loop(1e-3), 5)
    rows, well = [], floor < KINDNESS * errors[-1]
    for error in errors:
        mine = best(ours, error)
        theirs = {name: best(points, KINDNESS * error) for name, points in peers.items()}
        fastest = min((p for p in theirs.values() if p is not None), key=lambda p: p.seconds, default=None)
        ratio = None if mine is None or fastest is None else fastest.seconds / mine.seconds
        well = well and ratio is not None and ratio >= ASKED
        cells = [_cell(mine), _cell(theirs["held"]), _cell(theirs["within"]), "-" if ratio is None else f"{ratio:.3g}"]
        met = "yes" if ratio is not None and ratio >= ASKED else "NO"
        against = "-" if mine is None else f"{bare / mine.seconds:.3g}"
        rows.append([f"to {error:.0e} rad", *cells, f"at least {ASKED:g}", met, time_words(bare), against])
    return rows, well


def _cell(point: Point | None) -> str:
    return "not reached" if point is None else f"{time_words(point.seconds)} ({point.setting})"


HEADINGS = [
    "UR5 with six drives, 10 s", "kinode", "MuJoCo, moments held", "MuJoCo, RK4 in Python", "ratio", "asked for", "met",
    "MuJoCo's C loop, bare arm", "ratio",
]  # fmt: skip


@dataclass(frozen=True)
class Growth:
    """What a network of a size takes: its analysis, and the program of its rates."""

    name: str
    count: int
    analysis: float
    program: float
    operations: int

    @property
    def each(self) -> float:
        """Seconds of analysis and assembly for each component."""
        return (self.analysis + self.program) / self.count


def grow(name: str, make: Callable[[int], kn.System], sizes: tuple[int, ...]) -> list[Growth]:
    """Analysis and assembly of larger and larger networks."""
    found = []
    for size in sizes:
        system = make(size)
        analysis, dynamics = timed(lambda: kn.compile(system), 3)  # noqa: B023
        program, outputs = timed(lambda: kernel_traces.trace(dynamics.topology, Kernel("rate")), 3)  # noqa: B023
        operations = sum(count_operations(outputs).values())
        found.append(Growth(name, len(system.elements), analysis, program, operations))
        print(f"    {name} of {len(system.elements)}: {analysis:.3f} s, {program:.3f} s, {operations} operations")
    return found


def is_linear(found: list[Growth]) -> bool:
    """Whether the largest takes hardly more for each component than the middle one."""
    middle = sorted(row.each for row in found)[len(found) // 2]
    return found[-1].each <= LINEAR * middle


LISTINGS = {"two-segment manipulator": (models.manipulator, 0.1), "six-axis arm with drives": (models.wired_arm, 1.0)}


def list_circuits() -> tuple[list[list[str]], bool]:
    """Processor time of ``kn.circuit`` and its text, of a system that was just made."""
    rows, well = [], True
    for name, (make, asked) in LISTINGS.items():
        least = math.inf
        for _ in range(4):
            system = make()
            start = process_time()
            circuit = kn.circuit(system)
            circuit.text()
            least = min(least, process_time() - start)
        unknowns = sum(circuit.counts[sort] for sort in ("potential", "flow", "internal"))
        met = least <= asked
        well = well and met
        rows.append([name, str(len(circuit.components)), str(unknowns), time_words(least), time_words(asked),
                     "yes" if met else "NO"])  # fmt: skip
    return rows, well


LISTING_HEADINGS = ["kn.circuit of", "components", "unknowns", "processor time", "asked for", "met"]


def markdown(rows: list[list[str]], growth: list[Growth], listings: list[list[str]]) -> str:
    """The tables as they stand in the documentation."""
    lines = [f"Measured on {measure.machine()}, {datetime.now(UTC):%Y-%m-%d}.", "", f"| {' | '.join(HEADINGS)} |"]
    lines += ["|---|--:|--:|--:|--:|---|---|--:|--:|", *(f"| {' | '.join(row)} |" for row in rows), ""]
    lines += ["| network | components | analysis | assembly | both, for each component | operations of the rate |"]
    lines += ["|---|--:|--:|--:|--:|--:|"]
    lines += [
        f"| {g.name} | {g.count} | {time_words(g.analysis)} | {time_words(g.program)} | {g.each * 1e3:.2g} ms | "
        f"{g.operations:,} |"
        for g in growth
    ]
    lines += ["", f"| {' | '.join(LISTING_HEADINGS)} |", "|---|--:|--:|--:|--:|---|"]
    lines += [f"| {' | '.join(row)} |" for row in listings]
    return "\n".join(lines)


def main() -> int:
    """Run, print, write."""
    parser = argparse.ArgumentParser(description="Circuits: an arm with drives beside MuJoCo; growth of networks.")
    parser.add_argument("--quick", action="store_true", help="few settings and small networks; writes nothing")
    options = parser.parse_args()
    rows, well = compare_arm(options.quick)
    for row in rows:
        print(" | ".join(row))
    sizes = SIZES[:2] if options.quick else SIZES
    kinds = {"RC ladder": models.ladder, "gear train": models.train}
    grown = {name: grow(name, make, sizes) for name, make in kinds.items()}
    linear = all(is_linear(found) for found in grown.values())
    print(f"growth is {'linear' if linear else 'MORE THAN LINEAR'}")
    listings, quick = list_circuits()
    for row in listings:
        print(" | ".join(row))
    if not options.quick:
        text = markdown(rows, [row for found in grown.values() for row in found], listings)
        measure.write_between_markers(ROOT / "docs" / "reference" / "benchmarks.md", text, "circuits")
        print("Written to docs/reference/benchmarks.md.")
    return 0 if well and linear and quick else 1


if __name__ == "__main__":
    raise SystemExit(main())
