"""Why a run ended early, in the words of mechanics: which joint, when, and which law or table is to blame.

Machine code only knows that a number became not finite.  Here the last good state is looked at again with plain
numbers, and at guesses of where the motion was going, until a law shows what is wrong.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import Error, LawError
from kinode.expressions.syntax_tree import Expression
from kinode.model.network.nodes import find_parts
from kinode.model.system_checks import laws_of
from kinode.multibody.restraints.coupled_friction import find_jammed
from kinode.multibody.snapshot import Snapshot
from kinode.ode.ending import Ending, EndKind
from kinode.simulation.event_log import find_abrupt, find_singular
from kinode.simulation.parameter_guards import find_vanished
from kinode.simulation.solver import StateHistory

_WORDS = {"q": "the rate of the coordinate", "u": "the acceleration of", "z": "the rate of the state of"}


TOLD = {EndKind.CHATTER, EndKind.MODES_INCONSISTENT}
"""Endings whose message names the component and the cause."""
ADVISED = {EndKind.STEP_TOO_LONG, EndKind.LOOP_OPEN}
"""Endings whose message says what to do, unless a singular position is the cause."""


def explain_failure(dynamics: Dynamics, motion: StateHistory) -> StateHistory:
    """The motion with an ending that names the component, and the cause where it can be found."""
    if not motion.ending.failed or motion.ending.kind in TOLD:
        return motion
    return replace(motion, ending=_explain(dynamics, motion))


def _explain(dynamics: Dynamics, motion: StateHistory) -> Ending:
    ending = motion.ending
    t, y = np.append(motion.t, motion.t_end), np.vstack([motion.y, motion.y_end])
    singular = find_singular(dynamics, t, y, motion.p, motion.inputs)
    singular = singular or find_abrupt(dynamics, motion.t_end, motion.y_end, motion.p, motion.inputs)
    if singular:
        message = f"the motion cannot be followed beyond t = {motion.t_end:.9g} s: {singular}"
        return replace(ending, message=message)
    if ending.entry is None:
        return ending if ending.kind in ADVISED or not dynamics.coordinates else _explain_abrupt(dynamics, motion)
    coordinate = dynamics.coordinates[_first_component(dynamics, motion, ending.time, ending.entry)]
    words = f"{_WORDS[coordinate.role]} {coordinate.joint} ({coordinate.name})"
    message = f"at t = {ending.time:.9g} s {words} became not finite"
    cause = find_cause(dynamics, motion, ending.time)
    return replace(ending, message=f"{message}: {cause}" if cause else message, component=coordinate.joint)


def _explain_abrupt(dynamics: Dynamics, motion: StateHistory) -> Ending:
    """The step became too small, or a solver gave up: name what changes fastest."""
    ending = motion.ending
    with np.errstate(all="ignore"):
        rate = dynamics.rate(motion.t_end, motion.y_end, p=motion.p, inputs=motion.inputs)
        speed = np.abs(rate) / (np.abs(motion.y_end) + 1e-6)
    coordinate = dynamics.coordinates[int(np.argmax(np.nan_to_num(speed, nan=math.inf)))]
    cause = find_vanished(dynamics, motion) or find_jammed(_snapshot(dynamics, motion.t_end, motion.y_end, motion))
    if cause:
        return replace(ending, message=f"{ending.message}; {cause}")
    value = float(motion.y_end[dynamics.coordinates.index(coordinate)])
    fastest = f"{coordinate.name} of {coordinate.joint}, then {value:.4g}, changes fastest"
    stiff = ending.kind is EndKind.SOLVER_FAILED
    hint = "" if stiff else '; the laws may jump there, or the system is stiff (method="stiff")'
    return replace(ending, message=f"{ending.message}; {fastest}{hint}", component=coordinate.joint)


def _first_component(dynamics: Dynamics, motion: StateHistory, when: float, found: int) -> int:
    """Where it began: an acceleration that has no value spoils the coordinates only in the next step."""
    if dynamics.coordinates[found].role != "q":
        return found
    for t, y in _guesses(dynamics, motion, when):
        with np.errstate(all="ignore"):
            rate = dynamics.rate(t, y, p=motion.p, inputs=motion.inputs)
        bad = np.flatnonzero(~np.isfinite(rate))
        if len(bad):
            return int(bad[0])
    speeds = [
        k for k, c in enumerate(dynamics.coordinates) if c.role == "u" and c.joint == dynamics.coordinates[found].joint
    ]
    return speeds[0] if speeds else found


def find_cause(dynamics: Dynamics, motion: StateHistory, when: float) -> str | None:
    """The law or table that has no finite value near the end of the run."""
    for t, y in _guesses(dynamics, motion, when):
        with np.errstate(all="ignore"):
            cause = _blame(dynamics, t, y, motion)
        if cause:
            return cause
    return None


def _guesses(dynamics: Dynamics, motion: StateHistory, when: float) -> Iterator[tuple[float, Array]]:
    """The last good state, and where it was going."""
    yield motion.t_end, motion.y_end
    with np.errstate(all="ignore"):
        rate = dynamics.rate(motion.t_end, motion.y_end, p=motion.p, inputs=motion.inputs)
    if not np.isfinite(rate).all():
        return
    ahead = {when - motion.t_end, *(10.0**k for k in range(-12, 0))}
    for dt in sorted(x for x in ahead if x > 0):
        yield motion.t_end + dt, motion.y_end + dt * rate


def _blame(dynamics: Dynamics, t: float, y: Array, motion: StateHistory) -> str | None:
    snapshot = _snapshot(dynamics, t, y, motion)
    for component in dynamics.system.components.values():
        for field, law in laws_of(component):
            place = f"the {field} of {component.name}"
            try:
                value = snapshot.resolve(component.own(field, law))
            except LawError as error:
                owner = error.component
                table = f"the table {owner}" if owner in dynamics.system.tables else str(owner or "it")
                return f"{place} cannot be found: {table}: {error.message}"
            except (Error, ArithmeticError, ValueError) as error:
                return f"{place} cannot be found: {error}"
            if not math.isfinite(float(value)):
                return f"{place}, {law.text()}, is {float(value):g}"
    return _blame_zero(snapshot, dynamics) or _blame_element(dynamics, snapshot) or find_jammed(snapshot)


def _blame_zero(snapshot: Snapshot, dynamics: Dynamics) -> str | None:
    """A number of a part that a run made zero, without which it would have a state less."""
    for part in find_parts(dynamics.system).values():
        for field in part.structural:
            value = getattr(part, part.specs()[field][0].name)
            if isinstance(value, Expression) and float(snapshot.resolve(value)) == 0.0:
                return f"the {field} of {part.name}, {value.text()}, is 0; write the number 0 to leave out its state"
    return None


def _snapshot(dynamics: Dynamics, t: float, y: Array, motion: StateHistory) -> Snapshot:
    return Snapshot(dynamics.topology, dynamics.point_of(t, y, motion.p, motion.inputs))


def _blame_element(dynamics: Dynamics, snapshot: Snapshot) -> str | None:
    """An element that cannot act, such as a spring whose ends meet."""
    for element in dynamics.system.elements.values():
        try:
            element.wrenches(snapshot)
        except (Error, ArithmeticError) as error:
            return str(error)
    return None
