"""Reading the fields of a component, and of records within them, from what a user or a file gives.

A number may be a plain one, text with a unit, or arithmetic with parameters; a law may be a function too.  Every error
names the component and the field.
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
    find_expressions,
    missing_fields,
    short,
    unknown,
    unknown_fields,
)


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
                fields[field.name] = self.read(cls, name, spec, value)
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

    def read(self, cls: type[Component], name: str, spec: Spec, raw: Any) -> Any:
        """One field."""
        if spec.shape == "number":
            return self.number(raw, spec.dimension, name)
        if spec.shape == "law":
            return self.law(raw, spec.dimension, name)
        if spec.shape == "vector":
            return self.vector(raw, spec.dimension, name)
        if spec.shape == "laws":
            return self.sequence(raw, 3, name, lambda item: self.law(item, spec.dimension, name))
        if spec.shape == "frame":
            return self.frame(raw, name)
        if spec.shape == "choice":
            if not isinstance(raw, str) or raw not in spec.choices + spec.former:
                raise self.fail(name, f"{short(raw)} is not one of {', '.join(spec.choices)}")
            return raw
        if spec.shape in ("text", "joint"):
            return self.text(raw, name)
        if spec.record is not None:
            return spec.record.read(self, raw, name, cls)
        reader = getattr(cls, f"read_{spec.shape}")
        return reader(self, raw, name, spec)

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

    def check_at(self, reader: Reader, field: str, resolve: Callable[[Any], Any]) -> None:
        """The same where numbers are arithmetic with parameters, at the values that ``resolve`` gives these."""
        given = self.given()
        if any(True for _ in find_expressions(given)):
            known = {
                name: tuple(map(resolve, value)) if isinstance(value, tuple) else resolve(value)
                for name, value in given.items()
            }
            dataclasses.replace(self, **known).check(reader, field)
