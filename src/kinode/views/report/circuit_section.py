"""What a report says about the circuit: its diagram, the class of its operating space, and which motion is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinode.errors import Error
from kinode.symbolic.markup import Markup, join, tag
from kinode.views.diagram.circuit_diagram import diagram
from kinode.views.diagram.circuit_graph import CircuitGraph
from kinode.views.report.html_markup import table

if TYPE_CHECKING:
    from kinode.dynamics.compiled_system import Dynamics

MOST_COMPONENTS = 60  # of a diagram that a page has room for
MOST_LISTED = 14  # of a circuit whose equations a page has room for
CAPTION = (
    "Solid bodies and kinematic nodes from the base to the right; what acts in a joint or on a body stands below it. "
    "Vector links carry velocities and forces of a body, energy links one of each, information links a number."
)
MODES = (
    "Kinematic is a joint whose motion laws give, its forces being results; dynamic is one that moves by forces. "
    "Translations are those of mass centers, in world axes; those of a joint are in its own axes."
)


def describe_circuit(dynamics: Dynamics) -> Markup:
    """A section with the diagram, as long as it fits a page, and the table of motions."""
    parts = [tag("h3", "Circuit")]
    if len(CircuitGraph(dynamics.system).boxes) <= MOST_COMPONENTS:
        svg = diagram(dynamics.system).svg.replace(' xmlns="http://www.w3.org/2000/svg"', "")  # a page knows it
        parts.append(tag("figure", Markup(svg), tag("figcaption", CAPTION), class_="circuit"))
    network = dynamics.topology.network
    if network is not None and network.reports:
        parts.append(tag("p", f"{'. '.join(network.reports)}.", class_="note"))
    if dynamics.system.bodies:
        parts.append(_space(dynamics))
    if len(parts) > 1 and len(CircuitGraph(dynamics.system).boxes) <= MOST_LISTED:
        parts.append(_listing(dynamics))
    return join(parts) if len(parts) > 1 else Markup("")


def _listing(dynamics: Dynamics) -> Markup:
    """The equations of the whole network, folded."""
    from kinode.symbolic.circuit_listing.whole_circuit import circuit

    try:
        listing = circuit(dynamics.system)
        text = Markup(listing.mathml())
    except Error:  # other sections report a system that cannot be assembled
        return Markup("")
    count = sum(row.size for _, row in listing.rows)
    return tag("details", tag("summary", f"Equations of the circuit: {count}, index {listing.index}"), text)


def _space(dynamics: Dynamics) -> Markup:
    from kinode.tasks.operating_space import operating_space

    try:
        space = operating_space(dynamics)
    except Error:  # other sections report an initial state that cannot be assembled
        return Markup("")
    head = tag("p", tag("strong", f"{space.whole}"), f": {space.whole.word}; {space.mode} mode.")
    bodies = [[name, s.name, s.short, str(s.freedoms)] for name, s in space.bodies.items()]
    joints = [[name, j.pair, j.space.short, j.mode, j.source] for name, j in space.joints.items()]
    tables = [
        table(["body", "class", "motion", "freedoms"], bodies, numbers=(3,)),
        table(["joint", "pair", "motion", "mode", "by"], joints),
    ]
    return join([head, *tables, tag("p", MODES, class_="note")])
