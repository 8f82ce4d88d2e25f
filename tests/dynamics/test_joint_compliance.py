"""Reactions that rigid bodies leave open, shared by compliances of joints: against closed forms and real springs."""

import numpy as np
import pytest

import kinode as kn

PLACES = (0.0, 0.7, 2.0)  # of three supports along a beam
STIFFNESS = (2e9, 5e8, 1e9)  # N/m
LOAD, AT = 1000.0, 1.2  # N, m
# Forces of 1 kN by equations of condition 1e4: 1e-9 of them is left by rounding.
SAME = 1e-9


def on_springs():
    """Loads of a rigid beam on three springs: k (a + b x), with the balances of force and moment."""
    k, x = np.array(STIFFNESS), np.array(PLACES)
    A = np.array([[k.sum(), k @ x], [k @ x, k @ x**2]])
    a, b = np.linalg.solve(A, [LOAD, LOAD * AT])
    return k * (a + b * x)


def beam(compliances):
    """A beam along x on three shoes, each of which holds its height alone, without gravity and pushed down."""
    system = kn.System("beam", gravity=(0, 0, 0))
    bar = system.body("bar", mass=2, com=(1, 0, 0), inertia=(0.01, 0.7, 0.7))
    for k, (x, compliance) in enumerate(zip(PLACES, compliances, strict=True)):
        shoe = system.body(f"shoe{k}", mass=0.1, inertia=(0.01, 0.01, 0.01))
        fields = {} if compliance is None else {"compliance": compliance}
        system.planar(f"sole{k}", system.world.at(x, 0, 0), shoe, axis="y", **fields)
        system.spherical(f"knee{k}", shoe, bar.at(x, 0, 0))
    system.force("push", bar.at(AT, 0, 0), (0, -LOAD, 0))
    return system


def heights(system):
    """Forces of the supports and how they were shared."""
    dynamics = kn.compile(system)
    start = dynamics.initial
    found = dynamics.reactions(start.t, start.q, start.u)
    return np.array([found[f"sole{k}"].force[1] for k in range(3)]), [found[f"sole{k}"] for k in range(3)]


def test_a_beam_on_three_supports_is_a_beam_on_three_springs():
    forces, wrenches = heights(beam([{"axial": 1 / k} for k in STIFFNESS]))
    assert forces == pytest.approx(on_springs(), rel=SAME)
    for wrench in wrenches:
        assert not wrench.unique and wrench.shared == "compliance"
        assert wrench.components == (True, False, True, True, True, True)


def test_without_compliances_the_norm_is_least():
    """Then every force costs the same: the springs are equal."""
    forces, wrenches = heights(beam([None] * 3))
    x = np.array(PLACES)
    A = np.array([[3, x.sum()], [x.sum(), x @ x]])
    # each support is a shoe with a ball on top, and both carry its force
    a, b = np.linalg.solve(A, [LOAD, LOAD * AT])
    assert forces == pytest.approx(a + b * x, rel=SAME)
    assert all(wrench.shared == "least norm" for wrench in wrenches)


def test_a_rigid_support_takes_what_the_soft_ones_need_not():
    """Only the middle one gives: the outer two carry the load as a beam on two supports does."""
    forces, _ = heights(beam([None, {"axial": "1 um/N"}, None]))
    share = AT / PLACES[2]
    assert forces == pytest.approx([LOAD * (1 - share), 0.0, LOAD * share], abs=SAME * LOAD)


