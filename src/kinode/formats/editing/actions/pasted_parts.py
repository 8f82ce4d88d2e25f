"""The gestures ``paste``, ``duplicate`` and ``group``: several components at once, with names of their own.

What is pasted keeps the connections among its parts.  Names that are taken get a number, in all references among what
is pasted; nodes that the model has already get fresh names, so that nothing is connected that was not meant to be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from kinode.errors import ArgumentError, ModelError
from kinode.formats.editing.actions.connections import merge_nodes
from kinode.formats.editing.actions.copied_text import copy_components
from kinode.formats.editing.actions.gesture_plan import (
    GesturePlan,
    free_name,
    fresh_nodes,
    names_in_use,
    read_names,
    read_text_of,
)
from kinode.formats.editing.actions.ready_groups import GROUPS, fill_group
from kinode.formats.editing.actions.renaming import rename_references
from kinode.formats.editing.entry_places import NAMED, SHORT, EntryPlaces
from kinode.formats.editing.model_draft import ModelDraft
from kinode.formats.editing.name_sites import PORT
from kinode.formats.editing.spans.entry_text import entry_text
from kinode.formats.editing.spans.span_edits import value_end
from kinode.formats.model_loader import TOP
from kinode.formats.span_nodes import NodeKind, SpanNode
from kinode.formats.yaml_text import plain_value, read_spans
from kinode.formats.yaml_writer import write_flow
from kinode.model.joints.joint import JOINTS

FOLDED = re.compile(r"[ \t]*(?:\r\n|\n|\r)[ \t]*")
OWN = ("kinode", "name", "gravity", "run", "notes")  # of a whole model that is pasted; they are left out


def paste(draft: ModelDraft, gesture: Mapping[str, Any], plan: GesturePlan) -> None:
    """Paste components from text, which may be a whole model."""
    text = read_text_of(gesture, "text")
    try:
        root = read_spans(text)
    except ModelError as error:
        raise ArgumentError(f"what is to be pasted is no part of a model: {error.message}") from None
    if root.kind is not NodeKind.MAP or not any(section in root.entries for section in NAMED):
        raise ArgumentError("what is to be pasted has no components: bodies, joints, elements ...")
    wrong = [key for key in root.entries if key not in NAMED and key not in OWN]
    if wrong:
        known = wrong[0] in TOP
        raise ArgumentError(
            f"{wrong[0]} cannot be pasted; write it into the text" if known else f"no section {wrong[0]!r}"
        )
    places = EntryPlaces(text, root)
    insert_copies(draft, copy_components(places, places.paths), plan)
    plan.words = f"paste {', '.join(plan.made)}"


def duplicate(draft: ModelDraft, gesture: Mapping[str, Any], plan: GesturePlan) -> None:
    """Copy components beside themselves."""
    names = read_names(gesture)
    for name in names:
        if draft.path_of(name)[0] == "circuit":
            raise ArgumentError(f"{name} is part of a circuit as drawn; copy it in the text")
    insert_copies(draft, copy_components(draft.places, names), plan)
    plan.words = f"duplicate {', '.join(names)}"


def add_group(draft: ModelDraft, gesture: Mapping[str, Any], plan: GesturePlan) -> None:
    """Add a ready group of components."""
    what = read_text_of(gesture, "what")
    if what not in GROUPS:
        raise ArgumentError(f"there is no group {what!r}; there are {', '.join(GROUPS)}")
    on = gesture.get("on")
    if on is not None:
        draft.path_of(str(on))
    body, joint = _bodies(draft)[-1:], _joints(draft)[-1:]
    if on is not None:
        section = draft.places.section_of(str(on))
        if section not in ("bodies", "joints") or (what == "link") != (section == "bodies"):
            raise ArgumentError(f"{what}: it is put on a {'body' if what == 'link' else 'joint'}, and {on} is none")
        body, joint = [str(on)], [str(on)]
        if what != "link" and on not in _joints(draft):
            raise ArgumentError(f"{on} is no joint that turns about one axis, which {what} needs")
    place = (body or ["world"])[0]
    if body and draft.root.find(*draft.path_of(place), "frames", "tip") is not None:
        place += ".tip"  # a chain, where the next link would lie on the one before
    text = fill_group(what, place, (joint or [""])[0], names_in_use(draft))
    insert_copies(draft, text, plan)
    plan.words = f"add {what.replace('_', ' ')}"
    controller = next((name for name in plan.made if draft.places.kind_of(name) == "pid"), "")
    if what != "pid_loop" or not joint:
        return
    effort = (*draft.path_of(joint[0]), "effort")
    if draft.root.find(*effort) is None:
        draft.set(effort, f"{controller}.output")
    else:
        plan.words += f"; {joint[0]} keeps the effort that it has, and {controller} gives none yet"


def _bodies(draft: ModelDraft) -> list[str]:
    return [name for name in draft.places.paths if draft.places.section_of(name) == "bodies"]


def _joints(draft: ModelDraft) -> list[str]:
    """The joints of the text that turn about one axis."""
    joints = [name for name in draft.places.paths if draft.places.section_of(name) == "joints"]
    kinds = {name: JOINTS.get(draft.places.kind_of(name)) for name in joints}
    return [name for name, cls in kinds.items() if cls is not None and [u for _, u in cls.coordinates] == ["angle"]]


# -- entries ---------------------------------------------------------------------------------------
def typed_fields(places: EntryPlaces, section: str, name: str) -> Iterator[tuple[str, str]]:
    """The fields of an entry as they would be typed."""
    node = places.node(name)
    assert node is not None
    if node.kind is NodeKind.MAP:
        for key, entry in node.entries.items():
            yield key, typed_value(places.text, entry.node)
    elif node.kind is NodeKind.LIST or section in SHORT:
        yield SHORT.get(section, "at"), typed_value(places.text, node)


def typed_value(text: str, node: SpanNode) -> str:
    """The text of a value as it would be typed on one line."""
    raw = text[node.start : value_end(text, node)]
    plain = node.kind is NodeKind.SCALAR and node.style in ("", "'", '"')
    if (plain or node.in_flow) and "#" not in raw and "&" not in raw and "*" not in raw[:1]:
        return FOLDED.sub(" ", raw) or "null"
    return write_flow(plain_value(node.target or node))


def insert_copies(draft: ModelDraft, text: str, plan: GesturePlan) -> None:
    """Add the components of a text under names that are free."""
    apart = draft.beside(f"kinode: 1\n{text}")
    names = list(apart.places.paths)
    others = {site.name.partition(".")[0] for site in apart.sites} - {*names}  # a copy must not become one of them
    taken = names_in_use(draft) | others
    if not names:
        raise ArgumentError("there is nothing to be copied")
    inner = set(names)
    for name in names:
        new = free_name(name, taken | (inner - {name}))
        taken.add(new)
        if new != name:
            inner = (inner - {name}) | {new}
            rename_references(apart, apart.places.paths[name], name, new)
    _rename_nodes(draft, apart, taken | inner)
    for name, path in apart.places.paths.items():
        entry = apart.places.entry(path)
        if path[0] == "systems" and entry is not None:
            draft.add_entry("systems", name, entry_text(apart.text, entry, 0).splitlines())
        else:
            draft.add(str(path[0]), name, dict(typed_fields(apart.places, str(path[0]), name)))
        plan.made.append(name)


def _rename_nodes(draft: ModelDraft, apart: ModelDraft, taken: set[str]) -> None:
    """Fresh names for nodes of what is copied that the model has already."""
    here = {site.name for site in draft.sites if site.role == PORT and not _is_known(draft, site.name)}
    fresh = fresh_nodes(taken | {site.name for site in apart.sites})
    for node in dict.fromkeys(site.name for site in apart.sites if site.role == PORT):
        if node in here and not _is_known(apart, node):
            merge_nodes(apart, node, next(fresh), GesturePlan())


def _is_known(draft: ModelDraft, name: str) -> bool:
    """Whether a name at a port is a reference or a joint, and no node."""
    heads = (name, name.partition(".")[0], name.rpartition(".")[0])
    return name in draft.system.references or any(
        head in draft.system.joints or draft.places.section_of(head) == "joints" for head in heads
    )
