"""Pictures of runs: all poses, loads and quantities of a player, 600 pictures, by one compiled function.

Milliseconds of computing for a call, of all threads, the least of several; what is asked for stands beside it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import kinode as kn
from kinode.results.run_frames import find_breakdowns, player_names, prepare_frames

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
ASKED = {"excavator": 5.0, "motor_axis": 5.0, "ur5": 5.0, "stewart_platform": 10.0, "four_bar": None}
PICTURES = 600
ROUNDS = 20
ROW = "{:18} {:>8} {:>10} {:>10} {:>10} {:>10} {:>12}"


def least(call: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Milliseconds of computing, the least of several calls."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return 1e3 * min(times)


def main() -> None:
    print(ROW.format(f"{PICTURES} pictures", "columns", "evaluate", "asked", "+ links", "simulate", "who loads it"))
    for name, asked in ASKED.items():
        dynamics = kn.compile(kn.load(EXAMPLES / f"{name}.yaml"))
        until = 10.0 if name == "ur5" else dynamics.system.run_defaults["until"]
        run = kn.simulate(dynamics, until, samples=PICTURES)
        names = player_names(run.system)
        plain = prepare_frames(run.dynamics, names)
        powers = [f"{link}.power" for link in run.circuit["power"]["link"].values]
        linked = prepare_frames(run.dynamics, [*names, *powers])
        frames = plain(run)
        find_breakdowns(frames)
        figures = (
            least(lambda plain=plain, run=run: plain(run)),
            least(lambda linked=linked, run=run: linked(run), 5),
            least(lambda dynamics=run.dynamics, until=until: kn.simulate(dynamics, until, samples=PICTURES), 5),
            least(lambda frames=frames: find_breakdowns(frames), 3),
        )
        each, with_links, motion, causes = (f"{figure:.2f} ms" for figure in figures)
        limit = "" if asked is None else f"{asked:g} ms"
        print(ROW.format(name, len(frames.quantities), each, limit, with_links, motion, causes))


if __name__ == "__main__":
    main()
