"""A body that flies with members that slide inside it: balances solved for the motion, (T-8.25), (49) to (56).

Along axis k, all bodies that are not free to slide along it move with the carrier; M_k is their mass.  With
a_ki = acc(r_i)_k of body i, Q_c the forces of the slides on the bodies that do slide, and F the outer force,

    F_k / M_k + g_k = A_0k + sum_i (m_i / M_k) a_ki + sum_c Q_c / M_k                            (51) to (53)
    0 = a_kj + F_k / M_k - sum_i (m_i / M_k) a_ki - sum_c Q_c / M_k - Q_j / m_j                  (49), (50)
    F_ki = (m_i / M_k) F_k + m_i a_ki - (m_i / M_k) (sum_h m_h a_kh + sum_c Q_c)                 force of a guide
    M_o = sum (H_j° + Omega x H_j) + rho x F + sum_i (r_i - rho) x F_i                           (54) to (56)

where i runs over the bodies that move with the carrier along k, and rho leads to the mass center of the carrier.
A member that turns moves along k with what carries it; its place r_i and its H_i are symbols, and its own balance about
the hinge stays as it is.  The force of a slide along its axis is -K y - c y_dot of springs and dampers, or a symbol.

Sums of products are written as a person would: constants that share a motion are added, motions that share one are
drawn together.

    I_Y q_dot + mu Z^2 q_dot + mu Z^2 p r + (I_X - I_Z) p r + mu Z Y p q - J_YZ r_dot - mu Z Y r_dot + J_YZ p q
        = (I_Y + mu Z^2) q_dot + (I_X - I_Z + mu Z^2) p r - (J_YZ + mu Y Z) (r_dot - p q)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from kinode.formulations.free_flight import element_loads
from kinode.model.joints.fixed import Fixed
from kinode.model.joints.prismatic import Prismatic
from kinode.multibody.snapshot import Snapshot
from kinode.sheets.terms import SymbolStyle
from kinode.symbolic.balances.balance_symbols import XYZ, BalanceSymbols, ParallelSymbols
from kinode.symbolic.balances.body_balances import (
    BalanceLine,
    BodyBalances,
    SignedTerm,
    arm_terms,
    block,
    plain_equation,
    rate_terms,
    total,
    without_zeros,
)
from kinode.symbolic.balances.frame_carrier import Slide
from kinode.symbolic.writers import expanded

Chain = tuple[str, ...]  # slides on the way to a body, along one axis


class MemberMotion:
    """The equations of a carrier and its members, solved for accelerations and forces of guides."""

    def __init__(self, balances: BodyBalances, snapshot: Snapshot) -> None:
        self.balances, self.symbols, self.carrier = balances, balances.symbols, balances.carrier
        self.groups = list(self.symbols.groups)
        self.forces = SlideForces(self.symbols, snapshot)
        self.F, self.M = self.symbols.outer()
        self.g, self.m = self.symbols.gravity(), self.symbols.total_mass()

    @cached_property
    def obstacle(self) -> str:
        """Why the system is not of this kind; nothing if it is."""
        system, carrier = self.carrier.system, self.carrier
        if carrier.base is None or carrier.shared is not None or len(self.groups) < 2:
            return "the frame is not fixed in a body with members"
        first = set(self.symbols.groups[self.groups[0]])
        if self.groups[0] != carrier.body:
            return f"{carrier.body} has no mass"
        for joint in system.joints.values():
            ends = {joint.a.body, joint.b.body}
            if "world" in ends and not ends & first:
                return f"{joint.name} connects a member with the world"
            if ends <= self._sliding and not isinstance(joint, Fixed | Prismatic):
                return f"{joint.name} closes a loop"
        for bodies in self._turning:
            anchors = self._anchors(bodies)
            if len(anchors) != 1:
                return f"{bodies[0]} is carried by {' and by '.join(anchors.values())}"
        if system.constraints:
            return "constraints act"
        loaded = self.forces.loaded - first
        if loaded:
            return f"loads act on {', '.join(sorted(loaded))}"
        if any(chain[:-1] not in classes for classes in self.classes for chain in classes if chain):
            return "a slide carries a slide along the same axis, without mass between"
        light = [c[-1] for classes in self.classes for c, members in classes.items() if members[0] in self.turning]
        return f"what {light[0]} moves has no mass" if light else ""

    # -- who moves with whom -----------------------------------------------------------------------
    @cached_property
    def _sliding(self) -> set[str]:
        """The bodies that are fixed in the carrier or slide along its axes, itself among them."""
        return {name for name, body in self.carrier.parallel.items() if all(s.axis is not None for s in body.slides)}

    @cached_property
    def turning(self) -> list[str]:
        """The groups that do not: hinged ones, and what these carry."""
        return [group for group in self.groups if not self.balances.is_written(group)]

    @cached_property
    def _turning(self) -> list[list[str]]:
        """The bodies that do not slide so, those together that joints connect."""
        joints, rest = self.carrier.system.joints.values(), set(self.carrier.system.bodies) - self._sliding
        parts: list[list[str]] = []
        for name in self.carrier.system.bodies:
            if name not in rest:
                continue
            part, rest = [name], rest - {name}
            for body in part:
                ends = [{j.a.body, j.b.body} for j in joints if body in (j.a.body, j.b.body)]
                part += sorted(set().union(*ends) & rest)
                rest -= set(part)
            parts.append(part)
        return parts

    def _anchors(self, bodies: Sequence[str]) -> dict[tuple[str, ...], str]:
        """The bodies of the carrier and of slides that some turning bodies are connected with; one of each slide."""
        joints = self.carrier.system.joints.values()
        ends = {x for j in joints for x in (j.a.body, j.b.body) if {j.a.body, j.b.body} & set(bodies)} & self._sliding
        return {tuple(s.joint for s in self.carrier.parallel[x].slides): x for x in sorted(ends)}

    def _slides_of(self, group: str) -> tuple[Slide, ...]:
        """The slides on the way to a group, or to what carries it."""
        body = self.symbols.groups[group][0]
        part = next((bodies for bodies in self._turning if body in bodies), None)
        carrying = body if part is None else next(iter(self._anchors(part).values()))
        return self.carrier.parallel[carrying].slides

    @cached_property
    def classes(self) -> list[dict[Chain, list[str]]]:
        """For each axis the bodies that move together along it, by the slides on the way; driven ones hold."""
        joints, result = self.carrier.system.joints, []
        for axis in range(3):
            classes: dict[Chain, list[str]] = {}
            for group in sorted(self.groups, key=self.turning.__contains__):
                slides = [slide for slide in self._slides_of(group) if slide.axis == axis]
                chain = tuple(s.joint for s in slides if not joints[s.joint].driven)
                classes.setdefault(chain, []).append(group)
            result.append(classes)
        return result

    def _mass(self, groups: Sequence[str]) -> Any:
        """The mass of several bodies."""
        return self.m if len(groups) == len(self.groups) else sum(self.symbols.mass(g) for g in groups)

    def _share(self, group: str, groups: Sequence[str]) -> Any:
        return self.symbols.mass(group) / self._mass(groups)

    @cached_property
    def mu(self) -> Any:
        """m_1 m_2 / m of two bodies."""
        one, two = (self.symbols.known[str(self.symbols.mass(g))] for g in self.groups)
        return self.symbols.make(
            "mu", SymbolStyle("mu"), "reduced mass of the two bodies", "kg",
            lambda m: one.value(m) * two.value(m) / (one.value(m) + two.value(m)),
        )  # fmt: skip

    # -- accelerations in the carrier --------------------------------------------------------------
    def _relative(self, group: str, axis: int) -> list[SignedTerm]:
        """a_k of a body by a symbol of its own; nothing if it is zero."""
        terms = self.balances.acceleration(group, axis)
        if not terms:
            return []
        name, below = self.symbols.tag(group)
        value = total(terms)
        used = sorted(value.free_symbols, key=str)

        def number(m: Any) -> float:
            import sympy

            return float(sympy.lambdify(used, value)(*(self.symbols.known[str(x)].value(m) for x in used)))

        words = f"acceleration of {self.symbols.called(group)} relative to o along {XYZ[axis]}"
        style = SymbolStyle("a", below=f"{XYZ[axis]},{below}")
        symbol = self.symbols.make(f"a_{XYZ[axis]}{name}", style, words, "m/s^2", number)
        self.relative[str(symbol)] = plain_equation(str(symbol), symbol, terms)
        return [SignedTerm(1, symbol)]

    @cached_property
    def relative(self) -> dict[str, BalanceLine]:
        """Definitions of a_k."""
        return {}

    def _carried(self, axis: int, but: str = "") -> list[SignedTerm]:
        """sum_i (m_i / M_k) a_ki over the bodies that move with the carrier."""
        groups = self.classes[axis][()]
        return [
            SignedTerm(term.sign, self._share(group, groups) * term.expression)
            for group in groups
            if group != but
            for term in self._relative(group, axis)
        ]

    def _pushed(self, axis: int, but: Chain = ()) -> list[SignedTerm]:
        """sum_c Q_c / M_k over the slides that the carrier pushes along the axis."""
        mass = self._mass(self.classes[axis][()])
        return [
            SignedTerm(term.sign, term.expression / mass)
            for chain in self.classes[axis]
            if len(chain) == 1 and chain != but
            for term in self.forces.on_body(chain[-1], self._slider(axis, chain), axis)
        ]

    def _slider(self, axis: int, chain: Chain) -> Any:
        """The symbols of a body behind a slide."""
        return self.balances.parallel[self.classes[axis][chain][0]]

    # -- equations ---------------------------------------------------------------------------------
    def force_equations(self) -> list[BalanceLine]:
        """(51) to (53)."""
        b, lines = self.balances, []
        for k in range(3):
            mass = self._mass(self.classes[k][()])
            left = (block(without_zeros([(1, self.F[k] / mass), (1, self.g[k])])),)
            right = [*rate_terms(k, b.V, b.V1, b.W), *self._carried(k), *self._pushed(k)]
            lines.append(BalanceLine(f"F_{XYZ[k]}", left, (block(right),), f"({51 + k})" * self._as_printed))
        return lines

    def slide_equations(self) -> list[BalanceLine]:
        """(49), (50): for each slide the motion of what it carries, relative to the carrier."""
        lines = []
        for k in range(3):
            for chain, groups in self.classes[k].items():
                if chain:
                    number = f"({48 + k})" * self._as_printed
                    left = self._slide_terms(k, chain, groups)
                    lines.append(BalanceLine(chain[-1], (block(left),), (block([]),), number))
        return lines

    def _slide_terms(self, k: int, chain: Chain, groups: list[str]) -> list[SignedTerm]:
        import sympy

        mass, carried = self._mass(groups), self._mass(self.classes[k][()])
        if len(groups) == 1:
            terms = self.balances.acceleration(groups[0], k)
        else:
            terms = [
                SignedTerm(t.sign, self._share(g, groups) * t.expression) for g in groups for t in self._relative(g, k)
            ]
        own = self.forces.on_body(chain[-1], self._slider(k, chain), k)
        beside = (1 + mass / carried) if len(chain) == 1 else sympy.S.One
        beyond = [c for c in self.classes[k] if len(c) == len(chain) + 1 and c[:-1] == chain]
        onward = [term for c in beyond for term in self.forces.on_body(c[-1], self._slider(k, c), k)]
        return [
            *terms,
            *(SignedTerm(-term.sign, beside / mass * term.expression) for term in own),
            *without_zeros([(1, self.F[k] / carried)]),
            *(SignedTerm(-term.sign, term.expression) for term in (*self._carried(k), *self._pushed(k, chain))),
            *(SignedTerm(term.sign, term.expression / mass) for term in onward),
        ]

    def guide_equations(self) -> list[BalanceLine]:
        """The force, without weight, on each member along each axis."""
        lines = []
        for group in self.groups[1:]:
            force = self.symbols.outer(group)[0]
            lines += [plain_equation(str(force[k]), force[k], self.member_force(group, k)) for k in range(3)]
        return lines

    def member_force(self, group: str, k: int) -> list[SignedTerm]:
        """F_ki of a member."""
        chain = next(chain for chain, groups in self.classes[k].items() if group in groups)
        beyond = [c for c in self.classes[k] if len(c) == len(chain) + 1 and c[:-1] == chain]
        if chain and len(self.classes[k][chain]) == 1 and not beyond:
            return self.forces.on_body(chain[-1], self._slider(k, chain), k)
        groups = self.classes[k][()]
        mass, share = self.symbols.mass(group), self._share(group, groups)
        terms = [*without_zeros([(1, share * self.F[k])])]
        for other in groups:
            for term in self._relative(other, k):
                if other == group and len(self.groups) == 2:
                    factor, sign = self.mu, 1
                elif other == group:
                    factor, sign = mass - mass * share, 1
                else:
                    factor, sign = share * self.symbols.mass(other), -1
                terms.append(SignedTerm(sign * term.sign, factor * term.expression))
        if group not in groups:
            terms += [SignedTerm(t.sign, mass * t.expression) for t in self._relative(group, k)]
        pushed = [SignedTerm(-t.sign, mass * t.expression) for t in self._pushed(k)]
        return [*terms, *pushed]

    def moment_equations(self) -> list[BalanceLine]:
        """(54) to (56); with more than one member the forces on them keep their symbols."""
        center = self.balances.position(self.groups[0])
        lines = []
        for k in range(3):
            terms = self.balances.spin_terms(self.groups, k)
            outer = arm_terms(k, center, self.F)
            if len(self.groups) == 2 and not self.turning:
                right = self._moment_of_one(k, total(terms), outer)
            else:
                right = [*terms, *outer]
                for group in self.groups[1:]:
                    right += arm_terms(k, self._arm(group, center), self.symbols.outer(group)[0])
            left = (block(without_zeros([(1, self.M[k])])),)
            lines.append(BalanceLine(f"M_{XYZ[k]}", left, (block(right),), f"({54 + k})" * self._as_printed))
        return lines

    def _arm(self, group: str, center: Sequence[Any]) -> list[Any]:
        return [x - c for x, c in zip(self.balances.position(group), center, strict=True)]

    def _moment_of_one(self, k: int, spin: Any, outer: list[SignedTerm]) -> list[SignedTerm]:
        """The moment with the force on the only member written out."""
        import sympy

        group, center = self.groups[1], self.balances.position(self.groups[0])
        force = [total(self.member_force(group, axis)) for axis in range(3)]
        written = {e.left[0].terms[0].expression: total(e.right[0].terms) for e in self.relative.values()}
        moment = expanded(total(arm_terms(k, self._arm(group, center), force)).subs(written))
        slides = sympy.Add(*(x for x in sympy.Add.make_args(moment) if x.has(*self._slide_symbols)))
        terms = grouped(spin + moment - slides, self._motion)
        last = [term for term in terms if term.expression.has(*self.F)]
        return [*(term for term in terms if term not in last), *self._slide_moment(slides), *last, *outer]

    def _slide_moment(self, moment: Any) -> list[SignedTerm]:
        """The moment of the slides' forces; with Y = y_0 + y where products of travels then cancel."""
        import sympy

        if moment == 0:
            return []
        places = {e.left[0].terms[0].expression: total(e.right[0].terms) for e in self.balances.definitions}
        travels = [x for group in self.groups[1:] for x in self._travels(group)]
        written = expanded(moment.subs(places))
        if sympy.Poly(written, *travels).total_degree() > 1:
            written = moment
        product = sympy.factor_terms(written)
        parts = [product] if product.is_Mul or product.is_Symbol else list(sympy.Add.make_args(product))
        return [SignedTerm(-1, -x) if x.could_extract_minus_sign() else SignedTerm(1, x) for x in parts]

    def _travels(self, group: str) -> list[Any]:
        own = self.balances.parallel[group]
        return [x for axis in range(3) for x in own.travel(axis)[:2] if x != 0]

    @cached_property
    def _slide_symbols(self) -> list[Any]:
        """Stiffnesses, dampings and forces of slides, once all forces are written."""
        for group in self.groups[1:]:
            for k in range(3):
                self.member_force(group, k)
        import sympy

        return self.forces.symbols_used or [sympy.Dummy()]

    @cached_property
    def _motion(self) -> list[Any]:
        """Rates first, then speeds, then outer forces: the order in which terms are written."""
        rates, speeds = self.symbols.spin_rate(), self.symbols.spin()
        own = self.balances.parallel[self.groups[1]]
        moving = [x for axis in range(3) for x in own.travel(axis)[1:][::-1] if x != 0]
        return [*rates, *moving, *speeds, *self.F]

    @cached_property
    def _as_printed(self) -> bool:
        """Whether it is the report's own case: one member that slides across X."""
        slides = [sorted(classes) for classes in self.classes]
        return len(self.groups) == 2 and not self.turning and [len(x) for x in slides] == [1, 2, 2]

    def definitions(self) -> list[BalanceLine]:
        """Relative accelerations and the reduced mass, where they are used."""
        lines = list(self.relative.values())
        if "mu" in self.symbols.known:
            one, two = (self.symbols.mass(g) for g in self.groups)
            lines.append(plain_equation("mu", self.mu, [SignedTerm(1, one * two / self.m)]))
        return lines


