"""Why a system cannot be assembled: which joints are off by how much, and whether values or lengths are to blame."""

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

STARTS = 10  # positions from which the least gaps are looked for
TOLD = 1e-9  # m or rad: less is not worth telling


def find_gaps(assembler: Assembler, x: Array, least: float = TOLD) -> dict[str, Gap]:
    """By how much each joint or constraint is off at a position, in m and rad; ``joint.q`` is off what is given."""
    problem = assembler.problem
    r, _ = problem.equations(x)
    sums: dict[str, dict[str, float]] = {}
    for group in problem.groups:
        name = f"{group.owner}.q" if group.owner in problem.followers else group.owner
        parts = sums.setdefault(name, {"length": 0.0, "angle": 0.0})
        for unit, value in zip(group.units, r[group.rows], strict=True):
            parts[unit] = float(np.hypot(parts[unit], value * (problem.length if unit == "length" else 1.0)))
    gaps = {name: Gap(**parts) for name, parts in sums.items()}
    return {name: gap for name, gap in gaps.items() if max(gap) >= least}


def explain(assembler: Assembler, begin: Array) -> AssemblyError:
    """Why it cannot be closed: values in conflict with each other, or bodies that do not reach."""
    problem = assembler.problem
    gaps, nearest = _find_nearest(assembler, begin)
    told = ", ".join(f"{name} is off by {gap}" for name, gap in gaps.items()) + _loops(assembler, gaps)
    exact = [name for name in problem.names if problem.values.joints[name].exact_q.any()]
    if exact:
        free = _freed(assembler)
        open_still, x = _find_nearest(free, nearest)
        if not open_still:
            values = free.problem.coordinates(x)
            example = ", ".join(f"{name}.q = {_numbers(values[name])}" for name in exact)
            message = (
                f"the initial values are in conflict: {told}; it closes at {example}, for example; "
                "free some of the coordinates that are given by q=, or correct them"
            )
            return AssemblyError(message, gaps)
    message = f"the loops cannot be closed: in the nearest position that was found, {told}; the bodies do not reach"
    return AssemblyError(message, gaps)


def _find_nearest(assembler: Assembler, begin: Array) -> tuple[dict[str, Gap], Array]:
    """What stays open in the position with the least gaps, and that position."""
    x = begin
    for block in assembler.blocks(~assembler.exact[: assembler.problem.n_u]):
        best, least = x, np.inf
        for start in islice(assembler.starts(block, x), STARTS):
            there, error = assembler.close(block, start, None)
            size = float(np.linalg.norm(assembler.problem.equations(there)[0][block.rows]))
            if size < least * (1 - 1e-6):
                best, least = there, size
            if error <= CLOSED_ENOUGH:
                break
        x = best
    gaps = find_gaps(assembler, x)
    return (gaps if abs(assembler.problem.equations(x)[0]).max() > CLOSED_ENOUGH else {}), x


def _freed(assembler: Assembler) -> Assembler:
    """The same with nothing exact."""
    values = assembler.problem.values
    joints = {name: replace(value, exact_q=np.zeros_like(value.exact_q)) for name, value in values.joints.items()}
    return assembler.with_values(replace(values, joints=joints))


def _loops(assembler: Assembler, gaps: dict[str, Gap]) -> str:
    """The loops that stay open, joint by joint."""
    names = {name.removesuffix(".q") for name in gaps}
    loops = [
        ", ".join((*cut.loop, cut.joint.name)) for cut in assembler.problem.topology.cuts if cut.joint.name in names
    ]
    return f" (in the loop of {'; of '.join(loops)})" if loops else ""


def _numbers(values: Array) -> str:
    said = [f"{x:.4g}" for x in values]
    return said[0] if len(said) == 1 else f"({', '.join(said)})"


def check_speeds(problem: AssemblyProblem, off: Array, u: Array, owners: list[str]) -> None:
    """Refuse speeds that do not fit together; ``off`` is what is left of the rows of the owners."""
    gap = float(abs(off).max(initial=0.0))
    if gap <= 1e-9 * max(1.0, float(abs(u).max(initial=0.0))):
        return
    worst = owners[int(np.argmax(abs(off)))]
    given = [name for name in problem.names if problem.values.joints[name].exact_u.any()]
    said = f"u= of {', '.join(given)}" if given else "drives"
    message = f"the speeds that are given ({said}) tear {worst} apart, by {gap:.3g} of its size or rad each second"
    raise AssemblyError(f"{message}: {'leave some of the u= out' if given else 'their laws do not fit together'}")
