"""Equations of the components of a circuit, as they stand before anything is differentiated (T-7.1) to (T-7.11).

Vectors are in the axes of the body that their link is on, or all in world axes (``basis="global"``).  What elements
exert at their vector links (springs, forces, moments) is written as their laws say it, in the symbols of the sheet;
parts of networks have the equations of their declarations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.expressions.equation_parser import rate_name, split_rate
from kinode.expressions.syntax_tree import Expression, walk
from kinode.model.base.element import Element
from kinode.model.base.frames import Frame
from kinode.model.circuit_topology import INFORMATION, VECTOR, WORLD, CircuitComponent, CircuitLink, CircuitTopology
from kinode.model.constraints.gear_coupling import CoordinateCoupling
from kinode.model.elements.applied_loads import Force, Moment
from kinode.model.elements.spring import Spring
from kinode.model.joints.joint import Joint
from kinode.model.system import System
from kinode.sheets.terms import Call, Family, Grid, Number, Power, Quotient, VectorTerm, as_term
from kinode.structure.network_equations import NetworkEquations
from kinode.structure.network_records import INTEGRAL, SPEED, NetworkEquation
from kinode.symbolic.circuit import link_symbols as s

VANISHING = 1e-9  # a column of a joint's freedoms below this is zero
ZERO = Number(0.0)


@dataclass(frozen=True)
class ComponentRow:
    """An equation of a component or a node.

    Attributes
    ----------
    owner, name : str
        Component or node; what the equation says, in mechanical words.
    left, right : VectorTerm
        Both sides.
    size : int
        Scalar equations in it.
    kinematic : bool
        Whether it has no flow: an equation of the kinematic problem.
    number : str
        Number of the equation in the theory.
    dual : str
        The flow that holds a row of velocities: link and word, ``elbow.2.force``.
    """

    owner: str
    name: str
    left: VectorTerm
    right: VectorTerm
    size: int = 3
    kinematic: bool = False
    number: str = ""
    dual: str = ""


class ComponentRows:
    """The equations of each component of a circuit."""

    def __init__(self, system: System, topology: CircuitTopology, basis: str) -> None:
        self.system, self.topology, self.world_axes = system, topology, basis == "global"

    def of(self, component: CircuitComponent) -> Iterator[ComponentRow]:
        """The rows of a component; those of parts come from the analysis of networks."""
        name = component.name
        if component.role == "SB":
            return self._body(component)
        if name == WORLD:
            return self._base(component)
        if name in self.system.joints:
            return self._joint(component, self.system.joints[name])
        if component.owner in self.system.joints:
            return self._joint_law(component, self.system.joints[component.owner])
        if name in self.system.constraints:
            constraint = self.system.constraints[name]
            if isinstance(constraint, CoordinateCoupling):
                return self._coupling(component, constraint)
            return self._constraint(component)
        return self._element(component)

    # -- bodies ------------------------------------------------------------------------------------
    def _body(self, component: CircuitComponent) -> Iterator[ComponentRow]:
        """(T-7.1), (T-7.2), (T-7.3): balance of forces and moments, and the motion of its links."""
        name = component.name
        links = [link for link in component.links if link.kind == VECTOR]
        m, first = s.MASS[name], links[0].name
        w, v = s.W[first], s.V0[name]
        forces: VectorTerm = _total([s.F[link.name] for link in links])
        moments = _total([s.M[link.name] for link in links])
        arms = [self._turned(s.RHO[link.name], name).cross(s.F[link.name]) for link in links]
        if self._has_other_loads:
            forces, moments = forces + s.OTHER_FORCE[name], moments + s.OTHER_MOMENT[name]
        if self.world_axes:
            J: VectorTerm = s.TURN[name] * s.INERTIA[name] * s.TURN[name].T
            force, moment = m * s.V0_DOT[name], J * s.W_DOT[first] + w.cross(J * w)
            weight: VectorTerm = m * s.GRAVITY()
        else:
            J = s.INERTIA[name]
            force, moment = m * (s.V0_RING[name] + w.cross(v)), J * s.W_RING[first] + w.cross(J * w)
            weight = m * (s.TURN[name].T * s.GRAVITY())
        weightless = all(isinstance(x, float) and x == 0.0 for x in self.system.gravity)
        yield ComponentRow(name, "balance of forces", force, forces if weightless else forces + weight, number="T-7.1")
        yield ComponentRow(name, "balance of moments", moment, _total([moments, *arms]), number="T-7.2")
        for link in links:
            point = v + w.cross(self._turned(s.RHO[link.name], name))
            yield ComponentRow(
                name, f"velocity of link {link.number}", s.V[link.name], point, 3, True, "T-7.3", f"{link.name}.force"
            )
        for link in links[1:]:
            text = f"angular velocity of link {link.number}"
            yield ComponentRow(name, text, s.W[link.name], w, 3, True, "T-7.3", f"{link.name}.moment")

    @cached_property
    def _has_other_loads(self) -> bool:
        """Whether elements without links may load a body."""
        links = {name: [x for x in c.links if x.kind != INFORMATION] for name, c in self.topology.components.items()}
        return any(element.pushes and not links[name] for name, element in self.system.elements.items())

    def _base(self, component: CircuitComponent) -> Iterator[ComponentRow]:
        for link in component.links:
            if link.kind == VECTOR:
                n, at = link.number, link.name
                yield ComponentRow(WORLD, f"link {n} rests", s.V[at], ZERO, 3, True, "", f"{at}.force")
                yield ComponentRow(WORLD, f"link {n} does not turn", s.W[at], ZERO, 3, True, "", f"{at}.moment")

    def _turned(self, vector: VectorTerm, body: str) -> VectorTerm:
        """A vector given in the axes of a body, in those of the equations."""
        return s.TURN[body] * vector if self.world_axes and body in self.system.bodies else vector

    # -- joints ------------------------------------------------------------------------------------
    def _joint(self, component: CircuitComponent, joint: Joint) -> Iterator[ComponentRow]:
        """(T-7.4) to (T-7.10): velocities of the second link, flows, the third links, the coordinates."""
        name, one, two = joint.name, f"{joint.name}.1", f"{joint.name}.2"
        thirds = [link for link in component.links if link.freedom is not None]
        shift, turning, sliding = joint_pattern(joint)
        a, b = ([self._turned(column[x.name], joint.b.body) for x in thirds] for column in (s.TURNING, s.SLIDING))
        rho = self._turned(s.RHO[name], joint.a.body)
        turns = [a[k] * s.potential_of(thirds[k]) for k in turning]
        slides = [b[k] * s.potential_of(thirds[k]) for k in sliding]
        at_second: VectorTerm = s.V[one] + s.W[one].cross(rho) if shift else s.V[one]
        F_1: VectorTerm = -s.F[two]
        w_2: VectorTerm = s.W[one]
        v_2, M_1, back = at_second, -s.M[two], as_term(s.F[two])
        if not self.world_axes:
            w_2, v_2 = s.A[name] * s.W[one], s.A[name] * at_second
            F_1, M_1, back = -(s.A[name].T * s.F[two]), -(s.A[name].T * s.M[two]), s.A[name].T * s.F[two]
        M_1 = M_1 - rho.cross(back) if shift else M_1
        turned, moved = _total([w_2, *turns]), _total([v_2, *slides])
        yield ComponentRow(name, "angular velocity of link 2", s.W[two], turned, 3, True, "T-7.4", f"{two}.moment")
        yield ComponentRow(name, "velocity of link 2", s.V[two], moved, 3, True, "T-7.4", f"{two}.force")
        yield ComponentRow(name, "force of link 1", s.F[one], F_1, number="T-7.5")
        yield ComponentRow(name, "moment of link 1", s.M[one], M_1, number="T-7.5")
        for k, link in enumerate(thirds):
            parts = [a[k].dot(s.M[two])] if k in turning else []
            parts += [b[k].dot(s.F[two])] if k in sliding else []
            yield ComponentRow(
                name, f"{_effort_word(link)} of link {link.number}", s.flow_of(link), -_total(parts), 1, number="T-7.6"
            )
        yield from _coordinate_rows(joint, thirds)

    def _joint_law(self, component: CircuitComponent, joint: Joint) -> Iterator[ComponentRow]:
        """A source or an effect at the third links of a joint."""
        field = component.field
        given: Any = getattr(joint, field)
        for link in component.links:
            if link.kind == INFORMATION:
                continue
            k = link.freedom or 0
            u, flow, dual = s.potential_of(link), s.flow_of(link), f"{link.name}.{_effort_word(link)}"
            law = law_term(given[k]) if field in ("motion", "speed", "effort", "stiffness", "damping") else ZERO
            coordinate = s.Q[_coordinate(joint, link)]
            if field == "motion":
                yield ComponentRow(component.name, "prescribed position", coordinate, law, 1, True, "", dual)
            elif field == "speed":
                yield ComponentRow(component.name, "prescribed speed", u, law, 1, True, "", dual)
            elif field == "effort":
                yield ComponentRow(component.name, f"{_effort_word(link)} of the source", flow, -law, 1)
            elif field == "damping":
                yield ComponentRow(component.name, f"{_effort_word(link)} of the damper", flow, law * u, 1)
            elif field == "stiffness":
                neutral = ZERO if joint.neutral is None else law_term(joint.neutral[k])
                stretch = coordinate if neutral == ZERO else coordinate - neutral
                yield ComponentRow(component.name, f"{_effort_word(link)} of the spring", flow, law * stretch, 1)
            else:
                effort = s.EFFORT[link.name]
                yield ComponentRow(component.name, f"{_effort_word(link)} of the {field}", flow, -effort, 1)

    # -- constraints -------------------------------------------------------------------------------
    def _coupling(self, component: CircuitComponent, coupling: CoordinateCoupling) -> Iterator[ComponentRow]:
        """A gear or rack: one speed follows the other, and its multiplier acts on both."""
        relation = coupling.relation(self.system)
        link_of = dict(zip(coupling.joints().values(), component.links, strict=False))
        follower, leader = link_of[relation.follower], link_of[relation.leader]
        ratio, lam = law_term(relation.ratio), s.MULTIPLIER[component.name]
        name = component.name
        speeds = s.potential_of(follower), ratio * s.potential_of(leader)
        yield ComponentRow(name, "speeds", *speeds, 1, True, "", f"{name}.reaction")
        yield ComponentRow(name, f"{_effort_word(follower)} of the follower", s.flow_of(follower), -lam, 1)
        yield ComponentRow(name, f"{_effort_word(leader)} of the leader", s.flow_of(leader), ratio * lam, 1)

    def _constraint(self, component: CircuitComponent) -> Iterator[ComponentRow]:
        """A constraint between points: rows of velocities, and what their multipliers do at each link."""
        links = [link for link in component.links if link.kind == VECTOR]
        name = component.name
        labels = [f"{name},{k + 1}" for k in range(len(self.system.constraints[name].rows(self.system)))]
        for label in labels:
            parts = [
                s.ROW_FORCE[label, x.name].dot(s.V[x.name]) + s.ROW_MOMENT[label, x.name].dot(s.W[x.name])
                for x in links
            ]
            yield ComponentRow(name, "holds velocities", _total(parts), ZERO, 1, True, "", f"{name}.reaction")
        for link in links:
            force = _total([s.MULTIPLIER[label] * s.ROW_FORCE[label, link.name] for label in labels])
            moment = _total([s.MULTIPLIER[label] * s.ROW_MOMENT[label, link.name] for label in labels])
            yield ComponentRow(name, f"force of link {link.number}", s.F[link.name], -force)
            yield ComponentRow(name, f"moment of link {link.number}", s.M[link.name], -moment)

    # -- elements ----------------------------------------------------------------------------------
    def _element(self, component: CircuitComponent) -> Iterator[ComponentRow]:
        """An element that loads bodies or joints: its flows are the opposite of what it gives."""
        yield from self.loads(component)
        for link in component.links:
            if link.freedom is not None:
                effort = s.EFFORT[link.name]
                word = f"{_effort_word(link)} of link {link.number}"
                yield ComponentRow(component.name, word, s.flow_of(link), -effort, 1)

    def loads(self, component: CircuitComponent) -> Iterator[ComponentRow]:
        """What an element, or a part of a network, exerts at its vector links."""
        name = component.name
        element: Any = self.system.elements.get(name)
        links = [link for link in component.links if link.kind == VECTOR]
        pulls = element is not None and "tension" in element.quantities and len(links) == 2
        for k, link in enumerate(links):
            if pulls:
                force = self._own_axes(tension_term(name, element) * s.DIRECTION[name], link)
                yield ComponentRow(name, f"force of link {link.number}", s.F[link.name], -force if k == 0 else force)
                yield ComponentRow(name, f"no moment at link {link.number}", s.M[link.name], ZERO)
            else:
                force, moment = given_loads(element, link, self.world_axes)
                yield ComponentRow(name, f"force of link {link.number}", s.F[link.name], _opposite(force))
                yield ComponentRow(name, f"moment of link {link.number}", s.M[link.name], _opposite(moment))

    def _own_axes(self, vector: VectorTerm, link: CircuitLink) -> VectorTerm:
        """A vector in world axes, in those of the link."""
        body = link.frame.body if link.frame is not None else WORLD
        return vector if self.world_axes or body not in self.system.bodies else s.TURN[body].T * vector


def nodal_rows(topology: CircuitTopology) -> Iterator[ComponentRow]:
    """The flows of all links at a node sum to zero; those of reference nodes go to the reference."""
    for node in topology.nodes.values():
        if node.reference or node.kind == INFORMATION:
            continue
        if node.kind == VECTOR:
            yield ComponentRow(node.name, "sum of forces", _total([s.F[x.name] for x in node.links]), ZERO)
            yield ComponentRow(node.name, "sum of moments", _total([s.M[x.name] for x in node.links]), ZERO)
        else:
            word = f"sum of {_effort_word(node.links[0])}s"
            yield ComponentRow(node.name, word, _total([s.flow_of(x) for x in node.links]), ZERO, 1)


def joint_pattern(joint: Joint) -> tuple[bool, list[int], list[int]]:
    """Whether a joint's points move apart, and which freedoms turn and which slide; at a random position."""
    if not joint.n_u:
        return False, [], []
    q = np.random.default_rng(5).uniform(0.2, 0.9, joint.n_q)
    if joint.quaternion is not None:
        where = slice(joint.n_q - 4, joint.n_q)
        q[where] /= np.linalg.norm(q[where])
    form: Array = joint.form(_plain)
    S = np.asarray(joint.motion_subspace(q, form), dtype=float)
    p = np.asarray(joint.transform(q, form).p, dtype=float)
    columns = [np.abs(S[:, k]) > VANISHING for k in range(joint.n_u)]
    turning = [k for k, column in enumerate(columns) if column[:3].any()]
    sliding = [k for k, column in enumerate(columns) if column[3:].any()]
    return bool(np.abs(p).max() > VANISHING), turning, sliding


