"""Runs that the tests of views share."""

import pytest

import kinode as kn


@pytest.fixture(scope="session")
def arm_run():
    """Two links in a plane, one driven, with a spring, a parameter and a limit."""
    arm = kn.System("arm", gravity=(0, -9.81, 0))
    L = arm.parameter("L", "0.5 m", note="length of the upper link")
    upper = arm.body("upper", mass=2.0, com=(L / 2, 0, 0), inertia=(0.01, 0.05, 0.05))
    lower = arm.body("lower", mass=1.0, com=(0.2, 0, 0), inertia={"zz": 0.02})
    arm.revolute("shoulder", arm.world, upper, axis="z", speed="0.5*sin(2*t)")
    arm.revolute("elbow", upper.at(L, 0, 0), lower, axis="z", q="30 deg", damping=0.1, limits=(-1.0, 1.0))
    arm.spring("coil", upper.at(0.4, 0, 0), arm.world.at(0, 1, 0), stiffness=250, free_length=0.8)
    return kn.simulate(arm, 1.0, samples=201)


@pytest.fixture(scope="session")
def crane_run():
    """Solids of every shape in space, joints with an axis, without, and with a quaternion."""
    crane = kn.System("crane")
    base = crane.body("base", shape=kn.cylinder(0.15, 0.2, mass=5, at=(0, 0, 0.1)))
    boom = crane.body("boom", shape=kn.box(0.8, 0.1, 0.12, mass=4, at=(0.4, 0, 0)))
    jib = crane.body("jib", shape=kn.rod(0.6, mass=2))
    ball = crane.body("ball", shape=kn.sphere(0.1, mass=1, at=(0, 0, -0.3)))
    stray = crane.body("stray", mass=1.0, inertia=(0.1, 0.1, 0.1))
    crane.revolute("swing", crane.world, base, axis="z", u=1.0)
    crane.revolute("lift", base.at(0, 0, 0.25), boom, axis="y", q="-40 deg", stiffness=60, damping=1)
    crane.prismatic("extend", boom.at(0.8, 0, 0), jib, axis="x", stiffness=800, damping=5)
    crane.spherical("hook", jib.at(0.6, 0, 0), ball)
    crane.free("air", crane.world, stray, position=(1, 1, 1))
    return kn.simulate(crane, 0.5, samples=51)
