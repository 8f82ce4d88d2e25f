"""Systems whose equations are printed, and how printed code is run."""

from __future__ import annotations

import numpy as np
import sympy
from sympy import Symbol

import kinode as kn

HINGED = ("revolute", "prismatic", "fixed")


def symbols(text: str) -> list[sympy.Symbol]:
    return [Symbol(name) for name in text.split()]


def parameters(system: kn.System, text: str, down: int = 1) -> list:
    """Parameters by name, and gravity g along a negative axis."""
    symbols = [system.parameter(name, 0.5 + 0.1 * k) for k, name in enumerate(text.split())]
    g = system.parameter("g", 9.81)
    system.gravity = tuple(-g if k == down else 0 for k in range(3))
    return symbols


def pendulum() -> kn.System:
    system = kn.System("pendulum")
    m, l, J, c = parameters(system, "m l J c")
    rod = system.body("rod", mass=m, com=(0, -l, 0), inertia={"zz": J})
    system.revolute("pivot", system.world, rod, damping=c)
    return system


def elastic() -> kn.System:
    system = kn.System("elastic")
    m1, m2, xi, Jz, k, c = parameters(system, "m1 m2 xi Jz k c")
    slider = system.body("slider", mass=m2)
    bob = system.body("bob", mass=m1, com=(0, -xi, 0), inertia={"zz": Jz - m1 * xi * xi})
    system.prismatic("x", system.world, slider, axis="x", stiffness=k, damping=c)
    system.revolute("phi", slider, bob)
    return system


def run_python(text: str, name: str):
    space: dict = {}
    exec(text, space)
    return space[name]


def four_bar() -> kn.System:
    """Cut at one pin; planar, so that three of five rows are redundant."""
    system = kn.System("four_bar")
    m, l = parameters(system, "m l")
    crank = system.body("crank", mass=m, com=(l / 2, 0, 0), inertia={"zz": 0.02})
    rod = system.body("rod", mass=0.3, com=(0.4, 0, 0), inertia={"zz": 0.03})
    rocker = system.body("rocker", mass=0.5, com=(0.35, 0, 0), inertia={"zz": 0.04})
    system.revolute("one", system.world, crank, q=1.0, u=2.0)
    system.revolute("two", crank.at(l, 0, 0), rod, guess=-0.6)
    system.revolute("three", rod.at(0.8, 0, 0), rocker, guess=-1.7)
    system.revolute("four", system.world.at(0.9, 0, 0), rocker.at(0.7, 0, 0), damping=0.1)
    return system


def distant() -> kn.System:
    """Two pendulums in space, tied by a distance, one of them driven through a gear."""
    system = kn.System("distant")
    (L,) = parameters(system, "L", down=2)
    a = system.body("a", mass=1.2, com=(L, 0.1, 0), inertia=(0.1, 0.2, 0.15))
    b = system.body("b", mass=0.7, com=(0, 0.2, 0.3), inertia=(0.1, 0.1, 0.12))
    c = system.body("c", mass=0.4, com=(0.1, 0, 0), inertia=(0.02, 0.03, 0.04))
    system.universal("hook", system.world, a)
    system.spherical("ball", system.world.at(0, 1, 0), b)
    system.revolute("shaft", system.world, c, axis="x", motion="0.3*sin(2*t)")
    system.constraint("rod", "distance", a=a.at(L, 0, 0), b=b.at(0, 0, 0.4), distance=1.1)
    return system


LOOPS = (four_bar, distant)


def unique(wrench) -> np.ndarray:
    return np.array(wrench.components or [not wrench.shared] * 6)


def robot() -> kn.System:
    """Two links in space; along the elbow's x and z no acceleration is unknown, only products of speeds are left."""
    system = kn.System("robot", gravity=(0, 0, -9.81))
    L = system.parameter("L", 0.6)
    a = system.body("a", mass=3, com=(L / 2, 0, 0), inertia=(0.01, 0.08, 0.09))
    b = system.body("b", mass=1.5, com=(0.1, 0.02, 0.2), inertia=(0.02, 0.03, 0.025, 0.001, 0.002, -0.001))
    system.revolute("base", system.world, a, axis="z", damping=0.3)
    system.revolute("elbow", a.at(L, 0, 0), b, axis="y", stiffness=5, neutral=0.2)
    system.force("wind", b.at(0.1, 0, 0.3), ("0.4*sin(2*t)", 0, 0), expressed_in="world")
    return system
