"""A body that flies with members that slide inside it: balances solved for the motion, (T-8.25), (49) to (56).

Along axis k, all bodies that are not free to slide along it move with the carrier; M_k is their mass.  With
a_ki = acc(r_i)_k of body i, Q_c the forces of the slides on the bodies that do slide, and F the outer force,

    F_k / M_k + g_k = A_0k + sum_i (m_i / M_k) a_ki + sum_c Q_c / M_k                            (51) to (53)
    0 = a_kj + F_k / M_k - sum_i (m_i / M_k) a_ki - sum_c Q_c / M_k - Q_j / m_j                  (49), (50)
    F_ki = (m_i / M_k) F_k + m_i a_ki - (m_i / M_k) (sum_h m_h a_kh + sum_c Q_c)                 force of a guide
    M_o = sum (H_j° + Omega x H_j) + rho x F + sum_i (r_i - rho) x F_i                           (54) to (56)

where i runs over the bodies that move with the carrier along k, and rho leads to the mass center of the carrier.
A member that turns moves along k with what carries it; its place r_i and its H_i are symbols, and its own balance about
the hinge stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from kinode.model.joints.fixed import Fixed
from kinode.model.joints.prismatic import Prismatic
from kinode.multibody.snapshot import Snapshot
from kinode.symbolic.balances.balance_lines import BalanceLine, block, plain_equation
from kinode.symbolic.balances.balance_symbols import XYZ
from kinode.symbolic.balances.body_balances import BodyBalances
from kinode.symbolic.balances.frame_carrier import Slide
from kinode.symbolic.balances.scalar_terms import SignedTerm, arm_terms, origin_terms, total, without_zeros
from kinode.symbolic.balances.slide_forces import SlideForces
from kinode.symbolic.balances.term_grouping import grouped
from kinode.symbolic.notation import SymbolStyle, expanded

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
            right = [*origin_terms(k, b.V, b.V1, b.W), *self._carried(k), *self._pushed(k)]
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
