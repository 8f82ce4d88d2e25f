"""Numbers, vectors and joint forces of a chain or tree: what both methods of reactions in vectors have in common.

Pair k carries link k; 0 is the world.  In a chain every link is carried by the one before, so that the sets that sums
run over are ranges: ``alpha = 1 .. i``.  In a tree they are "alpha to i", the pairs on the way to link i, and "i behind
k", the links that pair k carries.  Formulas have the same terms in both.

Where all coordinates are zero all bases are parallel to the null base: the axes of the world.  Vectors in the base of a
link, such as e_k^(k), are those of this reference configuration; Rodrigues matrices turn them.  The force and the
moment of a joint follow from those that its bodies need: whole, along the freedom, and the reaction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.formulations.chains import ChainLink, ChainMotion
from kinode.sheets.sheet import SheetSection
from kinode.sheets.terms import (
    Call,
    Cases,
    Definition,
    Family,
    Index,
    IndexCondition,
    IndexFunction,
    IndexSet,
    Number,
    Skew,
    SumOver,
    VectorTerm,
)

i, j, k = Index("i"), Index("j"), Index("k")
alpha, beta = Index("alpha"), Index("beta")
J = Index("J")  # a joint of several pairs


class ChainNumbers:
    """The links of a tree by number, from 1 on."""

    def __init__(self, links: Sequence[ChainLink]) -> None:
        self.links = links
        self.is_chain = all(len(link.path) == link.index + 1 for link in links)
        self.paths = {0: (), **{link.index + 1: tuple(at + 1 for at in link.path) for link in links}}
        self.moving = {link.index + 1 for link in links if link.freedom is not None}
        self.turning = {link.index + 1 for link in links if link.turns}
        self.sliding = {link.index + 1 for link in links if link.slides}

    @property
    def numbers(self) -> range:
        """All of them."""
        return range(1, len(self.links) + 1)

    def of_joint(self, name: str) -> list[int]:
        """The numbers of the pairs of a joint, in the order of the tree."""
        return [link.index + 1 for link in self.links if link.joint.name == name]

    @cached_property
    def joints_of_pairs(self) -> dict[str, list[int]]:
        """The joints of several pairs, by name."""
        series: dict[str, list[int]] = {}
        for link in self.links:
            series.setdefault(link.joint.name, []).append(link.index + 1)
        return {name: pairs for name, pairs in series.items() if len(pairs) > 1}

    # -- sets --------------------------------------------------------------------------------------
    def carrier(self, k: int) -> int:
        """The number of the link that carries a pair."""
        return self.paths[k][-2] if len(self.paths[k]) > 1 else 0

    @cached_property
    def behind_each(self) -> dict[int, list[int]]:
        """The links that each pair carries."""
        behind: dict[int, list[int]] = {number: [] for number in self.numbers}
        for number in self.numbers:
            for at in self.paths[number]:
                behind[at].append(number)
        return behind

    def moved_by(self, link: int) -> list[int]:
        """The pairs with a freedom on the way to a link."""
        return [at for at in self.paths[link] if at in self.moving]

    def turned_by(self, link: int) -> list[int]:
        """The hinges and screws on the way to a link."""
        return [at for at in self.paths[link] if at in self.turning]

    def turned_before(self, pair: int) -> list[int]:
        """The hinges and screws on the way to the carrier of a pair."""
        return [at for at in self.paths[pair][:-1] if at in self.turning]

    # -- as printed --------------------------------------------------------------------------------
    def parent(self, index: Index) -> IndexFunction:
        """The number of what carries."""
        return IndexFunction("{0}-1" if self.is_chain else "p({0})", (index,), self.carrier)

    def pairs_to(self, index: Index, link: Index) -> IndexSet:
        """The pairs with a freedom on the way to a link."""
        return self._range(index, link, self.moved_by)

    def hinges_to(self, index: Index, link: Index) -> IndexSet:
        """The hinges on the way to a link."""
        return self._range(index, link, self.turned_by)

    def links_to(self, index: Index, link: Index) -> IndexSet:
        """All links on the way to a link, with it."""
        return self._range(index, link, lambda number: self.paths[number])

    def _range(self, index: Index, link: Index, members: object) -> IndexSet:
        pattern, upper = ("{0} = 1", "{1}") if self.is_chain else ("{0} to {1}", "")
        return IndexSet(index, pattern, (link,), members, upper)  # type: ignore[arg-type]

    def hinges_before(self, index: Index, pair: Index) -> IndexSet:
        """The hinges that turn the segment to a pair."""
        return IndexSet(index, "{0} < {1}" if self.is_chain else "{0} to {1}, {0} < {1}", (pair,), self.turned_before)

    def lower_hinges(self, index: Index, other: Index) -> IndexSet:
        """The hinges on the way to a hinge, without it."""
        return IndexSet(index, "{0} < {1}" if self.is_chain else "{0} to {1}, {0} < {1}", (other,), self.turned_before)

    def between(self, index: Index, after: Index, link: Index) -> IndexSet:
        """The links on the way from a link, without it, to one behind it."""
        pattern = "{1} < {0} <= {2}" if self.is_chain else "{0} to {2}, {0} > {1}"
        return IndexSet(index, pattern, (after, link), lambda a, b: [at for at in self.paths[b] if at > a])

    def links_behind(self, index: Index, pair: Index) -> IndexSet:
        """The links that a pair carries."""
        pattern, upper = ("{0} = {1}", str(len(self.links))) if self.is_chain else ("{0} behind {1}", "")
        return IndexSet(index, pattern, (pair,), lambda number: self.behind_each[number], upper)

    def pairs_of(self, index: Index, joint: Index) -> IndexSet:
        """The pairs with a freedom of a joint."""
        return IndexSet(
            index, "{0} of {1}", (joint,), lambda name: [at for at in self.joints_of_pairs[name] if at in self.moving]
        )

    def last(self, joint: Index) -> IndexFunction:
        """The number of the body that a joint of several pairs carries."""
        return IndexFunction("l({0})", (joint,), lambda name: self.joints_of_pairs[name][-1])

    # -- conditions --------------------------------------------------------------------------------
    def on_way(self, pair: Index, link: Index) -> IndexCondition:
        """A pair on the way to a link."""
        pattern = "{0} <= {1}" if self.is_chain else "{0} to {1}"
        return IndexCondition(pattern, (pair, link), lambda a, b: a in self.paths[b])

    def in_order(self, first: Index, second: Index, link: Index, *, same: bool) -> IndexCondition:
        """Two pairs on the way to a link, one not after the other."""
        sign = "<=" if same else "<"
        pattern = f"{{0}} {sign} {{1}} <= {{2}}" if self.is_chain else f"{{0}} {sign} {{1}}, both to {{2}}"
        return IndexCondition(pattern, (first, second, link), lambda a, b, c: {a, b} <= set(self.paths[c]) and (a <= b))

    def base(self, index: Index) -> IndexCondition:
        """The world."""
        return IndexCondition("{0} = 0", (index,), lambda number: number == 0)

    def turns(self, pair: Index) -> IndexCondition:
        """A hinge or screw."""
        return IndexCondition("{0} turns", (pair,), lambda number: number in self.turning)

    def only_slides(self, pair: Index) -> IndexCondition:
        """A slide."""
        return IndexCondition(
            "{0} slides", (pair,), lambda number: number in self.sliding and number not in self.turning
        )

    # -- domains: for which values of its indices a symbol is listed ---------------------------------
    def singles(self) -> Iterator[tuple[int, ...]]:
        """Every link."""
        return ((number,) for number in self.numbers)

    def freedoms(self) -> Iterator[tuple[int, ...]]:
        """Every pair with a freedom."""
        return ((number,) for number in sorted(self.moving))

    def of_pairs(self) -> Iterator[tuple[str]]:
        """Every joint of several pairs."""
        return ((name,) for name in self.joints_of_pairs)

    def pairs_in_series(self) -> Iterator[tuple[int, ...]]:
        """Every pair with a freedom of a joint of several."""
        return ((at,) for pairs in self.joints_of_pairs.values() for at in pairs if at in self.moving)

    def carried(self) -> Iterator[tuple[int, ...]]:
        """Every pair with the one that carries it: (p(k), k)."""
        return ((self.carrier(number), number) for number in self.numbers)

    def moves(self) -> Iterator[tuple[int, ...]]:
        """Pair and link, of those that the pair moves."""
        return ((a, number) for number in self.numbers for a in self.moved_by(number))

    def products(self) -> Iterator[tuple[int, ...]]:
        """Two pairs and a link that both move."""
        for number in self.numbers:
            moving = self.moved_by(number)
            yield from ((a, b, number) for a in moving for b in moving)

    def reaches(self) -> Iterator[tuple[int, ...]]:
        """Link and pair, of those that the pair carries."""
        return ((number, at) for at in self.numbers for number in self.behind_each[at])

    def turned(self) -> Iterator[tuple[int, ...]]:
        """Hinge and link, of those that the hinge turns."""
        return ((a, number) for number in self.numbers for a in self.turned_by(number))

    def turned_pairs(self) -> Iterator[tuple[int, ...]]:
        """Two hinges in order and a link that both turn."""
        for number in self.numbers:
            turning = self.turned_by(number)
            yield from ((a, b, number) for a in turning for b in turning if a < b)

    def turned_segments(self) -> Iterator[tuple[int, ...]]:
        """Hinge and pair, of those whose segment the hinge turns."""
        return ((a, number) for number in self.numbers for a in self.turned_before(number))

    def segment_pairs(self) -> Iterator[tuple[int, ...]]:
        """Two hinges in order and a pair whose segment both turn."""
        for number in self.numbers:
            turning = self.turned_before(number)
            yield from ((a, b, number) for a in turning for b in turning if a < b)


Domain = Callable[[], Iterable[tuple[Any, ...]]]
TO_NULL_BASE = "From the base of each link to the null base (0); S is the matrix of a vector product, S(a) b = a x b."
MASS, INERTIA, LENGTH, FORCE, MOMENT = "kg", "kg*m^2", "m", "N", "N*m"


@dataclass(frozen=True)
class Listed:
    """A family of symbols: for which indices its values are listed, and their units."""

    family: Family
    domain: Domain
    unit: Callable[..., str] | None = None

    def unit_of(self, *places: Any) -> str:
        """The unit of one symbol."""
        return self.family.unit if self.unit is None else self.unit(*places)


@dataclass
class VectorForm:
    """A method in vectors: its definitions in sections, its symbols, and how the given ones are found."""

    numbers: ChainNumbers
    sections: list[SheetSection] = field(default_factory=list)
    listed: dict[Family, Listed] = field(default_factory=dict)

    def add(self, title: str, words: str, *lines: Definition) -> None:
        """A section of definitions."""
        self.sections.append(SheetSection(title, words, lines))

    def list(self, family: Family, domain: Domain, unit: Callable[..., str] | None = None) -> Family:
        """Take a family among those whose values are listed."""
        self.listed[family] = Listed(family, domain, unit)
        return family


class ChainVectors:
    """The symbols and definitions that both methods have; ``axis`` is the letter of the axes."""

    def __init__(self, numbers: ChainNumbers, axis: str, *, loaded: bool) -> None:
        self.numbers, self.loaded = numbers, loaded
        self.placed = any(link.joint.quaternion is not None for link in numbers.links)
        self.m = Family("m", "{0}", unit=MASS, words="mass of body i")
        self.g = Family("g", rank=1, unit="m/s^2", words="acceleration of free fall")
        self.xi = Family("xi", "{0}", unit="1", words=f"1 of a slide, 0 of a hinge{self._screws()}")
        self.xi_bar = Family("xi", "{0}", unit="1", accent="bar", words="1 of a hinge, 0 of a slide")
        self.q, self.q_dot, self.q_ddot = (
            Family("q", "{0}", accent=accent, words=words)
            for accent, words in (
                ("", "coordinate of pair k"), ("dot", "its speed"), ("ddot", "its acceleration"),
            )
        )  # fmt: skip
        self.e_local = Family(axis, "{0}", rank=1, unit="1", above="({0})", words="axis of pair k, a unit vector")
        self.rho_local = Family(
            "rho", "{0},{1}", rank=1, unit=LENGTH, above="({0})",
            words="from the pole of a link to that of the pair k which it carries, at q_k = 0",
        )  # fmt: skip
        self.arm_local = Family(
            "rho", "{0}C" if axis == "n" else "{0}", rank=1, unit=LENGTH, above="({0})",
            words="from the pole O_i of body i to its mass center C_i",
        )  # fmt: skip
        self.J_local = Family("J", "C{0}", rank=2, unit=INERTIA, above="({0})", words="inertia about the mass center")
        self.identity = Family("I", rank=2, unit="1", words="unit matrix")
        self.placing = Family(
            "B", "{0}", rank=2, unit="1", words="rotation by the quaternion of a ball or free joint, else I"
        )
        self.load = Family("F", "{0}", rank=1, unit=FORCE, above="a", words="applied force on body i, without weight")
        self.load_moment = Family("M", "C{0}", rank=1, unit=MOMENT, above="a", words="applied moment about C_i")
        self.unit_force = Family("f", "{0}", rank=1, words="force of a unit effort of pair k in a joint of several")
        self.unit_moment = Family("t", "{0}", rank=1, words="its moment about the pole of the joint's body")
        self.A_step = Family("A", "{0},{1}", rank=2, unit="1")
        self.A = Family("A", "0,{0}", rank=2, unit="1")
        self.e = Family(axis, "{0}", rank=1, unit="1")
        self.rho = Family("rho", "{0},{1}", rank=1, unit=LENGTH)
        self.arm = Family("rho", "{0}C" if axis == "n" else "{0}", rank=1, unit=LENGTH)
        self.J = Family("J", "{0}", rank=2, unit=INERTIA)

    def _screws(self) -> str:
        screws = self.numbers.turning & self.numbers.sliding
        return ", the advance of a screw per radian" if screws else ""

    # -- definitions -------------------------------------------------------------------------------
    def rotations(self) -> list[Definition]:
        """Rodrigues matrices."""
        c, p = self, self.numbers.parent
        S, angle = Skew(c.e_local[k]), c.xi_bar[k] * c.q[k]
        rodrigues: VectorTerm = c.identity() + S.squared * (1 - Call("cos", angle)) + S * Call("sin", angle)
        step = c.placing[k] * rodrigues if self.placed else rodrigues
        product = c.A[p(k)] * c.A_step[p(k), k]
        return [
            Definition(c.A_step[p(k), k], step, "(7)", "Rodrigues matrix"),
            Definition(c.A[k], Cases(((c.identity(), self.numbers.base(k)), (product, None)))),
        ]

    def axes(self, number: str = "") -> list[Definition]:
        """Axes and segments in the null base."""
        c, p = self, self.numbers.parent
        return [
            Definition(c.e[k], c.A[k] * c.e_local[k], number, "axis of pair k"),
            Definition(c.arm[i], c.A[i] * c.arm_local[i], "", "from O_i to C_i"),
            Definition(c.rho[p(k), k], c.A[p(k)] * c.rho_local[p(k), k], "", "between poles, without slide"),
            Definition(c.J[i], c.A[i] * c.J_local[i] * c.A[i].T, "(24)", "inertia about C_i"),
        ]

    def list_in(self, form: VectorForm) -> None:
        """The given symbols and the common ones, with the indices for which they are listed."""
        n = self.numbers
        by_kind = {
            self.q: ("rad", "m"), self.q_dot: ("rad/s", "m/s"), self.q_ddot: ("rad/s^2", "m/s^2"),
        }  # fmt: skip
        for family, (angle, length) in by_kind.items():
            form.list(family, n.freedoms, lambda at, a=angle, b=length: a if at in n.turning else b)
        for family in (self.m, self.xi, self.xi_bar, self.e_local, self.arm_local, self.J_local):
            form.list(family, n.singles, self._slide_unit if family is self.xi else None)
        form.list(self.rho_local, n.carried)
        form.list(self.g, lambda: [()])
        if self.placed:
            form.list(self.placing, n.singles)
        if self.loaded:
            form.list(self.load, n.singles)
            form.list(self.load_moment, n.singles)
        for family in (self.A, self.e, self.arm, self.J):
            form.list(family, n.singles)
        for family in (self.A_step, self.rho):
            form.list(family, n.carried)

    def list_efforts(self, form: VectorForm) -> None:
        """The wrenches of unit efforts, for joints of several pairs."""
        n = self.numbers
        form.list(self.unit_force, n.pairs_in_series, lambda at: "1/m" if at in n.turning else "1")
        form.list(self.unit_moment, n.pairs_in_series, lambda at: "1" if at in n.turning else "m")

    def _slide_unit(self, at: int) -> str:
        return "m/rad" if at in self.numbers.turning & self.numbers.sliding else "1"

    # -- values ------------------------------------------------------------------------------------
    def given(self, motion: ChainMotion) -> Mapping[Family, Callable[..., Any]]:
        """The given symbols at an instant: functions of their indices."""
        kinematics, numbers = motion.kinematics, self.numbers
        links, reference = kinematics.links, kinematics.links_at(lambda joint: joint.neutral_q())
        placed = [x.axes @ link.placement.p for x, link in zip(reference, links)]
        turned = [x.axes @ link.placement.R @ x.axes.T for x, link in zip(reference, links)]
        static = motion.static

        def pole(at: int) -> Array:
            return reference[at - 1].pole if at else np.zeros(3)

        def numeric(function: Callable[[int], Any]) -> Callable[[int], Any]:
            return lambda at: plain(function(at - 1))

        return {
            self.m: numeric(lambda at: reference[at].mass),
            self.g: lambda: plain(kinematics.gravity),
            self.identity: lambda: np.eye(3),
            self.xi: numeric(lambda at: links[at].slide),
            self.xi_bar: numeric(lambda at: float(links[at].turns)),
            self.q: numeric(lambda at: links[at].coordinate),
            self.q_dot: numeric(lambda at: kinematics.speeds[at]),
            self.q_ddot: numeric(lambda at: motion.accelerations[at]),
            self.e_local: numeric(lambda at: reference[at].axis),
            self.rho_local: lambda a, b: plain(pole(b) - pole(numbers.carrier(b)) + placed[b - 1]),
            self.arm_local: numeric(lambda at: reference[at].center - reference[at].pole),
            self.J_local: numeric(lambda at: reference[at].J),
            self.placing: numeric(lambda at: turned[at]),
            self.unit_moment: lambda at: plain(kinematics.unit_effort(links[at - 1])[0]),
            self.unit_force: lambda at: plain(kinematics.unit_effort(links[at - 1])[1]),
            self.load: numeric(lambda at: -static[at][1] - links[at].mass * kinematics.gravity),
            self.load_moment: numeric(lambda at: -static[at][0]),
        }


def plain(value: Any) -> Any:
    """A float, or an array of floats."""
    return np.asarray(value, dtype=float) if np.ndim(value) else float(value)


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
