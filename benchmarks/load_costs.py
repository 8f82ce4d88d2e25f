"""``make bench ONLY=loads``: what reactions, their uniqueness and the energy audit cost, beside their run.

    python benchmarks/load_costs.py                 all models; writes docs/reference/benchmarks.md
    python benchmarks/load_costs.py --only engine   some of them; writes nothing

Each model is simulated once so that all code is compiled.  Then, in every round, a run, the first reaction (which
analyzes all stored states) and the audit are timed in processor time, that of all threads together; the best round
counts.  The exit code is 1 where the loads of a run of 20 ms or more cost more than the run.  ``BEFORE`` are the
seconds of the analyses in Python that the compiled ones replaced, for shorter runs, on a machine of two processors.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from itertools import pairwise

import kinode as kn
import measure
from load_models import MODELS, LoadModel
from loop_models import ROOT

ROUNDS = 8
SHORTEST = 0.02  # s: runs that are shorter are not asked to cost more than their loads
BEFORE = {
    "four-bar": (2.8, 0.003),
    "engine, gas force with corners": (12.2, 2.4),
    "40 four-bars": (403.0, 0.02),
    "Allegro hand, free base": (0.007, 0.089),
}
HEADINGS = ["model", "times", "run", "reactions", "before", "audit", "before", "share of the run", "met"]


@dataclass(frozen=True)
class Cost:
    """Seconds for a run, its reactions with their uniqueness, and its audit."""

    run: float
    reactions: float
    audit: float

    @property
    def share(self) -> float:
        return (self.reactions + self.audit) / self.run

    @property
    def passed(self) -> bool | None:
        return None if self.run < SHORTEST else self.share < 1.0


def find_cost(model: LoadModel) -> Cost:
    """The best of several rounds, after one that compiles."""
    system, rounds = model.make(), []
    for _ in range(ROUNDS + 1):
        times = [time.process_time()]
        run = kn.simulate(system, model.until, samples=model.samples, **model.options)
        times.append(time.process_time())
        run.reaction(model.joint)
        times.append(time.process_time())
        run.audit  # noqa: B018 - computed when it is first read
        times.append(time.process_time())
        rounds.append([after - before for before, after in pairwise(times)])
    return Cost(*(min(column) for column in zip(*rounds[1:])))


def cells(name: str, model: LoadModel, cost: Cost) -> list[str]:
    """One row of the table."""
    before = [f"{x:.3g} s" for x in BEFORE[name]] if name in BEFORE else ["", ""]
    seconds = [f"{1e3 * x:.3g} ms" for x in (cost.run, cost.reactions, cost.audit)]
    mark = {True: "yes", False: "NO", None: ""}[cost.passed]
    middle = [seconds[1], before[0], seconds[2], before[1]]
    return [name, str(model.samples), seconds[0], *middle, f"{cost.share:.2f}", mark]


def main() -> int:
    """Measure, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--only", help="part of the name of a model")
    given = parser.parse_args()
    chosen = {name: model for name, model in MODELS.items() if (given.only or "") in name}
    costs = {name: find_cost(model) for name, model in chosen.items()}
    lines = ["| " + " | ".join(row) + " |" for row in (HEADINGS, ["---", *["--:"] * 7, "---"])]
    lines += ["| " + " | ".join(cells(name, chosen[name], cost)) + " |" for name, cost in costs.items()]
    text = "\n".join([f"Measured on {measure.machine()}.", "", *lines])
    print(text)
    if not given.only:
        measure.write_between_markers(ROOT / "docs" / "reference" / "benchmarks.md", text, "loads")
    return int(any(cost.passed is False for cost in costs.values()))


if __name__ == "__main__":
    sys.exit(main())