def test_real_springs_in_the_limit():
    """The beam held by stiff springs in equilibrium: their tensions are the shared reactions."""
    system = kn.System("sprung", gravity=(0, 0, 0))
    bar = system.body("bar", mass=2, com=(1, 0, 0), inertia=(0.01, 0.7, 0.7))
    system.planar("free", system.world, bar)
    for k, (x, stiffness) in enumerate(zip(PLACES, STIFFNESS, strict=True)):
        ends = bar.at(x, 0, 0), system.world.at(x, 10, 0)
        system.spring(f"rod{k}", *ends, stiffness=stiffness, free_length=10)
    system.force("push", bar.at(AT, 0, 0), (0, -LOAD, 0), expressed_in="world")
    dynamics = kn.compile(system)
    q, still = np.zeros(3), np.zeros(3)
    for _ in range(10):  # Newton, the stiffness by the compiled derivative
        slope = dynamics.rate_jacobian(0.0, np.concatenate([q, still]))[3:, :3]
        q = q - np.linalg.lstsq(slope, dynamics.acceleration(0.0, q, still), rcond=None)[0]
    assert abs(q).max() < 1e-5  # m: it is stiff
    names = [f"rod{k}.tension" for k in range(3)]
    tensions = list(dynamics.evaluate(names, 0.0, q, still).values())
    forces, _ = heights(beam([{"axial": 1 / k} for k in STIFFNESS]))
    assert forces == pytest.approx(np.array(tensions), rel=1e-6)  # the springs give by 1e-6 of their length


def door(**fields):
    """A door of 40 kg that hangs in two hinges, 1.6 m apart, about z; the upper one is named second."""
    system = kn.System("door")
    leaf = system.body("leaf", mass=40, com=(0.45, 0, 1.0), inertia=(10, 12, 3))
    system.revolute("lower", system.world.at(0, 0, 0.2), leaf.at(0, 0, 0.2), **fields.get("lower", {}))
    system.revolute("upper", system.world.at(0, 0, 1.8), leaf.at(0, 0, 1.8), **fields.get("upper", {}))
    return system


def test_two_hinges_of_a_door():
    """Weight by axial stiffness; the couple by radial and tilting stiffness, least energy with a multiplier."""
    radial, tilt, axial = 1e-8, 1e-5, {"lower": 2e-8, "upper": 6e-8}
    each = {name: {"compliance": {"axial": c, "radial": radial, "tilt": tilt}} for name, c in axial.items()}
    dynamics = kn.compile(door(**each))
    start = dynamics.initial
    found = dynamics.reactions(start.t, start.q, start.u)
    weight, arm, apart = 40 * 9.81, 0.45, 1.6
    total = sum(axial.values())
    assert found["lower"].force[2] == pytest.approx(weight * axial["upper"] / total, rel=SAME)
    assert found["upper"].force[2] == pytest.approx(weight * axial["lower"] / total, rel=SAME)
    # H apart + 2 M = weight arm, with the least  radial H^2 + tilt M^2
    multiplier = weight * arm / (apart**2 / (2 * radial) + 2 / tilt)
    couple, moment = multiplier * apart / (2 * radial), multiplier / tilt
    assert found["upper"].force[0] == pytest.approx(-couple, rel=SAME)
    assert found["lower"].force[0] == pytest.approx(couple, rel=SAME)
    for name in axial:
        assert found[name].moment == pytest.approx([0, -moment, 0], rel=SAME, abs=SAME * weight)
        assert found[name].shared == "compliance"


