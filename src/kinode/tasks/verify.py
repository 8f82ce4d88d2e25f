"""``kn.verify``: one model by every formulation that applies, and a table of the differences between them.

The table has comparisons and identities.  Formulations (formulations/formulation_table.py) and the compiled code are
compared in pairs on every output that both have; a new formulation takes part as soon as it is registered.  Besides,
each formulation has to satisfy identities: M is symmetric, positive definite and the Hessian of the kinetic energy;
inverse dynamics is the inverse of forward dynamics; the time derivative of energy is the supplied power.

Differences are relative to the largest entry of the compared quantity, or to the scale of the motion if that is larger.
States are random, with closed loops and consistent modes, unit quaternions and lengths of the model's own size.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.dynamics.reactions.redundancy import analyze
from kinode.dynamics.reactions.support_argument import find_support, freedom_name
from kinode.errors import ArgumentError, counted
from kinode.formulations.formulation_table import FORMULATIONS, OUTPUTS, Formulation, InstantValues
from kinode.kernels.state import State
from kinode.kernels.tree_size import is_large
from kinode.model.base.fields import short
from kinode.model.system import System
from kinode.multibody.instant_events import consistent_discrete_states
from kinode.multibody.loop_statics import Support
from kinode.multibody.snapshot import Snapshot
from kinode.sheets.tables import Sheet, Shown, Strong, Table
from kinode.structure.state_layout import EvaluationPoint
from kinode.structure.topology import Topology, find_topology
from kinode.tasks.verify_identities import IDENTITIES, compare_parts

TOLERANCE = 1e-9
MOMENTA = frozenset({"momentum", "angular_momentum"})  # vectors in world axes
COMPILED = frozenset(OUTPUTS) - MOMENTA
COMPILED_NAME = "compiled"
REACTIONS = ("reactions", "static_reactions")
WORDS = {"u_dot": "accelerations", "z_dot": "other rates", "effort": "inverse dynamics"}
SMALLEST_RATE = 1e-6  # of z_dot, relative to its largest entry; larger entries, each with its own unit, are the scale
SMALLEST_SPEED = 1e-3  # rad/s or m/s, for the scale of a state at rest
CONDITION_MARGIN = 50  # rounding errors of M that reach the accelerations, in units of eps times the condition of M


@dataclass(frozen=True)
class Comparison:
    """One comparison of two formulations, or of both sides of an identity: the largest difference over all states."""

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
class Verification(Shown):
    """Differences between the formulations of a model; prints as a table."""

    name: str
    states: int
    rows: tuple[Comparison, ...]
    skipped: tuple[tuple[str, str], ...] = ()
    seconds: tuple[tuple[str, float], ...] = ()  # that each formulation took, all states together

    @property
    def worst(self) -> Comparison:
        """The comparison with the largest difference relative to its tolerance."""
        return max(self.rows, key=lambda row: row.difference / row.tolerance)

    @property
    def ok(self) -> bool:
        return all(row.ok for row in self.rows)

    @property
    def tables(self) -> list[tuple[list[str], list[list[str]]]]:
        """Head and rows of two tables: differences of each formulation from the first, and errors of identities.

        An exclamation mark is a disagreement.  ``rows`` has every pair.
        """
        formulations = {*FORMULATIONS, COMPILED_NAME}
        pairs = [row for row in self.rows if row.two in formulations]
        first = pairs[0].one if pairs else ""
        tables = [_grid(f"from {first}", [(r.quantity, r.two, r) for r in pairs if r.one == first])]
        identities = [row for row in self.rows if row.two not in formulations]
        sides: dict[str, set[str]] = {}
        for row in identities:
            sides.setdefault(row.quantity, set()).add(row.two)
        names = {r: r.quantity if len(sides[r.quantity]) == 1 else f"{r.quantity}: {r.two}" for r in identities}
        tables.append(_grid("identity", [(names[r], r.one, r) for r in identities]))
        return [(head, rows) for head, rows in tables if rows]

    @property
    def failures(self) -> list[str]:
        """A sentence for each disagreement."""
        return [
            f"{r.quantity}: {r.one} and {r.two} are {r.difference:.1e} apart ({r.tolerance:.1e} allowed), at {r.where}"
            for r in self.rows
            if not r.ok
        ]

    @property
    def sheet(self) -> Sheet:
        tables = [Table(head, rows) for head, rows in self.tables]
        return Sheet(self.name, self.verdict, [*tables, *map(Strong, self.failures), *self.notes])

    @property
    def notes(self) -> list[str]:
        """A sentence for each derivation that does not apply."""
        return [f"{name} does not apply: {reason}" for name, reason in self.skipped]

    @property
    def verdict(self) -> str:
        """The number of states, and whether all comparisons agree, to be read behind the name."""
        wrong = len(self.failures)
        verdict = f"{wrong} of {len(self.rows)} comparisons disagree" if wrong else "all agree"
        return f", {counted(self.states, 'random state')}: {verdict}"

    def __repr__(self) -> str:
        return f"<Verification of {self.name!r}{self.verdict}>"


def _cell(row: Comparison) -> str:
    text = f"{row.difference:.1e}"
    return text if row.ok else Strong(f"{text}!", "these disagree")


def _grid(corner: str, cells: Sequence[tuple[str, str, Comparison]]) -> tuple[list[str], list[list[str]]]:
    """Head and rows of a table: quantities down, formulations across."""
    down, across = list(dict.fromkeys(cell[0] for cell in cells)), list(dict.fromkeys(cell[1] for cell in cells))
    values = {(line, column): _cell(row) for line, column, row in cells}
    return [corner, *across], [[line, *(values.get((line, column), "") for column in across)] for line in down]


def verify(
    system: System, states: int | Sequence[Any] | None = None, *, seed: int = 0, compiled: bool = True,
    progress: Callable[[float], object] | None = None,
) -> Verification:  # fmt: skip
    """Evaluate a system by every formulation that applies and compare the results.

    Parameters
    ----------
    system : System
    states : int or sequence of states, optional
        Number of random states, or states with t, q, u, z; left out, up to 5, fewer for large systems.
    seed : int, default 0
        Of the random states.
    compiled : bool, default True
        Whether the machine code is compared as well.
    progress : function, optional
        Is given the share that is done, from 0 to 1.

    Returns
    -------
    Verification
        ``ok`` says whether all agree; it prints as a table.

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
    points = find_states(topology, states, rng, closed)
    reasons = {name: formulation.applies(topology) for name, formulation in FORMULATIONS.items()}
    formulations = [FORMULATIONS[name] for name, reason in reasons.items() if reason is None]
    if not formulations:
        raise ArgumentError("verify: no formulation applies: " + "; ".join(f"{n}: {r}" for n, r in reasons.items()))
    table, reference = _Table(topology), formulations[0]
    compiled_code = [_compiled(closed or Dynamics(system))] if compiled else []
    # with constraints, efforts for given accelerations are not unique and are not compared
    compared = frozenset(OUTPUTS) if closed is None else frozenset(OUTPUTS) - {"effort"}
    compared = compared if topology.n_z else compared - {"z_dot"}
    clock = _Clock(progress, len(points) * (len(formulations) + len(compiled_code)))
    for index, point in enumerate(points):
        results = {}
        for formulation in [*formulations, *compiled_code]:
            with clock.times(formulation.name):
                results[formulation.name] = formulation.evaluate(topology, point, formulation.outputs & compared)
        if closed is not None:
            _leave_unique(closed, point, results)
        scale = _Scale(results[reference.name], point, topology)
        for one, two in [*combinations(formulations, 2), *((reference, code) for code in compiled_code)]:
            for name in OUTPUTS:
                if name in one.outputs & two.outputs & compared:
                    pair = (results[one.name][name], results[two.name][name])
                    table.compare(index, name, (one.name, two.name), pair, scale)
        for formulation in formulations if closed is None else ():  # these are identities of motion without constraints
            for identity in IDENTITIES:
                if identity.needs <= formulation.outputs:
                    left, right, size = identity.sides(topology, formulation, point, results[formulation.name], rng)
                    difference = _difference(left, right, size)[0]
                    table.note(identity.quantity, formulation.name, identity.against, difference, f"state {index}")
        for name, (left, right, size) in compare_parts(topology, point, results[reference.name]["u_dot"]).items():
            where, difference = f"{name}, state {index}", _difference(left, right, size)[0]
            table.note("power into parts", reference.name, "stored + lost", difference, where)
    skipped = tuple((n, r) for n, r in reasons.items() if r)
    return Verification(system.name, len(points), table.rows(), skipped, tuple(clock.seconds.items()))


