"""The ends of connections as a person sees them on a diagram, and the fields of the file that they stand for.

A joint has the sides ``1`` and ``2`` and its freedom ``3`` (or a coordinate by name); a body is met anywhere, or at one
of its frames, or where something else meets it (``elbow.2``); a part has its ports, an element its frames and joints;
``out`` gives the main quantity of a component to a field that takes a law.  A subsystem has what is in it: its nodes,
bodies, joints, inputs and quantities, and ``on``, the frame that it stands on.  What comes from an extended file has
the same ends; the path of their fields is in ``changes``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple

from kinode.errors import ArgumentError, LawError
from kinode.formats.editing.entry_places import Path
from kinode.formats.editing.model_draft import ModelDraft
from kinode.formats.editing.name_sites import LAW, PORT
from kinode.formats.editing.spans.span_edits import value_end
from kinode.model.base.bodies import Body
from kinode.model.base.fields import Component
from kinode.model.joints.joint import JOINTS, Joint
from kinode.model.network.domains.domain import Domain, domain_of_coordinate
from kinode.model.network.part import Part
from kinode.model.quantity_names import find_quantity

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


def find_end(draft: ModelDraft, raw: Any) -> LinkEnd:
    """What an end of a connection is: {component, port}, {link} or {reference}."""
    if not isinstance(raw, Mapping):
        raise ArgumentError(f"an end of a connection is a component with its port, not {raw!r:.60}")
    if isinstance(raw.get("reference"), str):
        return LinkEnd("reference", text=raw["reference"])
    if isinstance(raw.get("link"), str):
        return _link(draft, raw["link"])
    name, port = raw.get("component"), raw.get("port", "")
    if not isinstance(name, str) or not isinstance(port, str):
        raise ArgumentError("an end of a connection needs its component and its port")
    if name == "world":
        return LinkEnd("reference", text="world")
    if name not in draft.places.paths:
        owner = name.rpartition(".")[0]
        if draft.places.section_of(owner) == "joints":
            word = name.rpartition(".")[2]
            raise ArgumentError(f"{name} is the {word} of the joint {owner}: it is a field of it, and stays there")
        if draft.find_origin(name):
            return _inherited_end(draft, name, port)
        draft.path_of(name)  # says why
    section = draft.places.section_of(name)
    finders = {
        "joints": _joint_end, "bodies": _solid_end, "elements": _element_end, "constraints": _element_end,
        "systems": _box_end,
    }  # fmt: skip
    return finders.get(section, _quantity_end)(draft, name, port)


def _link(draft: ModelDraft, link: str) -> LinkEnd:
    """A wire by its name: a node, the freedom of a joint, a quantity, or a link of a joint to a body."""
    owner, _, port = link.rpartition(".")
    if owner in draft.places.paths:
        return find_end(draft, {"component": owner, "port": port})
    if draft.places.section_of(link) == "joints":
        return find_end(draft, {"component": link, "port": THIRD})
    sites = [site for site in draft.sites if site.role == PORT and site.name == link]
    if not sites:
        raise ArgumentError(f"no wire is called {link!r}")
    ends = (_element_end(draft, site.owner, str(site.path[-1])) for site in sites if site.owner)
    return LinkEnd("node", text=link, domain=next((end.domain for end in ends), None))


def _joint_end(draft: ModelDraft, name: str, port: str) -> LinkEnd:
    if port in SIDES:
        field = SIDES[port]
        return LinkEnd("side", name, port, draft.places.field_path(name, (field,)))
    joint = JOINTS.get(draft.places.kind_of(name))
    coordinates = dict(joint.coordinates) if joint is not None else {}
    if port == THIRD and len(coordinates) == 1:
        return LinkEnd("freedom", name, THIRD, text=name, domain=domain_of_coordinate(next(iter(coordinates.values()))))
    if port == THIRD:
        if not coordinates:
            raise ArgumentError(f"{name} is {draft.places.kind_of(name)}, and has no freedom to act on")
        return LinkEnd("freedom", name, THIRD, text=name)
    word = port.removeprefix(f"{THIRD}.")
    if word in coordinates:
        text = name if len(coordinates) == 1 else f"{name}.{word}"
        return LinkEnd("freedom", name, word, text=text, domain=domain_of_coordinate(coordinates[word]))
    spec = draft.places.specs_of(name, draft.system.kinds).get(port)
    if spec is not None and spec.shape == "laws_per_coordinate":
        return LinkEnd("law", name, port, draft.places.field_path(name, (port,)))
    return _quantity_end(draft, name, port)


def freedoms_of(draft: ModelDraft, name: str) -> dict[str, Domain]:
    """The freedoms of a joint with their domains."""
    own = draft.system.joints.get(name)
    joint = JOINTS.get(draft.places.kind_of(name) or (own.kind if own is not None else ""))
    return {} if joint is None else {word: domain_of_coordinate(unit) for word, unit in joint.coordinates}


def _inherited_end(draft: ModelDraft, name: str, port: str) -> LinkEnd:
    """An end of a component that comes from the file that the model extends."""
    component, change = draft.system.declared[name], ("changes", name)
    if isinstance(component, Joint):
        if port in SIDES:
            return LinkEnd("side", name, port, (*change, SIDES[port]))
        freedoms, word = freedoms_of(draft, name), port.removeprefix(f"{THIRD}.")
        if port == THIRD and freedoms:
            one = next(iter(freedoms.values())) if len(freedoms) == 1 else None
            return LinkEnd("freedom", name, THIRD, text=name, domain=one)
        if word in freedoms:
            text = name if len(freedoms) == 1 else f"{name}.{word}"
            return LinkEnd("freedom", name, word, text=text, domain=freedoms[word])
    if isinstance(component, Body):
        known = any(frame.name == port for frame in component.frames)
        return LinkEnd("solid", name, port if known else "", text=f"{name}.{port}" if known else name)
    if isinstance(component, Part) and port in component.ports():
        return LinkEnd("port", name, port, (*change, port), getattr(component, port), component.ports()[port])
    specs = component.specs()
    if port in specs and port != OUT:
        shape = specs[port][1].shape
        nature = {"frame": "frame", "axes": "frame", "joint": "joint"}.get(shape, "law")
        return LinkEnd(nature, name, port, (*change, port))
    if component.section in ("signals", "inputs", "parameters"):
        return LinkEnd("out", name, OUT, text=name)
    return LinkEnd("out", name, OUT, text=f"{name}.{main_quantity(draft, name) if port in (OUT, '') else port}")


def _solid_end(draft: ModelDraft, name: str, port: str) -> LinkEnd:
    """A body: at a frame of its own, where a component meets it, or at its origin."""
    frames = draft.root.find(*draft.path_of(name), "frames")
    if frames is not None and port in frames.entries:
        return LinkEnd("solid", name, port, text=f"{name}.{port}")
    other, _, word = port.rpartition(".")
    if other in draft.places.paths:
        path = draft.places.field_path(other, (SIDES.get(word, word),))
        node = draft.root.find(*path)
        if node is not None:
            return LinkEnd("solid", name, text=draft.text[node.start : value_end(draft.text, node)])
    return LinkEnd("solid", name, text=name)


def _element_end(draft: ModelDraft, name: str, port: str) -> LinkEnd:
    specs = draft.places.specs_of(name, draft.system.kinds)
    if port == OUT or port not in specs:
        if port.startswith(IN):
            return _read_end(draft, name, port)
        return _quantity_end(draft, name, port)
    path, shape = draft.places.field_path(name, (port,)), specs[port].shape
    cls = draft.places.class_of(name, draft.system.kinds)
    node = draft.root.find(*path)
    if shape == "port":
        ports = cls.ports() if cls is not None and issubclass(cls, Part) else {}
        domain = ports.get(port) or _domain_in_system(draft, name, port)
        default = "" if cls is None or port not in cls.specs() else cls.specs()[port][0].default
        text = node.value if node is not None else default
        return LinkEnd("port", name, port, path, text if isinstance(text, str) else "", domain)
    if shape == "frame" or (shape == "axes" and draft.places.section_of(name) == "elements"):
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


def _domain_in_system(draft: ModelDraft, name: str, port: str) -> Domain | None:
    part = draft.system.declared.get(name)
    return part.ports().get(port) if isinstance(part, Part) else None


def _read_end(draft: ModelDraft, name: str, port: str) -> LinkEnd:
    """The field of a component that reads quantities of another: the port ``in controller`` of a diagram."""
    source = port.removeprefix(IN)
    for site in draft.sites:
        if site.owner == name and site.role == LAW and site.means(source):
            field = next(str(step) for step in site.path[::-1] if isinstance(step, str))
            return LinkEnd("law", name, field, site.path)
    raise ArgumentError(f"{name} reads nothing of {source}")


def _quantity_end(draft: ModelDraft, name: str, port: str) -> LinkEnd:
    """A quantity of a component for laws; ``out`` is the main one."""
    section = draft.places.section_of(name)
    if section in ("signals", "inputs", "parameters"):
        if section == "signals" and (port == "law" or port.startswith(IN)):
            return LinkEnd("law", name, "law", draft.places.field_path(name, ("law",)))
        return LinkEnd("out", name, OUT, text=name)
    if section not in ("joints", "elements", "bodies", "constraints"):
        raise ArgumentError(f"{name} has no ports")
    quantity = main_quantity(draft, name) if port in (OUT, "") else port
    text = f"{name}.{quantity}"
    try:
        find_quantity(draft.system, text)
    except LawError as error:
        known = ", ".join(draft.places.specs_of(name, draft.system.kinds))
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
    cls = draft.places.class_of(name, draft.system.kinds)
    if cls is None and draft.find_origin(name):
        cls = type(draft.system.declared[name])
    if cls is None or field not in cls.specs():
        return True
    return cls.specs()[field][0].default is not dataclasses.MISSING
