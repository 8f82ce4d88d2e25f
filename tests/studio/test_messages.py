"""Messages of page and server: the page's types are those of the methods that answer, which check the fields too."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NotRequired, TypedDict

import pytest

import kinode as kn
from kinode.studio.server.messages import Quantity, find_misfit, read_fields, request
from kinode.studio.server.session import Job, Session

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import write_messages


class Place(TypedDict):
    """A record with a field that may be missing."""

    name: str
    at: NotRequired[tuple[float, float]]


class Desk:
    """Answers one request, and keeps what it was given."""

    @request("move", lane="text", changes=True)
    def move(self, job: Job, place: Place, by: Quantity | None = None, names: tuple[str, ...] = ()) -> dict[str, Any]:
        """The fields, and the number of the request."""
        return {"seq": job.seq, "place": place, "by": by, "names": list(names)}


def test_the_types_of_the_page_are_as_written():
    """``python tools/write_messages.py``, or ``make refresh``, writes them anew."""
    assert write_messages.TARGET.read_text(encoding="utf-8") == write_messages.write_messages()


def test_every_push_of_a_kind_has_a_type():
    source = Path(write_messages.__file__).parents[1] / "src" / "kinode" / "studio"
    said = {
        line.split('"kind": "')[1].split('"')[0]
        for path in source.rglob("*.py")
        if path.parent.name != "server"
        for line in path.read_text(encoding="utf-8").splitlines()
        if '"kind": "' in line and ("push(" in line or "cause" in line)
    }
    assert said == write_messages.PUSHES.keys() | write_messages.PACKETS.keys()


@pytest.mark.parametrize(("value", "kind", "words"), [
    ("a", str, ""), (1, str, "x: a text is expected, not 1"), (True, int, "a whole number"), (2, int, ""),
    (2, float, ""), (True, float, "a number"), (float("inf"), float, "a number"), (10**400, float, "a number"),
    (None, str | None, ""), (3, str | None, "a text"), ("2 mm", Quantity, ""), ([1], Quantity | None, "x: a number is"),
    ("b", Literal["a", "b"], ""), ("c", Literal["a", "b"], "one of a, b"), (["a", "b"], list[str], ""),
    ("ab", list[str], "a list of names"), (["a", 2], list[str], "x: 1: a text"), ({"a": 1}, Mapping[str, float], ""),
    ({"a": "b"}, Mapping[str, float], "x: a: a number"), ([1], Mapping[str, float], "an object"),
    ([1, 2.5], tuple[float, float], ""), ([1], tuple[float, float], "2 numbers"), ([1, 2], tuple[int, ...], ""),
    ({"name": "a"}, Place, ""), ({"name": "a", "at": [1, 2], "more": 3}, Place, ""), ({}, Place, "an object with name"),
    ({"name": "a", "at": [1]}, Place, "x: at: 2 numbers"), ({"name": 3}, Place | list[str], "an object with name or a"),
])  # fmt: skip
def test_what_is_not_of_a_type_is_said_with_the_path_to_it(value, kind, words):
    wrong = find_misfit(value, kind, "x")
    assert words in wrong and bool(wrong) == bool(words)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "place: an object with name is expected, and nothing was sent"),
        ({"place": {"name": "a"}, "to": 1}, "move: no field of this request is called 'to'"),
        ({"place": {"name": "a"}, "names": [1]}, "names: 0: a text"),
    ],
)
def test_fields_that_are_wrong_missing_or_unknown_are_refused(fields, words):
    with pytest.raises(kn.ArgumentError, match=words):
        read_fields(Desk.move, {"kind": "move", "seq": 1, **fields})


def test_a_desk_answers_the_requests_that_it_has_methods_for():
    session = Session(read_only=True)
    session.add(Desk())
    with pytest.raises(kn.ArgumentError, match="read-only"):
        session.handler_of("move")
    open_to_all = Session()
    open_to_all.add(Desk())
    assert open_to_all.lane_of("move") == "text"
    fields = {"kind": "move", "seq": 7, "place": {"name": "a"}, "by": "2 mm"}
    answer = open_to_all.handler_of("move")(Job(7, "move", fields, None))
    assert answer == {"seq": 7, "place": {"name": "a"}, "by": "2 mm", "names": []}
