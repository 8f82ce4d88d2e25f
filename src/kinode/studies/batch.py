"""Runs of one task: each from its values to a row of results; many of them by a team of threads, in the background.

What distinguishes the runs are values of parameters, inputs and initial values by name.  All names of a system are in
one space, so that a flat mapping says it: ``{"stiffness": 250, "elbow.q": "30 deg"}``.  A run is the one that
``kn.simulate`` makes of the same compiled system and values, bit for bit.  Whatever goes wrong in it is a row that says
so, and leaves the other runs alone.

    batch = Batch(maker.make, [{"stiffness": 200}, {"stiffness": 250}], range(2), threads=2)
    for row in batch: ...          # as they come
    batch.cancel(); batch.pause(); batch.resume(); batch.wait()

Threads take one run after the other.  The integrator's loops and the kernels that evaluate quantities are machine code
and release Python's lock; what remains in Python for a run is its start and the record of its results.

The first run is made alone: it compiles or loads what the others use.  A batch can be cancelled and paused between
runs, and within long ones some twenty times a second.  Numbers depend neither on the order nor on the threads.
"""

from __future__ import annotations

import atexit
import itertools
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakSet

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.dynamics.direct_calls import forget_builtins
from kinode.dynamics.starts.initial_values import read_initial_values
from kinode.errors import ArgumentError, Error, LawError, UnitError
from kinode.jit.kernel_call import alone
from kinode.ode.input_table import Inputs
from kinode.results.trajectory import Trajectory
from kinode.simulation.input_courses import read_run_inputs
from kinode.simulation.run_arguments import read_row
from kinode.studies.kept_results import Kept, reduce_run
from kinode.tasks.simulate import RunStart, RunTask, compute_run, find_begin

Values = Mapping[str, Any]


def split_values(dynamics: Dynamics, values: Values) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Values by name as parameters, live numbers among them, inputs and, what remains, initial values."""
    parameters, inputs, start = dict[str, Any](), dict[str, Any](), dict[str, Any]()
    topology = dynamics.arguments.topology
    for name, value in values.items():
        is_parameter = name in dynamics.system.parameters or name in topology.parameters or _is_live(dynamics, name)
        of = parameters if is_parameter else inputs if name in topology.inputs else start
        of[name] = value
    return parameters, inputs, start


def _is_live(dynamics: Dynamics, name: str) -> bool:
    """Whether a name is that of a live number that takes other values."""
    return name in dynamics.live and not dynamics.live[name].structural


def check_names(dynamics: Dynamics, values: Values) -> None:
    """Raise for a name that is no parameter, no input and no coordinate."""
    for name in values:
        if name in dynamics.live and dynamics.live[name].structural:
            reason = dynamics.live[name].reason
            raise ArgumentError(f"{name}: other values need a new compilation: {reason}")
    for name, value in split_values(dynamics, values)[2].items():
        try:
            read_initial_values(dynamics.arguments, {name: value}, dynamics.system.nominal)
        except (LawError, UnitError):
            raise  # the name is known, and its value cannot be read
        except Error as error:
            raise ArgumentError(f"{name}: neither a parameter nor an input nor an initial value: {error}") from None


def read_value(dynamics: Dynamics, name: str, value: Any) -> float:
    """One value of a parameter, an input or a coordinate, in SI units; a text may have a unit."""
    (parameters, inputs, start), read = split_values(dynamics, {name: value}), dynamics.arguments
    if parameters:
        vector = read.read_parameters(parameters)
        place = dynamics.live[name].parameter if _is_live(dynamics, name) else name
        return float(vector[list(read.topology.parameters).index(place)])
    if inputs:
        return float(read.read_inputs(inputs)[list(read.topology.inputs).index(name)])
    check_names(dynamics, start)
    return read.read_number(name, value)


FAILED = "failed"


@dataclass(frozen=True, eq=False)
class RunRow:
    """What a run of a batch gave.

    Attributes
    ----------
    index : int
        The place of its values among those of the batch.
    values : mapping
        What distinguishes the run, by name.
    status : str
        "done", "condition" (``stop_when`` became true) or "failed".
    message : str
        How the run ended, in words.
    results : mapping of str to float or array
        What was asked for, by its text; nan where the run failed.
    notes : tuple of str
        Guesses of the start that were not kept.
    """

    index: int
    values: Values
    status: str
    message: str
    results: Mapping[str, Any]
    notes: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether the run failed."""
        return self.status == FAILED


