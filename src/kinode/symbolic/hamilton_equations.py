"""Hamilton's canonical equations as formulas: ``kn.equations(system, "hamilton")``.

    H(q, p, t) = (p - a)' A^-1 (p - a) / 2 - T_0 + V,      p = A u + a
    q_dot = dH/dp,      p_dot = -dH/dq + Q

a and T_0 are due to prescribed motions; with them H is not the energy T + V.  Q are the generalized forces without a
potential.  Where speeds are angular velocities, p are quasi-momenta: u = dH/dp in place of q_dot, derivatives along the
speeds in place of dH/dq, and -w x p among the rates.

The speeds u = dH/dp are written first, and the rates of the momenta with them, since -dH/dq at constant p is dL/dq at
constant u: formulas without the inverse of A, which one can read.  Written out, A^-1 is the adjugate over the
determinant; beyond three momenta the steps of an elimination have names.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array, Scalar, is_zero, tidy
from kinode.algebra.spatial import solve_spd
from kinode.algebra.trace import count_operations, replay
from kinode.errors import counted
from kinode.sheets.sheet import SheetSection
from kinode.sheets.terms import SymbolStyle
from kinode.structure.topology import Topology
from kinode.symbolic.printed_equations import Printed, matrix
from kinode.symbolic.traced_derivation import Derivation

MOST_WRITTEN_OUT = 3  # momenta that depend on each other, up to which the inverse of A is written out


class HamiltonTrace:
    """H, q_dot and p_dot as nodes of a tape, with the momenta as inputs."""

    def __init__(self, topology: Topology) -> None:
        # T by poses has R'R = 1 in it, which quaternions do not show; by the recursion it is w'J w
        method = "recursive" if topology.layout.quaternions else "lagrange"
        self.topology, self.derivation = topology, Derivation(topology, method)
        d, n = self.derivation, topology.n_u
        self.notation = d.notation
        for c in [c for c in topology.coordinates if c.role == "u"]:
            owner = f"{c.joint}{c.suffix}".replace(".", "_")
            self.notation.name("momenta", c.index, f"p_{owner}", SymbolStyle("p", 0, owner))
            self.notation.name("momenta_dot", c.index, f"p_dot_{owner}", SymbolStyle("p", 1, owner))
        self.p = d.tape.inputs("momenta", n)

    def _at_speeds(self, outputs: list[Scalar], u: Array) -> list[Scalar]:
        """Outputs with other scalars in place of the speeds."""
        return replay(outputs, {("u", i): x for i, x in enumerate(u)})

    @cached_property
    def T(self) -> Scalar:
        return self.derivation.snapshot.energies["kinetic"]

    @cached_property
    def momenta(self) -> Array:
        """dT/du, as functions of the speeds."""
        return tidy(self.derivation.M @ self.derivation.snapshot.u + self.given_momenta)

    @cached_property
    def given_momenta(self) -> Array:
        """a: the momenta at zero speeds."""
        d, n = self.derivation, self.topology.n_u
        slopes = [d.slopes([self.T], {("u", i): 1.0})[0] for i in range(n)]
        return tidy(self._at_speeds(slopes, np.zeros(n)))

    @cached_property
    def given_energy(self) -> Scalar:
        """T_0: the kinetic energy at zero speeds."""
        return self._at_speeds([self.T], np.zeros(self.topology.n_u))[0]

    @property
    def free(self) -> Array:
        """p - a."""
        return tidy(self.p - self.given_momenta)

    @cached_property
    def speeds(self) -> Array:
        """u = A^-1 (p - a), by elimination."""
        return tidy(solve_spd(self.derivation.M, self.free))

    @cached_property
    def rest(self) -> Scalar:
        """V - T_0: what of H does not depend on the momenta."""
        return self.derivation.snapshot.potential_energy - self.given_energy

    @cached_property
    def excess(self) -> Scalar:
        """T + V - H of the speeds: zero without prescribed motions."""
        u = self.derivation.snapshot.u
        return sum((a * x for a, x in zip(self.given_momenta, u, strict=True)), 0.0) + 2.0 * self.given_energy

    @cached_property
    def slopes(self) -> list[Scalar]:
        """-dH/dq along each speed: the derivatives of T - V at constant speeds."""
        L = self.T - self.derivation.snapshot.potential_energy
        return [self.derivation.along([L], n)[0] for n in self.derivation.directions]

    @cached_property
    def turning(self) -> list[Scalar]:
        """The rates of quasi-momenta by the turning of their axes: sum of u_j c[j, i, k] p_k."""
        return self.derivation.turning(self.p)

    @cached_property
    def Q(self) -> Array:
        """Generalized forces without a potential, as functions of the speeds."""
        return self.derivation.Q

    @property
    def operations(self) -> int:
        """Operations on the tape for H and the rates."""
        return sum(count_operations([*self.slopes, *self.turning, *self.Q, *self.speeds, self.rest]).values())


def _over(above: Any, below: Any) -> Any:
    """A quotient; a decimal number stays below the line, as it is in the model."""
    import sympy

    if not below.is_Float:
        return above / below
    return sympy.Mul(above, sympy.Pow(below, -1, evaluate=False), evaluate=False) if above != 0 else above


def adjugate(A: Array) -> tuple[Array, Scalar]:
    """The adjugate of a symmetric matrix with up to three rows, and its determinant: A^-1 = adjugate / determinant."""
    n = len(A)
    cofactors = np.empty((n, n), dtype=object)
    for i in range(n):
        for j in range(n):
            rows, columns = [k for k in range(n) if k != i], [k for k in range(n) if k != j]
            cofactors[j, i] = (-1.0) ** (i + j) * _determinant(A[np.ix_(rows, columns)])
    return cofactors, _determinant(A)


def _determinant(A: Array) -> Scalar:
    if not len(A):
        return 1.0
    minors = [np.delete(A[1:], j, axis=1) for j in range(len(A))]
    terms = [(-1.0) ** j * A[0, j] * _determinant(minor) for j, minor in enumerate(minors) if not is_zero(A[0, j])]
    return sum(terms[1:], terms[0]) if terms else 0.0


def _blocks(coupled: Array) -> list[list[int]]:
    """The sets of indices that a symmetric pattern couples."""
    left, blocks = set(range(len(coupled))), []
    while left:
        block = [min(left)]
        for i in block:
            block += [int(j) for j in np.flatnonzero(coupled[i]) if j not in block]
        left -= set(block)
        blocks.append(sorted(block))
    return blocks


class TooManyMomentaError(Exception):
    """The inverse of A would be too long to be written out."""


class HamiltonEquations(Printed):
    """Hamilton's canonical equations as SymPy expressions; ``kn.equations(system, "hamilton")`` returns it.

    Attributes
    ----------
    H : Expr
        The Hamiltonian, of coordinates, momenta and time.
    p : list of Symbol
        The momenta, in the order of the speeds.
    momenta : Matrix
        p as functions of the speeds: dT/du.
    speeds : Matrix
        u = dH/dp; with quaternions these are angular velocities, else the rates of the coordinates.
    p_dot : Matrix
        -dH/dq + Q, and for quasi-momenta the turning of their axes; with the speeds u = dH/dp.
    Q : Matrix
        Generalized forces without a potential, of the speeds u = dH/dp.
    energy : Expr
        T + V, as a function of coordinates and momenta; it differs from H where motions are prescribed.
    """

    law = "u = dH/dp, p_dot = -dH/dq + Q"

    def __init__(self, trace: HamiltonTrace, shape: str) -> None:
        super().__init__(trace.topology, trace.notation, "hamilton", shape)
        self._trace = trace
        write = self._writer.write_all
        self.H, speeds = self._written_out() if shape == "expanded" else self._eliminated()
        self.speeds = matrix(speeds, 1)
        self._steps = len(self._writer.intermediates)  # those of H and the speeds; others may use the speeds
        self.momenta, self.Q = matrix(write(list(trace.momenta)), 1), matrix(write(list(trace.Q)), 1)
        self._slopes, self._turning = write(trace.slopes), write(trace.turning)
        (self._excess,) = write([trace.excess])

    def _written_out(self) -> tuple[Any, list[Any]]:
        """H and u with the adjugate of A over its determinant, for each block of momenta that depend on each other."""
        trace, write, n = self._trace, self._writer.write_all, self.topology.n_u
        A, free = np.asarray(trace.derivation.M, dtype=object), trace.free
        written = np.array(write(list(A.ravel())), dtype=object).reshape(n, n)
        (H,), speeds = write([trace.rest]), [0] * n
        for block in _blocks(written != 0):
            if len(block) > MOST_WRITTEN_OUT:
                raise TooManyMomentaError
            inverse, determinant = adjugate(A[np.ix_(block, block)])
            solved = inverse @ free[block]
            whole, below, *numerators = write([free[block] @ solved, determinant, *solved])
            H = H + _over(whole, 2 * below)
            for i, x in zip(block, numerators, strict=True):
                speeds[i] = _over(x, below)
        return H, speeds

    def _eliminated(self) -> tuple[Any, list[Any]]:
        """H and u with named steps."""
        trace = self._trace
        H = 0.5 * (trace.free @ trace.speeds) + trace.rest
        first, *speeds = self._writer.write_all([H, *trace.speeds])
        return first, speeds

    @property
    def intermediates(self) -> list[tuple[Any, Any]]:
        """Named steps, and the speeds as functions of the momenta."""
        steps = self._writer.intermediates
        speeds = zip(self.notation.of("u"), self.speeds, strict=True)
        return [*steps[: self._steps], *speeds, *steps[self._steps :]]

    @property
    def p(self) -> list[Any]:
        """The symbols of the momenta."""
        return self.notation.of("momenta")

    @property
    def p_dot(self) -> Any:
        """-dH/dq + Q, and the turning of axes."""
        return matrix([sum(parts, 0 * parts[0]) for parts in zip(self._slopes, self._turning, self.Q, strict=True)], 1)

    @property
    def energy(self) -> Any:
        """T + V."""
        return self.H + self._excess

    @property
    def is_energy(self) -> bool:
        """Whether H is the energy T + V: nothing has a prescribed motion."""
        return bool(self._excess == 0)

    @property
    def unknowns(self) -> list[Any]:
        """The symbols of the rates of the momenta."""
        return self.notation.of("momenta_dot")

    @property
    def heading(self) -> str:
        n, quasi = len(self.p), "quasi-" if self.topology.layout.quaternions else ""
        return f"{self.system.name}: Hamilton's equations of {counted(n, f'{quasi}momentum', f'{quasi}momenta')}"

    @property
    def arguments(self) -> tuple[str, ...]:
        return ("q", "momenta", *(["z"] * bool(self.topology.n_z)))

    @property
    def outputs(self) -> dict[str, Any]:
        scalars = {"H": matrix([self.H], 1), "energy": matrix([self.energy], 1)}
        return {"u": matrix(self.notation.of("u"), 1), "p_dot": self.p_dot, **scalars}

    @property
    def sections(self) -> list[SheetSection]:
        import sympy

        T, V, H = sympy.symbols("T V H")
        steps = self._named(self._writer.intermediates)
        named = [SheetSection("", lines=steps)] if steps else []
        definitions = self._named(zip(self.p, self.momenta, strict=True))
        sections = [*named, SheetSection("momenta, dT/du", lines=definitions)]
        sections.append(SheetSection("Hamiltonian", lines=(self._line([H], [self.H]),)))
        if not self.is_energy:
            energy = self._line([T, V, -H], [self._excess])
            sections.append(SheetSection("H is not the energy, since motions are prescribed", lines=(energy,)))
        speeds = self._named(zip(self.notation.of("u"), self.speeds, strict=True))
        sections.append(SheetSection("speeds, dH/dp", lines=speeds))
        turning = ", and the turning of axes" if any(x != 0 for x in self._turning) else ""
        parts = zip(self.unknowns, self._slopes, self._turning, self.Q, strict=True)
        rates = tuple(self._line([symbol], terms) for symbol, *terms in parts)
        sections.append(SheetSection(f"rates of momenta, -dH/dq + Q{turning}", lines=rates))
        return sections
