"""The gesture ``rename``: a component, node, frame or quantity with all references to it, in laws too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kinode.errors import ArgumentError
from kinode.formats.editing.actions.gesture_plan import GesturePlan, check_new_name, names_in_use, read_text_of
from kinode.formats.editing.entry_places import DRAWN, Path
from kinode.formats.editing.model_draft import ModelDraft
from kinode.formats.editing.name_sites import PORT
from kinode.formats.editing.text_edits import Edit


def rename(draft: ModelDraft, gesture: Mapping[str, Any], plan: GesturePlan) -> None:
    """Rename what has a name."""
    old, new = read_text_of(gesture, "name"), read_text_of(gesture, "to")
    key, is_frame = _find_key(draft, old)
    owner = old.rpartition(".")[0] if is_frame else ""
    new = new.removeprefix(f"{owner}.") if owner else new
    taken = _frames_beside(draft, key) if is_frame and key is not None else names_in_use(draft)
    if old == new or new == old.rpartition(".")[2]:
        raise ArgumentError(f"{old} has this name already")
    check_new_name(new, taken)
    full = f"{owner}.{new}" if owner else new
    rename_references(draft, key, old, full)
    plan.renamed[old] = full
    plan.words = f"rename {old} to {full}"


def rename_references(draft: ModelDraft, key: Path | None, old: str, full: str) -> None:
    """Write another name in the place of one: as the key of its entry, if it has one, and wherever it is named."""
    edits = [] if key is None else draft.rename(key, full.rpartition(".")[2])
    for site in draft.sites:
        if not site.means(old) or site.path == key:
            continue
        if full in site.local:
            raise ArgumentError(f"{full} has a meaning of its own in a law of {site.owner}; choose another name")
        draft.guard(site.path)
        edits.append(Edit(site.start, site.start + len(old), full))
    draft.apply(edits)


def _find_key(draft: ModelDraft, name: str) -> tuple[Path | None, bool]:
    """The path of the entry that a name stands for, none for a node; and whether it is a frame of a body."""
    path = draft.places.paths.get(name)
    if path is not None:
        plain = path[0] == "frames" and not draft.places.kind_of(name)
        if plain:
            raise ArgumentError(f"{name} is a frame on a body: name it with its body")
        return path, False
    owner, _, frame = name.rpartition(".")
    own: Path = (*draft.places.paths.get(owner, ("",)), "frames", frame)
    if owner and draft.root.find(*own) is not None:
        return own, True
    placed = draft.root.find("frames", frame)
    if owner and placed is not None and not draft.places.kind_of(frame):
        body = placed.find("body")
        if (body.value if body is not None else "world") == owner:
            return ("frames", frame), True
    if any(site.role == PORT and site.name == name and site.path[:1] != DRAWN[:1] for site in draft.sites):
        if name in draft.system.references:
            raise ArgumentError(f"{name} is a reference, and keeps its name")
        return None, False
    draft.path_of(name)  # says why
    raise ArgumentError(f"{name} cannot be renamed")


def _frames_beside(draft: ModelDraft, key: Path) -> set[str]:
    """The names of the other frames of a body."""
    parent = draft.root.find(*key[:-1])
    return set() if parent is None else set(parent.entries)
