"""Named tuples behave as those of the standard library do; each class here is made by both."""

from __future__ import annotations

import copy
import inspect
import pickle
import threading
import typing

import pytest

from kinode.jit.compiler import BuildRequest
from kinode.named_tuples import NamedTuple as Quick


class QuickPair(Quick):
    """A pair."""

    a: int
    b: float = 2.0

    @property
    def total(self) -> float:
        return self.a + self.b

    def __add__(self, other: object) -> str:
        return f"{super().__len__()} and {other}"


class StandardPair(typing.NamedTuple):
    """A pair."""

    a: int
    b: float = 2.0

    @property
    def total(self) -> float:
        return self.a + self.b


class Narrow(QuickPair):
    """A class derived from one."""

    def __new__(cls, a: int) -> Narrow:
        return super().__new__(cls, a, 5.0)


def outcome(work):
    """What a call gives, or the kind of its error."""
    try:
        return work()
    except Exception as error:
        return type(error)


@pytest.mark.parametrize(
    "work",
    [
        lambda P: tuple(P(1)),
        lambda P: tuple(P(1, b=3)),
        lambda P: P(),
        lambda P: P(1, 2, 3),
        lambda P: P(1, c=3),
        lambda P: (P(1).a, P(1).b, P(1).total),
        lambda P: P._fields,
        lambda P: P._field_defaults,
        lambda P: P.__match_args__,
        lambda P: P(1)._replace(b=4),
        lambda P: P(1)._replace(c=4),
        lambda P: tuple(P._make([1, 2])),
        lambda P: P._make([1]),
        lambda P: P(1, 2)._asdict(),
        lambda P: P(1, 2) == (1, 2),
        lambda P: hash(P(1, 2)),
        lambda P: [*P(3, 4)],
        lambda P: P.__doc__,
        lambda P: [(each.name, each.default, each.kind) for each in inspect.signature(P).parameters.values()],
        lambda P: typing.get_type_hints(P),
        lambda P: setattr(P(1), "a", 2),
        lambda P: setattr(P(1), "c", 2),
        lambda P: isinstance(P(1), tuple),
    ],
)
def test_as_the_standard_one(work):
    assert outcome(lambda: work(QuickPair)) == outcome(lambda: work(StandardPair))


def test_text():
    assert repr(QuickPair(1)) == repr(StandardPair(1)).replace("Standard", "Quick")


def test_copies_and_pickles():
    pair = QuickPair(1, 2)
    for made in (copy.copy(pair), copy.deepcopy(pair), pickle.loads(pickle.dumps(pair))):
        assert made == pair and type(made) is QuickPair


def test_patterns():
    match QuickPair(1, 4):
        case QuickPair(a, b):
            assert (a, b) == (1, 4)


def test_derived_class_and_super():
    assert Narrow(1) == (1, 5.0) and Narrow(1).total == 6.0 and type(Narrow(1)) is Narrow
    assert QuickPair(1) + "more" == "2 and more"


def test_field_without_default_after_one_with():
    with pytest.raises(TypeError, match=r"Wrong\.b has no default"):

        class Wrong(Quick):
            a: int = 1
            b: int


def test_first_tuples_in_several_threads():
    class Fresh(Quick):
        a: int
        b: int = 2

    made, together = [], threading.Barrier(4)

    def work():
        together.wait()
        made.extend(Fresh(k) for k in range(100))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 400 and set(made) == {(k, 2) for k in range(100)}


def test_classes_of_kinode():
    request = BuildRequest("key", 1, lambda: None)
    assert request.words == "" and request._replace(lanes=4).lanes == 4
