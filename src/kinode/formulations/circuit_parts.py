"""Parts of a network as rows of the circuit: flows and rates are unknowns beside those of bodies and joints.

Levels below the last (what depends on states alone) are solved as ``condense`` does; the last one is left open, with
the accelerations of joints as the unknowns that they are.  Nothing is condensed: what a part does to a joint is the
flow at its port.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinode.algebra.affine import Affine
from kinode.algebra.scalars import Array, Scalar
from kinode.formulations.circuit_rows import Rows, unknowns
from kinode.formulations.condense import Condensed, find_pivots

if TYPE_CHECKING:
    from kinode.formulations.circuit import Circuit


class Wired(Condensed):
    """The network of one instant, its last level open."""

    instant: Circuit

    def _acceleration(self, joint: str, coordinate: int) -> Scalar:
        circuit = self.instant
        if joint in circuit.topology.cut_names:
            return unknowns(joint, "u_dot", circuit.system.joints[joint].n_u)[coordinate]
        return circuit.rates_of(circuit.tree.nodes[circuit.node_named[joint]])[coordinate]

    def solve(self) -> None:
        """All levels but the last, once."""
        if not self._done:
            self._done = True
            last = len(self.network.stages) - 1
            self.solve_stages(range(last))
            self.solving = frozenset(x for block in self.network.stages[last] for x in block.unknowns)

    def wire(self, rows: Rows) -> None:
        """The rows of the last level, to be solved for its flows and rates."""
        self.solve()
        last = len(self.network.stages) - 1
        for b, block in enumerate(self.network.stages[last]):
            places = rows.add(self._form(row) for row in block.rows)
            for i, order in find_pivots(self.network, last, b):
                rows.solve_for([places[i]], [Affine.unknown(order)])

    def along(self, joint: str) -> Array:
        """What the parts do along a joint: their flows with the opposite sign."""
        total = np.zeros(self.instant.system.joints[joint].n_u, dtype=object)
        total[:] = 0.0
        for name, flows in self.network.flows_at.items():
            if self.network.joint_of[name][0] == joint:
                k = self.network.joint_of[name][1]
                for flow in flows:
                    total[k] = total[k] - self.value((flow, 0))
        return total
