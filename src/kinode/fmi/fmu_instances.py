"""The instances of an FMU that compiled code calls, with the tables that it reads (``fmu_calls_ir.py``).

An instance is made for a set of parameters, initialized, and then in continuous time.  It serves whoever asks for these
parameters, at its start or later.  Where none fits, Python makes another one, and frees an idle one for it.
"""

from __future__ import annotations

import ctypes
import math
import os
import threading
import time
import weakref
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from kinode.errors import Error, LawError
from kinode.fmi import fmu_calls_ir as ir
from kinode.fmi.fmu_instance import Entry, FmuInstance
from kinode.fmi.fmu_solver import SolvedFmu
from kinode.jit.loading.object_code import LoadedCode, keep, load_object

if TYPE_CHECKING:
    from kinode.fmi.fmu_file import FmuPackage

MOST_INSTANCES = 32  # of one part
WAIT = 5e-5  # s, for an instance that another thread uses
KEPT_STARTS = 64  # initial states that are remembered
STATUS = {2: "discards it", 3: "reports an error", 4: "reports a fatal error", 5: "answers later"}
CURE = "and can be no part with states of the system; give a period=: sampled it has all its events"
WORDS = {
    ir.TIME: "the time", ir.STATES: "its states", ir.SET: "its inputs", ir.RATES: "its derivatives",
    ir.GET: "its outputs", ir.ALONG_2: "directional derivatives", ir.ALONG_3: "directional derivatives",
    ir.STEP: "the end of a step",
}  # fmt: skip
TAKES = frozenset({ir.TIME, ir.STATES, ir.SET, ir.STEP})
FUNCTIONS = {
    2: ("SetTime", "SetContinuousStates", "SetReal", "GetDerivatives", "GetReal", "GetDirectionalDerivative",
        "CompletedIntegratorStep"),
    3: ("SetTime", "SetContinuousStates", "SetFloat64", "GetContinuousStateDerivatives", "GetFloat64",
        "GetDirectionalDerivative", "CompletedIntegratorStep"),
}  # fmt: skip
_CALL = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
_RUN = ctypes.CFUNCTYPE(
    ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p
)
_SLOT = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
_SLOW = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
Served = Sequence[float]


class Operation(NamedTuple):
    """One call of an FMU's function, as ``fmu_calls_ir.py`` does it."""

    what: int
    size: int = 0
    references: tuple[int, ...] = ()
    at: int = 0
    known: tuple[int, ...] = ()
    seed: tuple[float, ...] = ()
    numbers: tuple[float, ...] = ()