@dataclass(eq=False)
class RowMaker:
    """Makes the runs of a batch; several threads may call it at a time."""

    task: RunTask
    start: Any
    """The start that all runs have in common: values by name, a state, a run or None."""
    kept: Sequence[Kept]
    """What is kept of each run."""
    _with_rows: dict[tuple[int, ...], Dynamics] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def check(self, values: Values) -> None:
        """Raise for initial values beside a start that is not given by name."""
        by_name = self.start is None or isinstance(self.start, Mapping)
        names = split_values(self.task.dynamics, values)[2]
        if names and not by_name:
            name = next(iter(names))
            raise ArgumentError(f"start: {name} is to vary, and the start is a whole state: give its values by name")

    def make(self, index: int, values: Values, progress: Callable[[float], Any] | None = None) -> RunRow | None:
        """The row of a run; None for a run that ``progress`` stopped."""
        try:
            begin, p, inputs = self.find_start(values)
            run = compute_run(self.task, begin, p, inputs, False if progress is None else progress)
            return None if run.status == "stopped" else self.finish(index, values, begin, run)
        except Exception as error:  # a fault of one run is no reason to lose the others
            return self.fail(index, values, error)

    def finish(self, index: int, values: Values, begin: RunStart, run: Trajectory) -> RunRow:
        """The row of a run that was made."""
        notes = tuple(notice.message for notice in begin.notices)
        if run.ending.failed:
            return fail_row(index, values, self.kept, run.message, notes)
        return RunRow(index, values, run.status, run.message, reduce_run(run, self.kept), notes)

    def fail(self, index: int, values: Values, error: Exception) -> RunRow:
        """The row of a run that an error ended."""
        words = str(error) if isinstance(error, Error) else f"{type(error).__name__}: {error}"
        return fail_row(index, values, self.kept, words)

    def find_start(self, values: Values) -> tuple[RunStart, Array, Inputs]:
        """The start of a run, with its parameters and inputs."""
        dynamics = self.task.dynamics
        parameters, given, initial = split_values(dynamics, values)
        p, inputs = read_row(dynamics, "p", parameters or None), read_run_inputs(dynamics, given or None)
        start = {**(self.start or {}), **initial} if initial else self.start
        return self._begin(start, p, inputs), p, inputs

    def _begin(self, start: Any, p: Array, inputs: Inputs) -> RunStart:
        """The start of a run; what it found about constraint rows is kept from the other runs."""
        dynamics = self.task.dynamics
        if not dynamics.start.open_topology.constrained:
            return find_begin(self.task, start, p, inputs)
        with dynamics.start.lock:
            rows = dynamics.start.known_rows
            begin = find_begin(self.task, start, p, inputs)
            now = dynamics.start.known_rows
            if rows is None or now is None or now == rows:
                return begin
            dynamics.start.use_rows(rows)
            forget_builtins(dynamics)
            if begin.dynamics is dynamics:
                return RunStart(self._compiled_with(now), begin.state, begin.notices)
            return begin

    def _compiled_with(self, rows: tuple[int, ...]) -> Dynamics:
        """The system compiled with other independent constraint rows."""
        with self._lock:
            if rows not in self._with_rows:
                dynamics = self.task.dynamics
                self._with_rows[rows] = Dynamics(dynamics.system, dynamics.formulation, rows=rows)
            return self._with_rows[rows]


def fail_row(index: int, values: Values, kept: Sequence[Kept], message: str, notes: tuple[str, ...] = ()) -> RunRow:
    """The row of a run that failed."""
    nothing = {each.text: np.full(each.size, np.nan) if each.size else np.nan for each in kept}
    return RunRow(index, values, FAILED, message, nothing, notes)


LOOK = 0.05
"""Seconds between two looks at whether the work goes on."""
EXIT_WAIT = 1.0
"""Wall time in s for which the end of the process waits for work that was cancelled."""
_OPEN: WeakSet[Team] = WeakSet()

MakeRow = Callable[[int, Values, Callable[[float], bool]], RunRow | None]
"""From the number of a run, its values and what says whether it goes on, to its row; None for one that was stopped."""


