"""The equations of motion as formulas: ``kn.equations``.

    A u_dot + D + G = Q                           (trees)
    A u_dot + D + G = Q + J' lam,  J u_dot = gamma      (loops)

A = M is the mass matrix.  D = C u + (inertia of prescribed motions).  C u is quadratic in the speeds; C is made of
Christoffel symbols, so that M_dot - 2 C is skew [R. M. Murray, Z. Li, S. S. Sastry, A Mathematical Introduction to
Robotic Manipulation, 1994, section 4.3].  G is the gradient of the potential energy.  Q are the generalized forces:
efforts, damping, loads.  J is the Jacobian of the constraints.  The formulation ``newton_euler`` gives the equations
of every body (``body_equations``), ``hamilton`` the canonical form (``hamilton_equations``).

A formulation is traced once.  Both shapes come from the tape: ``expanded`` writes the normal form of
``symbolic.normal_form`` as a person would, ``named`` writes the operations of the tape, with a name for each value that
is used more than once.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from kinode.algebra.scalars import tidy
from kinode.algebra.trace import needed
from kinode.errors import ArgumentError, counted
from kinode.formulations.scope import SCOPES
from kinode.model.base.fields import short
from kinode.model.system import System
from kinode.sheets.sheet import SheetSection
from kinode.sheets.terms import Definition
from kinode.structure.topology import Topology, find_topology
from kinode.symbolic.normal_form import TooLongError, budget
from kinode.symbolic.notation import independent_rows
from kinode.symbolic.printed_equations import Printed, Reaction, as_equation, matrix, writing_out
from kinode.symbolic.traced_derivation import TRACED_FORMULATIONS, Derivation

if TYPE_CHECKING:
    from kinode.symbolic.balances.frame_equations import FrameEquations
    from kinode.symbolic.body_equations import BodyEquations
    from kinode.symbolic.circuit.whole_circuit import Circuit
    from kinode.symbolic.elimination_matrices import EliminationMatrices
    from kinode.symbolic.hamilton_equations import HamiltonEquations
    from kinode.symbolic.vectors.vector_equations import VectorEquations


SHAPES = ("auto", "expanded", "named", "vectors")
NEWTON_EULER, HAMILTON, CIRCUIT = "newton_euler", "hamilton", "circuit"
WRITTEN = (*TRACED_FORMULATIONS, HAMILTON, NEWTON_EULER)
READABLE = 400  # operations up to which shape="auto" writes expanded formulas
PAGE_BUDGET = 40_000  # operations that a page which shows more than equations may take for them
BUDGET = 80_000  # operations of the normal form that shape="auto" may take to expand: less than a second
LARGEST_TRIED = 1500  # operations on the tape up to which shape="auto" tries to
Names = Sequence[str] | str
READABLE_SPEEDS = 6  # speeds up to which lagrange is the default formulation
READABLE_BODIES = 4  # bodies up to which shape="auto" expands the equations of newton_euler


class ConstraintEquation(NamedTuple):
    """A constraint row: its joint or constraint, its multiplier, its residual, and G u_dot - gamma, which vanishes."""

    of: str
    symbol: Any
    residual: Any
    acceleration: Any


@overload
def equations(
    system: System, formulation: str | None = None, shape: str = "auto", reactions: Names = (), frame: None = None
) -> Equations | BodyEquations | HamiltonEquations | VectorEquations | Circuit: ...  # fmt: skip
@overload
def equations(
    system: System, formulation: None = None, shape: str = "auto", reactions: Names = (), *, frame: Any
) -> FrameEquations: ...
def equations(
    system: System, formulation: str | None = None, shape: str = "auto", reactions: Names = (), frame: Any = None
) -> Equations | BodyEquations | HamiltonEquations | VectorEquations | Circuit | FrameEquations:  # fmt: skip
    """The equations of motion of a system as SymPy expressions, its reactions in vectors, or balances about a frame.

    Parameters
    ----------
    system : System
        The system.
    formulation : str, optional
        How the equations are derived: ``lagrange`` is for reading, ``recursive`` is short and takes loops, ``hamilton``
        is the canonical form, ``quasi_base`` and ``rotators`` are vector methods for hinges and slides.
        ``newton_euler`` gives the equations of every body with all reactions as unknowns, and in ``.elimination`` the
        matrices that eliminate them; ``circuit`` those of every component in link variables, as ``kn.circuit`` does.
        Default: ``lagrange`` for small trees, else ``recursive``.
    shape : {"auto", "expanded", "named", "vectors"}
        Formulas written out, formulas with intermediate variables, or by size (default).  ``vectors``, of
        ``quasi_base`` and ``rotators``: sums over bodies in vectors, with indices; with ``frame``: its vector form.
    reactions : sequence of str, or str
        Joints whose reactions are written too.
    frame : body, frame or str, optional
        Balances of force and moment about the origin of this frame, in its axes, in place of equations of motion.

    Returns
    -------
    Equations, BodyEquations, HamiltonEquations, VectorEquations, FrameEquations or Circuit
        Prints as text; ``.latex()``, ``.python()``, ``.c()``, ``.M``, ``.bias``, ``.matrices()``.

    Examples
    --------
    >>> print(kn.equations(kn.load("examples/pendulum.yaml")))
    pendulum: 1 equation of motion, by lagrange
      L**2*u_dot_pivot/3 + 4.905*L*cos(q_pivot) = 0
    """
    if not isinstance(system, System):
        raise ArgumentError(f"equations: a System is expected, not {short(system)}; kn.load reads one from a file")
    if shape not in SHAPES and frame is None:
        raise ArgumentError(f"shape: {short(shape)} is none of {', '.join(SHAPES)}")
    try:
        names = [reactions] if isinstance(reactions, str) else list(reactions)
    except TypeError:
        raise ArgumentError(f"reactions: names of joints are expected, not {short(reactions)}") from None
    for name in names:
        if name not in system.joints:
            known = ", ".join(system.joints)
            raise ArgumentError(f"reactions: {system.name} has no joint {short(name)}; it has {known}")
    if frame is not None:
        from kinode.symbolic.balances.frame_equations import frame_equations

        with writing_out(system):
            return frame_equations(system, frame, formulation, shape, names)
    if shape == "vectors":
        from kinode.symbolic.vectors.vector_equations import vector_equations

        return vector_equations(system, formulation or "quasi_base", names)
    if formulation == CIRCUIT:
        if names:
            raise ArgumentError("reactions: in the circuit all joint loads are flows of links")
        from kinode.symbolic.circuit.whole_circuit import circuit

        return circuit(system)
    topology = _independent(find_topology(system))
    readable = shape != "named" and _is_readable_by(topology, "lagrange")
    method = formulation or ("lagrange" if readable else "recursive")
    if method not in WRITTEN:
        raise ArgumentError(f"formulation: {short(method)} is none of {', '.join((*WRITTEN, CIRCUIT))}")
    if reason := SCOPES[method](topology):
        raise ArgumentError(f"{method} does not apply to {system.name}: {reason}")
    if method == NEWTON_EULER and names:
        raise ArgumentError("reactions: with newton_euler all reactions are unknowns of the equations")
    if method == HAMILTON and names:
        raise ArgumentError("reactions: hamilton has none; recursive writes them")
    if method == NEWTON_EULER and topology.meshes:
        message = f"which flank of the teeth of {', '.join(topology.meshes)} carries the load is not linear"
        raise ArgumentError(f"newton_euler writes linear equations: {message}; leave pressure_angle out")
    with writing_out(system):
        return _written(topology, method, shape, names, formulation is not None)


def equations_of_page(system: System) -> Any:
    """The equations of motion for a page of a run, which does not wait for them: named where they are long."""
    with budget(PAGE_BUDGET):
        return equations(system)


def find_elimination(derived: object) -> EliminationMatrices:
    """The elimination of constraint forces of derived equations; an error if they are not of newton_euler."""
    from kinode.symbolic.body_equations import BodyEquations

    if not isinstance(derived, BodyEquations):
        raise ArgumentError("elimination: it is part of the formulation newton_euler alone")
    return derived.elimination


def _written(
    topology: Topology, method: str, shape: str, names: Sequence[str], chosen: bool
) -> Equations | BodyEquations | HamiltonEquations:
    """The equations in the given shape; with "auto" expanded if they are short and their budget lasts, else named."""
    if method == NEWTON_EULER:
        from kinode.symbolic.body_equations import BodyEquations

        if shape == "expanded":
            return BodyEquations(topology, "expanded")
        if shape == "auto" and len(topology.system.bodies) <= READABLE_BODIES:
            with suppress(TooLongError), budget(BUDGET * len(topology.system.bodies)):
                return BodyEquations(topology, "expanded")
        return BodyEquations(topology, "named")
    if method == HAMILTON:
        return _written_hamilton(topology, shape)
    derivation = Derivation(topology, method, names)
    if shape == "expanded":
        return Equations(derivation, "expanded")
    if shape == "auto" and derivation.operations <= (READABLE if topology.layout.quaternions else LARGEST_TRIED):
        with suppress(TooLongError), budget(BUDGET):
            written = Equations(derivation, "expanded")
            if written.operations <= READABLE:
                return written
    return Equations(derivation if chosen else Derivation(topology, "recursive", names), "named")


def _written_hamilton(topology: Topology, shape: str) -> HamiltonEquations:
    """Hamilton's equations in the given shape."""
    from kinode.symbolic.hamilton_equations import (
        MOST_WRITTEN_OUT,
        HamiltonEquations,
        HamiltonTrace,
        TooManyMomentaError,
    )

    trace = HamiltonTrace(topology)
    if shape == "expanded":
        try:
            return HamiltonEquations(trace, "expanded")
        except TooManyMomentaError:
            message = f"more than {MOST_WRITTEN_OUT} momenta depend on each other, too many to invert A in writing"
            raise ArgumentError(f"{topology.system.name}: {message}; shape='named' names the steps") from None
    if shape == "auto" and trace.operations <= LARGEST_TRIED:
        with suppress(TooLongError, TooManyMomentaError), budget(BUDGET):
            written = HamiltonEquations(trace, "expanded")
            if written.operations <= READABLE:
                return written
    return HamiltonEquations(trace, "named")


