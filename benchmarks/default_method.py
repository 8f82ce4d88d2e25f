"""``python benchmarks/default_method.py``: what the default method costs beside ``dopri5`` alone.

Every example and every model of the other benchmarks runs as a user calls it, compiled before, with both methods in
turns. The least processor time of seven rounds counts. Where nothing is stiff the two take the same steps to the last
bit, and the default method only watches; where a system is stiff, ``stiff`` takes over. Asked for are the sum of all
rows, that of the rows without a takeover, and the worst row. The exit code is 1 when one of them is missed.

    python benchmarks/default_method.py            all rows; writes docs/reference/benchmarks.md
    python benchmarks/default_method.py --only gr  the rows whose name matches; writes nothing
"""

from __future__ import annotations

import argparse
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

import circuit_models
import event_models
import kinode as kn
import load_models
import loop_models
import measure
import stiff_models
from kinode.ode.method_table import DEFAULT_METHOD
from loops import time_words

ROOT = Path(__file__).resolve().parent.parent
ASKED_IN_SUM, ASKED_IN_ROW = 1.05, 1.25
ROUNDS, AGAIN = 7, 2
UNTIL = 10.0  # s, of examples that do not say
HEADINGS = ["model", "`dopri5`", "default", "ratio", "steps", "steps of the default"]
EXPLICIT = "dopri5"


@dataclass(frozen=True)
class Case:
    """A model, the length of its run in s, and further arguments of ``kn.simulate``."""

    name: str
    make: Callable[[], Any]
    until: float | None = None
    options: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True)
class Pair:
    """The least time in s and the steps with ``dopri5`` and with the default method, and the method on record."""

    name: str
    seconds: tuple[float, float]
    steps: tuple[int, int]
    explicit: bool

    @property
    def ratio(self) -> float:
        return self.seconds[1] / self.seconds[0]


def _give(system: kn.System) -> kn.System:
    return system


def find_cases() -> Iterator[Case]:
    """All examples, then the models of the other benchmarks that run for some time."""
    for path in sorted((ROOT / "examples").glob("*.yaml")):
        yield Case(path.stem, partial(kn.load, path))
    for name in loop_models.NAMES:
        yield Case(f"{name} (loops)", loop_models.find_mechanism(name).make, 1.0)
    for stiff in stiff_models.find_cases():
        yield Case(f"{stiff.system.name} (stiff)", partial(_give, stiff.system), stiff.until)
    yield Case("row of 50 masses (stiff)", partial(stiff_models.row_of_masses, 50), 0.2)
    yield Case("chain of 15 links (stiff)", partial(stiff_models.stiff_chain, 15), 0.2)
    loose = (("rtol", 1e-4), ("atol", 1e-6))
    for gear in ("rigid", "backlash"):
        yield Case(f"UR5, {gear} gears (events)", partial(event_models.make_arm, gear), 2.0, loose)
        yield Case(f"axis, {gear} gear (events)", partial(event_models.make_axis, gear), 2.0)
    yield Case("oscillator with ends (events)", partial(event_models.make_oscillator, 0.5), UNTIL)
    yield Case("UR5 with motors (circuits)", circuit_models.make_arm, 2.0)
    yield Case("ladder of 100 (circuits)", partial(circuit_models.ladder, 100), 0.1)
    yield Case("train of 20 (circuits)", partial(circuit_models.train, 20), 1.0)
    yield Case("engine of 6 (loads)", load_models.engine, 0.2)


def time_pair(case: Case) -> Pair:
    """Both methods, turn by turn; what stays explicit must have the numbers of ``dopri5`` to the last bit."""
    dynamics = kn.compile(case.make())
    until = case.until or dynamics.system.run_defaults.get("until") or UNTIL
    methods = (EXPLICIT, DEFAULT_METHOD)

    def side(method: str) -> measure.Side:
        options = {"method": method, "progress": False, **dict(case.options)}

        def seconds(count: int) -> float:
            start = process_time()
            for _ in range(count):
                kn.simulate(dynamics, until, **options)
            return process_time() - start

        return measure.Side(seconds, kn.simulate(dynamics, until, **options))

    sides = [side(method) for method in methods]
    plain, default = (each.value for each in sides)
    explicit = default.facts["method"] == EXPLICIT
    if explicit and not (np.array_equal(plain.t, default.t) and np.array_equal(plain.y, default.y)):
        raise ValueError(f"{case.name}: the default method stayed explicit with other numbers")
    first, second = measure.interleave(sides, ROUNDS)
    for _ in range(AGAIN):  # another program may have disturbed one side in all rounds
        if second > ASKED_IN_ROW * first:
            first, second = map(min, (first, second), measure.interleave(sides, ROUNDS))
    return Pair(case.name, (first, second), (plain.facts["steps"], default.facts["steps"]), explicit)


def row_of(name: str, first: float, second: float, *steps: int) -> str:
    """A line of the table."""
    counts = [f"{count:,}" for count in steps] or ["", ""]
    return f"| {' | '.join([name, time_words(first), time_words(second), f'{second / first:.3f}', *counts])} |"


def summarize(pairs: list[Pair]) -> tuple[list[str], bool]:
    """The table, and whether what was asked for is met."""
    rows = [row_of(pair.name, *pair.seconds, *pair.steps) for pair in pairs]
    explicit = [pair for pair in pairs if pair.explicit]
    ratios = []
    for name, chosen in (("all", pairs), ("all that stay explicit", explicit)):
        first, second = (sum(pair.seconds[k] for pair in chosen) for k in (0, 1))
        rows.append(row_of(f"**{name}, {len(chosen)} rows**", first, second))
        ratios.append(second / first)
    worst = max(pairs, key=lambda pair: pair.ratio)
    rows += [
        "",
        f"Worst row: {worst.name}, {worst.ratio:.3f}. Asked for: {ASKED_IN_SUM} in sum, {ASKED_IN_ROW} in a row.",
    ]
    head = [f"| {' | '.join(HEADINGS)} |", f"|---|{'--:|' * (len(HEADINGS) - 1)}"]
    return head + rows, max(ratios) <= ASKED_IN_SUM and worst.ratio <= ASKED_IN_ROW


def main() -> int:
    """Run, print, write."""
    parser = argparse.ArgumentParser(description="The default method beside dopri5 alone.")
    parser.add_argument("--only", default="", help="a regular expression: run the rows it is found in")
    options = parser.parse_args()
    pairs = []
    for case in find_cases():
        if not re.search(options.only, case.name):
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                pairs.append(time_pair(case))
        except Exception as trouble:  # one row that cannot run must not hide the others
            print(f"{case.name}: {type(trouble).__name__}: {trouble}", file=sys.stderr, flush=True)
            continue
        print(row_of(pairs[-1].name, *pairs[-1].seconds, *pairs[-1].steps), flush=True)
    table, met = summarize(pairs)
    lines = [f"Measured on {measure.machine()}, {datetime.now(UTC):%Y-%m-%d}.", "", *table]
    print("\n".join(lines))
    if not options.only:
        page = ROOT / "docs" / "reference" / "benchmarks.md"
        measure.write_between_markers(page, "\n".join(lines), "default method")
    return 0 if met else 1


if __name__ == "__main__":
    raise SystemExit(main())
