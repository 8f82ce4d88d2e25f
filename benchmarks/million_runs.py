"""What a million and a billion runs take: measured on two cores, computed for many.

``python benchmarks/million_runs.py`` measures one run with what is kept of it, a chunk on its way (plan and results, as
bytes), Dask's own scheduler with chunks that do nothing, and the store; then it prints the tables of the page
``docs/how-to/million-runs.md``.  Nothing is assumed but that workers do not disturb each other.
"""

from __future__ import annotations

import pickle
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import kinode as kn
from kinode.studies.design import make_design
from kinode.studies.store import StudyStore, read_store
from kinode.studies.sweep import choose_chunk
from kinode.studies.worker import DONE, ChunkResult, StudyPlan, StudyWorker, make_packed_chunk

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
CORES = (1, 100, 10_000)
RUNS = (10**6, 10**9)
SIZES = (500, 8000)
"""Runs of the synthetic chunks."""
TASKS = 400
"""Synthetic chunks of each size that the scheduler is given."""
STORED = 40
"""Chunks of each size that are written to a store."""


@dataclass(frozen=True)
class Measured:
    """What was measured on this machine.

    ``run`` is processor time in s; ``plan`` and ``row`` are bytes of what a chunk is sent with, and of what is kept of
    a run; ``task`` and ``write`` are s of the scheduler and of the store for a chunk, and for each of its runs;
    ``stored`` are bytes on the disk and ``read`` s to open it again, for a run.
    """

    run: float
    plan: float
    row: float
    task: tuple[float, float]
    write: tuple[float, float]
    stored: float
    read: float


@dataclass(frozen=True)
class Estimate:
    """What a study takes."""

    chunk: int
    """Runs of a chunk."""
    seconds: float
    """From start to end."""
    bound_by: str
    """runs, scheduler or store: what takes longest."""
    chunks_per_second: float
    network: float
    """Bytes a second through the scheduler."""
    memory: float
    """Bytes of results, in this process."""
    disk: float
    """Bytes of the store."""


