"""The way from a system to a run that is shown: compiled, computed, sent to the pages, and completed.

What takes long and is not needed for the first picture, the equations and a large circuit, follows.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

from kinode.model.system import System
from kinode.studio.diagram_data import diagram_data
from kinode.studio.equation_data import are_long, equation_data
from kinode.studio.live_pages.changing_run import ChangingRun, Choice, ChosenRun
from kinode.studio.live_pages.later_parts import find_later_parts, is_quick
from kinode.studio.live_pages.live_desk import LiveDesk
from kinode.studio.live_pages.page_data import PageData


class ShownModel:
    """Shows one version of a model after the other on a desk.

    Parameters
    ----------
    desk : LiveDesk
    until : float or str, optional
        End of the runs.
    options : mapping, optional
        As in ``kn.simulate``: t0, method, step, rtol, atol, max_step.
    values, start : mapping, optional
        Numbers and initial values that differ from the first system's own.
    rest : float, default 0
        For models that are being changed: seconds without a change before the circuit and the equations are made.
    equations : bool, default True
        Whether the equations of motion are shown, where they are short.
    """

    def __init__(
        self, desk: LiveDesk, until: Any = None, options: Mapping[str, Any] | None = None,
        values: Mapping[str, Any] | None = None, start: Mapping[str, Any] | None = None, rest: float = 0.0,
        equations: bool = True,
    ) -> None:  # fmt: skip
        self._equations = equations
        self.desk, self.until, self.options, self.rest = desk, until, dict(options or {}), rest
        self._later = threading.Lock()  # one at a time
        self._closed = threading.Event()
        self.complete = threading.Event()
        """Set when the run and all that belongs to it are there."""
        self._first = dict(values or {}), dict(start or {})

    def show(self, system: System, goes_on: Callable[..., bool] = lambda *_: True, cause: str = "file") -> bool:
        """Compile a system, compute its run and show it in the place of the one before.

        ``goes_on`` says whether it is still wanted.  Returns whether it is shown; what is wrong is raised, and the run
        before stays.
        """
        of, before = self.desk.model, self.desk.shown if self.desk.is_shown else None
        if before is None:
            self.desk.say("compiling the model")
        model = ChangingRun(system, self.until, self.options)
        quick = not self.rest and is_quick(system)
        data = PageData(model, self.desk.file, diagram=diagram_data(system) if quick else None)
        choice = model.choice(*self._first) if before is None else carry_over(model, before[0].model, before[1].choice)
        if before is None:
            self.desk.say("computing the first run")
        chosen = model.compute(choice, data.names, goes_on)
        long = not self.rest and (not self._equations or are_long(chosen.run))
        if long and self._equations:
            equations = equation_data(chosen.run, chosen.frames)
            data = PageData(model, self.desk.file, diagram=data.diagram, equations=equations, equations_of=choice)
        if not goes_on():
            return False
        self.complete.clear()
        answered = self.desk.is_answered
        if not self.desk.show(data, chosen, of):
            return False
        if answered:
            self.desk.push_model(cause)
        if quick and long:
            self.complete.set()
            return True
        later = threading.Thread(
            target=self._add_later, args=(data, chosen, not quick), name="kinode later", daemon=True
        )  # fmt: skip
        later.start()
        return True

    def close(self) -> None:
        """End what is under way for the run that is shown."""
        self._closed.set()

    def _add_later(self, data: PageData, chosen: ChosenRun, circuit: bool) -> None:
        """Add the equations, and a circuit that takes long to draw, unless another model is shown by then."""
        with self._later:
            self._closed.wait(self.rest)
            if self._is_wanted(data):
                self._find_later(data, chosen, circuit)

    def _is_wanted(self, data: PageData) -> bool:
        """Whether this is still the model that is shown."""
        return self.desk.shows(data.model) and not self._closed.is_set()

    def _find_later(self, data: PageData, chosen: ChosenRun, circuit: bool) -> None:
        missing = self._equations and data.equations is None
        found = find_later_parts(
            chosen.run, diagram=circuit, equations=missing, goes_on=lambda: self._is_wanted(data)
        )  # fmt: skip
        if not self._is_wanted(data):
            return
        added = PageData(
            data.model, data.file, diagram=found.diagram or data.diagram, equations=found.equations or data.equations,
            equations_of=chosen.choice,
        )  # fmt: skip
        if (found.diagram or found.equations) and self.desk.exchange(
            data, lambda now: (added, data.model.with_names(now, added.names))
        ):
            self.desk.push_model("more")
        self.complete.set()


def carry_over(model: ChangingRun, before: ChangingRun, choice: Choice) -> Choice:
    """What was chosen for a model, for its next version: values that the file did not change stay."""
    values = {name: x for name, x in choice.values.items() if _is_same(model, before, name)}
    until = None if choice.until == before.until else choice.until
    known = {coordinate.name for coordinate in model.model.dynamics.coordinates}
    start = {name: x for name, x in choice.start.items() if name in known}
    return model.choice(values, start, until)


def _is_same(model: ChangingRun, before: ChangingRun, name: str) -> bool:
    """Whether a number is written as before."""
    value = _written(model, name)
    return value is not None and value == _written(before, name)


def _written(model: ChangingRun, name: str) -> float | None:
    """The value of a number as it is written; None if there is no such number."""
    number, system = model.model.numbers.get(name), model.system
    if number is not None:
        return number.value
    if name in system.parameters:
        return system.parameter_values()[name]
    return system.nominal(system.inputs[name].value) if name in system.inputs else None
