"""Why a run ended early, in mechanical words: which joint, when, and which expression or table; which law chatters.

Compiled code only reports that a number became not finite.  Here the model is evaluated in Python at the last good
state and at extrapolated states after it, until an expression fails or is not finite.

A law chatters that jumps where the motion is driven back to the jump from both sides.  Such a motion slides along the
surface x = 0 of a comparison or a sign (Filippov), while the method of integration jumps from one side to the other, in
steps that shrink to nothing.  Near the state of a run that hardly advances, a step ahead changes the sign of x, and
from there the next one leads back.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from kinode.algebra.scalars import COMPARISONS, Array, apply
from kinode.dynamics.compiled_system import Dynamics
from kinode.dynamics.reactions.lost_values import lost_frame
from kinode.errors import Error, LawError
from kinode.expressions.syntax_tree import Expression, walk
from kinode.model.quantities import unit_of
from kinode.model.system_checks import find_asking, laws_of
from kinode.multibody.coupled_friction import find_jammed
from kinode.multibody.snapshot import Snapshot
from kinode.ode.endings import Ending, EndKind
from kinode.ode.input_table import Inputs
from kinode.ode.method_table import METHODS, find_stiff_method
from kinode.simulation.event_log import find_abrupt, find_singular
from kinode.simulation.run_checks import find_vanished
from kinode.simulation.run_length import EVENTS_SHARE, advise, find_fast_law
from kinode.simulation.solver import StateHistory
from kinode.structure.state_layout import Coordinate

MOST_TRIALS = 60  # steps of growing length in which the sign has to change
GROWTH = 2.0
FIRST_SHARE = 1e-6  # of the longest step: the shortest one that is tried


@dataclass(frozen=True)
class ChatteringLaw:
    """A law that chatters: its component, field and text, and the expression at whose zero it jumps."""

    component: str
    field: str
    text: str
    jump: str

    @property
    def name(self) -> str:
        """Component and field."""
        return f"{self.component}.{self.field}"

    def __str__(self) -> str:
        motion = f"{self.jump} is driven back to zero from both sides"
        advice = (
            "give the jump a width, as tanh(x/width) for sign(x), or a hysteresis (relay); dry friction is friction="
        )
        return f"{self.name}, {self.text}, switches without end: {motion}; {advice}"


def find_chattering(
    dynamics: Dynamics, t: float, y: Array, p: Array, inputs: Inputs, longest: float
) -> ChatteringLaw | None:
    """The law that chatters at a state; ``longest`` is the time in s within which it switches."""
    jumps = list(_find_jumps(dynamics))
    if not jumps or not longest > 0:
        return None
    with np.errstate(all="ignore"):
        try:
            return next((law for law, x in jumps if _slides(_Rates(dynamics, t, p, inputs), x, y, longest)), None)
        except (Error, ArithmeticError, ValueError):  # no value beside the state: not the place to complain
            return None


def _find_jumps(dynamics: Dynamics) -> Iterator[tuple[ChatteringLaw, Expression]]:
    """The laws that jump at states, with the expressions that are zero there."""
    system = dynamics.system
    constants = {"t", *system.parameters, *system.inputs}
    for component in system.components.values():
        for field, law in laws_of(component):
            own = component.own(field, law)
            for node in walk(own) if isinstance(own, Expression) else ():
                x = _jump_of(node)
                if isinstance(x, Expression) and x.names() - constants:
                    yield ChatteringLaw(component.name, field, law.excerpt(), x.excerpt()), x


def _jump_of(node: Expression) -> object:
    """The expression that is zero where an operation jumps; None for one that does not."""
    if node.op in COMPARISONS:
        return node.args[0] - node.args[1]
    if node.op == "sign":
        return node.args[0]
    if node.op == "floor":
        x = node.args[0]
        return x - apply("floor", x + 0.5)
    return None


@dataclass(frozen=True, eq=False)
class _Rates:
    """A system at one time: expressions at a state, and where the state goes."""

    dynamics: Dynamics
    t: float
    p: Array
    inputs: Inputs

    def value(self, x: Expression, y: Array) -> float:
        point = self.dynamics.point_of(self.t, y, self.p, self.inputs)
        return float(Snapshot(self.dynamics.topology, point).resolve(x))

    def ahead(self, y: Array, h: float) -> Array:
        """The state after a time in s, in a straight line."""
        there: Array = y + h * self.dynamics.rate(self.t, y, p=self.p, inputs=self.inputs)
        return there


def _slides(rates: _Rates, x: Expression, y: Array, longest: float) -> bool:
    """Whether both sides of x = 0 lead back to it, within a time in s."""
    here = rates.value(x, y)
    h = FIRST_SHARE * longest
    for _ in range(MOST_TRIALS):
        there = rates.ahead(y, h)
        value = rates.value(x, there)
        if here * value < 0 or (here == 0 and value != 0):  # across it, or off it
            return math.isfinite(value) and value * (rates.value(x, rates.ahead(there, h)) - value) < 0
        h *= GROWTH
        if h > longest:
            return False
    return False


_DERIVATIVE_WORDS = {"q": "the rate of the coordinate", "u": "the acceleration of", "z": "the rate of the state of"}
EXPLAINED = {EndKind.CHATTER, EndKind.MODES_INCONSISTENT}
"""Endings whose message already names the component and the cause."""
ADVISED = {EndKind.STEP_TOO_LONG, EndKind.LOOP_OPEN}
"""Endings whose message says what to do; it stays unless a singular position is the cause."""
STALLED_SHARE = 1e-6  # of the time of a stalled run: a law that chatters switches within it
MIN_SCALE = 1e-6  # m, rad, m/s ...: floor of a state's size when relative rates are compared
EARLIER_STATES = 8  # of the first half of a run, with which the laws at its end are compared
OUTGROWN = 1e4  # times its size in the first half: a law that has grown so much by the end is the cause
OUTGROWN_ENDLESS = 100.0  # the same where the steps of a run become shorter and shorter
ENDLESS = {EndKind.TOO_MANY_STEPS, EndKind.STALLED}
"""Endings of runs that would go on, in steps too short to reach the end."""
GIVEN_MOTIONS = {"motion": 2, "speed": 1}
"""Fields of given motions, and how often they are differentiated for the acceleration."""


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
    if ending.entry is None and ending.kind is EndKind.NOT_FINITE:  # of a body, in absolute coordinates
        cause = _find_cause_or_outgrown(dynamics, motion)
        return replace(ending, message=f"{ending.message}: {cause}") if cause else ending
    if ending.entry is None:
        return ending if ending.kind in ADVISED or not dynamics.coordinates else _explain_stall(dynamics, motion)
    coordinate = dynamics.coordinates[_find_first_entry(dynamics, motion, ending.time, ending.entry)]
    derivative = f"{_DERIVATIVE_WORDS[coordinate.role]} {coordinate.joint} ({coordinate.name})"
    message = f"at t = {ending.time:.9g} s {derivative} became not finite"
    cause = _find_cause_or_outgrown(dynamics, motion)
    return replace(ending, message=f"{message}: {cause}" if cause else message, component=coordinate.joint)


def _find_cause_or_outgrown(dynamics: Dynamics, motion: StateHistory) -> str | None:
    """Why a number is not finite, in words: an expression without a value, one that has run away, or long steps."""
    cause = find_cause(dynamics, motion, motion.ending.time)
    if cause is None and (outgrown := _find_outgrown(dynamics, motion)) is not None:
        cause = outgrown[1]
    if cause is None and METHODS[motion.method].fixed:
        return "steps of that length may be too long for the motion: take shorter ones, or a method that chooses them"
    return cause


def _explain_stall(dynamics: Dynamics, motion: StateHistory) -> Ending:
    """The ending of a run whose steps became too small or too many, or whose solver gave up: names the cause.

    Where none is found, the coordinate that changes fastest.
    """
    ending = motion.ending
    cause = find_vanished(dynamics, motion) or find_jammed(_snapshot(dynamics, motion.t_end, motion.y_end, motion))
    if cause:
        return replace(ending, message=f"{ending.message}; {cause}")
    jumps = find_chattering(
        dynamics, motion.t_end, motion.y_end, motion.p, motion.inputs, STALLED_SHARE * max(1.0, abs(motion.t_end))
    )
    if jumps is not None:
        return replace(ending, message=f"{ending.message}; {jumps}", component=jumps.component)
    endless, method = ending.kind in ENDLESS, METHODS[motion.method]
    if endless and (frequent := _find_frequent_events(dynamics, motion)) is not None:
        return replace(ending, message=f"{ending.message}; {frequent[1]}", component=frequent[0])
    coordinate, value = _find_fastest(dynamics, motion)
    fastest = f"{_in_words(dynamics, coordinate)}, then {_with_unit(dynamics, coordinate, value)}, changes fastest"
    outgrown = _find_outgrown(dynamics, motion, OUTGROWN_ENDLESS if endless else OUTGROWN)
    if outgrown is not None:
        return replace(ending, message=f"{ending.message}; {fastest}; {outgrown[1]}", component=outgrown[0])
    if endless:
        span = (float(motion.t[0]), motion.t_end)
        law = find_fast_law(dynamics, motion.p, motion.inputs, span, motion.t_end, motion.steps)
        hint = law or f"no law of time is that fast, so the motion itself is: {advise(method)}"
        return replace(ending, message=f"{ending.message}; {fastest}; {hint}", component=coordinate.joint)
    hint = "; the laws may jump there"
    if not method.stiff and motion.taken_over is None:
        hint = f'{hint}, or the system is stiff (method="{find_stiff_method()}")'
    return replace(ending, message=f"{ending.message}; {fastest}{hint}", component=coordinate.joint)


def _find_fastest(dynamics: Dynamics, motion: StateHistory) -> tuple[Coordinate, float]:
    """The coordinate that changes fastest at the end, relative to its size, and its value; angles to 1 rad at most."""
    with np.errstate(all="ignore"):
        rate = dynamics.rate(motion.t_end, motion.y_end, p=motion.p, inputs=motion.inputs)
        turns = np.array([c.role == "q" and c.kind == "angle" for c in dynamics.coordinates])
        size = np.where(turns, np.minimum(np.abs(motion.y_end), 1.0), np.abs(motion.y_end))
        k = int(np.argmax(np.nan_to_num(np.abs(rate) / (size + MIN_SCALE), nan=math.inf)))
    return dynamics.coordinates[k], float(motion.y_end[k])


def _find_frequent_events(dynamics: Dynamics, motion: StateHistory) -> tuple[str, str] | None:
    """The component whose events take the steps of a run, and words."""
    table = dynamics.topology.events
    if table is None or len(motion.fired) < EVENTS_SHARE * motion.steps:
        return None
    owners = [table.roots[trigger.function].owner for trigger in motion.fired]
    owner = max(set(owners), key=owners.count)
    period = abs(motion.t_end - motion.fired[0].time) / owners.count(owner)
    words = f"{owner} has an event every {period:.1e} s: give it more play between them, or loss at each"
    return owner, words


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


def _find_outgrown(dynamics: Dynamics, motion: StateHistory, least: float = OUTGROWN) -> tuple[str, str] | None:
    """The component of the law that has grown most, far beyond what it was in the first half of the run, and words."""
    early = motion.t <= 0.5 * (motion.t[0] + motion.t_end)
    rows = np.unique(np.linspace(0, np.count_nonzero(early) - 1, EARLIER_STATES).astype(int))
    states = [(float(motion.t[k]), motion.y[k]) for k in rows] + [(motion.t_end, motion.y_end)]
    snapshots = [_snapshot(dynamics, t, y, motion) for t, y in states]
    most, found = least, None
    for component in dynamics.system.components.values():
        for field, law in laws_of(component):
            subject = f"the {field} of {component.name}, {law.text()},"
            for quantity, is_divisor, words in _find_growing(component.own(field, law), field):
                with np.errstate(all="ignore"):
                    try:
                        sizes = [abs(float(each.resolve(quantity))) for each in snapshots]
                    except (Error, ArithmeticError, ValueError):
                        continue
                if is_divisor:
                    sizes = [1.0 / size if size else math.inf for size in sizes]
                before, last = max(sizes[:-1]), sizes[-1]
                if 0.0 < before * most < last:
                    most = last / before
                    found = component.name, f"{subject} {words.format(times=f'{most:.0e} times')}"
    return found


def _find_growing(law: object, field: str) -> Iterator[tuple[Expression, bool, str]]:
    """What may run away in a law: itself, the acceleration of a given motion, a divisor that comes to zero; words."""
    if not isinstance(law, Expression):
        return
    since = "{times} since the first half of the run"
    yield law, False, f"has grown {since}: bound it, or end the run before"
    if field in GIVEN_MOTIONS:
        acceleration: object = law
        for _ in range(GIVEN_MOTIONS[field]):
            acceleration = acceleration.derivative("t") if isinstance(acceleration, Expression) else 0.0
        if isinstance(acceleration, Expression):
            yield acceleration, False, f"has an acceleration that has grown {since}: bound it, or end the run before"
    for node in walk(law):
        if node.op == "inv" and isinstance(node.args[0], Expression):
            divisor = node.args[0]
            text = divisor.excerpt().replace("{", "{{").replace("}", "}}")
            yield (
                divisor,
                True,
                f"divides by {text}, which comes to zero there: keep it from zero, or end the run before",
            )


def _extrapolate(dynamics: Dynamics, motion: StateHistory, t_failure: float) -> Iterator[tuple[float, Array]]:
    """The last good state, and states extrapolated linearly from it, nearest first."""
    yield motion.t_end, motion.y_end
    with np.errstate(all="ignore"):
        rate = dynamics.rate(motion.t_end, motion.y_end, p=motion.p, inputs=motion.inputs)
    rate = np.where(np.isfinite(rate), rate, 0.0)
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
            lost = _find_lost_acceleration(component.own(field, law), field, snapshot)
            if lost:
                return f"{subject}, {law.text()}, {lost}"
    return _find_zero(dynamics, snapshot) or _find_failing_element(dynamics, snapshot) or find_jammed(snapshot)


def _find_lost_acceleration(law: object, field: str, snapshot: Snapshot) -> str | None:
    """What is to be said of a given motion without a finite speed or acceleration at an instant."""
    for word in ("speed", "acceleration")[2 - GIVEN_MOTIONS.get(field, 0) :]:
        law = law.derivative("t") if isinstance(law, Expression) else 0.0
        try:
            value = float(snapshot.resolve(law)) if isinstance(law, Expression) else 0.0
        except (Error, ArithmeticError, ValueError):
            value = math.nan
        if not math.isfinite(value):
            return f"has no finite {word} there"
    return None


def _find_zero(dynamics: Dynamics, snapshot: Snapshot) -> str | None:
    """A field of a network component whose expression became zero, in words.

    With the number 0 the component would have one state less.
    """
    for part in dynamics.system.parts.values():
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
