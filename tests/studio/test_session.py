"""The session: one answer to each request, the newest wins, errors are told, slow pages are let go."""

import asyncio
import logging
import threading
import time

import numpy as np
import pytest
from page_wire import SECONDS, Slow, play

import kinode as kn
from kinode.errors import Gap
from kinode.studio.server.session import Session, describe_error

# -- answers --------------------------------------------------------------------------------------------------------


def test_a_mapping_is_answered_in_json():
    session = Session()
    session.handle("double", lambda job: {"value": 2 * job.fields["value"], "seq": 99, "nan": float("nan")})

    async def scenario(wire):
        wire.ask(3, "double", value=4)
        assert await wire.answer() == {"value": 8, "seq": 3, "kind": "double", "nan": None}

    play(scenario, session)


def test_arrays_are_answered_in_a_packet():
    session = Session()
    session.handle("run", lambda job: ({"version": 1}, {"t": np.arange(3.0)}))

    async def scenario(wire):
        wire.ask(0, "run")
        header, arrays = await wire.answer()
        assert header == {"version": 1, "seq": 0, "kind": "run"}
        assert arrays["t"].tolist() == [0, 1, 2]

    play(scenario, session)


def test_nothing_is_an_answer_too():
    session = Session()
    session.handle("moved", lambda job: None)

    async def scenario(wire):
        wire.ask(1, "moved")
        assert await wire.answer() == {"seq": 1, "kind": "moved"}

    play(scenario, session)


@pytest.mark.parametrize(
    ("message", "seq", "said"),
    [
        ("nonsense", None, "not JSON"),
        ('{"seq": 1, "kind": "set", "x": NaN}', None, "not JSON"),
        ("[" * 100_000, None, "not JSON"),
        ('{"seq": ' + "9" * 5000 + "}", None, "not JSON"),
        (b"\0\0\0\0", None, "text in JSON"),
        ("[1]", None, "object"),
        ("{}", None, "seq"),
        ('{"seq": -1, "kind": "set"}', None, "seq"),
        ('{"seq": 1.5, "kind": "set"}', None, "seq"),
        ('{"seq": true, "kind": "set"}', None, "seq"),
        ('{"seq": "1", "kind": "set"}', None, "seq"),
        ('{"seq": 9007199254740992, "kind": "set"}', None, "seq"),
        ('{"seq": 1}', 1, "kind"),
        ('{"seq": 1, "kind": ["set"]}', 1, "kind"),
        ('{"seq": 1, "kind": "sett"}', 1, "did you mean set"),
        ('{"seq": 1, "kind": "overtaken"}', 1, "not known"),
        ('{"seq": 1, "kind": "save"}', 1, "read-only"),
    ],
)
def test_wrong_requests_are_told_so_and_do_no_harm(message, seq, said):
    session = Session(read_only=True)
    session.handle("set", lambda job: {"fine": True})
    session.handle("save", lambda job: {}, changes=True)

    async def scenario(wire):
        wire.incoming.put_nowait(message)
        answer = await wire.answer()
        assert answer["seq"] == seq and said in answer["error"]["message"]
        wire.ask(2, "set")
        assert (await wire.answer())["fine"]

    play(scenario, session)


def test_seq_must_grow():
    session = Session()
    session.handle("set", lambda job: {})

    async def scenario(wire):
        wire.ask(5, "set")
        assert (await wire.answer())["seq"] == 5
        wire.ask(5, "set")
        answer = await wire.answer()
        assert answer["seq"] is None and "5 came after 5" in answer["error"]["message"]

    play(scenario, session)


@pytest.mark.parametrize("kind", ["", "stop", "overtaken", "stopped"])
def test_words_of_the_session_are_no_kinds(kind):
    with pytest.raises(kn.ArgumentError, match="word of the session"):
        Session().handle(kind, lambda job: {})


def test_what_changes_something_runs_where_it_may():
    session = Session()
    session.handle("save", lambda job: {"saved": True}, changes=True)

    async def scenario(wire):
        wire.ask(1, "save")
        assert (await wire.answer())["saved"]

    play(scenario, session)


