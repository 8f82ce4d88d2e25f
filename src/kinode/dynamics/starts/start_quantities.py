"""What starts take from the model at a point: values of following states, and quantities of the network.

Consistent initial values of following states: the output of a filter starts at its input, and the like.  Components
give them by ``consistent_values``.  A value that the user gives by name is kept.  One following state may depend on
another, so that the values are computed again until none changes.  A ring of following states may have no consistent
values; it keeps those of the last iteration.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from kinode.algebra.scalars import Array
from kinode.jit.machine_code import Machine
from kinode.kernels.compiled_kernels import Kernels
from kinode.kernels.kernel_options import Kernel
from kinode.kernels.start_outputs import consistent_values, find_followers, find_zeros
from kinode.structure.network_records import single_order
from kinode.structure.state_layout import EvaluationPoint

START_QUANTITIES = Kernel("start_quantities")


class StartQuantities:
    """The quantities of starts of a system, evaluated at points."""

    def __init__(self, kernels: Kernels) -> None:
        self.kernels, self.topology = kernels, kernels.topology
        self._plans: dict[frozenset[str], tuple[list[int], list[int]]] = {}
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

    def compile(self) -> None:
        """Compile what starts need, if they need any."""
        if self.has_followers or self.topology.network is not None:
            self.kernels.machine(START_QUANTITIES)

    @property
    def machine(self) -> Machine:
        """The machine code."""
        return self.kernels.machine(START_QUANTITIES)

    def plan(self, given: frozenset[str]) -> tuple[list[int], list[int]]:
        """Which of ``network.starts`` count where some states are given by name; the entries of z they determine."""
        if given not in self._plans:
            self._plans[given] = self._make_plan(given)
        return self._plans[given]

    def _make_plan(self, names: frozenset[str]) -> tuple[list[int], list[int]]:
        network = self.topology.network
        assert network is not None
        direct = {single_order(start.quantity) for start in network.starts}
        given = {(s.variable, s.order) for s in network.states if f"{s.owner}.{s.name}" in names}
        which = [k for k, start in enumerate(network.starts) if single_order(start.quantity) not in given]
        free = [s for s in network.states if (s.variable, s.order) not in direct | given]
        return which, [self.index_of[f"{s.owner}.{s.name}"] for s in free]

    def places(self, given: frozenset[str], point: EvaluationPoint) -> Sequence[tuple[int, int]]:
        """For each following state that is not given: its place among all of them, and in z."""
        if given not in self._places:
            from kinode.multibody.snapshot import Snapshot  # which few starts need

            names, index_of = enumerate(consistent_values(Snapshot(self.topology, point))), self.index_of
            self._places[given] = [(k, index_of[name]) for k, name in names if name in index_of and name not in given]
        return self._places[given]

    def network(self, point: EvaluationPoint) -> Array:
        """The quantities of the network with initial values, then those that are zero by default."""
        values = self.evaluate(point)
        return values[len(values) - self.n_given - self.n_zero :]

    def evaluate(self, point: EvaluationPoint) -> Array:
        """All quantities at a point or a batch; those of the last one are kept: two steps of a start ask for them."""
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
    """A point, or a batch, with consistent initial values of following states; those in ``given`` are kept."""
    if not quantities.has_followers:
        return point
    following = quantities.places(given, point if point.n_rows is None else point.row(0))
    for _ in range(ITERATIONS):
        z, values = point.z.copy(), quantities.evaluate(point)
        for k, place in following:
            z[..., place] = values[..., k]
        if z.tobytes() == point.z.tobytes():
            break
        point = point.replaced(z=z)
    return point
