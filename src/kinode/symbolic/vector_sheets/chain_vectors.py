"""What both methods have in common: data in the reference configuration, Rodrigues matrices, vectors in the null base.

Where all coordinates are zero all bases are parallel to the null base: the axes of the world.  Vectors in the base of a
link, such as e_k^(k), are those of the reference configuration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.formulations.hinge_chains import ChainMotion
from kinode.symbolic.formulas.formula_sheet import SheetSection
from kinode.symbolic.formulas.vector_terms import Call, Cases, Definition, Family, Skew, VectorTerm
from kinode.symbolic.vector_sheets.chain_numbers import ChainNumbers, i, k

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
