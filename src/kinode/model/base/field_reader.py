"""Fields of components: the reader of what a user or a file gives, records within fields, and the kinds of fields.

A number may be a plain one, text with a unit, or arithmetic with parameters; a law may be a function too.  Every error
names the component and the field.

A field is declared with the word of its kind, ``special("axis", ...)``.  By that a kind is known everywhere: in Python,
in files and their schema, in signatures, in the studio, to renaming and live numbers.  Those of frames, bodies, joints
and ports stand with these.  A word of a plug-in is read by the class's method ``read_<word>``.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from kinode.errors import LawError, ModelError, UnitError
from kinode.expressions.dimensions import check_plain_length
from kinode.expressions.syntax_tree import Expression
from kinode.expressions.units import (
    Dimension,
    Quantity,
    check_dimension,
    parse_quantity,
    parse_si_unit,
    parse_unit,
    refuse_bare_angle,
)
from kinode.model.base.fields import (
    Component,
    Spec,
    Value,
    Vector,
    missing_fields,
    short,
    unknown,
    unknown_fields,
)
from kinode.model.base.value_walk import XYZ, Form, ValueWalk


class Reader:
    """Reads the raw fields of one component; it knows the names of the system for its error messages."""

    def __init__(
        self,
        component: str,
        *,
        parameters: Mapping[str, Any],
        tables: Collection[str],
        frame: Callable[[Any], Any],
        symbols: Callable[[], Any],
    ) -> None:
        self.component = component
        self.parameters = parameters
        self.tables = tables
        self._frame = frame
        self._symbols = symbols

    def fail(self, field: str | None, message: str) -> ModelError:
        return ModelError(message, component=self.component, field=field)

    def read_component(self, cls: type[Component], raw: Mapping[str, Any]) -> dict[str, Any]:
        """All declared fields of a component from what was given; defaults fill the rest."""
        raw = cls.gather(self, raw)
        self.check_given(cls, raw)
        specs, fields = cls.specs(), dict[str, Any]()
        for name, value in raw.items():
            field, spec = specs[name]
            if value is not None or field.default is not None:
                fields[field.name] = spec.kind.read(self, value, name, spec, cls)
        return fields

    def check_given(self, cls: type[Component], given: Mapping[str, Any]) -> None:
        """Refuse names that are no fields, and name all fields that are missing."""
        specs = cls.specs()
        if not specs.keys() >= given.keys():
            wrong = [name for name in given if name not in specs]
            known = (*specs, *cls.alternative_fields)
            raise self.fail(str(wrong[0]), unknown_fields(f"a {cls.kind or cls.sort()}", wrong, known))
        missing = [name for name in cls.required_fields() if name not in given]
        if len(missing) == 1:
            raise self.fail(missing[0], "is needed and was not given")
        if missing:
            raise self.fail(None, missing_fields(missing))

    def text(self, raw: Any, field: str) -> str:
        """A word or a sentence; a component stands for its name."""
        raw = raw.name if isinstance(raw, Component) else raw
        if not isinstance(raw, str):
            raise self.fail(field, f"text is expected, not {short(raw)}")
        return raw

    def unit(self, raw: Any) -> Dimension | None:
        """The dimension that an SI unit measures; none if no unit is given."""
        if raw is None:
            return None
        try:
            text = self.text(raw, "unit")
            check_plain_length(text, parse_si_unit(text), parse_unit(text).angular)
            return parse_si_unit(text)
        except UnitError as error:
            raise error.located(component=self.component, field="unit") from None

    def frame(self, raw: Any, field: str) -> Any:
        """A body, or a frame on one."""
        try:
            return self._frame(raw)
        except ModelError as error:
            raise error.located(component=self.component, field=field) from None

    def number(self, raw: Any, dimension: str | Dimension | None, field: str) -> Value:
        """A constant: a number, a quantity, or arithmetic with declared parameters."""
        if type(raw) is float and math.isfinite(raw):
            return raw
        value = self._value(raw, dimension, field)
        if isinstance(value, Expression):
            for name in sorted(value.names()):
                if name not in self.parameters:
                    raise self._unknown_name(value, name, field)
            if value.calls():
                raise self.fail(field, f"a table cannot be used in a constant: {value.text()}")
            self._check_expression(value, dimension, field)
        return value

    def law(self, raw: Any, dimension: str | Dimension | None, field: str) -> Value:
        """A law; its names are checked once the whole system is known."""
        if callable(raw) and not isinstance(raw, Expression):
            raw = self._call(raw, field)
        return self._value(raw, dimension, field)

    def _call(self, function: Callable[[Any], Any], field: str) -> Any:
        """The expression that a law written as a Python function returns for symbols."""
        hint = "it is given symbols s, once: s.t, s['elbow.q'], for kn.sin, kn.where and so on"
        symbols = self._symbols()
        try:
            result = function(symbols)
        except ModelError as error:
            raise error.located(component=self.component, field=field) from None
        except Exception as error:  # whatever a user's function may raise
            message = f"the law's function fails with {type(error).__name__}: {error}; {hint}"
            raise LawError(message, component=self.component, field=field) from error
        if result is symbols:
            raise LawError(f"the law's function returns no number; {hint}", component=self.component, field=field)
        return result

    def _value(self, raw: Any, dimension: str | Dimension | None, field: str) -> Value:
        from kinode.expressions.parser import parse

        if isinstance(raw, Expression):
            return raw
        if isinstance(raw, bool) or raw is None:
            raise self.fail(field, f"a number is expected, not {raw!r}")
        if isinstance(raw, (int, float, np.integer, np.floating)):
            if not math.isfinite(raw):
                raise self.fail(field, f"must be finite, not {raw}")
            return float(raw)
        if not isinstance(raw, str):
            raise self.fail(field, f"a number is expected, not {short(raw)}")
        try:
            quantity = parse_quantity(raw)
            if quantity is not None:
                if dimension is not None:
                    return check_dimension(quantity, dimension, field=field, component=self.component)
                return quantity.value_si
            if dimension == "angle":
                refuse_bare_angle(raw)
            return parse(raw, self.tables)
        except (LawError, UnitError) as error:
            raise error.located(component=self.component, field=field) from None

    def _check_expression(self, value: Expression, dimension: str | Dimension | None, field: str) -> None:
        try:
            dimension_of_value = value.dimension(lambda name: self.parameters[name].dimension)
        except UnitError as error:
            raise error.located(component=self.component, field=field) from None
        if dimension_of_value is not None and dimension is not None:
            quantity = Quantity(0.0, dimension_of_value, "", text=value.text())
            check_dimension(quantity, dimension, field=field, component=self.component)

    def _unknown_name(self, value: Expression, name: str, field: str) -> LawError:
        from kinode.expressions.parser import locate

        text = value.text()
        changes = "; it stays the same in a run: a number or arithmetic with parameters is expected, no law"
        return LawError(
            unknown("no parameter is called", name, self.parameters) + changes * (name == "t" or "." in name),
            text=text,
            position=locate(text, name),
            component=self.component,
            field=field,
        )

    def laws(self, raw: Any, dimension: str | None, field: str) -> tuple[Value, ...]:
        """Three laws."""
        return self.sequence(raw, 3, field, lambda item: self.law(item, dimension, field))

    def flag(self, raw: Any, field: str) -> bool:
        if not isinstance(raw, bool):
            raise self.fail(field, f"is true or false, not {short(raw)}")
        return raw

    def sequence(self, raw: Any, count: int, field: str, read: Callable[[Any], Any]) -> tuple[Any, ...]:
        """A tuple of ``count`` items."""
        if isinstance(raw, np.ndarray):
            raw = raw.tolist()
        numbers = f"{count} numbers are" if count > 1 else "one number is"
        if isinstance(raw, (str, Mapping)) or not isinstance(raw, Sequence):
            raise self.fail(field, f"{numbers} expected, not {short(raw)}")
        split = any(isinstance(item, str) and item.count("(") > item.count(")") for item in raw)
        if split and len(raw) > 1:
            raise self.fail(field, f"{numbers} expected; a law was split at its comma: quote the law")
        if len(raw) != count:
            raise self.fail(field, f"{numbers} expected, not {len(raw)}")
        return tuple(read(item) for item in raw)

    def vector(self, raw: Any, dimension: str | None, field: str) -> Vector:
        if type(raw) is tuple and len(raw) == 3:
            x, y, z = raw
            if type(x) is type(y) is type(z) is float and math.isfinite(x + y + z):
                return raw
        values = self.sequence(raw, 3, field, lambda item: self.number(item, dimension, field))
        return (values[0], values[1], values[2])


@dataclasses.dataclass(frozen=True)
class Nested:
    """A record within a field, such as a friction or a stop, declared as components are and given as a mapping.

    What its fields take may depend on the kind of component that it belongs to, its ``owner``: a joint says what an
    effort is along its freedom.
    """

    shape: ClassVar[str] = ""  # of the fields that hold it
    word: ClassVar[str] = ""  # under which its fields stand in files, {coulomb: {...}}

    @classmethod
    def specs(cls) -> dict[str, Spec]:
        """What its fields take, by name."""
        return {field.name: field.metadata["spec"] for field in dataclasses.fields(cls) if "spec" in field.metadata}

    @classmethod
    def dimensions(cls, owner: type[Component]) -> dict[str, str | None]:
        """The fields that it takes in a kind of component, in the order of messages, with their dimensions."""
        return {name: owner.dimension_of(spec) for name, spec in cls.specs().items()}

    def given(self) -> dict[str, Any]:
        """The fields that differ from their defaults, by name."""
        values = ((field, getattr(self, field.name)) for field in dataclasses.fields(self) if field.compare)
        return {field.name: value for field, value in values if value != field.default}

    @classmethod
    def schema(cls, owner: type[Component], numbers: dict[str, Any]) -> dict[str, Any]:
        """The JSON schema of what a kind of component takes, of which ``numbers`` is the one of its numbers by name."""
        if not cls.word:
            return {"oneOf": [{"type": "null"}, numbers]}
        return {
            "type": "object",
            "properties": {cls.word: numbers},
            "additionalProperties": False,
            "required": [cls.word],
        }

    # -- reading -----------------------------------------------------------------------------------
    @classmethod
    def read(cls, reader: Reader, raw: Any, field: str, owner: type[Component]) -> Self:
        """The record that a mapping gives, or one that was read before."""
        cls.check_owner(reader, field, owner)
        takes, values = cls.dimensions(owner), dict[str, Any]()
        given = raw.given() if isinstance(raw, cls) else cls.find_fields(reader, raw, field, tuple(takes))
        for name, value in given.items():
            if name not in takes:
                raise reader.fail(f"{field}.{name}", cls.no_field(name, tuple(takes), field, owner))
            if value is not None:
                values[name] = cls.read_field(reader, value, name, f"{field}.{name}", takes[name])
        record = cls(**values)
        record.check(reader, field)
        return record

    @classmethod
    def check_owner(cls, reader: Reader, field: str, owner: type[Component]) -> None:
        """Refuse a kind of component that takes no such record."""

    @classmethod
    def find_fields(cls, reader: Reader, raw: Any, field: str, takes: tuple[str, ...]) -> Mapping[str, Any]:
        """The fields in what was given."""
        if not isinstance(raw, Mapping):
            raise reader.fail(field, f"takes {', '.join(takes)}, not {short(raw)}")
        return raw

    @classmethod
    def no_field(cls, name: Any, takes: Sequence[str], field: str, owner: type[Component]) -> str:
        """What to say about a name that is no field."""
        return unknown(f"{field} has no", name, takes)

    @classmethod
    def read_field(cls, reader: Reader, raw: Any, name: str, field: str, dimension: str | None) -> Any:
        """One field, a number; ``field`` is the path to it."""
        return reader.number(raw, dimension, field)

    # -- checking ----------------------------------------------------------------------------------
    def check(self, reader: Reader, field: str) -> None:
        """Refuse impossible numbers, as far as numbers are known."""
        given = self.given()
        for name, spec in self.specs().items():
            value, allowed = given.get(name), spec.range
            for number in value if isinstance(value, tuple) else (value,):
                if allowed is not None and isinstance(number, float) and not allowed.holds(number):
                    raise reader.fail(f"{field}.{name}", allowed.refuse(number, "not"))
        self.check_together(reader, field)

    def check_together(self, reader: Reader, field: str) -> None:
        """Refuse numbers that contradict each other."""


# -- schema ----------------------------------------------------------------------------------------
Schema = dict[str, Any]


def ref(name: str, description: str | None = None) -> Schema:
    reference: Schema = {"$ref": f"#/$defs/{name}"}
    return reference if description is None else {**reference, "description": description}


def object_of(names: tuple[str, ...], special: Mapping[str, Schema], required: list[str] | None = None) -> Schema:
    properties = {name: special.get(name, {}) for name in names}
    result: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**result, "required": required} if required else result


def array_of(entry: Schema, least: int, most: int | None = None) -> Schema:
    result: Schema = {"type": "array", "items": entry, "minItems": least}
    return result if most is None else {**result, "maxItems": most}


def one_of(*entries: Schema) -> Schema:
    return {"oneOf": list(entries)}


def whole_from(least: int) -> Schema:
    return {"type": "integer", "minimum": least}


def mapping_of(entry: Schema) -> Schema:
    return {"type": "object", "additionalProperties": entry}


TEXT: Schema = {"type": "string"}
TIME: Schema = {"type": ["number", "string"]}
PAIR: Schema = {"type": "array", "minItems": 2, "maxItems": 2}

# -- kinds -----------------------------------------------------------------------------------------
IN_FRAMES, IN_JOINTS, IN_PORTS, IN_LAWS = "frame", "joint", "port", "law"  # what the names in a value are
Take = Callable[[Reader, Any, str, Spec], Any]
KINDS: dict[str, FieldKind] = {}


@dataclasses.dataclass(eq=False)
class FieldKind:
    """A kind of fields, known by its word; without a reader, a class with such a field has one, ``read_<word>``."""

    word: str
    type_name: str = "Any"
    words: str = ""  # what it takes, for people
    entry: Schema = dataclasses.field(default_factory=dict)  # of the JSON schema
    take: Take | None = None  # reads it where the class has no method for it
    step: Callable[[ValueWalk, Any, Any], Any] | None = None  # a walk of its own over a value
    names: str | None = IN_LAWS  # what names in its text refer to; None where texts are no names
    first: str = ""  # what a person could begin with, where no dimension tells
    acts: bool = False  # along coordinates or over time; all others define geometry and inertia
    connects: bool = False  # whether a component is connected to it, so that it stands first in its shortcut
    form: Form = Form.PLAIN  # how its numbers enter the equations
    parts: tuple[str, ...] = ()  # the names of its entries; their positions if there are none

    def __post_init__(self) -> None:
        self.words = self.words or self.word.replace("_", " ")
        self._readers: dict[type[Component], Take] = {}
        KINDS[self.word] = self

    @property
    def refers(self) -> bool:
        """Whether its texts are names of frames, joints or nodes."""
        return self.names not in (None, IN_LAWS)

    def read(self, reader: Reader, raw: Any, name: str, spec: Spec, cls: type[Component]) -> Any:
        """The value that was given."""
        take = self._readers.get(cls)
        if take is None:
            own = f"read_{self.word}"
            take = self._readers[cls] = getattr(cls, own) if self.take is None else getattr(cls, own, self.take)
        return take(reader, raw, name, spec)

    def write(self, name: str, value: Any, writer: Any) -> Mapping[str, Any]:
        """The keys and values that stand in a file for it; ``writer`` gives values and frames in plain form."""
        return {name: writer.name(value) if self.refers and isinstance(value, str) else writer.plain(value)}

    def schema(self, cls: type[Component], spec: Spec) -> Schema:
        """What a file may hold."""
        return self.entry

    def type_for(self, spec: Spec) -> str:
        """The name of the type that it takes."""
        return self.type_name

    def words_for(self, spec: Spec) -> str:
        """What it takes, in words."""
        return self.words

    def walk(self, value: Any, walk: ValueWalk, at: Any, owner: Component) -> Any:
        """The value after a walk."""
        if self.step is not None:
            return self.step(walk, value, at)
        if self.names in (IN_JOINTS, IN_PORTS) and isinstance(value, str):
            return walk.name(value, at, self)
        return walk.value(value, at, self.parts)


class ChoiceKind(FieldKind):
    """One word out of several."""

    def read(self, reader: Reader, raw: Any, name: str, spec: Spec, cls: type[Component]) -> Any:
        if not isinstance(raw, str) or raw not in spec.choices + spec.former:
            raise reader.fail(name, f"{short(raw)} is not one of {', '.join(spec.choices)}")
        return raw

    def schema(self, cls: type[Component], spec: Spec) -> Schema:
        return {"enum": [*spec.choices, *spec.former]}

    def type_for(self, spec: Spec) -> str:
        return f"Literal[{', '.join(repr(word) for word in spec.choices)}]"

    def words_for(self, spec: Spec) -> str:
        return "{" + ", ".join(repr(word) for word in spec.choices) + "}"


class RecordKind(FieldKind):
    """A record with fields of its own."""

    def read(self, reader: Reader, raw: Any, name: str, spec: Spec, cls: type[Component]) -> Any:
        assert spec.record is not None
        return spec.record.read(reader, raw, name, cls)

    def schema(self, cls: type[Component], spec: Spec) -> Schema:
        """That of its numbers, as the record takes them."""
        assert spec.record is not None
        takes = tuple(spec.record.dimensions(cls))
        return spec.record.schema(cls, object_of(takes, dict.fromkeys(takes, ref("number"))))

    def walk(self, value: Any, walk: ValueWalk, at: Any, owner: Component) -> Any:
        dimensions = value.dimensions(type(owner))
        return walk.parts(value, at, {name: dimensions.get(name) for name in value.__dataclass_fields__})


class RotationKind(FieldKind):
    """A rotation, whose form is its key in a file."""

    def write(self, name: str, value: Any, writer: Any) -> Mapping[str, Any]:
        return {value[0]: writer.plain(value[1])}


class FunctionKind(FieldKind):
    """A function in Python, which no file holds."""

    def write(self, name: str, value: Any, writer: Any) -> Mapping[str, Any]:
        return {}


def measured(read: Callable[[Reader, Any, Any, str], Any]) -> Take:
    """A reader of what has a dimension."""
    return lambda reader, raw, name, spec: read(reader, raw, spec.dimension, name)


def plainly(read: Callable[[Reader, Any, str], Any]) -> Take:
    """A reader of what has none."""
    return lambda reader, raw, name, spec: read(reader, raw, name)


def _turns(walk: ValueWalk, value: Any, at: Any) -> Any:
    return walk.pairs(value, (at.at(str(k), "angle", Form.TURN) for k in range(len(value))))


def _frames(word: str, *, connects: bool = False) -> FieldKind:
    """A kind of frames."""
    take = plainly(Reader.frame)
    return FieldKind(word, "FrameLike", "frame", ref("frame"), take, names=IN_FRAMES, connects=connects)


class NamedKind(FieldKind):
    """Values by name, kept as pairs."""

    def write(self, name: str, value: Any, writer: Any) -> Mapping[str, Any]:
        return {name: {key: writer.plain(item) for key, item in value}}

    def walk(self, value: Any, walk: ValueWalk, at: Any, owner: Component) -> Any:
        return walk.pairs(value, (at.at(key) for key, _ in value))


_NUMBERS, _AXES = (ref("number"), array_of(ref("number"), 1)), array_of(ref("axis"), 2, 2)
NUMBER = FieldKind("number", "NumberLike", "", ref("number"), measured(Reader.number))
LAW = FieldKind("law", "LawLike", "", ref("law"), measured(Reader.law), acts=True)
FRAME, BASE, TAKER = _frames("frame", connects=True), _frames("base"), _frames("taker")
_frames("axes_of")
BODIES = FieldKind("bodies", entry=one_of(ref("frame"), array_of(ref("frame"), 1)), names=IN_FRAMES)
JOINT = FieldKind("joint", "JointLike", "", TEXT, plainly(Reader.text), names=IN_JOINTS, connects=True)
FieldKind("rotor_inertia", "NumbersLike", "number or 2 numbers", first="1e-4 kg*m^2")
CODE_FILE = FieldKind("code_file", "FileLike", "path", TEXT)
FLAG = FieldKind("flag", "bool", "bool", {"type": "boolean"}, plainly(Reader.flag), names=None)
_LAWS = one_of(ref("law"), array_of(ref("law"), 1))
INPUT_LAWS = FieldKind("input_laws", "CoordinateLawsLike", "law or laws", _LAWS, first="0")
FieldKind("vector", "VectorLike", "3 numbers", ref("vector"), measured(Reader.vector), first="[0, 0, 0]", parts=XYZ)
FieldKind("laws", "LawsLike", "3 laws", ref("laws"), measured(Reader.laws), first="[0, 0, 0]", acts=True, parts=XYZ)
ChoiceKind("choice", names=None)
FieldKind("text", "str", "", TEXT, plainly(Reader.text), names=None)
FieldKind("words", "WordsLike", "names", one_of(TEXT, array_of(TEXT, 1)), names=None)
FieldKind("axes", "AxesLike", "2 axes", _AXES, form=Form.AXIS)
FieldKind("turns", "TurnsLike", "pairs of axis and law", array_of(PAIR, 1), step=_turns)
RotationKind("rotation", "RotationLike", step=lambda walk, value, at: walk.rotation(value, at))
RecordKind("friction", "FrictionLike", "kn.coulomb(...)", acts=True)
RecordKind("ends", "EndsLike", "mapping of numbers")
RecordKind("limits", "LimitsLike", "2 numbers, or mapping")
RecordKind("compliance", "ComplianceLike", "mapping of numbers")
FieldKind("numbers", "NumbersLike", "", one_of(*_NUMBERS), first="[1]", form=Form.SCALED)
FieldKind("matrix", "MatrixLike", "", one_of(*_NUMBERS, array_of(_NUMBERS[1], 1)), first="[[1]]")
FunctionKind("function", "FunctionLike", "", {"type": "null"}, names=None)
NamedKind("named_laws", "NamedLawsLike", "mapping of laws", mapping_of(ref("law")), first="{value: 0}")
NamedKind("named_numbers", "NamedNumbersLike", "mapping of numbers", mapping_of(ref("number")))
NamedKind("fmu_outputs", "NamedVariablesLike", "names", one_of(TEXT, array_of(TEXT, 1), mapping_of(TEXT)))
