"""The arguments of time of a system for the search of breaks in exported code (``break_search.py``)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinode.algebra.scalars import Array, Scalar
from kinode.algebra.trace import Tape
from kinode.dynamics.compiled_system import Dynamics
from kinode.expressions.syntax_tree import Expression, walk
from kinode.jit.program import Block, Program
from kinode.simulation.time_events import SINES, TimeAnalysis, constant_values

DEFAULT_LOOK = 10.0
"""Seconds that are searched at a time where the model names no end of its run."""


@dataclass(frozen=True, eq=False)
class BreakPlan:
    """What the search needs: a program for the arguments, and tables of their levels."""

    program: Program
    numbers: Array
    first_number: Array
    periods: Array
    first_rate: Array
    look: float
    parameters: frozenset[str]
    """The parameters that move breaks."""

    @property
    def count(self) -> int:
        """The number of arguments."""
        return len(self.periods)


def find_break_plan(dynamics: Dynamics) -> BreakPlan | None:
    """The plan of a system; None if no expression of time breaks."""
    system, arguments = dynamics.system, dynamics.arguments
    t0 = float(system.run_defaults.get("t0") or 0.0)
    until = system.run_defaults.get("until")
    look = DEFAULT_LOOK if until is None else max(float(until) - t0, 1e-9)
    analysis = TimeAnalysis(system, constant_values(dynamics, arguments.parameters, arguments.inputs), t0, t0 + look)
    found = sorted(analysis.break_arguments(), key=lambda pair: sum(1 for _ in walk(pair[0])))
    if not found:
        return None
    values, rates, first_rate = [], list[Scalar](), [len(found)]
    tape = Tape()
    evaluate = _Evaluation(dynamics, tape)
    for x, _ in found:
        values.append(evaluate(x))
        for node in walk(x):
            if node.op in SINES and isinstance(node.args[0], Expression):
                rate = node.args[0].derivative("t")
                rates.append(evaluate(rate) if isinstance(rate, Expression) else float(rate))
        first_rate.append(len(found) + len(rates))
    stores = [("out", i, x) for i, x in enumerate([*values, *rates])]
    layout = dynamics.topology.layout
    sizes = {
        "t": 1, "q": 0, "u": 0, "z": 0, "p": len(layout.parameters), "inputs": len(layout.inputs), "x": 0, "work": 0,
        "out": len(stores),
    }  # fmt: skip
    program = Program("break arguments", sizes, {}, [Block(1, {}, [stores])], rare=True)
    levels = [levels for _, levels in found]
    return BreakPlan(
        program, np.concatenate([each.numbers for each in levels]),
        np.cumsum([0, *(len(each.numbers) for each in levels)]), np.array([each.period for each in levels]),
        np.array(first_rate), look, frozenset(evaluate.read),
    )  # fmt: skip


class _Evaluation:
    """Evaluates expressions of time on a tape, and notes the parameters that they read."""

    def __init__(self, dynamics: Dynamics, tape: Tape) -> None:
        layout = dynamics.topology.layout
        self.system, self.tape = dynamics.system, tape
        self.places = {name: ("p", k) for k, name in enumerate(layout.parameters)}
        self.places |= {name: ("inputs", k) for k, name in enumerate(layout.inputs)}
        self.read: set[str] = set()

    def __call__(self, x: Expression) -> Scalar:
        return x.evaluate(self._look_up)

    def _look_up(self, name: str) -> Scalar:
        if name == "t":
            return self.tape.input("t", 0)
        if name in self.places:
            array, k = self.places[name]
            if array == "p":
                self.read.add(name)
            return self.tape.input(array, k)
        given = self.system.parameters[name].value
        return given.evaluate(self._look_up) if isinstance(given, Expression) else float(given)
