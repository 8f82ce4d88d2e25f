"""The passes of loop code over a tree with constraints, by articulated bodies and unit multipliers (T-4.12).

With M = L D L' in the sense of articulated bodies (D the inertia along each joint), every row of G goes inward once:

    Y = L^-1 G'                    a wrench F that passes inward through the links, S'F its share of each joint
    A = G M^-1 G' = Y' D^-1 Y      a sum over joints
    A lam = -bias - Y' D^-1 share,   share = L^-1 (tau - h)
    u_dot = L^-T D^-1 (share + Y lam)

What has to do with rows is in ``row_memory.py``.  Time and memory grow with the number of pairs of a link and a row
that passes through it.  tau - h is formed with the accelerations A0 of links for u_dot = 0, which the second rates of
the rows need as well.
"""

from __future__ import annotations

from enum import Enum

import numpy as np

from kinode.algebra.scalars import Array
from kinode.algebra.spatial import ZERO3, cross
from kinode.kernels.rolled.rolled_programs import Sweeper, pack_inertia, unpack_inertia
from kinode.kernels.rolled.tree_sweeps import Iterations, StagedView, TracedLink, TreePass, Values
from kinode.multibody.links import link_steps
from kinode.multibody.links.link_steps import LinkKinematics

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
