"""The methods of integration: one entry is all that a Runge-Kutta method needs, explicit or implicit.

``kn.simulate``, the command line, the ``method`` of a file's run section with its schema, and the table in the
documentation read this table. A method of the loop language is an explicit Runge-Kutta tableau (tableaus.py), with
error control or with a fixed step, or a Radau method (radau_table.py). Another family of methods (Rosenbrock,
multistep) needs a stepping of its own beside them: a loop in ode/loops. This module imports no numbers: the command
line reads it to print its help.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from kinode.ode.loops.run_codes import Stepping

if TYPE_CHECKING:
    from kinode.ode.tableaus import Tableau

LOOPS = {
    Stepping.ADAPTIVE: "advance_adaptive",
    Stepping.FIXED: "advance_fixed",
    Stepping.IMPLICIT: "advance_implicit",
}
"""The compiled loop for each kind of step (compiled_loops.py)."""
PLAIN_LOOPS = {Stepping.ADAPTIVE: "advance_adaptive_plain", Stepping.FIXED: "advance_fixed_plain"}
"""The same for models without events and bounds of laws; they compile in half the time."""


@dataclass(frozen=True)
class IntegrationMethod:
    """A method of integration."""

    name: str
    what: str
    """Authors, order and kind of steps."""
    scope: str
    """Its range of use."""
    order: int
    """Order of the solution."""
    stepping: Stepping
    tableau: Callable[[], Tableau]
    """Its coefficients."""
    stiff: bool = False
    """Whether stability does not limit the length of its steps."""
    then: str | None = None
    """The method that takes a run over where stability limits the length of its steps."""

    @property
    def fixed(self) -> bool:
        """Whether the user gives the length of its steps."""
        return self.stepping == Stepping.FIXED

    @property
    def loop(self) -> str:
        """The compiled loop that it runs in."""
        return LOOPS[self.stepping]

    def find_loop(self, eventful: bool) -> str:
        """The compiled loop for a model with events or bounds of laws, or for one with neither."""
        return self.loop if eventful else PLAIN_LOOPS.get(self.stepping, self.loop)


def coefficients(name: str, module: str = "tableaus") -> Callable[[], Tableau]:
    """A tableau by the name of its function in a module of this package, imported at the first use."""

    def make() -> Tableau:
        tableau: Tableau = getattr(import_module(f"kinode.ode.{module}"), name)()
        return tableau

    return make


_ENTRIES = (
    IntegrationMethod(
        "dopri5",
        what="Dormand and Prince, order 5, adaptive",
        scope="what is not stiff; comparisons",
        order=5,
        stepping=Stepping.ADAPTIVE,
        tableau=coefficients("dopri5"),
    ),
    IntegrationMethod(
        "auto",
        what="`dopri5`; where stability bounds its steps, and many are to come, `stiff` takes over",
        scope="nearly everything; the default",
        order=5,
        stepping=Stepping.ADAPTIVE,
        tableau=coefficients("dopri5"),
        then="stiff",
    ),
    IntegrationMethod(
        "dop853",
        what="Dormand and Prince, order 8, adaptive",
        scope="tight tolerances, smooth laws, long flights",
        order=8,
        stepping=Stepping.ADAPTIVE,
        tableau=coefficients("dop853"),
    ),
    IntegrationMethod(
        "rk4",
        what="classical, order 4, fixed `step`",
        scope="comparisons, real time, equal work for every run",
        order=4,
        stepping=Stepping.FIXED,
        tableau=coefficients("rk4"),
    ),
    IntegrationMethod(
        "stiff",
        what="Radau IIA with 5 stages, order 9, adaptive, with the exact Jacobian",
        scope="stiff springs and dampers beside slow motion, in loops too",
        order=9,
        stepping=Stepping.IMPLICIT,
        tableau=coefficients("radau", "radau_table"),
        stiff=True,
    ),
)
METHODS: dict[str, IntegrationMethod] = {method.name: method for method in _ENTRIES}
"""All methods by name."""
DEFAULT_METHOD = "auto"
"""The default method."""
FORMER_METHODS = {"cvode": "stiff"}
"""Methods that there are no more, with those that are taken in their place."""


def is_fixed(name: str) -> bool:
    """Whether there is a method of that name to which the user gives the length of its steps."""
    return name in METHODS and METHODS[name].fixed


def name_fixed() -> str:
    """The methods with a fixed step, in words."""
    return " or ".join(name for name, method in METHODS.items() if method.fixed)


def write_methods() -> str:
    """The table of the methods in Markdown, as the documentation shows it."""
    rows = [f"| `{method.name}` | {method.what} | {method.scope} |" for method in METHODS.values()]
    return "\n".join(["| `method` | what | for |", "|---|---|---|", *rows, ""])


def find_stiff_method() -> str:
    """The name of the method for stiff systems."""
    return next(name for name, method in METHODS.items() if method.stiff)
