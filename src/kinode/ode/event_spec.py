"""What is discrete, as the compiled loops take it: kernels, the tables of roots and samplers, the list of events.

The loops come back to Python where that list is full, and at the ticks of samplers that are functions in Python.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kinode.ode.loops import memory_layout as R
from kinode.ode.loops.chatter import MOST_IDLE, MOST_INSTANTS

if TYPE_CHECKING:
    from kinode.ode.integrate import Job

Array = npt.NDArray[np.float64]
Call = Callable[[float, Array, Sequence[int]], None]
Fired = tuple[float, int, float, float]  # when, which root, its mode before and after

ENDLESS = "without end"
"""Part of what is said where events do not come to rest."""
_ROOM = 512


@dataclass(frozen=True, eq=False)
class EventSpec:
    """Compiled roots, jumps and samples with the signature of a rate, and what they are about (model/base/events.py).

    ``roots`` gives all roots and behind them their rates; ``jump`` and ``sample`` give the whole state, x being 1 for
    the root that fired, or for the samplers whose tick it is. A kernel that is not needed is 0.
    """

    owners: tuple[str, ...]
    """Whose each root is."""
    modes: tuple[int, ...]
    """Where in y the mode of each root is; -1 for none."""
    values: tuple[float, ...]
    """The value of the mode for which the root counts."""
    told: tuple[bool, ...] = ()
    """The roots that ``glance`` gives, the others being 0: those that need no accelerations."""
    roots: int = 0
    glance: int = 0
    jump: int = 0
    sample: int = 0
    n_held: int = 0
    """Entries at the end of y that only events change."""
    ticks: tuple[tuple[int, int], ...] = ()
    """Period and phase of each sampler in ticks."""
    tick: Fraction = Fraction(1)
    ticks_seen: bool = True
    """Whether roots depend on what samplers hold: else a tick leaves all modes as they are."""
    in_python: tuple[bool, ...] = ()
    """The samplers that are called, by ``call(t, y, which)``, which changes y."""
    call: Call | None = None

    def first_tick(self, t0: float) -> int:
        """The first tick that is not before a time."""
        k = max(0, math.ceil(Fraction(t0) / self.tick))
        while k > 0 and self.time_of(k - 1) >= t0:
            k -= 1
        return k

    def time_of(self, k: int) -> float:
        """When a tick is."""
        return float(k * self.tick.numerator) / float(self.tick.denominator)

    def due(self, k: int) -> list[int]:
        """The samplers that a tick belongs to."""
        return [s for s, (period, phase) in enumerate(self.ticks) if k >= phase and (k - phase) % period == 0]

    def next_due(self, k: int) -> int:
        """The first tick from k on that belongs to a sampler; -1 if there is none."""
        return min((phase + -(-max(0, k - phase) // period) * period for period, phase in self.ticks), default=-1)


class Discrete:
    """The events of one run."""

    def __init__(self, spec: EventSpec, job: Job, t0: float, first_tick: int | None) -> None:
        m, n = len(spec.modes), job.state.shape[1]
        self.spec, self.job = spec, job
        self.events: list[Fired] = []
        self.numbers, self.roots = np.zeros((_ROOM + 2 * m, 3)), np.zeros(_ROOM + 2 * m, dtype=np.int64)
        self.g = np.zeros(2 * m)
        layout, tick = job.layout, spec.tick
        layout[[R.EVENTS, R.ROOTS, R.JUMP, R.SAMPLE, R.N_ROOTS]] = 1, spec.roots, spec.jump, spec.sample, m
        layout[[R.N_SAMPLERS, R.NUMERATOR, R.DENOMINATOR]] = len(spec.ticks), tick.numerator, tick.denominator
        layout[R.EVENT_ROOM], layout[R.CONTROLLED] = len(self.roots), max(1, n - spec.n_held)
        layout[R.GLANCE], layout[R.TICKS_SEEN] = spec.glance, spec.ticks_seen
        floats = {
            R.AT_VALUES: np.array(spec.values, dtype=float), R.AT_G: self.g, R.AT_BETWEEN: np.zeros(n),
            R.AT_MASK: np.zeros(m + len(spec.ticks)), R.AT_CHANGED: np.zeros(n), R.AT_EVENT_NUMBERS: self.numbers,
            R.AT_G_BEFORE: np.zeros(m), R.AT_G_HALF: np.zeros(m),
        }  # fmt: skip
        whole = {
            R.AT_MODES: np.array(spec.modes, dtype=np.int64), R.AT_ARMED: np.zeros(m, dtype=np.int64),
            R.AT_FIRED: np.zeros(m, dtype=np.int64), R.AT_EVENT_ROOTS: self.roots,
            R.AT_IN_PYTHON: np.array(spec.in_python, dtype=np.int64),
            R.AT_TICKS: np.array([(*pair, 0) for pair in spec.ticks], dtype=np.int64),  # and the next tick of each
            R.AT_TOLD: np.array(spec.told, dtype=np.int64), R.AT_COUNTING: np.zeros(m, dtype=np.int64),
        }  # fmt: skip
        for entry, array in (*floats.items(), *whole.items()):
            job.place(entry, array)
        job.counters[R.TICK] = spec.first_tick(t0) if first_tick is None else first_tick
        job.memory[R.CROWD_TIME] = -math.inf

    def collect(self) -> None:
        """Take over what is on the list."""
        count = int(self.job.counters[R.LISTED_EVENTS])
        for (t, before, after), k in zip(self.numbers[:count].tolist(), self.roots[:count].tolist(), strict=True):
            self.events.append((t, k, before, after))
        self.job.counters[R.LISTED_EVENTS] = 0

    def call(self) -> None:
        """Let the samplers act that are functions in Python."""
        assert self.spec.call is not None
        which = [s for s in self.spec.due(int(self.job.counters[R.TICK]) - 1) if self.spec.in_python[s]]
        self.spec.call(float(self.job.memory[R.T]), self.job.state[R.Y], which)

    def describe(self, code: int) -> str:
        """Why it cannot go on."""
        t, k = float(self.job.memory[R.T]), int(self.job.counters[R.BLAMED])
        if code == R.CHATTER and self.job.counters[R.CROWD] <= MOST_INSTANTS:
            return (
                f"{self.spec.owners[k]} changes {ENDLESS} at t = {t:.9g} s: {MOST_IDLE} events in a row, and next to "
                f"nothing between them; what each does drives it back, which takes two levels, or a mode that rests "
                f"between"
            )
        return describe_endless(self.spec, t, k, code == R.CHATTER)


def describe_endless(spec: EventSpec, t: float, k: int, chatter: bool) -> str:
    """Why events stop a run."""
    if chatter:
        return f"{spec.owners[k]} changes {ENDLESS} at t = {t:.9g} s: more than 50 events within a nanosecond"
    return f"at t = {t:.9g} s no modes fit together: {spec.owners[k]} and what depends on it change {ENDLESS}"
