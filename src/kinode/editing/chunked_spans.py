"""Reading a text again after a small change: its sections and entries are read one by one, and those known are kept.

The parser takes most of the time that a changed model needs, and a change touches one entry.  A text is cut where a
line begins in the first column, or in the column of a section's entries; each piece is read by itself.  Where a piece
is not one entry of a mapping, the whole text is read as ever, which also gives all errors their lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from kinode.errors import ModelError
from kinode.formats.yaml_text import NodeKind, SpanEntry, SpanNode, read_spans

KEPT_TEXTS, KEPT_PIECES = 8, 8192
FEW = 400  # characters of a section that is not worth cutting
# Other line breaks and marks, which the parser treats apart, and characters that it refuses.
ODD = re.compile(r"[\x85\u2028\u2029\ufeff]|\r(?!\n)|[^\t\n\r -~\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
KEY = re.compile(r"[A-Za-z_][\w.]*[ \t]*:(?=\s|\Z)")
HEADER = re.compile(r"[A-Za-z_]\w*:[ \t]*(?:#[^\r\n]*)?\r?\n")
LINE = re.compile(r"^( *)([^\s#][^\r\n]*)", re.MULTILINE)


@lru_cache(maxsize=KEPT_TEXTS)
def reread_spans(text: str) -> SpanNode:
    """The same as ``read_spans``; pieces that were read before are not read again."""
    pieces = list(_cut(text))
    if not pieces:
        return read_spans(text)
    root = SpanNode(NodeKind.MAP, pieces[0][0], 0, pieces[0][1], 0, ":")
    for start, line, piece in pieces:
        section = _read_section(piece)
        if section is None or section.key in root.entries:
            return read_spans(text)
        entry = _moved_entry(section, start, line - 1)
        root.entries[entry.key] = entry
        root.end = entry.node.end
    return root


def _cut(text: str) -> Iterator[tuple[int, int, str]]:
    """The top-level entries: where each starts, in which line, and its text; nothing where cutting is unsafe."""
    lines = list(LINE.finditer(text))
    starts = [found.start() for found in lines if not found[1]]
    if (
        not starts
        or starts[0] != lines[0].start()
        or ODD.search(text)
        or not all(KEY.match(text, start) for start in starts)
    ):
        return
    line, before = 1, 0
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        line += text.count("\n", before, start)
        before = start
        yield start, line, text[start:end]


def _read_section(text: str) -> SpanEntry | None:
    """The one entry that a piece is; that of a long section is put together from those of its entries."""
    header = HEADER.match(text)
    if len(text) > FEW and header is not None:
        entry = _join_entries(text, header.end())
        if entry is not None:
            return entry
    return _read_piece(text)


def _join_entries(text: str, first: int) -> SpanEntry | None:
    """A section from its entries; None where it is not made of entries in one column."""
    lines = list(LINE.finditer(text, first))
    if not lines or not lines[0][1]:
        return None
    indent = len(lines[0][1])
    starts = [found.start() for found in lines if len(found[1]) == indent]
    keyed = all(KEY.match(text, start + indent) for start in starts)
    if not keyed or any(len(found[1]) < indent for found in lines):
        return None
    at = starts[0] + indent
    line = 1 + text.count("\n", 0, at)
    node = SpanNode(NodeKind.MAP, at, at, line, indent, ":")
    before = starts[0]
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        line += text.count("\n", before, start)
        before = start
        entry = _read_piece(text[start:end])
        if entry is None or entry.key in node.entries:
            return None
        moved = _moved_entry(entry, start, line - 1)
        node.entries[moved.key] = moved
        node.end = moved.node.end
    key = text[: text.index(":")]
    return SpanEntry(key, 0, len(key), 1, 0, node)


@lru_cache(maxsize=KEPT_PIECES)
def _read_piece(text: str) -> SpanEntry | None:
    """The one entry of a mapping that a text is; None where it is anything else."""
    try:
        root = read_spans(text)
    except ModelError:
        return None
    if root.style != ":" or len(root.entries) != 1:
        return None
    return next(iter(root.entries.values()))


def _moved_entry(entry: SpanEntry, by: int, lines: int) -> SpanEntry:
    """An entry as it is where its piece stands in the text."""
    node = _moved(entry.node, by, lines, {})
    return SpanEntry(entry.key, entry.start + by, entry.end + by, entry.line + lines, entry.column, node)


def _moved(node: SpanNode, by: int, lines: int, copies: dict[int, SpanNode]) -> SpanNode:
    moved = SpanNode(node.kind, node.start + by, node.end + by, node.line + lines, node.column, node.style)
    moved.value, moved.anchor = node.value, node.anchor
    if node.anchor is not None:
        copies[id(node)] = moved
    if node.target is not None:
        moved.target = copies[id(node.target)]
    for key, entry in node.entries.items():
        inner = _moved(entry.node, by, lines, copies)
        moved.entries[key] = SpanEntry(key, entry.start + by, entry.end + by, entry.line + lines, entry.column, inner)
    if node.items:
        moved.items = [_moved(item, by, lines, copies) for item in node.items]
    return moved
