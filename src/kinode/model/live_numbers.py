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
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from kinode.errors import ArgumentError, ModelError
from kinode.expressions.syntax_tree import Expression
from kinode.expressions.units import DIMENSIONS
from kinode.model.base.bodies import ENTRIES, Body, LoneMoment, Visual
from kinode.model.base.element import Element
from kinode.model.base.field_reader import Nested
from kinode.model.base.fields import Component, Spec, Value, short, unknown
from kinode.model.base.frames import Frame, read_rotation
from kinode.model.base.meshes import MeshSolid
from kinode.model.base.parameters import HIDDEN, Input, Parameter, TableRecord, is_plain
from kinode.model.base.shapes import Shape
from kinode.model.joints.joint import DERIVED, Joint

if TYPE_CHECKING:
    from kinode.model.system import System


XYZ = ("x", "y", "z")
RPY = ("roll", "pitch", "yaw")
WXYZ = ("w", "x", "y", "z")
COORDINATE_SHAPES = ("per_coordinate", "laws_per_coordinate", "initial", "initial_rate")
UNCHANGED = (str, bool, Expression, MeshSolid, type(None))


class Form(Enum):
    """How a number enters the equations; the value says why other values need a new compilation."""

    PLAIN = ""
    TURN = "a right angle, which leaves terms out of the compiled code"
    AXIS = "the axes of the compiled code follow from it"
    ROTATION = "the numbers of a rotation are not independent"
    SCALED = "the states are scaled by it"
    EXACT = "it is an exact number of the compiled code"
    DRAWN = "it is drawn alone"


class WrittenNumber(NamedTuple):
    """A number where it stands."""

    name: str
    component: str
    field: str
    value: float
    dimension: str | None
    doc: str
    form: Form
    aside: bool  # not in the equations: an initial value, a limit


Visit = Callable[[WrittenNumber], Value | None]


class _Whereabouts(NamedTuple):
    """Where a walk is: the name so far, and what is known of the numbers there."""

    name: str
    component: str
    field: str
    doc: str = ""
    dimension: str | None = None
    form: Form = Form.PLAIN
    aside: bool = False

    def at(self, part: str, dimension: str | None = None, form: Form | None = None) -> _Whereabouts:
        """A part of it."""
        name = f"{self.name}.{part}" if part else self.name
        return self._replace(name=name, dimension=dimension or self.dimension, form=form or self.form)


