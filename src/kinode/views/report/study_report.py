"""The report of a study: one HTML file with its tables and plots."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from kinode.errors import ArgumentError
from kinode.symbolic.markup import Markup, join, tag
from kinode.version import __version__
from kinode.views.plots.study_plots import find_shares, plot_study
from kinode.views.report.html_markup import facts, picture, table
from kinode.views.report.report_page import compose_page, write_page
from kinode.views.style import number, pretty_unit

if TYPE_CHECKING:
    from kinode.tasks.studies.study import Study

MOST_FAILURES = 50  # rows of the table
FILE = "study.html"


def report_study(study: Study, folder: str | os.PathLike[str]) -> Path:
    """Write the report of a study into a folder, which is made if needed; gives the file."""
    return write_page(folder, FILE, _compose(study))


def _compose(study: Study) -> str:
    top = tag("header", tag("h1", "Study"), tag("p", study.head, class_="lead"))
    notes = join(tag("p", note) for note in study.notes)
    foot = tag("footer", f"Written by kinode {__version__}.")
    body = tag("main", top, notes, _summary(study), _best(study), *_plots(study), _failures(study), foot)
    return compose_page("Study of many runs", body)


def _summary(study: Study) -> Markup:
    rows = [(text, *numbers, pretty_unit(unit)) for text, *numbers, unit in study.rows if len(numbers) == 3]
    return tag(
        "section", tag("h2", "Results"), table(("result", "least", "mean", "largest", "unit"), rows, numbers=(1, 2, 3))
    )


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


def _plots(study: Study) -> list[Markup]:
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
    shown = table((*study.axes, "why"), rows[:MOST_FAILURES])
    return tag("section", tag("h2", f"Runs that failed ({len(rows)})"), shown, tag("p", more))
