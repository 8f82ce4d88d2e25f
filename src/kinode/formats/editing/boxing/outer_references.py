"""What stands outside a subsystem and names what is in it: kept right while the inside is changed.

A component, node, parameter or input that gets another name inside gets it in ``connect``, ``bind`` and ``parameters``
of the subsystem and in all references outside.  What is no longer there is taken out of these three.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kinode.formats.editing.actions.connections import merge_nodes
from kinode.formats.editing.actions.gesture_plan import GesturePlan
from kinode.formats.editing.box_places import Box, box_prefix
from kinode.formats.editing.model_draft import ModelDraft
from kinode.formats.editing.name_sites import PORT
from kinode.formats.editing.text_edits import Edit

GIVEN = {"connect": PORT, "bind": "inputs", "parameters": "parameters"}


class EdgeNames(NamedTuple):
    """What a subsystem offers to those who use it: its nodes, inputs and parameters."""

    nodes: frozenset[str]
    inputs: frozenset[str]
    parameters: frozenset[str]

    @classmethod
    def of(cls, inside: ModelDraft) -> EdgeNames:
        """Those of the present text."""
        paths = inside.places.paths
        nodes = {site.name for site in inside.sites if site.role == PORT}
        return cls(
            frozenset(nodes),
            frozenset(name for name, path in paths.items() if path[0] in ("inputs", "parameters")),
            frozenset(name for name, path in paths.items() if path[0] == "parameters"),
        )


def follow_inside(draft: ModelDraft, box: Box, before: EdgeNames, renamed: Mapping[str, str]) -> None:
    """Bring what is outside a box in line with a change inside; ``draft`` is the whole, with the change made."""
    after = EdgeNames.of(ModelDraft(draft.text, draft.file, box=box))
    if not renamed and after == before:
        return
    outer = ModelDraft(draft.text, draft.file, box=box[:-1])
    for old, new in renamed.items():
        _rename_given(outer, box[-1], old, new)
    _drop_given(outer, box[-1], before, after)
    draft.apply(outer.edited.edits())
    for count in range(len(box)):
        level = ModelDraft(draft.text, draft.file, box=box[:count])
        prefix = box_prefix(box[count:])
        for old, new in renamed.items():
            _rename_outside(level, prefix + old, prefix + new)
        draft.apply(level.edited.edits())


def _rename_given(outer: ModelDraft, name: str, old: str, new: str) -> None:
    """Another key in what a subsystem is given; where the new one is there already, the two become one."""
    for field in GIVEN:
        path = ("systems", name, field)
        mapping = outer.root.find(*path)
        if mapping is None or old not in mapping.entries:
            continue
        if new not in mapping.entries:
            outer.apply(outer.rename((*path, old), new))
            continue
        gone, keep = mapping.entries[old].node.value, mapping.entries[new].node.value
        outer.remove((*path, old))
        if field == "connect" and isinstance(gone, str) and isinstance(keep, str) and gone != keep:
            merge_nodes(outer, gone, keep, GesturePlan())


def _drop_given(outer: ModelDraft, name: str, before: EdgeNames, after: EdgeNames) -> None:
    """Take out what is given to nodes, inputs and parameters that went."""
    for field, had, has in zip(GIVEN, before, after):
        path = ("systems", name, field)
        mapping = outer.root.find(*path)
        gone = [key for key in mapping.entries if key in had and key not in has] if mapping is not None else []
        if mapping is not None and gone and len(gone) == len(mapping.entries):
            outer.remove(path)
            continue
        for key in gone:
            outer.remove((*path, key))


def _rename_outside(level: ModelDraft, old: str, new: str) -> None:
    edits = []
    for site in level.sites:
        if site.means(old):
            level.guard(site.path)
            edits.append(Edit(site.start, site.start + len(old), new))
    level.apply(edits)
