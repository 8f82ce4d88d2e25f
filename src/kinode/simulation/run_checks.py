"""Checks after a run, in order.  Each returns the motion unchanged or with another ending.

The first explains a failure in mechanical words.  Others look for an invalid state among those that were kept; the run
then ends before it.  The last looks for parts that cannot be what they are used as.

Constraints that are redundant at the start are left out of the integration.  Where prescribed motions drive a loop in
more ways than it has freedoms, these constraints may be violated later.  Then no closed position satisfies all drives,
and the run ends before.

Numbers of network components, as a resistance, are checked before a run.  A field that is an expression of time or of
the state, and may take an impossible value, is checked after it: at all states that were kept and, if it depends on
time alone, at times in between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import Gap
from kinode.expressions.syntax_tree import Expression
from kinode.model.base.fields import NumberRange
from kinode.model.system import System
from kinode.ode.endings import Ending, EndKind
from kinode.simulation.solver import CLOSED_TOLERANCE, StateHistory

TIME_SAMPLES = 1000  # intervals of a run at whose ends expressions of time are checked
VANISHED_SHARE = 1e-6  # share of the value at the start: less counts as zero


@dataclass(frozen=True)
class Guarded:
    """A field of a network component, given by an expression, with the sign that it must have."""

    part: str
    field: str
    law: Expression
    rule: NumberRange

    @property
    def name(self) -> str:
        return f"{self.part}.{self.field}"

    @property
    def words(self) -> str:
        """The field and its expression, as the subject of a message."""
        return f"the {self.field} of {self.part}, {self.law.excerpt()},"

    def violated(self, values: Array) -> Array:
        """Which values break the rule; a value that must not be zero must keep the sign of the first."""
        if self.rule is NumberRange.POSITIVE:
            return values <= 0
        return values < 0 if self.rule is NumberRange.UNSIGNED else values * values[:1] <= 0


def find_guarded(system: System) -> Iterator[Guarded]:
    """The fields of network components with a sign rule whose expressions depend on more than parameters."""
    for part in system.parts.values():
        for field, rule in part.number_ranges().items():
            value = getattr(part, part.specs()[field][0].name)
            if isinstance(value, Expression) and not value.names() <= set(system.parameters):
                yield Guarded(part.name, field, value, rule)


def _guarded_of(dynamics: Dynamics) -> list[Guarded]:
    """The fields of a compiled system with a sign rule, found once."""
    known: dict[str, list[Guarded]] = dynamics.arguments.derived
    if "guarded fields" not in known:
        known["guarded fields"] = list(find_guarded(dynamics.system))
    return known["guarded fields"]


def has_guards(dynamics: Dynamics) -> bool:
    """Whether the runs of a system may end at an impossible value."""
    return bool(_guarded_of(dynamics))


def end_where_impossible(dynamics: Dynamics, motion: StateHistory) -> StateHistory:
    """The motion up to the first impossible value, with an ending that names the field; unchanged if there is none."""
    guarded = _guarded_of(dynamics)
    if not guarded or not len(motion.t):
        return motion
    of_time = [each for each in guarded if _is_of_time_alone(dynamics.system, each.law)]
    violations = [*_find_violations(dynamics, motion, guarded, motion.t)]
    if of_time and len(motion.t) > 1:
        times = np.linspace(motion.t[0], motion.t[-1], TIME_SAMPLES + 1)
        violations += _find_violations(dynamics, motion, of_time, times)
    if not violations:
        return motion
    t, value, first = min(violations, key=lambda violation: violation[0])
    message = f"at t = {t:.9g} s {first.words} is {value:.4g}, and must {first.rule.value}"
    n = max(1, int(np.searchsorted(motion.t, t)))
    return replace(
        motion, t=motion.t[:n], y=motion.y[:n], ending=Ending(EndKind.IMPOSSIBLE_VALUE, t, message, first.part),
        t_end=float(motion.t[n - 1]), y_end=motion.y[n - 1],
    )  # fmt: skip


def find_vanished(dynamics: Dynamics, motion: StateHistory) -> str | None:
    """A guarded field that was near zero when the run ended, in words."""
    guarded = _guarded_of(dynamics)
    if not guarded or not len(motion.t):
        return None
    t, y = np.array([motion.t[0], motion.t_end]), np.vstack([motion.y[:1], motion.y_end])
    for each, (first, last) in zip(guarded, _values(dynamics, motion, guarded, t, y), strict=True):
        if abs(last) <= VANISHED_SHARE * abs(first):
            return f"{each.words} is {last:.4g} then, and must {each.rule.value}"
    return None


def _is_of_time_alone(system: System, law: Expression) -> bool:
    """Whether an expression depends on time, parameters and inputs alone, also through signals."""
    signals = {name: signal.law for name, signal in system.signals.items()}
    plain = {"t", *system.parameters, *system.inputs}
    stack, seen = list(law.names() - plain), set[str]()
    while stack:
        name = stack.pop()
        if name not in signals:
            return False
        seen.add(name)
        each = signals[name]
        stack += each.names() - plain - seen if isinstance(each, Expression) else ()
    return True


def _find_violations(
    dynamics: Dynamics, motion: StateHistory, guarded: list[Guarded], t: Array
) -> Iterator[tuple[float, float, Guarded]]:
    """The first violation of each field: its time in s, the value, the field.

    The state at a time is the last one that was kept before it.
    """
    y = motion.y[np.searchsorted(motion.t, t, side="right") - 1]
    for each, values in zip(guarded, _values(dynamics, motion, guarded, t, y), strict=True):
        violated = np.flatnonzero(each.violated(values))
        if len(violated):
            yield float(t[violated[0]]), float(values[violated[0]]), each


def _values(dynamics: Dynamics, motion: StateHistory, guarded: list[Guarded], t: Array, y: Array) -> list[Array]:
    """The values of some fields over time, an array for each."""
    names, (q, u, z) = [each.name for each in guarded], dynamics.topology.layout.split(y)
    values = dynamics.evaluate(names, t, q, u, z=z, p=motion.p, inputs=motion.inputs)
    return [values[name] for name in names]


BATCH_STATES = 512  # states whose closure errors are evaluated in one call


def end_where_loop_opens(dynamics: Dynamics, motion: StateHistory) -> StateHistory:
    """The motion up to the first violated constraint, with an ending that names it; unchanged if there is none."""
    topology = dynamics.topology
    if not topology.constrained or len(dynamics.closure.rows) == dynamics.closure.total:
        return motion
    if not is_driven(dynamics):
        return motion
    loops = dynamics.loops
    for first in range(0, len(motion.t), BATCH_STATES):
        t, y = motion.t[first : first + BATCH_STATES], motion.y[first : first + BATCH_STATES]
        errors = abs(loops.evaluate(dynamics.point_of(t, y, motion.p, motion.inputs))[0])
        violated = np.flatnonzero(errors.max(axis=1, initial=0.0) > CLOSED_TOLERANCE)
        if len(violated):
            k = int(violated[0])
            row = int(np.argmax(errors[k]))
            name, unit = loops.names[row]
            error = Gap(*(float(errors[k, row] * loops.scale[row]) * (unit == kind) for kind in ("length", "angle")))
            event = f"at t = {t[k]:.9g} s the drives tear {name} apart, by {error}"
            message = f"{event}: their laws do not fit together, or the loop is locked (kn.mobility tells)"
            n = first + k
            last = max(n - 1, 0)
            return replace(
                motion, t=motion.t[:n], y=motion.y[:n],
                ending=Ending(EndKind.LOOP_OPEN, float(t[k]), message, name),
                t_end=float(motion.t[last]), y_end=motion.y[last],
            )  # fmt: skip
    return motion


def is_driven(dynamics: Dynamics) -> bool:
    """Whether anything moves by a law of time."""
    known, topology = dynamics.arguments.derived, dynamics.topology
    if "driven" not in known:
        joints = topology.system.joints.values()
        known["driven"] = any(j.driven for j in joints) or any(c.depends_on_time for c in topology.constraints)
    return bool(known["driven"])


def end_where_parts_remember(dynamics: Dynamics, motion: StateHistory) -> StateHistory:
    """The motion with an ending that names a part whose functions remember more than their arguments."""
    known = dynamics.arguments.derived
    if "parts with doors" not in known:
        known["parts with doors"] = [element for element in dynamics.system.elements.values() if element.doors]
    parts = known["parts with doors"]
    if not parts or motion.ending.failed or not len(motion.t):
        return motion
    from kinode.multibody.snapshot import Snapshot  # few models have such parts

    snapshot = Snapshot(dynamics.topology, dynamics.point_of(motion.t_end, motion.y_end, motion.p, motion.inputs))
    for part in parts:
        words = part.find_memory(snapshot, motion.t_end - float(motion.t[0]))
        if words is not None:
            message = f"the numbers of this run cannot be trusted: {part.name}: {words}"
            return replace(motion, ending=Ending(EndKind.FAILED, motion.t_end, message, part.name))
    return motion


def explain_failed(dynamics: Dynamics, motion: StateHistory) -> StateHistory:
    """The motion with an ending that names the component and the cause, if it failed."""
    if not motion.ending.failed:
        return motion
    from kinode.simulation.failures import explain_failure

    return explain_failure(dynamics, motion)


Check = Callable[[Dynamics, StateHistory], StateHistory]
CHECKS: tuple[Check, ...] = (
    explain_failed,
    end_where_loop_opens,
    end_where_impossible,
    end_where_parts_remember,
)


def check_run(dynamics: Dynamics, motion: StateHistory) -> StateHistory:
    """The motion after all checks."""
    for check in CHECKS:
        motion = check(dynamics, motion)
    return motion