def _plain(value: Any) -> float:
    """A number for a joint's constant: the pattern does not depend on it."""
    return 0.7 if isinstance(value, Expression) else float(value)


def _coordinate(joint: Joint, link: CircuitLink) -> str:
    """The name of the coordinate that belongs to a third link, of the joint or of what is connected there."""
    assert link.freedom is not None
    return joint.name if joint.n_u == 1 else f"{joint.name}.{joint.coordinates[link.freedom][0]}"


def _coordinate_rows(joint: Joint, thirds: list[CircuitLink]) -> Iterator[ComponentRow]:
    """(T-7.7): rates of the coordinates."""
    name = joint.name
    if joint.quaternion is None and joint.n_q == joint.n_u:
        for link in thirds:
            rate = s.Q_DOT[_coordinate(joint, link)]
            yield ComponentRow(name, "rate of the coordinate", rate, s.potential_of(link), 1, True, "T-7.7")
    elif joint.n_u:
        speeds = Grid(tuple((s.potential_of(link),) for link in thirds))
        right = s.RATE_MAP[name] * speeds
        yield ComponentRow(name, "rates of the coordinates", s.QS_DOT[name], right, joint.n_q, True, "T-7.7")


def _effort_word(link: CircuitLink) -> str:
    return link.words.flow


