"""The passes of loop code over a tree with constraints, by articulated bodies and unit multipliers (T-4.12); and the
blocks behind the kinematics that close loops: pose errors of cut joints, residuals, rates and loads of all rows.

With M = L D L' in the sense of articulated bodies (D the inertia along each joint), every row of G goes inward once:

    Y = L^-1 G'                    a wrench F that passes inward through the links, S'F its share of each joint
    A = G M^-1 G' = Y' D^-1 Y      a sum over joints
    A lam = -bias - Y' D^-1 share,   share = L^-1 (tau - h)
    u_dot = L^-T D^-1 (share + Y lam)

What has to do with rows is in ``constraint_rows.py``.  Time and memory grow with the number of pairs of a link and a
row that passes through it.  tau - h is formed with the accelerations A0 of links for u_dot = 0, which the second rates
of the rows need as well.  Loops over links and cut joints, or links and rows, multiply axes and loads by the freedoms
of links.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

from kinode.algebra.scalars import Array
from kinode.algebra.spatial import ZERO3, cross
from kinode.algebra.trace import Tape
from kinode.jit.program import Block, Store
from kinode.kernels.rolled.constraint_rows import PassingRows, carried_frames, carried_wrenches, unit_wrenches
from kinode.kernels.rolled.repeated_cuts import CutGroup, CutKinematics, RepeatedCuts, Trace, Views
from kinode.kernels.rolled.tree_loops import straight_blocks
from kinode.kernels.rolled.tree_passes import Sweeper, pack_inertia, unpack_inertia
from kinode.kernels.rolled.tree_sweeps import Iterations, StagedView, TracedLink, TreePass, Values
from kinode.model.base.frames import Frame
from kinode.model.system import joint_frame
from kinode.multibody import link_steps, loop_constraints
from kinode.multibody.dependent_joints import AXES, HEAD, PoseError, n_cut_coordinates
from kinode.multibody.kinematics import SIDES, Kinematics
from kinode.multibody.link_steps import LinkKinematics
from kinode.multibody.loop_constraints import CutJointConstraint, LoopConstraint, carriers_of, freedoms_of

if TYPE_CHECKING:
    from kinode.kernels.rolled.rolled_builder import RolledBuilder


Results = tuple[Values, dict[str, Array]]
NOTHING: dict[str, int] = {}


class Response(Enum):
    """What the response of joints to their shares is."""

    ACCELERATION = "accelerations of the state"
    STEP_OF_Q = "a step from q"
    STEP_OF_U = "a step from u"


class ClosedSweeper(Sweeper):
    """The passes over one tree with constraints; ``k`` is the number of a pass among those of its layout."""

    def factors(self, k: int, *, moving: bool) -> TreePass:
        """Inward: factors of articulated inertias; if ``moving``, with the shares of tau - h in ``joint_share``."""
        sizes = {"I": 21, **({"p": 6} if moving else {})}

        def run(link: TracedLink, read: Values) -> Results:
            still, X_PF = without_bias(link.local["kinematics"]), link.local["X_PF"]
            inertia = link.local["inertia"].articulated() + unpack_inertia(read["I"])
            n, driven = link.mechanics.n_u, link.flags.is_driven
            p, tau = (ZERO3, ZERO3), np.zeros(n)
            if moving:
                moment, force = self._without_loads(link, link.local["required"], k)
                p = (moment + read["p"][:3], force + read["p"][3:])
                tau = tau if driven else self._tau(link, k)
            out: dict[str, Array] = {}
            if driven:
                seen_inertia, seen_bias = inertia, p
            else:
                factor = link_steps.gather(still.S, inertia, p, tau)
                link.local["factor"] = factor
                seen_inertia, seen_bias = link_steps.pass_on(still, inertia, p, factor)
                out = {"joint_share": factor.share} if moving else {}
                if is_free(link):
                    out["fields"] = self._fields(link, k)
            if link.is_root:
                return {}, out
            gives = {"I": pack_inertia(link_steps.lift_inertia(X_PF, still, seen_inertia))}
            if moving:
                gives["p"] = np.concatenate(link_steps.lift_wrench(X_PF, still, seen_bias))
            return gives, out

        return TreePass(False, sizes, sizes, run)

    def _fields(self, link: TracedLink, k: int) -> Array:
        """S and U of a joint, in world axes about the point of the rows' wrenches, and D^-1."""
        X, S, factor = link.local["X_W"], link.local["kinematics"].S, link.local["factor"]
        arm = X.p - link.tape.inputs(StagedView("reference", k), 3)
        columns: list[Array] = []
        for s in np.asarray(S, dtype=object).T:
            w = X.R @ s[:3]
            columns += [w, X.R @ s[3:] + cross(arm, w)]
        for u in np.asarray(factor.U, dtype=object).T:
            force = X.R @ u[3:]
            columns += [X.R @ u[:3] + cross(arm, force), force]
        return np.concatenate([*columns, np.asarray(factor.D_inverse, dtype=object).ravel()])

    def responses(self, k: int, *, share: str, to: Response | None, name: str = "response", keep: int = 0) -> TreePass:
        """Outward: what the shares of joints in the view ``share`` do to the speeds of joints.

        ``to`` says what becomes of it.  ``name`` is that of the links' response.  With ``keep``, the largest number of
        freedoms of a joint, accelerations of links and joints are left for the code behind the loops.
        """
        gives = {name: 6, **({"A": 6, "u_dot": keep} if keep else {})}

        def run(link: TracedLink, read: Values) -> Results:
            still, n = without_bias(link.local["kinematics"]), link.mechanics.n_u
            A = link_steps.carry(link.local["X_PF"], still, (read[name][:3], read[name][3:]))
            out: dict[str, Array] = {}
            if link.flags.is_driven:
                u_dot = link.tape.inputs("driven_u_dot", n)
            else:
                factor = link.local["factor"]._replace(share=link.tape.inputs(StagedView(share, k), n))
                u_dot = link_steps.joint_acceleration(factor, A)
                A = link_steps.accelerate(still, A, u_dot)
                out = _moved(link, to, u_dot)
            result = {} if link.is_leaf else {name: np.concatenate(A)}
            if keep:
                result |= {"A": np.concatenate([a + b for a, b in zip(A, link.local["A0"], strict=True)])}
                result |= {"u_dot": u_dot}
            return result, out

        return TreePass(True, {name: 6}, gives, run)

    # -- rows of constraints without dynamics ------------------------------------------------------
    def row_entries(self, k: int, pairs: Iterations) -> TreePass:
        """For each pair: the entries of the row for the freedoms of the link's joint."""

        def run(link: TracedLink, read: Values) -> Results:
            X, S = link.local["X_W"], link.local["kinematics"].S
            if not is_free(link):
                return {}, {}
            load = link.tape.inputs(StagedView("carried", k), 6)
            moment, force = load[:3] - cross(X.p, load[3:]), load[3:]
            return {}, {"entries": S.T @ np.concatenate([X.R.T @ moment, X.R.T @ force])}

        return TreePass(True, NOTHING, NOTHING, run, pairs)

    def pose_columns(self, k: int, pairs: Iterations) -> TreePass:
        """For each link and cut joint that it moves: how unit speeds of the link's joint change the pose error."""

        def run(link: TracedLink, read: Values) -> Results:
            X, S = link.local["X_W"], link.local["kinematics"].S
            if not is_free(link):
                return {}, {}
            axes = link.tape.inputs(StagedView("cut_axes", k), 21)
            turn, shift, p = axes[:9].reshape(3, 3), axes[9:18].reshape(3, 3), axes[18:]
            columns: list[Array] = []
            for s in np.asarray(S, dtype=object).T:
                w, v = X.R @ s[:3], X.R @ s[3:]
                columns += [turn @ w, shift @ (v + cross(w, p - X.p))]
            return {}, {"entries": np.concatenate(columns)}

        return TreePass(True, NOTHING, NOTHING, run, pairs)


