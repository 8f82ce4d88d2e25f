"""What starts take from the model at a point: values of following states, and quantities of the network.

The first starts of a system evaluate it in Python, which needs no compilation.  Where more follow, they are compiled.

Consistent initial values of following states: the output of a filter starts at its input, and the like.  Components
give them by ``consistent_values``.  A value that the user gives by name is kept.  One following state may depend on
another, so that the values are computed again until none changes.  A ring of following states may have no consistent
values; it keeps those of the last iteration.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kinode.algebra.scalars import Array
from kinode.jit.machine_code import Machine
from kinode.kernels.compiled_kernels import Kernels
from kinode.kernels.kernel_options import Kernel
from kinode.kernels.start_outputs import consistent_values, find_followers, find_zeros, network_values
from kinode.structure.network_records import single_order
from kinode.structure.state_layout import EvaluationPoint

if TYPE_CHECKING:
    from kinode.multibody.snapshot import Snapshot


IN_PYTHON = 4
"""Starts that are evaluated in Python before machine code is worth while."""
START_QUANTITIES = Kernel("start_quantities")


class NetworkPlan(NamedTuple):
    """Which initial values of a network count."""

    starts: list[int]
    """Their indices in ``network.starts``."""
    free: list[int]
    """The entries of z that they determine."""


class StartQuantities:
    """The quantities of starts of a system, evaluated at points."""

    def __init__(self, kernels: Kernels) -> None:
        self.kernels, self.topology = kernels, kernels.topology
        self._starts = 0
        self._following: list[str] | None = None  # names, known from the first evaluation
        self._plans: dict[frozenset[str], NetworkPlan] = {}
        self._places: dict[frozenset[str], Sequence[tuple[int, int]]] = {}
        self._last: tuple[EvaluationPoint, Array] | None = None

    @cached_property
    def has_followers(self) -> bool:
        """Whether the system has following states."""
        return bool(find_followers(self.topology))

    @cached_property
    def n_given(self) -> int:
        """Quantities of the network that have initial values."""
        return 0 if self.topology.network is None else len(self.topology.network.starts)

    @cached_property
    def n_zero(self) -> int:
        """Quantities of the network that are zero by default."""
        return len(find_zeros(self.topology))

    @cached_property
    def index_of(self) -> dict[str, int]:
        """Where each state stands in z."""
        return {c.name: c.index for c in self.topology.coordinates if c.role == "z"}

    def count_start(self) -> None:
        """Count a start, which evaluates some points."""
        self._starts += 1

    def compile(self) -> None:
        """Evaluate in machine code from now on."""
        self._starts = IN_PYTHON

    @property
    def is_compiled(self) -> bool:
        """Whether they are evaluated in machine code."""
        return self._starts > IN_PYTHON

    @property
    def machine(self) -> Machine:
        """The machine code."""
        return self.kernels.machine(START_QUANTITIES)

    def plan(self, given: frozenset[str]) -> NetworkPlan:
        """Which initial values of the network count where some states are given by name."""
        if given not in self._plans:
            self._plans[given] = self._make_plan(given)
        return self._plans[given]

    def _make_plan(self, names: frozenset[str]) -> NetworkPlan:
        network = self.topology.network
        assert network is not None
        direct = {single_order(start.quantity) for start in network.starts}
        given = {(s.variable, s.order) for s in network.states if f"{s.owner}.{s.name}" in names}
        which = [k for k, start in enumerate(network.starts) if single_order(start.quantity) not in given]
        free = [s for s in network.states if (s.variable, s.order) not in direct | given]
        return NetworkPlan(which, [self.index_of[f"{s.owner}.{s.name}"] for s in free])

    def following(self, point: EvaluationPoint) -> Sequence[float]:
        """The values that following states take, in the order of their names; others may follow them."""
        if self._following is None or not self.is_compiled:
            known = {name: float(x) for name, x in consistent_values(self._snapshot(point)).items()}
            self._following = list(known)
        if not self.is_compiled:
            return list(known.values())
        values: list[float] = self._evaluate(point).tolist()
        return values

    def places(self, given: frozenset[str]) -> Sequence[tuple[int, int]]:
        """For each following state that is not given: its place among all of them, and in z."""
        if given not in self._places:
            names, index_of = enumerate(self._following or ()), self.index_of
            self._places[given] = [(k, index_of[name]) for k, name in names if name in index_of and name not in given]
        return self._places[given]

    def find_following(self, point: EvaluationPoint) -> list[str]:
        """The names of the following states, in the order of the results of the compiled function."""
        if self._following is None:
            self._following = list(consistent_values(self._snapshot(point)))
        return self._following

    def evaluate_all(self, points: EvaluationPoint) -> Array:
        """All quantities at a batch of points, by the compiled function."""
        return self.kernels.call(START_QUANTITIES, points)

    def network(self, point: EvaluationPoint) -> Array:
        """The quantities of the network with initial values, then those that are zero by default."""
        if self.is_compiled:
            values = self._evaluate(point)
            return values[len(values) - self.n_given - self.n_zero :]
        return np.array([float(x) for x in network_values(self._snapshot(point))])

    def _snapshot(self, point: EvaluationPoint) -> Snapshot:
        from kinode.multibody.snapshot import Snapshot

        return Snapshot(self.topology, point)

    def _evaluate(self, point: EvaluationPoint) -> Array:
        """All quantities at a point; those at the last one are kept, since two steps of a start ask for them."""
        last = self._last
        if last is None or not _is_same(last[0], point):
            last = self._last = point, self.kernels.call(START_QUANTITIES, point)
        return last[1]


def _is_same(one: EvaluationPoint, two: EvaluationPoint) -> bool:
    """Whether two points of one start are the same; only z differs among them."""
    same = one.q is two.q and one.u is two.u and one.p is two.p and one.inputs is two.inputs and one.t == two.t
    return same and (one.z is two.z or one.z.tobytes() == two.z.tobytes())


ITERATIONS = 50  # at most: the longest chain of following states


def make_consistent(quantities: StartQuantities, point: EvaluationPoint, given: frozenset[str]) -> EvaluationPoint:
    """The point with consistent initial values of following states; those in ``given`` are kept."""
    for _ in range(ITERATIONS if quantities.has_followers else 0):
        z, values = point.z.copy(), quantities.following(point)
        for k, place in quantities.places(given):
            z[place] = values[k]
        if z.tobytes() == point.z.tobytes():
            break
        point = point.replaced(z=z)
    return point


def make_all_consistent(
    quantities: StartQuantities, point: EvaluationPoint, given: frozenset[str]
) -> EvaluationPoint:  # fmt: skip
    """The same of a batch of points, of which each comes out as it does alone."""
    if not quantities.has_followers:
        return point
    quantities.find_following(point.row(0))
    following = quantities.places(given)
    for _ in range(ITERATIONS):
        values, z = quantities.evaluate_all(point), point.z.copy()
        for k, place in following:
            z[:, place] = values[:, k]
        if np.array_equal(z, point.z):
            break
        point = point.replaced(z=z)
    return point
