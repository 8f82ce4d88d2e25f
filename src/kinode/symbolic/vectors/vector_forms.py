"""The two methods of reactions in vectors: quasi-base vectors (Rodrigues), and mass-moment vectors with rotators.

Quasi-base vectors T and Gamma give reactions as sums over the bodies behind a joint: equations (T-9.1) to (T-9.10).
Rotators give them as sums of mass moments times vector rotators: (T-9.11) to (T-9.17).  Numbers in brackets are those
of Cajic and Lazarevic (2016), with the corrections of the theory pages.  A rotator of a vector that vanishes is zero.
"""

from __future__ import annotations

from kinode.sheets.terms import (
    Cases,
    Definition,
    Family,
    Norm,
    Number,
    Product,
    Skew,
    Sum,
    SumOver,
    UnitVector,
    VectorTerm,
    parts_of,
)
from kinode.symbolic.vectors.chain_vectors import (
    FORCE,
    INERTIA,
    MOMENT,
    TO_NULL_BASE,
    ChainNumbers,
    ChainVectors,
    JointForces,
    VectorForm,
    alpha,
    beta,
    i,
    j,
    k,
)

MOMENTUM, ANGULAR_MOMENTUM = "N*s", "N*m*s"


class QuasiBaseForm(VectorForm):
    """Definitions and symbols of the method."""

    def __init__(self, numbers: ChainNumbers, *, loaded: bool) -> None:
        super().__init__(numbers)
        self.vectors = c = ChainVectors(numbers, "e", loaded=loaded)
        n = numbers
        c.list_in(self)
        self.add("Rodrigues matrices", TO_NULL_BASE, *c.rotations())
        self.add("Vectors in the null base", "", *c.axes("(6)"))
        self.R = self.list(Family("R", "{0}({1})", rank=1, unit="m"), n.reaches)
        per_coordinate = ("m", "1")
        self.T = self.list(
            Family("T", "{0}({1})", rank=1, words="quasi-base vector"), n.moves,
            lambda at, _: per_coordinate[at not in n.turning],
        )  # fmt: skip
        self.Gamma = self.list(
            Family("Gamma", "{0}{1}({2})", rank=1), n.products,
            lambda a, b, _: per_coordinate[max(a, b) not in n.turning],
        )  # fmt: skip
        self.v_C, self.a_C = (
            self.list(Family(letter, "C{0}", rank=1, unit=unit), n.singles)
            for letter, unit in (("v", "m/s"), ("a", "m/s^2"))
        )
        self.omega = self.list(Family("omega", "{0}", rank=1, unit="rad/s"), n.singles)
        self.eps = self.list(Family("eps", "{0}", rank=1, unit="rad/s^2"), n.singles)
        self.L_C = self.list(Family("L", "C{0}", rank=1, unit=ANGULAR_MOMENTUM), n.singles)
        self.L_C_rate = self.list(Family("L", "C{0}", rank=1, unit=MOMENT, rate=True), n.singles)
        self.K = self.list(Family("K", "{0}", rank=1, unit=MOMENTUM), n.singles)
        self.K_rate = self.list(Family("K", "{0}", rank=1, unit=FORCE, rate=True), n.singles)
        self.v_O = self.list(Family("v", "O{0}", rank=1, unit="m/s"), n.singles)
        self.L_O = self.list(Family("L", "O{0}", rank=1, unit=ANGULAR_MOMENTUM), n.singles)
        self.L_O_rate = self.list(Family("L", "O{0}", rank=1, unit=MOMENT, rate=True), n.singles)
        self.M_kin = self.list(Family("M", "{0}", rank=1, unit=MOMENT, above="kin"), n.singles)
        self._add_kinematics()
        self._add_momenta()
        self.forces = JointForces(c, self)
        self._add_forces()

    # -- kinematics --------------------------------------------------------------------------------
    def _add_kinematics(self) -> None:
        c, n, T = self.vectors, self.numbers, self.T
        slid = c.rho[n.parent(j), j] + c.xi[j] * c.q[j] * c.e[j] if n.sliding else c.rho[n.parent(j), j]
        reach = SumOver((n.between(j, k, i),), slid) + c.arm[i]
        base = c.xi_bar[alpha] * c.e[alpha].cross(self.R[i, alpha]) + c.xi[alpha] * c.e[alpha]
        products = Cases(
            (
                (c.xi_bar[alpha] * c.e[alpha].cross(T[beta, i]), n.in_order(alpha, beta, i, same=True)),
                (c.xi_bar[beta] * c.e[beta].cross(T[alpha, i]), n.in_order(beta, alpha, i, same=False)),
                (Number(0), None),
            )
        )
        self.add(
            "Quasi-base vectors",
            "T is the velocity of a mass center for a unit speed of one pair, Gamma what the product of two speeds "
            "adds to its acceleration.",
            Definition(self.R[i, k], reach, "(15)", "from O_k to C_i"),
            Definition(T[alpha, i], Cases(((base, n.on_way(alpha, i)), (Number(0), None))), "(11), (28)"),
            Definition(self.Gamma[alpha, beta, i], products, "(5), (10), (33)"),
        )
        turned = c.xi_bar[alpha] * c.e[alpha]
        across = c.xi_bar[alpha] * c.xi_bar[beta] * c.e[beta].cross(c.e[alpha])
        coupling = across * c.q_dot[alpha] * c.q_dot[beta]
        self.add(
            "Velocities and accelerations",
            "",
            Definition(
                self.v_C[i], SumOver((n.pairs_to(alpha, i),), T[alpha, i] * c.q_dot[alpha]), "(4), (27)", "of C_i"
            ),
            Definition(self.a_C[i], self.acceleration(), "(4), (9), (32)", "of C_i"),
            Definition(
                self.omega[i], SumOver((n.hinges_to(alpha, i),), turned * c.q_dot[alpha]), "(21)", "angular velocity"
            ),
            Definition(
                self.eps[i],
                SumOver((n.hinges_to(alpha, i),), turned * c.q_ddot[alpha])
                + SumOver((n.hinges_to(alpha, i), n.lower_hinges(beta, alpha)), coupling),
                "(23), (39)",
                "angular acceleration",
            ),
        )

    def acceleration(self) -> VectorTerm:
        """The acceleration of a mass center in T and Gamma."""
        c, n = self.vectors, self.numbers
        linear = SumOver((n.pairs_to(alpha, i),), self.T[alpha, i] * c.q_ddot[alpha])
        both = (n.pairs_to(alpha, i), n.pairs_to(beta, i))
        return linear + SumOver(both, self.Gamma[alpha, beta, i] * c.q_dot[alpha] * c.q_dot[beta])

    # -- momentum ----------------------------------------------------------------------------------
    def _add_momenta(self) -> None:
        c, n = self.vectors, self.numbers
        behind = (n.links_behind(i, k),)
        mv, ma = c.m[i] * self.v_C[i], c.m[i] * self.a_C[i]
        self.add(
            "Momentum of the bodies behind joint k",
            "About O_k, which moves: so the rate of L is not the moment.",
            Definition(self.L_C[i], c.J[i] * self.omega[i], "(12)", "of body i about C_i"),
            Definition(
                self.L_C_rate[i], c.J[i] * self.eps[i] + self.omega[i].cross(c.J[i] * self.omega[i]), "(20), (38)"
            ),
            Definition(self.K[k], SumOver(behind, mv), "(1), (26)", "momentum"),
            Definition(self.K_rate[k], SumOver(behind, ma), "(2), (29)"),
            Definition(
                self.L_O[k], SumOver(behind, self.L_C[i] + self.R[i, k].cross(mv)), "(13), (35)", "angular momentum"
            ),
            Definition(self.v_O[k], self.v_C[k] - self.omega[k].cross(c.arm[k]), "", "velocity of O_k"),
            Definition(
                self.L_O_rate[k],
                SumOver(behind, self.L_C_rate[i] - self.v_O[k].cross(mv) + self.R[i, k].cross(ma)),
                "(16), (36)",
            ),
            Definition(self.M_kin[k], self.L_O_rate[k] + self.v_O[k].cross(self.K[k]), "(17)", "kinetic moment"),
        )

    # -- forces ------------------------------------------------------------------------------------
    def _add_forces(self) -> None:
        f = self.forces
        force = SumOver((self.numbers.links_behind(i, k),), self._needed(self.a_C[i]))
        moment = self._moment(self.a_C[i])
        self.add(
            "Force and moment of joint k",
            "On the link that it carries, about O_k.",
            Definition(f.F[k], force, "(3)", "whole force"),
            Definition(f.M[k], moment, "(18), (19)", "whole moment"),
            *f.along(),
            f.force(force, "(3), (30)", "reaction force"),
            f.force(SumOver((self.numbers.links_behind(i, k),), self._needed(self.acceleration())), "(34)"),
            f.moment(moment, "(19), (37)", "reaction moment"),
            *f.of_joints(),
        )

    def _needed(self, acceleration: VectorTerm) -> VectorTerm:
        """The force that the motion of body i needs, beyond weight and applied loads."""
        c = self.vectors
        needed = c.m[i] * (acceleration - c.g())
        return needed - c.load[i] if c.loaded else needed

    def _moment(self, acceleration: VectorTerm) -> VectorTerm:
        c = self.vectors
        turning = self.L_C_rate[i] - c.load_moment[i] if c.loaded else self.L_C_rate[i]
        arm = self.R[i, k].cross(self._needed(acceleration))
        return SumOver((self.numbers.links_behind(i, k),), turning + arm)


