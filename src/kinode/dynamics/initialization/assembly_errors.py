"""Why a system cannot be assembled: the closure error of each joint, and whether values or lengths are the cause."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import AssemblyError, Gap
from kinode.structure.loop_closure import CLOSED_ENOUGH

if TYPE_CHECKING:
    from kinode.dynamics.initialization.assembler import Assembler

REPORTED_ERROR = 1e-9  # m or rad: smaller closure errors are not reported
SPEEDS_FIT = 1e-9  # relative: larger errors of speeds are refused


def find_closure_errors(assembler: Assembler, q: Array, least: float = REPORTED_ERROR) -> dict[str, Gap]:
    """Closure errors of joints and constraints at a position, in m and rad.

    The key ``joint.q`` is the error of an exact value of a dependent joint.
    """
    r, _ = assembler.rows(q)
    owners: list[tuple[str, str]] = []
    if assembler.loops is not None:
        pairs = zip(assembler.loops.names, assembler.loops.position_rows, strict=True)
        owners = [owner for owner, is_position in pairs if is_position]
    joints = assembler.joints
    coordinates = [(f"{name}.q", unit) for name in assembler.names for _, unit in joints[name].coordinates]
    exact = assembler.exact_dependent("exact_q")
    owners += [owner for owner, is_exact in zip(coordinates, exact, strict=True) if is_exact]
    sums: dict[str, dict[str, float]] = {}
    for (name, unit), value in zip(owners, r, strict=True):
        sizes = sums.setdefault(name, {"length": 0.0, "angle": 0.0})
        sizes[unit] = float(np.hypot(sizes[unit], value * (assembler.length if unit == "length" else 1.0)))
    errors = {name: Gap(**sizes) for name, sizes in sums.items()}
    return {name: error for name, error in errors.items() if max(error) >= least}


def explain(assembler: Assembler, first: Array) -> AssemblyError:
    """The error of a system that cannot be closed: values in conflict, or bodies that do not reach."""
    errors, nearest = _find_nearest(assembler, first)
    listed = ", ".join(f"{name} is off by {error}" for name, error in errors.items()) + _loops(assembler, errors)
    exact = [name for name in assembler.names if assembler.requested.joints[name].exact_q.any()]
    if exact:
        free = _without_exact_values(assembler)
        open_still, q = _find_nearest(free, nearest)
        if not open_still:
            values, _, _ = free.measure(q, np.zeros(len(free.fixed)))
            example = ", ".join(f"{name}.q = {_numbers(values[name])}" for name in exact)
            message = (
                f"the initial values are in conflict: {listed}; it closes at {example}, for example; "
                "free some of the coordinates that are given by q=, or correct them"
            )
            return AssemblyError(message, errors)
    message = f"the loops cannot be closed: in the nearest position that was found, {listed}; the bodies do not reach"
    return AssemblyError(message, errors)


def _find_nearest(assembler: Assembler, first: Array) -> tuple[dict[str, Gap], Array]:
    """The closure errors of the position that is nearest to closing, empty if it is closed, and that position."""
    best, least = first, np.inf
    for start in assembler.starting_points(first):
        q, error = assembler.close(start)
        size = float(np.linalg.norm(assembler.rows(q)[0]))
        if size < least * (1 - 1e-6):
            best, least = q, size
        if error <= CLOSED_ENOUGH:
            return {}, q
    return find_closure_errors(assembler, best), best


def _without_exact_values(assembler: Assembler) -> Assembler:
    """The same assembly with all coordinates as guesses."""
    requested = assembler.requested
    joints = {name: replace(value, exact_q=np.zeros_like(value.exact_q)) for name, value in requested.joints.items()}
    return assembler.with_values(replace(requested, joints=joints))


def _loops(assembler: Assembler, errors: dict[str, Gap]) -> str:
    """The loops that stay open, joint by joint."""
    names = {name.removesuffix(".q") for name in errors}
    loops = [", ".join((*cut.loop, cut.joint.name)) for cut in assembler.topology.cuts if cut.joint.name in names]
    return f" (in the loop of {'; of '.join(loops)})" if loops else ""


def _numbers(values: Array) -> str:
    """A number, or several in brackets."""
    texts = [f"{x:.4g}" for x in values]
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"


def check_speeds(assembler: Assembler, errors: Array, u: Array, exact: Array) -> None:
    """Refuse speeds in conflict; ``errors`` are those of the constraint rows, then of the speeds marked exact."""
    if abs(errors).max(initial=0.0) <= SPEEDS_FIT * max(1.0, float(abs(u).max(initial=0.0))):
        return
    owners = [name for name, _ in assembler.loops.names] if assembler.loops is not None else []
    owners += [name for name, is_exact in zip(assembler.owners, exact, strict=True) if is_exact]
    worst = owners[int(np.argmax(abs(errors)))]
    given = [name for name in assembler.names if assembler.requested.joints[name].exact_u.any()]
    source = f"u= of {', '.join(given)}" if given else "drives"
    error = float(abs(errors).max())
    message = f"the speeds that are given ({source}) tear {worst} apart, by {error:.3g} of its size or rad each second"
    raise AssemblyError(f"{message}: {'leave some of the u= out' if given else 'their laws do not fit together'}")
