"""The contract of a part of a network: square, in units, and no power comes from nowhere.

States are random and then moved onto the part's equations and their rates, so that the balance of power has to hold
for whatever the rest of a circuit may do.  ``check_part`` holds an example to all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

import kinode as kn
from kinode.expressions.equation_parser import find_rate
from kinode.expressions.syntax_tree import Expression
from kinode.model.base.element import ELEMENTS
from kinode.model.network.domain import DOMAINS
from kinode.model.network.friction_parts import FrictionPart

EXACT = 1e-10  # rounding of some ten operations on powers of the order of 1 to 100
SEEDS = range(5)


class PartExample(NamedTuple):
    """A kind of part with its fields."""

    kind: str
    fields: Mapping[str, Any]
    supplied: str = "0"  # the power of a source, which comes from outside
    keeps_force: bool = False  # whether a mass, a body or a pivot in it takes up force or moment


def make_part(example: PartExample, **changes: Any) -> kn.Part:
    return kn.System("one").element("part", example.kind, **{**example.fields, **changes})


def value(formula: Any, state: Mapping[str, float]) -> Any:
    return formula.evaluate(state.__getitem__) if isinstance(formula, Expression) else formula


def find_state(part: kn.Part, formulas: Iterable[Any], seed: int) -> dict[str, float]:
    """A state with random values; what rubs slides the way that its mode says, which no row says."""
    if not isinstance(part, FrictionPart):
        return find_state_in(part, formulas, seed, 1.0)
    speed = part.quantity_formula(part.slides)
    states = (find_state_in(part, (*formulas, speed), seed + 100 * k, way) for k in range(9) for way in (1.0, -1.0))
    return next(state for state in states if state["part.mode"] * value(speed, state) > 0.0)


def find_state_in(part: kn.Part, formulas: Iterable[Any], seed: int, mode: float) -> dict[str, float]:
    """Random values for all names, moved by the shortest way onto the rows and their rates."""
    rows = [e.equation.residual for e in part.equations()]
    rows += [find_rate(row) for row in rows]
    names = sorted(set().union(*(f.names() for f in (*rows, *formulas) if isinstance(f, Expression))) - {"t"})
    # a diode conducts one way alone, which no row says
    modes = {f"part.{name}": mode * float(part.kind != "diode") for name in part.modes}
    modes |= {f"der({name})": 0.0 for name in modes}
    names = [name for name in names if name not in modes]
    slopes = [[row.derivative(name) for name in names] for row in rows]
    rng = np.random.default_rng(seed)
    x = rng.uniform(-2.0, 2.0, len(names))
    for _ in range(60):
        state = {"t": 0.3, **modes, **dict(zip(names, x, strict=True))}
        residuals = np.array([value(row, state) for row in rows], float)
        if np.abs(residuals).max() < 1e-13:
            return state
        x = x - np.linalg.lstsq([[value(s, state) for s in row] for row in slopes], residuals, rcond=1e-12)[0]
    raise AssertionError("no state fits the rows")


# -- the contract --------------------------------------------------------------------------------------------
def the_kind_is_declared_in_full(example: PartExample) -> None:
    """Square, names that exist, units that fit; each field, port and unknown is described."""
    cls = ELEMENTS[example.kind]
    assert issubclass(cls, kn.Part)
    cls.check_kind()
    assert cls.__doc__
    assert all(spec.doc for _, spec in cls.specs().values())
    assert len(make_part(example).equations()) == len(cls.ports()) + len(cls.all_unknowns())
    names = [row.name for row in cls.class_rows()]
    assert len(set(names)) == len(names)


def power_that_goes_in_is_stored_or_lost(example: PartExample) -> None:
    part = make_part(example)
    power, stored, lost = (part.quantity_formula(name) for name in ("power", "stored", "lost"))
    supplied, rate = part.formula(example.supplied), find_rate(stored)
    for seed in SEEDS:
        state = find_state(part, (power, rate, lost, supplied), seed)
        assert abs(value(power, state) - value(rate, state) - value(lost, state) + value(supplied, state)) < EXACT
        assert value(lost, state) >= 0.0, seed
        if {part.stored, part.lost} != {"0"}:  # what states nothing of energy counts as a source
            assert abs(value(part.formula(part.supplied), state) - value(supplied, state)) < EXACT, seed


def energies_are_together_what_is_stored(example: PartExample) -> None:
    part = make_part(example)
    formulas = [part.formula(text) for text in part.energies().values()]
    state = find_state(part, [part.quantity_formula("stored"), *formulas], 1)
    total = sum(value(f, state) for f in formulas)
    assert abs(total - value(part.quantity_formula("stored"), state)) < EXACT
    assert total >= 0.0


def flows_of_each_kind_balance(example: PartExample) -> None:
    """What goes in comes out: currents always, moments and forces where nothing is accelerated or fixed inside."""
    part = make_part(example)
    for domain in DOMAINS.values():
        ports = [name for name, kind in part.ports().items() if kind is domain]
        if not ports or (domain.position and example.keeps_force):
            continue
        flows = part.formula(" + ".join(f"{name}.{domain.flow}" for name in ports))
        assert abs(value(flows, find_state(part, (flows,), 2))) < EXACT, domain.kind


def every_quantity_has_a_formula(example: PartExample) -> None:
    part = make_part(example)
    for name in part.units():
        part.quantity_formula(name)


def a_number_of_the_wrong_sign_is_refused(example: PartExample) -> None:
    cls = ELEMENTS[example.kind]
    assert issubclass(cls, kn.Part)
    for field in sorted(field for field, allowed in cls.number_ranges().items() if not allowed.holds(-1.0)):
        system = kn.System("one")
        system.parameter("minus_one", -1.0)
        error = refusal(lambda field=field, system=system: _put(system, example, field, -1.0))
        assert (error.component, error.field) == ("part", field) and "must" in str(error)
        part = _put(system, example, field, "minus_one")
        error = refusal(lambda part=part, system=system: part.check_in(system))
        assert (error.component, error.field) == ("part", field) and "must" in str(error)


def _put(system: kn.System, example: PartExample, field: str, value: Any) -> Any:
    return system.element("part", example.kind, **{**example.fields, field: value})


def refusal(action: Callable[[], Any]) -> kn.ModelError:
    """The error by which something is refused."""
    try:
        action()
    except kn.ModelError as error:
        return error
    raise AssertionError("is not refused")


CHECKS: tuple[Callable[[PartExample], None], ...] = (
    the_kind_is_declared_in_full, power_that_goes_in_is_stored_or_lost, energies_are_together_what_is_stored,
    flows_of_each_kind_balance, every_quantity_has_a_formula, a_number_of_the_wrong_sign_is_refused,
)  # fmt: skip


def check_part(example: PartExample) -> None:
    """Hold a part to the whole contract."""
    for check in CHECKS:
        check(example)
