"""Domains that a file, a system or a plug-in declares.

    thermal:
      potential: {temperature: K}
      flow: {heat_flow: W}
      reference: {ambient: 293.15 K}
      letters: {temperature: T, heat_flow: Q}

Each word is declared with its SI unit.  A potential that is the rate of something has that as its ``position``.  The
reference has the potential zero unless another is given.  Whether potential times flow is a power follows from the
units: where it is none, the flow itself has to be one.  ``power: product`` or ``power: flow`` says it aloud, and is
checked.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from kinode.errors import ModelError, UnitError
from kinode.expressions.dimensions import POWER, TIME
from kinode.expressions.units import DIMENSIONS, describe_dimension, find_unit_name
from kinode.model.base.field_reader import Reader
from kinode.model.base.fields import short, unknown_fields
from kinode.model.base.parameters import Symbols
from kinode.model.network.domain import DOMAINS, GROUND, SYMBOLS, Domain, is_word, references_of

FIELDS = ("doc", "potential", "flow", "position", "reference", "power", "letters", "symbol", "between", "beside")
PRODUCT, FLOW = "product", "flow"
TAKEN_WORDS = ("power", "stored", "lost", "supplied", "name")  # quantities of every part
LONGEST_TEXT = 200


def register_domain(kind: str, **declaration: Any) -> Domain:
    """Declare a kind of link for all systems, as a plug-in does before it registers parts with such ports.

    Parameters
    ----------
    kind : str
        Its name, for ``kn.port(kind, ...)`` and declared parts.
    potential, flow : dict of str to str
        The word and the SI unit of each: ``{"temperature": "K"}``, ``{"heat_flow": "W"}``.
    position : dict of str to str, optional
        What the potential is the rate of.
    reference : str or dict
        The name of the reference node; with a potential of its own, ``{"ambient": "293.15 K"}``.
    power : {"product", "flow"}, optional
        Whether potential times flow is a power, or the flow itself; it follows from the units.
    letters : dict of str to str, optional
        Letters of the words in formulas.
    symbol : {"ground", "base"}, optional
        How the reference is drawn.
    between, beside, doc : str, optional
        What a message advises to put between two given potentials, or beside two given flows; a description.

    Returns
    -------
    Domain
        The declaration.

    Examples
    --------
    >>> import kinode as kn
    >>> magnetic = kn.register_domain(
    ...     "magnetic", potential={"tension": "A"}, flow={"flux_rate": "V"}, reference="yoke"
    ... )
    >>> magnetic.port_power("core")
    'core.tension*core.flux_rate'
    """
    others = {name: domain for name, domain in DOMAINS.items() if name != kind}
    domain = read_domain(_plain_reader(str(kind)), kind, declaration, others)
    if DOMAINS.get(kind, domain) != domain:
        raise ModelError(f"the domain {kind!r} is there already, with another meaning", component=kind)
    return DOMAINS.setdefault(kind, domain)


def _plain_reader(kind: str) -> Reader:
    """What reads fields without a system."""

    def no_frame(raw: Any) -> Any:
        raise ModelError(f"{short(raw)} is no field of a domain", component=kind)

    return Reader(kind, parameters={}, tables=(), frame=no_frame, symbols=Symbols)


def read_domain(reader: Reader, kind: Any, given: Any, others: Mapping[str, Domain]) -> Domain:
    """A domain from its declaration; ``others`` are those that there are beside it."""
    if not is_word(kind):
        raise reader.fail(None, f"{short(kind)} cannot name a domain: use letters, digits and _")
    if kind in others:
        raise reader.fail(None, f"the domain {kind!r} is there already; choose another name")
    if not isinstance(given, Mapping):
        raise reader.fail(None, f"a domain is a mapping with potential, flow and reference, not {short(given)}")
    wrong = [key for key in given if key not in FIELDS]
    if wrong:
        raise reader.fail(str(wrong[0]), unknown_fields("a domain", [str(key) for key in wrong], FIELDS))
    words: dict[str, str | None] = {}
    for role in ("potential", "flow", "position"):
        words[role], words[f"{role}_unit"] = _word(reader, given, role)
    names = [words[role] for role in ("potential", "flow", "position") if words[role] is not None]
    if len(set(names)) < len(names):
        raise reader.fail("flow", "potential, flow and position have different names")
    domain = Domain(
        kind=kind,
        **words,  # type: ignore[arg-type]  # potential and flow are there
        **_reference(reader, given, str(words["potential_unit"]), others),
        **_letters(reader, given, names),  # type: ignore[arg-type]
        **_texts(reader, given),  # type: ignore[arg-type]
        symbol=_choice(reader, given, "symbol", SYMBOLS) or GROUND,
    )
    _check_position(reader, domain)
    product = _is_product(reader, domain, _choice(reader, given, "power", (PRODUCT, FLOW)))
    return domain if product else dataclasses.replace(domain, product_is_power=False)


def write_domain(domain: Domain) -> dict[str, Any]:
    """A domain as a file has it."""

    def word(name: str, unit: str | None) -> dict[str, str]:
        return {name: DIMENSIONS[unit or ""].unit}

    written: dict[str, Any] = {"doc": domain.doc} if domain.doc else {}
    written["potential"] = word(domain.potential, domain.potential_unit)
    written["flow"] = word(domain.flow, domain.flow_unit)
    if domain.position is not None:
        written["position"] = word(domain.position, domain.position_unit)
    value = domain.reference_value
    written["reference"] = {domain.reference: value} if value else domain.reference
    letters = {name: letter for name, letter in domain.letters.items() if letter != name}
    plain = Domain("", "", "", "", "", "")
    written |= {"letters": letters} if letters else {}
    for name in ("symbol", "between", "beside"):
        if getattr(domain, name) != getattr(plain, name):
            written[name] = getattr(domain, name)
    return written


# -- fields ----------------------------------------------------------------------------------------
def _word(reader: Reader, given: Mapping[str, Any], role: str) -> tuple[str | None, str | None]:
    """The name of a potential, flow or position, and its unit."""
    raw = given.get(role)
    if raw is None:
        if role == "position":
            return None, None
        raise reader.fail(role, f"is needed: the word and its SI unit, {role}: {{temperature: K}}")
    if not isinstance(raw, Mapping) or len(raw) != 1:
        raise reader.fail(role, f"takes one word with its SI unit, {{temperature: K}}, not {short(raw)}")
    ((name, unit),) = raw.items()
    if not is_word(name) or name in TAKEN_WORDS:
        raise reader.fail(role, f"{short(name)} cannot name a quantity of a node")
    if not isinstance(unit, str):
        raise reader.fail(role, f"the unit of {name} is expected, not {short(unit)}")
    try:
        return name, find_unit_name(unit)
    except UnitError as error:
        raise reader.fail(role, error.message) from None


def _reference(reader: Reader, given: Mapping[str, Any], unit: str, others: Mapping[str, Domain]) -> dict[str, Any]:
    raw = given.get("reference")
    if raw is None:
        raise reader.fail("reference", "is needed: the name of the node that potentials are counted from")
    name, value = raw, 0.0
    if isinstance(raw, Mapping):
        if len(raw) != 1:
            raise reader.fail("reference", f"takes one name with its potential, not {short(raw)}")
        ((name, potential),) = raw.items()
        number = reader.number(potential, unit, "reference")
        if not isinstance(number, float):
            raise reader.fail("reference", "a plain number is expected; for a law write a source of the potential")
        value = number
    if not is_word(name) or name in ("t", "system", "name"):
        raise reader.fail("reference", f"{short(name)} cannot name a node")
    if name in references_of(others):
        taken = next(domain.kind for domain in others.values() if domain.reference == name)
        raise reader.fail("reference", f"{name} is the reference of the domain {taken}; choose another name")
    return {"reference": name, "reference_value": value}


def _letters(reader: Reader, given: Mapping[str, Any], names: list[str | None]) -> dict[str, str]:
    raw = given.get("letters")
    if raw is None:
        return {}
    if not isinstance(raw, Mapping):
        raise reader.fail("letters", f"is a mapping of words to letters, not {short(raw)}")
    letters = {}
    for name, letter in raw.items():
        if name not in names:
            raise reader.fail("letters", unknown_fields("the domain", [str(name)], [str(one) for one in names]))
        if not is_word(letter):
            raise reader.fail("letters", f"{short(letter)} cannot be a letter of formulas")
        letters[("potential_letter", "flow_letter", "position_letter")[names.index(name)]] = letter
    return letters


def _texts(reader: Reader, given: Mapping[str, Any]) -> dict[str, str]:
    texts = {field: given[field] for field in ("doc", "between", "beside") if given.get(field) is not None}
    for field, raw in texts.items():
        if not isinstance(raw, str) or len(raw) > LONGEST_TEXT or not raw.isprintable():
            raise reader.fail(field, f"one line of text is expected, not {short(raw)}")
    return texts


def _choice(reader: Reader, given: Mapping[str, Any], field: str, choices: tuple[str, ...]) -> str | None:
    raw = given.get(field)
    if raw is not None and raw not in choices:
        raise reader.fail(field, f"is {' or '.join(choices)}, not {short(raw)}")
    return None if raw is None else str(raw)


# -- units -----------------------------------------------------------------------------------------
def _check_position(reader: Reader, domain: Domain) -> None:
    """The potential is the rate of the position."""
    if domain.position_unit is not None:
        rate = DIMENSIONS[domain.position_unit].dimension / TIME
        if rate != DIMENSIONS[domain.potential_unit].dimension:
            there = f"the rate of {domain.position} is {describe_dimension(rate)}"
            raise reader.fail(
                "position", f"{there}, and {domain.potential} is in {DIMENSIONS[domain.potential_unit].unit}"
            )


def _is_product(reader: Reader, domain: Domain, said: str | None) -> bool:
    """Whether potential times flow is a power, by the units and by what was said."""
    flow = DIMENSIONS[domain.flow_unit].dimension
    product = flow * DIMENSIONS[domain.potential_unit].dimension
    is_power = {PRODUCT: product == POWER, FLOW: flow == POWER}
    if said is not None and not is_power[said]:
        which = f"{domain.potential} times {domain.flow}" if said == PRODUCT else domain.flow
        wrong = product if said == PRODUCT else flow
        raise reader.fail("power", f"{which} is {describe_dimension(wrong)}, no power (W)")
    if not any(is_power.values()):
        both = f"neither {domain.potential} times {domain.flow}, in {product.unit}, nor {domain.flow}, in {flow.unit}"
        raise reader.fail("flow", f"{both}, is a power (W): energy could not be accounted for")
    return said == PRODUCT if said is not None else is_power[PRODUCT]
