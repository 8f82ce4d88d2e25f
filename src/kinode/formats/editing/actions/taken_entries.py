"""The gesture ``take``: an entry of a section as another model has it, or none where that has none.

    {do: "take", section, name, fields: {field: text} | null, value: text}

The section of the components of a circuit as drawn is ``circuit``.  Fields that are equal already stay as they are
written; ``value`` is for entries that are no mapping.  What refers to an entry that goes stays, and is reported as
wrong: to take it along is the gesture ``delete``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kinode.errors import ArgumentError
from kinode.formats.editing.actions.gesture_plan import GesturePlan, read_text_of
from kinode.formats.editing.entry_places import DRAWN, Path
from kinode.formats.editing.model_draft import ModelDraft
from kinode.formats.model_loader import SECTIONS
from kinode.formats.span_nodes import NodeKind


def take_entry(draft: ModelDraft, gesture: Mapping[str, Any], plan: GesturePlan) -> None:
    """Make an entry what another model has."""
    section, name = read_text_of(gesture, "section"), read_text_of(gesture, "name")
    if section not in (*SECTIONS, DRAWN[0]):
        raise ArgumentError(f"there is no section {section!r:.40}; there are {', '.join(SECTIONS)}")
    fields, value = gesture.get("fields"), gesture.get("value")
    path: Path = (*DRAWN, name) if section == DRAWN[0] else (section, name)
    node = draft.root.find(*path)
    plan.words = f"take over {name}"
    if fields is None and value is None:
        if node is None:
            raise ArgumentError(f"{name} has no entry in {section}")
        draft.remove(path)
        plan.removed.append(name)
        return
    if value is not None and not isinstance(value, str):
        raise ArgumentError("the value is given as text, as it would be typed")
    given = _read_typed(fields) if value is None else {}
    if node is None:
        plan.made.append(name)
        if value is None and len(path) == 2:
            draft.add(section, name, given)
        else:
            draft.set(path, value if value is not None else _flow(given))
    elif value is not None or node.kind is not NodeKind.MAP:
        draft.set(path, value if value is not None else _flow(given))
    else:
        for field in [field for field in node.entries if field not in given]:
            draft.set((*path, field), None)
        for field, typed in given.items():
            draft.set((*path, field), typed)


def _read_typed(fields: Any) -> dict[str, str]:
    if not isinstance(fields, Mapping) or not all(isinstance(x, str) for pair in fields.items() for x in pair):
        raise ArgumentError("fields are a mapping of names to values as they would be typed")
    return dict(fields)


def _flow(fields: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{field}: {value}" for field, value in fields.items()) + "}"
