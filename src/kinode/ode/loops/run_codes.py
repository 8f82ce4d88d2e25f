"""Codes that the compiled loops and Python exchange, and limits that both know."""

from __future__ import annotations

from enum import IntEnum

STALL_STEPS = 200_000
"""Steps after which it is looked whether a run stalls."""
SLOW_SHARE = 2e-4
"""Share of its length by which a run that does not stall advances in them."""
MAX_INSTANTS = 50
"""Most instants with events within a nanosecond; more are chatter."""
MAX_IDLE = 1000
"""Most events in a row with next to no motion between them; more are chatter."""
MOST_REACH = 64.0
"""Largest size of the box on either side of a step's ranges, as a multiple of these."""


class Outcome(IntEnum):
    """Why a loop returned."""

    DONE = 0
    """The run reached its end."""
    PAUSED = 1
    """The budget of steps is used up."""
    ROWS_FULL = 2
    """The output arrays are full."""
    NOT_FINITE = 3
    """A rate or a value is not finite (``counts.failed``, ``step.failed_time``)."""
    STEP_TOO_SMALL = 4
    """No step is short enough for the tolerance."""
    TOO_MANY_STEPS = 5
    NEAR_SINGULAR = 6
    """The step passed near a singular position (``monitor``); the run goes on."""
    LEFT_BRANCH = 7
    """A step of fixed length ended too far from the constraints."""
    EVENTS_FULL = 8
    """The event list is full."""
    PYTHON_CLOCK = 9
    """Clocks that are functions in Python are to be called."""
    MODES_INCONSISTENT = 10
    """Mode iteration found no consistent modes."""
    CHATTER = 11
    """Events follow each other without end."""
    STALLED = 14
    """Very many steps have hardly advanced the run."""
    STIFF = 15
    """Stability bounds the steps; a method for stiff problems is wanted."""
    PART_STOPS = 16
    """A part cannot go on after a completed step (``counts.failed``: its code)."""


class Lost(IntEnum):
    """Why columns are no derivatives any more."""

    NOTHING = 0
    GRAZING = 1
    """A threshold was touched, and not clearly crossed."""
    TOGETHER = 2
    """Two events at one instant, whose order depends on the change."""
    APPEARS = 3
    """A mode changed for an event function that just became zero."""


class JacobianForm(IntEnum):
    """What a kernel of derivatives gives."""

    COLUMNS = 0
    """The derivative of the rate along x, for each lane."""
    WHOLE = 1
    """The whole matrix, row by row."""
    ACCELERATIONS = 2
    """The rows of the accelerations, by positions and speeds; the rates of the positions are the speeds."""


class Pending(IntEnum):
    """The next action of a run."""

    READY = 0
    """Take a step."""
    STEPPED = 1
    """Write the output of the step."""
    STEPPED_TO_EVENT = 2
    """Write the output of a step that ends at an event."""
    EVENT = 3
    """Apply the reset maps of the event."""
    TICK = 4
    """Run the clocks that tick now."""
    MODES = 5
    """Make the modes consistent."""
    CONSISTENT = 6
    """Write the output after the instant."""


class Stepping(IntEnum):
    """Who decides on the length of steps."""

    ADAPTIVE = 0
    """Error control."""
    FIXED = 1
    """The user: all steps have one length, except those that end at events."""
    IMPLICIT = 3
    """Error control; each step solves equations (radau_step.py)."""
