"""Both sides of the balance of a body or of the system: what acts, and what the motion needs."""

from __future__ import annotations

from typing import Any

from kinode.errors import ArgumentError
from kinode.model.base.fields import unknown
from kinode.model.base.observers.following_frames import JERK, needs_jerk
from kinode.results.frame_balances.acting_loads import Acting
from kinode.results.frame_balances.motion_in_frame import MotionInFrame
from kinode.results.frame_balances.run_balance import BalanceSide, RunBalance
from kinode.results.run_quantities import RunQuantities
from kinode.symbolic.balances import vector_balances as terms

SYSTEM = "system"


def compute_balance(run: RunQuantities, of: Any, about: Any) -> RunBalance:
    """The balance of a body, or of the system, about the origin of a frame."""
    bodies = list(run.system.bodies)
    name = str(getattr(of, "name", of))
    if name != SYSTEM and name not in bodies:
        raise ArgumentError(unknown("balance: no body is called", name, [*bodies, SYSTEM]))
    if not bodies:
        raise ArgumentError(f"balance: {run.system.name} has no bodies")
    frame = run.dynamics.arguments.frame_name(about)
    along = needs_jerk(run.system, run.system.find_frame(frame))
    if along:
        raise ArgumentError(f"balance: {along} follows a velocity: {JERK}; take a mass_center or line frame")
    seen = MotionInFrame(run, frame)
    if name == SYSTEM:
        of_force, of_moment = terms.system_terms(bodies)
    else:
        of_force, of_moment = terms.BODY_FORCE, terms.BODY_MOMENT
    forces, moments = (
        {key: value.T for key, value in terms.evaluated(group, bodies, seen.given, name).items()}
        for group in (of_force, of_moment)
    )
    formulas = {x.name: (x.formula, "") for x in of_force}
    formulas |= {x.name: (formulas.get(x.name, ("",))[0], x.formula) for x in of_moment}
    acting = Acting(run, frame, seen, bodies if name == SYSTEM else [name]).side
    return RunBalance(name, frame, run.t, acting, BalanceSide(forces, moments), formulas)
