"""Edits of a YAML or JSON text by its spans: set, insert, remove and rename entries of mappings.

An edit is a span and what replaces it; positions count characters (code points) of the text before.  Each function
gives the edits; nothing else of the text is touched.  New entries are written as their neighbors are: in braces or on
lines, with the same indentation, columns and line breaks.

What a person types for a field is quoted where it has to be, otherwise left as it was typed: ``max(0, t)`` within
braces would be read as two values, and is quoted; ``[max(0, t), 0, 0]`` is a list of three.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from kinode.errors import ArgumentError, ModelError
from kinode.formats.yaml_text import CONTROL, NodeKind, SpanEntry, SpanNode, plain_value, read_spans
from kinode.formats.yaml_writer import WIDTH, write_scalar


class Edit(NamedTuple):
    """The characters from ``start`` to ``end`` are replaced by ``text``."""

    start: int
    end: int
    text: str


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text after edits that do not overlap.

    Parameters
    ----------
    text : str
        The text before.
    edits : iterable of Edit
        Their positions are those in ``text``; those at one position are made in the order given.

    Returns
    -------
    str

    Raises
    ------
    ArgumentError
        Edits overlap or lie outside the text.

    Examples
    --------
    >>> from kinode.editing.spans import Edit, apply_edits
    >>> apply_edits("mass: 1", [Edit(6, 7, "2 kg")])
    'mass: 2 kg'
    """
    pieces, at = [], 0
    for start, end, new in in_order(text, edits):
        pieces += [text[at:start], new]
        at = end
    return "".join([*pieces, text[at:]])


def in_order(text: str, edits: Iterable[Edit]) -> list[Edit]:
    """The edits sorted by position; those that overlap or lie outside the text are refused."""
    ordered = sorted(edits, key=lambda edit: (edit.start, edit.end))
    at = 0
    for edit in ordered:
        if not 0 <= edit.start <= edit.end <= len(text):
            raise ArgumentError(f"the edit {edit.start} to {edit.end} is outside the text of {len(text)} characters")
        if edit.start < at:
            raise ArgumentError(f"two edits overlap at {edit.start}")
        at = edit.end
    return ordered


def invert_edits(text: str, edits: Iterable[Edit]) -> list[Edit]:
    """The edits that lead back: of the text that ``edits`` make of ``text``.

    Examples
    --------
    >>> from kinode.editing.spans import Edit, invert_edits
    >>> invert_edits("mass: 1", [Edit(6, 7, "2 kg")])
    [Edit(start=6, end=10, text='1')]
    """
    inverse, shift = [], 0
    for start, end, new in in_order(text, edits):
        inverse.append(Edit(start + shift, start + shift + len(new), text[start:end]))
        shift += len(new) - (end - start)
    return inverse


def rebase_edits(edits: Iterable[Edit], done: Sequence[Edit]) -> list[Edit]:
    """Edits of a text as edits of the text after others were made; ArgumentError where they touch the same place.

    Examples
    --------
    >>> from kinode.editing.spans import Edit, rebase_edits
    >>> rebase_edits([Edit(6, 7, "2")], [Edit(0, 0, "# note")])
    [Edit(start=12, end=13, text='2')]
    """
    rebased = []
    for edit in edits:
        shift = 0
        for other in done:
            if other.end <= edit.start and (other.start, other.end) != (edit.start, edit.end):
                shift += len(other.text) - (other.end - other.start)
            elif other.start < edit.end or other.start == edit.start:
                raise ArgumentError("this place has been changed meanwhile")
        rebased.append(Edit(edit.start + shift, edit.end + shift, edit.text))
    return rebased


class EditedText:
    """A text under several edits, one after the other; ``edits`` says what they are as edits of the first text."""

    def __init__(self, text: str) -> None:
        self.first = self.text = text
        self._pieces: list[tuple[int, int] | str] = [(0, len(text))]  # spans of the first text, and what is new

    def apply(self, edits: Iterable[Edit]) -> None:
        """Make edits of the present text."""
        for start, end, new in reversed(in_order(self.text, edits)):
            self.text = self.text[:start] + new + self.text[end:]
            before, rest = _split(self._pieces, start)
            _, after = _split(rest, end - start)
            self._pieces = [*before, new, *after]

    def edits(self) -> list[Edit]:
        """All edits so far, as edits of the first text."""
        edits: list[Edit] = []
        at, new = 0, ""
        for piece in [*self._pieces, (len(self.first), len(self.first))]:
            if isinstance(piece, str):
                new += piece
                continue
            start, end = piece
            if start == end < len(self.first):
                continue
            if at < start or new:
                edits.append(_trimmed(self.first, at, start, new))
            at, new = end, ""
        return [edit for edit in edits if edit.text or edit.start < edit.end]


def _split(pieces: list[tuple[int, int] | str], position: int) -> tuple[list[Any], list[Any]]:
    """The pieces before and after a position."""
    at = 0
    for k, piece in enumerate(pieces):
        length = len(piece) if isinstance(piece, str) else piece[1] - piece[0]
        if position <= at + length:
            cut = position - at
            if isinstance(piece, str):
                return [*pieces[:k], piece[:cut]], [piece[cut:], *pieces[k + 1 :]]
            middle = piece[0] + cut
            return [*pieces[:k], (piece[0], middle)], [(middle, piece[1]), *pieces[k + 1 :]]
        at += length
    return list(pieces), []


