"""The contract of a constraint: rates and Jacobians follow from its residuals and slips, and its forces do no work.

``check_constraint`` holds an example to all of it, in a mechanism without symmetry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from derivative_checks import check_derivatives, random_point

import kinode as kn
from kinode.formats.yaml_files import dumps, loads
from kinode.model.constraints.constraint import CONSTRAINTS, POSITIONS
from kinode.model.constraints.gear_coupling import CoordinateCoupling
from kinode.multibody import loop_constraints
from kinode.multibody.snapshot import Snapshot
from kinode.structure.state_layout import EvaluationPoint
from kinode.structure.topology import find_topology

MOTION = "0.3 + 0.7*t + 0.2*t^2"


class ConstraintExample(NamedTuple):
    """A kind of constraint; its fields for a place on a body and one on another; of joints: turn, slide, closing."""

    kind: str
    fields: Callable[[Any, Any], Mapping[str, Any]]

    @property
    def couples(self) -> bool:
        """Whether it ties coordinates of joints."""
        return issubclass(CONSTRAINTS[self.kind], CoordinateCoupling)


def two_arms(example: ConstraintExample, on_world: bool = False, drive: str | None = None) -> kn.System:
    """Two arms whose six joints are about skew axes, tied by the constraint; a gear's joint closes a loop."""
    system = kn.System("arms", gravity=(1, -2, -9))
    a = system.body("a", mass=1, com=(0.1, 0.2, 0), inertia=(0.02, 0.03, 0.04))
    b = system.body("b", mass=2, com=(0.3, 0, 0.1), inertia=(0.04, 0.05, 0.06))
    c = system.body("c", mass=1.5, com=(0.2, 0.1, 0.1), inertia=(0.03, 0.03, 0.05))
    d = system.body("d", mass=1.2, com=(0, 0.1, 0.3), inertia=(0.03, 0.04, 0.05))
    system.revolute("turn", system.world, a, axis=(1, 2, 3), **({"motion": drive} if drive else {"damping": 0}))
    system.revolute("j2", a.at(0.2, 0.1, 0), b, axis=(1, -1, 0.5), damping=0)  # joints with laws stay in the tree
    system.prismatic("slide", system.world.at(0.5, 0, 0), c, axis=(2, 0.3, 1), damping=0)
    system.spherical("ball", c.at(0.1, 0.2, 0.2), d)
    one, two = b.at(0.6, 0.1, 0.2, rpy=(0.2, 0.4, 0.1)), d.at(0.1, 0.4, 0.3, rpy=(0.5, -0.2, 0.3))
    if example.couples:
        system.revolute("closing", b.at(0.4, 0, 0), c.at(0.2, 0, 0.1), axis=(1, 0, 1))
    system.constraint("tie", example.kind, **example.fields(one, system.world if on_world else two))
    return system


