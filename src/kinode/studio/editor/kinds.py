"""Kinds of components as a page shows them: the catalogue of all that can be drawn, their boxes, ports and fields.

The catalogue has them by domain, with symbols.  It is read from the registries, so that the kinds of plug-ins are in it
by themselves.  `find_fits` says which ports of a sketch a port may be connected to, and why not to the others: what the
gesture ``connect`` says.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any

from kinode.editing.adding import GROUPS
from kinode.editing.connecting import find_refusal
from kinode.editing.draft import ModelDraft
from kinode.errors import ArgumentError
from kinode.expressions.syntax_tree import Expression
from kinode.model.base.bodies import Body
from kinode.model.base.element import ELEMENTS, Element
from kinode.model.base.field_reader import FLAG, FRAME, INPUT_LAWS, JOINT, LAW
from kinode.model.base.fields import Component, Spec
from kinode.model.base.frames import Frame
from kinode.model.base.parameters import Input, Parameter, Signal
from kinode.model.base.symbols import find_symbol, symbol_of
from kinode.model.circuit_topology import ENERGY, INFORMATION, VECTOR
from kinode.model.constraints.constraint import CONSTRAINTS
from kinode.model.joints.joint import JOINTS, Joint
from kinode.model.network.domain import DOMAINS, domain_of_coordinate
from kinode.model.network.part import PORT, Part
from kinode.other_words import OTHER_WORDS
from kinode.views.diagram import circuit_symbols
from kinode.views.diagram.box_geometry import find_size
from kinode.views.diagram.circuit_graph import GRID, Box, Port
from kinode.views.diagram.link_routing import port_point

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
    if cls.fields_of(FRAME, JOINT) or getattr(cls, "everywhere", False):
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
        if spec.kind is FRAME:
            ports.append(Port(name, VECTOR))
        elif spec.kind is JOINT or name in domains:
            ports.append(Port(name, ENERGY))
        elif takes_signal(cls, name, spec):
            ports.append(Port(name, INFORMATION))
    if find_role(cls) == "signal":
        ports.append(Port("out", INFORMATION, out=True))
    return ports


def takes_signal(cls: type[Component], name: str, spec: Spec) -> bool:
    """Whether a field is drawn as a port for information: the law of a source or a ratio, what a controller reads."""
    if spec.kind not in (LAW, INPUT_LAWS):
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
    return _CODE.sub(r"\1", first_sentence(inspect.cleandoc(cls.__doc__ or "").partition("\n\n")[0]))


def first_sentence(text: str) -> str:
    """The first sentence of a text, on one line."""
    words = " ".join(text.split())
    end = words.find(". ")
    return words[: end + 1] if end >= 0 else words


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
    unit = cls.field_unit(spec) if spec.kind is not PORT else ""
    row = _plain_field(name, spec.shape, _CODE.sub(r"\1", spec.doc), required)
    shown = None if required or default is None else default_text(default, unit)
    choices = ["true", "false"] if spec.kind is FLAG else list(spec.choices)
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


MECHANICS, FORCES, CONTROL, SURROUNDINGS, MACHINES = "mechanism", "forces", "signals", "surroundings", "machines"
WORDS = {
    MECHANICS: "Bodies, and the joints and constraints between them.",
    FORCES: "What pushes, pulls, brakes and couples bodies.",
    "electrical": "Circuits: voltage across, current through; gnd is the reference.",
    "rotational": "Shafts: speed across, moment through; world is the reference.",
    "translational": "Slides along a line: speed across, force through.",
    MACHINES: "Parts between two domains, such as motors.",
    CONTROL: "Laws, filters and controllers: information, no power.",
    SURROUNDINGS: "Air, sea, gravity of a planet.",
}
COLORS = {
    MECHANICS: "#1f2933", FORCES: "#b4552d", "electrical": "#0b6fa4", "rotational": "#7a4fa3",
    "translational": "#2f7d4f", MACHINES: "#8a6d1a", CONTROL: "#5a6672", SURROUNDINGS: "#2a8c8c",
}  # fmt: skip
OTHER_COLOR = "#a03060"


def make_catalogue(kinds: Mapping[str, type[Component]] | None = None) -> Plain:
    """The kinds that can be drawn, as plain data; ``kinds`` are those that a system declares itself.

    Examples
    --------
    >>> from kinode.studio.editor.kinds import make_catalogue
    >>> motor = next(x for x in make_catalogue()["kinds"] if x["kind"] == "dc_motor")
    >>> motor["domain"], [port["name"] for port in motor["ports"]]
    ('machines', ['plus', 'minus', 'shaft'])
    """
    known = dict(all_kinds()) | dict(kinds or {})
    rows = [_kind(kind, cls) for kind, cls in known.items()]
    used = dict.fromkeys([*WORDS, *(row["domain"] for row in rows)])
    domains = [{"name": name, "color": COLORS.get(name, OTHER_COLOR), "words": _words(name)} for name in used]
    groups = [{"name": name, "words": words} for name, (_, words) in GROUPS.items()]
    return {"domains": domains, "kinds": rows, "groups": groups}


def _kind(kind: str, cls: type[Component]) -> Plain:
    box = make_box(kind, kind, cls, "body" if kind == "body" else "")
    return {
        "kind": kind,
        "section": cls.section or "elements",
        "title": kind.replace("_", " "),
        "domain": find_domain(cls),
        "words": describe_class(cls),
        "symbol": circuit_symbols.draw(box),
        "size": [box.width, box.height],
        "ports": [_port(cls, box, port) for port in box.ports.values()],
        "fields": fields_of(cls),
        "keywords": list(_keywords(kind, cls)),
    }


def _port(cls: type[Component], box: Box, port: Port) -> Plain:
    return {
        "name": port.name, "kind": port.kind, "domain": port_domain(cls, port.name), "out": port.out,
        "side": port.side, "at": list(port_point(box, port)),
    }  # fmt: skip


def find_domain(cls: type[Component]) -> str:
    """The heading that a kind is found under."""
    if issubclass(cls, Part):
        kinds = dict.fromkeys(domain.kind for domain in cls.ports().values())
        return next(iter(kinds)) if len(kinds) == 1 else MACHINES
    if issubclass(cls, Element):
        if ".environment." in cls.__module__:
            return SURROUNDINGS
        return CONTROL if find_role(cls) == "signal" else FORCES
    return CONTROL if cls.section in ("signals", "inputs", "parameters") else MECHANICS


def _words(domain: str) -> str:
    if domain in WORDS:
        return WORDS[domain]
    declared = DOMAINS.get(domain)
    if declared is None:
        return f"Parts of the domain {domain}."
    return (
        declared.doc or f"{declared.potential} across, {declared.flow} through; {declared.reference} is the reference."
    )


def _keywords(kind: str, cls: type[Component]) -> Iterator[str]:
    """Further words that a person may search for: those of other programs, and the name of the class."""
    others = (word.replace("_", " ") for word, own in OTHER_WORDS.items() if kind in own)
    yield from dict.fromkeys([*others, cls.__name__.lower()])


REFERENCES = ("world", "gnd")


def find_fits(draft: ModelDraft, sketch: Plain, component: str, port: str) -> dict[str, str]:
    """For each port as ``component:port``, and each reference as ``reference:name``, "" or why it does not fit.

    Parameters
    ----------
    draft : ModelDraft
        Of the text that the sketch shows.
    sketch : dict
        Of ``Sketcher.draw``.
    component, port : str
        The port that a line is drawn from.

    Raises
    ------
    ArgumentError
        If there is no such port.
    """
    origin = {"component": component, "port": port}
    ends = [{"component": box["name"], "port": each["name"]} for box in sketch["boxes"] for each in box["ports"]]
    if origin not in ends:
        known = any(box["name"] == component for box in sketch["boxes"])
        reason = f"{component} has no port {port!r:.60}" if known else f"nothing is called {component!r:.60}"
        raise ArgumentError(f"from: {reason}")
    names = dict.fromkeys([*REFERENCES, *(domain.reference for domain in DOMAINS.values())])
    fits = {f"{end['component']}:{end['port']}": find_refusal(draft, origin, end) for end in ends if end != origin}
    return fits | {f"reference:{name}": find_refusal(draft, origin, {"reference": name}) for name in names}
