"""Whether an FMU remembers more than its states: a check at the end of a run.

An FMU as functions (``fmu_functions.py``) must give the same for the same time, states, parameters and inputs, after
the same events.  One with a delay, whose buffer fills as steps are completed, does not, and its numbers would be wrong
without a sign.  So at the end of a run what the instance of the run gives is compared with what a new instance gives in
the same place.  That costs an initialization; it is done for the first run of a part, for one that is longer than those
before, and else for every second, fourth, eighth ... of them.
"""

from __future__ import annotations

import math

from kinode.fmi.fmu_functions import EVENT, INDICATORS, RATES, FmuFunctions

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
