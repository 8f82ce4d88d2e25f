"""Checks of a whole system: names in laws, laws that depend on each other, bodies without a joint."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from kinode.errors import LawError, ModelError
from kinode.expressions.syntax_tree import Expression
from kinode.model.base.bodies import Body
from kinode.model.base.element import Element
from kinode.model.base.field_reader import NUMBER, Nested
from kinode.model.base.fields import Component, unknown
from kinode.model.base.frames import Resolve
from kinode.model.base.observers.moving_frames import Observer
from kinode.model.base.parameters import Signal
from kinode.model.base.value_walk import Place, ValueWalk, find_expressions
from kinode.model.constraints.constraint import Constraint
from kinode.model.joints.joint import Joint
from kinode.model.network.joint_sources import locate_source
from kinode.model.network.nodes import find_network_errors
from kinode.model.network.part import Part

if TYPE_CHECKING:
    from kinode.model.quantities import QuantityName
    from kinode.model.system import System

C = TypeVar("C", bound=Component)


def check_system(system: System, whole: bool = True) -> None:
    """Bodies are possible and joined, constraints and laws refer to what exists; the first error is raised."""
    for error in find_errors(system, whole):
        raise error


def find_errors(system: System, whole: bool = True) -> Iterator[ModelError]:
    """All errors of a system that a look at the whole shows, in the order of the checks."""
    try:
        system.parameter_values()
    except ModelError as error:  # without their values nothing else can be checked
        yield error
        return
    yield from _errors_of(check_body, system.bodies.values(), system, system.nominal)
    yield from _errors_of(check_joint, system.joints.values(), system, system.nominal)
    yield from _errors_of(check_frame, system.frames.values(), system)
    try:
        nodes = system.nodes
    except ModelError as error:
        yield error
        return
    yield from find_network_errors(system, nodes, whole)
    yield from (locate_source(system, error) for error in find_law_errors(system))
    # constraints evaluate their laws
    yield from _errors_of(lambda constraint: constraint.check(system), system.constraints.values())
    yield from _errors_of(lambda element: element.check_in(system), system.elements.values())
    yield from _errors_of(check_element, system.elements.values(), system, system.nominal)
    if whole:  # joints outside may hold bodies of a subsystem
        yield from find_unjoined(system)


def _errors_of(check: Callable[..., None], components: Iterable[C], *arguments: Any) -> Iterator[ModelError]:
    """The errors of a check, one for each component that fails it."""
    for component in components:
        try:
            check(component, *arguments)
        except ModelError as error:
            yield error


def check_bodies(system: System, resolve: Resolve, names: Collection[str] | None = None) -> None:
    """Mass properties that depend on parameters, or on those named, are possible at the values of ``resolve``."""
    for body in _find_open(system, "bodies", system.bodies):
        check_body(body, system, resolve, names)


def check_body(body: Body, system: System, resolve: Resolve, names: Collection[str] | None = None) -> None:
    """The same of one body."""
    if _depends(system, body, names):
        body.check(resolve)


def check_joints(system: System, resolve: Resolve, names: Collection[str] | None = None) -> None:
    """Numbers of friction, stops and the like are possible at the values that ``resolve`` gives the parameters."""
    for joint in _find_open(system, "joints", system.joints):
        check_joint(joint, system, resolve, names)


def check_joint(joint: Joint, system: System, resolve: Resolve, names: Collection[str] | None = None) -> None:
    """The same of one joint."""
    if not _depends(system, joint, names):
        return
    evaluated = _Evaluated(resolve)
    for field, value in joint.given().items():
        if isinstance(value, Nested) and (record := evaluated.value(value, Place())) is not value:
            record.check(system.reader(joint.name), field)


class _Evaluated(ValueWalk):
    """Arithmetic with parameters as its numbers at values of these."""

    def __init__(self, resolve: Resolve) -> None:
        super().__init__()
        self._resolve = resolve

    def law(self, law: Expression, at: Place) -> Any:
        return self._resolve(law)


def check_elements(system: System, resolve: Resolve, names: Collection[str] | None = None) -> None:
    """Numbers of elements that depend on parameters are possible at the values that ``resolve`` gives them."""
    for element in _find_open(system, "elements", system.elements):
        check_element(element, system, resolve, names)


def check_element(element: Element, system: System, resolve: Resolve, names: Collection[str] | None = None) -> None:
    """The same of one element; parts of networks have checks of their own."""
    if isinstance(element, Part) or not _depends(system, element, names):
        return
    numbers = {
        field: float(resolve(value)) for field, value in element.values_of(NUMBER).items()
        if isinstance(value, Expression) and value.names() <= set(system.parameters)
    }  # fmt: skip
    if numbers:
        replace(element, **numbers).check()


def check_parameters(
    system: System, resolve: Resolve, names: Collection[str] | None = None, parts: bool = True
) -> None:
    """Check bodies, joints, elements and network parts at other values of the parameters, or of those named alone.

    Without ``parts`` those of networks are left out, where they were checked before.
    """
    check_bodies(system, resolve, names)
    check_joints(system, resolve, names)
    check_elements(system, resolve, names)
    for part in system.parts.values() if parts else ():
        if names is None or _depends(system, part, names):
            part.check_at(system, resolve)


def _find_open(system: System, section: str, components: Mapping[str, C]) -> list[C]:
    """The components of a section that have expressions: the others are possible whatever the parameters are."""
    return system.once(f"open {section}", lambda: [x for x in components.values() if x.expressions()])


def _depends(system: System, component: Component, names: Collection[str] | None) -> bool:
    """Whether a component has expressions of some names, or any."""
    used = component.used_names
    return bool(used) if names is None else not used.isdisjoint(names)


def check_frame(frame: Observer, system: System) -> None:
    """The base of a frame exists, and frames are not based on each other in a circle."""
    frame.check()
    path = [frame.name]
    while (below := path[-1]) in system.frames:
        path.append(system.frames[below].on.body)
        if path.index(path[-1]) < len(path) - 1:
            message = f"frames stand on each other in a circle: {' -> '.join(path)}"
            raise ModelError(message, component=frame.name, field="on")
    if path[-1] not in system:
        raise ModelError(f"no body or frame is called {path[-1]!r}", component=frame.name, field="on")


def find_unjoined(system: System) -> Iterator[ModelError]:
    """The errors about bodies that no joints connect to the world."""
    near: dict[str, list[str]] = {name: [] for name in ("world", *system.bodies)}
    for joint in system.joints.values():
        near[joint.a.body].append(joint.b.body)
        near[joint.b.body].append(joint.a.body)
    reached = _reach(near, "world")
    lost = [name for name in system.bodies if name not in reached]
    for name in lost:
        if not near[name]:
            message = "is not joined to anything; join it, or let it move freely with a free joint"
            yield ModelError(message, component=name)
    lost = [name for name in lost if near[name]]
    while lost:
        group = [name for name in lost if name in _reach(near, lost[0])]
        message = f"{', '.join(group)}: joined to each other but not to the world"
        yield ModelError(f"{message}; add a joint to the world (free, if it flies)", component=group[0])
        lost = [name for name in lost if name not in group]


def _reach(near: Mapping[str, list[str]], start: str) -> set[str]:
    """What is connected to a body."""
    reached, stack = {start}, [start]
    while stack:
        for other in near[stack.pop()]:
            if other not in reached:
                reached.add(other)
                stack.append(other)
    return reached


def find_law_errors(system: System) -> Iterator[ModelError]:
    """The errors about laws: names that nothing has or that may not be used there, and laws that need themselves."""
    needs: dict[str, list[str]] = {}
    fields: dict[str, tuple[str, str]] = {}
    wrong: set[str] = set()
    for component in system.components.values():
        for field, expression in laws_of(component):
            try:
                owners = _check_law(system, component, field, expression)
            except ModelError as error:
                wrong.add(component.name)
                yield error
                continue
            for node in _nodes_of(component, expression) if owners else ():
                needs.setdefault(node, []).extend(owners)
                fields[node] = (component.name, field)
    try:
        _check_circles(needs, fields)
    except ModelError as error:
        yield error
        return
    if wrong:
        return
    for component in system.components.values():
        for field in component.timely:
            value = getattr(component, field)
            for expression in find_expressions(value):
                try:
                    _check_timely(system, component.name, field, expression)
                except ModelError as error:
                    yield error


def _check_law(system: System, component: Component, field: str, expression: Expression) -> list[str]:
    """Refuse names that a law cannot use; the owners of laws that it needs."""
    tables, owners = system.callable_tables, []
    for table in expression.calls() - tables.keys():
        message = unknown("no table is called", table, tables)
        raise LawError(message, component=component.name, field=field)
    timely, late = field in component.timely, field in component.late
    for name in sorted(expression.names() - component.local.get(field, frozenset())):
        quantity = _check_name(system, component.name, field, expression, name, timely, late)
        followed = None if timely or late else _law_behind(system, quantity)
        if followed is not None:
            owners.append(followed)
    return owners


def _nodes_of(component: Component, law: Expression) -> list[str]:
    """What follows a law of a component at once: the component, or some of its quantities."""
    direct = component.feedthrough if isinstance(component, Element) else None
    if direct is None:
        return [component.name]
    return [f"{component.name}.{name}" for name, laws in direct.items() if law in laws]


def _law_behind(system: System, quantity: QuantityName) -> str | None:
    """What stands for a quantity in the search for circles, if it is itself the value of a law."""
    owner, word = quantity.owner, quantity.quantity
    element = system.elements.get(owner)
    if element is not None and word in element.immediate:
        return owner if element.feedthrough is None else f"{owner}.{word}"
    driven = owner in system.joints and word in ("effort", "effort.drive")
    return owner if driven or owner in system.signals else None


def laws_of(component: Component) -> Iterable[tuple[str, Expression]]:
    """The laws of a component, with the names of their fields."""
    return component.expressions() if isinstance(component, WITH_LAWS) else []


WITH_LAWS = (Joint, Element, Observer, Constraint, Signal)


def find_asking(system: System) -> list[Element]:
    """The elements that want to know of every completed step of a run."""
    return [element for element in system.elements.values() if element.asks_at_steps]


def find_steering(system: System) -> tuple[str, ...]:
    """The sampled parts whose outputs are used by laws: their sampled values act between ticks."""
    from kinode.model.quantities import find_quantity

    sampled = {name for name, component in system.components.items() if component.clocks}
    used = {
        find_quantity(system, name).owner
        for component in (system.components.values() if sampled else ())
        if component.name not in sampled
        for field, expression in laws_of(component)
        for name in expression.names() - component.local.get(field, frozenset())
    }
    return tuple(name for name in system.components if name in sampled & used)


def _check_name(
    system: System, component: str, field: str, expression: Expression, name: str, timely: bool, late: bool
) -> QuantityName:
    from kinode.expressions.parser import locate
    from kinode.model.quantities import find_quantity

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
    elif timely and quantity.needs != "time" and name not in system.signals:
        problem = f"a prescribed {field} may depend on t, parameters and inputs, not on {name}"
    if problem:
        raise LawError(problem, text=text, position=locate(text, name), component=component, field=field)
    return quantity


def _check_timely(system: System, component: str, field: str, expression: Expression) -> None:
    """The signals that a prescribed motion uses, and those that they use, depend on time alone."""
    from kinode.model.quantities import find_quantity

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
            elif find_quantity(system, name).needs != "time":
                message = f"a prescribed {field} may depend on t, parameters and inputs; {signal} depends on {name}"
                raise LawError(message, component=component, field=field)


def _check_circles(needs: Mapping[str, Sequence[str]], fields: Mapping[str, tuple[str, str]]) -> None:
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
                component, field = fields[name]
                raise LawError(f"depends on itself: {circle}", component=component, field=field)
            elif name not in done:
                path[name] = None
                stack += [None, *needs.get(name, ())]
