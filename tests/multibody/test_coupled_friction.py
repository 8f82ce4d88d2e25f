"""Friction by reactions: a contract for every kind of joint that rubs, loops, drives, derivatives, files and errors."""

from __future__ import annotations

import json

import numpy as np
import pytest
from example_counts import by_day, examples
from hypothesis import given
from hypothesis import strategies as st
from joint_contract import needed_fields

import kinode as kn
from kinode.model.joints.coulomb_friction import Coulomb
from kinode.model.joints.joint import JOINTS
from kinode.multibody.coupled_friction import JointFriction, find_joint_friction, solve_brakes
from kinode.multibody.snapshot import Snapshot
from kinode.structure.state_layout import EvaluationPoint
from kinode.structure.topology import find_topology
from kinode.tasks.verify import random_state

RUBBING = [kind for kind, cls in JOINTS.items() if cls.rubs is not None]
COMPILED = ("revolute", "screw", "universal", "planar")  # of each way to brake one; it is the same code
SIZES = {"coefficient": 0.2, "radius": 0.05, "thrust_radius": 0.03, "length": 0.5, "preload": 3.0, "effort": 0.1}


def friction_of(kind, **changed):
    """All that friction takes in a kind of joint."""
    given = {name: SIZES[name] for name in Coulomb.dimensions(JOINTS[kind]) if name in SIZES}
    return {"coulomb": given | changed}


def two_links(kind, back=False, friction=None, **more):
    """A hinge with friction carries the joint in question, in places without symmetry."""
    system = kn.System(kind)
    one = system.body("one", mass=1, com=(0.1, 0.2, 0.3), inertia=(0.1, 0.12, 0.13))
    two = system.body("two", mass=1.5, com=(0.2, -0.1, 0.1), inertia=(0.1, 0.12, 0.13))
    system.revolute("base", system.world, one, axis=(1, 2, 0.5), friction=friction_of("revolute"))
    sides = [one.at(0.3, 0.1, 0, rpy=(0.1, 0.2, 0.3)), two.at(0.1, 0, 0.2)]
    more |= needed_fields(kind, 0.1)
    system.joint("joint", kind, *(sides[::-1] if back else sides), friction=friction or friction_of(kind), **more)
    return system


@pytest.mark.parametrize("kind", RUBBING)
@pytest.mark.parametrize("back", by_day([False, True], 1), ids=["", "reversed"])
def test_every_formulation_finds_the_same_friction_from_its_own_reactions(kind, back):
    found = kn.verify(two_links(kind, back), 1, compiled=kind in COMPILED and not back)
    assert found.ok, found
    assert {"recursive", "newton_euler"} <= {way for row in found.rows for way in (row.one, row.two)}
    assert ("lagrange", "it has no reactions for the friction to depend on: base, joint") in found.skipped


@pytest.mark.parametrize("kind", RUBBING)
def test_friction_takes_energy_and_is_as_large_as_its_law_says(kind):
    topology = find_topology(two_links(kind, friction=friction_of(kind, slip=1e-9)))
    rng = np.random.default_rng(0)
    for _ in range(3):
        snapshot = Snapshot(topology, EvaluationPoint(*random_state(topology, rng)))
        joint = topology.system.joints["joint"]
        efforts = np.asarray(snapshot.efforts.shares("joint")["friction"], dtype=float)
        assert efforts @ snapshot.joint_state("joint")[1] < 0
        moment, force = (np.asarray(x, dtype=float) for x in snapshot.reaction("joint"))
        C = np.asarray(joint.axis_rotation(topology.system.nominal, topology.system.nominal), dtype=float)
        size, M, F = np.linalg.norm, C.T @ moment, C.T @ force
        if kind == "revolute":
            law = 0.2 * (0.05 * (size(F[:2]) + 2 * size(M[:2]) / 0.5 + 3) + 0.03 * abs(F[2])) + 0.1
        elif kind == "prismatic":
            law = 0.2 * (size(F[:2]) + 2 * size(M[:2]) / 0.5 + abs(M[2]) / 0.05 + 3) + 0.1
        elif kind == "spherical":
            law = 0.2 * 0.05 * (size(F) + 3) + 0.1
        elif kind == "planar":  # the force at the surface; turning is felt at the radius
            law = 0.2 * (abs(F[2]) + 2 * size(M[:2]) / 0.5 + 3) + 0.1
            efforts = efforts / (1, 1, 0.05)
        elif kind == "cylindrical":
            law = 0.2 * (size(F[:2]) + 2 * size(M[:2]) / 0.5 + 3) + 0.1
            efforts = efforts / (1, 0.05)
        else:
            continue  # a thread and the pins of a cross pass on their own friction, too: see tests/known
        assert size(efforts) == pytest.approx(law, rel=1e-9)


