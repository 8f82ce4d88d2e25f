"""A file that is an FMU: opened once, shared by all who use it, gone with the last of them.

The instances of runs are kept under tickets.  A ticket is a number that is part of a run's state; it names one state of
one instance, and each step gives a new one.  So a run finds its instance again, and a state that no instance is in any
more is told from one that is.
"""

from __future__ import annotations

import itertools
import os
import weakref
from collections import OrderedDict
from functools import cached_property
from typing import TYPE_CHECKING, Any

from kinode.errors import LawError, ModelError
from kinode.fmi.fmu_description import FmuDescription, FmuFolder, find_digest, read_description
from kinode.fmi.fmu_instance import FmuInstance

if TYPE_CHECKING:
    from kinode.fmi.fmu_instance import SolvedFmu

MOST_INSTANCES = 32  # that wait for their run to go on; the oldest is freed for a new one
_TICKETS = itertools.count(1)
_OPEN: weakref.WeakValueDictionary[str, FmuPackage] = weakref.WeakValueDictionary()


class FmuPackage:
    """An unpacked FMU with its description and the instances of runs."""

    def __init__(self, path: str) -> None:
        self.name = os.path.basename(path)
        self.folder = FmuFolder(path)
        self.description: FmuDescription = read_description(self.folder.place, self.name)
        self.waiting: OrderedDict[int, FmuInstance] = OrderedDict()
        self._close = weakref.finalize(self, _close_all, self.waiting, self.folder)

    def start(self, owner: str, exchange: bool) -> FmuInstance:
        """A new instance."""
        kind = self.description.model_exchange if exchange else self.description.co_simulation
        most = 1 if kind is not None and kind.once else MOST_INSTANCES
        while len(self.waiting) >= most:
            self.waiting.popitem(last=False)[1].close()
        if not exchange:
            return FmuInstance(self, owner, exchange)
        from kinode.fmi.fmu_instance import SolvedFmu

        return SolvedFmu(self, owner, exchange)

    def make(self, owner: str) -> SolvedFmu:
        """A new instance for Model Exchange that no ticket names."""
        from kinode.fmi.fmu_instance import SolvedFmu

        return SolvedFmu(self, owner, True)

    def take(self, ticket: float, owner: str, t: float) -> FmuInstance:
        """The instance whose state a ticket names."""
        instance = self.waiting.pop(int(ticket), None)
        if instance is None:
            message = (
                f"the FMU {self.name} is not in the state that this run has at t = {t:.9g} s: an FMU goes forwards"
            )
            raise LawError(f"{message} only, and within one process; simulate from the start", component=owner)
        return instance

    def keep(self, instance: FmuInstance) -> float:
        """Keep an instance in its present state, under a new ticket."""
        ticket = next(_TICKETS)
        self.waiting[ticket] = instance
        return float(ticket)


def _close_all(waiting: OrderedDict[int, FmuInstance], folder: FmuFolder) -> None:
    while waiting:
        waiting.popitem()[1].close()
    folder.remove()


class FmuFile:
    """The path of an FMU and its content, which stays the same: another file at that path is refused."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.path.abspath(os.fspath(path))
        self.digest = find_digest(self.path)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FmuFile) and (self.path, self.digest) == (other.path, other.digest)

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return repr(self.path)

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path, "digest": self.digest}

    @cached_property
    def package(self) -> FmuPackage:
        """The FMU, unpacked."""
        package = _OPEN.get(self.digest)
        if package is None:
            if find_digest(self.path) != self.digest:
                message = f"{os.path.basename(self.path)} has changed since the model was made"
                raise ModelError(message, field="file")
            package = _OPEN[self.digest] = FmuPackage(self.path)
        return package