class SlideForces:
    """The forces of all slides; equal stiffnesses have one symbol."""

    def __init__(self, symbols: BalanceSymbols, snapshot: Snapshot) -> None:
        self.symbols, self.snapshot, self.system = symbols, snapshot, symbols.system
        self._constants: dict[tuple[str, Any], Any] = {}

    @cached_property
    def loaded(self) -> set[str]:
        """The bodies that elements act on."""
        frame = self.system.find_frame(self.symbols.carrier.name)
        return {body for _, body in element_loads(self.snapshot, frame)}

    def on_body(self, joint: str, body: ParallelSymbols, axis: int) -> list[SignedTerm]:
        """The force of a slide on the body that it carries, along an axis of the carrier."""
        slides = body.slides_along(axis)
        sign = next(slide.sign for slide in slides if slide.joint == joint)
        record = self.system.joints[joint]
        laws = (record.effort, record.friction, record.ends)
        neutral = record.neutral is not None and any(self._is_set(x) for x in record.neutral)
        alone = len(slides) == 1 and self.snapshot.loads.outer_effort(joint) is None
        if not alone or neutral or any(law is not None for law in laws):
            return [SignedTerm(1 if sign > 0 else -1, self._effort(joint))]
        travel, speed, _ = body.travel(axis)
        terms = []
        for letter, value, by, words, unit in (
            ("K", record.stiffness, travel, "stiffness", "N/m"),
            ("c", record.damping, speed, "damping", "N*s/m"),
        ):
            if value is not None and self._is_set(value[0]):
                terms.append((-1, self._constant(letter, value[0], f"{words} of {joint}", unit, joint) * by))
        return without_zeros(terms)

    def _is_set(self, value: Any) -> bool:
        return any(float(resolve(value)) != 0.0 for resolve in self.symbols.carrier.samples)

    def _constant(self, letter: str, value: Any, words: str, unit: str, joint: str) -> Any:
        """One symbol for all slides with the same constant."""
        if (letter, value) not in self._constants:
            others = [key for key in self._constants if key[0] == letter]
            name = f"{letter}_{joint.replace('.', '_')}" if others else letter
            style = SymbolStyle(letter, below=joint if others else "", plain=True)
            symbol = self.symbols.make(name, style, words, unit, lambda m: float(m.resolve(value)))
            self._constants[letter, value] = symbol
        return self._constants[letter, value]

    def _effort(self, joint: str) -> Any:
        """The effort of a slide by a symbol."""
        style = SymbolStyle("Q", below=joint)
        name = f"Q_{joint.replace('.', '_')}"
        symbol = self.symbols.make(name, style, f"effort along {joint}", "N", lambda m: m.effort(joint))
        self._constants["Q", joint] = symbol
        return symbol

    @property
    def symbols_used(self) -> list[Any]:
        """Stiffnesses, dampings and efforts."""
        return list(self._constants.values())


