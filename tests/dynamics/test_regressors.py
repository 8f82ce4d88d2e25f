"""The regressor: against changed models and Pinocchio; base parameters of known arms; fits and exciting motions."""

from __future__ import annotations

from importlib.metadata import distribution
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from compiled_examples import compiled_example

import kinode as kn

TEN = 10
ORDER = [0, 1, 2, 3, 4, 7, 5, 8, 9, 6]  # of our inertias xx yy zz xy xz yz in Pinocchio's xx xy yy xz yz zz


def draw(dynamics, count=None, seed=0):
    """Random coordinates, speeds and accelerations; quaternions have length one."""
    rng = np.random.default_rng(seed)
    shape = () if count is None else (count,)
    q = rng.uniform(-0.7, 0.7, (*shape, dynamics.n_q))
    for name, place in dynamics.topology.q_of.items():
        entries = [c.kind for c in dynamics.coordinates if c.role == "q" and c.joint == name]
        turned = [place.start + k for k, kind in enumerate(entries) if kind == "dimensionless"]
        if turned:
            q[..., turned] /= np.linalg.norm(q[..., turned], axis=-1, keepdims=True)
    return q, *rng.uniform(-2.0, 2.0, (2, *shape, dynamics.n_u))


@pytest.mark.parametrize(
    "name", ["double_pendulum", "excavator", "gyroscope", "leg", "spinning_shell", "four_bar", "motor_axis"]
)
def test_efforts_of_a_changed_model(name):
    """Another mass, mass center and inertia of one body change the efforts by the columns of that body."""
    dynamics = compiled_example(name)
    system = dynamics.system
    q, u, u_dot = draw(dynamics)
    regressor = dynamics.regressor(0.3, q, u, u_dot)
    before = dynamics.effort(0.3, q, u, u_dot)
    assert regressor.effort == pytest.approx(before, rel=1e-12, abs=1e-12)
    for body in {each.split(".mass")[0] for each in regressor.names if each.endswith(".mass")}:
        inertia, central = (
            find(system.nominal) for find in (system.bodies[body].rigid_inertia, system.bodies[body].central_inertia)
        )
        c = np.array(inertia.moment / inertia.mass if inertia.mass else [0.0] * 3, dtype=float) + [0.03, -0.02, 0.05]
        mass = 1.3 * float(inertia.mass) + 0.2
        added = [[0.5, 0.04, 0.0], [0.04, 0.6, 0.0], [0.0, 0.0, 0.7]]
        J = 1.3 * np.array(central, dtype=float) + added + mass * (c @ c * np.eye(3) - np.outer(c, c))
        other, given = system.copy(), {} if system.bodies[body].solid is None else {"shape": None}
        entries = (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])
        other.change(body, **given, mass=mass, com=tuple(c), inertia=entries, about="origin")
        change = kn.compile(other).effort(0.3, q, u, u_dot) - before
        numbers = np.array([mass, *(mass * c), *entries])
        own = np.array([regressor.values[k] for k, each in enumerate(regressor.names) if each.startswith(f"{body}.")])
        assert regressor[body] @ (numbers - own) == pytest.approx(change, rel=1e-9, abs=1e-10 * abs(change).max())


@pytest.mark.parametrize("robot", ["ur5_robot.urdf", "panda.urdf"])
def test_columns_are_those_of_pinocchio(robot):
    files = distribution("example-robot-data").files or []
    path = next(Path(str(file.locate())) for file in files if file.name == robot)
    dynamics, model = kn.compile(kn.load(path, mimic=False)), pin.buildModelFromUrdf(str(path))
    order = [model.names.tolist().index(c.joint) - 1 for c in dynamics.coordinates if c.role == "q"]
    assert sorted(order) == list(range(model.nq))
    q, u, u_dot = draw(dynamics)
    theirs = [np.empty(model.nq) for _ in range(3)]
    for array, own in zip(theirs, (q, u, u_dot), strict=True):
        array[order] = own
    columns = pin.computeJointTorqueRegressor(model, model.createData(), *theirs)[order]
    regressor = dynamics.regressor(0.0, q, u, u_dot, friction=False)
    for name, joint in dynamics.system.joints.items():
        if name in model.names:
            place = TEN * (model.names.tolist().index(name) - 1)
            expected = columns[:, place : place + TEN]
            assert abs(regressor[joint.b.body][:, ORDER] - expected).max() < 1e-10 * abs(columns).max()


