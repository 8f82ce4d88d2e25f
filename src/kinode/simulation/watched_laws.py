"""Finds the laws and event functions that a step could pass over, for bounds on each step (loops/step_bounds.py).

Sums and products of states are as smooth as the states, whose error is controlled.  Every other function can be narrow
where its argument is not: a comparison, ``max(0, x)``, ``exp(-x*x)``, a table, a sine.  The outermost of these parts of
each law are watched, and the event functions that follow from the state alone.

Not watched are parts of time alone that are piecewise linear, since steps end at their breaks (time_events.py), and
parts that take more than ``MAX_OPERATIONS`` to compute, such as those of accelerations and reactions of a large system.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from kinode.algebra.scalars import Scalar
from kinode.algebra.trace import Tape, Traced, needed
from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import Error
from kinode.expressions.syntax_tree import Expression, walk
from kinode.kernels.kernel_options import BoundOptions, Kernel
from kinode.model.system import System
from kinode.model.system_checks import laws_of
from kinode.multibody.snapshot import Snapshot
from kinode.ode.kernel_spec import BoundSpec

MAX_OPERATIONS = 400
"""Operations of a watched part; bounds take some four times as many."""
SMOOTH = frozenset({"name", "add", "sub", "mul", "neg"})
LINEAR_PIECES = SMOOTH | {"less", "less_equal", "equal", "min", "max", "abs", "sign", "floor", "where"}
"""Operations whose breaks, as functions of time alone, are found before the run."""


@dataclass(frozen=True)
class Watched:
    """What is watched, and the indices of the states that it depends on."""

    options: BoundOptions
    states: tuple[int, ...]


_WATCHED: WeakKeyDictionary[Dynamics, Watched | None] = WeakKeyDictionary()


def find_watched(dynamics: Dynamics) -> Watched | None:
    """The parts of laws, and the event functions, that a step could pass over; None if there are none."""
    if dynamics not in _WATCHED:
        _WATCHED[dynamics] = _find(dynamics)
    return _WATCHED[dynamics]


def find_bounds(dynamics: Dynamics) -> tuple[BoundSpec | None, int]:
    """The compiled bounds of what is watched, and the size of the work array that they need."""
    watched = find_watched(dynamics)
    if watched is None:
        return None, 0
    machine, options = dynamics.kernels.machine(Kernel("bounds", watched.options)), watched.options
    spec = BoundSpec(machine.address, len(options.laws), options.event_functions, watched.states)
    return spec, machine.sizes["work"]


def _find(dynamics: Dynamics) -> Watched | None:
    system, table = dynamics.system, dynamics.topology.events
    texts = dict.fromkeys(
        part.text()
        for component in system.components.values()
        for field, law in laws_of(component)
        for part in _narrow_parts(system, component.own(field, law))
    )
    roots = [] if table is None else [k for k, entry in enumerate(table.roots) if entry.root.by_state]
    laws = {text: nodes for text in texts if (nodes := measure(dynamics, BoundOptions((text,)))) is not None}
    functions = {k: nodes for k in roots if (nodes := measure(dynamics, BoundOptions((), (k,)))) is not None}
    if not laws and not functions:
        return None
    options = BoundOptions(tuple(laws), tuple(functions))
    return Watched(options, find_states(dynamics, [*laws.values(), *functions.values()]))


def measure(dynamics: Dynamics, options: BoundOptions) -> list[Traced] | None:
    """The operations of what is to be watched; None if they are too many, or none depends on the state or time."""
    from kinode.kernels.kernel_outputs import bounded_values

    tape = Tape()
    try:
        snapshot = Snapshot(dynamics.topology, dynamics.topology.layout.traced_point(tape))
        values: list[Scalar] = bounded_values(snapshot, options)
    except (Error, ArithmeticError, ValueError):
        return None
    nodes = needed(values)
    changes = any(node.op == "input" and node.args[0] in ("t", "q", "u", "z") for node in nodes)
    return nodes if changes and len(nodes) <= MAX_OPERATIONS else None


def find_states(dynamics: Dynamics, programs: list[list[Traced]]) -> tuple[int, ...]:
    """The indices of the states that are inputs of some operations."""
    starts = {role: where.start for role, where in dynamics.topology.layout.role_slices.items()}
    inputs = (node.args for nodes in programs for node in nodes if node.op == "input")
    return tuple(sorted({starts[array] + i for array, i in inputs if array in starts}))


def _narrow_parts(system: System, law: Expression | float) -> Iterator[Expression]:
    """The outermost parts of a law that can be narrower than their arguments."""
    constants = {"t", *system.parameters, *system.inputs}
    waiting, visited = [law], set[int]()
    while waiting:
        node = waiting.pop()
        if not isinstance(node, Expression) or id(node) in visited:
            continue
        visited.add(id(node))
        names = node.names()
        if not names - (constants - {"t"}):
            continue
        if node.op in SMOOTH or _is_whole_power(node):
            waiting.extend(arg for arg in node.args if isinstance(arg, Expression))
        elif names - constants or not _is_followed(system, node):
            yield node


def _is_whole_power(node: Expression) -> bool:
    exponent = node.args[1] if node.op == "pow" else None
    return isinstance(exponent, float) and exponent.is_integer() and exponent >= 0


def _is_followed(system: System, node: Expression) -> bool:
    """Whether a function of time alone is a polynomial between the breaks that are found before the run."""
    for part in walk(node):
        if part.op in ("call", "call_derivative"):
            table = system.tables.get(part.args[0])
            arguments = part.args[1 if part.op == "call" else 2 :]
            if table is None or any(len(table.corners(k)) < len(table.axes[k]) for k in range(len(arguments))):
                return False
        elif part.op == "inv" and not isinstance(part.args[0], float):
            return False
        elif part.op not in LINEAR_PIECES and part.op != "inv" and not _is_whole_power(part):
            return False
    return True
