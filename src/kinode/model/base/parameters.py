"""The small records: parameters, inputs, signals, tables, defaults of a run."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

from kinode.errors import LawError
from kinode.expressions.dimensions import check_plain_length
from kinode.expressions.syntax_tree import Expression
from kinode.expressions.units import DIMENSIONLESS, Dimension, parse_quantity
from kinode.model.base.field_reader import FieldKind, Reader, array_of, plainly, ref, whole_from
from kinode.model.base.fields import Component, Spec, Value, Values, choice, declare, number, record, short, special
from kinode.ode.method_table import FORMER_METHODS, METHODS, name_fixed

if TYPE_CHECKING:
    from kinode.expressions.lookup_tables import Table
    from kinode.model.system import System

HIDDEN = "live:"
"""Before the names of hidden parameters of live numbers, which no law can write."""


@record
class Parameter(Component):
    """A number with a name; an argument of the compiled code, so that changing it compiles nothing."""

    section: ClassVar[str] = "parameters"
    bare_values: ClassVar[Mapping[str, Spec]] = {"value": Spec("number")}
    value: Value = 0.0
    dimension: Dimension | None = None
    bounds: tuple[float, float] | None = None
    note: str = ""
    angle: bool = False  # its unit is that of an angle


def is_hidden(name: str) -> bool:
    """Whether a parameter is the hidden one of a live number."""
    return name.startswith(HIDDEN)


@record
class Input(Component):
    """A number that comes from outside: a control, an FMU's input; ``value`` holds until one comes."""

    section: ClassVar[str] = "inputs"
    symbol: ClassVar[str] = "input"
    bare_values: ClassVar[Mapping[str, Spec]] = {"value": Spec("number")}
    value: Value = 0.0
    dimension: Dimension | None = None
    angle: bool = False  # as of a parameter


@record
class Signal(Component):
    """A named law."""

    section: ClassVar[str] = "signals"
    symbol: ClassVar[str] = "signal"
    bare_values: ClassVar[Mapping[str, Spec]] = {"law": Spec("law", None, "its law")}
    law: Value = 0.0


@record
class TableRecord(Component):
    """A table that laws can call."""

    section: ClassVar[str] = "tables"
    table: Table


def _read_times(reader: Reader, raw: Any, field: str) -> Values:
    if not isinstance(raw, (list, tuple)) or len(raw) < 2:
        raise reader.fail(field, "takes two or more times, increasing")
    times = reader.sequence(raw, len(raw), field, lambda item: _plain(reader, item, "time", field))
    if any(b <= a for a, b in pairwise(times)):
        raise reader.fail(field, "must increase")
    return times


def _read_samples(reader: Reader, raw: Any, field: str) -> int:
    raw = int(raw) if isinstance(raw, float) and raw.is_integer() else raw  # files have no whole numbers
    if isinstance(raw, bool) or not isinstance(raw, int) or raw < 2:
        raise reader.fail(field, f"takes a whole number of times, 2 or more, not {short(raw)}")
    return raw


FieldKind("times", "VectorLike", "numbers", array_of(ref("number"), 2), plainly(_read_times))
FieldKind("samples", "int", "int", whole_from(2), plainly(_read_samples), names=None)


@record
class RunDefaults(Component):
    """How a model is simulated where the caller says nothing else."""

    section: ClassVar[str] = "run"
    until: Value | None = number("time", "end of the simulation", None)
    t0: Value | None = number("time", "start of the simulation", None)
    step: Value | None = number("time", f"step of {name_fixed()}, or largest step", None)
    method: str | None = choice(METHODS, "integration method", None, former=FORMER_METHODS)
    rtol: Value | None = number("dimensionless", "relative tolerance", None)
    atol: Value | None = number(None, "absolute tolerance", None)
    times: Values | None = special("times", "times of output, increasing")
    n_samples: int | None = declare(
        None, Spec("samples", None, "number of evenly spaced times of output", public="samples")
    )
    every: Value | None = number("time", "spacing of the times of output", None)

    @classmethod
    def read_all(cls, reader: Reader, raw: Any) -> dict[str, Any]:
        """The given defaults, checked, as plain numbers."""
        if not isinstance(raw, Mapping):
            raise reader.fail(None, f"takes {', '.join(cls.specs())}")
        given = cls("run", **reader.read_component(cls, raw)).given()
        for field, value in given.items():
            if isinstance(value, Expression):
                raise reader.fail(field, f"a plain number is expected, not {value.excerpt()}")
            if field in ("step", "rtol", "atol", "every") and value <= 0:
                raise reader.fail(field, f"must be positive, not {value:g}")
        outputs = [field for field in ("times", "samples", "every") if field in given]
        if len(outputs) > 1:
            raise reader.fail(outputs[1], f"give one of {', '.join(outputs)}: each says which times are kept")
        if "until" in given and given["until"] <= given.get("t0", 0.0):
            raise reader.fail("until", f"must come after the start, {given.get('t0', 0.0):g} s")
        return given


