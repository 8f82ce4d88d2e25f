"""Lists and pictures of a report as HTML."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from kinode.sheets.markup import Markup, escape, tag
from kinode.views.style import to_svg

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def facts(pairs: Iterable[tuple[object, object]]) -> Markup:
    """Words and what they are, as a list of definitions."""
    return tag("dl", *(tag("div", tag("dt", word), tag("dd", value)) for word, value in pairs), class_="facts")


def picture(figure: Figure, words: str, *, caption: str = "", class_: str = "") -> Markup:
    """A figure of matplotlib as SVG inside the page; ``words`` are for those who cannot see it."""
    svg = to_svg(figure)
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<style[^>]*>.*?</style>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = re.sub(r'<g id="[^"]*"', "<g", svg)
    svg = svg.replace("xlink:href", "href")
    start, _, rest = svg.partition(">")
    view_box = re.search(r'viewBox="([^"]*)"', start)
    assert view_box is not None
    start = f'<svg viewBox="{view_box.group(1)}" role="img" aria-label="{escape(words)}"'
    svg = re.sub(r"\s*\n\s*", "\n", f"{start}>{rest}")
    under = tag("figcaption", caption) if caption else ""
    return tag("figure", Markup(svg), under, **({"class_": class_} if class_ else {}))
