"""The table of kernels: one row for each compiled model function, with its properties.

``x`` is the argument of a kernel besides the evaluation point: accelerations, added efforts and wrenches, a direction,
flags of the events that occurred, or ranges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from functools import partial
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array, Scalar
from kinode.algebra.trace import Tape
from kinode.kernels import bound_outputs, picture_outputs, start_outputs
from kinode.kernels import kernel_outputs as outputs
from kinode.kernels.derivatives import derivative_outputs, directed_outputs
from kinode.kernels.derivatives.recursion_scope import has_recursion, has_tangents
from kinode.kernels.kernel_options import Kernel, PictureOptions, ReactionOptions, SharingOptions
from kinode.kernels.kernel_outputs import Outputs, flat
from kinode.multibody import instant_events
from kinode.multibody.dependent_joints import advanced_position, n_cut_coordinates, n_cut_freedoms, pose_errors
from kinode.multibody.snapshot import Snapshot
from kinode.records import dataclass
from kinode.structure.topology import Topology


class Modes(Enum):
    """How a kernel treats the modes in z, if the system has any."""

    FITTED = "if z is not given, modes are made consistent with the state"
    BY_ACCELERATION = "if z is not given, modes follow from the given accelerations"
    GIVEN = "modes are those in z, and are checked"
    UNUSED = "the result depends on positions alone"


@dataclass(frozen=True)
class KernelRow:
    """One row of the table.

    ``write`` computes the result from a snapshot and the options; ``trace`` replaces it if the tape or ``x`` is needed
    too.  ``given`` converts ``x`` to keyword arguments of the snapshot.  ``arguments`` are the positional arguments of
    the ``Dynamics`` method of the same name, which becomes a built-in function.
    """

    name: str
    write: Callable[[Snapshot, Any], Outputs] | None = None
    trace: Callable[[Snapshot, Tape, Array, Any], Iterable[Scalar]] | None = None
    n_x: Callable[[Topology], int] = lambda topology: 0
    x_of_options: Callable[[Topology, Any], int] | None = None  # size of x, if it follows from the options
    x_name: str = "x"
    given: Callable[[Topology, Array], Mapping[str, Any]] = lambda topology, x: {}
    modes: Modes = Modes.GIVEN
    rolled: Callable[[Topology, Any], bool] = lambda topology, options: False  # whether large systems have loop code
    lanes: bool = False  # whether batches compute several states at once
    forward: bool = False  # whether it is forward dynamics, so that every freedom needs inertia
    rare: bool = False  # whether it is called a few dozen times only
    own_tape: bool = False  # whether it writes on the tape beside the snapshot: then it shares none with other kernels
    arguments: tuple[str, ...] = ()
    square: bool = False  # whether the result is a matrix n_u x n_u

    def size_of_x(self, topology: Topology, options: Any) -> int:
        """The number of entries of ``x``."""
        return self.n_x(topology) if self.x_of_options is None else self.x_of_options(topology, options)


def added_loads(topology: Topology, x: Array) -> Mapping[str, Any]:
    """The added efforts and wrenches (force, moment for each body) in ``x``."""
    n = topology.n_u
    starts = {body: n + 6 * i for i, body in enumerate(topology.system.bodies)}
    return {"effort": x[:n], "wrenches": {body: (x[i : i + 3], x[i + 3 : i + 6]) for body, i in starts.items()}}


def added_efforts(topology: Topology, x: Array) -> Mapping[str, Any]:
    """The added efforts at the beginning of ``x``."""
    return {"effort": x[: topology.n_u]}


def _n_u(topology: Topology) -> int:
    return topology.n_u


def _n_loads(topology: Topology) -> int:
    return topology.n_u + 6 * len(topology.system.bodies)


def _n_roots(topology: Topology) -> int:
    return 0 if topology.events is None else len(topology.events.roots)


def _n_clocks(topology: Topology) -> int:
    return 0 if topology.events is None else len(topology.events.samplers)


def _accelerations(topology: Topology, x: Array) -> Mapping[str, Any]:
    return {"u_dot": x[: topology.n_u]}


def _at_rest(topology: Topology, x: Array) -> Mapping[str, Any]:
    return {"u_dot": np.zeros(topology.n_u), "friction": {}}


def _pose_errors(snapshot: Snapshot, tape: Tape, x: Array, options: Any) -> Iterable[Scalar]:
    return np.concatenate(pose_errors(snapshot, x))


def _advanced(snapshot: Snapshot, tape: Tape, x: Array, options: Any) -> Iterable[Scalar]:
    n = n_cut_coordinates(snapshot.topology)
    return np.concatenate(advanced_position(snapshot, x[:n], x[n:]))


def _n_cut_step(topology: Topology) -> int:
    return n_cut_coordinates(topology) + topology.n_u + n_cut_freedoms(topology)


def _n_holding(topology: Topology) -> int:
    return sum(topology.holding.values())


def _load_sharing(snapshot: Snapshot, tape: Tape, x: Array, options: SharingOptions) -> Iterable[Scalar]:
    return outputs.load_sharing(snapshot, x, options)


def _always(topology: Topology, options: Any) -> bool:
    return True


def _shares_of_trees(topology: Topology, options: ReactionOptions) -> bool:
    """Static and kinetic shares have loop code in trees."""
    return options.part == "total" or (options.part in ("static", "kinetic") and not topology.constrained)


def _on_body(topology: Topology, options: tuple[str, ...]) -> bool:
    """Frames on bodies have loop code; frames that observe others do not."""
    return topology.system.find_frame(options[0]).body not in topology.system.frames


def _without_shares(topology: Topology, options: PictureOptions) -> bool:
    return options.parts == ("total",)


_LOADS: dict[str, Any] = {"n_x": _n_loads, "given": added_loads}
_MOTION: dict[str, Any] = {"n_x": _n_u, "x_name": "u_dot", "given": _accelerations, "modes": Modes.BY_ACCELERATION}
_STATE = ("t", "q", "u")

_ROWS = (
    # motion
    KernelRow("acceleration", lambda s, _: s.u_dot, modes=Modes.FITTED, rolled=_always, lanes=True, forward=True,
              arguments=_STATE),
    KernelRow("loaded_acceleration", lambda s, _: s.u_dot, modes=Modes.FITTED, rolled=_always, lanes=True, forward=True,
              **_LOADS),
    KernelRow("rate", outputs.rate, rolled=_always, lanes=True, forward=True),
    KernelRow("effort", lambda s, _: s.inverse_effort, rolled=_always, lanes=True, arguments=(*_STATE, "x"), **_MOTION),
    KernelRow("bias", lambda s, _: s.inverse_effort, given=_at_rest, rolled=_always, lanes=True, arguments=_STATE),
    KernelRow("mass_matrix", lambda s, _: s.mass_matrix, modes=Modes.UNUSED, lanes=True, arguments=("t", "q"),
              square=True),
    KernelRow("energy", outputs.energy, rolled=_always, lanes=True, arguments=_STATE),
    KernelRow("power", outputs.power_of_all, rolled=_always, lanes=True),
    KernelRow("pose", outputs.pose, modes=Modes.UNUSED, rolled=_always),
    # by name
    KernelRow("evaluate", outputs.evaluate, modes=Modes.FITTED, rolled=_always),
    KernelRow("law", outputs.law, rolled=_always),
    KernelRow("pictures", picture_outputs.pictures, rolled=_without_shares, lanes=True),
    # reactions
    KernelRow("reactions", outputs.reactions, modes=Modes.FITTED, rolled=_shares_of_trees),
    KernelRow("reactions_of_motion", outputs.reactions, rolled=_shares_of_trees, **_MOTION),
    KernelRow("contributions", outputs.contributions, modes=Modes.FITTED),
    KernelRow("element_loads", outputs.element_loads, modes=Modes.FITTED),
    KernelRow("holding", outputs.holding, modes=Modes.FITTED, lanes=True),
    KernelRow("holding_of_motion", outputs.holding, **_MOTION),
    KernelRow("unit_wrench", outputs.unit_wrench),
    KernelRow("unit_loads", lambda s, _: s.constraints.unit_loads()),
    KernelRow("stress_directions", outputs.stress_directions, modes=Modes.UNUSED),
    KernelRow("load_sharing", trace=_load_sharing, n_x=_n_holding, modes=Modes.UNUSED, lanes=True),
    # accelerations by cause
    KernelRow("tiers", outputs.tiers, modes=Modes.FITTED),
    KernelRow("segments", outputs.segments, modes=Modes.FITTED),
    # loops
    KernelRow("closure", outputs.closure, modes=Modes.UNUSED, rolled=_always, rare=True),
    KernelRow("pose_errors", trace=_pose_errors, n_x=n_cut_coordinates, x_name="cut_q", modes=Modes.UNUSED,
              rolled=_always, rare=True),
    KernelRow("advanced_position", trace=_advanced, n_x=_n_cut_step, modes=Modes.UNUSED, rare=True),
    KernelRow("projection", outputs.projection, rolled=_always),
    # derivatives
    KernelRow("jacobian", outputs.jacobian, modes=Modes.UNUSED, rolled=_on_body),
    KernelRow("derivatives", trace=derivative_outputs.derivatives, n_x=_n_u, x_name="effort", given=added_efforts,
              modes=Modes.FITTED, rolled=partial(has_recursion, "u_dot"), own_tape=True),
    KernelRow("derivatives_of_motion", trace=derivative_outputs.derivatives, rolled=partial(has_recursion, "effort"),
              own_tape=True, **_MOTION),
    KernelRow("gradient", trace=directed_outputs.gradient, x_of_options=directed_outputs.count_weights,
              given=added_efforts, modes=Modes.FITTED, own_tape=True),
    KernelRow("gradient_of_motion", trace=directed_outputs.gradient, x_of_options=directed_outputs.count_weights,
              given=_accelerations, modes=Modes.BY_ACCELERATION, own_tape=True),
    KernelRow("second_derivatives", trace=directed_outputs.second_derivatives,
              x_of_options=directed_outputs.count_factors, given=added_efforts, modes=Modes.FITTED, own_tape=True),
    KernelRow("jacobian_rate", directed_outputs.jacobian_rate, own_tape=True),
    KernelRow("derivatives_along", trace=directed_outputs.derivatives_along, x_of_options=directed_outputs.count_along,
              given=added_efforts, modes=Modes.FITTED, rolled=has_tangents, lanes=True, own_tape=True),
    KernelRow("direction", trace=directed_outputs.rate_along, n_x=lambda t: t.layout.n_y, rolled=_always, lanes=True,
              forward=True, own_tape=True),
    # events
    KernelRow("roots", lambda s, _: instant_events.roots(s)),
    KernelRow("loaded_roots", lambda s, _: instant_events.roots(s), **_LOADS),
    KernelRow("glance", lambda s, _: instant_events.cheap_event_functions(s)),
    KernelRow("arguments", trace=bound_outputs.arguments, n_x=lambda t: t.layout.n_y, own_tape=True),
    KernelRow("bounds", trace=bound_outputs.bounds, x_of_options=lambda _, options: 2 * options.n_arguments,
              own_tape=True),
    KernelRow("argument_laws", trace=bound_outputs.argument_laws, x_of_options=lambda _, options: options.n_arguments,
              own_tape=True),
    KernelRow("start_quantities", lambda s, _: start_outputs.start_quantities(s), rare=True),
    KernelRow("settled", lambda s, _: instant_events.consistent_discrete_states(s)),
    KernelRow("jump", trace=lambda s, tape, x, _: instant_events.after_event(s, x), n_x=_n_roots),
    KernelRow("sample", trace=lambda s, tape, x, _: instant_events.after_tick(s, x), n_x=_n_clocks),
)  # fmt: skip
KERNELS: Mapping[str, KernelRow] = {row.name: row for row in _ROWS}


def find_row(kernel: Kernel) -> KernelRow:
    """The row of the table that describes a kernel."""
    return KERNELS[kernel.name]


def sizes(topology: Topology, kernel: Kernel) -> dict[str, int]:
    """The number of entries of each argument that a kernel reads."""
    return {
        "t": 1,
        "q": topology.n_q,
        "u": topology.n_u,
        "z": topology.n_z,
        "p": len(topology.parameters),
        "inputs": len(topology.inputs),
        "x": find_row(kernel).size_of_x(topology, kernel.options),
    }


def outputs_of(kernel: Kernel, snapshot: Snapshot) -> list[Scalar]:
    """The result of a kernel that needs nothing but a snapshot, as a flat list."""
    write = find_row(kernel).write
    assert write is not None, f"{kernel.name} needs more than a snapshot"
    return flat(write(snapshot, kernel.options))
