"""The walk over values: it changes nothing by itself, and keeps what values share."""

import pytest

import kinode as kn
from kinode.example_files import find_examples
from kinode.model.base.field_reader import KINDS
from kinode.model.base.value_walk import ValueWalk, find_expressions
from kinode.model.constraints.constraint import CONSTRAINTS
from kinode.model.joints.joint import JOINTS
from kinode.model.live_numbers import find_numbers

EXAMPLES = [path for path in find_examples() if path.suffix == ".yaml"]


class EveryNumber(ValueWalk):
    visits_numbers = True


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_a_walk_that_changes_nothing_gives_the_very_same(path):
    system = kn.load(path)
    for component in (system.world, *system.components.values()):
        assert ValueWalk().changes(component) == {}
        assert EveryNumber().changes(component) == {}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_expressions_are_those_of_the_fields(path):
    for component in kn.load(path).components.values():
        known = component.expressions()
        values = {name: getattr(component, attribute) for name, attribute, _ in component.walked_fields()}
        assert list(known) == [(name, law) for name, value in values.items() for law in find_expressions(value)]


def test_copies_of_a_subsystem_share_no_numbers():
    arm = kn.System("arm")
    upper = arm.body("upper", mass=1.0, com=(0.1, 0.0, 0.0), inertia=(0.1, 0.1, 0.1))
    tip = upper.at(0.3, 0.2, 0.1)
    arm.revolute("elbow", arm.world, upper)
    arm.spring("one", arm.world, tip, stiffness=3.0, free_length=0.1)
    arm.spring("two", arm.world, tip, stiffness=4.0, free_length=0.1)
    both = kn.System("both")
    both.add("left", arm)
    both.add("right", arm)
    places = {side: both[f"{side}.one"].b.position for side in ("left", "right")}
    assert places["left"] == places["right"]
    assert places["left"] is not places["right"]
    assert both["left.two"].b.position is places["left"]
    numbers = find_numbers(both)
    assert {"left.one.b.at.x", "right.one.b.at.x"} <= numbers.keys()
    assert "left.two.b.at.x" not in numbers


def test_every_field_has_a_kind_that_is_known_by_its_word():
    for registry in (JOINTS, CONSTRAINTS):
        for cls in registry.values():
            for _, spec in cls.specs().values():
                assert KINDS[spec.kind.word] is spec.kind
                assert isinstance(spec.kind.schema(cls, spec), dict)


def test_a_word_of_a_plug_in_is_read_by_its_class():
    @kn.register("walker_test")
    class Walker(kn.Element):
        steps: tuple[int, ...] = kn.fields.special("step_list", "steps", ...)

        @classmethod
        def read_step_list(cls, reader, raw, field, spec):
            return tuple(int(item) for item in raw.split())

    try:
        system = kn.System("plain")
        assert system.element("w", "walker_test", steps="1 2 3").steps == (1, 2, 3)
        assert "steps" in kn.schema()["$defs"]["element"]["allOf"][-1]["then"]["properties"]
    finally:
        from kinode.model.base.element import ELEMENTS

        del ELEMENTS["walker_test"]
