"""One instance of an FMU: its numbers set and read, its steps taken, its events repeated, its log kept for messages.

Version 2.0 and 3.0 have the same face here.  Whatever goes wrong names the part, the variable or the function, and what
the FMU itself wrote to its log.

An FMU for Model Exchange gives derivatives, and the caller integrates, from one tick to the next.  The method is the
pair of Dormand and Prince of orders 5, 4 (scipy's RK45), since the calls of the FMU cost more than the steps.  An event
indicator that changes its sign ends a step: the instant is bisected on the interpolant, and the FMU gets the first time
behind the change.  Time events end steps exactly.  After every step the FMU is told that it is complete, and may ask
for an event there.  Inputs are constant from tick to tick, and every tick is an event of the FMU, as the standard wants
it for inputs that jump.

Between events such an FMU follows from time, states, parameters and inputs; at an event it changes discrete states of
its own, which nobody sees.  They follow from its initialization and from the events since: from the time, the states
and the inputs at each of them.  So a **ticket** names all that: a number that is made of these numbers, a discrete
state of the system.  The same run has the same tickets in every process.  An instance with another ticket, or a new
one, is brought to a ticket by letting the events happen to it again; so a run can begin anywhere, an event function can
be evaluated before an event is accepted, and runs in several threads do not disturb each other.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import math
import os
import struct
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import LawError
from kinode.fmi.fmu_description import REALS, FmuEntry, import_fmpy

if TYPE_CHECKING:
    from kinode.fmi.fmu_file import FmuPackage


KEPT_MESSAGES = 5  # of the FMU's log
SERIOUS = 1  # status from which a message is kept: warnings
Entry = tuple[FmuEntry, float | str]


@contextlib.contextmanager
def _staying() -> Iterator[None]:
    """Come back to the working folder: FMPy goes to that of a library, and stays there if it cannot be loaded."""
    here = os.getcwd()
    try:
        yield
    except BaseException:
        os.chdir(here)
        raise


class FmuInstance:
    """An instance, from its creation on; ``owner`` is the name of the part."""

    def __init__(self, package: FmuPackage, owner: str, exchange: bool) -> None:
        self.file, self.place, self.description = package.name, package.folder.place, package.description
        self.owner, self.exchange, self.version = owner, exchange, package.description.version
        self.time = 0.0  # where it is, for the steps of a run
        self.messages: deque[str] = deque(maxlen=KEPT_MESSAGES)
        self.face: Any = None
        kind = package.description.model_exchange if exchange else package.description.co_simulation
        assert kind is not None
        self.kind = kind
        face = self._load()
        try:
            self._instantiate(face)
        except Exception as error:  # FMPy raises bare exceptions
            face.freeLibrary()
            raise self.fault("cannot be instantiated", error) from None
        self.face = face

    # -- life --------------------------------------------------------------------------------------
    def _load(self) -> Any:
        import_fmpy()
        if self.version == 2:
            from fmpy.fmi2 import FMU2Model, FMU2Slave

            cls = FMU2Model if self.exchange else FMU2Slave
        else:
            from fmpy.fmi3 import FMU3Model, FMU3Slave

            cls = FMU3Model if self.exchange else FMU3Slave
        arguments = {"guid": self.description.token, "modelIdentifier": self.kind.identifier}
        try:
            with _staying():
                return cls(**arguments, unzipDirectory=self.place, instanceName=self.owner)
        except Exception as error:
            text = str(error).replace(self.place, self.file)
            if "Cannot find shared library" in text:
                text = "it holds no library for this system"
            raise self.fault("cannot be loaded", LookupError(text)) from None

    def _instantiate(self, face: Any) -> None:
        if self.version == 2:
            from fmpy import calloc, fmi2, free
            from fmpy.logging import addLoggerProxy

            callbacks = fmi2.fmi2CallbackFunctions()
            callbacks.logger = fmi2.fmi2CallbackLoggerTYPE(self._log_2)
            callbacks.allocateMemory = fmi2.fmi2CallbackAllocateMemoryTYPE(calloc)
            callbacks.freeMemory = fmi2.fmi2CallbackFreeMemoryTYPE(free)
            addLoggerProxy(ctypes.byref(callbacks))
            face.instantiate(callbacks=callbacks, loggingOn=True)
        else:
            face.instantiate(loggingOn=True, logMessage=self._log_3)

    def close(self) -> None:
        """Free the instance and its library."""
        face, self.face = self.face, None
        if face is not None:
            with contextlib.suppress(Exception):  # it ends whatever its last state was
                face.terminate()
            face.freeInstance()

    def reset(self) -> bool:
        """Set it back to where it was when it was made; False if it cannot be."""
        self.messages.clear()
        try:
            self.face.reset()
        except Exception:  # FMPy raises bare exceptions
            return False
        return True

    def _log_2(self, component: Any, name: bytes, status: int, category: bytes, message: bytes) -> None:
        self._log(status, message)

    def _log_3(self, environment: Any, status: int, category: bytes, message: bytes) -> None:
        self._log(status, message)

    def _log(self, status: int, message: bytes) -> None:
        if status >= SERIOUS and message:
            self.messages.append(message.decode("utf-8", errors="replace").strip())

    def fault(self, what: str, error: Exception | None = None) -> LawError:
        """An error about the FMU, with what it wrote to its log."""
        said = "; it says: " + " / ".join(self.messages) if self.messages else ""
        why = "" if error is None else f": {str(error).rstrip('.')}"
        return LawError(f"the FMU {self.file} {what}{why}{said}", component=self.owner)

    # -- numbers -----------------------------------------------------------------------------------
    def set(self, values: Sequence[Entry]) -> None:
        """Set variables; entries of an array that are not given stay as they are."""
        arrays: dict[str, list[Any]] = {}
        for entry, value in values:
            variable = entry.variable
            try:
                if variable.sizes:
                    if variable.name not in arrays:
                        arrays[variable.name] = self._read(entry)
                    arrays[variable.name][entry.index] = self._typed(entry, value)
                    self._write(entry, arrays[variable.name])
                else:
                    self._write(entry, [self._typed(entry, value)])
            except LawError:
                raise
            except Exception as error:
                raise self.fault(f"does not take {entry} = {value}", error) from None

    @property
    def answers_at_once(self) -> bool:
        """Whether outputs follow inputs of the same instant: those of derivatives do, those of steps need not."""
        return self.exchange

    def get(self, entries: Sequence[FmuEntry]) -> list[float]:
        """The values of variables."""
        values = []
        for entry in entries:
            try:
                values.append(float(self._read(entry)[entry.index]))
            except Exception as error:
                raise self.fault(f"does not give {entry}", error) from None
        return values

    def _typed(self, entry: FmuEntry, value: float | str) -> Any:
        kind = entry.variable.kind
        if kind == "String" or kind in REALS:
            return value
        whole = round(float(value))
        return bool(whole) if kind == "Boolean" else whole

    def _access(self, entry: FmuEntry) -> str:
        kind = entry.variable.kind
        if kind == "Enumeration":
            return "Integer" if self.version == 2 else "Int64"
        return kind

    def _read(self, entry: FmuEntry) -> list[Any]:
        variable = entry.variable
        read = getattr(self.face, f"get{self._access(entry)}")
        if self.version == 2:
            return list(read([variable.reference]))
        return list(read([variable.reference], nValues=variable.count))

    def _write(self, entry: FmuEntry, values: list[Any]) -> None:
        getattr(self.face, f"set{self._access(entry)}")([entry.variable.reference], values)

    # -- modes -------------------------------------------------------------------------------------
    def initialize(self, t: float, fixed: Sequence[Entry], inputs: Sequence[Entry]) -> None:
        """Begin at a time, with values of its parameters and inputs."""
        try:
            if self.version == 2:
                self.face.setupExperiment(startTime=t)
            self.set(fixed)
            self.face.enterInitializationMode(**({} if self.version == 2 else {"startTime": t}))
            self.set(inputs)
            self.face.exitInitializationMode()
        except LawError:
            raise
        except Exception as error:
            raise self.fault(f"cannot be initialized at t = {t:.9g} s", error) from None

    def set_inputs(self, values: Sequence[Entry]) -> None:
        """Give it the inputs of a tick, for the step that follows."""
        self.set(values)

    def step(self, t: float, h: float) -> None:
        """Take a step of co-simulation."""
        at = f"at t = {t:.9g} s"
        try:
            told = self.face.doStep(t, h)
        except Exception as error:
            if self._is_terminated():
                raise self.fault(f"asks for the end of the run {at}") from None
            raise self.fault(f"cannot take its step of {h:.9g} s {at}", error) from None
        if told is not None:
            _, ends, early, last = told
            if ends:
                raise self.fault(f"asks for the end of the run {at}")
            if early and last < t + h:
                raise self.fault(f"stops at t = {last:.9g} s within its step {at}")

    def _is_terminated(self) -> bool:
        """Whether a step of version 2.0 that failed is the FMU's wish to end the run."""
        if self.version != 2:
            return False
        from fmpy import fmi2

        answer = ctypes.c_int(0)
        try:
            self.face.fmi2GetBooleanStatus(self.face.component, fmi2.fmi2Terminated, ctypes.byref(answer))
        except Exception:  # it need not answer
            return False
        return answer.value != 0


