"""Checks of a whole system: names in laws, laws that depend on each other, bodies without a joint."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING

from kinode.errors import LawError, ModelError
from kinode.expressions.parser import locate
from kinode.expressions.syntax_tree import Expression
from kinode.model.base.element import Element
from kinode.model.base.fields import Component, find_expressions, unknown
from kinode.model.base.frames import Resolve
from kinode.model.base.observers.moving_frames import Observer
from kinode.model.base.parameters import Signal
from kinode.model.constraints.constraint import Constraint
from kinode.model.joints.coulomb_friction import check_numbers as check_friction
from kinode.model.joints.end_stops import read_ends
from kinode.model.joints.joint import Joint
from kinode.model.network.joint_sources import locate_source
from kinode.model.network.node_checks import check_network
from kinode.model.network.part_checks import check_numbers
from kinode.model.quantity_names import QuantityName, find_quantity

if TYPE_CHECKING:
    from kinode.model.system import System


def check_system(system: System, whole: bool = True) -> None:
    """Bodies are possible and joined, constraints and laws refer to what exists."""
    system.parameter_values()
    check_bodies(system, system.nominal)
    check_joints(system, system.nominal)
    check_frames(system)
    check_network(system, whole)
    try:
        check_laws(system)
    except ModelError as error:
        raise locate_source(system, error) from None
    for constraint in system.constraints.values():  # they evaluate their laws
        constraint.check(system)
    for element in system.elements.values():
        element.check_in(system)
    check_elements(system, system.nominal)
    check_joined(system)


def check_bodies(system: System, resolve: Resolve, names: Collection[str] | None = None) -> None:
    """Mass properties that depend on parameters, or on those named, are possible at the values of ``resolve``."""
    for body in system.bodies.values():
        if _depends(system, body, names):
            body.check(resolve)


def check_joints(system: System, resolve: Resolve, names: Collection[str] | None = None) -> None:
    """Numbers of friction, stops and backlash are possible at the values that ``resolve`` gives the parameters."""
    for joint in system.joints.values():
        friction, ends = joint.friction, joint.ends
        if (friction is None and ends is None) or not _depends(system, joint, names):
            continue
        reader = system.reader(joint.name)
        if friction is not None and any(True for _ in find_expressions(friction.given())):
            known = type(friction)(**{name: resolve(value) for name, value in friction.given().items()})
            check_friction(reader, known, "friction")
        if ends is not None and any(True for _ in find_expressions(ends.given())):
            known_ends = {name: resolve(value) for name, value in ends.given().items()}
            read_ends(reader, known_ends, "stop" if joint.stop is not None else "backlash", type(joint))


def check_elements(system: System, resolve: Resolve, names: Collection[str] | None = None) -> None:
    """Numbers of elements that depend on parameters are possible at the values that ``resolve`` gives them."""
    parts = system.parts
    for element in system.elements.values():
        if element.name in parts or not _depends(system, element, names):
            continue
        numbers = {}
        for field, spec in element.specs().values():
            value = getattr(element, field.name) if spec.shape == "number" else None
            if isinstance(value, Expression) and value.names() <= set(system.parameters):
                numbers[field.name] = resolve(value)
        if numbers:
            evaluated = copy(element)
            for name, number in numbers.items():
                object.__setattr__(evaluated, name, float(number))
            evaluated.check()


def check_parameters(system: System, resolve: Resolve, names: Collection[str] | None = None) -> None:
    """Check bodies, joints, elements and network parts at other values of the parameters, or of those named alone."""
    check_bodies(system, resolve, names)
    check_joints(system, resolve, names)
    check_elements(system, resolve, names)
    for part in system.parts.values():
        if names is None or _depends(system, part, names):
            check_numbers(part, system, resolve)


def _depends(system: System, component: Component, names: Collection[str] | None) -> bool:
    """Whether a component has expressions of some names, or any."""
    known = system.derived.setdefault("names in components", {})
    used = known.get(component.name)
    if used is None:
        found = (expression.names() for _, expression in component.expressions())
        used = known[component.name] = frozenset().union(*found)
    return bool(used) if names is None else not used.isdisjoint(names)


def check_frames(system: System) -> None:
    """The base of every frame exists, and frames are not based on each other in a circle."""
    for frame in system.frames.values():
        frame.check()
        path = [frame.name]
        while (below := path[-1]) in system.frames:
            path.append(system.frames[below].on.body)
            if path.index(path[-1]) < len(path) - 1:
                message = f"frames stand on each other in a circle: {' -> '.join(path)}"
                raise ModelError(message, component=frame.name, field="on")
        if path[-1] not in system:
            raise ModelError(f"no body or frame is called {path[-1]!r}", component=frame.name, field="on")


def check_joined(system: System) -> None:
    """Every body is connected to the world by joints."""
    near: dict[str, list[str]] = {name: [] for name in ("world", *system.bodies)}
    for joint in system.joints.values():
        near[joint.a.body].append(joint.b.body)
        near[joint.b.body].append(joint.a.body)
    reached, stack = {"world"}, ["world"]
    while stack:
        for other in near[stack.pop()]:
            if other not in reached:
                reached.add(other)
                stack.append(other)
    lost = [name for name in system.bodies if name not in reached]
    for name in lost:
        if not near[name]:
            message = "is not joined to anything; join it, or let it move freely with a free joint"
            raise ModelError(message, component=name)
    if lost:
        message = f"{', '.join(lost)}: joined to each other but not to the world"
        raise ModelError(f"{message}; add a joint to the world (free, if it flies)", component=lost[0])


def check_laws(system: System) -> None:
    """Every name in every law exists and may be used there; no law depends on itself."""
    tables = system.callable_tables
    needs: dict[str, list[str]] = {}
    fields: dict[str, str] = {}
    for component in system.components.values():
        for field, expression in laws_of(component):
            for table in expression.calls() - tables.keys():
                message = unknown("no table is called", table, tables)
                raise LawError(message, component=component.name, field=field)
            timely, late = field in component.timely, field in component.late
            for name in sorted(expression.names() - component.local.get(field, frozenset())):
                quantity = _check_name(system, component.name, field, expression, name, timely, late)
                if _is_law(system, quantity) and not timely and not late:
                    needs.setdefault(component.name, []).append(quantity.owner)
                    fields[component.name] = field
    _check_circles(needs, fields)
    for component in system.components.values():
        for field in component.timely:
            for expression in find_expressions(getattr(component, field)):
                _check_timely(system, component.name, field, expression)


def laws_of(component: Component) -> Iterable[tuple[str, Expression]]:
    """The laws of a component, with the names of their fields."""
    if isinstance(component, Signal):
        return [("law", component.law)] if isinstance(component.law, Expression) else []
    return component.expressions() if isinstance(component, Joint | Element | Observer | Constraint) else []


def find_steering(system: System) -> tuple[str, ...]:
    """The sampled parts whose outputs are used by laws: their sampled values act between ticks."""
    sampled = {name for name, component in system.components.items() if component.clocks}
    used = {
        find_quantity(system, name).owner
        for component in (system.components.values() if sampled else ())
        if component.name not in sampled
        for field, expression in laws_of(component)
        for name in expression.names() - component.local.get(field, frozenset())
    }
    return tuple(name for name in system.components if name in sampled & used)


def _is_law(system: System, quantity: QuantityName) -> bool:
    """Whether a quantity is itself the value of a law, so that laws could depend on each other."""
    if quantity.sort == "joint":
        return quantity.quantity in ("effort", "effort.drive")
    lawful = system.elements[quantity.owner].immediate if quantity.sort == "element" else ()
    return quantity.sort == "signal" or quantity.quantity in lawful


def _check_name(
    system: System, component: str, field: str, expression: Expression, name: str, timely: bool, late: bool
) -> QuantityName:
    text = expression.text()
    try:
        quantity = find_quantity(system, name)
    except LawError as error:
        position = (locate(text, name) or 0) + (error.position or 0)
        raise LawError(error.message, text=text, position=position, component=component, field=field) from None
    problem = None
    if quantity.size != ():
        head, at, axes = name.partition("@")
        problem = f"{name} has {len(quantity.parts)} parts; write {head}.{quantity.parts[0]}{at}{axes}"
    elif quantity.needs == "acceleration" and not late:
        problem = (
            f"{name} depends on accelerations or reactions, which laws cannot use; behind a lag or a sample they can"
        )
    elif timely and quantity.sort not in ("time", "parameter", "input", "signal"):
        problem = f"a prescribed {field} may depend on t, parameters and inputs, not on {name}"
    if problem:
        raise LawError(problem, text=text, position=locate(text, name), component=component, field=field)
    return quantity


def _check_timely(system: System, component: str, field: str, expression: Expression) -> None:
    """The signals that a prescribed motion uses, and those that they use, depend on time alone."""
    signals = system.signals
    stack, seen = [name for name in expression.names() if name in signals], set()
    while stack:
        signal = stack.pop()
        law = signals[signal].law
        if signal in seen or not isinstance(law, Expression):
            continue
        seen.add(signal)
        for name in sorted(law.names()):
            if name in signals:
                stack.append(name)
            elif find_quantity(system, name).sort not in ("time", "parameter", "input"):
                message = f"a prescribed {field} may depend on t, parameters and inputs; {signal} depends on {name}"
                raise LawError(message, component=component, field=field)


def _check_circles(needs: Mapping[str, Sequence[str]], fields: Mapping[str, str]) -> None:
    """Refuse laws that depend on themselves, by a depth-first search; the message names the whole circle."""
    done: set[str] = set()
    for start in needs:
        path: dict[str, None] = {}
        stack: list[str | None] = [start]
        while stack:
            name = stack.pop()
            if name is None:
                done.add(path.popitem()[0])
            elif name in path:
                names = list(path)
                circle = " -> ".join((*names[names.index(name) :], name))
                raise LawError(f"depends on itself: {circle}", component=name, field=fields[name])
            elif name not in done:
                path[name] = None
                stack += [None, *needs.get(name, ())]
