"""The player in a notebook: a widget where anywidget is installed, else the page in a frame.

The widget holds the runs deflated, and the program of the player deflated too: a notebook that keeps the state of its
widgets stays small.  The program is unpacked once in a page, whatever the number of widgets.
"""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections.abc import Sequence
from functools import cache
from html import escape
from typing import Any

from kinode.errors import Error
from kinode.player.player_file import find_player, page_of_packets
from kinode.results.trajectory import Trajectory
from kinode.views.notebook import notebook_html

HEIGHT = "560px"
WIDGET_MIME = "application/vnd.jupyter.widget-view+json"
LOADER = """
const digest = "%s";
const text = "%s";
async function load() {
  const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const program = new Blob([await new Response(stream).arrayBuffer()], { type: "text/javascript" });
  const address = URL.createObjectURL(program);
  try { return await import(/* @vite-ignore */ address); } finally { URL.revokeObjectURL(address); }
}
async function render(given) {
  const known = (globalThis.kinodePrograms ??= new Map());
  if (!known.has(digest)) known.set(digest, load());
  return (await known.get(digest)).default.render(given);
}
export default { render };
"""


class PlayerFrame:
    """The player as a page of its own inside the notebook, for notebooks without anywidget."""

    def __init__(self, page: str, height: str) -> None:
        self._page = page
        self._height = height

    def _repr_html_(self) -> str:
        style = f"width: 100%; height: {escape(self._height)}; border: 0"
        return f'<iframe style="{style}" title="kinode" srcdoc="{escape(self._page)}"></iframe>'


def make_widget(packets: Sequence[bytes], height: str = HEIGHT, theme: str = "auto", table: str = "") -> Any:
    """What a notebook shows: the player with some runs.

    Parameters
    ----------
    packets : sequence of bytes
        The runs, as ``RunDocument.packet`` writes them.
    height : str, default "560px"
        The height, as in CSS.
    theme : {"auto", "light", "dark"}
        The colors.
    table : str, optional
        HTML that is shown below the player.

    Returns
    -------
    anywidget.AnyWidget or PlayerFrame
        The second where anywidget is not installed.
    """
    kind = find_widget_class()
    if kind is None:
        return PlayerFrame(page_of_packets(packets, "kinode", theme=theme), height)
    runs = [zlib.compress(packet, 6) for packet in packets]
    return kind(runs=runs, height=height, theme=theme, table=table)


def run_bundle(run: Trajectory) -> dict[str, Any]:
    """What a notebook shows of a run beside its table: the player above it; nothing where there is no player."""
    from kinode.player.player_file import is_notebook
    from kinode.player.run_document import make_documents

    if not is_notebook() or not len(run):
        return {}
    try:
        if find_widget_class() is None:
            return {}
        documents = make_documents([run])
        packets = [document.packet(encoded=True) for document in documents]
        return _shown(make_widget(packets, table=notebook_html(run)))
    except Error:  # the table is shown all the same
        return {}


def _shown(widget: Any) -> dict[str, Any]:
    """The part of a widget's bundle that shows it; text and table are the run's own."""
    from IPython.core import formatters

    describe: Any = formatters.format_display_data
    data, _ = describe(widget, include=[WIDGET_MIME])
    return {WIDGET_MIME: data[WIDGET_MIME]} if WIDGET_MIME in data else {}


@cache
def find_widget_class() -> Any:
    """The class of the widget; None without anywidget."""
    try:
        import anywidget
        import traitlets
    except ImportError:
        return None

    fields = {
        "__doc__": "The player with its runs.",
        "_esm": player_module(),
        "runs": traitlets.List(traitlets.Bytes()).tag(sync=True),
        "height": traitlets.Unicode(HEIGHT).tag(sync=True),
        "theme": traitlets.Unicode("auto").tag(sync=True),
        "table": traitlets.Unicode("").tag(sync=True),
    }
    return type("PlayerWidget", (anywidget.AnyWidget,), fields)


def player_module() -> str:
    """A small module that unpacks the player's program, once in a page, and shows widgets with it."""
    program = find_player().encode()
    digest = hashlib.sha256(program).hexdigest()[:16]
    return LOADER % (digest, base64.b64encode(zlib.compress(program, 9)).decode("ascii"))