def test_pins_of_a_universal_joint_carry_the_whole_force():
    topology = find_topology(two_links("universal", friction=kn.coulomb(0.2, radius=0.05, slip=1e-9)))
    snapshot = Snapshot(topology, EvaluationPoint(*random_state(topology, np.random.default_rng(1))))
    _, force = (np.asarray(x, dtype=float) for x in snapshot.reaction("joint"))
    q = snapshot.joint_state("joint")[0]
    second = [0, np.cos(q[0]), np.sin(q[0])]  # y after the turn about x, in a's axes
    across = [np.linalg.norm(np.cross(force, axis)) for axis in ([1, 0, 0], second)]
    efforts = abs(np.asarray(snapshot.efforts.shares("joint")["friction"], dtype=float))
    np.testing.assert_allclose(efforts, 0.2 * 0.05 * np.array(across), rtol=1e-9)


def test_inverse_dynamics_has_friction_and_bias_has_not():
    dynamics = kn.compile(two_links("cylindrical"))
    rng = np.random.default_rng(2)
    t, q, u, _ = random_state(dynamics.topology, rng)
    wanted = rng.normal(size=3)
    effort = dynamics.effort(t, q, u, wanted)
    np.testing.assert_allclose(dynamics.acceleration(t, q, u, effort=effort), wanted, rtol=1e-10, atol=1e-10)
    names = ["base.effort.friction", "joint.effort.friction"]
    there = Snapshot(dynamics.topology, EvaluationPoint(t, q, u), u_dot=wanted)
    friction = np.concatenate([np.atleast_1d(there.quantity(name)) for name in names]).astype(float)
    linear = dynamics.mass_matrix(t, q) @ wanted + dynamics.bias(t, q, u)
    np.testing.assert_allclose(effort, linear - friction, rtol=1e-10)


def test_a_drive_overcomes_the_friction_of_its_joint():
    system = kn.System("spindle", gravity=(0, -9.81, 0))
    rotor = system.body("rotor", mass=2, inertia=(0.1, 0.1, 0.1))
    system.revolute("shaft", system.world, rotor, speed="5 + t", friction=kn.coulomb(0.1, radius=0.02))
    run = kn.simulate(system, 1.0, samples=3)
    np.testing.assert_allclose(run["shaft.effort.friction"], -0.1 * 0.02 * 2 * 9.81, rtol=1e-12)
    np.testing.assert_allclose(run["shaft.effort.drive"], 0.1 + 0.1 * 0.02 * 2 * 9.81, rtol=1e-12)
    assert run["shaft.effort"][1] == pytest.approx(0.1, rel=1e-12)  # what is left to accelerate the rotor


