"""Has code of high effort made beside the work, by a process of its own, and puts it in the place of the first code.

Why a process: LLVM lets in one thread at a time, so that a thread that compiles for seconds would keep all other code
waiting; a process that ends while one of its threads is within LLVM may abort; and another process goes on when its
caller ends.  It is given a file with all that was asked for until a moment after the first, and keeps the code in the
cache, where its caller finds it when that process has ended.  A caller that ends before starts it as the last thing.
"""

from __future__ import annotations

import atexit
import os
import pickle
import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from kinode.jit import code_cache

if TYPE_CHECKING:  # imported when a process is started, which most runs do not wait for
    import subprocess

START = """import sys
sys.path.insert(0, {root!r})
from kinode.jit.tiers.better_code import compile_all
compile_all(sys.stdin.buffer)
"""
MOMENT = 1.0  # s from the first request to the start of the process: until then the run has the processor for itself
PATIENCE = 10  # of the process with others, which have the processor first
# Windows: what ``start_new_session`` and ``nice`` are elsewhere, and no window of its own for a caller without console.
APART = ("CREATE_NEW_PROCESS_GROUP", "CREATE_NO_WINDOW", "BELOW_NORMAL_PRIORITY_CLASS")


class Wanted(NamedTuple):
    """Text to be compiled, with the entry of the cache and what stands there before the code."""

    entry: str
    head: bytes
    text: str
    level: int
    optimize: bool = False


class _BetterCode:
    """A thread that starts one process after the other, and uses what they have put into the cache."""

    def __init__(self) -> None:
        self._asked: list[tuple[Wanted, Callable[[bytes], None]]] = []
        self._changed, self._using = threading.Condition(), threading.Lock()
        self._is_busy = self._is_urgent = self._has_ended = False
        threading.Thread(target=self._work, name="kinode code", daemon=True).start()
        atexit.register(self._end)

    def ask(self, wanted: Wanted, use: Callable[[bytes], None]) -> None:
        """Have something compiled; returns at once."""
        with self._changed:
            self._asked.append((wanted, use))
            self._changed.notify_all()

    def wait(self, seconds: float) -> bool:
        """Wait until all is done; False if the time was over before."""
        with self._changed:
            self._is_urgent = True
            self._changed.notify_all()
            done = self._changed.wait_for(lambda: not self._asked and not self._is_busy, seconds)
            self._is_urgent = False
        return done

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._asked)
                self._changed.wait_for(lambda: self._is_urgent, MOMENT)
                batch, self._asked, self._is_busy = self._asked, [], True
                process = _start(wanted for wanted, _ in batch) if batch else None
            if process is not None:
                process.wait()
            for wanted, use in batch:
                kept = code_cache.load(wanted.entry)
                with self._using:
                    if kept is not None and not self._has_ended:
                        use(kept)
            with self._changed:
                self._is_busy = False
                self._changed.notify_all()

    def _end(self) -> None:
        """Use no code from now on, and leave to a process what none was started for."""
        with self._using:
            self._has_ended = True
        with self._changed:
            if self._asked:
                _start(wanted for wanted, _ in self._asked)
                self._asked = []


def _start(batch: Iterable[Wanted]) -> subprocess.Popen[bytes] | None:
    """The process that compiles a batch; None where there can be none: the first code stays."""
    import subprocess
    from tempfile import TemporaryFile

    with suppress(OSError), TemporaryFile() as file:
        pickle.dump([tuple(wanted) for wanted in batch], file)
        file.seek(0)
        return subprocess.Popen(
            [sys.executable, "-c", START.format(root=str(Path(__file__).resolve().parents[3]))],
            stdin=file, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
            creationflags=sum(getattr(subprocess, name, 0) for name in APART),
        )  # fmt: skip
    return None


def compile_all(file: BinaryIO) -> None:
    """Compile what a file asks for, and keep it: the work of the other process."""
    from kinode.jit.llvm_code import compile_text

    with suppress(AttributeError, OSError):
        os.nice(PATIENCE)
    for each in pickle.load(file):
        wanted = Wanted(*each)
        if code_cache.load(wanted.entry) is None:  # the process of another caller may have been faster
            with suppress(Exception):  # the caller has code that works
                code = compile_text(wanted.text, wanted.level, wanted.optimize)
                code_cache.save(wanted.entry, wanted.head + code)


_known: list[_BetterCode] = []
_making = threading.Lock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_known.clear)  # the thread stays with the parent


def is_wanted(entry: str | None) -> bool:
    """Whether the code of an entry comes in two tiers: not without a cache, nor where that is turned off."""
    return entry is not None and os.environ.get("KINODE_TIERS") not in ("0", "first") and bool(sys.executable)


def improve(wanted: Wanted, use: Callable[[bytes], None]) -> None:
    """Have better code made in the background, and do something with what the cache keeps of it."""
    with _making:
        if not _known:
            _known.append(_BetterCode())
        _known[0].ask(wanted, use)


def wait_for_better_code(seconds: float = 60.0) -> bool:
    """Wait until all code of high effort is in use; for benchmarks, which measure what a user has after a while."""
    return all(each.wait(seconds) for each in list(_known))
