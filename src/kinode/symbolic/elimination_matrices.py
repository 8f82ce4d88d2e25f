"""The elimination of constraint forces, in matrices: ``kn.equations(system, "newton_euler").elimination``.

    M v_dot = -Omega v + Q + L lam                     balances of all bodies            (T-10.1)
    lam = B1^-1 (B3 v + sigma - B2 Q)                  the constraint forces             (T-10.9)
    B1 = L'M^-1 L,  B2 = L'M^-1,  B3 = L'M^-1 Omega - L_dot'
    x_dot = D v                                        positions and Euler angles        (T-10.10)

v = (V, w) of each body, in its axes about its origin.  sigma are the accelerations that drives prescribe.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array, is_number, is_zero
from kinode.algebra.trace import replay
from kinode.errors import ArgumentError
from kinode.formulations.eliminated_motion import find_light_bodies
from kinode.formulations.elimination_rows import SMALLEST, RowName
from kinode.sheets.sheet import SheetSection
from kinode.sheets.terms import Definition, SymbolStyle
from kinode.symbolic.elimination_printed import EliminationValues, compose_elimination, evaluate_trace
from kinode.symbolic.elimination_trace import ANGLES, ORDER, EliminationTrace, EulerChart, find_chart, product
from kinode.symbolic.normal_form import TooLongError, budget
from kinode.symbolic.notation import Notation
from kinode.symbolic.printed_equations import Printed, matrix, writing_out
from kinode.symbolic.quotients import BUDGET as QUOTIENT_BUDGET
from kinode.symbolic.quotients import QuotientReader, inverse
from kinode.symbolic.square_roots import start_values
from kinode.symbolic.writers import with_plain_numbers

VELOCITIES = ("Vx", "Vy", "Vz", "wx", "wy", "wz")
MOST_SOLVED = 4  # multipliers up to which lam is written as formulas
LONGEST_SOLVED = 2000  # operations of B1, B2, B3 up to which it is
LAW = "lam = B1^-1 (B3 v + sigma - B2 Q)"


class EliminationMatrices(Printed):
    """The matrices of the elimination as SymPy matrices; ``.at()`` gives their values at a state.

    Velocities come before angular velocities, and forces before moments.

    Attributes
    ----------
    velocities, multipliers : list of str
        Names of the entries of v and lam.
    M, Omega : Matrix
        Mass matrices and gyroscopic matrices of all bodies.
    v, Q : Matrix
        Velocities; weight and loads on the bodies, in body axes about their origins.
    L, L_dot : Matrix
        What a unit of each multiplier exerts on the bodies, and its time derivative: L'v = 0 where nothing is driven.
    B1, B2, B3 : Matrix
        L'M^-1 L, L'M^-1 and L'M^-1 Omega - L_dot'.
    sigma : Matrix
        Accelerations that drives prescribe.
    D : Matrix
        x_dot = D v, with x the position of each body's origin and its Euler angles psi, theta, phi.
    """

    law = LAW

    def __init__(
        self, trace: EliminationTrace, notation: Notation, shape: str, kept: tuple[list[int], list[int]],
        reduced: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(trace.topology, notation, "newton_euler", shape)
        self._trace, self._kept = trace, kept
        n, rows = len(trace.v), len(trace.rows)
        self._columns, self._rows = kept if reduced else (list(range(n)), list(range(rows)))
        self._is_reduced = reduced

    @cached_property
    def reduced(self) -> EliminationMatrices:
        """The same without velocities and multipliers that are zero in every motion, as in a plane mechanism."""
        return EliminationMatrices(self._trace, self.notation, self.shape, self._kept, reduced=True)

    # -- names -------------------------------------------------------------------------------------
    @property
    def velocities(self) -> list[str]:
        """Names of the entries of v."""
        names = [f"{part}_{_identifier(body)}" for body in self._trace.bodies for part in VELOCITIES]
        return [names[k] for k in self._columns]

    @property
    def multipliers(self) -> list[str]:
        """Names of the entries of lam: X_hinge is the force along x that the joint exerts on its child."""
        return [row_name(self._trace.names[k]) for k in self._rows]

    @property
    def coordinates(self) -> list[str]:
        """Names of the entries of x."""
        return [f"{part}_{_identifier(body)}" for body in self._trace.bodies for part in ("x", "y", "z", *ANGLES)]

    @property
    def unknowns(self) -> list[Any]:
        """The symbols of the multipliers."""
        import sympy

        return [sympy.Symbol(name) for name in self.multipliers]

    # -- matrices ----------------------------------------------------------------------------------
    def _written(self, A: Array, columns: int) -> Any:
        with writing_out(self.system):
            return matrix(self._writer.write_all(list(np.asarray(A, dtype=object).ravel())), columns)

    @cached_property
    def M(self) -> Any:
        """Mass matrices of all bodies."""
        return self._written(self._trace.M[np.ix_(self._columns, self._columns)], len(self._columns))

    @cached_property
    def Omega(self) -> Any:
        """Gyroscopic matrices of all bodies."""
        return self._written(self._trace.Omega[np.ix_(self._columns, self._columns)], len(self._columns))

    @cached_property
    def v(self) -> Any:
        """Velocities of all bodies: symbols, and zeros."""
        return self._written(self._trace.v[self._columns], 1)

    @cached_property
    def Q(self) -> Any:
        """Weight and loads on all bodies."""
        return self._written(self._trace.Q[self._columns], 1)

    @cached_property
    def L(self) -> Any:
        """What a unit of each multiplier exerts on the bodies."""
        return self._written(self._trace.L[np.ix_(self._columns, self._rows)], len(self._rows))

    @cached_property
    def L_dot(self) -> Any:
        """Its time derivative."""
        return self._written(self._trace.L_dot[np.ix_(self._columns, self._rows)], len(self._rows))

    @cached_property
    def sigma(self) -> Any:
        """Accelerations that drives prescribe: gamma + L_dot'v."""
        L_dot, v = self._trace.L_dot[:, self._rows], self._trace.v
        return self._written(self._trace.gamma[self._rows] + product(L_dot.T, v[:, None])[:, 0], 1)

    @cached_property
    def _inverse(self) -> tuple[Array, dict[Any, Any]]:
        """M^-1 as inputs of the tape, and the formulas that they stand for."""
        import sympy

        light = find_light_bodies(self.system)
        if light:
            raise ArgumentError(
                f"B1: {', '.join(light)} has no inertia about some axis, so that M has no inverse; .at() gives numbers"
            )
        entries, formulas = np.full(self._trace.M.shape, 0.0, dtype=object), {}
        size = 0
        for body in range(len(self._trace.bodies)):
            own = [(i, k) for i, k in enumerate(self._columns) if k // 6 == body]
            places = [i for i, _ in own]
            with writing_out(self.system):
                block = inverse(self.M.extract(places, places))
            for i, (_, row) in enumerate(own):
                for j, (_, column) in enumerate(own):
                    if block[i, j] == 0:
                        continue
                    if is_number(block[i, j]) or block[i, j].is_Number:
                        entries[row, column] = float(block[i, j])
                        continue
                    name = self._input_name(size)
                    formulas[sympy.Symbol(name)] = block[i, j]
                    entries[row, column] = self._trace.tape.input("inverse", size)
                    size += 1
        return entries[np.ix_(self._columns, self._columns)], formulas

    def _input_name(self, k: int) -> str:
        role = ("inverse", k)
        return self.notation.names.get(role) or self.notation.name("inverse", k, f"inverse_{k + 1}")

    def _with_inverse(self, A: Array, columns: int) -> Any:
        if not A.size:  # nothing is eliminated
            return self._written(A, columns)
        written = self._written(A, columns).xreplace(self._inverse[1])
        with writing_out(self.system):
            return written.applyfunc(_shortest)

    @cached_property
    def _B2(self) -> Array:
        if not self._rows:
            return np.zeros((0, len(self._columns)))
        return product(self._trace.L[np.ix_(self._columns, self._rows)].T, self._inverse[0])

    @cached_property
    def B1(self) -> Any:
        """L'M^-1 L."""
        L = self._trace.L[np.ix_(self._columns, self._rows)]
        return self._with_inverse(product(self._B2, L), len(self._rows))

    @cached_property
    def B2(self) -> Any:
        """L'M^-1."""
        return self._with_inverse(self._B2, len(self._columns))

    @cached_property
    def B3(self) -> Any:
        """L'M^-1 Omega - L_dot'."""
        Omega = self._trace.Omega[np.ix_(self._columns, self._columns)]
        L_dot = self._trace.L_dot[np.ix_(self._columns, self._rows)]
        return self._with_inverse(product(self._B2, Omega) - L_dot.T, len(self._columns))

    @cached_property
    def lam(self) -> Any:
        """B1^-1 (B3 v + sigma - B2 Q) as formulas, for few multipliers."""
        if len(self._rows) > MOST_SOLVED:
            kept = len(self._kept[1])
            hint = ".reduced.lam" if not self._is_reduced and kept <= MOST_SOLVED else ".at().lam"
            raise ArgumentError(f"lam: {len(self._rows)} multipliers make formulas that nobody reads; {hint} has them")
        size = sum(int(x.count_ops()) for A in (self.B1, self.B2, self.B3) for x in A)
        if size > LONGEST_SOLVED:
            message = f"B1, B2 and B3 have {size} operations, and their solution makes formulas that nobody reads"
            raise ArgumentError(f"lam: {message}; .at().lam has their values")
        right = self.B3 * self.v + self.sigma - self.B2 * self.Q
        return (self.B1.adjugate() * right / self.B1.det(method="berkowitz")).as_immutable()

    # -- Euler angles ------------------------------------------------------------------------------
    @cached_property
    def charts(self) -> dict[str, EulerChart]:
        """The Euler angles of each body: with a rotation C that keeps the start away from their singular position."""
        poses = replay(list(self._trace.poses), start_values(self.topology))
        if any(not is_number(x) for x in poses):  # no start is known
            return {body: find_chart(np.eye(3)) for body in self._trace.bodies}
        rotations = np.array(poses, dtype=float).reshape(-1, 12)[:, :9].reshape(-1, 3, 3)
        return {body: find_chart(R) for body, R in zip(self._trace.bodies, rotations, strict=True)}

    @cached_property
    def D(self) -> Any:
        """diag(R, T) of all bodies, in their Euler angles."""
        import sympy

        blocks = [part for body in self._trace.bodies for part in self.body_rates(body)]
        return sympy.diag(*blocks).as_immutable()

    @property
    def bodies(self) -> list[str]:
        """The bodies in the order of their velocities."""
        return self._trace.bodies

    def body_rates(self, body: str) -> tuple[Any, Any]:
        """R and T of one body: position rates R V, rates of the Euler angles T w."""
        import sympy

        angles = np.array([sympy.Symbol(f"{part}_{_identifier(body)}") for part in ANGLES], dtype=object)
        for part, symbol in zip(ANGLES, angles, strict=True):
            self.notation.styles[str(symbol)] = SymbolStyle(part, 0, body)
        chart = self.charts[body]
        return tuple(matrix([_exact(x) for x in A.ravel()], 3) for A in (chart.rotation(angles), chart.rates(angles)))

    # -- values ------------------------------------------------------------------------------------
    def at(
        self, t: float | None = None, q: Any = None, u: Any = None, *, z: Any = None, p: Any = None, inputs: Any = None
    ) -> EliminationValues:
        """The matrices as numbers, at a state.

        Parameters
        ----------
        t : float, optional
            Time, s; 0 by default.
        q, u, z : array, optional
            Coordinates, speeds and other states; those of the assembled start by default.
        p, inputs : array or mapping, optional
            Parameters and inputs; the model's own by default.

        Returns
        -------
        EliminationValues

        Examples
        --------
        >>> elimination = kn.equations(kn.load("examples/elastic_system.yaml"), "newton_euler").elimination
        >>> round(elimination.at()["Y_hinge"], 4)
        7.3575
        """
        from kinode.dynamics.compiled_system import Dynamics

        dynamics = Dynamics(self.system)
        start = dynamics.initial
        point = dynamics.arguments.read_point(
            0.0 if t is None else t, start.q if q is None else q, start.u if u is None else u,
            start.z if z is None else z, p, inputs, start.z,
        )  # fmt: skip
        names = (self.velocities, self.multipliers, self.coordinates)
        return evaluate_trace(self._trace, point, self._columns, self._rows, names)

    # -- printing ----------------------------------------------------------------------------------
    @property
    def heading(self) -> str:
        count, rows = len(self._columns), len(self._rows)
        short = ", reduced" if self._is_reduced else ""
        return f"{self.system.name}{short}: {count} velocities, {rows} constraint forces eliminated"

    @property
    def arguments(self) -> tuple[str, ...]:
        return ("q", "u", "v", *(["z"] * bool(self.topology.n_z)))

    @property
    def outputs(self) -> dict[str, Any]:
        return {"M": self.M, "Omega": self.Omega, "Q": self.Q, "L": self.L, "L_dot": self.L_dot, "sigma": self.sigma}

    @property
    def velocity_formulas(self) -> list[Any]:
        """The velocities as functions of the state."""
        trace = self._trace
        every = [trace.formulas[body][k] for body in trace.bodies for k in ORDER]
        zero = [is_zero(x) for x in trace.v]
        with writing_out(self.system):
            return self._writer.write_all([0.0 if zero[k] else every[k] for k in self._columns])

    @cached_property
    def writes_inverse(self) -> bool:
        """Whether B1, B2, B3 are written as formulas: for few multipliers, of bodies that have inertia, where short."""
        try:
            return len(self._rows) <= MOST_SOLVED and all(A is not None for A in (self.B1, self.B2, self.B3))
        except ArgumentError:
            return False

    @property
    def sections(self) -> list[SheetSection]:
        return compose_elimination(self)

    @property
    def named_lines(self) -> tuple[Definition, ...]:
        """What has a name of its own."""
        return self._named(self.intermediates)


def _shortest(x: Any) -> Any:
    """The shortest of: an expression, its sums without sines cancelled, all of it cancelled, and factored."""
    import sympy

    def cancelled(part: Any) -> Any:
        reader = QuotientReader([part])
        return reader.cancelled(reader.read(part))

    forms = [x]
    with suppress(TooLongError), budget(QUOTIENT_BUDGET):
        reader = QuotientReader([x])
        quotient = reader.read(x)
        if not quotient.above:
            return sympy.S.Zero
        short = x.replace(lambda part: part.is_Add and not part.has(sympy.sin, sympy.cos), cancelled)
        forms = [short, x, reader.cancelled(quotient), reader.factored(quotient)]
    return min(map(with_plain_numbers, forms), key=lambda form: form.count_ops())


def row_name(name: RowName) -> str:
    """The symbol of a multiplier: X_hinge, drive_crank, lam_pin_2."""
    return f"{name.part}_{_identifier(name.owner)}" + (f"_{name.number}" if name.number else "")


def _identifier(name: str) -> str:
    return name.replace(".", "_")


def _exact(x: Any) -> Any:
    """A number without a decimal point where it is whole."""
    import sympy

    return sympy.nsimplify(x) if not is_number(x) or float(x).is_integer() else x


def kept_entries(
    trace: EliminationTrace, moving: set[tuple[str, int]], acting: set[tuple[str, int]]
) -> tuple[list[int], list[int]]:
    """The velocities and rows that are not zero in every motion, and the velocities that such rows act on.

    ``moving`` are bodies and components ([w; V]) whose accelerations are unknowns, ``acting`` joints and components of
    reactions ([moment; force], in the axes of the parent side) that are.
    """

    def acts(name: RowName) -> bool:
        directions = trace.directions.get(name.owner)
        if directions is None or name.part not in directions.parts:
            return True
        direction = directions.N[:, directions.parts.index(name.part)]
        return any((name.owner, int(i)) in acting for i in np.flatnonzero(np.abs(direction) > SMALLEST))

    rows = [k for k, name in enumerate(trace.names) if acts(name)]
    columns = []
    for k, body in enumerate(trace.bodies):
        for i, component in enumerate(ORDER):
            entries = trace.L[6 * k + i, rows]
            if (body, component) in moving or any(not is_zero(x) for x in entries):
                columns.append(6 * k + i)
    return columns, rows