def test_derivatives_and_the_stiff_method_see_friction():
    system = two_links("revolute", friction=friction_of("revolute", slip=0.5), u=2.0)
    system.change("base", friction=friction_of("revolute", slip=0.5))
    dynamics = kn.compile(system)
    y = np.array([0.3, -0.2, 1.5, -0.8])
    exact = dynamics.rate_jacobian(0.0, y)
    h = 1e-6
    columns = [(dynamics.rate(0.0, y + h * e) - dynamics.rate(0.0, y - h * e)) / (2 * h) for e in np.eye(4)]
    np.testing.assert_allclose(exact, np.array(columns).T, rtol=1e-6, atol=1e-6)
    ends = [kn.simulate(dynamics, 0.5, method=method, samples=2)["joint.u"][-1] for method in ("dopri5", "stiff")]
    assert ends[0] == pytest.approx(ends[1], rel=1e-5)


def test_nothing_that_presses_is_no_trouble():
    """At rest without loads all roots are of zero; derivatives exist."""
    system = two_links("planar", friction=kn.coulomb(0.3, radius=0.05))
    system.change("base", friction=kn.coulomb(0.3, radius=0.05))
    system.gravity = (0.0, 0.0, 0.0)
    dynamics = kn.compile(system)
    n = dynamics.n_u
    assert not dynamics.acceleration(0.0, np.zeros(4), np.zeros(n)).any()
    assert np.isfinite(dynamics.rate_jacobian(0.0, np.zeros(2 * n + dynamics.n_z))).all()


# -- the nonlinear equations -----------------------------------------------------------------------


class Drawn(JointFriction):
    """Contacts whose brakes are norms of some components, without a mechanism; ``apart`` are pushes of teeth."""

    def __init__(self, where, ends, apart):
        self.where, self.ends, self.apart = where, ends, apart

    def brakes_of(self, W):
        from kinode.model.joints.coulomb_friction import size

        return np.array([size(W[a:b]) for a, b in self.ends])


@examples(16, nightly=100)
@given(st.integers(0, 10**6), st.integers(1, 3), st.floats(0.05, 0.97), st.booleans(), st.integers(0, 2))
def test_brakes_are_found_wherever_they_are_unique(seed, joints, radius, kinked, meshes):
    """Against turns of brakes and loads, which converge like radius^n; one component and teeth make kinks."""
    rng = np.random.default_rng(seed)
    ends = [(0, 1) if kinked else (0, int(rng.integers(2, 4))) for _ in range(joints)]
    rubbing = [Drawn(slice(i, i + 1), [end], rng.normal(size=(6, meshes))) for i, end in enumerate(ends)]
    B = [rng.normal(size=(6 + meshes, joints)) for _ in rubbing]
    C = np.array([[one.gains(b[:, k])[0] for k in range(joints)] for one, b in zip(rubbing, B, strict=True)])
    scale = radius / max(abs(np.linalg.eigvals(C)))
    B = [b * scale for b in B]
    W = [rng.normal(size=6 + meshes) * 10 ** rng.uniform(-2, 2) for _ in rubbing]
    x, sound = solve_brakes(rubbing, W, B)
    y = np.zeros(joints)
    for _ in range(int(25 / -np.log(radius)) + 1):
        y = np.array([one.brakes(w + b @ y)[0] for one, w, b in zip(rubbing, W, B, strict=True)])
    if sound:
        np.testing.assert_allclose(x, y, rtol=1e-7, atol=1e-7 * y.max())
    else:
        assert radius > 0.9  # the last steps of Newton's method are missing: said, not guessed
    assert not solve_brakes(rubbing, W, [b * 1.01 / radius for b in B])[1]


# -- loops -----------------------------------------------------------------------------------------


def four_bar(friction, ball=False):
    system = kn.System("four_bar", gravity=(0, -9.81, 0))
    crank = system.body("crank", mass=1, com=(0.1, 0, 0), inertia=(0.01, 0.02, 0.02))
    coupler = system.body("coupler", mass=2, com=(0.3, 0, 0), inertia=(0.01, 0.05, 0.05))
    rocker = system.body("rocker", mass=1.5, com=(0.2, 0, 0), inertia=(0.01, 0.03, 0.03))
    system.revolute("left", system.world, crank, q=0.9, u=3, friction=friction)
    system.revolute("right", system.world.at(0.5, 0, 0), rocker, guess=1.2)
    if ball:
        system.universal("pin", crank.at(0.2, 0, 0), coupler, axes=("z", "y"), guess=(-0.5, 0))
        system.spherical("top", coupler.at(0.6, 0, 0), rocker.at(0.4, 0, 0))
    else:
        system.revolute("pin", crank.at(0.2, 0, 0), coupler, guess=-0.5)
        system.revolute("top", coupler.at(0.6, 0, 0), rocker.at(0.4, 0, 0), friction=kn.coulomb(0.2, radius=0.01))
    return system


