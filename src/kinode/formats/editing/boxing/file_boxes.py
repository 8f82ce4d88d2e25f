"""Subsystems that are files: the gesture ``insert`` adds one, ``refer`` makes one of a box that is written out.

The text of the file that a box becomes is that of its ``system:``, line by line, with its comments (`write_box_file`).
Files that it names are named from where it lies then; those that it would have to reach above its folder are refused,
since a file is read with what lies below its own folder.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kinode.errors import ArgumentError, ModelError
from kinode.formats.editing.actions.added_parts import read_fields
from kinode.formats.editing.actions.gesture_plan import (
    GesturePlan,
    check_new_name,
    free_name,
    names_in_use,
    read_text_of,
)
from kinode.formats.editing.box_places import find_box
from kinode.formats.editing.boxing.selection_edge import has_alias
from kinode.formats.editing.model_draft import ModelDraft
from kinode.formats.editing.spans.entry_text import entry_text, moved_lines
from kinode.formats.editing.spans.span_edits import line_end, value_end
from kinode.formats.model_loader import ModelLoader
from kinode.formats.span_nodes import NodeKind, SpanNode
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


def insert_box(draft: ModelDraft, gesture: Mapping[str, Any], plan: GesturePlan) -> None:
    """Add a subsystem that is a file."""
    file, taken, wanted = read_text_of(gesture, "file"), names_in_use(draft), gesture.get("name")
    if draft.file is None:
        raise ArgumentError(f"{file} cannot be found: this text is from no file")
    name = free_name(name_of_file(file), taken) if wanted is None else check_new_name(wanted, taken)
    try:
        load_file_box(Path(draft.file), file)
    except ModelError as error:
        raise ArgumentError(f"{file} cannot be a subsystem of this model: {why_no_box(error)}") from None
    fields = {key: value for key, value in read_fields(gesture.get("fields")).items() if key not in ("file", "system")}
    draft.add("systems", name, {"file": file, **fields})
    plan.made.append(name)
    plan.words = f"add {name} from {file}"


def why_no_box(error: ModelError) -> str:
    """What is wrong with a file, with the line and the component that it is at."""
    at = [f"line {error.line}"] if error.line is not None and error.file is not None else []
    at += [error.component] if error.component else []
    return f"{error.message} ({', '.join(at)})" if at else error.message


def refer(draft: ModelDraft, gesture: Mapping[str, Any], plan: GesturePlan) -> None:
    """Let a subsystem that is written out be one that is read from a file."""
    name, file = read_text_of(gesture, "name"), read_text_of(gesture, "file")
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
