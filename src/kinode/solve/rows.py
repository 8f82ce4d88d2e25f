"""Whether the constraint rows that a run is made with still stand for all rows, and which would serve better.

Rows that are left out as redundant follow from the others as long as those are independent of each other.  Where the
rows in use lose their rank and the rows together do not, it is the choice that fails and not the mechanism: another is
made, from all positions that the run went through.  Where rows that were left out come apart though, no choice helps:
they were not redundant.
"""

from __future__ import annotations

import numpy as np

from kinode.algebra.scalars import Array
from kinode.codegen.dynamics import Dynamics
from kinode.solve.integrators import Solution

TORN = 1e-8  # of the characteristic length: a row that was left out has come apart
LOST = 1e-3  # of the least singular value that all rows have: the rows in use are no good choice
SAMPLES = 12  # states of a run that are looked at


class Rows:
    """The rows of a compiled system along a run."""

    def __init__(self, dynamics: Dynamics, p: Array, inputs: Array) -> None:
        self.dynamics, self.p, self.inputs = dynamics, p, inputs
        self.all = len(dynamics.topology.row_units) == len(dynamics.closing.rows)

    def _evaluate(self, t: Array, y: Array) -> tuple[Array, Array]:
        a, b = self.dynamics.n_q, self.dynamics.n_q + self.dynamics.n_u
        c, G, _ = self.dynamics.closer.evaluate(t, y[:, :a], y[:, a:b], y[:, b:], self.p, self.inputs)
        return c, G

    def find_torn(self, found: Solution) -> tuple[str, float] | None:
        """The joint or constraint that is open at the end of a run, and by how much of the mechanism's size."""
        if self.all or not np.isfinite(found.y_end).all():
            return None
        c = abs(self._evaluate(np.array([found.t_end]), found.y_end[None])[0][0]) * self.dynamics.closer.holding
        worst = int(np.argmax(c))
        return (self.dynamics.closer.names[worst][0], float(c[worst])) if c[worst] > TORN else None

    def find_better(self, found: Solution) -> tuple[int, ...] | None:
        """Rows that stay independent where those in use do not; None if there are none."""
        if self.all:
            return None
        _, G = self._evaluate(*_sampled(found))
        G = G[np.isfinite(G).all(axis=(1, 2))]
        rows = list(self.dynamics.closing.rows)
        rank = len(rows)
        least = np.linalg.svd(G[:, rows], compute_uv=False)[:, -1]
        whole = np.linalg.svd(G, compute_uv=False)[:, rank - 1]
        if (least > LOST * whole).all():
            return None
        clear = whole > LOST * whole.max()
        better = self.dynamics.closer.choose(list(G[clear])) if clear.any() else tuple(rows)
        gain = np.linalg.svd(G[:, list(better)], compute_uv=False)[:, -1]
        return better if min(gain[clear]) > 10.0 * min(least[clear]) else None


def _sampled(found: Solution) -> tuple[Array, Array]:
    """Some states of a run, its end and those where rows came near to being dependent among them."""
    chosen = np.unique(np.linspace(0, len(found.t) - 1, min(SAMPLES, len(found.t))).astype(int))
    t = np.array([*found.t[chosen], found.t_end, *(one.t for one in found.passes)])
    return t, np.vstack([found.y[chosen], found.y_end, *(one.y for one in found.passes)])
