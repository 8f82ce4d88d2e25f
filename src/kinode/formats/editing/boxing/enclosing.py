"""The gesture ``enclose``: a subsystem made of a selection of components, with the same equations as before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kinode.formats.editing.actions.gesture_plan import (
    GesturePlan,
    check_new_name,
    free_name,
    names_in_use,
    read_names,
)
from kinode.formats.editing.actions.pasted_parts import typed_fields
from kinode.formats.editing.boxing.selection_edge import EMPTY, SelectionEdge
from kinode.formats.editing.model_draft import ORDER, ModelDraft
from kinode.formats.editing.name_sites import LAW, PORT
from kinode.formats.editing.spans.entry_text import entry_text
from kinode.formats.editing.spans.span_edits import value_end
from kinode.formats.editing.spans.value_text import format_key
from kinode.formats.editing.text_edits import Edit
from kinode.formats.yaml_writer import write_scalar
from kinode.model.base.parameters import Input, Parameter

FIRST_NAME = "subsystem"


def enclose(draft: ModelDraft, gesture: Mapping[str, Any], plan: GesturePlan) -> None:
    """Make a subsystem of components."""
    names, taken = read_names(gesture), names_in_use(draft)
    wanted = gesture.get("name")
    name = free_name(FIRST_NAME, taken) if wanted is None else check_new_name(wanted, taken)
    edge = SelectionEdge(draft, names)
    inside = _write_inside(edge)
    given = {
        "parameters": {each: each for each in edge.parameters},
        "bind": {each: each for each in edge.given_inputs} | {new: old for old, new in edge.inputs.items()},
        "connect": {inner: outer for outer, inner in edge.ports.items()},
    }
    _name_from_outside(edge, name)
    for member in edge.members:
        draft.remove(draft.places.paths[member])
    for table in edge.tables:
        if table in draft.places.paths and not any(site.role == LAW and site.means(table) for site in draft.sites):
            draft.remove(draft.places.paths[table])
    lines = [*_given_lines(given), "system:", *(f"  {line}" for line in inside)]
    draft.add_entry("systems", name, [f"{format_key(name)}:", *(f"  {line}".rstrip() for line in lines)])
    plan.made.append(name)
    plan.renamed |= {member: f"{name}.{member}" for member in edge.members}
    plan.renamed |= {node: f"{name}.{node}" for node in edge.own_nodes}
    stay = f"; outside stays {', '.join(edge.stays)}: {next(iter(edge.stays.values()))}" if edge.stays else ""
    plan.words = f"make the subsystem {name} of {', '.join(edge.members)}{stay}"


def _given_lines(given: Mapping[str, Mapping[str, str]]) -> Iterable[str]:
    for field, pairs in given.items():
        if pairs:
            inner = ", ".join(f"{format_key(key)}: {value}" for key, value in pairs.items())
            yield f"{field}: {{{inner}}}"


def _write_inside(edge: SelectionEdge) -> list[str]:
    """The lines of the subsystem, from its first section on."""
    draft, places = edge.draft, edge.draft.places
    sections: dict[str, list[str]] = {}
    for name in (*edge.tables, *edge.frames, *edge.members):
        path = places.paths[name]
        entry = places.entry(path)
        assert entry is not None
        sections.setdefault(str(path[0]), []).append(entry_text(draft.text, entry))
    kinds = {places.kind_of(name) for name in edge.members}
    for section, wanted in (("domains", None), ("components", kinds)):
        node = draft.root.find(section)
        for key, entry in node.entries.items() if node is not None else ():
            if (wanted is None and kinds & draft.system.kinds.keys()) or (wanted is not None and key in wanted):
                sections.setdefault(section, []).append(entry_text(draft.text, entry))
    ordered = sorted(sections.items(), key=lambda item: ORDER.index(item[0]))
    text = "".join(f"{section}:\n" + "".join(f"{entry}\n" for entry in entries) for section, entries in ordered)
    apart = draft.beside(EMPTY + text)
    _name_from_inside(edge, apart)
    for name in edge.parameters:
        apart.add("parameters", name, _constant(edge, "parameters", name))
    for name in edge.given_inputs:
        apart.add("inputs", name, _constant(edge, "inputs", name))
    for quantity, name in edge.inputs.items():
        unit = edge.unit_of(quantity)
        apart.add("inputs", name, {"value": "0", **({"unit": unit} if unit else {})})
    gravity = draft.root.find("gravity")
    plain = not any(site.path[:1] == ("gravity",) for site in draft.sites)
    if gravity is not None and plain and "bodies" in sections:
        apart.set(("gravity",), draft.text[gravity.start : value_end(draft.text, gravity)])
    return apart.text.removeprefix(EMPTY).splitlines()


def _name_from_inside(edge: SelectionEdge, apart: ModelDraft) -> None:
    """Write the names of nodes and inputs that the subsystem has for what is outside."""
    edits = []
    for site in apart.sites:
        if site.role == PORT and edge.ports.get(site.name, site.name) != site.name:
            edits.append(Edit(site.start, site.end, edge.ports[site.name]))
        elif site.role == LAW and apart.text[site.start - 1 : site.start] != "@":
            for quantity, name in edge.inputs.items():
                end = site.start + len(quantity)
                exact = apart.text[site.start : end] == quantity and apart.text[end : end + 1] != "@"
                if exact and site.name == quantity.partition("@")[0]:
                    edits.append(Edit(site.start, end, name))
    axes = {(edit.start, edit.end) for edit in edits}
    apart.apply([Edit(*span, next(e.text for e in edits if (e.start, e.end) == span)) for span in sorted(axes)])


def _constant(edge: SelectionEdge, section: str, name: str) -> dict[str, str]:
    """The value of a parameter or an input, as it is now, for the entry inside."""
    draft = edge.draft
    used = any(site.owner == name for site in draft.sites)
    if name in draft.places.paths and not used:
        typed = typed_fields(draft.places, section, name)
        return {key: value for key, value in typed if key in ("value", "unit")}
    record = draft.system.declared[name]
    assert isinstance(record, Parameter | Input)
    unit = {} if record.dimension is None else {"unit": record.dimension.unit}
    return {"value": write_scalar(float(draft.system.nominal(record.value))), **unit}


def _name_from_outside(edge: SelectionEdge, name: str) -> None:
    """Write the names that members have from outside."""
    edits = []
    for site in edge.outside_sites():
        owner = edge.owner_of(site.name)
        if owner in edge.members or (owner in edge.own_nodes and site.role == LAW):
            edge.draft.guard(site.path)
            edits.append(Edit(site.start, site.start, f"{name}."))
    edge.draft.apply(edits)