PER_SECOND = "rad/s^2"
SPEED, ACCELERATION = "m/s", "m/s^2"


class RotatorForm(VectorForm):
    """Definitions and symbols of the method."""

    def __init__(self, numbers: ChainNumbers, *, loaded: bool) -> None:
        super().__init__(numbers)
        self.vectors = c = ChainVectors(numbers, "n", loaded=loaded)
        c.list_in(self)
        self.add("Rodrigues matrices", TO_NULL_BASE, *c.rotations())
        self.add("Vectors in the null base", "", *c.axes(), *self._segments())
        self.add("Rates of the pairs", "", *self._rates())
        self._add_mass_moments()
        self._add_momenta()
        self._add_rotators()
        self._add_derivatives()
        self.forces = JointForces(c, self)
        self._add_forces()

    def _vector(self, letter: str, below: str, unit: str, domain: object = None, **more: object) -> Family:
        family = Family(letter, below, rank=1, unit=unit, **more)  # type: ignore[arg-type]
        return self.list(family, domain or self.numbers.singles)  # type: ignore[arg-type]

    # -- segments and rates ------------------------------------------------------------------------
    def _segments(self) -> list[Definition]:
        c, n = self.vectors, self.numbers
        p = n.parent
        self.r = self._vector("r", "{0},{1}", "m", n.carried)
        self.p = self._vector("p", "{0},{1}", "m", lambda: ((at, link) for link, at in n.reaches()))
        self.r_C = self._vector("r", "C{0}({1})", "m", n.reaches)
        segment = c.rho[p(k), k] + c.xi[k] * c.q[k] * c.e[k] if n.sliding else c.rho[p(k), k]
        return [
            Definition(self.r[p(k), k], segment, "(46)", "between poles"),
            Definition(self.p[k, i], SumOver((n.between(j, k, i),), self.r[p(j), j]), "", "from O_k to O_i"),
            Definition(self.r_C[i, k], self.p[k, i] + c.arm[i], "(46)", "from O_k to C_i"),
        ]

    def _rates(self) -> list[Definition]:
        c, n = self.vectors, self.numbers
        self.w = self.list(Family("omega", "{0}", unit="rad/s"), n.freedoms)
        self.w_dot = self.list(Family("omega", "{0}", unit=PER_SECOND, accent="dot"), n.freedoms)
        lines = [
            Definition(self.w[alpha], c.xi_bar[alpha] * c.q_dot[alpha], "", "of turning"),
            Definition(self.w_dot[alpha], c.xi_bar[alpha] * c.q_ddot[alpha]),
        ]
        if n.sliding:
            self.s_rate = self.list(Family("sigma", "{0}", unit=SPEED), n.freedoms)
            self.s_rate_dot = self.list(Family("sigma", "{0}", unit=ACCELERATION, accent="dot"), n.freedoms)
            lines += [
                Definition(self.s_rate[alpha], c.xi[alpha] * c.q_dot[alpha], "", "of sliding"),
                Definition(self.s_rate_dot[alpha], c.xi[alpha] * c.q_ddot[alpha]),
            ]
        return lines

    # -- mass-moment vectors -----------------------------------------------------------------------
    def _add_mass_moments(self) -> None:
        c, n = self.vectors, self.numbers
        pole = {"above": "(O{1})"}
        self.M_n = self._vector("M", "n{0}", "kg", n.turned, **pole)
        self.S = self._vector("S", "n{0}", "kg*m", n.turned, **pole)
        self.J_O = self.list(Family("J", "O{0}", rank=2, unit=INERTIA), n.singles)
        self.J = self._vector("J", "n{0}", INERTIA, n.turned, **pole)
        self.J_axial = self.list(Family("J", "{0}", unit=INERTIA, above="(O{1})"), n.turned)
        self.D = self._vector("D", "n{0}", INERTIA, n.turned, **pole)
        self.J_both = self._vector("J", "[n{0},n{1}]", INERTIA, n.turned_pairs, above="(O{2})")
        e, arm, J = c.e[alpha], c.arm[i], self.J[alpha, i]
        self.add(
            "Vectors of body mass moments",
            "For the pole O_i of every body i and every axis n that turns it.",
            Definition(self.M_n[alpha, i], c.m[i] * e, "(40)", "mass"),
            Definition(self.S[alpha, i], c.m[i] * e.cross(arm), "(41), (49)", "static (linear) moment"),
            Definition(self.J_O[i], c.J[i] - c.m[i] * Skew(arm).squared, "", "inertia tensor at O_i"),
            Definition(J, self.J_O[i] * e, "(42), (51)", "inertia"),
            Definition(self.J_axial[alpha, i], e.dot(J), "(44)", "axial moment of inertia"),
            Definition(self.D[alpha, i], e.cross(J.cross(e)), "(45)", "deviation moment"),
            Definition(J, self.J_axial[alpha, i] * e + self.D[alpha, i], "(43)"),
            Definition(self.J_both[alpha, beta, i], self.J_O[i] * e.cross(c.e[beta])),
        )

    # -- momentum ----------------------------------------------------------------------------------
    def _add_momenta(self) -> None:
        c, n, p = self.vectors, self.numbers, self.numbers.parent
        self.v_O = self._vector("v", "O{0}", SPEED)
        self.K = self._vector("K", "{0}", "N*s")
        self.L_O = self._vector("L", "O{0}", "N*m*s")
        turned = SumOver((n.hinges_before(alpha, j),), self.w[alpha] * c.e[alpha].cross(self.r[p(j), j]))
        step = turned + self.s_rate[j] * c.e[j] if n.sliding else turned
        own = SumOver((n.hinges_to(alpha, i),), self.w[alpha] * self.S[alpha, i])
        mv = c.m[i] * self.v_O[i]
        spin = SumOver((n.hinges_to(alpha, i),), self.w[alpha] * self.J[alpha, i])
        behind = (n.links_behind(i, k),)
        self.add(
            "Momentum of the bodies behind joint k",
            "",
            Definition(self.v_O[i], self._along_moving(step), "(47)", "velocity of O_i"),
            Definition(self.K[k], SumOver(behind, mv + own), "(48)", "momentum"),
            Definition(
                self.L_O[k],
                SumOver(behind, self.p[k, i].cross(mv + own) + c.arm[i].cross(mv) + spin),
                "(50)",
                "angular momentum about O_k",
            ),
        )

    def _along_moving(self, step: VectorTerm) -> VectorTerm:
        """The sum over the segments on the way to body i."""
        return SumOver((self.numbers.links_to(j, i),), step)

    # -- rotators ----------------------------------------------------------------------------------
    def _add_rotators(self) -> None:
        c, n = self.vectors, self.numbers
        r, w, w_dot = self.r[n.parent(j), j], self.w, self.w_dot
        self.R_r = self._vector("R", "{0}(r{1})", PER_SECOND, n.turned_segments)
        self.R_rr = self._vector("R", "{0}{1}(r{2})", PER_SECOND, n.segment_pairs)
        self.R_S = self._vector("R", "{0}(S{1})", PER_SECOND, n.turned)
        self.R_SS = self._vector("R", "{0}{1}(S{2})", PER_SECOND, n.turned_pairs)
        self.R_D = self._vector("R", "{0}(D{1})", PER_SECOND, n.turned, accent="star")

        def rotator(u: VectorTerm) -> VectorTerm:
            return w_dot[alpha] * u + w[alpha].squared * c.e[alpha].cross(u)

        def coupled(u: VectorTerm) -> VectorTerm:
            return 2 * w[alpha] * w[beta] * c.e[alpha].cross(u)

        def of_segment(axis: VectorTerm) -> VectorTerm:
            return UnitVector(axis.cross(r), r)

        def of_mass(S: VectorTerm) -> VectorTerm:
            return UnitVector(S, c.m[i] * c.arm[i])

        of_deviation = UnitVector(self.D[alpha, i], self.J[alpha, i])

        self.add(
            "Vector rotators",
            "Of one axis, and of two (alpha < beta); a rotator of a vector that vanishes is zero.",
            Definition(self.R_r[alpha, j], rotator(of_segment(c.e[alpha])), "(53)", "of a segment"),
            Definition(self.R_rr[alpha, beta, j], coupled(of_segment(c.e[beta])), "(53)"),
            Definition(self.R_S[alpha, i], rotator(of_mass(self.S[alpha, i])), "(53)", "of a mass moment"),
            Definition(self.R_SS[alpha, beta, i], coupled(of_mass(self.S[beta, i])), "(53)"),
            Definition(self.R_D[alpha, i], rotator(of_deviation), "(56)", "deviation"),
        )

    # -- derivatives of the momentum ---------------------------------------------------------------
    def _add_derivatives(self) -> None:
        c, n = self.vectors, self.numbers
        r = self.r[n.parent(j), j]
        self.r_ddot = self._vector("r", "{0},{1}", ACCELERATION, n.carried, accent="ddot")
        self.a_O = self._vector("a", "O{0}", ACCELERATION)
        self.s = self._vector("s", "{0}", FORCE)
        self.N = self._vector("N", "{0}", MOMENT)
        self.K_rate = self._vector("K", "{0}", FORCE, rate=True)
        self.M_kin = self._vector("M", "{0}", MOMENT, above="kin")
        self.L_O_rate = self._vector("L", "O{0}", MOMENT, rate=True)
        behind = (n.links_behind(i, k),)
        ma = c.m[i] * self.a_O[i]
        segment, own, spin = self._segment_terms(r), self._mass_terms(), self._inertia_terms()
        moment = self.p[k, i].cross(ma + self.s[i]) + c.arm[i].cross(ma) + self.N[i]
        self.add(
            "Derivatives of the momentum",
            "Each term is a length of a vector of mass moments, or of a segment and a mass, times a rotator.",
            Definition(self.r_ddot[n.parent(j), j], segment, "", "of a segment"),
            Definition(self.a_O[i], self._along_moving(self.r_ddot[n.parent(j), j]), "", "acceleration of O_i"),
            Definition(self.s[i], own, "", "of the mass of body i about O_i"),
            Definition(self.N[i], spin, "", "of the inertia of body i at O_i"),
            Definition(self.K_rate[k], SumOver(behind, ma + self.s[i]), "(52)"),
            Definition(self.K_rate[k], self._term_by_term(segment, own), "(54)", "term by term"),
            Definition(self.M_kin[k], SumOver(behind, moment), "(55)", "kinetic moment about O_k"),
            Definition(self.L_O_rate[k], self.M_kin[k] - self.v_O[k].cross(self.K[k]), "(55)", "O_k moves"),
        )

    def _segment_terms(self, r: VectorTerm) -> VectorTerm:
        c, n = self.vectors, self.numbers
        before, pairs = n.hinges_before(alpha, j), (n.hinges_before(beta, j), n.lower_hinges(alpha, beta))
        terms: VectorTerm = SumOver((before,), Norm(c.e[alpha].cross(r)) * self.R_r[alpha, j])
        terms = terms + SumOver(pairs, Norm(c.e[beta].cross(r)) * self.R_rr[alpha, beta, j])
        if not n.sliding:
            return terms
        swept = SumOver((before,), 2 * self.w[alpha] * self.s_rate[j] * c.e[alpha].cross(c.e[j]))
        return terms + self.s_rate_dot[j] * c.e[j] + swept

    def _term_by_term(self, segment: VectorTerm, own: VectorTerm) -> VectorTerm:
        """The rate of momentum of the bodies behind joint k, each kind of term summed by itself."""
        behind, way = self.numbers.links_behind(i, k), self.numbers.links_to(j, i)
        sums = []
        for term in parts_of(segment):
            over, inner = (term.over, term.term) if isinstance(term, SumOver) else ((), term)
            factors = inner.factors if isinstance(inner, Product) else (inner,)
            front = [x for x in factors if isinstance(x, Number)]
            rest = [x for x in factors if not isinstance(x, Number)]
            sums.append(SumOver((behind, way, *over), Product((*front, self.vectors.m[i], *rest))))
        for term in parts_of(own):
            assert isinstance(term, SumOver)
            sums.append(SumOver((behind, *term.over), term.term))
        return Sum(tuple(sums))

    def _mass_terms(self) -> VectorTerm:
        n = self.numbers
        pairs = (n.hinges_to(beta, i), n.lower_hinges(alpha, beta))
        terms = SumOver((n.hinges_to(alpha, i),), Norm(self.S[alpha, i]) * self.R_S[alpha, i])
        return terms + SumOver(pairs, Norm(self.S[beta, i]) * self.R_SS[alpha, beta, i])

    def _inertia_terms(self) -> VectorTerm:
        c, n, w = self.vectors, self.numbers, self.w
        a, b = c.e[alpha], c.e[beta]
        own = self.w_dot[alpha] * self.J_axial[alpha, i] * a + Norm(self.D[alpha, i]) * self.R_D[alpha, i]
        both = a.cross(self.J[beta, i]) + b.cross(self.J[alpha, i]) + self.J_both[alpha, beta, i]
        pairs = (n.hinges_to(beta, i), n.lower_hinges(alpha, beta))
        return SumOver((n.hinges_to(alpha, i),), own) + SumOver(pairs, w[alpha] * w[beta] * both)

    # -- forces ------------------------------------------------------------------------------------
    def _add_forces(self) -> None:
        c, n, f = self.vectors, self.numbers, self.forces
        self.G = self._vector("G", "{0}", FORCE)
        behind = (n.links_behind(i, k),)
        applied = self.G[i] + c.load[i] if c.loaded else self.G[i]
        turned = self.r_C[i, k].cross(applied)
        force = self.K_rate[k] - SumOver(behind, applied)
        moment = self.M_kin[k] - SumOver(behind, turned + c.load_moment[i] if c.loaded else turned)
        self.add(
            "Force and moment of joint k",
            "On the link that it carries, about O_k.",
            Definition(self.G[i], c.m[i] * c.g(), "", "weight"),
            Definition(f.F[k], force, "(57)", "whole force"),
            Definition(f.M[k], moment, "(58)", "whole moment"),
            *f.along(),
            f.force(force, "(57), (59)", "reaction force"),
            f.moment(moment, "(58), (60)", "reaction moment"),
            *f.of_joints(),
        )
