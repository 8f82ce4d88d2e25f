"""Live pages: ``run.view(live=True)``, and ``kinode view MODEL --live``.

The server starts first, so that the page loads while the model is compiled.  What takes long and is not needed for the
first picture, the equations and a large circuit, follows.
"""

from __future__ import annotations

import os
import threading
import warnings
import webbrowser
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from kinode.errors import ArgumentError, Error
from kinode.formats.load import load
from kinode.model.system import System
from kinode.ode.runs.input_table import split_inputs
from kinode.results.trajectory import Trajectory
from kinode.studio.live_pages.live_desk import LiveDesk
from kinode.studio.live_pages.model_watch import ModelWatch
from kinode.studio.live_pages.server import ServedView, Server
from kinode.studio.live_pages.session import Session
from kinode.studio.live_pages.shown_model import ShownModel
from kinode.studio.static_files import find_player, page_of

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
    >>> from kinode.studio.live_pages.live_view import LiveView
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
        self._watch = None if self.file is None else ModelWatch(self.file, self._follow)
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
