"""The session: one answer to each request, the newest wins, errors are told, slow pages are let go."""

import asyncio
import json
import logging
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from raw_requests import frame, get_cookie, open_socket, upgrade
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from kinode.errors import ArgumentError, AssemblyError, Gap, LawError, ModelError, SimulationError
from kinode.studio.live_pages.message import describe_error
from kinode.studio.live_pages.server import serve
from kinode.studio.live_pages.session import MOST_PUSHES, Session
from kinode.studio.packet import read_packet

SECONDS = 5  # no wait of a test lasts longer


class PageWire:
    """A connection without a network: what the page sends and receives, and whether it takes what it gets."""

    def __init__(self):
        self.incoming, self.sent = asyncio.Queue(), asyncio.Queue()
        self.taking = asyncio.Event()
        self.taking.set()
        self.closed = None

    def ask(self, seq, kind, **fields):
        self.incoming.put_nowait(json.dumps({"seq": seq, "kind": kind, **fields}))

    async def answer(self):
        async with asyncio.timeout(SECONDS):
            message = await self.sent.get()
        return json.loads(message) if isinstance(message, str) else read_packet(message)

    async def answers(self, count):
        return [await self.answer() for _ in range(count)]

    async def send(self, message):
        await asyncio.sleep(0)  # as a real one, which lets others in
        await self.taking.wait()
        self.sent.put_nowait(message)

    async def __aiter__(self):
        while (message := await self.incoming.get()) is not None:
            yield message

    async def close(self, code, reason):
        self.closed = code
        self.incoming.put_nowait(None)


def play(scenario, session):
    """Run a scenario, a coroutine of a wire, with a session that attends to it."""

    async def run():
        wire = PageWire()
        attending = asyncio.create_task(session.attend(wire))
        try:
            await scenario(wire)
        finally:
            wire.taking.set()
            wire.incoming.put_nowait(None)
            async with asyncio.timeout(SECONDS):
                await attending
        assert session.clients == ()

    with ThreadPoolExecutor(1) as pool:  # a browser of another test may have a loop in this thread
        pool.submit(asyncio.run, run()).result()


class Slow:
    """A handler that begins, and ends when it is allowed to."""

    def __init__(self):
        self.begun, self.allowed = threading.Semaphore(0), threading.Semaphore(0)
        self.jobs = []

    def __call__(self, job):
        self.jobs.append(job.seq)
        self.begun.release()
        while job.goes_on():
            if self.allowed.acquire(timeout=0.002):
                break
        return {"value": job.fields.get("value")}

    async def wait_until_begun(self):
        assert await asyncio.to_thread(self.begun.acquire, timeout=SECONDS)


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
        ('{"seq": 1, "kind": "sett"}', 1, "did you mean 'set'"),
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
    with pytest.raises(ArgumentError, match="word of the session"):
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
        (ArgumentError("no such value"), {"message": "no such value", "type": "ArgumentError"}),
        (
            ModelError("must be positive", component="arm", field="mass", file="arm.yaml", line=7),
            {"message": "must be positive", "type": "ModelError", "component": "arm", "field": "mass",
             "file": "arm.yaml", "line": 7},
        ),
        (
            LawError("an operator is missing", text="2 x", position=2, component="drive"),
            {"message": "an operator is missing", "type": "LawError", "component": "drive", "text": "2 x",
             "position": 2},
        ),
        (
            AssemblyError("does not close", {"pin": Gap(0.1, 0.0)}),
            {"message": "does not close", "type": "AssemblyError", "residuals": {"pin": {"length": 0.1, "angle": 0.0}}},
        ),
        (SimulationError("too stiff", Ended()), {"message": "too stiff", "type": "SimulationError", "t": 0.25}),
        (SimulationError("too stiff"), {"message": "too stiff", "type": "SimulationError"}),
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
    assert len({row["thread"] for row in done}) == 1


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


def test_durations_are_noted():
    session = Session(least_seconds=0.0)
    session.handle("set", lambda job: time.sleep(0.02))

    async def scenario(wire):
        wire.ask(1, "set")
        await wire.answer()
        assert 0.1 <= session.patience("set") < 1

    play(scenario, session)


def test_a_stop_that_raises_is_a_stop():
    def fail(job):
        begun.set()
        while job.goes_on(0.5):
            time.sleep(0.002)
        raise ModelError("given up")

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


# -- pushes ---------------------------------------------------------------------------------------------------------


def test_pushes_come_in_order_from_any_thread():
    session = Session()
    session.on_open = lambda client: client.push({"kind": "hello"})

    def push_all():
        for k in range(100):
            session.push({"kind": "curve", "k": k}, {"y": np.zeros(1)} if k % 2 else None)

    async def scenario(wire):
        assert await wire.answer() == {"kind": "hello"}
        await asyncio.to_thread(push_all)
        rows = await wire.answers(100)
        assert [(row[0] if isinstance(row, tuple) else row)["k"] for row in rows] == list(range(100))

    play(scenario, session)
    session.push({"kind": "nobody"})


