"""Small systems that the tests of results share."""

import kinode as kn


def pendulum(**joint):
    """A bar on a pin about z; it hangs at q = 0."""
    system = kn.System("pendulum", gravity=(0, -9.81, 0))
    bar = system.body("bar", mass=2.0, com=(0, -0.5, 0), inertia=(0.05, 0.01, 0.05))
    bar.at(0, -1, 0, name="tip")
    system.revolute("pin", system.world, bar, axis="z", **joint)
    return system


def arm():
    """Two links with all that can do work: a drive, a damper, a spring with damping, a force that follows a body."""
    system = kn.System("arm", gravity=(0, -9.81, 0))
    length = system.parameter("L", "0.5 m")
    system.input("push", 5.0)
    upper = system.body("upper", mass=2.0, com=(length / 2, 0, 0), inertia=(0.01, 0.05, 0.05))
    lower = system.body("lower", mass=1.0, com=(0.2, 0, 0), inertia={"zz": 0.02})
    system.revolute("shoulder", system.world, upper, axis="z", speed="0.5*sin(2*t)")
    system.revolute(
        "elbow", upper.at(length, 0, 0), lower, axis="z", q="30 deg", damping="0.1 N*m*s/rad", stiffness=2.0
    )
    system.spring(
        "return", upper.at(0.4, 0, 0), system.world.at(0, 1, 0), stiffness="250 N/m", free_length=0.8, damping=3.0
    )
    system.force("wind", lower.com, force=("push*cos(3*t)", 0, 0), expressed_in=lower)
    return system
