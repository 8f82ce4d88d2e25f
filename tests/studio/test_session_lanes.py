"""Kinds of one lane: answered in the order in which they came, none is overtaken."""

import threading

from page_wire import SECONDS, play

from kinode.studio.server.session import Session


def test_requests_of_a_lane_are_all_answered_in_order():
    session, done, gate = Session(), [], threading.Event()

    def edit(job):
        gate.wait(SECONDS)
        done.append((job.kind, job.fields["n"]))
        return {"n": job.fields["n"]}

    session.handle("edit", edit, lane="text")
    session.handle("undo", edit, lane="text")

    async def scenario(wire):
        for n in range(20):
            wire.ask(n, "edit" if n % 3 else "undo", n=n)
        gate.set()
        answers = [await wire.answer() for _ in range(20)]
        assert [answer["n"] for answer in answers] == list(range(20))
        assert done == [("edit" if n % 3 else "undo", n) for n in range(20)]

    play(scenario, session)


def test_a_lane_that_is_full_says_so(monkeypatch):
    monkeypatch.setattr("kinode.studio.server.session.MOST_WAITING", 2)
    session, gate = Session(), threading.Event()
    session.handle("edit", lambda job: gate.wait(SECONDS) and {}, lane="text")

    async def scenario(wire):
        for n in range(4):
            wire.ask(n, "edit")
        refused = await wire.answer()
        assert refused["seq"] == 3 and "waiting" in refused["error"]["message"]
        gate.set()
        assert [(await wire.answer())["seq"] for _ in range(3)] == [0, 1, 2]

    play(scenario, session)


def test_those_that_wait_can_be_taken_back():
    session, gate = Session(), threading.Event()
    session.handle("edit", lambda job: {"ran": gate.wait(SECONDS)}, lane="text")

    async def scenario(wire):
        for n in range(3):
            wire.ask(n, "edit")
        wire.ask(3, "stop", of=1)
        assert (await wire.answer()) == {"seq": 1, "kind": "stopped"}
        assert (await wire.answer())["stopped"] == [1]
        gate.set()
        assert [(await wire.answer())["seq"] for _ in range(2)] == [0, 2]

    play(scenario, session)
