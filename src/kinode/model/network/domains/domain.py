"""Domains: what a kind of link carries, as one declaration.

All ports at a node have its potential; their flows sum to zero (T-7.13).  Everything that has to know more about a kind
of link than its name reads it here: words and units, the reference node, whether potential times flow is a power, how
formulas and drawings show it, and what a message advises.

    DOMAINS["electrical"].potential           "voltage"
    DOMAINS["rotational"].position            "angle", of which the speed is the rate
    domain.port_power("plus")                 "plus.voltage*plus.current"

Heat is a domain in which the flow itself is a power: temperature times heat flow is none.  There a port takes in its
flow, and what the reference gives or takes is work on the system from outside.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from kinode.errors import ModelError
from kinode.expressions.parser import RESERVED, is_name

GROUND, BASE = "ground", "base"  # how a reference is drawn: three bars, a hatched plate
SYMBOLS = (GROUND, BASE)
ENERGIES = ("kinetic", "potential", "electric", "thermal")  # kinds of energy that parts store


@dataclass(frozen=True)
class Domain:
    """One kind of link; units are names of dimensions."""

    kind: str
    potential: str
    flow: str
    reference: str
    potential_unit: str
    flow_unit: str
    position: str | None = None
    """Of which the potential is the rate, where there is one."""
    position_unit: str | None = None
    reference_value: float = 0.0
    """The potential of the reference."""
    product_is_power: bool = True
    """Whether potential times flow is a power; where it is not, the flow itself is one."""
    potential_letter: str = field(default="", compare=False)
    flow_letter: str = field(default="", compare=False)
    position_letter: str = field(default="", compare=False)
    symbol: str = field(default=GROUND, compare=False)
    """What its reference is drawn as."""
    moves: str = field(default="", compare=False)
    """What a joint does whose coordinate is a position of this domain: it turns, it slides."""
    between: str = field(default="something that gives way", compare=False)
    """What separates two parts that both decide a potential."""
    beside: str = field(default="something that stores or passes it", compare=False)
    """What takes up the difference of two flows that are both given."""
    doc: str = field(default="", compare=False)

    @cached_property
    def units(self) -> Mapping[str, str]:
        """The unit of each word: position, potential, flow."""
        units = {} if self.position is None else {self.position: self.position_unit or ""}
        return {**units, self.potential: self.potential_unit, self.flow: self.flow_unit}

    @cached_property
    def letters(self) -> Mapping[str, str]:
        """The letter of each word in formulas; the word itself where none was declared."""
        letters = {} if self.position is None else {self.position: self.position_letter or self.position}
        return {**letters, self.potential: self.potential_letter or self.potential,
                self.flow: self.flow_letter or self.flow}  # fmt: skip

    @property
    def across(self) -> dict[str, str]:
        """What all ports at a node share, with its unit: position and potential."""
        return {word: unit for word, unit in self.units.items() if word != self.flow}

    @property
    def reference_node(self) -> str:
        """The name of the reference as a node: two domains may share a reference, and then differ in positions."""
        return f"{self.reference}.{self.position}" if self.position else self.reference

    @property
    def potentials(self) -> str:
        """The potentials of several nodes, in a message: angles or speeds."""
        words = (self.position, self.potential) if self.position else (self.potential,)
        return " or ".join(plural(word) for word in words)

    @property
    def flows(self) -> str:
        """The flows of several ports, in a message."""
        return plural(self.flow)

    def reference_of(self, word: str) -> float:
        """The value of a word at the reference."""
        return self.reference_value if word == self.potential else 0.0

    def port_power(self, port: str) -> str:
        """The power into a part through one of its ports, as a formula."""
        flow = f"{port}.{self.flow}"
        return f"{port}.{self.potential}*{flow}" if self.product_is_power else flow


def is_word(name: object) -> bool:
    """Whether a text can name a domain, or a port, a field or an unknown of a part."""
    return isinstance(name, str) and is_name(name) and "." not in name and "@" not in name and name not in RESERVED


def plural(word: str) -> str:
    """A word for several: currents, viscosities, heat flows."""
    word = word.replace("_", " ")
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("s", "x", "ch", "sh")) else f"{word}s"


DOMAINS: dict[str, Domain] = {
    domain.kind: domain
    for domain in (
        Domain(
            "electrical", "voltage", "current", "gnd", "voltage", "current",
            potential_letter="u", flow_letter="i", between="a resistance", beside="a resistance",
        ),
        Domain(
            "rotational", "speed", "moment", "world", "angular_velocity", "moment", "angle", "angle",
            potential_letter="omega", flow_letter="M", position_letter="phi", symbol=BASE, moves="turns",
            between="a spring or a damper", beside="an inertia",
        ),
        Domain(
            "translational", "speed", "force", "world", "velocity", "force", "position", "length",
            potential_letter="v", flow_letter="F", position_letter="s", symbol=BASE, moves="slides",
            between="a spring or a damper", beside="a mass",
        ),
    )
}  # fmt: skip
"""The domains that every system knows: kinode's own, and those of plug-ins."""


def domain_of_coordinate(unit: str) -> Domain:
    """The domain of a joint's coordinate, by its unit: angles are rotational, lengths translational."""
    for domain in DOMAINS.values():
        if domain.moves and domain.position_unit == unit:
            return domain
    raise ModelError(f"no domain has a position in {unit}")


def references_of(domains: Mapping[str, Domain]) -> frozenset[str]:
    """The names of all references."""
    return frozenset(domain.reference for domain in domains.values())
