"""``kn.explain``: how the equations of motion of a given system are derived, step by step.

The steps are those of the recursive Newton-Euler algorithm (docs/theory/chains.md): kinematics from the base outwards
(``explain_motion``), forces from the tips inwards, and the equations along the freedoms of the joints
(``explain_forces``).  The functions that compute them are the ones that are compiled (``multibody.link_steps``).

Each body is described in its own axes, about its pole, which is the point of its joint.  The formulas of a body contain
the symbols of the body below, so they stay short for any number of bodies.  Parts of a formula that would be longer
than a line have names of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import ArgumentError
from kinode.formulations.formulation_table import FORMULATIONS, InstantValues
from kinode.kernels.state import State
from kinode.model.base.fields import short
from kinode.model.system import System
from kinode.multibody.given import Given
from kinode.multibody.snapshot import Snapshot
from kinode.symbolic.explain_circuit import CircuitSteps
from kinode.symbolic.explain_forces import ForceSteps
from kinode.symbolic.explain_motion import ExplainedSystem, MotionSteps
from kinode.symbolic.explanation import Explanation, Step, Worksheet
from kinode.symbolic.notation import Notation, independent_rows
from kinode.symbolic.traced_derivation import friction_of


def explain(system: System, at: Mapping[str, Any] | State | None = None) -> Explanation:
    """Derive the equations of motion of a system step by step, with the formulas and numbers of each body.

    Parameters
    ----------
    system : System
        The system.
    at : mapping or State, optional
        The state for the numbers beside the formulas, such as ``{"elbow.q": 0.3}``; default is the initial state.

    Returns
    -------
    Explanation
        Prints as text; ``.latex()``, ``.html()``, ``.steps``, ``.formulas``, ``.values``.

    Examples
    --------
    >>> explanation = kn.explain(kn.load("examples/pendulum.yaml"), at={"pivot.u": 2.0})
    >>> explanation.formulas["w_bar_z"], explanation.values["w_bar_z"]
    (u_pivot, 2.0)
    """
    if not isinstance(system, System):
        raise ArgumentError(f"explain: a System is expected, not {short(system)}; kn.load reads one from a file")
    return Explainer(system, at).explanation()


class Explainer:
    """One derivation: its system, state and worksheet; ``explanation`` takes the steps."""

    def __init__(self, system: System, at: Mapping[str, Any] | State | None) -> None:
        self.dynamics = Dynamics(system)
        self.system, self.topology = self.dynamics.system, self.dynamics.topology
        self.state = self.dynamics.state(at)
        self.plain = self.dynamics.snapshot(self.state)
        sheet = Worksheet(Notation(self.topology), self._input_values())
        if not self.topology.layout.quaternions:  # speeds are rates of coordinates
            sheet.dotted.update({"u": ("q", 1), "u_dot": ("q", 2)})
        tape, friction = sheet.tape, friction_of(self.topology, sheet.tape)
        u_dot = tape.inputs("u_dot", self.topology.n_u)
        point = self.topology.layout.traced_point(tape)
        lam = tape.inputs("lam", len(independent_rows(self.topology))) if self.topology.constrained else None
        given = Given(u_dot=u_dot, friction=friction, multipliers=lam)
        snapshot = Snapshot(self.topology, point, given=given, full=True)
        self.explained = ExplainedSystem(self.system, self.topology, sheet, snapshot, u_dot)

    def _input_values(self) -> dict[str, Array]:
        """The values of the tape's inputs: state, accelerations, multipliers and efforts of friction."""
        s, plain = self.state, self.plain
        joints = [joint for joint in self.system.joints.values() if joint.friction]
        friction = [plain.friction_efforts.get(joint.name, np.zeros(joint.n_u)) for joint in joints]
        return {
            "t": np.array([s.t]), "q": s.q, "u": s.u, "z": s.z, "p": plain.p, "inputs": plain.inputs,
            "u_dot": plain.u_dot, "friction": np.concatenate(friction) if friction else np.empty(0),
            "lam": plain.multipliers if self.topology.constrained else np.empty(0),
        }  # fmt: skip

    def explanation(self) -> Explanation:
        """All steps in their order; later ones use the symbols of earlier ones."""
        circuit = [] if self.topology.network is None else CircuitSteps(self.explained, self.plain).steps()
        if not self.system.bodies:
            return self._explanation([*circuit, self._check(0.0)])
        motion = MotionSteps(self.explained)
        forces = ForceSteps(self.explained, motion)
        steps = [self._bodies(), motion.motion_laws(), motion.poles(), motion.angular_velocities(), motion.positions()]
        steps += [motion.velocities(), motion.accelerations()]
        if self.topology.constrained:
            steps.append(forces.loop_closure())
        steps += [forces.inertia(), forces.balances(), forces.elimination(), *circuit]
        steps += [forces.drives(), forces.equations()]
        largest = max((abs(item.values[0]) for item in forces.residuals), default=0.0)
        steps.append(self._check(largest))
        return self._explanation(steps)

    def _explanation(self, steps: list[Step]) -> Explanation:
        whole = tuple(replace(s, items=tuple(part for item in s.items for part in item.with_parts())) for s in steps)
        return Explanation(self.system, self.topology, self.explained.sheet.notation, whole, self.state.t)

    def _bodies(self) -> Step:
        rows = []
        for node in self.topology.full.nodes:
            body, joint = self.explained.body_of(node.index), node.joint
            mass = self.system.bodies[body].rigid_inertia(self.plain.resolve).mass
            kind = f"{joint.kind}, {self._role(joint.name)}"
            rows.append((body, f"{float(mass):.6g}", self.explained.body_of(node.parent), joint.name, kind))
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

    def _check(self, residual: float) -> Step:
        """The largest residual of the equations, and the accelerations by the other formulations."""
        s, plain = self.state, self.plain
        point = InstantValues(s.t, s.q, s.u, s.z, plain.p, plain.inputs, u_dot=plain.u_dot)
        output, what = ("u_dot", "accelerations") if self.system.bodies else ("z_dot", "rates of states")
        expected = np.asarray(getattr(plain, output), dtype=float)
        size = max(1.0, float(np.abs(expected).max(initial=0.0)))
        rows = [("what has to vanish, at this state", f"{residual:.1e}")] if self.system.bodies else []
        for name, formulation in FORMULATIONS.items():
            if name != "recursive" and output in formulation.outputs and formulation.applies(self.topology) is None:
                other = np.asarray(formulation.evaluate(self.topology, point, [output])[output], dtype=float)
                difference = float(np.abs(other - expected).max(initial=0.0)) / size
                rows.append((f"{what} by {name}: relative difference", f"{difference:.1e}"))
        words = f"The same {what} have to come out of derivations that share nothing with these steps."
        return Step("Check", words, table=(("comparison", "apart"), tuple(rows)))
