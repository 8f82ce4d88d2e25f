"""Constraints with laws of time: actuators of prescribed length, height and angle, against closed forms."""

import numpy as np
import pytest

import kinode as kn

MASS, ARM, INERTIA, G = 3.0, 0.5, 1.4, 9.81  # of a boom about its hinge: mass at ARM, moment of inertia INERTIA
HEIGHT, TIP = 0.8, 1.0  # the actuator goes from a point HEIGHT below the hinge to the tip
LAW = "1.5 + 0.2*sin(3*t)"


def boom(law=LAW, stroke=0.2):
    """A hinged boom that an actuator of prescribed length lifts."""
    system = kn.System("boom", gravity=(0, -G, 0))
    system.parameter("stroke", stroke)
    body = system.body("boom", mass=MASS, com=(ARM, 0, 0), inertia={"zz": INERTIA - MASS * ARM**2})
    system.revolute("hinge", system.world, body, guess=0.2)
    if law is not None:
        system.constraint("ram", "distance", a=system.world.at(0, -HEIGHT, 0), b=body.at(TIP, 0, 0), distance=law)
    return system


def by_hand(t, length=1.5, stroke=0.2):
    """Angle, speed, acceleration and force: L^2 = HEIGHT^2 + TIP^2 + 2 HEIGHT TIP sin q, differentiated twice."""
    L, v, a = length + stroke * np.sin(3 * t), 3 * stroke * np.cos(3 * t), -9 * stroke * np.sin(3 * t)
    q = np.arcsin((L * L - HEIGHT**2 - TIP**2) / (2 * HEIGHT * TIP))
    k = HEIGHT * TIP * np.cos(q)  # L v = k u: the actuator's lever is k / L
    u = L * v / k
    u_dot = (v * v + L * a + HEIGHT * TIP * np.sin(q) * u * u) / k
    force = (INERTIA * u_dot + MASS * G * ARM * np.cos(q)) * L / k
    return q, u, u_dot, force


def test_an_actuator_of_prescribed_length():
    run = kn.simulate(boom(), 4.0, samples=81)
    q, u, u_dot, force = by_hand(run.t)
    assert np.abs(run["hinge.q"] - q).max() < 1e-11
    assert np.abs(run["hinge.u"] - u).max() < 1e-10
    assert np.abs(run["hinge.u_dot"] - u_dot).max() < 1e-9
    pushing = run["ram.reaction"]
    assert np.abs(pushing - force).max() < 1e-8 * np.abs(force).max()


def test_the_actuator_does_the_work():
    """Its work is the integral of force times speed, here by Simpson's rule over the closed form."""
    run = kn.simulate(boom(), 1.0, samples=401)
    power = by_hand(run.t)[3] * 0.6 * np.cos(3 * run.t)
    simpson = np.ones(401)
    simpson[1:-1:2], simpson[2:-1:2] = 4, 2
    assert run.audit.work["ram"] == pytest.approx(float(simpson @ power) / 1200, rel=1e-8)
    assert run.audit.relative < 1e-9


def test_every_derivation_knows_the_law():
    assert kn.verify(boom()).ok
    assert kn.mobility(boom()).freedoms == 0


@pytest.mark.parametrize("law", ["1.5 + stroke*sin(3*t)", "length"])
def test_laws_of_parameters_signals_and_inputs(law):
    system = boom(law, stroke=0.1)
    if law == "length":
        system.input("base", 1.5)
        system.signal("length", "base + stroke*sin(3*t)")
    run = kn.simulate(system, 1.0, samples=11, parameters={"stroke": 0.25})
    assert np.abs(run["hinge.q"] - by_hand(run.t, stroke=0.25)[0]).max() < 1e-11
    if law == "length":
        later = kn.simulate(system, 1.0, samples=11, inputs={"base": 1.4}, t0=0.3)
        assert np.abs(later["hinge.q"] - by_hand(later.t, 1.4, 0.1)[0]).max() < 1e-11


def test_a_telescoping_actuator_in_a_loop_is_the_same_as_a_driven_slide():
    """Cylinder and rod with mass: the law in the slide (motion=), or between its ends (distance)."""
    runs = []
    for law in ("slide", "ends"):
        system = boom(None if law == "slide" else LAW)
        cylinder = system.body("cylinder", mass=1, com=(0.2, 0, 0), inertia=(0.01, 0.02, 0.02))
        rod = system.body("rod", mass=0.5, com=(-0.2, 0, 0), inertia=(0.01, 0.01, 0.01))
        system.revolute("foot", system.world.at(0, -HEIGHT, 0), cylinder, guess=1.0)
        driven = {"motion": LAW} if law == "slide" else {"guess": 1.5}
        system.prismatic("slide", cylinder, rod, axis="x", **driven)
        system.revolute("eye", rod, system["boom"].at(TIP, 0, 0), guess=-0.8)
        runs.append(kn.simulate(system, 1.0, samples=11))
    for name in ("hinge.q", "foot.q", "foot.u_dot", "slide.u_dot"):
        assert np.abs(runs[0][name] - runs[1][name]).max() < 1e-8
    assert np.abs(runs[0]["slide.effort"] - runs[1]["ram.reaction"]).max() < 1e-6


def test_a_height_and_an_angle_as_laws():
    """A lift without mass in its way: the height law carries m (g + a); an axis that nods by a law."""
    lift = kn.System("lift", gravity=(0, 0, -G))
    cabin = lift.body("cabin", mass=2.0)
    lift.prismatic("guide", lift.world, cabin, axis="z")
    lift.constraint("deck", "point_on_plane", point=cabin, plane=lift.world, height="0.5*(1 - cos(2*t))")
    run = kn.simulate(lift, 2.0, samples=21)
    assert run["cabin.position.z"] == pytest.approx(0.5 * (1 - np.cos(2 * run.t)), abs=1e-11)
    assert run["deck.reaction"] == pytest.approx(2.0 * (G + 2.0 * np.cos(2 * run.t)), abs=1e-8)
    nod = kn.System("nod", gravity=(0, 0, 0))
    head = nod.body("head", mass=1.0, inertia=(0.1, 0.2, 0.2))
    nod.revolute("neck", nod.world, head, axis="x", guess=0.4)
    nod.constraint("nods", "angle", a=nod.world, b=head, angle="0.5 + 0.2*sin(t)")
    run = kn.simulate(nod, 3.0, samples=13)
    assert run["neck.q"] == pytest.approx(0.5 + 0.2 * np.sin(run.t), abs=1e-10)
    assert np.abs(run["nods.reaction"]) == pytest.approx(np.abs(0.1 * 0.2 * np.sin(run.t)), abs=1e-9)


@pytest.mark.parametrize(
    ("law", "match"),
    [
        ("1.5 + 0.1*hinge.q", "may depend on t, parameters and inputs, not on hinge.q"),
        ("1.5 + strok*t", "strok"),
        ("-1.5 + t", "must be positive, not -1.5"),
    ],
)
def test_laws_that_cannot_be_are_told(law, match):
    with pytest.raises(kn.ModelError, match=match) as error:
        kn.compile(boom(law))
    assert error.value.component == "ram"


def test_a_law_out_of_reach_says_so():
    """The tip is at most 1.8 m from the foot; what is missing to 2 m is told by (2^2 - 1.8^2) / (2 * 2)."""
    with pytest.raises(kn.AssemblyError, match=r"ram is off by 0\.19 m; the bodies do not reach"):
        kn.assemble(boom("2 + t"))
