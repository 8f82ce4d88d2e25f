"""System: the builder that holds the description of a mechanism.

Every record that it makes is frozen; ``change`` replaces one.  Names share one namespace.  A subsystem
is copied in with its names behind a prefix, so that nothing later knows that it ever was one.
"""

from __future__ import annotations

import copy as copying
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from kinode.algebra.expressions import CONSTANTS, FUNCTIONS, Expression
from kinode.algebra.tables import Table, read_table_file
from kinode.algebra.units import Dimension, parse_quantity
from kinode.errors import LawError, ModelError
from kinode.model.bodies import Body
from kinode.model.elements import ELEMENTS, Element
from kinode.model.fields import Component, Reader, Value, Vector, unknown
from kinode.model.frames import ZERO, Frame, read_rotation
from kinode.model.joints import JOINTS, Joint
from kinode.model.quantities import CONSTRAINTS, Constraint, Input, Parameter, Signal, TableRecord

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)*\Z")
RESERVED = frozenset({"world", "system", "t", "gnd", *CONSTANTS, *FUNCTIONS})
C = TypeVar("C", bound=Component)


class System:
    """The description of a mechanism: bodies, joints, elements, parameters, laws."""

    def __init__(self, name: str, *, gravity: Any = (0.0, 0.0, -9.81)) -> None:
        self.name = str(name)
        self.components: dict[str, Component] = {}
        self._sections: dict[str, dict[str, Any]] = {}
        self.notes: list[str] = []
        self._values: dict[str, float] | None = None
        self._world = Body("world", system=self)
        self.gravity: Vector = self._reader("system").vector(gravity, "acceleration", "gravity")

    # -- finding -----------------------------------------------------------------------------------
    @property
    def world(self) -> Body:
        """The ground; its frame is the inertial one."""
        return self._world

    def _section(self, name: str) -> dict[str, Any]:
        return self._sections.setdefault(name, {})

    @property
    def bodies(self) -> dict[str, Body]:
        return self._section("bodies")

    @property
    def joints(self) -> dict[str, Joint]:
        return self._section("joints")

    @property
    def elements(self) -> dict[str, Element]:
        return self._section("elements")

    @property
    def constraints(self) -> dict[str, Constraint]:
        return self._section("constraints")

    @property
    def parameters(self) -> dict[str, Parameter]:
        return self._section("parameters")

    @property
    def inputs(self) -> dict[str, Input]:
        return self._section("inputs")

    @property
    def signals(self) -> dict[str, Signal]:
        return self._section("signals")

    @property
    def tables(self) -> dict[str, Table]:
        return {name: record.table for name, record in self._section("tables").items()}

    def __getitem__(self, name: str) -> Any:
        if name == "world":
            return self.world
        try:
            return self.components[name]
        except KeyError:
            raise ModelError(unknown(f"{self.name} has nothing called", name, self.components)) from None

    def __contains__(self, name: str) -> bool:
        return name == "world" or name in self.components

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, System):
            return NotImplemented
        return (self.name, self.gravity, self.components, self._world.frames) == (
            other.name, other.gravity, other.components, other._world.frames,
        )  # fmt: skip

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<System {self.name!r}: {len(self.bodies)} bodies, {len(self.joints)} joints, {len(self.elements)} elements>"

    # -- adding ------------------------------------------------------------------------------------
    def _reader(self, component: str) -> Reader:
        return Reader(
            component,
            parameters=self.parameters,
            tables=self._section("tables"),
            frame=self.find_frame,
            symbols=lambda: Symbols(self),
        )

    def _check_name(self, name: str) -> str:
        if not isinstance(name, str) or not NAME.match(name):
            raise ModelError(f"{name!r} is no name: use letters, digits and _, starting with a letter")
        if name in RESERVED:
            raise ModelError(f"the name {name!r} is reserved; choose another", component=name)
        if name in self.components:
            raise ModelError(f"the name {name!r} is taken by a {_sort(self.components[name])} already", component=name)
        return name

    def _put(self, component: C) -> C:
        self.components[component.name] = component
        self._section(component.section)[component.name] = component
        self._values = None
        return component

    def _remove(self, name: str) -> None:
        del self._section(self.components.pop(name).section)[name]

    def _reorder(self, order: list[str]) -> None:
        """Bring the components back into an order of declaration."""
        kept = [self.components[name] for name in order if name in self.components]
        self.components, self._sections = {}, {}
        for component in kept:
            self._put(component)

    def parameter(self, name: str, value: Any, *, bounds: Any = None, note: str = "") -> Expression:
        """Declare a parameter; what comes back can be calculated with wherever a number may stand."""
        self._check_name(name)
        reader = self._reader(name)
        number = reader.number(value, None, "value")
        dimension = _dimension(value, number, self.parameters)
        limits = None
        if bounds is not None:
            low, high = reader.sequence(bounds, 2, "bounds", lambda x: reader.number(x, None, "bounds"))
            limits = (float(low), float(high))
            if not limits[0] <= self.nominal(number) <= limits[1]:
                raise ModelError(f"{self.nominal(number):g} is outside its bounds {limits}", component=name, field="value")
        self._put(Parameter(name, number, dimension, limits, note))
        return Expression("name", (name,))

    def input(self, name: str, value: Any = 0.0) -> Expression:
        """Declare a number that comes from outside."""
        self._check_name(name)
        number = self._reader(name).number(value, None, "value")
        self._put(Input(name, number, _dimension(value, number, self.parameters)))
        return Expression("name", (name,))

    def signal(self, name: str, law: Any) -> Expression:
        """Give a law a name."""
        self._check_name(name)
        self._put(Signal(name, self._reader(name).law(law, None, "law")))
        return Expression("name", (name,))

    def table(
        self, name: str, *, axes: Any = None, values: Any = None, file: Any = None,
        method: str = "linear", outside: str = "error",
    ) -> Any:  # fmt: skip
        """Declare a table that laws call by its name; what comes back does so in Python laws."""
        self._check_name(name)
        if (file is None) == (values is None):
            raise ModelError("takes values or a file", component=name)
        if file is not None:
            axes, values = read_table_file(file)
        if axes is None:
            raise ModelError("needs its axes", component=name, field="axes")
        try:
            self._put(TableRecord(name, Table.make(name, axes, values, method=method, outside=outside)))
        except ModelError as error:
            raise error.located(component=name) from None
        return lambda *args: Expression("call", (name, *args))

    def body(self, name: str, **fields: Any) -> Body:
        """Add a body: mass, com, inertia (about the com, or about="origin"), or a shape."""
        body = self._make(Body, name, fields)
        body.check(self.nominal)
        return self._put(body)

    def joint(self, name: str, kind: str, a: Any, b: Any, **fields: Any) -> Joint:
        """Join frame a (parent side) to frame b (child side)."""
        if kind not in JOINTS:
            raise ModelError(unknown("no joint is called", kind, JOINTS), component=name, field="kind")
        for later in ("friction", "backlash", "stop"):
            if fields.get(later) is not None:
                raise ModelError("cannot act yet in this version of kinode; use an effort law", component=name, field=later)
        if kind == "free":
            ways = {way: fields.pop(way) for way in ("rpy", "quaternion", "matrix", "turns") if fields.get(way) is not None}
            if ways:
                fields["rotation"] = ways
        joint = self._make(JOINTS[kind], name, {"a": a, "b": b, **fields})
        joint.check()
        return self._put(joint)

    def fixed(self, name: str, a: Any, b: Any, **fields: Any) -> Joint:
        """Hold b rigidly to a."""
        return self.joint(name, "fixed", a, b, **fields)

    def revolute(self, name: str, a: Any, b: Any, **fields: Any) -> Joint:
        """Let b turn about an axis."""
        return self.joint(name, "revolute", a, b, **fields)

    def prismatic(self, name: str, a: Any, b: Any, **fields: Any) -> Joint:
        """Let b slide along an axis."""
        return self.joint(name, "prismatic", a, b, **fields)

    def cylindrical(self, name: str, a: Any, b: Any, **fields: Any) -> Joint:
        """Let b slide along an axis and turn about it."""
        return self.joint(name, "cylindrical", a, b, **fields)

    def screw(self, name: str, a: Any, b: Any, **fields: Any) -> Joint:
        """Let b turn about an axis and advance by ``lead`` for each turn."""
        return self.joint(name, "screw", a, b, **fields)

    def universal(self, name: str, a: Any, b: Any, **fields: Any) -> Joint:
        """Let b turn about axes[0] of a and axes[1] of b."""
        return self.joint(name, "universal", a, b, **fields)

    def spherical(self, name: str, a: Any, b: Any, **fields: Any) -> Joint:
        """Let b turn freely about a point."""
        return self.joint(name, "spherical", a, b, **fields)

    def planar(self, name: str, a: Any, b: Any, **fields: Any) -> Joint:
        """Let b slide in a plane and turn about its normal."""
        return self.joint(name, "planar", a, b, **fields)

    def free(self, name: str, a: Any, b: Any, **fields: Any) -> Joint:
        """Let b move freely; initial position=, rpy= or quaternion=, velocity=, angular_velocity=."""
        return self.joint(name, "free", a, b, **fields)

    def constraint(self, name: str, kind: str, **fields: Any) -> Constraint:
        """Tie coordinates together: gear."""
        if kind not in CONSTRAINTS:
            raise ModelError(unknown("no constraint is called", kind, CONSTRAINTS), component=name, field="kind")
        return self._put(self._make(CONSTRAINTS[kind], name, fields))

    def element(self, name: str, kind: str, **fields: Any) -> Element:
        """Add an element by its kind: spring, force, moment."""
        if kind not in ELEMENTS:
            raise ModelError(unknown("no element is called", kind, ELEMENTS), component=name, field="kind")
        element = self._make(ELEMENTS[kind], name, fields)
        element.check()
        return self._put(element)

    def spring(self, name: str, a: Any, b: Any, **fields: Any) -> Element:
        """A spring and damper between two points."""
        return self.element(name, "spring", a=a, b=b, **fields)

    def force(self, name: str, on: Any, force: Any, **fields: Any) -> Element:
        """A force on a body at a point."""
        return self.element(name, "force", on=on, force=force, **fields)

    def moment(self, name: str, on: Any, moment: Any, **fields: Any) -> Element:
        """A moment on a body."""
        return self.element(name, "moment", on=on, moment=moment, **fields)

    def _make(self, cls: type[C], name: str, fields: Mapping[str, Any]) -> C:
        self._check_name(name)
        values = self._reader(name).read_component(cls, fields)
        if cls is Body:
            values["system"] = self
        return cls(name, **values)

    # -- frames ------------------------------------------------------------------------------------
    def place(self, body: str, given: Mapping[str, Any], name: str | None) -> Frame:
        """A frame on a body, kept if it has a name."""
        owner = self[body]
        found = read_place(self._reader(body), body, given, name or "at", name)
        if name is not None:
            if any(f.name == name for f in owner.frames) or name == "com":
                raise ModelError(f"has a frame {name!r} already", component=body)
            changed = replace(owner, frames=(*owner.frames, found))
            if body == "world":
                self._world = changed
            else:
                self._put(changed)
        return found

    def find_frame(self, raw: Any) -> Frame:
        """The frame meant by a frame, a body, a name such as upper.tip or elbow.child, or {body, at, rpy}."""
        if isinstance(raw, Frame):
            if raw.body not in self:
                raise ModelError(f"{raw.body!r} is a body of another system")
            return raw
        if isinstance(raw, Body):
            if raw.name not in self or raw.system is not self:
                raise ModelError(f"body {raw.name!r} belongs to another system")
            return Frame(raw.name)
        if isinstance(raw, Mapping):
            if not isinstance(raw.get("body"), str):
                raise ModelError("a place needs its body: {body: upper, at: [x, y, z]}")
            given = {key: value for key, value in raw.items() if key != "body"}
            base = self.find_frame(raw["body"])
            if not base.is_plain:
                raise ModelError(f"{raw['body']} is a frame already; name its body")
            return read_place(self._reader(base.body), base.body, given, "at", None)
        if not isinstance(raw, str):
            raise ModelError(f"a body or frame is expected, not {raw!r}")
        return self._find_named_frame(raw)

    def _find_named_frame(self, name: str) -> Frame:
        if name in self and isinstance(self[name], Body):
            return Frame(name)
        owner, _, part = name.rpartition(".")
        if owner in self:
            component = self[owner]
            if isinstance(component, Body):
                if part == "com":
                    return component.com
                for frame in component.frames:
                    if frame.name == part:
                        return frame
                names = [f.name or "" for f in component.frames]
                raise ModelError(unknown(f"{owner} has no frame", part, [*names, "com"]))
            if isinstance(component, Joint) and part in ("parent", "child"):
                return joint_frame(component, part)
        if name in self:
            raise ModelError(f"{name} is a {_sort(self[name])}, not a body or frame")
        raise ModelError(unknown("no body or frame is called", name, [*self.bodies, "world"]))

    # -- changing ----------------------------------------------------------------------------------
    def change(self, name: str, **fields: Any) -> Any:
        """Replace fields of a component; a parameter, input or signal takes ``value`` or ``law``."""
        old = self[name]
        if isinstance(old, Parameter | Input | Signal | TableRecord):
            return self._change_quantity(old, fields)
        given = {**old.given(), **fields}
        order = list(self.components)
        self._remove(name)
        try:
            self._readd(old, given)
        except ModelError:
            self._put(old)
            raise
        finally:
            self._reorder(order)
        return self.components[name]

    def _readd(self, old: Component, given: dict[str, Any]) -> None:
        if isinstance(old, Body):
            self.body(old.name, **given)
        elif isinstance(old, Joint):
            self.joint(old.name, old.kind, given.pop("a"), given.pop("b"), **given)
        elif isinstance(old, Element):
            self.element(old.name, old.kind, **given)
        else:
            self.constraint(old.name, old.kind, **given)

    def _change_quantity(self, old: Any, fields: dict[str, Any]) -> Any:
        allowed = {"law"} if isinstance(old, Signal) else {"value", "bounds", "note"}
        for key in fields:
            if key not in allowed:
                raise ModelError(unknown("has no field", key, allowed), component=old.name)
        reader = self._reader(old.name)
        if "law" in fields:
            fields["law"] = reader.law(fields["law"], None, "law")
        if "value" in fields:
            raw = fields["value"]
            fields["value"] = reader.number(raw, None, "value")
            found = _dimension(raw, fields["value"], self.parameters)
            if found is not None and old.dimension is not None and found != old.dimension:
                raise ModelError(f"{raw} has another dimension than before", component=old.name, field="value")
        return self._put(replace(old, **fields))

    def copy(self, name: str | None = None) -> System:
        """An independent copy."""
        twin = copying.copy(self)
        twin.name = name or self.name
        twin.notes = list(self.notes)
        twin._world = replace(self._world, system=twin)
        twin.components, twin._sections = {}, {}
        for component in self.components.values():
            twin._put(replace(component, system=twin) if isinstance(component, Body) else component)
        return twin

    def add(
        self, name: str, system: System, *, on: Any = None,
        bind: Mapping[str, Any] | None = None, parameters: Mapping[str, Any] | None = None,
    ) -> System:  # fmt: skip
        """Copy a subsystem in, its names behind ``name.``, its world on the frame ``on``.

        ``parameters`` gives its parameters other values, ``bind`` makes its inputs laws of this system.
        """
        from kinode.model.subsystems import copy_into

        self._check_name(name)
        copy_into(self, name, system, self.world if on is None else on, dict(bind or {}), dict(parameters or {}))
        return self

    # -- numbers -----------------------------------------------------------------------------------
    def nominal(self, value: Value) -> float:
        """The plain number of a constant at the parameters' present values."""
        if not isinstance(value, Expression):
            return float(value)
        return float(value.evaluate(lambda name: self.parameter_values()[name], _no_call))

    def parameter_values(self, changed: Mapping[str, Any] | None = None) -> dict[str, float]:
        """All parameters as plain numbers; ``changed`` replaces the values of some."""
        if not changed and self._values is not None:
            return self._values
        values: dict[str, float] = {}
        new = self.read_parameters(changed or {})
        for name, parameter in self.parameters.items():
            value = new.get(name, parameter.value)
            values[name] = value if isinstance(value, float) else float(value.evaluate(values.__getitem__, _no_call))
        if not changed:
            self._values = values
        return values

    def read_parameters(self, changed: Mapping[str, Any]) -> dict[str, Value]:
        """New values for parameters, checked against names, dimensions and bounds."""
        new: dict[str, Value] = {}
        for name, raw in changed.items():
            if name not in self.parameters:
                raise ModelError(unknown(f"{self.name} has no parameter", name, self.parameters))
            parameter = self.parameters[name]
            value = self._reader(name).number(raw, None, "value")
            found = _dimension(raw, value, self.parameters)
            if found is not None and parameter.dimension is not None and found != parameter.dimension:
                raise ModelError(f"{raw} has another dimension than the parameter", component=name, field="value")
            if parameter.bounds is not None and isinstance(value, float):
                low, high = parameter.bounds
                if not low <= value <= high:
                    raise ModelError(f"{value:g} is outside its bounds ({low:g}, {high:g})", component=name, field="value")
            new[name] = value
        return new

    # -- checking and showing ----------------------------------------------------------------------
    def check(self) -> None:
        """Everything that can be said only of the whole: names in laws, laws in a circle, inertias."""
        from kinode.model.names import check_laws

        for body in self.bodies.values():
            body.check(self.nominal)
        for constraint in self.constraints.values():
            constraint.check(self)
        check_laws(self)

    def summary(self) -> str:
        """A page that says what the system is made of, gravity included."""
        from kinode.model.summary import summarize

        return summarize(self)

    def save(self, path: Any) -> None:
        """Write the system to a YAML file."""
        from kinode.formats.yaml import save

        save(self, path)


