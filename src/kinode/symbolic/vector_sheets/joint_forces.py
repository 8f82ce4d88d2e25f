"""Forces and moments of a joint from those that its bodies need: whole, along the freedom, and the reaction."""

from __future__ import annotations

from kinode.symbolic.formulas.vector_terms import Cases, Definition, Family, Number, SumOver, VectorTerm
from kinode.symbolic.vector_sheets.chain_numbers import J, alpha, k
from kinode.symbolic.vector_sheets.chain_vectors import FORCE, MOMENT, ChainVectors, VectorForm


class JointForces:
    """The symbols F, M of all that pair k transmits, Q along its freedom, F_R and M_R of the reaction."""

    def __init__(self, vectors: ChainVectors, form: VectorForm) -> None:
        self.vectors, numbers = vectors, form.numbers
        singles = numbers.singles
        self.F = form.list(Family("F", "{0}", rank=1, unit=FORCE, words="all that pair k exerts on link k"), singles)
        self.M = form.list(Family("M", "{0}", rank=1, unit=MOMENT, words="its moment about O_k"), singles)
        self.Q = form.list(Family("Q", "{0}"), numbers.freedoms, lambda at: MOMENT if at in numbers.turning else FORCE)
        self.F_u = form.list(Family("F", "u{0}", unit=FORCE, words="force of the drive of a slide"), singles)
        self.M_u = form.list(Family("M", "u{0}", unit=MOMENT, words="moment of the drive of a hinge"), singles)
        self.F_R = form.list(Family("F", "R{0}", rank=1, unit=FORCE, words="reaction force"), singles)
        self.M_R = form.list(Family("M", "R{0}", rank=1, unit=MOMENT, words="reaction moment about O_k"), singles)

        if numbers.joints_of_pairs:
            vectors.list_efforts(form)
            self.F_J = form.list(Family("F", "R,{0}", rank=1, unit=FORCE, words="reaction force"), numbers.of_pairs)
            self.M_J = form.list(Family("M", "R,{0}", rank=1, unit=MOMENT, words="reaction moment"), numbers.of_pairs)

    def of_joints(self) -> list[Definition]:
        """The reaction of joints of several pairs: without the efforts of all of them."""
        c, n = self.vectors, self.vectors.numbers
        if not n.joints_of_pairs:
            return []
        F, M = (SumOver((n.pairs_of(alpha, J),), self.Q[alpha] * unit[alpha]) for unit in (c.unit_force, c.unit_moment))
        return [
            Definition(self.F_J[J], self.F[n.last(J)] - F, "", "of a joint J of several pairs"),
            Definition(self.M_J[J], self.M[n.last(J)] - M, "", "about the pole of body l(J)"),
        ]

    def along(self) -> list[Definition]:
        """What acts along the freedom: efforts, drives, springs and friction of the joint together."""
        c, n = self.vectors, self.vectors.numbers
        zero = (Number(0), None)
        along = c.xi_bar[k] * c.e[k].dot(self.M[k]) + c.xi[k] * c.e[k].dot(self.F[k])
        return [
            Definition(self.Q[k], along, "", "along the freedom"),
            Definition(self.F_u[k], Cases(((self.Q[k], n.only_slides(k)), zero))),
            Definition(self.M_u[k], Cases(((self.Q[k], n.turns(k)), zero))),
        ]

    def force(self, whole: VectorTerm, number: str, words: str = "") -> Definition:
        """The reaction force, from the whole force as it is written."""
        c = self.vectors
        return Definition(self.F_R[k], whole - c.xi[k] * self.F_u[k] * c.e[k], number, words)

    def moment(self, whole: VectorTerm, number: str, words: str = "") -> Definition:
        """The reaction moment, from the whole moment as it is written."""
        c = self.vectors
        return Definition(self.M_R[k], whole - c.xi_bar[k] * self.M_u[k] * c.e[k], number, words)
