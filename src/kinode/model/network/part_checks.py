"""Checks of a kind of part when it is registered: names, number and units of its equations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from kinode.errors import LawError, ModelError, NonSIUnitError, UnitError
from kinode.expressions.equation_parser import parse_equation, parse_formula, split_rate
from kinode.expressions.parser import locate
from kinode.expressions.syntax_tree import Expression
from kinode.expressions.units import DIMENSIONS, Dimension, describe_dimension
from kinode.model.base.fields import unknown
from kinode.model.base.frames import Resolve
from kinode.model.network.domains.domain import ENERGIES, is_word
from kinode.model.network.domains.vector_ports import FLOWS, POTENTIALS, TOLD, refused_rate, vector_units
from kinode.model.network.part import OWN, Part, Row, dimension_of

if TYPE_CHECKING:
    from kinode.model.system import System


def check_part(cls: type[Part]) -> None:
    """Check everything that depends on the class only, without a system."""
    try:
        _check_words(cls)
        for name, formula in cls.formulas().items():
            _check_names(cls, name, formula.text, before=name)
        for row in cls.class_rows():
            _check_names(cls, row.name, row.text, equation=True)
        for what in ("stored", "lost", "supplied"):
            _check_names(cls, what, getattr(cls, what))
        check_square(cls, cls.class_rows())
        for row in cls.class_rows():
            _check_solves(cls, row.name, row.solves)
            _check_equation_unit(cls, row.name, row.text)
        for what, unit in (("stored", "energy"), ("lost", "power"), ("supplied", "power")):
            _check_formula_unit(cls, what, getattr(cls, what), unit)
        for name, formula in cls.formulas().items():
            _check_formula_unit(cls, name, formula.text, cls.units()[name])
    except ModelError as error:
        raise error.located(component=cls.kind or cls.__name__) from None


def check_numbers(part: Part, system: System | None = None, resolve: Resolve | None = None) -> None:
    """Check signs, zeros and ranges of numbers, including those that depend on parameters of a system.

    ``resolve`` gives the parameters other values than those of the system; what does not depend on them was checked
    with the system then.
    """

    def fail(message: str) -> ModelError:
        return ModelError(message, component=part.name, field=name)

    for name, (attribute, spec) in part.specs().items():
        value = getattr(part, attribute.name) if spec.shape in ("number", "law") else None
        made = isinstance(value, Expression)
        if value is None or (resolve is not None and not made):
            continue
        if made and (system is None or not value.names() <= system.parameters.keys()):
            continue
        number = value if system is None else (resolve or system.nominal)(value)
        if name in part.positive and number <= 0:
            raise fail(f"must be positive, and is {number:g}")
        if name in part.unsigned and number < 0:
            raise fail(f"must not be negative, and is {number:g}")
        if name in part.nonzero and number == 0:
            raise fail("must not be zero")
        if (wrong := part.find_wrong(name, number)) is not None:
            raise fail(wrong)
        if name in part.structural and made and number == 0.0:
            raise fail(f"{value.text()} is zero, which leaves out a state: write the number 0 instead")


def check_square(cls: type[Part], rows: Sequence[Row]) -> None:
    """One equation for each port and one for each unknown (T-7.15)."""
    ports, unknowns = cls.ports(), cls.all_unknowns()
    need = len(ports) + len(unknowns)
    if len(rows) == need:
        return
    has = f"{len(rows)} equation{'s' * (len(rows) != 1)}" + (
        f" ({', '.join(row.name for row in rows)})" if rows else ""
    )
    links = f"{len(ports)} port{'s' * (len(ports) != 1)}"
    vectors = 6 * len(cls.vector_ports)
    links += f", {vectors} components of its vector ports" if vectors else ""
    message = f"needs {need}, one for each of its {links} and {len(unknowns) - vectors} unknowns, and has {has}"
    raise ModelError(message, component=cls.kind)


def names_in(cls: type[Part]) -> Iterator[str]:
    """Every name that the equations of a kind may use."""
    for name, (_, spec) in cls.specs().items():
        if spec.shape in ("number", "law"):
            yield name
    for name, kind in cls.ports().items():
        yield from (f"{name}.{word}" for word in kind.units)
    yield from cls.all_unknowns()
    yield from vector_units(cls.vector_ports, {**POTENTIALS, **TOLD})
    yield from cls.modes
    yield from cls.formulas()
    yield from cls.outside
    yield "t"


def _check_words(cls: type[Part]) -> None:
    """Names of ports, fields, unknowns and derived quantities are words, and different."""
    groups = {
        "a field": list(cls.specs()),
        "an unknown": [name for name in cls.all_unknowns() if name not in vector_units(cls.vector_ports, FLOWS)],
        "a mode": list(cls.modes),
        "a derived quantity": list(cls.formulas()),
    }
    taken = dict.fromkeys((*OWN, "supplied"), "a quantity of every part")
    for what, names in groups.items():
        for name in names:
            if not is_word(name) or name in ("t", "der", "name"):
                raise ModelError(f"{name!r} cannot name {what}", field=str(name))
            if name in taken:
                raise ModelError(f"{name!r} is {taken[name]} already", field=name)
            taken[name] = what
    for name, (_, spec) in cls.specs().items():
        if spec.shape != "port" and spec.dimension is not None:
            _check_dimension(name, spec.dimension)
    for name, one in cls.all_unknowns().items():
        _check_dimension(name, one.unit)
    for name, formula in cls.formulas().items():
        if formula.unit is not None:
            _check_dimension(name, formula.unit)
    for name, field in cls.all_starts().items():
        if field not in cls.specs():
            raise ModelError(unknown(f"the start of {name} is in no field", field, cls.specs()), field=name)
    for kind in cls.energies():
        if kind not in ENERGIES:
            message = unknown(f"energy is one of {', '.join(ENERGIES)}, not", kind, ENERGIES)
            raise ModelError(message, field="stores")
    if cls.stored != (together := " + ".join(cls.energies().values())):
        raise ModelError(f"its energies are together {together}, not {cls.stored}", field="stored")
    if not cls.ports() and not cls.vector_ports:
        raise ModelError("has no ports; declare them with port(kind, doc)")


def _check_dimension(name: str, unit: str) -> None:
    try:
        DIMENSIONS[unit]
    except NonSIUnitError as error:
        raise UnitError(error.message, field=name) from None
    except UnitError:
        raise UnitError(unknown("no dimension is called", unit, DIMENSIONS), field=name) from None


def _check_names(cls: type[Part], what: str, text: str, *, equation: bool = False, before: str | None = None) -> None:
    """Names exist, derived quantities use earlier ones only, and ``der`` is applied to variables.

    An equation may have the name of the quantity that it gives.
    """
    known = list(names_in(cls))
    if before is not None:
        known = [name for name in known if name not in list(cls.formulas())[list(cls.formulas()).index(before) :]]
    specs = cls.specs()
    for side in _sides(what, text, equation):
        for name in sorted(side.names()) if isinstance(side, Expression) else ():
            base, order = split_rate(name)
            position = locate(text, base)
            if base not in known:
                raise LawError(unknown("no quantity is called", base, known), text=text, position=position, field=what)
            if (refused := refused_rate(cls.vector_ports, base, order)) is not None:
                raise LawError(refused, text=text, position=position, field=what)
            if order and base in specs and specs[base][1].shape == "law":
                message = f"the rate of the law {base} is not known: let the law give the rate"
                raise LawError(message, text=text, position=position, field=what)


def _sides(what: str, text: str, equation: bool) -> tuple[Expression | float, ...]:
    try:
        return tuple(parse_equation(text)) if equation else (parse_formula(text),)
    except LawError as error:
        raise error.located(field=what) from None


def _check_solves(cls: type[Part], row: str, solves: str | None) -> None:
    known = list(names_in(cls))
    if solves is None:
        return
    formula = parse_formula(solves)
    if not isinstance(formula, Expression) or formula.op != "name" or split_rate(formula.args[0])[0] not in known:
        raise LawError(unknown("it cannot be solved for", solves, known), field=row)


def _find(cls: type[Part], what: str, side: Expression | float) -> Dimension | None:
    units = cls.units()
    if not isinstance(side, Expression):
        return None
    try:
        return side.dimension(lambda name: dimension_of(cls, name, units))
    except UnitError as error:
        raise error.located(field=what) from None


def _check_equation_unit(cls: type[Part], what: str, text: str) -> None:
    left, right = (_find(cls, what, side) for side in parse_equation(text))
    if left is not None and right is not None and left != right:
        both = f"{describe_dimension(left)} on the left and {describe_dimension(right)} on the right"
        raise UnitError(f"{text!r} has {both}", field=what)


def _check_formula_unit(cls: type[Part], what: str, text: str, unit: str) -> None:
    dimension = _find(cls, what, parse_formula(text))
    if dimension is not None and dimension != DIMENSIONS[unit].dimension:
        raise UnitError(f"{text!r} is {describe_dimension(dimension)}, not {DIMENSIONS[unit].words}", field=what)
