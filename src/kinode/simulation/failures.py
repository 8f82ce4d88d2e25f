"""Explains why a run ended early, in mechanical words: which joint, when, and which expression or table.

Compiled code only reports that a number became not finite.  Here the model is evaluated in Python at the last good
state and at extrapolated states after it, until an expression fails or is not finite.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.dynamics.frame_calls.lost_frames import lost_frame
from kinode.errors import Error, LawError
from kinode.expressions.syntax_tree import Expression
from kinode.model.network.nodes import find_parts
from kinode.model.quantity_expressions import unit_of
from kinode.model.system_checks import find_asking, laws_of
from kinode.multibody.restraints.coupled_friction import find_jammed
from kinode.multibody.snapshot import Snapshot
from kinode.ode.ending import Ending, EndKind
from kinode.ode.method_table import METHODS, find_stiff_method
from kinode.simulation.chattering_laws import find_chattering
from kinode.simulation.event_log import find_abrupt, find_singular
from kinode.simulation.parameter_guards import find_vanished
from kinode.simulation.solver import StateHistory
from kinode.structure.state_layout import Coordinate

_DERIVATIVE_WORDS = {"q": "the rate of the coordinate", "u": "the acceleration of", "z": "the rate of the state of"}
EXPLAINED = {EndKind.CHATTER, EndKind.MODES_INCONSISTENT}
"""Endings whose message already names the component and the cause."""
ADVISED = {EndKind.STEP_TOO_LONG, EndKind.LOOP_OPEN}
"""Endings whose message says what to do; it stays unless a singular position is the cause."""
STALLED_SHARE = 1e-6  # of the time of a stalled run: a law that chatters switches within it
MIN_SCALE = 1e-6  # m, rad, m/s ...: floor of a state's size when relative rates are compared


def explain_failure(dynamics: Dynamics, motion: StateHistory) -> StateHistory:
    """The motion with an ending that names the component, and the cause if it is found."""
    if not motion.ending.failed or motion.ending.kind in EXPLAINED:
        return motion
    return replace(motion, ending=_explain(dynamics, motion))


def _explain(dynamics: Dynamics, motion: StateHistory) -> Ending:
    """The ending with a message that names the component and the cause."""
    ending = motion.ending
    if ending.kind is EndKind.PART_STOPS:
        return _explain_part(dynamics, motion)
    for element in dynamics.system.elements.values():
        trouble = element.trouble if element.doors else None
        if trouble is not None:
            return replace(ending, message=f"at t = {ending.time:.9g} s {trouble}", component=element.name)
    t, y = np.append(motion.t, motion.t_end), np.vstack([motion.y, motion.y_end])
    singular = find_singular(dynamics, t, y, motion.p, motion.inputs)
    singular = singular or find_abrupt(dynamics, motion.t_end, motion.y_end, motion.p, motion.inputs)
    if singular:
        message = f"the motion cannot be followed beyond t = {motion.t_end:.9g} s: {singular}"
        return replace(ending, message=message)
    if ending.entry is None:
        return ending if ending.kind in ADVISED or not dynamics.coordinates else _explain_stall(dynamics, motion)
    coordinate = dynamics.coordinates[_find_first_entry(dynamics, motion, ending.time, ending.entry)]
    derivative = f"{_DERIVATIVE_WORDS[coordinate.role]} {coordinate.joint} ({coordinate.name})"
    message = f"at t = {ending.time:.9g} s {derivative} became not finite"
    cause = find_cause(dynamics, motion, ending.time)
    return replace(ending, message=f"{message}: {cause}" if cause else message, component=coordinate.joint)


def _explain_stall(dynamics: Dynamics, motion: StateHistory) -> Ending:
    """The ending of a run whose step became too small, or whose solver gave up: names the fastest coordinate."""
    ending = motion.ending
    with np.errstate(all="ignore"):
        rate = dynamics.rate(motion.t_end, motion.y_end, p=motion.p, inputs=motion.inputs)
        relative_rate = np.abs(rate) / (np.abs(motion.y_end) + MIN_SCALE)
    coordinate = dynamics.coordinates[int(np.argmax(np.nan_to_num(relative_rate, nan=math.inf)))]
    cause = find_vanished(dynamics, motion) or find_jammed(_snapshot(dynamics, motion.t_end, motion.y_end, motion))
    if cause:
        return replace(ending, message=f"{ending.message}; {cause}")
    jumps = find_chattering(
        dynamics, motion.t_end, motion.y_end, motion.p, motion.inputs, STALLED_SHARE * max(1.0, abs(motion.t_end))
    )
    if jumps is not None:
        return replace(ending, message=f"{ending.message}; {jumps}", component=jumps.component)
    value = float(motion.y_end[dynamics.coordinates.index(coordinate)])
    fastest = f"{_in_words(dynamics, coordinate)}, then {_with_unit(dynamics, coordinate, value)}, changes fastest"
    hint = "; the laws may jump there"
    if not METHODS[motion.method].stiff:
        hint = f'{hint}, or the system is stiff (method="{find_stiff_method()}")'
    elif ending.kind is EndKind.SOLVER_FAILED:
        hint = ""
    return replace(ending, message=f"{ending.message}; {fastest}{hint}", component=coordinate.joint)


def _explain_part(dynamics: Dynamics, motion: StateHistory) -> Ending:
    """The ending of a run that a part stopped after a step: its words, or what it fails with."""
    ending, snapshot = motion.ending, _snapshot(dynamics, motion.t_end, motion.y_end, motion)
    code = ending.entry or 0
    for k, part in enumerate(find_asking(dynamics.system)):
        try:
            flag = code - 4 * k if code else float(part.step_result(snapshot))
        except Error as error:
            return replace(ending, message=f"at t = {ending.time:.9g} s {error}", component=part.name, entry=None)
        if flag in (1, 2):
            message = f"at t = {ending.time:.9g} s {part.name} stops the run: {part.step_words(int(flag))}"
            return replace(ending, message=message, component=part.name, entry=None)
    return replace(ending, entry=None)


def _in_words(dynamics: Dynamics, coordinate: Coordinate) -> str:
    """A coordinate as a person would say it: what of which component, and its name."""
    words = {"angle": "angle", "length": "position"}.get(coordinate.kind, "orientation")
    what = coordinate.name.removeprefix(f"{coordinate.joint}.").replace("_", " ")
    if coordinate.role == "u":
        what = "speed"
    elif coordinate.role == "q" or (what == "q" and coordinate.joint in dynamics.system.joints):
        what = words
    elif coordinate.kind == "dimensionless":
        what = f"state {what}"
    return f"the {what} of {coordinate.joint} ({coordinate.name})"


def _with_unit(dynamics: Dynamics, coordinate: Coordinate, value: float) -> str:
    """A value of a coordinate with its unit, where that is known."""
    unit = unit_of(dynamics.system, coordinate.name)
    return f"{value:.4g} {unit}" if unit and unit != "1" else f"{value:.4g}"


def _find_first_entry(dynamics: Dynamics, motion: StateHistory, t_failure: float, entry: int) -> int:
    """The entry of y whose time derivative was not finite first.

    An acceleration that is not finite reaches the coordinates only in the next step; so a coordinate that is not finite
    points to a speed.
    """
    if dynamics.coordinates[entry].role != "q":
        return entry
    joint = dynamics.coordinates[entry].joint
    for t, y in _extrapolate(dynamics, motion, t_failure):
        with np.errstate(all="ignore"):
            rate = dynamics.rate(t, y, p=motion.p, inputs=motion.inputs)
        bad = np.flatnonzero(~np.isfinite(rate))
        if len(bad):
            return int(bad[0])
    speeds = [k for k, c in enumerate(dynamics.coordinates) if c.role == "u" and c.joint == joint]
    return speeds[0] if speeds else entry


def find_cause(dynamics: Dynamics, motion: StateHistory, t_failure: float) -> str | None:
    """The expression, table or element without a finite value near the end of the run, in words."""
    for t, y in _extrapolate(dynamics, motion, t_failure):
        with np.errstate(all="ignore"):
            cause = _find_cause_at(dynamics, t, y, motion)
        if cause:
            return cause
    return None


def _extrapolate(dynamics: Dynamics, motion: StateHistory, t_failure: float) -> Iterator[tuple[float, Array]]:
    """The last good state, and states extrapolated linearly from it, nearest first."""
    yield motion.t_end, motion.y_end
    with np.errstate(all="ignore"):
        rate = dynamics.rate(motion.t_end, motion.y_end, p=motion.p, inputs=motion.inputs)
    if not np.isfinite(rate).all():
        return
    intervals = {t_failure - motion.t_end, *(10.0**k for k in range(-12, 0))}
    for dt in sorted(interval for interval in intervals if interval > 0):
        yield motion.t_end + dt, motion.y_end + dt * rate


def _find_cause_at(dynamics: Dynamics, t: float, y: Array, motion: StateHistory) -> str | None:
    """What has no finite value at one state, in words."""
    snapshot = _snapshot(dynamics, t, y, motion)
    lost = lost_frame(snapshot)
    if lost:
        return lost
    for component in dynamics.system.components.values():
        for field, law in laws_of(component):
            subject = f"the {field} of {component.name}"
            try:
                value = snapshot.resolve(component.own(field, law))
            except LawError as error:
                owner = error.component
                table = f"the table {owner}" if owner in dynamics.system.tables else str(owner or "it")
                return f"{subject} cannot be evaluated: {table}: {error.message}"
            except (Error, ArithmeticError, ValueError) as error:
                return f"{subject} cannot be evaluated: {error}"
            if not math.isfinite(float(value)):
                return f"{subject}, {law.text()}, is {float(value):g}"
    return _find_zero(dynamics, snapshot) or _find_failing_element(dynamics, snapshot) or find_jammed(snapshot)


def _find_zero(dynamics: Dynamics, snapshot: Snapshot) -> str | None:
    """A field of a network component whose expression became zero, in words.

    With the number 0 the component would have one state less.
    """
    for part in find_parts(dynamics.system).values():
        for field in part.structural:
            value = getattr(part, part.specs()[field][0].name)
            if isinstance(value, Expression) and float(snapshot.resolve(value)) == 0.0:
                return f"the {field} of {part.name}, {value.text()}, is 0; write the number 0 to leave out its state"
    return None


def _snapshot(dynamics: Dynamics, t: float, y: Array, motion: StateHistory) -> Snapshot:
    return Snapshot(dynamics.topology, dynamics.point_of(t, y, motion.p, motion.inputs))


def _find_failing_element(dynamics: Dynamics, snapshot: Snapshot) -> str | None:
    """The error of an element that has no defined force or rate, such as a spring whose ends meet, or an FMU."""
    for element in dynamics.system.elements.values():
        try:
            element.wrenches(snapshot)
            if element.doors:
                element.state_rates(snapshot)
        except (Error, ArithmeticError) as error:
            return str(error)
    return None
