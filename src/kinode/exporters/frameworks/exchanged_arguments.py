"""What functions for other programs take: arrays with the names, units and own values of their entries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError
from kinode.model.base.fields import unknown
from kinode.model.quantity_expressions import unit_of

if TYPE_CHECKING:
    from kinode.dynamics.compiled_system import Dynamics

EFFORT_OF_SPEED = {"rad/s": ("N*m", "rad/s^2"), "m/s": ("N", "m/s^2")}


@dataclass(frozen=True)
class NamedEntry:
    """One entry of an argument: its name, SI unit ("" where it is not known), and the model's own value."""

    name: str
    unit: str
    value: float


class ExchangedArguments(Mapping[str, tuple[NamedEntry, ...]]):
    """The arguments t, q, u, z, p, inputs and effort of a system's functions, and u_dot: the entries of each."""

    def __init__(self, dynamics: Dynamics) -> None:
        system, state = dynamics.system, dynamics.initial
        arrays = {"q": state.q, "u": state.u, "z": state.z}
        roles: dict[str, list[NamedEntry]] = {"t": [NamedEntry("t", "s", float(state.t))], "q": [], "u": [], "z": []}
        for c in dynamics.coordinates:
            roles[c.role].append(NamedEntry(c.name, _one(unit_of(system, c.name)), float(arrays[c.role][c.index])))
        for word, names, values in (
            ("p", dynamics.topology.parameters, dynamics.parameters),
            ("inputs", dynamics.topology.inputs, dynamics.inputs),
        ):
            roles[word] = [NamedEntry(n, _one(unit_of(system, n)), float(v)) for n, v in zip(names, values)]
        for k, word in enumerate(("effort", "u_dot")):
            units = (EFFORT_OF_SPEED.get(entry.unit, ("", ""))[k] for entry in roles["u"])
            renamed = (entry.name.replace(".u", f".{word}", 1) for entry in roles["u"])
            roles[word] = [NamedEntry(name, unit, 0.0) for name, unit in zip(renamed, units)]
        self._entries = {word: tuple(entries) for word, entries in roles.items()}

    def __getitem__(self, name: str) -> tuple[NamedEntry, ...]:
        return self._entries[name]

    def __iter__(self) -> Any:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def values_of(self, name: str) -> Array:
        """The model's own values of an argument; efforts and accelerations are zero."""
        return np.array([entry.value for entry in self._entries[name]])

    def fill(self, words: tuple[str, ...], given: Mapping[str, Any]) -> dict[str, Any]:
        """All arguments that ``words`` name: the given ones, and the model's own values of the others.

        An argument by the names of some entries, such as ``p={"length": 0.4}``, keeps the others.
        """
        for name in given:
            if name not in words:
                raise ArgumentError(unknown("no argument is called", name, words))
        return {word: self._fill(word, given[word]) if word in given else self.values_of(word) for word in words}

    def _fill(self, word: str, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        places = {entry.name: k for k, entry in enumerate(self._entries[word])}
        vector = self.values_of(word)
        for name, number in value.items():
            if name not in places:
                raise ArgumentError(unknown(f"{word}: no entry is called", str(name), places))
            vector[places[name]] = number
        return vector

    def table(self, words: tuple[str, ...]) -> str:
        """The entries as lines: argument, index, name, unit, own value."""
        rows = [
            (word, str(k), entry.name, entry.unit or "-", f"{entry.value:.6g}")
            for word in words
            for k, entry in enumerate(self._entries[word])
        ]
        widths = [max((len(row[k]) for row in rows), default=0) for k in range(5)]
        return "\n".join("  ".join(text.ljust(w) for text, w in zip(row, widths)).rstrip() for row in rows)


def _one(unit: str | tuple[str, ...]) -> str:
    return unit if isinstance(unit, str) else unit[0]
