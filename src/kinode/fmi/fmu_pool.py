"""The instances of an FMU that compiled code calls, in slots, with the tables that it reads (``fmu_calls_ir.py``).

An instance is made for a set of parameters, initialized, and then in continuous time.  It serves whoever asks for these
parameters, at its start or later, and with events of the same history (``fmu_instance.py``).  Where none fits, Python
makes another one, or brings an idle one to where a run needs it.

A slot is used by one thread at a time.  It is a row of 64-bit words: a lock, the addresses of the instance and of its
functions, the time from which on it can be used, and its key: parameters, then the ticket of its last event.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
import threading
import time
import weakref
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinode.errors import Error, LawError
from kinode.fmi import fmu_calls_ir as ir
from kinode.fmi.fmu_instance import (
    NEVER,
    ROUNDING,
    Entry,
    FmuHistories,
    FmuOutcome,
    FmuRecord,
    SolvedFmu,
    find_ticket,
    happen,
)
from kinode.jit.machine_code import LoadedCode, keep, load_object

if TYPE_CHECKING:
    from kinode.fmi.fmu_file import FmuPackage
    from kinode.fmi.fmu_functions import FmuFunctions


MOST_INSTANCES = 32  # of one part
WAIT = 5e-5  # s, for an instance that another thread uses
KEPT_STARTS = 64  # initial states that are remembered
CURE = "and can be no part with states of the system as it stands; events=True lets it have events, or give a period="
FUNCTIONS = {
    2: ("SetTime", "SetContinuousStates", "SetReal", "GetDerivatives", "GetReal", "GetDirectionalDerivative",
        "CompletedIntegratorStep", "GetEventIndicators"),
    3: ("SetTime", "SetContinuousStates", "SetFloat64", "GetContinuousStateDerivatives", "GetFloat64",
        "GetDirectionalDerivative", "CompletedIntegratorStep", "GetEventIndicators"),
}  # fmt: skip
STATUS = {2: "discards it", 3: "reports an error", 4: "reports a fatal error", 5: "answers later"}
WORDS = {
    ir.TIME: "the time", ir.STATES: "its states", ir.SET: "its inputs", ir.RATES: "its derivatives",
    ir.GET: "its outputs", ir.ALONG_2: "directional derivatives", ir.ALONG_3: "directional derivatives",
    ir.STEP: "the end of a step", ir.INDICATORS: "its event indicators",
}  # fmt: skip
TAKES = frozenset({ir.TIME, ir.STATES, ir.SET, ir.STEP})
_CALL = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
_RUN = ctypes.CFUNCTYPE(
    ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p
)
_SLOT = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
_SLOW = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)


class Operation(NamedTuple):
    """One call of an FMU's function, as ``fmu_calls_ir.py`` does it."""

    what: int
    size: int = 0
    references: tuple[int, ...] = ()
    at: int = 0
    known: tuple[int, ...] = ()
    seed: tuple[float, ...] = ()
    numbers: tuple[float, ...] = ()
    values: int = 0
    """How many numbers are set or read, where that is not the size."""


class NativeCalls(NamedTuple):
    """The compiled functions."""

    code: LoadedCode
    address: int
    call: Any
    run: Any
    take: Any
    release: Any


@cache
def find_calls() -> NativeCalls:
    """The compiled functions of this process."""

    def make() -> bytes:
        from kinode.jit.llvm_code import compile_text

        return compile_text(ir.text_of_calls(), optimize=True)

    code = load_object(keep("calls of FMUs", make))
    at = code.get_function_address
    return NativeCalls(
        code, at("kinode_fmu_call"), _CALL(at("kinode_fmu_call")), _RUN(at("kinode_fmu_run")),
        _SLOT(at("kinode_fmu_take")), _SLOT(at("kinode_fmu_release")),
    )  # fmt: skip


