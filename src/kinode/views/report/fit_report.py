"""The report of a fit: one HTML file with values, what the data do not show, correlation and residuals."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING

from kinode.symbolic.markup import Markup, tag
from kinode.version import __version__
from kinode.views.plots.fit_plots import plot_fit
from kinode.views.report.html_markup import facts, picture, table
from kinode.views.report.report_page import compose_page, write_page
from kinode.views.style import number, pretty_unit

if TYPE_CHECKING:
    from kinode.tasks.fits.fit_result import Fit

FILE = "fit.html"


def report_fit(fit: Fit, folder: str | os.PathLike[str]) -> Path:
    """Write the report of a fit into a folder, which is made if needed; gives the file."""
    return write_page(folder, FILE, _compose(fit))


def _compose(fit: Fit) -> str:
    name = fit.dynamics.system.name
    lead = f"{len(fit.unknowns)} numbers of {name} from {fit.samples} samples of {len(fit.records)} records"
    top = tag("header", tag("h1", "Fit"), tag("p", lead, class_="lead"))
    notes = tag("section", tag("h2", "What to know"), *(tag("p", note) for note in fit.notes)) if fit.notes else ""
    how = [(key.replace("_", " "), number(x) if isinstance(x, float) else str(x)) for key, x in fit.facts.items()]
    sections = [_values(fit), notes, _channels(fit), _correlation(fit), *_plots(fit)]
    foot = tag("footer", f"Written by kinode {__version__}.")
    body = tag("main", top, *sections, tag("section", tag("h2", "How it was found"), facts(how)), foot)
    return compose_page(f"Fit of {name}", body)


def _values(fit: Fit) -> Markup:
    rows = [(*row[:4], pretty_unit(row[4]), row[5]) for row in fit.rows]
    heads = ("number", "value", "+- (95 %)", "share", "unit", "start")
    return tag("section", tag("h2", "Values"), table(heads, rows, numbers=(1, 2, 3, 5)))


def _channels(fit: Fit) -> Markup:
    rows = [(*row[:4], pretty_unit(row[4]), row[5]) for row in fit.channel_rows]
    heads = ("record", "channel", "samples", "rms of residuals", "unit", "match")
    return tag("section", tag("h2", "Records"), table(heads, rows, numbers=(2, 3, 5)))


def _correlation(fit: Fit) -> Markup:
    if len(fit.unknowns) < 2:
        return Markup("")
    matrix = fit.correlation
    rows = [
        (name, *(f"{x:+.2f}" if math.isfinite(x) else "not shown" for x in matrix[k]))
        for k, name in enumerate(fit.labels)
    ]
    columns = tuple(range(1, len(fit.labels) + 1))
    return tag("section", tag("h2", "Correlation"), table(("", *fit.labels), rows, numbers=columns))


def _plots(fit: Fit) -> list[Markup]:
    sections = []
    for checks, words in ((False, "Fitted records"), (True, "Records held back")):
        if checks and not fit.checks:
            continue
        figure = plot_fit(fit, checks=checks, title=words, shown=False)
        sections.append(
            tag("section", tag("h2", words), picture(figure, words, caption=f"{words}: measured, model, residuals"))
        )
    return sections