def test_in_a_redundant_loop_the_radial_force_is_good_enough():
    found = kn.verify(four_bar(kn.coulomb(0.2, radius=0.02)), 1)
    assert found.ok, found


@pytest.mark.parametrize(
    "sizes, component, hint",
    [
        ({"thrust_radius": 0.02}, "force along the axis", "leave out thrust_radius"),
        ({"length": 0.02}, "moment across the axis", "leave out length"),
    ],
)
def test_friction_by_a_component_that_is_not_unique_is_refused_before_the_run(sizes, component, hint):
    friction = kn.coulomb(0.2, radius=0.02, **sizes)
    with pytest.raises(kn.ModelError) as error:
        kn.compile(four_bar(friction))
    assert error.value.component == "left"
    assert error.value.field == "friction"
    assert f"depends on the {component}, which is not unique" in str(error.value)
    assert hint in str(error.value)
    assert kn.verify(four_bar(friction, ball=True), 1, compiled=False).ok  # what is not held twice is unique


def pressing_loads(kind, friction):
    """The components of the wrench that press the contacts of a joint."""
    topology = find_topology(two_links(kind, friction=friction))
    snapshot = Snapshot(topology, EvaluationPoint(*random_state(topology, np.random.default_rng(0))))
    (joint,) = (one for one in find_joint_friction(snapshot.kinematics) if one.name == "joint")
    return {load for contact in joint.contacts for load in contact.parts(np.zeros(6))}


@pytest.mark.parametrize("kind", RUBBING)
def test_a_load_does_not_count_without_its_optional_field(kind):
    whole = friction_of(kind)
    for load in pressing_loads(kind, whole):
        if load.optional_field in whole["coulomb"]:
            less = {name: value for name, value in whole["coulomb"].items() if name != load.optional_field}
            assert load not in pressing_loads(kind, {"coulomb": less})


def test_a_guide_that_carries_what_is_not_unique_is_refused():
    system = kn.System("slider_crank", gravity=(0, -9.81, 0))
    bodies = [system.body(name, mass=1, inertia=(1e-3, 1e-3, 1e-3)) for name in ("crank", "rod", "piston")]
    system.revolute("main", system.world, bodies[0], q=0.3)
    system.revolute("crankpin", *bodies[:2], at=(0.1, 0, 0))
    system.revolute("wristpin", *bodies[1:], at=(0.4, 0, 0))
    system.prismatic("bore", system.world, bodies[2], at=(0.4, 0, 0), axis="x", friction=kn.coulomb(0.1))
    with pytest.raises(kn.ModelError, match=r"bore\.friction: depends on the force across the axis, which is"):
        kn.compile(system)
    system.change("bore", friction=kn.coulomb(effort=2.0))
    assert kn.verify(system, 1, compiled=False).ok


# -- describing ------------------------------------------------------------------------------------


def test_files_hold_friction(tmp_path):
    system = two_links("cylindrical")
    system.parameter("mu", 0.2)
    system.change("joint", friction=kn.coulomb("mu", radius="50 mm", length=0.4, slip="1 mm/s"))
    system.save(tmp_path / "model.yaml")
    assert "friction: {coulomb: {coefficient: mu, radius: 0.05, length: 0.4, slip: 0.001}}" in (
        tmp_path / "model.yaml"
    ).read_text().replace("\n", " ")
    assert kn.load(tmp_path / "model.yaml").joints == system.joints
    schema = json.dumps(kn.schema())
    assert '"thrust_radius"' in schema