class _Clock:
    """How long each formulation took, and the share of all evaluations that is done."""

    def __init__(self, progress: Callable[[float], object] | None, count: int) -> None:
        self.seconds: dict[str, float] = {}
        self._progress, self._count, self._done = progress, count, 0

    @contextmanager
    def times(self, name: str) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - began
        self._done += 1
        if self._progress is not None:
            self._progress(self._done / self._count)


def _leave_unique(dynamics: Dynamics, n: InstantValues, results: dict[str, dict[str, Any]]) -> None:
    """Set reactions that the motion does not determine to zero: formulations may differ in them."""
    uniqueness = analyze(dynamics, State(n.t, n.q, n.u, n.z), p=n.p, inputs=n.inputs)
    unique = {name: np.roll(flags, 3) for name, flags in uniqueness.unique.items()}  # moments are first here
    gears = {c.constraint: f"{name}.effort" for name, c in dynamics.topology.couplings.items()}
    unique.update({name: uniqueness.unique_multipliers[gears.get(name, name)] for name in dynamics.system.constraints})
    for reactions in (result.get(name, {}) for result in results.values() for name in REACTIONS):
        for name, vectors in reactions.items():
            flags = np.split(unique[name], len(vectors))
            reactions[name] = tuple(np.where(flag, vector, 0.0) for flag, vector in zip(flags, vectors, strict=True))


