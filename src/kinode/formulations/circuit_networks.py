"""Network components as equations of the circuit, with flows and rates as unknowns beside those of bodies and joints.

All levels but the last depend on states alone, and are solved as in ``network_condensation``.  The equations of the
last level are added to those of the circuit; the accelerations of joints are unknowns there.  Nothing is condensed: the
effort of a component on a joint is the flow at its port.  Blocks of the last level that others need in products and
functions (such as the voltage of a bus that an expression divides by) are solved beforehand too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.affine import Affine, NonlinearError
from kinode.algebra.scalars import Array, Scalar
from kinode.formulations.circuit_equations import CircuitEquations, unknowns
from kinode.multibody.network_condensation import Condensed

if TYPE_CHECKING:
    from kinode.formulations.circuit_equations import CircuitKinematics
    from kinode.structure.network_blocks import NetworkBlock


class Wired(Condensed):
    """The network of one evaluation, with its last level unsolved."""

    kinematics: CircuitKinematics

    def acceleration(self, joint: str, coordinate: int) -> Scalar:
        """The acceleration of a joint: known, or unknown as the circuit has it."""
        kinematics = self.kinematics
        if joint in kinematics.topology.cut_names:
            return unknowns(joint, "u_dot", kinematics.system.joints[joint].n_u)[coordinate]
        return kinematics.rates_of(kinematics.tree.nodes[kinematics.node_named[joint]])[coordinate]

    def solve(self) -> None:
        """Solve all levels but the last, once."""
        if not self._done:
            self._done = True
            last = len(self.network.stages) - 1
            self.solve_stages(range(last))
            self._leave_open(last)

    def _leave_open(self, last: int) -> None:
        """The affine forms of the last level; as few of its blocks are solved beforehand as linearity needs."""
        blocks = self.network.stages[last]
        solved: set[int] = set()
        self.forms: dict[int, list[Scalar]] = {}
        while len(self.forms) + len(solved) < len(blocks):
            self.solving = frozenset(x for b, block in enumerate(blocks) if b not in solved for x in block.unknowns)
            b = next(b for b in range(len(blocks)) if b not in solved and b not in self.forms)
            try:
                self.forms[b] = [self.sum(row) for row in blocks[b].rows]
            except NonlinearError as error:
                others = [order for order in error.unknowns if order not in blocks[b].unknowns]
                before = needed(blocks, others) - solved
                if not before or max(before) >= b:
                    self.forms[b] = [
                        self._form(row) for row in blocks[b].rows
                    ]  # raises an error that names the equation
                for number in sorted(before):
                    self.solve_block(last, number)
                solved |= before
                self.forms.clear()

    def wire(self, rows: CircuitEquations) -> None:
        """Add the equations of the last level, solved for its flows and rates."""
        self.solve()
        last = len(self.network.stages) - 1
        for b, forms in sorted(self.forms.items()):
            indices = rows.add(forms)
            for i, order in self.network.pivots(last, b):
                rows.solve_for([indices[i]], [Affine.unknown(order)])

    def along(self, joint: str) -> Array:
        """The effort of network components along a joint: minus their flows."""
        total = np.zeros(self.kinematics.system.joints[joint].n_u, dtype=object)
        total[:] = 0.0
        for name, flows in self.network.flows_at.items():
            if self.network.joint_of[name][0] == joint:
                k = self.network.joint_of[name][1]
                for flow in flows:
                    total[k] = total[k] - self.value((flow, 0))
        return total


def needed(blocks: Sequence[NetworkBlock], unknowns: Iterable[Any]) -> set[int]:
    """The blocks that solve for the unknowns, and all blocks that these need."""
    holder = {order: b for b, block in enumerate(blocks) for order in block.unknowns}
    numbers: set[int] = set()
    stack = [holder[order] for order in unknowns if order in holder]
    while stack:
        b = stack.pop()
        if b not in numbers:
            numbers.add(b)
            orders = (order for row in blocks[b].rows for order in (*row.terms, *row.rest_orders))
            stack += [holder[order] for order in orders if order in holder]
    return numbers
