"""An FMU for Model Exchange as functions of numbers: its derivatives and outputs for time, states, parameters, inputs.

While no event happens, what an FMU computes follows from its time, its states, its parameters and its inputs.  So any
instance serves any run, and an evaluation needs no memory: ``fmu_pool.py`` keeps instances for several threads and
several sets of parameters, and compiled code finds one by itself (``fmu_calls_ir.py``).  What the events of a run have
left in an FMU is named by a ticket (``fmu_instance.py``), a further argument; an event is a function, too, which gives
the states and the ticket after it.

The arguments of all functions are the time, the states, the parameters that are numbers, the ticket if it may have
events, then inputs: all of them, or those that a group of outputs depends on by the FMU's own description.  So laws may
go in a circle through an FMU where its outputs do not.  Those of an event end with whether it happens, and the time of
the next one.

An FMU that remembers more than its states, such as one with a delay, whose buffer fills as steps are completed, gives
wrong numbers without a sign.  So at the end of a run what the instance of the run gives is compared with what a new
instance gives in the same place.  That costs an initialization; it is done for the first run of a part, for one that is
longer than those before, and else for every second, fourth, eighth ... of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kinode.algebra.named_data import ExternalFunction, ExternalResult, NamedData
from kinode.fmi import fmu_calls_ir as ir
from kinode.fmi.fmu_description import FmuDescription, FmuEntry, FmuVariable
from kinode.fmi.fmu_file import FmuFile
from kinode.fmi.fmu_pool import InstancePool, Operation

RATES, START, STEP, INDICATORS, EVENT = range(5)  # numbers of functions; outputs follow
SHARE = 6e-6  # of a difference: the third root of the rounding error
CENTRAL = ((SHARE, -SHARE), (0.5 / SHARE, -0.5 / SHARE, 0.0))  # shifts of an argument, and weights of the results there
AHEAD = ((0.0, 2 * SHARE, 4 * SHARE), (-0.75 / SHARE, 1.0 / SHARE, -0.25 / SHARE))  # to later times alone


class ResultGroup(NamedTuple):
    """The number of results, the inputs that they need, by index, and the variables that they are the entries of."""

    size: int
    inputs: tuple[int, ...]
    variables: tuple[FmuVariable, ...] = ()

    def find(self, entry: FmuEntry) -> int:
        """The place of an entry among the results."""
        place = self.variables.index(entry.variable)
        return sum(variable.count for variable in self.variables[:place]) + entry.index


@dataclass(frozen=True)
class FmuWiring:
    """Which variables of an FMU a part uses."""

    file: FmuFile
    owner: str
    inputs: tuple[FmuEntry, ...]
    outputs: tuple[FmuEntry, ...]
    """Those that follow time, states and inputs at once."""
    parameters: tuple[FmuEntry, ...]
    """Those that are numbers."""
    texts: tuple[tuple[FmuEntry, str], ...]
    """Those that are text, with their values."""
    eventful: bool = False
    """Whether it may have events."""
    held: tuple[FmuEntry, ...] = ()
    """Outputs that change at events alone."""

    @property
    def description(self) -> FmuDescription:
        """What the FMU says of itself."""
        return self.file.package.description


class _Door(NamedData):
    """Two addresses; it keeps what they lead to, so that compiled code may keep the door."""

    keeps: object


class FmuFunctions:
    """The functions of one part."""

    def __init__(self, wiring: FmuWiring) -> None:
        self.wiring, self.description = wiring, wiring.description
        description = self.description
        self.n_x, self.n_p, self.n_u = len(description.states), len(wiring.parameters), len(wiring.inputs)
        self.n_keys = self.n_p + wiring.eventful  # what an instance is chosen by
        self.count_after = self.n_x + ((2 + description.n_indicators + len(wiring.held)) if wiring.eventful else 0)
        every = tuple(range(self.n_u))
        grouped: dict[tuple[int, ...], list[FmuVariable]] = {}
        for entry in wiring.outputs:
            grouped.setdefault(self._inputs_of(entry), []).append(entry.variable)
        outputs = [
            ResultGroup(sum(v.count for v in dict.fromkeys(variables)), inputs, tuple(dict.fromkeys(variables)))
            for inputs, variables in grouped.items()
        ]
        counts = {RATES: self.n_x, START: self.count_after, STEP: 1, INDICATORS: description.n_indicators}
        counts[EVENT] = self.count_after if wiring.eventful else 0
        self.groups = (*(ResultGroup(counts[number], every) for number in range(EVENT + 1)), *outputs)
        self.radix = 5 + self.n_x + self.n_p + self.n_u  # of numbers of derivatives
        self.pool = InstancePool(wiring.file.package, wiring.owner, self)
        self.door = _Door(f"fmu {wiring.owner}", self.pool.door)
        self.door.keeps = self

    def _inputs_of(self, entry: FmuEntry) -> tuple[int, ...]:
        """The inputs that an output depends on."""
        known = self.description.dependencies.get(entry.variable.name)
        inputs = enumerate(self.wiring.inputs)
        return tuple(k for k, own in inputs if known is None or own.variable.name in known)

    # -- results -----------------------------------------------------------------------------------
    def find_output(self, output: int) -> tuple[ExternalResult, tuple[int, ...]]:
        """An output as a result, and the inputs that it is a function of."""
        entry = self.wiring.outputs[output]
        for number in range(EVENT + 1, len(self.groups)):
            group = self.groups[number]
            if entry.variable in group.variables:
                return ExternalResult(FmuFunction(self, number), group.find(entry)), group.inputs
        raise IndexError(output)

    def find_all(self, number: int) -> list[ExternalResult]:
        """All results of a function of all inputs: rates of states, states at the start, what a step leads to."""
        function = FmuFunction(self, number)
        return [ExternalResult(function, k) for k in range(self.groups[number].size)]

    def split(self, number: int) -> tuple[int, int | None]:
        """The function that a number is or is a derivative of, and the argument that it is differentiated by."""
        n = len(self.groups)
        return (number, None) if number < n else divmod(number - n, self.radix)

    def join(self, number: int, argument: int) -> int:
        """The number of the derivative of a function by an argument."""
        return len(self.groups) + number * self.radix + argument

    def count_arguments(self, number: int) -> int:
        """The number of arguments of a function."""
        base = self.split(number)[0]
        return 1 + self.n_x + self.n_keys + len(self.groups[base].inputs) + (2 if base == EVENT else 0)

    def count_results(self, number: int) -> int:
        """The number of results of a function."""
        return self.groups[self.split(number)[0]].size

    def variable_at(self, number: int, argument: int) -> FmuEntry | None:
        """The state or input that an argument is; None for time and parameters."""
        if 1 <= argument <= self.n_x:
            return self.description.states[argument - 1]
        k = argument - 1 - self.n_x - self.n_keys
        return self.wiring.inputs[self.groups[number].inputs[k]] if k >= 0 else None

    def unknowns(self, number: int) -> list[FmuEntry]:
        """The variables that a function gives."""
        if number in (RATES, START):
            return list(self.description.rates)
        return [FmuEntry(variable, k) for variable in self.groups[number].variables for k in range(variable.count)]

    def depends(self, number: int, result: int, argument: int) -> bool:
        """Whether a result may depend on an argument, by the FMU's description.

        Those of derivatives do not: what needs second derivatives refuses FMUs (``directed_calls.py``).
        """
        base, by = self.split(number)
        is_ticket = argument == 1 + self.n_x + self.n_p and self.wiring.eventful
        if base in (STEP, EVENT) or by is not None or is_ticket:
            return False
        if base == START:
            return not 1 <= argument <= self.n_x and result < self.n_x
        if base == INDICATORS:
            return True
        known = self.description.dependencies.get(self.unknowns(base)[result].variable.name)
        variable = self.variable_at(base, argument)
        return known is None or variable is None or variable.variable.name in known

    # -- operations --------------------------------------------------------------------------------
    @property
    def count(self) -> int:
        """How many functions there are, with their derivatives."""
        return len(self.groups) * (1 + self.radix)

    def operations(self, number: int) -> list[Operation] | None:
        """What gives the results of a function in an instance; None for what takes several instances."""
        base, by = self.split(number)
        if base in (START, EVENT):
            return None
        place = [Operation(ir.TIME), Operation(ir.STATES, self.n_x, at=1)]
        inputs = [self.wiring.inputs[k] for k in self.groups[base].inputs]
        place.append(_exchange(ir.SET, dict.fromkeys(e.variable for e in inputs), 1 + self.n_x + self.n_keys))
        if by is None:
            return [*place, self._read(base)]
        if by >= self.count_arguments(base) or 1 + self.n_x <= by < 1 + self.n_x + self.n_keys or base == STEP:
            return None
        return self._along(base, by, place)

    def _read(self, base: int, at: int = 0) -> Operation:
        if base == STEP:
            return Operation(ir.STEP, 1)
        if base == RATES:
            return Operation(ir.RATES, self.n_x, at=at)
        if base == INDICATORS:
            return Operation(ir.INDICATORS, self.description.n_indicators, at=at)
        return _exchange(ir.GET, self.groups[base].variables, at)

    def _along(self, base: int, argument: int, place: list[Operation]) -> list[Operation]:
        """The derivative by an argument: that of the FMU, if it gives them, or a difference."""
        variable, unknowns = self.variable_at(base, argument), self.unknowns(base)
        kind, version = self.description.model_exchange, self.description.version
        assert kind is not None
        plain = variable is not None and not any(entry.variable.sizes for entry in (variable, *unknowns))
        if kind.directional and plain and variable is not None and base != INDICATORS:
            what = ir.ALONG_2 if version == 2 else ir.ALONG_3
            known, seed = _references([variable]), (1.0,)
            return [*place, Operation(what, len(unknowns), _references(unknowns), 0, known, seed)]
        shifts, weights = AHEAD if argument == 0 else CENTRAL
        nominal = 1.0 if variable is None else variable.variable.nominal
        operations, n = [], self.count_results(base)
        for k, shift in enumerate(shifts):
            moved = Operation(ir.SHIFT, at=argument, numbers=(shift, nominal))
            operations += [moved, *place, self._read(base, k * n)]
        back = Operation(ir.SHIFT, at=argument, numbers=(0.0, nominal))
        return [*operations, back, Operation(ir.COMBINE, n, numbers=weights)]

    def size(self, number: int) -> int:
        """Numbers that a call writes: the results, or those at several places, of which they are differences."""
        operations = self.operations(number) or ()
        differs = any(operation.what == ir.COMBINE for operation in operations)
        return self.count_results(number) * (3 if differs else 1)

    # -- in Python ---------------------------------------------------------------------------------
    def serve(self, number: int, given: list[float]) -> Sequence[float]:
        """The results of a function that takes more than one instance, or a new one."""
        base, by = self.split(number)
        if by is None:
            assert base in (START, EVENT)
            return self.pool.start_states(given) if base == START else self.pool.pass_event(given)
        step = SHARE * max(1.0, abs(given[by]))
        sides = []
        for sign in (1.0, -1.0):
            there = list(given)
            there[by] += sign * step
            sides.append(self.pool.evaluate(base, there))
        return [(a - b) / (2 * step) for a, b in zip(*sides, strict=True)]


class FmuFunction(ExternalFunction):
    """One function of an FMU, or a derivative of one."""

    def __init__(self, functions: FmuFunctions, number: int) -> None:
        self.functions, self.number = functions, number
        self.owner, self.door = functions.wiring.owner, functions.door
        self.name = f"{functions.door.name} {number}"
        self.size = functions.size(number)

    def evaluate(self, arguments: Sequence[float]) -> Sequence[float]:
        return self.functions.pool.evaluate(self.number, [float(x) for x in arguments])

    def derivative(self, result: int, argument: int) -> ExternalResult | None:
        functions = self.functions
        if not functions.depends(self.number, result, argument):
            return None
        return ExternalResult(FmuFunction(functions, functions.join(self.number, argument)), result)

    def result_name(self, result: int) -> str:
        functions = self.functions
        base, by = functions.split(self.number)
        words = {RATES: "rate", START: "start", STEP: "step", INDICATORS: "indicator", EVENT: "event"}
        name = f"{words[base]}{result + 1}" if base <= EVENT else str(functions.unknowns(base)[result])
        plain = "".join(x if x.isalnum() else "_" for x in f"{self.owner}_{name}")
        return plain if by is None else f"{plain}_by_{by}"


def _references(entries: Sequence[FmuEntry]) -> tuple[int, ...]:
    return tuple(entry.variable.reference for entry in entries)


def _exchange(what: int, variables: Iterable[FmuVariable], at: int) -> Operation:
    """Set or read whole variables."""
    listed = tuple(variables)
    references = tuple(variable.reference for variable in listed)
    return Operation(what, len(listed), references, at, values=sum(variable.count for variable in listed))


CLOSE, FLOOR = 1e-6, 1e-9  # relative and absolute difference that iterations inside an FMU may leave
LONGER = 1.01  # times the longest span that was checked


class MemoryChecks:
    """Which runs of a part are checked."""

    def __init__(self) -> None:
        self.runs, self.longest = 0, 0.0

    def wants(self, span: float) -> bool:
        """Count a run; whether it is one to check."""
        self.runs += 1
        due = span > LONGER * self.longest or self.runs & (self.runs - 1) == 0
        self.longest = max(self.longest, span) if due else self.longest
        return due


def find_memory(functions: FmuFunctions, given: list[float]) -> str | None:
    """What an FMU gives otherwise at the end of a run than a new instance does, in words; None if there is nothing.

    ``given`` has the arguments of its functions with all inputs.
    """
    pool, head = functions.pool, 1 + functions.n_x + functions.n_keys
    numbers = [n for n in range(len(functions.groups)) if functions.groups[n].size and n in _compared(functions)]
    arguments = {n: [*given[:head], *(given[head + k] for k in functions.groups[n].inputs)] for n in numbers}
    keys = pool.keys_in(given)
    with pool.lock:
        used = pool.take_used(keys)
        if used is None:
            return None
        try:
            old = {n: pool.run_in(used, n, arguments[n]) for n in numbers}
        finally:
            pool.release(used)
        with pool.slot_for(keys, given[0], given[head:], new=True) as other:
            new = {n: pool.run_in(other, n, arguments[n]) for n in numbers}
    for n in numbers:
        for k, (a, b) in enumerate(zip(old[n], new[n], strict=True)):
            size = max(abs(a), abs(b))
            if math.isfinite(size) and abs(a - b) > CLOSE * size + FLOOR:
                what = f"its event indicator {k + 1}" if n == INDICATORS else str(functions.unknowns(n)[k])
                run = f"at t = {given[0]:.9g} s {what} is {a:.6g} where the run has led, and {b:.6g} in a new instance"
                name = functions.wiring.file.package.name
                return f"the FMU {name} remembers more than its states: {run}; give a period="
    return None


def _compared(functions: FmuFunctions) -> set[int]:
    """The functions that are compared: derivatives, event indicators, outputs."""
    return {RATES, INDICATORS, *range(EVENT + 1, len(functions.groups))}