def test_batch_parameters_and_friction():
    dynamics = compiled_example("double_pendulum")
    q, u, u_dot = draw(dynamics, 5)
    many = dynamics.regressor(0.0, q, u, u_dot, p={"L": 0.8})
    one = dynamics.regressor(0.0, q[3], u[3], u_dot[3], p={"L": 0.8})
    assert np.asarray(one) == pytest.approx(many.matrix[3], rel=1e-12, abs=1e-9)
    assert abs(many.matrix - dynamics.regressor(0.0, q, u, u_dot).matrix).max() > 0.1
    joint = next(each for each in many.names if each.endswith(".coulomb")).removesuffix(".coulomb")
    place = many.speeds.index(f"{joint}.u")
    assert many[f"{joint}.coulomb"][:, place].tolist() == np.sign(u[:, place]).tolist()
    assert many[f"{joint}.viscous"][:, place].tolist() == u[:, place].tolist()
    with pytest.raises(kn.ArgumentError, match=r"upper\.mass"):
        many["upper.mas"]


def test_friction_of_the_model_is_no_part_of_the_columns():
    """Sliding friction in proportion to reactions is not linear in the masses; it stays in the rest."""
    system = kn.System("arm", gravity=(0, -9.81, 0))
    arm = system.body("arm", mass=2, com=(0.4, 0, 0), inertia=(0.1, 0.1, 0.1))
    system.revolute(
        "pivot",
        system.world,
        arm,
        axis="z",
        damping=0.3,
        friction={"coulomb": {"coefficient": 0.2, "radius": 0.05, "slip": 0.01}},
    )
    dynamics = kn.compile(system)
    regressor = dynamics.regressor(0.0, [0.2], [1.5], [0.7])
    assert regressor["arm.mass_moment.x"] == pytest.approx([9.81 * np.cos(0.2)], rel=1e-12)
    assert dict(zip(regressor.names, regressor.values, strict=True))["pivot.viscous"] == 0.3
    assert regressor.rest[0] > 0.1  # friction: about 0.2 * 20 N * 0.05 m


# -- base parameters -------------------------------------------------------------------------------
def test_base_parameters_of_a_plane_arm():
    """By hand: the outer mass acts as a point at the elbow; of each arm the mass moment and the inertia are felt."""
    dynamics = compiled_example("double_pendulum")
    base = dynamics.regressor(0.0, *draw(dynamics, 60), friction=False).base()
    assert base.names == (
        "upper.mass_moment.x + 0.5*lower.mass", "upper.mass_moment.y", "upper.inertia.zz + 0.25*lower.mass",
        "lower.mass_moment.x", "lower.mass_moment.y", "lower.inertia.zz",
    )  # fmt: skip
    assert "upper.mass" in base.unseen and "lower.inertia.xy" in base.unseen
    assert base.condition < 20.0
    assert "0.5*lower.mass" in str(base) and "no effort depends on" in str(base)


def test_base_parameters_give_the_efforts():
    dynamics = compiled_example("ur5")
    q, u, u_dot = draw(dynamics, 80)
    regressor = dynamics.regressor(0.0, q, u, u_dot, friction=False)
    base = regressor.base()
    assert len(base) == 36  # of a six-axis arm whose first axis is vertical: 52 less those that gravity does not show
    effort = regressor.matrix[..., base.independent] @ base.values + regressor.rest
    assert effort == pytest.approx(dynamics.effort(0.0, q, u, u_dot), rel=1e-9, abs=1e-9)


# -- fits ------------------------------------------------------------------------------------------
def measure(truth, states, noise, seed=1):
    """Efforts of a true system at some states, with noise."""
    clean = truth.effort(0.0, *states)
    return clean + np.random.default_rng(seed).normal(0.0, noise, clean.shape)


@pytest.fixture(scope="module")
def arm():
    """A plane arm whose model is wrong, and the true one."""
    wrong, truth = kn.load("examples/double_pendulum.yaml"), kn.load("examples/double_pendulum.yaml")
    truth.change("upper", mass=2.6)
    truth.change("lower", mass=1.4, com=(0.27, 0.03, 0.0))
    truth.change("elbow", damping=0.15)
    return kn.compile(wrong), kn.compile(truth)


def test_a_fit_without_noise_is_exact(arm):
    dynamics, truth = arm
    states = draw(dynamics, 60)
    fit = dynamics.regressor(0.0, *states).fit(measure(truth, states, 0.0))
    assert fit["elbow.viscous"] == pytest.approx(0.15, rel=1e-9)
    assert fit["lower.mass_moment.y"] == pytest.approx(1.4 * 0.03, rel=1e-9)
    others = draw(dynamics, 5, seed=9)
    efforts = kn.compile(fit.system).effort(0.0, *others)
    assert efforts == pytest.approx(truth.effort(0.0, *others), rel=1e-8)
    assert not fit.bounded and "lower.inertia.zz" in str(fit)


def test_deviations_are_those_of_many_fits(arm):
    """Over 200 noises the base parameters are within 1.96 deviations in 90 to 99 % of all cases."""
    dynamics, truth = arm
    states = draw(dynamics, 40)
    regressor = dynamics.regressor(0.0, *states)
    exact = regressor.fit(measure(truth, states, 0.0)).base_values
    inside = []
    for seed in range(200):
        fit = regressor.fit(measure(truth, states, 0.05, seed), consistent=False)
        inside.append(abs(fit.base_values - exact) < 1.96 * fit.base_deviations)
    assert 0.90 < np.mean(inside) < 0.99