def test_a_parameter_changes_friction_without_compiling_anew():
    system = kn.System("block", gravity=(0, -9.81, 0))
    system.parameter("mu", 0.2)
    system.prismatic("slide", system.world, system.body("block", mass=1, inertia=(1, 1, 1)), axis="x", u=1,
                     friction=kn.coulomb("mu", slip=1e-9))  # fmt: skip
    dynamics = kn.compile(system)
    for mu in (0.2, 0.5):
        assert dynamics.acceleration(0.0, [0.0], [1.0], p={"mu": mu})[0] == pytest.approx(-mu * 9.81, rel=1e-12)


@pytest.mark.parametrize(
    "kind, friction, said",
    [
        ("fixed", kn.coulomb(0.1), "a fixed joint has none: it does not move"),
        ("free", kn.coulomb(0.1), "a free joint has none: nothing touches"),
        ("revolute", 0.1, "takes coulomb with its numbers, not 0.1"),
        ("revolute", {"viscous": {}}, "takes coulomb"),
        ("revolute", {"coulomb": 0.1}, "coulomb takes coefficient, radius"),
        ("revolute", kn.coulomb(0.1), "friction.radius: is needed: where the surfaces of the bearing slide"),
        ("screw", kn.coulomb(0.1), "friction.radius: is needed: the mean radius of the thread"),
        ("revolute", kn.coulomb(), "needs a coefficient, or an effort"),
        ("revolute", kn.coulomb(-0.1, radius=0.1), "friction.coefficient: must not be negative, not -0.1"),
        ("revolute", kn.coulomb(0.1, radius=0), "friction.radius: must be positive, not 0"),
        ("revolute", kn.coulomb(0.1, radius="2 kg"), "friction.radius"),
        (
            "prismatic",
            kn.coulomb(0.1, thrust_radius=0.1),
            "in a prismatic joint coulomb friction has no 'thrust_radius'",
        ),
        ("revolute", {"coulomb": {"coeficient": 0.1}}, "did you mean coefficient"),
    ],
)
def test_what_cannot_be_is_refused_by_name(kind, friction, said):
    system = kn.System("bad")
    body = system.body("body", mass=1)
    more = needed_fields(kind, 0.1)
    with pytest.raises(kn.Error, match=r"hinge\.friction") as error:
        system.joint("hinge", kind, system.world, body, friction=friction, **more)
    assert said in str(error.value)


def test_laws_cannot_use_what_depends_on_reactions():
    system = two_links("revolute")
    system.signal("rub", "joint.effort.friction")
    with pytest.raises(kn.LawError, match="depends on accelerations or reactions"):
        kn.compile(system)


def test_large_trees_with_friction_are_written_out():
    system = kn.System("chain")
    last = system.world
    for k in range(42):
        body = system.body(f"b{k}", mass=1, com=(0.1, 0, 0), inertia=(0.01, 0.01, 0.01))
        system.revolute(f"j{k}", last, body, axis="y", friction=kn.coulomb(0.1, radius=0.01) if k == 20 else None)
        last = body.at(0.2, 0, 0)
    dynamics = kn.compile(system)
    q, u = np.linspace(0, 1, 42), np.linspace(1, -1, 42)
    effort = dynamics.effort(0.0, q, u, np.ones(42))
    smooth = system.copy()
    smooth.change("j20", friction=None)
    apart = effort - kn.compile(smooth).effort(0.0, q, u, np.ones(42))
    assert apart[20] != 0
    assert abs(np.delete(apart, 20)).max() < 1e-9


def test_a_summary_shows_friction():
    shown = " ".join(str(two_links("screw", friction=kn.coulomb(0.1, radius="12 mm")).summary()).split())
    assert "friction (coefficient 0.1, radius 0.012 m)" in shown
