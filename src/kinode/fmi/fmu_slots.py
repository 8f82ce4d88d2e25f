"""The instances of an FMU in slots, each used by one thread at a time, and brought to where a run needs it.

A slot is a row of 64-bit words that compiled code reads (``fmu_calls_ir.py``): a lock, the addresses of the instance
and of its functions, the time from which on it can be used, and its key: parameters, then the ticket of its last event.
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
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from kinode.errors import LawError
from kinode.fmi import fmu_calls_ir as ir
from kinode.fmi.fmu_histories import NEVER, ROUNDING, FmuHistories, FmuOutcome, FmuRecord, find_ticket, happen
from kinode.fmi.fmu_instance import Entry, FmuInstance
from kinode.fmi.fmu_solver import SolvedFmu

if TYPE_CHECKING:
    from kinode.fmi.fmu_file import FmuPackage

MOST_INSTANCES = 32  # of one part
WAIT = 5e-5  # s, for an instance that another thread uses
CURE = "and can be no part with states of the system as it stands; events=True lets it have events, or give a period="
FUNCTIONS = {
    2: ("SetTime", "SetContinuousStates", "SetReal", "GetDerivatives", "GetReal", "GetDirectionalDerivative",
        "CompletedIntegratorStep", "GetEventIndicators"),
    3: ("SetTime", "SetContinuousStates", "SetFloat64", "GetContinuousStateDerivatives", "GetFloat64",
        "GetDirectionalDerivative", "CompletedIntegratorStep", "GetEventIndicators"),
}  # fmt: skip
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
    values: int = 0
    """How many numbers are set or read, where that is not the size."""


class FunctionTable(Protocol):
    """What the instances need of the functions."""

    n_x: int
    n_p: int
    n_keys: int
    count_after: int
    wiring: Any

    @property
    def n_listed(self) -> int: ...

    def operations(self, number: int) -> list[Operation] | None: ...
    def size(self, number: int) -> int: ...
    def count_arguments(self, number: int) -> int: ...
    def count_results(self, number: int) -> int: ...
    def serve(self, number: int, given: list[float]) -> Served: ...


class FmuSlots:
    """Slots for the instances of one part."""

    calls: Any

    def __init__(self, package: FmuPackage, owner: str, functions: FunctionTable) -> None:
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

    @property
    def functions(self) -> FunctionTable:
        """The functions that it serves."""
        functions = self._functions()
        assert functions is not None
        return functions

    def keys_in(self, given: Sequence[float]) -> list[float]:
        """The parameters and the ticket among the arguments of a function."""
        return list(given[1 + self.n_x : 1 + self.n_x + self.n_keys])

    # -- slots ---------------------------------------------------------------------------------------
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
        slot[ir.COMPONENT] = _value(instance.face.component)
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
                raise refuse_events(instance, f"has an event at t = {instance.next_event:.9g} s")
        except BaseException:
            instance.close()
            raise
        return instance

    # -- events --------------------------------------------------------------------------------------
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

    def _outcome(self, instance: SolvedFmu, ticket: float) -> FmuOutcome:
        values = tuple(instance.get(self.functions.wiring.held))
        return FmuOutcome(
            tuple(map(float, instance.x)), ticket, min(instance.next_event, NEVER), instance.find_signs(), values
        )


def refuse_events(instance: FmuInstance, what: str) -> LawError:
    """An error about an event, which an FMU whose states are states of the system must not have."""
    return instance.fault(f"{what}, {CURE}")


def _value(component: Any) -> int:
    return int(component if isinstance(component, int) else component.value)


def _close_all(instances: dict[int, SolvedFmu]) -> None:
    while instances:
        instances.popitem()[1].close()