def _opposite(term: VectorTerm) -> VectorTerm:
    """A term with the other sign; zero has none."""
    return term if term == ZERO else -term


def _total(terms: list[VectorTerm]) -> VectorTerm:
    """A sum; zero if there are no terms."""
    if not terms:
        return ZERO
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


COMPARISONS = {"less": "<", "less_equal": "<=", "equal": "="}


def name_term(name: str) -> VectorTerm:
    """A symbol that is written by its whole name."""
    return Family(name)()


def law_term(law: Expression | float, symbol: Callable[[str], VectorTerm] = name_term) -> VectorTerm:
    """A law as a term; ``symbol`` gives the symbol of a name."""
    if not isinstance(law, Expression):
        return as_term(law)
    terms: dict[int, VectorTerm] = {}
    for node in walk(law):  # arguments come before what is made of them
        args = tuple(terms[id(x)] if isinstance(x, Expression) else x for x in node.args)
        terms[id(node)] = _made(node.op, args, symbol)
    return terms[id(law)]


def _made(op: str, args: tuple[object, ...], symbol: Callable[[str], VectorTerm]) -> VectorTerm:
    if op == "name":
        return symbol(str(args[0]))
    if op in ("call", "call_derivative"):
        table, *rest = (x for x in args if not isinstance(x, tuple))
        first, *others = [as_term(x) for x in rest]
        return Call(str(table) + "'" * (op == "call_derivative"), first, tuple(others))
    terms = [as_term(x) for x in args]
    a, b = terms[0], terms[-1]
    match op:
        case "add":
            return a + b
        case "sub":
            return a - b
        case "neg":
            return -a
        case "inv":
            return Quotient(Number(1.0), a)
        case "mul":
            return _multiplied(a, b)
        case "pow" if isinstance(b, Number) and b.value == int(b.value) > 0:
            return Power(a, int(b.value))
    return Call(op, a, tuple(terms[1:]))


