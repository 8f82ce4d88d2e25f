"""The form of a study as a page fills it in: axes, design, what is kept, the end; and the same as a command and a call.

The values of an axis are given as a range (from, to, count), as a list, or drawn (mean and deviation, or ends).  In
a sampled design a range is explored between its ends, and ``n`` says how many samples there are.

Beside it stand what a study of a model can vary and keep, with units and ranges to begin with, and the way back: the
values of one run, written into the text of the model as one gesture, and so one step of undo.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

from kinode.editing.draft import ModelDraft
from kinode.editing.placing import read_entry
from kinode.errors import ArgumentError, Error
from kinode.expressions.units import parse_quantity, parse_unit
from kinode.model.quantities import unit_of
from kinode.model.system import System
from kinode.results.run_quantities import known_names
from kinode.structure.topology import find_topology
from kinode.studies.axes import read_axis_text
from kinode.studies.design import Distribution, between, normal, uniform
from kinode.studies.kept_results import BRACKETS, REDUCERS

Gesture = dict[str, Any]
Place = tuple[str, tuple[str | int, ...]]
"""A component and the path of one of its fields."""
DIGITS = 12


def write_number(value: float, unit: str = "") -> str:
    """A number in SI as it is typed, in a unit.

    Examples
    --------
    >>> from kinode.studio.editor.study_form import write_number
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


Plain = dict[str, Any]
MOST_RUNS = 100_000
MOST_AXES, MOST_KEPT, MOST_VALUES, LONGEST = 8, 40, 10_000, 400
DESIGNS = ("grid", "random", "latin", "sobol")
DRAWN = {"normal": normal, "uniform": uniform, "range": between}
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


class RawAxis(TypedDict):
    """An axis as a person fills it in."""

    name: str
    kind: Literal["range", "list", "normal", "uniform"]
    first: str
    second: str
    count: str
    values: str


class RawForm(TypedDict):
    """A study as a person fills it in."""

    axes: list[RawAxis]
    design: str
    n: str
    keep: list[str]
    until: str


class FieldError(TypedDict):
    """What is wrong with a field of the form: its path, such as ``axes.0.first``, and words."""

    field: str
    message: str


class StudyDim(TypedDict):
    """A dimension of the results."""

    name: str
    length: int


class ShownUnit(TypedDict):
    """A unit as pages use it: the number that is shown is that in SI through the factor."""

    unit: str
    factor: float


class StudyAxis(TypedDict):
    """What varies along a dimension, in SI."""

    name: str
    title: str
    unit: str
    dim: str
    values: list[float]
    shown: ShownUnit


class KeptResult(TypedDict):
    """What is kept of each run."""

    text: str
    unit: str
    bySize: bool


class StudyDescription(TypedDict):
    """What the runs of a study have."""

    dims: list[StudyDim]
    axes: list[StudyAxis]
    kept: list[KeptResult]
    runs: int
    until: float | None  # s; null where the model gives times in its place


class VaryingName(TypedDict):
    """What can vary, with a range to begin with."""

    name: str
    role: str
    unit: str
    value: float | None
    first: str
    second: str
    words: str


class StudyChoices(TypedDict):
    """All that the form of a study begins with."""

    names: list[VaryingName]
    quantities: list[str]
    reductions: list[str]
    keep: list[str]
    until: str
    designs: list[str]
    count: int
    n: int


@dataclass(frozen=True)
class FormAxis:
    """One axis as it was filled in."""

    name: str
    kind: str
    first: str
    second: str
    count: int
    values: tuple[str, ...]

    def is_drawn(self, design: str) -> bool:
        """Whether its values are samples in a design."""
        return self.kind in ("normal", "uniform") or (design != "grid" and self.kind == "range")

    def given(self, design: str) -> list[str] | Distribution:
        """Its values as ``over=`` of `kn.sweep` takes them."""
        if self.is_drawn(design):
            return DRAWN[self.kind](self.first, self.second)
        if self.kind == "list":
            return list(self.values)
        spaced: list[str] = read_axis_text(f"{self.name}={self.first}..{self.second}:{self.count}")[1]
        return spaced

    @property
    def unit(self) -> str:
        """The unit that its values were typed in; empty for SI."""
        return _unit(self.values[0] if self.kind == "list" and self.values else self.first)

    def texts(self) -> dict[str, str]:
        """The texts that are values, by the field that holds each."""
        if self.kind == "list":
            return {f"values.{k}": text for k, text in enumerate(self.values)}
        return {"first": self.first, "second": self.second}


