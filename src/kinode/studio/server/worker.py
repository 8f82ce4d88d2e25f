"""The worker, a process beside the server that derives: it holds up no gesture there, and can be ended at any moment.

A task and a model's text go in as a line of JSON; lines with the progress come back, and one with the answer.  The
process is started when it is first needed, and again after it was ended.  It knows the kinds that were registered by
modules that it can import; no path of the present folder is searched for them (``-P``).
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from kinode.editing.checked_text import is_trusted
from kinode.errors import ArgumentError, Error, ModelError
from kinode.model.base.element import ELEMENTS
from kinode.model.base.kinds import is_builtin
from kinode.model.base.observers.moving_frames import FRAMES
from kinode.model.constraints.constraint import CONSTRAINTS
from kinode.model.joints.joint import JOINTS

Plain = dict[str, Any]
LOOK = 0.05  # s between looks at whether an answer is still wanted
GONE = "the process that derives has ended; ask again"


class StoppedError(Error):
    """The answer is not wanted any more."""


class DerivationProcess:
    """Does tasks one after the other in a process of its own.

    Examples
    --------
    >>> process = DerivationProcess()
    >>> text = "kinode: 1\\nbodies: {a: {mass: 1}}\\njoints: {p: {kind: prismatic, between: [world, a]}}"
    >>> process.ask("script", text, Path("model.yaml"), {"format": "python"})["text"].splitlines()[6]
    'model = kn.System("model", gravity=(0, 0, -9.81))'
    >>> process.close()
    """

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._closed = False

    @property
    def pid(self) -> int | None:
        """The number of the process while there is one."""
        return None if self._process is None else self._process.pid

    def ask(
        self, task: str, text: str, place: Path, fields: Mapping[str, Any] | None = None,
        goes_on: Callable[[], bool] = lambda: True, tell: Callable[[float, str], None] | None = None,
        take: Callable[[Plain], None] | None = None,
    ) -> Plain:  # fmt: skip
        """The answer of a task; ``tell`` hears how far it is, ``take`` gets what there is of it before.

        Raises
        ------
        StoppedError
            If ``goes_on`` said that it is not wanted any more; the process is ended then.
        ArgumentError or ModelError
            If the task refused, in words.
        """
        with self._turn:
            if self._closed or not goes_on():
                raise StoppedError("stopped")
            process = self._start()
            order = {
                "task": task,
                "text": text,
                "place": str(place),
                "fields": dict(fields or {}),
                "trust": is_trusted(place),
            }
            try:
                assert process.stdin is not None
                process.stdin.write(json.dumps(order).encode() + b"\n")
                process.stdin.flush()
            except OSError:
                self._end()
                raise Error(GONE) from None
            for line in self._answers(goes_on):
                told = json.loads(line)
                if "answer" in told:
                    return dict(told["answer"])
                if "error" in told:
                    raise _refusal(told["error"])
                if "part" in told:
                    if take is not None:
                        take(dict(told["part"]))
                elif tell is not None:
                    tell(float(told.get("share", 0.0)), str(told.get("words", "")))
            raise Error(GONE)

    def close(self) -> None:
        """End it; a task under way is stopped."""
        self._closed = True
        process = self._process
        if process is not None:
            with suppress(OSError):
                process.kill()
        with self._turn:
            self._end()

    def _answers(self, goes_on: Callable[[], bool]) -> Iterator[bytes]:
        """The lines that come back, until the process has ended."""
        while True:
            try:
                line = self._lines.get(timeout=LOOK)
            except queue.Empty:
                line = b""
            if self._closed or not goes_on():
                self._end()
                raise StoppedError("stopped")
            if line is None:
                self._end()
                return
            if line:
                yield line

    def _start(self) -> subprocess.Popen[bytes]:
        process = self._process
        if process is not None and process.poll() is None:
            return process
        self._end()
        paths = os.pathsep.join(path for path in sys.path if path)
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "kinode.studio.editor.worker_tasks", *foreign_modules()],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": paths},
        )  # fmt: skip
        self._lines = lines = queue.SimpleQueue[bytes | None]()
        threading.Thread(target=_read, args=(process, lines), name="kinode derivations", daemon=True).start()
        self._process = process
        return process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(OSError):
            process.kill()
        process.wait()
        assert process.stdin is not None
        with suppress(OSError):
            process.stdin.close()


def foreign_modules() -> list[str]:
    """The modules that registered kinds which kinode does not have itself, as far as they can be imported by name."""
    known = (cls for kinds in (JOINTS, ELEMENTS, CONSTRAINTS, FRAMES) for cls in kinds.values())
    return sorted({cls.__module__ for cls in known if not is_builtin(cls)} - {"__main__"})


def _read(process: subprocess.Popen[bytes], lines: queue.SimpleQueue[bytes | None]) -> None:
    assert process.stdout is not None
    with process.stdout as stream:
        for line in stream:
            lines.put(line)
    lines.put(None)


def _refusal(told: Mapping[str, Any]) -> Error:
    """What a task refused, as the error that it was."""
    message, component = str(told.get("message", "")), told.get("component")
    if component is None:
        return ArgumentError(message)
    return ModelError(message, component=component, field=told.get("field"))
