"""Starts of systems with loops: assembled from the guesses, followed to other parameters, and from nothing.

There is no peer that assembles from guesses through a Python call with new parameters; the first start of the same
system is the measure.  From nothing: a new process with an empty cache assembles, compiles and runs rings of rods for
one second; seconds of computing, of all threads.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import kinode as kn
from measure import call, interleave
from startup import fresh

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES, SUPPORT = ROOT / "examples", ROOT / "tests" / "support"
ROW = "{:24} {:>14} {:>14} {:>8}"
COLD_ROW = "{:24} {:>14} {:>14}"
COLD = """
import sys
sys.path.insert(0, {support!r})
import kinode as kn
from mechanisms import ring
run = kn.simulate(ring({n}, {kind!r}), 1.0)
result = [run.facts["evaluations"]]
"""


def main() -> None:
    print(ROW.format("start of", "from guesses", "followed", "ratio"))
    for name in ("spatial_slider_crank", "stewart_platform"):
        dynamics = kn.compile(kn.load(EXAMPLES / f"{name}.yaml"))
        p = dynamics.parameters
        dynamics.state(p=p * 1.0001)

        def search(dynamics: kn.Dynamics = dynamics) -> object:
            start = dynamics.start
            return start.assembler(start.initial_values, 0.0, None, None).solve_positions()

        def follow(dynamics: kn.Dynamics = dynamics, p: object = p * 1.0002) -> object:
            return dynamics.state(p=p)

        whole, warm = interleave([call(search), call(follow)])
        print(ROW.format(name, f"{1e3 * whole:.2f} ms", f"{1e3 * warm:.2f} ms", f"{whole / warm:.1f}"))
    print()
    print(COLD_ROW.format("one second, cold", "computing", "evaluations"))
    for n, kind in ((10, "spherical"), (20, "spherical"), (40, "spherical"), (60, "spherical"), (40, "revolute")):
        with tempfile.TemporaryDirectory() as cache:
            seconds, (evaluations,) = fresh(COLD.format(n=n, kind=kind, support=str(SUPPORT)), cache, "process_time")
        print(COLD_ROW.format(f"ring of {n} {kind}", f"{seconds:.2f} s", f"{evaluations:.0f}"))


if __name__ == "__main__":
    main()
