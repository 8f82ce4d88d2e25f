"""The gesture ``take_base``: the text of the file that a model extends becomes part of its own.

The new text is that of the base, comments included, with what this file changes in its entries and what it adds behind
them; a URDF is written as YAML.  The model means the same afterwards: where that cannot be reached, it is refused.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kinode.errors import ArgumentError, ModelError
from kinode.formats.editing.actions.gesture_plan import GesturePlan
from kinode.formats.editing.actions.pasted_parts import typed_value
from kinode.formats.editing.boxing.file_boxes import find_named_files
from kinode.formats.editing.checked_text import check_text
from kinode.formats.editing.entry_places import SHORT
from kinode.formats.editing.model_draft import ModelDraft
from kinode.formats.editing.spans.entry_text import entry_text
from kinode.formats.editing.text_edits import Edit
from kinode.formats.model_loader import SECTIONS, ModelLoader
from kinode.formats.span_nodes import NodeKind, SpanNode
from kinode.formats.yaml_files import dumps
from kinode.importers import ROBOT_FILES

NOT_COPIED = ("kinode", "extends", "changes")


def take_base(draft: ModelDraft, gesture: Mapping[str, Any], plan: GesturePlan) -> None:
    """Take over the text of the file that the model extends."""
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
        take_base(base_draft, {}, GesturePlan())
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