class Symbols:
    """What a law written as a Python function is given: ``s.t``, ``s["elbow.q"]``."""

    def __init__(self) -> None:
        self.t = Expression("name", ("t",))

    def __getitem__(self, name: str) -> Expression:
        from kinode.expressions.parser import parse

        expression = parse(name)
        if not isinstance(expression, Expression) or expression.op != "name":
            raise LawError(f"{name!r} is not the name of a quantity")
        return expression

    def call(self, table: str, *args: Any) -> Expression:
        """The value of a table."""
        return Expression("call", (table, *args))


def _plain(reader: Reader, raw: Any, dimension: Dimension | str | None, field: str) -> float:
    value = reader.number(raw, dimension, field)
    if not isinstance(value, float):
        raise reader.fail(field, f"a plain number is expected, not {short(raw)}")
    return value


def read_bounds(reader: Reader, raw: Any, value: float, dimension: Dimension | None) -> tuple[float, float]:
    """Lowest and highest value of a parameter, which its present value has to respect."""
    low, high = reader.sequence(raw, 2, "bounds", lambda item: _plain(reader, item, dimension, "bounds"))
    if low > high:
        raise reader.fail("bounds", f"the lower bound {low:g} is above the upper bound {high:g}")
    if not low <= value <= high:
        raise reader.fail("value", f"{value:g} is outside its bounds ({low:g}, {high:g})")
    return low, high


def is_plain(raw: Any) -> bool:
    """Whether a value is a finite float, of which nothing is to be read."""
    return type(raw) is float and math.isfinite(raw)


def read_input(system: System, name: str, raw: Any) -> Value:
    """Another value of an input, in the unit with which it was declared, if it has one."""
    own = system.inputs[name]
    return raw if is_plain(raw) else system.read_value(name, raw, own.dimension, own.angle)[0]


def _no_call(table: str, args: tuple[Any, ...], axes: tuple[int, ...] = ()) -> Any:
    raise LawError(f"the table {table} cannot be used in a constant")


def evaluate_constant(value: Expression, lookup: Callable[[str], float]) -> float:
    """The plain number of a constant; one that has none is refused."""
    try:
        number = float(value.evaluate(lookup, _no_call))
    except (ArithmeticError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise LawError(f"{value.excerpt()} has no finite value at the parameters' present values")
    return number


def is_angle(raw: Any, unit: Any = None) -> bool:
    """Whether a text, or the unit beside a value, says that a number is an angle."""
    if isinstance(unit, str):
        raw = f"1 {unit}"
    quantity = parse_quantity(raw) if isinstance(raw, str) else None
    return quantity is not None and quantity.angular == 1 and quantity.dimension == DIMENSIONLESS


def find_dimension(raw: Any, value: Value, parameters: Mapping[str, Parameter]) -> Dimension | None:
    """What is known of a parameter's dimension: from its unit, or from the parameters it is made of."""
    if isinstance(raw, str):
        quantity = parse_quantity(raw)
        if quantity is not None:
            check_plain_length(quantity.text, quantity.dimension, quantity.angular)
            return quantity.dimension
    if isinstance(value, Expression):
        return value.dimension(lambda name: parameters[name].dimension if name in parameters else None)
    return None
