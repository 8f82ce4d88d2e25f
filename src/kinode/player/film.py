"""A run as a film: the player in a Chromium without a window draws and encodes it, picture by picture.

Chromium is driven over a pipe: no port is opened, nobody else can reach it.  The protocol is that of its DevTools: JSON
messages that end with a zero byte, requests with an ``id``, answers with the same one.
"""

from __future__ import annotations

import base64
import json
import math
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from kinode.atomic_files import write_bytes, write_text
from kinode.errors import ArgumentError, Error
from kinode.model.base.fields import short
from kinode.player.player_file import THEMES, player_page
from kinode.player.run_document import make_documents
from kinode.results.trajectory import Trajectory

VARIABLE = "KINODE_CHROMIUM"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge", "brave")
PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
)
FLAGS = (
    "--headless=new", "--remote-debugging-pipe", "--no-first-run", "--no-default-browser-check", "--mute-audio",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
    "--disable-background-timer-throttling", "--disable-renderer-backgrounding", "--disable-dev-shm-usage",
)  # fmt: skip
NO_CHROMIUM = (
    "no Chromium was found, which makes the film: install chromium or Google Chrome, or name one in "
    f"{VARIABLE}; a page of 'kinode view' saves films too"
)
BLOCK = 1 << 16
# Chromium reads from 3 and writes to 4: this puts the pipes there, by way of free numbers, and becomes Chromium.
LAUNCHER = (
    "import os, sys; a, b = os.dup(int(sys.argv[1])), os.dup(int(sys.argv[2])); "
    "c, d = (os.dup(a), os.dup(b)) if {a, b} & {3, 4} else (a, b); "
    "os.dup2(c, 3); os.dup2(d, 4); os.execv(sys.argv[3], sys.argv[3:])"
)


def find_chromium() -> str:
    """The program: that of the variable KINODE_CHROMIUM, or the first that is found.

    Raises
    ------
    Error
        If there is none.
    """
    named = os.environ.get(VARIABLE, "")
    if named:
        found = shutil.which(named)
        if found is None:
            raise Error(f"{VARIABLE}: {named} is no program")
        return found
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    found = found or next((place for place in PLACES if Path(place).exists()), None)
    if found is None:
        raise Error(NO_CHROMIUM)
    return found


