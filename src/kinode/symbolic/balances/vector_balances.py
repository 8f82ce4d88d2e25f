"""The balances of bodies and of the system about the origin o of a frame XYZ that moves at will, in vectors.

    F_j  = m_j [ acc(r_j + rho_j) + A_0 ]                                                        (T-8.1), (15)
    M_jo = H_j° + Omega x H_j + m_j (r_j + rho_j) x A_0
           + m_j (r_j + rho_j) x acc(r_j) + m_j r_j x acc(rho_j)                                 (T-8.2), (16)
    F, M_o = the same for the system                                                             (T-8.4), (19), (20)

Each term is written here once, printed, and evaluated by ``run.balance``.  Numbers in brackets are those of the
report on free-flight systems (docs/theory/free-flight.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kinode.sheets.sheet import SheetSection
from kinode.sheets.terms import Definition, Family, Index, IndexSet, Quotient, Sum, SumOver, VectorTerm, parts_of
from kinode.sheets.typeset import PLAIN, written
from kinode.sheets.values import TermValues

j = Index("j")


def _moving(letter: str, below: str, unit: str, words: str) -> tuple[Family, Family, Family]:
    """A vector and the first and second derivatives of its components in XYZ."""
    accents = ("", "ring", "rings")
    units = (unit, f"{unit}/s", f"{unit}/s^2")
    return tuple(Family(letter, below, 1, u, words, accent) for accent, u in zip(accents, units))  # type: ignore[return-value]


V, V1 = Family("V", "", 1, "m/s", "velocity of o"), Family("V", "", 1, "m/s^2", "velocity of o", "ring")
W, W1 = (
    Family("Omega", "", 1, unit, "angular velocity of XYZ", accent)
    for unit, accent in (("rad/s", ""), ("rad/s^2", "ring"))
)
A0 = Family("A", "0", 1, "m/s^2", "acceleration of o")
r, r1, r2 = _moving("r", "{0}", "m", "from o to the origin of body j")
rho, rho1, rho2 = _moving("rho", "{0}", "m", "from the origin of body j to its mass center")
c, c1, c2 = _moving("r", "cg", "m", "from o to the mass center of the system")
H, H1 = (
    Family("H", "{0}", 1, unit, "moment of momentum of body j about its origin", accent)
    for unit, accent in (("kg*m^2/s", ""), ("N*m", "ring"))
)
inertia = Family("I", "{0}", 2, "kg*m^2", "inertia of body j about its origin, in XYZ")
omega, omega1 = (
    Family("omega", "{0}", 1, unit, "angular velocity of body j", accent)
    for unit, accent in (("rad/s", ""), ("rad/s^2", "ring"))
)
mass, total_mass = Family("m", "{0}", 0, "kg", "mass of body j"), Family("m", "", 0, "kg", "mass of the system")
force, moment = (Family(letter, below, 1, unit) for letter, below, unit in (("F", "{0}", "N"), ("M", "{0}o", "N*m")))
total_force, total_moment = Family("F", "", 1, "N"), Family("M", "o", 1, "N*m")


@dataclass(frozen=True)
class BalanceTerm:
    """One term of a balance: what it is called, and its formula."""

    name: str
    term: VectorTerm

    @property
    def formula(self) -> str:
        """As text."""
        return written(self.term, PLAIN)


def _acc(x: VectorTerm, x1: VectorTerm, x2: VectorTerm) -> dict[str, VectorTerm]:
    """The acceleration of a point x relative to o, resolved in XYZ, by its terms (12), (13)."""
    return {
        "relative": x2,
        "Euler": W1().cross(x),
        "Coriolis": (2 * W()).cross(x1),
        "centrifugal": W().cross(W().cross(x)),
    }


ORIGIN: dict[str, VectorTerm] = {"origin": V1(), "origin turning": W().cross(V())}
POINT, POINT1, POINT2 = r[j] + rho[j], r1[j] + rho1[j], r2[j] + rho2[j]


def _sum(terms: Iterable[VectorTerm]) -> VectorTerm:
    """A flat sum."""
    return Sum(tuple(part for term in terms for part in parts_of(term)))


def _every(bodies: Callable[[], Sequence[str]] = tuple) -> IndexSet:
    return IndexSet(j, "{0}", (), bodies)


def _force_terms(m: VectorTerm, *point: VectorTerm) -> tuple[BalanceTerm, ...]:
    """(15) and (19): the mass times each acceleration."""
    return tuple(BalanceTerm(name, m * x) for name, x in (ORIGIN | _acc(*point)).items())


def _body_moment() -> tuple[BalanceTerm, ...]:
    """(16)."""
    terms = {"spin": H1[j], "gyroscopic": W().cross(H[j])}
    terms |= {name: (mass[j] * POINT).cross(x) for name, x in ORIGIN.items()}
    terms |= {f"{name}, r": (mass[j] * POINT).cross(x) for name, x in _acc(r[j], r1[j], r2[j]).items()}
    terms |= {f"{name}, rho": (mass[j] * r[j]).cross(x) for name, x in _acc(rho[j], rho1[j], rho2[j]).items()}
    return tuple(BalanceTerm(name, x) for name, x in terms.items())


def _system_moment(every: IndexSet) -> tuple[BalanceTerm, ...]:
    """(20)."""

    def summed(x: VectorTerm) -> VectorTerm:
        return SumOver((every,), x)

    terms = {"spin": summed(H1[j]), "gyroscopic": W().cross(summed(H[j]))}
    terms |= {name: (total_mass() * c()).cross(x) for name, x in ORIGIN.items()}
    terms |= {f"{name}, r": summed((mass[j] * POINT).cross(x)) for name, x in _acc(r[j], r1[j], r2[j]).items()}
    terms |= {f"{name}, rho": summed((mass[j] * r[j]).cross(x)) for name, x in _acc(rho[j], rho1[j], rho2[j]).items()}
    return tuple(BalanceTerm(name, x) for name, x in terms.items())


BODY_FORCE, BODY_MOMENT = _force_terms(mass[j], POINT, POINT1, POINT2), _body_moment()


def system_terms(bodies: Sequence[str]) -> tuple[tuple[BalanceTerm, ...], tuple[BalanceTerm, ...]]:
    """The terms of the force and of the moment of the whole system."""
    return _force_terms(total_mass(), c(), c1(), c2()), _system_moment(_every(lambda: bodies))


# -- the sheet -------------------------------------------------------------------------------------
def frame_definitions() -> tuple[Definition, ...]:
    """Acceleration of the origin, and the rate of the moment of momentum in XYZ."""
    relative = omega[j] - W()
    spin = inertia[j] * omega[j]
    rate = relative.cross(spin) - inertia[j] * relative.cross(omega[j]) + inertia[j] * omega1[j]
    return (
        Definition(A0(), V1() + W().cross(V()), "(14)"),
        Definition(H[j], spin, "(10)"),
        Definition(H1[j], rate, ""),
    )


def body_definitions() -> tuple[Definition, ...]:
    """Force and moment of body j."""
    acceleration = _sum((*_acc(POINT, POINT1, POINT2).values(), *ORIGIN.values()))
    arm = mass[j] * POINT
    about = (
        H1[j] + W().cross(H[j]) + arm.cross(Sum(tuple(ORIGIN.values())))
        + arm.cross(Sum(tuple(_acc(r[j], r1[j], r2[j]).values())))
        + (mass[j] * r[j]).cross(Sum(tuple(_acc(rho[j], rho1[j], rho2[j]).values())))
    )  # fmt: skip
    return Definition(force[j], mass[j] * acceleration, "(15)"), Definition(moment[j], about, "(16)")


def system_definitions(bodies: Callable[[], Sequence[str]] = tuple) -> tuple[Definition, ...]:
    """Mass, mass center, force and moment of the system."""
    every = _every(bodies)
    centers = [
        Definition(x(), Quotient(SumOver((every,), mass[j] * point), total_mass()), number)
        for x, point, number in ((c, POINT, "(18)"), (c1, POINT1, ""), (c2, POINT2, ""))
    ]
    acceleration = Sum((*ORIGIN.values(), *_acc(c(), c1(), c2()).values()))
    about = Sum(tuple(x.term for x in _system_moment(every)))
    return (
        Definition(total_mass(), SumOver((every,), mass[j]), "(17)"),
        *centers,
        Definition(total_force(), total_mass() * acceleration, "(19)"),
        Definition(total_moment(), about, "(20)"),
    )


FRAME_WORDS = """V is the velocity of o, Omega the angular velocity of XYZ, all in components of XYZ; ° is their rate.
r_j leads from o to the origin of body j, rho_j from there to its mass center; H_j is taken about the origin of body j,
with its absolute angular velocity omega_j."""
BODY_WORDS = "The force and the moment about o on body j: weight, loads and joints."
SYSTEM_WORDS = "Forces between bodies cancel: weight, loads and joints to the world remain."


def vector_sections() -> tuple[SheetSection, ...]:
    """The general balances, whatever the system and the frame: their length does not grow with the bodies."""
    return (
        SheetSection("The frame, and the moment of momentum", FRAME_WORDS, frame_definitions()),
        SheetSection("Body j", BODY_WORDS, body_definitions()),
        SheetSection("The system", SYSTEM_WORDS, system_definitions()),
    )


def evaluated(
    terms: Iterable[BalanceTerm], bodies: Sequence[str], given: Mapping[Family, Callable[..., Any]], body: str = ""
) -> dict[str, Any]:
    """The value of each term; vectors are (3, ...) arrays."""
    values = TermValues(system_definitions(lambda: bodies), given)
    return {term.name: values(term.term, {"j": body}) for term in terms}
