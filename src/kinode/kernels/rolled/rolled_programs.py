"""Loop code for large systems: programs that loop over a table of links instead of straight-line code.

The steps are those of multibody/link_steps.py, traced once for each structure of link.  Expressions and elements
are straight-line code between the loops; they read the loops' results through a snapshot that loads them
(rolled_motion.py).  Systems with couplings of joints, friction, stops, brakes or networks have no loop code: their
programs are straight-line code of any size.

Also of derivatives, along one direction and along two: they cover what the recursion does not, which is loops, laws
and elements, other states, parameters, every quantity by name; ``x`` has added efforts or given accelerations, if
there are any, then factors of columns.  Of quantities whose loads are shared by least norm the changes by sharing are
given; results are quantities with these changes, then the loads of all joints as the independent rows give them, then
frames and freedoms of all joints: what the changes follow from (``dynamics/reactions/world_stiffness.py``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from kinode.algebra.trace import Tape
from kinode.jit.program import Block, Program, Store
from kinode.kernels import kernel_traces
from kinode.kernels.alike import roll_groups, roll_stores
from kinode.kernels.derivatives.derivative_outputs import (
    RATE_BY_STATE,
    along,
    count_directions,
    count_joint_directions,
    count_results,
)
from kinode.kernels.derivatives.derivative_words import LOOP_KERNELS
from kinode.kernels.derivatives.program_rates import differentiate_program
from kinode.kernels.derivatives.shared_quantities import GivenChanges, find_shared
from kinode.kernels.kernel_options import DerivativeOptions, Kernel, ReactionOptions
from kinode.kernels.kernel_outputs import direction_sizes, flat, joint_directions
from kinode.kernels.kernel_table import is_rolled
from kinode.kernels.kernel_traces import TracedModel
from kinode.kernels.rolled.closed_builder import ClosedBuilder
from kinode.kernels.rolled.rolled_builder import RolledBuilder
from kinode.kernels.tree_size import is_large
from kinode.model.quantities import find_quantity
from kinode.multibody.dependent_joints import n_cut_coordinates
from kinode.multibody.snapshot import RECURSIVE, Composition
from kinode.structure.topology import Topology


class SharedLoadBuilder(ClosedBuilder):
    """Builds the loop code; ``x`` has added efforts, then the changes.

    ``loads`` are the results that are loads of joints, whose values stand in ``work`` from ``loads_at`` on too.
    """

    def __init__(self, topology: Topology, options: DerivativeOptions) -> None:
        super().__init__(topology, Kernel("evaluate", options.of), adds_efforts=True)
        assert options.sharing is not None
        self.sharing, self.names = options.sharing, options.of
        start, count = count_results(topology, options), sum(topology.holding.values())
        self.loads, self.loads_at = range(start, start + count), self.work.allocate(count)
        self._end = self.loads.stop + count_joint_directions(topology)
        self._load_at = dict(zip(topology.holding, self.loads[::6], strict=True))
        sizes = direction_sizes(topology)
        starts = self.loads.stop + np.cumsum(sizes) - sizes
        self._direction_at = dict(zip(topology.system.joints, starts.tolist(), strict=True))

    def _results(self) -> tuple[list[Store], int]:
        """The stores of quantities; before the layout is known some joints are traced, to learn what they load."""
        tape, n = Tape(), self.topology.n_u
        snapshot = self.snapshot(tape, full=False)
        given = np.array([tape.input("x", n + k) for k in range(len(self.loads))], dtype=object)
        changed = GivenChanges(snapshot, self.sharing, given)
        values = [find_shared(snapshot, changed, find_quantity(snapshot.system, name)) for name in self.names]
        if not self.loops.is_laid_out:
            list(self._joint_stores(self._samples))
        return [("out", k, x) for k, x in enumerate(x for value in values for x in flat(value))], self._end

    @property
    def _samples(self) -> list[str]:
        """A joint of each kind in the tree, and of each among those that are cut."""
        system, cuts = self.topology.system, self.topology.cut_names
        return list({(joint.kind, name in cuts): name for name, joint in system.joints.items()}.values())

    def _joint_stores(self, names: Iterable[str]) -> Iterator[list[Store]]:
        """The stores of the loads and directions of each joint."""
        snapshot = self.snapshot(Tape(), full=False)
        for name in names:
            at, directions = self._load_at[name], self._direction_at[name]
            stores: list[Store] = []
            for k, x in enumerate(snapshot.holding(name)):
                stores += [("out", at + k, x), ("work", self.loads_at + at - self.loads.start + k, x)]
            yield stores + [("out", directions + k, x) for k, x in enumerate(joint_directions(snapshot, name))]

    def _forward_loops(self, constants: dict[str, np.ndarray]) -> list[Block]:
        blocks = super()._forward_loops(constants)
        return blocks + [*roll_groups(self._joint_stores(self.topology.system.joints), "joint", constants)]


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


def make_program(
    topology: Topology, kernel: Kernel, formulation: Composition = RECURSIVE, traced: TracedModel | None = None
) -> Program:
    """The program of a kernel: loop code if the system is large and the ``formulation`` is the recursive one.

    ``traced`` is the model, if it was traced for other kernels already.
    """
    if not is_loop_code(topology, kernel) or formulation is not RECURSIVE:
        return kernel_traces.make_program(topology, kernel, formulation, traced)
    from kinode.jit.lean_programs import make_lean
    from kinode.kernels.rolled.closed_builder import ClosedBuilder
    from kinode.kernels.rolled.rolled_builder import RolledBuilder
    from kinode.kernels.rolled.tree_derivatives import DerivativeBuilder

    builder = ClosedBuilder if topology.constrained else RolledBuilder
    if kernel.name == "direction":
        return make_lean(differentiate_along(topology, builder, RATE_BY_STATE, adds_efforts=False))
    if kernel.name == "loop_rates":
        return differentiate_loops(topology, builder, kernel)
    if isinstance(kernel.options, DerivativeOptions):
        match kernel.name:
            case "derivatives_along" | "motion_along":
                along = differentiate_along(topology, builder, kernel.options, adds_efforts=True)
                return make_lean(along)
            case "second_derivatives":
                return differentiate_twice(topology, builder, kernel.options)
            case "shared_along":
                return differentiate_shared(topology, kernel.options)
        return DerivativeBuilder(topology, kernel).program()
    if kernel.name == "holding":
        kernel = Kernel("reactions", ReactionOptions(joints=tuple(topology.holding)))
    return make_lean(builder(topology, kernel).program())


def is_loop_code(topology: Topology, kernel: Kernel) -> bool:
    """Whether a kernel of the recursive formulation is loop code."""
    return is_large(topology) and is_rolled(topology, kernel)
