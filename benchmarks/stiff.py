"""``make bench ONLY=stiff``: stiff systems by kinode's Radau method, beside CVODE on the same right side.

    python benchmarks/stiff.py               all of it; writes docs/reference/benchmarks.md
    python benchmarks/stiff.py --quick       fewer rounds and tolerances; writes nothing

CVODE is the BDF of SUNDIALS with kinode's compiled rate and exact Jacobian, in C, with no Python within a step
(``compiled_cvode.py``; it needs a C compiler). Both methods run at several tolerances. The error of a run is the
largest of all states at fifty times, each relative to its largest value, against the explicit method of order 8 at a
tight tolerance. What CVODE takes for the error of the Radau method is read off its curve, at each of the tolerances. A
round goes through all systems, tolerances and methods, and gives ratios of times that were measured within a moment;
the median of the rounds counts, since the speed of a shared machine changes by half from one moment to the next.
Seconds are those of the processor, the least of all rounds. kinode's are those of ``kn.simulate``. The exit code is 1
when what was asked for is missed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

import kinode as kn
import measure
from compiled_cvode import CompiledCvode, available
from kinode.ode.integrate import begin_run
from kinode.simulation.run_kernels import find_kernel
from kinode.simulation.time_events import find_law_times
from loops import time_words
from stiff_models import StiffCase, find_cases

ROOT = Path(__file__).resolve().parent.parent
ASKED = 3.0  # times as fast as CVODE at equal error
TOLERANCES = (1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10)
TIGHTER = (1e-11, 1e-12)  # of CVODE alone: it needs them for the errors of the other
SHOWN = 1e-8  # the default tolerance
SAMPLES = 50
ROUNDS = 25
REPETITIONS = 3  # in a turn, of runs that take milliseconds
HEADINGS = [
    "stiff system", "error", "kinode's `stiff`", "CVODE in C", "times as fast", "asked", "at the other tolerances",
    "steps", "evaluations", "Jacobians",
]  # fmt: skip


@dataclass(frozen=True)
class Point:
    """A run at one tolerance: seconds, error, steps, evaluations of the rate and of its Jacobian."""

    seconds: float
    error: float
    steps: int
    evaluations: int
    jacobians: int


Run = Callable[[float], tuple[float, Any, int, int, int]]
"""Seconds, states at the times, steps, evaluations, Jacobians; for a relative tolerance."""


def by_kinode(dynamics: kn.Dynamics, case: StiffCase, times: Any) -> Run:
    """The method for stiff systems of ``kn.simulate``."""

    def run(rtol: float) -> tuple[float, Any, int, int, int]:
        start = process_time()
        made = kn.simulate(dynamics, case.until, method="stiff", times=times, rtol=rtol, atol=rtol / 100)
        seconds = process_time() - start
        return seconds, made.y, made.facts["steps"], made.facts["evaluations"], 0

    return run


def count_jacobians(case: StiffCase) -> int:
    """The Jacobians of the run that is shown, from the memory of the same run."""
    dynamics, times = kn.compile(case.system), np.linspace(0.0, case.until, SAMPLES)
    made = kn.simulate(dynamics, case.until, method="stiff", times=times)
    kernel = find_kernel(dynamics, made.p, made.inputs, True)
    laws = find_law_times(dynamics, made.p, made.inputs, 0.0, case.until)
    run = begin_run(
        kernel, dynamics.initial.y, 0.0, case.until, method="stiff", times=times, rtol=SHOWN, atol=SHOWN / 100,
        p=made.p, inputs=made.inputs, breaks=laws.breaks, margin=laws.margin,
    )  # fmt: skip
    run.complete(None, None)
    return int(run.memory.newton.jacobians)


def in_c(dynamics: kn.Dynamics, case: StiffCase, times: Any) -> Run:
    """CVODE with no Python within a step."""
    cvode = CompiledCvode(kn.simulate(dynamics, case.until, method="stiff"))

    def run(rtol: float) -> tuple[float, Any, int, int, int]:
        found = cvode.run(times, rtol, rtol / 100)
        return found.seconds, found.y, found.steps, found.evaluations, found.jacobians

    return run


class Comparison:
    """The methods on one system, with the best point of each at each tolerance, and the ratios of each round."""

    def __init__(self, case: StiffCase, tolerances: tuple[float, ...]) -> None:
        self.case, self.tolerances = case, tolerances
        dynamics, times = kn.compile(case.system), np.linspace(0.0, case.until, SAMPLES)
        tight = kn.simulate(dynamics, case.until, method="dop853", times=times, rtol=1e-12, atol=1e-14)
        self.exact, self.size = tight.y, np.abs(tight.y).max(axis=0) + 1e-9
        self.methods = {"stiff": by_kinode(dynamics, case, times), "cvode": in_c(dynamics, case, times)}
        self.curves: dict[str, dict[float, Point]] = {name: {} for name in self.methods}
        self.ratios: list[list[float]] = []

    def take_round(self) -> None:
        """Both methods at all tolerances, and how many times as long CVODE takes for the error of each."""
        found: dict[str, dict[float, Point]] = {name: {} for name in self.methods}
        for rtol, name in product((*self.tolerances, *TIGHTER), self.methods):
            if rtol in TIGHTER and name != "cvode":
                continue
            for _ in range(REPETITIONS):
                seconds, y, *counts = self.methods[name](rtol)
                if rtol not in found[name] or seconds < found[name][rtol].seconds:
                    found[name][rtol] = Point(seconds, float((np.abs(y - self.exact) / self.size).max()), *counts)
        for name, points in found.items():
            for rtol, point in points.items():
                known = self.curves[name].get(rtol, point)
                self.curves[name][rtol] = min(known, point, key=lambda point: point.seconds)
        peer = list(found["cvode"].values())
        own = found["stiff"].values()
        self.ratios.append([at_error(peer, point.error, lambda point: point.seconds) / point.seconds for point in own])

    def curve(self, name: str) -> list[Point]:
        """The best points of a method."""
        return list(self.curves[name].values())


def at_error(curve: list[Point], error: float, what: Callable[[Point], float]) -> float:
    """What a method takes for an error, by a straight line of logarithms; at the ends of its curve what it takes there.

    An error that no tolerance reaches is thus compared with a run that is worse: that favours the method.
    """
    points = sorted(curve, key=lambda point: point.error)
    errors, amounts = np.log([point.error for point in points]), np.log([what(point) for point in points])
    return float(np.exp(np.interp(np.log(error), errors, amounts)))


def row_of(found: Comparison) -> tuple[list[str], float]:
    """A row of the table, and how many times as fast: the median of the rounds."""
    own, peer, case = found.curves["stiff"][SHOWN], found.curve("cvode"), found.case
    jacobians = count_jacobians(case)
    counts = [
        (mine, at_error(peer, own.error, what))
        for mine, what in (
            (own.steps, lambda point: point.steps),
            (own.evaluations, lambda point: point.evaluations),
            (jacobians, lambda point: max(point.jacobians, 1)),
        )
    ]
    ratios = np.median(found.ratios, axis=0)
    shown = found.tolerances.index(SHOWN)
    others = np.delete(ratios, shown)
    return [
        case.title, f"{own.error:.0e}", time_words(own.seconds),
        time_words(at_error(peer, own.error, lambda point: point.seconds)), f"{ratios[shown]:.3g}", f"{ASKED:.0f}",
        f"{min(others):.3g} to {max(others):.3g}",
        *(f"{mine}, {other:.0f}" for mine, other in counts),
    ], float(ratios[shown])  # fmt: skip


def markdown(rows: list[list[str]]) -> str:
    """The table as it stands in the documentation."""
    lines = [f"Measured on {measure.machine()}, {datetime.now(UTC):%Y-%m-%d}.", ""]
    lines += [f"| {' | '.join(HEADINGS)} |", f"|---|{'--:|' * (len(HEADINGS) - 1)}"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def main() -> int:
    """Run, print, write."""
    parser = argparse.ArgumentParser(description="Stiff systems, beside CVODE on the same right side.")
    parser.add_argument("--quick", action="store_true", help="fewer rounds and tolerances; writes nothing")
    parser.add_argument("--only", help="systems whose title has this text; writes nothing")
    options = parser.parse_args()
    if not available():
        parser.error("CVODE is compared in C: it needs a C compiler, and scikit-sundae")
    tolerances = (1e-6, 1e-8, 1e-10) if options.quick else TOLERANCES
    cases = [case for case in find_cases() if not options.only or options.only in case.title]
    comparisons = [Comparison(case, tolerances) for case in cases]
    for _ in range(5 if options.quick else ROUNDS):
        for comparison in comparisons:
            comparison.take_round()
    rows, ratios = [], []
    for comparison in comparisons:
        row, ratio = row_of(comparison)
        rows.append(row)
        ratios.append(ratio)
        print(" | ".join(row))
        spread = np.array(comparison.ratios)[:, tolerances.index(SHOWN)]
        print(f"   ratio in {len(spread)} rounds: {spread.min():.3g} to {spread.max():.3g}")
        for method in comparison.curves:
            words = (f"{time_words(point.seconds)} {point.error:.1e}" for point in comparison.curve(method))
            print(f"   {method}: {', '.join(words)}")
    if not options.quick and not options.only:
        measure.write_between_markers(ROOT / "docs" / "reference" / "benchmarks.md", markdown(rows), "stiff")
        print("Written to docs/reference/benchmarks.md.")
    fast = min(ratios) >= ASKED
    print("all as asked for" if fast else "MISSED what was asked for")
    return 0 if fast else 1


if __name__ == "__main__":
    raise SystemExit(main())