class InstancePool:
    """Instances of one part, and how compiled code reaches them: the ``door`` has the addresses."""

    def __init__(self, package: FmuPackage, owner: str, functions: FmuFunctions) -> None:
        kind = package.description.model_exchange
        assert kind is not None
        self.package, self.owner, self.directional = package, owner, kind.directional
        self._functions = weakref.ref(functions)
        self.n_x, self.n_p, self.n_keys = functions.n_x, functions.n_p, functions.n_keys
        self.eventful = self.n_keys > self.n_p
        self.count = 1 if kind.once else MOST_INSTANCES
        self.slots = np.zeros((self.count, ir.KEY + self.n_keys), dtype=np.int64)
        self.lock, self._turn = threading.RLock(), 0
        self._enough = min(self.count, 1 + (os.cpu_count() or 1))  # then old ones are set back before more are made
        self.instances: dict[int, SolvedFmu] = {}
        self.histories = FmuHistories(package.name, owner)
        weakref.finalize(self, _close_all, self.instances)
        self.calls = find_calls()
        self._starts: dict[tuple[float, ...], list[float]] = {}
        self._errors: dict[int, Exception] = {}  # of each thread, the last one
        self._kept: list[Any] = []  # memory that the tables point to
        self._make_tables(functions)
        self.door = (float(self.calls.address), float(self.context.ctypes.data))

    @property
    def functions(self) -> FmuFunctions:
        """The functions that it serves."""
        functions = self._functions()
        assert functions is not None
        return functions

    def keys_in(self, given: Sequence[float]) -> list[float]:
        """The parameters and the ticket among the arguments of a function."""
        return list(given[1 + self.n_x : 1 + self.n_x + self.n_keys])

    # -- tables ------------------------------------------------------------------------------------
    def _make_tables(self, functions: FmuFunctions) -> None:
        words = ir.KEY + self.n_keys
        programs, sizes = (np.zeros(functions.count, np.int64) for _ in range(2))
        for number in range(functions.count):
            operations = functions.operations(number)
            if operations is not None:
                programs[number] = self._table(operations)
                sizes[number] = functions.size(number)
        slow = _SLOW(_weak_call(self))
        self._kept += [programs, sizes, slow]
        self.context = np.zeros(8, dtype=np.int64)
        self.context[[ir.N_SLOTS, ir.SLOT_BYTES, ir.SLOTS]] = self.count, 8 * words, self.slots.ctypes.data
        self.context[[ir.KEY_AT, ir.KEY_COUNT]] = 1 + self.n_x, self.n_keys
        self.context[ir.SLOW] = ctypes.cast(slow, ctypes.c_void_p).value or 0
        self.context[[ir.PROGRAMS, ir.SIZES]] = programs.ctypes.data, sizes.ctypes.data

    def _table(self, operations: Sequence[Operation]) -> int:
        rows = [op for op in operations if op.size or op.what in (ir.TIME, ir.SHIFT)]
        table = np.zeros((len(rows) + 1, ir.WORDS), dtype=np.int64)
        for row, op in zip(table, rows, strict=False):
            row[:4] = op.what, op.size, self._address(op.references, np.uint32), op.at
            if op.known:
                row[4:6] = self._address(op.known, np.uint32), self._address(op.seed, np.float64)
            row[4 : 4 + len(op.numbers)] = np.array(op.numbers, dtype=float).view(np.int64) if op.numbers else ()
            row[6] = op.values or row[6]
        self._kept.append(table)
        return int(table.ctypes.data)

    def _address(self, values: Sequence[float], kind: Any) -> int:
        if not values:
            return 0
        array = np.array(values, dtype=kind)
        self._kept.append(array)
        return int(array.ctypes.data)

    # -- calls -------------------------------------------------------------------------------------
    def evaluate(self, number: int, given: Sequence[float]) -> list[float]:
        """The results of a function; an error names the part, and what the FMU says."""
        arguments, out = np.array(given, dtype=float), np.zeros(max(self.functions.size(number), 1))
        code = self.calls.call(self.context.ctypes.data, number, arguments.ctypes.data, out.ctypes.data)
        if code:
            error = self._errors.pop(threading.get_ident(), None) if code < 0 else None
            raise error or self._fault(code, float(given[0]))
        return [float(x) for x in out[: self.functions.count_results(number)]]

    def run_in(self, k: int, number: int, given: Sequence[float]) -> list[float]:
        """The results of a function in the instance of a slot that was taken."""
        arguments, out = np.array(given, dtype=float), np.zeros(max(self.functions.size(number), 1))
        slot = int(self.slots[k].ctypes.data)
        code = self.calls.run(self.context.ctypes.data, slot, number, arguments.ctypes.data, out.ctypes.data)
        if code:
            raise self._fault(int(code), float(given[0]))
        return [float(x) for x in out[: self.functions.count_results(number)]]

    def serve(self, number: int, given_at: int, out_at: int) -> int:
        """What compiled code asks Python for: 0, or a negative number if there is no result."""
        count = self.functions.count_results(number)
        out = (ctypes.c_double * count).from_address(out_at) if count else ()
        given = list((ctypes.c_double * self.functions.count_arguments(number)).from_address(given_at))
        try:
            if self.functions.operations(number) is None:
                for k, x in enumerate(self.functions.serve(number, given)):
                    out[k] = x  # type: ignore[index]
                return 0
            return self._run_in_new(number, given, given_at, out_at)
        except Exception as error:  # it cannot pass through compiled code
            self._errors[threading.get_ident()] = error if isinstance(error, Error) else self._trouble(error)
            for k in range(count):
                out[k] = math.nan  # type: ignore[index]
            return -1

    def _run_in_new(self, number: int, given: list[float], given_at: int, out_at: int) -> int:
        """Make an instance that fits, and let it compute."""
        with self.lock:
            inputs = given[1 + self.n_x + self.n_keys :]
            all_of_them = len(inputs) == len(self.functions.wiring.inputs)
            with self.slot_for(self.keys_in(given), given[0], inputs if all_of_them else ()) as k:
                slot = int(self.slots[k].ctypes.data)
                code = int(self.calls.run(self.context.ctypes.data, slot, number, given_at, out_at))
        if code:
            raise self._fault(code, given[0])
        return 0

    @property
    def last_trouble(self) -> Exception | None:
        """Why the last event or evaluation of this thread had no result, if it had none; told once."""
        return self._errors.pop(threading.get_ident(), None)

    def _fault(self, code: int, t: float) -> LawError:
        what, status = code >> 8, code & 255
        verb = "does not take" if what in TAKES else "does not give"
        said = [m for instance in self.instances.values() for m in instance.messages]
        words = "; it says: " + " / ".join(said[-3:]) if said else ""
        message = f"the FMU {self.package.name} {verb} {WORDS.get(what, 'that')} at t = {t:.9g} s: it"
        return LawError(f"{message} {STATUS.get(status, 'fails')}{words}", component=self.owner)

    def _trouble(self, error: Exception) -> LawError:
        return LawError(f"the FMU {self.package.name} fails: {error}", component=self.owner)

    # -- slots -------------------------------------------------------------------------------------
    @contextlib.contextmanager
    def slot_for(self, keys: Sequence[float], t: float, inputs: Sequence[float], new: bool = False) -> Iterator[int]:
        """A slot with an instance for a key, taken as long as it is needed; ``new``: with nothing of another run.

        With ticket 0 no run has begun: initial values are being found, and any instance serves that begins there.
        """
        there = self.take_used(keys, t) if self.eventful and not new else None
        trace = self.histories.trace(keys[-1]) if self.eventful and there is None else []
        names = [record.outcome.ticket for record in trace]
        k = self._take(names) if there is None else there
        try:
            if there is not None:
                pass  # as it is
            elif trace:
                self._bring(k, t, keys, [] if new else names, trace)
            else:
                self._fill(k, t, keys, self._begin(k, t, keys[: self.n_p], inputs))
            yield k
        finally:
            self.release(k)

    def take_used(self, keys: Sequence[float], t: float = math.inf) -> int | None:
        """A slot whose instance has a key, as runs have left it, no later than at a time."""
        for k in list(self.instances):
            if self.calls.take(int(self.slots[k].ctypes.data)):
                numbers = self.slots[k].view(np.float64)
                if self.slots[k, ir.READY] and numbers[ir.FLOOR] <= t and list(numbers[ir.KEY :]) == list(keys):
                    return k
                self.release(k)
        return None

    def release(self, k: int) -> None:
        """Give a slot back."""
        self.calls.release(int(self.slots[k].ctypes.data))

    def _ticket(self, k: int) -> float:
        return float(self.slots[k].view(np.float64)[-1]) if self.slots[k, ir.READY] else 0.0

    def _take(self, names: Sequence[float]) -> int:
        """A slot that nobody uses: one on the way to a ticket, a broken one, one of the first empty ones, the next."""
        while True:
            made = list(self.instances)
            near = [k for k in made if self._ticket(k) in names] if names else []
            near.sort(key=lambda k: -names.index(self._ticket(k)) if self._ticket(k) in names else 0)
            broken = [k for k in made if not self.slots[k, ir.READY]]
            empty = [k for k in range(self.count) if k not in self.instances]
            self._turn += 1
            turn = [made[(self._turn + k) % len(made)] for k in range(len(made))]
            order = (*empty, *turn) if len(made) < self._enough else (*turn, *empty)
            for k in (*near, *broken, *order):
                if self.calls.take(int(self.slots[k].ctypes.data)):
                    return k
            time.sleep(WAIT)

    def _fill(self, k: int, t: float, keys: Sequence[float], instance: SolvedFmu) -> None:
        """Put an instance into a slot, for a key, from a time on."""
        self.instances[k], version, slot = instance, instance.version, self.slots[k]
        component = instance.face.component
        slot[ir.COMPONENT] = int(component if isinstance(component, int) else component.value)
        for word, name in enumerate(FUNCTIONS[version], ir.SET_TIME):
            if name == "GetDirectionalDerivative" and not self.directional:
                continue
            slot[word] = ctypes.cast(getattr(instance.face.dll, f"fmi{version}{name}"), ctypes.c_void_p).value or 0
        floats = slot.view(np.float64)
        floats[ir.FLOOR], floats[ir.KEY :] = t, keys
        slot[ir.READY] = 1

    def _begin(self, k: int, t: float, numbers: Sequence[float], inputs: Sequence[float]) -> SolvedFmu:
        """An instance that begins at a time: that of the slot, set back, or a new one."""
        old, was_ready = self.instances.pop(k, None), self.slots[k, ir.READY]
        self.slots[k, ir.READY] = 0
        if old is not None and not (was_ready and old.reset()):
            old.close()
            old = None
        wiring = self.functions.wiring
        instance = old or self.package.make(self.owner)
        try:
            fixed: list[Entry] = [*wiring.texts, *zip(wiring.parameters, numbers, strict=True)]
            instance.initialize(t, fixed, list(zip(wiring.inputs, inputs, strict=False)))
            if instance.next_event < math.inf and not self.eventful:
                raise instance.fault(f"has an event at t = {instance.next_event:.9g} s, {CURE}")
        except BaseException:
            instance.close()
            raise
        return instance

    # -- starts and events -------------------------------------------------------------------------
    def start_states(self, given: list[float]) -> list[float]:
        """How the FMU is after its initialization: its states, then what an event changes too."""
        numbers, inputs = given[1 + self.n_x : 1 + self.n_x + self.n_p], given[1 + self.n_x + self.n_keys :]
        self._errors.pop(threading.get_ident(), None)
        if self.eventful:
            return self.start_history(given[0], numbers, inputs).numbers()
        key = (given[0], *numbers, *inputs)
        with self.lock:
            if key not in self._starts:
                with self.slot_for(numbers, given[0], inputs) as k:
                    states = [float(x) for x in self.instances[k].x]
                while len(self._starts) >= KEPT_STARTS:
                    self._starts.pop(next(iter(self._starts)))
                self._starts[key] = states
            return self._starts[key]

    def pass_event(self, given: list[float]) -> list[float]:
        """What an event changes; nothing if it does not happen."""
        n = 1 + self.n_x
        states, ticket, fired, due = given[1:n], given[n + self.n_p], given[-2], given[-1]
        if not fired:
            return [*states, ticket, due, *(0.0 for _ in range(self.functions.count_after - self.n_x - 2))]
        return self.continue_history(given[0], states, self.keys_in(given), given[n + self.n_keys : -2], due).numbers()

    def start_history(self, t: float, numbers: Sequence[float], inputs: Sequence[float]) -> FmuOutcome:
        """Initialize an instance, or remember how that was."""
        ticket = find_ticket(0.0, t, numbers, inputs)
        with self.lock:
            known = self.histories.find(ticket)
            if known is not None:
                return known.outcome
            k = self._take(())
            try:
                instance = self._begin(k, t, numbers, inputs)
                outcome = self._outcome(instance, ticket)
                self._fill(k, t, [*numbers, ticket], instance)
            finally:
                self.release(k)
            return self.histories.add(FmuRecord(0.0, t, (), tuple(numbers), tuple(inputs), outcome))

    def continue_history(
        self, t: float, states: Sequence[float], keys: Sequence[float], inputs: Sequence[float], due: float
    ) -> FmuOutcome:
        """Let an event happen; what it led to, if that is remembered and no instance waits before it."""
        at = due if due <= t <= due + ROUNDING * max(1.0, abs(t)) else t
        ticket = find_ticket(keys[-1], at, states, inputs)
        with self.lock:
            known = self.histories.find(ticket)
            if known is not None and not self.waits(keys, t):
                return known.outcome
            with self.slot_for(keys, t, inputs) as k:
                instance, self.slots[k, ir.READY] = self.instances[k], 0
                happen(instance, at, states, self._inputs(inputs))
                outcome = self._outcome(instance, ticket)
                self._fill(k, at, [*keys[:-1], ticket], instance)
            if known is not None:
                return known.outcome
            return self.histories.add(FmuRecord(keys[-1], at, tuple(states), (), tuple(inputs), outcome))

    def waits(self, keys: Sequence[float], t: float) -> bool:
        """Whether there is an instance with a key, no later than at a time, that nobody uses."""
        k = self.take_used(keys, t)
        if k is not None:
            self.release(k)
        return k is not None

    def _bring(
        self, k: int, t: float, keys: Sequence[float], names: Sequence[float], trace: Sequence[FmuRecord]
    ) -> None:
        """Bring the instance of a slot to a ticket: let the events happen that it has not seen, or all of them."""
        at, floor = self._ticket(k), self.slots[k].view(np.float64)[ir.FLOOR]
        done = names.index(at) + 1 if at in names else 0
        if done and floor > (trace[done].t if done < len(trace) else t):
            done = 0  # it has gone beyond
        if done == len(trace):
            return
        if done:
            instance = self.instances.pop(k)
            self.slots[k, ir.READY] = 0
        else:
            first, done = trace[0], 1
            instance = self._begin(k, first.t, first.numbers, first.inputs)
        try:
            for record in trace[done:]:
                happen(instance, record.t, record.states, self._inputs(record.inputs))
        except BaseException:
            instance.close()
            raise
        self._fill(k, trace[-1].t, keys, instance)

    def _inputs(self, values: Sequence[float]) -> list[Entry]:
        return list(zip(self.functions.wiring.inputs, values, strict=True))

    def _outcome(self, instance: SolvedFmu, ticket: float) -> FmuOutcome:
        values = tuple(instance.get(self.functions.wiring.held))
        return FmuOutcome(
            tuple(map(float, instance.x)), ticket, min(instance.next_event, NEVER), instance.find_signs(), values
        )


def _weak_call(pool: InstancePool) -> Any:
    """The pool's ``serve``, which does not keep the pool alive."""
    known = weakref.ref(pool)

    def serve(number: int, given: int, out: int) -> int:
        pool = known()
        return -1 if pool is None else pool.serve(number, given, out)

    return serve


def _close_all(instances: dict[int, SolvedFmu]) -> None:
    while instances:
        instances.popitem()[1].close()
