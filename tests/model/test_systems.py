"""Subsystems, changes, copies and summaries: what is flattened or changed equals what is built by hand."""

from __future__ import annotations

import numpy as np
import pytest
from drawn_systems import rotations, systems
from hypothesis import given
from hypothesis import strategies as st

import kinode as kn
from kinode.formats.yaml_files import dumps, loads
from kinode.model.base.frames import Frame
from kinode.model.quantities import find_quantity


def leg() -> kn.System:
    leg = kn.System("leg", gravity=(0, 0, -9.81))
    length = leg.parameter("length", "0.4 m", bounds=(0.1, 1))
    leg.parameter("half", length / 2)
    leg.input("drive", "0 N*m")
    leg.table("curve", axes=(0, 1), values=(0, 2), outside="hold")
    leg.signal("bend", "curve(knee.q) + 0.1*drive")
    hook = leg.world.at(0, 0, 0.1, name="hook")
    thigh = leg.body("thigh", mass=4, com=(0, 0, -(length / 2)), inertia=(0.06, 0.06, 0.01))
    shank = leg.body("shank", mass=2, inertia=(0.04, 0.04, 0.01))
    shank.at(0, 0, -0.4, name="foot")
    leg.revolute("hip", leg.world, thigh, axis="y", effort="drive - bend - 0.5*thigh.velocity.x@world")
    leg.revolute(
        "knee", thigh.at(0, 0, -length), shank, axis="y", effort="world.hook.position.z - shank.foot.position.z"
    )
    leg.spring("tendon", hook, shank["foot"], tension="100*(length - half) + rate")
    leg.force("push", shank["foot"], (0, 0, "10*sin(t)"), expressed_in=leg.world)
    leg.constraint("tie", "gear", input="knee", output="hip", ratio=2)
    return leg


def seen(what: str, name: str) -> str:
    """A component of a position as the frame on the trunk sees it."""
    world = f"trunk.{name}.world"
    return f"({what}@{world} - {world}.position.{what[-1]}@{world})"


def seen_velocity(name: str) -> str:
    """The thigh's velocity along x as that frame, which moves, sees it."""
    world = f"trunk.{name}.world"
    y, z = (seen(f"{name}.thigh.position.{part}", name) for part in "yz")
    turning = [f"{world}.angular_velocity.{part}@{world}" for part in "yz"]
    straight = f"{name}.thigh.velocity.x@{world} - {world}.velocity.x@{world}"
    return f"{straight} - ({turning[0]}*{z} - {turning[1]}*{y})"


def by_hand(system: kn.System, name: str, x: float) -> None:
    """The same leg written into a system, its world being a frame on the trunk."""
    length = system.parameter(f"{name}.length", "0.5 m" if name == "left" else "0.4 m", bounds=(0.1, 1))
    system.parameter(f"{name}.half", length / 2)
    if name == "left":
        system.signal(f"{name}.drive", "3*sin(t)")
    else:
        system.input(f"{name}.drive", "0 N*m")
    system.table(f"{name}.curve", axes=(0, 1), values=(0, 2), outside="hold")
    system.signal(f"{name}.bend", f"{name}.curve({name}.knee.q) + 0.1*{name}.drive")
    trunk = system["trunk"]
    on = trunk.at(x, 0, 0, rpy=(0, 0, 1))
    thigh = system.body(f"{name}.thigh", mass=4, com=(0, 0, -(length / 2)), inertia=(0.06, 0.06, 0.01))
    shank = system.body(f"{name}.shank", mass=2, inertia=(0.04, 0.04, 0.01))
    shank.at(0, 0, -0.4, name="foot")
    hook = system.place("trunk", {"at": (0, 0, 0.1), "on": {"at": (x, 0, 0), "rpy": (0, 0, 1)}}, f"{name}.hook")
    system.place("trunk", {"at": (x, 0, 0), "rpy": (0, 0, 1)}, f"{name}.world")
    system.revolute(
        f"{name}.hip", on, thigh, axis="y",
        effort=f"{name}.drive - {name}.bend - 0.5*({seen_velocity(name)})",
    )  # fmt: skip
    system.revolute(
        f"{name}.knee", thigh.at(0, 0, -length), shank, axis="y",
        effort=f"{seen(f'trunk.{name}.hook.position.z', name)} - {seen(f'{name}.shank.foot.position.z', name)}",
    )  # fmt: skip
    foot = system[f"{name}.shank"]["foot"]
    system.spring(f"{name}.tendon", hook, foot, tension=f"100*(length - {name}.half) + rate")
    system.force(f"{name}.push", foot, (0, 0, "10*sin(t)"), expressed_in=on)
    system.constraint(f"{name}.tie", "gear", input=f"{name}.knee", output=f"{name}.hip", ratio=2)


