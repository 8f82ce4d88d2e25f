"""What a run shows of itself: plots, report, player, and what a notebook shows."""

from __future__ import annotations

import os
from typing import Any

from kinode.hooks import hook
from kinode.results.pictures.framed_run import FramedRun


class ShownRun(FramedRun):
    """A run with the views that later packages draw of it."""

    def _repr_html_(self) -> str:
        return str(hook("notebook_html")(self))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """The player, for notebooks that show widgets; text and table have methods of their own."""
        return dict(hook("run_bundle")(self))

    def plot(self, *names: str, **options: Any) -> Any:
        """Plot quantities over time.

        Parameters
        ----------
        *names : str
            Names of quantities; default are the coordinates.
        **options
            Options of ``kinode.views.plots.time_plots.plot``.

        Returns
        -------
        matplotlib.figure.Figure
        """
        return hook("plot")(self, *names, **options)

    def report(self, folder: str | os.PathLike[str], **options: Any) -> Any:
        """Write a report: one HTML file with summary, plots, loads and energy audit.

        Parameters
        ----------
        folder : str or path
            The folder of the report.
        **options
            Options of ``kinode.views.report.html_report.report``.

        Returns
        -------
        Path
        """
        return hook("report")(self, folder, **options)

    def view(self, file: str | os.PathLike[str] | None = None, **options: Any) -> Any:
        """Show the run moving, with the loads in its joints.

        Parameters
        ----------
        file : str or path, optional
            An .html file to write, which needs nothing else; else a notebook shows the player, a script a browser.
        **options
            Options of ``kinode.studio.view.view``.

        Returns
        -------
        Path, or what a notebook shows
        """
        return hook("view")(self, file, **options)
