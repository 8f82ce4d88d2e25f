"""A run as a film: the player in a Chromium without a window draws and encodes it, picture by picture."""

from __future__ import annotations

import base64
import json
import math
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kinode.atomic_files import write_bytes, write_text
from kinode.errors import ArgumentError, Error
from kinode.model.base.fields import short
from kinode.results.trajectory import Trajectory
from kinode.studio.films.chromium import Chromium
from kinode.studio.player_file import player_page
from kinode.studio.view import THEMES, make_documents

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
