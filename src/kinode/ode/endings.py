"""How a run ended: one record from the loop to the trajectory; each kind with its code, status and message."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from kinode.ode.loops.run_codes import SLOW_SHARE, STALL_STEPS, Outcome


class EndKind(Enum):
    """Why a run ended: the word in files, the usual message, the code of a loop that tells it, and the status.

    The status is one of four words: done, condition, stopped, failed.
    """

    DONE = "done", "reached the end", Outcome.DONE, "done"
    """It reached its end."""
    CONDITION = "condition", "", None, "condition"
    """The stop condition became true."""
    STOPPED = "stopped", "stopped at t = {t:.9g} s", None, "stopped"
    """A progress function stopped it."""
    INTERRUPTED = "interrupted", "interrupted at t = {t:.9g} s", None, "stopped"
    """Ctrl-C."""
    NOT_FINITE = "not finite", "component {entry} of the state is not finite at t = {t:.9g} s", Outcome.NOT_FINITE
    """A state or its time derivative is not finite; ``entry`` is that of the state."""
    STEP_TOO_SMALL = (
        "step too small",
        "the step became too small at t = {t:.9g} s: the motion is too abrupt to be followed",
        Outcome.STEP_TOO_SMALL,
    )
    """No step was short enough for the tolerance."""
    STALLED = (
        "stalled",
        "the run stalls at t = {t:.9g} s: "
        "the last {steps:,} steps advanced it by less than {short:.1g} s of its {length:g} s",
        Outcome.STALLED,
    )
    """Very many steps hardly advanced it."""
    STEP_TOO_LONG = (
        "step too long",
        "at t = {t:.9g} s a step ended so far from where the loops close that it may have left its branch: "
        "take shorter steps, or a method that chooses them",
        Outcome.LEFT_BRANCH,
    )
    """A step of fixed length may have left its branch of the motion."""
    TOO_MANY_STEPS = (
        "too many steps",
        "the allowed number of steps was used up at t = {t:.9g} s",
        Outcome.TOO_MANY_STEPS,
    )
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
    PART_STOPS = "part stops", "a part stops the run at t = {t:.9g} s", Outcome.PART_STOPS
    """A part cannot go on after a completed step; ``entry`` is its code."""
    FAILED = "failed"
    """Another failure, or a failure from a file without details."""

    def __new__(cls, word: str, *facts: object) -> EndKind:
        kind = object.__new__(cls)
        kind._value_ = word
        return kind

    def __init__(self, word: str, text: str = "", code: Outcome | None = None, status: str = "failed") -> None:
        self.text = text
        self.code = code
        self.status = status

    def at(self, t: float, entry: int | None = None, length: float = 0.0) -> Ending:
        """The ending with the usual message, at a time in s, of a run of a length in s."""
        numbers = {"t": t, "entry": entry, "steps": STALL_STEPS, "short": SLOW_SHARE * length, "length": length}
        return Ending(self, t, self.text.format(**numbers), entry=entry)


@dataclass(frozen=True)
class Ending:
    """How a run ended."""

    kind: EndKind
    time: float
    """Time in s: of the value that is not finite, else the time that the run reached."""
    message: str = EndKind.DONE.text
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
    kind = next((kind for kind in EndKind if kind.code == code), EndKind.TOO_MANY_STEPS)
    return kind.at(t, failed if kind in (EndKind.NOT_FINITE, EndKind.PART_STOPS) else None, length)
