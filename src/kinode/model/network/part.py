"""The base class of network parts: ports, unknowns and equations in text (T-7.15); checks of a kind of part.

A port carries a potential and a flow; the flow is what acts on the part there, so that potential times flow is power
into it.  A port's field holds the name of the node, joint or reference that it is connected to.  The class declares
its equations in its own words (``voltage = resistance*current``); ``equations()`` writes them in the names of the
system (``r1.plus.voltage``), numbers and laws put in, speeds as rates of angles.  How many there have to be is
checked when the kind is registered: one for each port and one for each unknown; so are names and units.  Nothing here
solves anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import get_annotations
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from kinode.errors import LawError, ModelError, NonSIUnitError, UnitError, counted
from kinode.expressions.equation_parser import (
    Equation,
    parse_equation,
    parse_formula,
    rate_name,
    split_rate,
    substitute,
)
from kinode.expressions.function_table import RESERVED
from kinode.expressions.parser import locate
from kinode.expressions.syntax_tree import Expression, symbol
from kinode.expressions.units import DIMENSIONS, Dimension, describe_dimension
from kinode.model.base.element import Element, Load
from kinode.model.base.field_reader import IN_PORTS, LAW, NUMBER, FieldKind, Reader
from kinode.model.base.fields import (
    POSITIVE,
    UNSIGNED,
    Alternative,
    Component,
    NumberRange,
    Spec,
    Value,
    declare,
    plain_number,
    record,
    short,
    unknown,
)
from kinode.model.base.frames import NAME, Resolve
from kinode.model.network.domain import (
    DOMAINS,
    ENERGIES,
    FLOWS,
    POTENTIALS,
    TOLD,
    Domain,
    check_vector_ports,
    in_components,
    is_word,
    references_of,
    refused_rate,
    vector_loads,
    vector_power,
    vector_units,
    vector_values,
)

if TYPE_CHECKING:
    from kinode.model.base.scene import VelocityScene
    from kinode.model.system import System


HEAT = "heat"  # the field of every part that loses energy: see model/network/heat_ports.py
HEAT_FIELD = Alternative((), Spec("port", None, "node that its losses warm, in a domain whose flow is a power"))
OWN = {"power": "power", "stored": "energy", "lost": "power"}  # quantities of every part
_TIME = DIMENSIONS["time"].dimension
LINK = re.compile(NAME.pattern.removesuffix(r"\Z") + r"(\.3(\.[A-Za-z][A-Za-z0-9_]*)?)?\Z")  # KN1, KN1.3, KN1.3.angle
PORT = FieldKind(
    "port",
    "PortLike",
    "node",
    {"type": "string", "pattern": "^" + LINK.pattern.removesuffix(r"\Z") + "$"},
    names=IN_PORTS,
)


def port(kind: str, doc: str, default: Any = ..., *, domains: Mapping[str, Domain] = DOMAINS) -> Any:
    """A link of a kind, electrical, rotational ...; its value names what it is connected to."""
    if kind not in domains:
        raise ModelError(unknown("no kind of port is called", kind, domains) + f"; there are {', '.join(domains)}")
    return declare(default, Spec(PORT.word, kind, doc))


class Row(NamedTuple):
    """An equation with its name in mechanical words, and the quantity that it is meant to be solved for."""

    name: str
    text: str
    solves: str | None = None

    def in_components(self, ports: Mapping[str, str]) -> list[Row]:
        """Itself, or three rows where it is written in vectors of ports."""
        solves = {} if self.solves is None else dict(in_components(self.solves, ports))
        texts = in_components(self.text, ports)
        return [Row(f"{self.name} {x}".strip(), text, solves.get(x, self.solves)) for x, text in texts]


class Unknown(NamedTuple):
    """A quantity of the part's own: ``start`` names the field with its initial value; states go by ``priority``."""

    unit: str
    start: str | None = None
    priority: int = 0
    doc: str = ""


class Formula(NamedTuple):
    """A quantity made of others; the unit may be left out where it follows."""

    text: str
    unit: str | None = None


class PartEquation(NamedTuple):
    """A row of one part in the names of the system; ``solves`` likewise."""

    part: str
    name: str
    equation: Equation
    solves: str | None


