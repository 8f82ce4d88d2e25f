"""The built files of player and studio, which ``make player`` writes."""

from __future__ import annotations

from functools import cache
from importlib import resources

from kinode.errors import Error

NOT_BUILT = "the player is not built: run 'make player' in a checkout, or install kinode from a wheel"


def find_player() -> str:
    """The text of the player's program."""
    return _read("player.js")


def find_studio() -> str:
    """The text of the studio's program, which holds the player too."""
    return _read("studio.js")


@cache
def _read(name: str) -> str:
    file = resources.files("kinode.studio").joinpath("static", name)
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise Error(NOT_BUILT) from None