def estimate(measured: Measured, runs: int, cores: int) -> Estimate:
    """What so many runs take on so many cores: the slowest of three that work side by side."""
    chunk = choose_chunk(runs, measured.run, cores)
    chunks = -(-runs // chunk)
    times = {
        "runs": -(-chunks // cores) * chunk * measured.run,
        "scheduler": chunks * measured.task[0] + runs * measured.task[1],
        "store": chunks * measured.write[0] + runs * measured.write[1],
    }
    slowest = max(times, key=lambda each: times[each])
    seconds = times[slowest]
    moved = chunks * measured.plan + runs * measured.row
    return Estimate(
        chunk, seconds, slowest, chunks / seconds, moved / seconds, runs * measured.row, runs * measured.stored
    )


# -- measuring -------------------------------------------------------------------------------------
def measure_runs() -> tuple[float, StudyPlan, StudyWorker]:
    """Processor time of a run of the excavator with the peak loads of its joints, and its plan."""
    dynamics = kn.compile(kn.load(EXAMPLES / "excavator.yaml"))
    keep = tuple(f"{joint}.reaction.force|peak" for joint in dynamics.system.joints)
    lengths = np.linspace(5.0, 6.0, 400)
    best = np.inf
    kn.sweep(dynamics, {"boom_length": lengths[:8]}, keep=keep, workers=1, progress=False)
    for _ in range(3):
        began = time.process_time()
        kn.sweep(dynamics, {"boom_length": lengths}, keep=keep, workers=1, progress=False)
        best = min(best, (time.process_time() - began) / len(lengths))
    from kinode.studies.axes import read_axes

    design = make_design(read_axes([dynamics], ["excavator"], {"boom_length": lengths}, False), "grid", None, 0)
    plan = StudyPlan((dynamics.system,), ("excavator",), None, None, {}, keep, 0, design, {})
    return best, plan, StudyWorker(plan)


def make_empty_chunk(packed: bytes, first: int, columns: Mapping[str, Any], texts: Sequence[str]) -> ChunkResult:
    """A chunk that is as large as a real one, and computes nothing."""
    count = len(columns["boom_length"])
    results: Mapping[str, np.ndarray] = {text: np.full(count, 1.0 + first) for text in texts}
    return ChunkResult(first, np.full(count, DONE, dtype=np.int8), [""] * count, results)


def fit_line(sizes: Sequence[int], seconds: Sequence[float]) -> tuple[float, float]:
    """What a chunk costs, and what each of its runs adds, from chunks of two sizes."""
    each = max(0.0, (seconds[1] - seconds[0]) / (sizes[1] - sizes[0]))
    return max(seconds[0] - each * sizes[0], 0.0), each


def measure_scheduler(packed: bytes, texts: Sequence[str]) -> tuple[float, float]:
    """Dask's scheduler, client and two workers, given chunks of real size that compute nothing."""
    from concurrent.futures import as_completed

    from distributed import Client, LocalCluster

    found = []
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
        client.get_executor(pure=False) as executor,
    ):
        for size in SIZES:
            columns = {"boom_length": np.linspace(5.0, 6.0, size)}
            executor.submit(make_empty_chunk, packed, 0, columns, texts).result()
            began = time.perf_counter()
            tasks = [executor.submit(make_empty_chunk, packed, k, columns, texts) for k in range(TASKS)]
            for task in as_completed(tasks):
                task.result()
            found.append((time.perf_counter() - began) / TASKS)
    return fit_line(SIZES, found)


def measure_store(worker: StudyWorker, texts: Sequence[str]) -> tuple[tuple[float, float], float, float]:
    """Seconds of the store for a chunk and for a run, bytes on the disk and seconds to read for a run."""
    found, stored, read = [], 0.0, 0.0
    for size in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            store, runs = StudyStore(Path(folder) / "study.zarr"), size * STORED
            coordinate = ("boom_length", "m", "boom_length", np.linspace(5.0, 6.0, runs).tolist())
            description = {"dims": {"boom_length": runs}, "coordinates": [coordinate], "times": [], "notes": []}
            store.create(worker.kept, runs, size, {"kinode": "measured"}, description)
            rng, done = np.random.default_rng(0), np.full(size, DONE, dtype=np.int8)
            results = {text: rng.normal(size=size) for text in texts}
            began = time.perf_counter()
            for k in range(STORED):
                store.write(worker.kept, ChunkResult(k * size, done, [""] * size, results))
            found.append((time.perf_counter() - began) / STORED)
            stored = sum(file.stat().st_size for file in store.path.rglob("*") if file.is_file()) / runs
            began = time.perf_counter()
            read_store(store)
            read = (time.perf_counter() - began) / runs
    return fit_line(SIZES, found), stored, read


def measure() -> Measured:
    """All that the estimate needs."""
    run, plan, worker = measure_runs()
    packed, texts = plan.pack(), [str(each) for each in plan.keep]
    make_packed_chunk(packed, 0, plan.design.columns(0, 2))
    columns, count = plan.design.columns(0, len(plan.design)), len(plan.design)
    row = len(pickle.dumps(make_empty_chunk(packed, 0, columns, texts))) / count
    write, stored, read = measure_store(worker, texts)
    sent = len(packed) + len(pickle.dumps(columns))
    return Measured(run, sent, row, measure_scheduler(packed, texts), write, stored, read)


# -- printing --------------------------------------------------------------------------------------
def tell_time(seconds: float) -> str:
    """A time in the unit that suits it."""
    for size, unit in ((86400.0 * 365.25, "years"), (86400.0, "days"), (3600.0, "h"), (60.0, "min")):
        if seconds >= 2.0 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"


def tell_cost(cost: tuple[float, float]) -> str:
    """Seconds of a chunk and of a run."""
    return f"{1e3 * cost[0]:.1f} ms for a chunk, and {1e6 * cost[1]:.2f} us for each of its runs"


def tell_bytes(count: float) -> str:
    """A size in the unit that suits it."""
    for size, unit in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count:.3g} B"


def write_tables(measured: Measured) -> str:
    """Both tables as Markdown."""
    lines = ["| measured | |", "|---|---|"]
    lines += [
        f"| a run of the excavator with the peak loads of its joints | {1e3 * measured.run:.2f} ms of processor time |",
        f"| a chunk on its way to a worker (model, values, what is kept) | {tell_bytes(measured.plan)} |",
        f"| what is kept of a run, on its way back | {tell_bytes(measured.row)} |",
        f"| Dask's scheduler | {tell_cost(measured.task)} |",
        f"| the store | {tell_cost(measured.write)} |",
        f"| on the disk | {tell_bytes(measured.stored)} a run |",
        f"| to open a store again | {1e6 * measured.read:.2f} us a run |",
        "",
        "| runs | cores | runs of a chunk | time | bound by | chunks a second | scheduler | memory | disk |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for runs in RUNS:
        for cores in CORES:
            e = estimate(measured, runs, cores)
            lines.append(
                f"| {runs:,} | {cores:,} | {e.chunk:,} | {tell_time(e.seconds)} | {e.bound_by} "
                f"| {e.chunks_per_second:.3g} | {tell_bytes(e.network)}/s "
                f"| {tell_bytes(e.memory)} | {tell_bytes(e.disk)} |"
            )
    return "\n".join(lines)


if __name__ == "__main__":
    print(write_tables(measure()))
