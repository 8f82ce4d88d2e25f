"""Rows about the time until something happens: importing, and from a description to the first acceleration.

Each measurement is a fresh process that reports the seconds from its first line to its last; starting the interpreter
is in neither side. "Cold" means an empty kernel cache, "warm" one that an earlier process filled.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile

from measure import Row, Side
from models import chain

IMPORT = "import {module}"
OURS = """
import kinode as kn
import numpy as np
system = kn.load({path!r})
dynamics = kn.compile(system)
n = dynamics.n_u
result = dynamics.acceleration(0.0, np.full(n, 0.3), np.full(n, 0.2))
"""
FRAME = """
import time
started = time.{clock}()
{body}
seconds = time.{clock}() - started
import json
print(json.dumps([seconds, [float(x) for x in globals().get("result", [])]]))
"""


def fresh(body: str, cache: str, clock: str = "perf_counter", limit: float | None = None) -> tuple[float, list[float]]:
    """Run the lines in a new process, for ``limit`` seconds at the most: the time they took, the result they left."""
    environment = {**os.environ, "KINODE_CACHE_DIR": cache, "KINODE_TIERS": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its byte code, as the peers have
    text = FRAME.format(body=body, clock=clock)
    command = [sys.executable, "-c", text]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=limit)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    seconds, result = json.loads(done.stdout.splitlines()[-1])
    return seconds, result


def side(body: str, cold: bool = False, clock: str = "perf_counter") -> Side:
    """A side whose every call is a fresh process, with its own cache where it is to be cold."""
    cache = tempfile.mkdtemp(prefix="kinode-bench-")

    def time(count: int) -> float:
        total = 0.0
        for _ in range(count):
            if cold:
                shutil.rmtree(cache, ignore_errors=True)
                os.mkdir(cache)
            total += fresh(body, cache, clock)[0]
        return total

    return Side(time, fresh(body, cache)[1] or None)


def unchecked(made: Side) -> Side:
    """The side without its value."""
    return Side(made.time)


def limit(seconds: float) -> Side:
    """Not a peer but a number of seconds: the ratio is then the share of it that was used."""
    return Side(lambda count: seconds * count)


def rows() -> list[Row]:
    """The rows of this file."""
    found = []
    for n in (100, 1000):
        body = OURS.format(path=str(chain(n)))
        found.append(
            Row(
                f"chain of {n}: import, build and compile, CPU seconds",
                "limit",
                lambda body=body: side(body, cold=True, clock="process_time"),
                lambda: limit(2.0),
                1.0,
                at_most=True,
                unit="s",
                rounds=3,
            )
        )
    found.append(
        Row(
            "import kinode",
            "import numpy",
            lambda: side(IMPORT.format(module="kinode")),
            lambda: side(IMPORT.format(module="numpy")),
            2.0,
            at_most=True,
            unit="ms",
            rounds=12,
        )
    )
    return found
