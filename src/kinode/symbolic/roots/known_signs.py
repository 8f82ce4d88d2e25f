"""The signs of square roots in formulas: those at the start of the system, and the conditions under which they hold.

The length of a spring along a slide is sqrt((q + a)^2).  While the length does not pass zero it is q + a, or -(q + a),
whichever is positive at the start.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from kinode.algebra.normal_form import Harmonic, Key, text_of
from kinode.algebra.scalars import Scalar
from kinode.algebra.trace import replay
from kinode.errors import Error
from kinode.structure.topology import Topology
from kinode.symbolic.roots.squared_roots import OVER, cancel, polynomial_root, reciprocal, value_of


class KnownSigns:
    """Finds roots of squares, with their signs at the start; ``conditions`` are the roots that it took."""

    def __init__(self, topology: Topology, names: dict[tuple[str, int], str]) -> None:
        self._topology, self._names = topology, names
        self._values: dict[tuple[str, int], float] | None = None
        self.conditions: dict[str, Harmonic] = {}

    def find_root(self, x: Harmonic) -> Harmonic | None:
        """The positive root of a square; None if x is no square, or the root has no sign at the start."""
        root = polynomial_root(x)
        if root is None:
            return None
        try:
            value = value_of(root, self._start())
        except KeyError:  # a name that is no part of the state, such as a friction effort
            return None
        if value == 0.0:
            return None
        positive: Harmonic = root if value > 0.0 else -root
        self.conditions[text_of(positive)] = positive
        return positive

    def sign_of(self, x: Scalar) -> int:
        """The sign of a traced scalar at the start; 0 where it vanishes or is not known."""
        try:
            value = float(replay([x], self._start_entries())[0])
        except (KeyError, TypeError):
            return 0
        return (value > 0.0) - (value < 0.0)

    def invert(self, x: Harmonic) -> Harmonic | None:
        """The reciprocal of a root that was taken; None for all others."""
        return reciprocal(x) if text_of(x) in self.conditions else None

    def reduced(self, terms: dict[Key, Fraction]) -> dict[Key, Fraction]:
        """The terms with quotients by roots cancelled."""
        if not any(atom.function == OVER for mono, _ in terms for atom, _ in mono):
            return terms
        return cancel(terms)

    def _start(self) -> dict[str, float]:
        """The values of all names at the start."""
        return {self._names[entry]: value for entry, value in self._start_entries().items()}

    def _start_entries(self) -> dict[tuple[str, int], float]:
        if self._values is None:
            self._values = start_values(self._topology)
        return self._values


def start_values(topology: Topology) -> dict[tuple[str, int], float]:
    """Time, state, parameters and inputs at the assembled start, by array and index; empty if it cannot be found."""
    from kinode.dynamics.compiled_system import Dynamics

    try:
        dynamics = Dynamics(topology.system)
        point = dynamics.point(dynamics.initial)
    except Error:
        return {}
    arrays: dict[str, Any] = {"q": point.q, "u": point.u, "z": point.z, "p": point.p, "inputs": point.inputs}
    values = {(name, i): float(x) for name, array in arrays.items() for i, x in enumerate(array)}
    return {("t", 0): 0.0, **values}