def trunk() -> kn.System:
    system = kn.System("walker")
    system.body("trunk", mass=30, inertia=(1, 1, 1))
    system.free("flight", "world", "trunk")
    return system


def test_two_legs_on_a_trunk_are_what_one_would_write_by_hand() -> None:
    system, expected = trunk(), trunk()
    for name, x in (("left", 0.1), ("right", -0.1)):
        on = system["trunk"].at(x, 0, 0, rpy=(0, 0, 1))
        left = {"bind": {"drive": "3*sin(t)"}, "parameters": {"length": "50 cm"}} if name == "left" else {}
        system.add(name, leg(), on=on, **left)
        by_hand(expected, name, x)
    system.check()
    assert system == expected
    assert list(system.joints) == list(expected.joints)
    assert loads(dumps(system)) == system
    assert system.nominal(system.parameters["left.half"].value) == 0.25


@given(systems(name="part"), rotations(), st.tuples(*[st.floats(-2, 2)] * 3))
def test_frames_on_the_world_of_a_subsystem_are_moved_with_it(part: kn.System, rotation: dict, place: tuple) -> None:
    target = trunk()
    on = target["trunk"].at(*place, **rotation)
    target.add("part", part, on=on)
    X = on.pose(target.nominal)
    resolved = {**target.parameter_values()}
    assert all(resolved[f"part.{name}"] == value for name, value in part.parameter_values().items())
    for name, joint in part.joints.items():
        for old, new in ((joint.a, target[f"part.{name}"].a), (joint.b, target[f"part.{name}"].b)):
            expected = old.pose(part.nominal)
            if old.body == "world":
                assert new.body == "trunk"
                expected = X @ expected
            found = new.pose(target.nominal)
            assert np.abs(found.R.astype(float) - expected.R.astype(float)).max() < 1e-12
            assert np.abs(found.p.astype(float) - expected.p.astype(float)).max() < 1e-12


@pytest.mark.parametrize("law", ["force", "moment"])
def test_loads_in_world_axes_turn_with_the_world_of_a_subsystem(law: str) -> None:
    """And with a body that the subsystem stands on, nested too."""
    part = kn.System("part", gravity=(0, 0, 0))
    stone = part.body("stone", mass=2, inertia=(2, 2, 2))
    part.free("flight", part.world, stone)
    part.element("push", law, on=stone, **{law: (1, 0, 0)})
    middle = kn.System("middle", gravity=(0, 0, 0))
    middle.add("part", part, on=middle.world.at(1, 2, 3, rpy=(0, 0, np.pi / 4)))
    whole = kn.System("whole", gravity=(0, 0, 0))
    table = whole.body("table", mass=1, inertia=(1, 1, 1))
    whole.revolute("turn", whole.world, table, axis="z", motion=np.pi / 4)
    whole.add("middle", middle, on=table)
    assert loads(dumps(whole)) == whole
    dynamics = kn.compile(whole)
    what = "acceleration" if law == "force" else "angular_acceleration"
    found = dynamics.evaluate([f"middle.part.stone.{what}"], 0.0, dynamics.initial.q, dynamics.initial.u)
    assert found[f"middle.part.stone.{what}"] == pytest.approx([0, 0.5, 0], abs=1e-15)


QUATERNION = ("qw", "qx", "qy", "qz")


def ball() -> kn.System:
    """A ball whose law speaks of where it is and how it moves in its world."""
    part = kn.System("part", gravity=(0, 0, 0))
    stone = part.body("stone", mass=2, inertia=(2, 3, 4))
    part.free("flight", part.world, stone)
    part.signal("seen", "stone.position.x + 2*stone.position.y@world + 3*stone.position.z@stone")
    part.signal("fast", "stone.velocity.x + 2*stone.velocity.y@world + 3*stone.velocity.z@stone")
    part.signal("turning", "stone.angular_velocity.x + 2*stone.angular_velocity.z@stone")
    part.signal("attitude", "stone.rpy.roll + 2*stone.rotation.xy + 3*stone.quaternion.w")
    part.signal("rolling", "stone.euler_rates.spin")
    return part


