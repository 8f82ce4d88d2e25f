"""The built files of the player, which ``make player`` writes."""

from __future__ import annotations

from functools import cache
from importlib import resources

from kinode.errors import Error

NOT_BUILT = "the player is not built: run 'make player' in a checkout, or install kinode from a wheel"


@cache
def find_player() -> str:
    """The text of the player's program."""
    file = resources.files("kinode.studio").joinpath("static", "player.js")
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise Error(NOT_BUILT) from None
