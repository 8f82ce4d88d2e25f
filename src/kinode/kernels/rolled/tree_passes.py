"""The mechanics of passes over a large tree: kinematics, accelerations, wrenches, momenta of one link, and reactions.

The steps are those of multibody/link_steps.py, traced once for each structure of link (``tree_sweeps.py``).

Reactions take passes over the full tree, of which every body is a link; the last of them stores each as it is known.
They compute what ``multibody.instant_reactions`` does for a joint of the tree.  The static share balances gravity and
loads with all links at rest, the kinetic share has inertia alone (T-9.24) to (T-9.26).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array, Scalar
from kinode.algebra.spatial import ZERO3, ArticulatedInertia, Pose, RigidInertia, cross, dot, moved_motion
from kinode.kernels.kernel_options import ReactionOptions
from kinode.kernels.rolled.tree_sweeps import Iterations, StagedView, TracedLink, TreePass, Values
from kinode.model.base.frames import Resolve
from kinode.multibody import link_steps
from kinode.multibody.link_steps import Spatial
from kinode.structure.tree import Reversed, TreeLink

ZERO_ACCELERATIONS = "zero"  # in place of a view of given accelerations


class Sweeper:
    """The passes over one tree.

    Parameters
    ----------
    poses, speeds : bool
        Whether poses of links, and velocities of their origins, are needed.
    rates : bool
        Whether the rates of the coordinates are results.
    given : str, optional
        The view of the given accelerations of inverse dynamics, or ``ZERO_ACCELERATIONS``.
    effort_out : bool
        Whether the efforts of the joints are results, and not the wrenches.
    added : bool
        Whether the argument ``x`` adds efforts.
    """

    def __init__(
        self, *, poses: bool, speeds: bool, rates: bool, given: str | None, effort_out: bool, added: bool
    ) -> None:
        self.poses, self.speeds, self.rates = poses, speeds, rates
        self.given = given
        self.effort_out, self.added = effort_out, added

    def kinematics(self) -> TreePass:
        """Outward: angular velocities, and poses and velocities if they are needed."""
        gives = {"w": 3, **({"X": 12} if self.poses else {}), **({"v": 3} if self.speeds else {})}
        return TreePass(True, gives, gives, self._kinematics_of)

    def _kinematics_of(self, link: TracedLink, read: Values) -> tuple[Values, dict[str, Array]]:
        """Kinematics of one link, and the effort of its joint's constant stiffness and damping."""
        X_PF, form, inertia, stiffness, neutral, damping = unpack(link)
        driven = link.flags.is_driven
        mechanics = link.mechanics
        q = link.tape.inputs("driven_q" if driven else "q", mechanics.n_q)
        u = link.tape.inputs("driven_u" if driven else "u", mechanics.n_u)
        kinematics = link_steps.move(mechanics, X_PF, form, q, u, read["w"])
        link.local.update(X_PF=X_PF, inertia=inertia, kinematics=kinematics)
        springs = -stiffness * (q - neutral) if len(stiffness) == len(q) else np.zeros(len(u))
        link.local["tau"] = springs - damping * u
        link.local["spring_energy"] = -0.5 * dot(springs, q - neutral) if len(q) and len(q) == len(u) else 0.0
        gives = {"w": kinematics.w}
        if self.poses:
            parent = Pose(read["X"][:9].reshape(3, 3), read["X"][9:])
            X = parent @ (X_PF @ kinematics.X)
            gives["X"] = np.concatenate([np.asarray(X.R, dtype=object).ravel(), X.p])
            link.local["X_W"] = X
        if self.speeds:
            _, v = moved_motion(kinematics.X, *moved_motion(X_PF, read["w"], read["v"]))
            gives["v"] = v + (kinematics.S[3:] @ u if mechanics.n_u else ZERO3)
            link.local["v"] = gives["v"]
        out = {"out_q": mechanics.rate_map(q, u)} if self.rates and not driven and mechanics.n_q else {}
        return gives, out

    def _tau(self, link: TracedLink, k: int) -> Array:
        """The effort of a joint, as pass k reads it."""
        n = link.mechanics.n_u
        tau = link.tape.inputs(StagedView("tau", k), n) if link.flags.has_effort else link.local["tau"]
        if self.added and not link.flags.is_driven and n:
            tau = tau + link.tape.inputs(StagedView("x_effort", k), n)
        return tau

    def _without_loads(self, link: TracedLink, wrench: Spatial, k: int) -> Spatial:
        """A wrench minus the loads on the link, as pass k reads them."""
        if not link.flags.has_load:
            return wrench
        load = link.tape.inputs(StagedView("load", k), 6)
        return wrench[0] - load[:3], wrench[1] - load[3:]

    def unaccelerated(self) -> TreePass:
        """Outward: accelerations of links for u_dot = 0 of the state, and the wrenches that they require."""

        def run(link: TracedLink, read: Values) -> tuple[Values, dict[str, Array]]:
            kinematics, n = link.local["kinematics"], link.mechanics.n_u
            A = link_steps.carry(link.local["X_PF"], kinematics, (read["A0"][:3], read["A0"][3:]))
            if link.flags.is_driven:
                A = link_steps.accelerate(kinematics, A, link.tape.inputs("driven_u_dot", n))
            link.local["A0"] = A
            link.local["required"] = link_steps.inertia_wrench(link.local["inertia"], kinematics.w, A)
            return {"A0": np.concatenate(A)}, {}

        return TreePass(True, {"A0": 6}, {"A0": 6}, run)

    def articulated_inertias(self) -> TreePass:
        """Inward: articulated inertias and bias wrenches."""
        sizes = {"I": 21, "p": 6}

        def run(link: TracedLink, read: Values) -> tuple[Values, dict[str, Array]]:
            kinematics, rigid = link.local["kinematics"], link.local["inertia"]
            inertia = rigid.articulated() + unpack_inertia(read["I"])
            moment, force = self._without_loads(link, link_steps.bias_wrench(rigid, kinematics.w), 1)
            p = (moment + read["p"][:3], force + read["p"][3:])
            if link.flags.is_driven:
                seen_inertia, seen_bias = link_steps.pass_on_driven(
                    kinematics, inertia, p, link.tape.inputs("driven_u_dot", link.mechanics.n_u)
                )
            else:
                factor = link_steps.gather(kinematics.S, inertia, p, self._tau(link, 1))
                link.local["factor"] = factor
                seen_inertia, seen_bias = link_steps.pass_on(kinematics, inertia, p, factor)
            if link.is_root:
                return {}, {}
            inertia_on_parent = link_steps.lift_inertia(link.local["X_PF"], kinematics, seen_inertia)
            return {
                "I": pack_inertia(inertia_on_parent),
                "p": np.concatenate(link_steps.lift_wrench(link.local["X_PF"], kinematics, seen_bias)),
            }, {}

        return TreePass(False, sizes, sizes, run)

    def accelerations(self, largest_n_u: int, out: str | None, *, keep: bool) -> TreePass:
        """Outward: accelerations of joints and links; ``keep`` leaves them for the code behind the loops."""
        gives = {"A": 6, **({"u_dot": largest_n_u} if keep else {})}

        def run(link: TracedLink, read: Values) -> tuple[Values, dict[str, Array]]:
            kinematics, n = link.local["kinematics"], link.mechanics.n_u
            A = link_steps.carry(link.local["X_PF"], kinematics, (read["A"][:3], read["A"][3:]))
            driven = link.flags.is_driven
            if driven:
                u_dot = link.tape.inputs("driven_u_dot", n)
            else:
                u_dot = link_steps.joint_acceleration(link.local["factor"], A)
            result: Values = {}
            if not link.is_leaf or keep:
                result["A"] = np.concatenate(link_steps.accelerate(kinematics, A, u_dot))
            if keep:
                result["u_dot"] = u_dot
            return result, {out: u_dot} if out and not driven else {}

        return TreePass(True, {"A": 6}, gives, run)

    def required_wrenches(self) -> TreePass:
        """Outward: accelerations of links from those of joints, and the wrench that each link's motion requires."""
        given = self.given
        assert given is not None, "the accelerations of joints are given"

        def run(link: TracedLink, read: Values) -> tuple[Values, dict[str, Array]]:
            kinematics, n = link.local["kinematics"], link.mechanics.n_u
            A = link_steps.carry(link.local["X_PF"], kinematics, (read["A"][:3], read["A"][3:]))
            if link.flags.is_driven:
                u_dot = link.tape.inputs("driven_u_dot", n)
            else:
                u_dot = np.zeros(n) if given == ZERO_ACCELERATIONS else link.tape.inputs(StagedView(given, 1), n)
            A = link_steps.accelerate(kinematics, A, u_dot)
            link.local["required"] = link_steps.inertia_wrench(link.local["inertia"], kinematics.w, A)
            return {"A": np.concatenate(A)}, {}

        return TreePass(True, {"A": 6}, {"A": 6}, run)

    def joint_wrenches(self) -> TreePass:
        """Inward: the wrench of every joint, or its effort."""

        def run(link: TracedLink, read: Values) -> tuple[Values, dict[str, Array]]:
            kinematics = link.local["kinematics"]
            moment, force = self._without_loads(link, link.local["required"], 2)
            wrench = (moment + read["f"][:3], force + read["f"][3:])
            on_parent = np.concatenate(link_steps.lift_wrench(link.local["X_PF"], kinematics, wrench))
            out: dict[str, Array] = {"joint_wrench": np.concatenate(wrench)}
            if self.effort_out and not link.flags.is_driven and link.mechanics.n_u:
                out = {"out_u": kinematics.S.T @ np.concatenate(wrench) - self._tau(link, 2)}
            elif self.effort_out:
                out = {}
            return ({} if link.is_root else {"f": on_parent}), out

        return TreePass(False, {"f": 6}, {"f": 6}, run)

    def momentum_sums(self) -> TreePass:
        """Inward: kinetic energy, momentum, angular momentum, first moment, mass, energy of springs, in world axes."""

        def run(link: TracedLink, read: Values) -> tuple[Values, dict[str, Array]]:
            inertia, kinematics = link.local["inertia"], link.local["kinematics"]
            X, v = link.local["X_W"], link.local["v"]
            own = np.concatenate(
                [*link_steps.momentum_sums(inertia, kinematics.w, v, X), [link.local["spring_energy"]]]
            )
            return {"sums": own + read["sums"]}, {}

        return TreePass(False, {"sums": LINK_SUMS}, {"sums": LINK_SUMS}, run)

    def frame_columns(self, n: int, nodes: np.ndarray) -> TreePass:
        """For each of some links: how unit speeds of its joint move a point that it carries; a matrix 6 x n."""

        def run(link: TracedLink, read: Values) -> tuple[Values, dict[str, dict[int, Scalar]]]:
            X, S = link.local["X_W"], link.local["kinematics"].S
            if link.flags.is_driven or not link.mechanics.n_u:
                return {}, {}
            arm = link.tape.inputs(StagedView("frame_point", 1), 3) - X.p
            entries: dict[int, Scalar] = {}
            for k, s in enumerate(np.asarray(S, dtype=object).T):
                w = X.R @ s[:3]
                column = np.concatenate([w, X.R @ s[3:] + cross(w, arm)])
                entries |= {r * n + k: x for r, x in enumerate(column)}
            return {}, {"out_u": entries}

        return TreePass(True, {}, {}, run, Iterations(nodes, {}))


