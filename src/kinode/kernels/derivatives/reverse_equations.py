"""The derivatives of one number by many where some of what it depends on is the solution of equations.

A program whose entries of ``work`` called unknowns are given computes results and the left sides of equations, which
vanish.  The solution is found by other blocks, which are not run backward.  The program itself is, in two parts: what
follows the left sides gives the sensitivities of the unknowns; one more solution turns these into sensitivities of the
left sides; and with them the rest of the program is run backward (A. Griewank, A. Walther, *Evaluating Derivatives*,
SIAM 2008, section 15.2).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kinode.jit.program import Block, Program
from kinode.kernels.derivatives.reverse_programs import Column, Reversal, Site


@dataclass(frozen=True)
class EquationPlaces:
    """Where in ``work`` unknowns stand and the sensitivities of unknowns and of left sides; it is free from ``end``."""

    unknowns: int
    of_unknowns: int
    of_residuals: int
    end: int


@dataclass(frozen=True)
class EquationSolver:
    """Blocks that store the solution, blocks that turn sensitivities into those of the left sides, their tables, and
    the size of ``work``."""

    solution: Sequence[Block]
    adjoint: Sequence[Block]
    constants: Mapping[str, np.ndarray]
    size: int


def reverse_equations(
    program: Program, columns: Sequence[Column], n_x: int, unknowns: range,
    find_solver: Callable[[EquationPlaces], EquationSolver], kept: range = range(0),
) -> Program:  # fmt: skip
    """The program whose results are the derivatives of a weighted sum by each of some directions.

    Parameters
    ----------
    program : Program
        As in ``reverse_program``.  The last of its results, as many as there are unknowns, are the left sides; all
        that depends on the unknowns and leads to other results stands behind the block that stores the last of them.
    columns : sequence
        The directions.
    n_x : int
        Where the weights begin in ``x``.
    unknowns : range
        The entries of ``work`` that are unknown.
    find_solver : callable
        Makes the solver.
    kept : range
        The results whose values stand behind the derivatives.
    """
    reversal = _EquationReversal(program, columns, n_x, unknowns, find_solver)
    reversal.kept = kept
    return reversal.program()


class _EquationReversal(Reversal):
    """The same reversal with another source of the seeds of left sides."""

    def __init__(
        self, program: Program, columns: Sequence[Column], n_x: int, unknowns: range,
        find_solver: Callable[[EquationPlaces], EquationSolver],
    ) -> None:  # fmt: skip
        super().__init__(program, columns, n_x, [("work", k) for k in unknowns])
        self.n_results = program.sizes["out"] - len(unknowns)
        self.unknowns, self.find_solver = unknowns, find_solver
        self.seeds_at = self.allocate(len(unknowns))

    def seed(self, position: int) -> Site:
        if position < self.n_results:
            return super().seed(position)
        return "work", self.seeds_at - self.n_results

    def program(self) -> Program:
        """The whole program."""
        forward, backward = self.run_both_ways()
        places = EquationPlaces(
            self.unknowns.start, self.starts["work"] + self.unknowns.start, self.seeds_at, self.size
        )  # fmt: skip
        solver = _with_other_names(self.find_solver(places))
        split = self._first_behind()
        blocks = [
            *solver.solution, *forward, *self.clear(), *reversed(backward[split:]), *solver.adjoint,
            *reversed(backward[:split]), *self.results(),
        ]  # fmt: skip
        self.size = solver.size
        return self.joined(blocks, {**self.source.constants, **solver.constants})

    def _first_behind(self) -> int:
        """The number of the first block behind those that store left sides."""
        storing = [
            k for k, cases in enumerate(self.moving.cases)
            for case in cases for view, position, _ in case.stores
            if (entries := case.entries(view, position))[0] == "out" and entries[1].max(initial=0) >= self.n_results
        ]  # fmt: skip
        return max(storing) + 1


def _with_other_names(solver: EquationSolver) -> EquationSolver:
    """A solver whose tables do not have the names of other tables."""
    names = {name: f"solver_{name}" for name in solver.constants}

    def renamed(block: Block) -> Block:
        return replace(block, views={k: (names.get(array, array), at) for k, (array, at) in block.views.items()})

    constants = {names[name]: table for name, table in solver.constants.items()}
    return EquationSolver([*map(renamed, solver.solution)], [*map(renamed, solver.adjoint)], constants, solver.size)
