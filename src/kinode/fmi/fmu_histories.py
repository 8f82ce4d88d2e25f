"""What has happened to an FMU for Model Exchange, event by event, as numbers that name it.

Between events an FMU follows from time, states, parameters and inputs; at an event it changes discrete states of its
own, which nobody sees.  They follow from its initialization and from the events since: from the time, the states and
the inputs at each of them.  So a **ticket** names all that: a number that is made of these numbers, a discrete state of
the system.  The same run has the same tickets in every process.  An instance with another ticket, or a new one, is
brought to a ticket by letting the events happen to it again; so a run can begin anywhere, an event function can be
evaluated before an event is accepted, and runs in several threads do not disturb each other.
"""

from __future__ import annotations

import hashlib
import struct
import threading
from collections.abc import Sequence
from typing import NamedTuple

from kinode.errors import LawError
from kinode.fmi.fmu_instance import Entry
from kinode.fmi.fmu_solver import SolvedFmu

NEVER = 1e30  # s: the time of the next event if there is none; it fits into 32 bits, as pictures want it
MOST_RECORDS = 200_000  # events that are remembered for a part; the oldest are forgotten
ROUNDING = 1e-9  # share of a time: an event that comes that little after its time is at its time


class FmuOutcome(NamedTuple):
    """How an initialization or an event leaves an FMU."""

    states: tuple[float, ...]
    ticket: float
    next_event: float
    signs: tuple[float, ...]
    """Of its event indicators: 1 where they are positive, else 0."""
    values: tuple[float, ...]
    """Of outputs that change at events alone."""

    def numbers(self) -> list[float]:
        """All of it, in the order of the results."""
        return [*self.states, self.ticket, self.next_event, *self.signs, *self.values]


class FmuRecord(NamedTuple):
    """An event, or with ``before`` 0 the initialization: where it happened, and what it led to."""

    before: float
    t: float
    states: tuple[float, ...]
    numbers: tuple[float, ...]
    inputs: tuple[float, ...]
    outcome: FmuOutcome


def find_ticket(before: float, t: float, *numbers: Sequence[float]) -> float:
    """The number that names an event: a whole number below 2^52, not zero."""
    digest = hashlib.blake2b(struct.pack("<2d", before, t), digest_size=8)
    for group in numbers:
        digest.update(struct.pack(f"<{len(group) + 1}d", float(len(group)), *group))
    return float((int.from_bytes(digest.digest(), "little") >> 12) or 1)


class FmuHistories:
    """The events of all runs of one part, by their tickets."""

    def __init__(self, file: str, owner: str) -> None:
        self.file, self.owner = file, owner
        self._records: dict[float, FmuRecord] = {}
        self._lock = threading.Lock()

    def find(self, ticket: float) -> FmuRecord | None:
        """The event that a ticket names."""
        return self._records.get(ticket)

    def add(self, record: FmuRecord) -> FmuOutcome:
        """Remember an event."""
        with self._lock:
            while len(self._records) >= MOST_RECORDS:
                self._records.pop(next(iter(self._records)))
            self._records[record.outcome.ticket] = record
        return record.outcome

    def trace(self, ticket: float) -> list[FmuRecord]:
        """The events that lead to a ticket, from the initialization on."""
        records: list[FmuRecord] = []
        while ticket != 0.0:
            record = self._records.get(ticket)
            if record is None:
                message = (
                    f"the FMU {self.file} cannot be brought to where an event left it: that is known in the process"
                )
                raise LawError(f"{message} of its run alone; simulate from the start", component=self.owner)
            records.append(record)
            ticket = record.before
        return records[::-1]


def happen(instance: SolvedFmu, t: float, states: Sequence[float], inputs: Sequence[Entry]) -> None:
    """Let an event happen to an instance."""
    instance.go_to(t, states)
    instance.set(inputs)
    instance.pass_event(t)
