"""Symbols of the component circuit: potentials and flows of links, internal variables, constants of components.

A link is named by its component and its number there: v_elbow.1.  Potentials are variables of nodes, so that all links
at a node have the same; flows are variables of links.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from kinode.model.circuit_topology import CircuitLink
from kinode.model.network.domain import Domain
from kinode.sheets.terms import Family, IndexedSymbol

# potentials and flows of vector links
V = Family("v", "{0}", 1, "m/s", "velocity of a link's point")
W = Family("omega", "{0}", 1, "rad/s", "angular velocity of a link")
F = Family("F", "{0}", 1, "N", "force on the component at a link")
M = Family("M", "{0}", 1, "N*m", "moment on the component at a link")
# solid bodies
V0 = Family("v", "0,{0}", 1, "m/s", "velocity of the mass center")
V0_RING = Family("v", "0,{0}", 1, "m/s^2", "rate of the mass center's velocity in the body's own axes", accent="ring")
V0_DOT = Family("v", "0,{0}", 1, "m/s^2", "rate of the mass center's velocity", accent="dot")
W_RING = Family("omega", "{0}", 1, "rad/s^2", "rate of the angular velocity in the body's own axes", accent="ring")
W_DOT = Family("omega", "{0}", 1, "rad/s^2", "rate of the angular velocity", accent="dot")
MASS = Family("m", "{0}", 0, "kg", "mass")
INERTIA = Family("J", "{0}", 2, "kg*m^2", "inertia about the mass center")
RHO = Family("rho", "{0}", 1, "m", "mass center to the link's point; of a joint: its first point to its second")
TURN = Family("R", "{0}", 2, "", "body axes to world axes")
GRAVITY = Family("g", "", 1, "m/s^2", "gravity, in world axes")
OTHER_FORCE = Family("F", "{0}", 1, "N", "force of fields and loads without a link", above="o")
OTHER_MOMENT = Family(
    "M", "{0}", 1, "N*m", "moment of fields and loads without a link, about the mass center", above="o"
)
# kinematic nodes
A = Family("A", "{0}", 2, "", "axes of the first body to axes of the second")
TURNING = Family("a", "{0}", 1, "", "axis of a rotation, in axes of the second body")
SLIDING = Family("b", "{0}", 1, "", "direction of a translation, in axes of the second body")
Q = Family("q", "{0}", 0, "", "coordinate of a joint")
Q_DOT = Family("q", "{0}", 0, "", "rate of the coordinate of a joint", accent="dot")
QS = Family("q", "{0}", 1, "", "coordinates of a joint")
QS_DOT = Family("q", "{0}", 1, "", "rates of the coordinates of a joint", accent="dot")
RATE_MAP = Family("N", "{0}", 2, "", "speeds to rates of coordinates")
MULTIPLIER = Family("lam", "{0}", 0, "", "multiplier of a constraint's row")
ROW_FORCE = Family("f", "{0},{1}", 1, "", "force of a unit multiplier at a link")
ROW_MOMENT = Family("m", "{0},{1}", 1, "", "moment of a unit multiplier at a link")
# laws
LOAD = Family("f", "{0}", 1, "N", "force that the element gives at a link")
LOAD_MOMENT = Family("m", "{0}", 1, "N*m", "moment that the element gives at a link")
EFFORT = Family("f", "{0}", 0, "", "effort that the component gives along a freedom")
TENSION = Family("T", "{0}", 0, "N", "tension")
LENGTH = Family("l", "{0}", 0, "m", "length")
LENGTH_RATE = Family("l", "{0}", 0, "m/s", "its rate", accent="dot")
DIRECTION = Family("e", "{0}", 1, "", "direction from the first link to the second")

VARIABLES = {
    V: "{node}.velocity{at}", F: "{name}.force{at}", M: "{name}.moment{at}", MULTIPLIER: "{row}.reaction",
    **dict.fromkeys((W, W_RING, W_DOT), "{node}.angular_velocity{at}"),
    **dict.fromkeys((V0, V0_RING, V0_DOT), "{name}.com.velocity{own}"),
    **dict.fromkeys((A, RHO, TURNING, SLIDING, RATE_MAP, Q, Q_DOT, QS, QS_DOT), "{joint}.q"),
}  # fmt: skip
"""The variable that the symbols of a family depend on, if there is one: by the name of the symbol, a link's node, the
joint that a link or a coordinate is of, and the axes that the equations are in."""


class EnergySymbols(NamedTuple):
    """Families of one domain: potential, flow, and the position whose rate the potential is."""

    potential: Family
    flow: Family
    position: Family | None


def energy_symbols(domain: Domain) -> EnergySymbols:
    """The families of a domain's potential and flow, with the letters that it declares."""

    def family(word: str) -> Family:
        return Family(domain.letters[word], "{0}", 0, domain.units[word], word)

    position = family(domain.position) if domain.position else None
    return EnergySymbols(family(domain.potential), family(domain.flow), position)


def shared_letters(domains: Iterable[Domain]) -> dict[str, str]:
    """The letters of words that have one in all domains that use them: a speed is omega or v, and has none."""
    letters: dict[str, set[str]] = {}
    for domain in domains:
        for word, letter in domain.letters.items():
            letters.setdefault(word, set()).add(letter)
    return {word: next(iter(each)) for word, each in letters.items() if len(each) == 1}


def potential_of(link: CircuitLink) -> IndexedSymbol:
    """The potential of an energy link."""
    return energy_symbols(link.words).potential[link.name]


def flow_of(link: CircuitLink) -> IndexedSymbol:
    """The flow of an energy link."""
    return energy_symbols(link.words).flow[link.name]