def _multiplied(a: VectorTerm, b: VectorTerm) -> VectorTerm:
    """A product; that with an inverse is a quotient."""
    one = Number(1.0)
    if isinstance(b, Quotient) and b.above == one:
        return Quotient(a, b.below)
    if isinstance(a, Quotient) and a.above == one:
        return Quotient(b, a.below)
    return a * b


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


ACCENTS = ("", "dot", "ddot")


@dataclass(frozen=True)
class NetworkRow(ComponentRow):
    """A row of a part, with the equation that the analysis of networks has of it."""

    equation: NetworkEquation | None = None


class NetworkRows:
    """The rows of all parts."""

    def __init__(self, network: NetworkEquations, topology: CircuitTopology) -> None:
        self.network = network
        self._letters = s.shared_letters(network.domains.values())  # of unknowns
        self.meaning_of: dict[VectorTerm, tuple[str, int]] = {}  # symbol -> variable and order of its derivative
        self.link_of = {
            network.flow(link.component, link.port): link.name
            for link in topology.links
            if link.component in network.parts and link.port in network.parts[link.component].ports()
        }

    def of(self, part: str) -> Iterator[NetworkRow]:
        """The rows of a part."""
        known = {(e.owner, e.name): e for e in self.network.rows}
        for row in self.network.parts[part].equations():
            left, right = (law_term(self.network.expand(side), self.symbol) for side in row.equation)
            equation = known.get((part, row.name))
            yield NetworkRow(part, row.name, left, right, 1, equation=equation)

    def speeds(self) -> Iterator[NetworkRow]:
        """Rows for the speeds of shafts that occur in no other row, and for the integrals of quasi-velocities."""
        for equation in self.network.rows:
            if equation.name in (SPEED, INTEGRAL) and equation.owner in self.network.nodes:
                left, right = (self.symbol(rate_name(*order)) for order in equation.terms)
                yield NetworkRow(equation.owner, equation.name, left, right, 1, equation=equation)

    def symbol(self, name: str) -> VectorTerm:
        """The symbol of a name: a potential, a flow, an unknown, its rate, or the name itself."""
        base, order = split_rate(name)
        symbol = self._symbol(name, base, order)
        if base in self.network.variables:
            self.meaning_of[symbol] = (base, order)
        return symbol

    def _symbol(self, name: str, base: str, order: int) -> VectorTerm:
        accent = ACCENTS[min(order, 2)]
        variable = self.network.variables.get(base)
        if variable is None:
            return name_term(name)
        if variable.sort == "joint":
            return self._joint(base, order)
        if variable.sort == "unknown":
            owner, _, word = base.rpartition(".")
            return Family(self._letters.get(word, word), "{0}", 0, accent=accent)[owner]
        words = s.energy_symbols(self.network.domains[variable.kind])
        owner, _, word = base.rpartition(".")
        if variable.sort == "flow":
            return self._dotted(words.flow, accent)[self.link_of[base]]
        family = words.position if words.position is not None and word == words.position.words else words.potential
        if family is words.position and order:  # speeds are what all read
            family, accent = words.potential, ACCENTS[order - 1]
        return self._dotted(family, accent)[owner]

    def _joint(self, name: str, order: int) -> VectorTerm:
        """The coordinate of a joint, its speed or acceleration."""
        joint, k = self.network.joint_of[name]
        coordinates = self.network.system.joints[joint].coordinates
        label = joint if len(coordinates) == 1 else f"{joint}.{coordinates[k][0]}"
        if not self.network.speed_order(name):
            order += 1
        return Family("q", "{0}", 0, accent=ACCENTS[order])[label]

    def _dotted(self, family: Family, accent: str) -> Family:
        return Family(family.letter, family.below, 0, family.unit, family.words, accent)
