"""Laws and event functions that a step could pass over: which they are, and where they may act along a run.

Sums and products of states are as smooth as the states, whose error is controlled.  Every other function can be narrow
where its argument is not: a comparison, ``max(0, x)``, ``exp(-x*x)``, a table, a sine.  The outermost of these parts of
each law are watched, and the event functions that follow from the state alone, by bounds on each step
(ode/loops/step_bounds.py).  Not watched are parts of time alone made of lines, jumps and sines, whose breaks and
periods limit the steps (time_events.py), and parts that take more than ``MAX_OPERATIONS`` to compute, such as those of
accelerations and reactions of a large system.

As in ode/loops/step_bounds.py the path of an argument in a step is the cubic through both ends and their rates.  Its
control points give the range of the argument in a part of the step, and interval arithmetic the bounds of the law
there.  Here many steps are searched at a time.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from kinode.algebra.scalars import ARITHMETIC, Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import Error
from kinode.expressions.syntax_tree import Expression, walk
from kinode.kernels.kernel_options import BoundOptions, Kernel
from kinode.model.base.parameters import Signal
from kinode.model.system import System
from kinode.model.system_checks import laws_of
from kinode.ode.input_table import Inputs
from kinode.ode.kernel_spec import BoundSpec

MAX_OPERATIONS = 400
"""Operations of a watched part and of its arguments; they are computed once or twice a step."""
SMOOTH = frozenset({"name", *ARITHMETIC})
FOLLOWED = SMOOTH | {
    *("less", "less_equal", "equal", "min", "max", "abs", "sign", "floor", "where", "sin", "cos", "inv"),
}
"""Operations of time alone that the search for breaks and periods follows (time_events.py)."""


NONE: frozenset[int] = frozenset()


def find_bounds(dynamics: Dynamics, varying: frozenset[int] = NONE) -> tuple[BoundSpec | None, int]:
    """The compiled bounds of what is watched, and the size of the work array that they need.

    ``varying`` are the inputs that change during the run, by index.  Bounds take inputs for constant: what depends on
    these is not watched; steps end at their samples.
    """
    options = find_watched(dynamics, varying)
    if options is None:
        return None, 0
    from kinode.kernels.bound_outputs import find_widths  # few systems have watched laws

    names = ("bounds", "arguments", "argument_laws") if options.laws else ("bounds", "arguments")
    machines = {name: dynamics.kernels.machine(Kernel(name, options)) for name in names}
    spec = BoundSpec(
        bounds=machines["bounds"].address,
        arguments=machines["arguments"].address,
        laws=machines["argument_laws"].address if options.laws else 0,
        n_arguments=options.n_arguments,
        widths=find_widths(dynamics.topology, options),
        n_laws=len(options.laws),
        functions=options.event_functions,
    )
    return spec, max(machine.sizes["work"] for machine in machines.values())


def find_watched(dynamics: Dynamics, varying: frozenset[int] = NONE) -> BoundOptions | None:
    """The parts of laws, and the event functions, that a step could pass over; None if there are none."""
    known: dict[frozenset[int], BoundOptions | None] = dynamics.arguments.derived.setdefault("watched laws", {})
    if varying not in known:
        known[varying] = _find(dynamics, varying)
    return known[varying]


def may_watch(system: System) -> bool:
    """Whether a law has a part that may have to be watched."""
    return any(True for _ in _find_parts(system))


def _find_parts(system: System) -> Iterator[Expression]:
    """The parts of all laws in use that can be narrower than their arguments."""
    for law in (*_own_laws(system), *(signal.law for signal in _signals_in_use(system))):
        yield from _narrow_parts(system, law)


def _find(dynamics: Dynamics, varying: frozenset[int]) -> BoundOptions | None:
    system, table = dynamics.system, dynamics.topology.events
    texts = dict.fromkeys(part.text() for part in _find_parts(system))
    roots = [] if table is None else [k for k, entry in enumerate(table.roots) if entry.root.by_state]
    laws = tuple(text for text in texts if complete(dynamics, BoundOptions((text,)), varying=varying) is not None)
    functions = tuple(k for k in roots if complete(dynamics, BoundOptions((), (k,)), varying=varying) is not None)
    return complete(dynamics, BoundOptions(laws, functions), math.inf) if laws or functions else None


def _own_laws(system: System) -> Iterator[Expression]:
    """The laws of all components but signals, which act only where other laws name them."""
    for component in system.components.values():
        if not isinstance(component, Signal):
            laws = (component.own(field, law) for field, law in laws_of(component))
            yield from (law for law in laws if isinstance(law, Expression))


def _signals_in_use(system: System) -> list[Signal]:
    """The signals that laws of other components name, directly or by other signals."""
    used: dict[str, Signal] = {}
    waiting = {name for law in _own_laws(system) for name in law.names()}
    while waiting:
        signal = system.signals.get(name := waiting.pop())
        if signal is not None and name not in used:
            used[name] = signal
            waiting |= signal.law.names() if isinstance(signal.law, Expression) else frozenset()
    return [signal for name, signal in system.signals.items() if name in used]


def complete(
    dynamics: Dynamics, options: BoundOptions, most: float = MAX_OPERATIONS, varying: frozenset[int] = NONE
) -> BoundOptions | None:
    """The options with the number of arguments.

    None if constant, if it takes too many operations, or if it depends on inputs that change.
    """
    from kinode.kernels.bound_outputs import count_operations, reads_inputs

    try:
        counted = count_operations(dynamics.topology, options)
        if varying and reads_inputs(dynamics.topology, options, varying):
            return None
    except (Error, ArithmeticError, ValueError):
        return None
    return replace(options, n_arguments=counted[1]) if counted[1] and counted[0] <= most else None


def _narrow_parts(system: System, law: Expression | float) -> Iterator[Expression]:
    """The parts of a law that can be narrower than their arguments.

    A sum or product with one such part is as narrow as that part.  Several of them in a sum or product may be narrow
    only together, as a step up and a step down are: they are one part.
    """
    if not isinstance(law, Expression):
        return
    narrow = _find_narrow(system, law)
    waiting = [law] if narrow else []
    while waiting:
        node = waiting.pop()
        terms = [(term, negative) for term, negative in _find_terms(node) if id(term) in narrow]
        if node.op not in SMOOTH and not _is_whole_power(node):
            yield node
        elif len(terms) == 1:
            waiting.append(terms[0][0])
        elif terms:
            signed = [-term if negative else term for term, negative in terms]
            yield reduce(operator.mul if node.op == "mul" else operator.add, signed)


def _find_narrow(system: System, law: Expression) -> frozenset[int]:
    """The nodes of a law, by identity, that are or contain a part that is to be watched."""
    constants = {"t", *system.parameters, *system.inputs}
    narrow = set[int]()
    for node in walk(law):
        if any(isinstance(arg, Expression) and id(arg) in narrow for arg in node.args):
            narrow.add(id(node))
        elif node.op not in SMOOTH and not _is_whole_power(node):
            names = node.names()
            changes = bool(names - (constants - {"t"}))
            if changes and (names - constants or not _is_followed(system, node)):
                narrow.add(id(node))
    return frozenset(narrow)


def _find_terms(node: Expression) -> list[tuple[Expression, bool]]:
    """The operands of an operation; for a sum all its terms, and whether they are subtracted."""
    if node.op not in ("add", "sub"):
        return [(arg, False) for arg in node.args if isinstance(arg, Expression)]
    terms, waiting = list[tuple[Expression, bool]](), [(node, False)]
    while waiting:
        term, negative = waiting.pop()
        if term.op in ("add", "sub"):
            signs = negative, negative != (term.op == "sub")
            waiting += [(x, sign) for x, sign in zip(term.args, signs, strict=True) if isinstance(x, Expression)]
        else:
            terms.append((term, negative))
    return terms


def _is_whole_power(node: Expression) -> bool:
    exponent = node.args[1] if node.op == "pow" else None
    return isinstance(exponent, float) and exponent.is_integer() and exponent >= 0


def _is_followed(system: System, node: Expression) -> bool:
    """Whether a function of time alone has breaks and periods that are found before the run, and nothing else."""
    for part in walk(node):
        if part.op in ("call", "call_derivative"):
            table = system.tables.get(part.args[0])
            arguments = part.args[1 if part.op == "call" else 2 :]
            if table is None or any(len(table.corners(k)) < len(table.axes[k]) for k in range(len(arguments))):
                return False
        elif (part.op == "inv" and isinstance(part.args[0], Expression) and "t" in part.args[0].names()) or (
            part.op not in FOLLOWED and not _is_whole_power(part)
        ):
            return False
    return True


PADDING = 0.01  # of the range of an argument in a part of a step: more than a cubic differs from the motion
HALVINGS = 5  # of a step
MAX_PARTS = 1 << 14  # of steps, at a time


@dataclass(frozen=True, eq=False)
class ArgumentPaths:
    """Cubics of the arguments over each step.

    ``options`` name one law, with the number of its arguments.  The coefficients have one row for each step and one
    column for each argument; the parameter goes from 0 to 1.
    """

    dynamics: Dynamics
    options: BoundOptions
    start: Array
    linear: Array
    square: Array
    cubic: Array
    z: Array
    """The states besides q and u at the start of each step."""
    p: Array
    inputs: Inputs

    def find_possible(self) -> Array:
        """For each step, whether the law may be positive within it."""
        count = len(self.start)
        step, part, possible = np.arange(count), np.zeros(count), np.zeros(count, dtype=bool)
        for halving in range(HALVINGS + 1):
            keep = ~(self._upper_bounds(step, part * 0.5**halving, (part + 1) * 0.5**halving) <= 0.0)
            step, part = step[keep], part[keep]
            if halving == HALVINGS or 2 * len(step) > MAX_PARTS:
                break
            step, part = np.repeat(step, 2), np.stack([2 * part, 2 * part + 1], axis=1).ravel()
        possible[step] = True
        return possible

    def _upper_bounds(self, step: Array, a: Array, b: Array) -> Array:
        """Upper bounds of the law in parts of steps, from share a to share b."""
        linear, square, cubic = self.linear[step], self.square[step], self.cubic[step]
        points = []
        for at, other in ((a[:, None], b[:, None]), (b[:, None], a[:, None])):
            point = self.start[step] + at * (linear + at * (square + at * cubic))
            points += [point, point + (other - at) / 3.0 * (linear + at * (2.0 * square + 3.0 * at * cubic))]
        low, high = np.minimum.reduce(points), np.maximum.reduce(points)
        padding = PADDING * (high - low)
        ranges = np.hstack([low - padding, high + padding])
        layout = self.dynamics.topology.layout
        y = np.hstack([np.zeros((len(step), layout.n_y - self.z.shape[1])), self.z[step]])
        point = self.dynamics.point_of(np.zeros(len(step)), y, self.p, self.inputs)
        bounds: Array = self.dynamics.kernels.call(Kernel("bounds", self.options), point, ranges)[:, 1]
        return bounds


def find_paths(
    dynamics: Dynamics, options: BoundOptions, steps: tuple[Array, Array, Array], rates: tuple[Array, Array],
    p: Array, inputs: Inputs,
) -> ArgumentPaths:  # fmt: skip
    """The paths of a law's arguments along steps.

    Parameters
    ----------
    steps : start and end of each step in s (a row each), and all states: one more than there are steps.
    rates : time derivatives of the state after the start and before the end of each step.
    """
    (begin, end), y = np.asarray(steps[:2]), steps[2]
    n, h, kernel = options.n_arguments, (end - begin)[:, None], Kernel("arguments", options)
    before, after = (
        dynamics.kernels.call(kernel, dynamics.point_of(t, states, p, inputs), rate)
        for t, states, rate in ((begin, y[:-1], rates[0]), (end, y[1:], rates[1]))
    )
    linear, change = h * before[:, n : 2 * n], after[:, :n] - before[:, :n]
    cubic = linear + h * after[:, n : 2 * n] - 2.0 * change
    z = y[:-1, dynamics.topology.layout.role_slices["z"]]
    return ArgumentPaths(dynamics, options, before[:, :n], linear, change - linear - cubic, cubic, z, p, inputs)
