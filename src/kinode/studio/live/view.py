"""``run.view``: a run in the player, as a file, in a browser, in a notebook, or on a live page."""

from __future__ import annotations

import os
import tempfile
import warnings
import webbrowser
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kinode.errors import ArgumentError
from kinode.model.base.fields import short
from kinode.player.player_file import THEMES, is_notebook, write_page
from kinode.player.run_document import make_documents
from kinode.results.trajectory import Trajectory


def view(
    run: Trajectory, file: str | os.PathLike[str] | None = None, *, beside: Iterable[Trajectory] = (),
    keep: Iterable[str] = (), rate: float | None = None, verify: bool = False, theme: str = "auto",
    height: str = "560px", live: bool = False, browser: bool = True, labels: Sequence[str] = (),
    seen_from: str | None = None, bearings: Mapping[str, Mapping[str, Any]] | None = None, equations: bool = True,
) -> Any:  # fmt: skip
    """Show a run in the player.

    Parameters
    ----------
    run : Trajectory
        The run.
    file : str or path, optional
        An .html file to write, which needs nothing else; else a notebook shows the player, and a script opens it in
        the browser.
    beside : iterable of Trajectory, optional
        Other runs of the same model, which are shown with it.
    keep : iterable of str, optional
        Names of further quantities that the player can plot.
    rate : float, optional
        Pictures for a second of the run; default is 60, and between 300 and 3600 in all.
    verify : bool, default False
        Whether independent derivations are compared, and the result is shown.
    theme : {"auto", "light", "dark"}
        The colors.
    height : str, default "560px"
        The height in a notebook.
    live : bool, default False
        Whether numbers of the model can be changed on the page: starts a server on this machine.
    browser : bool, default True
        Whether a script opens the browser.
    labels : sequence of str, optional
        Names of the runs.
    seen_from : str, optional
        A body or frame that stands still in the picture at first.
    bearings : mapping, optional
        Bearings on shafts: ``{"shaft": {"at": ("-15 cm", "15 cm"), "C": "25 kN"}}``; with ``C``, the load rating,
        their lives are shown.
    equations : bool, default True
        Whether the equations of motion are shown, where they are short.

    Returns
    -------
    pathlib.Path or object
        The file, or what a notebook shows.

    Raises
    ------
    ArgumentError
        If runs of different models are given, or the file does not end in .html.
    """
    if theme not in THEMES:
        raise ArgumentError(f"theme: {short(theme)} is none of {', '.join(THEMES)}")
    runs = [run, *beside]
    if live:
        from kinode.studio.live.live_view import view_live

        return view_live(run, browser=browser, equations=equations)
    more = {"seen_from": seen_from, "bearings": bearings, "equations": equations}
    documents = make_documents(runs, labels=labels, keep=keep, rate=rate, verify=verify, **more)
    if file is None and is_notebook():
        from kinode.player.widget import make_widget

        return make_widget([document.packet(encoded=True) for document in documents], height, theme)
    target = Path(file) if file is not None else _temporary_file(run.system.name)
    path = write_page(documents, target, run.system.name, theme)
    if file is None and browser and not webbrowser.open(path.resolve().as_uri()):
        warnings.warn(f"no browser was found on this machine: open {path} in one", stacklevel=2)
    return path


def _temporary_file(name: str) -> Path:
    """A file that stays until the system clears it: a browser reads it later."""
    plain = "".join(c if c.isalnum() else "_" for c in name)[:60] or "run"
    return Path(tempfile.mkdtemp(prefix="kinode_")) / f"{plain}.html"
