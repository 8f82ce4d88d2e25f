"""Models in files of their own: the gestures ``insert``, ``refer`` and ``take_base``.

``insert`` adds a subsystem that is a file, ``refer`` makes one of a box that is written out.  The text of the file that
a box becomes is that of its ``system:``, line by line, with its comments (`write_box_file`).  Files that it names are
named from where it lies then; those that it would have to reach above its folder are refused, since a file is read with
what lies below its own folder.

``take_base`` makes the text of the file that a model extends part of its own: that of the base, comments included, with
what this file changes in its entries and what it adds behind them; a URDF is written as YAML.  The model means the same
afterwards: where that cannot be reached, it is refused.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from kinode.editing.checked_text import check_text
from kinode.editing.copying import typed_value
from kinode.editing.draft import GesturePlan, ModelDraft, claim_new_name, names_in_use
from kinode.editing.enclosing import has_alias
from kinode.editing.gesture_words import Fields
from kinode.editing.places import SHORT, find_box
from kinode.editing.spans import Edit, entry_text, line_end, moved_lines, value_end
from kinode.errors import ArgumentError, ModelError
from kinode.formats.yaml_files import SECTIONS, ModelLoader, dumps
from kinode.formats.yaml_text import NodeKind, SpanNode
from kinode.importers import ROBOT_FILES
from kinode.model.system import System

FilePath = tuple[str | int, ...]


def load_file_box(place: Path, file: str) -> System:
    """The system of a file that the model at a place would have as a subsystem.

    Raises
    ------
    ModelError
        It cannot be one: it is outside the folder, cannot be read, or contains the model itself.
    """
    inner = ModelLoader(place, place.parent, False, ()).load_other(file, "file", whole=False)
    System("model").add("box", inner)
    return inner


def name_of_file(file: str) -> str:
    """The name for a first subsystem from a file."""
    word = re.sub(r"\W+", "_", Path(file).stem).strip("_")
    return word if word[:1].isalpha() else f"box_{word}".rstrip("_")


def insert_box(
    draft: ModelDraft, plan: GesturePlan, *, file: str, name: str | None = None, fields: Fields | None = None
) -> None:
    """A subsystem that is a file."""
    if draft.file is None:
        raise ArgumentError(f"{file} cannot be found: this text is from no file")
    name = claim_new_name(name, name_of_file(file), names_in_use(draft))
    try:
        load_file_box(Path(draft.file), file)
    except ModelError as error:
        raise ArgumentError(f"{file} cannot be a subsystem of this model: {why_no_box(error)}") from None
    given = {key: value for key, value in (fields or {}).items() if key not in ("kind", "file", "system")}
    draft.add("systems", name, {"file": file, **given})
    plan.made.append(name)
    plan.words = f"add {name} from {file}"


def why_no_box(error: ModelError) -> str:
    """What is wrong with a file, with the line and the component that it is at."""
    at = [f"line {error.line}"] if error.line is not None and error.file is not None else []
    at += [error.component] if error.component else []
    return f"{error.message} ({', '.join(at)})" if at else error.message


def refer(draft: ModelDraft, plan: GesturePlan, *, name: str, file: str) -> None:
    """A subsystem that is written out, read from a file instead."""
    check_written_out(draft, name)
    draft.guard(("systems", name), inside=True)
    draft.apply(draft.rename(("systems", name, "system"), "file"))
    draft.set(("systems", name, "file"), file)
    plan.words = f"read {name} from {file}"


def check_written_out(draft: ModelDraft, name: str) -> SpanNode:
    """The inside of a subsystem that is written out; what is none is refused with the reason."""
    draft.path_of(name)
    if draft.places.section_of(name) != "systems":
        raise ArgumentError(f"{name} is no subsystem")
    return find_box(draft.root, (name,))


# -- the file --------------------------------------------------------------------------------------
def write_box_file(draft: ModelDraft, name: str, target: Path, words: str = "") -> str:
    """The text of the file that a subsystem becomes.

    Parameters
    ----------
    draft : ModelDraft
        The model, or the box in it, that has the subsystem.
    name : str
        The subsystem, which is written out.
    target : path
        Where the file is to lie.
    words : str
        One sentence about it, which the file begins with.

    Raises
    ------
    ArgumentError
        The subsystem cannot stand alone, with the reason.
    """
    inside = check_written_out(draft, name)
    if has_alias(inside):
        raise ArgumentError(f"{name} uses values that are written elsewhere (& and *): write them out first")
    head = [f"# {' '.join(words.split())}"] if words.strip() else []
    head += [] if "kinode" in inside.entries else ["kinode: 1"]
    head += [] if "name" in inside.entries else [f"name: {name_of_file(target.name)}"]
    text = "\n".join([*head, *_inside_lines(draft.text, inside), ""])
    apart = ModelDraft(text, target)
    if draft.file is not None:
        for path, file in list(find_named_files(apart.root)):
            apart.set(path, _seen_from(Path(draft.file), file, target, name))
    return apart.text


def check_box_file(text: str, target: Path, place: Path) -> None:
    """Refuse a text that could not be read as the file of a subsystem of the model at a place."""
    chain = (place.resolve(),)
    try:
        System("model").add("box", ModelLoader(target, place.parent, False, chain, whole=False).build_text(text))
    except ModelError as error:
        raise ArgumentError(f"{target.name} would not be a subsystem: {why_no_box(error)}") from None


def _inside_lines(text: str, inside: SpanNode) -> list[str]:
    """The lines of a subsystem at the left edge; those in brackets section by section."""
    entries = list(inside.entries.values())
    if not entries:
        return []
    if inside.in_flow:
        return [line for entry in entries for line in entry_text(text, entry, 0).splitlines()]
    first, last = entries[0], entries[-1]
    end = line_end(text, max(last.end, value_end(text, last.node)))
    return moved_lines(text[first.start : end], first.column, 0).splitlines()


def find_named_files(node: SpanNode, path: FilePath = ()) -> Iterator[tuple[FilePath, str]]:
    """The files that a model names, each with the path of the value that does."""
    extended = node.find("extends")
    if extended is not None:
        inner: FilePath = (*path, "extends", "file") if extended.kind is NodeKind.MAP else (*path, "extends")
        file = extended.find("file") if extended.kind is NodeKind.MAP else extended
        if file is not None and isinstance(file.value, str):
            yield inner, file.value
    for section in ("tables", "systems"):
        entries = node.find(section)
        for key, entry in entries.entries.items() if entries is not None else ():
            file = entry.node.find("file")
            if file is not None and isinstance(file.value, str):
                yield (*path, section, key, "file"), file.value
            system = entry.node.find("system")
            if system is not None:
                yield from find_named_files(system, (*path, section, key, "system"))


def _seen_from(place: Path, file: str, target: Path, name: str) -> str:
    """A file that the model at a place names, as it is named from another place."""
    seen = Path(os.path.relpath(place.parent / file, target.parent)).as_posix()
    if seen.startswith("../") or Path(file).is_absolute():
        where = target.parent.name
        raise ArgumentError(f"{name} names {file}, which lies outside {where}/: put that file there first")
    return seen


NOT_COPIED = ("kinode", "extends", "changes")


def take_base(draft: ModelDraft, plan: GesturePlan) -> None:
    """The text of the file that the model extends, with the changes made here, in the place of ``extends``."""
    extended = draft.root.find("extends")
    if extended is None or draft.file is None or draft.box:
        raise ArgumentError("this model extends no file whose text could be taken over")
    file = (extended.find("file") or extended).value
    text = _write_whole(draft, _read_base(draft, extended, str(file)))
    new = check_text(text, draft.file)
    if new.system.declared != draft.system.declared or new.system.gravity != draft.system.gravity:
        raise ArgumentError(f"the text of {file} cannot be taken over as it is changed here: write it into this file")
    draft.apply([Edit(0, len(draft.text), text)])
    plan.words = f"take over the text of {file}"


def _read_base(draft: ModelDraft, extended: SpanNode, file: str) -> str:
    """The text of the base, with the text that it extends itself, and files named from the place of this model."""
    place = Path(str(draft.file))
    try:
        path = ModelLoader(place, place.parent, False, ()).find_file(file, "extends")
        if path.suffix.lower() in ROBOT_FILES:
            base = extended.find("base")
            given = None if base is None else base.value
            return dumps(ModelLoader(place, place.parent, False, ()).load_other(file, "extends", given, whole=False))
        text = path.read_text(encoding="utf-8-sig")
    except ModelError as error:
        raise ArgumentError(f"{file} cannot be taken over: {error.message}") from None
    except (OSError, ValueError) as error:
        raise ArgumentError(f"{file} cannot be taken over: {error}") from None
    base_draft = ModelDraft(text, path)
    if base_draft.root.find("extends") is not None:
        take_base(base_draft, GesturePlan())
    for where, name in list(find_named_files(base_draft.root)):
        seen = Path(os.path.relpath(path.parent / name, place.parent)).as_posix()
        if seen != name:
            base_draft.set(where, seen)
    return base_draft.text


def _write_whole(draft: ModelDraft, base: str) -> str:
    """The base with all that this file says."""
    whole, root = ModelDraft(base, draft.file), draft.root
    for section, entry in root.entries.items():
        if section in NOT_COPIED:
            continue
        if section not in SECTIONS:
            whole.set((section,), typed_value(draft.text, entry.node))
            continue
        for key, own in entry.node.entries.items():
            whole.add_entry(section, key, entry_text(draft.text, own, 0).splitlines())
    changes = root.find("changes")
    for name, entry in changes.entries.items() if changes is not None else ():
        _write_change(draft, whole, name, entry.node)
    first = next(iter(root.entries.values()))
    head = draft.text[: first.start]
    return head + whole.text if head.strip() else whole.text


def _write_change(draft: ModelDraft, whole: ModelDraft, name: str, node: SpanNode) -> None:
    """What this file changes of a component, in the entry of the base."""
    section = whole.places.section_of(name)
    if not section:
        raise ArgumentError(f"{name} is changed here, and stands in no entry of the other file: change it there")
    if node.kind is not NodeKind.MAP:
        field = SHORT.get(section, "value")
        whole.set(whole.places.field_path(name, (field,)), typed_value(draft.text, node))
        return
    for field, entry in node.entries.items():
        value = None if entry.node.value is None and not entry.node.entries and not entry.node.items else ""
        text = None if value is None else typed_value(draft.text, entry.node)
        if field == "between":
            for side in ("a", "b"):
                whole.set((*whole.places.paths[name], side), None)
        whole.set(whole.places.field_path(name, (field,)), text)
