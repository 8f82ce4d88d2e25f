"""A page of a session without a network, and a handler that ends when it is allowed to."""

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor

from kinode.player.packet import read_packet

SECONDS = 180  # no wait of a test lasts longer


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
