"""Constraints beyond joints: the contract over the whole registry, and what is refused."""

import pytest
from constraint_contract import CHECKS, ConstraintExample

from kinode.errors import ModelError
from kinode.model.constraints.constraint import CONSTRAINTS
from kinode.model.system import System

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
    system = System("bad")
    one, two = (system.body(name, mass=1, inertia=(1, 1, 1)) for name in ("one", "two"))
    system.revolute("hinge", system.world, one)
    system.prismatic("slide", system.world, two)
    system.constraint("tie", kind, **fields)
    with pytest.raises(ModelError, match=message):
        system.check()
