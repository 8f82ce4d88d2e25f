"""Domains: what a kind of link carries, as one declaration; and vector ports, which carry the motion of a body.

All ports at a node have its potential; their flows sum to zero (T-7.13).  Everything that has to know more about a kind
of link than its name reads it here: words and units, the reference node, whether potential times flow is a power, how
formulas and drawings show it, and what a message advises.

    DOMAINS["electrical"].potential           "voltage"
    DOMAINS["rotational"].position            "angle", of which the speed is the rate
    domain.port_power("plus")                 "plus.voltage*plus.current"

Heat is a domain in which the flow itself is a power: temperature times heat flow is none.  There a port takes in its
flow, and what the reference gives or takes is work on the system from outside.

A vector port is a point of a body as a link of six scalar ones, v, w | F, M: a frame field that ``Part.vector_ports``
names.  Its potentials are the velocity of the frame's origin and the angular velocity of its body, its flows the force
and the moment on the part there, three numbers each, in world axes or in the frame's own.  The part states an equation
for each of the six flows; the body feels the opposite ones.  ``position`` is told beside them, as an information link.
A row in vectors stands for three, one for each axis: ``hand.force = damping*hand.velocity``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kinode.algebra.scalars import Scalar, tidy
from kinode.errors import ModelError
from kinode.expressions.function_table import RESERVED
from kinode.expressions.parser import is_name
from kinode.expressions.syntax_tree import Expression, symbol
from kinode.model.base.element import Load
from kinode.model.base.frames import Frame

if TYPE_CHECKING:
    from kinode.model.base.scene import VelocityScene
    from kinode.model.network.part import Part


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


MECHANICAL = "mechanical"  # the kind of a vector port in a declaration
WORLD_AXES, OWN_AXES = "world", "own"
AXES = (WORLD_AXES, OWN_AXES)
POTENTIALS = {"velocity": "velocity", "angular_velocity": "angular_velocity"}
FLOWS = {"force": "force", "moment": "moment"}
TOLD = {"position": "length"}  # information, no potential
LETTERS = "xyz"


def vector_units(ports: Mapping[str, str], words: Mapping[str, str]) -> dict[str, str]:
    """The scalar quantities of vector ports: ``hand.force.x``, with their units."""
    return {f"{port}.{word}.{x}": unit for port in ports for word, unit in words.items() for x in LETTERS}


def in_components(text: str, ports: Mapping[str, str]) -> list[tuple[str, str]]:
    """A text in vectors of ports as three in their components, each with the letter of its axis; else the text."""
    names = "|".join(map(re.escape, ports))
    words = "|".join((*POTENTIALS, *FLOWS, *TOLD))
    vector = re.compile(rf"(?<![\w.])(?:{names})\.(?:{words})(?![\w.])")
    if not ports or not vector.search(text):
        return [("", text)]
    return [(x, vector.sub(rf"\g<0>.{x}", text)) for x in LETTERS]


def refused_rate(ports: Mapping[str, str], name: str, order: int) -> str | None:
    """Why the derivative of a name cannot be used, in words: the part is solved before accelerations are known."""
    if not order or name not in vector_units(ports, {**POTENTIALS, **TOLD}):
        return None
    port, word, _ = name.split(".")
    if word in TOLD and order == 1 and ports[port] == WORLD_AXES:
        return None
    return f"the rate of {name} is not known to a part at a vector port; a mass belongs to the body"


def vector_power(port: str) -> str:
    """The power into a part through a vector port, as a formula."""
    pairs = (("force", "velocity"), ("moment", "angular_velocity"))
    return " + ".join(f"{port}.{flow}.{x}*{port}.{potential}.{x}" for flow, potential in pairs for x in LETTERS)


def vector_values(part: Part) -> dict[str, Expression | float]:
    """What the names of its vector ports stand for in the system: quantities of frames, and flows of its own."""
    values: dict[str, Expression | float] = {}
    for port, axes in part.vector_ports.items():
        frame: Frame = getattr(part, port)
        turned = f"@{frame}" if axes == OWN_AXES else ""
        for word in (*POTENTIALS, *TOLD):
            values |= {f"{port}.{word}.{x}": symbol(f"{frame}.{word}.{x}{turned}") for x in LETTERS}
        values |= {f"{port}.{word}.{x}": symbol(f"{part.name}.{port}.{word}.{x}") for word in FLOWS for x in LETTERS}
    return values


def vector_loads(part: Part, scene: VelocityScene) -> tuple[Load, ...]:
    """What the bodies feel: the opposite of the flows."""
    loads = []
    for port, axes in part.vector_ports.items():
        frame: Frame = getattr(part, port)

        def flow(word: str, port: str = port) -> list[Scalar]:
            return [-scene.law(symbol(f"{part.name}.{port}.{word}.{x}")) for x in LETTERS]

        force, moment = (tidy(flow(word)) for word in FLOWS)
        if axes == OWN_AXES:
            R = scene.pose(frame).R
            force, moment = R @ np.asarray(force), R @ np.asarray(moment)
        loads.append(Load(frame, force, moment))
    return tuple(loads)


def check_vector_ports(part: Part) -> None:
    """Refuse frames without a name, whose quantities the equations could not name."""
    for port in part.vector_ports:
        frame: Frame = getattr(part, port)
        if not frame.is_plain and frame.name is None:
            raise ModelError("the frame needs a name: body.at(..., name=...)", component=part.name, field=port)