class NumberWalk:
    """One walk: ``visit`` is told every number, and returns what is to stand in its place, or None."""

    def __init__(self, system: System, visit: Visit) -> None:
        self.system, self._visit = system, visit
        self._tuples: dict[int, Any] = {}  # of frames, by identity: what stands in their places
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
        place = _Whereabouts("system.gravity", "system", "gravity", "acceleration of free fall", "acceleration")
        return self._entries(self.system.gravity, place, XYZ)

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
        changed = {}
        given = old.given() if old.specs() else {}
        for name, (field, spec) in old.specs().items():
            if name not in given:
                continue
            value = getattr(old, field.name)
            new = self._field(old, name, spec, value)
            if new is not value:
                changed[field.name] = new
        if not old.specs():  # a signal
            law = getattr(old, "law", None)
            new = self._value(law, _Whereabouts(f"{old.name}.law", old.name, "law", "its law"))
            changed = {} if new is law else {"law": new}
        new_component = dataclasses.replace(old, **changed) if changed else old
        if isinstance(old, Body) and isinstance(new_component, Body):
            self._frames |= {(old.name, frame.name or ""): frame for frame in new_component.frames}
            if old.name != "world":
                self._frames[old.name, "com"] = new_component.com
        return new_component

    # -- fields ------------------------------------------------------------------------------------
    def _field(self, owner: Component, name: str, spec: Spec, value: Any) -> Any:
        dimension = spec.dimension if spec.dimension in DIMENSIONS else None
        place = _Whereabouts(f"{owner.name}.{name}", owner.name, name, spec.doc, dimension, _form_of(spec), spec.aside)
        if isinstance(value, Frame):
            return self._frame(value, place)
        if isinstance(value, Nested):
            return self._parts(value, place, value.dimensions(type(owner)))
        if isinstance(value, LoneMoment):
            moment = self._value(value.moment, place.at(value.entry, "inertia"))
            return value if moment is value.moment else LoneMoment.fill(value.entry, moment)
        if isinstance(value, Shape):
            # The triangles of a mesh are scaled when they are read; its other numbers are a shape's.
            named = () if value.mesh is not None else value.sizes
            sizes = self._pairs(named, place.at("", "length"), (name for name, _ in named)) or value.sizes
            shape = value if sizes is value.sizes else dataclasses.replace(value, sizes=sizes)
            return self._parts(shape, place, {"mass": "mass", "density": "density", "at": "length"})
        if spec.shape == "frames":
            own = {f"{owner.name}.{frame.name}": frame for frame in value}
            new = [self._frame(frame, place._replace(name=path), own=True) for path, frame in own.items()]
            return value if all(a is b for a, b in zip(new, value, strict=True)) else tuple(new)
        if isinstance(owner, Joint) and spec.shape in COORDINATE_SHAPES:
            return self._coordinates(owner, spec, value, place)
        if spec.shape in ("named_laws", "named_numbers"):
            return self._pairs(value, place, (key for key, _ in value))
        if spec.shape == "turns":
            return self._pairs(value, place.at("", "angle", Form.TURN), map(str, range(len(value))))
        if spec.shape == "rotation":
            return self._rotation(value, place)
        if spec.shape == "inertia":
            return self._entries(value, place.at("", "inertia"), ENTRIES)
        return self._value(value, place, XYZ if spec.shape in ("vector", "laws", "axis", "direction") else None)

    def _coordinates(self, joint: Joint, spec: Spec, value: Any, place: _Whereabouts) -> Any:
        """One number for each coordinate; that of a joint with one coordinate has the name of the field."""
        initial = spec.shape == "initial"
        words = joint.coordinate_names if initial else joint.coordinates
        derived = DERIVED[{"initial": "coordinate", "initial_rate": "rate"}.get(spec.shape, spec.dimension or "")]
        places = [
            place.at(
                name if len(words) > 1 else "", derived.get(kind, kind),
                Form.ROTATION if initial and joint.quaternion is not None and k >= joint.quaternion else None,
            )
            for k, (name, kind) in enumerate(words)
        ]  # fmt: skip
        new = tuple(self._value(x, each) for x, each in zip(value, places, strict=True))
        return value if all(a is b for a, b in zip(new, value, strict=True)) else new

    def _parts(self, value: Any, place: _Whereabouts, units: Mapping[str, str | None]) -> Any:
        """A record with numbers, such as a friction."""
        changed = {}
        for field in dataclasses.fields(value):
            old = getattr(value, field.name)
            if old == field.default or (isinstance(value, Shape) and field.name == "sizes"):
                continue
            names = XYZ if field.name in ("at", "force", "moment") else None
            new = self._value(old, place.at(field.name, units.get(field.name)), names)
            if new is not old:
                changed[field.name] = new
        return dataclasses.replace(value, **changed) if changed else value

    # -- values ------------------------------------------------------------------------------------
    def _value(self, value: Any, place: _Whereabouts, names: tuple[str, ...] | None = None) -> Any:
        if isinstance(value, UNCHANGED):
            return value
        if isinstance(value, (int, float, Fraction)):
            form = place.form if isinstance(value, float) else Form.EXACT
            _, component, field, doc, dimension, _, aside = place
            new = self._visit(WrittenNumber(place.name, component, field, float(value), dimension, doc, form, aside))
            return value if new is None else new
        if isinstance(value, Frame):
            return self._frame(value, place)
        if isinstance(value, tuple):
            return self._entries(value, place, names or tuple(map(str, range(len(value)))))
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            drawn = Form.DRAWN if isinstance(value, Visual) else None
            return self._parts(value, place.at("", None, drawn), {})
        return value

    def _entries(self, value: tuple[Any, ...], place: _Whereabouts, names: tuple[str, ...]) -> Any:
        """The entries of a tuple; one that was seen before stays what it is there."""
        known = self._tuples.get(id(value))
        if known is not None:
            return known
        new: Any = tuple(self._value(x, place.at(name), _inner(x)) for name, x in zip(names, value, strict=True))
        if all(a is b for a, b in zip(new, value, strict=True)):
            new = value
        if any(type(x) is float and x for x in value):  # tuples of zeros are shared by all
            self._tuples[id(value)] = new
        return new

    def _pairs(self, value: tuple[tuple[Any, Any], ...], place: _Whereabouts, names: Iterable[str]) -> Any:
        """The second entries of pairs, of names or axes with values."""
        new = tuple((head, self._value(x, place.at(name))) for name, (head, x) in zip(names, value, strict=True))
        return value if all(a[1] is b[1] for a, b in zip(new, value, strict=True)) else new

    def _frame(self, frame: Frame, place: _Whereabouts, *, own: bool = False) -> Frame:
        """A frame; one with a name is that of its body."""
        if not own and frame.name is not None:
            return self._frames.get((frame.body, frame.name), frame)
        if frame.is_plain and not own:
            return frame
        position = self._entries(frame.position, place.at("at", "length"), XYZ)
        rotation = None if frame.rotation is None else self._rotation(frame.rotation, place)
        base = None if frame.base is None else self._frame(frame.base, place.at("on"), own=True)
        if position is frame.position and rotation is frame.rotation and base is frame.base:
            return frame
        return dataclasses.replace(frame, position=position, rotation=rotation, base=base)

    def _rotation(self, rotation: tuple[str, Any], place: _Whereabouts) -> tuple[str, Any]:
        form, data = rotation
        turned = place.at(form, "angle", Form.TURN)
        if form == "rpy":
            new = self._entries(data, turned, RPY)
        elif form == "turns":
            new = self._pairs(data, turned, map(str, range(len(data))))
        else:
            names = WXYZ if form == "quaternion" else XYZ
            new = self._entries(data, place.at(form, "dimensionless", Form.ROTATION), names)
            if new is not data:  # brought to unit length, or refused
                return read_rotation(self.system.reader(place.component), {form: new}, place.field) or rotation
        return rotation if new is data else (form, new)


def _form_of(spec: Spec) -> Form:
    if spec.shape in ("axis", "axes", "direction"):
        return Form.AXIS
    if spec.shape == "numbers" and not spec.aside:
        return Form.SCALED
    return Form.PLAIN


def _inner(value: Any) -> tuple[str, ...] | None:
    """The names of the entries of an entry: the rows of a matrix of three are axes."""
    return XYZ if isinstance(value, tuple) and len(value) == 3 and all(type(x) is float for x in value) else None


ZERO_REASON = "zero, which leaves its terms out of the compiled code"
RIGHT_ANGLE_ROUNDING = 1e-12


@dataclass(frozen=True)
class LiveNumber:
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
    walk = NumberWalk(system, lambda number: numbers.__setitem__(number.name, LiveNumber(*number)))
    walk.gravity()
    for component in walk.components():
        own = [x for x in numbers.values() if x.component == component.name and not x.reason]
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
    return {number.name: replace(number, refused=text) for number in numbers if (text := alone[number.name])}


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
