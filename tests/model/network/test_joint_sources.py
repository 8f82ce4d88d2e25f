"""Sources and parts on the third link of joints: what they mean, what they tell, what is refused."""

import numpy as np
import pytest

import kinode as kn

TIGHT = {"rtol": 1e-10, "atol": 1e-12}


def one_body(kind="revolute", **fields):
    system = kn.System("one", gravity=(0.3, -9.81, 0.2))
    body = system.body("body", mass=2.0, com=(0.1, 0.05, -0.02), inertia=(0.4, 0.5, 0.6))
    system.joint("KN", kind, system.world, body, **fields)
    return system


# -- one freedom -------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "kind, source, law, field, text",
    [
        ("revolute", "speed_source", "speed", "speed", "sin(2*t) + 0.3"),
        ("revolute", "angle_source", "angle", "motion", "0.4*sin(2*t)"),
        ("revolute", "moment_source", "moment", "effort", "3*cos(t)"),
        ("prismatic", "velocity_source", "velocity", "speed", "sin(2*t) + 0.3"),
        ("prismatic", "position_source", "position", "motion", "0.4*sin(2*t)"),
        ("prismatic", "force_source", "force", "effort", "3*cos(t)"),
        ("screw", "speed_source", "speed", "speed", "cos(t)"),
    ],
)
def test_a_source_on_a_joint_means_its_field(kind, source, law, field, text):
    lead = {"lead": "10 mm"} if kind == "screw" else {}
    connected, written = one_body(kind, **lead), one_body(kind, **lead, **{field: text})
    connected.element("E", source, a="KN.3", **{law: text})
    run, other = (kn.simulate(system, 1.0, samples=21, **TIGHT) for system in (connected, written))
    for name in ("KN.q", "KN.u", "KN.u_dot", "KN.reaction.force", "KN.reaction.moment"):
        assert np.allclose(run[name], other[name], rtol=0, atol=1e-9), name
    flow = "force" if kind == "prismatic" else "moment"
    assert np.allclose(run[f"E.{flow}"], other["KN.effort.drive"], atol=1e-9)
    assert np.allclose(run["E.power"], -other["KN.power.drive"], atol=1e-9)
    assert np.allclose(run[f"E.a.{flow}"], -run[f"E.b.{flow}"]) and np.allclose(run["E.b.speed"], 0.0)
    assert np.allclose(run["E.a.speed"], run["KN.u"])
    assert "all agree" in str(kn.verify(connected, 2, compiled=False))


def test_the_words_of_a_source_at_its_other_port():
    system = one_body()
    system.speed_source("E", a="world", b="KN", speed="1 + t", initial_angle="-0.2 rad")
    run = kn.simulate(system, 1.0, **TIGHT)
    assert run["KN.u"] == pytest.approx(-(1 + run.t)) and run["KN.q"][0] == pytest.approx(0.2)
    assert run["E.speed"] == pytest.approx(1 + run.t) and run["E.angle"][0] == pytest.approx(-0.2)
    assert run["E.moment"] == pytest.approx(-run["KN.effort.drive"])
    assert run["E.b.moment"] == pytest.approx(-run["KN.effort.drive"])


def test_sources_are_declared_records_still():
    system = one_body()
    system.speed_source("E", "KN.3", speed="2*t")
    assert system.joints["KN"].driven and not system.declared_joints["KN"].driven
    system.change("E", speed="3*t")
    system.change("KN", damping=0.5)
    assert kn.simulate(system, 1.0)["KN.u"][-1] == pytest.approx(3.0)
    copy = system.copy()
    assert copy == system and "speed" not in system.as_declared().joints["KN"].given()
    outer = kn.System("outer", gravity=system.gravity)
    outer.add("arm", system)
    assert kn.simulate(outer, 1.0)["arm.E.moment"][-1] == pytest.approx(kn.simulate(system, 1.0)["E.moment"][-1])
    drawn = kn.diagram(system).components
    assert "E" in drawn and "KN.speed" not in drawn


def test_other_tasks_know_what_a_source_prescribes():
    system = one_body()
    system.speed_source("E", "KN", speed="2*t", initial_angle=0.1)
    assert kn.mobility(system).driven == 1
    assert "velocity source 2*t" in str(kn.operating_space(system))
    assert "1 more driven" in system.summary() and "speed_source, a KN" in system.summary()


@pytest.mark.parametrize(
    "kind, fields, sources, said",
    [
        ("revolute", {}, {"E": ("speed_source", "KN", 1), "F": ("speed_source", "KN.3", 2)}, "E and F both decide"),
        ("revolute", {"speed": "1"}, {"E": ("speed_source", "KN", 1)}, "KN has its speed= already"),
        ("revolute", {"q": 1.0}, {"E": ("angle_source", "KN", 1)}, "KN, whose q is given by the motion law"),
        ("revolute", {}, {"E": ("speed_source", "KN", "2*KN.q")}, "E.speed: a prescribed speed may depend on t"),
        ("revolute", {}, {"E": ("speed_source", "KM.3", 1)}, "E.a: KM.3 is the third link of a joint, and no joint"),
        ("revolute", {}, {"E": ("velocity_source", "KN", 1)}, "E.a: is translational, and KN.angle turns"),
        ("cylindrical", {}, {"E": ("speed_source", "KN.angle", 1)}, "one freedom of KN.*KN.travel, KN.angle a source"),
        ("cylindrical", {}, {"E": ("speed_source", "KN.angle", 1), "F": ("position_source", "KN.travel", 1)},
         "prescribe speeds and positions of one joint"),
        ("spherical", {}, {f"E{x}": ("angle_source", f"KN.3.{x}", 0) for x in "xyz"}, "turns by a quaternion"),
        ("fixed", {}, {"E": ("speed_source", "KN", 1)}, "KN is fixed and has no freedom"),
    ],
)  # fmt: skip
def test_what_sources_on_joints_cannot_say(kind, fields, sources, said):
    system = one_body(kind, **fields)
    laws = {"speed_source": "speed", "angle_source": "angle", "velocity_source": "velocity",
            "position_source": "position"}  # fmt: skip
    for name, (source, at, law) in sources.items():
        system.element(name, source, a=at, **{laws[source]: law})
    with pytest.raises(kn.ModelError, match=said):
        kn.compile(system)


