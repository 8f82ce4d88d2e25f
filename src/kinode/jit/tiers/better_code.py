"""Has code of high effort made beside the work, by a process of its own, and puts it in the place of the first code.

Why a process: it may go on when its caller ends, and leaves the processor to others.  One is started for each process
that needs it.
"""

from __future__ import annotations

import atexit
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

START = "import sys; sys.path.insert(0, {root!r}); from kinode.jit.tiers.compile_worker import main; main()"


HANDING_OVER = 10.0  # s that an ending process waits at most, until the other has taken the text: it has to start


class Request(NamedTuple):
    """What is to be compiled, where it is kept, behind which line, and what is done with the code."""

    text: str
    level: int
    entry: str | None
    head: str | None
    use: Callable[[bytes], None]
    optimize: bool = False


class BetterCode:
    """A process that compiles, and two threads that talk with it."""

    def __init__(self) -> None:
        root = str(Path(__file__).resolve().parents[3])
        command = [sys.executable, "-c", START.format(root=root)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
        )
        self._asked: queue.SimpleQueue[Request] = queue.SimpleQueue()
        self._sent: queue.SimpleQueue[Request] = queue.SimpleQueue()
        self._lock, self._ended = threading.Lock(), False
        self._idle = threading.Condition()
        self._open = self._unsent = 0
        for work in (self._send, self._receive):
            threading.Thread(target=work, name=f"kinode code{work.__name__}", daemon=True).start()
        atexit.register(self.end)

    @property
    def lives(self) -> bool:
        """Whether the process is there."""
        return self._process.poll() is None

    def stop(self) -> None:
        """End the process with what it is doing."""
        self._process.kill()
        self._process.wait()

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
        with self._idle:
            return self._idle.wait_for(lambda: self._open == 0, seconds)

    def end(self) -> None:
        """Use no code from now on; the process ends by itself when all that was asked for is in the cache."""
        with self._lock:
            self._ended = True
        with self._idle:
            self._idle.wait_for(lambda: self._unsent == 0 or not self.lives, HANDING_OVER)

    def _send(self) -> None:
        pipe = self._pipe(self._process.stdin)
        with suppress(OSError):  # it is gone: the first code stays
            while True:
                request = self._asked.get()
                self._sent.put(request)
                text = request.text.encode()
                about = {"length": len(text), **request._asdict()}
                del about["text"], about["use"]
                pipe.write(json.dumps(about).encode() + b"\n" + text)
                pipe.flush()
                with self._idle:
                    self._unsent -= 1
                    self._idle.notify_all()

    def _receive(self) -> None:
        pipe = self._pipe(self._process.stdout)
        while len(head := pipe.read(8)) == 8:
            size = int.from_bytes(head, "little")
            code = pipe.read(size)
            self._finish(self._sent.get(), code if len(code) == size else b"")
        self._process.wait()  # it has ended: what is left will not be made
        for left in (self._sent, self._asked):
            with suppress(queue.Empty):
                while True:
                    self._finish(left.get_nowait(), b"")

    def _finish(self, request: Request, code: bytes) -> None:
        """Use the code of a request; empty if there is none."""
        with self._lock:
            if not self._ended:
                request.use(code)
        with self._idle:
            self._open -= 1
            self._idle.notify_all()

    @staticmethod
    def _pipe(pipe: IO[bytes] | None) -> Any:
        assert pipe is not None
        return pipe


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
