"""Starts of systems with loops: assembled from the guesses, and followed to other parameters.

There is no peer that assembles from guesses through a Python call with new parameters; the first start of the same
system is the measure.
"""

from __future__ import annotations

from pathlib import Path

import kinode as kn
from measure import call, interleave

EXAMPLES = Path(__file__).parents[1] / "examples"
ROW = "{:24} {:>14} {:>14} {:>8}"


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


if __name__ == "__main__":
    main()
