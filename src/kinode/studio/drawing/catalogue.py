"""The catalogue of the studio: every kind that can be drawn, by domain, with its symbol, ports and fields.

It is read from the registries, so that the kinds of plug-ins are in it by themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kinode.formats.editing.actions.ready_groups import GROUPS
from kinode.model.base.element import Element
from kinode.model.base.fields import Component
from kinode.model.network.domains.domain import DOMAINS
from kinode.model.network.part import Part
from kinode.other_words import OTHER_WORDS
from kinode.studio.drawing.kind_boxes import (
    Plain,
    all_kinds,
    describe_class,
    fields_of,
    find_role,
    make_box,
    port_domain,
)
from kinode.views.diagram import circuit_symbols
from kinode.views.diagram.circuit_graph import Box, Port
from kinode.views.diagram.link_routing import port_point

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
    >>> from kinode.studio.drawing.catalogue import make_catalogue
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
