"""What a report says about the derivation: the vector scheme, and the steps of ``kn.explain`` with their formulas."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from kinode.symbolic.explanation import Explanation, Step, number_text
from kinode.symbolic.markup import Markup, join, tag
from kinode.symbolic.mathml import printer_of, symbol_markup
from kinode.symbolic.worksheet import Item
from kinode.views.mechanism.flow_chart import FlowChart
from kinode.views.mechanism.scheme_tiers import drive_table, tier_table
from kinode.views.mechanism.vector_scheme import Scheme
from kinode.views.report.html_markup import picture, table
from kinode.views.style import MINUS, pretty_unit, style

if TYPE_CHECKING:
    from kinode.model.system import System

MINUS_SIGN = f"<mo>{MINUS}</mo>"
MOST_BODIES = 16  # of a scheme that a page has room for
SCHEME = (
    "Not to scale: each tier stands above the body that carries it. Radius vectors and axes are those at the initial "
    "state; a vector is in the axes of the body that it starts from."
)


def describe_scheme(system: System) -> Markup:
    """The vector scheme with its tables, as long as it fits a page."""
    if len(system.bodies) > MOST_BODIES:
        return Markup("")
    scheme = Scheme(system, table=False)
    with style():
        figure = scheme.figure()
    head, rows = tier_table(scheme.model)
    drive_head, drives = drive_table(scheme.model)
    return join(
        [
            tag("h3", "Vector scheme"),
            picture(figure, f"Vector scheme of {system.name}", caption=SCHEME, class_="scheme"),
            table([_indexed(cell) for cell in head], rows) if rows else "",
            table([_indexed(cell) for cell in drive_head], drives) if drives else "",
        ]
    )


def _indexed(words: str) -> Markup:
    """A head of a table: R_Ck is R with the index Ck."""
    pieces = re.split(r"(\w_\w+)", words)
    return join(join([x[0], tag("sub", x[2:])]) if k % 2 else x for k, x in enumerate(pieces))


def describe_steps(system: System) -> Markup:
    """A section with all steps, each folded."""
    from kinode.symbolic.explain import explain

    explanation = explain(system)
    with style():
        chart = FlowChart(explanation).figure()
    return join(
        [
            tag("h2", "How the equations come about"),
            picture(chart, f"Flow chart of the steps for {system.name}", class_="scheme"),
            compose_steps(explanation),
        ]
    )


def compose_steps(explanation: Explanation) -> Markup:
    """The steps one after the other, to be unfolded."""
    return join(_step(explanation, k + 1, step) for k, step in enumerate(explanation.steps))


def _step(explanation: Explanation, number: int, step: Step) -> Markup:
    return tag("details", tag("summary", f"{number}. {step.title}"), compose_step(explanation, step))


def compose_step(explanation: Explanation, step: Step) -> Markup:
    """One step: its words, its law, its tables and formulas with their numbers."""
    parts: list[object] = [tag("p", step.words)]
    if step.law:
        parts.append(tag("pre", step.law[0]))
    if step.table:
        parts.append(table(*step.table))
    rows = [row for item in step.items for row in _rows(explanation, item)]
    if rows:
        parts.append(table(["", "at the start", "", "formula"], rows, numbers=(1,)))
    parts += [tag("p", note, class_="note") for note in step.notes]
    return join(parts)


def _rows(explanation: Explanation, item: Item) -> Iterator[list[object]]:
    """A row for each component that is not zero by itself; the owner's name before the first."""
    styles, owner = explanation.notation.styles, item.owner
    write = printer_of(styles)
    for name, formula, value, unit in zip(item.names, item.formulas, item.values, item.units):
        if formula == 0:
            continue
        shown = number_text(explanation.rounded(value, unit)).replace("-", MINUS)
        right = Markup(write(formula).replace("<mo>-</mo>", MINUS_SIGN))
        written = tag("math", tag("mrow", symbol_markup(styles[name]), tag("mo", "="), right))
        yield [owner, shown, "" if unit == "1" else pretty_unit(unit), written]
        owner = ""