Motion = tuple[tuple[Any, Any], ...]  # monomials of the motion, each with a number; the first number is positive


def grouped(expression: Any, motion: Sequence[Any]) -> list[SignedTerm]:
    """The terms of a polynomial in the symbols ``motion``, whose coefficients are polynomials in others."""
    import sympy

    groups: dict[Motion, Any] = {}
    for constant, monomials in _by_constant(expression, motion).items():
        lead = next(iter(monomials.values()))
        shape = tuple((monomial, number / lead) for monomial, number in monomials.items())
        groups[shape] = groups.get(shape, sympy.S.Zero) + lead * constant
    groups = _split(groups)
    alone = [shape for shape in groups if len(shape) == 1]
    return [_term(groups[shape], shape) for shape in (*alone, *(s for s in groups if len(s) > 1))]


def _by_constant(expression: Any, motion: Sequence[Any]) -> dict[Any, dict[Any, Any]]:
    """For each constant factor the monomials of the motion that it stands with, and their numbers."""
    import sympy

    whole = expanded(expression)
    if whole == 0:
        return {}
    constants: dict[Any, dict[Any, Any]] = {}
    for powers, coefficient in sympy.Poly(whole, *motion).terms():
        monomial = sympy.Mul(*(symbol**power for symbol, power in zip(motion, powers, strict=True)))
        for part in sympy.Add.make_args(expanded(coefficient)):
            number, constant = part.as_coeff_Mul()
            constants.setdefault(constant, {})[monomial] = number
    return constants


def _split(groups: dict[Motion, Any]) -> dict[Motion, Any]:
    """The same without groups all of whose motions stand alone elsewhere: their parts are added there."""
    import sympy

    alone = {shape[0][0] for shape in groups if len(shape) == 1}
    result: dict[Motion, Any] = {}
    for shape, constant in groups.items():
        apart = len(shape) > 1 and all(monomial in alone for monomial, _ in shape)
        pieces = [(((monomial, sympy.S.One),), number) for monomial, number in shape] if apart else [(shape, 1)]
        for piece, number in pieces:
            result[piece] = result.get(piece, sympy.S.Zero) + number * constant
    return {shape: constant for shape, constant in result.items() if constant != 0}


def _term(constant: Any, shape: Motion) -> SignedTerm:
    """A constant times the motion that it stands with, the sign in front."""
    import sympy

    inner = sympy.Add(*(number * monomial for monomial, number in shape))
    parts = sympy.Add.make_args(constant)
    negative = 2 * sum(part.could_extract_minus_sign() for part in parts) > len(parts)
    factor = sympy.Add(*(-part for part in parts)) if negative else constant
    return SignedTerm(-1 if negative else 1, factor * inner)
