"""The stiff systems of ``benchmarks/stiff.py``: each has springs that are far faster than the motion of interest."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import kinode as kn

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class StiffCase:
    """What is simulated, and for how long."""

    title: str
    system: kn.System
    until: float


def door() -> kn.System:
    """A trap door that falls onto a stop of 1e6 N m/rad, and comes to rest on it."""
    system = kn.System("door", gravity=(0, -9.81, 0))
    leaf = system.body("leaf", mass=12.0, com=(0.4, 0, 0), inertia=(0.1, 0.7, 0.7))
    system.revolute(
        "hinge", system.world, leaf, q="80 deg", damping="0.5 N*m*s/rad",
        stop={"lower": 0, "stiffness": "1e6 N*m/rad", "damping": "2000 N*m*s/rad"},
    )  # fmt: skip
    return system


def soft_pins(stiffness: float = 1e7, damping: float = 2e3, closed: str = "planar") -> kn.System:
    """The four-bar of the examples; its pins give by ``stiffness`` in N/m, and damp by ``damping`` in N s/m."""
    rigid = kn.load(ROOT / "examples" / "four_bar.yaml")
    angle = kn.assemble(rigid).values
    system = kn.System("soft_pins", gravity=(0, -9.81, 0))
    bodies = {
        "crank": system.body("crank", mass=1.0, com=(0.1, 0, 0), inertia=(0.01, 0.02, 0.02)),
        "coupler": system.body("coupler", mass=2.0, com=(0.3, 0, 0), inertia=(0.01, 0.05, 0.05)),
        "rocker": system.body("rocker", mass=1.5, com=(0.2, 0, 0), inertia=(0.01, 0.03, 0.03)),
    }
    crank, coupler, rocker = bodies.values()
    give = {"stiffness": (stiffness, stiffness, 0.0), "damping": (damping, damping, 0.0)}
    system.planar("left", system.world, crank, q=(0, 0, angle["left.q"]), **give)
    system.planar("pin", crank.at(0.2, 0, 0), coupler, q=(0, 0, angle["pin.q"]), **give)
    system.planar("right", system.world.at(0.5, 0, 0), rocker, q=(0, 0, angle["right.q"]), **give)
    if closed == "planar":
        system.planar("top", coupler.at(0.6, 0, 0), rocker.at(0.4, 0, 0), **give)
    else:
        system.revolute("top", coupler.at(0.6, 0, 0), rocker.at(0.4, 0, 0))
    return system


def motor_axis() -> kn.System:
    """The motor axis of the examples, with a gear of 1e6 N m/rad."""
    system = kn.load(ROOT / "examples" / "motor_axis.yaml")
    system.change("gear", stiffness="1e6 N*m/rad")
    return system


def find_cases() -> list[StiffCase]:
    """The systems that are measured."""
    return [
        StiffCase("a door that falls onto a stop of 1e6 N m/rad, 3 s", door(), 3.0),
        StiffCase("a four-bar whose pins are `planar` joints of 1e7 N/m, 2 s", soft_pins(), 2.0),
        StiffCase("`motor_axis` with a gear of 1e6 N m/rad, 4 s", motor_axis(), 4.0),
    ]


def row_of_masses(count: int) -> kn.System:
    """Masses on slides side by side with stiff springs between neighbors; the last one starts with a speed."""
    system = kn.System("masses", gravity=(0, 0, 0))
    before = system.world
    for k in range(count):
        mass = system.body(f"m{k}", mass=0.5 + 0.1 * (k % 3), inertia=(0.1, 0.1, 0.1))
        start = {"u": 1.0} if k == count - 1 else {}
        system.prismatic(f"s{k}", system.world.at(0.1 * (k + 1), 0, 0), mass, axis="x", **start)
        system.spring(f"k{k}", before, mass, stiffness=1e6, damping=200.0, free_length=0.1)
        before = mass
    return system


def stiff_chain(count: int) -> kn.System:
    """A chain of links that hangs on stiff joints."""
    system = kn.System("chain", gravity=(0, -9.81, 0))
    before = system.world
    for k in range(count):
        link = system.body(f"link_{k}", mass=0.1, com=(0.05, 0, 0), inertia=(1e-5, 1e-4, 1e-4))
        system.revolute(f"joint_{k}", before, link, stiffness=2e3, damping=20.0)
        before = link.at(0.1, 0, 0)
    return system
