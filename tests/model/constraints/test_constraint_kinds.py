"""Constraints beyond joints: the contract over the whole registry, and each kind against an independent solution."""

import numpy as np
import pytest

from kinode.errors import ModelError
from kinode.formats import yaml_files
from kinode.model.constraints.constraint import CONSTRAINTS, POSITIONS
from kinode.model.constraints.gear_coupling import CoordinateCoupling
from kinode.model.system import System
from kinode.multibody.restraints import loop_constraints
from kinode.multibody.snapshot import Snapshot
from kinode.structure.evaluation_point import EvaluationPoint
from kinode.structure.topology import find_topology
from kinode.tasks.verify import verify

# What each kind is tried with, between the places ``one`` of a body and ``two`` of another.
FIELDS = {
    "distance": lambda one, two: {"a": one, "b": two, "distance": 0.7},
    "point_on_line": lambda one, two: {"point": one, "line": two, "axis": (1, 2, -0.5)},
    "point_on_plane": lambda one, two: {"point": one, "plane": two, "normal": (1, 0.3, 2), "height": 0.2},
    "angle": lambda one, two: {"a": one, "b": two, "axes": ("x", (1, 1, 0)), "angle": "70 deg"},
    "rolling": lambda one, two: {"wheel": one, "axis": "y", "radius": 0.3, "ground": two, "normal": (0.2, 0.1, 1)},
    "knife_edge": lambda one, two: {"blade": one, "axis": "x", "ground": two, "normal": "z"},
    "gear": lambda one, two: {"input": "closing", "output": "turn", "ratio": -1.5, "offset": 0.2},
    "rack": lambda one, two: {"rack": "slide", "pinion": "closing", "radius": 0.4, "offset": 0.1},
}
KINDS = [kind for kind in CONSTRAINTS if CONSTRAINTS[kind].__module__.startswith("kinode.")]


def two_arms(kind, on_world=False, drive=None):
    """Two arms whose six joints are about skew axes, tied by a constraint of the kind; a gear's joint closes a loop."""
    system = System("arms", gravity=(1, -2, -9))
    a = system.body("a", mass=1, com=(0.1, 0.2, 0), inertia=(0.02, 0.03, 0.04))
    b = system.body("b", mass=2, com=(0.3, 0, 0.1), inertia=(0.04, 0.05, 0.06))
    c = system.body("c", mass=1.5, com=(0.2, 0.1, 0.1), inertia=(0.03, 0.03, 0.05))
    d = system.body("d", mass=1.2, com=(0, 0.1, 0.3), inertia=(0.03, 0.04, 0.05))
    system.revolute("turn", system.world, a, axis=(1, 2, 3), **({"motion": drive} if drive else {"damping": 0}))
    system.revolute("j2", a.at(0.2, 0.1, 0), b, axis=(1, -1, 0.5), damping=0)  # joints with laws stay in the tree
    system.prismatic("slide", system.world.at(0.5, 0, 0), c, axis=(2, 0.3, 1), damping=0)
    system.spherical("ball", c.at(0.1, 0.2, 0.2), d)
    one, two = b.at(0.6, 0.1, 0.2, rpy=(0.2, 0.4, 0.1)), d.at(0.1, 0.4, 0.3, rpy=(0.5, -0.2, 0.3))
    if issubclass(CONSTRAINTS[kind], CoordinateCoupling):
        system.revolute("closing", b.at(0.4, 0, 0), c.at(0.2, 0, 0.1), axis=(1, 0, 1))
    two = system.world if on_world else two
    system.constraint("tie", kind, **FIELDS[kind](one, two))
    return system


class Case:
    """One constraint at any state."""

    def __init__(self, kind, **options):
        self.topology = find_topology(two_arms(kind, **options))
        (self.tie,) = (tie for tie in loop_constraints.loop_constraints_of(self.topology) if tie.name == "tie")
        self.holding = np.array([unit in POSITIONS for unit in self.tie.units])

    def at(self, q, u, t=0.0):
        return Snapshot(self.topology, EvaluationPoint(t, q, u))

    def measure(self, q, u, t=0.0):
        kinematics = self.at(q, u, t).kinematics
        functions = (
            loop_constraints.residual,
            loop_constraints.jacobian,
            loop_constraints.drift,
            loop_constraints.bias,
        )
        return [np.asarray(function(kinematics, self.tie), dtype=float) for function in functions]

    def state(self, seed=3):
        rng = np.random.default_rng(seed)
        q, u = 0.5 * rng.normal(size=self.topology.n_q), rng.normal(size=self.topology.n_u)
        where = self.topology.q_of["ball"]
        q[where] = np.array([1.0, 0.2, -0.3, 0.1]) / np.linalg.norm([1.0, 0.2, -0.3, 0.1])
        return q, u

    def flow(self, q, u, h):
        """Coordinates after a time h at constant speeds, by classical Runge-Kutta steps."""
        rate = lambda x: np.asarray(self.at(x, u).q_dot, dtype=float)  # noqa: E731
        k1 = rate(q)
        k2 = rate(q + h / 2 * k1)
        k3 = rate(q + h / 2 * k2)
        return q + h / 6 * (k1 + 2 * k2 + 2 * k3 + rate(q + h * k3))


def test_every_kind_is_tried():
    assert set(KINDS) == set(FIELDS)


