"""Live pages: ``run.view(live=True)``, ``kinode view MODEL --live``, and the way from a system to a run that is shown.

The server starts first, so that the page loads while the model is compiled; then its run is computed and sent to the
pages.  What takes long and is not needed for the first picture, the equations and a large circuit, follows.
"""

from __future__ import annotations

import os
import threading
import warnings
import webbrowser
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from kinode.errors import ArgumentError, Error
from kinode.formats.load import load
from kinode.model.system import System
from kinode.ode.input_table import split_inputs
from kinode.player.diagram_data import diagram_data
from kinode.player.equation_data import are_long, equation_data
from kinode.player.player_file import find_player, page_of
from kinode.results.trajectory import Trajectory
from kinode.studio.live.changing_run import ChangingRun, Choice, ChosenRun
from kinode.studio.live.later_parts import find_later_parts, is_quick
from kinode.studio.live.live_desk import LiveDesk
from kinode.studio.live.model_watch import Watch, find_stamp
from kinode.studio.live.page_data import PageData
from kinode.studio.server.session import GoesOn, Lane, Session
from kinode.studio.server.web_server import ServedView, Server


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
        self._later = Lane(self._add_later)
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
        self._later.ask((data, chosen, not quick), self.rest)
        return True

    def close(self) -> None:
        """End what is under way for the run that is shown."""
        self._later.close()

    def _is_wanted(self, data: PageData) -> bool:
        """Whether this is still the model that is shown."""
        return self.desk.shows(data.model) and not self._later.ended

    def _add_later(self, shown: tuple[PageData, ChosenRun, bool], _: GoesOn) -> None:
        """Add the equations, and a circuit that takes long to draw, unless another model is shown by then."""
        data, chosen, circuit = shown
        if not self._is_wanted(data):
            return
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


RUN_OPTIONS = ("method", "step", "rtol", "atol", "max_step")
SAME_START = 1e-9  # relative difference of initial values below which they are the model's own


class LiveView(ServedView):
    """A live page: a server on this machine with the model behind it; a context manager that closes it.

    Parameters
    ----------
    system : System
    until : float or str, optional
        End of the runs.
    values, start : mapping, optional
        Numbers and initial values that differ from the system's own.
    options : mapping, optional
        As in ``kn.simulate``: t0, method, step, rtol, atol, max_step.
    file : path, optional
        The file of the model; the page follows when it is changed.
    base : str
        How a URDF's root stands.
    reading : mapping, optional
        How the file is read again, as in ``kn.load``: trust, arguments, packages.
    equations : bool, default True
        Whether the equations of motion are shown, where they are short.

    Examples
    --------
    >>> from kinode.studio.live.live_view import LiveView
    >>> with LiveView(kn.load("examples/pendulum.yaml"), 1.0, player="") as view:
    ...     view.url.startswith("http://127.0.0.1:")
    True
    """

    def __init__(
        self, system: System, until: Any = None, *, values: Mapping[str, Any] | None = None,
        start: Mapping[str, Any] | None = None, options: Mapping[str, Any] | None = None,
        file: str | os.PathLike[str] | None = None, base: str = "fixed", player: str | None = None,
        on_error: Callable[[Exception], None] | None = None, reading: Mapping[str, Any] | None = None,
        equations: bool = True,
    ) -> None:  # fmt: skip
        self.file, self.base, self.reading = None if file is None else Path(file), base, dict(reading or {})
        self._on_error = on_error
        self.session = Session()
        self.desk = LiveDesk(self.session, "" if self.file is None else self.file.name)
        program = find_player() if player is None else player
        pages = {"/": page_of("/player.js", system.name, "data-kinode-live"), "/player.js": program}
        self.server = Server(self.session, pages).start()
        self.model = ShownModel(self.desk, until, options, values, start, equations=equations)
        self._watch = None if self.file is None else Watch(partial(find_stamp, self.file), self._follow)
        self._thread = threading.Thread(target=self._begin, args=(system,), name="kinode model", daemon=True)
        self._thread.start()

    # -- the handle --------------------------------------------------------------------------------
    @property
    def complete(self) -> threading.Event:
        """Set when the run and all that belongs to it are there."""
        return self.model.complete

    def close(self) -> None:
        """End the server; the page says so."""
        if self._watch is not None:
            self._watch.close()
        self.model.close()
        self.desk.close()
        super().close()

    def __repr__(self) -> str:
        return f"<LiveView at port {self.server.port}; .url is its address, with the key to it>"

    # -- the model ---------------------------------------------------------------------------------
    def _begin(self, system: System) -> None:
        """The first run, and what is done when it is there."""
        try:
            self.model.show(system)
        except Exception as error:
            self._fail(error)
        if self._watch is not None:
            self._watch.start()

    def _follow(self) -> None:
        """The file was changed: show what it says now; the last good run stays where it is wrong."""
        try:
            assert self.file is not None
            self.model.show(load(self.file, self.base, **self.reading))
        except Exception as error:
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        self.desk.fail(error)
        if self._on_error is not None:
            self._on_error(error)


