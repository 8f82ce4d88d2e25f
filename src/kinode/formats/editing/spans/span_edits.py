"""Changes of a YAML or JSON text by its spans: set, insert, remove and rename entries of mappings.

Each function gives the edits; nothing else of the text is touched.  New entries are written as their neighbors are: in
braces or on lines, with the same indentation, columns and line breaks.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from kinode.formats.editing.spans.value_text import format_key
from kinode.formats.editing.text_edits import Edit
from kinode.formats.span_nodes import NodeKind, SpanEntry, SpanNode
from kinode.formats.yaml_writer import WIDTH

BREAK = re.compile(r"\r\n|\n|\r")
COLON = re.compile(r"\s*:")
INDENT = 2


def is_json(root: SpanNode) -> bool:
    """Whether a text is JSON: a mapping in braces whose keys are quoted."""
    return root.style == "{" and all(entry.end - entry.start == len(key) + 2 for key, entry in root.entries.items())


def line_break(text: str) -> str:
    """The line break that a text uses."""
    found = BREAK.search(text)
    return found.group() if found else "\n"


def line_start(text: str, position: int) -> int:
    """Where the line of a position starts."""
    return max(text.rfind("\n", 0, position), text.rfind("\r", 0, position)) + 1


def line_end(text: str, position: int) -> int:
    """Where the line of a position ends, before its break."""
    found = BREAK.search(text, position)
    return found.start() if found else len(text)


def value_end(text: str, node: SpanNode) -> int:
    """Where the last character of a value ends; a text in lines (``|``) has its breaks in its span."""
    end = node.end
    while end > node.start and text[end - 1] in "\r\n \t":
        end -= 1
    return end


def after_colon(text: str, entry: SpanEntry) -> int | None:
    """The position after the colon of an entry; None where it has none: ``{a, b: 1}``."""
    found = COLON.match(text, entry.end)
    return found.end() if found else None


# -- values ----------------------------------------------------------------------------------------
def replace_value(text: str, entry: SpanEntry, new: str) -> list[Edit]:
    """The value of an entry replaced; a comment behind its key stays."""
    node = entry.node
    start = after_colon(text, entry)
    if start is None:
        return [Edit(entry.end, entry.end, f": {new}")]
    if node.start == node.end or (node.style in (":", "-") and node.line > entry.line):
        first_break = BREAK.search(text, start, max(start, node.start))
        edits = [Edit(start, start, f" {new}")]
        if node.end > node.start and first_break:
            edits.append(Edit(first_break.start(), value_end(text, node), ""))
        return edits
    return replace_node(text, node, new)


def replace_node(text: str, node: SpanNode, new: str) -> list[Edit]:
    """The text of a node replaced."""
    return [Edit(node.start, value_end(text, node), new)]


# -- new entries -----------------------------------------------------------------------------------
def insert_entry(text: str, parent: SpanNode, key: str, value: str, as_json: bool = False) -> list[Edit]:
    """An entry at the end of a mapping that has entries, or of one in braces."""
    label = format_key(key, as_json)
    if parent.in_flow:
        return insert_in_flow(text, parent, f"{label}: {value}")
    last = list(parent.entries.values())[-1]
    return insert_line(text, last, _aligned(parent, label, value))


def insert_line(text: str, last: SpanEntry, content: str) -> list[Edit]:
    """A line, or several, after the last entry of a mapping by indentation."""
    at = line_end(text, max(last.end, value_end(text, last.node)))
    new = line_break(text)
    before = text[line_start(text, last.start) : last.start]
    indent = " " * len(before)  # a list item starts with its dash
    lines = content.split("\n")
    return [Edit(at, at, "".join(f"{new}{indent}{line}" for line in lines))]


def insert_in_flow(text: str, parent: SpanNode, content: str) -> list[Edit]:
    """An item at the end of a mapping or list in brackets."""
    spans = flow_spans(parent)
    if not spans:
        at = parent.start + 1
        return [Edit(at, at, content)]
    start, end = spans[-1]
    closing = parent.end - 1
    comma = _find_comma(text, end, closing)
    if comma is not None:  # a comma behind the last item
        return [Edit(comma + 1, comma + 1, f" {content}")]
    own_line = not text[line_start(text, start) : start].strip()
    column = start - line_start(text, start)
    first = spans[0][0]
    if not own_line:
        column = first - line_start(text, first)
        beyond = end - line_start(text, end) + len(content) + 2 + (line_end(text, end) - end) > WIDTH
        if not beyond or len(spans) == 1:
            return [Edit(end, end, f", {content}")]
    return [Edit(end, end, f",{line_break(text)}{' ' * column}{content}")]


def flow_spans(parent: SpanNode) -> list[tuple[int, int]]:
    """The spans of the items in brackets, keys included."""
    if parent.kind is NodeKind.LIST:
        return [(item.start, item.end) for item in parent.items]
    return [(entry.start, max(entry.end, entry.node.end)) for entry in parent.entries.values()]


def _find_comma(text: str, start: int, end: int) -> int | None:
    """The comma between two positions that is in no comment."""
    at = start
    while at < end:
        if text[at] == "#" and text[at - 1] in " \t\r\n":
            at = line_end(text, at)
        elif text[at] == ",":
            return at
        else:
            at += 1
    return None


def value_column(parent: SpanNode) -> int | None:
    """The column at which the values of a mapping by lines stand, where they are aligned."""
    entries = [e for e in parent.entries.values() if e.node.line == e.line and e.node.end > e.node.start]
    wide = [e for e in entries if e.node.column > e.column + (e.end - e.start) + 2]
    if not wide:
        return None
    column, _ = Counter(e.node.column for e in entries).most_common(1)[0]
    return column if any(e.node.column == column for e in wide) else None


def _aligned(parent: SpanNode, label: str, value: str) -> str:
    """An entry whose value stands in the column of the others."""
    column = value_column(parent)
    if value.startswith("\n"):
        return f"{label}:{value}"
    first = next(iter(parent.entries.values()))
    spaces = 1 if column is None else max(1, column - first.column - len(label) - 1)
    return f"{label}:{' ' * spaces}{value}"


# -- entries that go -------------------------------------------------------------------------------
def remove_entry(text: str, parent: SpanNode, key: str) -> list[Edit]:
    """An entry taken out, with the comment on its last line; the mapping has others beside it."""
    keys = list(parent.entries)
    if parent.in_flow:
        return remove_from_flow(text, flow_spans(parent), keys.index(key))
    entry = parent.entries[key]
    start = line_start(text, entry.start)
    end = line_end(text, max(entry.end, value_end(text, entry.node)))
    if text[start : entry.start].strip():  # the first one of a list item, behind the dash
        following = parent.entries[keys[keys.index(key) + 1]]
        return [Edit(entry.start, following.start, "")]
    return remove_lines(text, start, end)


def remove_lines(text: str, start: int, end: int) -> list[Edit]:
    """Whole lines taken out, with their breaks."""
    found = BREAK.match(text, end)
    if found:
        return [Edit(start, found.end(), "")]
    before = start
    if before > 0:  # the last line, without a break: that of the line before goes
        before -= 2 if text[max(0, before - 2) : before] == "\r\n" else 1
    return [Edit(before, end, "")]


def remove_from_flow(text: str, spans: Sequence[tuple[int, int]], index: int) -> list[Edit]:
    """An item in brackets taken out, with one comma."""
    start, end = spans[index]
    if index + 1 < len(spans):
        comma = _find_comma(text, end, spans[index + 1][0])
        stop = end if comma is None else comma + 1
        while stop < spans[index + 1][0] and text[stop] in " \t":
            stop += 1
        while stop < len(text) and text[stop] in "\r\n" and text[start - 1] in " \t":
            start -= 1
        return [Edit(start, stop, "")]
    if index == 0:
        return [Edit(start, end, "")]
    before = spans[index - 1][1]
    comma = _find_comma(text, before, start)
    if comma is None or "#" not in text[before:start]:
        return [Edit(before, end, "")]
    return [Edit(comma, comma + 1, ""), Edit(start, end, "")]


# -- keys ------------------------------------------------------------------------------------------
def rename_key(text: str, parent: SpanNode, key: str, new: str, as_json: bool = False) -> list[Edit]:
    """Another key for an entry; a column of values stays one."""
    entry = parent.entries[key]
    label = format_key(new, as_json)
    edits = [Edit(entry.start, entry.end, label)]
    node, colon = entry.node, after_colon(text, entry)
    aligned = not parent.in_flow and node.line == entry.line and node.column == value_column(parent)
    gap = "" if colon is None else text[colon : node.start]
    if colon is not None and aligned and gap and not gap.strip(" "):
        spaces = max(1, len(gap) - (len(label) - (entry.end - entry.start)))
        if spaces != len(gap):
            edits.append(Edit(colon, node.start, " " * spaces))
    return edits
