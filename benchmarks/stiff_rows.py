"""``python benchmarks/stiff_rows.py``: large stiff systems by sparse factors, beside full ones and CVODE's solvers.

A row of masses with stiff springs between them, whose Jacobian is sparse, and a chain of links with stiff joints, whose
Jacobian is full. CVODE is the BDF of SUNDIALS with kinode's compiled rate, called through Python, with its dense, band
and sparse solvers; states of the band are in the order of the masses. All at the same tolerance, with the error of each
against a tight run; seconds of the processor, best of several runs, compiling apart.

    python benchmarks/stiff_rows.py            writes docs/reference/benchmarks.md
    python benchmarks/stiff_rows.py --quick    smaller systems; writes nothing
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import numpy as np

import kinode as kn
import measure
from kinode.ode.loops import jacobian_structure
from loops import time_words
from stiff_models import row_of_masses, stiff_chain

ROOT = Path(__file__).resolve().parent.parent
RTOL, ATOL, UNTIL = 1e-6, 1e-8, 0.2
HEADINGS = ["large stiff system", "states", "kinode's `stiff`", "with full matrices", "CVODE dense", "band", "sparse"]
NEVER = 1 << 30


def best_of(rounds: int, run: Callable[[], Any]) -> tuple[float, Any]:
    """The least processor time of several runs, and the result."""
    run()
    best, result = float("inf"), None
    for _ in range(rounds):
        start = process_time()
        result = run()
        best = min(best, process_time() - start)
    return best, result


def by_kinode(dynamics: kn.Dynamics, times: Any, rtol: float = RTOL) -> Any:
    """The states at the times."""
    run = kn.simulate(dynamics, UNTIL, method="stiff", times=times, rtol=rtol, atol=rtol / 100)
    return run.y


def by_cvode(dynamics: kn.Dynamics, times: Any, solver: str) -> Any:
    """The same by CVODE."""
    from sksundae.cvode import CVODE

    n = dynamics.n_u
    order = np.arange(2 * n).reshape(2, n).T.ravel() if solver == "band" else np.arange(2 * n)

    def rate(t: float, y: Any, out: Any) -> None:
        state = np.empty(2 * n)
        state[order] = y
        out[:] = dynamics.rate(t, state)[order]

    more: dict[str, Any] = {"lband": 3, "uband": 3} if solver == "band" else {}
    if solver == "sparse":
        more["sparsity"] = dynamics.rate_jacobian(0.0, dynamics.initial.y) != 0.0
    method = CVODE(rate, rtol=RTOL, atol=ATOL, linsolver=solver, max_num_steps=100000, **more)
    found = np.empty((len(times), 2 * n))
    found[:, order] = method.solve(times, dynamics.initial.y[order]).y
    return found


def make(name: str, count: int) -> kn.Dynamics:
    """The compiled system."""
    return kn.compile((row_of_masses if name == "masses" else stiff_chain)(count))


def with_full_matrices(name: str, count: int, rounds: int) -> float:
    """The time of kinode's method with full matrices: the same code compiled with other limits, in another process."""
    call = [sys.executable, __file__, "--full", name, str(count), str(rounds)]
    with TemporaryDirectory() as directory:  # code in the cache has the limits of the source
        surroundings = {**os.environ, "KINODE_CACHE_DIR": directory}
        done = subprocess.run(call, capture_output=True, text=True, check=True, env=surroundings)
    return float(json.loads(done.stdout.splitlines()[-1]))


def measure_full(name: str, count: int, rounds: int) -> None:
    """What `with_full_matrices` starts."""
    jacobian_structure.SPARSE_FROM = jacobian_structure.LEAST_GAIN = NEVER
    dynamics, times = make(name, count), np.linspace(0.0, UNTIL, 11)
    print(json.dumps(best_of(rounds, lambda: by_kinode(dynamics, times))[0]))


def row_of(name: str, title: str, count: int, rounds: int) -> list[str]:
    """A row of the table: time and error of each."""
    dynamics, times = make(name, count), np.linspace(0.0, UNTIL, 11)
    tight = by_kinode(dynamics, times, 1e-11)
    size = np.abs(tight).max()

    def words(seconds: float, y: Any) -> str:
        return f"{time_words(seconds)} ({np.abs(y - tight).max() / size:.0e})"

    cells = [title, f"{2 * dynamics.n_u}", words(*best_of(rounds, lambda: by_kinode(dynamics, times)))]
    cells.append(time_words(with_full_matrices(name, count, rounds)))
    for solver in ("dense", "band", "sparse"):
        if name == "chain" and solver != "dense":
            cells.append("full")
            continue
        cells.append(words(*best_of(1, lambda solver=solver: by_cvode(dynamics, times, solver))))
    return cells


def main() -> None:
    """Run, print, write."""
    parser = argparse.ArgumentParser(description="Large stiff systems, beside full matrices and CVODE.")
    parser.add_argument("--quick", action="store_true", help="smaller systems; writes nothing")
    parser.add_argument("--full", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.full:
        measure_full(options.full[0], *map(int, options.full[1:]))
        return
    share = 4 if options.quick else 1
    rows = [
        row_of("masses", f"{200 // share} masses in a row", 200 // share, 3),
        row_of("chain", f"chain of {60 // share} links", 60 // share, 3),
    ]
    lines = [f"Measured on {measure.machine()}, {datetime.now(UTC):%Y-%m-%d}.", ""]
    lines += [f"| {' | '.join(HEADINGS)} |", f"|---|{'--:|' * (len(HEADINGS) - 1)}"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    print("\n".join(lines))
    if not options.quick:
        measure.write_between_markers(ROOT / "docs" / "reference" / "benchmarks.md", "\n".join(lines), "stiff rows")


if __name__ == "__main__":
    main()
