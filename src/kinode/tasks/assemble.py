"""``kn.assemble``: a closed state from a rough one, and how far it had to go for that.

The search itself is the one that finds the start of every simulation (dynamics/initialization/assembler.py).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.dynamics.initialization.assembler import Assembler
from kinode.dynamics.initialization.assembly import Assembly
from kinode.dynamics.initialization.assembly_errors import find_gaps
from kinode.dynamics.initialization.initial_values import InitialValues, read_initial_values
from kinode.errors import ArgumentError, Gap
from kinode.kernels.state import State
from kinode.model.base.fields import short, unknown
from kinode.model.quantity_names import coordinate_names
from kinode.model.system import System
from kinode.simulation.task_arguments import find_model, read_row, read_seconds


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
    start : mapping, State or Assembly, optional
        Rough values by name.  They need not fit together, unlike those of ``kn.simulate``, and replace the model's own.
    hold : joint or sequence of joints, default ()
        Joints that keep their values exactly.
    weights : mapping, optional
        How much a joint counts where not all can stay; 1 is that of a joint with a rough value or a guess.  A joint
        with neither gives way to those with one.
    parameters, inputs : mapping, optional
        Values by name, in SI units or as text with a unit; nothing is compiled anew for them.
    t0 : float or text, default 0
        Time in s at which laws are taken.

    Returns
    -------
    Assembly
        Printed, a table; it can be the ``start`` of a simulation.

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
    start = start.state if isinstance(start, Assembly) else start
    if isinstance(start, State):
        t0, start = start.t if t0 is None else t0, dynamics.values(start)
    if start is not None and not isinstance(start, Mapping):
        message = f"start: values by name, such as {{'elbow.q': 0.3}}, or a State are expected, not {short(start)}"
        raise ArgumentError(message)
    t = 0.0 if t0 is None else read_seconds(dynamics, "t0", t0)
    wishes = read_initial_values(dynamics.arguments, start or {}, dynamics.arguments.resolver(p), rough=True)
    held = tuple(_joint(wishes, "hold", name) for name in ([hold] if isinstance(hold, str) else hold))
    joints = {n: replace(w, exact_q=np.full_like(w.exact_q, True)) for n, w in wishes.joints.items() if n in held}
    joints = {n: replace(w, exact_u=w.exact_u | w.said_u) for n, w in joints.items()}
    wishes = replace(wishes, joints={**wishes.joints, **joints}, weights=_weights(wishes, weights))
    assembler = dynamics.start.assembler(wishes, t, p, given)
    return _told(dynamics, assembler, dynamics.start.solve(wishes, t, p, given))


def _told(dynamics: Dynamics, assembler: Assembler, state: State) -> Assembly:
    """What there is to know of an assembled state."""
    values: dict[str, float] = {}
    snapshot = dynamics.snapshot(state, assembler.problem.point.p, assembler.problem.point.inputs)
    for name, joint in dynamics.system.joints.items():
        if joint.n_u:
            parts = (coordinate_names(joint)[0], tuple(part for part, _ in joint.coordinates))
            for role, names, numbers in zip("qu", parts, snapshot.joint_state(name)[:2], strict=False):
                texts = [f"{name}.{role}"] if len(names) == 1 else [f"{name}.{role}.{part}" for part in names]
                values.update(zip(texts, map(float, numbers), strict=True))
    problem = assembler.problem
    x = problem.position_of(state.q)
    off = problem.offsets(x)[0] * problem.units
    kinds = [kind for name in problem.names for _, kind in dynamics.system.joints[name].coordinates]
    moved = {name: _gap(off, problem.owners, kinds, name) for name in problem.names}
    residual = find_gaps(assembler, x, least=0.0)
    held = tuple(name for name in problem.names if problem.values.joints[name].exact_q.all())
    return Assembly(dynamics.system.name, state, values, residual, moved, held)


def _gap(off: Array, owners: list[str], kinds: list[str], name: str) -> Gap:
    rows = list(zip(owners, kinds, off, strict=True))
    sizes = [float(np.linalg.norm([x for o, k, x in rows if (o, k) == (name, kind)])) for kind in ("length", "angle")]
    return Gap(*sizes)


def _joint(wishes: InitialValues, argument: str, name: Any) -> str:
    """The name of a joint that assembly can move."""
    text = str(getattr(name, "name", name))
    if text not in wishes.joints:
        raise ArgumentError(unknown(f"{argument}: no joint that assembly can move is called", text, wishes.joints))
    return text


def _weights(wishes: InitialValues, weights: Any) -> dict[str, float]:
    if weights is not None and not isinstance(weights, Mapping):
        raise ArgumentError(f"weights: {{joint: weight}} is expected, not {short(weights)}")
    found = {}
    for name, value in (weights or {}).items():
        name = _joint(wishes, "weights", name)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not (number and np.isfinite(value) and value > 0):
            raise ArgumentError(f"weights: {name} takes a positive number, not {short(value)}")
        found[name] = float(value)
    return found
