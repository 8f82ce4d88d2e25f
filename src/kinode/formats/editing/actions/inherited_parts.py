"""Components that come from the file that a model extends: what is changed of them stands in ``changes``."""

from __future__ import annotations

from kinode.errors import ArgumentError
from kinode.formats.editing.entry_places import SHORT, Path
from kinode.formats.editing.model_draft import ModelDraft
from kinode.formats.span_nodes import NodeKind
from kinode.model.network.part import Part

NO_CHANGE = ("kind", "unit")


def set_inherited(draft: ModelDraft, name: str, path: tuple[str | int, ...], value: str | None) -> None:
    """Give a field of an inherited component its value in this file; None takes the change out, or the field."""
    section, field = draft.system.declared[name].section, path[0]
    entry = draft.root.find("changes", name)
    where: Path = ("changes", name, *path)
    if entry is not None and entry.kind is not NodeKind.MAP:
        if SHORT.get(section) != field:
            raise ArgumentError(
                f"{name} is given in changes as a value alone: write its fields there as {{value: ...}}"
            )
        where = ("changes", name, *path[1:])
    elif field in NO_CHANGE:
        raise ArgumentError(f"the {field} of {name} is that of the file {draft.find_origin(name)}, and stays")
    if len(path) > 1 and draft.root.find(*where[:3]) is None:
        raise ArgumentError(f"{name}.{field} is given as a whole in {draft.find_origin(name)}: give all of it anew")
    if value is None:
        _take_out(draft, name, where)
    elif entry is None:
        draft.add("changes", name, {str(field): value})
    else:
        draft.set(where, value)


def inherited_ports(draft: ModelDraft, node: str) -> list[tuple[str, str]]:
    """The ports of inherited parts that are at a node."""
    if draft.root.find("extends") is None:
        return []
    parts = [part for part in draft.system.declared.values() if isinstance(part, Part) and draft.find_origin(part.name)]
    return [(part.name, port) for part in parts for port in part.ports() if getattr(part, port) == node]


def _take_out(draft: ModelDraft, name: str, where: Path) -> None:
    """Without the change; a field that this file does not change gets its default instead."""
    if draft.root.find(*where) is None:
        if draft.root.find("changes", name) is None:
            draft.add("changes", name, {str(where[2]): "null"})
        else:
            draft.set(where, "null")
        return
    entry = draft.root.find("changes", name)
    alone = entry is None or entry.kind is not NodeKind.MAP or len(entry.entries) == 1
    draft.remove(("changes", name) if alone else where)