class TiedArms:
    """One constraint at any state."""

    def __init__(self, example: ConstraintExample, on_world: bool = False, drive: str | None = None) -> None:
        self.topology = find_topology(two_arms(example, on_world, drive))
        (self.tie,) = (tie for tie in loop_constraints.loop_constraints_of(self.topology) if tie.name == "tie")
        self.holding = np.array([unit in POSITIONS for unit in self.tie.units])

    def at(self, q: np.ndarray, u: np.ndarray, t: float = 0.0) -> Snapshot:
        return Snapshot(self.topology, EvaluationPoint(t, q, u))

    def measure(self, q: np.ndarray, u: np.ndarray, t: float = 0.0) -> list[np.ndarray]:
        """Residual, Jacobian, drift and bias."""
        kinematics = self.at(q, u, t).kinematics
        functions = (loop_constraints.residual, loop_constraints.drift, loop_constraints.bias)
        c, drift, bias = (np.asarray(f(kinematics, [self.tie])[0], dtype=float) for f in functions)
        return [c, np.asarray(loop_constraints.jacobian(kinematics, self.tie), dtype=float), drift, bias]

    def state(self, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(seed)
        q, u = 0.5 * rng.normal(size=self.topology.n_q), rng.normal(size=self.topology.n_u)
        where = self.topology.q_of["ball"]
        q[where] = np.array([1.0, 0.2, -0.3, 0.1]) / np.linalg.norm([1.0, 0.2, -0.3, 0.1])
        return q, u

    def flow(self, q: np.ndarray, u: np.ndarray, h: float) -> np.ndarray:
        """Coordinates after a time h at constant speeds, by classical Runge-Kutta steps."""
        rate = lambda x: np.asarray(self.at(x, u).q_dot, dtype=float)  # noqa: E731
        k1 = rate(q)
        k2 = rate(q + h / 2 * k1)
        k3 = rate(q + h / 2 * k2)
        return q + h / 6 * (k1 + 2 * k2 + 2 * k3 + rate(q + h * k3))


def near(a: Any, b: Any, tolerance: float) -> bool:
    """Close in the absolute or in parts of 1e6."""
    return bool(np.allclose(np.asarray(a, dtype=float), np.asarray(b, dtype=float), rtol=1e-6, atol=tolerance))


# -- the contract --------------------------------------------------------------------------------------------
def rates_are_derivatives_of_residuals_and_slips(example: ConstraintExample) -> None:
    case = TiedArms(example)
    q, u = case.state()
    c, jacobian, drift, bias = case.measure(q, u)
    assert len(c) == len(case.tie.units) == len(drift) == len(bias)
    assert not c[~case.holding].any()  # no position mends a slip
    assert near(drift, jacobian @ u, 1e-12)
    h = 1e-4
    later, before = (case.measure(case.flow(q, u, step), u) for step in (h, -h))
    held = case.holding
    # central differences: h^2 times a higher derivative, and rounding over h or h^2
    assert near(drift[held], (later[0] - before[0])[held] / (2 * h), 1e-7)
    assert near(bias, (later[2] - before[2]) / (2 * h), 1e-6)
    for k, unit in enumerate(np.eye(case.topology.n_u)):
        ahead, behind = (case.measure(case.flow(q, unit, step), unit)[0] for step in (1e-5, -1e-5))
        assert near(jacobian[held, k], (ahead - behind)[held] / 2e-5, 1e-8)
        assert near(jacobian[:, k], case.measure(q, unit)[2], 1e-12)


def a_driven_joint_moves_the_rows_by_itself(example: ConstraintExample) -> None:
    if example.couples:
        return  # its joints are given, and none of them is driven
    case = TiedArms(example, drive=MOTION)
    q, u = case.state()
    t, h = 0.4, 1e-4
    _, jacobian, drift, bias = case.measure(q, u, t)
    (c1, _, d1, _), (c0, _, d0, _) = (case.measure(case.flow(q, u, s), u, t + s) for s in (h, -h))
    assert near(drift[case.holding], (c1 - c0)[case.holding] / (2 * h), 1e-7)
    assert near(bias, (d1 - d0) / (2 * h), 1e-6)
    assert abs(drift - jacobian @ u).max() > 1e-3


def forces_are_in_balance_and_have_the_generalized_forces_of_the_multipliers(example: ConstraintExample) -> None:
    for on_world in (False, True):
        case = TiedArms(example, on_world=on_world)
        q, u = case.state(5)
        snapshot = case.at(q, u)
        own = [k for k, (name, _) in enumerate(case.topology.row_units) if name == "tie"]
        lam = np.zeros(len(case.topology.row_units))
        lam[own] = np.random.default_rng(1).normal(size=len(own))
        loads = snapshot.constraints.loads(lam, "tie")
        forces = [np.asarray(load.force, dtype=float) for load in loads]
        arms = [np.asarray(snapshot.pose(load.on).p, dtype=float) for load in loads]
        moments = [np.asarray(load.moment, dtype=float) for load in loads]
        assert near(sum(forces), np.zeros(3), 1e-12)
        assert near(sum(m + np.cross(r, f) for m, r, f in zip(moments, arms, forces, strict=True)), np.zeros(3), 1e-12)
        power = 0.0
        for load in loads:
            w, v = snapshot.velocity(load.on)
            power += np.dot(load.force, v) + np.dot(load.moment, w)
        jacobian = np.asarray(loop_constraints.jacobian(snapshot.kinematics, case.tie), dtype=float)
        assert near(power, lam[own] @ jacobian @ u, 1e-12)  # zero for every motion that the rows allow


def bodies_with_rows_of_their_own_say_the_same(example: ConstraintExample) -> None:
    """Accelerations, reactions and multipliers by the recursion and by Newton and Euler."""
    if example.couples:
        return
    verification = kn.verify(two_arms(example), 2, compiled=False)
    assert verification.ok, str(verification)
    assert {row.quantity for row in verification.rows} >= {"accelerations", "reactions"}
    assert "newton_euler" not in dict(verification.skipped)


def files_hold_it(example: ConstraintExample) -> None:
    system = two_arms(example)
    assert loads(dumps(system)) == system


def its_equations_have_derivatives(example: ConstraintExample) -> None:
    """Anywhere: the rows need not be satisfied."""
    topology = find_topology(two_arms(example))
    if example.couples:  # with all rows of its joint no freedom is left
        topology = topology.with_rows((0, 1, 5))
    point = random_point(topology, np.empty(0), np.empty(0), np.empty(0), seed=3)
    check_derivatives(topology, point, of=("u_dot", "turn.reaction.force"))


CHECKS: tuple[Callable[[ConstraintExample], None], ...] = (
    rates_are_derivatives_of_residuals_and_slips, a_driven_joint_moves_the_rows_by_itself,
    forces_are_in_balance_and_have_the_generalized_forces_of_the_multipliers,
    bodies_with_rows_of_their_own_say_the_same, files_hold_it, its_equations_have_derivatives,
)  # fmt: skip


def check_constraint(example: ConstraintExample) -> None:
    """Hold a constraint to the whole contract."""
    for check in CHECKS:
        check(example)
