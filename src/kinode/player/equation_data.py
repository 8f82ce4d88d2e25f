"""The equations of motion for the player: MathML, term by term, and the value of every term over time.

Equations are those of ``kn.equations``, written out.  Every term is a formula in coordinates, speeds, accelerations,
other states and parameters, which are known along a run, so that its value is too; the terms on the left less those on
the right sum to zero.  The multipliers of loops follow from the equations themselves, by least squares at each time.
Where something sticks, a brake or dry friction, what holds it has no formula: it is a term of its own, the rest of the
sum.  Where equations are long there are none here, and the record says how to get them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import Error
from kinode.expressions.units import DIMENSIONS
from kinode.model.joints.joint import DERIVED
from kinode.model.quantities import unit_of
from kinode.ode.input_table import split_inputs
from kinode.results.run_quantities import IGNORE_OVERFLOW, RunQuantities
from kinode.symbolic.notation import independent_rows, other_states

if TYPE_CHECKING:
    from kinode.sheets.terms import Definition
    from kinode.structure.topology import Topology
    from kinode.symbolic.equations import Equations


MOST_FREEDOMS = 4  # of the state, and as many bodies
MOST_OTHER_STATES = 8  # of networks and controllers
MOST_TERMS = 24  # of a line
MOST_OPERATIONS = 120  # of a line
ROUNDING = 1e-6  # of the largest term: terms whose sum is less balance
LONG = (
    "Written out, the equations of motion are long; kn.equations gives them with names for what recurs, "
    "and on the command line kinode equations."
)
ABSENT = "The equations of motion of this model cannot be written out here: {}"

Plain = dict[str, Any]


class Pictures(Protocol):
    """Times, and quantities at these times: a run, or the pictures of one."""

    @property
    def t(self) -> Array: ...

    def evaluate(self, names: Any, /) -> Mapping[str, Array]: ...


@dataclass(frozen=True, eq=False)
class EquationRecord:
    """The data of the panel (``EquationsData`` of the player), and a series for every term.

    ``infos`` has a name, a unit and words for each row of ``values``, (terms, time).
    """

    data: Plain
    infos: list[Plain]
    values: Array


class _Line(NamedTuple):
    """A line with its name, the unit of its terms and the title of its section."""

    name: str
    unit: str
    title: str
    line: Definition


@IGNORE_OVERFLOW
def equation_data(run: RunQuantities, pictures: Pictures | None = None) -> EquationRecord | None:
    """The equations of motion of a run's system with the values of their terms; None if it has no equations.

    Parameters
    ----------
    run : RunQuantities
        The run; its parameters and inputs are those of the terms.
    pictures : Pictures, optional
        Where the terms are evaluated; default are the stored times of the run.

    Returns
    -------
    EquationRecord or None

    Examples
    --------
    >>> run = kn.simulate(kn.load("examples/pendulum.yaml"), 1.0, samples=11)
    >>> record = equation_data(run)
    >>> [term["series"] for term in record.data["lines"][0]["terms"] if term["series"]]
    ['pivot.equation.1', 'pivot.equation.2']
    >>> bool(abs(record.values.sum(axis=0)).max() < 1e-9)
    True
    """
    topology = run.dynamics.topology
    if not topology.n_u and not topology.n_z:
        return None
    if are_long(run):
        return _without(LONG)
    from kinode.symbolic.equations import Equations, equations_of_page

    try:
        printed = equations_of_page(run.system)
    except Error as error:  # an initial state that cannot be assembled, or a law without a formula
        return _without(ABSENT.format(error))
    if not isinstance(printed, Equations) or printed.shape != "expanded":
        return _without(LONG)
    return _Terms(run, pictures or run, printed).record()


def are_long(run: RunQuantities) -> bool:
    """Whether the equations of a run's system are too long to be written out, as far as its size tells."""
    topology = run.dynamics.topology
    bodies, others = len(run.system.bodies), len(other_states(topology))
    return topology.n_u > MOST_FREEDOMS or bodies > MOST_FREEDOMS or others > MOST_OTHER_STATES


