"""Loop code for large systems: programs that loop over a table of links instead of straight-line code.

The steps are those of multibody/link_steps.py, traced once for each structure of link.  Expressions and elements
are straight-line code between the loops; they read the loops' results through a snapshot that loads them
(rolled_motion.py).  Systems with couplings of joints, friction, stops, brakes or networks have no loop code: their
programs are straight-line code of any size.
"""

from __future__ import annotations

from kinode.jit.program import Program
from kinode.kernels import kernel_traces
from kinode.kernels.derivatives.derivative_outputs import RATE_BY_STATE
from kinode.kernels.kernel_options import DerivativeOptions, Kernel, ReactionOptions
from kinode.kernels.kernel_table import is_rolled
from kinode.kernels.kernel_traces import TracedModel
from kinode.kernels.tree_size import is_large
from kinode.multibody.snapshot import RECURSIVE, Composition
from kinode.structure.topology import Topology


def make_program(
    topology: Topology, kernel: Kernel, formulation: Composition = RECURSIVE, traced: TracedModel | None = None
) -> Program:
    """The program of a kernel: loop code if the system is large and the ``formulation`` is the recursive one.

    ``traced`` is the model, if it was traced for other kernels already.
    """
    if not is_loop_code(topology, kernel) or formulation is not RECURSIVE:
        return kernel_traces.make_program(topology, kernel, formulation, traced)
    from kinode.jit.lean_programs import make_lean
    from kinode.kernels.rolled import tangent_builder
    from kinode.kernels.rolled.closed_builder import ClosedBuilder
    from kinode.kernels.rolled.rolled_builder import RolledBuilder
    from kinode.kernels.rolled.tree_derivatives import DerivativeBuilder

    builder = ClosedBuilder if topology.constrained else RolledBuilder
    if kernel.name == "direction":
        return make_lean(tangent_builder.differentiate_along(topology, builder, RATE_BY_STATE, adds_efforts=False))
    if kernel.name == "loop_rates":
        return tangent_builder.differentiate_loops(topology, builder, kernel)
    if isinstance(kernel.options, DerivativeOptions):
        match kernel.name:
            case "derivatives_along" | "motion_along":
                along = tangent_builder.differentiate_along(topology, builder, kernel.options, adds_efforts=True)
                return make_lean(along)
            case "second_derivatives":
                return tangent_builder.differentiate_twice(topology, builder, kernel.options)
            case "shared_along":
                return tangent_builder.differentiate_shared(topology, kernel.options)
        return DerivativeBuilder(topology, kernel).program()
    if kernel.name == "holding":
        kernel = Kernel("reactions", ReactionOptions(joints=tuple(topology.holding)))
    return make_lean(builder(topology, kernel).program())


def is_loop_code(topology: Topology, kernel: Kernel) -> bool:
    """Whether a kernel of the recursive formulation is loop code."""
    return is_large(topology) and is_rolled(topology, kernel)
