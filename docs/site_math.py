"""Formulas of the site: LaTeX to MathML when ``mkdocs`` builds it, and a link for every citation of an equation.

A display formula with ``\\tag{T-3.4}`` gets that number and an anchor of that name; ``(T-3.4)`` in the text of any
page, docstrings included, becomes a link to it.  ``tests/test_docs.py`` uses ``labels`` and ``citations`` to check that
every equation that is cited exists.
"""

from __future__ import annotations

import html
import posixpath
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent
LABEL = r"T-\d+\.\d+"
TAG = re.compile(rf"\\tag\{{({LABEL})\}}")
CITED = re.compile(rf"\(({LABEL})\)")
BLOCK = re.compile(r'<div class="arithmatex">\\\[(.*?)\\\]</div>', re.DOTALL)
INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.DOTALL)
# What has its own meaning for links, and tags themselves.
OPAQUE = re.compile(r"(<(pre|a|math|h[1-6])\b.*?</\2>|<[^>]*>)", re.DOTALL)


def labels() -> dict[str, str]:
    """The page, relative to docs, on which each equation stands."""
    pages: dict[str, str] = {}
    for path in sorted((ROOT / "theory").glob("*.md")):
        for label in TAG.findall(path.read_text(encoding="utf-8")):
            if label in pages:
                raise ValueError(f"{label} stands in {pages[label]} and again in {path.name}")
            pages[label] = f"theory/{path.name}"
    return pages


def citations(text: str) -> list[str]:
    """The equations that a text cites."""
    return CITED.findall(text)


def to_mathml(latex: str, display: str) -> str:
    """MathML of a formula as browsers draw it: alignment by style, which they know, in the place of attributes."""
    from latex2mathml.converter import convert

    text = html.unescape(latex).strip()
    for word in (r"\begin{aligned}", r"\end{aligned}"):
        text = text.replace(word, word.replace("aligned", "align*"))
    found: str = convert(text, display=display)
    if r"\\" in found or "&</mi>" in found or "<mtext>\\" in found:
        raise ValueError(f"this formula was not understood: {latex}")
    found = re.sub(r'columnalign="(\w+)"', r'style="text-align: \1"', found)
    # Names of functions stand apart from what they are of.
    found = re.sub(r"(<mi>(?:sin|cos|tan|tanh)</mi>)(?!<mo|</mrow>)", r'\1<mspace width="0.167em" />', found)
    # Brackets grow with their matrix only in fonts for mathematics: lines at its sides do in all.
    return re.sub(
        r"<mo>&#x0005B;</mo><mtable>(.*?)</mtable><mo>&#x0005D;</mo>", r'<mtable class="matrix">\1</mtable>', found
    )


def _block(match: re.Match[str]) -> str:
    tag = TAG.search(match[1])
    formula = to_mathml(TAG.sub("", match[1]), "block")
    if tag is None:
        return f'<div class="equation">{formula}</div>'
    number = f'<a class="number" href="#{tag[1]}">({tag[1]})</a>'
    return f'<div class="equation" id="{tag[1]}">{formula}{number}</div>'


def link_citations(content: str, page: str, known: dict[str, str]) -> str:
    """The same page with a link at every ``(T-3.4)`` outside of code blocks, links and headings."""

    def link(match: re.Match[str]) -> str:
        target = posixpath.relpath(known[match[1]].removesuffix(".md") + ".html", posixpath.dirname(page) or ".")
        return f'<a href="{target}#{match[1]}">({match[1]})</a>'

    pieces, end = [], 0
    for opaque in OPAQUE.finditer(content):
        pieces += [CITED.sub(link, content[end : opaque.start()]), opaque[0]]
        end = opaque.end()
    return "".join([*pieces, CITED.sub(link, content[end:])])


def on_page_content(content: str, page: Any, **_: Any) -> str:
    """A page as ``mkdocs`` has it, with its formulas drawn and its citations linked."""
    content = BLOCK.sub(_block, content)
    content = INLINE.sub(lambda match: to_mathml(match[1], "inline"), content)
    return link_citations(content, page.file.src_uri, labels())
