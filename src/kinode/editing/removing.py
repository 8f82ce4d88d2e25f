"""The gestures ``delete`` and ``rename``: components with what hangs on them, names with all references to them.

What stands on a body or acts in a joint goes with it; ports that were on a joint get a node of their own; a field that
is nothing but a quantity of what goes is left out.  Laws that name it beside other things stay, and are reported as
wrong; a parameter or a table that is still used is not deleted.  A component, node, frame or quantity is renamed in
laws too.
"""

from __future__ import annotations

from collections.abc import Iterable

from kinode.editing.connecting import has_default, leave_out
from kinode.editing.draft import (
    GesturePlan,
    ModelDraft,
    check_new_name,
    fresh_nodes,
    names_in_use,
)
from kinode.editing.gesture_words import Names
from kinode.editing.name_sites import NameSite
from kinode.editing.places import DRAWN, SHORT, Path
from kinode.editing.spans import Edit
from kinode.errors import ArgumentError
from kinode.model.base.field_reader import IN_FRAMES, IN_JOINTS, IN_LAWS, IN_PORTS

DEFINED = ("parameters", "tables")


def delete(draft: ModelDraft, plan: GesturePlan, *, names: Names) -> None:
    """Components, with what stands on them or acts in them."""
    for name in names:
        draft.path_of(name)
    going = find_hanging(draft, names)
    _check_unused(draft, names, going)
    _cut(draft, going)
    for name in going:
        path = draft.path_of(name)
        draft.remove(path)
    plan.removed += going
    plan.words = f"delete {', '.join(names)}"


def find_hanging(draft: ModelDraft, names: Iterable[str]) -> list[str]:
    """The components that go with some: those named, and what stands on them or acts in them."""
    going = list(dict.fromkeys(names))
    sites = draft.sites
    for name in going:  # it grows on the way
        for site in sites:
            hangs = site.role in (IN_FRAMES, IN_JOINTS) and site.means(name) and site.owner
            if hangs and site.owner not in going and _needs(draft, site):
                going.append(site.owner)
    return going


def _needs(draft: ModelDraft, site: NameSite) -> bool:
    """Whether a component cannot be without what it names there."""
    field = _field_of(site)
    return field in ("between", "a", "b") or site.role == IN_JOINTS or not has_default(draft, site.owner, field) or (
        draft.places.section_of(site.owner) in ("frames", "systems", "drives")
    )  # fmt: skip


def _check_unused(draft: ModelDraft, names: Iterable[str], going: list[str]) -> None:
    """Refuse to delete parameters and tables that others use."""
    for name in names:
        if draft.places.section_of(name) in DEFINED:
            users = [s.owner or str(s.path[0]) for s in draft.sites if s.role == IN_LAWS and s.means(name)]
            others = list(dict.fromkeys(user for user in users if user not in going))
            if others:
                shown = ", ".join(others[:5]) + ", ..." * (len(others) > 5)
                raise ArgumentError(f"{name} is used by {shown}; change these first")


def _cut(draft: ModelDraft, going: list[str]) -> None:
    """Take apart what connects the rest to what goes."""
    nodes = fresh_nodes(names_in_use(draft))
    for name in going:
        ports = [s for s in draft.sites if s.role == IN_PORTS and s.means(name) and s.owner and s.owner not in going]
        if ports:  # what was on a joint stays together
            node = next(nodes)
            draft.apply([Edit(site.start, site.end, node) for site in ports])
        lines = {s.path for s in draft.sites if s.path[:2] == ("circuit", "connections") and s.means(name)}
        for path in sorted(lines, reverse=True):
            draft.remove(path)
        while True:
            read = next((s for s in draft.sites if _is_cut(draft, s, name, going)), None)
            if read is None:
                break
            if draft.places.section_of(read.owner) == "systems":
                draft.set(read.path, None)
            else:
                leave_out(draft, read.owner, _field_of(read), read.path)


def _is_cut(draft: ModelDraft, site: NameSite, name: str, going: list[str]) -> bool:
    """Whether a field is nothing but a quantity, or the axes, of what goes."""
    if site.owner in going or not site.owner or not site.means(name) or not site.alone:
        return False
    return site.role in (IN_LAWS, IN_FRAMES) and site.path[0] != "changes" and bool(_field_of(site))


def _field_of(site: NameSite) -> str:
    """The field of its owner that a site is in; the main one of a value alone."""
    words = [str(step) for step in site.path]
    after = words[words.index(site.owner) + 1 :] if site.owner in words else words
    return after[0] if after else SHORT.get(words[0], "value")


def rename(draft: ModelDraft, plan: GesturePlan, *, name: str, to: str) -> None:
    """A component, node, frame or quantity with all references, in laws too."""
    old = name
    key, is_frame = _find_key(draft, old)
    owner = old.rpartition(".")[0] if is_frame else ""
    new = to.removeprefix(f"{owner}.") if owner else to
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
    if any(site.role == IN_PORTS and site.name == name and site.path[:1] != DRAWN[:1] for site in draft.sites):
        if name in draft.system.references:
            raise ArgumentError(f"{name} is a reference, and keeps its name")
        return None, False
    draft.path_of(name)  # says why
    raise ArgumentError(f"{name} cannot be renamed")


def _frames_beside(draft: ModelDraft, key: Path) -> set[str]:
    """The names of the other frames of a body."""
    parent = draft.root.find(*key[:-1])
    return set() if parent is None else set(parent.entries)
