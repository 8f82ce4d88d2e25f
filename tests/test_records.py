"""Records behave as the standard library's dataclasses do; each class here is made by both decorators."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from dataclasses import field

import numpy as np
import pytest

from kinode.kernels.kernel_options import ReactionOptions
from kinode.records import dataclass as quick

STANDARD = dataclasses.dataclass


def make(decorator, **options):
    @decorator(**options)
    class Base:
        a: int
        b: float = 2.0

    @decorator(**options)
    class Record(Base):
        """A record."""

        names: list[str] = field(default_factory=list)
        hidden: int = field(default=0, repr=False, compare=False)
        fixed: int = field(default=7, init=False)

    return Record


@pytest.fixture(params=[{}, {"frozen": True}, {"eq": False}, {"frozen": True, "eq": False}], ids=str)
def pair(request):
    return make(quick, **request.param), make(STANDARD, **request.param)


CALLS = [((1,), {}), ((1, 3.0, ["x"]), {}), ((), {"a": 1, "names": ["y"], "hidden": 5})]


@pytest.mark.parametrize(("args", "keywords"), CALLS)
def test_fields_and_text_are_the_standard_ones(pair, args, keywords):
    mine, theirs = (cls(*args, **keywords) for cls in pair)
    assert vars(mine) == {k: v for k, v in vars(theirs).items() if k != "fixed"}
    assert mine.fixed == theirs.fixed == 7
    assert repr(mine) == repr(theirs)
    assert dataclasses.asdict(mine) == dataclasses.asdict(theirs)
    assert [f.name for f in dataclasses.fields(mine)] == [f.name for f in dataclasses.fields(theirs)]


def test_the_arguments_are_the_standard_ones(pair):
    mine, theirs = (inspect.signature(cls) for cls in pair)
    assert list(mine.parameters) == list(theirs.parameters)
    assert [str(x.annotation) for x in mine.parameters.values()] == [
        str(x.annotation) for x in theirs.parameters.values()
    ]
    for cls in pair:
        with pytest.raises(TypeError, match="'a'"):
            cls()


def test_equality_and_hash_are_the_standard_ones(pair):
    def answers(cls):
        one, same, other = cls(1, hidden=3), cls(1, hidden=4), cls(2)
        return one == same, one != same, one == other, one == (1, 2.0), cls.__hash__ is None

    assert answers(pair[0]) == answers(pair[1])


def test_each_record_gets_a_list_of_its_own(pair):
    pair[0](1).names.append("x")
    assert pair[0](1).names == []


def test_a_frozen_record_is_not_changed_but_replaced():
    record = make(quick, frozen=True)(1)
    with pytest.raises(dataclasses.FrozenInstanceError, match="assign to field 'a'"):
        record.a = 2
    with pytest.raises(dataclasses.FrozenInstanceError, match="delete field 'a'"):
        del record.a
    assert dataclasses.replace(record, a=2).a == 2 and record.a == 1


def test_hashes_of_equal_records_are_equal():
    @quick(frozen=True)
    class Key:
        name: str
        options: tuple[int, ...] = ()

    @quick(frozen=True)
    class Single:
        name: str

    assert {Key("x", (1,)): 1}[Key("x", (1,))] == 1 and Key("x") != Key("x", (1,))
    assert {Single("x"): 2}[Single("x")] == 2 and Single("x") != Single("y")


def test_fields_that_are_the_same_object_are_equal():
    @quick
    class Holder:
        values: np.ndarray

    values = np.array([1.0, 2.0])
    assert Holder(values) == Holder(values)  # as in a tuple: no array is compared with itself


def test_own_methods_stay():
    @quick(frozen=True)
    class Own:
        a: int

        def __post_init__(self):
            object.__setattr__(self, "doubled", 2 * self.a)

        def __repr__(self):
            return "own"

        def __eq__(self, other):
            return True

        def __hash__(self):
            return 5

    assert repr(Own(1)) == "own" and Own(1) == Own(2) and hash(Own(1)) == 5 and Own(3).doubled == 6


def test_records_are_copied_and_pickled():
    options = ReactionOptions(joints=("a", "b"))
    assert copy.deepcopy(options) == options == pickle.loads(pickle.dumps(options))
    assert hash(copy.copy(options)) == hash(options)


def test_subclasses_and_threads_meet_the_same_arguments():
    @quick(frozen=True)
    class Base:
        a: int

    class Plain(Base):
        pass

    class Longer(Base):
        def __init__(self, a: int, b: int) -> None:
            super().__init__(a)
            object.__setattr__(self, "b", b)

    assert Plain(1).a == 1 and vars(Longer(2, 3)) == {"a": 2, "b": 3} and Base(a=4).a == 4
    assert Base.__init__.__qualname__.endswith("Base.__init__") and "__init__" not in vars(Plain)
