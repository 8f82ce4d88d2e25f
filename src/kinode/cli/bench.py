"""A small benchmark of one model on this machine; ``benchmarks/`` in the sources compares with other programs.

Times are the best of several rounds: what the machine can do when nothing else disturbs it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from kinode.dynamics.compile import compile as compile_system
from kinode.dynamics.compiled_system import Dynamics
from kinode.jit.tiers.better_code import wait_for_better_code
from kinode.model.system import System
from kinode.tasks.simulate import simulate

BATCH = 4096  # states in one call
RK4_STEP = 1e-3  # s


def make_arm() -> System:
    """An arm of six joints, about as large as a common robot."""
    system = System("arm of six joints")
    base, axes = system.world.at(0, 0, 0.1), "zyyyzy"
    for k, axis in enumerate(axes):
        mass, length = 4.0 / (k + 1), 0.4 / (k + 1)
        inertia = [mass * length**2 * f for f in (0.05, 0.1, 0.09)]
        body = system.body(f"link{k + 1}", mass=mass, com=(length / 2, 0, 0.02), inertia=inertia)
        system.revolute(f"joint{k + 1}", base, body, axis=axis, q=0.2 * (k + 1), damping=0.05)
        base = body.at(length, 0, 0)
    return system


def measure_system(system: System, seconds: float = 0.5) -> list[tuple[str, float, str]]:
    """Rows of task, measured figure and unit."""
    rows = []
    with _no_cache():
        rows.append(
            ("compile the accelerations, nothing cached", best(lambda: _first_call(system), seconds) * 1e3, "ms")
        )
    dynamics = compile_system(system)
    rng = np.random.default_rng(0)
    state = dynamics.initial
    if dynamics.n_u:
        t, q, u = state.t, state.q, state.u
        call = dynamics.acceleration
        call(t, q, u)
        wait_for_better_code()
        fast = dynamics.acceleration
        rows.append(("accelerations, a call from Python", best(lambda: fast(t, q, u), seconds) * 1e6, "us"))
        many_q, many_u = np.tile(q, (BATCH, 1)), rng.normal(size=(BATCH, dynamics.n_u))
        dynamics.acceleration(t, many_q, many_u)
        wait_for_better_code()
        batch = best(lambda: dynamics.acceleration(t, many_q, many_u), seconds)
        rows.append((f"accelerations, each in a batch of {BATCH}", batch / BATCH * 1e6, "us"))
    rows += _measure_runs(dynamics, seconds)
    return rows


def _measure_runs(dynamics: Dynamics, seconds: float) -> list[tuple[str, float, str]]:
    until = dynamics.initial.t + float(dynamics.system.run_defaults.get("until", 1.0))

    def fixed() -> None:
        simulate(dynamics, until, method="rk4", step=RK4_STEP, samples=2, progress=False)

    def adaptive() -> int:
        return int(simulate(dynamics, until, samples=2, progress=False).facts["steps"])

    fixed()
    steps, span = (until - dynamics.initial.t) / RK4_STEP, adaptive()
    wait_for_better_code()
    one, two = best(fixed, seconds), best(adaptive, seconds)
    return [
        ("rk4 of 1 ms, a step", one / steps * 1e6, "us"),
        ("rk4 of 1 ms, steps in a second", steps / one, "1/s"),
        (f"dopri5 at default tolerances, {until:g} s in {span} steps", two * 1e3, "ms"),
    ]


def _first_call(system: System) -> None:
    dynamics = compile_system(system)
    state = dynamics.initial
    dynamics.acceleration(state.t, state.q, state.u)


def best(work: Callable[[], object], seconds: float) -> float:
    """Seconds of one execution: the best of several rounds within the time given."""
    began = time.perf_counter()
    work()
    once = max(time.perf_counter() - began, 1e-7)
    count = max(1, int(min(0.02, seconds / 5) / once))
    fastest = once
    while time.perf_counter() - began < seconds:
        start = time.perf_counter()
        for _ in range(count):
            work()
        fastest = min(fastest, (time.perf_counter() - start) / count)
    return fastest


@contextmanager
def _no_cache() -> Iterator[None]:
    old = os.environ.get("KINODE_CACHE")
    os.environ["KINODE_CACHE"] = "0"
    try:
        yield
    finally:
        if old is None:
            del os.environ["KINODE_CACHE"]
        else:
            os.environ["KINODE_CACHE"] = old
