"""The report's section of equations, for models whose equations fit on a page."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from kinode.algebra.normal_form import budget
from kinode.errors import Error
from kinode.structure.topology import find_topology
from kinode.symbolic.markup import Markup, join, tag

if TYPE_CHECKING:
    from kinode.model.system import System

MOST_FREEDOMS = 4  # of the state, and as many bodies
MOST_BODIES = 8  # whose reactions and balances are written in vectors
MOST_FRAMES = 3  # about which balances are written
LONG = (
    "Written out, the equations of motion are long; kn.equations gives them with names for what recurs, "
    "and on the command line kinode equations."
)
_LONG_SECTION = join([tag("h2", "Equations"), tag("p", LONG)])
NOTE = "Written out by kn.equations, which also gives them as SymPy, LaTeX, Python and C, with joint reactions."


def describe_forms(system: System) -> Markup:
    """Folded: the reactions in vectors, and the balances about declared frames, of systems with few bodies."""
    if not 0 < len(system.bodies) <= MOST_BODIES:
        return Markup("")
    from kinode.symbolic.equations_of_motion import PAGE_BUDGET, equations

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
    from kinode.symbolic.equations_of_motion import equations_of_page

    try:
        derived = equations_of_page(system)
    except Error:  # an initial state that cannot be assembled, or a law without a formula
        return Markup("")
    if derived.shape != "expanded":
        return _LONG_SECTION
    return join([tag("h2", "Equations"), tag("p", NOTE), Markup(derived.mathml())])