@pytest.mark.parametrize("place", ["turned", "moving", "nested"])
def test_laws_of_a_subsystem_see_its_own_world(place: str) -> None:
    """Whatever that world has become, a body that moves in it as it would alone is seen as it would be alone."""
    part, prefix, whole = ball(), "part", trunk()
    if place == "nested":
        middle = trunk()
        middle.add("part", part, on=middle["trunk"].at(0, 2, 0, rpy=(0, 0.4, 0)))
        part, prefix = middle, "mid.part"
    on = whole.world if place == "turned" else whole["trunk"]
    whole.add(prefix.partition(".")[0], part, on=on.at(1, -2, 3, rpy=(0.3, -0.5, 1.1)))
    assert loads(dumps(whole)) == whole
    names = ("seen", "fast", "turning", "attitude", "rolling")
    alone, within = kn.compile(ball()), kn.compile(whole)
    random = np.random.default_rng(4)
    start = {c.name: x for c, x in zip(within.coordinates, random.uniform(-1, 1, len(within.coordinates)), strict=True)}
    for joint in within.system.joints:  # quaternions of unit length
        length = np.linalg.norm([start[f"{joint}.q.{part}"] for part in QUATERNION])
        start.update({f"{joint}.q.{part}": start[f"{joint}.q.{part}"] / length for part in QUATERNION})
    own = {name.removeprefix(f"{prefix}."): x for name, x in start.items() if name.startswith(prefix)}
    one, two = alone.state(own), within.state(start)
    expected = alone.evaluate(names, 0.0, one.q, one.u)
    found = within.evaluate([f"{prefix}.{name}" for name in names], 0.0, two.q, two.u)
    for name in names:
        assert found[f"{prefix}.{name}"] == pytest.approx(expected[name], abs=1e-13), name


def test_what_is_not_known_relative_to_a_moving_world_is_refused() -> None:
    part = ball()
    part.signal("jerky", "stone.acceleration.x")
    system = trunk()
    with pytest.raises(kn.ModelError, match=r"left\.jerky.*stone\.acceleration\.x: the world of part moves") as caught:
        system.add("left", part, on="trunk")
    assert caught.value.component == "left.jerky"
    assert "left.stone" not in system.components
    system.add("left", part, on=system.world.at(1, 0, 0, rpy=(0, 0, 1)))
    assert system["left.jerky"].law.names() == {"left.stone.acceleration.x@world.left.world"}


def test_the_reference_of_slides_is_no_obstacle() -> None:
    """``world.position`` is a node where something slides against it; ``world.position.x`` is a place all the same."""
    part = ball()
    part.element("brake", "slide_damper", a="rod", b="world", damping=2)
    part.element("rod_mass", "slide_mass", slide="rod", mass=1)
    assert find_quantity(part, "world.position.x").sort == "frame"
    assert find_quantity(part, "world.position.speed").sort == "node"
    whole = trunk()
    whole.add("part", part, on="trunk")
    whole.check()
    assert loads(dumps(whole)) == whole
    assert "trunk.position.x@trunk" in whole["part.seen"].law.names()


def test_level_axes_turn_with_the_world_of_a_subsystem() -> None:
    part = ball()
    part.frame("level", "fixed_plane", on="stone", upright="z")
    whole = kn.System("whole", gravity=(0, 0, 0))
    whole.add("part", part, on=whole.world.at(1, 0, 0, rpy=(np.pi / 2, 0, 0)))
    assert whole["part.level"].upright == "-y"
    assert loads(dumps(whole)) == whole
    with pytest.raises(kn.ModelError, match=r"left\.level\.upright: .* stands on trunk"):
        trunk().add("left", part, on="trunk")


def windy(wind: tuple = ("3 + t", "0.001*altitude", 0)) -> kn.System:
    part = kn.System("part", gravity=(0, 0, -9.81))
    part.free("flight", part.world, part.body("stone", mass=2, inertia=(2, 2, 2)))
    part.element("air", "ballistic", on="stone", area=1, length=1, drag=1, wind=wind)
    return part


def test_the_wind_turns_with_the_world_of_a_subsystem() -> None:
    whole = kn.System("whole", gravity=(0, 0, -9.81))
    whole.add("part", windy(), on=whole.world.at(0, 0, 500, rpy=(0, 0, np.pi / 6)))
    assert loads(dumps(whole)) == whole
    dynamics = kn.compile(whole)
    found = dynamics.evaluate(["part.air.wind"], 1.0, dynamics.initial.q, dynamics.initial.u)
    s, c = 0.5, np.sqrt(0.75)
    assert found["part.air.wind"] == pytest.approx([4 * c - 0.5 * s, 4 * s + 0.5 * c, 0], rel=1e-14)
    system = trunk()
    with pytest.raises(kn.ModelError, match=r"left\.air\.wind: .* world of its subsystem stands on trunk"):
        system.add("left", windy(), on="trunk")
    system.add("left", windy((0, 0, 0)), on="trunk")