def _moved(link: TracedLink, to: Response | None, step: Array) -> dict[str, Array]:
    """What the response of a joint adds to the results."""
    q, u = (link.tape.inputs(name, n) for name, n in (("q", link.mechanics.n_q), ("u", link.mechanics.n_u)))
    match to:
        case Response.ACCELERATION:
            return {"out_u": step}
        case Response.STEP_OF_Q:
            return {"out_q": q + link.mechanics.rate_map(q, step)}
        case Response.STEP_OF_U:
            return {"out_u": u + step}
    return {}


def is_free(link: TracedLink) -> bool:
    """Whether the speeds of the link's joint are entries of the state."""
    return bool(link.mechanics.n_u) and not link.flags.is_driven


def without_bias(kinematics: LinkKinematics) -> LinkKinematics:
    """The link at rest: its bias accelerations are zero."""
    return kinematics._replace(c_w=ZERO3, c_v=ZERO3)


Pairs = list[tuple[int, int, int]]
"""Node, index of its load or axes in ``work``, and index of the first entry in ``out``."""


class ClosureBlocks:
    """The blocks of one kernel: of pose errors, of all rows, or of both."""

    def __init__(self, builder: RolledBuilder, *, has_poses: bool, has_rows: bool) -> None:
        self.topology, self.work, self.loops = builder.topology, builder.work, builder.loops
        self._snapshot, self._has_poses, self._has_rows = builder.snapshot, has_poses, has_rows
        self._cuts = RepeatedCuts(builder, PassingRows(self._kinematics(Tape()), None))
        self._axes_at = self.work.allocate(2 * AXES * len(self.topology.cuts)) if has_poses else 0
        self._load_places: dict[tuple[str, tuple[str, ...]], int] = {}

    @property
    def constants(self) -> dict[str, np.ndarray]:
        """The tables of cut joints."""
        return self._cuts.constants

    def _kinematics(self, tape: Tape) -> Kinematics:
        return self._snapshot(tape, full=False).kinematics

    def find(self) -> tuple[list[Block], list[Pairs], int]:
        """The blocks, the pairs of each kind, and the size of ``out``; what is read of loops is noted as loaded."""
        blocks, pairs, size = list[Block](), list[Pairs](), 0
        for find, wanted in ((self._pose_blocks, self._has_poses), (self._closure_blocks, self._has_rows)):
            if wanted:
                pairs.append([])
                found, size = find(pairs[-1], size)
                blocks += found
        return blocks, pairs, size

    def _closure_blocks(self, entries: Pairs, start: int) -> tuple[list[Block], int]:
        """The blocks of residuals, rates and loads, from some place in ``out`` on, and the size of ``out``.

        ``entries`` gets node, index of its load in ``work`` and index of the first entry in ``out`` of each pair.
        """
        kinematics, cuts = self._kinematics(Tape()), self._cuts
        counts = [len(constraint.units) for constraint in cuts.rows.constraints]
        first = start + np.cumsum(counts) - counts
        out = start + 2 * sum(counts)
        for constraint in cuts.rows.constraints:
            carried = carried_frames(kinematics, constraint)
            at = {frames: self._loads_at(constraint, frames) for frames in dict.fromkeys(carried.values())}
            n_columns = sum(kinematics.tree.nodes[i].joint.n_u for i in carried)
            for k in range(len(constraint.units)):
                here = out + k * n_columns
                for i, frames in carried.items():
                    entries.append((i, at[frames] + 6 * k, here))
                    here += kinematics.tree.nodes[i].joint.n_u
            out += len(constraint.units) * n_columns
        return [
            *straight_blocks(self._closure_alone(kinematics, first, sum(counts))),
            *self._closure_loops(first, sum(counts)),
        ], out

    def _loads_at(self, constraint: LoopConstraint, frames: tuple[Frame, ...]) -> int:
        """The index in ``work`` of the loads of a constraint's rows on some of its frames."""
        key = constraint.name, tuple(map(str, frames))
        if key not in self._load_places:
            self._load_places[key] = self.work.allocate(6 * len(constraint.units))
        return self._load_places[key]

    def _closure_alone(self, kinematics: Kinematics, first: np.ndarray, count: int) -> list[Store]:
        """The stores of residuals, rates and loads of constraints outside of loops."""
        cuts, stores = self._cuts, list[Store]()
        number = {id(constraint): k for k, constraint in enumerate(cuts.rows.constraints)}
        for behind, function in ((0, loop_constraints.residual), (count, loop_constraints.drift)):
            for constraint, values in zip(cuts.alone, function(kinematics, cuts.alone), strict=True):
                at = int(first[number[id(constraint)]]) + behind
                stores += [("out", at + k, x) for k, x in enumerate(values)]
        for constraint in cuts.alone:
            for frames, wrenches in carried_wrenches(kinematics, constraint).items():
                at = self._loads_at(constraint, frames)
                stores += [("work", at + k, x) for k, x in enumerate(wrenches.ravel())]
        return stores

    def _closure_loops(self, first: np.ndarray, count: int) -> Iterator[Block]:
        """The same of cut joints in loops."""

        def trace(kinematics: CutKinematics, cut: CutJointConstraint) -> Iterator[Store]:
            for view, function in (("residual", loop_constraints.residual), ("rate", loop_constraints.drift)):
                yield from ((view, k, x) for k, x in enumerate(function(kinematics, [cut])[0]))
            for side, (_, wrenches) in zip(SIDES, unit_wrenches(kinematics, cut, ZERO3), strict=True):
                yield from ((side, k, x) for k, x in enumerate(wrenches.ravel()))

        for group in self._cuts.groups:
            at = first[group.members]
            views = {"residual": ("out", at), "rate": ("out", at + count)}
            for side in SIDES:
                joints = (self.topology.cuts[number].joint for number in group.members.tolist())
                ends = zip(
                    self._cuts.constraints_of(group), (joint_frame(joint, side) for joint in joints), strict=True
                )
                places = [self._loads_at(one, (frame,)) for one, frame in ends]
                views[side] = "work", np.array(places, dtype=np.int64)
            yield from self._loop_over(group, trace, views)

    def _loop_over(self, group: CutGroup, trace: Trace, views: Views) -> Iterator[Block]:
        """The loop over cut joints; before the loops over links are laid out, what it reads is noted."""
        if self.loops.is_laid_out:
            yield self._cuts.block(group, self.loops, trace, views)
        else:
            self._cuts.trace(group, self.loops, trace)

    def _pose_blocks(self, entries: Pairs, out: int) -> tuple[list[Block], int]:
        """The blocks of errors and axes, and the size of ``out``; ``entries`` as in ``_closure_blocks``."""
        tape = Tape()
        kinematics, x = self._kinematics(tape), tape.inputs("x", n_cut_coordinates(self.topology))
        grouped = {k for group in self._cuts.groups for k in group.members.tolist()}
        stores: list[Store] = []
        axes_at, start, places = self._axes_at, 0, list[tuple[int, int, int, int]]()
        for number, cut in enumerate(self.topology.cuts):
            head, tail = out, 0
            out += HEAD
            child = carriers_of(kinematics, joint_frame(cut.joint, "child"))
            for i in dict.fromkeys(i for i, _, _, _ in freedoms_of(kinematics, CutJointConstraint(cut))):
                entries.append((i, axes_at + (0 if i in child else AXES), out))
                out += 6 * kinematics.tree.nodes[i].joint.n_u
            tail, out = out, out + 6 * cut.joint.n_u
            if number not in grouped:
                error = PoseError(kinematics, cut.joint, x[start : start + cut.joint.n_q])
                for array, at, values in (
                    ("out", head, error.head),
                    ("out", tail, error.tail),
                    ("work", axes_at, error.both_axes),
                ):
                    stores += [(array, at + k, value) for k, value in enumerate(values)]
            places.append((head, tail, axes_at, start))
            start += cut.joint.n_q
            axes_at += 2 * AXES
        return [*straight_blocks(stores), *self._pose_loops(np.array(places, dtype=np.int64).reshape(-1, 4))], out

    def _pose_loops(self, places: np.ndarray) -> Iterator[Block]:
        """The same of cut joints in loops; ``places`` has those of head, tail, axes and coordinates of each."""

        def trace(kinematics: CutKinematics, cut: CutJointConstraint) -> Iterator[Store]:
            error = PoseError(kinematics, cut.joint, kinematics.tape.inputs("cut_q", cut.joint.n_q))
            for view, values in (("head", error.head), ("tail", error.tail), ("axes", error.both_axes)):
                yield from ((view, k, value) for k, value in enumerate(values))

        for group in self._cuts.groups:
            head, tail, axes, q = places[group.members].T
            views = {"head": ("out", head), "tail": ("out", tail), "axes": ("work", axes), "cut_q": ("x", q)}
            yield from self._loop_over(group, trace, views)