RTOL, ATOL = 1e-8, 1e-10
MOST_EVENTS = 1000  # in one period: more of them come ever faster
MOST_STEPS = 100_000  # in one period
MOST_UPDATES = 1000  # of discrete states at one event
BISECTIONS = 60  # of a step with a change of sign: down to rounding
DOUBLES = ctypes.POINTER(ctypes.c_double)


class SolvedFmu(FmuInstance):
    """An instance for Model Exchange with its solver."""

    x: Array
    next_event: float

    def initialize(self, t: float, fixed: Sequence[Entry], inputs: Sequence[Entry]) -> None:
        """Begin at a time; then it is in continuous time."""
        super().initialize(t, fixed, inputs)
        count = len(self.description.states)
        self.x, self._rates, self._z = np.zeros(count), np.zeros(count), np.zeros(self.description.n_indicators)
        self._call("getContinuousStates", self.x)
        self._update(t)

    def set_inputs(self, values: Sequence[Entry]) -> None:
        """Give it the inputs of a tick, which is an event."""
        self._place(self.time, self.x)
        self._do("enterEventMode")
        self.set(values)
        self._update(self.time)

    def step(self, t: float, h: float) -> None:
        """Integrate, through all events, to the next tick."""
        end, events, steps = t + h, 0, 0
        while t < end:
            until = min(end, max(self.next_event, t))
            t_new, happened, taken = self._integrate(t, until) if until > t else (t, True, 0)
            events, steps = events + happened, steps + taken
            if events > MOST_EVENTS or steps > MOST_STEPS:
                what = f"{MOST_EVENTS} events" if events > MOST_EVENTS else f"{MOST_STEPS} steps"
                raise self.fault(f"takes more than {what} from t = {end - h:.9g} s to {end:.9g} s")
            t = t_new
            if happened or t >= self.next_event:
                self._event(t)
        self.time = end

    # -- between events ----------------------------------------------------------------------------
    def _integrate(self, t: float, end: float) -> tuple[float, bool, int]:
        """Steps to a time, or to the first event before it: the time, whether there is one, and how many steps."""
        if not self.x.size:
            self._place(end, self.x)
            return end, self._completed(), 1
        from scipy.integrate import RK45

        solver: Any = RK45(self._rate, t, self.x.copy(), end, rtol=RTOL, atol=ATOL)
        before, steps = self._signs(t, self.x), 0
        while solver.status == "running":
            told, steps = solver.step(), steps + 1
            if solver.status == "failed":
                raise self.fault(f"cannot be integrated beyond t = {solver.t:.9g} s", ArithmeticError(str(told)))
            if (self._signs(solver.t, solver.y) != before).any():
                at = self._bisect(solver, before)
                self.x = solver.y.copy() if at == solver.t else solver.dense_output()(at)
                return at, True, steps
            self.x = solver.y.copy()
            self._place(solver.t, self.x)
            if self._completed():
                return float(solver.t), True, steps
            if steps > MOST_STEPS:
                break
        return float(solver.t), False, steps

    def _bisect(self, solver: Any, before: Array) -> float:
        """The first time behind a change of sign in the last step, up to rounding."""
        low, high, course = float(solver.t_old), float(solver.t), solver.dense_output()
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            if not low < middle < high:
                break
            changed = (self._signs(middle, course(middle)) != before).any()
            low, high = (low, middle) if changed else (middle, high)
        return high

    def _rate(self, t: float, x: Array) -> Array:
        self._place(t, x)
        self._call("getDerivatives" if self.version == 2 else "getContinuousStateDerivatives", self._rates)
        if not np.isfinite(self._rates).all():
            k = int(np.flatnonzero(~np.isfinite(self._rates))[0])
            raise self.fault(f"gives {self.description.rates[k]} = {self._rates[k]} at t = {t:.9g} s")
        return self._rates.copy()

    def _signs(self, t: float, x: Array) -> Array:
        """Whether each event indicator is positive."""
        if not self._z.size:
            return self._z > 0
        self._place(t, x)
        self._call("getEventIndicators", self._z)
        return self._z > 0

    # -- at events ---------------------------------------------------------------------------------
    def _event(self, t: float) -> None:
        self._place(t, self.x)
        self.pass_event(t)

    def go_to(self, t: float, x: Sequence[float]) -> None:
        """Set time and states in continuous time."""
        self._place(t, np.array(x, dtype=float))

    def pass_event(self, t: float) -> None:
        """Let an event happen where it is: ``x`` and ``next_event`` are those after it."""
        self._do("enterEventMode")
        self._update(t)

    def find_signs(self) -> tuple[float, ...]:
        """1 for each event indicator that is positive where it is, 0 for the others."""
        self._call("getEventIndicators", self._z)
        return tuple(float(z > 0) for z in self._z)

    def _update(self, t: float) -> None:
        """Find new discrete states in event mode, and go on in continuous time."""
        update = "newDiscreteStates" if self.version == 2 else "updateDiscreteStates"
        for _ in range(MOST_UPDATES):
            again, ends, _, _, timed, at = self._do(update)
            if ends:
                raise self.fault(f"asks for the end of the run at t = {t:.9g} s")
            if not again:
                break
        else:
            raise self.fault(f"finds no discrete states at t = {t:.9g} s")
        self.next_event = float(at) if timed and at > t else math.inf
        self._do("enterContinuousTimeMode")
        self._call("getContinuousStates", self.x)

    def _completed(self) -> bool:
        """Tell it that a step is complete; whether it wants an event there."""
        if not self.kind.steps_matter:
            return False
        wants, ends = self._do("completedIntegratorStep")
        if ends:
            raise self.fault("asks for the end of the run")
        return bool(wants)

    # -- calls -------------------------------------------------------------------------------------
    def _place(self, t: float, x: Array) -> None:
        self._do("setTime", t)
        if x.size:
            self._call("setContinuousStates", np.ascontiguousarray(x))

    def _call(self, name: str, values: Array) -> None:
        if values.size:
            self._do(name, values.ctypes.data_as(DOUBLES), values.size)

    def _do(self, name: str, *arguments: Any) -> Any:
        try:
            return getattr(self.face, name)(*arguments)
        except LawError:
            raise
        except Exception as error:  # FMPy raises its own
            raise self.fault("fails", error) from None


