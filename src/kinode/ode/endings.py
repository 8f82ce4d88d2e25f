"""How a run ended: one record from the loop to the trajectory; and codes with which a loop cannot go on, in words."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from kinode.ode.loops.run_codes import SLOW_SHARE, STALL_STEPS, Outcome


class EndKind(Enum):
    """Why a run ended; the values are the words in files."""

    DONE = "done"
    """It reached its end."""
    CONDITION = "condition"
    """The stop condition became true."""
    STOPPED = "stopped"
    """A progress function stopped it."""
    INTERRUPTED = "interrupted"
    """Ctrl-C."""
    NOT_FINITE = "not finite"
    """A state or its time derivative is not finite."""
    STEP_TOO_SMALL = "step too small"
    """No step was short enough for the tolerance."""
    STALLED = "stalled"
    """Very many steps hardly advanced it."""
    STEP_TOO_LONG = "step too long"
    """A step of fixed length may have left its branch of the motion."""
    TOO_MANY_STEPS = "too many steps"
    CHATTER = "chatter"
    """Events follow each other without end."""
    MODES_INCONSISTENT = "modes inconsistent"
    """There are no consistent modes."""
    SOLVER_FAILED = "solver failed"
    """An integrator of others gave up; only in files of earlier versions."""
    LOOP_OPEN = "loop open"
    """A constraint that was taken for redundant is violated, or drives break a loop."""
    IMPOSSIBLE_VALUE = "impossible value"
    """An expression gave a component a value that it cannot have."""
    PART_STOPS = "part stops"
    """A part cannot go on after a completed step; ``entry`` is its code."""
    FAILED = "failed"
    """Another failure, or a failure from a file without details."""

    @property
    def status(self) -> str:
        """The kind in one of four words: done, condition, stopped, failed."""
        return STATUS.get(self, "failed")


STATUS = {
    EndKind.DONE: "done",
    EndKind.CONDITION: "condition",
    EndKind.STOPPED: "stopped",
    EndKind.INTERRUPTED: "stopped",
}
"""The status of each kind; all others have failed."""


@dataclass(frozen=True)
class Ending:
    """How a run ended."""

    kind: EndKind
    time: float
    """Time in s: of the value that is not finite, else the time that the run reached."""
    message: str = "reached the end"
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
        return self.kind is not EndKind.DONE and self.status == "failed"


def reached_end(t: float) -> Ending:
    """The ending of a run that reached its end."""
    return Ending(EndKind.DONE, t)


def stopped_at(t: float) -> Ending:
    """The ending of a run that a progress function stopped."""
    return Ending(EndKind.STOPPED, t, f"stopped at t = {t:.9g} s")


def interrupted_at(t: float) -> Ending:
    """The ending of a run that Ctrl-C stopped."""
    return Ending(EndKind.INTERRUPTED, t, f"interrupted at t = {t:.9g} s")


def describe_failure(code: int, t: float, length: float, failed: int) -> Ending:
    """The ending for a code.

    Parameters
    ----------
    code : int
    t : float
        The time that the run reached, in s; where the state is not finite, the time at which it is not.
    length : float
        Of the run, in s.
    failed : int
        The component of the state that is not finite, or the code of a part that stops the run.
    """
    if code == Outcome.NOT_FINITE:
        message = f"component {failed} of the state is not finite at t = {t:.9g} s"
        return Ending(EndKind.NOT_FINITE, t, message, entry=failed)
    if code == Outcome.STEP_TOO_SMALL:
        message = f"the step became too small at t = {t:.9g} s: the motion is too abrupt to be followed"
        return Ending(EndKind.STEP_TOO_SMALL, t, message)
    if code == Outcome.STALLED:
        message = f"the run stalls at t = {t:.9g} s: the last {STALL_STEPS:,} steps advanced it by less than "
        return Ending(EndKind.STALLED, t, f"{message}{SLOW_SHARE * length:.1g} s of its {length:g} s")
    if code == Outcome.LEFT_BRANCH:
        message = (
            f"at t = {t:.9g} s a step ended so far from where the loops close that it may have left its branch: "
            "take shorter steps, or a method that chooses them"
        )
        return Ending(EndKind.STEP_TOO_LONG, t, message)
    if code == Outcome.PART_STOPS:
        return Ending(EndKind.PART_STOPS, t, f"a part stops the run at t = {t:.9g} s", entry=failed)
    message = f"the allowed number of steps was used up at t = {t:.9g} s"
    return Ending(EndKind.TOO_MANY_STEPS, t, message)
