"""What elements exert at their vector links, as their laws say it: springs, forces, moments."""

from __future__ import annotations

from kinode.model.base.element import Element
from kinode.model.base.frames import Frame
from kinode.model.circuit_links.circuit_topology import WORLD, CircuitLink
from kinode.model.elements.applied_loads import Force, Moment
from kinode.model.elements.spring import Spring
from kinode.symbolic.circuit_listing import link_symbols as s
from kinode.symbolic.formulas.law_terms import law_term, name_term
from kinode.symbolic.formulas.vector_terms import Grid, Number, VectorTerm

ZERO = Number(0.0)


def tension_term(name: str, element: Element) -> VectorTerm:
    """The tension of a spring in its length and the rate of that; of another element its symbol."""
    if not isinstance(element, Spring):
        return s.TENSION[name]
    if element.tension is not None:
        symbols = {"length": s.LENGTH[name], "rate": s.LENGTH_RATE[name]}
        return law_term(element.tension, lambda word: symbols.get(word) or name_term(word))
    stretch: VectorTerm = s.LENGTH[name]
    if element.free_length != 0.0:
        stretch = stretch - law_term(element.free_length)
    parts = []
    if element.stiffness != 0.0:
        parts.append(law_term(element.stiffness) * stretch)
    if element.damping != 0.0:
        parts.append(law_term(element.damping) * s.LENGTH_RATE[name])
    return parts[0] if len(parts) == 1 else parts[0] + parts[1]


def given_loads(element: Element | None, link: CircuitLink, world_axes: bool) -> tuple[VectorTerm, VectorTerm]:
    """Force and moment that an element exerts at a link: its law where it has one in plain axes, else symbols."""
    if isinstance(element, Force | Moment) and element.reaction_on is None:
        laws = element.force if isinstance(element, Force) else element.moment
        vector = _in_axes(Grid(tuple((law_term(law),) for law in laws)), element.expressed_in, link, world_axes)
        if vector is not None:
            return (vector, ZERO) if isinstance(element, Force) else (ZERO, vector)
    return s.LOAD[link.name], s.LOAD_MOMENT[link.name]


def _in_axes(vector: VectorTerm, given: Frame | None, link: CircuitLink, world_axes: bool) -> VectorTerm | None:
    """A vector given in the axes of a body, in those of a link; None if they are turned against the body's."""
    axes = Frame(WORLD) if given is None else given
    own = WORLD if world_axes or link.frame is None else link.frame.body
    if axes.rotation is not None or axes.base is not None:
        return None
    if axes.body == own:
        return vector
    turned = vector if axes.body == WORLD else s.TURN[axes.body] * vector
    return turned if own == WORLD else s.TURN[own].T * turned
