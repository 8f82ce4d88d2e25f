"""Live numbers: the literals of a system as hidden parameters, so that other values need no new compilation.

``make_live`` gives a copy of a system in which literals are expressions of one hidden parameter each.  All that follows
is what parameters do: arguments of the compiled code, checks, time events, initial values.  ``system.live`` of the copy
holds the numbers and the system as it was written.

A number whose value shapes the compiled code stays a literal and is called structural: a zero, whose terms are left
out; an axis; a right angle.  Every other number has a name:

    upper.mass   upper.com.x   upper.inertia.zz   upper.tip.at.x   upper.shape.radius       of a body
    elbow.at.x   elbow.a.at.x  elbow.a.rpy.yaw    elbow.q          elbow.friction.radius    of a joint
    motor.resistance           plant.A.0.1        system.gravity.y

A frame that several components use is one number: the copies of a named frame, of a mass center and of a joint's own
frames are found by their names, or since they hold the very tuple of the frame that they were made from.  Literals in
the text of an expression are no numbers of their own.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from kinode.errors import ArgumentError, ModelError
from kinode.expressions.syntax_tree import Expression
from kinode.expressions.units import DIMENSIONS
from kinode.model.base.bodies import Body
from kinode.model.base.element import Element
from kinode.model.base.fields import Component, Spec, Value, short, unknown
from kinode.model.base.frames import Frame, read_rotation
from kinode.model.base.parameters import HIDDEN, Input, Parameter, TableRecord, is_plain
from kinode.model.base.value_walk import XYZ, Form, ValueWalk
from kinode.model.joints.joint import Joint

if TYPE_CHECKING:
    from kinode.model.system import System


ZERO_REASON = "zero, which leaves its terms out of the compiled code"
RIGHT_ANGLE_ROUNDING = 1e-12


class LiveNumber(NamedTuple):
    """A number of a model: its name, value in SI, unit, what it is.

    A ``structural`` one stays a literal, for the ``reason`` given: other values need a new compilation.
    """

    name: str
    component: str
    field: str
    value: float
    dimension: str | None = None
    doc: str = ""
    form: Form = Form.PLAIN
    aside: bool = False  # not in the equations: an initial value, a limit
    refused: str = ""  # why its kind takes a literal alone

    def at(self, part: str, dimension: str | None = None, form: Form | None = None) -> LiveNumber:
        """A part of it, on the way of a walk to the numbers."""
        name = f"{self.name}.{part}" if part else self.name
        return LiveNumber(
            name, *self[1:4], dimension or self.dimension, self.doc, form or self.form, self.aside
        )  # fmt: skip

    @property
    def unit(self) -> str:
        """Its SI unit; empty where it has none, or none is known."""
        unit = "1" if self.dimension is None else DIMENSIONS[self.dimension].unit
        return "" if unit == "1" else unit

    @property
    def reason(self) -> str:
        """Why it is structural; empty where it is not."""
        if self.refused or self.form not in (Form.PLAIN, Form.TURN):
            return self.refused or self.form.value
        if self.value == 0.0:
            return "" if self.aside else ZERO_REASON
        quarters = self.value / (0.5 * math.pi)
        is_right = self.form is Form.TURN and abs(quarters - round(quarters)) <= RIGHT_ANGLE_ROUNDING
        return self.form.value if is_right else ""

    @property
    def structural(self) -> bool:
        """Whether another value needs a new compilation."""
        return bool(self.reason)

    @property
    def place(self) -> str:
        """Where it stands in its component, such as ``com.x``."""
        return self.name.removeprefix(f"{self.component}.")

    @property
    def parameter(self) -> str:
        """The name of its hidden parameter."""
        return HIDDEN + self.name

    def read(self, system: System, raw: Any) -> float:
        """Another value of it in SI, from a number or a text with a unit."""
        if is_plain(raw):
            return float(raw)
        return system.nominal(system.reader(self.component).number(raw, self.dimension, self.place))

    def __repr__(self) -> str:
        value = f"{self.value:g} {self.unit}".strip()
        return f"<{self.name} = {value}{f', structural: {self.reason}' if self.reason else ''}>"


Visit = Callable[[LiveNumber], Value | None]


class NumberWalk(ValueWalk):
    """One walk: ``visit`` is told every number, and returns what is to stand in its place, or None."""

    visits_numbers, keeps_sharing = True, True

    def __init__(self, system: System, visit: Visit) -> None:
        super().__init__()
        self.system, self._visit = system, visit
        self._frames: dict[tuple[str, str], Frame] = {}  # named frames of bodies

    def apply(self, target: System) -> None:
        """Put the other values into a copy of the system."""
        target.gravity = self.gravity()
        for component in self.components():
            old = self.system.world if component.name == "world" else self.system.declared[component.name]
            if component is not old:
                owned = dataclasses.replace(component, system=target) if isinstance(component, Body) else component
                target.replace(owned)

    def gravity(self) -> Any:
        """The acceleration of free fall."""
        place = LiveNumber("system.gravity", "system", "gravity", 0.0, "acceleration", "acceleration of free fall")
        return self.entries(self.system.gravity, place, XYZ)

    def components(self) -> Iterator[Component]:
        """All components that have numbers: bodies first, then joints, since others may use their frames."""
        declared = self.system.declared.values()
        bodies = [self.system.world, *self.system.bodies.values()]
        joints = [component for component in declared if isinstance(component, Joint)]
        for component in (*bodies, *joints, *(c for c in declared if not isinstance(c, Body | Joint))):
            if not isinstance(component, Parameter | Input | TableRecord):
                yield self.component(component)

    def component(self, old: Component) -> Component:
        """A component with other values; the very same if nothing differs."""
        changed = self.changes(old)
        new_component = dataclasses.replace(old, **changed) if changed else old
        if isinstance(old, Body) and isinstance(new_component, Body):
            self._frames |= {(old.name, frame.name or ""): frame for frame in new_component.frames}
            if old.name != "world":
                self._frames[old.name, "com"] = new_component.com
        return new_component

    def fields(self, old: Component) -> Iterable[tuple[str, str, Spec]]:
        """Those that are given, and the law of a signal."""
        given = old.given()
        return [field for field in old.walked_fields() if field[0] in given or not old.specs()]

    def place(self, owner: Component, name: str, spec: Spec) -> LiveNumber:
        dimension = spec.dimension if spec.dimension in DIMENSIONS else None
        form = Form.PLAIN if spec.aside else spec.kind.form
        return LiveNumber(f"{owner.name}.{name}", owner.name, name, 0.0, dimension, spec.doc, form, spec.aside)

    def number(self, value: Any, at: LiveNumber) -> Any:
        form = at.form if isinstance(value, float) else Form.EXACT
        new = self._visit(LiveNumber(*at[:3], float(value), *at[4:6], form, at.aside))
        return value if new is None else new

    def frame(self, frame: Frame, at: LiveNumber) -> Frame:
        """A frame; one with a name is that of its body."""
        if frame.name is not None:
            return self._frames.get((frame.body, frame.name), frame)
        return frame if frame.is_plain else self.inside_frame(frame, at)

    def own_frame(self, frame: Frame, at: LiveNumber) -> Frame:
        return self.inside_frame(frame, at._replace(name=f"{at.component}.{frame.name}"))

    def rotation(self, rotation: tuple[str, Any], at: LiveNumber) -> tuple[str, Any]:
        """A quaternion is brought to unit length; numbers that are no rotation are refused."""
        new = super().rotation(rotation, at)
        if new is rotation or new[0] in ("rpy", "turns"):
            return new
        return read_rotation(self.system.reader(at.component), dict([new]), at.field) or rotation


@dataclass(frozen=True)
class LiveNumbers:
    """The numbers of a system that were made live, by name, and the system as it was written."""

    origin: System
    numbers: Mapping[str, LiveNumber]

    def plain(self, values: Mapping[str, float]) -> System:
        """The system as written, with other values of some numbers, and without hidden parameters."""
        other = {name: value for name, value in values.items() if value != self.numbers[name].value}
        return with_numbers(self.origin, other) if other else self.origin


def find_numbers(system: System) -> dict[str, LiveNumber]:
    """All numbers of a system by name, the structural ones among them; parameters and inputs are not."""
    numbers: dict[str, LiveNumber] = {}
    walk = NumberWalk(system, lambda number: numbers.__setitem__(number.name, number))
    walk.gravity()
    seen = len(numbers)
    for component in walk.components():
        own = [x for x in islice(numbers.values(), seen, None) if not x.reason]
        seen = len(numbers)
        if isinstance(component, Joint | Element) and own:
            numbers |= _refuse(system, component, own)
    return numbers


def make_live(system: System, live: bool | str | Iterable[str] = True) -> System:
    """A copy of a system in which numbers are hidden parameters: all, or those named.

    A name may be that of a number (``upper.mass``), of a field (``upper.com``) or of a component (``upper``).
    """
    origin = system.copy() if system.live is None else system.live.origin
    chosen = _choose(find_numbers(origin), live)
    twin = origin.copy()
    for number in chosen.values():
        if not number.structural:
            dimension = None if number.dimension is None else DIMENSIONS[number.dimension].dimension
            twin.replace(Parameter(number.parameter, number.value, dimension, None, number.doc))
    free = {name for name, number in chosen.items() if not number.structural}
    NumberWalk(origin, lambda number: _name(number.name) if number.name in free else None).apply(twin)
    twin.live = LiveNumbers(origin, chosen)
    return twin


def with_numbers(system: System, values: Mapping[str, float]) -> System:
    """A copy of a system with other values of some numbers, not checked."""
    twin = system.copy()
    NumberWalk(system, lambda number: values.get(number.name)).apply(twin)
    return twin


def change_values(system: System, values: Mapping[str, Any]) -> System:
    """A copy of a system with other values of numbers and of whole fields, in this order, as if they had been written.

    Parameters
    ----------
    system : System
    values : mapping
        Name of a number (``upper.com.x``) or of a field (``pin.axis``) -> value, in SI or as text with a unit.
    """
    twin, numbers, other = system.copy(), find_numbers(system), dict[str, float]()
    for name, raw in values.items():
        if name in numbers:
            other[name] = numbers[name].read(twin, raw)
            continue
        field = ("system", "gravity") if name == "system.gravity" else find_field(twin, name)
        if field is None or name != ".".join(field):
            raise ArgumentError(unknown("no number or field is called", name, numbers))
        twin = _rewrite(twin, numbers, other)
        if field[0] == "system":
            twin.gravity = raw
        else:
            twin.change(field[0], **{field[1]: raw})
        numbers, other = find_numbers(twin), {}
    return _rewrite(twin, numbers, other)


def _rewrite(system: System, numbers: Mapping[str, LiveNumber], values: Mapping[str, float]) -> System:
    """The system with other values of numbers, checked component by component."""
    if not values:
        return system
    twin = with_numbers(system, values)
    for component in dict.fromkeys(numbers[name].component for name in values):
        if component in twin.declared:
            changed = [numbers[name] for name in values if numbers[name].component == component]
            _read_again(twin, twin.declared[component], changed)
    return twin


def _read_again(system: System, component: Component, numbers: Iterable[LiveNumber]) -> None:
    """Check a component with other numbers; an axis becomes a unit vector, a clock an exact fraction."""
    if not component.specs():
        return
    read = system.make_component(component.section, component.name, component.kind, component.given())
    fields = {number.field for number in numbers if number.form in (Form.AXIS, Form.EXACT, Form.ROTATION)}
    attributes = [component.specs()[field][0].name for field in fields if field in component.specs()]
    if attributes:
        system.replace(replace(component, **{name: getattr(read, name) for name in attributes}))


def _refuse(system: System, component: Component, numbers: list[LiveNumber]) -> dict[str, LiveNumber]:
    """The numbers of a component for which its kind takes literals alone, with what it says."""

    def problem(names: set[str]) -> str | None:
        walk = NumberWalk(system, lambda number: _name(number.name) if number.name in names else None)
        try:
            walk.component(component).check()  # type: ignore[attr-defined]
        except ModelError as error:
            return error.message
        return None

    if problem({number.name for number in numbers}) is None:
        return {}
    alone = {number.name: problem({number.name}) for number in numbers}
    return {number.name: number._replace(refused=text) for number in numbers if (text := alone[number.name])}


def _name(number: str) -> Expression:
    return Expression("name", (HIDDEN + number,))


def _choose(numbers: dict[str, LiveNumber], live: Any) -> dict[str, LiveNumber]:
    """The numbers that are named, or all."""
    if live is True:
        return numbers
    words = [live] if isinstance(live, str) else live
    if isinstance(words, Mapping) or not isinstance(words, Iterable) or not all(isinstance(x, str) for x in words):
        raise ArgumentError(f"live: True or names of numbers are expected, such as ['upper.mass'], not {short(live)}")
    chosen: dict[str, LiveNumber] = {}
    for word in words:
        found = {name: x for name, x in numbers.items() if name == word or name.startswith(f"{word}.")}
        if not found:
            raise ArgumentError(unknown("live: no number is called", word, numbers))
        chosen |= found
    return {name: number for name, number in numbers.items() if name in chosen}


def find_field(system: System, name: str) -> tuple[str, str] | None:
    """The component and the field of a name such as ``upper.com`` or ``upper.com.x``; None if there is none."""
    words = name.split(".")
    for count in range(len(words) - 1, 0, -1):
        owner = ".".join(words[:count])
        if owner in system.declared:
            component = system.declared[owner]
            frames = [frame.name for frame in component.frames] if isinstance(component, Body) else []
            return (owner, words[count]) if words[count] in (*component.specs(), *frames) else None
    return None
