"""The player as one HTML file that needs nothing else: no server, no network."""

from __future__ import annotations

import base64
import hashlib
import os
import zlib
from collections.abc import Sequence
from functools import cache
from html import escape
from pathlib import Path

from kinode.atomic_files import write_text
from kinode.errors import ArgumentError
from kinode.studio.load_data import CAUSES
from kinode.studio.run_document import RunDocument
from kinode.studio.static_files import find_player

RUN_SIZE = 1_000_000  # bytes of a run in a file
BODY_SIZE = 20  # bytes of a body in a picture
PAGE_STYLE = "html, body { height: 100%; margin: 0; } [data-kinode-player] { height: 100%; }"
NO_SCRIPT = "This page needs a browser that runs scripts."


def player_page(documents: Sequence[RunDocument], title: str, *, theme: str = "auto") -> str:
    """The page: the player, and the runs inside it."""
    return _page([pack(document) for document in documents], title, theme)


def page_of_packets(packets: Sequence[bytes], title: str, *, theme: str = "auto") -> str:
    """The page of runs that are packets already."""
    return _page([pack_bytes(packet) for packet in packets], title, theme)


def _page(packed: Sequence[str], title: str, theme: str) -> str:
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            f'<head><meta charset="utf-8">{player_policy()}',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title>",
            f"<style>{PAGE_STYLE}</style></head>",
            f"<body>{_markup(packed, theme)}",
            f"<noscript><p>{NO_SCRIPT}</p></noscript>",
            f"{player_script()}</body>",
            "</html>",
            "",
        ]
    )


def player_markup(documents: Sequence[RunDocument], *, theme: str = "auto", apart: bool = False) -> str:
    """The element that the player fills, with the runs in it; ``apart`` from the styles of its page."""
    return _markup([pack(document) for document in documents], theme, apart)


def _markup(packed: Sequence[str], theme: str, apart: bool = False) -> str:
    runs = "".join(f'<script type="application/x-kinode-run">{text}</script>' for text in packed)
    chosen = "" if theme == "auto" else f' data-theme="{escape(theme)}"'
    return f"<div data-kinode-player{chosen}{' data-apart' * apart}>{runs}</div>"


def player_script() -> str:
    """The program of the player, which starts by itself."""
    return f'<script type="module">{_program()}</script>'


@cache
def player_policy() -> str:
    """The rule that a page with the player sets itself: this one program runs, and nothing is fetched."""
    digest = base64.b64encode(hashlib.sha256(_program().encode()).digest()).decode("ascii")
    rules = f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data: blob:"
    rules += "; media-src blob:; base-uri 'none'; form-action 'none'"
    return f'<meta http-equiv="Content-Security-Policy" content="{rules}">'


@cache
def _program() -> str:
    return _inside_script(find_player())


def pack(document: RunDocument) -> str:
    """A run as text: deflated and in base64.

    A run of the size of the examples takes 1 MB, a large one 20 bytes for each body and picture.  What would take more
    leaves out who loads the joints: first by cause, then by body.
    """
    bodies, pictures = len(document.header["bodies"]), len(document.arrays["t"])
    most = max(RUN_SIZE, BODY_SIZE * bodies * pictures)
    text = pack_bytes(document.packet(encoded=True))
    for left_out in (f"{CAUSES}.cause", CAUSES):
        if len(text) <= most or not document.header["causes"]:
            break
        text = pack_bytes(document.without(left_out).packet(encoded=True))
    return text


def pack_bytes(packet: bytes) -> str:
    """A packet as text: deflated and in base64."""
    return base64.b64encode(zlib.compress(packet, 9)).decode("ascii")


def write_page(documents: Sequence[RunDocument], file: str | os.PathLike[str], title: str, theme: str) -> Path:
    """Write the page as a whole or not at all."""
    path = Path(file)
    if path.suffix.lower() not in (".html", ".htm"):
        raise ArgumentError(f"{path}: a player is written as .html")
    write_text(path, player_page(documents, title, theme=theme))
    return path


def _inside_script(program: str) -> str:
    """A program that may stand inside <script>: its texts hold no end of one."""
    return program.replace("</script", "<\\/script").replace("<!--", "<\\!--")