class FunctionTable(Protocol):
    """What the instances need of the functions."""

    n_x: int
    n_p: int
    wiring: Any

    @property
    def n_listed(self) -> int: ...

    def operations(self, number: int) -> list[Operation] | None: ...
    def size(self, number: int) -> int: ...
    def count_arguments(self, number: int) -> int: ...
    def count_results(self, number: int) -> int: ...
    def serve(self, number: int, given: list[float]) -> Served: ...


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

    def __init__(self, package: FmuPackage, owner: str, functions: FunctionTable) -> None:
        kind = package.description.model_exchange
        assert kind is not None
        self.package, self.owner, self.directional = package, owner, kind.directional
        self._functions = weakref.ref(functions)
        self.n_x, self.n_p = functions.n_x, functions.n_p
        self.count = 1 if kind.once else MOST_INSTANCES
        self.calls = find_calls()
        self._lock, self._turn = threading.RLock(), 0
        self._enough = min(self.count, 1 + (os.cpu_count() or 1))  # then old ones are set back before more are made
        self._instances: dict[int, SolvedFmu] = {}
        self._starts: dict[tuple[float, ...], list[float]] = {}
        self._errors: dict[int, Exception] = {}  # of each thread, the last one
        self._kept: list[Any] = []  # memory that the tables point to
        self._make_tables(functions)
        self.door = (float(self.calls.address), float(self.context.ctypes.data))
        weakref.finalize(self, _close_all, self._instances)

    @property
    def functions(self) -> FunctionTable:
        """The functions that it serves."""
        functions = self._functions()
        assert functions is not None
        return functions

    # -- tables ------------------------------------------------------------------------------------
    def _make_tables(self, functions: FunctionTable) -> None:
        words = ir.KEY + self.n_p
        self.slots = np.zeros((self.count, words), dtype=np.int64)
        programs, sizes = np.zeros(functions.n_listed, np.int64), np.zeros(functions.n_listed, np.int64)
        for number in range(functions.n_listed):
            operations = functions.operations(number)
            if operations is not None:
                programs[number] = self._table(operations)
                sizes[number] = functions.size(number)
        slow = _SLOW(_weak_call(self))
        self._kept += [programs, sizes, slow]
        self.context = np.zeros(9, dtype=np.int64)
        self.context[[ir.N_SLOTS, ir.SLOT_BYTES, ir.SLOTS]] = self.count, 8 * words, self.slots.ctypes.data
        self.context[[ir.KEY_AT, ir.KEY_COUNT]] = 1 + self.n_x, self.n_p
        self.context[ir.SLOW] = ctypes.cast(slow, ctypes.c_void_p).value or 0
        self.context[[ir.PROGRAMS, ir.N_PROGRAMS, ir.SIZES]] = programs.ctypes.data, len(programs), sizes.ctypes.data

    def _table(self, operations: Sequence[Operation]) -> int:
        rows = [op for op in operations if op.size or op.what in (ir.TIME, ir.SHIFT)]
        table = np.zeros((len(rows) + 1, ir.WORDS), dtype=np.int64)
        for row, op in zip(table, rows, strict=False):
            row[:4] = op.what, op.size, self._address(op.references, np.uint32), op.at
            if op.known:
                row[4:6] = self._address(op.known, np.uint32), self._address(op.seed, np.float64)
            row[4 : 4 + len(op.numbers)] = np.array(op.numbers, dtype=float).view(np.int64) if op.numbers else ()
        self._kept.append(table)
        return int(table.ctypes.data)

    def _address(self, values: Sequence[float], kind: Any) -> int:
        if not values:
            return 0
        array = np.array(values, dtype=kind)
        self._kept.append(array)
        return int(array.ctypes.data)

    # -- calls from Python -------------------------------------------------------------------------
    def evaluate(self, number: int, given: Sequence[float]) -> list[float]:
        """The results of a function; an error names the part, and what the FMU says."""
        arguments, out = np.array(given, dtype=float), np.zeros(max(self.functions.size(number), 1))
        code = self.calls.call(self.context.ctypes.data, number, arguments.ctypes.data, out.ctypes.data)
        if code:
            error = self._errors.pop(threading.get_ident(), None) if code < 0 else None
            raise error or self._fault(code, float(given[0]))
        return [float(x) for x in out[: self.functions.count_results(number)]]

    def _fault(self, code: int, t: float) -> LawError:
        what, status = code >> 8, code & 255
        verb = "does not take" if what in TAKES else "does not give"
        said = [m for instance in self._instances.values() for m in instance.messages]
        words = "; it says: " + " / ".join(said[-3:]) if said else ""
        message = f"the FMU {self.package.name} {verb} {WORDS.get(what, 'that')} at t = {t:.9g} s: it"
        return LawError(f"{message} {STATUS.get(status, 'fails')}{words}", component=self.owner)

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

    def _trouble(self, error: Exception) -> LawError:
        return LawError(f"the FMU {self.package.name} fails: {error}", component=self.owner)

    # -- instances ---------------------------------------------------------------------------------
    def _run_in_new(self, number: int, given: list[float], given_at: int, out_at: int) -> int:
        """Make an instance that fits, and let it compute."""
        with self._lock:
            k = self._take_slot()
            try:
                inputs = given[1 + self.n_x + self.n_p :]
                all_of_them = len(inputs) == len(self.functions.wiring.inputs)
                self._fill(k, given[0], given[1 + self.n_x : 1 + self.n_x + self.n_p], inputs if all_of_them else ())
                slot = int(self.slots[k].ctypes.data)
                code = int(self.calls.run(self.context.ctypes.data, slot, number, given_at, out_at))
            finally:
                self.calls.release(int(self.slots[k].ctypes.data))
        if code:
            raise self._fault(code, given[0])
        return 0

    def _take_slot(self) -> int:
        """A slot that nobody uses: a broken one, one of the first empty ones, else the next in turn."""
        while True:
            made = list(self._instances)
            broken = [k for k in made if not self.slots[k, ir.READY]]
            empty = [k for k in range(self.count) if k not in self._instances]
            self._turn += 1
            turn = [made[(self._turn + k) % len(made)] for k in range(len(made))]
            order = (*empty, *turn) if len(made) < self._enough else (*turn, *empty)
            for k in (*broken, *order):
                if self.calls.take(int(self.slots[k].ctypes.data)):
                    return k
            time.sleep(WAIT)

    def _fill(self, k: int, t: float, numbers: Sequence[float], inputs: Sequence[float]) -> SolvedFmu:
        """Put an instance into a slot that begins there: that of the slot, set back, or a new one."""
        old, was_ready = self._instances.pop(k, None), self.slots[k, ir.READY]
        self.slots[k, ir.READY] = 0
        if old is not None and not (was_ready and old.reset()):
            old.close()
            old = None
        instance = self._instances[k] = self._begin(old, t, numbers, inputs)
        version = instance.version
        slot = self.slots[k]
        slot[ir.COMPONENT] = _value(instance.face.component)
        for word, name in enumerate(FUNCTIONS[version], ir.SET_TIME):
            if name == "GetDirectionalDerivative" and not self.directional:
                continue
            slot[word] = ctypes.cast(getattr(instance.face.dll, f"fmi{version}{name}"), ctypes.c_void_p).value or 0
        floats = slot.view(np.float64)
        floats[ir.FLOOR], floats[ir.KEY :] = t, numbers
        slot[ir.READY] = 1
        return instance

    def _begin(self, old: SolvedFmu | None, t: float, numbers: Sequence[float], inputs: Sequence[float]) -> SolvedFmu:
        """An instance in continuous time; one that has a time event is refused."""
        wiring = self.functions.wiring
        instance = old or self.package.make(self.owner)
        try:
            fixed: list[Entry] = [*wiring.texts, *zip(wiring.parameters, numbers, strict=True)]
            instance.initialize(t, fixed, list(zip(wiring.inputs, inputs, strict=False)))
            if instance.next_event < math.inf:
                raise refuse_events(instance, f"has an event at t = {instance.next_event:.9g} s")
        except BaseException:
            instance.close()
            raise
        return instance

    def start_states(self, given: list[float]) -> list[float]:
        """The states of the FMU after its initialization."""
        key = (given[0], *given[1 + self.n_x :])
        with self._lock:
            if key not in self._starts:
                numbers, inputs = given[1 + self.n_x : 1 + self.n_x + self.n_p], given[1 + self.n_x + self.n_p :]
                k = self._take_slot()
                try:
                    states = [float(x) for x in self._fill(k, given[0], numbers, inputs).x]
                finally:
                    self.calls.release(int(self.slots[k].ctypes.data))
                while len(self._starts) >= KEPT_STARTS:
                    self._starts.pop(next(iter(self._starts)))
                self._starts[key] = states
            return self._starts[key]


def refuse_events(instance: FmuInstance, what: str) -> LawError:
    """An error about an event, which an FMU whose states are states of the system must not have."""
    return instance.fault(f"{what}, {CURE}")


def _value(component: Any) -> int:
    return int(component if isinstance(component, int) else component.value)


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
