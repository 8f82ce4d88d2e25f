"""The session and its pages: pushes come in order, slow pages are let go, two pages of a real server."""

import asyncio
import json
import threading
import time

import numpy as np
import pytest
from page_wire import SECONDS, Slow, play
from raw_requests import frame, get_cookie, open_socket, upgrade
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from kinode.player.packet import read_packet
from kinode.studio.server.session import MOST_PUSHES, Session
from kinode.studio.server.web_server import serve

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
