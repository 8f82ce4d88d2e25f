"""Values of one run of a study, written into the text of the model: one gesture, and so one step of undo."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kinode.errors import ArgumentError
from kinode.expressions.units import parse_unit
from kinode.formats.editing.actions.number_entries import read_entry
from kinode.formats.editing.model_draft import ModelDraft
from kinode.structure.topology import find_topology

Gesture = dict[str, Any]
Place = tuple[str, tuple[str | int, ...]]
"""A component and the path of one of its fields."""
DIGITS = 12


def write_number(value: float, unit: str = "") -> str:
    """A number in SI as it is typed, in a unit.

    Examples
    --------
    >>> from kinode.studio.studies_pane.written_values import write_number
    >>> write_number(0.25, "mm"), write_number(1e-5)
    ('250 mm', '1e-05')
    """
    if not unit:
        return f"{value:.{DIGITS}g}"
    return f"{value / parse_unit(unit).factor:.{DIGITS}g} {unit}"


def field_of(draft: ModelDraft, name: str, is_start: bool) -> Place | None:
    """The field of the text that holds a value of a study; None where none does."""
    places = draft.places
    if not is_start:
        if name in places.paths or draft.find_origin(name):
            return name, ("value",)
        box, _, inner = name.partition(".")
        return (box, ("parameters", inner)) if inner and places.section_of(box) == "systems" else None
    coordinate = next((each for each in find_topology(draft.system).coordinates if each.name == name), None)
    if coordinate is None or (coordinate.joint not in places.paths and not draft.find_origin(coordinate.joint)):
        return None
    owner, rest = coordinate.joint, name.removeprefix(f"{coordinate.joint}.")
    if coordinate.role == "z":
        return (owner, (rest,)) if rest in places.specs_of(owner, draft.system.kinds) else None
    joint = draft.system.joints[owner]
    if (joint.n_u if coordinate.role == "u" else len(joint.coordinate_names)) == 1:
        return owner, (coordinate.role,)
    names = [entry for entry, _ in (joint.coordinate_names if coordinate.role == "q" else joint.coordinates)]
    last = rest.rpartition(".")[2]
    given = draft.root.find(*places.field_path(owner, (coordinate.role,)))
    return (owner, (coordinate.role, names.index(last))) if given is not None and last in names else None


def take_gesture(draft: ModelDraft, values: Mapping[str, float], starts: set[str]) -> Gesture:
    """The gesture that writes values into the text.

    Raises
    ------
    ArgumentError
        One of them has no place there, or is a law; then nothing is written.
    """
    gestures = [_write(draft, name, value, name in starts) for name, value in values.items()]
    words = ", ".join(f"{name} = {each['value']}" for name, each in zip(values, gestures))
    return {"do": "all", "gestures": gestures, "words": f"took over {words}"}


def _write(draft: ModelDraft, name: str, value: float, is_start: bool) -> Gesture:
    place = field_of(draft, name, is_start)
    if place is None:
        raise ArgumentError(f"{name}: the text has no field of its own for it; type it in the inspector")
    owner, path = place
    node = draft.root.find(*draft.places.field_path(owner, path))
    entry = None if node is None else read_entry(draft, node)
    if entry is not None and (entry.off or entry.parameter):
        raise ArgumentError(f"{name} is written as {entry.text:.60}, which stays; nothing was changed")
    unit = "" if entry is None else entry.unit
    return {"do": "set", "name": owner, "path": list(path), "value": write_number(value, unit)}
