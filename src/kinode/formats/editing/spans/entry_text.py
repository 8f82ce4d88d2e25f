"""Entries of a text as text of their own: as they are written, in another column."""

from __future__ import annotations

from kinode.formats.editing.spans.span_edits import INDENT, line_end, line_start, value_end
from kinode.formats.span_nodes import SpanEntry


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
