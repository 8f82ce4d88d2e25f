"""The Newton-Euler equations of every body: ``kn.equations(system, "newton_euler")`` (T-10.1), (T-1.6).

    M v_dot + Omega v = Q + L W + ...        six balances of each body, in its axes about its origin
    A'W = 0                                  a reaction does no work along the freedoms of its joint
    L'v_dot = A u_dot + bias                 the accelerations of bodies are those that the joints allow

v = [w; V] is the velocity of a body in its own axes.  W are the six components of the reaction of a joint: moment MX,
MY, MZ and force X, Y, Z, by a on b, about b's joint point, in a's joint axes.  A are the directions of the joint's
freedoms in these axes.  A driven joint has the effort of its drive as unknown in place of u_dot; gears have their
effort, constraints their multipliers.

All equations are linear in the unknowns: K x = b, rows of coefficients with as many rows as unknowns.  Unknowns that
are zero in every motion (half of them in a plane mechanism) are left out, together with as many rows that contain no
others.  If constraints are redundant, the reactions of the dependent rows are set to zero; more rows than unknowns may
then remain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, NoReturn

import numpy as np

from kinode.algebra.scalars import Array, Scalar, is_number, is_zero, tidy
from kinode.algebra.spatial import cross
from kinode.algebra.trace import Tape, count_operations, replay
from kinode.dynamics.reactions.lost_values import find_left_out
from kinode.errors import ArgumentError, counted
from kinode.formulations.absolute_coordinates import Absolute
from kinode.formulations.scope import without_events
from kinode.model.base.frames import Frame
from kinode.multibody import loop_constraints
from kinode.multibody.given import Given
from kinode.multibody.snapshot import Snapshot
from kinode.sheets.sheet import SheetSection
from kinode.sheets.terms import Definition, SymbolStyle
from kinode.structure.topology import Topology
from kinode.symbolic.elimination_matrices import EliminationMatrices, kept_entries
from kinode.symbolic.elimination_trace import EliminationTrace
from kinode.symbolic.normal_form import TooLongError, budget
from kinode.symbolic.notation import Notation, independent_rows
from kinode.symbolic.printed_equations import Printed, as_equation, matrix, writing_out
from kinode.symbolic.traced_derivation import friction_of

AXES = "xyz"
PARTS = ("MX", "MY", "MZ", "X", "Y", "Z")
LARGEST_CHECKED = 1000  # operations up to which entries are checked for being zero in every motion
CHECK_BUDGET = 30_000  # operations of the normal form that one check may take


class BodyMatrices(NamedTuple):
    """M v_dot + Omega v = Q + (forces of joints and constraints), of one body."""

    M: Any
    Omega: Any
    v: Any
    Q: Any


class _Unknown(NamedTuple):
    """An entry of x: its name and style, whether its name is given already, whether it is zero in every motion."""

    name: str
    style: SymbolStyle
    known: bool
    vanishes: bool


class BodyEquations(Printed):
    """The equations of every body, linear in accelerations, reactions, efforts of drives and multipliers.

    ``kn.equations(system, "newton_euler")`` returns it.  ``K`` and ``b`` are SymPy matrices of K x = b; ``unknowns`` is
    x; ``bodies`` has the matrices of each body.
    """

    law = "K x = b"

    def __init__(self, topology: Topology, shape: str) -> None:
        super().__init__(topology, Notation(topology), "newton_euler", shape)
        self._tape = Tape()
        self._point = topology.layout.traced_point(self._tape)
        self._friction = friction_of(topology, self._tape)
        snapshot = Snapshot(topology, self._point, friction=self._friction)
        self._snapshot = snapshot
        self._absolute = Absolute(snapshot, self._velocities(snapshot), self._friction)
        self._unknowns: list[_Unknown] = []
        self._rows: list[EquationRow] = []
        self._list_unknowns()
        self._collect()
        self._leave_out_zeros()
        self._write()

    # -- velocities --------------------------------------------------------------------------------
    def _velocities(self, snapshot: Snapshot) -> dict[str, Array]:
        """Symbols for the velocities of bodies, defined by formulas in the speeds of the state; zeros stay zeros."""
        import sympy

        plain = Absolute(snapshot, friction=self._friction)
        velocities: dict[str, Array] = {}
        for k, body in enumerate(plain.bodies):
            values = self._without_zeros(list(plain.velocity(body)))
            symbols: list[Scalar] = []
            for i, (value, formula) in enumerate(zip(values, self._writer.write_all(values), strict=True)):
                if is_number(value):
                    symbols.append(value)
                    continue
                style = SymbolStyle("wV"[i // 3], 0, AXES[i % 3], body)
                name = self.notation.name("v", 6 * k + i, f"{'wV'[i // 3]}{AXES[i % 3]}_{body}", style)
                self._writer.intermediates.append((sympy.Symbol(name), formula))
                symbols.append(self._tape.input("v", 6 * k + i))
            velocities[body] = tidy(symbols)
        return velocities

    def _without_zeros(self, values: Sequence[Scalar]) -> list[Scalar]:
        """The values with 0.0 in place of those that vanish identically; unchanged if the check would take long."""
        if sum(count_operations(values).values()) > LARGEST_CHECKED:
            return list(values)
        try:
            with budget(CHECK_BUDGET):
                known = replay(values, self.notation.harmonics)
        except TooLongError:
            return list(values)
        return [0.0 if is_zero(k) else value for k, value in zip(known, values, strict=True)]

    # -- unknowns ----------------------------------------------------------------------------------
    def _list_unknowns(self) -> None:
        """Number all unknowns, and mark those that vanish in every motion."""
        topology = self.topology
        u_dot = self._tape.inputs("u_dot", topology.n_u)
        lam = self._tape.inputs("lam", len(independent_rows(topology))) if topology.constrained else None
        snapshot = Snapshot(topology, self._point, given=Given(u_dot=u_dot, friction=self._friction, multipliers=lam))
        self._indices: dict[tuple[str, str, int], int] = {}
        for body in self._absolute.bodies:
            X, (w, v), (eps, a) = (
                snapshot.pose(Frame(body)),
                snapshot.velocity(Frame(body)),
                snapshot.acceleration(Frame(body)),
            )
            values = self._without_zeros([*(X.R.T @ eps), *(X.R.T @ (a - cross(w, v)))])
            for i, value in enumerate(values):
                name = f"{'wV'[i // 3]}{AXES[i % 3]}_dot_{body}"
                self._add(("v_dot", body, i), value, name, SymbolStyle("wV"[i // 3], 1, AXES[i % 3], body))
        for joint in topology.system.joints:
            for i, value in enumerate(self._without_zeros(list(np.concatenate(snapshot.reaction(joint))))):
                self._add(("W", joint, i), value, f"{PARTS[i]}_{joint}", SymbolStyle(PARTS[i], 0, joint))
        for joint, where in topology.u_of.items():
            names = self.notation.of("u_dot")[where]
            for i, symbol in enumerate(names):
                self._add(("u_dot", joint, i), 1.0, str(symbol), self.notation.styles[str(symbol)], known=True)
        for joint in topology.system.joints:
            count = topology.system.joints[joint].n_u
            word = "drive" if self._absolute.prescribed(joint) is not None else "gear" * (joint in topology.couplings)
            for i in range(count if word else 0):
                more = f"_{i + 1}" * (count > 1)
                self._add((word, joint, i), 1.0, f"{word}_{joint}{more}", SymbolStyle(word, 0, joint + more))
        for constraint in topology.constraints:
            for i in range(len(loop_constraints.loop_constraint_of(topology, constraint).units)):
                style = SymbolStyle("lam", 0, f"{constraint.name}, {i + 1}")
                name = f"lam_{constraint.name}_{i + 1}".replace(".", "_")
                self._add(("lam", constraint.name, i), 1.0, name, style, known=name in self.notation.taken)

    def _add(
        self, key: tuple[str, str, int], value: Scalar, name: str, style: SymbolStyle, known: bool = False
    ) -> None:
        self._indices[key] = len(self._unknowns)
        self._unknowns.append(_Unknown(name, style, known, vanishes=is_zero(value)))

    def _times(self, kind: str, owner: str, rows: Array) -> list[dict[int, Scalar]]:
        """The rows of a matrix as coefficients of the unknowns that it multiplies."""
        coefficients: list[dict[int, Scalar]] = []
        for row in rows:
            terms = ((self._indices.get((kind, owner, j)), x) for j, x in enumerate(row))
            coefficients.append({k: x for k, x in terms if k is not None and not is_zero(x)})
        return coefficients

    # -- equations ---------------------------------------------------------------------------------
    def _collect(self) -> None:
        """All rows: balances of bodies, reactions and accelerations at joints, constraints."""
        absolute, topology = self._absolute, self.topology
        forces: dict[str, list[list[dict[int, Scalar]]]] = {body: [] for body in absolute.bodies}
        conditions: list[EquationRow] = []
        for name, at_joint in absolute.joint_constraints.items():
            n_u = at_joint.joint.n_u
            rotation = _block_rotation(at_joint.R)
            A = tidy(rotation @ at_joint.S).reshape(6, n_u)
            self._act(forces, "W", name, absolute.acting(at_joint, rotation.T))
            for kind in ("drive", "gear"):
                if (kind, name, 0) in self._indices:
                    self._act(forces, kind, name, absolute.acting(at_joint, at_joint.T))
            if name in topology.couplings:
                coupling = topology.couplings[name]
                leader = absolute.joint_constraints[coupling.leader]
                ratio = self._snapshot.resolve(coupling.ratio)
                self._act(forces, "gear", name, absolute.acting(leader, tidy(-ratio * leader.T)))
            conditions += [EquationRow(f"joint {name}", row, 0.0, {}, 0.0) for row in self._times("W", name, A.T)]
            # in the axes that the speeds are measured in: with a quaternion those of b, else those of a, as reactions
            conditions += self._kinematics(name, np.eye(6) if at_joint.joint.quaternion is not None else rotation)
        for constraint in topology.constraints:
            directions, gamma = absolute.element_rows(loop_constraints.loop_constraint_of(topology, constraint))
            self._act(forces, "lam", constraint.name, directions)
            left = sum_rows([self._times("v_dot", body, L.T) for body, L in directions.items()], len(gamma))
            conditions += [
                EquationRow(f"constraint {constraint.name}", row, 0.0, {}, x)
                for row, x in zip(left, gamma, strict=True)
            ]
        for body, link in absolute.links.items():
            inertial, right = self._times("v_dot", body, link.M), sum_rows(forces[body], 6)
            speeds = tidy(link.Omega @ link.v)
            order = (3, 4, 5, 0, 1, 2)  # forces before moments
            self._rows += [EquationRow(f"body {body}", inertial[i], speeds[i], right[i], link.Q[i]) for i in order]
        self._rows += conditions

    def _act(
        self, forces: Mapping[str, list[list[dict[int, Scalar]]]], kind: str, owner: str, L_of: Mapping[str, Array]
    ) -> None:
        """Add L times the unknowns of an owner to the forces on each body."""
        for body, L in L_of.items():
            forces[body].append(self._times(kind, owner, L))

    def _kinematics(self, name: str, rotation: Array) -> list[EquationRow]:
        """L'v_dot = A u_dot + bias, with u_dot unknown, prescribed, or given by a gear."""
        at_joint, absolute = self._absolute.joint_constraints[name], self._absolute
        A, bias = tidy(rotation @ at_joint.S).reshape(6, at_joint.joint.n_u), tidy(rotation @ at_joint.bias)
        directions = absolute.acting(at_joint, rotation.T)
        left = sum_rows([self._times("v_dot", body, L.T) for body, L in directions.items()], 6)
        known, right = absolute.prescribed(name), sum_rows([], 6)
        if known is not None:
            bias = tidy(bias + A @ known)
        elif at_joint.joint.n_u:
            leader, ratio = name, 1.0
            while leader in self.topology.couplings:
                ratio = ratio * self._snapshot.resolve(self.topology.couplings[leader].ratio)
                leader = self.topology.couplings[leader].leader
            prescribed = absolute.prescribed(leader)
            if prescribed is not None:
                bias = tidy(bias + A @ (ratio * prescribed))
            elif leader in self.topology.u_of:
                right = self._times("u_dot", leader, tidy(ratio * A))
            else:
                right = self._measured(leader, tidy(ratio * A))
        return [EquationRow(f"joint {name}", left[i], 0.0, right[i], bias[i]) for i in range(6)]

    def _measured(self, name: str, A: Array) -> list[dict[int, Scalar]]:
        """A u_dot of a cut joint, which is not in the state: its u_dot is another unknown."""
        for i in range(A.shape[1]):
            more = f"_{i + 1}" * (A.shape[1] > 1)
            if ("u_dot", name, i) not in self._indices:
                self._add(("u_dot", name, i), 1.0, f"u_dot_{name}{more}", SymbolStyle("u", 1, f"{name}{more}"))
        return self._times("u_dot", name, A)

    # -- zero unknowns -----------------------------------------------------------------------------
    def _leave_out_zeros(self) -> None:
        """Leave out unknowns that vanish, and the rows that contain no others; every motion satisfies these rows."""
        flat = self._without_zeros([x for row in self._rows for x in entries_of(row)])
        rows = with_entries(self._rows, flat)
        supports = [frozenset(row.left) | frozenset(row.right) for row in rows]
        vanishing = frozenset(k for k, unknown in enumerate(self._unknowns) if unknown.vanishes)
        removed = removable_unknowns(supports, vanishing, self._chosen())
        self._rows = [
            row._replace(left=without_unknowns(row.left, removed), right=without_unknowns(row.right, removed))
            for row, support in zip(rows, supports, strict=True)
            if not support <= removed
        ]
        self._names = {
            k: unknown.name if unknown.known else self.notation.name("x", k, unknown.name, unknown.style)
            for k, unknown in enumerate(self._unknowns)
            if k not in removed
        }

    def _chosen(self) -> frozenset[int]:
        """Reactions that may be zero by choice: all of them if constraints are redundant, else none."""
        rows = self.topology.rows
        if rows is None or len(rows) == sum(
            len(constraint.units) for constraint in loop_constraints.loop_constraints_of(self.topology)
        ):
            return frozenset()
        return frozenset(index for (kind, _, _), index in self._indices.items() if kind == "W")

    # -- writing -----------------------------------------------------------------------------------
    def _write(self) -> None:
        """Write the lines of text, and K x = b."""
        import sympy

        flat = [x for row in self._rows for x in entries_of(row)]
        symbols = {k: sympy.Symbol(name) for k, name in self._names.items()}
        self._symbols = list(symbols.values())
        self._lines: list[tuple[str, Definition]] = []
        coefficients, given = [], []
        for group, left, beside, right, rest in with_entries(self._rows, self._writer.write_all(flat)):
            both = [[x * symbols[k] for k, x in side.items()] for side in (left, right)]
            self._lines.append((group, self._line([*both[0], beside], [rest, *both[1]])))
            coefficients.append({k: left.get(k, 0) - right.get(k, 0) for k in {**left, **right}})
            given.append(rest - beside)
        self.K = matrix([row.get(k, sympy.S.Zero) for row in coefficients for k in symbols], len(symbols))
        self.b = matrix(given, 1)

    @property
    def unknowns(self) -> list[Any]:
        """x of K x = b: accelerations of bodies, reactions, accelerations of joints, drives, gears, multipliers."""
        return self._symbols

    @property
    def heading(self) -> str:
        bodies, n = len(self._absolute.bodies), len(self._lines)
        return f"{self.system.name}: {counted(bodies, 'body', 'bodies')}, {n} equations, by newton_euler"

    @property
    def arguments(self) -> tuple[str, ...]:
        return ("q", "u", *(["friction"] * bool(self._friction)), *(["z"] * bool(self.topology.n_z)))

    @property
    def outputs(self) -> dict[str, Any]:
        return {"K": self.K, "b": self.b}

    @cached_property
    def elimination(self) -> EliminationMatrices:
        """The elimination of all constraint forces in matrices: lam = B1^-1 (B3 v - B2 Q), x_dot = D v."""
        reason = without_events(self.topology)
        if reason:
            raise ArgumentError(f"elimination: newton_euler does not apply to {self.system.name}: {reason}")
        plain = Absolute(self._snapshot)
        trace = EliminationTrace(
            self.topology, self._tape, self._point, {body: self._absolute.velocity(body) for body in plain.bodies},
            {body: plain.velocity(body) for body in plain.bodies},
        )  # fmt: skip
        staying = {key for key, index in self._indices.items() if index in self._names}
        moving = {(owner, i) for kind, owner, i in staying if kind == "v_dot"}
        acting = {(owner, i) for kind, owner, i in staying if kind == "W"}
        return EliminationMatrices(trace, self.notation, self.shape, kept_entries(trace, moving, acting))

    @cached_property
    def bodies(self) -> dict[str, BodyMatrices]:
        """The matrices of each body, angular part first."""
        matrices = {}
        for name, link in self._absolute.links.items():
            flat = [*link.M.ravel(), *link.Omega.ravel(), *link.v, *link.Q]
            with writing_out(self.system):
                w = self._writer.write_all(flat)
            matrices[name] = BodyMatrices(
                matrix(w[:36], 6), matrix(w[36:72], 6), matrix(w[72:78], 1), matrix(w[78:], 1)
            )
        return matrices

    def matrices(self) -> NoReturn:
        """Not available: this formulation has no mass matrix of the whole system."""
        raise ArgumentError(
            "matrices: newton_euler writes every body by itself; .bodies has the matrices of each, .K and .b those of "
            "K x = b with x in .unknowns; M, C, G, Q come with the other formulations, such as lagrange"
        )

    @cached_property
    def equations(self) -> list[Any]:
        """SymPy equations: balances of all bodies, then the conditions of joints and constraints."""
        return [as_equation(line) for _, line in self._lines]

    @property
    def sections(self) -> list[SheetSection]:
        groups: dict[str, list[Definition]] = {}
        for group, line in self._lines:
            groups.setdefault(group, []).append(line)
        title = "velocities" if self.shape == "expanded" else ""
        named = [SheetSection(title, lines=self._named(self.intermediates))] if self.intermediates else []
        left_out = {f"joint {name}": loads for name, loads in find_left_out(self.topology).items()}
        less = {group: f", its reaction without {' and '.join(loads)}" for group, loads in left_out.items()}
        shown = ((group + less.get(group, ""), tuple(lines)) for group, lines in groups.items())
        return named + [SheetSection(title, lines=lines) for title, lines in shown]