class Symbols:
    """What a law written as a Python function is given: ``s.t``, ``s["elbow.q"]``."""

    def __init__(self, system: System) -> None:
        self._system = system
        self.t = Expression("name", ("t",))

    def __getitem__(self, name: str) -> Expression:
        from kinode.algebra.expressions import parse

        found = parse(name)
        if not isinstance(found, Expression) or found.op != "name":
            raise LawError(f"{name!r} is not the name of a quantity")
        return found

    def call(self, table: str, *args: Any) -> Expression:
        """The value of a table."""
        return Expression("call", (table, *args))


def read_place(reader: Reader, body: str, raw: Any, field: str, name: str | None) -> Frame:
    """A place on a body: three numbers, or a mapping with at and a rotation."""
    if isinstance(raw, (list, tuple)):
        raw = {"at": raw}
    if not isinstance(raw, Mapping):
        raise reader.fail(field, "a place is [x, y, z] or {at: [x, y, z], rpy: [...]}")
    for key in raw:
        if key not in ("at", "rpy", "quaternion", "matrix", "turns"):
            raise reader.fail(field, unknown("a place has no field", key, ("at", "rpy", "quaternion", "matrix", "turns")))
    position = reader.vector(raw.get("at", ZERO), "length", field)
    return Frame(body, position, read_rotation(reader, dict(raw), field), name)


def joint_frame(joint: Joint, side: str) -> Frame:
    """F (parent) or M (child) of a joint, in the axes that the user gave."""
    frame = joint.a if side == "parent" else joint.b
    return replace(frame.shifted(joint.at), name=None)


def _sort(component: Component) -> str:
    return {"bodies": "body"}.get(component.section, component.section.rstrip("s"))


def _no_call(name: str, args: Any) -> Any:
    raise LawError(f"the table {name} cannot be used in a constant")


def _dimension(raw: Any, value: Value, parameters: Mapping[str, Parameter]) -> Dimension | None:
    """What is known of a parameter's dimension: from its unit, or from the parameters it is made of."""
    if isinstance(raw, str):
        quantity = parse_quantity(raw)
        if quantity is not None:
            return quantity.dimension
    if isinstance(value, Expression):
        return value.dimension(lambda name: parameters[name].dimension if name in parameters else None)
    return None
