"""Builds loop code of quantities whose loads are shared by least norm, to be differentiated along a direction.

The changes by sharing are given.  Results are quantities with these changes, then the loads of all joints as the
independent rows give them, then frames and freedoms of all joints: what the changes follow from
(``dynamics/reactions/world_stiffness.py``).  Joints that are alike are loops.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from kinode.algebra.trace import Tape
from kinode.jit.program import Block, Store
from kinode.kernels.alike import roll_groups
from kinode.kernels.derivatives.derivative_outputs import count_joint_directions, count_results
from kinode.kernels.derivatives.shared_quantities import GivenChanges, find_shared
from kinode.kernels.kernel_options import DerivativeOptions, Kernel
from kinode.kernels.kernel_outputs import direction_sizes, flat, joint_directions
from kinode.kernels.rolled.closed_builder import ClosedBuilder
from kinode.model.quantities import find_quantity
from kinode.structure.topology import Topology


class SharedLoadBuilder(ClosedBuilder):
    """Builds the loop code; ``x`` has added efforts, then the changes.

    ``loads`` are the results that are loads of joints, whose values stand in ``work`` from ``loads_at`` on too.
    """

    def __init__(self, topology: Topology, options: DerivativeOptions) -> None:
        super().__init__(topology, Kernel("evaluate", options.of), adds_efforts=True)
        assert options.sharing is not None
        self.sharing, self.names = options.sharing, options.of
        start, count = count_results(topology, options), sum(topology.holding.values())
        self.loads, self.loads_at = range(start, start + count), self.work.allocate(count)
        self._end = self.loads.stop + count_joint_directions(topology)
        self._load_at = dict(zip(topology.holding, self.loads[::6], strict=True))
        sizes = direction_sizes(topology)
        starts = self.loads.stop + np.cumsum(sizes) - sizes
        self._direction_at = dict(zip(topology.system.joints, starts.tolist(), strict=True))

    def _results(self) -> tuple[list[Store], int]:
        """The stores of quantities; before the layout is known some joints are traced, to learn what they load."""
        tape, n = Tape(), self.topology.n_u
        snapshot = self.snapshot(tape, full=False)
        given = np.array([tape.input("x", n + k) for k in range(len(self.loads))], dtype=object)
        changed = GivenChanges(snapshot, self.sharing, given)
        values = [find_shared(snapshot, changed, find_quantity(snapshot.system, name)) for name in self.names]
        if not self.loops.is_laid_out:
            list(self._joint_stores(self._samples))
        return [("out", k, x) for k, x in enumerate(x for value in values for x in flat(value))], self._end

    @property
    def _samples(self) -> list[str]:
        """A joint of each kind in the tree, and of each among those that are cut."""
        system, cuts = self.topology.system, self.topology.cut_names
        return list({(joint.kind, name in cuts): name for name, joint in system.joints.items()}.values())

    def _joint_stores(self, names: Iterable[str]) -> Iterator[list[Store]]:
        """The stores of the loads and directions of each joint."""
        snapshot = self.snapshot(Tape(), full=False)
        for name in names:
            at, directions = self._load_at[name], self._direction_at[name]
            stores: list[Store] = []
            for k, x in enumerate(snapshot.holding(name)):
                stores += [("out", at + k, x), ("work", self.loads_at + at - self.loads.start + k, x)]
            yield stores + [("out", directions + k, x) for k, x in enumerate(joint_directions(snapshot, name))]

    def _forward_loops(self, constants: dict[str, np.ndarray]) -> list[Block]:
        blocks = super()._forward_loops(constants)
        return blocks + [*roll_groups(self._joint_stores(self.topology.system.joints), "joint", constants)]
