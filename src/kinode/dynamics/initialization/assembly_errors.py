"""Errors of systems that cannot be assembled: which joints are off by how much, and why: values or lengths."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import AssemblyError, Gap
from kinode.structure.loop_closure import CLOSED_ENOUGH

if TYPE_CHECKING:
    from kinode.dynamics.initialization.assembler import Assembler
    from kinode.dynamics.initialization.assembly_problem import AssemblyProblem

STARTS = 10  # positions from which the smallest closure errors are looked for
REPORTED_ERROR = 1e-9  # m or rad: smaller closure errors are not reported
SPEEDS_FIT = 1e-9  # relative: larger errors of speeds are refused


def find_closure_errors(problem: AssemblyProblem, x: Array, least: float = REPORTED_ERROR) -> dict[str, Gap]:
    """Closure errors of joints and constraints at a position, in m and rad.

    The key ``joint.q`` is the error of an exact value of a joint that follows another.
    """
    r, _ = problem.equations(x)
    sums: dict[str, dict[str, float]] = {}
    for group in problem.groups:
        name = f"{group.owner}.q" if group.owner in problem.followers else group.owner
        sizes = sums.setdefault(name, {"length": 0.0, "angle": 0.0})
        for unit, value in zip(group.units, r[group.rows], strict=True):
            sizes[unit] = float(np.hypot(sizes[unit], value * (problem.length if unit == "length" else 1.0)))
    errors = {name: Gap(**sizes) for name, sizes in sums.items()}
    return {name: error for name, error in errors.items() if max(error) >= least}


def explain(assembler: Assembler, first: Array) -> AssemblyError:
    """The error of a system that cannot be closed: values in conflict, or bodies that do not reach."""
    problem = assembler.problem
    errors, nearest = _find_nearest(assembler, first)
    listed = ", ".join(f"{name} is off by {error}" for name, error in errors.items()) + _loops(problem, errors)
    exact = [name for name in problem.names if problem.requested.joints[name].exact_q.any()]
    if exact:
        free = _without_exact_values(assembler)
        open_still, x = _find_nearest(free, nearest)
        if not open_still:
            values = free.problem.coordinates(x)
            example = ", ".join(f"{name}.q = {_numbers(values[name])}" for name in exact)
            message = (
                f"the initial values are in conflict: {listed}; it closes at {example}, for example; "
                "free some of the coordinates that are given by q=, or correct them"
            )
            return AssemblyError(message, errors)
    message = f"the loops cannot be closed: in the nearest position that was found, {listed}; the bodies do not reach"
    return AssemblyError(message, errors)


def _find_nearest(assembler: Assembler, first: Array) -> tuple[dict[str, Gap], Array]:
    """The closure errors of the position where they are smallest, none where it is closed, and that position."""
    x = first
    for group in assembler.loop_groups(~assembler.exact[: assembler.problem.n_u]):
        best, least = x, np.inf
        for start in islice(assembler.starts(group, x), STARTS):
            there, error = assembler.close(group, start, None)
            size = float(np.linalg.norm(assembler.problem.equations(there)[0][group.rows]))
            if size < least * (1 - 1e-6):
                best, least = there, size
            if error <= CLOSED_ENOUGH:
                break
        x = best
    if abs(assembler.problem.equations(x)[0]).max() <= CLOSED_ENOUGH:
        return {}, x
    return find_closure_errors(assembler.problem, x), x


def _without_exact_values(assembler: Assembler) -> Assembler:
    """The same assembly with all values as guesses."""
    requested = assembler.problem.requested
    joints = {name: replace(value, exact_q=np.zeros_like(value.exact_q)) for name, value in requested.joints.items()}
    return assembler.with_values(replace(requested, joints=joints))


def _loops(problem: AssemblyProblem, errors: dict[str, Gap]) -> str:
    """The loops that stay open, joint by joint."""
    names = {name.removesuffix(".q") for name in errors}
    loops = [", ".join((*cut.loop, cut.joint.name)) for cut in problem.topology.cuts if cut.joint.name in names]
    return f" (in the loop of {'; of '.join(loops)})" if loops else ""


def _numbers(values: Array) -> str:
    texts = [f"{x:.4g}" for x in values]
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"


def check_speeds(problem: AssemblyProblem, errors: Array, u: Array, owners: list[str]) -> None:
    """Refuse speeds that do not fit together; ``errors`` are those of the rows of the owners."""
    largest = float(abs(errors).max(initial=0.0))
    if largest <= SPEEDS_FIT * max(1.0, float(abs(u).max(initial=0.0))):
        return
    worst = owners[int(np.argmax(abs(errors)))]
    given = [name for name in problem.names if problem.requested.joints[name].exact_u.any()]
    source = f"u= of {', '.join(given)}" if given else "drives"
    message = f"the speeds that are given ({source}) tear {worst} apart, by {largest:.3g} of its size or rad a second"
    raise AssemblyError(f"{message}: {'leave some of the u= out' if given else 'their laws do not fit together'}")