def test_pushes_of_many_threads_come_once_each():
    session = Session()
    session.handle("begin", lambda job: {})

    async def scenario(wire):
        wire.ask(0, "begin")
        await wire.answer()
        threads = [
            threading.Thread(target=lambda n=n: [session.push({"n": [n, k]}) for k in range(50)]) for n in range(4)
        ]
        for thread in threads:
            thread.start()
        rows = [row["n"] for row in await wire.answers(200)]
        assert sorted(rows) == [[n, k] for n in range(4) for k in range(50)]
        await asyncio.sleep(0)
        assert wire.sent.empty()

    play(scenario, session)


def test_a_handler_pushes_to_its_page_and_keeps_its_memory():
    def count(job):
        job.client.memory["count"] = job.client.memory.get("count", 0) + 1
        job.client.push({"kind": "progress"})
        return {"count": job.client.memory["count"]}

    session = Session()
    session.handle("count", count)

    async def scenario(wire):
        for seq in (1, 2):
            wire.ask(seq, "count")
            rows = await wire.answers(2)
            assert {"kind": "progress"} in rows and {"count": seq, "seq": seq, "kind": "count"} in rows

    play(scenario, session)
    play(scenario, session)  # another page counts anew


# -- slow pages -----------------------------------------------------------------------------------------------------


def test_a_slow_page_gets_fewer_answers_not_late_ones():
    session = Session()
    session.handle("set", lambda job: {"value": job.fields["value"]})

    async def scenario(wire):
        wire.taking.clear()
        wire.ask(0, "set", value=0)
        wire.ask(1, "set", value=1)
        await asyncio.sleep(0.02)
        wire.taking.set()
        assert [answer["seq"] for answer in await wire.answers(2)] == [0, 1]

    play(scenario, session)


def test_a_page_that_takes_nothing_is_let_go():
    session = Session(send_seconds=0.05)
    session.handle("set", lambda job: {})

    async def scenario(wire):
        wire.taking.clear()
        wire.ask(0, "set")
        async with asyncio.timeout(SECONDS):
            while wire.closed is None:
                await asyncio.sleep(0.01)
        assert wire.closed == 1013

    play(scenario, session)


def test_too_many_pushes_let_a_page_go():
    session = Session()
    session.handle("begin", lambda job: {})

    async def scenario(wire):
        wire.ask(0, "begin")
        await wire.answer()
        wire.taking.clear()
        for _ in range(MOST_PUSHES + 1):
            session.push({"kind": "curve"})
        async with asyncio.timeout(SECONDS):
            while wire.closed is None:
                await asyncio.sleep(0.01)
        session.push({"kind": "curve"})

    play(scenario, session)


# -- by the real server ---------------------------------------------------------------------------------------------


def open_page(server):
    headers = upgrade(server, get_cookie(server))
    return connect(
        f"ws://127.0.0.1:{server.port}/socket", origin=headers["Origin"], compression=None, max_size=None,
        additional_headers={"Cookie": headers["Cookie"]},
    )  # fmt: skip


def test_two_pages_of_a_real_server():
    session = Session()
    session.handle("run", lambda job: ({}, {"poses": np.full((1000, 7), job.fields["value"], np.float32)}))
    with serve(session, {"/": "x"}) as server, open_page(server) as first, open_page(server) as second:
        for page, value in ((first, 1), (second, 2)):
            page.send(json.dumps({"seq": 1, "kind": "run", "value": value}))
        for page, value in ((first, 1), (second, 2)):
            header, arrays = read_packet(page.recv(SECONDS))
            assert header["seq"] == 1 and np.all(arrays["poses"] == value)
        session.push({"kind": "changed"})
        assert json.loads(first.recv(SECONDS)) == json.loads(second.recv(SECONDS)) == {"kind": "changed"}


def test_a_real_page_that_reads_nothing_is_let_go():
    session = Session(send_seconds=0.2)
    session.handle("run", lambda job: ({}, {"a": np.zeros(1_000_000)}))
    with serve(session, {"/": "x"}) as server, open_socket(server, get_cookie(server)) as link:
        for seq in range(10):
            link.sendall(frame(json.dumps({"seq": seq, "kind": "run"}).encode()))
        deadline = time.monotonic() + SECONDS
        while session.clients:
            assert time.monotonic() < deadline
            time.sleep(0.01)


def test_the_server_ends_while_a_handler_runs():
    session, slow = Session(), Slow()
    session.handle("set", slow)
    server = serve(session, {"/": "x"})
    with open_page(server) as page:
        page.send('{"seq": 1, "kind": "set"}')
        assert slow.begun.acquire(timeout=SECONDS)
        server.close()
        with pytest.raises(ConnectionClosed):
            page.recv(SECONDS)


def test_a_handler_may_end_the_server():
    session = Session()
    server = serve(session, {"/": "x"})
    session.handle("quit", lambda job: threading.Thread(target=server.close).start())
    with open_page(server) as page:
        page.send('{"seq": 1, "kind": "quit"}')
        assert server.wait(SECONDS)