class PartInitialValue(NamedTuple):
    """What a quantity is at the beginning: an expression in the names of the system, its field and its value."""

    part: str
    field: str
    quantity: Expression | float
    value: Value
    priority: int


@record
class Part(Element):
    """A component of a network: something between nodes, described by its equations."""

    domains: ClassVar[Mapping[str, Domain]] = DOMAINS  # among which its ports are
    vector_ports: ClassVar[Mapping[str, str]] = {}  # frame fields that are links v, w | F, M: in axes world or own
    common: ClassVar[tuple[Row, ...]] = ()  # rows of all kinds that derive from a class
    rows: ClassVar[tuple[Row, ...]] = ()
    unknowns: ClassVar[Mapping[str, Unknown]] = {}  # those of base classes are added
    names: ClassVar[Mapping[str, str | Formula]] = {}  # likewise; one that is an unknown too becomes its row
    starts: ClassVar[Mapping[str, str]] = {}  # quantity -> field of its initial value, where it is no unknown
    zero_by_default: ClassVar[tuple[str, ...]] = ()  # derived quantities that start at zero if nothing decides
    stored: ClassVar[str] = "0"
    stores: ClassVar[str | Mapping[str, str]] = "potential"  # kinetic, potential or electric; shares by kind
    lost: ClassVar[str] = "0"
    supplied: ClassVar[str] = "0"  # power that comes from elsewhere than its ports: from fuel, from a law
    outside: ClassVar[Mapping[str, str]] = {}  # names in rows for what a part finds in the system, with their units
    drives: ClassVar[tuple[str, str] | None] = None  # of a source of motion: the joint's field that it is, its law
    is_source: ClassVar[bool] = False  # gives a potential or a flow whatever is connected to it
    before_number: ClassVar[str] = "and is"
    positive: ClassVar[tuple[str, ...]] = ()  # fields that are above zero, where they do not say it themselves
    unsigned: ClassVar[tuple[str, ...]] = ()  # fields that are not below zero, likewise
    structural: ClassVar[tuple[str, ...]] = ()  # fields that drop a state where they are the number zero
    toothed: ClassVar[tuple[str, ...]] = ()  # ports between which teeth mesh, whose force on bearings is left out
    modes: ClassVar[tuple[str, ...]] = ()  # numbers that only events change; rows may use them

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        own = any(HEAT in get_annotations(base) for base in cls.__mro__)
        others = {name: field for name, field in cls.alternative_fields.items() if name != HEAT}
        cls.alternative_fields = others if own or cls.lost == "0" else {**others, HEAT: HEAT_FIELD}

    # -- what the class declares ---------------------------------------------------------------------
    @classmethod
    def number_ranges(cls) -> dict[str, NumberRange]:
        declared = {**dict.fromkeys(cls.unsigned, UNSIGNED), **dict.fromkeys(cls.positive, POSITIVE)}
        return super().number_ranges() | declared

    @classmethod
    def ports(cls) -> dict[str, Domain]:
        """Its ports with their kinds, in order of declaration."""
        return {name: cls.domains[spec.dimension or ""] for name, spec in cls.fields_of(PORT).items()}

    @classmethod
    def positional_fields(cls) -> tuple[str, ...]:
        return tuple(cls.ports())

    @classmethod
    def all_unknowns(cls) -> dict[str, Unknown]:
        """Its unknowns, with those of its base classes, and the flows of its vector ports."""
        flows = {name: Unknown(unit, priority=-1) for name, unit in vector_units(cls.vector_ports, FLOWS).items()}
        return {**_merge(cls, "unknowns"), **flows}

    @classmethod
    def formulas(cls) -> dict[str, Formula]:
        """Its derived quantities that are no unknowns."""
        merged = {name: Formula(f) if isinstance(f, str) else f for name, f in _merge(cls, "names").items()}
        return {name: formula for name, formula in merged.items() if name not in cls.all_unknowns()}

    @classmethod
    def all_starts(cls) -> dict[str, str]:
        """The field with the initial value of each quantity."""
        own = {name: unknown.start for name, unknown in cls.all_unknowns().items() if unknown.start}
        return {**_merge(cls, "starts"), **own}

    @classmethod
    def units(cls) -> dict[str, str]:
        """Every quantity of the part with its unit: of ports, unknowns, laws, derived ones, power, stored, lost ..."""
        quantities = {f"{name}.{word}": unit for name, kind in cls.ports().items() for word, unit in kind.units.items()}
        quantities |= vector_units(cls.vector_ports, {**POTENTIALS, **TOLD})
        quantities |= {name: unknown.unit for name, unknown in cls.all_unknowns().items()}
        quantities |= dict.fromkeys(cls.modes, "dimensionless")
        laws = cls.fields_of(LAW).items()
        quantities |= {name: spec.dimension for name, spec in laws if spec.dimension is not None}
        for name, formula in cls.formulas().items():
            quantities[name] = formula.unit or _infer_unit(cls, name, formula.text, quantities)
        return {**quantities, **OWN, **({} if cls.supplied == "0" else {"supplied": "power"})}

    @classmethod
    def energies(cls) -> dict[str, str]:
        """What it stores by kind of energy; together they are ``stored``."""
        return {cls.stores: cls.stored} if isinstance(cls.stores, str) else dict(cls.stores)

    @classmethod
    def class_rows(cls) -> tuple[Row, ...]:
        """The rows that the class declares, with those that define unknowns by what they are derived from."""
        derived = {name: Formula(f) if isinstance(f, str) else f for name, f in _merge(cls, "names").items()}
        common = tuple(row for base in reversed(cls.__mro__) for row in base.__dict__.get("common", ()))
        defined = tuple(
            Row(f"{name} between its ports", f"{name} = {derived[name].text}", name)
            for name in cls.all_unknowns()
            if name in derived
        )
        return (*common, *defined, *(row for own in cls.rows for row in own.in_components(cls.vector_ports)))

    @classmethod
    def expand(cls, formula: Expression | float) -> Expression | float:
        """A formula with the derived quantities in it written out."""
        for name, derived in reversed(cls.formulas().items()):
            formula = substitute(formula, {name: parse_formula(derived.text)})
        return formula

    def find_rows(self) -> tuple[Row, ...]:
        """The rows of this part; a kind whose rows depend on what was given has its own."""
        return type(self).class_rows()

    # -- in the names of a system -------------------------------------------------------------------
    def variable(self, name: str) -> Expression:
        """A quantity of a port or an unknown, as the system calls it: speeds are rates of angles or positions."""
        head, _, word = name.rpartition(".")
        kind = self.ports().get(head)
        if kind is not None and kind.position is not None and word == kind.potential:
            return symbol(rate_name(f"{self.name}.{head}.{kind.position}"))
        return symbol(f"{self.name}.{name}")

    def local_values(self) -> dict[str, Expression | float]:
        """What each name in its equations stands for in the system, derived quantities left out."""
        values: dict[str, Expression | float] = {}
        values |= {name: self.own(name, value) for name, value in self.values_of(NUMBER, LAW).items()}
        for name, kind in self.ports().items():
            values |= {f"{name}.{word}": self.variable(f"{name}.{word}") for word in kind.units}
        values |= {name: self.variable(name) for name in (*self.all_unknowns(), *self.modes)}
        return values | vector_values(self)

    def formula(self, text: str) -> Expression | float:
        """A formula in the part's own words (``stored``, ``lost``, a derived name) in the names of the system."""
        return self._put(parse_formula(text), self.local_values(), text)

    @property
    def power_text(self) -> str:
        """The power into it through all its ports, in its own words."""
        scalar = (kind.port_power(name) for name, kind in self.ports().items())
        return " + ".join((*scalar, *map(vector_power, self.vector_ports)))

    @classmethod
    def balance_text(cls) -> str:
        """What it adds to the energy of the system, as declared: what it is supplied with, less what it loses."""
        return f"{cls.supplied} - ({cls.lost})"

    def quantity_formula(self, name: str) -> Expression | float:
        """What a quantity of it is made of: ``plus.current``, ``voltage``, ``power``, ``stored``, ``lost`` ..."""
        own = {"power": self.power_text, "stored": self.stored, "lost": self.lost, "supplied": self.supplied}
        return self.formula(own.get(name, name))

    def equations(self) -> tuple[PartEquation, ...]:
        """Its rows in the names of the system; terms with a field that is the number zero are gone."""
        values = self.local_values()
        equations = []
        for row in self.find_rows():
            sides = (self._put(side, values, row.name) for side in parse_equation(row.text))
            solves = None if row.solves is None else self._put(parse_formula(row.solves), values, row.name)
            target = solves.args[0] if isinstance(solves, Expression) and solves.op == "name" else None
            equations.append(PartEquation(self.name, row.name, Equation(*sides), target))
        return tuple(equations)

    def initial_values(self) -> tuple[PartInitialValue, ...]:
        """The given initial values."""
        values, unknowns, starts = self.local_values(), self.all_unknowns(), []
        for name, field in self.all_starts().items():
            value = getattr(self, field)
            if value is not None:
                priority = unknowns[name].priority if name in unknowns else 0
                quantity = self._put(parse_formula(name), values, name)
                starts.append(PartInitialValue(self.name, field, quantity, value, priority))
        return tuple(starts)

    def _put(
        self, formula: Expression | float, values: Mapping[str, Expression | float], row: str
    ) -> Expression | float:
        formula = self.expand(formula)
        if not isinstance(formula, Expression):
            return formula
        specs = self.specs()
        still: dict[str, Expression | float] = {}
        for name in formula.names():
            base, order = split_rate(name)
            if base not in values and base != "t":
                raise self.error_at(base, f"{row!r} needs it, and it was not given")
            if order and base in specs:  # numbers do not change; the rates of laws are refused by the class
                still[name] = 0.0
        try:
            put = formula.substitute(still) if still else formula
            return substitute(put, values)
        except (LawError, ZeroDivisionError) as error:
            zero = sorted(name for name in formula.names() if values.get(name) == 0.0 and name in specs)
            fields = f"{' or '.join(zero)} is zero: " if zero else ""
            raise self.error_at(None, f"{row!r} has no meaning: {fields}{error}") from None

    # -- reading and checking -----------------------------------------------------------------------
    @classmethod
    def read_port(cls, reader: Reader, raw: Any, field: str, spec: Spec) -> str:
        """The name of what a port is connected to; a joint, or the world, may be given itself."""
        return read_node(reader, raw, field, cls.domains[spec.dimension or ""], cls.domains)

    def check(self) -> None:
        """Check its numbers, and its equations if they depend on the given fields."""
        self.check_numbers(plain_number)
        check_vector_ports(self)
        if type(self).find_rows is not Part.find_rows:
            check_square(type(self), self.find_rows())
        self.equations()

    def check_in(self, system: System) -> None:
        """Check its numbers, including those that depend on parameters of the system."""
        self.check_at(system, system.nominal)

    def check_at(self, system: System, resolve: Resolve) -> None:
        """Check its numbers at the values that ``resolve`` gives the parameters of a system."""

        def known(value: Value) -> float | None:
            is_open = isinstance(value, Expression) and not value.names() <= system.parameters.keys()
            return None if is_open else resolve(value)

        self.check_numbers(known)

    def check_numbers(self, known: Callable[[Any], float | None]) -> None:
        super().check_numbers(known)
        for name, value in self.values_of(NUMBER, LAW).items():
            number = known(value)
            wrong = None if number is None else self.find_wrong(name, number)
            if number == 0.0 and name in self.structural and isinstance(value, Expression):
                wrong = f"{value.text()} is zero, which leaves out a state: write the number 0 instead"
            if wrong is not None:
                raise self.error_at(name, wrong)

    def find_wrong(self, field: str, value: float) -> str | None:
        """What is wrong with the value of a number in its range, in words."""
        return None

    @classmethod
    def check_kind(cls) -> None:
        """Refuse a kind whose equations are wrong."""

        check_part(cls)

    # -- discrete states -------------------------------------------------------------------------------
    @property
    def discrete_states(self) -> tuple[tuple[str, str], ...]:
        return tuple((name, "dimensionless") for name in self.modes)

    # -- as an element; parts load nodes only --------------------------------------------------------
    pushes: ClassVar[bool] = False
    lawful: ClassVar[frozenset[str]] = frozenset()

    def offered(self) -> Mapping[str, tuple[str, tuple[str, ...]]]:
        return {name: (unit, ()) for name, unit in self.units().items()}

    def wrenches(self, scene: VelocityScene) -> Sequence[Load]:
        return vector_loads(self, scene)