def _is_readable_by(topology: Topology, method: str) -> bool:
    """Whether the formulation applies, and the system is small enough to be read."""
    return SCOPES[method](topology) is None and topology.n_u <= READABLE_SPEEDS


def _independent(topology: Topology) -> Topology:
    """The topology with an independent set of constraint rows, if there are constraints."""
    if not topology.constrained:
        return topology
    from kinode.dynamics.compiled_system import Dynamics

    return Dynamics(topology.system).topology


class Equations(Printed):
    """Equations of motion in joint coordinates, as SymPy expressions; ``kn.equations`` returns it.

    M u_dot + bias = G' lam, G u_dot = gamma

    Attributes
    ----------
    M, bias : Matrix
        Mass matrix, and all other terms on the left side.
    jacobian, gamma, residual : Matrix
        G, gamma and the residuals of the independent constraint rows; empty for trees.
    z_dot : Matrix
        Time derivatives of the states of networks and controllers.
    reactions : dict of str to Reaction
        Force and moment of the requested joints.
    """

    def __init__(self, derivation: Derivation, shape: str) -> None:
        super().__init__(derivation.topology, derivation.notation, derivation.method, shape)
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
        self.z_dot = matrix([next(written) for _ in d.z_dot], 1)
        self.reactions = {
            name: Reaction(*(matrix([next(written) for _ in range(3)], 1) for _ in range(2))) for name in d.joints
        }
        self._lines = self._write_lines()

    @property
    def heading(self) -> str:
        count = len(self.unknowns)
        others = f" and {len(self.z_dot)} of other states" if len(self.z_dot) else ""
        return f"{self.system.name}: {counted(count, 'equation')} of motion{others}, by {self.formulation}"

    @property
    def unknowns(self) -> list[Any]:
        """The symbols u_dot, in the order of the equations."""
        return self.notation.of("u_dot")

    @property
    def multipliers(self) -> list[Any]:
        """The symbols lam, in the order of the constraint rows."""
        return self.notation.of("lam")

    @property
    def arguments(self) -> tuple[str, ...]:
        needs_u_dot = any(node.op == "input" and node.args[0] == "u_dot" for node in needed(self._derivation.z_dot))
        used = ["q", "u"] + ["u_dot"] * (needs_u_dot or bool(self.reactions))
        used += ["lam"] * bool(self.reactions and self.multipliers)
        return (*used, *(["friction"] * bool(self.notation.of("friction"))), *(["z"] * bool(self.topology.n_z)))

    @property
    def outputs(self) -> dict[str, Any]:
        loops = {"G": self.jacobian, "gamma": self.gamma, "residual": self.residual} if len(self.gamma) else {}
        return {"M": self.M, "bias": self.bias, **loops, **({"z_dot": self.z_dot} if len(self.z_dot) else {})}

    def matrices(self) -> MotionMatrices:
        """The matrices of A u_dot + D + G = Q; loops add ``jacobian`` transposed times the multipliers to Q.

        Returns
        -------
        MotionMatrices
            ``A`` (= ``M``), ``D`` and ``C``, ``G``, ``Q``: mass matrix; all other terms of inertia, D = C u and those
            of prescribed motions; Christoffel matrix; gradient of the potential energy; generalized forces.  As a tuple
            it is M, C, G, Q.

        Raises
        ------
        ArgumentError
            If the state contains quaternions: Christoffel symbols do not exist for them.

        Examples
        --------
        >>> M, C, G, Q = kn.equations(kn.load("examples/pendulum.yaml")).matrices()
        >>> M, G
        (Matrix([[L**2/3]]), Matrix([[4.905*L*cos(q_pivot)]]))
        """
        d, n = self._derivation, self._derivation.topology.n_u
        with writing_out(self.system):
            flat = (list(np.asarray(x, dtype=object).ravel()) for x in (d.C, d.G, d.Q, d.D))
            C, G, Q, D = (self._writer.write_all(x) for x in flat)
        return MotionMatrices(self.M, matrix(C, n), matrix(G, 1), matrix(Q, 1), matrix(D, 1))

    def _write_lines(self) -> tuple[Definition, ...]:
        """One line for each speed of the state: terms of accelerations and speeds on the left, forces on the right."""
        import sympy

        d, acceleration = self._derivation, self.unknowns
        left, right = list(self.bias), [sympy.S.Zero] * len(acceleration)
        if self.shape == "expanded" and not d.topology.layout.quaternions:
            right = self._writer.write_all(list(d.Q))
            left = self._writer.write_all(list(tidy(d.h + d.Q)))
        lines = []
        for i, rest in enumerate(left):
            inertial = [self.M[i, j] * a for j, a in enumerate(acceleration)]
            forces = [self.jacobian[k, i] * lam for k, lam in enumerate(self.multipliers)]
            lines.append(self._line([*inertial, rest], [right[i], *forces]))
        return tuple(lines)

    @cached_property
    def equations(self) -> list[Any]:
        """One SymPy equation for each speed of the state: inertia terms on the left, forces on the right."""
        return [as_equation(line) for line in self._lines]

    @cached_property
    def constraints(self) -> list[ConstraintEquation]:
        """The independent constraint rows of the loops, each with its joint or constraint and its multiplier."""
        import sympy

        rows = []
        for k, (owner, _) in enumerate(independent_rows(self.topology)):
            rates = [self.jacobian[k, j] * a for j, a in enumerate(self.unknowns)]
            rows.append(
                ConstraintEquation(owner, self.multipliers[k], self.residual[k], sympy.Add(*rates, -self.gamma[k]))
            )
        return rows

    @property
    def sections(self) -> list[SheetSection]:
        all_sections = [SheetSection("", lines=self._named(self.intermediates))] if self.intermediates else []
        all_sections.append(SheetSection("", lines=self._lines))
        for k, row in enumerate(self.constraints):
            rates = [self.jacobian[k, j] * a for j, a in enumerate(self.unknowns)]
            lines = [self._line([row.residual], [])] if row.residual != 0 else []
            lines.append(self._line(rates, [self.gamma[k]]))
            all_sections.append(SheetSection(f"{row.of} holds with {row.symbol}", lines=tuple(lines)))
        if len(self.z_dot):
            others = self._named(zip(self.notation.of("z_dot"), self.z_dot, strict=True))
            all_sections.append(SheetSection("other states", lines=others))
        return all_sections + [self._reaction_section(joint) for joint in self.reactions]

    @cached_property
    def terms(self) -> dict[str, list[tuple[str, Reaction]]]:
        """The kinetic share of each reaction as named terms without zeros; of the formulation ``rotators`` only."""
        if self.formulation != "rotators":
            raise ArgumentError("terms: only the formulation rotators gives reactions term by term")
        if self.topology.meshes:
            raise ArgumentError(f"terms: rotators have no tooth forces, as of {', '.join(self.topology.meshes)}")
        terms_of_joint: dict[str, list[tuple[str, Reaction]]] = {}
        for joint, terms in self._derivation.terms.items():
            rows = []
            for term, (moment, force) in terms:
                with writing_out(self.system):
                    written = self._writer.write_all([*force, *moment])
                if any(x != 0 for x in written):
                    rows.append((term.name, Reaction(matrix(written[:3], 1), matrix(written[3:], 1))))
            terms_of_joint[joint] = rows
        return terms_of_joint