NEVER = 1e30  # s: the time of the next event if there is none; it fits into 32 bits, as pictures want it
MOST_RECORDS = 200_000  # events that are remembered for a part; the oldest are forgotten
ROUNDING = 1e-9  # share of a time: an event that comes that little after its time is at its time


class FmuOutcome(NamedTuple):
    """How an initialization or an event leaves an FMU."""

    states: tuple[float, ...]
    ticket: float
    next_event: float
    signs: tuple[float, ...]
    """Of its event indicators: 1 where they are positive, else 0."""
    values: tuple[float, ...]
    """Of outputs that change at events alone."""

    def numbers(self) -> list[float]:
        """All of it, in the order of the results."""
        return [*self.states, self.ticket, self.next_event, *self.signs, *self.values]


class FmuRecord(NamedTuple):
    """An event, or with ``before`` 0 the initialization: where it happened, and what it led to."""

    before: float
    t: float
    states: tuple[float, ...]
    numbers: tuple[float, ...]
    inputs: tuple[float, ...]
    outcome: FmuOutcome


def find_ticket(before: float, t: float, *numbers: Sequence[float]) -> float:
    """The number that names an event: a whole number below 2^52, not zero."""
    digest = hashlib.blake2b(struct.pack("<2d", before, t), digest_size=8)
    for group in numbers:
        digest.update(struct.pack(f"<{len(group) + 1}d", float(len(group)), *group))
    return float((int.from_bytes(digest.digest(), "little") >> 12) or 1)


