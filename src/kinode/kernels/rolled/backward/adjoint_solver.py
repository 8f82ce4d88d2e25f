"""The motion of a large system with constraints, and the solution of the same equations for sensitivities.

With K = [M -G'; G 0] the motion is K (x, lam) = (tau - h, -bias).  A number that depends on x and lam, with the
sensitivities s and l, depends on the left sides e = M x + h - tau - G' lam and r = G x + bias through m and n:

    M m - G' nu = -s,   G m = l,   n = -nu

which is the same system with other right-hand sides: the factors of the motion serve (``constraint_passes.py``).
"""

from __future__ import annotations

import numpy as np

from kinode.algebra.scalars import Array
from kinode.kernels.derivatives.reverse_equations import EquationPlaces, EquationSolver
from kinode.kernels.kernel_options import Kernel
from kinode.kernels.rolled.closed_builder import ClosedBuilder
from kinode.kernels.rolled.constraint_passes import ClosedSweeper, Response, Results, is_free, without_bias
from kinode.kernels.rolled.rolled_builder import RolledBuilder
from kinode.kernels.rolled.rolled_elimination import copy_block
from kinode.kernels.rolled.tree_loops import TreeLoops
from kinode.kernels.rolled.tree_sweeps import StagedView, TracedLink, TreePass, Values
from kinode.multibody import link_steps
from kinode.structure.topology import Topology

SHARE_PASS, RESPONSE_PASS = 4, 5  # behind those of the motion


def make_solver(topology: Topology, places: EquationPlaces) -> EquationSolver:
    """The blocks of the motion, and those of the sensitivities."""
    return _SolverBuilder(topology, places).solver()


class _SolverBuilder(ClosedBuilder):
    """Builds the loops of a motion with added efforts and of its adjoint solution; ``work`` stands behind all else."""

    right_sides = 2

    def __init__(self, topology: Topology, places: EquationPlaces) -> None:
        super().__init__(topology, Kernel("acceleration"), adds_efforts=True, work_from=places.end)
        self.places = places

    def solver(self) -> EquationSolver:
        """All of it."""
        program, n = self.program(), self.topology.n_u
        *motion, shares, responses = program.blocks
        memory, (first, second), places = self.memory, self.vectors, self.places
        every = tuple(range(len(memory.tiles.tiles)))
        in_tiles, rows = memory.places(every, range(len(self._rows))), np.arange(len(self._rows))
        elimination = memory.eliminate(every)
        adjoint = [
            copy_block("work", places.of_unknowns + n + rows, second + in_tiles), shares,
            memory.subtract_shares(every, second, 1), elimination.solve(second), memory.load_joints(every, second, 1),
            responses, copy_block("work", second + in_tiles, places.of_residuals + n + rows, -1.0),
        ]  # fmt: skip
        motion.append(copy_block("work", first + in_tiles, places.unknowns + n + rows))
        return EquationSolver(motion, adjoint, program.constants, program.sizes["work"])

    def _find_loaded(self, loops: TreeLoops) -> None:
        RolledBuilder._find_loaded(self, loops)
        loops.loaded |= {"X", "w", "v", "A0"}  # what rows of constraints load; they are not traced to learn it

    def _extend(self, sweeper: ClosedSweeper, passes: list[TreePass], views: dict[str, tuple[str, np.ndarray]]) -> None:
        passes += [_adjoint_shares(), _adjoint_responses(sweeper)]
        topology, places = self.topology, self.places
        names = [node.joint.name for node in topology.tree.nodes]
        u = np.array([topology.u_of[name].start if name in topology.u_of else 0 for name in names], dtype=np.int64)
        views |= {
            "out_u": ("work", places.unknowns + u), "seed": ("work", places.of_unknowns + u),
            "adjoint_u": ("work", places.of_residuals + u), "adjoint_share": ("work", self.memory.joint_shares[1]),
        }  # fmt: skip


def _adjoint_shares() -> TreePass:
    """Inward: the shares of joints in efforts -s along their freedoms, with the factors of the motion."""
    name = {"p_adjoint": 6}

    def run(link: TracedLink, read: Values) -> Results:
        still, p, n = without_bias(link.local["kinematics"]), read["p_adjoint"], link.mechanics.n_u
        out: dict[str, Array] = {}
        if is_free(link):
            factor = link.local["factor"]
            share = -link.tape.inputs(StagedView("seed", SHARE_PASS), n) - still.S.T @ p
            p, out = p + factor.U @ (factor.D_inverse @ share), {"adjoint_share": share}
        if link.is_root:
            return {}, out
        return {"p_adjoint": np.concatenate(link_steps.lift_wrench(link.local["X_PF"], still, (p[:3], p[3:])))}, out

    return TreePass(False, name, name, run)


def _adjoint_responses(sweeper: ClosedSweeper) -> TreePass:
    """Outward: m of each joint."""
    base = sweeper.responses(RESPONSE_PASS, share="adjoint_share", to=Response.ACCELERATION, name="adjoint")

    def run(link: TracedLink, read: Values) -> Results:
        gives, out = base.run(link, read)
        m: dict[str, Array] = {"adjoint_u": out["out_u"]} if is_free(link) else {}  # type: ignore[dict-item]
        return gives, m

    return TreePass(True, base.reads, base.gives, run)
