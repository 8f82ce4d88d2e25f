"""System: the builder of the description of a mechanism.

Every record that it makes is frozen; ``change`` replaces one.  Names share one namespace.  A subsystem
is copied in with its names behind a prefix, so that nothing later knows that it ever was one.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from kinode.errors import ModelError, UnitError, counted, find_close, suggest
from kinode.expressions.syntax_tree import Expression
from kinode.hooks import hook
from kinode.model.base.bodies import Body
from kinode.model.base.element import ELEMENTS, Element
from kinode.model.base.field_reader import FRAME, TAKER, Reader
from kinode.model.base.fields import Component, Value, Vector, short, unknown
from kinode.model.base.frames import Frame
from kinode.model.base.observers.moving_frames import FRAMES, Observer
from kinode.model.base.parameters import (
    Input,
    Parameter,
    RunDefaults,
    Signal,
    Symbols,
    TableRecord,
    evaluate_constant,
    find_dimension,
    is_angle,
    is_plain,
    read_bounds,
)
from kinode.model.component_store import ComponentStore, find_frame, joint_frame, place
from kinode.model.constraints.constraint import CONSTRAINTS, Constraint
from kinode.model.drive_unit import add_drive
from kinode.model.joints.joint import JOINTS, Joint
from kinode.model.network.heat_ports import variant_of
from kinode.model.network.nodes import Node, find_nodes
from kinode.model.network.part import Part
from kinode.model.shortcuts import Shortcuts

if TYPE_CHECKING:
    from kinode.expressions.units import Dimension
    from kinode.model.live_numbers import LiveNumbers

__all__ = ["System", "joint_frame"]


class System(ComponentStore, Shortcuts):
    """The description of a mechanism: bodies, joints, elements, parameters, laws."""

    notes: list[str]

    def __init__(self, name: str, *, gravity: Any = (0.0, 0.0, -9.81)) -> None:
        super().__init__()
        self.name = name
        self.notes = []
        self.live: LiveNumbers | None = None  # numbers that are hidden parameters; see kn.compile(live=)
        self._run_defaults: dict[str, Any] = {}
        self._world = Body("world", system=self)
        self.gravity = gravity

    # -- the whole ---------------------------------------------------------------------------------
    @property
    def gravity(self) -> Vector:
        """The acceleration of free fall, in the world's axes; it may hold parameters."""
        return self._gravity

    @gravity.setter
    def gravity(self, value: Any) -> None:
        self._gravity = self.reader("system").vector(value, "acceleration", "gravity")

    @property
    def run_defaults(self) -> dict[str, Any]:
        """Default arguments of ``kn.simulate``: until, t0, step, method, rtol, atol, times, samples, every."""
        return self._run_defaults

    @run_defaults.setter
    def run_defaults(self, values: Mapping[str, Any]) -> None:
        self._run_defaults = RunDefaults.read_all(self.reader("run"), values)

    @property
    def parts(self) -> dict[str, Part]:
        """The elements that have ports: parts of a network."""
        elements = self.elements.items()
        return self.once("parts", lambda: {name: part for name, part in elements if isinstance(part, Part)})

    @property
    def nodes(self) -> dict[str, Node]:
        """Where the ports of parts meet, by name."""
        return self.once("nodes", lambda: find_nodes(self))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, System):
            return NotImplemented
        return self._identity() == other._identity()

    def _identity(self) -> tuple[Any, ...]:
        own = (self.name, self.gravity, self.declared, self._world.frames, self._run_defaults, self.notes)
        return (*own, self.kinds, self.domains)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        sections = (("bodies", "body"), ("joints", "joint"), ("elements", "element"))
        counts = ((len(self._section(many)), many, one) for many, one in sections)
        return f"<System {self.name!r}: {', '.join(counted(n, one, many) for n, many, one in counts)}>"

    def _repr_html_(self) -> str:
        return str(hook("notebook_html")(self))

    # -- adding ------------------------------------------------------------------------------------
    def reader(self, component: str) -> Reader:
        """What reads the fields of one component."""
        return Reader(
            component,
            parameters=self.parameters,
            tables=self.call_counts(),
            frame=self.find_frame,
            symbols=Symbols,
        )

    def read_value(
        self, name: str, raw: Any, expected: Dimension | None = None, angle: bool = False
    ) -> tuple[Value, Dimension | None]:
        """The value of a parameter or input, with its dimension as far as it is known."""
        value = self.reader(name).number(raw, "angle" if angle else None, "value")
        try:
            dimension = find_dimension(raw, value, self.parameters)
        except UnitError as error:
            raise error.located(component=name, field="value") from None
        if expected is not None and dimension is not None and dimension != expected:
            message = f"{raw if isinstance(raw, str) else short(raw)} is in {dimension.unit}; {expected.unit} is needed"
            raise ModelError(message, component=name, field="value")
        return value, expected if dimension is None else dimension

    def parameter(
        self, name: str, value: Any, *, bounds: Any = None, note: str = "", unit: str | None = None
    ) -> Expression:
        """Declare a parameter; what comes back can be calculated with wherever a number may stand.

        ``unit`` is the SI unit of a value that does not tell it by itself, such as arithmetic.
        """
        self.check_quantity_name(name)
        reader = self.reader(name)
        number, dimension = self.read_value(name, value, reader.unit(unit))
        limits = None if bounds is None else read_bounds(reader, bounds, self.nominal(number), dimension)
        self._put(Parameter(name, number, dimension, limits, reader.text(note, "note"), is_angle(value, unit)))
        return Expression("name", (name,))

    def input(self, name: str, value: Any = 0.0, *, unit: str | None = None) -> Expression:
        """Declare a number that comes from outside; ``unit`` as of a parameter."""
        self.check_quantity_name(name)
        self._put(Input(name, *self.read_value(name, value, self.reader(name).unit(unit)), is_angle(value, unit)))
        return Expression("name", (name,))

    def signal(self, name: str, law: Any) -> Expression:
        """Give a law a name."""
        self.check_quantity_name(name)
        self._put(Signal(name, self.reader(name).law(law, None, "law")))
        return Expression("name", (name,))

    def table(
        self, name: str, *, axes: Any = None, values: Any = None, file: Any = None, column: Any = None,
        sheet: Any = None, over: Any = None, method: str = "linear", outside: str | Sequence[str] = "error",
        exchangeable: bool = False,
    ) -> Any:  # fmt: skip
        """Declare a table that laws call by its name; what comes back does so in Python laws.

        ``file`` is text, Excel (``sheet``: name or number), MAT or Parquet; units in its headings count.  ``column``
        picks one of several columns of values, by name or number; ``over`` the axis, by default the first.  A unit may
        follow the names: ``column="lift_mm mm"``.
        ``outside`` is "error", "hold", "extrapolate" or "repeat", one word for all axes or one for each.  With
        ``exchangeable`` and ``outside="extrapolate"`` other numbers, as many, need no new compilation.
        """
        from kinode.expressions.lookup_tables import Table
        from kinode.expressions.table_files import read_table_source

        self.check_quantity_name(name)
        try:
            axes, values, columns = read_table_source(axes, values, file, column=column, sheet=sheet, over=over)
            # Table checks the words method and outside itself.
            table = Table(name, axes, values, method, outside, exchangeable, columns)  # type: ignore[arg-type]
            self._put(TableRecord(name, table))
        except ModelError as error:
            raise error.located(component=name) from None
        return lambda *args: Expression("call", (name, *args))

    # -- components --------------------------------------------------------------------------------
    def add_kind(self, section: str, name: str, kind: str, fields: Mapping[str, Any]) -> Any:
        """Add a component of a kind to a section: what every method of a kind's name does."""
        if section == "drives":
            return add_drive(self, name, fields)
        self.check_name(name)
        return self._put(self.make_component(section, name, kind, fields))

    def make_component(self, section: str, name: str, kind: Any, given: Mapping[str, Any]) -> Any:
        """A component that is not in the system yet; of bodies there is one kind."""
        if section == "bodies":
            body = Body(name, system=self, **self.reader(name).read_component(Body, given))
            body.check(self.nominal)
            return body
        if section == "frames" and any(frame.name == name for frame in self.world.frames):
            raise ModelError(f"the name {name!r} is taken by a frame of the world already", component=name)
        component = self._read(self._kinds_of(section), section.removesuffix("s"), name, kind, given)
        if not isinstance(component, Constraint):  # those are checked with the whole, whose joints they may name early
            component.check()
        return component

    def _kinds_of(self, section: str) -> Mapping[str, type[Any]]:
        if section == "elements" and self.kinds:
            return ChainMap(self.kinds, ELEMENTS)
        registries: dict[str, Mapping[str, type[Any]]] = {
            "joints": JOINTS, "constraints": CONSTRAINTS, "elements": ELEMENTS, "frames": FRAMES,
        }  # fmt: skip
        return registries[section]

    def _read(self, kinds: Mapping[str, type[Any]], what: str, name: str, kind: Any, given: Mapping[str, Any]) -> Any:
        """A component of a kind from what was given; ``kind`` may be among it."""
        if not isinstance(kind, str) or kind not in kinds:
            near, every = find_close(str(kind), kinds, 3), f"; the kinds are {', '.join(kinds)}"
            message = suggest(f"no {what} is called {kind!r}", kind, near, otherwise=every)
            raise ModelError(message, component=name, field="kind")
        fields = {key: value for key, value in given.items() if key != "kind"}
        cls, fields = variant_of(self, name, kinds[kind], fields)
        component = cls(name, **self.reader(name).read_component(cls, fields))
        for field, frame in component.values_of(FRAME, TAKER).items() if self.frames else ():
            if frame.body in self.frames:
                message = f"{frame.body} is a frame to look from, no body: nothing is joined to it or acts on it"
                raise ModelError(message, component=name, field=field)
        return component

    def joint(self, name: str, kind: str, a: Any, b: Any, **fields: Any) -> Joint:
        """Join frame a (parent side) to frame b (child side)."""
        joint: Joint = self.add_kind("joints", name, kind, {"a": a, "b": b, **fields})
        return joint

    def constraint(self, name: str, kind: str, **fields: Any) -> Constraint:
        """Add a constraint between frames or joints.

        Kinds: distance, point_on_line, point_on_plane, angle, rolling, knife_edge, gear, rack.  Each is a method
        too, with its fields in ``help(kn.System.rolling)``.
        """
        constraint: Constraint = self.add_kind("constraints", name, kind, fields)
        return constraint

    def element(self, name: str, kind: str, **fields: Any) -> Element:
        """Add an element by its kind: spring, force, resistor, pid ..."""
        element: Element = self.add_kind("elements", name, kind, fields)
        return element

    def frame(self, name: str, kind: str, **fields: Any) -> Observer:
        """Add a frame: fixed, inertial, moving, nonrolling, fixed_plane, mass_center, velocity or line."""
        frame: Observer = self.add_kind("frames", name, kind, fields)
        return frame

    # -- frames and changes ------------------------------------------------------------------------
    def place(self, body: str, given: Mapping[str, Any], name: str | None) -> Frame:
        """A frame on a body; a named one is stored with the body."""
        return place(self, body, given, name)

    def find_frame(self, raw: Any) -> Frame:
        """The frame meant by a frame, a body, a name such as upper.tip or elbow.child, or {body, at, rpy}."""
        return find_frame(self, raw)

    def change(self, name: str, **fields: Any) -> Any:
        """Replace fields of a component, by None with their defaults; a parameter takes ``value``, a signal ``law``."""
        from kinode.model.edit import change

        return change(self, name, fields)

    def copy(self, name: str | None = None) -> System:
        """An independent copy."""
        twin = System(name or self.name)
        twin.take_over(self)
        twin.live = self.live
        twin.name, twin.notes, twin._run_defaults = name or self.name, list(self.notes), dict(self._run_defaults)
        return twin

    def is_copy_of(self, other: System) -> bool:
        """Whether one is a copy of the other and neither was changed since; records are replaced, never changed."""
        mappings = ((self.kinds, other.kinds), (self.domains, other.domains), (self._run_defaults, other._run_defaults))
        return (
            self.name == other.name
            and self.notes == other.notes
            and self._gravity is other._gravity
            and _is_same_record(self._world, other._world)
            and all(a.keys() == b.keys() and all(a[key] is b[key] for key in a) for a, b in mappings)
            and len(self.declared) == len(other.declared)
            and all(map(_is_same_record, self.declared.values(), other.declared.values()))
        )

    def take_over(self, other: System) -> None:
        """Replace the whole content by that of another system, whose bodies then belong to this one."""
        self._empty()
        self.kinds, self.domains = dict(other.kinds), dict(other.domains)
        self._world = replace(other._world, system=self)
        self.name, self._gravity, self.notes = other.name, other._gravity, other.notes
        self._run_defaults = other._run_defaults
        self.put_all(
            component.owned_by(self) if isinstance(component, Body) else component
            for component in other.declared.values()
        )

    def add(
        self, name: str, system: System, *, on: Any = None,
        bind: Mapping[str, Any] | None = None, parameters: Mapping[str, Any] | None = None,
        connect: Mapping[str, Any] | None = None,
    ) -> System:  # fmt: skip
        """Copy a subsystem in, its names behind ``name.``, its world on the frame ``on``.

        ``parameters`` gives its parameters other values, ``bind`` makes its inputs laws of this system, ``connect``
        says which of its nodes are nodes or joints of this system: ``{"shaft": "elbow", "supply": "bus"}``.
        """
        from kinode.model.subsystem_copy import copy_into

        first: Any = name
        if isinstance(first, System):
            raise ModelError("the name comes first: add(name, system)", component=first.name)
        self.check_name(name)
        for field, value in (("bind", bind), ("parameters", parameters), ("connect", connect)):
            if not isinstance(value, Mapping) and value is not None:
                raise ModelError(f"takes a mapping of names, not {short(value)}", component=name, field=field)
        ground = self.world if on is None else on
        copy_into(self, name, system, ground, dict(bind or {}), dict(parameters or {}), dict(connect or {}))
        return self

    # -- numbers -----------------------------------------------------------------------------------
    def nominal(self, value: Value) -> float:
        """The plain number of a constant at the parameters' present values."""
        if not isinstance(value, Expression):
            return float(value)
        return evaluate_constant(value, self.parameter_values().__getitem__)

    def parameter_values(self, changed: Mapping[str, Any] | None = None) -> dict[str, float]:
        """All parameters as plain numbers; ``changed`` replaces the values of some."""
        if not changed:
            return self.once("values", lambda: self._evaluate({}))
        return self._evaluate(changed)

    def _evaluate(self, changed: Mapping[str, Any]) -> dict[str, float]:
        values: dict[str, float] = {}
        new = self.read_parameters(changed)
        for name, parameter in self.parameters.items():
            value = new.get(name, parameter.value)
            try:
                values[name] = value if isinstance(value, float) else evaluate_constant(value, values.__getitem__)
            except ModelError as error:
                raise error.located(component=name, field="value") from None
        return values

    def read_parameters(self, changed: Mapping[str, Any]) -> dict[str, Value]:
        """New values for parameters, checked against names, dimensions and bounds."""
        new, parameters = dict[str, Value](), self.parameters
        for name, raw in changed.items():
            old = parameters.get(name)
            if old is None:
                raise ModelError(unknown(f"{self.name} has no parameter", name, parameters))
            new[name] = value = raw if is_plain(raw) else self.read_value(name, raw, old.dimension, old.angle)[0]
            if old.bounds is not None and isinstance(value, float):
                low, high = old.bounds
                if not low <= value <= high:
                    read_bounds(self.reader(name), old.bounds, value, None)  # it raises
        return new

    # -- checking and showing ----------------------------------------------------------------------
    def check(self, *, whole: bool = True) -> None:
        """Check what needs the whole system: names in laws, laws that depend on each other, inertias.

        A system that is to be a part of another (not ``whole``) may have nodes that are still to be connected.
        """
        from kinode.model.system_checks import check_system

        check_system(self, whole)

    def summary(self) -> str:
        """A page of text that lists what the system consists of, gravity included."""
        from kinode.model.summary import summarize

        return summarize(self)

    def save(self, path: Any) -> None:
        """Write the system to a YAML file; or to URDF or MJCF, by the ending .urdf, .xml or .mjcf."""
        hook("save")(self, path)


_BODY_FIELDS = tuple(field.name for field in fields(Body) if field.name != "system")


def _is_same_record(one: Component, two: Component) -> bool:
    """Whether two records are one; of a body, which belongs to one system, whether all other fields are."""
    if one is two:
        return True
    return isinstance(one, Body) and type(two) is Body and all(getattr(one, x) is getattr(two, x) for x in _BODY_FIELDS)
