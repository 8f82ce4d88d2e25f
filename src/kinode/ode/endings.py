"""How a run ended: one record from the loop to the trajectory, and the kinds of endings with their codes and words."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from kinode.ode.loops.run_codes import MAX_IDLE, MAX_INSTANTS, STALL_STEPS, Outcome


class EndKind(Enum):
    """Why a run ended: the word in files, the message, the code of a loop that ends so, and the status.

    Status is one of four words: done, condition, stopped, failed.
    """

    message: str
    code: Outcome | None
    status: str

    def __new__(cls, word: str, message: str = "", code: Outcome | None = None, status: str = "failed") -> EndKind:
        kind = object.__new__(cls)
        kind._value_, kind.message, kind.code, kind.status = word, message, code, status
        return kind

    DONE = "done", "reached the end", Outcome.DONE, "done"
    CONDITION = "condition", "{law} became true at {at}", None, "condition"
    STOPPED = "stopped", "stopped at {at}", None, "stopped"
    """A progress function stopped it."""
    INTERRUPTED = "interrupted", "interrupted at {at}", None, "stopped"
    """Ctrl-C."""
    NOT_FINITE = "not finite", "component {entry} of the state is not finite at {at}", Outcome.NOT_FINITE
    """A state or its time derivative is not finite."""
    STEP_TOO_SMALL = (
        "step too small",
        "the step became too small at {at}: the motion is too abrupt to be followed",
        Outcome.STEP_TOO_SMALL,
    )
    STALLED = (
        "stalled",
        f"the run stalls at {{at}}: the last {STALL_STEPS:,} steps advanced it "
        "by less than {least} of its {length}",
        Outcome.STALLED,
    )
    STEP_TOO_LONG = (
        "step too long",
        "at {at} a step ended so far from where the loops close that it may have left its branch: "
        "take shorter steps, or a method that chooses them",
        Outcome.LEFT_BRANCH,
    )
    TOO_MANY_STEPS = "too many steps", "the allowed number of steps was used up at {at}", Outcome.TOO_MANY_STEPS
    CHATTER = "chatter", "{component} changes without end at {at}: {how}", Outcome.CHATTER
    """Events follow each other without end."""
    MODES_INCONSISTENT = (
        "modes inconsistent",
        "at {at} no modes are consistent: {component} and dependent components change without end",
        Outcome.MODES_INCONSISTENT,
    )
    SOLVER_FAILED = "solver failed"
    """An integrator of others gave up; only in files of earlier versions."""
    LOOP_OPEN = "loop open"
    """A constraint that was taken for redundant is violated, or drives break a loop."""
    IMPOSSIBLE_VALUE = "impossible value"
    """An expression gave a component a value that it cannot have."""
    PART_STOPS = "part stops", "a part stops the run at {at}", Outcome.PART_STOPS
    """A part cannot go on after a completed step; ``entry`` is its code."""
    FAILED = "failed"
    """Another failure, or a failure from a file without details."""

    def at(self, t: float, component: str | None = None, entry: int | None = None, **facts: Any) -> Ending:
        """The ending at a time in s, in the words of its kind."""
        words = self.message.format(at=f"t = {t:.9g} s", component=component, entry=entry, **facts)
        return Ending(self, t, words, component, entry)

    def __init__(self, word: str, text: str = "", code: Outcome | None = None, status: str = "failed") -> None:
        self.text = text
        self.code = code
        self.status = status


OF_CODE = {kind.code: kind for kind in EndKind if kind.code is not None}
"""The kind of ending for each code with which a loop does not go on."""
MANY_INSTANTS = f"more than {MAX_INSTANTS} events within a nanosecond"
MANY_IDLE = (
    f"{MAX_IDLE} events in a row with next to no motion between them; each drives the state back: add "
    "hysteresis (two thresholds), or a mode of rest between"
)
"""How events follow each other without end."""


@dataclass(frozen=True)
class Ending:
    """How a run ended."""

    kind: EndKind
    time: float
    """Time in s: of the value that is not finite, else the time that the run reached."""
    message: str
    component: str | None = None
    """The component that caused it, if known."""
    entry: int | None = None
    """Index of the entry of the state that was not finite."""

    @property
    def status(self) -> str:
        """The kind in one of four words: done, condition, stopped, failed."""
        return self.kind.status

    @property
    def failed(self) -> bool:
        """Whether the run failed."""
        return self.status == "failed"
