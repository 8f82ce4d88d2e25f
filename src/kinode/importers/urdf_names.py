"""Names of kinode for the links (or bodies) and joints of a robot file: one namespace of letters, digits and _.

Valid names are kept; only names that are invalid or taken are changed.  The same file always gives the same names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from kinode.model.component_store import RESERVED

VALID_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")
INVALID_CHARACTER = re.compile(r"[^A-Za-z0-9_]")


class UrdfNames(NamedTuple):
    """Names of links, joints and the joint of the root, notes on changed names, and all names that are taken."""

    links: dict[str, str]
    joints: dict[str, str]
    base: str
    notes: tuple[str, ...]
    taken: set[str]

    def fresh(self, name: str) -> str:
        """The name, with a number appended if it is taken; it is taken from then on."""
        return _claim(name, "", self.taken)


def choose_names(links: Iterable[str], joints: Iterable[str], world: str | None, word: str = "link") -> UrdfNames:
    """Names for links and joints; ``world`` is the root link of a fixed base (called "world", it is the world).

    ``word`` is what the file calls its links.
    """
    links, joints = list(links), list(joints)
    taken: set[str] = set(RESERVED)
    given: dict[str, dict[str, str]] = {"joint": {}, word: {}}
    if world == "world":
        given[word]["world"] = "world"
    every = [("joint", name) for name in joints] + [(word, name) for name in links]
    rest = []
    for sort, name in every:
        if name in given[sort]:
            continue
        if VALID_NAME.match(name) and name not in taken:
            taken.add(name)
            given[sort][name] = name
        else:
            rest.append((sort, name))
    notes = []
    for sort, name in rest:
        new = given[sort][name] = _claim(_valid_name(name, sort), sort, taken)
        notes.append(f"the {sort} {name!r} is called {new} here")
    base = _claim("base", "joint", taken)
    called = {sort: {name: given[sort][name] for name in every} for sort, every in ((word, links), ("joint", joints))}
    return UrdfNames(called[word], called["joint"], base, tuple(notes), taken)


def _valid_name(name: str, sort: str) -> str:
    """The name with every invalid character replaced."""
    text = INVALID_CHARACTER.sub("_", name)
    return text if text[:1].isalpha() else f"{sort}_{text.lstrip('_')}"


def _claim(name: str, sort: str, taken: set[str]) -> str:
    """The name, or the name with its sort or a number appended if it is taken."""
    choice, count = name, 1
    if choice in taken and sort:
        choice = name = f"{name}_{sort}"
    while choice in taken:
        count += 1
        choice = f"{name}_{count}"
    taken.add(choice)
    return choice
