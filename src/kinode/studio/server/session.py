"""A session: what the pages of one server ask for, and who answers.  Requests, answers, and work in the background.

The page sends requests as JSON: ``{"seq": 7, "kind": "set", ...}``, with ``seq`` a whole number that grows.  Each
request gets exactly one answer with its ``seq``, as JSON or as one packet (player/packet.py) with ``seq`` in it:

=============================================  ===========================================================
``{"seq": 7, "kind": "set", ...}``             what the handler of "set" returned
``{"seq": 7, "error": {"message": ...}}``      what went wrong (`describe_error`)
``{"seq": 7, "kind": "overtaken"}``            a newer request of its kind came before it was begun
``{"seq": 7, "kind": "stopped"}``              it was begun, and stopped
``{"seq": null, "error": ...}``                what came was no request
=============================================  ===========================================================

The newest wins, for each page and kind: one request is running, one waiting.  The running one may finish, otherwise a
drag would show nothing.  It is told to stop when a newer one waits and it has taken max(2 s, 5 times what is usual for
its kind), when the page asks for that (``{"kind": "stop", "of": 7}``; without ``of`` all requests), and when the page
is gone.  The next begins when the answer has been taken, so that a slow page gets fewer pictures, not late ones.
`Lane` is the one mechanism for that, and for work that no request asked for.

Requests are answered by methods that say so (messages.py), or by functions of a `Job`::

    session = Session()
    session.add(desk)                                          # all requests that the desk has methods for
    session.handle("save", save, changes=True)                 # refused where the session is read-only
    session.handle("edit", edit, lane="text")                  # one after the other, none is overtaken
    session.push({"kind": "changed", "file": "arm.yaml"})      # to all pages; from any thread, without seq
    job.client.push({"kind": "curve"}, {"x": x, "y": y})       # to the page that asked
    job.client.memory["pinned"] = run                          # what belongs to one page
    session.on_open = greet                                    # called with each new Client; must be quick

Kinds of one named lane, such as changes of a text, are answered in the order in which they came; none is overtaken.
Handlers of different kinds, and of different pages, run at the same time: what they share must not change, or is
locked.  A handler that takes long asks ``job.goes_on()`` now and then, and returns or raises when it is False; what it
returns then is dropped.  A handler that never asks cannot be stopped, and holds up its own kind alone.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from functools import partial
from statistics import median
from typing import Any, Generic, Protocol, TypeVar

from kinode.errors import ArgumentError, Error, find_close, suggest
from kinode.player.packet import write_json
from kinode.studio.server.messages import (
    Arrays,
    compose,
    describe_error,
    find_requests,
    read_fields,
    read_request,
    takes_job,
)

Answer = Mapping[str, Any] | tuple[Mapping[str, Any], Arrays] | None
Handler = Callable[["Job"], Answer]

LOG = logging.getLogger("kinode.studio")
TIMES_USUAL = 5.0
"""A request may take so many times the median of its kind before it is stopped for a newer one."""
MOST_PUSHES = 256
"""Messages without request that may wait for a page."""
MOST_WAITING = 256
"""Requests of one lane that may wait."""
RESERVED = frozenset({"overtaken", "stopped", "stop"})


T = TypeVar("T")
GoesOn = Callable[..., bool]
PATIENCE = 2.0  # s, for which work under way may go on though newer waits


class Threads:
    """A pool of threads: one that is idle does what comes next."""

    def __init__(self) -> None:
        self._idle: list[queue.SimpleQueue[Callable[[], None]]] = []

    def do(self, work: Callable[[], None]) -> None:
        """Do something at once."""
        try:
            self._idle.pop().put(work)
        except IndexError:
            threading.Thread(target=self._labor, args=(work,), name="kinode work", daemon=True).start()

    def _labor(self, work: Callable[[], None]) -> None:
        own = queue.SimpleQueue[Callable[[], None]]()
        while True:
            work()
            del work  # nothing is held while waiting
            self._idle.append(own)
            work = own.get()


THREADS = Threads()


class Lane(Generic[T]):
    """Work in the background, a debounced queue: one is done, one waits, and the newest takes the place of that.

    What is under way may finish, otherwise someone who types would see nothing; when its time is over and newer work
    waits it is told to stop.

    Parameters
    ----------
    work : function
        Of what is asked for, and of a function that says whether it is still wanted.
    in_order : bool, default False
        Whether all that comes is done, one after the other.
    patience : function, optional
        Seconds that work may take though newer waits.
    """

    def __init__(
        self, work: Callable[[T, GoesOn], None], *, in_order: bool = False,
        patience: Callable[[], float] = lambda: PATIENCE,
    ) -> None:  # fmt: skip
        self.in_order, self._work, self._patience = in_order, work, patience
        self.waiting: deque[T] = deque()
        self.running: T | None = None
        self.ended = False
        self._busy, self._began, self._due = False, 0.0, 0.0
        self._turn = threading.Condition()

    def ask(self, what: T, quiet: float = 0.0) -> list[T]:
        """Do this, once nothing else was asked for ``quiet`` seconds; returns what it takes the place of."""
        with self._turn:
            if self.ended:
                return []
            overtaken = [] if self.in_order else list(self.waiting)
            if not self.in_order:
                self.waiting.clear()
            self.waiting.append(what)
            self._due = time.monotonic() + quiet
            if not self._busy:
                self._busy = True
                THREADS.do(partial(self._labor, () if quiet else self._take()))
            self._turn.notify_all()
        return overtaken

    def take_back(self, fits: Callable[[T], bool]) -> list[T]:
        """Take back what waits and fits."""
        with self._turn:
            gone = [what for what in self.waiting if fits(what)]
            self.waiting = deque(what for what in self.waiting if not fits(what))
        return gone

    def wait(self, seconds: float = 60.0) -> bool:
        """Wait until nothing is to be done; False if the time was over before."""
        with self._turn:
            return self._turn.wait_for(lambda: self.ended or not self._busy, seconds)

    def close(self) -> None:
        """End; what is under way is told to stop, unless all is done in order."""
        with self._turn:
            self.ended = True
            self.waiting.clear()
            self._turn.notify_all()

    def _goes_on(self, *_: object) -> bool:
        if self.in_order:
            return True
        late = bool(self.waiting) and time.monotonic() - self._began > self._patience()
        return not self.ended and not late

    def _take(self) -> tuple[T, ...]:
        self.running = what = self.waiting.popleft()
        self._began = time.monotonic()
        return (what,)

    def _labor(self, taken: tuple[T, ...]) -> None:
        while taken := taken or self._next():
            (what,), taken = taken, ()
            try:
                self._work(what, self._goes_on)
            except Exception as error:
                LOG.error("work in the background failed", exc_info=error)

    def _next(self) -> tuple[T, ...]:
        """What is to be done now; nothing where nothing waits, or all has ended."""
        with self._turn:
            self.running = None
            while self.waiting and (left := self._due - time.monotonic()) > 0.0:
                self._turn.wait(left)
            if self.waiting:
                return self._take()
            self._busy = False
            self._turn.notify_all()
            return ()


class Wire(Protocol):
    """What a session needs of a connection."""

    async def send(self, message: str | bytes) -> None:
        """Send a message; returns when there is room for the next."""

    def __aiter__(self) -> AsyncIterator[str | bytes]:
        """The messages that come in, until the connection ends."""

    async def close(self, code: int, reason: str) -> None:
        """End the connection."""


class Job:
    """One request: its kind, its fields and the page that sent it."""

    def __init__(self, seq: int, kind: str, fields: Mapping[str, Any], client: Client) -> None:
        self.seq = seq
        self.kind = kind
        self.fields = fields
        self.client = client
        self.wanted: GoesOn = lambda: True
        """Whether its lane has no reason to stop it."""
        self._stop = threading.Event()

    def goes_on(self, fraction: float = 0.0) -> bool:
        """Whether the answer is still wanted; fits ``progress=`` of `kn.simulate`."""
        if not self.wanted():
            self._stop.set()
        return not self._stop.is_set()

    def stop(self) -> None:
        """Say that the answer is no longer wanted."""
        self._stop.set()


class Session:
    """Handlers by kind, and the pages that are connected.

    Parameters
    ----------
    read_only : bool
        Whether kinds that change something are refused.
    least_seconds : float
        No request is stopped for a newer one before.
    send_seconds : float
        A page that does not take a message for so long is let go.
    """

    def __init__(self, *, read_only: bool = False, least_seconds: float = 2.0, send_seconds: float = 20.0) -> None:
        self.read_only = read_only
        self.least_seconds = least_seconds
        self.send_seconds = send_seconds
        self.on_open: Callable[[Client], None] | None = None
        self.clients: tuple[Client, ...] = ()
        self._handlers: dict[str, tuple[Handler, bool]] = {}
        self._lanes: dict[str, str] = {}
        self._seconds: dict[str, deque[float]] = {}

    def handle(self, kind: str, handler: Handler, *, changes: bool = False, lane: str = "") -> None:
        """Register who answers a kind of request; with ``changes`` it is refused where the session is read-only.

        Kinds of one ``lane`` are answered one after the other; of a kind without one the newest wins.
        """
        if not kind or kind in RESERVED:
            raise ArgumentError(f"kind: {kind!r} is a word of the session itself")
        self._handlers[kind] = handler, changes
        self._lanes[kind] = lane
        self._seconds[kind] = deque(maxlen=9)

    def add(self, owner: object) -> None:
        """Let an object answer all requests that its class has methods for (messages.py)."""
        for told, method in find_requests(type(owner)):

            def answer(job: Job, method: Callable[..., Answer] = method, named: bool = takes_job(method)) -> Answer:
                fields = read_fields(method, job.fields)
                return method(owner, job, **fields) if named else method(owner, **fields)

            self.handle(told.kind, answer, changes=told.changes, lane=told.lane)

    def push(self, header: Mapping[str, Any], arrays: Arrays | None = None) -> None:
        """Send a message without request to all pages, from any thread."""
        if self.clients:
            message = compose(header, arrays)
            for client in self.clients:
                client.send_soon(message)

    def handler_of(self, kind: object) -> Handler:
        """The handler of a kind, or an error that says why there is none."""
        if not isinstance(kind, str):
            raise ArgumentError("kind: a request needs the name of its kind")
        if kind not in self._handlers:
            raise ArgumentError(suggest(f"kind: {kind!r} is not known", kind, find_close(kind, self._handlers)))
        handler, changes = self._handlers[kind]
        if changes and self.read_only:
            raise ArgumentError(f"{kind}: this page is read-only")
        return handler

    def lane_of(self, kind: str) -> str:
        """The lane in which requests of a kind wait for each other; empty where the newest wins."""
        return self._lanes[kind]

    def patience(self, kind: str) -> float:
        """Seconds after which a request of a kind is stopped for a newer one."""
        seconds = self._seconds[kind]
        return max(self.least_seconds, TIMES_USUAL * median(seconds)) if seconds else self.least_seconds

    def note_seconds(self, kind: str, seconds: float) -> None:
        """Remember how long a request took."""
        self._seconds[kind].append(seconds)

    async def attend(self, wire: Wire) -> None:
        """Serve a page until its connection ends."""
        client = Client(self, wire, asyncio.get_running_loop())
        self.clients = (*self.clients, client)
        try:
            if self.on_open is not None:
                self.on_open(client)
            async for message in wire:
                await client.receive(message)
        finally:
            self.clients = tuple(other for other in self.clients if other is not client)
            client.end()


class Client:
    """A page that is connected; ``memory`` is for what handlers keep for it."""

    def __init__(self, session: Session, wire: Wire, loop: asyncio.AbstractEventLoop) -> None:
        self.session = session
        self.memory: dict[str, Any] = {}
        self._wire, self._loop = wire, loop
        self._lanes: dict[str, Lane[tuple[Job, Handler]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._pushes: deque[str | bytes] = deque()
        self._lock = threading.Lock()
        self._last_seq = -1
        self._gone = False

    def push(self, header: Mapping[str, Any], arrays: Arrays | None = None) -> None:
        """Send a message without request, from any thread."""
        self.send_soon(compose(header, arrays))

    def send_soon(self, message: str | bytes) -> None:
        """Send a message that is written already, from any thread; to a page that is gone nothing is sent."""
        with self._lock:
            first, full = not self._pushes, len(self._pushes) >= MOST_PUSHES
            if not full and not self._gone:
                self._pushes.append(message)
        if self._gone or self._loop.is_closed() or not (first or full):
            return
        try:
            self._loop.call_soon_threadsafe(self._let_go if full else self._begin_pushes)
        except RuntimeError:  # the loop was closed in between
            return

    async def send(self, message: str | bytes) -> None:
        """Send a message; a page that does not take it in time is let go."""
        try:
            async with asyncio.timeout(self.session.send_seconds):
                await self._wire.send(message)
        except TimeoutError:
            self._let_go()

    async def receive(self, message: str | bytes) -> None:
        """Take a request: begin it, let it wait, or answer what is wrong with it."""
        seq = None
        try:
            fields = read_request(message)
            if fields["seq"] <= self._last_seq:
                raise ArgumentError(f"seq: {fields['seq']} came after {self._last_seq}; it must grow")
            seq = self._last_seq = fields["seq"]
            if fields.get("kind") == "stop":
                await self._stop(seq, fields.get("of"))
                return
            handler = self.session.handler_of(fields.get("kind"))
        except ArgumentError as error:
            await self.send(write_json({"seq": seq, "error": describe_error(error)}))
            return
        await self._take(Job(seq, fields["kind"], fields, self), handler)

    async def _take(self, job: Job, handler: Handler) -> None:
        """Begin a request, or let it wait: behind the others of its lane, or in the place of an older one."""
        shared = self.session.lane_of(job.kind)
        lane = self._lanes.get(shared or f"kind {job.kind}")
        if lane is None:
            patience = partial(self.session.patience, job.kind)
            lane = Lane(self._do, in_order=bool(shared), patience=patience)
            self._lanes[shared or f"kind {job.kind}"] = lane
        if len(lane.waiting) >= MOST_WAITING:
            error = describe_error(ArgumentError(f"{job.kind}: {MOST_WAITING} requests are waiting already"))
            await self.send(write_json({"seq": job.seq, "error": error}))
            return
        for overtaken, _ in lane.ask((job, handler)):
            await self.send(write_json({"seq": overtaken.seq, "kind": "overtaken"}))

    def _do(self, asked: tuple[Job, Handler], goes_on: GoesOn) -> None:
        """Answer a request, in a thread; the lane goes on when the page has taken the answer."""
        job, handler = asked
        job.wanted = goes_on
        answer = _answer(job, handler)
        if self._gone:
            return
        try:
            asyncio.run_coroutine_threadsafe(self.send(answer), self._loop).result(2.0 * self.session.send_seconds)
        except Exception as error:  # the page or the server has gone
            LOG.debug("an answer was not taken", exc_info=error)

    def end(self) -> None:
        """Stop all that runs for this page."""
        with self._lock:
            self._gone = True
            self._pushes.clear()
        for lane in self._lanes.values():
            lane.close()
            if lane.running is not None and not lane.in_order:
                lane.running[0].stop()

    def keep(self, task: asyncio.Task[None]) -> None:
        """Hold on to a task until it is done."""
        self._tasks.add(task)
        task.add_done_callback(self._forget)

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None and not self._gone:
            LOG.debug("a page went away", exc_info=task.exception())

    async def _stop(self, seq: int, of: object) -> None:
        """Stop one request, or all; those that wait are answered here, those that run when they are done."""

        def fits(asked: tuple[Job, Handler]) -> bool:
            return of in (None, asked[0].seq)

        lanes = list(self._lanes.values())
        dropped = [job for lane in lanes for job, _ in lane.take_back(fits)]
        running = [lane.running[0] for lane in lanes if lane.running is not None and fits(lane.running)]
        stopped = [job for job in running if job.goes_on()] + dropped  # one that was stopped may not have left its lane
        for job in stopped:
            job.stop()
        for job in dropped:
            await self.send(write_json({"seq": job.seq, "kind": "stopped"}))
        await self.send(write_json({"seq": seq, "kind": "stop", "stopped": sorted(job.seq for job in stopped)}))

    def _begin_pushes(self) -> None:
        self.keep(self._loop.create_task(self._send_pushes()))

    async def _send_pushes(self) -> None:
        """Send what waits, in order; what is being sent stays in the queue, so that one task is at work."""
        while True:
            with self._lock:
                if not self._pushes:
                    return
                message = self._pushes[0]
            await self.send(message)
            with self._lock:
                if self._pushes:
                    self._pushes.popleft()
                if not self._pushes:
                    return

    def _let_go(self) -> None:
        if not self._gone:
            self.end()
            self.keep(self._loop.create_task(self._wire.close(1013, "messages were not taken in time")))


def _answer(job: Job, handler: Handler) -> str | bytes:
    """What a handler says to a request, as a message."""
    began = time.monotonic()
    try:
        result = handler(job)
        took = time.monotonic() - began
        if not job.goes_on():
            return write_json({"seq": job.seq, "kind": "stopped"})
        header, arrays = result if isinstance(result, tuple) else (result or {}, None)
        message = compose({**header, "seq": job.seq, "kind": job.kind}, arrays)
    except BaseException as error:
        if not job.goes_on():
            return write_json({"seq": job.seq, "kind": "stopped"})
        if not isinstance(error, Error):
            LOG.error("the handler of %r failed", job.kind, exc_info=error)
        return write_json({"seq": job.seq, "error": describe_error(error)})
    job.client.session.note_seconds(job.kind, took)
    return message
