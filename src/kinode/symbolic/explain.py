"""The algorithm that builds the equations, step by step, for a given system: ``kn.explain``.

The steps are those of SPEC 1.3, and the functions that take them are those that are compiled (link_steps.py): outward
for turning, velocities and accelerations [0.6], body by body for what inertia asks for [0.7], inward for what joints
pass on [0.9], along the freedoms for the equations [0.10].  Each body is seen in its own axes, about its pole, which is
where its joint holds it; the formulas of a body hold the symbols of the body below, so that they stay short for any
number of tiers.  Loops are the tree that is left when they are cut open, and the forces of the constraints that close
them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array, tidy
from kinode.algebra.spatial import ZERO3, Pose, RigidInertia, moved_motion
from kinode.dynamics.compile import Dynamics
from kinode.errors import ArgumentError
from kinode.formulations.formulation_table import FORMULATIONS, InstantValues
from kinode.kernels.state import State
from kinode.model.base.fields import short
from kinode.model.quantity_names import coordinate_names
from kinode.model.system import System
from kinode.multibody.links import link_steps
from kinode.multibody.links.link_steps import LinkKinematics, Spatial
from kinode.multibody.restraints import loop_constraints
from kinode.multibody.snapshot import Snapshot
from kinode.structure.link_geometry import WORLD, TreeLink
from kinode.symbolic.explanation import Explanation, Step
from kinode.symbolic.notation import Notation, chosen_rows
from kinode.symbolic.traced_derivation import friction_of
from kinode.symbolic.worksheet import Item, Worksheet

TENSOR = ("xx", "xy", "xz", "yx", "yy", "yz", "zx", "zy", "zz")
UNITS = {"angle": "rad", "length": "m", "dimensionless": "1"}
EFFORTS = {"angle": "N*m", "length": "N"}
EQUATION = 150  # operations of an equation of motion that is written out


def explain(system: System, at: Mapping[str, Any] | State | None = None) -> Explanation:
    """How the equations of a system come about: vectors and equations of each body, as text, LaTeX and HTML.

    The numbers beside the formulas are those of the initial state, or of the state ``at`` that is given by name.
    """
    if not isinstance(system, System):
        raise ArgumentError(f"explain: a System is expected, not {short(system)}; kn.load reads one from a file")
    return Explainer(system, at).explain()


class InBodyAxes:
    """A joint as it moves a body's own axes instead of the link's: C is the rotation from body to link axes."""

    def __init__(self, mechanics: Any, C: Array) -> None:
        self.mechanics, self.C, self.n_u = mechanics, C, mechanics.n_u

    def transform(self, q: Array, form: Array) -> Pose:
        """Pose of the body's axes, at its pole, in the joint's frame on the body below."""
        X: Pose = self.mechanics.transform(q, form)
        return X @ Pose(self.C, ZERO3)

    def motion_subspace(self, q: Array, form: Array) -> Array:
        """Velocity of the pole and turning of the body, in its own axes, for unit speeds."""
        S = self.mechanics.motion_subspace(q, form)
        return np.vstack([self.C.T @ S[:3], self.C.T @ S[3:]])

    def rate_map(self, q: Array, u: Array) -> Array:
        """q_dot."""
        found: Array = self.mechanics.rate_map(q, u)
        return found


class Explainer:
    """One derivation; ``explain`` walks its steps."""

    def __init__(self, system: System, at: Mapping[str, Any] | State | None) -> None:
        self.dynamics = Dynamics(system)
        self.system, self.topology = self.dynamics.system, self.dynamics.topology
        self.state = self.dynamics.state(at)
        self.plain = self.dynamics.snapshot(self.state)
        self.sheet = Worksheet(Notation(self.topology), self._known())
        if not self.topology.layout.quaternions:  # speeds are rates of coordinates
            self.sheet.dotted.update({"u": ("q", 1), "u_dot": ("q", 2)})
        tape, friction = self.sheet.tape, friction_of(self.topology, self.sheet.tape)
        self.u_dot = tape.inputs("u_dot", self.topology.n_u)
        self.snapshot = Snapshot(
            self.topology, self.topology.layout.traced_point(tape), u_dot=self.u_dot, friction=friction, full=True
        )
        if self.topology.constrained:
            self.snapshot.multipliers = tape.inputs("lam", len(chosen_rows(self.topology)))
        self.nodes = self.topology.full.nodes
        self.body = {node.index: node.bodies[0] for node in self.nodes} | {WORLD: "world"}

    def _known(self) -> dict[str, Array]:
        """The numbers of the state, of the accelerations, and of what constraints and friction hold with."""
        s, plain = self.state, self.plain
        rough = [plain.friction_efforts.get(n, np.zeros(j.n_u)) for n, j in self.system.joints.items() if j.friction]
        return {
            "t": np.array([s.t]), "q": s.q, "u": s.u, "z": s.z, "p": plain.p, "inputs": plain.inputs,
            "u_dot": plain.u_dot, "friction": np.concatenate(rough) if rough else np.empty(0),
            "lam": plain.constraints.multipliers if self.topology.constrained else np.empty(0),
        }  # fmt: skip

    def explain(self) -> Explanation:
        """All steps in their order; later ones use the symbols of earlier ones."""
        found = [self._bodies(), self._motion_laws(), self._poles(), self._turning(), self._positions()]
        found += [self._velocities(), self._accelerations()]
        if self.topology.constrained:
            found.append(self._closing())
        found += [
            self._inertia(),
            self._balances(),
            self._elimination(),
            self._drives(),
            self._equations(),
            self._check(),
        ]
        return Explanation(self.system, self.topology, self.sheet.notation, tuple(found), self.state.t)

    # -- what there is -----------------------------------------------------------------------------
    def _bodies(self) -> Step:
        rows = []
        for node in self.nodes:
            body, joint = self.body[node.index], node.joint
            mass = self.system.bodies[body].rigid_inertia(self.plain.resolve).mass
            kind = f"{joint.kind}, {self._role(joint.name)}"
            rows.append((body, f"{float(mass):.6g}", self.body[node.parent], joint.name, kind))
        rows += [(b, "", a, joint.name, "fixed to the world") for joint, a, b in self.topology.full.ground]
        words = "The system is taken apart into its bodies. Each is carried by a joint, whose point is its pole."
        notes = []
        if self.topology.cuts:
            names = ", ".join(self.topology.cut_names)
            notes.append(f"Loops are cut open at {names}; the forces there come in as those of constraints.")
        return Step("Decompose", words, table=(("body", "mass kg", "carried by", "joint", "kind"), tuple(rows)),
                    notes=tuple(notes))  # fmt: skip

    def _role(self, name: str) -> str:
        joint = self.system.joints[name]
        if not joint.n_u:
            return "no freedom"
        if name in self.topology.couplings:
            return f"geared to {self.topology.couplings[name].leader}"
        return "prescribed" if joint.driven else "free"

    def _motion_laws(self) -> Step:
        """Coordinates of the joints that are no state: laws of time, and gears."""
        items: list[Item] = []
        for node in self.nodes:
            self._joint_symbols(node.joint.name, items)
        words = "The coordinates are those of the joints. Laws of time and gears say what is not free."
        self.accelerations = self.snapshot.spread(self.u_dot)
        for node in self.nodes:
            name = node.joint.name
            if name in self.topology.couplings and node.joint.n_u:
                self.accelerations[node.index] = self._coordinate("u_dot", name, self.accelerations[node.index], items)
        free = [c.name for c in self.topology.coordinates if c.role == "q"]
        note = f"Free: {', '.join(free)}." if free else "Nothing is free."
        return Step("Fix the relative motion", words, items=tuple(items), notes=(note,))

    def _joint_symbols(self, name: str, items: list[Item]) -> None:
        joint, coupling = self.system.joints[name], self.topology.couplings.get(name)
        if coupling is not None:
            self._joint_symbols(coupling.leader, items)
        if name in self.snapshot._joint_states or name in self.topology.q_of or not joint.n_u:
            return
        q, u, known = self.snapshot.joint_state(name)
        q = q if name in self.topology.z_of else self._coordinate("q", name, q, items)
        u = self._coordinate("u", name, u, items)
        known = None if known is None else self._coordinate("u_dot", name, known, items)
        self.snapshot._joint_states[name] = (q, u, known)

    def _coordinate(self, letter: str, name: str, entries: Array, items: list[Item]) -> Array:
        names, kinds = coordinate_names(self.system.joints[name])
        if letter != "q":
            names, kinds = zip(*self.system.joints[name].coordinates)
        units = [UNITS[kind] + {"q": "", "u": "/s", "u_dot": "/s^2"}[letter] for kind in kinds]
        parts = names if len(names) > 1 else ("",)
        item, passed = self.sheet.define(letter, name, entries, units, parts=parts)
        items.append(item)
        return passed

    # -- geometry ----------------------------------------------------------------------------------
    def _axes(self, i: int) -> Array:
        """Rotation from a body's axes to its link's."""
        return self.snapshot.geometry.bodies[self.body[i]].R

    def _placement(self, node: TreeLink) -> Pose:
        """The joint's frame on the body below, in that body's axes, from its pole."""
        X: Pose = Pose(self._axes(node.parent).T, ZERO3) @ self.snapshot.geometry.placements[node.index]
        return X

    def _poles(self) -> Step:
        geometry, items = self.snapshot.geometry, []
        self.placements = [self._placement(node) for node in self.nodes]
        self.mechanics = [InBodyAxes(node.mechanics, self._axes(node.index)) for node in self.nodes]
        self.inertias: list[RigidInertia] = []
        for node in self.nodes:
            i, body = node.index, self.body[node.index]
            own = self.mechanics[i].transform(self.snapshot.node_states[i][0], geometry.forms[i])
            step, C = self.placements[i] @ own, self._axes(i)
            self.inertias.append(geometry.inertias[i].seen_from(Pose(C.T, ZERO3)))
            center = C.T @ self.snapshot.place(self.system.find_frame(f"{body}.com"))[1].p
            items.append(self.sheet.show("d", body, step.p, "m"))
            items.append(self.sheet.show("A", body, step.R, "1", parts=TENSOR, columns=3))
            items.append(self.sheet.show("c", body, center, "m"))
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

    def _turning(self) -> Step:
        self.moved: list[LinkKinematics] = []
        self.w: list[Array] = []
        items = []
        for node in self.nodes:
            i = node.index
            q, u, _ = self.snapshot.node_states[i]
            form, w_P = self.snapshot.geometry.forms[i], self._below(node, self.w)
            self.moved.append(link_steps.move(self.mechanics[i], self.placements[i], form, q, u, w_P))
            item, w = self.sheet.define("w", self.body[i], self.moved[i].w, "rad/s")
            items.append(item)
            self.w.append(w)
        words = "Outward: a body turns with the one below and with its own joint; in its own axes,"
        law = ("w = A' w_below + e u", r"\omega_k = A_k^T \omega_{k-1} + e_k\,\dot\gamma_k")
        return Step("Angular velocities", words, law, tuple(items))

    def _positions(self) -> Step:
        items = []
        for node in self.nodes:
            body = self.body[node.index]
            items.append(self.sheet.show("r", body, self.snapshot.link_poses[node.index].p, "m"))
            center = self.snapshot.pose(self.system.find_frame(f"{body}.com")).p
            items.append(self.sheet.show("rC", body, center, "m"))
        words = "In world axes, of the pole (r) and of the mass center (rC): the sum of the radius vectors."
        law = ("r = sum d,   rC = sum d + c", r"r_{O_n} = \sum_k d_k,\qquad r_{C_n} = \sum_k d_k + c_n")
        return Step("Positions", words, law, tuple(items))

    def _velocities(self) -> Step:
        self.v: list[Array] = []
        items = []
        for node in self.nodes:
            i = node.index
            w_P, v_P = self._below(node, self.w), self._below(node, self.v)
            _, v = moved_motion(self.moved[i].X, *moved_motion(self.placements[i], w_P, v_P))
            u = self.snapshot.node_states[i][1]
            own = self.moved[i].S[3:] @ u if node.joint.n_u else ZERO3
            item, v = self.sheet.define("v", self.body[i], v + own, "m/s")
            items.append(item)
            self.v.append(v)
        words = "Of the poles, in the axes of their bodies:"
        law = (
            "v = A' (v_below + w_below x d) + v_rel",
            r"v_k = A_k^T (v_{k-1} + \omega_{k-1}\times d_k) + v_k^{\mathrm{rel}}",
        )
        return Step("Velocities", words, law, tuple(items))

    def _accelerations(self) -> Step:
        self.eps: list[Array] = []
        self.W: list[Array] = []
        items = []
        for node in self.nodes:
            i = node.index
            below = self._below(node, self.eps), self._below(node, self.W)
            A = link_steps.carry(self.placements[i], self.moved[i], below)
            eps, W = link_steps.accelerate(self.moved[i], A, self.accelerations[i])
            for stem, x, unit, kept in (("eps", eps, "rad/s^2", self.eps), ("W", W, "m/s^2", self.W)):
                item, passed = self.sheet.define(stem, self.body[i], x, unit)
                items.append(item)
                kept.append(passed)
        words = "Of the bodies' turning (eps) and of their poles (W), in their own axes:"
        law = (
            "eps = A' eps_below + e u_dot + (A' w_below) x e u\n"
            "W = A' (W_below + eps_below x d + w_below x (w_below x d)\n"
            "        + 2 w_below x v_rel + a_rel)",
            r"\varepsilon_k = A_k^T\varepsilon_{k-1} + e_k\ddot\gamma_k "
            r"+ (A_k^T\omega_{k-1})\times e_k\dot\gamma_k,\quad "
            r"W_k = A_k^T\,[W_{k-1} + \varepsilon_{k-1}\times d_k + \omega_{k-1}\times(\omega_{k-1}\times d_k) "
            r"+ 2\omega_{k-1}\times v_k^{\mathrm{rel}} + a_k^{\mathrm{rel}}]",
        )
        return Step("Accelerations", words, law, tuple(items))

    # -- forces ------------------------------------------------------------------------------------
    def _closing(self) -> Step:
        """Residuals of the constraints, and their multipliers."""
        items = []
        units: dict[tuple[str, int], str] = {}
        for tie in loop_constraints.loop_constraints_of(self.topology):
            found = np.asarray(loop_constraints.residual(self.snapshot, tie), dtype=object)
            parts = [f"{k + 1}" for k in range(len(tie.units))]
            items.append(self.sheet.show("c", tie.name, found, [UNITS.get(x, "m/s") for x in tie.units], parts=parts))
            units |= {(tie.name, k + 1): "N*m" if "ang" in x else "N" for k, x in enumerate(tie.units)}
        symbols = self.snapshot.multipliers
        assert symbols is not None
        for k, row in enumerate(chosen_rows(self.topology)):
            items.append(self.sheet.show("force", row[0], symbols[[k]], units[row], parts=(f"{row[1]}",)))
        words = (
            "Loops were cut open. What a closing joint forbids is a residual c that has to stay zero; it is held by a "
            "multiplier lam for each independent residual: a force in N, or a moment in N*m where c is an angle."
        )
        return Step("Close the loops", words, ("c(q) = 0,   G u_dot = gamma", r"c(q) = 0,\qquad G\dot u = \gamma"),
                    tuple(items))  # fmt: skip

    def _inertia(self) -> Step:
        self.inert: list[Spatial] = []
        items = []
        for node in self.nodes:
            i, body = node.index, self.body[node.index]
            moment, force = link_steps.inertia_wrench(self.inertias[i], self.w[i], (self.eps[i], self.W[i]))
            one, force = self.sheet.define("Fi", body, force, "N")
            two, moment = self.sheet.define("Mi", body, moment, "N*m")
            items += [one, two]
            self.inert.append((moment, force))
        words = "What the motion of each body asks for, as force and as moment about its pole, in its own axes:"
        law = (
            "Fi = m (W + eps x c + w x (w x c))\nMi = J eps + w x (J w) + m c x W",
            r"F_k^{in} = m_k(W_k + \varepsilon_k\times c_k + \omega_k\times(\omega_k\times c_k)),\quad "
            r"M_k^{in} = J_k\varepsilon_k + \omega_k\times(J_k\omega_k) + m_k c_k\times W_k",
        )
        return Step("Free bodies", words, law, tuple(items))

    def _balances(self) -> Step:
        loads, items = self._loads()
        joint: list[Spatial] = list(self.inert)
        for node in reversed(self.nodes):
            i, body = node.index, self.body[node.index]
            moment, force = joint[i]
            if loads[i] is not None:
                moment, force = moment - loads[i][0], force - loads[i][1]
            one, force = self.sheet.define("F", body, force, "N")
            two, moment = self.sheet.define("M", body, moment, "N*m")
            items += [one, two]
            joint[i] = (moment, force)
            if node.parent != WORLD:
                lifted = link_steps.lift_wrench(self.placements[i], self.moved[i], joint[i])
                below = joint[node.parent]
                joint[node.parent] = (below[0] + lifted[0], below[1] + lifted[1])
        self.joint = joint
        words = (
            "Inward: the joint under a body passes on what the body's motion asks for, less the loads on it (P, and L "
            "about the pole: weight, elements, constraints), and what it has to pass on to the bodies above."
        )
        law = (
            "F = Fi - P + sum A_above F_above\nM = Mi - L + sum (A_above M_above + d_above x A_above F_above)",
            r"F_k = F_k^{in} - P_k + A_{k+1}F_{k+1},\quad "
            r"M_k = M_k^{in} - L_k + A_{k+1}M_{k+1} + d_{k+1}\times A_{k+1}F_{k+1}",
        )
        return Step("Couple the bodies", words, law, tuple(items))

    def _loads(self) -> tuple[list[Any], list[Item]]:
        """Weight, elements and constraints: force and moment about the pole, in the body's axes."""
        items: list[Item] = []
        found: list[Any] = []
        for node in self.nodes:
            i, body = node.index, self.body[node.index]
            R, C = self.snapshot.link_poses[i].R, self._axes(i)
            g = C.T @ (R.T @ self.snapshot.gravity)
            inertia = self.inertias[i]
            force, moment = inertia.mass * g, np.cross(inertia.moment, g)
            other = self.snapshot.loads[i]
            if other is not None:
                moment, force = moment + C.T @ other[0], force + C.T @ other[1]
            one, force = self.sheet.define("P", body, tidy(force), "N")
            two, moment = self.sheet.define("L", body, tidy(moment), "N*m")
            items += [item for item in (one, two) if any(f is None or f != 0 for f in item.formulas)]
            found.append((moment, force))
        return found, items

    # -- equations ---------------------------------------------------------------------------------
    def _elimination(self) -> Step:
        items: list[Item] = []
        self.along: dict[str, Array] = {}
        for node in self.nodes:
            joint, i = node.joint, node.index
            if joint.n_u:
                passed = self.moved[i].S.T @ np.concatenate(self.joint[i])
                parts, unit = self._freedoms(joint.name)
                item, self.along[joint.name] = self.sheet.define("T", joint.name, passed, unit, parts=parts)
                items.append(item)
        words = (
            "Reactions do no work along the freedoms of their joints: what is left there (T) is the joint's effort. "
            "This is one equation for each freedom, and the reactions are gone."
        )
        return Step("Eliminate the reactions", words, ("T = e . M", r"\tau_k = e_k\cdot M_k"), tuple(items))

    def _freedoms(self, name: str) -> tuple[list[str], list[str]]:
        """Names and units of what acts along the freedoms of a joint."""
        coordinates = self.system.joints[name].coordinates
        return [p if len(coordinates) > 1 else "" for p, _ in coordinates], [EFFORTS[kind] for _, kind in coordinates]

    def _rotors(self, name: str) -> Array:
        """What parts do along a joint for the inertia that they add."""
        network, still = self.snapshot.condensed, np.zeros(self.system.joints[name].n_u)
        if network is None or name not in network.network.touched:
            return still
        without = network.effort(name)
        found: Array = self.snapshot.parts_on(name) - (still if without is None else without)
        return found

    def _drives(self) -> Step:
        """Efforts of joints, of drives and through gears; what has to vanish for each free speed."""
        items: list[Item] = []
        efforts: list[Array] = []
        for node in self.nodes:
            name = node.joint.name
            own = self.snapshot.own_effort(name) + self._rotors(name)
            if node.joint.n_u:
                parts, unit = self._freedoms(name)
                if any(own):
                    item, own = self.sheet.define("Q", name, own, unit, parts=parts)
                    items.append(item)
                if node.joint.driven:
                    items.append(self.sheet.show("drive", name, self.along[name] - own, unit, parts=parts))
            efforts.append(own)
        rest = [self.along[n.joint.name] - efforts[n.index] if n.joint.n_u else np.empty(0) for n in self.nodes]
        left = self.snapshot.collect(rest)
        names = [c.name.replace(".u", "", 1) for c in self.topology.coordinates if c.role == "u"]
        units = [EFFORTS[c.kind] for c in self.topology.coordinates if c.role == "u"]
        self.left = [self.sheet.show("rest", n, left[[k]], units[k], parts=("",)) for k, n in enumerate(names)]
        words = (
            "Springs, dampers and laws of effort act along the freedoms (Q). A drive gives what its prescribed motion "
            "needs beyond that. A gear adds the equation of the joint that follows, times its ratio, to that of the "
            "joint that leads. For each free speed this has to vanish:"
        )
        law = ("0 = T - Q  (+ ratio (T - Q) of what is geared)", r"0 = \tau_k - Q_k + \sum N\,(\tau_D - Q_D)")
        return Step("Add the drives", words, law, (*items, *self.left))

    def _equations(self) -> Step:
        """The same with all symbols of bodies and gears replaced: functions of the coordinates and of laws of time."""
        s = self.snapshot
        whole = Snapshot(
            self.topology,
            s.point,
            u_dot=self.u_dot,
            friction=s.given_friction,
        )
        whole.multipliers = s.multipliers
        prescribed = {name: state for name, state in s._joint_states.items() if self.system.joints[name].driven}
        whole._joint_states.update(prescribed)
        names = [c.name.replace(".u", "", 1) for c in self.topology.coordinates if c.role == "u"]
        units = [EFFORTS[c.kind] for c in self.topology.coordinates if c.role == "u"]
        found = [
            self.sheet.show("motion", name, whole.inverse_effort[[k]], units[k], parts=("",), longest=EQUATION)
            for k, name in enumerate(names)
        ]
        long = any(item.formulas[0] is None for item in found)
        note = "Where they are long, kn.equations(system) writes them with names for what recurs."
        words = "With the symbols of all bodies put in, the equations of motion are left, each of which has to vanish:"
        return Step("Put together", words, items=tuple(found), notes=(note,) if long else ())

    def _check(self) -> Step:
        """Other derivations at the same state."""
        s, plain = self.state, self.plain
        numbers = InstantValues(s.t, s.q, s.u, s.z, plain.p, plain.inputs, u_dot=plain.u_dot)
        size = max(1.0, float(np.abs(plain.u_dot).max(initial=0.0)))
        left = max((abs(item.values[0]) for item in self.left), default=0.0)
        rows = [("what has to vanish, at this state", f"{left:.1e}")]
        for name, way in FORMULATIONS.items():
            if name != "recursive" and "u_dot" in way.outputs and way.applies(self.topology) is None:
                other = np.asarray(way.evaluate(self.topology, numbers, ["u_dot"])["u_dot"], dtype=float)
                apart = float(np.abs(other - plain.u_dot).max(initial=0.0)) / size
                rows.append((f"accelerations by {name}: relative difference", f"{apart:.1e}"))
        words = "The same accelerations have to come out of derivations that share nothing with these steps."
        return Step("Check", words, table=(("comparison", "apart"), tuple(rows)))
