"""Constraints beyond joints: the contract over the whole registry, and what is refused."""

import pytest
from constraint_contract import CHECKS, ConstraintExample

import kinode as kn
from kinode.model.constraints.constraint import CONSTRAINTS

EXAMPLES = [
    ConstraintExample("distance", lambda one, two: {"a": one, "b": two, "distance": 0.7}),
    ConstraintExample("point_on_line", lambda one, two: {"point": one, "line": two, "axis": (1, 2, -0.5)}),
    ConstraintExample(
        "point_on_plane", lambda one, two: {"point": one, "plane": two, "normal": (1, 0.3, 2), "height": 0.2}
    ),
    ConstraintExample("angle", lambda one, two: {"a": one, "b": two, "axes": ("x", (1, 1, 0)), "angle": "70 deg"}),
    ConstraintExample(
        "rolling", lambda one, two: {"wheel": one, "axis": "y", "radius": 0.3, "ground": two, "normal": (0.2, 0.1, 1)}
    ),
    ConstraintExample("knife_edge", lambda one, two: {"blade": one, "axis": "x", "ground": two, "normal": "z"}),
    ConstraintExample("gear", lambda one, two: {"input": "closing", "output": "turn", "ratio": -1.5, "offset": 0.2}),
    ConstraintExample("rack", lambda one, two: {"rack": "slide", "pinion": "closing", "radius": 0.4, "offset": 0.1}),
]


def test_every_kind_has_an_example():
    assert {example.kind for example in EXAMPLES} == set(CONSTRAINTS)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.kind)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_contract(example, check):
    check(example)


@pytest.mark.parametrize(
    ("kind", "fields", "message"),
    [
        ("distance", {"a": "one", "b": "world", "distance": 0}, "must be positive"),
        ("distance", {"a": "one", "b": "one.com", "distance": 1}, "both sides are on one"),
        ("angle", {"a": "one", "b": "world", "angle": "180 deg"}, "between 0 and 180 deg"),
        ("rolling", {"wheel": "one", "radius": -1}, "must be positive"),
        ("rack", {"rack": "hinge", "pinion": "slide", "radius": 1}, "hinge does not travel"),
        ("rack", {"rack": "slide", "pinion": "hinge", "radius": 0}, "must not be zero"),
        ("rack", {"rack": "slide", "pinion": "hinges", "radius": 1}, "no joint is called 'hinges'"),
        ("gear", {"input": "hinge", "output": "hinge", "ratio": 1}, "couples a joint to itself"),
    ],
)
def test_what_cannot_hold_is_refused(kind, fields, message):
    system = kn.System("bad")
    one, two = (system.body(name, mass=1, inertia=(1, 1, 1)) for name in ("one", "two"))
    system.revolute("hinge", system.world, one)
    system.prismatic("slide", system.world, two)
    system.constraint("tie", kind, **fields)
    with pytest.raises(kn.ModelError, match=message):
        system.check()


TOOTHED = {"pressure_angle": "20 deg"}


@pytest.mark.parametrize(
    ("kind", "fields", "message"),
    [
        ("gear", {"output": "far", "pressure_angle": 20}, "from 0 to 90 degrees, not 1146; '20 deg' is a text"),
        ("gear", {"output": "far", "helix_angle": "90 deg", **TOOTHED}, "within 90 degrees, not 90"),
        ("gear", {"output": "far", "helix_angle": 0.1}, "describes teeth: they need a pressure_angle too"),
        ("gear", {"output": "far", "mesh_at": "1 cm"}, "describes teeth: they need a pressure_angle too"),
        ("gear", {"output": "bevel", **TOOTHED}, "near and bevel are not parallel: forces of bevel and worm gears"),
        ("gear", {"output": "same", **TOOTHED}, "near and same have one axis"),
        ("gear", {"output": "far", "ratio": 1, **TOOTHED}, "both turn alike: of two wheels that mesh on one side"),
        ("gear", {"output": "other", **TOOTHED}, "near and other do not turn on one body, or on bodies fixed to each"),
        ("gear", {"output": "slide", **TOOTHED}, "slide is a prismatic joint, the teeth of a gear need a revolute one"),
        ("rack", {"rack": "slide", "pinion": "near", "radius": 1, **TOOTHED}, "slide does not travel across the axis"),
        ("rack", {"rack": "slide", "pinion": "bolt", "radius": 1, **TOOTHED}, "bolt is a screw joint, the teeth of a"),
    ],
)
def test_teeth_that_cannot_mesh_are_refused(kind, fields, message):
    system = kn.System("bad")
    bodies = [system.body(name, mass=1, inertia=(1, 1, 1)) for name in "abcdefg"]
    system.revolute("near", system.world, bodies[0])
    system.revolute("far", system.world.at(1, 0, 0), bodies[1])
    system.revolute("bevel", system.world.at(1, 0, 0), bodies[2], axis="x")
    system.revolute("same", system.world.at(0, 0, 1), bodies[3])
    system.prismatic("slide", system.world, bodies[4])
    system.revolute("other", bodies[1].at(1, 0, 0), bodies[5])
    system.screw("bolt", system.world, bodies[6], lead=0.1, axis="x")
    system.constraint("tie", kind, **({"input": "near", "ratio": -2, **fields} if kind == "gear" else fields))
    with pytest.raises(kn.ModelError, match=message):
        system.check()
