"""The dynamic steps of ``kn.explain``: loops, inertia, balances, elimination of reactions, equations of motion.

Forces are summed from the tips to the base, and projected on the freedoms of the joints: the recursive Newton-Euler
algorithm of R. Featherstone, Rigid Body Dynamics Algorithms (2008), section 5.3 (T-6.7), (T-6.9), (T-6.10).  A loop is
the open tree and the forces of the constraints that close it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array, tidy
from kinode.algebra.trace import replay
from kinode.model.constraints.constraint import ANGULAR
from kinode.multibody import link_steps, loop_constraints
from kinode.multibody.link_steps import Spatial
from kinode.multibody.snapshot import Snapshot
from kinode.structure.tree import WORLD
from kinode.symbolic.explain_motion import COORDINATE_UNITS, ExplainedSystem, MotionSteps
from kinode.symbolic.explanation import Item, Step
from kinode.symbolic.notation import independent_rows

EFFORT_UNITS = {"angle": "N*m", "length": "N"}
LONGEST_EQUATION = 150  # operations of an equation of motion that is written out


class ForceSteps:
    """The inward steps, in the order of the methods; ``motion`` has the results of the outward ones."""

    def __init__(self, explained: ExplainedSystem, motion: MotionSteps) -> None:
        self.explained, self.motion = explained, motion
        self.system, self.topology = explained.system, explained.topology
        self.sheet, self.nodes = explained.sheet, explained.nodes

    @property
    def snapshot(self) -> Snapshot:
        """The traced evaluation, with the symbols of the outward steps."""
        return self.motion.snapshot

    def loop_closure(self) -> Step:
        """Residuals of the constraints, and their multipliers."""
        items = []
        units: dict[tuple[str, int], str] = {}
        for constraint in loop_constraints.loop_constraints_of(self.topology):
            residual = np.asarray(loop_constraints.residual(self.snapshot.kinematics, [constraint])[0], dtype=object)
            name, kinds = constraint.name, constraint.units
            parts = [f"{k + 1}" for k in range(len(kinds))]
            items.append(
                self.sheet.show("c", name, residual, [COORDINATE_UNITS.get(kind, "m/s") for kind in kinds], parts=parts)
            )
            units |= {(name, k + 1): "N*m" if kind in ANGULAR else "N" for k, kind in enumerate(kinds)}
        multipliers = self.snapshot.multipliers
        for k, (owner, number) in enumerate(independent_rows(self.topology)):
            unit = units[owner, number]
            items.append(self.sheet.show("force", owner, multipliers[[k]], unit, parts=(f"{number}",)))
        words = (
            "Loops were cut open. What a cut joint forbids is a residual c that has to stay zero. Each independent "
            "residual has a multiplier lam that keeps it zero: a force in N, or a moment in N*m where c is an angle."
        )
        return Step("Close the loops", words, ("c(q) = 0,   G u_dot = gamma", r"c(q) = 0,\qquad G\dot u = \gamma"),
                    tuple(items))  # fmt: skip

    def inertia(self) -> Step:
        self.inert: list[Spatial] = []
        items = []
        for node in self.nodes:
            i, body = node.index, self.explained.body_of(node.index)
            moment, force = link_steps.inertia_wrench(
                self.motion.inertias[i], self.motion.w[i], (self.motion.eps[i], self.motion.W[i])
            )
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

    def balances(self) -> Step:
        loads, items = self._loads()
        joint: list[Spatial] = list(self.inert)
        for node in reversed(self.nodes):
            i, body = node.index, self.explained.body_of(node.index)
            moment, force = joint[i]
            if loads[i] is not None:
                moment, force = moment - loads[i][0], force - loads[i][1]
            one, force = self.sheet.define("F", body, force, "N")
            two, moment = self.sheet.define("M", body, moment, "N*m")
            items += [one, two]
            joint[i] = (moment, force)
            if node.parent != WORLD:
                passed = link_steps.lift_wrench(self.motion.placements[i], self.motion.links[i], joint[i])
                carrier = joint[node.parent]
                joint[node.parent] = (carrier[0] + passed[0], carrier[1] + passed[1])
        self.joint = joint
        words = (
            "Inward: the joint under a body passes on what the body's motion asks for, less the loads on it (P, and L "
            "about the pole: weight, elements, constraints), and what it has to pass on to the bodies above. g is "
            "gravity in the body's axes: a body hands it on to the bodies above, turned by their A."
        )
        if self.topology.couplings:
            words += " Gears act along their joints here: forces of teeth, which do no work, are not part of F."
        law = (
            "F = Fi - P + sum A_above F_above\nM = Mi - L + sum (A_above M_above + d_above x A_above F_above)",
            r"F_k = F_k^{in} - P_k + A_{k+1}F_{k+1},\quad "
            r"M_k = M_k^{in} - L_k + A_{k+1}M_{k+1} + d_{k+1}\times A_{k+1}F_{k+1}",
        )
        return Step("Couple the bodies", words, law, tuple(items))

    def _loads(self) -> tuple[list[Any], list[Item]]:
        """Force and moment of weight, elements and constraints on each body, about its pole, in its axes."""
        items: list[Item] = []
        loads: list[Any] = []
        weights: list[Array] = []  # gravity in the axes of each body
        for node in self.nodes:
            i, body = node.index, self.explained.body_of(node.index)
            C = self.motion.axes(i)
            g_below = self.snapshot.gravity if node.parent == WORLD else weights[node.parent]
            turned, g = self.sheet.define("g", body, tidy(self.motion.steps[i].R.T @ g_below), "m/s^2")
            weights.append(g)
            items += [turned] if any(f != 0 for f in turned.formulas) else []
            inertia = self.motion.inertias[i]
            force, moment = inertia.mass * g, np.cross(inertia.moment, g)
            other = self.snapshot.loads.link_loads[i]
            if other is not None:
                moment, force = moment + C.T @ other[0], force + C.T @ other[1]
            one, force = self.sheet.define("P", body, tidy(force), "N")
            two, moment = self.sheet.define("L", body, tidy(moment), "N*m")
            items += [item for item in (one, two) if any(f != 0 for f in item.formulas)]
            loads.append((moment, force))
        return loads, items

    # -- equations ---------------------------------------------------------------------------------
    def elimination(self) -> Step:
        items: list[Item] = []
        self.efforts_along: dict[str, Array] = {}
        for node in self.nodes:
            joint, i = node.joint, node.index
            if joint.n_u:
                effort = self.motion.links[i].S.T @ np.concatenate(self.joint[i])
                parts, unit = self._freedoms(joint.name)
                item, self.efforts_along[joint.name] = self.sheet.define("T", joint.name, effort, unit, parts=parts)
                items.append(item)
        words = (
            "Reactions do no work along the freedoms of their joints: what is left there (T) is the joint's effort. "
            "This is one equation for each freedom, and the reactions are gone."
        )
        return Step("Eliminate the reactions", words, ("T = e . M", r"\tau_k = e_k\cdot M_k"), tuple(items))

    def _freedoms(self, name: str) -> tuple[list[str], list[str]]:
        """Names and units of the efforts along the freedoms of a joint."""
        coordinates = self.system.joints[name].coordinates
        return [p if len(coordinates) > 1 else "" for p, _ in coordinates], [
            EFFORT_UNITS[kind] for _, kind in coordinates
        ]

    def _speed_names(self) -> list[str]:
        """Names of the speeds of the state, without the letter u: ``elbow``, ``ball.x``."""
        return [f"{c.joint}{c.suffix}" for c in self.topology.coordinates if c.role == "u"]

    def _rotors(self, name: str) -> Array:
        """The inertia effort along a joint of the network components (rotors) that it drives."""
        network, zero = self.snapshot.condensed, np.zeros(self.system.joints[name].n_u)
        if network is None or name not in network.network.touched:
            return zero
        applied = network.effort(name)
        effort: Array = self.snapshot.network.effort_on(name) - (zero if applied is None else applied)
        return effort

    def drives(self) -> Step:
        """Efforts of joints, drives and gears; the residual of the equation of each speed of the state."""
        items: list[Item] = []
        efforts: list[Array] = []
        for node in self.nodes:
            name = node.joint.name
            own = self.snapshot.loads.own_effort(name) + self._rotors(name)
            if node.joint.n_u:
                parts, unit = self._freedoms(name)
                if any(own):
                    item, own = self.sheet.define("Q", name, own, unit, parts=parts)
                    items.append(item)
                if node.joint.driven:
                    items.append(self.sheet.show("drive", name, self.efforts_along[name] - own, unit, parts=parts))
            efforts.append(own)
        rest = [self.efforts_along[n.joint.name] - efforts[n.index] if n.joint.n_u else np.empty(0) for n in self.nodes]
        sums = self.snapshot.kinematics.collect(rest)
        names = self._speed_names()
        units = [EFFORT_UNITS[c.kind] for c in self.topology.coordinates if c.role == "u"]
        self.residuals = [self.sheet.show("rest", n, sums[[k]], units[k], parts=("",)) for k, n in enumerate(names)]
        words = (
            "Springs, dampers and laws of effort act along the freedoms (Q). A drive gives what its prescribed motion "
            "needs beyond that. A gear adds the equation of the joint that follows, times its ratio, to that of the "
            "joint that leads. For each free speed this has to vanish:"
        )
        law = ("0 = T - Q  (+ ratio (T - Q) of what is geared)", r"0 = \tau_k - Q_k + \sum N\,(\tau_D - Q_D)")
        return Step("Add the drives", words, law, (*items, *self.residuals))

    def equations(self) -> Step:
        """The equations of motion as functions of the coordinates and of time, with all other symbols replaced."""
        given, joints = self.snapshot.given, self.system.joints
        prescribed = {name: state for name, state in given.joint_states.items() if joints[name].driven}
        whole = self.snapshot.again(replace(given, joint_states=prescribed))
        names = self._speed_names()
        units = [EFFORT_UNITS[c.kind] for c in self.topology.coordinates if c.role == "u"]
        rows = whole.inverse_effort
        if any(self.sheet.write(row, LONGEST_EQUATION) is None for row in rows):
            return self._named_equations(whole, names, units)
        items = [
            self.sheet.show("motion", name, rows[[k]], units[k], parts=("",), longest=LONGEST_EQUATION)
            for k, name in enumerate(names)
        ]
        words = "With the symbols of all bodies put in, the equations of motion are left, each of which has to vanish:"
        return Step("Put together", words, items=tuple(items))

    def _named_equations(self, whole: Snapshot, names: Sequence[str], units: Sequence[str]) -> Step:
        """The equations with names for the coefficients of the accelerations, A, and for the rest, D."""
        rows, n = whole.inverse_effort, len(names)
        mass = [float(x) for x in replay(list(np.ravel(whole.mass_matrix)), self.sheet.numbers)]
        residual = [float(x) for x in replay(list(rows), self.sheet.numbers)]
        u_dot = [float(x) for x in replay(list(self.explained.u_dot), self.sheet.numbers)]
        items = []
        for i, name in enumerate(names):
            own = mass[n * i : n * i + n]
            labels = [f"A_{name}_{other}".replace(".", "_") for other in names] + [f"D_{name}".replace(".", "_")]
            numbers = [*own, residual[i] - sum(a * x for a, x in zip(own, u_dot, strict=True))]
            items.append(self.sheet.named_sum("motion", name, labels, numbers, units[i], residual[i]))
        words = (
            "With the symbols of all bodies put in, the equations of motion are left. Written out they are long; A and "
            "D are given as numbers at this state."
        )
        note = "kn.equations(system, shape='named') writes A and D as formulas, with names for what recurs."
        law = ("A u_dot + D = 0", r"A(q)\,\ddot q + D(q,\dot q,t) = 0")
        return Step("Put together", words, law, items=tuple(items), notes=(note,))