LINK_SUMS = 12  # kinetic energy 1, momentum 3, angular momentum 3, first moment 3, mass 1, energy of springs 1
REACTION_NUMBERS = 10  # behind the others, where a reaction is a result


UPPER = [0, 4, 8, 1, 2, 5]  # entries of a symmetric 3x3 matrix, row by row: xx, yy, zz, xy, xz, yz


def pack_numbers(X: Pose, form: Array, inertia: RigidInertia, laws: Array) -> Array:
    """All constants of a link as one vector: placement, joint constants, inertia, stiffness, neutral, damping."""
    J = inertia.J
    if X.R.dtype == X.p.dtype == inertia.moment.dtype == J.dtype == laws.dtype == np.asarray(form).dtype == float:
        return np.concatenate([X.R.ravel(), X.p, form, [inertia.mass], inertia.moment, J.ravel()[UPPER], laws])
    tensor = [J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]
    parts = [np.asarray(X.R, dtype=object).ravel(), X.p, form, [inertia.mass], inertia.moment, tensor, laws]
    return np.concatenate([np.asarray(part, dtype=object) for part in parts])


def unpack(link: TracedLink) -> tuple[Pose, Array, RigidInertia, Array, Array, Array]:
    """Placement, joint constants, inertia, stiffness, neutral and damping of a link; see ``pack_numbers``."""
    x = link.numbers[: -REACTION_NUMBERS if link.flags.has_reaction else None]
    laws = 3 * link.mechanics.n_u
    end = len(x) - laws
    form, (mass, hx, hy, hz, xx, yy, zz, xy, xz, yz) = x[12 : end - 10], x[end - 10 : end]
    J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], dtype=object)
    inertia = RigidInertia(mass, np.array([hx, hy, hz], dtype=object), J)
    stiffness, neutral, damping = np.split(x[end:], 3)
    return Pose(x[:9].reshape(3, 3), x[9:12]), form, inertia, stiffness, neutral, damping