def _trimmed(text: str, start: int, end: int, new: str) -> Edit:
    """The edit without characters at its ends that stay the same."""
    while start < end and new and text[start] == new[0]:
        start, new = start + 1, new[1:]
    while start < end and new and text[end - 1] == new[-1]:
        end, new = end - 1, new[:-1]
    return Edit(start, end, new)


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


OPENING, CLOSING = "([{", ")]}"


def format_value(typed: str, *, in_flow: bool, as_json: bool = False) -> str:
    """The text that stands in a file for a value as it was typed.

    Parameters
    ----------
    typed : str
        A number, a quantity, a law, a name, a list ``[...]`` or a mapping ``{...}``.
    in_flow : bool
        Whether it stands within brackets, where commas and brackets separate.
    as_json : bool, default False
        Whether the file is JSON.

    Returns
    -------
    str

    Raises
    ------
    ArgumentError
        Nothing was typed, or brackets do not match.

    Examples
    --------
    >>> from kinode.editing.spans import format_value
    >>> format_value("2 kg", in_flow=True), format_value("max(0, t)", in_flow=True)
    ('2 kg', '"max(0, t)"')
    """
    if not isinstance(typed, str):
        raise ArgumentError(f"a value is given as text, as it would be typed, not {typed!r:.60}")
    text = typed.strip()
    if not text:
        raise ArgumentError("a value is needed; to take a field out, give null")
    if CONTROL.search(text):
        raise ArgumentError("a value holds no control characters")
    if as_json:
        return _as_json(text)
    node = _read_alone(text, in_flow)
    if node is not None and _says_what_is_meant(node, text):
        return text
    if text[0] == "[" and text[-1] == "]":
        return "[" + ", ".join(format_value(item, in_flow=True) for item in _split_items(text[1:-1])) + "]"
    if text[0] == "{" and text[-1] == "}":
        return "{" + ", ".join(_format_pair(item) for item in _split_items(text[1:-1])) + "}"
    if text[0] in "[{":
        raise ArgumentError(f"brackets or quotes do not match in {text!r:.80}")
    return write_scalar(text)


def format_key(name: str, as_json: bool = False) -> str:
    """The text of a key."""
    return json.dumps(name, ensure_ascii=False) if as_json else write_scalar(name)


def _format_pair(text: str) -> str:
    """An entry of a mapping that has to be written anew."""
    key, colon, value = text.partition(":")
    if not colon or not key.strip() or not value.strip():
        raise ArgumentError(f"{text.strip()!r:.60} is no entry of a mapping: write key: value")
    return f"{format_value(key, in_flow=True)}: {format_value(value, in_flow=True)}"


def _read_alone(text: str, in_flow: bool) -> SpanNode | None:
    """The node that the text is where it is to stand; None where it would be more or less than one value."""
    before, after = ("{k: ", "}") if in_flow else ("k: ", "")
    try:
        root = read_spans(before + text + after)
    except ModelError:
        return None
    node = root.find("k")
    if node is None or len(root.entries) != 1 or "\n" in text or "\r" in text:
        return None
    return node if (node.start, node.end) == (len(before), len(before) + len(text)) else None


def _says_what_is_meant(node: SpanNode, text: str) -> bool:
    """Whether no law was split at its comma, and nothing in it is an anchor or an alias."""
    if node.anchor is not None or node.kind is NodeKind.ALIAS:
        return False
    if node.kind is NodeKind.SCALAR:
        return not isinstance(node.value, str) or node.value.count("(") == node.value.count(")")
    inner = [*node.items, *(entry.node for entry in node.entries.values())]
    return all(_says_what_is_meant(item, text) for item in inner) and not any("(" in key for key in node.entries)


def _split_items(text: str) -> Iterator[str]:
    """The items between commas that stand in no brackets and no quotes."""
    depth, start, quote = 0, 0, ""
    for k, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'" and not text[start:k].strip():
            quote = character
        elif character in OPENING:
            depth += 1
        elif character in CLOSING:
            depth -= 1
        elif character == "," and depth == 0:
            yield text[start:k]
            start = k + 1
        if depth < 0:
            break
    if depth != 0 or quote:
        raise ArgumentError(f"brackets or quotes do not match in {text.strip()!r:.80}")
    if text[start:].strip():
        yield text[start:]


def _as_json(text: str) -> str:
    """The same in JSON, which quotes every text."""
    value = plain_value(read_spans(f"k: {format_value(text, in_flow=False)}"))["k"]
    try:
        return json.dumps(_whole(value), ensure_ascii=False, allow_nan=False)
    except ValueError:
        raise ArgumentError(f"{text!r:.60} is no number that JSON can hold") from None


def _whole(value: object) -> object:
    """Numbers that are whole without their point."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return {key: _whole(item) for key, item in value.items()} if isinstance(value, dict) else value


def entry_text(text: str, entry: SpanEntry, column: int = INDENT) -> str:
    """An entry with its key, in a column, without a break at its end; on lines of its own with their comments."""
    start, end = entry.start, max(entry.end, value_end(text, entry.node))
    if not text[line_start(text, start) : start].strip(" -"):
        behind = text[end : line_end(text, end)].strip()
        end = line_end(text, end) if behind.startswith("#") else end
    return moved_lines(text[start:end], entry.column, column)


def moved_lines(text: str, column: int, new: int) -> str:
    """Lines of which the first began in a column, moved to another."""
    first, *rest = text.splitlines()
    lines = [" " * new + first.strip(" ")]
    for line in rest:
        blank = len(line) - len(line.lstrip(" "))
        lines.append(" " * max(blank - column + new, new) + line.lstrip(" ") if line.strip() else "")
    return "\n".join(lines).rstrip()
