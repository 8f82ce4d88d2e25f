"""Has code of high effort made beside the work, by a process of its own, and puts it in the place of the first code.

Why a process: it may go on when its caller ends, and leaves the processor to others.  One is started for each process
that needs it, a moment after it is first asked: until then the first run has the processor for itself.  A caller that
ends before leaves a file with what it asked for.
"""

from __future__ import annotations

import atexit
import json
import os
import queue
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:  # imported when a process is started, which most runs do not wait for
    import subprocess

START = "import sys; sys.path.insert(0, {root!r}); from kinode.jit.tiers.compile_worker import main; main()"


HANDING_OVER = 10.0  # s that an ending process waits at most, until the other has taken the text: it has to start
MOMENT = 1.0  # s from the first request to the start of the other process
# Windows: what ``start_new_session`` and ``nice`` are elsewhere, and no window of its own for a caller without console.
APART = ("CREATE_NEW_PROCESS_GROUP", "CREATE_NO_WINDOW", "BELOW_NORMAL_PRIORITY_CLASS")


class Request(NamedTuple):
    """What is to be compiled, where it is kept, and what is done with what is kept.

    The content is LLVM text with a level, and what the cache has before the code; or packed operations.
    """

    content: bytes
    entry: str | None
    use: Callable[[bytes], None]
    level: int | None = None
    head: str | None = None
    optimize: bool = False

    def write(self) -> bytes:
        """What the other process is given."""
        about = {"length": len(self.content), **self._asdict()}
        del about["content"], about["use"]
        return json.dumps(about).encode() + b"\n" + self.content


class BetterCode:
    """A process that compiles, and two threads that talk with it."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._asked: queue.SimpleQueue[Request] = queue.SimpleQueue()
        self._sent: queue.SimpleQueue[Request] = queue.SimpleQueue()
        self._lock, self._ended, self._stopped = threading.Lock(), False, False
        self._starting, self._wanted_now = threading.Lock(), threading.Event()
        self._idle = threading.Condition()
        self._open = self._unsent = 0
        threading.Thread(target=self._work, name="kinode code", daemon=True).start()
        atexit.register(self.end)

    @property
    def lives(self) -> bool:
        """Whether the process is there, or will be."""
        return not self._stopped and (self._process is None or self._process.poll() is None)

    def stop(self) -> None:
        """End the process with what it is doing."""
        with self._starting:
            self._stopped = True
            if self._process is not None:
                self._process.kill()
                self._process.wait()
        self._wanted_now.set()

    def ask(self, request: Request) -> bool:
        """Have something compiled; returns at once, False if the process has ended."""
        if not self.lives:
            return False
        with self._idle:
            self._open += 1
            self._unsent += 1
        self._asked.put(request)
        return True

    def wait(self, seconds: float) -> bool:
        """Wait until all is done; False if the time was over before."""
        self._wanted_now.set()
        with self._idle:
            return self._idle.wait_for(lambda: self._open == 0, seconds)

    def end(self) -> None:
        """Use no code from now on; the process ends by itself when all that was asked for is in the cache."""
        with self._lock:
            self._ended = True
        with self._starting:
            if self._process is None:
                self._leave()
                return
        with self._idle:
            self._idle.wait_for(lambda: self._unsent == 0 or not self.lives, HANDING_OVER)

    def _leave(self) -> None:
        """Start the process with a file of all that was asked for."""
        from tempfile import TemporaryFile

        requests, self._stopped = list(self._take(self._asked)), True
        if requests:
            with suppress(OSError), TemporaryFile() as file:
                file.write(b"".join(request.write() for request in requests))
                file.seek(0)
                _start(file)

    def _work(self) -> None:
        """Start the process after a moment, and send requests as they come."""
        self._wanted_now.wait(MOMENT)
        with self._starting:
            if not self._stopped:
                try:
                    self._process = _start()
                except OSError:
                    self._stopped = True
        if self._process is None:
            return self._give_up()
        threading.Thread(target=self._receive, name="kinode code received", daemon=True).start()
        pipe = self._pipe(self._process.stdin)
        with suppress(OSError):  # it is gone: the first code stays
            while True:
                request = self._asked.get()
                self._sent.put(request)
                pipe.write(request.write())
                pipe.flush()
                with self._idle:
                    self._unsent -= 1
                    self._idle.notify_all()

    def _receive(self) -> None:
        assert self._process is not None
        pipe = self._pipe(self._process.stdout)
        while len(head := pipe.read(8)) == 8:
            size = int.from_bytes(head, "little")
            kept = pipe.read(size)
            self._finish(self._sent.get(), kept if len(kept) == size else b"")
        self._process.wait()  # it has ended: what is left will not be made
        self._give_up()

    def _give_up(self) -> None:
        for left in (self._sent, self._asked):
            for request in self._take(left):
                self._finish(request, b"")

    @staticmethod
    def _take(requests: queue.SimpleQueue[Request]) -> Iterator[Request]:
        """The requests that are there."""
        with suppress(queue.Empty):
            while True:
                yield requests.get_nowait()

    def _finish(self, request: Request, kept: bytes) -> None:
        """Use the code of a request; empty if there is none."""
        with self._lock:
            if not self._ended:
                request.use(kept)
        with self._idle:
            self._open -= 1
            self._idle.notify_all()

    @staticmethod
    def _pipe(pipe: IO[bytes] | None) -> Any:
        assert pipe is not None
        return pipe


def _start(requests: IO[bytes] | None = None) -> subprocess.Popen[bytes]:
    """The process that compiles: what is asked for comes from a file, or through a pipe with another one back."""
    import subprocess

    command = [sys.executable, "-c", START.format(root=str(Path(__file__).resolve().parents[3]))]
    source, answers = (subprocess.PIPE, subprocess.PIPE) if requests is None else (requests, subprocess.DEVNULL)
    return subprocess.Popen(
        command, stdin=source, stdout=answers, stderr=subprocess.DEVNULL, start_new_session=True,
        creationflags=sum(getattr(subprocess, name, 0) for name in APART),
    )  # fmt: skip


_known: list[BetterCode] = []
_starting = threading.Lock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_known.clear)  # the threads stay with the parent


def is_wanted() -> bool:
    """Whether code comes in two tiers: not where that is turned off, nor where no other process can make it."""
    return (
        os.environ.get("KINODE_TIERS") not in ("0", "first")
        and bool(sys.executable)
        and all(each.lives for each in _known)
    )


def improve(request: Request) -> bool:
    """Have better code made in the background; False where that cannot be."""
    with _starting, suppress(OSError):
        if not _known:
            _known.append(BetterCode())
        return _known[0].ask(request)
    return False


def stop_better_code() -> None:
    """End the process that compiles; the next code that is wanted starts another."""
    while _known:
        _known.pop().stop()


def wait_for_better_code(seconds: float = 60.0) -> bool:
    """Wait until all code of high effort is in use; for benchmarks, which measure what a user has after a while."""
    return all(each.wait(seconds) for each in list(_known))