class Team:
    """Threads that make one piece of work after the other; they can be cancelled and held.

    Parameters
    ----------
    begin : callable
        Called with the team in each thread; gives what makes a piece there, in memory of its own.
    pieces : iterable
    threads : int
    first_alone : bool
        Whether the others wait until the first piece is made, since it compiles or loads what they use.

    Attributes
    ----------
    stop : array
        One whole number, nonzero once the team was cancelled: compiled loops look at it.
    """

    def __init__(
        self, begin: Callable[[Any], Callable[[Any], None]], pieces: Iterable[Any], threads: int,
        first_alone: bool = False,
    ) -> None:  # fmt: skip
        self.stop = np.zeros(1, dtype=np.int64)
        self._begin, self._pieces = begin, deque(pieces)
        self._changed = threading.Condition()
        self._paused, self._first_alone, self._begun = False, first_alone, False
        self._fault: BaseException | None = None
        self._working = min(max(1, threads), len(self._pieces))
        _OPEN.add(self)
        team = [threading.Thread(target=self._work, name="kinode runs", daemon=True) for _ in range(self._working)]
        for thread in team:
            thread.start()

    # -- control ---------------------------------------------------------------------------------------
    def cancel(self) -> None:
        """Stop after what is done; what is under way is given up."""
        with self._changed:
            self.stop[0] = 1
            self._changed.notify_all()

    def pause(self) -> None:
        """Begin nothing further, and hold long runs, until ``resume``."""
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
        return bool(self.stop[0])

    @property
    def finished(self) -> bool:
        """Whether nothing is under way or to come."""
        with self._changed:
            return self._working == 0

    def join(self, timeout: float | None = None) -> bool:
        """Wait until no thread works any more, or for ``timeout`` s; nothing is raised."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._working, timeout)

    def finish(self, goes_on: Callable[[], bool]) -> bool:
        """Wait for all pieces, with a look now and then at whether they go on; False where they were stopped."""
        try:
            while not self.join(LOOK):
                if not goes_on():
                    self.cancel()
        except BaseException:  # also Ctrl-C
            self.cancel()
            self.join()
            raise
        self._raise_fault()
        return not self.cancelled and goes_on()

    def _raise_fault(self) -> None:
        """Raise what was raised in a thread."""
        if self._fault is not None:
            fault, self._fault = self._fault, None
            raise fault

    # -- threads ---------------------------------------------------------------------------------------
    def _work(self) -> None:
        try:
            with alone():
                make = self._begin(self)
                while (piece := self._take()) is not None:
                    make(piece)
                    if self._first_alone:
                        self._release()
        except BaseException as fault:  # it is raised where the results are asked for
            self._fault = fault
            self.cancel()
        finally:
            with self._changed:
                self._working -= 1
                self._changed.notify_all()

    def _take(self) -> Any:
        """The next piece, None at the end; waits while the team is paused, and until the first piece is made."""
        with self._changed:
            self._changed.wait_for(self._may_take)
            if self.cancelled or not self._pieces:
                return None
            self._begun = True
            return self._pieces.popleft()

    def _may_take(self) -> bool:
        if self.cancelled or not self._pieces:
            return True
        return not self._paused and not (self._first_alone and self._begun)

    def _release(self) -> None:
        """The first piece is made."""
        with self._changed:
            self._first_alone = False
            self._changed.notify_all()

    def goes_on(self, _done: float = 0.0) -> bool:
        """Called now and then within a piece: hold it while the team is paused; False gives it up."""
        if self._paused and not self.cancelled:
            with self._changed:
                self._changed.wait_for(lambda: self.cancelled or not self._paused)
        return not self.cancelled


class Batch(Team):
    """Runs under way in the background; iterating gives their rows as they come.

    Attributes
    ----------
    sets : list of mapping
        The values of each run.
    """

    def __init__(
        self, make: MakeRow, sets: Sequence[Values], order: Sequence[int], threads: int,
        on_row: Callable[[RunRow], Any] | None = None,
    ) -> None:  # fmt: skip
        self.sets = list(sets)
        self._make, self._on_row = make, on_row
        self._telling, self._came = threading.Lock(), list[RunRow]()
        super().__init__(lambda team: self._make_one, order, threads, first_alone=True)

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

    def __iter__(self) -> Iterator[RunRow]:
        """The rows as they come; Ctrl-C cancels the batch."""
        for k in itertools.count():
            with self._changed:
                try:
                    self._changed.wait_for(lambda: len(self._came) > k or not self._working)  # noqa: B023
                except KeyboardInterrupt:
                    self.cancel()
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
        try:
            self.join(timeout)
        except KeyboardInterrupt:
            self.cancel()
        self._raise_fault()
        return self.rows

    def _make_one(self, index: int) -> None:
        row = self._make(index, self.sets[index], self.goes_on)
        with self._changed:
            if row is None or self.cancelled:
                return
            self._came.append(row)
            self._changed.notify_all()
        if self._on_row is not None:
            with self._telling:  # one after the other
                self._on_row(row)


@atexit.register
def _cancel_all() -> None:
    """Stop what is under way at the end of the process."""
    for team in list(_OPEN):
        team.cancel()
        team.join(EXIT_WAIT)


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
