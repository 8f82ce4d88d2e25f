"""The table of kernels: one row for each compiled model function, with its properties and how it is computed.

``x`` is the argument of a kernel besides the evaluation point: accelerations, added efforts and wrenches, a direction,
flags of the events that occurred, or ranges.  Functions that only new code needs are named as text, and imported when
they are called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache as remember
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.kernels.kernel_options import Kernel, LoadOptions, PictureOptions, ReactionOptions

if TYPE_CHECKING:
    from kinode.structure.topology import Topology

OfOptions = Callable[["Topology", Any], Any] | str
"""A function of topology and options; or as text its module, as in a relative import, and its name."""


class Modes(Enum):
    """How a kernel treats the modes in z, if the system has any."""

    FITTED = "if z is not given, modes are made consistent with the state"
    BY_ACCELERATION = "if z is not given, modes follow from the given accelerations"
    GIVEN = "modes are those in z, and are checked"
    UNUSED = "the result depends on positions alone"


@dataclass(frozen=True)
class KernelRow:
    """One row of the table.

    ``trace`` names the function that computes the result from ``snapshot``, ``tape``, ``x`` and ``options``; by default
    it is that of ``kernel_outputs.py`` with the name of the kernel, and without a dot an attribute of the snapshot.
    ``n_x`` is the number of entries of ``x``, and ``rolled`` whether large systems have loop code.  A function that is
    named as text is given what its parameters ask for, by their names.  ``given`` converts ``x`` to keyword arguments
    of the snapshot.  ``arguments`` are the positional arguments of the ``Dynamics`` method of the same name, which
    becomes a built-in function.
    """

    name: str
    trace: str = ""
    x_name: str = "x"
    n_x: OfOptions = lambda topology, options: 0
    given: Callable[[Topology, Array], Mapping[str, Any]] = lambda topology, x: {}
    modes: Modes = Modes.GIVEN
    rolled: OfOptions = lambda topology, options: False
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


def count_loads(topology: Topology, options: object = ()) -> int:
    """The number of added efforts and of entries of wrenches."""
    return topology.n_u + 6 * len(topology.system.bodies)


def _n_u(topology: Topology, options: object) -> int:
    return topology.n_u


def _n_y(topology: Topology, options: object) -> int:
    return topology.layout.n_y


def _n_holding(topology: Topology, options: object) -> int:
    return sum(topology.holding.values())


def _n_roots(topology: Topology, options: object) -> int:
    return 0 if topology.events is None else len(topology.events.roots)


def _n_clocks(topology: Topology, options: object) -> int:
    return 0 if topology.events is None else len(topology.events.samplers)


def _accelerations(topology: Topology, x: Array) -> Mapping[str, Any]:
    return {"u_dot": x[: topology.n_u]}


def _at_rest(topology: Topology, x: Array) -> Mapping[str, Any]:
    return {"u_dot": np.zeros(topology.n_u), "friction": {}}


def _always(topology: Topology, options: object) -> bool:
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


_FORWARD: dict[str, Any] = {"trace": "u_dot", "modes": Modes.FITTED, "rolled": _always, "lanes": True, "forward": True}
_LOADS: dict[str, Any] = {"n_x": count_loads, "given": added_loads}
_MOTION: dict[str, Any] = {"n_x": _n_u, "x_name": "u_dot", "given": _accelerations, "modes": Modes.BY_ACCELERATION}
_EFFORTS: dict[str, Any] = {"given": added_efforts, "modes": Modes.FITTED, "own_tape": True}
_LOOPS: dict[str, Any] = {"modes": Modes.UNUSED, "rare": True}
_STATE = ("t", "q", "u")
_OUTPUTS, _WORDS = ".derivatives.derivative_outputs.", ".derivatives.derivative_words."
_COLUMNS, _BOUNDS = ".derivatives.column_outputs.", ".bound_outputs."
_CUTS, _EVENTS = "..multibody.dependent_joints.", "..multibody.instant_events."

_ROWS = (
    # motion
    KernelRow("acceleration", arguments=_STATE, **_FORWARD),
    KernelRow("loaded_acceleration", **_FORWARD, **_LOADS),
    KernelRow("rate", rolled=_always, lanes=True, forward=True),
    KernelRow("effort", "inverse_effort", rolled=_always, lanes=True, arguments=(*_STATE, "x"), **_MOTION),
    KernelRow("bias", "inverse_effort", given=_at_rest, rolled=_always, lanes=True, arguments=_STATE),
    KernelRow("mass_matrix", "mass_matrix", modes=Modes.UNUSED, lanes=True, arguments=("t", "q"), square=True),
    KernelRow("energy", rolled=_always, lanes=True, arguments=_STATE),
    KernelRow("power", rolled=_always, lanes=True),
    KernelRow("pose", modes=Modes.UNUSED, rolled=_always),
    # by name
    KernelRow("evaluate", modes=Modes.FITTED, rolled=_always),
    KernelRow("shared_values", _OUTPUTS + "find_named_values", modes=Modes.FITTED),
    KernelRow("law", rolled=_always),
    KernelRow(
        "loaded_values", _OUTPUTS + "find_named_values",
        x_name="effort", n_x=_n_u, given=added_efforts, modes=Modes.FITTED,
    ),
    KernelRow("values_of_motion", _OUTPUTS + "find_named_values", **_MOTION),
    KernelRow("pictures", rolled=_without_shares, lanes=True),
    # reactions
    KernelRow("reactions", modes=Modes.FITTED, rolled=_shares_of_trees),
    KernelRow("reactions_of_motion", ".kernel_outputs.reactions", rolled=_shares_of_trees, **_MOTION),
    KernelRow("contributions", modes=Modes.FITTED, rare=True),  # for all times of a run at once
    KernelRow("element_loads", modes=Modes.FITTED),
    KernelRow("holding", modes=Modes.FITTED, rolled=_by_joints_alone, lanes=True),
    KernelRow("holding_of_motion", ".kernel_outputs.holding", **_MOTION),
    KernelRow("unit_wrench"),
    KernelRow("unit_loads"),
    KernelRow("stress_directions", modes=Modes.UNUSED),
    KernelRow("load_sharing", n_x=_n_holding, modes=Modes.UNUSED, lanes=True),
    # accelerations by cause
    KernelRow("tiers", modes=Modes.FITTED),
    KernelRow("segments", modes=Modes.FITTED),
    # loops
    KernelRow("closure", rolled=_always, **_LOOPS),
    KernelRow(
        "pose_errors", _CUTS + "pose_errors", x_name="cut_q", n_x=_CUTS + "n_cut_coordinates", rolled=_always, **_LOOPS
    ),
    KernelRow("loop_rates", x_name="rates", n_x=_CUTS + "n_loop_rates", rolled=_always, own_tape=True, **_LOOPS),
    KernelRow("advanced_position", _CUTS + "advanced_position", n_x=_CUTS + "n_cut_steps", **_LOOPS),
    KernelRow("projection", rolled=_always),
    KernelRow("completed_step"),
    # derivatives
    KernelRow("jacobian", modes=Modes.UNUSED, rolled=_on_body),
    KernelRow(
        "derivatives", _OUTPUTS + "derivatives", n_x=_n_u, x_name="effort", rolled=_WORDS + "has_recursion", **_EFFORTS
    ),
    KernelRow(
        "derivatives_of_motion", _OUTPUTS + "derivatives", rolled=_WORDS + "has_recursion", own_tape=True, **_MOTION
    ),
    KernelRow(
        "gradient", _OUTPUTS + "gradient", x_name="effort and weights", n_x=_OUTPUTS + "count_weights", **_EFFORTS
    ),
    KernelRow(
        "gradient_of_motion", _OUTPUTS + "gradient", own_tape=True,
        **_MOTION | {"x_name": "u_dot and weights", "n_x": _OUTPUTS + "count_weights"},
    ),
    KernelRow(
        "motion_along", _OUTPUTS + "derivatives_along",
        rolled=_WORDS + "is_inverse_dynamics", own_tape=True, lanes=True,
        **_MOTION | {"x_name": "u_dot and direction", "n_x": _OUTPUTS + "count_along"},
    ),
    KernelRow(
        "shared_along", _OUTPUTS + "shared_along", x_name="effort, changes and direction",
        n_x=_OUTPUTS + "count_shared", rolled=_WORDS + "has_shared_tangents", lanes=True, **_EFFORTS,
    ),
    KernelRow(
        "second_derivatives", _OUTPUTS + "second_derivatives", x_name="effort and directions",
        n_x=_OUTPUTS + "count_factors", rolled=_WORDS + "has_tangents", **_EFFORTS,
    ),
    KernelRow("jacobian_rate", _OUTPUTS + "jacobian_rate", rolled=_on_body, own_tape=True),
    KernelRow(
        "derivatives_along", _OUTPUTS + "derivatives_along",
        n_x=_OUTPUTS + "count_along", rolled=_WORDS + "has_tangents", lanes=True, **_EFFORTS,
    ),
    KernelRow("direction", _OUTPUTS + "rate_along", n_x=_n_y, rolled=_always, lanes=True, forward=True, own_tape=True),
    KernelRow("columns", _COLUMNS + "columns", n_x=_COLUMNS + "count_arguments", own_tape=True),
    KernelRow("switches", _COLUMNS + "switches", own_tape=True),
    # events
    KernelRow("roots", _EVENTS + "roots"),
    KernelRow("loaded_roots", _EVENTS + "roots", **_LOADS),
    KernelRow("glance", _EVENTS + "cheap_event_functions"),
    KernelRow("arguments", _BOUNDS + "arguments", n_x=_n_y, own_tape=True),
    KernelRow("bounds", _BOUNDS + "bounds", n_x=lambda _, options: 2 * options.n_arguments, own_tape=True),
    KernelRow("argument_laws", _BOUNDS + "argument_laws", n_x=lambda _, options: options.n_arguments, own_tape=True),
    KernelRow("start_quantities", ".start_outputs.start_quantities", rare=True),
    KernelRow("settled", _EVENTS + "consistent_discrete_states"),
    KernelRow("jump", _EVENTS + "after_event", n_x=_n_roots),
    KernelRow("sample", _EVENTS + "after_tick", n_x=_n_clocks),
)  # fmt: skip
KERNELS: Mapping[str, KernelRow] = {row.name: row for row in _ROWS}


def find_row(kernel: Kernel) -> KernelRow:
    """The row of the table that describes a kernel."""
    return KERNELS[kernel.name]


@remember
def find_named(name: str) -> tuple[Callable[..., Any], tuple[str, ...]]:
    """The function that a row names as text, and its parameters."""
    from inspect import signature

    module, _, own_name = name.rpartition(".")
    function = getattr(import_module(module, __package__), own_name)
    return function, tuple(signature(function).parameters)


def call_named(name: str, **given: Any) -> Any:
    """Call the function that a row names as text with what its parameters ask for."""
    function, parameters = find_named(name)
    return function(**{parameter: given[parameter] for parameter in parameters})


def _evaluate(function: OfOptions, topology: Topology, options: Any) -> Any:
    if isinstance(function, str):
        return call_named(function, topology=topology, options=options)
    return function(topology, options)


def count_x(topology: Topology, kernel: Kernel) -> int:
    """The number of entries of ``x``."""
    return int(_evaluate(find_row(kernel).n_x, topology, kernel.options))


def is_rolled(topology: Topology, kernel: Kernel) -> bool:
    """Whether a large system has loop code for a kernel."""
    return bool(_evaluate(find_row(kernel).rolled, topology, kernel.options))


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
