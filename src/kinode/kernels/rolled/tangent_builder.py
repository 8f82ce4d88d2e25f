"""Builds the programs of derivatives of a large system from its loop code: along one direction, and along two.

They cover what the recursion does not: loops, laws and elements, other states, parameters, every quantity by name.
``x`` has added efforts or given accelerations, if there are any, then factors of columns.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kinode.algebra.trace import Tape
from kinode.jit.program import Program, Store
from kinode.kernels.alike import roll_stores
from kinode.kernels.derivatives.derivative_outputs import along, count_directions
from kinode.kernels.derivatives.derivative_words import LOOP_KERNELS
from kinode.kernels.derivatives.program_rates import differentiate_program
from kinode.kernels.kernel_options import DerivativeOptions, Kernel
from kinode.kernels.rolled.rolled_builder import RolledBuilder
from kinode.kernels.rolled.shared_loads import SharedLoadBuilder
from kinode.multibody.dependent_joints import n_cut_coordinates
from kinode.structure.topology import Topology

Builder = type[RolledBuilder]


def differentiate_along(
    topology: Topology, builder: Builder, options: DerivativeOptions, *, adds_efforts: bool
) -> Program:
    """The program of the derivatives along one direction."""
    program, n = _program_of(topology, builder, options.of, adds_efforts), topology.n_u if adds_efforts else 0
    count = count_directions(topology, options)
    return differentiate_program(program, _head(topology, options, n, count), n + count)


def differentiate_twice(topology: Topology, builder: Builder, options: DerivativeOptions) -> Program:
    """The program of the derivatives along a second direction of those along a first one."""
    n, count = topology.n_u, count_directions(topology, options)
    rates = differentiate_along(topology, builder, options, adds_efforts=True)
    return differentiate_program(rates, _head(topology, options, n + count, count), n + 2 * count)


def differentiate_shared(topology: Topology, options: DerivativeOptions) -> Program:
    """The program of the derivatives along one direction of quantities whose changes by sharing are given, of loads of
    joints and of their directions; the changes move too.  Behind them are the loads."""
    builder = SharedLoadBuilder(topology, options)
    program, n, count = builder.program(), topology.n_u, count_directions(topology, options)
    n_loads, size, tape = len(builder.loads), program.sizes["out"], Tape()
    start = n + n_loads
    head = _head(topology, options, start, count)
    head += [("x", n + k, tape.input("x", start + count + k)) for k in range(n_loads)]
    program = replace(program, sizes={**program.sizes, "x": start})
    rates = differentiate_program(program, head, start + count + n_loads)
    loads = roll_stores([("out", size + k, tape.input("work", builder.loads_at + k)) for k in range(n_loads)])
    return replace(rates, sizes={**rates.sizes, "out": size + n_loads}, blocks=[*rates.blocks, *loads])


def differentiate_loops(topology: Topology, builder: Builder, kernel: Kernel) -> Program:
    """The program of the rates of pose errors and rows along rates of all coordinates, which stand in x behind those
    of cut joints."""
    n, n_q, tape = n_cut_coordinates(topology), topology.n_q, Tape()
    moving = [*(("q", k) for k in range(n_q)), *(("x", k) for k in range(n))]
    head = [(name, position, tape.input("x", n + k)) for k, (name, position) in enumerate(moving)]
    return differentiate_program(builder(topology, kernel).program(), head, 2 * n + n_q)


def _program_of(topology: Topology, builder: Builder, of: tuple[str, ...], adds_efforts: bool) -> Program:
    """The program of what is differentiated."""
    name = LOOP_KERNELS.get(of[0])
    if name is None:
        return builder(topology, Kernel("evaluate", of), adds_efforts=adds_efforts).program()
    if name in ("bias", "effort"):  # added efforts do not change them; x has the accelerations of the second
        program = builder(topology, Kernel(name)).program()
        return replace(program, sizes={**program.sizes, "x": topology.n_u})
    return builder(topology, Kernel(name), adds_efforts=adds_efforts, also=of[1:]).program()


def _head(topology: Topology, options: DerivativeOptions, start: int, count: int) -> list[Store]:
    """The rates of arguments along a direction whose factors begin at some place in x."""
    tape = Tape()
    factors = np.array([tape.input("x", start + k) for k in range(count)], dtype=object)
    direction = along(topology, tape, options, factors)
    return [(*tape.nodes[index].args, rate) for index, rate in direction.items()]
