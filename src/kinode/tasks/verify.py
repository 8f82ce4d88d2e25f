"""verify: one model derived in every way that applies, and a table of how far the ways are apart.

Rows come from two places.  Every pair of formulations (formulations/formulation_table.py) and the compiled code are
compared on every output that both give; a new formulation adds its rows by being registered.  And each formulation has
to satisfy identities that no derivation may break: M symmetric, positive definite and the Hessian of the kinetic
energy, inverse dynamics the inverse of forward dynamics, the rate of energy equal to the power put in.

Differences are relative to the largest entry of what is compared, or to the scale of the motion where that is larger.
States are drawn at random, with unit quaternions and lengths of the model's own size.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.dynamics.redundant_reactions import analyze
from kinode.dynamics.support_argument import freedom_name
from kinode.errors import ArgumentError
from kinode.formulations.formulation_table import FORMULATIONS, OUTPUTS, Formulation, InstantValues
from kinode.kernels.state import State
from kinode.kernels.tree_size import is_large
from kinode.model.base.fields import short
from kinode.model.system import System
from kinode.structure.topology import Topology, find_topology
from kinode.tasks.verify_identities import IDENTITIES, compare_parts
from kinode.tasks.verify_states import find_states

TOLERANCE = 1e-9
COMPILED = frozenset(OUTPUTS) - {"momentum", "angular_momentum"}
COMPILED_NAME = "compiled"
REACTIONS = ("reactions", "static_reactions")
WORDS = {"u_dot": "accelerations", "z_dot": "other rates", "effort": "inverse dynamics"}
SMALL = 1e-6  # other rates have units of their own: each is compared to itself, or to this part of the largest


@dataclass(frozen=True)
class Comparison:
    """One comparison: what with what, the largest relative difference over all states, and where it is."""

    quantity: str
    one: str
    two: str
    difference: float
    where: str
    tolerance: float = TOLERANCE

    @property
    def ok(self) -> bool:
        return self.difference <= self.tolerance


@dataclass(frozen=True)
class Verification:
    """How far the derivations of a model are apart; prints as a table."""

    name: str
    states: int
    rows: tuple[Comparison, ...]
    skipped: tuple[tuple[str, str], ...] = ()

    @property
    def worst(self) -> Comparison:
        """The row that is nearest to its tolerance, or furthest beyond it."""
        return max(self.rows, key=lambda row: row.difference / row.tolerance)

    @property
    def ok(self) -> bool:
        return all(row.ok for row in self.rows)

    @property
    def tables(self) -> list[tuple[list[str], list[list[str]]]]:
        """Head and rows of two tables: how far each way is from the first, and how well each keeps identities.

        What disagrees is marked by an exclamation mark; ``rows`` has every pair.
        """
        ways = {*FORMULATIONS, COMPILED_NAME}
        pairs = [row for row in self.rows if row.two in ways]
        first = pairs[0].one if pairs else ""
        found = [_grid(f"from {first}", [(r.quantity, r.two, r) for r in pairs if r.one == first])]
        kept = [row for row in self.rows if row.two not in ways]
        sides: dict[str, set[str]] = {}
        for row in kept:
            sides.setdefault(row.quantity, set()).add(row.two)
        named = [(r.quantity if len(sides[r.quantity]) == 1 else f"{r.quantity}: {r.two}", r.one, r) for r in kept]
        found.append(_grid("identity", named))
        return [(head, rows) for head, rows in found if rows]

    @property
    def failures(self) -> list[str]:
        """What disagrees, in full."""
        return [
            f"{r.quantity}: {r.one} and {r.two} are {r.difference:.1e} apart ({r.tolerance:.1e} allowed), at {r.where}"
            for r in self.rows
            if not r.ok
        ]

    def __str__(self) -> str:
        lines: list[str] = []
        for head, rows in self.tables:
            widths = [max(len(line[k]) for line in [head, *rows]) for k in range(len(head))]
            for line in [head, *rows]:
                cells = [line[0].ljust(widths[0]), *(x.rjust(w) for x, w in zip(line[1:], widths[1:], strict=True))]
                lines.append("  ".join(cells).rstrip())
        notes = [f"{name} does not apply: {reason}" for name, reason in self.skipped]
        count = f"{self.states} random state{'s' * (self.states != 1)}"
        wrong = len(self.failures)
        verdict = f"{wrong} of {len(self.rows)} comparisons disagree" if wrong else "all agree"
        return "\n".join([f"{self.name}, {count}: {verdict}", *lines, *self.failures, *notes])


def _grid(corner: str, cells: Sequence[tuple[str, str, Comparison]]) -> tuple[list[str], list[list[str]]]:
    """Differences by what they are of (down) and whose (across)."""
    down, across = list(dict.fromkeys(cell[0] for cell in cells)), list(dict.fromkeys(cell[1] for cell in cells))
    values = {(name, way): f"{row.difference:.1e}" + "!" * (not row.ok) for name, way, row in cells}
    return [corner, *across], [[name, *(values.get((name, way), "") for way in across)] for name in down]


def verify(
    system: System, states: int | Sequence[Any] | None = None, *, seed: int = 0, compiled: bool = True
) -> Verification:
    """Derive a system in every way that applies and say how far the results are apart.

    Parameters
    ----------
    system : System
    states : int or sequence of states, optional
        How many random states are tried, or states with t, q, u, z; left out, up to 5, fewer for large systems.
    seed : int, default 0
        Of the random states.
    compiled : bool, default True
        Whether the machine code is compared as well.

    Returns
    -------
    Verification
        ``ok`` says whether all agree; printed, a table.

    Examples
    --------
    >>> kn.verify(kn.load("examples/pendulum.yaml")).ok
    True
    """
    if not isinstance(system, System):
        raise ArgumentError(f"verify: a System is expected, not {short(system)}; kn.load reads one from a file")
    topology = find_topology(system)
    rng = np.random.default_rng(seed)
    closed = Dynamics(system) if topology.cuts or topology.constraints else None
    if closed is not None:
        topology = closed.topology
    tried = find_states(topology, states, rng, closed)
    reasons = {name: formulation.applies(topology) for name, formulation in FORMULATIONS.items()}
    ways = [FORMULATIONS[name] for name, reason in reasons.items() if reason is None]
    if not ways:
        raise ArgumentError("verify: no formulation applies: " + "; ".join(f"{n}: {r}" for n, r in reasons.items()))
    table = _Table(topology)
    code = [_compiled(closed or Dynamics(system))] if compiled else []
    # with constraints, efforts for given accelerations are not unique and not compared
    compared = frozenset(OUTPUTS) if closed is None else frozenset(OUTPUTS) - {"effort"}
    compared = compared if topology.n_z else compared - {"z_dot"}
    for index, numbers in enumerate(tried):
        results = {way.name: way.evaluate(topology, numbers, way.outputs & compared) for way in [*ways, *code]}
        if closed is not None:
            _leave_unique(closed, numbers, results)
        scale = _Scale(results[ways[0].name], numbers, topology)
        for one, two in [*combinations(ways, 2), *((ways[0], way) for way in code)]:
            for name in OUTPUTS:
                if name in one.outputs & two.outputs & compared:
                    pair = (results[one.name][name], results[two.name][name])
                    table.compare(index, name, (one.name, two.name), pair, scale)
        for way in ways if closed is None else ():  # these are identities of motion without constraints
            for identity in IDENTITIES:
                if identity.needs <= way.outputs:
                    left, right, size = identity.sides(topology, way, numbers, results[way.name], rng)
                    apart = _apart(left, right, size)[0]
                    table.note(identity.quantity, way.name, identity.against, apart, f"state {index}")
        for name, (left, right, size) in compare_parts(topology, numbers, results[ways[0].name]["u_dot"]).items():
            where = f"{name}, state {index}"
            table.note("power into parts", ways[0].name, "stored + lost", _apart(left, right, size)[0], where)
    return Verification(system.name, len(tried), table.rows(), tuple((n, r) for n, r in reasons.items() if r))


def _leave_unique(dynamics: Dynamics, n: InstantValues, results: dict[str, dict[str, Any]]) -> None:
    """Set reactions that do not follow from the motion to zero: there is nothing to agree upon."""
    at = analyze(dynamics, State(n.t, n.q, n.u, n.z), p=n.p, inputs=n.inputs)
    unique = {name: np.roll(flags, 3) for name, flags in at.unique.items()}  # moments are first here
    gears = {c.constraint: f"{name}.effort" for name, c in dynamics.topology.couplings.items()}
    unique.update({name: at.unique_multipliers[gears.get(name, name)] for name in dynamics.system.constraints})
    for reactions in (result.get(name, {}) for result in results.values() for name in REACTIONS):
        for name, parts in reactions.items():
            sure = np.split(unique[name], len(parts))
            reactions[name] = tuple(np.where(flags, part, 0.0) for flags, part in zip(sure, parts, strict=True))


def _compiled(dynamics: Dynamics) -> Formulation:
    """The compiled code in the place of a formulation."""

    def evaluate(topology: Topology, n: InstantValues, wanted: Collection[str]) -> dict[str, Any]:
        more: dict[str, Any] = {"z": n.z, "p": n.p, "inputs": n.inputs}
        kinetic, potential = dynamics.energy(n.t, n.q, n.u, **more)
        reactions = dynamics.reactions(n.t, n.q, n.u, **more)
        held = [f"{name}.reaction" for name in dynamics.system.constraints]
        multipliers = dynamics.evaluate(held, n.t, n.q, n.u, **more) if held else {}
        found = {
            "u_dot": dynamics.acceleration(n.t, n.q, n.u, **more),
            "z_dot": _other_rates(dynamics, n),
            "mass_matrix": dynamics.mass_matrix(n.t, n.q, **more),
            "bias": dynamics.bias(n.t, n.q, n.u, **more),
            "effort": dynamics.effort(n.t, n.q, n.u, np.zeros(topology.n_u), **more),
            "kinetic_energy": kinetic,
            "potential_energy": potential,
            "reactions": {
                **{name: (wrench.moment, wrench.force) for name, wrench in reactions.items()},
                **{name.removesuffix(".reaction"): (np.atleast_1d(x),) for name, x in multipliers.items()},
            },
        }
        if "static_reactions" in wanted:
            hold = None if n.hold is None else [freedom_name(dynamics, freedom) for freedom in n.hold]
            static = dynamics.reactions(n.t, n.q, n.u, part="static", hold=hold, **more)
            found["static_reactions"] = {name: (wrench.moment, wrench.force) for name, wrench in static.items()}
        return found

    # Static parts of large trees are written out in full, which would take long for a check.
    outputs = COMPILED - {"static_reactions"} if is_large(dynamics.topology) else COMPILED
    return Formulation(COMPILED_NAME, outputs, lambda topology: None, evaluate)


def _other_rates(dynamics: Dynamics, n: InstantValues) -> Array:
    """Rates of the entries of the state that are neither coordinates nor speeds."""
    rates = dynamics.rate(n.t, np.concatenate([n.q, n.u, n.z]), p=n.p, inputs=n.inputs)
    return dynamics.topology.layout.split(rates)[2]


# -- states ----------------------------------------------------------------------------------------


class _Scale:
    """How large the quantities of a state are, so that what is zero but for rounding is not compared to itself."""

    def __init__(self, result: dict[str, Any], numbers: InstantValues, topology: Topology) -> None:
        M = np.asarray(result.get("mass_matrix", np.zeros((0, 0))), dtype=float)
        mass = sum(topology.system.nominal(body.total_mass()) for body in topology.system.bodies.values())
        heavy = max(abs(M).max(initial=0.0), mass)
        speed = abs(numbers.u).max(initial=1e-3)
        gravity = max(abs(topology.system.nominal(x)) for x in topology.system.gravity)
        growth = speed**2 + gravity
        self.floors = {"u_dot": growth, "momentum": heavy * speed, "angular_momentum": heavy * speed}
        self.floor = heavy * growth
        # An error of rounding in M reaches u_dot multiplied by the condition of M.
        self.condition = float(np.linalg.cond(M)) if len(M) else 1.0

    def tolerance(self, name: str) -> float:
        return max(TOLERANCE, 50 * np.finfo(float).eps * self.condition) if name == "u_dot" else TOLERANCE


class _Table:
    """The rows so far, each with its largest difference."""

    def __init__(self, topology: Topology) -> None:
        self.speeds = [c.name.replace(".u", ".{}", 1) for c in topology.coordinates if c.role == "u"]
        self.others = [c.name for c in topology.coordinates if c.role == "z"]
        self.found: dict[tuple[str, str, str], Comparison] = {}

    def rows(self) -> tuple[Comparison, ...]:
        order = {WORDS.get(name, name.replace("_", " ")): k for k, name in enumerate(OUTPUTS)}
        return tuple(sorted(self.found.values(), key=lambda row: order.get(row.quantity, len(order))))

    def note(
        self, quantity: str, one: str, two: str, difference: float, where: str, tolerance: float = TOLERANCE
    ) -> None:
        old = self.found.get((quantity, one, two))
        difference = float(difference) if np.isfinite(difference) else np.inf
        if old is None or difference > old.difference:
            tolerance = max(tolerance, old.tolerance) if old else tolerance
            self.found[quantity, one, two] = Comparison(quantity, one, two, difference, where, tolerance)

    def compare(self, index: int, name: str, ways: tuple[str, str], pair: tuple[Any, Any], scale: _Scale) -> None:
        (one, two), (a, b) = ways, pair
        quantity, floor = WORDS.get(name, name.replace("_", " ")), scale.floors.get(name, scale.floor)
        if name in REACTIONS:
            worst = max(
                ((_apart(np.concatenate(a[j]), np.concatenate(b[j]), floor)[0], j) for j in a if j in b),
                default=(0.0, "-"),
            )
            self.note(quantity, one, two, worst[0], f"{worst[1]}, state {index}")
            return
        if name == "z_dot":
            largest, entry = _entries_apart(a, b)
            self.note(quantity, one, two, largest, f"{self.others[entry]}, state {index}")
            return
        difference, place = _apart(a, b, 0.0 if name == "mass_matrix" else floor)
        where = ", ".join(self._speed(k, name) for k in place)
        self.note(quantity, one, two, difference, f"{where}{', ' * bool(where)}state {index}", scale.tolerance(name))

    def _speed(self, k: int, name: str) -> str:
        if "moment" in name:
            return "xyz"[k]
        return self.speeds[k].format({"mass_matrix": "u", "u_dot": "u_dot"}.get(name, "effort"))


def _entries_apart(a: Any, b: Any) -> tuple[float, int]:
    """The largest difference of entries, each relative to itself, and which."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    sizes = np.maximum(abs(a), abs(b))
    gaps = [_apart(a[k], b[k], SMALL * sizes.max(initial=0.0))[0] for k in range(len(a))]
    place = int(np.argmax(gaps))
    return gaps[place], place


def _apart(a: Any, b: Any, floor: float) -> tuple[float, tuple[int, ...]]:
    """The largest difference of entries relative to the largest entry, and which."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if a.size == 0:
        return 0.0, ()
    size = max(abs(a).max(), abs(b).max(), floor)
    gap = np.where(np.isfinite(a - b), abs(a - b), np.inf)
    place = np.unravel_index(int(np.argmax(gap)), gap.shape)
    return float(gap[place] / size) if size > 0 else 0.0, tuple(int(k) for k in place)
