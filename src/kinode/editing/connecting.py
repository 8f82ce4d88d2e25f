"""The gestures ``connect`` and ``disconnect``: what is written into which field, or why two ends do not fit.

Ends on a diagram: a joint has the sides ``1`` and ``2`` and its freedom ``3`` (or a coordinate by name); a body is met
anywhere, at one of its frames, or where something else meets it (``elbow.2``); a part has its ports, an element its
frames and joints; ``out`` gives the main quantity of a component to a field that takes a law; a subsystem has what is
in it, and ``on``, the frame that it stands on.  Fields of what comes from an extended file are in ``changes``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from kinode.editing.draft import (
    FRESH,
    GesturePlan,
    ModelDraft,
    fresh_nodes,
    inherited_ports,
    names_in_use,
)
from kinode.editing.gesture_words import End, Port
from kinode.editing.places import DRAWN, Path
from kinode.editing.spans import Edit, value_end
from kinode.errors import ArgumentError, LawError
from kinode.formats.yaml_text import NodeKind
from kinode.model.base.field_reader import IN_FRAMES, IN_LAWS, IN_PORTS
from kinode.model.base.fields import Component
from kinode.model.joints.joint import LAWS_PER_COORDINATE, Joint
from kinode.model.network.domain import Domain, domain_of_coordinate
from kinode.model.network.part import Part
from kinode.model.quantities import find_quantity

NETWORK = ("port", "node", "freedom", "reference")


def connect(draft: ModelDraft, plan: GesturePlan, *, from_: End, to: End) -> None:
    """Two ends; two nodes become one, and the name that a person gave stays."""
    one, two = find_end(draft, from_), find_end(draft, to)
    if _is_drawn(draft, one) or _is_drawn(draft, two):
        _connect_drawn(draft, one, two)
    else:
        why = why_not(draft, one, two)
        if why:
            raise ArgumentError(why)
        _write(draft, one, two, plan)
    plan.words = f"connect {_name(one)} to {_name(two)}"


def find_refusal(draft: ModelDraft, one: Mapping[str, str], two: Mapping[str, str]) -> str:
    """Why the gesture ``connect`` would refuse two ends; empty where they fit."""
    try:
        first, second = find_end(draft, Port(**one)), find_end(draft, Port(**two))
    except ArgumentError as error:
        return str(error)
    drawn = _is_drawn(draft, first) or _is_drawn(draft, second)
    return "" if drawn else why_not(draft, first, second)


def _name(end: LinkEnd) -> str:
    return f"{end.component}.{end.field}" if end.field else end.component or end.text


def why_not(draft: ModelDraft, one: LinkEnd, two: LinkEnd) -> str:
    """Why two ends cannot be connected; empty where they can."""
    first, second = sorted((one, two), key=lambda end: _RANK[end.nature])
    pair = (first.nature, second.nature)
    if first.component and (first.component, first.field) == (second.component, second.field):
        return f"{_name(first)} is one end; a connection has two"
    if pair == ("solid", "solid"):
        return f"{first.component} and {second.component} are bodies: put a joint between them"
    if pair == ("solid", "reference"):
        return f"{first.component} is a body: a joint holds it, to the world or to another body"
    if pair in (("out", "out"), ("law", "law")):
        give = first.nature == "out"
        return "both give a quantity: one has to read it" if give else "both read a quantity: none gives it"
    if first.nature == "port" and second.nature in NETWORK:
        return _why_no_node(first, second)
    if pair in (("side", "solid"), ("side", "reference")):
        return _why_no_side(draft, first, second)
    if pair in (("frame", "solid"), ("frame", "reference")):
        return (
            "" if second.nature == "solid" or second.text in ("world", "base") else "a place is on a body, or the world"
        )
    if pair == ("joint", "freedom"):
        return ""
    if pair == ("law", "out"):
        return f"{second.component} cannot read itself" if first.component == second.component else ""
    return f"{one.words} and {two.words} do not fit"


_RANK = {nature: k for k, nature in enumerate(
    ("port", "side", "frame", "joint", "law", "freedom", "node", "out", "solid", "reference"))}  # fmt: skip


def _why_no_node(port: LinkEnd, other: LinkEnd) -> str:
    """Why a port cannot meet another, a node, a freedom or a reference."""
    domain = port.domain
    if domain is None:
        return ""
    if other.nature == "reference":
        fits = other.text in (domain.reference, domain.reference_node, domain.symbol)
        return "" if fits else f"{_name(port)} is {domain.kind}: its reference is {domain.reference}, not {other.text}"
    if other.domain is not None and other.domain.kind != domain.kind:
        return f"{_name(port)} is {domain.kind}, and {_name(other)} is {other.domain.kind}"
    if port.text and port.text == other.text:
        return f"{_name(port)} and {_name(other)} are connected already, at {port.text}"
    return ""


def _why_no_side(draft: ModelDraft, side: LinkEnd, solid: LinkEnd) -> str:
    """Why a side of a joint cannot be joined to a body or to the world."""
    if solid.nature == "reference" and solid.text not in ("world", "base"):
        return f"a side of a joint is joined to a body or to the world, not to {solid.text}"
    body = solid.component or "world"
    opposite = "b" if SIDES[side.field] == "a" else "a"
    if draft.find_origin(side.component):
        there = getattr(draft.system.joints[side.component], opposite).body
    else:
        other = draft.root.find(*draft.places.field_path(side.component, (opposite,)))
        there = None if other is None else _body_of(other)
    return f"{side.component} would join {body} to itself" if there == body else ""


def _body_of(node: Any) -> str:
    """The body that a frame in a file is on."""
    if node.kind is NodeKind.MAP:
        inner = node.find("body") or node.find("on")
        return "" if inner is None else _body_of(inner)
    return str(node.value).partition(".")[0]


def _write(draft: ModelDraft, one: LinkEnd, two: LinkEnd, plan: GesturePlan) -> None:
    """Write a connection that fits into the field that it is."""
    first, second = sorted((one, two), key=lambda end: _RANK[end.nature])
    if first.nature == "port":
        start = one if one.nature == "port" else two
        _join(draft, start, two if start is one else one, plan)
    else:
        draft.set(first.path, "world" if second.nature == "reference" else second.text)


def _join(draft: ModelDraft, port: LinkEnd, other: LinkEnd, plan: GesturePlan) -> None:
    """Bring a port to another end; two nodes become one, and a port leaves a joint or a reference by itself."""
    if is_open_box(draft, other) and is_node(draft, port.text, port.domain):
        port, other = other, port
    target = _network_name(draft, port, other)
    if is_open_box(draft, port):
        merge_nodes(draft, port.text, target, plan)
        draft.set(port.path, target)
    elif not is_node(draft, port.text, port.domain):
        draft.set(port.path, target)
    elif other.nature == "reference" or not is_node(draft, target, other.domain):
        merge_nodes(draft, port.text, target, plan)
    else:
        keep, gone = _nicer(target, port.text)
        if inherited_ports(draft, gone) and not inherited_ports(draft, keep):
            keep, gone = gone, keep
        merge_nodes(draft, gone, keep, plan)


def _network_name(draft: ModelDraft, port: LinkEnd, other: LinkEnd) -> str:
    """What a port writes to be connected to another end."""
    if other.nature == "reference":
        return port.domain.reference if port.domain is not None else other.text
    if other.nature == "freedom" and other.domain is None:
        freedoms = freedoms_of(draft, other.component)
        fits = [
            word for word, domain in freedoms.items() if port.domain is not None and domain.kind == port.domain.kind
        ]
        if len(fits) != 1:
            which = ", ".join(f"{other.component}.{word}" for word in fits or freedoms)
            raise ArgumentError(f"{other.component} has several freedoms: connect to one of {which}")
        return f"{other.component}.{fits[0]}"
    if not other.text:
        raise ArgumentError(f"{_name(other)} is not connected to a node yet")
    return other.text


def is_node(draft: ModelDraft, name: str, domain: Domain | None = None) -> bool:
    """Whether a name at a port, of a domain, is a node of its own, and no joint or reference."""
    if not name or name in draft.system.references or (domain is not None and name == domain.reference):
        return False
    heads = (name, name.partition(".")[0], name.rpartition(".")[0])
    return not any(draft.places.section_of(head) == "joints" or head in draft.system.joints for head in heads)


def _nicer(one: str, two: str) -> tuple[str, str]:
    """Two names of nodes, that which a person gave first."""
    return (two, one) if FRESH.match(one) and not FRESH.match(two) else (one, two)


def merge_nodes(draft: ModelDraft, gone: str, keep: str, plan: GesturePlan) -> None:
    """Write another name for a node at every port, and in laws that name it."""
    edits = [
        Edit(site.start, site.start + len(gone), keep)
        for site in draft.sites
        if (site.role == IN_PORTS and site.name == gone) or (site.role == IN_LAWS and site.name.startswith(f"{gone}."))
    ]
    for site in draft.sites:
        if site.role == IN_PORTS and site.name == gone:
            draft.guard(site.path)
    draft.apply(edits)
    for name, port in inherited_ports(draft, gone):
        draft.set(draft.field_path(name, (port,)), keep)
    plan.renamed[gone] = keep


# -- circuits as drawn -----------------------------------------------------------------------------
def _is_drawn(draft: ModelDraft, end: LinkEnd) -> bool:
    return draft.places.paths.get(end.component, ())[:2] == DRAWN


def _connect_drawn(draft: ModelDraft, one: LinkEnd, two: LinkEnd) -> None:
    """Add a line to the connections of a drawn circuit."""
    ends = []
    for end in (one, two):
        if end.nature == "reference" and end.text != "gnd":
            raise ArgumentError("in a drawn circuit the world is a component of the kind base: connect it to that")
        field = end.field if end.nature != "solid" else end.text.removeprefix(f"{end.component}.link")
        ends.append(end.text if not end.component else f"{end.component}.{field}" if field else end.component)
    list_path = ("circuit", "connections")
    node = draft.root.find(*list_path)
    line = "-".join(ends)
    if node is None or node.kind is not NodeKind.LIST or not node.items:
        draft.set(list_path, f"[{line}]")
    elif node.in_flow:
        draft.set((*list_path, len(node.items)), line)
    else:
        last = node.items[-1]
        start = draft.text.rfind("-", 0, last.start)
        column = start - max(draft.text.rfind("\n", 0, start), draft.text.rfind("\r", 0, start)) - 1
        at = last.end
        stop = next((k for k in range(at, len(draft.text)) if draft.text[k] in "\r\n"), len(draft.text))
        new = "\r\n" if "\r\n" in draft.text else "\n"
        draft.apply([Edit(stop, stop, f"{new}{' ' * column}- {line}")])


# -- taking connections apart ----------------------------------------------------------------------
def disconnect(draft: ModelDraft, plan: GesturePlan, *, component: str, port: str = "") -> None:
    """An end gets a node of its own, or is left open."""
    name = component
    if draft.places.section_of(name) == "bodies" and "." in port:
        name, _, port = port.rpartition(".")  # the body's end of a link is named by what is joined there
    if draft.places.paths.get(name, ())[:2] == DRAWN:
        _disconnect_drawn(draft, name, port)
        plan.words = f"disconnect {name}"
        return
    end = find_end(draft, Port(name, port))
    plan.words = f"disconnect {_name(end)}"
    nodes = fresh_nodes(names_in_use(draft))
    inherited = end.path[:1] == ("changes",)
    if inherited and end.nature == "port":
        draft.set(end.path, next(nodes))
    elif inherited and (end.nature not in ("frame", "law") or not has_default(draft, end.component, end.field)):
        raise ArgumentError(f"{end.words} is needed where it comes from; connect it elsewhere instead")
    elif end.nature == "port":
        together = [site for site in draft.sites if site.role == IN_PORTS and site.name == end.text]
        if len(together) < 2 - is_open_box(draft, end) and is_node(draft, end.text, end.domain):
            raise ArgumentError(f"{_name(end)} is connected to nothing else")
        if end.path[:1] != ("systems",):
            draft.set(end.path, next(nodes))
        elif is_open_box(draft, end):
            merge_nodes(draft, end.text, next(nodes), GesturePlan())
        else:
            _leave_node(draft, end)
    elif end.nature == "side":
        _open_side(draft, end)
    elif end.nature == "freedom":
        if not any(site.role == IN_PORTS and site.name == end.text for site in draft.sites):
            raise ArgumentError(f"no part is connected to {_name(end)}")
        merge_nodes(draft, end.text, next(nodes), plan)
        plan.renamed.clear()
    elif end.nature in ("frame", "law"):
        leave_out(draft, end.component, end.field, end.path)
    else:
        raise ArgumentError(f"{end.words} cannot be disconnected; delete the component, or connect it elsewhere")


def _leave_node(draft: ModelDraft, end: LinkEnd) -> None:
    """Connect a node of a subsystem to nothing."""
    connect = draft.root.find(*end.path[:-1])
    alone = connect is not None and len(connect.entries) == 1
    draft.set(end.path[:-1] if alone else end.path, None)


def leave_out(draft: ModelDraft, name: str, field: str, path: tuple[str | int, ...]) -> None:
    """Take a field out, or give it the nothing that it can have."""
    if has_default(draft, name, field) and draft.places.section_of(name) != "signals":
        draft.set(draft.field_path(name, (field,)), None)
        return
    roles = {site.role for site in draft.sites if site.path[: len(path)] == path}
    draft.set(path, "world" if IN_FRAMES in roles else "0")


def _open_side(draft: ModelDraft, end: LinkEnd) -> None:
    """Leave a side of a joint open: what is left of ``between: [a, b]`` is ``a`` or ``b``."""
    path = draft.path_of(end.component)
    if end.path[-2:-1] != ("between",):
        draft.set(end.path, None)
        return
    index = int(end.path[-1])
    stays = draft.root.find(*path, "between", 1 - index)
    if stays is None:
        draft.set((*path, "between"), None)
        return
    text = draft.text[stays.start : stays.end]
    draft.set((*path, "b" if index == 0 else "a"), text)
    draft.set((*path, "between"), None)


def _disconnect_drawn(draft: ModelDraft, name: str, port: str) -> None:
    """Take the lines of a drawn circuit out that name an end; without its port, all that name the component."""
    known = list(draft.places.specs_of(name, draft.system.kinds))
    ends = {f"{name}.{port}", f"{name}.{known.index(port) + 1}" if port in known else ""}
    lines = {s.path for s in _drawn_sites(draft) if s.name in ends or s.name == name or (not port and s.means(name))}
    if not lines:
        raise ArgumentError(f"{name}.{port} is connected to nothing".replace(". ", " "))
    for path in sorted(lines, reverse=True):
        draft.remove(path)


def _drawn_sites(draft: ModelDraft) -> Iterator[Any]:
    return (site for site in draft.sites if site.path[:2] == ("circuit", "connections"))


SIDES = {"1": "a", "2": "b", "a": "a", "b": "b"}
THIRD, OUT, IN = "3", "out", "in "
NATURES = {
    "port": "a port", "node": "a node", "freedom": "the freedom of a joint", "side": "a side of a joint",
    "solid": "a body", "frame": "a place on a body", "joint": "a joint", "out": "a quantity", "law": "a law",
    "reference": "a reference",
}  # fmt: skip


class LinkEnd(NamedTuple):
    """One end: what it is, whose, and the path of its field in the file.

    ``text`` is what another field writes to refer to it: a node, a joint, a body, a quantity.
    """

    nature: str
    component: str = ""
    field: str = ""
    path: Path = ()
    text: str = ""
    domain: Domain | None = None

    @property
    def words(self) -> str:
        """What it is, for messages."""
        name = f"{self.component}.{self.field}" if self.field else self.component or self.text
        return f"{name} ({NATURES[self.nature]}{f', {self.domain.kind}' if self.domain else ''})"


def find_end(draft: ModelDraft, end: End) -> LinkEnd:
    """What an end of a connection is."""
    name, port, link, reference = end
    if reference or name == "world":
        return LinkEnd("reference", text=reference or name)
    if link:
        return _link(draft, link)
    section = draft.section_of(name)
    if not section:
        owner, _, word = name.rpartition(".")
        if draft.places.section_of(owner) == "joints":
            raise ArgumentError(f"{name} is the {word} of the joint {owner}: it is a field of it, and stays there")
        draft.path_of(name)  # says why
    finders = {
        "joints": _joint_end, "bodies": _solid_end, "elements": _element_end, "constraints": _element_end,
        "systems": _box_end,
    }  # fmt: skip
    return finders.get(section, _quantity_end)(draft, name, port)


def _link(draft: ModelDraft, link: str) -> LinkEnd:
    """A wire by its name: a node, the freedom of a joint, a quantity, or a link of a joint to a body."""
    owner, _, port = link.rpartition(".")
    if owner in draft.places.paths:
        return find_end(draft, Port(owner, port))
    if draft.places.section_of(link) == "joints":
        return find_end(draft, Port(link, THIRD))
    sites = [site for site in draft.sites if site.role == IN_PORTS and site.name == link]
    if not sites:
        raise ArgumentError(f"no wire is called {link!r}")
    ends = (_element_end(draft, site.owner, str(site.path[-1])) for site in sites if site.owner)
    return LinkEnd("node", text=link, domain=next((end.domain for end in ends), None))


def _joint_end(draft: ModelDraft, name: str, port: str) -> LinkEnd:
    if port in SIDES:
        return LinkEnd("side", name, port, draft.field_path(name, (SIDES[port],)))
    freedoms, word = freedoms_of(draft, name), port.removeprefix(f"{THIRD}.")
    if port == THIRD:
        if not freedoms:
            kind = draft.places.kind_of(name) or draft.system.joints[name].kind
            raise ArgumentError(f"{name} is {kind}, and has no freedom to act on")
        one = next(iter(freedoms.values())) if len(freedoms) == 1 else None
        return LinkEnd("freedom", name, THIRD, text=name, domain=one)
    if word in freedoms:
        text = name if len(freedoms) == 1 else f"{name}.{word}"
        return LinkEnd("freedom", name, word, text=text, domain=freedoms[word])
    spec = draft.specs_of(name).get(port)
    if spec is not None and spec.kind is LAWS_PER_COORDINATE:
        return LinkEnd("law", name, port, draft.field_path(name, (port,)))
    return _quantity_end(draft, name, port)


def freedoms_of(draft: ModelDraft, name: str) -> dict[str, Domain]:
    """The freedoms of a joint with their domains."""
    joint = draft.class_of(name)
    if joint is None or not issubclass(joint, Joint):
        return {}
    return {word: domain_of_coordinate(unit) for word, unit in joint.coordinates}


def _solid_end(draft: ModelDraft, name: str, port: str) -> LinkEnd:
    """A body: at a frame of its own, where a component meets it, or at its origin."""
    frames = draft.root.find(*draft.places.paths.get(name, ("",)), "frames")
    own = frames.entries if frames is not None else ()
    inherited = draft.system.bodies[name].frames if draft.find_origin(name) else ()
    if port in own or any(frame.name == port for frame in inherited):
        return LinkEnd("solid", name, port, text=f"{name}.{port}")
    other, _, word = port.rpartition(".")
    if other in draft.places.paths:
        path = draft.places.field_path(other, (SIDES.get(word, word),))
        node = draft.root.find(*path)
        if node is not None:
            return LinkEnd("solid", name, text=draft.text[node.start : value_end(draft.text, node)])
    return LinkEnd("solid", name, text=name)


def _element_end(draft: ModelDraft, name: str, port: str) -> LinkEnd:
    specs, part = draft.specs_of(name), draft.system.declared.get(name)
    if port == OUT or port not in specs:
        if port.startswith(IN):
            return _read_end(draft, name, port)
        return _quantity_end(draft, name, port)
    path, shape, cls = draft.field_path(name, (port,)), specs[port].shape, draft.class_of(name)
    node = draft.root.find(*path)
    if shape == "port":
        ports = cls.ports() if cls is not None and issubclass(cls, Part) else {}
        domain = ports.get(port) or (part.ports().get(port) if isinstance(part, Part) else None)
        default = "" if cls is None or port not in cls.specs() else cls.specs()[port][0].default
        text = getattr(part, port) if draft.find_origin(name) else default if node is None else node.value
        return LinkEnd("port", name, port, path, text if isinstance(text, str) else "", domain)
    if shape == "frame" or (shape == "axes" and draft.section_of(name) == "elements"):
        return LinkEnd("frame", name, port, path)
    if shape == "joint":
        return LinkEnd("joint", name, port, path)
    return LinkEnd("law", name, port, path)


def _box_end(draft: ModelDraft, name: str, port: str) -> LinkEnd:
    """An end on the edge of a subsystem."""
    system, path, inner = draft.system, draft.path_of(name), f"{name}.{port}"
    if port == "on":
        return LinkEnd("frame", name, port, (*path, "on"))
    connected = draft.root.find(*path, "connect", port)
    node = system.nodes.get(inner if connected is None else str(connected.value))
    if inner in system.bodies:
        return LinkEnd("solid", name, port, text=inner)
    if inner in system.joints:
        coordinates = system.joints[inner].coordinates
        one = domain_of_coordinate(coordinates[0][1]) if len(coordinates) == 1 else None
        return LinkEnd("freedom", name, port, text=inner, domain=one)
    if connected is not None or node is not None:
        text = inner if connected is None else str(connected.value)
        return LinkEnd("port", name, port, (*path, "connect", port), text, None if node is None else node.domain)
    if inner in system.inputs or draft.root.find(*path, "bind", port) is not None:
        return LinkEnd("law", name, port, (*path, "bind", port))
    if inner in system.declared:
        return LinkEnd("out", name, port, text=_quantity_in(draft, inner))
    raise ArgumentError(f"the subsystem {name} has no node, body, joint, input or component {port!r}")


def _quantity_in(draft: ModelDraft, name: str) -> str:
    """The main quantity of a component of a subsystem, as a law names it."""
    if draft.system.declared[name].section in ("signals", "inputs", "parameters"):
        return name
    return f"{name}.{main_quantity(draft, name)}"


def is_open_box(draft: ModelDraft, end: LinkEnd) -> bool:
    """Whether an end is a node of a subsystem that its entry connects to nothing."""
    return end.nature == "port" and end.path[:1] == ("systems",) and draft.root.find(*end.path) is None


def _read_end(draft: ModelDraft, name: str, port: str) -> LinkEnd:
    """The field of a component that reads quantities of another: the port ``in controller`` of a diagram."""
    source = port.removeprefix(IN)
    for site in draft.sites:
        if site.owner == name and site.role == IN_LAWS and site.means(source):
            field = next(str(step) for step in site.path[::-1] if isinstance(step, str))
            return LinkEnd("law", name, field, site.path)
    raise ArgumentError(f"{name} reads nothing of {source}")


def _quantity_end(draft: ModelDraft, name: str, port: str) -> LinkEnd:
    """A quantity of a component for laws; ``out`` is the main one."""
    section = draft.section_of(name)
    if section in ("signals", "inputs", "parameters"):
        if section == "signals" and (port == "law" or port.startswith(IN)):
            return LinkEnd("law", name, "law", draft.field_path(name, ("law",)))
        return LinkEnd("out", name, OUT, text=name)
    if section not in ("joints", "elements", "bodies", "constraints"):
        raise ArgumentError(f"{name} has no ports")
    quantity = main_quantity(draft, name) if port in (OUT, "") else port
    text = f"{name}.{quantity}"
    try:
        find_quantity(draft.system, text)
    except LawError as error:
        known = ", ".join(draft.specs_of(name))
        raise ArgumentError(f"{name} has no port {port!r}: {error.message}; its fields are {known}") from None
    return LinkEnd("out", name, port or OUT, text=text)


def main_quantity(draft: ModelDraft, name: str) -> str:
    """The quantity that a component gives if none is named: a controller's output, the angle of a joint."""
    component: Component | None = draft.system.declared.get(name)
    offered = list(component.offered()) if component is not None and hasattr(component, "offered") else []
    if draft.places.section_of(name) == "joints" or name in draft.system.joints:
        return "q"
    return "output" if "output" in offered else offered[0] if offered else OUT


def has_default(draft: ModelDraft, name: str, field: str) -> bool:
    """Whether a field of a component may be left out."""
    cls = draft.class_of(name)
    if cls is None or field not in cls.specs():
        return True
    return cls.specs()[field][0].default is not dataclasses.MISSING
