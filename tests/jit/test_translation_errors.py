"""What the loop language does not have is refused, with its place."""

from __future__ import annotations

import math

import pytest
from loop_records import Walk, fibonacci, move

from kinode.jit.loop.memory import Floats, Ints
from kinode.jit.loop.syntax import TranslationError
from kinode.jit.loop.translator import translate


def no_such_field(trip: Walk) -> float:
    return trip.here.z


def field_of_a_number(trip: Walk) -> float:
    return trip.scale.x


def whole_record(trip: Walk) -> None:
    trip.here = trip.there


def other_record(trip: Walk) -> int:
    return move(trip, 1)


def field_of_another_type(trip: Walk) -> None:
    trip.steps = trip.scale


def no_annotation(n) -> int:
    return n


def no_return(n: int) -> int:
    if n > 0:
        return 1


def unset(n: int) -> int:
    if n > 0:
        m = 1
    return m


def unset_after_a_loop(n: int) -> int:
    for i in range(n):
        m = i
    return m


def other_type(n: int) -> float:
    x = 1
    x = x / n
    return x


def text(n: int) -> int:
    print("hello")
    return n


def listed(n: int) -> int:
    values = [1, 2]
    return values[n]


def unknown(n: int) -> int:
    return nowhere(n)  # noqa: F821


def too_many(n: int) -> int:
    return fibonacci(n, n)


def wrong_argument(values: Floats) -> int:
    return fibonacci(values[0])


def whole_power(n: int) -> int:
    return n**2


def either_kind(x: float) -> float:
    return 1 if x > 0.0 else x


def float_index(values: Floats, x: float) -> float:
    return values[x]


def written_integer(places: Ints, x: float) -> None:
    places[0] = x


def with_default(n: int = 3) -> int:
    return n


def unknown_type(n: complex) -> int:
    return 1


def over_a_list(n: int) -> int:
    for i in (1, 2):
        n += i
    return n


def a_number_as_truth(n: int) -> bool:
    return n and n > 1


REFUSED = {
    no_such_field: "a record Point has no field 'z'",
    field_of_a_number: "'trip.scale' is a real number and has no fields",
    whole_record: "'trip.here' is a record Point: its fields are assigned to one by one",
    other_record: "argument 'point' of 'move' is a record Point and would become a record Walk",
    field_of_another_type: "'trip.steps' is an integer and would become a real number",
    no_annotation: "argument 'n' has no annotation",
    no_return: "a path reaches its end without returning an integer",
    unset: "'m' is not set on every path",
    unset_after_a_loop: "'m' is not set on every path",
    other_type: "'x' is an integer and would become a real number",
    text: "no number of the loop language",
    listed: "not part of the loop language",
    unknown: "'nowhere' is not known",
    too_many: "takes 1 arguments, not 2",
    wrong_argument: "argument 'n' of 'fibonacci' is an integer and would become a real number",
    whole_power: "a power of integers",
    either_kind: "may be an integer or a real number",
    float_index: "where an integer is needed",
    written_integer: "'places\\[0\\]' is an integer and would become a real number",
    with_default: "no defaults",
    unknown_type: "'complex' is no type of a loop",
    over_a_list: "a loop goes over a range",
    a_number_as_truth: "where true or false is needed",
}


@pytest.mark.parametrize("function", REFUSED, ids=lambda function: function.__name__)
def test_what_cannot_be_compiled_is_refused_with_its_place(function):
    with pytest.raises(TranslationError, match=REFUSED[function]) as caught:
        translate(function, "tested")
    first = function.__code__.co_firstlineno
    place = int(str(caught.value).split(":")[1])
    assert str(caught.value).startswith(function.__code__.co_filename) and first <= place <= first + 5


def test_what_is_not_python_is_refused():
    with pytest.raises(TranslationError, match="not written in Python"):
        translate(math.sin, "tested")
