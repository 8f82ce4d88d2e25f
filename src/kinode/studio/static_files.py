"""The built files of player and studio, which ``python tools/build_player.py`` writes."""

from __future__ import annotations

from functools import cache
from html import escape
from importlib import resources

from kinode.errors import Error

NOT_BUILT = "the player is not built: run 'python tools/build_player.py' in a checkout, or install kinode from a wheel"

PAGE = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>html, body {{ height: 100%; margin: 0; }} [{mark}] {{ height: 100%; }}</style></head>
<body><div {mark}{more}></div><noscript><p>This page needs a browser that runs scripts.</p></noscript>
<script type="module" src="{program}"></script></body>
</html>
"""


def page_of(program: str, title: str, mark: str, more: str = "") -> str:
    """The page that a server shows: it loads a program, which fills the element with the attribute ``mark``."""
    return PAGE.format(program=program, title=escape(title), mark=mark, more=more)


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
