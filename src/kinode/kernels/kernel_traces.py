"""How each kernel of ``kernel_table.py`` is computed, from a snapshot or on its tape; its straight-line program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from importlib import import_module
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array, Scalar
from kinode.algebra.trace import Tape, Traced, needed
from kinode.jit.program import Block, Program
from kinode.kernels import kernel_outputs as outputs
from kinode.kernels.kernel_options import (
    ColumnOptions,
    Kernel,
    LoadOptions,
    PictureOptions,
    ReactionOptions,
    SharingOptions,
)
from kinode.kernels.kernel_outputs import Outputs, flat
from kinode.kernels.kernel_table import find_row
from kinode.multibody import instant_events
from kinode.multibody.dependent_joints import advanced_position, n_cut_coordinates, n_cut_freedoms, pose_errors
from kinode.multibody.given import Given
from kinode.multibody.snapshot import RECURSIVE, Composition, Snapshot
from kinode.structure.topology import Topology


class _LaterModule:
    """The functions of a module of this package that is imported when one is called: most processes call none."""

    def __init__(self, name: str) -> None:
        self._name = f"kinode.kernels.{name}"

    def __getattr__(self, function: str) -> Any:
        return lambda *arguments: getattr(import_module(self._name), function)(*arguments)


bound_outputs = _LaterModule("bound_outputs")
picture_outputs = _LaterModule("kernel_outputs")
start_outputs = _LaterModule("start_outputs")
column_outputs = _LaterModule("derivatives.column_outputs")
derivative_outputs = _LaterModule("derivatives.derivative_outputs")
directed_outputs = _LaterModule("derivatives.derivative_outputs")
find_named_values = _LaterModule("derivatives.derivative_outputs").find_named_values
has_recursion = _LaterModule("derivatives.derivative_words").has_recursion
has_shared_tangents = _LaterModule("derivatives.derivative_words").has_shared_tangents
has_tangents = _LaterModule("derivatives.derivative_words").has_tangents
is_inverse_dynamics = _LaterModule("derivatives.derivative_words").is_inverse_dynamics


@dataclass(frozen=True)
class KernelTrace:
    """The computation of one kernel.

    ``write`` computes the result from a snapshot and the options; ``trace`` replaces it if the tape or ``x`` is needed
    too.
    """

    write: Callable[[Snapshot, Any], Outputs] | None = None
    trace: Callable[[Snapshot, Tape, Array, Any], Iterable[Scalar]] | None = None
    n_x: Callable[[Topology, Any], int] | None = None  # size of x, if it follows from the options or from cut joints
    rolled: Callable[[Topology, Any], bool] = lambda topology, options: False  # whether large systems have loop code


def _pose_errors(snapshot: Snapshot, tape: Tape, x: Array, options: Any) -> Iterable[Scalar]:
    return np.concatenate(pose_errors(snapshot, x))


def _loop_rates(snapshot: Snapshot, tape: Tape, x: Array, options: tuple[str, ...]) -> Iterable[Scalar]:
    """The rates of the pose errors and, if the options name them, of the closure, along those of all coordinates."""
    from kinode.kernels.derivatives.tape_sweeps import NO_VALUES, sweep_forward

    n = n_cut_coordinates(snapshot.topology)
    values = [value for part in pose_errors(snapshot, x[:n]) for value in part]
    values += outputs.closure(snapshot, ()) if options else ()
    moving = [*tape.inputs("q", snapshot.topology.n_q), *x[:n]]
    seeds = {node.index: rate for node, rate in zip(moving, x[n:], strict=True)}
    rates = sweep_forward(needed(values), seeds, NO_VALUES)
    return [rates.get(value.index, 0.0) if type(value) is Traced else 0.0 for value in values]


def _n_loop_rates(topology: Topology, options: Any) -> int:
    return 2 * n_cut_coordinates(topology) + topology.n_q


def _advanced(snapshot: Snapshot, tape: Tape, x: Array, options: Any) -> Iterable[Scalar]:
    n = n_cut_coordinates(snapshot.topology)
    return np.concatenate(advanced_position(snapshot, x[:n], x[n:]))


def _n_cut_step(topology: Topology, options: Any) -> int:
    return n_cut_coordinates(topology) + topology.n_u + n_cut_freedoms(topology)


def _load_sharing(snapshot: Snapshot, tape: Tape, x: Array, options: SharingOptions) -> Iterable[Scalar]:
    return outputs.load_sharing(snapshot, x, options)


def _columns(snapshot: Snapshot, tape: Tape, x: Array, options: ColumnOptions) -> Iterable[Scalar]:
    own, n = find_trace(options.of), count_x(snapshot.topology, options.of)

    def results(at: Snapshot) -> list[Scalar]:
        return flat(
            outputs_of(options.of, at) if own.trace is None else list(own.trace(at, tape, x[:n], options.of.options))
        )

    columns: Iterable[Scalar] = column_outputs.with_columns(snapshot, tape, x[n:], options, results)
    return columns


def _n_column_arguments(topology: Topology, options: ColumnOptions) -> int:
    return count_x(topology, options.of) + int(column_outputs.count_rates(topology, options))


def _always(topology: Topology, options: Any) -> bool:
    return True


def _shares_of_trees(topology: Topology, options: ReactionOptions) -> bool:
    """Static and kinetic shares have loop code in trees."""
    return options.part == "total" or (options.part in ("static", "kinetic") and not topology.constrained)


def _by_joints_alone(topology: Topology, options: LoadOptions) -> bool:
    """Where joints alone transmit loads, the loads are reactions."""
    return options == LoadOptions() and set(topology.holding) == set(topology.system.joints)


def _on_body(topology: Topology, options: tuple[str, ...]) -> bool:
    """Frames on bodies have loop code; frames that observe others do not."""
    return topology.system.find_frame(options[0]).body not in topology.system.frames


def _without_shares(topology: Topology, options: PictureOptions) -> bool:
    return options.parts == ("total",)


TRACES: Mapping[str, KernelTrace] = {
    # motion
    "acceleration": KernelTrace(lambda s, _: s.u_dot, rolled=_always),
    "loaded_acceleration": KernelTrace(lambda s, _: s.u_dot, rolled=_always),
    "rate": KernelTrace(outputs.rate, rolled=_always),
    "effort": KernelTrace(lambda s, _: s.inverse_effort, rolled=_always),
    "bias": KernelTrace(lambda s, _: s.inverse_effort, rolled=_always),
    "mass_matrix": KernelTrace(lambda s, _: s.mass_matrix),
    "energy": KernelTrace(outputs.energy, rolled=_always),
    "power": KernelTrace(outputs.power_of_all, rolled=_always),
    "pose": KernelTrace(outputs.pose, rolled=_always),
    # by name
    "evaluate": KernelTrace(outputs.evaluate, rolled=_always),
    "shared_values": KernelTrace(find_named_values),
    "law": KernelTrace(outputs.law, rolled=_always),
    "loaded_values": KernelTrace(find_named_values),
    "values_of_motion": KernelTrace(find_named_values),
    "pictures": KernelTrace(picture_outputs.pictures, rolled=_without_shares),
    # reactions
    "reactions": KernelTrace(outputs.reactions, rolled=_shares_of_trees),
    "reactions_of_motion": KernelTrace(outputs.reactions, rolled=_shares_of_trees),
    "contributions": KernelTrace(outputs.contributions),
    "element_loads": KernelTrace(outputs.element_loads),
    "holding": KernelTrace(outputs.holding, rolled=_by_joints_alone),
    "holding_of_motion": KernelTrace(outputs.holding),
    "unit_wrench": KernelTrace(outputs.unit_wrench),
    "unit_loads": KernelTrace(lambda s, _: s.constraints.unit_loads()),
    "stress_directions": KernelTrace(outputs.stress_directions),
    "load_sharing": KernelTrace(trace=_load_sharing),
    # accelerations by cause
    "tiers": KernelTrace(outputs.tiers),
    "segments": KernelTrace(outputs.segments),
    # loops
    "closure": KernelTrace(outputs.closure, rolled=_always),
    "pose_errors": KernelTrace(trace=_pose_errors, n_x=lambda topology, _: n_cut_coordinates(topology), rolled=_always),
    "loop_rates": KernelTrace(trace=_loop_rates, n_x=_n_loop_rates, rolled=_always),
    "advanced_position": KernelTrace(trace=_advanced, n_x=_n_cut_step),
    "projection": KernelTrace(outputs.projection, rolled=_always),
    "completed_step": KernelTrace(outputs.completed_step),
    # derivatives
    "jacobian": KernelTrace(outputs.jacobian, rolled=_on_body),
    "derivatives": KernelTrace(trace=derivative_outputs.derivatives, rolled=partial(has_recursion, "u_dot")),
    "derivatives_of_motion": KernelTrace(trace=derivative_outputs.derivatives, rolled=partial(has_recursion, "effort")),
    "gradient": KernelTrace(trace=directed_outputs.gradient, n_x=directed_outputs.count_weights),
    "gradient_of_motion": KernelTrace(trace=directed_outputs.gradient, n_x=directed_outputs.count_weights),
    "motion_along": KernelTrace(
        trace=directed_outputs.derivatives_along, n_x=directed_outputs.count_along, rolled=is_inverse_dynamics
    ),
    "shared_along": KernelTrace(
        trace=directed_outputs.shared_along, n_x=directed_outputs.count_shared, rolled=has_shared_tangents
    ),
    "second_derivatives": KernelTrace(
        trace=directed_outputs.second_derivatives, n_x=directed_outputs.count_factors, rolled=has_tangents
    ),
    "jacobian_rate": KernelTrace(directed_outputs.jacobian_rate, rolled=_on_body),
    "derivatives_along": KernelTrace(
        trace=directed_outputs.derivatives_along, n_x=directed_outputs.count_along, rolled=has_tangents
    ),
    "direction": KernelTrace(trace=directed_outputs.rate_along, rolled=_always),
    "columns": KernelTrace(trace=_columns, n_x=_n_column_arguments),
    "switches": KernelTrace(trace=lambda s, tape, x, _: column_outputs.switches(s, outputs.rate(s))),
    # events
    "roots": KernelTrace(lambda s, _: instant_events.roots(s)),
    "loaded_roots": KernelTrace(lambda s, _: instant_events.roots(s)),
    "glance": KernelTrace(lambda s, _: instant_events.cheap_event_functions(s)),
    "arguments": KernelTrace(trace=bound_outputs.arguments),
    "bounds": KernelTrace(trace=bound_outputs.bounds, n_x=lambda _, options: 2 * options.n_arguments),
    "argument_laws": KernelTrace(trace=bound_outputs.argument_laws, n_x=lambda _, options: options.n_arguments),
    "start_quantities": KernelTrace(lambda s, _: start_outputs.start_quantities(s)),
    "settled": KernelTrace(lambda s, _: instant_events.consistent_discrete_states(s)),
    "jump": KernelTrace(trace=lambda s, tape, x, _: instant_events.after_event(s, x)),
    "sample": KernelTrace(trace=lambda s, tape, x, _: instant_events.after_tick(s, x)),
}


def find_trace(kernel: Kernel) -> KernelTrace:
    """The computation of a kernel."""
    return TRACES[kernel.name]


def count_x(topology: Topology, kernel: Kernel) -> int:
    """The number of entries of ``x``."""
    n_x = find_trace(kernel).n_x
    return find_row(kernel).n_x(topology) if n_x is None else n_x(topology, kernel.options)


def sizes(topology: Topology, kernel: Kernel) -> dict[str, int]:
    """The number of entries of each argument that a kernel reads."""
    return {
        "t": 1,
        "q": topology.n_q,
        "u": topology.n_u,
        "z": topology.n_z,
        "p": len(topology.parameters),
        "inputs": len(topology.inputs),
        "x": count_x(topology, kernel),
    }


def outputs_of(kernel: Kernel, snapshot: Snapshot) -> list[Scalar]:
    """The result of a kernel that needs nothing but a snapshot, as a flat list."""
    write = find_trace(kernel).write
    assert write is not None, f"{kernel.name} needs more than a snapshot"
    return flat(write(snapshot, kernel.options))


class TracedModel:
    """A model that is traced once; each kernel takes from it what it needs.

    Numbers of a kernel do not depend on the kernels that were traced before it (``jit/program_walk.py``).
    """

    def __init__(self, topology: Topology, formulation: Composition = RECURSIVE) -> None:
        self.topology, self.formulation = topology, formulation
        self.tape = Tape()

    @cached_property
    def snapshot(self) -> Snapshot:
        """The instant with nothing given besides the state."""
        return Snapshot(self.topology, self.topology.layout.traced_point(self.tape), formulation=self.formulation)

    def trace(self, kernel: Kernel) -> list[Scalar]:
        """The result of a kernel as nodes of a tape."""
        row = find_row(kernel)
        if row.own_tape and self.tape.nodes:
            return trace(self.topology, kernel, self.formulation)
        x = self.tape.inputs("x", count_x(self.topology, kernel))
        given = row.given(self.topology, x)
        snapshot = self.snapshot.again(Given(**given)) if given else self.snapshot
        own = find_trace(kernel).trace
        if own is not None:
            return flat(list(own(snapshot, self.tape, x, kernel.options)))
        return outputs_of(kernel, snapshot)


def make_program(
    topology: Topology, kernel: Kernel, formulation: Composition = RECURSIVE, traced: TracedModel | None = None
) -> Program:
    """The straight-line program of a kernel in a formulation; ``traced`` is the model, if it was traced already."""
    results = (traced or TracedModel(topology, formulation)).trace(kernel)
    stores = [("out", i, x) for i, x in enumerate(results)]
    counts = {**sizes(topology, kernel), "out": len(results)}
    return Program("kernel", counts, {}, [Block(1, {}, [stores])], find_row(kernel).rare)


def trace(topology: Topology, kernel: Kernel, formulation: Composition = RECURSIVE) -> list[Scalar]:
    """The result of a kernel as nodes of a tape of its own."""
    return TracedModel(topology, formulation).trace(kernel)
