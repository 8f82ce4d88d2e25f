"""What linear theory says about stability, and where it says that it cannot tell."""

import pytest

import kinode as kn
from kinode.tasks.linearize import Stability


def wheel(com=0.0, **fields):
    """A wheel on a level axle, its mass center ``com`` below it."""
    system = kn.System("wheel", gravity=(0, -9.81, 0))
    rim = system.body("rim", mass=2, com=(0, -com, 0), inertia=(0.1, 0.1, 0.2))
    system.revolute("axle", system.world, rim, axis="z", **fields)
    return system


def track(slope):
    """A cart on a track, held against its slope, and a second one on a spring behind it."""
    system = kn.System("track", gravity=(-9.81 * slope, 0, -9.81))
    front, back = system.body("front", mass=2), system.body("back", mass=1)
    system.prismatic("rail", system.world, front, axis="x", effort=3 * 9.81 * slope)
    system.prismatic("tow", front, back, axis="x", stiffness=50, damping=2, q=-9.81 * slope / 50)
    return system


def parallelogram():
    """Two equal cranks and a coupler without weight: at rest in any position."""
    system = kn.System("parallelogram", gravity=(0, 0, 0))
    bodies = [system.body(name, mass=1, inertia=(0.1, 0.1, 0.1)) for name in ("left", "right", "bar")]
    system.revolute("a", system.world, bodies[0], axis="z", q=0.7)
    system.revolute("b", system.world.at(1, 0, 0), bodies[1], axis="z", guess=0.7)
    system.revolute("c", bodies[0].at(0.4, 0, 0), bodies[2], axis="z", guess=-0.7)
    system.revolute("d", bodies[1].at(0.4, 0, 0), bodies[2].at(1, 0, 0), axis="z")
    return system


CASES = {
    "balanced wheel": (wheel, {}, Stability.NEUTRAL),
    "balanced wheel that rubs": (wheel, {"damping": 0.3}, Stability.NEUTRAL),
    "wheel that turns evenly": (wheel, {"u": 5.0}, Stability.NEUTRAL),
    "carts on a level track": (track, {"slope": 0.0}, Stability.NEUTRAL),
    "carts held on a slope": (track, {"slope": 0.1}, Stability.NEUTRAL),
    "loop that rests anywhere": (parallelogram, {}, Stability.NEUTRAL),
    "force that holds by its third power": (wheel, {"effort": "-5*axle.q^3"}, Stability.UNDECIDED),
    "force that drives by its third power": (wheel, {"effort": "5*axle.q^3"}, Stability.UNDECIDED),
    "drag by the third power of speed": (wheel, {"com": 0.1, "effort": "-axle.u^3"}, Stability.NEUTRAL),
    "pendulum": (wheel, {"com": 0.1}, Stability.STABLE),
    "pendulum that hardly rubs": (wheel, {"com": 0.1, "damping": 1e-9}, Stability.STABLE),
    "stiff spring that rubs a little": (wheel, {"stiffness": 1e8, "damping": 1e-2}, Stability.STABLE),
    "pendulum upside down": (wheel, {"com": -0.1}, Stability.UNSTABLE),
    "hardly out of balance, upside down": (wheel, {"com": -1e-9}, Stability.UNSTABLE),
    "stiff spring and negative damping": (wheel, {"stiffness": 1e8, "effort": "1e-2*axle.u"}, Stability.UNSTABLE),
    "negative damping": (wheel, {"com": 0.1, "effort": "1e-4*axle.u"}, Stability.UNSTABLE),
}


@pytest.mark.parametrize("name", CASES)
def test_the_verdict_on_small_motions(name):
    make, fields, verdict = CASES[name]
    linear = kn.linearize(make(**fields))
    assert linear.stability is verdict
    known = {Stability.STABLE: True, Stability.NEUTRAL: True, Stability.UNSTABLE: False, Stability.UNDECIDED: None}
    assert linear.stable is known[verdict]
    assert str(linear).splitlines()[-1].startswith(verdict.word)


def test_an_equilibrium_says_the_same_word():
    assert str(kn.equilibrium(wheel(com=0.1))).startswith("wheel at rest, stable;")
    assert str(kn.equilibrium(track(0.0), {"tow.q": 0.0})).startswith("track at rest, neutral;")


def test_a_state_that_only_records_does_not_count():
    system = wheel(com=0.1, damping=0.5)
    system.integrator("counter", "axle.q")
    linear = kn.linearize(system)
    assert 0.0 in linear.eigenvalues and linear.stability is Stability.STABLE