def _compiled(dynamics: Dynamics) -> Formulation:
    """The compiled code as a formulation."""

    def evaluate(topology: Topology, n: InstantValues, wanted: Collection[str]) -> dict[str, Any]:
        more: dict[str, Any] = {"z": n.z, "p": n.p, "inputs": n.inputs}
        kinetic, potential = dynamics.energy(n.t, n.q, n.u, **more)
        reactions = dynamics.reactions(n.t, n.q, n.u, **more)
        reaction_names = [f"{name}.reaction" for name in dynamics.system.constraints]
        multipliers = dynamics.evaluate(reaction_names, n.t, n.q, n.u, **more) if reaction_names else {}
        values = {
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
            values["static_reactions"] = {name: (wrench.moment, wrench.force) for name, wrench in static.items()}
        return values

    # The code of static reactions of large systems has no loops, and compiling it would take long.
    outputs = COMPILED - {"static_reactions"} if is_large(dynamics.topology) else COMPILED
    return Formulation(COMPILED_NAME, outputs, lambda topology: None, evaluate)


def _other_rates(dynamics: Dynamics, n: InstantValues) -> Array:
    """Time derivatives of the states that are neither coordinates nor speeds."""
    rates = dynamics.rate(n.t, np.concatenate([n.q, n.u, n.z]), p=n.p, inputs=n.inputs)
    return dynamics.topology.layout.split(rates)[2]


# -- the table -------------------------------------------------------------------------------------


class _Scale:
    """Sizes of the quantities of a state, so that rounding errors of a zero are not compared to themselves."""

    def __init__(self, result: dict[str, Any], point: InstantValues, topology: Topology) -> None:
        M = np.asarray(result.get("mass_matrix", np.zeros((0, 0))), dtype=float)
        mass = sum(topology.system.nominal(body.mass) for body in topology.system.bodies.values())
        inertia = max(abs(M).max(initial=0.0), mass)
        speed = abs(point.u).max(initial=SMALLEST_SPEED)
        gravity = max(abs(topology.system.nominal(x)) for x in topology.system.gravity)
        acceleration = speed**2 + gravity
        self.floors = {"u_dot": acceleration, "momentum": inertia * speed, "angular_momentum": inertia * speed}
        self.floor = inertia * acceleration
        # rounding errors of M reach u_dot multiplied by the condition of M
        self.condition = float(np.linalg.cond(M)) if len(M) else 1.0

    def tolerance(self, name: str) -> float:
        return max(TOLERANCE, CONDITION_MARGIN * np.finfo(float).eps * self.condition) if name == "u_dot" else TOLERANCE


class _Table:
    """The comparisons so far, each with its largest difference."""

    def __init__(self, topology: Topology) -> None:
        self.speeds = [c for c in topology.coordinates if c.role == "u"]
        self.others = [c.name for c in topology.coordinates if c.role == "z"]
        self.comparisons: dict[tuple[str, str, str], Comparison] = {}

    def rows(self) -> tuple[Comparison, ...]:
        order = {WORDS.get(name, name.replace("_", " ")): k for k, name in enumerate(OUTPUTS)}
        return tuple(sorted(self.comparisons.values(), key=lambda row: order.get(row.quantity, len(order))))

    def note(
        self, quantity: str, one: str, two: str, difference: float, where: str, tolerance: float = TOLERANCE
    ) -> None:
        """Add a difference; of several with the same names the largest stays."""
        old = self.comparisons.get((quantity, one, two))
        difference = float(difference) if np.isfinite(difference) else np.inf
        if old is None or difference > old.difference:
            tolerance = max(tolerance, old.tolerance) if old else tolerance
            self.comparisons[quantity, one, two] = Comparison(quantity, one, two, difference, where, tolerance)

    def compare(self, index: int, name: str, names: tuple[str, str], pair: tuple[Any, Any], scale: _Scale) -> None:
        """Note the largest difference of one output between two formulations at one state."""
        (one, two), (a, b) = names, pair
        quantity, floor = WORDS.get(name, name.replace("_", " ")), scale.floors.get(name, scale.floor)
        if name in REACTIONS:
            worst = max(
                ((_difference(np.concatenate(a[j]), np.concatenate(b[j]), floor)[0], j) for j in a if j in b),
                default=(0.0, "-"),
            )
            self.note(quantity, one, two, worst[0], f"{worst[1]}, state {index}")
            return
        if name == "z_dot":
            largest, entry = _entry_difference(a, b)
            self.note(quantity, one, two, largest, f"{self.others[entry]}, state {index}")
            return
        difference, index_of_worst = _difference(a, b, 0.0 if name == "mass_matrix" else floor)
        where = ", ".join(self._entry(k, name) for k in index_of_worst)
        self.note(quantity, one, two, difference, f"{where}{', ' * bool(where)}state {index}", scale.tolerance(name))

    def _entry(self, k: int, name: str) -> str:
        """The name of entry k of an output."""
        if name in MOMENTA:
            return "xyz"[k]
        quantity = {"mass_matrix": "u", "u_dot": "u_dot"}.get(name, "effort")
        return f"{self.speeds[k].joint}.{quantity}{self.speeds[k].suffix}"


def _entry_difference(a: Any, b: Any) -> tuple[float, int]:
    """The largest difference of entries, each relative to its own size, and its index."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    sizes = np.maximum(abs(a), abs(b))
    differences = [_difference(a[k], b[k], SMALLEST_RATE * sizes.max(initial=0.0))[0] for k in range(len(a))]
    worst = int(np.argmax(differences))
    return differences[worst], worst


def _difference(a: Any, b: Any, floor: float) -> tuple[float, tuple[int, ...]]:
    """The largest difference of entries, relative to the largest entry or ``floor``, and its index."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if a.size == 0:
        return 0.0, ()
    size = max(abs(a).max(), abs(b).max(), floor)
    differences = np.where(np.isfinite(a - b), abs(a - b), np.inf)
    worst = np.unravel_index(int(np.argmax(differences)), differences.shape)
    return float(differences[worst] / size) if size > 0 else 0.0, tuple(int(k) for k in worst)


LARGE_SYSTEM = 300  # speeds times bodies: from here on one random state is enough
WALK_STEPS = 3  # from the initial position to a random one, in loops
STEP_SIZE = 0.1  # of one such step, relative to random speeds times 1 s


def enough_states(topology: Topology, most: int = 5) -> int:
    """Number of random states to compare: one for large systems, which take long and have many entries each."""
    return most if topology.n_u * len(topology.system.bodies) < LARGE_SYSTEM else 1


def find_states(
    topology: Topology, states: int | Sequence[Any] | None, rng: np.random.Generator, closed: Dynamics | None = None
) -> list[InstantValues]:
    """Random states, or those given, with the parameters and inputs of the model.

    With constraints (``closed``), random states are near the initial one and satisfy them.
    """
    system = topology.system
    values = system.parameter_values()
    p = np.array([values[name] for name in topology.parameters])
    inputs = np.array([system.nominal(x.value) for x in system.inputs.values()])
    if states is None:
        states = enough_states(topology)
    if isinstance(states, int):
        if states < 1:
            raise ArgumentError(f"states: at least one is needed, not {states}")
        length = find_length(topology)
        drawn = [random_state(topology, rng, length) for _ in range(states)]
        if closed is not None:
            drawn = [_close(closed, state) for state in drawn]
        return _numbers(closed, drawn, p, inputs)
    if isinstance(states, str) or not all(hasattr(s, part) for s in states for part in "tquz"):
        raise ArgumentError("states: how many, or a list of states with t, q, u, z, is expected")
    arrays = [[np.asarray(x, dtype=float) for x in (s.q, s.u, s.z)] for s in states]
    given = [(float(s.t), q, u, z) for s, (q, u, z) in zip(states, arrays, strict=True)]
    return _numbers(closed, given, p, inputs)


def _numbers(
    closed: Dynamics | None, states: Sequence[tuple[float, Array, Array, Array]], p: Array, inputs: Array
) -> list[InstantValues]:
    """States as arguments of formulations, with a static support of loops for the comparison of static reactions."""
    points: list[InstantValues] = []
    support: Support = None
    for t, q, u, z in states:
        support = None if closed is None else find_support(closed, State(t, q, u, z), support)
        points.append(InstantValues(t, q, u, z, p, inputs, hold=support))
    return points


def _close(dynamics: Dynamics, state: tuple[float, Array, Array, Array]) -> tuple[float, Array, Array, Array]:
    """A state that satisfies the constraints: steps from the initial position in a random direction, random speeds.

    States of other components, such as currents, keep their random values.
    """
    t, _, u, random_z = state
    start, loops, no_fixed = dynamics.initial, dynamics.loops, np.zeros(dynamics.n_u, dtype=bool)
    q, z = start.q, start.z.copy()
    for owner, where in dynamics.topology.z_of.items():
        if owner not in dynamics.system.joints:
            z[where] = random_z[where]
    for _ in range(WALK_STEPS):
        speeds = loops.close_speeds(dynamics.point(State(t, q, STEP_SIZE * u, z)), no_fixed)
        there = dynamics.topology.advance_q(q, speeds)
        q = loops.close(dynamics.point(State(t, there, speeds, z)), no_fixed)
    speeds = loops.close_speeds(dynamics.point(State(t, q, u, z)), no_fixed)
    return with_modes(dynamics.topology, t, q, speeds, z)


def find_length(topology: Topology) -> float:
    """Typical length of the model in m: the largest offset of a joint or center of mass, 1 if there is none."""
    geometry = topology.geometry(topology.tree, topology.system.nominal)
    offsets = [X.p for X in geometry.placements] + [i.moment / i.mass for i in geometry.inertias if i.mass > 0]
    return max((float(np.abs(np.asarray(x, dtype=float)).max()) for x in offsets), default=0.0) or 1.0


def random_state(
    topology: Topology, rng: np.random.Generator, length: float = 1.0
) -> tuple[float, Array, Array, Array]:
    """t, q, u, z: angles and rates of the order of 1, lengths of the order of ``length``, unit quaternions."""
    layout = topology.layout
    y = rng.uniform(-1.0, 1.0, layout.n_y)
    for c in topology.coordinates:
        if c.kind == "length":
            y[layout.role_slices[c.role].start + c.index] *= length
    for k in topology.layout.quaternions:
        y[k : k + 4] = rng.normal(size=4)
        y[k : k + 4] /= np.linalg.norm(y[k : k + 4])
    return with_modes(topology, float(rng.uniform(0.0, 1.0)), *layout.split(y))


def with_modes(topology: Topology, t: float, q: Array, u: Array, z: Array) -> tuple[float, Array, Array, Array]:
    """The state with modes consistent with its speeds: moving joints slide and touch no end stop."""
    if topology.events is None:
        return t, q, u, z
    system, n_discrete = topology.system, topology.events.n_held
    values = system.parameter_values()
    p = np.array([values[name] for name in topology.parameters])
    inputs = np.array([system.nominal(x.value) for x in system.inputs.values()])
    z = np.concatenate([z[: len(z) - n_discrete], np.zeros(n_discrete)])
    return (
        t,
        q,
        u,
        np.array(consistent_discrete_states(Snapshot(topology, EvaluationPoint(t, q, u, z, p, inputs))), dtype=float),
    )
