"""The web server behind live pages: pages from memory, files of the model's folder, and the socket, on one port.

It runs in a thread of its own, on 127.0.0.1 and a free port unless told otherwise.  Every request passes the gate
(gate.py); what comes by the socket goes to the session (session.py).  Routes: ``/`` and the other pages that were put
in, ``/files/...`` for what lies below the folder (only if one was named), ``/socket``.  Each answer has its headers.

Limits: `ServerLimits`.  Requests have no body; one that has is cut off without an answer, as is what is no HTTP.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import http
import logging
import os
import re
import socket
import stat
import threading
import webbrowser
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from email.utils import formatdate
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

from websockets.asyncio.server import ServerConnection
from websockets.asyncio.server import serve as listen
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from kinode.errors import ArgumentError
from kinode.studio.server.gate import SOCKET, Gate, check_authority
from kinode.studio.server.session import Session

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".woff2": "font/woff2",
}
DATA = "application/octet-stream"
LARGEST_FILE = 1 << 28
_SCRIPT = re.compile(r"<script\b([^>]*)>(.*?)</script\s*>", re.DOTALL | re.IGNORECASE)
_NOT_INLINE = re.compile(r"\bsrc\s*=|\btype\s*=(?!\s*[\"']?(?:module\b|text/javascript\b))", re.IGNORECASE)
ALWAYS = (
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cache-Control", "no-store"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("X-Frame-Options", "DENY"),
)
"""Headers of every answer."""
NOTHING = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; sandbox"
"""The policy of all that is not a page."""


@dataclass(frozen=True)
class Resource:
    """Something that is served: its bytes, their type, and what a browser may do with them."""

    body: bytes
    content_type: str = DATA
    policy: str = NOTHING


def page(text: str, authority: str) -> Resource:
    """A page that may run its own scripts, inline or served beside it, and speak to its own server alone.

    Inline scripts are allowed by their hashes; blocks of data, which are never run, need none.  There is neither
    ``unsafe-inline`` nor ``unsafe-eval`` for scripts.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")  # as browsers read it before they hash
    hashes = [
        f"'sha256-{base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()}'"
        for attributes, body in _SCRIPT.findall(text)
        if not _NOT_INLINE.search(attributes)
    ]
    policy = "; ".join(
        [
            "default-src 'none'",
            " ".join(["script-src 'self'", *hashes]),
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "media-src 'self' blob:",
            "worker-src 'self' blob:",
            f"connect-src 'self' ws://{authority} data: blob:",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        ]
    )
    return Resource(text.encode(), TYPES[".html"], policy)


def resource(path: str, body: str | bytes, authority: str) -> Resource:
    """What is served under a path; its type follows from the ending, and that of ``/`` is a page."""
    suffix = Path(path).suffix or (".html" if path == "/" else "")
    if suffix == ".html":
        if isinstance(body, bytes):
            try:
                body = body.decode()
            except UnicodeDecodeError:
                raise ArgumentError(f"{path}: a page is a text in UTF-8") from None
        return page(body, authority)
    return Resource(body.encode() if isinstance(body, str) else body, TYPES.get(suffix, DATA))


def read_below(folder: Path, path: str) -> Resource | None:
    """A file of a folder; None if there is none, if it is hidden, outside (links are followed), or no plain file.

    Pictures keep their type; everything else, pages and scripts above all, goes out as data that no browser runs.
    """
    try:
        top = folder.resolve(strict=True)
        file = (top / path).resolve(strict=True)
    except (OSError, ValueError, RuntimeError):
        return None
    if not file.is_relative_to(top) or any(
        x.startswith(".") for x in (*Path(path).parts, *file.relative_to(top).parts)
    ):
        return None
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST_FILE:
            return None
        with open(handle, "rb", closefd=False) as stream:
            body = stream.read(LARGEST_FILE)
    finally:
        os.close(handle)
    kind = TYPES.get(file.suffix.lower(), DATA)
    return Resource(body, kind if kind in ("image/png", "image/jpeg") else DATA)


LOG = logging.getLogger("kinode.studio")
FILES = "/files/"
ICON = "/favicon.ico"  # browsers ask for it unasked, and would show an error
END_SECONDS = 0.5  # for a page to take leave when the server ends it
WILDCARDS = ("", "0.0.0.0", "::")


@dataclass(frozen=True)
class ServerLimits:
    """Sizes and times that no client may exceed."""

    request_seconds: float = 10.0
    """From the connection to the end of the answer, or to the opening of the socket."""
    close_seconds: float = 5.0
    """For a page to agree that a socket is closed."""
    ping_seconds: float = 20.0
    """Between signs of life of a page, and for its answer."""
    message_bytes: int = 1 << 20
    """Of one message that comes in."""
    sockets: int = 16
    """Pages connected at a time."""
    connections: int = 128
    """Connections of all kinds at a time; of more, the oldest that waits for its client is cut off."""


