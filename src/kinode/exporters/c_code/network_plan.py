"""What the initial values of a network need in C: a program for the quantities and their slopes, and its memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinode.algebra.scalars import Scalar
from kinode.algebra.trace import Traced, needed
from kinode.dynamics.compiled_system import Dynamics
from kinode.dynamics.initialization.start_quantities import START_QUANTITIES
from kinode.exporters.c_code.network_loop import NetworkMemory
from kinode.jit.pointers import floats_of, ints_of
from kinode.jit.program import Block, Program
from kinode.kernels.derivatives.tape_sweeps import NO_VALUES, sweep_forward
from kinode.kernels.kernel_traces import sizes


@dataclass(frozen=True, eq=False)
class NetworkStartPlan:
    """The initial values of a network as functions of states and parameters."""

    program: Program
    """Quantities with initial values, those that are zero by default, and the slopes of all along the free states."""
    wanted: Sequence[Any]
    """Initial values, as laws or numbers."""
    n_zero: int
    free: Sequence[int]
    """Places in z of the states that may change."""

    def lay_out(self, net: NetworkMemory) -> None:
        """Set the memory."""
        n_given, n_free = len(self.wanted), len(self.free)
        most = max(n_given, self.n_zero)
        net.n_given, net.n_zero, net.n_free = n_given, self.n_zero, n_free
        net.free = ints_of(np.array(self.free, dtype=np.int64))
        sizes_of = {
            "wanted": n_given, "out": (n_given + self.n_zero) * (1 + n_free), "r": most, "a": n_given * n_free,
            "b": self.n_zero * n_free, "v": n_free * n_free, "w": n_free * n_free, "sizes": n_free, "lengths": n_free,
            "step": n_free,
        }  # fmt: skip
        for name, size in sizes_of.items():
            setattr(net, name, floats_of(np.zeros(size)))


def find_network_plan(dynamics: Dynamics) -> NetworkStartPlan:
    """The plan of a system whose network has initial values, or quantities that are zero by default."""
    topology, quantities = dynamics.topology, dynamics.start.quantities
    network = topology.network
    assert network is not None
    which, free = quantities.plan(dynamics.start.initial_values.given_states)
    n_zero = quantities.n_zero
    with dynamics.kernels.tracing() as find_traced:
        traced = find_traced()
        every = traced.trace(START_QUANTITIES)
        every = every[len(every) - quantities.n_given - n_zero :]
        values = [every[k] for k in (*which, *range(quantities.n_given, quantities.n_given + n_zero))]
        nodes, columns = needed(values), list[list[Scalar]]()
        for place in free:
            rates = sweep_forward(nodes, {traced.tape.input("z", place).index: 1.0}, NO_VALUES)
            columns.append([rates.get(x.index, 0.0) if type(x) is Traced else 0.0 for x in values])
        slopes = [column[k] for k in range(len(values)) for column in columns]
        stores = [("out", k, x) for k, x in enumerate([*values, *slopes])]
        counts = {**sizes(topology, START_QUANTITIES), "out": len(stores)}
        program = Program("network start", counts, {}, [Block(1, {}, [stores])], rare=True)
    return NetworkStartPlan(program, [network.starts[k].value for k in which], n_zero, free)
