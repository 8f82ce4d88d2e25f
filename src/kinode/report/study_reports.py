"""The reports of studies and fits: one HTML file each.

A study has its tables and plots; a fit its values, what the data do not show, correlation and residuals.
"""

from __future__ import annotations

import math
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from kinode.errors import ArgumentError
from kinode.report.page import compose_page, write_page
from kinode.sheets.markup import Markup, join, table, tag
from kinode.sheets.tables import Table, number, pretty_unit, word_table
from kinode.version import __version__
from kinode.views.html_markup import facts, picture
from kinode.views.plots.fit_plots import plot_fit
from kinode.views.plots.study_plots import find_shares, plot_study

if TYPE_CHECKING:
    from kinode.studies.fits.fit_result import Fit
    from kinode.studies.study import Study


MOST_FAILURES = 50  # rows of the table
STUDY_FILE = "study.html"


def report_study(study: Study, folder: str | os.PathLike[str]) -> Path:
    """Write the report of a study into a folder, which is made if needed; gives the file."""
    return write_page(folder, STUDY_FILE, _compose_study(study))


def _compose_study(study: Study) -> str:
    top = tag("header", tag("h1", "Study"), tag("p", study.head, class_="lead"))
    notes = join(tag("p", note) for note in study.notes)
    foot = tag("footer", f"Written by kinode {__version__}.")
    body = tag("main", top, notes, _summary(study), _best(study), *_study_plots(study), _failures(study), foot)
    return compose_page("Study of many runs", body)


def _summary(study: Study) -> Markup:
    return tag("section", tag("h2", "Results"), table(study.table))


def _best(study: Study) -> Markup:
    """The run with the least value of each result."""
    pieces = []
    for text in study.scalars:
        try:
            best = study.best(text)
        except ArgumentError:
            continue
        said = [(name, _with_unit(study, name, best[name])) for name in (text, *study.axes)]
        pieces.append(tag("div", tag("h3", f"Least {text}"), facts(said)))
    return tag("section", tag("h2", "Best runs"), *pieces) if pieces else Markup("")


def _with_unit(study: Study, name: str, value: object) -> str:
    words = number(value) if isinstance(value, float) else str(value)
    return f"{words} {pretty_unit(study.units(name))}".strip()


def _study_plots(study: Study) -> list[Markup]:
    sections = []
    for text in study.scalars:
        pieces = []
        for kind in (None, "tornado"):
            try:
                if kind == "tornado":
                    find_shares(study, text)
                figure = plot_study(study, text, kind=kind, shown=False)
            except ArgumentError:  # too many axes for one picture, too few runs for a fit
                continue
            words = f"{text} over {', '.join(study.axes)}" if kind is None else f"what changes {text} most"
            pieces.append(picture(figure, words, caption=words))
        sections.append(tag("section", tag("h2", text), *pieces))
    return sections


def _failures(study: Study) -> Markup:
    failures = study.failures
    if not failures:
        return Markup("")
    rows = [(*(_with_unit(study, name, entry[name]) for name in study.axes), entry["message"]) for entry in failures]
    more = f"and {len(rows) - MOST_FAILURES} more" if len(rows) > MOST_FAILURES else ""
    shown = table(word_table((*study.axes, "why"), rows[:MOST_FAILURES]))
    return tag("section", tag("h2", f"Runs that failed ({len(rows)})"), shown, tag("p", more))


FIT_FILE = "fit.html"


def report_fit(fit: Fit, folder: str | os.PathLike[str]) -> Path:
    """Write the report of a fit into a folder, which is made if needed; gives the file."""
    return write_page(folder, FIT_FILE, _compose_fit(fit))


def _compose_fit(fit: Fit) -> str:
    name = fit.dynamics.system.name
    lead = f"{len(fit.unknowns)} numbers of {name} from {fit.samples} samples of {len(fit.records)} records"
    top = tag("header", tag("h1", "Fit"), tag("p", lead, class_="lead"))
    notes = tag("section", tag("h2", "What to know"), *(tag("p", note) for note in fit.notes)) if fit.notes else ""
    how = [(key.replace("_", " "), number(x) if isinstance(x, float) else str(x)) for key, x in fit.facts.items()]
    numbers = replace(fit.table, head=("number", "value", "+- (95 %)", "share", "unit", "start"))
    channels = replace(fit.channel_table, head=("record", "channel", "samples", "rms of residuals", "unit", "match"))
    values = tag("section", tag("h2", "Values"), table(numbers))
    records = tag("section", tag("h2", "Records"), table(channels))
    sections = [values, notes, records, _correlation(fit), *_fit_plots(fit)]
    foot = tag("footer", f"Written by kinode {__version__}.")
    body = tag("main", top, *sections, tag("section", tag("h2", "How it was found"), facts(how)), foot)
    return compose_page(f"Fit of {name}", body)


def _correlation(fit: Fit) -> Markup:
    if len(fit.unknowns) < 2:
        return Markup("")
    matrix = fit.correlation
    rows = [
        (name, *(f"{x:+.2f}" if math.isfinite(x) else "not shown" for x in matrix[k]))
        for k, name in enumerate(fit.labels)
    ]
    return tag("section", tag("h2", "Correlation"), table(Table(("", *fit.labels), rows)))


def _fit_plots(fit: Fit) -> list[Markup]:
    sections = []
    for checks, words in ((False, "Fitted records"), (True, "Records held back")):
        if checks and not fit.checks:
            continue
        figure = plot_fit(fit, checks=checks, title=words, shown=False)
        sections.append(
            tag("section", tag("h2", words), picture(figure, words, caption=f"{words}: measured, model, residuals"))
        )
    return sections
