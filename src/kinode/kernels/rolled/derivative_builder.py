"""Builds the program of derivatives of a large tree: passes over the links, then the loop over pairs of freedoms.

The passes (``derivative_sweeps.py``) leave the numbers of all freedoms in ``work``; ``derivative_loop.py`` makes the
matrix of them.  The kernel ``derivatives`` of "u_dot" gets added efforts and solves for the accelerations,
``derivatives_of_motion`` of "effort" gets the accelerations.
"""

from __future__ import annotations

import numpy as np

from kinode.algebra.scalars import Array
from kinode.algebra.trace import Tape
from kinode.jit.program import Finish, Program
from kinode.kernels.kernel_options import DerivativeOptions
from kinode.kernels.rolled import derivative_loop
from kinode.kernels.rolled.derivative_sweeps import N_FIELDS, DerivativeSweeper, Freedoms, order_freedoms
from kinode.kernels.rolled.rolled_builder import RolledBuilder
from kinode.kernels.rolled.tree_loops import straight_blocks
from kinode.kernels.rolled.tree_sweeps import TreePass


class DerivativeBuilder(RolledBuilder):
    """Builds the loop code of derivatives."""

    def world_values(self, name: str, tape: Tape) -> Array:
        """What the world gives to its children; in world axes its acceleration minus gravity is the same."""
        return super().world_values("A" if name == "A_W" else name, tape)

    def program(self) -> Program:
        """The whole program."""
        topology, tree = self.topology, self.topology.tree
        freedoms = order_freedoms(tree, dict(topology.u_of))
        assert isinstance(self.kernel.options, DerivativeOptions)
        solves = self.kernel.options.of == ("u_dot",)
        sweeper = DerivativeSweeper(
            poses=True, speeds=True, rates=False, given=None if solves else "x_u_dot", effort_out=False, added=solves
        )
        sweeper.count = count = len(freedoms.entries)
        passes: list[TreePass] = [sweeper.kinematics()]
        if solves:
            passes += [sweeper.factors(), sweeper.solved(self.largest_n_u)]
        passes += [sweeper.world_motion(len(passes)), sweeper.composites()]
        fields_at = self.work.allocate(N_FIELDS * count)
        views = {"freedoms": ("work", fields_at + freedoms.first_of)}
        constants: dict[str, np.ndarray] = {}
        loops = self._lay_out(self.loops, views, passes, constants, "a")
        table = self._table(freedoms, fields_at, solves)
        sizes = {**self.count, "work": self.work.size, "out": count * table[derivative_loop.COLUMNS]}
        blocks = [*straight_blocks(self.prelude_stores), *loops]
        finish = Finish(derivative_loop.tree_derivatives, tuple(table))
        return Program("kernel", sizes, constants, blocks, finish=finish)

    def _table(self, freedoms: Freedoms, fields_at: int, solves: bool) -> list[int]:
        """The table of the loop (``derivative_loop.py``): sizes, places in ``work``, lists by freedom and by slot."""
        count = len(freedoms.entries)
        assert isinstance(self.kernel.options, DerivativeOptions)
        words = [word for word, _ in self.kernel.options.by]
        starts = [words.index(word) * count if word in words else -1 for word in ("q", "u", "x")]
        permuted = freedoms.entries.tolist() != list(range(count))
        by_freedom, by_slot = find_runs(freedoms)
        matrix_at = self.work.allocate(count * count * len(words)) if permuted else 0
        panel_at = self.work.allocate(6 * derivative_loop.WIDTH) if solves else 0
        slots_at = self.work.allocate(6 * derivative_loop.WIDTH * len(by_slot[0])) if solves else 0
        head = [
            count,
            count * len(words),
            *starts,
            fields_at,
            matrix_at,
            panel_at,
            slots_at,
            int(solves),
            int(permuted),
        ]
        lists = [
            *(x.tolist() for x in freedoms[:4]),
            *by_freedom,
            *by_slot,
        ]
        at = derivative_loop.HEAD
        for values in lists:
            head.append(at)
            at += len(values)
        assert len(head) == derivative_loop.HEAD
        return head + [x for values in lists for x in values]


def find_runs(freedoms: Freedoms) -> tuple[list[list[int]], list[list[int]]]:
    """The runs of freedoms, each of which carries the next one alone or first.

    By freedom: the first freedom of its run; for the first one the slot of a run that is attached to another, else -1;
    the first slot that is attached to it, or -1.  By slot: the next one at the same freedom, or -1; the first freedom.
    """
    attached = [-1] * len(freedoms.entries)
    firsts: list[int] = []
    slots: list[int] = []
    following: list[int] = []
    slot_firsts: list[int] = []
    for i, parent in enumerate(freedoms.parents.tolist()):
        begins = i == 0 or parent != i - 1
        firsts.append(i if begins else firsts[-1])
        slots.append(-1)
        if begins and parent >= 0:
            slots[-1] = len(following)
            following.append(attached[parent])
            slot_firsts.append(i)
            attached[parent] = slots[-1]
    return [firsts, slots, attached], [following, slot_firsts]
