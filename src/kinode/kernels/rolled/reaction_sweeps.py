"""The passes over the full tree of a large system that give reactions; the last of them stores each as it is known.

They compute what ``multibody.instant_reactions`` does for a joint of the tree.  The static share balances gravity and
loads with all links at rest, the kinetic share has inertia alone (T-9.24) to (T-9.26).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.algebra.spatial import ZERO3, cross
from kinode.kernels.kernel_options import ReactionOptions
from kinode.kernels.rolled.rolled_programs import REACTION_NUMBERS, Sweeper, unpack
from kinode.kernels.rolled.tree_sweeps import StagedView, TracedLink, TreePass, Values
from kinode.model.base.frames import Resolve
from kinode.multibody.links import link_steps
from kinode.multibody.links.link_steps import Spatial
from kinode.structure.link_geometry import TreeLink
from kinode.structure.reversed_joint import Reversed

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
