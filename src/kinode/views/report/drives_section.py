"""The drives of a run in its report: what motor and gear of each have to give."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinode.results.sizing.drive_sizing import HEAD, compute_sizing
from kinode.symbolic.markup import Markup, join, tag
from kinode.views.report.html_markup import table

if TYPE_CHECKING:
    from kinode.results.trajectory import Trajectory

WORDS = (
    "On the motor's side the inertia and the losses of the rotor count; on the output side is what the gear transmits "
    "to the links. Without a gear both are the same. A negative mean power is taken from the mechanism."
)


def describe_drives(run: Trajectory) -> Markup:
    """The table for choosing motors and gears; nothing if no joint is driven."""
    sizing = compute_sizing(run)
    if not len(sizing):
        return Markup("")
    rows = [[cell.replace("N*m", "N·m") for cell in row] for row in sizing.rows()]
    return join(
        [tag("h2", "Drives"), tag("p", WORDS), table(list(HEAD), rows, numbers=range(3, len(HEAD)), dense=True)]
    )