class FmuHistories:
    """The events of all runs of one part, by their tickets."""

    def __init__(self, file: str, owner: str) -> None:
        self.file, self.owner = file, owner
        self._records: dict[float, FmuRecord] = {}
        self._lock = threading.Lock()

    def find(self, ticket: float) -> FmuRecord | None:
        """The event that a ticket names."""
        return self._records.get(ticket)

    def add(self, record: FmuRecord) -> FmuOutcome:
        """Remember an event."""
        with self._lock:
            while len(self._records) >= MOST_RECORDS:
                self._records.pop(next(iter(self._records)))
            self._records[record.outcome.ticket] = record
        return record.outcome

    def trace(self, ticket: float) -> list[FmuRecord]:
        """The events that lead to a ticket, from the initialization on."""
        records: list[FmuRecord] = []
        while ticket != 0.0:
            record = self._records.get(ticket)
            if record is None:
                message = (
                    f"the FMU {self.file} cannot be brought to where an event left it: that is known in the process"
                )
                raise LawError(f"{message} of its run alone; simulate from the start", component=self.owner)
            records.append(record)
            ticket = record.before
        return records[::-1]


def happen(instance: SolvedFmu, t: float, states: Sequence[float], inputs: Sequence[Entry]) -> None:
    """Let an event happen to an instance."""
    instance.go_to(t, states)
    instance.set(inputs)
    instance.pass_event(t)
