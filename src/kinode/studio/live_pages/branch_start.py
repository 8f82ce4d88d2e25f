"""A state of a run with some of its values changed: where a branch begins.

Without loops the values are replaced.  With loops they are exact, all others follow: the state nearest to the old one
in which the loops are closed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.dynamics.initialization.initial_values import InitialValues, read_initial_values
from kinode.errors import ArgumentError
from kinode.kernels.state import State
from kinode.model.base.fields import short, unknown
from kinode.structure.state_layout import Coordinate


def change_state(dynamics: Dynamics, state: State, changes: Mapping[str, Any] | None, p: Array, inputs: Array) -> State:
    """The state with other values of some coordinates, speeds or other states, by name.

    Parameters
    ----------
    dynamics : Dynamics
    state : State
    changes : mapping or None
        Names such as "elbow.q" -> values in SI or as text with a unit.
    p, inputs : array
        Parameters and inputs, for which loops are closed.

    Examples
    --------
    >>> from kinode.studio.live_pages.branch_start import change_state
    >>> dynamics = kn.compile(kn.load("examples/double_pendulum.yaml"))
    >>> change_state(dynamics, dynamics.initial, {"elbow.q": "30 deg"}, dynamics.parameters, dynamics.inputs).q.round(3)
    array([1.745, 0.524])
    """
    if changes is not None and not isinstance(changes, Mapping):
        raise ArgumentError(f"state: values by name are expected, such as {{'elbow.q': 0.3}}, not {short(changes)}")
    known = {c.name: c for c in dynamics.coordinates}
    for name in changes or {}:
        if name not in known:
            raise ArgumentError(unknown("the state has no coordinate", name, known))
    values = {name: dynamics.arguments.read_number(name, value) for name, value in (changes or {}).items()}
    if not dynamics.topology.constrained:
        parts = {role: getattr(state, role).copy() for role in "quz"}
        for name, value in values.items():
            parts[known[name].role][known[name].index] = value
        return replace(state, **parts)
    wanted = {**dynamics.values(state), **values}
    requested = read_initial_values(dynamics.arguments, wanted, dynamics.arguments.resolver(p), as_guess=True)
    for name in values:
        requested = _fix(dynamics, requested, known[name])
    return dynamics.solve_start(requested, state.t, p, inputs)


def _fix(dynamics: Dynamics, requested: InitialValues, changed: Coordinate) -> InitialValues:
    """The initial values with one coordinate exact; of an orientation all of it."""
    if changed.role == "z" or changed.joint not in requested.joints:
        return requested
    own = [c.index for c in dynamics.coordinates if c.joint == changed.joint and c.role == changed.role]
    value, place = requested.joints[changed.joint], changed.index - min(own)
    exact = (value.exact_q if changed.role == "q" else value.exact_u).copy()
    first = dynamics.system.joints[changed.joint].quaternion
    exact[slice(first, None) if changed.role == "q" and first is not None and place >= first else place] = True
    fixed = replace(value, exact_q=exact) if changed.role == "q" else replace(value, exact_u=exact)
    return replace(requested, joints={**requested.joints, changed.joint: fixed})
