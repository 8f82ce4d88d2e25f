"""Background batches: many runs of one compiled system on threads, and response curves.

    batch = run_many(dynamics, [{"stiffness": 200}, {"stiffness": 250}], 5.0, of=["elbow.reaction.force|peak"])
    for row in batch: ...          # as they come
    batch.cancel(); batch.pause(); batch.resume(); batch.wait()

Threads take one run after the other.  The integrator's loops and the kernels that evaluate quantities are machine code
and release Python's lock; what remains in Python for a run is its start and the record of its results.

The first run is made alone: it compiles or loads what the others use.  A batch can be cancelled and paused between
runs, and within long ones some twenty times a second.  Numbers depend neither on the order nor on the threads.

Not done here: runs that share their steps in the lanes of one kernel (ode/rk4_batch.py), since lanes round alike only
where nothing is rearranged, and have no events.

A response curve is one number of a run over the range of one value; ``start_response_curve`` makes it in the
background, from coarse to fine, as the page under a slider needs it.

    curve = response_curve(dynamics, "counterweight", 0.0, 2.0, of="main.reaction.force|peak", until=0.2)
    curve.values, curve.responses, curve.least
"""

from __future__ import annotations

import atexit
import itertools
import math
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol
from weakref import WeakSet

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import ArgumentError
from kinode.jit.kernel_call import alone
from kinode.jit.threads import processors
from kinode.model.quantities import unit_of
from kinode.studies.kept_results import BY_SIZE, Reduction, read_reduction
from kinode.studies.run_rows import RowMaker, RunRow, Values, check_names, read_sets, read_value
from kinode.tasks.simulate import check_fields, read_task

EXIT_WAIT = 1.0
"""Wall time in s for which the end of the process waits for runs that were cancelled."""
_OPEN: WeakSet[Batch] = WeakSet()


class RunMaker(Protocol):
    """Makes runs; several threads may call it at a time."""

    def make(self, index: int, values: Values, progress: Callable[[float], Any] | None = None) -> RunRow | None:
        """The row of a run; None for a run that ``progress`` stopped."""


