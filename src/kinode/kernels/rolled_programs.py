"""Programs for large trees: loops over a table of bodies instead of straight-line code.

The steps are those of multibody/links/link_steps.py, traced once for each kind of link.  Laws and elements are
straight-line code between the loops; they see the loops' results through a snapshot that loads them (rolled_motion.py).
What cannot be rolled (couplings of joints, friction, stops, brakes, networks) is written out in full, of any size.
"""

from __future__ import annotations

import numpy as np

from kinode.algebra.scalars import Array
from kinode.algebra.spatial import ZERO3, ArticulatedInertia, Pose, RigidInertia, moved_motion
from kinode.jit.program import Program
from kinode.kernels import kernel_programs
from kinode.kernels.kernel_options import Kernel
from kinode.kernels.kernel_table import find_row
from kinode.kernels.tree_size import is_large
from kinode.kernels.tree_sweeps import TracedLink, TreePass, Values
from kinode.multibody.composition import RECURSIVE, Composition
from kinode.multibody.links import link_steps
from kinode.multibody.links.link_steps import Spatial
from kinode.structure.topology import Topology


def make_program(topology: Topology, kernel: Kernel, formulation: Composition = RECURSIVE) -> Program:
    """The program of a kernel, rolled where the tree is large and the ``formulation`` the recursive one."""
    if not is_large(topology) or not find_row(kernel).rolled(kernel.options) or formulation is not RECURSIVE:
        return kernel_programs.make_program(topology, kernel, formulation)
    from kinode.kernels.rolled_builder import RolledBuilder

    return RolledBuilder(topology, kernel).program()


class Sweeper:
    """The passes over one tree, with the link's numbers unpacked."""

    def __init__(
        self, *, poses: bool, speeds: bool, rates: bool, given: str | None, effort_out: bool, added: bool
    ) -> None:
        self.poses, self.speeds, self.rates = poses, speeds, rates
        self.given = given  # view of given accelerations; "zero" for none at all
        self.effort_out, self.added = effort_out, added

    def kinematics(self) -> TreePass:
        """Outward: angular velocities, and poses and velocities where they are wanted."""
        gives = {"w": 3, **({"X": 12} if self.poses else {}), **({"v": 3} if self.speeds else {})}
        return TreePass(True, gives, gives, self._move)

    def _move(self, link: TracedLink, read: Values) -> tuple[Values, dict[str, Array]]:
        X_PF, form, inertia, stiffness, neutral, damping = unpack(link)
        driven = link.flags[0]
        mechanics = link.mechanics
        q = link.tape.inputs("dq" if driven else "q", mechanics.n_q)
        u = link.tape.inputs("du" if driven else "u", mechanics.n_u)
        moved = link_steps.move(mechanics, X_PF, form, q, u, read["w"])
        link.local.update(X_PF=X_PF, inertia=inertia, moved=moved)
        link.local["tau"] = -stiffness * (q - neutral) - damping * u if len(stiffness) == len(q) else -damping * u
        gives = {"w": moved.w}
        if self.poses:
            parent = Pose(read["X"][:9].reshape(3, 3), read["X"][9:])
            X = parent @ (X_PF @ moved.X)
            gives["X"] = np.concatenate([np.asarray(X.R, dtype=object).ravel(), X.p])
            link.local["X_W"] = X
        if self.speeds:
            _, v = moved_motion(moved.X, *moved_motion(X_PF, read["w"], read["v"]))
            gives["v"] = v + (moved.S[3:] @ u if mechanics.n_u else ZERO3)
            link.local["v"] = gives["v"]
        out = {"out_q": mechanics.rate_map(q, u)} if self.rates and not driven and mechanics.n_q else {}
        return gives, out

    def _tau(self, link: TracedLink, k: int) -> Array:
        n = link.mechanics.n_u
        tau = link.tape.inputs(f"tau {k}", n) if link.flags[1] else link.local["tau"]
        if self.added and not link.flags[0] and n:
            tau = tau + link.tape.inputs(f"xe {k}", n)
        return tau

    def _unloaded(self, link: TracedLink, wrench: Spatial, k: int) -> Spatial:
        """A wrench less the loads on the link."""
        if not link.flags[2]:
            return wrench
        load = link.tape.inputs(f"load {k}", 6)
        return wrench[0] - load[:3], wrench[1] - load[3:]

    def gather(self) -> TreePass:
        """Inward: articulated inertias."""
        sizes = {"I": 21, "p": 6}

        def run(link: TracedLink, read: Values) -> tuple[Values, dict[str, Array]]:
            moved, rigid = link.local["moved"], link.local["inertia"]
            inertia = rigid.articulated() + unpack_inertia(read["I"])
            moment, force = self._unloaded(link, link_steps.bias_wrench(rigid, moved.w), 1)
            p = (moment + read["p"][:3], force + read["p"][3:])
            if link.flags[0]:
                rest, push = link_steps.pass_on_driven(moved, inertia, p, link.tape.inputs("da", link.mechanics.n_u))
            else:
                g = link_steps.gather(moved.S, inertia, p, self._tau(link, 1))
                link.local["gathered"] = g
                rest, push = link_steps.pass_on(moved, inertia, p, g)
            if link.is_root:
                return {}, {}
            up = link_steps.lift_inertia(link.local["X_PF"], moved, rest)
            return {
                "I": pack_inertia(up),
                "p": np.concatenate(link_steps.lift_wrench(link.local["X_PF"], moved, push)),
            }, {}

        return TreePass(False, sizes, sizes, run)

    def accelerate(self, most: int, out: str | None, *, keep: bool) -> TreePass:
        """Outward: accelerations of joints and links."""
        gives = {"A": 6, **({"u_dot": most} if keep else {})}

        def run(link: TracedLink, read: Values) -> tuple[Values, dict[str, Array]]:
            moved, n = link.local["moved"], link.mechanics.n_u
            A = link_steps.carry(link.local["X_PF"], moved, (read["A"][:3], read["A"][3:]))
            driven = link.flags[0]
            u_dot = link.tape.inputs("da", n) if driven else link_steps.joint_acceleration(link.local["gathered"], A)
            result: Values = {}
            if not link.is_leaf or keep:
                result["A"] = np.concatenate(link_steps.accelerate(moved, A, u_dot))
            if keep:
                result["u_dot"] = u_dot
            return result, {out: u_dot} if out and not driven else {}

        return TreePass(True, {"A": 6}, gives, run)

    def require(self) -> TreePass:
        """Outward: accelerations of links from those of joints; the wrench that each link's own motion asks for."""

        def run(link: TracedLink, read: Values) -> tuple[Values, dict[str, Array]]:
            moved, n = link.local["moved"], link.mechanics.n_u
            A = link_steps.carry(link.local["X_PF"], moved, (read["A"][:3], read["A"][3:]))
            if link.flags[0]:
                u_dot = link.tape.inputs("da", n)
            else:
                u_dot = np.zeros(n) if self.given == "zero" else link.tape.inputs(f"{self.given} 1", n)
            A = link_steps.accelerate(moved, A, u_dot)
            link.local["need"] = link_steps.inertia_wrench(link.local["inertia"], moved.w, A)
            return {"A": np.concatenate(A)}, {}

        return TreePass(True, {"A": 6}, {"A": 6}, run)

    def collect(self) -> TreePass:
        """Inward: the wrench in every joint."""

        def run(link: TracedLink, read: Values) -> tuple[Values, dict[str, Array]]:
            moved = link.local["moved"]
            moment, force = self._unloaded(link, link.local["need"], 2)
            wrench = (moment + read["f"][:3], force + read["f"][3:])
            up = np.concatenate(link_steps.lift_wrench(link.local["X_PF"], moved, wrench))
            out: dict[str, Array] = {"keep_f": np.concatenate(wrench)}
            if self.effort_out and not link.flags[0] and link.mechanics.n_u:
                out = {"out_u": moved.S.T @ np.concatenate(wrench) - self._tau(link, 2)}
            elif self.effort_out:
                out = {}
            return ({} if link.is_root else {"f": up}), out

        return TreePass(False, {"f": 6}, {"f": 6}, run)

    def sums(self) -> TreePass:
        """Inward: kinetic energy, momentum, angular momentum, first moment and mass, in world axes."""

        def run(link: TracedLink, read: Values) -> tuple[Values, dict[str, Array]]:
            inertia, moved = link.local["inertia"], link.local["moved"]
            X, v = link.local["X_W"], link.local["v"]
            own = np.concatenate(link_steps.momentum_sums(inertia, moved.w, v, X))
            return {"sums": own + read["sums"]}, {}

        return TreePass(False, {"sums": 11}, {"sums": 11}, run)


