"""The equations of every body by itself: ``kn.equations(system, "newton_euler")`` [SPEC 5.1, U.3-U.5].

    M v_dot + Omega v = Q + L W + ...        six balances of each body, in its axes about its origin
    A'W = 0                                  a reaction does no work along its joint's freedoms
    L'v_dot = A u_dot + bias                 bodies move as their joints let them

v = [w; V] is a body's velocity in its own axes, W the six components of a joint's reaction (moment MX, MY, MZ and force
X, Y, Z: by a on b, about b's joint point, in a's joint axes), A the directions of the joint's freedoms in these axes.
Driven joints have the effort of their drive as unknown in place of u_dot, gears theirs, constraints their multipliers.
All is linear in the unknowns, K x = b, with as many rows as unknowns.  What is zero whatever the motion (in a plane:
half of everything) is left out, together with as many rows, those that say nothing of the rest.  Of the reactions of
redundant constraints, those that the recursion does without are taken as zero; there more rows than unknowns may stay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, NoReturn

import numpy as np

from kinode.algebra.normal_form import TooLongError
from kinode.algebra.scalars import Array, Scalar, is_number, tidy
from kinode.algebra.spatial import cross
from kinode.algebra.trace import Tape, count_operations, replay
from kinode.errors import ArgumentError
from kinode.formulations.absolute_coordinates import Absolute
from kinode.model.base.frames import Frame
from kinode.multibody.restraints import loop_constraints
from kinode.multibody.snapshot import Snapshot
from kinode.structure.topology import Topology
from kinode.symbolic.notation import Notation, SymbolStyle, chosen_rows
from kinode.symbolic.printed_equations import EquationLine, Printed, Section, matrix, terms_of
from kinode.symbolic.traced_derivation import friction_of

AXES = "xyz"
PARTS = ("MX", "MY", "MZ", "X", "Y", "Z")
DECIDABLE = 1000  # operations up to which it is decided exactly what vanishes


class BodyMatrices(NamedTuple):
    """M v_dot + Omega v = Q + (what joints and constraints do), of one body."""

    M: Any
    Omega: Any
    v: Any
    Q: Any


class _Row(NamedTuple):
    """One equation: coefficients of the unknowns on its left and right, and what stands beside them."""

    group: str
    left: dict[int, Scalar]
    beside: Scalar
    right: dict[int, Scalar]
    given: Scalar


class _Unknown(NamedTuple):
    """A place of x: its name, and whether it is zero in every motion."""

    name: str
    look: SymbolStyle
    known: bool
    vanishes: bool


class BodyEquations(Printed):
    """The equations of every body by itself, linear in accelerations, reactions, drives and multipliers."""

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
        self._rows: list[_Row] = []
        self._list_unknowns()
        self._collect()
        self._settle()
        self._write()

    # -- velocities --------------------------------------------------------------------------------
    def _velocities(self, snapshot: Snapshot) -> dict[str, Array]:
        """Symbols for the velocities of bodies, which are defined by those of the state; zeros stay zeros."""
        import sympy

        plain = Absolute(snapshot, friction=self._friction)
        found: dict[str, Array] = {}
        for k, body in enumerate(plain.bodies):
            values = self._without_zeros(list(plain.velocity(body)))
            symbols: list[Scalar] = []
            for i, (value, formula) in enumerate(zip(values, self._writer.write_all(values), strict=True)):
                if is_number(value):
                    symbols.append(value)
                    continue
                look = SymbolStyle("wV"[i // 3], 0, AXES[i % 3], body)
                name = self.notation.name("v", 6 * k + i, f"{'wV'[i // 3]}{AXES[i % 3]}_{_word(body)}", look)
                self._writer.intermediates.append((sympy.Symbol(name), formula))
                symbols.append(self._tape.input("v", 6 * k + i))
            found[body] = tidy(symbols)
        return found

    def _without_zeros(self, values: Sequence[Scalar]) -> list[Scalar]:
        """What vanishes identically as the number zero; all as it is where it would take long to tell."""
        if sum(count_operations(values).values()) > DECIDABLE:
            return list(values)
        try:
            known = replay(values, self.notation.harmonics)
        except TooLongError:
            return list(values)
        return [0.0 if is_number(k) and k == 0 else value for k, value in zip(known, values, strict=True)]

    # -- unknowns ----------------------------------------------------------------------------------
    def _list_unknowns(self) -> None:
        """Places for all unknowns, and which of them vanish in every motion."""
        topology = self.topology
        u_dot = self._tape.inputs("u_dot", topology.n_u)
        moving = Snapshot(topology, self._point, u_dot=u_dot, friction=self._friction)
        if topology.constrained:
            moving.multipliers = self._tape.inputs("lam", len(chosen_rows(topology)))
        self._places: dict[tuple[str, str, int], int] = {}
        for body in self._absolute.bodies:
            X, (w, v), (eps, a) = (
                moving.pose(Frame(body)),
                moving.velocity(Frame(body)),
                moving.acceleration(Frame(body)),
            )
            values = self._without_zeros([*(X.R.T @ eps), *(X.R.T @ (a - cross(w, v)))])
            for i, value in enumerate(values):
                name = f"{'wV'[i // 3]}{AXES[i % 3]}_dot_{_word(body)}"
                self._add(("v_dot", body, i), value, name, SymbolStyle("wV"[i // 3], 1, AXES[i % 3], body))
        for joint in topology.system.joints:
            for i, value in enumerate(self._without_zeros(list(np.concatenate(moving.reaction(joint))))):
                self._add(("W", joint, i), value, f"{PARTS[i]}_{_word(joint)}", SymbolStyle(PARTS[i], 0, joint))
        for joint, where in topology.u_of.items():
            names = self.notation.of("u_dot")[where]
            for i, symbol in enumerate(names):
                self._add(("u_dot", joint, i), 1.0, str(symbol), self.notation.looks[str(symbol)], known=True)
        for joint in topology.system.joints:
            count = topology.system.joints[joint].n_u
            word = "drive" if self._absolute.prescribed(joint) is not None else "gear" * (joint in topology.couplings)
            for i in range(count if word else 0):
                more = f"_{i + 1}" * (count > 1)
                self._add((word, joint, i), 1.0, f"{word}_{_word(joint)}{more}", SymbolStyle(word, 0, joint + more))
        for constraint in topology.constraints:
            for i in range(len(loop_constraints.loop_constraint_of(topology, constraint).units)):
                look = SymbolStyle("lam", 0, f"{constraint.name}, {i + 1}")
                name = f"lam_{_word(constraint.name)}_{i + 1}"
                self._add(("lam", constraint.name, i), 1.0, name, look, known=name in self.notation.taken)

    def _add(self, key: tuple[str, str, int], value: Scalar, name: str, look: SymbolStyle, known: bool = False) -> None:
        self._places[key] = len(self._unknowns)
        self._unknowns.append(_Unknown(name, look, known, vanishes=is_number(value) and value == 0))

    def _times(self, kind: str, owner: str, rows: Array) -> list[dict[int, Scalar]]:
        """The rows of a matrix as coefficients of the unknowns that it is multiplied with."""
        found: list[dict[int, Scalar]] = []
        for row in rows:
            places = ((self._places.get((kind, owner, j)), x) for j, x in enumerate(row))
            found.append({k: x for k, x in places if k is not None and not (is_number(x) and x == 0)})
        return found

    # -- equations ---------------------------------------------------------------------------------
    def _collect(self) -> None:
        """All rows: balances, freedoms of joints, constraints."""
        absolute, topology = self._absolute, self.topology
        forces: dict[str, list[list[dict[int, Scalar]]]] = {body: [] for body in absolute.bodies}
        held: list[_Row] = []
        for name, hold in absolute.holds.items():
            n_u = hold.joint.n_u
            turn = _twice(hold.R)
            A, bias = tidy(turn @ hold.S).reshape(6, n_u), tidy(turn @ hold.bias)
            self._act(forces, "W", name, absolute.acting(hold, turn.T))
            for kind in ("drive", "gear"):
                if (kind, name, 0) in self._places:
                    self._act(forces, kind, name, absolute.acting(hold, hold.T))
            if name in topology.couplings:
                coupling = topology.couplings[name]
                leader = absolute.holds[coupling.leader]
                ratio = self._snapshot.resolve(coupling.ratio)
                self._act(forces, "gear", name, absolute.acting(leader, tidy(-ratio * leader.T)))
            held += [_Row(f"joint {name}", row, 0.0, {}, 0.0) for row in self._times("W", name, A.T)]
            held += self._kinematics(name, turn, A, bias)
        for constraint in topology.constraints:
            each, gamma = absolute.tie(loop_constraints.loop_constraint_of(topology, constraint))
            self._act(forces, "lam", constraint.name, each)
            left = _sum([self._times("v_dot", body, L.T) for body, L in each.items()], len(gamma))
            held += [_Row(f"constraint {constraint.name}", row, 0.0, {}, x) for row, x in zip(left, gamma, strict=True)]
        for body, link in absolute.links.items():
            inertial, right = self._times("v_dot", body, link.M), _sum(forces[body], 6)
            speeds = tidy(link.Omega @ link.v)
            order = (3, 4, 5, 0, 1, 2)  # forces first, as people do
            self._rows += [_Row(f"body {body}", inertial[i], speeds[i], right[i], link.Q[i]) for i in order]
        self._rows += held

    def _act(
        self, forces: Mapping[str, list[list[dict[int, Scalar]]]], kind: str, owner: str, each: Mapping[str, Array]
    ) -> None:
        for body, L in each.items():
            forces[body].append(self._times(kind, owner, L))

    def _kinematics(self, name: str, turn: Array, A: Array, bias: Array) -> list[_Row]:
        """L'v_dot = A u_dot + bias, with the joint's acceleration unknown, prescribed or passed on by gears."""
        hold, absolute = self._absolute.holds[name], self._absolute
        left = _sum([self._times("v_dot", body, L.T) for body, L in absolute.acting(hold, turn.T).items()], 6)
        known, right = absolute.prescribed(name), _sum([], 6)
        if known is not None:
            bias = tidy(bias + A @ known)
        elif hold.joint.n_u:
            leader, ratio = name, 1.0
            while leader in self.topology.couplings:
                ratio = ratio * self._snapshot.resolve(self.topology.couplings[leader].ratio)
                leader = self.topology.couplings[leader].leader
            far = absolute.prescribed(leader)
            if far is not None:
                bias = tidy(bias + A @ (ratio * far))
            elif leader in self.topology.u_of:
                right = self._times("u_dot", leader, tidy(ratio * A))
            else:
                right = self._measured(leader, tidy(ratio * A))
        return [_Row(f"joint {name}", left[i], 0.0, right[i], bias[i]) for i in range(6)]

    def _measured(self, name: str, A: Array) -> list[dict[int, Scalar]]:
        """A u_dot of a joint that closes a loop and so is not in the state: an unknown of its own."""
        for i in range(A.shape[1]):
            more = f"_{i + 1}" * (A.shape[1] > 1)
            if ("u_dot", name, i) not in self._places:
                self._add(("u_dot", name, i), 1.0, f"u_dot_{_word(name)}{more}", SymbolStyle("u", 1, f"{name}{more}"))
        return self._times("u_dot", name, A)

    # -- what is left out --------------------------------------------------------------------------
    def _settle(self) -> None:
        """Leave out unknowns that vanish, and the rows that have no others: the true motion satisfies them."""
        flat = self._without_zeros([x for row in self._rows for x in _entries(row)])
        rows = _refilled(self._rows, flat)
        supports = [frozenset(row.left) | frozenset(row.right) for row in rows]
        vanishing = frozenset(k for k, unknown in enumerate(self._unknowns) if unknown.vanishes)
        out = _balanced(supports, vanishing, self._chosen())
        self._rows = [
            row._replace(left=_without(row.left, out), right=_without(row.right, out))
            for row, support in zip(rows, supports, strict=True)
            if not support <= out
        ]
        self._names = {
            k: x.name if x.known else self.notation.name("x", k, x.name, x.look)
            for k, x in enumerate(self._unknowns)
            if k not in out
        }

    def _chosen(self) -> frozenset[int]:
        """Reactions that may be zero by choice and not by a row of their own: all where constraints are redundant."""
        rows = self.topology.rows
        if rows is None or len(rows) == sum(
            len(tie.units) for tie in loop_constraints.loop_constraints_of(self.topology)
        ):
            return frozenset()
        return frozenset(place for (kind, _, _), place in self._places.items() if kind == "W")

    # -- writing -----------------------------------------------------------------------------------
    def _write(self) -> None:
        """Lines to read, and K x = b."""
        import sympy

        flat = [x for row in self._rows for x in _entries(row)]
        symbols = {k: sympy.Symbol(name) for k, name in self._names.items()}
        self._symbols = list(symbols.values())
        self._lines: list[tuple[str, EquationLine]] = []
        coefficients, given = [], []
        for group, left, beside, right, rest in _refilled(self._rows, self._writer.write_all(flat)):
            both = [[x * symbols[k] for k, x in side.items()] for side in (left, right)]
            line = EquationLine([*both[0], *_rest(beside)], [*_rest(rest), *both[1]])
            self._lines.append((group, EquationLine(*(side or [sympy.S.Zero] for side in line))))
            coefficients.append({k: left.get(k, 0) - right.get(k, 0) for k in {**left, **right}})
            given.append(rest - beside)
        self.K = matrix([row.get(k, sympy.S.Zero) for row in coefficients for k in symbols], len(symbols))
        self.b = matrix(given, 1)

    @property
    def unknowns(self) -> list[Any]:
        """Accelerations of bodies, reactions, accelerations of joints, drives, gears, multipliers: x of K x = b."""
        return self._symbols

    @property
    def heading(self) -> str:
        bodies, n = len(self._absolute.bodies), len(self._lines)
        return f"{self.system.name}: {bodies} bod{'ies' if bodies != 1 else 'y'}, {n} equations, by newton_euler"

    @property
    def arguments(self) -> tuple[str, ...]:
        return ("q", "u", *(["friction"] * bool(self._friction)), *(["z"] * bool(self.topology.n_z)))

    @property
    def outputs(self) -> dict[str, Any]:
        return {"K": self.K, "b": self.b}

    @cached_property
    def bodies(self) -> dict[str, BodyMatrices]:
        """The matrices of each body, angular part first."""
        found = {}
        for name, link in self._absolute.links.items():
            flat = [*link.M.ravel(), *link.Omega.ravel(), *link.v, *link.Q]
            w = self._writer.write_all(flat)
            found[name] = BodyMatrices(matrix(w[:36], 6), matrix(w[36:72], 6), matrix(w[72:78], 1), matrix(w[78:], 1))
        return found

    def matrices(self) -> NoReturn:
        """There is no mass matrix of the whole here."""
        raise ArgumentError(
            "matrices: newton_euler writes every body by itself; .bodies has the matrices of each, .K and .b those of "
            "K x = b with x in .unknowns; M, C, G, Q come with the other formulations, such as lagrange"
        )

    @cached_property
    def equations(self) -> list[Any]:
        """Balances of all bodies, then what joints and constraints ask for."""
        import sympy

        return [sympy.Eq(sympy.Add(*left), sympy.Add(*right), evaluate=False) for _, (left, right) in self._lines]

    @property
    def sections(self) -> list[Section]:
        groups: dict[str, list[EquationLine]] = {}
        for group, line in self._lines:
            groups.setdefault(group, []).append(line)
        named = [Section("velocities" if self.shape == "expanded" else "", self._named_lines())]
        return named * bool(self.intermediates) + [Section(group, lines) for group, lines in groups.items()]


def _word(name: str) -> str:
    return name.replace(".", "_")


def _entries(row: _Row) -> list[Any]:
    return [*row.left.values(), row.beside, *row.right.values(), row.given]


def _refilled(rows: Sequence[_Row], entries: Sequence[Any]) -> list[_Row]:
    """The same rows with other entries; coefficients that are zero are left out."""
    following, found = iter(entries), []
    for row in rows:
        left, beside = {k: next(following) for k in row.left}, next(following)
        right, given = {k: next(following) for k in row.right}, next(following)
        left, right = ({k: x for k, x in side.items() if x != 0} for side in (left, right))
        found.append(_Row(row.group, left, beside, right, given))
    return found


def _without(coefficients: Mapping[int, Scalar], out: frozenset[int]) -> dict[int, Scalar]:
    return {k: x for k, x in coefficients.items() if k not in out}


def _balanced(supports: Sequence[frozenset[int]], vanishing: frozenset[int], chosen: frozenset[int]) -> frozenset[int]:
    """The largest set of vanishing unknowns that as many rows speak of, and of nothing else.

    What is left of a regular square system without these columns and rows is again square and regular.  A joint whose
    axes are oblique to those of its bodies has several rows that share what vanishes; there some zeros stay unknowns.
    Rows of vanishing unknowns are matched with them; an unknown without a row stays, hence every row that speaks of it,
    hence the unknown that this row is matched with, and so on.  What is zero by choice needs no row.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    rows = [support for support in supports if support <= vanishing]
    places = [(i, k) for i, support in enumerate(rows) for k in support]
    if not places:
        return vanishing & chosen
    shape = (len(rows), 1 + max(vanishing))
    graph = csr_array((np.ones(len(places), dtype=int), tuple(zip(*places, strict=True))), shape=shape)
    partner = maximum_bipartite_matching(graph, perm_type="column")
    staying = list(vanishing - set(partner.tolist()) - chosen)
    out = set(vanishing)
    while staying:
        k = staying.pop()
        out.discard(k)
        staying += [int(partner[i]) for i, row in enumerate(rows) if k in row and partner[i] in out - chosen]
    return frozenset(out)


def _rest(expr: Any) -> list[Any]:
    return terms_of(expr) if expr != 0 else []


def _twice(R: Array) -> Array:
    none = np.zeros((3, 3))
    return tidy(np.block([[R, none], [none, R]]))


def _sum(each: Sequence[list[dict[int, Scalar]]], rows: int) -> list[dict[int, Scalar]]:
    """Rows of coefficients added up."""
    total: list[dict[int, Scalar]] = [{} for _ in range(rows)]
    for block in each:
        for row, more in zip(total, block, strict=True):
            for k, x in more.items():
                row[k] = row[k] + x if k in row else x
    return total
