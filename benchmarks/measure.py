"""How a row of the table is measured: both sides in the same run, turn by turn, the best of several rounds each.

A row names the work, two sides that do it, and the ratio that is asked for. Before any clock starts, the two sides must
agree on a number that both compute. The best round counts, because everything else a machine does only adds to it.
"""

from __future__ import annotations

import os
import platform
import re
import timeit
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

os.environ.setdefault("KINODE_TIERS", "0")  # what is measured is code of high effort, but for first calls (startup.py)
ROUNDS = 15
ROUND_SECONDS = 0.04


@dataclass(frozen=True)
class Side:
    """One program doing the work: ``time(n)`` gives the seconds that n calls take, ``value`` a result to compare."""

    time: Callable[[int], float]
    value: Any = None
    evaluations: int = 1  # pieces of work in one call
    overhead: float = 0.0  # seconds in a call that are not the work


@dataclass(frozen=True)
class Row:
    """One line of the table: the sides are built only when it is run."""

    work: str
    peer_name: str
    ours: Callable[[], Side]
    peer: Callable[[], Side]
    asked: float | None = None  # ratio peer/ours at least; where ``at_most``, ours/peer at most; None: for information
    at_most: bool = False
    tolerance: float = 1e-8  # of the agreement, relative to the largest entry
    unit: str = "us"
    rounds: int = ROUNDS


@dataclass(frozen=True)
class Result:
    """What came out; times in seconds for one piece of work."""

    row: Row
    ours: float | None
    peer: float
    trouble: str = ""

    @property
    def ratio(self) -> float | None:
        if self.ours is None:
            return None
        return self.ours / self.peer if self.row.at_most else self.peer / self.ours

    @property
    def passed(self) -> bool | None:
        """Whether the ratio is what was asked for; None where nothing was asked."""
        if self.row.asked is None or self.ratio is None:
            return None if not self.trouble else False
        return self.ratio <= self.row.asked if self.row.at_most else self.ratio >= self.row.asked


def call(function: Callable[..., Any], *arguments: Any, **extra: Any) -> Side:
    """A side that calls a function from Python, timed without a wrapper around it."""
    names = [f"a{i}" for i in range(len(arguments))]
    setup = "; ".join(f"{name} = _{name}" for name in ["f", *names])
    space = {"_f": function, **{f"_{name}": value for name, value in zip(names, arguments)}}
    timer = timeit.Timer(f"f({', '.join(names)})", setup, globals=space)
    value = extra.pop("value", None)
    return Side(timer.timeit, function(*arguments) if value is None else value, **extra)


def best(side: Side, rounds: int = ROUNDS) -> float:
    """Seconds for one piece of work."""
    return interleave([side], rounds)[0]


def interleave(sides: list[Side], rounds: int = ROUNDS) -> list[float]:
    """Seconds for one piece of work of each side, measured in turns."""
    counts = []
    for side in sides:
        once = side.time(1)
        once = min(once, side.time(1)) if once < 1.0 else once
        counts.append(max(1, int(ROUND_SECONDS / max(once, 1e-8))))
    shortest = [float("inf")] * len(sides)
    for _ in range(rounds):
        for k, (side, count) in enumerate(zip(sides, counts)):
            shortest[k] = min(shortest[k], side.time(count) / count)
    return [(time - side.overhead) / side.evaluations for time, side in zip(shortest, sides)]


def run(row: Row, peers_only: bool = False) -> Result:
    """Check the agreement of the two sides, then time them."""
    peer = row.peer()
    if peers_only:
        return Result(row, None, best(peer, row.rounds))
    try:
        ours = row.ours()
        if ours.value is not None and peer.value is not None:
            check_agreement(ours.value, peer.value, row.tolerance)
    except Exception as trouble:  # one row that cannot run must not hide the others
        return Result(row, None, best(peer, row.rounds), f"{type(trouble).__name__}: {trouble}")
    return Result(row, *interleave([ours, peer], row.rounds))


def check_agreement(ours: Any, theirs: Any, tolerance: float) -> None:
    """Refuse to time two programs that do not compute the same."""
    a, b = np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float)
    if a.shape != b.shape:
        raise ValueError(f"results of shapes {a.shape} and {b.shape}")
    error = float(np.max(np.abs(a - b)) / max(np.max(np.abs(b)), 1e-300))
    if not error <= tolerance:
        raise ValueError(f"results differ by {error:.1e} relative, allowed {tolerance:.0e}")


SCALE = {"us": 1e6, "ms": 1e3, "s": 1.0}


def cells(result: Result) -> list[str]:
    """Work, ours, peer, ratio, asked for, mark."""
    row = result.row

    def show(time: float | None) -> str:
        return "-" if time is None else f"{time * SCALE[row.unit]:.3g} {row.unit}"

    sign = "at most" if row.at_most else "at least"
    asked = "" if row.asked is None else f"{sign} {row.asked:g}"
    ratio = "-" if result.ratio is None else f"{result.ratio:.3g}"
    mark = {True: "yes", False: "NO", None: ""}[result.passed]
    return [row.work, show(result.ours), show(result.peer), row.peer_name, ratio, asked, mark]


HEADINGS = ["work", "kinode", "peer", "which", "ratio", "asked for", "met"]


def markdown(results: list[Result]) -> str:
    """The table, with the machine and the day, as it stands in the documentation."""
    lines = [
        f"Measured on {machine()}, {datetime.now(UTC):%Y-%m-%d}.",
        "",
        "| " + " | ".join(HEADINGS) + " |",
        "|---|--:|--:|---|--:|---|---|",
    ]
    lines += ["| " + " | ".join(cells(result)) + " |" for result in results]
    return "\n".join(lines)


HIGHLIGHTS = re.compile(r"UR5: forward.*call|chain of 1000: forward|UR5: free swing")


def highlights(results: list[Result]) -> str:
    """The rows that the README shows: where and when, work, both times and the ratio."""
    lines = [f"Measured on {machine()}, {datetime.now(UTC):%Y-%m-%d}.", ""]
    lines += ["| work | kinode | peer | which | ratio |", "|---|--:|--:|---|--:|"]
    lines += ["| " + " | ".join(cells(result)[:5]) + " |" for result in results if HIGHLIGHTS.match(result.row.work)]
    return "\n".join(lines)


def machine() -> str:
    """The processor in general words."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        models = [
            line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        model = models[0] if models else model
    return f"{model}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"


def write_between_markers(path: Path, text: str, name: str = "table") -> None:
    """Replace what stands between the two marker comments of a page."""
    start, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    before, found, rest = path.read_text().partition(start)
    _, found_end, after = rest.partition(end)
    if not (found and found_end):
        raise ValueError(f"{path} has no markers {start} and {end}")
    path.write_text(f"{before}{start}\n{text}\n{end}{after}")