class Chromium:
    """One page in a browser of its own, which ends with the context."""

    def __init__(self, size: tuple[int, int] = (1280, 720), timeout: float = 60.0) -> None:
        if os.name != "posix":
            raise Error("films are made from the command line on Linux and macOS; here, save them from the page")
        self._timeout = timeout
        self._folder = tempfile.TemporaryDirectory(prefix="kinode_chromium_", ignore_cleanup_errors=True)
        self._left = b""
        self._last = 0
        self._session = ""
        self._start(find_chromium(), size)

    def _start(self, program: str, size: tuple[int, int]) -> None:
        its_in, self._to = os.pipe()
        self._from, its_out = os.pipe()
        flags = [*FLAGS, f"--user-data-dir={self._folder.name}", f"--window-size={size[0]},{size[1]}"]
        if os.geteuid() == 0:
            flags.append("--no-sandbox")  # Chromium refuses root otherwise; the page is our own
        numbers = [str(its_in), str(its_out)]
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", LAUNCHER, *numbers, program, *flags, "about:blank"],
            pass_fds=(its_in, its_out),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(its_in)
        os.close(its_out)

    def __enter__(self) -> Chromium:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the browser."""
        for pipe in (self._to, self._from):
            os.close(pipe)
        self._process.terminate()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._folder.cleanup()

    def open(self, address: str) -> None:
        """Open a page, and evaluate on it from now on."""
        target = self.ask("Target.createTarget", {"url": address})["targetId"]
        self._session = self.ask("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]

    def evaluate(self, expression: str) -> Any:
        """The value of an expression of the page, promises waited for."""
        options = {"expression": expression, "awaitPromise": True, "returnByValue": True}
        answer = self.ask("Runtime.evaluate", options)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            text = details.get("exception", {}).get("description") or details.get("text", "")
            raise Error(f"the page failed: {text.splitlines()[0] if text else 'for a reason that it did not say'}")
        return answer["result"].get("value")

    def wait_for(self, expression: str, what: str) -> None:
        """Wait until an expression of the page is true; ``what`` says in an error what did not come."""
        end = time.monotonic() + self._timeout
        while not self.evaluate(f"Boolean({expression})"):
            if time.monotonic() > end:
                raise Error(f"Chromium did not show {what} within {self._timeout:g} s")
            time.sleep(0.05)

    def ask(self, method: str, options: Mapping[str, Any]) -> dict[str, Any]:
        """One request, one answer."""
        self._last += 1
        message: dict[str, Any] = {"id": self._last, "method": method, "params": dict(options)}
        if self._session:
            message["sessionId"] = self._session
        try:
            self._write(json.dumps(message).encode() + b"\0")
        except BrokenPipeError:
            raise Error("Chromium ended before the film was made") from None
        while True:
            answer = self._read()
            if answer.get("id") == self._last:
                break
        if "error" in answer:
            raise Error(f"Chromium refused {method}: {answer['error'].get('message', '')}")
        return dict(answer["result"])

    def _write(self, data: bytes) -> None:
        sent = 0
        while sent < len(data):
            sent += os.write(self._to, data[sent : sent + BLOCK])

    def _read(self) -> dict[str, Any]:
        """The next message."""
        parts = [self._left]
        while b"\0" not in parts[-1]:
            if not select.select([self._from], [], [], self._timeout)[0]:
                raise Error(f"Chromium did not answer within {self._timeout:g} s")
            part = os.read(self._from, BLOCK)
            if not part:
                raise Error("Chromium ended before the film was made")
            parts.append(part)
        message, _, self._left = b"".join(parts).partition(b"\0")
        return dict(json.loads(message))


FORMATS = (".webm", ".mp4")
LEAST_SIDE, MOST_SIDE = 64, 3840
STATE = "({ share: kinodeFilm.share, fault: kinodeFilm.fault, size: kinodeFilm.film?.size ?? -1 })"
PIECE = 3 << 20  # bytes that leave the page at a time; a multiple of three, so that base64 joins


def write_video(
    run: Trajectory, file: str | os.PathLike[str], *, size: tuple[int, int] = (1280, 720), rate: float = 30,
    speed: float | None = None, span: tuple[float, float] | None = None, theme: str = "light",
    progress: Callable[[float], object] | None = None,
) -> Path:  # fmt: skip
    """Write a run as a film.

    Parameters
    ----------
    run : Trajectory
        The run.
    file : str or path
        A .webm (VP9) or .mp4 (H.264) file.
    size : tuple of int, default (1280, 720)
        Width and height in pixels, even numbers.
    rate : float, default 30
        Pictures for a second of the film, 1 to 120.
    speed : float, optional
        Seconds of the run in a second of the film; default is that of the player, some 5 s for the whole run.
    span : tuple of float, optional
        Times of the run at which the film begins and ends; default is all of it.
    theme : {"light", "dark"}
        The colors.
    progress : function of a number, optional
        Is told the share that is done.

    Returns
    -------
    pathlib.Path
        The file.

    Raises
    ------
    ArgumentError
        If the file has another ending, or a number is out of range.
    Error
        If there is no Chromium, or it cannot encode the format.
    """
    path = Path(file)
    order = _order(path, size, rate, speed, span, theme)
    documents = make_documents([run])
    page = player_page(documents, run.system.name, theme="light" if theme == "auto" else theme)
    with tempfile.TemporaryDirectory(prefix="kinode_film_") as folder, Chromium(size) as browser:
        place = Path(folder) / "run.html"
        write_text(place, page)
        browser.open(place.as_uri())
        browser.wait_for("globalThis.kinodePlayer", "the player")
        write_bytes(path, _make(browser, order, progress))
    return path


def _order(
    path: Path, size: tuple[int, int], rate: float, speed: float | None, span: tuple[float, float] | None, theme: str
) -> dict[str, Any]:
    """What the page is asked for."""
    if path.suffix.lower() not in FORMATS:
        raise ArgumentError(f"{path}: a film is written as {' or '.join(FORMATS)}")
    if theme not in THEMES:
        raise ArgumentError(f"theme: {short(theme)} is none of {', '.join(THEMES)}")
    if len(size) != 2 or not all(isinstance(n, int) and n % 2 == 0 and LEAST_SIDE <= n <= MOST_SIDE for n in size):
        raise ArgumentError(f"size: two even numbers from {LEAST_SIDE} to {MOST_SIDE}, not {short(size)}")
    if not (math.isfinite(rate) and 1 <= rate <= 120):
        raise ArgumentError(f"rate: 1 to 120 pictures in a second, not {rate!r}")
    if speed is not None and not (math.isfinite(speed) and speed > 0):
        raise ArgumentError(f"speed: a positive number, not {speed!r}")
    order: dict[str, Any] = {"format": path.suffix.lower()[1:], "width": size[0], "height": size[1], "rate": rate}
    if speed is not None:
        order["speed"] = speed
    if span is not None:
        if not (math.isfinite(span[0]) and math.isfinite(span[1]) and span[0] < span[1]):
            raise ArgumentError(f"span: a start and a later end are expected, not {short(span)}")
        order |= {"from": span[0], "to": span[1]}
    return order


def _make(browser: Chromium, order: dict[str, Any], progress: Callable[[float], object] | None) -> bytes:
    """The bytes of the film."""
    browser.evaluate(f"void (globalThis.kinodeFilm = globalThis.kinodePlayer.film({json.dumps(order)}))")
    while True:
        state = browser.evaluate(STATE)
        if state["fault"]:
            raise Error(state["fault"])
        if progress is not None:
            progress(float(state["share"]))
        if state["size"] >= 0:
            break
        time.sleep(0.1)
    pieces = [browser.evaluate(f"kinodeFilm.piece({at}, {at + PIECE})") for at in range(0, state["size"], PIECE)]
    return b"".join(base64.b64decode(piece) for piece in pieces)