# -- errors ---------------------------------------------------------------------------------------------------------


class Ended:
    t = np.array([0.0, 0.25])


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (kn.ArgumentError("no such value"), {"message": "no such value", "type": "ArgumentError"}),
        (
            kn.ModelError("must be positive", component="arm", field="mass", file="arm.yaml", line=7),
            {"message": "must be positive", "type": "ModelError", "component": "arm", "field": "mass",
             "file": "arm.yaml", "line": 7},
        ),
        (
            kn.LawError("an operator is missing", text="2 x", position=2, component="drive"),
            {"message": "an operator is missing", "type": "LawError", "component": "drive", "text": "2 x",
             "position": 2},
        ),
        (
            kn.AssemblyError("does not close", {"pin": Gap(0.1, 0.0)}),
            {"message": "does not close", "type": "AssemblyError", "residuals": {"pin": {"length": 0.1, "angle": 0.0}}},
        ),
        (kn.SimulationError("too stiff", Ended()), {"message": "too stiff", "type": "SimulationError", "t": 0.25}),
        (kn.SimulationError("too stiff"), {"message": "too stiff", "type": "SimulationError"}),
    ],
)  # fmt: skip
def test_errors_become_data(error, expected):
    def fail(job):
        raise error

    session = Session()
    session.handle("set", fail)

    async def scenario(wire):
        wire.ask(1, "set")
        assert await wire.answer() == {"seq": 1, "error": expected}

    assert describe_error(error) == expected
    play(scenario, session)


@pytest.mark.parametrize("error", [KeyError("values"), RecursionError("deep"), SystemExit(3), MemoryError()])
def test_faults_of_handlers_are_answered_and_logged(error, caplog):
    def fail(job):
        raise error

    session = Session()
    session.handle("set", fail)

    async def scenario(wire):
        for seq in (1, 2):
            wire.ask(seq, "set")
            answer = await wire.answer()
            assert answer["seq"] == seq and type(error).__name__ in answer["error"]["message"]

    with caplog.at_level(logging.ERROR, "kinode.studio"):
        play(scenario, session)
    assert "'set' failed" in caplog.text


@pytest.mark.parametrize("result", [{"x": object()}, ({}, {"a": np.array(["text"])}), 3, ({"arrays": 1}, {})])
def test_answers_that_cannot_be_sent(result, caplog):
    session = Session()
    session.handle("set", lambda job: result)

    async def scenario(wire):
        wire.ask(1, "set")
        answer = await wire.answer()
        assert answer["seq"] == 1 and answer["error"]["message"]

    play(scenario, session)


# -- the newest wins ------------------------------------------------------------------------------------------------


def test_one_runs_one_waits_and_the_rest_is_overtaken():
    session, slow = Session(), Slow()
    session.handle("set", slow)

    async def scenario(wire):
        wire.ask(0, "set", value=0)
        await slow.wait_until_begun()
        for seq in range(1, 6):
            wire.ask(seq, "set", value=seq)
        assert await wire.answers(4) == [{"seq": seq, "kind": "overtaken"} for seq in range(1, 5)]
        slow.allowed.release(2)
        answers = await wire.answers(2)
        assert answers == [{"value": seq, "seq": seq, "kind": "set"} for seq in (0, 5)]

    play(scenario, session)
    assert slow.jobs == [0, 5]


def test_a_long_drag_gets_one_answer_for_each_request():
    session, rows = Session(), []
    session.handle("set", lambda job: {"thread": threading.get_ident()})

    async def scenario(wire):
        for seq in range(300):
            wire.ask(seq, "set")
            if seq % 3 == 0:
                await asyncio.sleep(0)
        rows.extend(await wire.answers(300))
        assert wire.sent.empty()

    play(scenario, session)
    assert sorted(row["seq"] for row in rows) == list(range(300))
    done = [row for row in rows if row["kind"] == "set"]
    assert [row["seq"] for row in done] == sorted(row["seq"] for row in done) and done[-1]["seq"] == 299
    assert {row["thread"] for row in done} != {threading.get_ident()}


