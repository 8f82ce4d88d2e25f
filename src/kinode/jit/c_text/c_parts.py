"""Splits straight-line C text into parts of bounded length.

A variable that a later part reads becomes an entry of a memory that all parts share; entries are used again where
nothing reads them any more.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

SLOTS = "passed"
"""The name of the memory that parts share."""
VARIABLE = re.compile(r"\bv\d+(?:_\d+)?\b")
DEFINED = re.compile(r"^(\s*)const double (v\d+(?:_\d+)?) = ")


class SplitLines(NamedTuple):
    """Lines of each part, and the size of the memory that they share."""

    texts: list[list[str]]
    n_slots: int


def split_lines(lines: Sequence[str], longest: int) -> SplitLines:
    """Split lines, each of which defines one variable at most, into parts of a number of lines."""
    made: dict[str, int] = {}
    last: dict[str, int] = {}
    for k, line in enumerate(lines):
        for name in VARIABLE.findall(line):
            made.setdefault(name, k // longest)
            last[name] = k // longest
    passed = {name: made[name] for name in made if last[name] > made[name]}
    slots, n_slots = _give_slots(passed, last, -(-len(lines) // longest))

    def write(line: str) -> str:
        defined = DEFINED.search(line)
        if defined is not None and defined[2] in slots:
            line = f"{defined[1]}{defined[2]} = {line[defined.end() :]}"
        return VARIABLE.sub(lambda found: slots.get(found[0], found[0]), line)

    texts = [list(map(write, lines[k : k + longest])) for k in range(0, len(lines), longest)]
    return SplitLines(texts, n_slots)


def _give_slots(passed: dict[str, int], last: dict[str, int], n_parts: int) -> tuple[dict[str, str], int]:
    """The place of each variable that is passed on, and how many there are."""
    free: list[int] = []
    slots: dict[str, str] = {}
    numbers: dict[str, int] = {}
    ending: list[list[str]] = [[] for _ in range(n_parts)]
    beginning: list[list[str]] = [[] for _ in range(n_parts)]
    for name, part in passed.items():
        beginning[part].append(name)
        ending[last[name]].append(name)
    count = 0
    for part in range(n_parts):
        for name in beginning[part]:
            if free:
                numbers[name] = free.pop()
            else:
                numbers[name], count = count, count + 1
            slots[name] = f"{SLOTS}[{numbers[name]}]"
        free += [numbers[name] for name in ending[part]]
    return slots, count