class Server:
    """A server in a thread; a context manager that starts and closes it.

    Parameters
    ----------
    session : Session
        Who answers what comes by the socket.
    pages : mapping
        Texts or bytes by path; ``/`` is the page that opens first. `put` adds more, at any time.
    folder : path, optional
        What lies below is served under ``/files/``; hidden files are not.
    host : str
        The interface to listen on. Any other than the default lets other machines reach the server.
    port : int
        0 takes a free one.
    names : sequence of str
        Further ``host:port`` by which browsers come: needed for ``0.0.0.0`` and for tunnels.
    limits : ServerLimits, optional
        Sizes and times.

    Examples
    --------
    >>> with Server(Session(), {"/": "<!doctype html><p>Hello"}) as server:
    ...     server.new_address().startswith(f"http://127.0.0.1:{server.port}/?token=")
    True
    """

    def __init__(
        self, session: Session, pages: Mapping[str, str | bytes] | None = None, *, folder: str | Path | None = None,
        host: str = "127.0.0.1", port: int = 0, names: Sequence[str] = (), limits: ServerLimits | None = None,
    ) -> None:  # fmt: skip
        if host in WILDCARDS and not names:
            raise ArgumentError(
                f"host: {host!r} listens everywhere; name the host:port that browsers will use (names=)"
            )
        if folder is not None and not Path(folder).is_dir():
            raise ArgumentError(f"folder: {str(folder)!r} is not a folder")
        self.session = session
        self.limits = limits or ServerLimits()
        self.folder = None if folder is None else Path(folder)
        for name in names:
            check_authority(name)
        self._socket = _bind(host, port)
        self.host, self.port = host, int(self._socket.getsockname()[1])
        self.gate = Gate(host, self.port, names)
        self._shown = names[0] if host in WILDCARDS else self.gate.authority
        self._pages: dict[str, Resource] = {}
        try:
            for path, body in (pages or {}).items():
                self.put(path, body)
        except ArgumentError:
            self._socket.close()
            raise
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._ready, self._ended = threading.Event(), threading.Event()
        # Held until the end.  Ctrl-C while an Event is waited for may leave the lock inside it locked for ever.
        self._running = threading.Lock()
        self._running.acquire()
        self._failure: Exception | None = None
        self._open_sockets = 0

    def put(self, path: str, body: str | bytes) -> None:
        """Serve something from memory under a path, in the place of what was there; from any thread."""
        if not path.startswith("/") or path == SOCKET or path.startswith(FILES):
            raise ArgumentError(f"path: {path!r} is not one that a page can have")
        self._pages[path] = resource(path, body, self._shown)

    def new_address(self) -> str:
        """The address to open, good for one opening."""
        return f"http://{self._shown}/?token={self.gate.new_token()}"

    def start(self) -> Server:
        """Begin to serve; returns when requests are answered."""
        if self._thread is not None:
            raise ArgumentError("a server starts once")
        self._thread = threading.Thread(target=self._run, name="kinode-server", daemon=True)
        self._thread.start()
        self._ready.wait()
        if self._failure is not None:
            raise self._failure
        return self

    def close(self) -> None:
        """End: close all connections and stop what runs; from any thread, any number of times."""
        if self._thread is None:
            self._socket.close()
            self._end()
            return
        loop, stop = self._loop, self._stop
        if loop is not None and stop is not None and not self._ended.is_set():
            with suppress(RuntimeError):  # it ended in between
                loop.call_soon_threadsafe(stop.set)
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the server has ended, which Ctrl-C makes it do; False if the time was over before."""
        try:
            ended = self._running.acquire(timeout=-1 if seconds is None else seconds)
        except KeyboardInterrupt:
            self.close()
            return True
        if ended:
            self._running.release()
        return ended

    def __enter__(self) -> Server:
        return self.start() if self._thread is None else self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except Exception as error:
            self._failure = error
            LOG.debug("the server has ended", exc_info=error)
        finally:
            self._socket.close()
            self._ready.set()
            self._end()

    def _end(self) -> None:
        if not self._ended.is_set():
            self._ended.set()
            self._running.release()

    async def _serve(self) -> None:
        crowd = dict[_LimitedConnection, None]()
        make_connection = partial(_LimitedConnection, crowd=crowd, most=self.limits.connections)
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        server = await listen(
            self._attend, sock=self._socket, process_request=self._process, process_response=_complete,
            create_connection=cast(Any, make_connection), compression=None, server_header=None, logger=LOG,
            open_timeout=self.limits.request_seconds, close_timeout=self.limits.close_seconds,
            ping_interval=self.limits.ping_seconds, ping_timeout=self.limits.ping_seconds,
            max_size=self.limits.message_bytes,
        )  # fmt: skip
        self._ready.set()
        await self._stop.wait()
        server.close(reason="kinode has ended")
        try:
            async with asyncio.timeout(END_SECONDS):
                await server.wait_closed()
        except TimeoutError:
            for connection in list(crowd):
                connection.transport.abort()
            await server.wait_closed()

    async def _process(self, connection: ServerConnection, request: Request) -> Response | None:
        """Let a request through to the socket, or answer it."""
        verdict = self.gate.decide(request.method, request.path, request.headers.raw_items())
        if not verdict.passes:
            body = b"" if request.method == "HEAD" else verdict.message.encode()
            return _respond(verdict.status, Resource(body, "text/plain; charset=utf-8"), verdict.headers)
        if verdict.path == SOCKET:
            return None if self._open_sockets < self.limits.sockets else _tell(503, "Too many pages are open.\n")
        found = self._pages.get(verdict.path)
        if found is None and self.folder is not None and verdict.path.startswith(FILES):
            found = await asyncio.to_thread(read_below, self.folder, verdict.path.removeprefix(FILES))
        if found is None and verdict.path == ICON:
            return _respond(204, Resource(b""))
        return _tell(404, "There is no such page.\n") if found is None else _respond(200, found)

    async def _attend(self, connection: ServerConnection) -> None:
        self._open_sockets += 1
        try:
            with suppress(ConnectionClosed):
                await self.session.attend(_SocketWire(connection))
        finally:
            self._open_sockets -= 1


class ServedView:
    """What has a server in front of it, ``server``, and is closed with it; a context manager that does so."""

    server: Server

    @property
    def url(self) -> str:
        """An address to open, good for one opening."""
        return self.server.new_address()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the server has ended, which Ctrl-C makes it do; False if the time was over before."""
        try:
            return self.server.wait(seconds)
        finally:
            if seconds is None:
                self.close()

    def serve(self, name: str, ending: str, browser: bool, say: Callable[[str], None]) -> None:
        """Open the browser if it is wanted, say what is served and how it ends, and wait for Ctrl-C."""
        found = browser and webbrowser.open(self.url)
        missing = "no browser was found on this machine" if browser else "no browser was opened"
        say(f"serving {name}; {'if no browser opened' if found else missing}: open {self.url}")
        say(ending)
        self.wait()

    def close(self) -> None:
        """End the server."""
        self.server.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _SocketWire:
    """A connection of websockets as a session sees it."""

    def __init__(self, connection: ServerConnection) -> None:
        self._connection = connection

    async def send(self, message: str | bytes) -> None:
        await self._connection.send(message)

    def __aiter__(self) -> AsyncIterator[str | bytes]:
        return self._connection.__aiter__()

    async def close(self, code: int, reason: str) -> None:
        try:
            async with asyncio.timeout(END_SECONDS):
                await self._connection.close(code, reason)
        except TimeoutError:  # a page that reads nothing does not read the farewell either
            self._connection.transport.abort()


