"""The equations of motion as formulas: ``kn.equations``.

    M u_dot + C u + G = Q        (trees)

M is the mass matrix, C u what is quadratic in the speeds (by Christoffel's symbols, so that M_dot - 2 C is skew),
G the slope of the potential energy, Q all the rest: efforts, damping, loads, and what prescribed motions bring in.

A formulation is traced once.  From the tape come both shapes: ``expanded``, the harmonics of algebra/harmonics.py
written as a person would, and ``named``, the operations of the tape with a name for each value that is used again.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from kinode.algebra.harmonics import TooLongError
from kinode.algebra.scalars import Array, Dual, Scalar, tidy
from kinode.algebra.trace import Tape, count_operations, replay
from kinode.codegen.formulas import write_c, write_latex, write_python, write_text
from kinode.codegen.notation import Namer, Notation, Writer
from kinode.errors import ArgumentError
from kinode.formulations.lagrange import Energies
from kinode.formulations.quasi_base import QuasiBase
from kinode.formulations.registry import FORMULATIONS
from kinode.formulations.rotators import Rotators, Term
from kinode.formulations.snapshot import Snapshot
from kinode.model.fields import short
from kinode.model.system import System
from kinode.topology import Topology, find_topology

SHAPES = ("auto", "expanded", "named")
WAYS: dict[str, type[Snapshot]] = {
    "recursive": Snapshot, "lagrange": Energies, "quasi_base": QuasiBase, "rotators": Rotators,
}  # fmt: skip
READABLE = 400  # operations: what has more is given with names


class Matrices(NamedTuple):
    """M u_dot + C u + G = Q."""

    M: Any
    C: Any
    G: Any
    Q: Any


class Reaction(NamedTuple):
    """Force and moment of a joint's reaction: by a on b, about b's joint point, in a's joint axes."""

    force: Any
    moment: Any


def equations(
    system: System, formulation: str | None = None, shape: str = "auto", reactions: Sequence[str] | str = ()
) -> Equations:
    """The equations of motion of a system as SymPy expressions, and the reactions of the joints named.

    ``formulation`` is one of lagrange (for reading), recursive (for size), quasi_base, rotators; ``shape`` is
    expanded, named (with intermediate variables), or auto, which chooses by size.
    """
    if not isinstance(system, System):
        raise ArgumentError(f"equations: a System is expected, not {short(system)}; kn.load reads one from a file")
    if shape not in SHAPES:
        raise ArgumentError(f"shape: {short(shape)} is none of {', '.join(SHAPES)}")
    names = [reactions] if isinstance(reactions, str) else list(reactions)
    for name in names:
        if name not in system.joints:
            raise ArgumentError(
                f"reactions: {system.name} has no joint {short(name)}; it has {', '.join(system.joints)}"
            )
    topology = find_topology(system)
    way = formulation or ("recursive" if shape == "named" or not _fits(topology, "lagrange") else "lagrange")
    if way not in WAYS:
        raise ArgumentError(f"formulation: {short(way)} is none of {', '.join(WAYS)}")
    reason = FORMULATIONS[way].applies(topology) or _no_loops(topology)
    if reason:
        raise ArgumentError(f"{way} does not apply to {system.name}: {reason}")
    found = Derivation(topology, way, names)
    if shape == "expanded" or (shape == "auto" and found.operations <= READABLE):
        try:
            return Equations(found, "expanded")
        except TooLongError:
            if shape == "expanded":
                message = "written out, the equations have thousands of terms; shape='named' gives names to what recurs"
                raise ArgumentError(f"{system.name}: {message}") from None
    return Equations(found if formulation else Derivation(topology, "recursive", names), "named")


def _fits(topology: Topology, way: str) -> bool:
    return FORMULATIONS[way].applies(topology) is None and topology.n_u <= 6


def _no_loops(topology: Topology) -> str | None:
    if topology.constrained:
        return "constraints close loops"
    return None


