"""What a report says about the derivation: circuit, vector scheme, steps of ``kn.explain`` and equations of motion.

The circuit has its diagram, the class of its operating space, and which motion is given.  Equations are shown for
models whose equations fit on a page.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from kinode.errors import Error
from kinode.sheets.markup import Markup, join, table, tag
from kinode.sheets.tables import word_table
from kinode.structure.topology import find_topology
from kinode.symbolic.normal_form import budget
from kinode.views.diagram.circuit_diagram import diagram
from kinode.views.diagram.circuit_graph import CircuitGraph
from kinode.views.html_markup import picture
from kinode.views.mechanism.flow_chart import FlowChart
from kinode.views.mechanism.scheme_tiers import drive_table, tier_table
from kinode.views.mechanism.vector_scheme import Scheme
from kinode.views.style import style

if TYPE_CHECKING:
    from kinode.dynamics.compiled_system import Dynamics
    from kinode.model.system import System


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
    from kinode.symbolic.circuit.whole_circuit import circuit

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
    return join([head, *map(table, space.tables), tag("p", MODES, class_="note")])


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
            table(word_table([_indexed(cell) for cell in head], rows)) if rows else "",
            table(word_table([_indexed(cell) for cell in drive_head], drives)) if drives else "",
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
            Markup(explanation.html()),
        ]
    )


MOST_FREEDOMS = 4  # of the state, and as many bodies
MOST_IN_VECTORS = 8  # whose reactions and balances are written in vectors
MOST_FRAMES = 3  # about which balances are written
LONG = (
    "Written out, the equations of motion are long; kn.equations gives them with names for what recurs, "
    "and on the command line kinode equations."
)
_LONG_SECTION = join([tag("h2", "Equations"), tag("p", LONG)])
NOTE = "Written out by kn.equations, which also gives them as SymPy, LaTeX, Python and C, with joint reactions."


def describe_forms(system: System) -> Markup:
    """Folded: the reactions in vectors, and the balances about declared frames, of systems with few bodies."""
    if not 0 < len(system.bodies) <= MOST_IN_VECTORS:
        return Markup("")
    from kinode.symbolic.equations import PAGE_BUDGET, equations

    joints = list(system.joints)
    forms: list[tuple[str, Callable[[], Any]]] = [
        ("Reactions of joints in vectors", lambda: equations(system, shape="vectors", reactions=joints))
    ]
    for name in list(system.frames)[:MOST_FRAMES]:
        title = f"Balances about {name}, in its axes"
        forms.append((title, partial(equations, system, frame=name)))
    with budget(PAGE_BUDGET):
        return join([_folded(title, derive) for title, derive in forms])


def _folded(title: str, derive: Callable[[], Any]) -> Markup:
    """A form of the equations under its title, which opens it; nothing where the form does not apply."""
    try:
        return tag("details", tag("summary", title), Markup(derive().mathml()))
    except Error:
        return Markup("")


def describe_equations(system: System) -> Markup:
    """The equations of motion, typeset; where they are long, a sentence in their place that says how to get them.

    They have a budget of operations, so that a report does not wait for them.
    """
    freedoms = find_topology(system).n_u
    if not freedoms:
        return Markup("")
    if max(freedoms, len(system.bodies)) > MOST_FREEDOMS:
        return _LONG_SECTION
    from kinode.symbolic.equations import equations_of_page

    try:
        derived = equations_of_page(system)
    except Error:  # an initial state that cannot be assembled, or a law without a formula
        return Markup("")
    if derived.shape != "expanded":
        return _LONG_SECTION
    return join([tag("h2", "Equations"), tag("p", NOTE), Markup(derived.mathml())])