def test_north_and_up_turn_with_the_world_of_a_subsystem() -> None:
    part = windy((0, 0, 0))
    part.earth_rotation("earth", "30 deg", north="x", up="z", rate=2.0)
    whole = kn.System("whole", gravity=(0, 0, -9.81))
    whole.add("part", part, on=whole.world.at(1, 2, 3, rpy=(np.pi / 2, 0, np.pi / 2)))
    dynamics = kn.compile(whole)
    found = dynamics.evaluate(["part.earth.angular_velocity"], 0.0, dynamics.initial.q, dynamics.initial.u)
    assert found["part.earth.angular_velocity"] == pytest.approx([1, np.sqrt(3), 0], abs=1e-15)
    with pytest.raises(kn.ModelError, match=r"more\.earth\.north: is no axis of the system"):
        kn.System("other").add("more", part, on=Frame("world", rotation=("rpy", (0.0, 0.0, 0.3))))
    with pytest.raises(kn.ModelError, match=r"left\.earth\.\w+: .*trunk"):
        trunk().add("left", part, on="trunk")


def test_subsystems_nest() -> None:
    inner = kn.System("finger")
    inner.parameter("k", 2.0)
    inner.body("tip", mass="k")
    inner.free("joint", "world", "tip")
    hand = kn.System("hand")
    hand.parameter("size", 3.0)
    hand.body("palm", mass=1)
    hand.free("wrist", "world", "palm")
    hand.add("index", inner, on="palm", bind={"k": "size/2"})
    body = kn.System("body")
    body.add("left", hand)
    assert body.nominal(body["left.index.tip"].mass) == 1.5
    assert body["left.index.joint"].a == Frame("left.palm")
    body.check()


def test_gravity_of_a_subsystem_is_noted_where_it_differs() -> None:
    system = trunk()
    part = kn.System("part", gravity=(0, -9.81, 0))
    part.body("a", mass=1)
    part.free("j", "world", "a")
    system.add("p", part)
    assert system.notes == ["p: its own gravity is left out; the system's acts"]
    assert "its own gravity" in system.summary()


def test_change_keeps_the_rest_and_the_order() -> None:
    system = leg()
    order = list(system.components)
    old = system["knee"]
    new = system.change("knee", q="10 deg", damping=0.1)
    assert (new.a, new.b, new.effort, new.axis) == (old.a, old.b, old.effort, old.axis)
    assert new.q == (pytest.approx(np.pi / 18),)
    assert list(system.components) == order
    system.change("length", value=0.3)
    assert system.parameters["length"].dimension is not None
    with pytest.raises(kn.ModelError, match="outside its bounds"):
        system.change("length", value="5 m")
    with pytest.raises(kn.ModelError, match="m is needed"):
        system.change("length", value="0.3 s")
    system.change("knee", kind="cylindrical", effort=None, q=None, damping=None)
    assert system["knee"].kind == "cylindrical"
    system.change("curve", values=(0, 3))
    assert system.tables["curve"].values == (0.0, 3.0)


def test_what_stands_on_a_named_frame_follows_it() -> None:
    system = leg()
    system.spring("at_com", "thigh.com", "world", stiffness=3)
    system.change("shank", frames={"foot": (0, 0, -0.5)})
    system.change("thigh", com=(1, 0, 0))
    assert system["tendon"].b.position == (0.0, 0.0, -0.5)
    assert system["at_com"].a.position == (1.0, 0.0, 0.0)
    assert loads(dumps(system)) == system


def test_a_copy_is_independent() -> None:
    system = leg()
    twin = system.copy("twin")
    assert twin.name == "twin"
    assert twin["thigh"].system is twin
    twin.name = "leg"
    assert twin == system
    twin.change("thigh", mass=9)
    twin.notes.append("changed")
    twin["thigh"].at(1, 2, 3, name="new")
    assert twin != system
    assert system == leg()


def test_the_summary_fits_a_terminal_and_says_what_matters() -> None:
    system = trunk()
    system.add("left", leg(), on="trunk")
    system.change("left.hip", limits=("-30 deg", "30 deg"))
    system.run_defaults = {"until": "3 s"}
    text = system.summary()
    assert max(len(line) for line in text.splitlines()) <= 80
    for part in (
        "gravity  (0, 0, -9.81) m/s^2", "total mass 36 kg", "7 degrees of freedom", "left.length  0.4 m, from 0.1 to 1",
        "mass 30 kg, inertia (1, 1, 1) kg*m^2", "revolute, trunk -> left.thigh, axis y", "limits (lower -0.523599 rad",
        "left.drive  0 N*m", "2 values over 0 to 1; linear", "tension 100*(length - left.half) + rate N", "until  3",
    ):  # fmt: skip
        assert part in " ".join(text.split()) or part in text, part
    assert "gravity  (0, 0, 0) m/s^2  (none)" in kn.System("empty", gravity=(0, 0, 0)).summary()


def test_a_name_means_what_the_system_has_now():
    system = kn.load("examples/double_pendulum.yaml")
    assert find_quantity(system, "elbow.q") is find_quantity(system, "elbow.q")
    system.rename("elbow", "knee")
    assert find_quantity(system, "knee.q").owner == "knee"
    with pytest.raises(kn.LawError, match="elbow"):
        find_quantity(system, "elbow.q")
