"""The instances of an FMU that compiled code calls, with the tables that it reads (``fmu_calls_ir.py``).

An instance is made for a set of parameters, initialized, and then in continuous time.  It serves whoever asks for these
parameters, at its start or later, and with events of the same history (``fmu_histories.py``).  Where none fits, Python
makes another one, and frees an idle one for it.
"""

from __future__ import annotations

import ctypes
import math
import threading
import weakref
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinode.errors import Error, LawError
from kinode.fmi import fmu_calls_ir as ir
from kinode.fmi.fmu_slots import FmuSlots, FunctionTable, Operation
from kinode.jit.loading.object_code import LoadedCode, keep, load_object

if TYPE_CHECKING:
    from kinode.fmi.fmu_file import FmuPackage

KEPT_STARTS = 64  # initial states that are remembered
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


class InstancePool(FmuSlots):
    """Instances of one part, and how compiled code reaches them: the ``door`` has the addresses."""

    def __init__(self, package: FmuPackage, owner: str, functions: FunctionTable) -> None:
        super().__init__(package, owner, functions)
        self.calls = find_calls()
        self._starts: dict[tuple[float, ...], list[float]] = {}
        self._errors: dict[int, Exception] = {}  # of each thread, the last one
        self._kept: list[Any] = []  # memory that the tables point to
        self._make_tables(functions)
        self.door = (float(self.calls.address), float(self.context.ctypes.data))

    # -- tables ------------------------------------------------------------------------------------
    def _make_tables(self, functions: FunctionTable) -> None:
        words = ir.KEY + self.n_keys
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
        self.context[[ir.KEY_AT, ir.KEY_COUNT]] = 1 + self.n_x, self.n_keys
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
            row[6] = op.values or row[6]
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
        said = [m for instance in self.instances.values() for m in instance.messages]
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
        with self.lock:
            inputs = given[1 + self.n_x + self.n_keys :]
            all_of_them = len(inputs) == len(self.functions.wiring.inputs)
            with self.slot_for(self.keys_in(given), given[0], inputs if all_of_them else ()) as k:
                slot = int(self.slots[k].ctypes.data)
                code = int(self.calls.run(self.context.ctypes.data, slot, number, given_at, out_at))
        if code:
            raise self._fault(code, given[0])
        return 0

    def run_in(self, k: int, number: int, given: Sequence[float]) -> list[float]:
        """The results of a function in the instance of a slot that was taken."""
        arguments, out = np.array(given, dtype=float), np.zeros(max(self.functions.size(number), 1))
        slot = int(self.slots[k].ctypes.data)
        code = self.calls.run(self.context.ctypes.data, slot, number, arguments.ctypes.data, out.ctypes.data)
        if code:
            raise self._fault(int(code), float(given[0]))
        return [float(x) for x in out[: self.functions.count_results(number)]]

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

    @property
    def last_trouble(self) -> Exception | None:
        """Why the last event or evaluation of this thread had no result, if it had none; told once."""
        return self._errors.pop(threading.get_ident(), None)


def _weak_call(pool: InstancePool) -> Any:
    """The pool's ``serve``, which does not keep the pool alive."""
    known = weakref.ref(pool)

    def serve(number: int, given: int, out: int) -> int:
        pool = known()
        return -1 if pool is None else pool.serve(number, given, out)

    return serve
