"""``kn.assemble``: a state with closed loops from rough values, and how far each joint had to move.

The solver is the one that computes the initial state of every simulation (dynamics/starts/assembler.py).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.dynamics.starts.assembler import Assembler
from kinode.dynamics.starts.assembly import Assembly, find_closure_errors
from kinode.dynamics.starts.initial_values import InitialValues, read_initial_values
from kinode.errors import ArgumentError, Gap
from kinode.kernels.state import State
from kinode.model.base.fields import short, unknown
from kinode.model.joints.joint import coordinate_names
from kinode.model.system import System
from kinode.simulation.run_arguments import find_model, read_row, read_seconds


def assemble(
    model: System | Dynamics | str | os.PathLike[str], start: Any = None, *,
    hold: str | Iterable[str] = (), weights: Mapping[str, float] | None = None,
    parameters: Any = None, inputs: Any = None, t0: Any = None,
) -> Assembly:  # fmt: skip
    """Find the state nearest to a rough one in which all loops are closed (T-4.10).

    Parameters
    ----------
    model : System, Dynamics, str or path
        The system, a compiled one, or the name of a file.
    start : mapping, State, Assembly or Equilibrium, optional
        Rough values by name, which replace the model's own.  They need not be consistent, unlike those of
        ``kn.simulate``.
    hold : joint or sequence of joints, default ()
        Joints that keep their values exactly.
    weights : mapping, optional
        Weight of a joint in the distance that is minimized; 1 for a joint with a rough value or a guess.  A joint with
        neither has almost no weight.
    parameters, inputs : mapping, optional
        Values by name, in SI units or as text with a unit; nothing is compiled anew for them.
    t0 : float or text, default 0
        Time in s at which expressions are evaluated.

    Returns
    -------
    Assembly
        It prints as a table, and can be the ``start`` of a simulation.

    Raises
    ------
    AssemblyError
        The loops cannot be closed; ``residuals`` says by how much each joint or constraint is off.

    Examples
    --------
    >>> closed = kn.assemble("examples/four_bar.yaml", {"left.q": 0.6}, hold="left")
    >>> round(closed.values["left.q"], 9)
    0.6
    """
    model = find_model(model)
    dynamics = model if isinstance(model, Dynamics) else Dynamics(model)
    p, given = read_row(dynamics, "p", parameters), read_row(dynamics, "inputs", inputs)
    start = start.state if isinstance(getattr(start, "state", None), State) else start
    if isinstance(start, State):
        t0, start = start.t if t0 is None else t0, dynamics.values(start)
    if start is not None and not isinstance(start, Mapping):
        message = f"start: values by name, such as {{'elbow.q': 0.3}}, or a State are expected, not {short(start)}"
        raise ArgumentError(message)
    t = 0.0 if t0 is None else read_seconds(dynamics, "t0", t0)
    initial = read_initial_values(dynamics.arguments, start or {}, dynamics.arguments.resolver(p), as_guess=True)
    fixed = tuple(_joint(initial, "hold", name) for name in ([hold] if isinstance(hold, str) else hold))
    joints = {n: replace(w, exact_q=np.full_like(w.exact_q, True)) for n, w in initial.joints.items() if n in fixed}
    joints = {n: replace(w, exact_u=w.exact_u | w.has_u) for n, w in joints.items()}
    initial = replace(initial, joints={**initial.joints, **joints}, weights=_weights(initial, weights))
    assembler = dynamics.start.assembler(initial, t, p, given)
    if not (start or hold or weights):  # the model's own start, which is found once
        return _assembly(dynamics, assembler, dynamics.state(t=t, p=p, inputs=given))
    return _assembly(dynamics, assembler, dynamics.solve_start(initial, t, p, given))


def _assembly(dynamics: Dynamics, assembler: Assembler, state: State) -> Assembly:
    """The assembled state with its values by name, closure errors and distances from the requested values."""
    values: dict[str, float] = {}
    snapshot = dynamics.snapshot(state, assembler.problem.point.p, assembler.problem.point.inputs)
    for name, joint in dynamics.system.joints.items():
        if joint.n_u:
            coordinates = (coordinate_names(joint)[0], tuple(word for word, _ in joint.coordinates))
            for role, names, numbers in zip("qu", coordinates, snapshot.joint_state(name)[:2], strict=False):
                keys = [f"{name}.{role}"] if len(names) == 1 else [f"{name}.{role}.{word}" for word in names]
                values.update(zip(keys, map(float, numbers), strict=True))
    problem = assembler.problem
    x = problem.position_of(state.q)
    offsets = problem.offsets(x)[0] * problem.units
    kinds = [kind for name in problem.names for _, kind in dynamics.system.joints[name].coordinates]
    distances = {name: _distance(offsets, problem.owners, kinds, name) for name in problem.names}
    closure_errors = find_closure_errors(problem, x, least=0.0)
    fixed = tuple(name for name in problem.names if problem.requested.joints[name].exact_q.all())
    return Assembly(dynamics.system.name, state, values, closure_errors, distances, fixed)


def _distance(offsets: Array, owners: list[str], kinds: list[str], name: str) -> Gap:
    """Distance of one joint from its requested values, in m and rad."""
    freedoms = list(zip(owners, kinds, offsets, strict=True))
    sizes = [
        float(np.linalg.norm([offset for owner, unit, offset in freedoms if (owner, unit) == (name, kind)]))
        for kind in ("length", "angle")
    ]
    return Gap(*sizes)


def _joint(initial: InitialValues, argument: str, name: Any) -> str:
    """The name of a joint that assembly can move."""
    text = str(getattr(name, "name", name))
    if text not in initial.joints:
        raise ArgumentError(unknown(f"{argument}: no joint that assembly can move is called", text, initial.joints))
    return text


def _weights(initial: InitialValues, weights: Any) -> dict[str, float]:
    """The argument ``weights`` by the names of joints."""
    if weights is not None and not isinstance(weights, Mapping):
        raise ArgumentError(f"weights: {{joint: weight}} is expected, not {short(weights)}")
    by_joint = {}
    for name, value in (weights or {}).items():
        name = _joint(initial, "weights", name)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not (is_number and np.isfinite(value) and value > 0):
            raise ArgumentError(f"weights: {name} takes a positive number, not {short(value)}")
        by_joint[name] = float(value)
    return by_joint