def _without(words: str) -> EquationRecord:
    data = {"heading": "", "lines": [], "where": "", "symbols": [], "note": words}
    return EquationRecord(data, [], np.zeros((0, 0)))


class _Terms:
    """The terms of all lines, in symbols and in numbers."""

    def __init__(self, run: RunQuantities, pictures: Pictures, printed: Equations) -> None:
        self.run, self.pictures, self.printed = run, pictures, printed
        every = list(_lines(printed))
        self.lines = [each for each in every if _is_short(each.line)]
        self.left_out = [each.name for each in every if not _is_short(each.line)]

    def record(self) -> EquationRecord | None:
        """Lines with their terms, and the values of the terms."""
        if not self.lines:
            return _without(LONG) if self.left_out else None
        terms = [term for each in self.lines for term in _expressions(each.line)]
        symbols = dict.fromkeys(name for term in terms for name in sorted(map(str, term.free_symbols)))
        known = _Known(self.run, self.pictures, self.printed)
        try:
            following = iter(known.evaluate(terms))
        except (TypeError, NameError, AttributeError, KeyError) as error:  # a function without numbers, as a table
            return _without(ABSENT.format(error))
        lines: list[Plain] = []
        infos: list[Plain] = []
        values: list[Array] = []
        for each in self.lines:
            line, own, rows = self._line(each, following)
            lines.append(line)
            infos += own
            values += rows
        data = {
            "heading": self.printed.heading,
            "lines": lines,
            "where": "",
            "symbols": [x for name in symbols if (x := self._symbol(name, known)) is not None],
            "note": f"Not shown, because they are long: {', '.join(self.left_out)}." if self.left_out else "",
        }
        return EquationRecord(data, infos, np.stack(values))

    def _line(self, each: _Line, following: Iterator[Array]) -> tuple[Plain, list[Plain], list[Array]]:
        """A line as data, what its series are, and their values."""
        from kinode.sheets.tables import MINUS
        from kinode.sheets.terms import expressions_of
        from kinode.sheets.typeset import MATHML, signed_terms

        terms: list[Plain] = []
        infos: list[Plain] = []
        rows: list[Array] = []

        def add(markup: str, sign: str, side: str, text: str, row: Array | None) -> None:
            name = f"{each.name}.equation.{len(infos) + 1}"
            terms.append({"mathml": f"<math>{markup}</math>", "series": name, "sign": sign, "side": side})
            if row is None:
                terms[-1]["series"] = ""
                return
            infos.append({"name": name, "unit": each.unit, "words": f"in the equation of {each.name}: {text}"})
            rows.append(row)

        for side, whole in (("left", each.line.left), ("right", each.line.right)):
            expressions = iter(expressions_of(whole))
            for k, (minus, markup) in enumerate(signed_terms(whole, MATHML)):
                sign = MINUS if minus else "+" if k else ""
                term = next(expressions, None)  # none for a side that is zero
                add(markup, sign, side, str(term), None if term is None else next(following))
        signs = [1.0 if term["side"] == "left" else -1.0 for term in terms if term["series"]]
        rest = sum((sign * row for sign, row in zip(signs, rows)), start=np.zeros(len(self.pictures.t)))
        if _peak([rest]) > ROUNDING * _peak(rows):
            words = "what holds where something sticks; it has no formula"
            add("<mtext>what sticks</mtext>", "+", "right", words, rest)
        line = {"name": each.name, "title": each.title, "mathml": _joined(terms), "terms": terms, "unit": each.unit}
        return line, infos, rows

    def _symbol(self, name: str, known: _Known) -> Plain | None:
        """What a symbol means: a quantity of the run."""
        import sympy

        from kinode.sheets.typeset import MATHML

        quantity = known.quantities.get(name)
        if quantity is None:
            return None
        unit = unit_of(self.run.system, quantity)
        shown = str(unit) if isinstance(unit, str) else unit[0]
        value = known.constants.get(name)
        math = f"<math>{MATHML.formula(sympy.Symbol(name), self.printed.notation.styles)}</math>"
        return {"mathml": math, "name": quantity, "unit": shown, "value": None if value is None else float(value)}