class _FourMatrices(NamedTuple):
    """M, C, G, Q."""

    M: Any
    C: Any
    G: Any
    Q: Any


class MotionMatrices(_FourMatrices):
    """The matrices of A u_dot + D + G = Q; as a tuple it is M, C, G, Q.

    D = C u where no motion is prescribed; prescribed motions add their inertia to D.

    Attributes
    ----------
    A, M : Matrix
        Mass matrix, by two names.
    C : Matrix
        Christoffel matrix: M_dot - 2 C is skew.
    D : Matrix
        All terms of inertia without u_dot: those of speeds, C u, and those of prescribed motions.
    G : Matrix
        Gradient of the potential energy.
    Q : Matrix
        Generalized forces: efforts, damping, loads.
    """

    D: Any

    def __new__(cls, M: Any, C: Any, G: Any, Q: Any, D: Any) -> MotionMatrices:
        """A tuple of four, which carries D beside."""
        matrices = super().__new__(cls, M, C, G, Q)
        matrices.D = D
        return matrices

    def __getnewargs__(self) -> tuple[Any, ...]:  # for pickle and copy
        return (*self, self.D)

    @property
    def A(self) -> Any:
        """The mass matrix."""
        return self.M

    def __repr__(self) -> str:
        parts = (f"{name}={getattr(self, name)!r}" for name in ("A", "C", "D", "G", "Q"))
        return f"MotionMatrices({', '.join(parts)})"
