"""Builds the programs of derivatives of a large system from its loop code: along one direction, along two, and of one
number by many.

They cover what the recursion does not: loops, laws and elements, other states, parameters, every quantity by name.
``x`` has added efforts or given accelerations, if there are any, then factors of columns, or weights of results.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from kinode.algebra.trace import Tape
from kinode.jit.kernel_text.early_turns import compute_turns_early
from kinode.jit.kernel_text.lean_programs import make_lean
from kinode.jit.program import Program, Store
from kinode.kernels.derivatives.derivative_outputs import along, count_directions, unit_directions
from kinode.kernels.derivatives.derivative_words import LOOP_KERNELS
from kinode.kernels.derivatives.program_rates import differentiate_program
from kinode.kernels.derivatives.reverse_equations import reverse_equations
from kinode.kernels.derivatives.reverse_programs import Column, reverse_program
from kinode.kernels.kernel_options import DerivativeOptions, Kernel
from kinode.kernels.rolled.backward.adjoint_solver import make_solver
from kinode.kernels.rolled.backward.equation_builder import EquationBuilder
from kinode.kernels.rolled.backward.shared_equations import SharedEquationBuilder
from kinode.kernels.rolled.rolled_builder import RolledBuilder
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


def differentiate_backward(topology: Topology, builder: Builder, options: DerivativeOptions) -> Program:
    """The program of the derivatives of the weighted sum of all results by each direction."""
    columns = _columns_of(topology, options)
    if topology.constrained and options.of[0] not in ("bias", "effort"):
        equations = _equations_of(topology, options.of)
        program = equations.equations()
        if program is not None:
            return _reverse(topology, equations, program, columns, topology.n_u)
    program = _program_of(topology, builder, options.of, adds_efforts="effort" not in options.of)
    return reverse_program(program, columns, topology.n_u)


def differentiate_shared(topology: Topology, options: DerivativeOptions) -> Program:
    """The program of the derivatives of the weighted sum of all results, whose changes by sharing are given, of loads
    of joints and of their directions: by each direction, then by each change.  Behind them are the loads."""
    equations = SharedEquationBuilder(topology, options)
    program, n, loads = equations.equations(), topology.n_u, equations.loads
    assert program is not None, "loads of joints depend on the motion"
    columns = [*_columns_of(topology, options), *([("x", n + k, 1.0)] for k in range(len(loads)))]
    program = replace(program, sizes={**program.sizes, "x": n + len(loads)})
    return _reverse(topology, equations, program, columns, n + len(loads), loads)


def _reverse(
    topology: Topology, equations: EquationBuilder, program: Program, columns: Sequence[Column], n_x: int,
    kept: range = range(0),
) -> Program:  # fmt: skip
    """The equations run backward, without what is not needed."""
    find_solver = partial(make_solver, topology)
    whole = reverse_equations(make_lean(program), columns, n_x, equations.unknowns, find_solver, kept)
    return compute_turns_early(make_lean(whole))


def _columns_of(topology: Topology, options: DerivativeOptions) -> list[Column]:
    """The directions, as rates of arguments."""
    tape = Tape()
    return [
        [(*tape.nodes[index].args, rate) for index, rate in direction.items()]
        for direction in unit_directions(topology, tape, options)
    ]


def _equations_of(topology: Topology, of: tuple[str, ...]) -> EquationBuilder:
    """The builder of the equations of motion and of what is differentiated."""
    name = LOOP_KERNELS.get(of[0])
    kernel, also = (Kernel("evaluate", of), ()) if name is None else (Kernel(name), of[1:])
    return EquationBuilder(topology, kernel, adds_efforts=True, also=also)


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
    if name == "bias":  # it does not depend on added efforts
        program = builder(topology, Kernel(name)).program()
        return replace(program, sizes={**program.sizes, "x": topology.n_u})
    return builder(topology, Kernel(name), adds_efforts=adds_efforts, also=of[1:]).program()


def _head(topology: Topology, options: DerivativeOptions, start: int, count: int) -> list[Store]:
    """The rates of arguments along a direction whose factors begin at some place in x."""
    tape = Tape()
    factors = np.array([tape.input("x", start + k) for k in range(count)], dtype=object)
    direction = along(topology, tape, options, factors)
    return [(*tape.nodes[index].args, rate) for index, rate in direction.items()]
