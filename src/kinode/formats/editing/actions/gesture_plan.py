"""What a gesture does: the edits of the text, and what it made, removed and renamed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from kinode.errors import ArgumentError
from kinode.expressions.parser import CONSTANTS, FUNCTIONS
from kinode.formats.editing.model_draft import ModelDraft
from kinode.formats.editing.name_sites import PORT
from kinode.formats.editing.text_edits import Edit
from kinode.model.base.frames import NAME
from kinode.model.component_store import RESERVED

FRESH = re.compile(r"n\d+\Z")


@dataclass
class GesturePlan:
    """The outcome of a gesture.

    Attributes
    ----------
    edits : list of Edit
        Of the text before; empty where only the drawing changes.
    made, removed : list of str
        Names of components.
    renamed : dict
        Old names with the new ones, those of nodes included.
    words : str
        What was done, for an undo menu.
    """

    edits: list[Edit] = field(default_factory=list)
    made: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    renamed: dict[str, str] = field(default_factory=dict)
    words: str = ""


def names_in_use(draft: ModelDraft) -> set[str]:
    """Names that nothing new can have: of components, nodes, subsystems, and words of laws."""
    system = draft.system
    nodes = {site.name for site in draft.sites if site.role == PORT}
    taken = {*draft.places.paths, *system.declared, *system.prefixes, *nodes, *RESERVED, *CONSTANTS, *FUNCTIONS}
    return taken | set(system.references) | {frame.name or "" for frame in system.world.frames}


def free_name(wanted: str, taken: set[str]) -> str:
    """A name that is free: ``motor``, ``motor_2`` ..."""
    if wanted not in taken:
        return wanted
    stem = re.sub(r"_\d+\Z", "", wanted)
    return next(name for k in range(2, len(taken) + 3) if (name := f"{stem}_{k}") not in taken)


def fresh_nodes(taken: set[str]) -> Iterator[str]:
    """Names for new nodes: n1, n2 ..."""
    k = 0
    while True:
        k += 1
        if f"n{k}" not in taken:
            taken.add(f"n{k}")
            yield f"n{k}"


def check_new_name(name: Any, taken: set[str]) -> str:
    """A name for something new; what cannot be one is refused."""
    if not isinstance(name, str) or not NAME.match(name) or "." in name:
        raise ArgumentError(f"{name!r:.60} is no name: use letters, digits and _, starting with a letter")
    if name in taken:
        raise ArgumentError(f"the name {name!r} is taken; choose another")
    return name


def read_text_of(gesture: Mapping[str, Any], key: str) -> str:
    """A text of a gesture."""
    value = gesture.get(key)
    if not isinstance(value, str) or not value:
        raise ArgumentError(f"the gesture {gesture.get('do')!r} needs {key!r}, a text")
    return value


def read_names(gesture: Mapping[str, Any], key: str = "names") -> list[str]:
    """A list of names of a gesture."""
    value = gesture.get(key)
    if not isinstance(value, list | tuple) or not value or not all(isinstance(x, str) and x for x in value):
        raise ArgumentError(f"the gesture {gesture.get('do')!r} needs {key!r}, a list of names")
    return list(dict.fromkeys(value))