class Batch:
    """Runs under way in the background; iterating gives their rows as they come.

    Attributes
    ----------
    sets : list of mapping
        The values of each run.
    """

    def __init__(
        self, maker: RunMaker, sets: Sequence[Values], order: Sequence[int], threads: int,
        on_row: Callable[[RunRow], Any] | None = None,
    ) -> None:  # fmt: skip
        self.sets = list(sets)
        self._maker, self._order, self._on_row = maker, list(order), on_row
        self._changed = threading.Condition()
        self._telling = threading.Lock()
        self._taken, self._came, self._paused, self._cancelled = 0, list[RunRow](), False, False
        self._fault: BaseException | None = None
        self._first_done = False
        count = max(1, min(threads, len(self._order)))
        self._working = count if self._order else 0
        self._threads = [threading.Thread(target=self._work, name="kinode runs", daemon=True) for _ in range(count)]
        _OPEN.add(self)
        for thread in self._threads[: self._working]:
            thread.start()

    # -- control ---------------------------------------------------------------------------------------
    def cancel(self) -> None:
        """Stop after what is done; runs under way are given up."""
        with self._changed:
            self._cancelled = True
            self._changed.notify_all()

    def pause(self) -> None:
        """Begin no further run, and hold long runs, until ``resume``."""
        with self._changed:
            self._paused = True

    def resume(self) -> None:
        """Go on after ``pause``."""
        with self._changed:
            self._paused = False
            self._changed.notify_all()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Pause for the length of a ``with`` block."""
        self.pause()
        try:
            yield
        finally:
            self.resume()

    # -- state -----------------------------------------------------------------------------------------
    @property
    def cancelled(self) -> bool:
        """Whether it was cancelled."""
        return self._cancelled

    @property
    def finished(self) -> bool:
        """Whether no run is under way or to come."""
        with self._changed:
            return self._working == 0

    @property
    def rows(self) -> list[RunRow]:
        """The rows so far, in the order of the values."""
        with self._changed:
            return sorted(self._came, key=lambda row: row.index)

    def __len__(self) -> int:
        return len(self.sets)

    def __repr__(self) -> str:
        state = "cancelled" if self.cancelled else "finished" if self.finished else "under way"
        return f"<Batch: {len(self.rows)} of {len(self)} runs, {state}>"

    # -- results ---------------------------------------------------------------------------------------
    def __iter__(self) -> Iterator[RunRow]:
        """The rows as they come; Ctrl-C cancels the batch."""
        for k in itertools.count():
            with self._changed:
                try:
                    while len(self._came) <= k and self._working:
                        self._changed.wait()
                except KeyboardInterrupt:
                    self._cancelled = True
                    self._changed.notify_all()
                    raise
                if len(self._came) <= k:
                    break
                row = self._came[k]
            yield row
        self._raise_fault()

    def wait(self, timeout: float | None = None) -> list[RunRow]:
        """Wait for all runs, or for ``timeout`` s, and give the rows in the order of the values.

        After Ctrl-C the batch is cancelled, and the rows so far are given.
        """
        with self._changed:
            try:
                self._changed.wait_for(lambda: not self._working, timeout)
            except KeyboardInterrupt:
                self._cancelled = True
                self._changed.notify_all()
        self._raise_fault()
        return self.rows

    def join(self, timeout: float | None = None) -> None:
        """Wait until no thread works any more, or for ``timeout`` s; nothing is raised."""
        with self._changed:
            self._changed.wait_for(lambda: not self._working, timeout)

    def _raise_fault(self) -> None:
        """Raise what ``on_row`` raised in a thread."""
        if self._fault is not None:
            fault, self._fault = self._fault, None
            raise fault

    # -- threads ---------------------------------------------------------------------------------------
    def _work(self) -> None:
        try:
            with alone():
                while (index := self._take()) is not None:
                    row = self._maker.make(index, self.sets[index], self._goes_on)
                    if row is not None:
                        self._put(row)
        except BaseException as fault:  # of on_row: it is raised where the rows are asked for
            self._fault = fault
            self.cancel()
        finally:
            with self._changed:
                self._working -= 1
                self._changed.notify_all()

    def _take(self) -> int | None:
        """The next run; waits while the batch is paused, and until the first run is done."""
        with self._changed:
            self._changed.wait_for(self._may_take)
            if self._cancelled or self._taken >= len(self._order):
                return None
            self._taken += 1
            return self._order[self._taken - 1]

    def _may_take(self) -> bool:
        if self._cancelled or self._taken >= len(self._order):
            return True
        return not self._paused and (self._first_done or self._taken == 0)

    def _goes_on(self, _done: float) -> bool:
        """Called now and then within a run: hold it while the batch is paused; False gives it up."""
        if self._paused and not self._cancelled:
            with self._changed:
                self._changed.wait_for(lambda: self._cancelled or not self._paused)
        return not self._cancelled

    def _put(self, row: RunRow) -> None:
        with self._changed:
            if self._cancelled:
                return
            self._came.append(row)
            self._first_done = True
            self._changed.notify_all()
        if self._on_row is not None:
            with self._telling:  # one after the other
                self._on_row(row)


@atexit.register
def _cancel_all() -> None:
    """Stop what is under way at the end of the process."""
    for batch in list(_OPEN):
        batch.cancel()
        batch.join(EXIT_WAIT)


def run_many(
    dynamics: Dynamics, values: Sequence[Values] | Mapping[str, Any], until: Any = None, *,
    of: str | Sequence[str], start: Any = None, order: Sequence[int] | None = None, threads: int | None = None,
    on_row: Callable[[RunRow], Any] | None = None, **fields: Any,
) -> Batch:  # fmt: skip
    """Run a compiled system with many sets of values, in the background.

    Parameters
    ----------
    dynamics : Dynamics
        The compiled system.
    values : sequence of mapping, or mapping of str to sequence
        For each run its values of parameters, inputs and initial values by name; or a table of columns by name.
    until : float or str, optional
        End in s, or text with a unit.
    of : str or sequence of str
        What is kept of each run: a quantity or an expression, and after a bar peak, least, mean, rms, final or
        time_of_peak.
    start : mapping, State, Assembly, Equilibrium or Trajectory, optional
        The start that all runs have in common.
    order : sequence of int, optional
        In which order the runs are made; by default that of ``values``.
    threads : int, optional
        How many runs at a time; by default one for each processor.
    on_row : function, optional
        Called with each row as it comes, in the thread that made it, one after the other.
    **fields
        As in ``kn.simulate``: t0, times, samples, every, method, step, rtol, atol, stop_when, max_step.

    Returns
    -------
    Batch
        Iterating gives the rows as they come; ``wait()`` gives all, ``cancel()``, ``pause()`` and ``resume()`` control
        it.

    Raises
    ------
    ArgumentError
        A name or a field is wrong.  What is wrong with the values of one run is said in its row.

    Examples
    --------
    >>> from kinode.studies.batch import run_many
    >>> dynamics = kn.compile(kn.load("examples/double_pendulum.yaml"))
    >>> batch = run_many(dynamics, {"elbow.q": [0.0, 0.5, 1.0]}, 0.5, of="elbow.reaction.force|peak")
    >>> [row.status for row in batch.wait()]
    ['done', 'done', 'done']
    """
    if not isinstance(dynamics, Dynamics):
        raise ArgumentError(f"run_many: a compiled system is expected, not {type(dynamics).__name__}; see kn.compile")
    check_fields("run_many", fields)
    task, sets = read_task(dynamics, until, **fields), read_sets(values)
    texts = [of] if isinstance(of, str) else list(of)
    maker = RowMaker(task, start, [read_reduction(dynamics.system, text) for text in texts])
    names = {name: row[name] for row in reversed(sets) for name in row}
    check_names(dynamics, names)
    maker.check(names)
    dynamics.start.settle()
    return Batch(maker, sets, _check_order(order, len(sets)), _check_threads(threads), on_row)


def _check_order(order: Sequence[int] | None, count: int) -> Sequence[int]:
    if order is None:
        return range(count)
    if sorted(order) != list(range(count)):
        raise ArgumentError(f"order: each of the numbers 0 to {count - 1} once is expected")
    return order


def _check_threads(threads: int | None) -> int:
    if threads is None:
        return processors()
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise ArgumentError(f"threads: a number of threads from 1 is expected, not {threads!r}")
    return threads


def refined_order(count: int) -> list[int]:
    """The points of a range from coarse to fine: the ends and the middle, then those between, each once.

    Examples
    --------
    >>> from kinode.studies.batch import refined_order
    >>> refined_order(9)
    [0, 8, 4, 2, 6, 1, 3, 5, 7]
    """
    order, spacing = dict.fromkeys((0, count - 1) if count > 1 else range(count)), 1
    while spacing < count - 1:
        spacing *= 2
    while spacing >= 1:
        order |= dict.fromkeys(range(0, count, spacing))
        spacing //= 2
    return list(order)


DEFAULT_POINTS = 33
"""Points of a curve: their number less one is a power of two, so that refining halves the spacing."""


class LeastResponse(NamedTuple):
    """The point of a curve with the least response."""

    point: int
    value: float
    response: float


@dataclass(frozen=True, eq=False)
class ResponseCurve:
    """A response over the values of a parameter, an input or an initial value.

    Attributes
    ----------
    name : str
        What varies.
    of : str
        The response, such as "elbow.reaction.force|peak".
    unit, response_unit : str
        SI units of values and responses; "" where not known.
    values, responses : array
        The points in the order of the values; nan where the run failed, or is not made yet.
    rows : dict of int to RunRow
        The runs that are made, by point.

    Examples
    --------
    >>> from kinode.studies.batch import response_curve
    >>> dynamics = kn.compile(kn.load("examples/double_pendulum.yaml"))
    >>> curve = response_curve(dynamics, "elbow.q", 0.0, "60 deg", of="elbow.reaction.force|peak", until=0.5, points=5)
    >>> curve.responses.shape, curve.response_unit
    ((5,), 'N')
    """

    name: str
    of: str
    unit: str
    response_unit: str
    values: Array
    responses: Array
    rows: dict[int, RunRow]
    by_size: bool = False
    """Whether responses are compared by their size, as signed peaks are."""

    @property
    def least(self) -> LeastResponse | None:
        """The least response of all points that have one: of peaks the least in size; None if there is none."""
        sizes = np.abs(self.responses) if self.by_size else self.responses
        if not np.isfinite(sizes).any():
            return None
        k = int(np.nanargmin(np.where(np.isfinite(sizes), sizes, np.nan)))
        return LeastResponse(k, float(self.values[k]), float(self.responses[k]))

    @property
    def failures(self) -> dict[float, str]:
        """The values at which the run failed, with the reason."""
        return {float(self.values[k]): row.message for k, row in sorted(self.rows.items()) if row.failed}

    @property
    def complete(self) -> bool:
        """Whether every point's run was made."""
        return len(self.rows) == len(self.values)

    def __str__(self) -> str:
        unit, response_unit = (f" {unit}" if unit else "" for unit in (self.unit, self.response_unit))
        lines = [f"{self.of} over {self.name}: {len(self.rows)} of {len(self.values)} runs"]
        if self.least is not None:
            lines.append(f"least {self.least.response:.6g}{response_unit} at {self.least.value:.6g}{unit}")
        lines += [f"failed at {value:.6g}{unit}: {message}" for value, message in self.failures.items()]
        return "\n".join(lines)


