"""The components of a system by name: one namespace, in sections, each in order of declaration.

Beside its components a system declares data: domains of links, and kinds of parts by their equations.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from kinode.errors import ModelError
from kinode.expressions.function_table import CONSTANTS, FUNCTIONS
from kinode.model.base.bodies import Body
from kinode.model.base.element import Element
from kinode.model.base.fields import Component, short, unknown
from kinode.model.base.frames import NAME, Frame, check_frame_name, read_frame
from kinode.model.base.observers.moving_frames import Observer
from kinode.model.base.parameters import Input, Parameter, Signal
from kinode.model.constraints.constraint import Constraint
from kinode.model.environment.atmosphere import STANDARD, Property
from kinode.model.joints.joint import Joint
from kinode.model.network.domain import DOMAINS, Domain, references_of
from kinode.model.network.joint_sources import Applied, apply_sources
from kinode.model.network.nodes import article
from kinode.model.network.part import Part

if TYPE_CHECKING:
    from kinode.expressions.lookup_tables import Table
    from kinode.model.base.field_reader import Reader
    from kinode.model.edit import NameUse
    from kinode.model.system import System


RESERVED = frozenset({"world", "system", "t", "gnd", *CONSTANTS, *FUNCTIONS, *STANDARD})
STANDARD_COUNTS = MappingProxyType({name: len(table.axes) for name, table in STANDARD.items()})  # arguments of each
C = TypeVar("C", bound=Component)
T = TypeVar("T")


def claim_name(
    name: str, taken: set[str], longest: int | None = None, ending: str = "_{}", fold: Callable[[str], str] = str
) -> str:
    """The name, or else ``name_2``, ``name_3`` ..., whichever is free; it is taken from then on.

    Parameters
    ----------
    name : str
        A valid name.
    taken : set of str
        Names that are reserved or were given, each as ``fold`` makes it.
    longest : int, optional
        Characters of a name, its ending included.
    ending : str
        The number behind a name.
    fold : callable
        What makes two names alike: ``str.lower`` where small and capital letters are the same.
    """
    choice, count = name[:longest], 1
    while fold(choice) in taken:
        count += 1
        number = ending.format(count)
        choice = name[: longest and longest - len(number)] + number
    taken.add(fold(choice))
    return choice


class ComponentStore:
    """Components by name; records are immutable and are replaced, never changed."""

    declared: dict[str, Component]  # as they were declared; ``components`` are what they mean
    motion_sources: dict[str, Part]  # sources of motion; those on joints mean motions of joints
    derived: dict[str, Any]  # what follows from the components, until one changes
    kinds: dict[str, type[Part]]  # of parts, declared here beside those that are registered
    domains: dict[str, Domain]  # of links, likewise
    _sections: dict[str, dict[str, Any]]
    _prefixes: set[str]

    def __init__(self) -> None:
        self.applies_sources = True
        self.kinds, self.domains = {}, {}
        self._empty()

    if TYPE_CHECKING:

        def reader(self, component: str) -> Reader: ...
        def copy(self) -> System: ...

    def _empty(self) -> None:
        """Take all components out."""
        self.declared, self._sections, self._prefixes = {}, {}, set()
        self.motion_sources, self.derived = {}, {}

    def once(self, what: str, find: Callable[[], T]) -> T:
        """What follows from the components, found when it is first asked for after one has changed."""
        if what not in self.derived:
            self.derived[what] = find()
        known: T = self.derived[what]
        return known

    # -- finding -----------------------------------------------------------------------------------
    @property
    def name(self) -> str:
        """One line of text, which may hold any letters and signs."""
        return self._name

    @name.setter
    def name(self, name: str) -> None:
        if not isinstance(name, str) or not name.strip():
            raise ModelError(f"a system needs a name in text, not {short(name)}", component="system", field="name")
        if not name.isprintable():
            message = f"{short(name)} is no name: line breaks and invisible characters have no place in it"
            raise ModelError(message, component="system", field="name")
        self._name = name

    @property
    def world(self) -> Body:
        """The ground; its frame is the inertial one."""
        return self._world

    @property
    def prefixes(self) -> set[str]:
        """The names of subsystems."""
        return self._prefixes

    def _section(self, name: str) -> dict[str, Any]:
        found = self._sections.get(name)
        if found is None:
            found = self._sections[name] = {}
        return found

    @property
    def bodies(self) -> dict[str, Body]:
        return self._section("bodies")

    def _find_applied(self) -> Applied:
        """Components, joints and elements, with sources of motion on joints applied."""
        applied: Applied | None = self.derived.get("applied")
        if applied is None:
            applied = Applied(self.declared, self._section("joints"), self._section("elements"))
            if self.motion_sources and self.applies_sources:
                applied = apply_sources(applied, self.motion_sources)
            self.derived["applied"] = applied
        return applied

    @property
    def components(self) -> dict[str, Component]:
        """All components by name; a joint that a source prescribes has its law."""
        return self._find_applied().components

    @property
    def joints(self) -> dict[str, Joint]:
        return self._find_applied().joints

    @property
    def declared_joints(self) -> dict[str, Joint]:
        """The joints without what sources prescribe."""
        return self._section("joints")

    @property
    def elements(self) -> dict[str, Element]:
        return self._find_applied().elements

    @property
    def constraints(self) -> dict[str, Constraint]:
        return self._section("constraints")

    @property
    def frames(self) -> dict[str, Observer]:
        """Observer frames, which are not part of a body."""
        return self._section("frames")

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

    @property
    def callable_tables(self) -> dict[str, Table | Property]:
        """What laws can call by name: the tables, and the properties of standard air."""
        return {**STANDARD, **self.tables}

    def call_counts(self) -> Mapping[str, int]:
        """How many arguments each of these takes."""
        if not self._section("tables"):
            return STANDARD_COUNTS
        return {name: len(table.axes) for name, table in self.callable_tables.items()}

    def __getitem__(self, name: str) -> Any:
        if not isinstance(name, str):
            raise ModelError(f"components are found by name, not by {short(name)}")
        if name == "world":
            return self.world
        try:
            return self.components[name]
        except KeyError:
            raise ModelError(unknown(f"{self.name} has nothing called", name, self.components)) from None

    def __contains__(self, name: object) -> bool:
        return name == "world" or (isinstance(name, str) and name in self.declared)

    # -- names -------------------------------------------------------------------------------------
    def check_name(self, name: str) -> str:
        """Refuse a name that is invalid, reserved or taken, by a reference node too."""
        if not isinstance(name, str) or not NAME.match(name):
            raise ModelError(f"{name!r} is no name: use letters, digits and _, starting with a letter")
        if name in RESERVED:
            raise ModelError(f"the name {name!r} is reserved: it is {_meaning(name)}; choose another", component=name)
        if name in self.declared:
            taken = self.declared[name].sort()
            raise ModelError(f"the name {name!r} is taken by {article(taken)} {taken} already", component=name)
        if name in self._prefixes:
            raise ModelError(f"the name {name!r} is taken by a subsystem already", component=name)
        for prefix in _prefixes(name) if "." in name else ():
            if prefix in RESERVED or prefix in self.components:
                sort = "" if prefix in RESERVED else self.components[prefix].sort()
                what = f"{article(sort)} {sort}" if sort else "reserved"
                raise ModelError(f"{prefix!r} is {what}; nothing else can be called {prefix}.…", component=name)
        for each in (DOMAINS, self.domains):  # a loop, since a large system asks for each of its names
            for domain in each.values():
                if name == domain.reference:
                    message = f"the name {name!r} is taken by a reference node; choose another"
                    raise ModelError(message, component=name)
        return name

    def check_quantity_name(self, name: str) -> str:
        """The same for names that laws use without an owner: parameters, inputs, signals, tables."""
        if isinstance(name, str) and keyword.iskeyword(name):
            raise ModelError(f"the name {name!r} has a meaning in Python; choose another", component=name)
        return self.check_name(name)

    def _put(self, component: C) -> C:
        self.declared[component.name] = component
        if isinstance(component, Part) and component.drives is not None:
            self.motion_sources[component.name] = component
        else:
            self.motion_sources.pop(component.name, None)
        self._section(component.section)[component.name] = component
        if "." in component.name:
            self._prefixes.update(_prefixes(component.name))
        self.derived.clear()
        return component

    def put_all(self, components: Iterable[Component]) -> None:
        """Put finished records in, whose names are not taken; large systems are copied so."""
        for component in components:
            name = component.name
            self.declared[name] = self._section(component.section)[name] = component
            if isinstance(component, Part) and component.drives is not None:
                self.motion_sources[name] = component
            if "." in name:
                self._prefixes.update(_prefixes(name))
        self.derived.clear()

    def add_component(self, component: C) -> C:
        """Add a finished record under its name."""
        self.check_name(component.name)
        return self._put(component)

    def discard(self, name: str) -> None:
        """Take a record out, whatever refers to it; ``remove`` takes that out too, or refuses."""
        component = self.declared.pop(name)
        self._section(component.section).pop(name)
        self.motion_sources.pop(name, None)
        self._prefixes = {prefix for other in self.declared for prefix in _prefixes(other)}
        self.derived.clear()

    def fill(self, components: Iterable[Component]) -> None:
        """Replace all components by others, in this order; bodies then belong to this system."""
        self._empty()
        for component in components:
            owned = component.owned_by(self) if isinstance(component, Body) else component
            self.add_component(owned)

    def decomposed(self, sequences: Mapping[str, str] | None = None) -> System:
        """The system with joints of several freedoms taken apart into hinges and slides, with massless bodies between.

        It moves in the same way, and its joints transmit the same.  A screw stays one joint.  Balls become three
        hinges, whose angles are singular in one position.

        Parameters
        ----------
        sequences : mapping, optional
            The axes of the hinges of a ball or free joint: ``{"ball": "zxz"}``.  Default is "zyx" (yaw, pitch, roll),
            or "zxz" (precession, nutation, spin) where that is better at the initial position.

        Returns
        -------
        System

        Examples
        --------
        >>> list(kn.load("examples/ship_gimbal.yaml").decomposed().joints)[:4]
        ['ahead', 'heel.x', 'heel.y', 'heel.angle']
        """
        from kinode.model.decomposed_system import decompose

        return decompose(cast("System", self), sequences or {})

    def remove(self, name: str) -> list[str]:
        """Take a component out, with what hangs on it: joints of a body, what acts in a joint.

        Ports that were on a joint get a node of their own, and fields that were nothing but a quantity of it are left
        out.  Laws that name it beside other things stay, and are refused when the system is checked.

        Parameters
        ----------
        name : str
            A component, or a subsystem or drive with all its components.

        Returns
        -------
        list of str
            What was removed.

        Raises
        ------
        ModelError
            Nothing has that name, or it is a parameter or a table that is still used.

        Examples
        --------
        >>> system = kn.load("examples/double_pendulum.yaml")
        >>> system.remove("lower")
        ['lower', 'elbow']
        """
        from kinode.model.edit import remove_from

        return remove_from(cast("System", self), name)

    def rename(self, old: str, new: str) -> None:
        """Give a component, a node, a frame or a subsystem another name, in laws too.

        Parameters
        ----------
        old : str
            Its name; of a frame with its body, ``arm.tip``.
        new : str
            A name that is free.

        Raises
        ------
        ModelError
            Nothing has the old name, or the new one cannot be had.

        Examples
        --------
        >>> system = kn.load("examples/motor_axis.yaml")
        >>> system.rename("elbow", "hinge")
        >>> system["controller"].measured.text()
        'hinge.q'
        """
        from kinode.model.edit import rename_in

        rename_in(cast("System", self), old, new)

    def uses(self, name: str) -> list[NameUse]:
        """The fields in which a component, a node, a frame or a subsystem is named.

        Parameters
        ----------
        name : str
            What is looked for.

        Returns
        -------
        list of NameUse
            Component and field of each.

        Examples
        --------
        >>> [str(use) for use in kn.load("examples/motor_axis.yaml").uses("elbow")]
        ['controller.measured', 'gear.output']
        """
        from kinode.model.edit import find_uses

        return find_uses(cast("System", self), name)

    def replace(self, component: Component) -> None:
        """Replace the record of the same name, which may be the world."""
        if isinstance(component, Body) and component.name == "world":
            self._world = component
        else:
            self._put(component)

    # -- domains and kinds of parts ------------------------------------------------------------------
    @property
    def all_domains(self) -> dict[str, Domain]:
        """The kinds of links that its parts may have: those that are registered, and its own."""
        return {**DOMAINS, **self.domains}

    @property
    def references(self) -> frozenset[str]:
        """The names of the reference nodes: gnd, world, and those of its own domains."""
        return references_of(self.all_domains)

    def define(self, kind: str, **declaration: Any) -> type[Part]:
        """Declare a kind of part by its equations, as the section ``components`` of a file does."""
        from kinode.model.network.declared_parts import declare_kind

        if kind in self.kinds:
            raise ModelError(f"the kind {kind!r} is declared already", component=kind)
        self.kinds[kind] = cls = declare_kind(self.reader(kind), kind, declaration, self.all_domains)
        return cls

    def domain(self, kind: str, **declaration: Any) -> Domain:
        """Declare a kind of link by its words and units, as the section ``domains`` of a file does.

        ``potential={"temperature": "K"}, flow={"heat_flow": "W"}, reference={"ambient": "293.15 K"}``; more in
        ``help(kn.register_domain)``, which declares one for all systems.
        """
        from kinode.model.network.declared_domains import read_domain

        domain = read_domain(self.reader(str(kind)), kind, declaration, self.all_domains)
        if domain.reference in self.components or domain.reference in self.prefixes:
            message = f"{domain.reference} is a component already; choose another name"
            raise ModelError(message, component=kind, field="reference")
        self.domains[kind] = domain
        return domain

    def connect(self, connections: Any, components: Mapping[str, Any]) -> None:
        """Add a circuit as it is drawn: its components, and what is connected to what.

        ``connections`` is "Ew1-KN1.1; Ew2-KN1.3; KN1.2-SB1.1" or a list of such pairs; ``components`` has the fields
        of each by its name, with its ``kind``: body (with ``links``), base (the world), a joint or an element.
        """
        from kinode.model.drawn_circuit import connect_drawn

        connect_drawn(cast("System", self), connections, components)

    # -- sources on joints, as declared and as applied ------------------------------------------------
    def as_declared(self) -> System:
        """A copy whose sources of motion on joints stay parts, for files and drawings; itself where there are none."""
        if not self.motion_sources:
            return cast("System", self)
        twin = self.copy()
        twin.applies_sources = False
        return twin

    def applied(self) -> System:
        """A copy whose joints have the laws of the sources on them as their own, so that they can be changed."""
        twin = self.copy()
        for name, component in self.components.items():
            if component is not self.declared[name]:
                twin.replace(component)
        return twin


def _prefixes(name: str) -> list[str]:
    """The names of subsystems that a dotted name stands in."""
    words = name.split(".")
    return [".".join(words[:count]) for count in range(1, len(words))]


def _meaning(name: str) -> str:
    """What a reserved name is."""
    meanings = {"world": "the ground", "system": "the whole system", "t": "the time", "gnd": "the reference node"}
    meanings |= {"pi": "the number pi"}
    return meanings.get(name) or ("a unit" if name in CONSTANTS else "a function of laws")


# -- frames by name: upper.tip, elbow.child, {body: upper, at: [...]} --------------------------------
def place(system: System, body: str, given: Mapping[str, Any], name: str | None) -> Frame:
    """A frame on a body; a named one is stored with the body."""
    owner = system[body]
    reader = system.reader(body)
    frame = read_frame(reader, body, given, name or "at", name)
    if name is not None:
        check_frame_name(reader, name, (f.name for f in owner.frames))
        if body == "world" and name in system.frames:
            raise ModelError(f"the name {name!r} is taken by a frame already", component=name)
        system.replace(replace(owner, frames=(*owner.frames, frame)))
    return frame


def find_frame(system: System, raw: Any) -> Frame:
    """The frame meant by a frame, a body, a name such as upper.tip or elbow.child, or {body, at, rpy}."""
    if isinstance(raw, Frame):
        if raw.body not in system:
            raise ModelError(f"{raw.body!r} is a body of another system")
        return raw
    if isinstance(raw, Body):
        if raw.name not in system or raw.system is not system:
            raise ModelError(f"body {raw.name!r} belongs to another system")
        return Frame(raw.name)
    if isinstance(raw, Mapping):
        return _read_frame(system, raw)
    if isinstance(raw, Observer) and raw.name in system.frames:
        return Frame(raw.name)
    if isinstance(raw, Component):
        raise ModelError(f"{raw.name} is a {raw.sort()}, not a body or frame")
    if not isinstance(raw, str):
        raise ModelError(f"a body or frame is expected, not {short(raw)}")
    return find_named_frame(system, raw)


def _read_frame(system: System, raw: Mapping[str, Any]) -> Frame:
    start = raw.get("body", raw.get("on"))
    if not isinstance(start, str):
        raise ModelError("a frame needs its body: {body: upper, at: [x, y, z]}")
    base = find_named_frame(system, start)
    if "body" in raw and not base.is_plain:
        raise ModelError(f"{start} is a frame, not a body: write {{on: {start}, ...}}")
    given = {key: value for key, value in raw.items() if key != "body"}
    return read_frame(system.reader(base.body), base.body, given, "at", None)


def find_named_frame(system: System, name: str) -> Frame:
    """The frame of a name; the owner is the longest leading part of it that is a body or joint."""
    words = name.split(".")
    for count in range(len(words), 0, -1):
        owner = ".".join(words[:count])
        if owner not in system:
            continue
        component, part = system[owner], ".".join(words[count:])
        if isinstance(component, Body):
            return _frame_of(component, part)
        if isinstance(component, Observer):
            if part:
                raise ModelError(f"the frame {owner} has no frame {part!r} of its own")
            return Frame(owner)
        if isinstance(component, Joint) and part in ("parent", "child"):
            return joint_frame(component, part)
        if isinstance(component, Joint) and part:
            raise ModelError(
                unknown(f"the joint {owner} has the frames parent and child, not", part, ("parent", "child"))
            )
        raise ModelError(f"{owner} is a {component.sort()}, not a body or frame")
    named = [f"{body.name}.{f.name}" for body in (system.world, *system.bodies.values()) for f in body.frames]
    raise ModelError(unknown("no body or frame is called", name, [*system.bodies, *system.frames, "world", *named]))


def _frame_of(body: Body, part: str) -> Frame:
    if not part:
        return Frame(body.name)
    if part == "com":
        return body.com
    for frame in body.frames:
        if frame.name == part:
            return frame
    raise ModelError(unknown(f"{body.name} has no frame", part, [*(f.name or "" for f in body.frames), "com"]))


def joint_frame(joint: Joint, side: str) -> Frame:
    """F (parent) or M (child) of a joint, in the axes that the user gave."""
    return (joint.a if side == "parent" else joint.b).shifted(joint.at)
