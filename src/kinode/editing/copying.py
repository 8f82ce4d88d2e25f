"""The gestures ``paste``, ``duplicate``, ``group`` and ``take``: entries from elsewhere, with names of their own.

What is copied is text of its own, and is pasted here or elsewhere.  It keeps the connections among its parts.  Names
that are taken get a number, in all references among what is pasted; nodes that the model has already get fresh names,
so that nothing is connected that was not meant to be.

``take`` has an entry of a section as another model has it, or none where that has none.

The section of the components of a circuit as drawn is ``circuit``.  Fields that are equal already stay as they are
written; ``value`` is for entries that are no mapping.  What refers to an entry that goes stays, and is reported as
wrong: to take it along is the gesture ``delete``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from kinode.editing.adding import GROUPS, fill_group
from kinode.editing.connecting import is_node, merge_nodes
from kinode.editing.draft import GesturePlan, ModelDraft, free_name, fresh_nodes, names_in_use
from kinode.editing.gesture_words import Fields, Names, Typed
from kinode.editing.places import DRAWN, NAMED, SHORT, EntryPlaces, Path
from kinode.editing.removing import rename_references
from kinode.editing.spans import INDENT, entry_text, moved_lines, value_end
from kinode.errors import ArgumentError, ModelError
from kinode.formats.yaml_files import SECTIONS, TOP
from kinode.formats.yaml_text import NodeKind, SpanNode, plain_value, read_spans
from kinode.formats.yaml_writer import write_flow
from kinode.model.base.field_reader import IN_PORTS
from kinode.model.joints.joint import JOINTS

FOLDED = re.compile(r"[ \t]*(?:\r\n|\n|\r)[ \t]*")
OWN = ("kinode", "name", "gravity", "run", "notes")  # of a whole model that is pasted; they are left out


def paste(draft: ModelDraft, plan: GesturePlan, *, text: str) -> None:
    """Components from text, which may be a whole model, under names that are free."""
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


def duplicate(draft: ModelDraft, plan: GesturePlan, *, names: Names) -> None:
    """Copies of components, connected among themselves, under names that are free."""
    for name in names:
        if draft.path_of(name)[0] == "circuit":
            raise ArgumentError(f"{name} is part of a circuit as drawn; copy it in the text")
    insert_copies(draft, copy_components(draft.places, names), plan)
    plan.words = f"duplicate {', '.join(names)}"


def add_group(draft: ModelDraft, plan: GesturePlan, *, what: str, on: str | None = None) -> None:
    """Several components at once: ``link``, ``drive``, ``pid_loop`` or ``axis``, on a body or a joint."""
    if what not in GROUPS:
        raise ArgumentError(f"there is no group {what!r}; there are {', '.join(GROUPS)}")
    body, joint = draft.places.in_section("bodies")[-1:], _joints(draft)[-1:]
    if on is not None:
        draft.path_of(on)
        section = draft.places.section_of(on)
        if section not in ("bodies", "joints") or (what == "link") != (section == "bodies"):
            raise ArgumentError(f"{what}: it is put on a {'body' if what == 'link' else 'joint'}, and {on} is none")
        body, joint = [on], [on]
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


def _joints(draft: ModelDraft) -> list[str]:
    """The joints of the text that turn about one axis."""
    kinds = {name: JOINTS.get(draft.places.kind_of(name)) for name in draft.places.in_section("joints")}
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
    here = {site.name for site in draft.sites if site.role == IN_PORTS and is_node(draft, site.name)}
    fresh = fresh_nodes(taken | {site.name for site in apart.sites})
    for node in dict.fromkeys(site.name for site in apart.sites if site.role == IN_PORTS):
        if node in here and is_node(apart, node):
            merge_nodes(apart, node, next(fresh), GesturePlan())


def copy_components(places: EntryPlaces, names: Iterable[str]) -> str:
    """The entries of components as they are written, under the names of their sections, in the order of the text.

    Parameters
    ----------
    places : EntryPlaces
        The entries of a model's text.
    names : iterable of str
        Components that the text describes.

    Raises
    ------
    ArgumentError
        If the text describes no component of a name.

    Examples
    --------
    >>> from kinode.editing.copying import copy_components
    >>> from kinode.editing.draft import read_places
    >>> places = read_places("kinode: 1\\nbodies: {arm: {mass: 2}, leg: {mass: 1}}")
    >>> print(copy_components(places, ["arm"]), end="")
    bodies:
      arm: {mass: 2}
    """
    wanted = set(names)
    for name in wanted - set(places.paths):
        raise ArgumentError(f"{name!r:.60} is not described in this text, and cannot be copied")
    sections: dict[str, list[str]] = {}
    for name, path in places.paths.items():
        if name in wanted:
            sections.setdefault(places.section_of(name), []).append(_copied_entry(places, path))
    return "".join(f"{section}:\n{''.join(entries)}" for section, entries in sections.items())


def _copied_entry(places: EntryPlaces, path: Path) -> str:
    """An entry as it is written; values that it shares with others of the text are written out."""
    entry = places.entry(path)
    assert entry is not None
    text = places.text[entry.start : max(entry.end, entry.node.end)]
    if _is_shared(entry.node):
        text = f"{places.text[entry.start : entry.end]}: {write_flow(plain_value(entry.node))}"
    return moved_lines(text, entry.column, INDENT) + "\n"


def _is_shared(node: SpanNode) -> bool:
    """Whether a value is repeated elsewhere by its anchor, or repeats another."""
    within = (*node.items, *(entry.node for entry in node.entries.values()))
    return node.anchor is not None or node.target is not None or any(_is_shared(inner) for inner in within)


def take_entry(
    draft: ModelDraft,
    plan: GesturePlan,
    *,
    section: str,
    name: str,
    fields: Fields | None = None,
    value: Typed | None = None,
) -> None:
    """An entry as another model has it; without fields and value it goes."""
    if section not in (*SECTIONS, DRAWN[0]):
        raise ArgumentError(f"there is no section {section!r:.40}; there are {', '.join(SECTIONS)}")
    path: Path = (*DRAWN, name) if section == DRAWN[0] else (section, name)
    node = draft.root.find(*path)
    plan.words = f"take over {name}"
    if fields is None and value is None:
        if node is None:
            raise ArgumentError(f"{name} has no entry in {section}")
        draft.remove(path)
        plan.removed.append(name)
        return
    given = fields or {}
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


def _flow(fields: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{field}: {value}" for field, value in fields.items()) + "}"