UPPER_ENTRIES = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))


def pack_inertia(inertia: ArticulatedInertia) -> Array:
    """The 21 independent numbers of a symmetric 6x6 matrix."""
    J, M = ([block[i, j] for i, j in UPPER_ENTRIES] for block in (inertia.J, inertia.M))
    return np.array([*J, *M, *np.asarray(inertia.H, dtype=object).ravel()], dtype=object)


def unpack_inertia(values: Array) -> ArticulatedInertia:
    """The matrix of 21 numbers; see ``pack_inertia``."""
    J, M = np.empty((3, 3), dtype=object), np.empty((3, 3), dtype=object)
    for k, (i, j) in enumerate(UPPER_ENTRIES):
        J[i, j] = J[j, i] = values[k]
        M[i, j] = M[j, i] = values[6 + k]
    return ArticulatedInertia(J, values[12:].reshape(3, 3), M)


SEEN = 12  # numbers of the point and the axes that reactions are converted to


def reaction_numbers(node: TreeLink, on: str | None, resolve: Resolve, nominal: Resolve) -> Array:
    """The given axes of a joint in its canonical axes, and the sign of the reaction on a body."""
    C = np.asarray(node.joint.axis_rotation(resolve, nominal), dtype=object)
    sign = -1.0 if on is not None and on == node.joint.a.body else 1.0
    return np.array([*C.ravel(), sign], dtype=object)