def _block_rotation(R: Array) -> Array:
    """[[R, 0], [0, R]]: rotates the two halves of a spatial vector."""
    zero = np.zeros((3, 3))
    return tidy(np.block([[R, zero], [zero, R]]))


class EquationRow(NamedTuple):
    """left x + beside = right x + given: coefficients by unknown, and known terms; ``group`` is the title."""

    group: str
    left: dict[int, Scalar]
    beside: Scalar
    right: dict[int, Scalar]
    given: Scalar


def sum_rows(each: Sequence[list[dict[int, Scalar]]], rows: int) -> list[dict[int, Scalar]]:
    """The sum of blocks of rows of coefficients."""
    total: list[dict[int, Scalar]] = [{} for _ in range(rows)]
    for block in each:
        for row, more in zip(total, block, strict=True):
            for k, x in more.items():
                row[k] = row[k] + x if k in row else x
    return total


def entries_of(row: EquationRow) -> list[Any]:
    """All entries of a row in a fixed order."""
    return [*row.left.values(), row.beside, *row.right.values(), row.given]


def with_entries(rows: Sequence[EquationRow], entries: Sequence[Any]) -> list[EquationRow]:
    """The same rows with other entries, in the order of ``entries_of``; zero coefficients are left out."""
    following, refilled = iter(entries), []
    for row in rows:
        left, beside = {k: next(following) for k in row.left}, next(following)
        right, given = {k: next(following) for k in row.right}, next(following)
        left, right = ({k: x for k, x in side.items() if x != 0} for side in (left, right))
        refilled.append(EquationRow(row.group, left, beside, right, given))
    return refilled


