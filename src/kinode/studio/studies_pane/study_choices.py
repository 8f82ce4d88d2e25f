"""What a study of a model can vary and keep: names with their units, and ranges to begin with."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from kinode.errors import Error
from kinode.formats.editing.actions.number_entries import read_entry
from kinode.formats.editing.model_draft import ModelDraft
from kinode.model.quantity_expressions import unit_of
from kinode.model.system import System
from kinode.results.known_names import known_names
from kinode.structure.topology import find_topology
from kinode.studio.studies_pane.study_form import DESIGNS
from kinode.studio.studies_pane.written_values import field_of, write_number
from kinode.tasks.batches.reducers import BRACKETS, REDUCERS

Plain = dict[str, Any]
PARAMETER, INPUT, START = "parameter", "input", "initial value"
FIRST_COUNT, FIRST_SAMPLES = 11, 64
MOST_FIRST_KEPT = 6  # joints whose loads are kept at first
AROUND = 0.5  # of a value, where it has no bounds
WIDE = {"rad": math.pi / 4, "m": 0.1}  # around zero


def list_names(system: System) -> dict[str, str]:
    """What can vary, by name: parameters, inputs and initial values."""
    names = dict.fromkeys(system.parameters, PARAMETER) | dict.fromkeys(system.inputs, INPUT)
    try:
        coordinates = find_topology(system).coordinates
    except Error:
        coordinates = ()
    return names | {each.name: START for each in coordinates if each.name not in names}


def describe_choices(system: System, draft: ModelDraft, start: Mapping[str, float]) -> Plain:
    """All that the form of a study begins with; ``start`` has the initial values as far as they are known."""
    names = [_describe(system, draft, name, role, start) for name, role in list_names(system).items()]
    until = system.run_defaults.get("until")
    return {
        "names": names,
        "quantities": [name for name in known_names(system) if name != "t"],
        "reductions": [f"{name}(0.95)" if name in BRACKETS else name for name in REDUCERS],
        "keep": _first_kept(system),
        "until": "" if not isinstance(until, float) else f"{write_number(until)} s",
        "designs": list(DESIGNS),
        "count": FIRST_COUNT,
        "n": FIRST_SAMPLES,
    }


def _first_kept(system: System) -> list[str]:
    joints = [name for name, joint in system.joints.items() if joint.n_u < 6][:MOST_FIRST_KEPT]
    if joints:
        return [f"{name}.reaction.force|peak" for name in joints]
    try:
        coordinates = find_topology(system).coordinates
    except Error:
        return []
    return [f"{each.name}|peak" for each in coordinates[:MOST_FIRST_KEPT]]


def _describe(system: System, draft: ModelDraft, name: str, role: str, start: Mapping[str, float]) -> Plain:
    try:
        told = unit_of(system, name)
    except Error:
        told = ""
    si = told if isinstance(told, str) else ""
    value, unit = _written(system, draft, name, role)
    value = start.get(name, value) if role == START else value
    bounds = system.parameters[name].bounds if role == PARAMETER else None
    low, high = _range(value, si, bounds)
    return {
        "name": name, "role": role, "unit": si, "value": value if math.isfinite(value) else None,
        "first": write_number(low, unit), "second": write_number(high, unit),
        "words": system.parameters[name].note if role == PARAMETER else "",
    }  # fmt: skip


def _written(system: System, draft: ModelDraft, name: str, role: str) -> tuple[float, str]:
    """The value of a name, and the unit in which the text has it; angles in degrees where it has none."""
    place = field_of(draft, name, role == START)
    node = None if place is None else draft.root.find(*draft.places.field_path(*place))
    entry = None if node is None else read_entry(draft, node)
    unit = "" if entry is None else entry.unit
    if role == PARAMETER:
        return system.parameter_values()[name], unit
    if role == INPUT:
        try:
            return float(system.nominal(system.inputs[name].value)), unit
        except (Error, ArithmeticError, ValueError, TypeError):
            return math.nan, unit
    known = entry is not None and math.isfinite(entry.value)
    turns = unit_of(system, name) in ("rad", "rad/s")
    return entry.value if entry is not None and known else 0.0, unit or ("deg" if turns and name.endswith(".q") else "")


def _range(value: float, unit: str, bounds: Any) -> tuple[float, float]:
    """The range to begin with: the bounds, or half the value around it; around zero a bit."""
    low, high = bounds or (None, None)
    middle = value if math.isfinite(value) else 0.0
    around = AROUND * abs(middle) or WIDE.get(unit, 1.0)
    return (
        float(low) if low is not None else middle - around,
        float(high) if high is not None else middle + around,
    )