def read_node(reader: Reader, raw: Any, field: str, kind: Domain, domains: Mapping[str, Domain]) -> str:
    """The name of the node, joint or reference that a port of a kind is connected to."""
    name = raw.name if isinstance(raw, Component) else raw
    if not isinstance(name, str) or not LINK.match(name):
        what = f"a node's name is expected, {kind.reference} or a joint"
        what = what if kind.moves else f"a node's name or {kind.reference} is expected"
        raise reader.fail(field, f"{what}, not {short(raw)}")
    if name in references_of(domains) - {kind.reference}:
        raise reader.fail(field, f"is {kind.kind}: its reference is {kind.reference}, not {name}")
    if name in RESERVED or name in ("t", "system"):
        message = f"{name!r} is reserved, a word of laws, in which the node could not be named"
        raise reader.fail(field, f"{message}; choose another, such as {name}_node")
    return name


def _merge(cls: type[Part], name: str) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        merged |= base.__dict__.get(name, {})
    return merged


def _infer_unit(cls: type[Part], name: str, text: str, units: Mapping[str, str]) -> str:
    """The unit of a derived quantity: by its name, or by its formula."""
    words = {word: unit for kind in cls.ports().values() for word, unit in kind.units.items()}
    formula = parse_formula(text)
    dimension = (
        formula.dimension(lambda word: dimension_of(cls, word, units)) if isinstance(formula, Expression) else None
    )
    if name in words and (dimension is None or DIMENSIONS[words[name]].dimension == dimension):
        return words[name]
    for kind in DIMENSIONS.values():
        if kind.dimension == dimension:
            return kind.name
    message = "its unit does not follow: give Formula(text, unit), or {law: ..., unit: ...} in a file"
    raise UnitError(message, component=cls.kind, field=name)