@dataclass(frozen=True)
class StudyForm:
    """A study as it was filled in."""

    axes: tuple[FormAxis, ...]
    design: str
    n: int
    keep: tuple[str, ...]
    until: str

    @property
    def samples(self) -> int | None:
        """How many samples there are; None in a grid."""
        return self.n if any(axis.is_drawn(self.design) for axis in self.axes) else None

    @property
    def runs(self) -> int:
        """How many runs it takes."""
        count = self.samples or 1
        for axis in self.axes:
            if not axis.is_drawn(self.design):
                count *= len(axis.values) if axis.kind == "list" else axis.count
        return count

    def over(self) -> dict[str, list[str] | Distribution]:
        """What varies."""
        return {axis.name: axis.given(self.design) for axis in self.axes}

    def options(self) -> Plain:
        """The arguments ``keep``, ``design`` and ``n`` of `kn.sweep`."""
        options: Plain = {"keep": list(self.keep)}
        return options if self.samples is None else {**options, "design": self.design, "n": self.n}


# -- reading ---------------------------------------------------------------------------------------
def read_form(raw: RawForm) -> tuple[StudyForm, list[FieldError]]:
    """The form that a page sent, and all that is wrong with it before the model is asked."""
    errors: list[FieldError] = []
    design = raw["design"] or "grid"
    if design not in DESIGNS:
        errors.append(
            FieldError(field="design", message=f"one of {', '.join(DESIGNS)} is expected, not {design!r:.40}")
        )
        design = "grid"
    axes = [_read_axis(f"axes.{k}", each, design, errors) for k, each in enumerate(raw["axes"])][:MOST_AXES]
    if not axes:
        errors.append(
            FieldError(field="axes", message="nothing varies: choose a parameter, an input or an initial value")
        )
    for k, axis in enumerate(axes):
        if axis.name and axis.name in [before.name for before in axes[:k]]:
            errors.append(FieldError(field=f"axes.{k}.name", message=f"{axis.name} stands twice"))
    keep = _read_keep(raw["keep"], errors)
    n = _whole(raw["n"], 1, MOST_RUNS)
    form = StudyForm(tuple(axes), design, n or 1, keep, _text(raw["until"]))
    if n is None and design != "grid":
        errors.append(FieldError(field="n", message=f"a number of samples from 1 to {MOST_RUNS} is expected"))
    if design != "grid" and axes and form.samples is None:
        errors.append(FieldError(field="design", message="all values are lists: samples need a range, or a spread"))
    if not errors and form.runs > MOST_RUNS:
        words = f"these are {form.runs} runs; the page makes up to {MOST_RUNS}, the command as many as you like"
        errors.append(FieldError(field="axes", message=words))
    return form, errors


def _read_axis(field: str, raw: RawAxis, design: str, errors: list[FieldError]) -> FormAxis:
    name, kind = _text(raw["name"]), raw["kind"]
    if not name:
        errors.append(FieldError(field=f"{field}.name", message="what varies? Choose a name"))
    if kind in ("normal", "uniform") and design == "grid":
        errors.append(
            FieldError(field=f"{field}.kind", message="values that are drawn need a design of samples, not a grid")
        )
    first, second = _same_unit(_text(raw["first"]), _text(raw["second"]))
    values = tuple(text for each in raw["values"].split(",")[: MOST_VALUES + 1] if (text := _text(each)))
    if kind == "list" and not 0 < len(values) <= MOST_VALUES:
        errors.append(FieldError(field=f"{field}.values", message="values are expected, with commas between them"))
    for word, text in (("first", first), ("second", second)) if kind != "list" else ():
        if _NUMBER.match(text) is None:
            errors.append(FieldError(field=f"{field}.{word}", message="a number is expected, with or without a unit"))
    count = _whole(raw["count"], 2, MOST_RUNS)
    if count is None and kind == "range" and design == "grid":
        errors.append(FieldError(field=f"{field}.count", message=f"a whole number from 2 to {MOST_RUNS} is expected"))
    return FormAxis(name, kind, first, second, count or 2, values)


