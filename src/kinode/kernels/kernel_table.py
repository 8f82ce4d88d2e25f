"""The table of kernels: one row for each compiled model function, with its properties.

``x`` is the argument of a kernel besides the evaluation point: accelerations, added efforts and wrenches, a direction,
flags of the events that occurred, or ranges.  How each is computed says ``kernel_traces.py``, which is imported for new
code only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array

if TYPE_CHECKING:
    from kinode.kernels.kernel_options import Kernel
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

    ``n_x`` is the number of entries of ``x``, where it does not follow from options or cut joints.  ``given`` converts
    ``x`` to keyword arguments of the snapshot.  ``arguments`` are the positional arguments of the ``Dynamics`` method
    of the same name, which becomes a built-in function.
    """

    name: str
    x_name: str = "x"
    n_x: Callable[[Topology], int] = lambda topology: 0
    given: Callable[[Topology, Array], Mapping[str, Any]] = lambda topology, x: {}
    modes: Modes = Modes.GIVEN
    lanes: bool = False  # whether batches compute several states at once
    forward: bool = False  # whether it is forward dynamics, so that every freedom needs inertia
    rare: bool = False  # whether it is called a few dozen times only
    own_tape: bool = False  # whether it writes on the tape beside the snapshot: then it shares none with other kernels
    arguments: tuple[str, ...] = ()
    square: bool = False  # whether the result is a matrix n_u x n_u


def added_loads(topology: Topology, x: Array) -> Mapping[str, Any]:
    """The added efforts and wrenches (force, moment for each body) in ``x``."""
    n = topology.n_u
    starts = {body: n + 6 * i for i, body in enumerate(topology.system.bodies)}
    return {"effort": x[:n], "wrenches": {body: (x[i : i + 3], x[i + 3 : i + 6]) for body, i in starts.items()}}


def added_efforts(topology: Topology, x: Array) -> Mapping[str, Any]:
    """The added efforts at the beginning of ``x``."""
    return {"effort": x[: topology.n_u]}


def count_loads(topology: Topology) -> int:
    """The number of added efforts and of entries of wrenches."""
    return topology.n_u + 6 * len(topology.system.bodies)


def _n_u(topology: Topology) -> int:
    return topology.n_u


def _n_y(topology: Topology) -> int:
    return topology.layout.n_y


def _n_holding(topology: Topology) -> int:
    return sum(topology.holding.values())


def _n_roots(topology: Topology) -> int:
    return 0 if topology.events is None else len(topology.events.roots)


def _n_clocks(topology: Topology) -> int:
    return 0 if topology.events is None else len(topology.events.samplers)


def _accelerations(topology: Topology, x: Array) -> Mapping[str, Any]:
    return {"u_dot": x[: topology.n_u]}


def _at_rest(topology: Topology, x: Array) -> Mapping[str, Any]:
    return {"u_dot": np.zeros(topology.n_u), "friction": {}}


_LOADS: dict[str, Any] = {"n_x": count_loads, "given": added_loads}
_MOTION: dict[str, Any] = {"n_x": _n_u, "x_name": "u_dot", "given": _accelerations, "modes": Modes.BY_ACCELERATION}
_EFFORTS: dict[str, Any] = {"given": added_efforts, "modes": Modes.FITTED, "own_tape": True}
_STATE = ("t", "q", "u")

