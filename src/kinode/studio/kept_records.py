"""Records that depend on parameters: made anew only when a parameter that they have read has another value."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any


class KeptRecords:
    """Records by key, each with the parameters that were read while it was made.

    Examples
    --------
    >>> from kinode.studio.kept_records import KeptRecords
    >>> system = kn.System("arm")
    >>> length = system.parameter("L", 2.0)
    >>> kept = KeptRecords()
    >>> kept.use({"L": 2.0})
    >>> first = kept.find("bar", lambda: [kept.resolve(length)])
    >>> first is kept.find("bar", lambda: [kept.resolve(length)])
    True
    >>> kept.use({"L": 3.0})
    >>> kept.find("bar", lambda: [kept.resolve(length)])
    [3.0]
    """

    def __init__(self) -> None:
        self._records: dict[Hashable, tuple[dict[str, float], Any]] = {}
        self._values: Mapping[str, float] = {}
        self._read: dict[str, float] = {}

    def use(self, values: Mapping[str, float]) -> None:
        """Take other values of the parameters, all of them by name."""
        self._values = values

    def resolve(self, value: Any) -> float:
        """A number of the model at the values in use."""
        return float(value) if isinstance(value, float | int) else float(value.evaluate(self._get))

    def find(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """The record of a key: the one that is kept, or what ``make`` gives."""
        known = self._records.get(key)
        if known is None or any(self._values[name] != x for name, x in known[0].items()):
            outer, self._read = self._read, {}
            try:
                record = make()
                known = self._records[key] = self._read, record
            finally:
                self._read = outer
        self._read.update(known[0])  # what is made of it depends on the same
        return known[1]

    def _get(self, name: str) -> float:
        value = self._read[name] = self._values[name]
        return value
