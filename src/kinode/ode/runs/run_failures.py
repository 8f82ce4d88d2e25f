"""Codes with which a compiled loop cannot continue a run, in words."""

from __future__ import annotations

from kinode.ode.ending import Ending, EndKind
from kinode.ode.loops.run_codes import SLOW_SHARE, STALL_STEPS, Outcome


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
