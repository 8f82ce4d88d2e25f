"""Names of URDF made fit for kinode: one namespace for bodies and joints, of letters, digits and _.

Names that fit are never changed for the sake of ones that do not, and the same file always gives the same names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from kinode.model.component_store import RESERVED

FITS = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")
UNFIT = re.compile(r"[^A-Za-z0-9_]")


class UrdfNames(NamedTuple):
    """What links and joints are called, what the joint of the root is called, and notes on what was changed."""

    links: dict[str, str]
    joints: dict[str, str]
    base: str
    notes: tuple[str, ...]
    taken: set[str]

    def fresh(self, name: str) -> str:
        """A name near the one wanted that nothing has; it is then taken."""
        return _claim(name, "", self.taken)


def choose_names(links: Iterable[str], joints: Iterable[str], world: str | None) -> UrdfNames:
    """Names for links and joints; ``world`` is the root link of a fixed base, which may be the world itself."""
    links, joints = list(links), list(joints)
    taken: set[str] = set(RESERVED)
    given: dict[str, dict[str, str]] = {"joint": {}, "link": {}}
    if world == "world":
        given["link"]["world"] = "world"
    every = [("joint", name) for name in joints] + [("link", name) for name in links]
    rest = []
    for sort, name in every:
        if name in given[sort]:
            continue
        if FITS.match(name) and name not in taken:
            taken.add(name)
            given[sort][name] = name
        else:
            rest.append((sort, name))
    notes = []
    for sort, name in rest:
        fit = given[sort][name] = _claim(_fitting(name, sort), sort, taken)
        notes.append(f"the {sort} {name!r} is called {fit} here")
    base = _claim("base", "joint", taken)
    called = {sort: {name: given[sort][name] for name in every} for sort, every in (("link", links), ("joint", joints))}
    return UrdfNames(called["link"], called["joint"], base, tuple(notes), taken)


def _fitting(name: str, sort: str) -> str:
    """The name with every character that does not fit replaced."""
    text = UNFIT.sub("_", name)
    return text if text[:1].isalpha() else f"{sort}_{text.lstrip('_')}"


def _claim(name: str, sort: str, taken: set[str]) -> str:
    """The name, or with its sort, or a number, behind it."""
    choice, count = name, 1
    if choice in taken and sort:
        choice = name = f"{name}_{sort}"
    while choice in taken:
        count += 1
        choice = f"{name}_{count}"
    taken.add(choice)
    return choice
