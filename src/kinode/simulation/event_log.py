"""What happened on the way of a run, in words: changes of modes, jumps, passes of singular positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.model.base.events import EventTable
from kinode.ode.event_spec import Fired
from kinode.ode.integrate import SingularPass

TAKES_PART = 0.1  # of the largest entry of a null vector: a row with less is not named
SINGULAR = 1e-2  # of what the least singular value was on the way: a run that ends there ended for that
SAMPLES = 50  # states that are looked at for that
AHEAD = 1e-2  # rad, m, or s: how far is looked for a constraint that turns
TURNED = 0.1  # of a constraint, in a fiftieth of that


@dataclass(frozen=True)
class Event:
    """Something that a run met: when, of which kind, which components take part, and all that in words.

    ``kind`` is "mode" (a component changed its mode), "jump" (its states changed at once, its mode did not) or
    "singular" (a singular position was passed).  Of the first two ``was`` and ``becomes`` tell what ended and began.
    """

    time: float
    kind: str
    components: tuple[str, ...]
    message: str
    was: str = ""
    becomes: str = ""

    @property
    def component(self) -> str:
        """Whose it is, or the first that takes part."""
        return self.components[0]

    def __str__(self) -> str:
        return self.message


def count_events(events: Sequence[Event]) -> str:
    """How many there are, in words."""
    singular = sum(event.kind == "singular" for event in events)
    others = len(events) - singular
    parts = [f"{others} event{'s' * (others > 1)}"] if others else []
    if singular:
        parts.append(f"{singular} singular position{'s' * (singular > 1)} passed")
    return ", ".join(parts)


def find_events(
    dynamics: Dynamics, fired: Sequence[Fired], passes: Sequence[SingularPass], p: Array, inputs: Array
) -> tuple[Event, ...]:
    """All that a run met, in the order of time."""
    met = [*_changes(dynamics.topology.events, fired), *singular_events(dynamics, passes, p, inputs)]
    return tuple(sorted(met, key=lambda event: event.time))


def _changes(table: EventTable | None, fired: Sequence[Fired]) -> list[Event]:
    """Changes of modes and jumps; what a mode goes through at one instant is one change, and none if it comes back."""
    found = []
    for t, group in groupby(fired, key=lambda one: one[0]):
        assert table is not None
        whole: dict[tuple[str, int], list[Fired]] = {}
        for one in group:
            entry = table.roots[one[1]]
            whole.setdefault((entry.owner, entry.at if entry.at >= 0 else -1 - one[1]), []).append(one)
        for (owner, at), each in whole.items():
            before, after = each[0][2], each[-1][3]
            if len(each) > 1 and at >= 0 and before == after:
                continue
            was, becomes = _words(table, each)
            kind = "mode" if at >= 0 and before != after else "jump"
            found.append(Event(t, kind, (owner,), f"at t = {t:.6g} s {owner}: {was} -> {becomes}", was, becomes))
    return found


def _words(table: EventTable, each: Sequence[Fired]) -> tuple[str, str]:
    """What ended and what began: the words of the roots where the modes are theirs, else of others, or numbers."""
    (_, first, before, _), (_, last, _, after) = each[0], each[-1]
    roots = [entry.root for entry in table.roots if (entry.owner, entry.at) == _place(table, first)]
    known = {root.then: root.words[1] for root in roots} | {root.value: root.words[0] for root in roots}
    one, two = table.roots[first].root, table.roots[last].root
    was = one.words[0] or known.get(before, "") or f"{before:g}"
    begun = two.words[1] if after in (two.then, before) else known.get(after, "")  # a jump is told as what was met
    return was, begun or f"{after:g}"


def _place(table: EventTable, k: int) -> tuple[str, int]:
    return table.roots[k].owner, table.roots[k].at


def singular_events(dynamics: Dynamics, passes: Sequence[SingularPass], p: Array, inputs: Array) -> tuple[Event, ...]:
    """Passes near singular positions; the rows named are those of the least singular value."""
    if not passes:
        return ()
    states = np.array([found.y for found in passes])
    return tuple(
        _event(found, names)
        for found, (names, _) in zip(
            passes, nearly_dependent(dynamics, np.array([found.t for found in passes]), states, p, inputs), strict=True
        )
    )


def _event(found: SingularPass, names: tuple[str, ...]) -> Event:
    message = (
        f"at t = {found.t:.6g} s the loops closed by {', '.join(names)} passed a singular position, or came near one "
        f"({found.share:.1e} of the largest distance from it): other ways to move part there, the smooth one was taken"
    )
    return Event(found.t, "singular", names, message)


def find_singular(dynamics: Dynamics, t: Array, y: Array, p: Array, inputs: Array) -> str | None:
    """What became singular at the last of the states, if something did, compared with those before."""
    if not dynamics.topology.constrained or not dynamics.closure.rows:
        return None
    chosen = np.unique(np.linspace(0, len(t) - 1, SAMPLES).astype(int))
    found = nearly_dependent(dynamics, t[chosen], y[chosen], p, inputs)
    names, share = found[-1]
    if share > SINGULAR * max(size for _, size in found):
        return None
    return (
        f"the constraints of {', '.join(names)} no longer hold independently of each other: it is a singular position, "
        "or next to one, and what comes then they do not determine"
    )


def find_abrupt(dynamics: Dynamics, t: float, y: Array, p: Array, inputs: Array) -> str | None:
    """A constraint that turns all at once just beyond a state, such as that of a wheel which comes to lie flat."""
    if not dynamics.topology.constrained:
        return None
    with np.errstate(all="ignore"):
        rate = dynamics.rate(t, y, p=p, inputs=inputs)
        ahead = AHEAD / max(float(abs(rate[: dynamics.n_q]).max(initial=0.0)), 1.0) * np.linspace(0.0, 1.0, SAMPLES)
        states = y + ahead[:, None] * rate
        _, G, _ = dynamics.loops.evaluate(dynamics.point_of(t + ahead, states, p, inputs))
        turned = (abs(np.diff(G, axis=0)).max(axis=2) / abs(G[0]).max()).max(axis=0)
    if not turned.max(initial=0.0) > TURNED:
        return None
    name = dynamics.loops.names[int(np.argmax(turned))][0]
    return f"{name} changes the direction in which it holds all at once: it is not determined there"


def nearly_dependent(
    dynamics: Dynamics, t: Array, y: Array, p: Array, inputs: Array
) -> list[tuple[tuple[str, ...], float]]:
    """Whose rows come nearest to being dependent, at each of some states, and their share of the largest size."""
    loops, rows = dynamics.loops, list(dynamics.closure.rows)
    _, G, _ = loops.evaluate(dynamics.point_of(t, y, p, inputs))
    squares, U = np.linalg.eigh(G[:, rows] @ G[:, rows].transpose(0, 2, 1))  # a third of the time of singular values
    owners = [loops.names[k][0] for k in rows]
    found = []
    for weights, square in zip(abs(U[:, :, 0]), squares, strict=True):
        names = dict.fromkeys(n for n, w in zip(owners, weights, strict=True) if w > TAKES_PART * weights.max())
        found.append((tuple(names), float(np.sqrt(max(square[0], 0.0) / square[-1]))))
    return found