def dimension_of(cls: type[Part], name: str, units: Mapping[str, str]) -> Dimension | None:
    """The dimension of a name in the equations of a kind; None where it is not known."""
    base, order = split_rate(name)
    specs = cls.specs()
    units = {**cls.outside, **units}
    unit = "time" if base == "t" else units.get(base) or (specs[base][1].dimension if base in specs else None)
    return None if unit is None else DIMENSIONS[unit].dimension / _TIME**order


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


def check_square(cls: type[Part], rows: Sequence[Row]) -> None:
    """One equation for each port and one for each unknown (T-7.15)."""
    ports, unknowns = cls.ports(), cls.all_unknowns()
    need = len(ports) + len(unknowns)
    if len(rows) == need:
        return
    has = counted(len(rows), "equation") + (f" ({', '.join(row.name for row in rows)})" if rows else "")
    links = counted(len(ports), "port")
    vectors = 6 * len(cls.vector_ports)
    links += f", {vectors} components of its vector ports" if vectors else ""
    message = f"needs {need}, one for each of its {links} and {len(unknowns) - vectors} unknowns, and has {has}"
    raise ModelError(message, component=cls.kind)


def names_in(cls: type[Part]) -> Iterator[str]:
    """Every name that the equations of a kind may use."""
    yield from cls.fields_of(NUMBER, LAW)
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
        if name not in cls.ports() and spec.dimension is not None:
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
    for side in _sides(what, text, equation):
        for name in sorted(side.names()) if isinstance(side, Expression) else ():
            base, order = split_rate(name)
            position = locate(text, base)
            if base not in known:
                raise LawError(unknown("no quantity is called", base, known), text=text, position=position, field=what)
            if (refused := refused_rate(cls.vector_ports, base, order)) is not None:
                raise LawError(refused, text=text, position=position, field=what)
            if order and base in cls.fields_of(LAW):
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
