"""Builds the program of derivatives of a large system along one direction from its loop code.

It covers what the recursion does not: loops, laws and elements, other states, parameters, every quantity by name.
"""

from __future__ import annotations

import numpy as np

from kinode.algebra.trace import Tape
from kinode.jit.program import Program
from kinode.kernels.derivatives.directed_outputs import count_directions
from kinode.kernels.derivatives.directions import along
from kinode.kernels.derivatives.tangent_programs import differentiate_program
from kinode.kernels.kernel_options import DerivativeOptions, Kernel
from kinode.kernels.rolled.rolled_builder import RolledBuilder
from kinode.structure.topology import Topology

KERNELS: dict[tuple[str, ...], Kernel] = {
    ("rate",): Kernel("rate"),
    ("u_dot",): Kernel("acceleration"),
    ("energy",): Kernel("energy"),
}


def differentiate_along(
    topology: Topology, builder: type[RolledBuilder], options: DerivativeOptions, *, adds_efforts: bool
) -> Program:
    """The program of the derivatives; x has added efforts, if there are any, then the factors of all columns."""
    kernel = KERNELS.get(options.of, Kernel("evaluate", options.of))
    program = builder(topology, kernel, adds_efforts=adds_efforts).program()
    tape, n = Tape(), topology.n_u if adds_efforts else 0
    n_x = n + count_directions(topology, options)
    factors = np.array([tape.input("x", k) for k in range(n, n_x)], dtype=object)
    direction = along(topology, tape, options, factors)
    head = [(*tape.nodes[index].args, rate) for index, rate in direction.items()]
    return differentiate_program(program, head, n_x)