class CurveRun:
    """A response curve that is computed in the background; ``curve`` is what is known of it."""

    def __init__(self, name: str, units: tuple[str, str], reduction: Reduction, values: Array, batch: Batch) -> None:
        self.batch, self.values = batch, values
        self._name, self._units, self._reduction = name, units, reduction

    @property
    def curve(self) -> ResponseCurve:
        """The curve so far."""
        rows, responses = {row.index: row for row in self.batch.rows}, np.full(len(self.values), np.nan)
        for k, row in rows.items():
            responses[k] = row.results[self._reduction.text]
        by_size = self._reduction.by in BY_SIZE
        return ResponseCurve(self._name, self._reduction.text, *self._units, self.values, responses, rows, by_size)

    def wait(self, timeout: float | None = None) -> ResponseCurve:
        """The curve when all runs are made, or what is known of it after ``timeout`` s."""
        self.batch.wait(timeout)
        return self.curve

    def cancel(self) -> None:
        """Stop after what is done."""
        self.batch.cancel()


def start_response_curve(
    dynamics: Dynamics, name: str, low: Any, high: Any, *, of: str, until: Any = None, points: int = DEFAULT_POINTS,
    parameters: dict[str, Any] | None = None, inputs: dict[str, Any] | None = None, start: Any = None,
    threads: int | None = None, on_row: Callable[[RunRow], Any] | None = None, **fields: Any,
) -> CurveRun:  # fmt: skip
    """Begin a response curve in the background, from coarse to fine; arguments as in ``response_curve``.

    ``threads`` is the number of runs at a time, ``on_row`` is called with each row as it comes.
    """
    if isinstance(points, bool) or not isinstance(points, int) or points < 2:
        raise ArgumentError(f"points: a number from 2 is expected, not {points!r}")
    reduction = read_reduction(dynamics.system, of)
    ends = [read_value(dynamics, name, end) for end in (low, high)]
    if not all(map(math.isfinite, ends)) or ends[0] == ends[1]:
        raise ArgumentError(f"low, high: two different values of {name} are expected, not {low!r} and {high!r}")
    values = np.linspace(ends[0], ends[1], points)
    fixed = {**(parameters or {}), **(inputs or {})}
    sets = [{**fixed, name: float(value)} for value in values]
    order = refined_order(points)
    batch = run_many(
        dynamics, sets, until, of=reduction.text, start=start, order=order, threads=threads, on_row=on_row, **fields
    )
    return CurveRun(name, (_unit(dynamics, name), reduction.unit), reduction, values, batch)


