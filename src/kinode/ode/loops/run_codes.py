"""Numbers with names that the compiled loops and Python tell each other."""

from __future__ import annotations

from enum import IntEnum


class Outcome(IntEnum):
    """Why a loop returned."""

    DONE = 0
    """It came to its end."""
    PAUSED = 1
    """As many steps were taken as it was allowed."""
    ROWS_FULL = 2
    """There is no room for another row of output."""
    NOT_FINITE = 3
    """A rate or a value is not finite (``counts.failed``, ``step.failed_time``)."""
    STEP_TOO_SMALL = 4
    """No step is short enough for the tolerance."""
    TOO_MANY_STEPS = 5
    NEAR_SINGULAR = 6
    """The step passed near a singular position (``monitor``); the run goes on."""
    LEFT_BRANCH = 7
    """A step of fixed length ended too far from where the loops close."""
    EVENTS_FULL = 8
    """There is no room for another event on the list."""
    PYTHON_CLOCK = 9
    """Clocks that are functions in Python are to be called."""
    MODES_INCONSISTENT = 10
    """Mode iteration found no modes that fit together."""
    CHATTER = 11
    """Events follow each other without end."""
    STEP_WANTED = 12
    """The caller is to take a step: from ``step.t``, ``state.y`` to ``step.t_new``, ``state.y_new``."""
    STATE_WANTED = 13
    """The caller is to put the state at ``step.t_asked`` into ``state.between``."""


class Pending(IntEnum):
    """What a run does next."""

    READY = 0
    """A step may be taken."""
    STEPPED = 1
    """The rows of the step are to be written."""
    STRUCK = 2
    """The same, and there is an event at the end of the step."""
    EVENT = 3
    """The event is to be dealt with."""
    TICK = 4
    """A clock tick is to be dealt with."""
    MODES = 5
    """Modes may not be consistent any more."""
    CONSISTENT = 6
    """The rows after an instant are to be written."""


class Stepping(IntEnum):
    """Who decides on the length of steps."""

    ADAPTIVE = 0
    """Error control."""
    FIXED = 1
    """The user: all steps are of one length, but for those that end at events."""
    OUTSIDE = 2
    """A solver beyond the loop, which also knows the state within its steps."""