_ROWS = (
    # motion
    KernelRow("acceleration", modes=Modes.FITTED, lanes=True, forward=True, arguments=_STATE),
    KernelRow("loaded_acceleration", modes=Modes.FITTED, lanes=True, forward=True, **_LOADS),
    KernelRow("rate", lanes=True, forward=True),
    KernelRow("effort", lanes=True, arguments=(*_STATE, "x"), **_MOTION),
    KernelRow("bias", given=_at_rest, lanes=True, arguments=_STATE),
    KernelRow("mass_matrix", modes=Modes.UNUSED, lanes=True, arguments=("t", "q"), square=True),
    KernelRow("energy", lanes=True, arguments=_STATE),
    KernelRow("power", lanes=True),
    KernelRow("pose", modes=Modes.UNUSED),
    # by name
    KernelRow("evaluate", modes=Modes.FITTED),
    KernelRow("shared_values", modes=Modes.FITTED),
    KernelRow("law"),
    KernelRow("loaded_values", n_x=_n_u, x_name="effort", given=added_efforts, modes=Modes.FITTED),
    KernelRow("values_of_motion", **_MOTION),
    KernelRow("pictures", lanes=True),
    # reactions
    KernelRow("reactions", modes=Modes.FITTED),
    KernelRow("reactions_of_motion", **_MOTION),
    KernelRow("contributions", modes=Modes.FITTED, rare=True),  # for all times of a run at once
    KernelRow("element_loads", modes=Modes.FITTED),
    KernelRow("holding", modes=Modes.FITTED, lanes=True),
    KernelRow("holding_of_motion", **_MOTION),
    KernelRow("unit_wrench"),
    KernelRow("unit_loads"),
    KernelRow("stress_directions", modes=Modes.UNUSED),
    KernelRow("load_sharing", n_x=_n_holding, modes=Modes.UNUSED, lanes=True),
    # accelerations by cause
    KernelRow("tiers", modes=Modes.FITTED),
    KernelRow("segments", modes=Modes.FITTED),
    # loops
    KernelRow("closure", modes=Modes.UNUSED, rare=True),
    KernelRow("pose_errors", x_name="cut_q", modes=Modes.UNUSED, rare=True),
    KernelRow("loop_rates", x_name="rates", modes=Modes.UNUSED, rare=True, own_tape=True),
    KernelRow("advanced_position", modes=Modes.UNUSED, rare=True),
    KernelRow("projection"),
    KernelRow("completed_step"),
    # derivatives
    KernelRow("jacobian", modes=Modes.UNUSED),
    KernelRow("derivatives", n_x=_n_u, x_name="effort", **_EFFORTS),
    KernelRow("derivatives_of_motion", own_tape=True, **_MOTION),
    KernelRow("gradient", x_name="effort and weights", **_EFFORTS),
    KernelRow(
        "gradient_of_motion",
        x_name="u_dot and weights",
        given=_accelerations,
        modes=Modes.BY_ACCELERATION,
        own_tape=True,
    ),
    KernelRow(
        "motion_along",
        x_name="u_dot and direction",
        given=_accelerations,
        modes=Modes.BY_ACCELERATION,
        own_tape=True,
        lanes=True,
    ),
    KernelRow("shared_along", x_name="effort, changes and direction", lanes=True, **_EFFORTS),
    KernelRow("second_derivatives", x_name="effort and directions", **_EFFORTS),
    KernelRow("jacobian_rate", own_tape=True),
    KernelRow("derivatives_along", lanes=True, **_EFFORTS),
    KernelRow("direction", n_x=_n_y, lanes=True, forward=True, own_tape=True),
    KernelRow("columns", own_tape=True),
    KernelRow("switches", own_tape=True),
    # events
    KernelRow("roots"),
    KernelRow("loaded_roots", **_LOADS),
    KernelRow("glance"),
    KernelRow("arguments", n_x=_n_y, own_tape=True),
    KernelRow("bounds", own_tape=True),
    KernelRow("argument_laws", own_tape=True),
    KernelRow("start_quantities", rare=True),
    KernelRow("settled"),
    KernelRow("jump", n_x=_n_roots),
    KernelRow("sample", n_x=_n_clocks),
)
KERNELS: Mapping[str, KernelRow] = {row.name: row for row in _ROWS}


def find_row(kernel: Kernel) -> KernelRow:
    """The row of the table that describes a kernel."""
    return KERNELS[kernel.name]
