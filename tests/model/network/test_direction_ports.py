"""One direction of a body's motion as a node: the same motion as by forces and moments that are written out."""

from __future__ import annotations

import numpy as np
import pytest

import kinode as kn
from kinode.formats.yaml_files import dumps, loads

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


def turned() -> kn.System:
    system = arm()
    system.turn_link("link", "spin", on="arm", along=(0, 3, 4), initial_angle=0.1)
    system.shaft_spring("spring", "spin", stiffness=20, damping=0.3, free_angle=0.2)
    system.moment_source("push", "spin", moment="5*sin(3*t)")
    return system


def test_a_spring_about_a_direction_that_a_body_turns_about():
    """About a direction at an angle to the axis the body turns by the cosine, and feels the cosine of the moment."""
    plain = arm()
    pull = "(-20*(0.8*(pivot.q - 0.4) + 0.1 - 0.2) - 0.3*0.8*pivot.u + 5*sin(3*t))"
    plain.moment("pull", "arm", (0, f"0.6*{pull}", f"0.8*{pull}"))
    one, two = kn.simulate(turned(), 1.5, **EXACT), kn.simulate(plain, 1.5, **EXACT)
    assert one["pivot.q"] == pytest.approx(two["pivot.q"], abs=1e-9)
    assert one["pivot.reaction.moment"] == pytest.approx(two["pivot.reaction.moment"], abs=1e-7)
    assert one["spin.angle"] == pytest.approx(0.8 * (one["pivot.q"] - 0.4) + 0.1, abs=1e-9)
    assert abs(one.audit.work["link"]) < 1e-12 and one.audit.relative < 1e-8


def test_a_moment_about_one_direction_of_a_tumbling_body():
    """What is done about z comes back in its angular momentum, however the body turns."""
    system = kn.System("stone", gravity=(0, 0, 0))
    stone = system.body("stone", mass=4, inertia=(0.2, 0.3, 0.4))
    system.free("flight", system.world, stone, angular_velocity=(2, 1, 1))
    system.turn_link("link", "spin", on="stone", along="z")
    system.moment_source("push", "spin", moment="3*cos(t)")
    run = kn.simulate(system, 1.5, **EXACT)
    gained = run["system.angular_momentum"] - (0.4, 0.3, 0.4)  # J w at the start
    assert gained == pytest.approx(np.outer(3 * np.sin(TIMES), [0, 0, 1]), abs=1e-8)
    assert run["spin.speed"] == pytest.approx(run["stone.angular_velocity"][:, 2], abs=1e-12)
    assert kn.verify(system).ok and kn.verify(turned()).ok


@pytest.mark.parametrize("make", [linked, turned])
def test_directions_of_a_subsystem_turn_with_its_world(make):
    """A subsystem that stands elsewhere, turned, moves in itself as it does by itself."""
    alone = make()
    whole = kn.System("whole", gravity=(9.81 * np.sin(0.7), -9.81 * np.cos(0.7), 0))
    whole.parameter("away", "1.5 m")
    whole.add("part", alone, on=whole.world.at("away", 2, 3, rpy=(0, 0, 0.7)))
    one, two = kn.simulate(alone, 1.5, **EXACT), kn.simulate(whole, 1.5, **EXACT)
    assert two["part.pivot.q"] == pytest.approx(one["pivot.q"], abs=1e-9)
    node, word = ("end", "position") if make is linked else ("spin", "angle")
    assert two[f"part.{node}.{word}"] == pytest.approx(one[f"{node}.{word}"], abs=1e-9)
    assert loads(dumps(whole)) == whole and loads(dumps(alone)) == alone


@pytest.mark.parametrize(("turn", "why"), [((0, 0, "bend"), "is turned by parameters"), (None, "stands on table")])
def test_directions_that_would_not_stand_still(turn, why):
    whole = kn.System("whole")
    whole.parameter("bend", 0.3)
    table = whole.body("table", mass=1, inertia=(1, 1, 1))
    whole.free("flight", whole.world, table)
    place = table if turn is None else whole.world.at(0, 0, 0, rpy=turn)
    with pytest.raises(kn.ModelError, match=rf"part\.link\.along: .*{why}"):
        whole.add("part", linked(), on=place)


def test_a_joint_is_no_node_of_a_link():
    system = arm()
    system.turn_link("link", "pivot", on="arm", along="z")
    with pytest.raises(kn.ModelError, match=r"link"):
        kn.compile(system).acceleration(0, [0.4], [0.0])
