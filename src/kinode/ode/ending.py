"""How a run ended: one record from the loop to the trajectory."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class EndKind(Enum):
    """Why a run ended, by the word that files keep."""

    DONE = "done"
    """It reached its end."""
    CONDITION = "condition"
    """The stop condition became true."""
    STOPPED = "stopped"
    """A progress function asked for it."""
    INTERRUPTED = "interrupted"
    """Ctrl-C."""
    NOT_FINITE = "not finite"
    """A rate or a value has no finite value."""
    STEP_TOO_SMALL = "step too small"
    """No step was short enough for the tolerance."""
    STEP_TOO_LONG = "step too long"
    """A step of fixed length may have left its branch of the motion."""
    TOO_MANY_STEPS = "too many steps"
    CHATTER = "chatter"
    """Events follow each other without end."""
    MODES_INCONSISTENT = "modes inconsistent"
    """No modes fit together."""
    SOLVER_FAILED = "solver failed"
    """A solver beyond the loops gave up."""
    LOOP_OPEN = "loop open"
    """Constraints that were taken for redundant came apart, or drives tore a loop."""
    IMPOSSIBLE_VALUE = "impossible value"
    """A law gave a component a value that it cannot have."""
    FAILED = "failed"
    """Another failure, or one of which a file keeps no more."""

    @property
    def status(self) -> str:
        """In a word of four: done, condition, stopped, failed."""
        return STATUS.get(self, "failed")


STATUS = {
    EndKind.DONE: "done",
    EndKind.CONDITION: "condition",
    EndKind.STOPPED: "stopped",
    EndKind.INTERRUPTED: "stopped",
}
"""What the kinds are called in short; all others have failed."""


@dataclass(frozen=True)
class Ending:
    """How a run ended."""

    kind: EndKind
    time: float
    """When, in s: of a value that is not finite when that was seen, else where the run came to."""
    message: str = "reached the end"
    component: str | None = None
    """The component that is to blame, as far as one is known."""
    entry: int | None = None
    """The entry of the state that was not finite."""

    @property
    def status(self) -> str:
        """In a word of four: done, condition, stopped, failed."""
        return self.kind.status

    @property
    def failed(self) -> bool:
        """Whether the run could not go on."""
        return self.status == "failed"


def reached_end(t: float) -> Ending:
    """The ending of a run that came to its end."""
    return Ending(EndKind.DONE, t)


def stopped_at(t: float) -> Ending:
    """The ending of a run that a progress function stopped."""
    return Ending(EndKind.STOPPED, t, f"stopped at t = {t:.9g} s")


def interrupted_at(t: float) -> Ending:
    """The ending of a run that Ctrl-C stopped."""
    return Ending(EndKind.INTERRUPTED, t, f"interrupted at t = {t:.9g} s")
