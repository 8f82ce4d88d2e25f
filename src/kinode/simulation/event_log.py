"""Events of a run, in words: mode changes, resets of states, passes of singular positions, and remarks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import counted
from kinode.model.base.events import EventTable
from kinode.ode.input_table import Inputs
from kinode.ode.kernel_spec import Fired
from kinode.ode.solution import SingularPass

NAMED_WEIGHT = 0.1  # share of the largest entry of a null vector: a constraint row with less is not named
SINGULAR_SHARE = 1e-2  # share of the run's largest "smallest singular value": below it a singularity ended the run
SAMPLES = 50  # states that are compared
LOOK_AHEAD = 1e-2  # rad, m or s: range beyond the end of a run in which a constraint may jump
REMARKS = frozenset({"guess", "locked", "pull"})  # kinds of events that change nothing
NO_PULL = 1e-9  # of the largest weight or load: a smaller pull is rounding
TURNED_SHARE = 0.1  # change of a constraint row from one sample to the next, share of its size, that is a jump


@dataclass(frozen=True)
class Event:
    """An event of a run: its time in s, its kind, the components in it, and a message.

    ``kind`` is "mode" (a component changed its mode), "jump" (its states were reset, its mode stayed) or "singular" (a
    singular position was passed); or it is a remark: "guess" (a joint starts far from its guess), "locked" (nothing can
    move, or a joint is there twice) or "pull" (a contact would have to pull).  For the first two ``was`` and
    ``becomes`` describe the state before and after.
    """

    time: float
    kind: str
    components: tuple[str, ...]
    message: str
    was: str = ""
    becomes: str = ""

    @property
    def component(self) -> str:
        """The component of the event, or the first of several."""
        return self.components[0]

    def __str__(self) -> str:
        return self.message


def count_events(events: Sequence[Event]) -> str:
    """The number of events, in words."""
    singular = sum(event.kind == "singular" for event in events)
    remarks = sum(event.kind in REMARKS for event in events)
    others = len(events) - singular - remarks
    parts = [counted(others, "event")] if others else []
    if singular:
        parts.append(f"{counted(singular, 'singular position')} passed")
    if remarks:
        parts.append(counted(remarks, "remark"))
    return ", ".join(parts)


def find_pull(name: str, words: str, t: Array, reaction: Array, scale: float) -> Event | None:
    """The event of a contact that has to pull: when its reaction changes sign first, how often, how far it goes.

    ``reaction`` is positive where the contact presses; ``words`` say what would become of a real one.  It is known at
    the times of the run: the message says between which two its sign changes, the event has a time interpolated there.
    """
    pulls = reaction < -NO_PULL * max(scale, float(abs(reaction).max(initial=0.0)))
    if not pulls.any():
        return None
    first, most = int(np.argmax(pulls)), int(np.argmin(reaction))
    time, begins = float(t[first]), int(np.sum(pulls[1:] & ~pulls[:-1])) + bool(pulls[0])
    when, how = f"at t = {time:.6g} s", "pulls"
    if first:
        before, after = reaction[first - 1], reaction[first]
        time -= float((t[first] - t[first - 1]) * after / (after - before)) if before > 0 else 0.0
        when, how = f"between t = {t[first - 1]:.6g} and {t[first]:.6g} s", "changes its sign"
    more = f", {begins} times in all" if begins > 1 else ""
    label = f"the normal reaction of {name}"
    message = f"{when} {label} {how}{more}, down to {reaction[most]:.4g} N at t = {t[most]:.6g} s: {words}"
    return Event(time, "pull", (name,), message)


def find_events(
    dynamics: Dynamics, fired: Sequence[Fired], passes: Sequence[SingularPass], p: Array, inputs: Inputs
) -> tuple[Event, ...]:
    """All events of a run, ordered by time."""
    events = [*_find_changes(dynamics.topology.events, fired), *singular_events(dynamics, passes, p, inputs)]
    return tuple(sorted(events, key=lambda event: event.time))


def _find_changes(table: EventTable | None, fired: Sequence[Fired]) -> list[Event]:
    """Mode changes and resets.

    Several changes of one mode at one instant count as a single change.  They do not count if the mode returns to
    its first value.
    """
    changes = []
    for t, simultaneous in groupby(fired, key=lambda trigger: trigger.time):
        assert table is not None
        by_mode: dict[tuple[str, int], list[Fired]] = {}
        for trigger in simultaneous:
            entry = table.roots[trigger.function]
            by_mode.setdefault((entry.owner, entry.at if entry.at >= 0 else -1 - trigger.function), []).append(trigger)
        for (owner, at), triggers in by_mode.items():
            before, after = triggers[0].before, triggers[-1].after
            if len(triggers) > 1 and at >= 0 and before == after:
                continue
            was, becomes = _describe_change(table, triggers)
            kind = "mode" if at >= 0 and before != after else "jump"
            changes.append(Event(t, kind, (owner,), f"at t = {t:.6g} s {owner}: {was} -> {becomes}", was, becomes))
    return changes


def _describe_change(table: EventTable, triggers: Sequence[Fired]) -> tuple[str, str]:
    """Words for the mode before and after a change.

    The words come from the event functions that triggered, or else from others of the same mode.  Without words the
    mode's number stands.
    """
    first, before, last, after = triggers[0].function, triggers[0].before, triggers[-1].function, triggers[-1].after
    roots = [entry.root for entry in table.roots if (entry.owner, entry.at) == _find_mode(table, first)]
    mode_words = {root.then: root.words[1] for root in roots} | {root.value: root.words[0] for root in roots}
    first_root, last_root = table.roots[first].root, table.roots[last].root
    was = first_root.words[0] or mode_words.get(before, "") or f"{before:g}"
    words_apply = after in (last_root.then, before)  # a reset has the words of its own event function
    becomes = last_root.words[1] if words_apply else mode_words.get(after, "")
    return was, becomes or f"{after:g}"


def _find_mode(table: EventTable, k: int) -> tuple[str, int]:
    """The component of event function k, and the index of its mode in z (negative: it has none)."""
    return table.roots[k].owner, table.roots[k].at


def singular_events(dynamics: Dynamics, passes: Sequence[SingularPass], p: Array, inputs: Inputs) -> tuple[Event, ...]:
    """Passes near singular positions, with the components whose constraint rows are nearly dependent there."""
    if not passes:
        return ()
    t, y = np.array([singular_pass.t for singular_pass in passes]), np.array([each.y for each in passes])
    nearest = nearly_dependent(dynamics, t, y, p, inputs)
    return tuple(
        _singular_event(singular_pass, names) for singular_pass, (names, _) in zip(passes, nearest, strict=True)
    )


def _singular_event(singular_pass: SingularPass, names: tuple[str, ...]) -> Event:
    t, share = singular_pass.t, singular_pass.share
    message = (
        f"at t = {t:.6g} s the loops closed by {', '.join(names)} passed a singular position, or came near one "
        f"({share:.1e} of the largest distance from it): motions branch there, the smooth one was taken"
    )
    return Event(t, "singular", names, message)


def find_singular(dynamics: Dynamics, t: Array, y: Array, p: Array, inputs: Inputs) -> str | None:
    """The constraints that became dependent at the last of some states, in words; None if none did.

    The last state counts as singular if its smallest singular value is small compared with those of earlier states.
    """
    if not dynamics.topology.constrained or not dynamics.closure.rows:
        return None
    samples = np.unique(np.linspace(0, len(t) - 1, SAMPLES).astype(int))
    nearest = nearly_dependent(dynamics, t[samples], y[samples], p, inputs)
    names, share = nearest[-1]
    if share > SINGULAR_SHARE * max(size for _, size in nearest):
        return None
    return (
        f"the constraints of {', '.join(names)} are no longer independent of each other: it is a singular position, "
        "or next to one, and the motion after it is not determined"
    )


def find_abrupt(dynamics: Dynamics, t: float, y: Array, p: Array, inputs: Inputs) -> str | None:
    """A constraint whose direction jumps just beyond a state, in words; None if there is none.

    An example is the rolling constraint of a wheel that comes to lie flat.
    """
    if not dynamics.topology.constrained:
        return None
    with np.errstate(all="ignore"):
        rate = dynamics.rate(t, y, p=p, inputs=inputs)
        fastest = max(float(abs(rate[: dynamics.n_q]).max(initial=0.0)), 1.0)
        ahead = LOOK_AHEAD / fastest * np.linspace(0.0, 1.0, SAMPLES)
        states = y + ahead[:, None] * rate
        _, G, _ = dynamics.loops.evaluate(dynamics.point_of(t + ahead, states, p, inputs))
        turned = (abs(np.diff(G, axis=0)).max(axis=2) / abs(G[0]).max()).max(axis=0)
    if not turned.max(initial=0.0) > TURNED_SHARE:
        return None
    name = dynamics.loops.names[int(np.argmax(turned))][0]
    return f"the constraint direction of {name} jumps: it is not determined there"


def nearly_dependent(
    dynamics: Dynamics, t: Array, y: Array, p: Array, inputs: Inputs
) -> list[tuple[tuple[str, ...], float]]:
    """For each state: the components whose constraint rows are nearest to dependent, and how near.

    The measure is the smallest singular value of the constraint Jacobian that belongs to its rank, as a share of its
    largest.
    """
    loops, rows, rank = dynamics.loops, dynamics.closure.used, len(dynamics.closure.rows)
    _, G, _ = loops.evaluate(dynamics.point_of(t, y, p, inputs))
    squares, U = np.linalg.eigh(G[:, rows] @ G[:, rows].transpose(0, 2, 1))  # a third of the time of singular values
    owners = [loops.names[k][0] for k in rows]
    nearest = []
    for weights, square in zip(abs(U[:, :, -rank]), squares, strict=True):
        least = NAMED_WEIGHT * weights.max()
        names = dict.fromkeys(owner for owner, weight in zip(owners, weights, strict=True) if weight > least)
        nearest.append((tuple(names), float(np.sqrt(max(square[-rank], 0.0) / square[-1]))))
    return nearest