def test_a_run_its_names_and_compiled_functions_say_the_same():
    each = {
        "lower": {"compliance": {"force": [1e-8, 1e-8, "2e-8 m/N"], "moment": "1e-6 rad/(N*m)"}, "q": 0.3, "u": 1.0},
        "upper": {"compliance": {"radial": 3e-8, "axial": 1e-8, "tilt": 2e-6}},
    }
    run = kn.simulate(door(**each), 0.5, samples=4)
    wrench = run.reaction("upper")
    found = run.dynamics.reactions(run.t, run.q, run.u)["upper"]
    for part in ("force", "moment"):
        assert np.array_equal(getattr(wrench, part), run[f"upper.reaction.{part}"])
        assert getattr(found, part) == pytest.approx(getattr(wrench, part), abs=1e-9)
        assert run.dynamics.evaluate(f"upper.reaction.{part}", run.t, run.q, run.u)[
            f"upper.reaction.{part}"
        ] == pytest.approx(getattr(wrench, part), abs=1e-9)
    one = run.dynamics.reactions(run.t[2], run.q[2], run.u[2])["upper"]
    assert one.force == pytest.approx(wrench.force[2], abs=1e-9)
    assert one.components == wrench.components == (False, False, False, False, False, True)
    # the whole leaf: both hinges and the weight, whatever the sharing
    both = sum(run.reaction(name, on="leaf", expressed_in="world").force for name in ("lower", "upper"))
    needed = 40 * (run["leaf.com.acceleration"] + [0, 0, 9.81])
    assert both == pytest.approx(needed, abs=1e-8)
    # about another point and in other axes the change comes along
    about = run.reaction("upper", about="leaf.com", expressed_in="leaf")
    R, arm = run["leaf.rotation"], run["upper.child.position"] - run["leaf.com.position"]
    in_world = [np.einsum("tij,tj->ti", run["upper.parent.rotation"], x) for x in (wrench.force, wrench.moment)]
    assert np.einsum("tij,tj->ti", R, about.force) == pytest.approx(in_world[0], abs=1e-9)
    moment = in_world[1] + np.cross(arm, in_world[0])
    assert np.einsum("tij,tj->ti", R, about.moment) == pytest.approx(moment, abs=1e-9)
    assert about.components is None and not about.unique and about.shared == "compliance"


def test_files_and_summaries_hold_compliances(tmp_path):
    each = {
        "lower": {"compliance": {"force": (1e-8, 1e-8, 2e-8)}},
        "upper": {"compliance": {"axial": "3e-8 m/N", "tilt": "1e-5 rad/(N*m)"}},
    }
    system = door(**each)
    system.parameter("give", "1e-9 m/N")
    system.change("lower", compliance={"radial": "2*give"})
    system.save(tmp_path / "door.yaml")
    again = kn.load(tmp_path / "door.yaml")
    assert again == system
    assert "compliance (axial 3e-08 m/N, tilt 1e-05 rad/(N*m))" in " ".join(system.summary().split())
    assert again["lower"].compliance.given() == system["lower"].compliance.given()


@pytest.mark.parametrize(
    ("fields", "field", "words"),
    [
        ({"compliance": {"axial": "give"}}, "compliance.axial", "must not be negative, not -1"),
        ({"compliance": {"force": [0, "give", 0]}}, "compliance.force", "must not be negative, not -1"),
        ({"limits": ["-give", "give"]}, "limits", "the lower limit 1.0 is above the upper limit -1.0"),
        ({"friction": kn.coulomb("2 + give", radius="-give", static_coefficient=0.5)}, "friction.static_c", "below"),
        ({"stop": {"upper": 1, "restitution": "2*give"}}, "stop.restitution", "must be between 0 and 1, not -2"),
    ],
)
def test_records_within_fields_are_held_to_their_ranges_by_parameters(fields, field, words):
    system = kn.System("gives", gravity=(0, 0, 0))
    system.parameter("give", -1.0)
    system.revolute("hinge", system.world, system.body("leaf", mass=1, inertia=(1, 1, 1)), **fields)
    with pytest.raises(kn.ModelError, match=words) as caught:
        kn.compile(system)
    assert caught.value.component == "hinge" and str(caught.value.field).startswith(field)


def test_a_number_may_be_held_to_a_range_by_its_field():
    system = kn.System("soft")
    system.parameter("give", -1.0)
    leaf = system.body("leaf", mass=1, inertia=(1, 1, 1))
    system.free("fly", system.world, leaf)
    with pytest.raises(kn.ModelError, match="must not be negative, and is -2"):
        system.spring("spring", system.world, leaf, stiffness=-2)
    system.spring("spring", system.world, leaf, stiffness="give")
    with pytest.raises(kn.ModelError, match="must not be negative, and is -1"):
        kn.compile(system)
