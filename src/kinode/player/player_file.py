"""The player as HTML that needs nothing else, no server and no network: a page of its own, or a part of a report.

Its program and that of the studio are built files, which ``python tools/build_player.py`` writes.  In a report the
player takes the place of its still picture, which stays for paper.
"""

from __future__ import annotations

import base64
import hashlib
import os
import sys
import zlib
from collections.abc import Sequence
from functools import cache
from html import escape
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from kinode.atomic_files import write_text
from kinode.errors import ArgumentError, Error
from kinode.player.load_data import CAUSES
from kinode.player.run_document import RunDocument, run_document
from kinode.results.trajectory import Trajectory
from kinode.sheets.markup import Markup

NOT_BUILT = "the player is not built: run 'python tools/build_player.py' in a checkout, or install kinode from a wheel"

SERVED_PAGE = """<!DOCTYPE html>
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
    return SERVED_PAGE.format(program=program, title=escape(title), mark=mark, more=more)


def find_player() -> str:
    """The text of the player's program."""
    return _read_program("player.js")


def find_studio() -> str:
    """The text of the studio's program, which holds the player too."""
    return _read_program("studio.js")


@cache
def _read_program(name: str) -> str:
    file = resources.files("kinode.studio").joinpath("static", name)
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise Error(NOT_BUILT) from None


RUN_SIZE = 1_000_000  # bytes of a run in a file
LEVEL = 6  # of deflation: the highest takes ten times as long for 2 %
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
    return base64.b64encode(zlib.compress(packet, LEVEL)).decode("ascii")


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


class ReportPlayer(NamedTuple):
    """What a report holds of the player: its element, its program and the rule that lets no other run.

    Or a sentence that says why it has none.
    """

    element: Markup
    script: Markup
    policy: Markup
    missing: str


def report_player(run: Trajectory, seen_from: str | None = None, equations: bool = True) -> ReportPlayer:
    """The player of a run for a report."""
    try:
        script = player_script()
    except Error as error:
        return ReportPlayer(Markup(""), Markup(""), Markup(""), str(error))
    element = player_markup([run_document(run, seen_from=seen_from, equations=equations)], theme="light", apart=True)
    return ReportPlayer(Markup(element), Markup(script), Markup(player_policy()), "")


THEMES = ("auto", "light", "dark")


def is_notebook() -> bool:
    """Whether this is a notebook, which shows what a cell returns."""
    module = sys.modules.get("IPython")
    shell = None if module is None else module.get_ipython()
    return shell is not None and type(shell).__name__ != "TerminalInteractiveShell"