class Derivation:
    """One formulation traced: its outputs as nodes of a tape."""

    def __init__(self, topology: Topology, way: str, reactions: Sequence[str]) -> None:
        self.topology, self.way, self.joints = topology, way, list(reactions)
        self.tape = Tape()
        n = topology
        count = {"q": n.n_q, "u": n.n_u, "z": n.n_z, "p": len(n.parameters), "inputs": len(n.inputs)}
        arrays = [self.tape.inputs(name, size) for name, size in count.items()]
        state: tuple[Any, ...] = (topology, self.tape.input("t", 0), *arrays)
        self.snapshot = WAYS[way](*state)
        self.u_dot = self.tape.inputs("u_dot", topology.n_u)
        moving = Rotators if way == "rotators" else QuasiBase if way == "quasi_base" else Snapshot
        self.given = moving(*state, u_dot=self.u_dot)
        self.notation = Notation(topology)

    @cached_property
    def M(self) -> Array:
        return np.asarray(self.snapshot.mass_matrix, dtype=object)

    @cached_property
    def h(self) -> Array:
        """M u_dot + h = 0."""
        return tidy(-self.snapshot.bias_effort) if self.topology.n_u else np.empty(0)

    @cached_property
    def reactions(self) -> dict[str, tuple[Array, Array]]:
        """Moment and force of each joint asked for."""
        return {name: self.given.reaction(name) for name in self.joints}

    @cached_property
    def Q(self) -> Array:
        """What is left on the right: efforts, damping, loads, prescribed motions."""
        return tidy(self.C @ self.snapshot.u + self.G - self.h)

    @cached_property
    def terms(self) -> dict[str, list[tuple[Term, tuple[Array, Array]]]]:
        """The kinetic parts of the reactions term by term, by the rotators."""
        assert isinstance(self.given, Rotators)
        return {name: self.given.joint_terms(name) for name in self.joints}

    @property
    def operations(self) -> int:
        """How many operations M, h and the reactions take on the tape."""
        flat = [*self.M.ravel(), *self.h, *(x for pair in self.reactions.values() for part in pair for x in part)]
        return sum(count_operations(flat).values())

    def along(self, outputs: Sequence[Scalar], direction: Array) -> list[Scalar]:
        """Rates of outputs while q changes at ``direction``."""
        seeds = {("q", i): Dual(self.tape.input("q", i), direction[i]) for i in range(self.topology.n_q)}
        return [x.rate if isinstance(x, Dual) else 0.0 for x in replay(outputs, seeds)]

    @cached_property
    def directions(self) -> list[Array]:
        """How q changes for a unit of each speed."""
        found = []
        for k in range(self.topology.n_u):
            unit = np.zeros(self.topology.n_u)
            unit[k] = 1.0
            found.append(np.asarray(self.snapshot.at(u=unit).q_dot, dtype=object))
        return found

    @cached_property
    def G(self) -> Array:
        """Slope of the potential energy along each speed."""
        V = [self.snapshot.potential_energy]
        return tidy([self.along(V, n)[0] for n in self.directions])

    @cached_property
    def C(self) -> Array:
        """Christoffel's symbols times the speeds: C_ij = sum_k (d_k M_ij + d_j M_ik - d_i M_jk) u_k / 2."""
        if self.topology.quaternions:
            message = "C: with quaternions the speeds are not the rates of coordinates, and Christoffel's symbols"
            raise ArgumentError(f"{message} do not exist; .bias holds all but M u_dot")
        n = self.topology.n_u
        slopes = [np.array(self.along(list(self.M.ravel()), d), dtype=object).reshape(n, n) for d in self.directions]
        u = self.snapshot.u
        C = np.zeros((n, n), dtype=object)
        for i in range(n):
            for j in range(n):
                parts = [(slopes[k][i, j] + slopes[j][i, k] - slopes[i][j, k]) * u[k] for k in range(n)]
                C[i, j] = 0.5 * sum(parts[1:], parts[0])
        return C