def _peak(rows: list[Array]) -> float:
    return float(np.nanmax(np.abs(rows), initial=0.0)) if rows else 0.0


def _joined(terms: list[Plain]) -> str:
    """The whole line; its terms carry their numbers."""
    from kinode.sheets.markup import Markup, join, tag

    parts = []
    for k, term in enumerate(terms):
        if k and term["side"] != terms[k - 1]["side"]:
            parts.append(tag("mo", "="))
        parts += [tag("mo", term["sign"])] if term["sign"] else []
        inner = Markup(term["mathml"].removeprefix("<math>").removesuffix("</math>"))
        parts.append(tag("mrow", inner, **{"data-term": str(k)}))
    return tag("math", join(parts), display="block")


def _is_short(line: Definition) -> bool:
    terms = _expressions(line)
    return len(terms) <= MOST_TERMS and sum(int(term.count_ops()) for term in terms) <= MOST_OPERATIONS


def _expressions(line: Definition) -> list[Any]:
    """The terms of both sides that are not zero."""
    from kinode.sheets.terms import expressions_of

    return [*expressions_of(line.left), *expressions_of(line.right)]


# -- lines -----------------------------------------------------------------------------------------
def _lines(printed: Equations) -> Iterator[_Line]:
    """All lines with their names and units: equations of motion, constraints of loops, other states."""
    topology, sections = printed.topology, [section for section in printed.sections if section.lines]
    motion = [c for c in topology.coordinates if c.role == "u"]
    if motion:
        for c, line in zip(motion, sections.pop(0).lines, strict=True):
            yield _Line(f"{c.joint}{c.suffix}", _unit(DERIVED["effort"][_angle_or_length(c.kind)]), "", line)
    for row, unit in zip(printed.constraints, _row_units(topology)):
        section, name = sections.pop(0), str(row.symbol).removeprefix("lam_")
        for k, line in enumerate(section.lines, start=1 - len(section.lines)):
            rate = _rate(unit, 2 if unit in ("angle", "length") else 1)
            yield _Line(f"{name}{'' if k else '_rate'}", _unit(unit) if k else rate, section.title, line)
    names = {str(symbol): name for symbol, name in zip(printed.notation.of("z_dot"), _other_names(topology))}
    for section in sections:
        for line in section.lines:
            name = names[str(_expressions(line)[0])]
            yield _Line(name, _rate(str(unit_of(printed.system, name)), 1, plain=True), section.title, line)


def _angle_or_length(kind: str) -> str:
    return "length" if kind in ("length", "velocity") else "angle"


def _unit(dimension: str) -> str:
    return DIMENSIONS[dimension].unit


def _rate(dimension: str, order: int, *, plain: bool = False) -> str:
    """The unit of a derivative by time."""
    unit = dimension if plain else _unit(dimension)
    return {"m/s": "m/s^2", "rad/s": "rad/s^2"}.get(unit, f"{unit or '1'}/s{'^2' * (order > 1)}")


def _row_units(topology: Topology) -> list[str]:
    """The unit of each independent constraint row."""
    from kinode.multibody.loop_constraints import loop_constraints_of

    rows = independent_rows(topology)
    units = {each.name: each.units for each in loop_constraints_of(topology)} if rows else {}
    return [units[owner][k - 1] for owner, k in rows]


def _other_names(topology: Topology) -> list[str]:
    return [c.name for c in other_states(topology)]


