"""Error against time: a program goes through a mechanism with finer and finer steps, in a process of its own.

    python benchmarks/loop_curves.py exudyn andrews

prints a line of JSON for each run. Steps get finer until an error small enough is reached, refining no longer helps, or
the process is stopped: whoever started it sets a time and keeps the lines that came until then, so that nothing hangs.
A number behind the names is an error that is enough: a way of solving ends where two settings in a row have reached it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

PROGRAMS = ("kinode", "exudyn", "mujoco")
FINEST = {"kinode": 1e-9, "exudyn": 4e-7, "mujoco": 4e-7}  # errors below which nothing finer is tried
ARRIVED = 0.1  # an error above it is not yet a solution
CONFIRMED = 2  # settings in a row within an error that is enough: one alone may hit the end by luck
FLOOR = 4  # refinements in a row without a better error: refining no longer helps
SLOWEST = 8.0  # s: a single run that takes longer is the last of its kind
REPEAT_SECONDS, MOST_REPEATS = 0.4, 40  # short runs are repeated, and the fastest counts


@dataclass(frozen=True)
class Point:
    """One run: the way of solving, its setting (steps or tolerance), error at the end, seconds."""

    variant: str
    setting: float
    error: float
    seconds: float


def settings_of(program: str) -> list[Any]:
    """Tolerances by half decades, numbers of steps by factors of the square root of two."""
    if program == "kinode":
        return [10.0 ** -(k / 2) for k in range(6, 23)]
    return [round(50 * 2 ** (k / 2)) for k in range(33)]


def measure(run: Callable[[Any], Any], setting: Any) -> float:
    """Seconds of the processor, of the fastest run."""
    best, spent, count = float("inf"), 0.0, 0
    while count == 0 or (spent < REPEAT_SECONDS and count < MOST_REPEATS):
        started = time.process_time()
        run(setting)
        last = time.process_time() - started
        best, spent, count = min(best, last), spent + last, count + 1
    return best


class Way:
    """One way of solving, refined as long as that helps."""

    def __init__(
        self, variant: str, run: Callable[[Any], Any], poses: Callable[[], Any], finest: float, enough: float = 0.0
    ) -> None:
        self.variant, self.run, self.poses, self.finest, self.enough = variant, run, poses, finest, enough
        self.best, self.worse, self.within, self.done = float("inf"), 0, 0, False

    def go(self, setting: Any, error_of: Callable[[Any], float]) -> Point | None:
        """A run with one setting; None where the step is too coarse for the program to arrive at all."""
        try:
            seconds = measure(self.run, setting)
            error = error_of(self.poses())
        except Exception:  # whatever a peer raises
            self.worse += self.best < float("inf")
            self.done = self.worse >= FLOOR
            return None
        if self.best < ARRIVED:
            self.worse = 0 if error < 0.9 * self.best else self.worse + 1
        self.best = min(self.best, error)
        self.within = self.within + 1 if error <= self.enough else 0
        reached = self.best < self.finest or self.within >= CONFIRMED
        self.done = reached or self.worse >= FLOOR or seconds > SLOWEST
        return Point(self.variant, setting, error, seconds)


def points(program: str, name: str, enough: float = 0.0) -> Iterator[Point]:
    """The runs of one program from coarse to fine, its ways of solving in turn, until an error is enough."""
    from loop_models import error_of, find_mechanism, reference

    mechanism, exact = find_mechanism(name), reference(name)
    solve = import_module(f"loop_{program}").variants(mechanism)
    ways = [Way(variant, run, poses, FINEST[program], enough) for variant, (run, poses) in solve.items()]
    for setting in settings_of(program):
        for way in ways:
            point = None if way.done else way.go(setting, lambda poses: error_of(poses, exact, mechanism.size))
            if point is not None:
                yield point
        if all(way.done for way in ways):
            return


def curve(program: str, name: str, seconds: float, enough: float = 0.0) -> list[Point]:
    """Run a program in a process of its own, for at most so many seconds; the runs that it finished."""
    command = [sys.executable, str(Path(__file__).resolve()), program, name, repr(enough)]
    done = None
    with tempfile.TemporaryDirectory(prefix="kinode-bench-") as place:  # MuJoCo leaves a log where it runs
        try:
            done = subprocess.run(command, capture_output=True, timeout=seconds, check=False, cwd=place)
            out = done.stdout
        except subprocess.TimeoutExpired as late:
            out = late.stdout or b""
    found = []
    for line in out.decode().splitlines():
        if line.startswith('{"variant"'):
            try:
                found.append(Point(**json.loads(line)))
            except ValueError:  # cut off in the middle
                break
    if not found and done is not None and done.returncode:
        raise RuntimeError(f"{program}, {name}: {done.stderr.decode().strip().splitlines()[-1]}")
    return found


def best_point(found: list[Point], error: float) -> Point | None:
    """The fastest run whose error is within a limit, and stays there with every finer step of its kind.

    A single coarse run may hit the end by luck; that is not counted.
    """
    good: list[Point] = []
    for variant in {point.variant for point in found}:
        for point in reversed([p for p in found if p.variant == variant]):
            if point.error > error:
                break
            good.append(point)
    return min(good, key=lambda point: point.seconds, default=None)


def main() -> None:
    """Print the runs of one program as they are finished."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # peers print what they like; it must not come between our lines
    for point in points(sys.argv[1], sys.argv[2], *map(float, sys.argv[3:])):
        print(json.dumps(asdict(point)), file=out, flush=True)
    out.flush()
    os._exit(0)  # Exudyn's and MuJoCo's memory need not be taken apart


if __name__ == "__main__":
    main()