def _read_keep(raw: list[str], errors: list[FieldError]) -> tuple[str, ...]:
    keep = tuple(_text(each) for each in raw[:MOST_KEPT])
    for k, text in enumerate(keep):
        if not text:
            errors.append(
                FieldError(field=f"keep.{k}", message="what is kept? A quantity and how it is reduced: elbow.u|peak")
            )
        elif "|" not in text:
            errors.append(
                FieldError(field=f"keep.{k}", message=f"what of {text} is kept? Write {text}|peak, or another number")
            )
        elif text in keep[:k]:
            errors.append(FieldError(field=f"keep.{k}", message=f"{text} stands twice"))
    if not keep:
        errors.append(FieldError(field="keep", message="nothing is kept: add a quantity"))
    return keep


def _text(raw: str) -> str:
    return raw.strip()[:LONGEST]


def _whole(raw: str, least: int, most: int) -> int | None:
    try:
        number = float(raw)
    except ValueError:
        return None
    return int(number) if number.is_integer() and least <= number <= most else None


def _same_unit(first: str, second: str) -> tuple[str, str]:
    """Both ends with the unit of the one that has it."""
    units = [_unit(first), _unit(second)]
    if units[0] and not units[1] and _NUMBER.fullmatch(second):
        return first, f"{second} {units[0]}"
    if units[1] and not units[0] and _NUMBER.fullmatch(first):
        return f"{first} {units[1]}", second
    return first, second


def _unit(text: str) -> str:
    try:
        quantity = parse_quantity(text)
    except Error:
        return ""
    return "" if quantity is None else quantity.unit_text


# -- the same elsewhere ----------------------------------------------------------------------------
def write_command(form: StudyForm, file: str) -> str:
    """The command that makes the same study of a file."""
    words = ["kinode", "sweep", file]
    for axis in form.axes:
        if axis.kind == "list":
            values = ",".join(axis.values)
        elif axis.kind != "range":
            values = f"{axis.kind}({axis.first}, {axis.second})"
        else:
            values = f"{axis.first}..{axis.second}" + ("" if axis.is_drawn(form.design) else f":{axis.count}")
        words += ["--over", f"{axis.name}={values}"]
    for text in form.keep:
        words += ["--keep", text]
    words += ["--until", form.until] if form.until else []
    words += [] if form.samples is None else ["--design", form.design, "-n", str(form.n)]
    return shlex.join(words)


def write_call(form: StudyForm, file: str) -> str:
    """The lines of Python that make the same study of a file."""
    spaced = any(axis.kind == "range" and not axis.is_drawn(form.design) for axis in form.axes)
    lines = [*(["import numpy as np", ""] if spaced else []), "import kinode as kn", "", "over = {"]
    lines += [f"    {axis.name!r}: {_write_values(axis, form.design)},".replace("'", '"') for axis in form.axes]
    keep = ", ".join(f'"{text}"' for text in form.keep)
    arguments = [f'"{file}"', "over", *([f'"{form.until}"'] if form.until else []), f"keep=[{keep}]"]
    arguments += [] if form.samples is None else [f'design="{form.design}"', f"n={form.n}"]
    return "\n".join([*lines, "}", f"study = kn.sweep({', '.join(arguments)})", "print(study)", ""])


def _write_values(axis: FormAxis, design: str) -> str:
    if axis.kind == "list":
        return repr(list(axis.values))
    if axis.is_drawn(design):
        word = "between" if axis.kind == "range" else axis.kind
        return f"kn.{word}({axis.first!r}, {axis.second!r})"
    numbers = [_NUMBER.match(text) for text in (axis.first, axis.second)]
    first, second = ("0" if number is None else number.group() for number in numbers)
    unit = _unit(axis.first)
    spaced = f"np.linspace({first}, {second}, {axis.count})"
    return f"[f'{{x}} {unit}' for x in {spaced}]" if unit else spaced


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


def describe_choices(system: System, draft: ModelDraft, start: Mapping[str, float]) -> StudyChoices:
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


def _describe(system: System, draft: ModelDraft, name: str, role: str, start: Mapping[str, float]) -> VaryingName:
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
