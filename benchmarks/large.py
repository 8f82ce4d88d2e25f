"""Large systems: time to compile, and an evaluation of systems with many loops beside MuJoCo and Exudyn.

``python benchmarks/large.py`` prints the table and writes it into the documentation.  Times to compile are processor
times from an empty cache.  MuJoCo's evaluation is ``mj_forward``; of Exudyn it is a step of its implicit solver.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads of dense algebra would wait for each other

import mujoco
import numpy as np

import kinode as kn
import loop_exudyn
import loop_mujoco
import measure
from loop_models import Mechanism
from models import chain

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))
from mechanisms import four_bars, net, ring  # noqa: E402

STEPS = 20  # of Exudyn, over which its time is an average


def seconds(work: Callable[[], Any]) -> float:
    """Processor time of one call."""
    start = time.process_time()
    work()
    return time.process_time() - start


def open_chain(n: int) -> kn.System:
    """A chain of revolute joints, from Python."""
    system = kn.System("chain")
    body: Any = system.world
    for i in range(n):
        new = system.body(f"b{i}", mass=1 + 0.1 * (i % 7), com=(0.01, 0.02, 0.05), inertia=(0.003, 0.004, 0.005))
        system.revolute(f"j{i}", body.at(0.005, 0.01, 0.1), new, axis="xyz"[i % 3])
        body = new
    return system


def first_reactions(n: int) -> float:
    """The first reactions of a chain that is compiled already, in all joints."""
    dynamics = kn.compile(kn.load(chain(n)))
    start = dynamics.initial
    return seconds(lambda: dynamics.reactions(0.0, start.q, start.u))


def closed_chain(n: int) -> float:
    """From the description of a ring to its first step: assembly, rank, rate and projection."""
    system = ring(n, "revolute")
    return seconds(lambda: kn.simulate(system, 1e-3, times=[0.0, 1e-3]))


def first_acceleration(n: int) -> float:
    """From the description of a chain to its first acceleration."""

    def work() -> None:
        dynamics = kn.compile(open_chain(n))
        start = dynamics.initial
        dynamics.acceleration(0.0, start.q, start.u)

    return seconds(work)


def compiling() -> Iterator[tuple[str, float, float]]:
    """Work, seconds, and the most that is asked for; without the cache, routines that all models share apart."""
    os.environ["KINODE_CACHE"] = "0"
    closed_chain(3)
    first_reactions(45)
    for n, most in ((300, 0.6), (1000, 1.5)):
        yield f"first reactions of {n:,} links", first_reactions(n), most
    for n, most in ((40, 0.6), (200, 1.5)):
        yield f"closed chain of {n} links, description to first step", closed_chain(n), most
    yield "20,000 links, description to first acceleration", first_acceleration(20_000), 5.0
    del os.environ["KINODE_CACHE"]


def evaluations() -> Iterator[tuple[str, float, float, float]]:
    """Work, our time for an evaluation of the accelerations, MuJoCo's, and that of a step of Exudyn's."""
    for title, make in (("200 four-bars", lambda: four_bars(200)), ("net of 10 x 10 squares", lambda: net(10, 10))):
        mechanism = Mechanism(title, make, 0.01, 1.0, plane=True)
        peer = loop_mujoco.Model(mechanism, loop_mujoco.VARIANTS["RK4"])
        peer.data.qpos, peer.data.qvel, peer.data.qfrc_applied = peer.start
        dynamics = peer.read.dynamics
        start = dynamics.initial
        ours, theirs = measure.interleave(
            [
                measure.call(dynamics.acceleration, 0.0, start.q, start.u),
                measure.call(mujoco.mj_forward, peer.model, peer.data, value=0.0),
            ]
        )
        others = []
        for run, _ in loop_exudyn.variants(mechanism).values():
            begin = time.perf_counter()
            run(STEPS)
            others.append((time.perf_counter() - begin) / STEPS)
        yield title, ours, theirs, float(np.min(others))


def main() -> None:
    """Measure, print, write."""
    lines = [
        f"Measured on {measure.machine()}.",
        "",
        "| work | processor time | asked for | met |",
        "|---|--:|--:|---|",
    ]
    for work, found, most in compiling():
        lines.append(f"| {work} | {found:.2g} s | at most {most:g} s | {'yes' if found <= most else 'NO'} |")
        print(lines[-1], flush=True)
    lines += ["", "| an evaluation | kinode | MuJoCo | ratio | step of Exudyn | ratio |", "|---|--:|--:|--:|--:|--:|"]
    for work, ours, theirs, others in evaluations():
        times = f"{ours * 1e6:.3g} us | {theirs * 1e6:.3g} us | {theirs / ours:.3g}"
        lines.append(f"| {work} | {times} | {others * 1e6:.3g} us | {others / ours:.3g} |")
        print(lines[-1], flush=True)
    measure.write_between_markers(ROOT / "docs" / "reference" / "benchmarks.md", "\n".join(lines), "large")


if __name__ == "__main__":
    main()