def test_no_impossible_body(arm):
    """Few and noisy data ask for a negative inertia; the fit stays with bodies that can exist."""
    dynamics, truth = arm
    q, u, u_dot = draw(dynamics, 30)
    states = q, 0.05 * u, 0.05 * u_dot  # slow: hardly any inertia is felt
    regressor, tried = dynamics.regressor(0.0, *states), 0
    for seed in range(3):
        measured = measure(truth, states, 0.5, seed)
        free, fit = regressor.fit(measured, consistent=False), regressor.fit(measured)
        for body in ("upper", "lower"):
            m, *h, xx, yy, zz, xy, xz, yz = (fit[name] for name in regressor.names if name.startswith(f"{body}."))
            J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
            central = J - m * (np.dot(h, h) / m**2 * np.eye(3) - np.outer(h, h) / m**2)
            moments = np.linalg.eigvalsh(central)
            assert m > 0 and moments[0] >= -1e-9 and moments[0] + moments[1] >= moments[2] - 1e-9
        tried += free["lower.inertia.zz"] < 0.0
    fit.system.check()
    assert fit.bounded and "bound" in str(fit)
    assert tried  # else the test shows nothing


def test_a_fit_that_cannot_be(arm):
    dynamics, _ = arm
    states = draw(dynamics, 4)
    regressor = dynamics.regressor(0.0, *states)
    with pytest.raises(kn.ArgumentError, match="do not suffice"):
        regressor.fit(np.zeros((4, 2)))
    with pytest.raises(kn.ArgumentError, match=r"\(4, 2\)"):
        regressor.fit(np.zeros(4))
    with pytest.raises(kn.ArgumentError, match="weights"):
        regressor.fit(np.zeros((4, 2)), weights=[1.0, 0.0])
    with pytest.raises(kn.ArgumentError, match="many states"):
        dynamics.regressor(0.0, *draw(dynamics)).fit(np.zeros(2))
    loop = compiled_example("four_bar")
    with pytest.raises(kn.ArgumentError, match="loops"):
        loop.regressor(0.0, *draw(loop, 20)).fit(np.zeros((20, loop.n_u)))


# -- exciting motions ------------------------------------------------------------------------------
def test_exciting_motion_keeps_its_limits_and_tells_more():
    dynamics = compiled_example("double_pendulum")
    limits = {"shoulder.q": ("-40 deg", "60 deg"), "elbow.u": 2.0, "shoulder.u_dot": 5.0}
    first, best = (dynamics.exciting_motion(6.0, harmonics=3, limits=limits, iterations=n) for n in (0, 5))
    for motion in (first, best):
        assert np.deg2rad(-40) <= motion.q[:, 0].min() and motion.q[:, 0].max() <= np.deg2rad(60)
        assert abs(motion.u[:, 1]).max() <= 2.0 and abs(motion.u_dot[:, 0]).max() <= 5.0
        assert np.gradient(motion.q[:, 1], motion.t)[5:-5] == pytest.approx(motion.u[5:-5, 1], abs=0.05)
    told = [
        np.linalg.slogdet(M.T @ M)[1]
        for M in (dynamics.regressor(0.0, m.q, m.u, m.u_dot).stacked[:, m.base.independent] for m in (first, best))
    ]
    assert told[1] > told[0] + 0.5  # by a factor of 1.6 of the determinant


def test_exciting_motion_as_laws():
    dynamics = compiled_example("double_pendulum")
    motion = dynamics.exciting_motion(4.0, harmonics=2, iterations=1)
    system = dynamics.system.copy()
    for name, law in motion.laws.items():
        system.change(name.removesuffix(".q"), motion=law, q=None, u=None)
    run = kn.simulate(system, float(motion.t[-1]), times=motion.t)
    assert run["elbow.q"] == pytest.approx(motion.q[:, 1], abs=1e-9)
    assert run["elbow.u"] == pytest.approx(motion.u[:, 1], abs=1e-9)


@pytest.mark.parametrize("limits, words", [
    ({"elbow.q": 2.0}, "range"), ({"elbow.q": (2.0, 1.0)}, "lower"), ({"elbow.u": -1.0}, "positive"),
    ({"elbw.u": 1.0}, "elbow.u"),
])  # fmt: skip
def test_limits_that_are_none(limits, words):
    with pytest.raises(kn.ArgumentError, match=words):
        compiled_example("double_pendulum").exciting_motion(limits=limits)


def test_exciting_motion_is_for_trees_of_plain_joints():
    for name, words in (("four_bar", "loop"), ("spinning_shell", "turn about axes")):
        with pytest.raises(kn.ArgumentError, match=words):
            compiled_example(name).exciting_motion()
