"""The kinematic steps of ``kn.explain``: relative motion, poles, velocities and accelerations, from the base outwards.

The recursion is that of R. Featherstone, Rigid Body Dynamics Algorithms (2008), chapter 5 (T-6.6), in the axes
of each body and about its pole.  The functions of ``link_steps`` are the ones that are compiled.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.algebra.spatial import ZERO3, Pose, RigidInertia, moved_motion
from kinode.model.joints.joint import coordinate_names
from kinode.model.system import System
from kinode.multibody import link_steps
from kinode.multibody.given import JointState
from kinode.multibody.link_steps import LinkKinematics
from kinode.multibody.snapshot import Snapshot
from kinode.structure.topology import Topology
from kinode.structure.tree import WORLD, TreeLink
from kinode.symbolic.explanation import Item, Step, Worksheet

TENSOR = ("xx", "xy", "xz", "yx", "yy", "yz", "zx", "zy", "zz")
COORDINATE_UNITS = {"angle": "rad", "length": "m", "dimensionless": "1"}


@dataclass(frozen=True, eq=False)
class ExplainedSystem:
    """What all steps work on: the system, one traced evaluation of it, and the sheet of formulas."""

    system: System
    topology: Topology
    sheet: Worksheet
    snapshot: Snapshot
    u_dot: Array

    @property
    def nodes(self) -> tuple[TreeLink, ...]:
        """The links of the spanning tree, each after its parent."""
        return self.topology.full.nodes

    def body_of(self, i: int) -> str:
        """The name of the body of a link."""
        return "world" if i == WORLD else self.nodes[i].bodies[0]


class InBodyAxes:
    """A joint that moves the axes of the body instead of those of the link; C rotates from body to link axes."""

    def __init__(self, mechanics: Any, C: Array) -> None:
        self.mechanics, self.C, self.n_u = mechanics, C, mechanics.n_u

    def transform(self, q: Array, form: Array) -> Pose:
        """Pose of the body's axes, at its pole, in the joint's frame on the body below."""
        X: Pose = self.mechanics.transform(q, form)
        return X @ Pose(self.C, ZERO3)

    def motion_subspace(self, q: Array, form: Array) -> Array:
        """Angular velocity of the body and velocity of its pole, in body axes, for unit speeds."""
        S = self.mechanics.motion_subspace(q, form)
        return np.vstack([self.C.T @ S[:3], self.C.T @ S[3:]])

    def rate_map(self, q: Array, u: Array) -> Array:
        """q_dot."""
        q_dot: Array = self.mechanics.rate_map(q, u)
        return q_dot


class MotionSteps:
    """The outward steps, in the order of the methods; each uses the symbols of the steps before it."""

    def __init__(self, explained: ExplainedSystem) -> None:
        self.explained = explained
        self.system, self.topology = explained.system, explained.topology
        self.sheet, self.snapshot, self.nodes = explained.sheet, explained.snapshot, explained.nodes

    def motion_laws(self) -> Step:
        """Coordinates of joints that are not in the state: functions of time, and gears."""
        items: list[Item] = []
        states: dict[str, JointState] = {}
        for node in self.nodes:
            self._joint_symbols(node.joint.name, states, items)
        self.snapshot = self._with_states(states)
        words = "The coordinates are those of the joints. Laws of time and gears say what is not free."
        self.joint_accelerations = self.snapshot.kinematics.scatter(self.explained.u_dot)
        for node in self.nodes:
            name = node.joint.name
            if name in self.topology.couplings and node.joint.n_u:
                self.joint_accelerations[node.index] = self._coordinate(
                    "u_dot", name, self.joint_accelerations[node.index], items
                )
        free = [c.name for c in self.topology.coordinates if c.role == "q"]
        note = f"Free: {', '.join(free)}." if free else "Nothing is free."
        return Step("Fix the relative motion", words, items=tuple(items), notes=(note,))

    def _with_states(self, states: Mapping[str, JointState]) -> Snapshot:
        """The same evaluation with symbols for the states of some joints."""
        return self.snapshot.again(replace(self.snapshot.given, joint_states=dict(states)), full=True)

    def _joint_symbols(self, name: str, states: dict[str, JointState], items: list[Item]) -> None:
        """Add the state of a joint that is not in the state, as symbols; the joints that lead it come first."""
        joint, coupling = self.system.joints[name], self.topology.couplings.get(name)
        if coupling is not None:
            self._joint_symbols(coupling.leader, states, items)
        if name in states or name in self.topology.q_of or not joint.n_u:
            return
        q, u, known = self._with_states(states).joint_state(name)
        q = q if name in self.topology.z_of else self._coordinate("q", name, q, items)
        u = self._coordinate("u", name, u, items)
        known = None if known is None else self._coordinate("u_dot", name, known, items)
        states[name] = (q, u, known)

    def _coordinate(self, letter: str, name: str, entries: Array, items: list[Item]) -> Array:
        names, kinds = coordinate_names(self.system.joints[name])
        if letter != "q":
            names, kinds = zip(*self.system.joints[name].coordinates)
        units = [COORDINATE_UNITS[kind] + {"q": "", "u": "/s", "u_dot": "/s^2"}[letter] for kind in kinds]
        parts = names if len(names) > 1 else ("",)
        item, passed = self.sheet.define(letter, name, entries, units, parts=parts)
        items.append(item)
        return passed

    # -- geometry ----------------------------------------------------------------------------------
    def axes(self, i: int) -> Array:
        """Rotation from the axes of a body to those of its link."""
        return self.snapshot.kinematics.geometry.bodies[self.explained.body_of(i)].R

    def _placement(self, node: TreeLink) -> Pose:
        """The joint's frame on the body below, in the axes of that body, from its pole."""
        X: Pose = Pose(self.axes(node.parent).T, ZERO3) @ self.snapshot.kinematics.geometry.placements[node.index]
        return X

    def poles(self) -> Step:
        geometry, items = self.snapshot.kinematics.geometry, []
        self.placements = [self._placement(node) for node in self.nodes]
        self.mechanics = [InBodyAxes(node.mechanics, self.axes(node.index)) for node in self.nodes]
        self.inertias: list[RigidInertia] = []
        self.steps: list[Pose] = []  # from body to body: the axes and pole of a body in those of the body below
        self.centers: list[Array] = []
        for node in self.nodes:
            i, body = node.index, self.explained.body_of(node.index)
            own = self.mechanics[i].transform(self.snapshot.kinematics.node_states[i][0], geometry.forms[i])
            step, C = self.placements[i] @ own, self.axes(i)
            self.steps.append(step)
            self.inertias.append(geometry.inertias[i].seen_from(Pose(C.T, ZERO3)))
            center = C.T @ self.snapshot.kinematics.locate_frame(self.system.find_frame(f"{body}.com"))[1].p
            items.append(self.sheet.show("d", body, step.p, "m"))
            items.append(self.sheet.show("A", body, step.R, "1", parts=TENSOR, columns=3))
            items.append(self.sheet.show("c", body, center, "m"))
            self.centers.append(center)
            items.append(self.sheet.show("J", body, self.inertias[i].J, "kg*m^2", parts=TENSOR, columns=3))
        words = (
            "d leads from the pole of the body below to the pole, in the axes of the body below; A turns from the "
            "body's axes to those of the body below; c leads from the pole to the mass center and J is the tensor "
            "about the pole, both in the body's own axes."
        )
        law = ("J = J_C + m (c.c 1 - c c')", r"J^O = J^C + m\,(c\cdot c\,1 - c\,c^T)")
        return Step("Poles and radius vectors", words, law, tuple(items))

    # -- outward -----------------------------------------------------------------------------------
    def _below(self, node: TreeLink, each: list[Array], base: Array = ZERO3) -> Array:
        return base if node.parent == WORLD else each[node.parent]

    def _has_center(self, i: int) -> bool:
        """Whether a body has a mass center apart from its pole."""
        mass, c = self.inertias[i].mass, self.centers[i]
        massive = not isinstance(mass, float) or mass != 0.0
        return massive and any(not isinstance(x, float) or x != 0.0 for x in c)

    def angular_velocities(self) -> Step:
        self.links: list[LinkKinematics] = []  # in body axes
        self.w: list[Array] = []
        items = []
        for node in self.nodes:
            i = node.index
            q, u, _ = self.snapshot.kinematics.node_states[i]
            form, w_P = self.snapshot.kinematics.geometry.forms[i], self._below(node, self.w)
            self.links.append(link_steps.move(self.mechanics[i], self.placements[i], form, q, u, w_P))
            item, w = self.sheet.define("w", self.explained.body_of(i), self.links[i].w, "rad/s")
            items.append(item)
            self.w.append(w)
        words = "Outward: a body turns with the one below and with its own joint; in its own axes,"
        law = ("w = A' w_below + e u", r"\omega_k = A_k^T \omega_{k-1} + e_k\,\dot\gamma_k")
        return Step("Angular velocities", words, law, tuple(items))

    def positions(self) -> Step:
        """Document 000, (3): radius vectors of poles and mass centers, from body to body."""
        items: list[Item] = []
        R: list[Array] = []
        r: list[Array] = []
        for node in self.nodes:
            i, body = node.index, self.explained.body_of(node.index)
            R_below, r_below = self._below(node, R, np.eye(3)), self._below(node, r)
            turned, R_own = self.sheet.define("R", body, R_below @ self.steps[i].R, "1", parts=TENSOR, columns=3)
            moved, r_own = self.sheet.define("r", body, r_below + R_below @ self.steps[i].p, "m")
            R.append(R_own)
            r.append(r_own)
            items += [turned, moved, self.sheet.show("rC", body, r_own + R_own @ self.centers[i], "m")]
        words = (
            "In world axes, of the pole (r) and of the mass center (rC); R turns from the body's axes to the world's."
        )
        law = (
            "R = R_below A\nr = r_below + R_below d = sum d,   rC = r + R c",
            r"R_k = R_{k-1}A_k,\quad r_{O_n} = r_{O_{n-1}} + R_{n-1}d_n = \sum_k d_k,\quad r_{C_n} = r_{O_n} + R_n c_n",
        )
        return Step("Positions", words, law, tuple(items))

    def velocities(self) -> Step:
        self.v: list[Array] = []
        items = []
        for node in self.nodes:
            i = node.index
            w_P, v_P = self._below(node, self.w), self._below(node, self.v)
            _, v = moved_motion(self.links[i].X, *moved_motion(self.placements[i], w_P, v_P))
            u = self.snapshot.kinematics.node_states[i][1]
            own = self.links[i].S[3:] @ u if node.joint.n_u else ZERO3
            item, v = self.sheet.define("v", self.explained.body_of(i), v + own, "m/s")
            items.append(item)
            self.v.append(v)
            if self._has_center(i):
                center = v + np.cross(self.w[i], self.centers[i])
                items.append(self.sheet.show("vC", self.explained.body_of(i), center, "m/s"))
        words = (
            "Of the poles (v) and mass centers (vC), in the axes of their bodies. w and v are the quasi-velocities of "
            "a body: linear in the speeds of the joints, and not the rates of any coordinates."
        )
        law = (
            "v = A' (v_below + w_below x d) + v_rel,   vC = v + w x c",
            r"v_k = A_k^T (v_{k-1} + \omega_{k-1}\times d_k) + v_k^{\mathrm{rel}},\quad "
            r"v_{C_k} = v_k + \omega_k\times c_k",
        )
        return Step("Velocities", words, law, tuple(items))

    def accelerations(self) -> Step:
        self.eps: list[Array] = []
        self.W: list[Array] = []
        items = []
        for node in self.nodes:
            i = node.index
            below = self._below(node, self.eps), self._below(node, self.W)
            A = link_steps.carry(self.placements[i], self.links[i], below)
            eps, W = link_steps.accelerate(self.links[i], A, self.joint_accelerations[i])
            for stem, x, unit, kept in (("eps", eps, "rad/s^2", self.eps), ("W", W, "m/s^2", self.W)):
                item, passed = self.sheet.define(stem, self.explained.body_of(i), x, unit)
                items.append(item)
                kept.append(passed)
            if self._has_center(i):
                w, c = self.w[i], self.centers[i]
                center = self.W[i] + np.cross(self.eps[i], c) + np.cross(w, np.cross(w, c))
                items.append(self.sheet.show("WC", self.explained.body_of(i), center, "m/s^2"))
        words = "Of the bodies' turning (eps), of their poles (W) and mass centers (WC), in their own axes:"
        law = (
            "eps = A' eps_below + e u_dot + (A' w_below) x e u\n"
            "W = A' (W_below + eps_below x d + w_below x (w_below x d)\n"
            "        + 2 w_below x v_rel + a_rel)\n"
            "WC = W + eps x c + w x (w x c)",
            r"\varepsilon_k = A_k^T\varepsilon_{k-1} + e_k\ddot\gamma_k "
            r"+ (A_k^T\omega_{k-1})\times e_k\dot\gamma_k,\quad "
            r"W_k = A_k^T\,[W_{k-1} + \varepsilon_{k-1}\times d_k + \omega_{k-1}\times(\omega_{k-1}\times d_k) "
            r"+ 2\omega_{k-1}\times v_k^{\mathrm{rel}} + a_k^{\mathrm{rel}}],\quad "
            r"W_{C_k} = W_k + \varepsilon_k\times c_k + \omega_k\times(\omega_k\times c_k)",
        )
        return Step("Accelerations", words, law, tuple(items))
