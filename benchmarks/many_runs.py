"""Many runs of one model in the background, beside a plain loop over kn.simulate.

Each run has another value and keeps the peak of one load.  ``beside`` is the processor time of a run outside the
integrator's loops and the kernels of its quantities: what Python does.  ``lock`` is the share of a run that holds
Python's lock, so that 1/lock bounds what threads can give.  Rates are of wall time, the best of several rounds;
``machine`` is what two threads give on this machine at that time for work without any lock (checksums).
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import kinode as kn
from kinode.jit import kernel_call
from kinode.ode import compiled_loops
from kinode.studies.batch import Batch
from kinode.studies.sweep import set_up_study

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
ROUNDS, RUNS = 5, 24
ROW = "{:18} {:>9} {:>9} {:>7} {:>10} {:>10} {:>10} {:>7} {:>8}"
# what varies (a parameter, or an initial value), the end in s (None: that of the model's run section), the load
MODELS = {
    "excavator": ("boom_length", None, "swing.reaction.moment|peak"),
    "motor_axis": ("reach", None, "elbow.reaction.force|peak"),
    "ur5": ("shoulder.q", 10.0, "shoulder.reaction.moment|peak"),
    "four_bar": ("left.q", None, "pin.reaction.force|peak"),
    "slider_crank": ("n", 0.2, "bore.reaction.force|peak"),
    "stewart_platform": ("base", None, "top1.reaction.force|peak"),
    "backlash_axis": ("play", None, "system.energy|peak"),
}


class CodeClock:
    """Processor time of the calls of machine code, while it is open."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            began = time.thread_time()
            result = function(*arguments)
            self.seconds += time.thread_time() - began
            return result

        return call

    def __enter__(self) -> CodeClock:
        self.loop, self.driver = compiled_loops.loop, kernel_call._driver_at
        compiled_loops.loop = lambda name: self.timed(self.loop(name))
        kernel_call._driver_at = lambda address: self.timed(self.driver(address))
        return self

    def __exit__(self, *_: object) -> None:
        compiled_loops.loop, kernel_call._driver_at = self.loop, self.driver


def find_values(dynamics: kn.Dynamics, name: str) -> list[float]:
    """Values about the model's own."""
    known = list(dynamics.topology.parameters)
    if name in known:
        own = float(dynamics.parameters[known.index(name)])
        return (own * np.linspace(0.98, 1.02, RUNS)).tolist()
    own = dynamics.values(dynamics.initial)[name]
    return (own + np.linspace(-0.02, 0.02, RUNS)).tolist()


def machine_ratio() -> float:
    """What two threads give here, for work without a lock."""
    block = bytes(1 << 24)

    def work(threads: int) -> float:
        team = [threading.Thread(target=hashlib.sha256, args=(block,)) for _ in range(threads)]
        began = time.perf_counter()
        for thread in team:
            thread.start()
        for thread in team:
            thread.join()
        return time.perf_counter() - began

    return 2.0 * min(work(1) for _ in range(ROUNDS)) / min(work(2) for _ in range(ROUNDS))


def best(work: Callable[[], object]) -> float:
    """Wall time of the best round."""
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


def measure(name: str) -> str:
    varied, until, of = MODELS[name]
    dynamics = kn.compile(kn.load(EXAMPLES / f"{name}.yaml"))
    values, quantity = find_values(dynamics, varied), of.partition("|")[0]
    word = "parameters" if varied in dynamics.topology.parameters else "start"

    def batch(threads: int) -> list[Any]:
        worker, _ = set_up_study(dynamics, {varied: values}, until, keep=of)
        sets = worker.plan.design.rows(0, len(values))
        return Batch(worker.make, sets, range(len(sets)), threads).wait()

    def plain() -> list[float]:
        runs = (kn.simulate(dynamics, until, **{word: {varied: value}}) for value in values)
        return [float(np.abs(run[quantity]).max()) for run in runs]

    failed = [row.message for row in batch(1) if row.failed]
    if failed:
        raise SystemExit(f"{name}: {failed[0]}")
    plain()
    beside, whole = [], []
    for _ in range(ROUNDS):
        with CodeClock() as clock:
            began = time.process_time()
            batch(1)
            whole.append((time.process_time() - began) / RUNS)
            beside.append(whole[-1] - clock.seconds / RUNS)
    one, two, single, ratio = best(lambda: batch(1)), best(lambda: batch(2)), best(plain), machine_ratio()
    share = min(beside) / min(whole)
    milliseconds = (f"{1e3 * x:.2f} ms" for x in (min(whole), min(beside)))
    rates = (RUNS / x for x in (single, one, two))
    cells = (*milliseconds, f"{share:.2f}", *(f"{rate:.0f}/s" for rate in rates), f"{one / two:.2f}", f"{ratio:.2f}")
    return ROW.format(name, *cells)


def main() -> None:
    head = ("a run", "beside", "lock", "simulate", "1 thread", "2 threads", "ratio", "machine")
    print(ROW.format("model", *head))
    for name in MODELS:
        print(measure(name), flush=True)


if __name__ == "__main__":
    main()