class _LimitedConnection(ServerConnection):
    """A connection of any kind; ``crowd`` are all, in the order in which they came.

    If there are too many, the oldest that waits for its client makes room, be it the new one itself: so those who begin
    requests and do not finish them, or do not hang up after the answer, shut nobody out.
    """

    def __init__(self, *arguments: Any, crowd: dict[_LimitedConnection, None], most: int, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.crowd, self.most = crowd, most

    @property
    def waits_for_client(self) -> bool:
        """Whether the request has not come, or the answer has gone and the client has not hung up."""
        return self.request is None or (self.protocol.eof_sent and not self.transport.get_write_buffer_size())

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.crowd[self] = None
        if len(self.crowd) > self.most:
            leaving = next(each for each in self.crowd if each.waits_for_client)
            del self.crowd[leaving]
            leaving.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self.crowd.pop(self, None)
        super().connection_lost(exc)


def serve(
    session: Session, pages: Mapping[str, str | bytes] | None = None, *, folder: str | Path | None = None,
    host: str = "127.0.0.1", port: int = 0, names: Sequence[str] = (), limits: ServerLimits | None = None,
) -> Server:  # fmt: skip
    """Start a server for live pages; arguments as of `Server`.

    Examples
    --------
    >>> server = serve(Session(), {"/": "<!doctype html><p>Hello"})
    >>> server.close()
    """
    return Server(session, pages, folder=folder, host=host, port=port, names=names, limits=limits).start()


def _bind(host: str, port: int) -> socket.socket:
    if not 0 <= port < 65536:
        raise ArgumentError(f"port: {port} is not between 0 and 65535")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise ArgumentError(f"cannot listen on {host}, port {port}: {error.strerror or error}") from None


def _tell(status: int, text: str) -> Response:
    return _respond(status, Resource(text.encode(), "text/plain; charset=utf-8"))


def _respond(status: int, body: Resource, more: Sequence[tuple[str, str]] = ()) -> Response:
    headers = Headers()
    headers["Date"] = formatdate(usegmt=True)
    headers["Connection"] = "close"
    headers["Content-Length"] = str(len(body.body))
    headers["Content-Type"] = body.content_type
    headers["Content-Security-Policy"] = body.policy
    for name, value in more:
        headers[name] = value
    return Response(status, http.HTTPStatus(status).phrase, headers, body.body)


def _complete(connection: ServerConnection, request: Request, response: Response) -> None:
    """Give every answer the headers that all have."""
    for name, value in ALWAYS:
        response.headers[name] = value
    if "Content-Security-Policy" not in response.headers:
        response.headers["Content-Security-Policy"] = NOTHING
