"""Live pages: ``run.view(live=True)``, and ``kinode view MODEL --live``.

The server starts first, so that the page loads while the model is compiled.  What takes long and is not needed for the
first picture, the equations and a large circuit, follows.
"""

from __future__ import annotations

import os
import threading
import webbrowser
from collections.abc import Callable, Mapping
from html import escape
from pathlib import Path
from typing import Any

from kinode.errors import Error
from kinode.formats.load import load
from kinode.model.system import System
from kinode.results.trajectory import Trajectory
from kinode.studio.diagram_data import diagram_data
from kinode.studio.equation_data import are_long, equation_data
from kinode.studio.live_pages.changing_run import ChangingRun, Choice, ChosenRun
from kinode.studio.live_pages.later_parts import find_later_parts, is_quick
from kinode.studio.live_pages.live_desk import LiveDesk
from kinode.studio.live_pages.model_watch import ModelWatch
from kinode.studio.live_pages.page_data import PageData
from kinode.studio.live_pages.server import Server
from kinode.studio.live_pages.session import Session
from kinode.studio.static_files import find_player

RUN_OPTIONS = ("method", "step", "rtol", "atol", "max_step")
SAME_START = 1e-9  # relative difference of initial values below which they are the model's own
PAGE = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>html, body {{ height: 100%; margin: 0; }} [data-kinode-live] {{ height: 100%; }}</style></head>
<body><div data-kinode-live></div><noscript><p>This page needs a browser that runs scripts.</p></noscript>
<script type="module" src="/player.js"></script></body>
</html>
"""


class LiveView:
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

    Examples
    --------
    >>> from kinode.studio.live_pages.live_view import LiveView
    >>> with LiveView(kn.load("examples/pendulum.yaml"), 1.0, player="") as view:
    ...     view.url.startswith("http://127.0.0.1:")
    True
    """

    def __init__(
        self, system: System, until: Any = None, *, values: Mapping[str, Any] | None = None,
        start: Mapping[str, Any] | None = None, options: Mapping[str, Any] | None = None,
        file: str | os.PathLike[str] | None = None, base: str = "fixed", player: str | None = None,
        on_error: Callable[[Exception], None] | None = None,
    ) -> None:  # fmt: skip
        self.file, self.base = None if file is None else Path(file), base
        self._until, self._options, self._on_error = until, dict(options or {}), on_error
        self.session = Session()
        self.desk = LiveDesk(self.session, "" if self.file is None else self.file.name)
        pages = {"/": PAGE.format(title=escape(system.name)), "/player.js": find_player() if player is None else player}
        self.server = Server(self.session, pages).start()
        self.complete = threading.Event()
        """Set when the run and all that belongs to it are there."""
        self._first = dict(values or {}), dict(start or {})
        self._watch = None if self.file is None else ModelWatch(self.file, self._follow)
        self._thread = threading.Thread(target=self._begin, args=(system,), name="kinode model", daemon=True)
        self._thread.start()

    # -- the handle --------------------------------------------------------------------------------
    @property
    def url(self) -> str:
        """An address to open, good for one opening."""
        return self.server.new_address()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the server has ended, which Ctrl-C makes it do; False if the time was over before."""
        try:
            return self.server.wait(seconds)
        finally:
            if seconds is None:
                self.close()

    def close(self) -> None:
        """End the server; the page says so."""
        if self._watch is not None:
            self._watch.close()
        self.desk.close()
        self.server.close()

    def __enter__(self) -> LiveView:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<LiveView at port {self.server.port}; .url is its address, with the key to it>"

    # -- the model ---------------------------------------------------------------------------------
    def _begin(self, system: System) -> None:
        """The first run, and what is done when it is there."""
        try:
            self._show(system, None)
        except Exception as error:
            self._fail(error)
        if self._watch is not None:
            self._watch.start()

    def _follow(self) -> None:
        """The file was changed: show what it says now; the last good run stays where it is wrong."""
        try:
            assert self.file is not None
            before = self.desk.shown if self.desk.is_shown else None
            self._show(load(self.file, self.base), before)
        except Exception as error:
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        self.desk.fail(error)
        if self._on_error is not None:
            self._on_error(error)

    def _show(self, system: System, before: tuple[PageData, ChosenRun] | None) -> None:
        if before is None:
            self.desk.say("compiling the model")
        model = ChangingRun(system, self._until, self._options)
        quick = is_quick(system)
        data = PageData(model, self.desk.file, diagram=diagram_data(system) if quick else None)
        choice = model.choice(*self._first) if before is None else carry_over(model, before[0].model, before[1].choice)
        if before is None:
            self.desk.say("computing the first run")
        chosen = model.compute(choice, data.names)
        long = are_long(chosen.run)
        if long:
            equations = equation_data(chosen.run, chosen.frames)
            data = PageData(model, self.desk.file, diagram=data.diagram, equations=equations, equations_of=choice)
        self.desk.show(data, chosen)
        if before is not None:
            self.desk.push_model("file")
        if quick and long:
            self.complete.set()
            return
        self.complete.clear()
        later = threading.Thread(target=self._add_later, args=(data, chosen), name="kinode later", daemon=True)
        later.start()

    def _add_later(self, data: PageData, chosen: ChosenRun) -> None:
        """Add the equations, and a circuit that takes long to draw."""
        found = find_later_parts(
            chosen.run, diagram=not is_quick(data.model.system), equations=data.equations is None
        )  # fmt: skip
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


def view_live(run: Trajectory, *, browser: bool = True) -> LiveView:
    """Show a run on a live page.

    Parameters
    ----------
    run : Trajectory
        The run; its model, values, start, end and method are those at first.
    browser : bool, default True
        Whether the browser is opened.

    Returns
    -------
    LiveView
        ``url`` is an address to open, ``close()`` ends it, ``wait()`` waits for Ctrl-C.
    """
    system, dynamics = run.system, run.dynamics
    own = system.parameter_values()
    values = {name: value for name, value in run.parameters.items() if name in dynamics.topology.parameters}
    values = {name: value for name, value in values.items() if value != own[name]}
    inputs = dict(zip(dynamics.topology.inputs, zip(run.inputs.tolist(), dynamics.inputs.tolist())))
    values |= {name: value for name, (value, nominal) in inputs.items() if value != nominal}
    options = {name: run.facts[name] for name in RUN_OPTIONS if run.facts.get(name) is not None}
    begin = run.begin
    if begin is not None:
        options["t0"] = begin.t
    view = LiveView(system, run.end.t, values=values, start=_find_start(run), options=options)
    if browser:
        webbrowser.open(view.url)
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
    browser: bool = True, say: Callable[[str], None] = print,
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
    browser : bool, default True
        Whether the browser is opened.
    say : function
        What prints a line.
    """
    system = load(file, base)
    with LiveView(system, until, values=values, file=file, base=base, on_error=lambda error: say(str(error))) as view:
        if browser:
            webbrowser.open(view.url)
        say(f"serving {Path(file).name}; if no browser opened, open {view.url}")
        say("Ctrl-C ends it")
        view.wait()