# -- numbers ---------------------------------------------------------------------------------------
class _Known:
    """The values of all symbols along the pictures of a run.

    ``quantities`` has the name of the quantity of each symbol, ``constants`` the values of parameters and inputs.
    """

    def __init__(self, run: RunQuantities, pictures: Pictures, printed: Equations) -> None:
        self.run, self.pictures, self.printed = run, pictures, printed
        topology, names = run.dynamics.topology, printed.notation.names
        own = printed.topology  # without the hidden parameters of live numbers
        self.constants = dict[str, float]()
        self.quantities = {names["t", 0]: "t"}
        for role, owners, given, values in (
            ("p", own.parameters, topology.parameters, run.p),
            ("inputs", own.inputs, topology.inputs, split_inputs(run.inputs)[0]),
        ):
            known = dict(zip(given, map(float, values)))
            self.constants |= {names[role, k]: known[name] for k, name in enumerate(owners)}
            self.quantities |= {names[role, k]: name for k, name in enumerate(owners)}
        for c in topology.coordinates:
            self.quantities[names[c.role, c.index]] = c.name
            if c.role == "u":
                self.quantities[names["u_dot", c.index]] = f"{c.joint}.u_dot{c.suffix}"
        self.quantities |= dict(_friction_names(printed))

    def evaluate(self, terms: list[Any]) -> Array:
        """The values of terms, (terms, time)."""
        values = self._values()
        rows = self._numbers(terms, values)
        return np.stack(rows) if rows else np.zeros((0, len(self.pictures.t)))

    def _values(self) -> dict[str, Any]:
        wanted = {symbol: name for symbol, name in self.quantities.items() if symbol not in self.constants}
        t = np.asarray(self.pictures.t, dtype=float)
        found = self.pictures.evaluate([name for name in wanted.values() if name != "t"])
        values: dict[str, Any] = {
            symbol: t if name == "t" else np.asarray(found[name], dtype=float) for symbol, name in wanted.items()
        }
        values |= self.constants
        values |= self._rates(values, t)
        return values | self._multipliers(values)

    def _rates(self, values: Mapping[str, Any], t: Array) -> dict[str, Array]:
        """The rates of other states."""
        topology, names = self.run.dynamics.topology, self.printed.notation.names
        others = other_states(topology)
        if not others:
            return {}
        columns = [values[names[c.role, c.index]] for role in "quz" for c in topology.coordinates if c.role == role]
        rates = self.run.dynamics.rate(t, np.stack(columns, axis=1), p=self.run.p, inputs=self.run.inputs)
        first = topology.n_q + topology.n_u
        return {names["z_dot", c.index]: rates[:, first + c.index] for c in others}

    def _multipliers(self, values: Mapping[str, Any]) -> dict[str, Array]:
        """The multipliers of loops, by least squares at each time: G' lam = M u_dot + bias."""
        printed = self.printed
        count = len(printed.multipliers)
        if not count:
            return {}
        forces = list(printed.M * _column(printed.unknowns) + printed.bias)
        rows = self._numbers([*forces, *printed.jacobian], values)
        n = len(forces)
        left = np.stack(rows[:n], axis=1)
        G = np.stack(rows[n:], axis=1).reshape(-1, count, n)
        lam = np.einsum("tij,tj->ti", np.linalg.pinv(np.swapaxes(G, 1, 2)), left)
        return {str(symbol): lam[:, k] for k, symbol in enumerate(printed.multipliers)}

    def _numbers(self, formulas: Iterable[Any], values: Mapping[str, Any]) -> list[Array]:
        """Formulas in numbers, an array over time for each."""
        import sympy

        listed = list(formulas)
        used = sorted({str(symbol) for formula in listed for symbol in formula.free_symbols})
        arguments = [sympy.Dummy() for _ in used]  # names of users may be words of Python
        exchange = {sympy.Symbol(name): dummy for name, dummy in zip(used, arguments)}
        function = sympy.lambdify(arguments, [x.xreplace(exchange) for x in listed], modules="numpy", cse=True)
        with np.errstate(all="ignore"):
            results = function(*(values[name] for name in used))
        n = len(self.pictures.t)
        return [np.broadcast_to(np.asarray(result, dtype=float), (n,)) for result in results]


def _column(entries: list[Any]) -> Any:
    import sympy

    return sympy.Matrix(entries)


def _friction_names(printed: Equations) -> Iterator[tuple[str, str]]:
    """The efforts of friction, whose symbols depend on the reactions."""
    names = printed.notation.names
    joints = [joint for joint in printed.system.joints.values() if joint.friction is not None]
    entries = [(joint, k) for joint in joints for k in range(joint.n_u)]
    for index, (joint, k) in enumerate(entries):
        part = f".{joint.coordinates[k][0]}" if joint.n_u > 1 else ""
        yield names["friction", index], f"{joint.name}.effort.friction{part}"
