"""Studies through ``kn.sweep``: beside mujoco.rollout, on one core and on two, on threads and on Dask.

``python benchmarks/studies.py [rollout|loads|cores|dask]``.  Every row is measured in one process, the peer beside it.
MuJoCo makes fewer runs than kinode and is counted by the run: 4096 would take minutes.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import kinode as kn
from kinode.jit.kernel_call import alone
from kinode.studies.sweep import set_up_study
from many_runs import CodeClock
from models import robot

UR5 = "ur5_robot"
EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
RUNS, PEER_RUNS, STEP, SECONDS = 4096, 128, 1e-3, 10.0
ROUNDS, EVERY = 5, 5


def clock(work: Callable[[], Any]) -> tuple[float, float]:
    """Wall time and processor time of some work."""
    wall, processor = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - processor


def rollout() -> None:
    """4096 free swings of the UR5, peaks of the six angles kept."""
    import mujoco
    from mujoco import rollout as mujoco_rollout

    from models import mujoco_model

    dynamics = kn.compile(kn.load(robot(UR5)))
    names = [c.name for c in dynamics.coordinates if c.name.endswith(".q")]
    rng = np.random.default_rng(0)
    over = {name: rng.uniform(-1.0, 1.0, RUNS) for name in names}
    keep = [f"{name}|peak" for name in names]

    def study(count: int) -> None:
        table = {name: values[:count] for name, values in over.items()}
        kn.sweep(dynamics, table, SECONDS, keep=keep, design="rows", method="rk4", step=STEP, progress=False)

    study(64)
    wall, processor = clock(lambda: study(RUNS))
    model = mujoco_model(robot(UR5), STEP)
    start = np.hstack(
        [np.zeros((PEER_RUNS, 1)), np.column_stack([over[n][:PEER_RUNS] for n in names]), np.zeros((PEER_RUNS, 6))]
    )
    workers, steps = [mujoco.MjData(model) for _ in range(2)], round(SECONDS / STEP)
    pool, states = mujoco_rollout.Rollout(nthread=2), np.empty((PEER_RUNS, steps, start.shape[1]))

    def peer() -> None:
        pool.rollout(model, workers, start, nstep=steps, state=states)
        np.abs(states[:, :, 1:7]).max(axis=1)

    peer_wall, peer_processor = clock(peer)
    ours, theirs = wall / RUNS, peer_wall / PEER_RUNS
    print(f"{RUNS} UR5 runs: {wall:.2f} s ({processor:.2f} s of processor time); mujoco.rollout {theirs * RUNS:.0f} s "
          f"by {PEER_RUNS} runs; {theirs / ours:.1f} times, by processor time "
          f"{peer_processor / PEER_RUNS / (processor / RUNS):.1f} times (asked 30)")  # fmt: skip


def loads() -> None:
    """1,000 runs of the excavator with the peak loads of all joints: what comes beside solver and kernels."""
    dynamics = kn.compile(kn.load(EXAMPLES / "excavator.yaml"))
    keep = [f"{joint}.reaction.force|peak" for joint in dynamics.system.joints]
    lengths = np.linspace(5.0, 6.0, 1000)

    def study(count: int) -> None:
        kn.sweep(dynamics, {"boom_length": lengths[:count]}, keep=keep, workers=1, progress=False)

    study(8)
    worker, _ = set_up_study(dynamics, {"boom_length": lengths}, keep=keep)
    sets = worker.plan.design.rows(0, len(lengths))
    worker.make(0, sets[0])
    whole, alone_seconds = [], []
    for _ in range(
        ROUNDS
    ):  # a study makes a run in one loop: solver and kernels by themselves are those of single runs
        whole.append(clock(lambda: study(1000))[1])
        with CodeClock() as code, alone():
            for k in range(0, len(sets), EVERY):
                worker.make(k, sets[k])
        alone_seconds.append(code.seconds * EVERY)
    processor, solver = min(whole), min(alone_seconds)
    words = f"{processor:.2f} s; solver and kernels alone {solver:.2f} s"
    print(f"1000 excavator runs: {words}: {processor / solver - 1:.0%} beside them (asked 20 %)")


def cores() -> None:
    """1,000 runs of backlash_axis on two threads against one."""
    dynamics = kn.compile(kn.load(EXAMPLES / "backlash_axis.yaml"))
    plays = np.linspace(0.5, 1.5, 1000) * dynamics.system.parameter_values()["play"]

    def study(count: int, workers: int) -> None:
        over = {"play": plays[:count]}
        kn.sweep(dynamics, over, keep="system.energy|peak", workers=workers, progress=False)

    study(8, 2)
    one, two = clock(lambda: study(200, 1))[0], clock(lambda: study(200, 2))[0]
    print(f"200 backlash_axis runs: one thread {one:.2f} s, two {two:.2f} s: {one / two:.2f} times (asked 1.7)")


def dask() -> None:
    """A local cluster of two workers against two threads of this process."""
    from distributed import Client, LocalCluster

    dynamics = kn.compile(kn.load(EXAMPLES / "excavator.yaml"))
    keep = [f"{joint}.reaction.force|peak" for joint in dynamics.system.joints]

    def study(count: int, **more: Any) -> None:
        lengths = np.linspace(5.0, 6.0, count)
        kn.sweep(dynamics, {"boom_length": lengths}, keep=keep, progress=False, **more)

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        study(1000, on=client)
        for count in (1000, 10_000):  # a second of work, and ten
            there = min(clock(lambda: study(count, on=client))[0] for _ in range(ROUNDS))  # noqa: B023
            here = min(clock(lambda: study(count, workers=2))[0] for _ in range(ROUNDS))  # noqa: B023
            words = f"Dask {there:.2f} s, threads {here:.2f} s: {there / here - 1:+.0%} (asked 15 %)"
            print(f"{count} excavator runs: {words}")


if __name__ == "__main__":
    for name in sys.argv[1:] or ("rollout", "loads", "cores", "dask"):
        {"rollout": rollout, "loads": loads, "cores": cores, "dask": dask}[name]()
