"""The Rodrigues approach in vectors: quasi-base vectors T and Gamma, reactions as sums over the bodies behind a joint.

Equations (T-9.1) to (T-9.10); numbers in brackets are those of Cajic and Lazarevic (2016), with the corrections of the
theory pages.
"""

from __future__ import annotations

from kinode.symbolic.formulas.vector_terms import Cases, Definition, Family, Number, SumOver, VectorTerm
from kinode.symbolic.vector_sheets.chain_numbers import ChainNumbers, alpha, beta, i, j, k
from kinode.symbolic.vector_sheets.chain_vectors import FORCE, MOMENT, TO_NULL_BASE, ChainVectors, VectorForm
from kinode.symbolic.vector_sheets.joint_forces import JointForces

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