def pack_numbers(X: Pose, form: Array, inertia: RigidInertia, laws: Array) -> Array:
    """All constants of a link in a row."""
    J = inertia.J
    tensor = [J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]
    parts = [np.asarray(X.R, dtype=object).ravel(), X.p, form, [inertia.mass], inertia.moment, tensor, laws]
    return np.concatenate([np.asarray(part, dtype=object) for part in parts])


def unpack(link: TracedLink) -> tuple[Pose, Array, RigidInertia, Array, Array, Array]:
    """Placement, form, inertia, stiffness, neutral and damping from a link's row."""
    x = link.numbers
    laws = 3 * link.mechanics.n_u
    end = len(x) - laws
    form, (mass, hx, hy, hz, xx, yy, zz, xy, xz, yz) = x[12 : end - 10], x[end - 10 : end]
    J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], dtype=object)
    inertia = RigidInertia(mass, np.array([hx, hy, hz], dtype=object), J)
    stiffness, neutral, damping = np.split(x[end:], 3)
    return Pose(x[:9].reshape(3, 3), x[9:12]), form, inertia, stiffness, neutral, damping


UPPER = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))


def pack_inertia(inertia: ArticulatedInertia) -> Array:
    """The 21 numbers of a symmetric 6x6 matrix."""
    J, M = ([block[i, j] for i, j in UPPER] for block in (inertia.J, inertia.M))
    return np.array([*J, *M, *np.asarray(inertia.H, dtype=object).ravel()], dtype=object)


def unpack_inertia(values: Array) -> ArticulatedInertia:
    """The blocks of 21 numbers."""
    J, M = np.empty((3, 3), dtype=object), np.empty((3, 3), dtype=object)
    for k, (i, j) in enumerate(UPPER):
        J[i, j] = J[j, i] = values[k]
        M[i, j] = M[j, i] = values[6 + k]
    return ArticulatedInertia(J, values[12:].reshape(3, 3), M)
