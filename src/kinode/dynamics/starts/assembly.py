"""A state in which all loops are closed: what ``kn.assemble`` gives and ``start=`` takes; and the errors where there is
none: which joints are off by how much, and why: values or lengths.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError, AssemblyError, Gap
from kinode.kernels.state import State
from kinode.model.base.fields import unknown
from kinode.structure.loop_closure import CLOSED_ENOUGH

if TYPE_CHECKING:
    from kinode.dynamics.starts.assembler import Assembler
    from kinode.dynamics.starts.assembly_problem import AssemblyProblem
    from kinode.sheets.tables import Sheet


LEAST_ERROR = 1e-12  # m or rad: closure errors below are rounding, and printed as this
LEAST_VALUE = 1e-12  # values below are rounding, and printed as zero


@dataclass(frozen=True, eq=False)
class Assembly:
    """A state in which all loops are closed; printed, a table.

    Attributes
    ----------
    system : str
        Name of the system.
    state : State
        The assembled state.
    values : dict
        Coordinates and speeds of all joints by name, driven joints and cut joints included.
    residual : dict
        Closure error of each constraint and cut joint.
    moved : dict
        Offset of each joint from its requested position.
    held : tuple of str
        Joints with fixed coordinates.
    """

    system: str
    state: State
    values: dict[str, float] = field(repr=False)
    residual: dict[str, Gap] = field(repr=False)
    moved: dict[str, Gap] = field(repr=False)
    held: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> float:
        if name not in self.values:
            raise ArgumentError(unknown("no coordinate is called", name, self.values))
        return self.values[name]

    def __str__(self) -> str:
        return self.sheet.text()

    def __repr__(self) -> str:
        return f"<Assembly of {self.title}>"

    def _repr_html_(self) -> str:
        from kinode.sheets.markup import notebook

        return notebook(self.sheet)

    @property
    def sheet(self) -> Sheet:
        """The title and the table, which are printed."""
        from kinode.sheets.tables import Sheet, word_table

        head, *rows = self.rows
        return Sheet(self.title, parts=[word_table(head, rows)])

    @property
    def title(self) -> str:
        """The system, the time, and how well its loops are closed."""
        worst = [max([LEAST_ERROR, *(error[k] for error in self.residual.values())]) for k in (0, 1)]
        return f"{self.system} at t = {self.state.t:g} s, closed to {worst[0]:.0e} m and {worst[1]:.0e} rad"

    @property
    def rows(self) -> list[tuple[str, str, str, str]]:
        """The table: its head, then a row for each joint with q, u and how far it moved."""
        rows = [("", "q", "u", "moved by")]
        for name in dict.fromkeys(map(_joint_of, self.values)):
            offset = "held" if name in self.held else str(self.moved[name]) if name in self.moved else "driven"
            rows.append((name, self._format(f"{name}.q"), self._format(f"{name}.u"), offset))
        return rows

    def _format(self, owner: str) -> str:
        """The values of ``joint.q`` or ``joint.u``, with commas between them."""
        numbers = [x for name, x in self.values.items() if name == owner or name.startswith(f"{owner}.")]
        return ", ".join(f"{x if abs(x) > LEAST_VALUE else 0.0:.5g}" for x in numbers)


def _joint_of(name: str) -> str:
    """The joint of a coordinate or speed: ``leg.knee`` of ``leg.knee.q``, ``ball`` of ``ball.u.x``."""
    owner, _, role = name.rpartition(".")
    return owner if role in ("q", "u") else owner.rpartition(".")[0]


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
