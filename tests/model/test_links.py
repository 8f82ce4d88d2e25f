"""One direction of a point of a body as a node: the same motion as by forces that are written out."""

from __future__ import annotations

import numpy as np
import pytest

import kinode as kn
from kinode.formats.yaml import dumps, loads

TIMES = np.linspace(0, 1.5, 16)
EXACT = {"rtol": 1e-10, "atol": 1e-12, "times": TIMES}


def arm() -> kn.System:
    system = kn.System("arm", gravity=(0, -9.81, 0))
    body = system.body("arm", mass=2, com=(0.3, 0, 0), inertia={"zz": 0.1})
    body.at(0.6, 0.1, 0, name="tip")
    system.revolute("pivot", system.world, body, q=0.4)
    return system


def linked() -> kn.System:
    system = arm()
    system.frame_link("link", "end", on="arm.tip", along=(3, 4, 0), offset="2 cm")
    system.slide_spring("spring", "end", stiffness=200, damping=3, free_length=0.1)
    system.force_source("push", "end", force="5*sin(3*t)")
    return system


def test_a_spring_at_one_direction_of_a_point_against_a_force_that_is_written_out():
    plain = arm()
    place, speed = (f"(0.6*arm.tip.{what}.x + 0.8*arm.tip.{what}.y)" for what in ("position", "velocity"))
    pull = f"(-200*({place} + 0.02 - 0.1) - 3*{speed} + 5*sin(3*t))"
    plain.force("pull", "arm.tip", (f"0.6*{pull}", f"0.8*{pull}", 0))
    one, two = kn.simulate(linked(), 1.5, **EXACT), kn.simulate(plain, 1.5, **EXACT)
    assert one["pivot.q"] == pytest.approx(two["pivot.q"], abs=1e-12)
    assert one["pivot.reaction.force"] == pytest.approx(two["pivot.reaction.force"], abs=1e-9)
    tip = one["arm.tip.position"]
    assert one["end.position"] == pytest.approx(0.6 * tip[:, 0] + 0.8 * tip[:, 1] + 0.02, abs=1e-14)
    force = one["link.force"][:, None] * np.array([0.6, 0.8, 0.0])
    assert force == pytest.approx(two["pull.force"], abs=1e-9)
    assert abs(one.audit.work["link"]) < 1e-12 and one.audit.relative < 1e-8


def test_all_derivations_agree():
    assert kn.verify(linked()).ok


def test_a_push_along_one_direction_of_a_flying_body():
    """What is done along x comes back in its momentum."""
    system = kn.System("slab", gravity=(0, 0, 0))
    slab = system.body("slab", mass=4, inertia=(0.2, 0.3, 0.4))
    system.free("flight", system.world, slab, angular_velocity=(0, 0, 1))
    system.frame_link("link", "end", on=slab.at(0.2, 0, 0, name="edge"), along="x")
    system.force_source("push", "end", force="3*cos(t)")
    run = kn.simulate(system, 1.5, **EXACT)
    assert run["system.momentum"][:, 0] == pytest.approx(3 * np.sin(TIMES), abs=1e-9)
    assert run["system.momentum"][:, 1] == pytest.approx(0, abs=1e-9)


def test_links_in_files_and_in_subsystems():
    system = linked()
    assert loads(dumps(system)) == system
    whole = kn.System("two", gravity=(0, -9.81, 0))
    whole.add("left", system)
    whole.check()
    assert whole["left.link"].equations()[0].equation.right.text().startswith("0.6*left.arm.tip.position.x")
    assert loads(dumps(whole)) == whole


def test_what_a_link_cannot_be():
    system = arm()
    with pytest.raises(kn.ModelError, match=r"link\.along: three plain numbers"):
        system.parameter("c", 1)
        system.frame_link("link", "end", on="arm.tip", along=("c", 1, 0))
    with pytest.raises(kn.ModelError, match=r"link\.on: the frame needs a name"):
        system.frame_link("link", "end", on=system["arm"].at(0.3, 0, 0))
    heavy = linked()
    heavy.slide_mass("mass", "end", mass=1)
    with pytest.raises(kn.ModelError, match=r"the rate of arm\.tip\.velocity\.x is needed"):
        kn.compile(heavy)