def _unit(dynamics: Dynamics, name: str) -> str:
    if name in dynamics.live:
        return dynamics.live[name].unit
    if name in dynamics.arguments.topology.parameters and name not in dynamics.system.parameters:
        return ""
    unit = unit_of(dynamics.system, name)
    return unit if isinstance(unit, str) else ""


def response_curve(
    dynamics: Dynamics, name: str, low: Any, high: Any, *, of: str, until: Any = None, points: int = DEFAULT_POINTS,
    parameters: dict[str, Any] | None = None, inputs: dict[str, Any] | None = None, start: Any = None, **fields: Any,
) -> ResponseCurve:  # fmt: skip
    """One number of a run, over the range of a parameter, an input or an initial value.

    Parameters
    ----------
    dynamics : Dynamics
        The compiled system.
    name : str
        What varies: a parameter, an input or an initial value such as "elbow.q".
    low, high : float or str
        The range, in SI units or as text with a unit.
    of : str
        The response: a quantity or an expression, and after a bar peak, least, mean, rms, final or time_of_peak.
    until : float or str, optional
        End of the runs in s.
    points : int, default 33
        How many values of the range, evenly spaced.
    parameters, inputs : mapping, optional
        Values that stay the same.
    start : mapping, State, Assembly, Equilibrium or Trajectory, optional
        The start of all runs.
    **fields
        As in ``kn.simulate``: t0, times, samples, every, method, step, rtol, atol, stop_when, max_step.

    Returns
    -------
    ResponseCurve
        Values, responses and the least of them.  Where a run fails the response is nan, and ``failures`` says why.

    Raises
    ------
    ArgumentError
        A name, the range or a field is wrong.

    Examples
    --------
    >>> from kinode.studies.batch import response_curve
    >>> dynamics = kn.compile(kn.load("examples/double_pendulum.yaml"))
    >>> curve = response_curve(dynamics, "elbow.q", 0.0, 1.0, of="elbow.u|peak", until=0.5, points=3)
    >>> curve.values
    array([0. , 0.5, 1. ])
    """
    return start_response_curve(
        dynamics, name, low, high, of=of, until=until, points=points,
        parameters=parameters, inputs=inputs, start=start, **fields,
    ).wait()  # fmt: skip