@pytest.mark.parametrize("kind", KINDS)
def test_rates_are_derivatives_of_residuals_and_slips(kind):
    case = Case(kind)
    q, u = case.state()
    c, jacobian, drift, bias = case.measure(q, u)
    assert len(c) == len(case.tie.units) == len(drift) == len(bias)
    assert not c[~case.holding].any()  # no position mends a slip
    assert drift == pytest.approx(jacobian @ u, abs=1e-12)
    h = 1e-4
    later, before = (case.measure(case.flow(q, u, step), u) for step in (h, -h))
    held = case.holding
    # central differences: h^2 times a higher derivative, and rounding over h or h^2
    assert drift[held] == pytest.approx((later[0] - before[0])[held] / (2 * h), abs=1e-7)
    assert bias == pytest.approx((later[2] - before[2]) / (2 * h), abs=1e-6)
    for k in range(case.topology.n_u):
        unit = np.eye(case.topology.n_u)[k]
        ahead, behind = (case.measure(case.flow(q, unit, step), unit)[0] for step in (1e-5, -1e-5))
        assert jacobian[held, k] == pytest.approx((ahead - behind)[held] / 2e-5, abs=1e-8)
        assert jacobian[:, k] == pytest.approx(case.measure(q, unit)[2], abs=1e-12)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("gear", "rack")])
def test_a_driven_joint_moves_the_rows_by_itself(kind):
    case = Case(kind, drive="0.3 + 0.7*t + 0.2*t^2")
    q, u = case.state()
    t, h = 0.4, 1e-4
    _, jacobian, drift, bias = case.measure(q, u, t)
    (c1, _, d1, _), (c0, _, d0, _) = (case.measure(case.flow(q, u, s), u, t + s) for s in (h, -h))
    assert drift[case.holding] == pytest.approx((c1 - c0)[case.holding] / (2 * h), abs=1e-7)
    assert bias == pytest.approx((d1 - d0) / (2 * h), abs=1e-6)
    assert abs(drift - jacobian @ u).max() > 1e-3


@pytest.mark.parametrize("on_world", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_forces_are_in_balance_and_have_the_generalized_forces_of_the_multipliers(kind, on_world):
    case = Case(kind, on_world=on_world)
    q, u = case.state(5)
    snapshot = case.at(q, u)
    count = len(case.topology.row_units)
    own = [k for k, (name, _) in enumerate(case.topology.row_units) if name == "tie"]
    lam = np.zeros(count)
    lam[own] = np.random.default_rng(1).normal(size=len(own))
    loads = snapshot.constraints.loads(lam, "tie")
    force = sum(np.asarray(load.force, dtype=float) for load in loads)
    arms = [np.asarray(snapshot.pose(load.on).p, dtype=float) for load in loads]
    moment = sum(
        np.asarray(load.moment, dtype=float) + np.cross(arm, np.asarray(load.force, dtype=float))
        for load, arm in zip(loads, arms, strict=True)
    )
    assert force == pytest.approx(np.zeros(3), abs=1e-12)
    assert moment == pytest.approx(np.zeros(3), abs=1e-12)
    power = 0.0
    for load in loads:
        w, v = snapshot.velocity(load.on)
        power += np.dot(load.force, v) + np.dot(load.moment, w)
    jacobian = np.asarray(loop_constraints.jacobian(snapshot.kinematics, case.tie), dtype=float)
    assert power == pytest.approx(lam[own] @ jacobian @ u, abs=1e-12)  # zero for every motion that the rows allow


@pytest.mark.parametrize("kind", [kind for kind in KINDS if not issubclass(CONSTRAINTS[kind], CoordinateCoupling)])
def test_bodies_with_rows_of_their_own_say_the_same(kind):
    """Accelerations, reactions and multipliers by the recursion and by Newton and Euler."""
    found = verify(two_arms(kind), 2, compiled=False)
    assert found.ok, str(found)
    assert {row.quantity for row in found.rows} >= {"accelerations", "reactions"}
    assert "newton_euler" not in dict(found.skipped)


def test_files_hold_every_kind(tmp_path):
    for kind in KINDS:
        system = two_arms(kind)
        system.save(tmp_path / f"{kind}.yaml")
        assert yaml_files.load(tmp_path / f"{kind}.yaml") == system


@pytest.mark.parametrize(
    ("kind", "fields", "message"),
    [
        ("distance", {"a": "one", "b": "world", "distance": 0}, "must be positive"),
        ("distance", {"a": "one", "b": "one.com", "distance": 1}, "both sides are on one"),
        ("angle", {"a": "one", "b": "world", "angle": "180 deg"}, "between 0 and 180 deg"),
        ("rolling", {"wheel": "one", "radius": -1}, "must be positive"),
        ("rack", {"rack": "hinge", "pinion": "slide", "radius": 1}, "hinge does not travel"),
        ("rack", {"rack": "slide", "pinion": "hinge", "radius": 0}, "must not be zero"),
        ("rack", {"rack": "slide", "pinion": "hinges", "radius": 1}, "no joint is called 'hinges'"),
        ("gear", {"input": "hinge", "output": "hinge", "ratio": 1}, "ties a joint to itself"),
    ],
)
def test_what_cannot_hold_is_refused(kind, fields, message):
    system = System("bad")
    one, two = (system.body(name, mass=1, inertia=(1, 1, 1)) for name in ("one", "two"))
    system.revolute("hinge", system.world, one)
    system.prismatic("slide", system.world, two)
    system.constraint("tie", kind, **fields)
    with pytest.raises(ModelError, match=message):
        system.check()
