"""The models whose reactions, uniqueness and audit are timed (load_costs.py)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import kinode as kn
from models import robot

THROW, ROD, SPACING = 0.05, 0.15, 0.04  # m
BANK = np.deg2rad(30.0)


@dataclass(frozen=True)
class LoadModel:
    """A model, the span of its run in s, and a joint whose reaction is read."""

    make: Callable[[], Any]
    until: float
    samples: int
    joint: str
    options: dict[str, Any]


DAMPING = 0.4  # N*m*s: the load of the engine
SMOOTH, CORNERED = "-2000*exp(3*(cos(main.q + {i}) - 1))", "-2000*max(0, cos(main.q + {i}))"  # forces of the gas


def engine(gas: str = SMOOTH, cylinders: int = 6) -> Any:
    """Slider-cranks in two banks on one crankshaft, planar hinges throughout: three dependent rows a cylinder."""
    system = kn.System(f"engine of {cylinders}", gravity=(0, -9.81, 0))
    crank = system.body("crank", mass=8.0, com=(0.0, 0.0, 0.0), inertia=(0.1, 0.1, 0.05))
    q = 0.3
    system.revolute("main", system.world, crank, q=q, u=150.0, damping=DAMPING)
    for i in range(cylinders):
        bank, throw, z = BANK * (-1.0) ** i, 2.0 * np.pi * (i // 2) / max(1, (cylinders + 1) // 2), SPACING * i
        along, across = np.array([np.cos(bank), np.sin(bank)]), np.array([-np.sin(bank), np.cos(bank)])
        pin = THROW * np.array([np.cos(throw), np.sin(throw)])
        turn = np.array([[np.cos(q), -np.sin(q)], [np.sin(q), np.cos(q)]])
        x, y = along @ (turn @ pin), across @ (turn @ pin)
        tilt = np.arcsin(-y / ROD)  # of the rod against its bore
        height = x + ROD * np.cos(tilt)
        rod = system.body(f"rod{i}", mass=0.5, com=(0.05, 0, 0), inertia=(1e-4, 1e-3, 1e-3))
        piston = system.body(f"piston{i}", mass=0.4, com=(0.0, 0, 0), inertia=(1e-4, 1e-4, 1e-4))
        bore = system.world.at(0, 0, z, rpy=(0, 0, bank))
        system.prismatic(f"bore{i}", bore, piston, axis="x", guess=float(height))
        system.revolute(f"crankpin{i}", crank.at(*pin, z), rod, guess=float(bank + tilt - q))
        system.revolute(f"wristpin{i}", rod.at(ROD, 0, 0), piston, guess=float(-bank - tilt + bank))
        system.force(f"gas{i}", on=piston, force=(gas.format(i=i), 0, 0), expressed_in=piston)
    return system


def four_bar() -> Any:
    """A planar four-bar with four hinges in space."""
    system = kn.System("four-bar", gravity=(0, -9.81, 0))
    a = system.body("a", mass=1, com=(0.1, 0, 0), inertia=(0.01, 0.02, 0.02))
    b = system.body("b", mass=2, com=(0.3, 0, 0.1), inertia=(0.01, 0.05, 0.05))
    c = system.body("c", mass=1.5, com=(0.2, 0, 0), inertia=(0.01, 0.03, 0.03))
    system.revolute("j1", system.world, a, q=0.9, u=2.0)
    system.revolute("j2", a.at(0.2, 0, 0), b, guess=-0.5)
    system.revolute("j4", system.world.at(0.5, 0, 0), c, guess=1.2)
    system.revolute("j3", b.at(0.6, 0, 0), c.at(0.4, 0, 0), guess=0.7)
    return system


def four_bars(count: int = 40) -> Any:
    """IFToMM A02: uprights side by side, each with the next a parallelogram."""
    system = kn.System("four_bars", gravity=(0, -9.81, 0))
    rods, J = [], 1 / 12
    for i in range(count + 1):
        rods.append(system.body(f"v{i}", mass=1, com=(0, 0.5, 0), inertia=(J, J / 10, J)))
        start = {"q": 0.2, "u": -1.0} if i == 0 else {"guess": 0.2}
        system.revolute(f"g{i}", system.world.at(i, 0, 0), rods[i], **start)
    for i in range(count):
        bar = system.body(f"h{i}", mass=1, com=(0.5, 0, 0), inertia=(J / 10, J, J))
        system.revolute(f"a{i}", rods[i].at(0, 1, 0), bar, guess=-0.2)
        system.revolute(f"b{i}", bar.at(1, 0, 0), rods[i + 1].at(0, 1, 0))
    return system


def hand() -> Any:
    """The Allegro hand on a free base, which falls and turns."""
    system = kn.load(str(robot("allegro_right_hand")), base="free")
    for k, name in enumerate(name for name, joint in system.joints.items() if joint.kind == "revolute"):
        system.change(name, u=0.5 + 0.1 * k, damping=1e-3)
    return system


MODELS = {
    "four-bar": LoadModel(four_bar, 200.0, 1001, "j2", {}),
    "engine of 6 cylinders": LoadModel(engine, 3.0, 1501, "crankpin0", {}),
    "engine, gas force with corners": LoadModel(lambda: engine(CORNERED), 1.3, 1001, "crankpin0", {}),
    "40 four-bars": LoadModel(four_bars, 12.0, 1001, "g3", {}),
    "Allegro hand, free base": LoadModel(hand, 40.0, 1001, "base", {}),
}
