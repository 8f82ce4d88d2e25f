"""Kinds of components as a page shows them: their boxes with ports, and their fields."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any

from kinode.expressions.syntax_tree import Expression
from kinode.model.base.bodies import Body
from kinode.model.base.element import ELEMENTS
from kinode.model.base.fields import Component, Spec
from kinode.model.base.frames import Frame
from kinode.model.base.parameters import Input, Parameter, Signal
from kinode.model.base.symbols import find_symbol, symbol_of
from kinode.model.circuit_links.circuit_topology import ENERGY, INFORMATION, VECTOR
from kinode.model.constraints.constraint import CONSTRAINTS
from kinode.model.joints.joint import JOINTS, Joint
from kinode.model.network.domains.domain import domain_of_coordinate
from kinode.model.network.part import Part
from kinode.views.diagram.box_extents import find_size
from kinode.views.diagram.circuit_graph import GRID, Box, Port

Plain = dict[str, Any]
SMALL: Mapping[str, type[Component]] = {"body": Body, "parameter": Parameter, "input": Input, "signal": Signal}
"""What has a section of its own and no kind."""
_CODE = re.compile(r"``([^`]*)``")


def find_class(kind: str, section: str = "", kinds: Mapping[str, type[Component]] | None = None) -> type[Component]:
    """The class of a kind, of those that a system declares too; KeyError if there is none."""
    if kinds is not None and kind in kinds:
        return kinds[kind]
    if kind in SMALL:
        return SMALL[kind]
    registries: dict[str, Mapping[str, type[Component]]] = {
        "joints": JOINTS, "constraints": CONSTRAINTS, "elements": ELEMENTS,
    }  # fmt: skip
    for registry in [registries[section]] if section in registries else registries.values():
        if kind in registry:
            return registry[kind]
    raise KeyError(kind)


def all_kinds() -> Iterator[tuple[str, type[Component]]]:
    """Every kind that can be drawn, with its class: bodies, then what the registries hold, then signals."""
    yield "body", Body
    for registry in (JOINTS, CONSTRAINTS, ELEMENTS):
        yield from registry.items()
    for kind in ("signal", "input", "parameter"):
        yield kind, SMALL[kind]


# -- ports -----------------------------------------------------------------------------------------
def find_role(cls: type[Component]) -> str:
    """The role of a kind in a circuit: SB, KN, E, DC, part or signal."""
    if issubclass(cls, Body):
        return "SB"
    if cls.section in ("joints", "constraints"):
        return "KN"
    if issubclass(cls, Part):
        return "part"
    shapes = {spec.shape for _, spec in cls.specs().values()}
    if shapes & {"frame", "joint"} or getattr(cls, "everywhere", False):
        return "E" if symbol_of(cls).source else "DC"
    return "signal"


def ports_of(cls: type[Component]) -> list[Port]:
    """The ports of a kind as a diagram names them: sides 1 and 2 of a joint, its freedoms 3, fields of others."""
    ports: list[Port] = []
    if issubclass(cls, Body):
        return [Port("body", VECTOR)]
    if issubclass(cls, Joint):
        ports = [Port("1", VECTOR, side="left"), Port("2", VECTOR, side="right")]
        freedoms = len(cls.coordinates)
        return [*ports, Port("3", ENERGY if freedoms == 1 else VECTOR, side="bottom")] if freedoms else ports
    domains = cls.ports() if issubclass(cls, Part) else {}
    for name, (_, spec) in cls.specs().items():
        if spec.shape == "frame":
            ports.append(Port(name, VECTOR))
        elif spec.shape == "joint" or name in domains:
            ports.append(Port(name, ENERGY))
        elif takes_signal(cls, name, spec):
            ports.append(Port(name, INFORMATION))
    if find_role(cls) == "signal":
        ports.append(Port("out", INFORMATION, out=True))
    return ports


def takes_signal(cls: type[Component], name: str, spec: Spec) -> bool:
    """Whether a field is drawn as a port for information: the law of a source or a ratio, what a controller reads."""
    if spec.shape not in ("law", "input_laws"):
        return False
    default = cls.specs()[name][0].default
    if issubclass(cls, Part):
        return default is dataclasses.MISSING and (cls.is_source or spec.dimension in (None, "dimensionless"))
    return find_role(cls) == "signal" and (default is dataclasses.MISSING or default is None)


def port_domain(cls: type[Component], name: str) -> str:
    """The domain of an energy port of a kind; empty where what it is connected to decides."""
    if issubclass(cls, Part) and name in cls.ports():
        return cls.ports()[name].kind
    if issubclass(cls, Joint) and name == "3":
        return ", ".join(dict.fromkeys(domain_of_coordinate(unit).kind for _, unit in cls.coordinates))
    return ""


def make_box(name: str, kind: str, cls: type[Component], label: str = "") -> Box:
    """The box of a kind alone, with its ports on their usual sides."""
    symbol = find_symbol("box").with_name(kind) if cls is Parameter else symbol_of(cls)
    box = Box(name, find_role(cls), kind, symbol, label or name)
    for port in ports_of(cls):
        box.ports[port.name] = port
    box.width, box.height = find_size(box)
    place_ports(box)
    return box


def place_ports(box: Box) -> None:
    """Put the ports of a box that stands alone on its sides: inputs left, outputs right, a two-pole up and down."""
    main = [port for port in box.ports.values() if port.kind != INFORMATION]
    first = box.symbol.first_port
    for k, port in enumerate(main):
        if box.is_two_pole:
            port.side = "top" if port.name == first else "bottom" if k < 2 or first is None else "left"
        elif not port.side:
            port.side = "left" if 2 * k < len(main) else "right"
    for port in box.ports.values():
        if port.kind == INFORMATION:
            port.side = "right" if port.out else "left"
    for side in ("left", "right", "top", "bottom"):
        here = [port for port in box.ports.values() if port.side == side]
        for k, port in enumerate(here):
            port.offset = round((k - (len(here) - 1) / 2) * 2) * GRID


# -- fields ----------------------------------------------------------------------------------------
def describe_class(cls: type[Component]) -> str:
    """The first sentence of a class, as plain words."""
    text = " ".join(inspect.cleandoc(cls.__doc__ or "").partition("\n\n")[0].split())
    end = re.search(r"\.(?=\s|$)", text)
    return _CODE.sub(r"\1", text[: end.end()] if end else text)


def fields_of(cls: type[Component]) -> list[Plain]:
    """What can be given of a kind: name, shape, unit, default, documentation, choices, whether it is needed."""
    if cls in (Parameter, Input):
        return [_plain_field("value", "number", "its number, with a unit where it has one", True)]
    if cls is Signal:
        return [_plain_field("law", "law", "a law of time, states, inputs and other signals", True)]
    rows = [_field(cls, name, spec, field.default) for name, (field, spec) in cls.specs().items()]
    names = {row["name"] for row in rows}
    for name, other in cls.alternative_fields.items():
        if name not in names:
            row = _field(cls, name, other.spec, None)
            rows.append({**row, "instead": list(other.fields)})
    return rows


def _plain_field(name: str, shape: str, doc: str, required: bool) -> Plain:
    return {
        "name": name, "shape": shape, "unit": "", "dimension": "", "default": None, "doc": doc, "choices": [],
        "required": required,
    }  # fmt: skip


def _field(cls: type[Component], name: str, spec: Spec, default: Any) -> Plain:
    required = default is dataclasses.MISSING
    unit = cls.field_unit(spec) if spec.shape not in ("port", "choice") else ""
    row = _plain_field(name, spec.shape, _CODE.sub(r"\1", spec.doc), required)
    shown = None if required or default is None else default_text(default, unit)
    choices = list(spec.choices) if spec.shape == "choice" else ["true", "false"] if spec.shape == "flag" else []
    return {**row, "unit": unit, "dimension": spec.dimension or "", "default": shown, "choices": choices}


def default_text(value: Any, unit: str = "") -> str:
    """A default as it would be typed."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return f"{float(value):.12g} {unit}".strip()
    if isinstance(value, Expression):
        return str(value.text())
    if isinstance(value, Frame):
        return value.body
    if isinstance(value, tuple | list):
        return f"[{', '.join(default_text(x) for x in value)}]" if value else ""
    return str(value)