def without_unknowns(coefficients: Mapping[int, Scalar], out: frozenset[int]) -> dict[int, Scalar]:
    """The coefficients of the other unknowns."""
    return {k: x for k, x in coefficients.items() if k not in out}


def removable_unknowns(
    supports: Sequence[frozenset[int]], vanishing: frozenset[int], chosen: frozenset[int]
) -> frozenset[int]:
    """The largest set of vanishing unknowns with as many rows that contain no other unknowns.

    ``supports`` are the unknowns of each row, ``vanishing`` the unknowns that are zero in every motion, ``chosen``
    those that are zero by choice (redundant reactions), which need no row.

    A regular square system stays square and regular without such a set of columns and rows.  Rows that contain
    vanishing unknowns only are matched with them (maximum bipartite matching).  An unknown without a partner must stay;
    then every row that contains it must stay, and with the row the unknown that it is matched with, and so on.  If the
    axes of a joint are oblique to those of its bodies, several rows share vanishing unknowns, and some zeros stay.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    rows = [support for support in supports if support <= vanishing]
    edges = [(i, unknown) for i, support in enumerate(rows) for unknown in support]
    if not edges:
        return vanishing & chosen
    shape = (len(rows), 1 + max(vanishing))
    graph = csr_array((np.ones(len(edges), dtype=int), tuple(zip(*edges, strict=True))), shape=shape)
    partner = maximum_bipartite_matching(graph, perm_type="column")
    staying = list(vanishing - set(partner.tolist()) - chosen)
    removed = set(vanishing)
    while staying:
        unknown = staying.pop()
        removed.discard(unknown)
        staying += [int(partner[i]) for i, row in enumerate(rows) if unknown in row and partner[i] in removed - chosen]
    return frozenset(removed)