class Equations:
    """Equations of motion as formulas; prints in a terminal, in LaTeX, as Python and as C."""

    def __init__(self, derivation: Derivation, shape: str) -> None:
        self._derivation = derivation
        self.system, self.formulation, self.shape = derivation.topology.system, derivation.way, shape
        self.topology, self.notation = derivation.topology, derivation.notation
        self._writer: Writer | Namer = Namer(self.notation) if shape == "named" else Writer(self.notation)
        flat = [*derivation.M.ravel(), *derivation.h]
        flat += [x for moment, force in derivation.reactions.values() for x in (*force, *moment)]
        written = iter(self._writer.write_all(flat))
        n = derivation.topology.n_u
        self.M = self._matrix([next(written) for _ in range(n * n)], n)
        self.bias = self._matrix([next(written) for _ in range(n)], 1)
        self.reactions = {
            name: Reaction(*(self._matrix([next(written) for _ in range(3)], 1) for _ in range(2)))
            for name in derivation.joints
        }

    @staticmethod
    def _matrix(entries: Sequence[Any], columns: int) -> Any:
        import sympy

        return sympy.ImmutableMatrix(len(entries) // columns if columns else 0, columns, list(entries))

    @property
    def symbols(self) -> dict[str, Any]:
        """All symbols by name."""
        return self.notation.symbols

    @property
    def unknowns(self) -> list[Any]:
        """u_dot, in the order of the rows."""
        return self.notation.of("u_dot")

    @property
    def intermediates(self) -> list[tuple[Any, Any]]:
        """Names of values that are used again, each with its formula, in the order in which they are needed."""
        return self._writer.intermediates

    @property
    def operations(self) -> int:
        """Additions, multiplications and functions of all formulas together."""
        parts = [expr for _, expr in self.intermediates] + [*self.M, *self.bias]
        parts += [x for reaction in self.reactions.values() for part in reaction for x in part]
        return int(sum(part.count_ops() for part in parts))

    def matrices(self) -> Matrices:
        """M, C, G, Q of M u_dot + C u + G = Q."""
        d, n = self._derivation, self._derivation.topology.n_u
        C, G, Q = (self._writer.write_all(list(np.asarray(x, dtype=object).ravel())) for x in (d.C, d.G, d.Q))
        return Matrices(self.M, self._matrix(C, n), self._matrix(G, 1), self._matrix(Q, 1))

    @cached_property
    def equations(self) -> list[Any]:
        """One equation for each speed of the state, what moves on the left, what drives on the right."""
        import sympy

        d, acceleration = self._derivation, self.unknowns
        left, right = list(self.bias), [sympy.S.Zero] * len(acceleration)
        if self.shape == "expanded" and not d.topology.quaternions:
            right = self._writer.write_all(list(d.Q))
            left = self._writer.write_all(list(tidy(d.h + d.Q)))
        found = []
        for i, rest in enumerate(left):
            inertial = [self.M[i, j] * a for j, a in enumerate(acceleration)]
            found.append(sympy.Eq(sympy.Add(*inertial, rest), right[i], evaluate=False))
        return found

    @cached_property
    def terms(self) -> dict[str, list[tuple[str, Reaction]]]:
        """With ``rotators``: the kinetic part of each reaction as named terms, those that vanish left out."""
        if self.formulation != "rotators":
            raise ArgumentError("terms: only the formulation rotators gives reactions term by term")
        found: dict[str, list[tuple[str, Reaction]]] = {}
        for joint, terms in self._derivation.terms.items():
            rows = []
            for term, (moment, force) in terms:
                written = self._writer.write_all([*force, *moment])
                if any(x != 0 for x in written):
                    rows.append((term.name, Reaction(self._matrix(written[:3], 1), self._matrix(written[3:], 1))))
            found[joint] = rows
        return found

    def latex(self, *, document: bool = False) -> str:
        """The equations in LaTeX: an align environment, or a whole ``document``."""
        return write_latex(self, document)

    def python(self) -> str:
        """A Python function of t, q, u, u_dot that returns M, bias and the reactions; parameters have their values."""
        return write_python(self)

    def c(self) -> str:
        """The same as a function in C."""
        return write_c(self)

    def __str__(self) -> str:
        return write_text(self)

    def _repr_latex_(self) -> str:
        return self.latex()
