"""Texts that were changed on two sides: the edits between two texts, and a merge by lines."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from kinode.formats.editing.text_edits import Edit

LONGEST_EXACT = 4000  # lines that are compared one by one


def find_edits(before: str, after: str) -> list[Edit]:
    """Edits of lines that make one text the other; the fewer, the less a cursor jumps."""
    if before == after:
        return []
    one, other = before.splitlines(keepends=True), after.splitlines(keepends=True)
    if len(one) + len(other) > LONGEST_EXACT:
        return [_narrow(before, after)]
    starts = _starts(one)
    found = SequenceMatcher(None, one, other, autojunk=False).get_opcodes()
    return [Edit(starts[a], starts[b], "".join(other[c:d])) for tag, a, b, c, d in found if tag != "equal"]


def _narrow(before: str, after: str) -> Edit:
    """One edit: what lies between the common beginning and the common end."""
    first, most = 0, min(len(before), len(after))
    while first < most and before[first] == after[first]:
        first += 1
    last = 0
    while last < most - first and before[-1 - last] == after[-1 - last]:
        last += 1
    return Edit(first, len(before) - last, after[first : len(after) - last])


def _starts(lines: Sequence[str]) -> list[int]:
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    return starts


def merge_texts(base: str, mine: str, theirs: str) -> str | None:
    """What both sides made of a text; None where they changed the same lines, or lines side by side, differently."""
    if mine == theirs or theirs == base:
        return mine
    if mine == base:
        return theirs
    origin = base.splitlines(keepends=True)
    ours, yours = _changes(origin, mine), _changes(origin, theirs)
    merged, at = [], 0
    while ours or yours:
        if ours and yours and ours[0] == yours[0]:
            yours.pop(0)
        elif ours and yours and _meet(ours[0], yours[0]):
            return None
        first = ours if not yours or (ours and ours[0][:2] <= yours[0][:2]) else yours
        a, b, lines = first.pop(0)
        merged += [*origin[at:a], *lines]
        at = b
    return "".join([*merged, *origin[at:]])


Change = tuple[int, int, list[str]]


def _changes(origin: list[str], text: str) -> list[Change]:
    lines = text.splitlines(keepends=True)
    found = SequenceMatcher(None, origin, lines, autojunk=False).get_opcodes()
    return [(a, b, lines[c:d]) for tag, a, b, c, d in found if tag != "equal"]


def _meet(one: Change, other: Change) -> bool:
    """Whether two changes overlap or touch."""
    return one[0] <= other[1] and other[0] <= one[1]