def test_kinds_do_not_wait_for_each_other():
    session, slow = Session(), Slow()
    session.handle("set", slow)
    session.handle("ask", lambda job: {})

    async def scenario(wire):
        wire.ask(1, "set")
        await slow.wait_until_begun()
        wire.ask(2, "ask")
        assert (await wire.answer())["seq"] == 2
        slow.allowed.release()
        assert (await wire.answer())["seq"] == 1

    play(scenario, session)


def test_what_runs_too_long_is_stopped_for_a_newer_one():
    session, slow = Session(least_seconds=0.05), Slow()
    session.handle("set", slow)

    async def scenario(wire):
        wire.ask(1, "set")
        await slow.wait_until_begun()
        await asyncio.sleep(0.1)
        assert wire.sent.empty()  # nobody waits: it may take its time
        wire.ask(2, "set", value="new")
        assert await wire.answer() == {"seq": 1, "kind": "stopped"}
        slow.allowed.release()
        assert (await wire.answer())["value"] == "new"

    play(scenario, session)


def test_patience_follows_what_is_usual():
    session = Session()
    session.handle("set", lambda job: {})
    assert session.patience("set") == 2.0
    for seconds in (0.1, 0.1, 30.0):
        session.note_seconds("set", seconds)
    assert session.patience("set") == 2.0
    for _ in range(9):
        session.note_seconds("set", 3.0)
    assert session.patience("set") == 15.0


def test_durations_are_noted(monkeypatch):
    session, noted = Session(least_seconds=0.0), []
    monkeypatch.setattr(session, "note_seconds", lambda kind, seconds: noted.append((kind, seconds)))
    session.handle("set", lambda job: time.sleep(0.02))

    async def scenario(wire):
        wire.ask(1, "set")
        await wire.answer()
        ((kind, seconds),) = noted
        assert kind == "set" and 0.02 <= seconds < 60.0

    play(scenario, session)


def test_a_stop_that_raises_is_a_stop():
    def fail(job):
        begun.set()
        while job.goes_on(0.5):
            time.sleep(0.002)
        raise kn.ModelError("given up")

    session, begun = Session(), threading.Event()
    session.handle("set", fail)

    async def scenario(wire):
        wire.ask(1, "set")
        assert await asyncio.to_thread(begun.wait, SECONDS)
        wire.ask(2, "stop")
        answers = await wire.answers(2)
        assert {"seq": 1, "kind": "stopped"} in answers
        assert {"seq": 2, "kind": "stop", "stopped": [1]} in answers

    play(scenario, session)


def test_stop_one_or_all():
    session, slow, other = Session(), Slow(), Slow()
    session.handle("set", slow)
    session.handle("curve", other)

    async def scenario(wire):
        wire.ask(1, "set")
        wire.ask(2, "curve")
        await slow.wait_until_begun()
        await other.wait_until_begun()
        wire.ask(3, "stop", of=77)
        assert await wire.answer() == {"seq": 3, "kind": "stop", "stopped": []}
        wire.ask(4, "stop", of=2)
        assert {answer["seq"]: answer["kind"] for answer in await wire.answers(2)} == {2: "stopped", 4: "stop"}
        wire.ask(5, "set")  # waits
        wire.ask(6, "stop")
        answers = {answer["seq"]: answer for answer in await wire.answers(3)}
        assert answers[1]["kind"] == answers[5]["kind"] == "stopped"
        assert answers[6]["stopped"] == [1, 5]

    play(scenario, session)
    assert slow.jobs == [1]


def test_a_page_that_leaves_stops_its_work():
    def watch(job):
        slow(job)
        ended.set()

    session, slow, ended = Session(), Slow(), threading.Event()
    session.handle("watch", watch)

    async def scenario(wire):
        wire.ask(1, "watch")
        await slow.wait_until_begun()
        wire.ask(2, "watch")

    play(scenario, session)
    assert ended.wait(SECONDS)
    assert slow.jobs == [1]
