"""A gesture's text loads to the system that the same change in Python gives, and can be undone to the byte."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from example_choice import EXAMPLES, examples_for
from example_counts import examples
from gesture_strategies import gestures
from hypothesis import given
from hypothesis import strategies as st

import kinode as kn
from kinode.editing.checked_text import check_text
from kinode.editing.draft import ModelDraft
from kinode.editing.gestures import plan_gesture
from kinode.editing.spans import Edit, apply_edits, invert_edits
from kinode.formats.yaml_files import load
from kinode.formats.yaml_text import NodeKind, SpanNode

DRAWN = [path for path in EXAMPLES if "circuit:" not in path.read_text()]
by_fields = pytest.mark.parametrize("path", examples_for(), ids=lambda path: path.stem)
by_kinds = pytest.mark.parametrize("path", examples_for(DRAWN, fields=False), ids=lambda path: path.stem)
COMMENT = re.compile(r"(?m)(?:^|\s)(#[^\n]*)$")


def after(path: Path, gesture: dict[str, Any]) -> tuple[str, list[Edit]]:
    text = path.read_text()
    plan = plan_gesture(text, gesture, path)
    return apply_edits(text, plan.edits), plan.edits


def components(path: Path) -> list[str]:
    return list(ModelDraft(path.read_text(), path).places.paths)


# -- the same as in Python -------------------------------------------------------------------------
@by_fields
def test_renaming(path):
    for name in components(path):
        system = load(path)
        if name in system.world.frames or name not in (*system.declared, *system.prefixes):
            continue  # the base of a drawn circuit
        system.rename(name, "other_name")
        text, _ = after(path, {"do": "rename", "name": name, "to": "other_name"})
        checked = check_text(text, path)
        assert checked.complete, (name, checked.problems)
        assert checked.system == system, name


@by_kinds
def test_deleting(path):
    for name in components(path):
        system = load(path)
        try:
            removed = system.remove(name)
        except kn.Error as error:
            with pytest.raises(kn.Error, match="is used by"):
                after(path, {"do": "delete", "names": [name]})
            assert "is used by" in str(error)
            continue
        plan = plan_gesture(path.read_text(), {"do": "delete", "names": [name]}, path)
        checked = check_text(apply_edits(path.read_text(), plan.edits), path)
        assert not checked.system.declared.keys() & set(removed)
        # a drive or a subsystem is one entry of a file, which goes as a whole and loses what it was bound to
        for other in (x for x in system.declared if x not in checked.broken and "." not in x):
            assert checked.system.declared[other] == system.declared[other], (name, other)


@by_kinds
def test_setting_the_mass_of_every_body(path):
    for name in load(path).bodies:
        if name not in components(path) or load(path)[name].shape is not None:
            continue
        system = load(path)
        system.change(name, mass="2.5 kg", physical=False)
        text, _ = after(path, {"do": "set", "name": name, "path": ["mass"], "value": "2.5 kg"})
        text = apply_edits(
            text, plan_gesture(text, {"do": "set", "name": name, "path": ["physical"], "value": "false"}).edits
        )
        assert check_text(text, path).system[name] == system[name]


# -- bytes -----------------------------------------------------------------------------------------
def scalars(node: SpanNode, path: tuple[Any, ...] = ()) -> list[tuple[tuple[Any, ...], SpanNode]]:
    if node.kind is NodeKind.SCALAR:
        return [(path, node)]
    inner = [*((k, e.node) for k, e in node.entries.items()), *enumerate(node.items)]
    return [pair for key, item in inner for pair in scalars(item, (*path, key))]


@by_fields
def test_every_value_is_set_and_set_back(path):
    text = path.read_text()
    for place, node in scalars(ModelDraft(text).root):
        raw = text[node.start : node.end]
        draft = ModelDraft(text)
        draft.set(place, "12.5 zz")
        assert draft.root.find(*place).value == "12.5 zz"
        draft.set(place, raw)
        assert draft.text == text
        assert not draft.edited.edits()


@examples(30, nightly=100)
@given(st.sampled_from(EXAMPLES), st.sampled_from(["\n", "\r\n"]), st.data())
def test_any_gestures_and_their_inverses_leave_equal_bytes(path, end, data):
    text = first = path.read_text().replace("\n", end)
    undo: list[tuple[str, list[Edit]]] = []
    for _ in range(data.draw(st.integers(1, 4))):
        gesture = data.draw(gestures(text, path))
        try:
            plan = plan_gesture(text, gesture, path)
        except kn.Error:
            continue
        new = apply_edits(text, plan.edits)
        undo.append((text, invert_edits(text, plan.edits)))
        if not plan.removed:
            kept = [comment for comment in COMMENT.findall(text) if comment not in new]
            assert not kept or gesture["do"] in ("set", "disconnect"), kept
        check_text(new, path)  # it may be wrong, and says so
        ModelDraft(new, path)  # and can be drawn at again
        text = new
    for before, edits in reversed(undo):
        text = apply_edits(text, edits)
        assert text == before
    assert text == first