def view_live(run: Trajectory, *, browser: bool = True, equations: bool = True) -> LiveView:
    """Show a run on a live page.

    Parameters
    ----------
    run : Trajectory
        The run; its model, values, start, end and method are those at first.
    browser : bool, default True
        Whether the browser is opened.
    equations : bool, default True
        Whether the equations of motion are shown, where they are short.

    Returns
    -------
    LiveView
        ``url`` is an address to open, ``close()`` ends it, ``wait()`` waits for Ctrl-C.
    """
    system, dynamics = run.system, run.dynamics
    own = system.parameter_values()
    values = {name: value for name, value in run.parameters.items() if name in dynamics.topology.parameters}
    values = {name: value for name, value in values.items() if value != own[name]}
    row, courses = split_inputs(run.inputs)
    if courses is not None:
        names = ", ".join(dynamics.topology.inputs[k] for k in sorted(courses.entries))
        raise ArgumentError(f"live: the run has inputs that change with time ({names}), and a live page holds inputs")
    inputs = dict(zip(dynamics.topology.inputs, zip(row.tolist(), dynamics.inputs.tolist())))
    values |= {name: value for name, (value, nominal) in inputs.items() if value != nominal}
    options = {name: run.facts[name] for name in RUN_OPTIONS if run.facts.get(name) is not None}
    begin = run.begin
    if begin is not None:
        options["t0"] = begin.t
    start = _find_start(run)
    view = LiveView(system, run.end.t, values=values, start=start, options=options, equations=equations)
    if browser and not webbrowser.open(view.url):
        warnings.warn(f"no browser was found on this machine: open {view.url} in one", stacklevel=2)
    return view


def _find_start(run: Trajectory) -> dict[str, float]:
    """The initial values of a run that are not those of its model."""
    if run.begin is None:
        return {}
    try:
        own = run.dynamics.values(run.dynamics.state(t=run.begin.t, p=run.p, inputs=run.inputs))
    except Error:  # the model's own start cannot be assembled
        own = {}
    given = {c.name: c.role for c in run.dynamics.coordinates}
    start = {name: value for name, value in run.dynamics.values(run.begin).items() if given[name] in ("q", "u")}
    return {name: x for name, x in start.items() if name not in own or abs(x - own[name]) > SAME_START * (1.0 + abs(x))}


def serve_model(
    file: str | os.PathLike[str], *, until: Any = None, values: Mapping[str, Any] | None = None, base: str = "fixed",
    reading: Mapping[str, Any] | None = None, browser: bool = True, say: Callable[[str], None] = print,
    equations: bool = True,
) -> None:  # fmt: skip
    """Show the model of a file on a live page, until Ctrl-C.

    Parameters
    ----------
    file : str or path
        The model; the page follows when it is changed.
    until : float or str, optional
        End of the runs.
    values : mapping, optional
        Values of parameters and numbers by name.
    base : {"fixed", "free"}
        How a URDF's root stands.
    reading : mapping, optional
        How the file is read, as in ``kn.load``: trust, arguments, packages.
    browser : bool, default True
        Whether the browser is opened.
    say : function
        What prints a line.
    equations : bool, default True
        Whether the equations of motion are shown, where they are short.
    """
    system = load(file, base, **(reading or {}))
    with LiveView(
        system, until, values=values, file=file, base=base, reading=reading, on_error=lambda error: say(str(error)),
        equations=equations,
    ) as view:  # fmt: skip
        view.serve(Path(file).name, "Ctrl-C ends it", browser, say)