class ReactionSweeper(Sweeper):
    """The passes over the full tree; ``options`` of reactions that these store themselves, else None."""

    options: ReactionOptions | None = None

    @property
    def _part(self) -> str:
        return "total" if self.options is None else self.options.part

    def required_wrenches(self) -> TreePass:
        """Outward: accelerations of links, and the wrench that each requires for a share of the reactions."""
        base = super().required_wrenches()
        if self._part == "total":
            return base
        name = "gravity" if self._part == "static" else "A_kinetic"  # which is zero in the world

        def static(link: TracedLink, read: Values) -> tuple[Values, dict[str, Array]]:
            still = link.local["kinematics"]._replace(w=ZERO3, c_w=ZERO3, c_v=ZERO3)
            _, A = link_steps.carry(link.local["X_PF"], still, (ZERO3, read[name]))
            link.local["required"] = link_steps.inertia_wrench(link.local["inertia"], ZERO3, (ZERO3, A))
            return {name: A}, {}

        def kinetic(link: TracedLink, read: Values) -> tuple[Values, Any]:
            gives, out = base.run(link, {"A": read[name]})
            return {name: gives["A"]}, out

        size = {name: 3 if self._part == "static" else 6}
        return TreePass(True, size, size, static if self._part == "static" else kinetic)

    def _without_loads(self, link: TracedLink, wrench: Spatial, k: int) -> Spatial:
        """A wrench minus the loads on the link; inertia alone has none."""
        return wrench if self._part == "kinetic" else super()._without_loads(link, wrench, k)

    def reactions(self, *, keep: bool) -> TreePass:
        """Inward: the wrench of every joint, its reaction where it is a result; ``keep`` leaves the wrenches."""
        base = self.joint_wrenches()

        def run(link: TracedLink, read: Values) -> tuple[Values, dict[str, Array]]:
            gives, out = base.run(link, read)
            wrench = out["joint_wrench"]
            assert not isinstance(wrench, dict)
            stored = {"joint_wrench": wrench} if keep else {}
            if link.flags.has_reaction:
                assert self.options is not None
                stored["out_reaction"] = _reaction(link, wrench, self.options)
            return gives, stored

        return TreePass(base.outward, base.reads, base.gives, run)


def _reaction(link: TracedLink, wrench: Array, options: ReactionOptions) -> Array:
    """Force and moment of a joint, from the wrench on its link about the link's origin, in link axes."""
    mechanics, kinematics = link.mechanics, link.local["kinematics"]
    C = link.numbers[-REACTION_NUMBERS:-1].reshape(3, 3)
    if mechanics.n_u and not options.whole:
        q = link.tape.inputs("driven_q" if link.flags.is_driven else "q", mechanics.n_q)
        T = mechanics.effort_wrench(q, unpack(link)[1])
        wrench = wrench - T @ (kinematics.S.T @ wrench)
    moment, force = wrench[:3], wrench[3:]
    p, R_F = ZERO3, kinematics.X.R  # of b's joint point, and to the axes of the parent's joint frame
    if isinstance(mechanics, Reversed):  # the link is a and its axes are F's; b takes the opposite
        p, R_F = kinematics.X.inverse().p, np.eye(3)
        moment, force = cross(p, force) - moment, -force
    if options.about is not None:
        X, point = link.local["X_W"], link.tape.inputs(StagedView("seen", 2), 3)
        moment = moment + cross(p + X.R.T @ (X.p - point), force)
    back: Callable[[Array], Array] = lambda x: C @ (R_F @ x)  # noqa: E731
    if options.axes is not None:
        X, axes = link.local["X_W"], link.tape.inputs(StagedView("seen", 2), SEEN)[3:].reshape(3, 3)
        back = lambda x: axes.T @ (X.R @ x)  # noqa: E731
    sign = link.numbers[-1]
    return np.concatenate([sign * back(force), sign * back(moment)])
