"""The equations of motion as formulas: ``kn.equations``.

    M u_dot + C u + G = Q                         (trees)
    M u_dot + C u + G = Q + J' lam,  J u_dot = gamma    (loops)

M is the mass matrix, C u what is quadratic in the speeds (by Christoffel's symbols, so that M_dot - 2 C is skew),
G the slope of the potential energy, Q all the rest: efforts, damping, loads, and what prescribed motions bring in;
J is the Jacobian of the constraints.  ``newton_euler`` writes down every body by itself instead (body_equations.py).

A formulation is traced once.  From the tape come both shapes: ``expanded``, the harmonics of algebra/normal_form.py
written as a person would, and ``named``, the operations of the tape with a name for each value that is used again.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from kinode.algebra.normal_form import TooLongError
from kinode.algebra.scalars import tidy
from kinode.algebra.trace import needed
from kinode.errors import ArgumentError
from kinode.formulations.formulation_table import FORMULATIONS
from kinode.model.base.fields import short
from kinode.model.system import System
from kinode.structure.topology import Topology, find_topology
from kinode.symbolic.body_equations import BodyEquations
from kinode.symbolic.notation import chosen_rows
from kinode.symbolic.printed_equations import EquationLine, Printed, Reaction, Section, matrix, terms_of
from kinode.symbolic.traced_derivation import WAYS, Derivation

SHAPES = ("auto", "expanded", "named")
BODIES = "newton_euler"
READABLE = 400  # operations: what has more is given with names
TRIED = 1500  # operations on the tape up to which it is tried
READABLE_BODIES = 4  # the same of bodies by themselves


class MotionMatrices(NamedTuple):
    """M u_dot + C u + G = Q."""

    M: Any
    C: Any
    G: Any
    Q: Any


class ConstraintEquation(NamedTuple):
    """A row of constraints: whose it is, its multiplier, what vanishes, and its second rate, G u_dot - gamma."""

    of: str
    symbol: Any
    residual: Any
    acceleration: Any


def equations(
    system: System, formulation: str | None = None, shape: str = "auto", reactions: Sequence[str] | str = ()
) -> Equations | BodyEquations:
    """The equations of motion of a system as SymPy expressions, and the reactions of the joints named.

    ``formulation`` is one of lagrange (for reading), recursive (for size, and loops), quasi_base, rotators,
    newton_euler (every body by itself, with all reactions as unknowns); ``shape`` is expanded,
    named (with intermediate variables), or auto, which chooses by size.
    """
    if not isinstance(system, System):
        raise ArgumentError(f"equations: a System is expected, not {short(system)}; kn.load reads one from a file")
    if shape not in SHAPES:
        raise ArgumentError(f"shape: {short(shape)} is none of {', '.join(SHAPES)}")
    try:
        names = [reactions] if isinstance(reactions, str) else list(reactions)
    except TypeError:
        raise ArgumentError(f"reactions: names of joints are expected, not {short(reactions)}") from None
    for name in names:
        if name not in system.joints:
            raise ArgumentError(
                f"reactions: {system.name} has no joint {short(name)}; it has {', '.join(system.joints)}"
            )
    topology = _independent(find_topology(system))
    way = formulation or ("recursive" if shape == "named" or not _fits(topology, "lagrange") else "lagrange")
    if way not in (*WAYS, BODIES):
        raise ArgumentError(f"formulation: {short(way)} is none of {', '.join((*WAYS, BODIES))}")
    reason = FORMULATIONS[way].applies(topology)
    if reason:
        raise ArgumentError(f"{way} does not apply to {system.name}: {reason}")
    if way == BODIES and names:
        raise ArgumentError("reactions: with newton_euler all reactions are unknowns of the equations")
    try:
        return _written(topology, way, shape, names, formulation is not None)
    except TooLongError:
        message = "written out, the equations have thousands of terms; shape='named' gives names to what recurs"
        raise ArgumentError(f"{system.name}: {message}") from None


def _written(topology: Topology, way: str, shape: str, names: Sequence[str], chosen: bool) -> Equations | BodyEquations:
    """The equations in the shape asked for, or in the one that their size allows."""
    if way == BODIES:
        if shape == "expanded":
            return BodyEquations(topology, "expanded")
        if shape == "auto" and len(topology.system.bodies) <= READABLE_BODIES:
            with suppress(TooLongError):
                return BodyEquations(topology, "expanded")
        return BodyEquations(topology, "named")
    found = Derivation(topology, way, names)
    if shape == "expanded":
        return Equations(found, "expanded")
    if shape == "auto" and found.operations <= (READABLE if topology.layout.quaternions else TRIED):
        with suppress(TooLongError):
            written = Equations(found, "expanded")
            if written.operations <= READABLE:
                return written
    return Equations(found if chosen else Derivation(topology, "recursive", names), "named")


def _fits(topology: Topology, way: str) -> bool:
    return FORMULATIONS[way].applies(topology) is None and topology.n_u <= 6


def _independent(topology: Topology) -> Topology:
    """With an independent set of constraint rows, where there are constraints."""
    if not topology.constrained:
        return topology
    from kinode.dynamics.compiled_system import Dynamics

    return Dynamics(topology.system).topology


class Equations(Printed):
    """Equations of motion in the coordinates of joints, as formulas."""

    def __init__(self, derivation: Derivation, shape: str) -> None:
        super().__init__(derivation.topology, derivation.notation, derivation.way, shape)
        self._derivation, d, n = derivation, derivation, derivation.topology.n_u
        self.law = "M u_dot + bias = G' lam, G u_dot = gamma" if len(d.gamma) else "M u_dot + bias = 0"
        flat = [*d.M.ravel(), *d.h, *d.jacobian.ravel(), *d.gamma, *d.residuals, *d.z_dot]
        flat += [x for moment, force in d.reactions.values() for x in (*force, *moment)]
        written = iter(self._writer.write_all(flat))
        rows = len(d.gamma)
        self.M = matrix([next(written) for _ in range(n * n)], n)
        self.bias = matrix([next(written) for _ in range(n)], 1)
        self.jacobian = matrix([next(written) for _ in range(rows * n)], n)
        self.gamma = matrix([next(written) for _ in range(rows)], 1)
        self.residual = matrix([next(written) for _ in range(rows)], 1)
        self.z_dot = matrix([next(written) for _ in d.z_dot], 1)  # of networks and controllers
        self.reactions = {
            name: Reaction(*(matrix([next(written) for _ in range(3)], 1) for _ in range(2))) for name in d.joints
        }

    @property
    def heading(self) -> str:
        count = len(self.unknowns)
        others = f" and {len(self.z_dot)} of other states" if len(self.z_dot) else ""
        return f"{self.system.name}: {count} equation{'s' * (count != 1)} of motion{others}, by {self.formulation}"

    @property
    def unknowns(self) -> list[Any]:
        """u_dot, in the order of the rows."""
        return self.notation.of("u_dot")

    @property
    def multipliers(self) -> list[Any]:
        """lam, in the order of the constraints."""
        return self.notation.of("lam")

    @property
    def arguments(self) -> tuple[str, ...]:
        pushed = any(node.op == "input" and node.args[0] == "u_dot" for node in needed(self._derivation.z_dot))
        used = ["q", "u"] + ["u_dot"] * (pushed or bool(self.reactions))
        used += ["lam"] * bool(self.reactions and self.multipliers)
        return (*used, *(["friction"] * bool(self.notation.of("friction"))), *(["z"] * bool(self.topology.n_z)))

    @property
    def outputs(self) -> dict[str, Any]:
        held = {"G": self.jacobian, "gamma": self.gamma, "residual": self.residual} if len(self.gamma) else {}
        return {"M": self.M, "bias": self.bias, **held, **({"z_dot": self.z_dot} if len(self.z_dot) else {})}

    def matrices(self) -> MotionMatrices:
        """M, C, G, Q of M u_dot + C u + G = Q; in loops the multipliers times ``jacobian`` are added to Q."""
        d, n = self._derivation, self._derivation.topology.n_u
        C, G, Q = (self._writer.write_all(list(np.asarray(x, dtype=object).ravel())) for x in (d.C, d.G, d.Q))
        return MotionMatrices(self.M, matrix(C, n), matrix(G, 1), matrix(Q, 1))

    @cached_property
    def _lines(self) -> list[EquationLine]:
        """One line for each speed of the state: accelerations and what is quadratic in the speeds, then what drives."""
        import sympy

        d, acceleration = self._derivation, self.unknowns
        left, right = list(self.bias), [sympy.S.Zero] * len(acceleration)
        if self.shape == "expanded" and not d.topology.layout.quaternions:
            right = self._writer.write_all(list(d.Q))
            left = self._writer.write_all(list(tidy(d.h + d.Q)))
        found = []
        for i, rest in enumerate(left):
            inertial = [self.M[i, j] * a for j, a in enumerate(acceleration)]
            held = [self.jacobian[k, i] * lam for k, lam in enumerate(self.multipliers)]
            found.append(EquationLine(_shown([*inertial, *terms_of(rest)]), _shown([*terms_of(right[i]), *held])))
        return found

    @cached_property
    def equations(self) -> list[Any]:
        """One equation for each speed of the state, what moves on the left, what drives on the right."""
        import sympy

        return [sympy.Eq(sympy.Add(*left), sympy.Add(*right), evaluate=False) for left, right in self._lines]

    @cached_property
    def constraints(self) -> list[ConstraintEquation]:
        """The rows that close loops, each with the joint or constraint that it belongs to and its multiplier."""
        import sympy

        found = []
        for k, (owner, _) in enumerate(chosen_rows(self.topology)):
            rates = [self.jacobian[k, j] * a for j, a in enumerate(self.unknowns)]
            found.append(
                ConstraintEquation(owner, self.multipliers[k], self.residual[k], sympy.Add(*rates, -self.gamma[k]))
            )
        return found

    @property
    def sections(self) -> list[Section]:
        import sympy

        constraints, motion = self.constraints, self._lines
        found = [Section("", self._named_lines())] if self.intermediates else []
        found.append(Section("", motion))
        for k, row in enumerate(constraints):
            rates = _shown([self.jacobian[k, j] * a for j, a in enumerate(self.unknowns)])
            lines = [EquationLine(rates, terms_of(self.gamma[k]))]
            if row.residual != 0:
                lines.insert(0, EquationLine(terms_of(row.residual), [sympy.S.Zero]))
            found.append(Section(f"{row.of} holds with {row.symbol}", lines))
        if len(self.z_dot):
            pairs = zip(self.notation.of("z_dot"), self.z_dot, strict=True)
            found.append(Section("other states", [EquationLine([symbol], terms_of(rate)) for symbol, rate in pairs]))
        return found + [self._reaction_section(joint) for joint in self.reactions]

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
                    rows.append((term.name, Reaction(matrix(written[:3], 1), matrix(written[3:], 1))))
            found[joint] = rows
        return found


def _shown(terms: Sequence[Any]) -> list[Any]:
    """Terms that are not zero, or a zero."""
    import sympy

    return [term for term in terms if term != 0] or [sympy.S.Zero]