def test_what_a_source_delivers_cannot_be_used_in_laws():
    system = one_body()
    system.speed_source("E", "KN", speed="sin(t)")
    system.signal("moment", "E.moment")
    with pytest.raises(kn.LawError, match=r"E.moment depends on accelerations"):
        system.check()


# -- several freedoms --------------------------------------------------------------------------------------
def test_all_freedoms_of_a_cylindrical_joint():
    system, other = one_body("cylindrical"), one_body("cylindrical", speed=("0.2*t", "cos(t)"))
    system.speed_source("turn", "KN.3.angle", speed="cos(t)")
    system.velocity_source("push", "KN.3.travel", velocity="0.2*t")
    run, same = (kn.simulate(x, 1.0, samples=11, **TIGHT) for x in (system, other))
    assert np.allclose(run["KN.q"], same["KN.q"], atol=1e-10)
    assert np.allclose(np.column_stack([run["push.force"], run["turn.moment"]]), same["KN.effort"], atol=1e-9)


@pytest.mark.parametrize("kind", ["spherical", "free"])
def test_parts_on_quasi_velocities_are_those_of_the_joint(kind):
    start = {"u": (1.0, 2.0, 3.0)} if kind == "spherical" else {"velocity": (1, 0, 0.4), "angular_velocity": (1, 2, 3)}
    system = one_body(kind, **start)
    names, units = zip(*system.joints["KN"].coordinates, strict=True)
    damping = [0.1 * (k + 1) for k in range(len(names))]
    for name, unit, b in zip(names, units, damping, strict=True):
        part = "shaft_damper" if unit == "angle" else "slide_damper"
        system.element(f"d_{name}", part, a=f"KN.3.{name}", damping=b)
    other = one_body(kind, damping=damping, **start)
    run, same = (kn.simulate(x, 1.0, samples=11, **TIGHT) for x in (system, other))
    assert np.allclose(run["KN.q"], same["KN.q"], atol=1e-8) and run.audit.relative < 1e-8
    last = names[-1]
    assert run[f"KN.{last}.speed"] == pytest.approx(run[f"KN.u.{last}"])
    fine = kn.simulate(system, 1.0, samples=2001, **TIGHT)
    speeds = fine[f"KN.u.{last}"]
    turned = float(np.sum((speeds[1:] + speeds[:-1]) / 2 * np.diff(fine.t)))
    assert fine[f"KN.{last}.angle"][-1] == pytest.approx(turned, abs=1e-6)  # the integral of the quasi-velocity


def test_speeds_of_a_ball_are_prescribed_by_three_sources():
    laws = dict(zip("xyz", ("sin(t)", "0.3", "cos(t)"), strict=True))
    system, other = one_body("spherical"), one_body("spherical", speed=tuple(laws.values()))
    for x, law in laws.items():
        system.speed_source(f"E{x}", f"KN.3.{x}", speed=law)
    run, same = (kn.simulate(one, 1.0, samples=11, **TIGHT) for one in (system, other))
    assert np.allclose(run["KN.q"], same["KN.q"], atol=1e-10)
    assert np.allclose(run["Ey.moment"], same["KN.effort"][:, 1], atol=1e-9)
    with pytest.raises(kn.LawError, match=r"no quantity 'angle'"):
        run["Ex.angle"]


def test_inertia_on_a_quasi_velocity_is_condensed():
    """A rotor behind a gear adds ratio^2 times its inertia to one quasi-velocity: every formulation agrees."""
    system = one_body("spherical", u=(1.0, 2.0, 3.0))
    system.shaft_inertia("rotor", "shaft", inertia=1e-3)
    system.gearbox("gear", "shaft", "KN.y", ratio=10)
    dynamics = kn.compile(system)
    plain = kn.compile(one_body("spherical"))
    q = [1.0, 0, 0, 0]
    extra = dynamics.mass_matrix(0.0, q) - plain.mass_matrix(0.0, q)
    assert extra == pytest.approx(np.diag([0.0, 0.1, 0.0]), abs=1e-12)
    assert "all agree" in str(kn.verify(system, 2, compiled=False))


def test_sources_follow_the_freedoms_of_a_joint_that_is_taken_apart():
    system = one_body("cylindrical")
    system.speed_source("turn", "KN.3.angle", speed="cos(t)")
    system.velocity_source("push", "KN.travel", velocity="0.2*t")
    run, apart = (kn.simulate(x, 1.0, samples=5, **TIGHT) for x in (system, system.decomposed()))
    assert np.allclose(run["turn.moment"], apart["turn.moment"], atol=1e-9)
    ball = one_body("spherical")
    ball.shaft_damper("rub", "KN.x", damping=1)
    with pytest.raises(kn.ModelError, match=r"rub.a: acts on KN.x, which is no freedom of KN.yaw"):
        ball.decomposed()
