"""A circuit entered as it is drawn: components, and the list of what is connected to what.

    system.connect("Ew1-KN1.1; Ew2-KN1.3; KN1.2-SB1.1", {"Ew1": {"kind": "base"}, "KN1": {"kind": "revolute"}, ...})

A joint has link 1 on its parent side, 2 on its child side, and 3, the link of its freedoms.  A body has the links that
it declares.  Those of any other component are its ports and frames, by number or by name.  ``base`` is the world.  An
end that is no component is a node, and so is the third link of a joint: ports that are connected to one another and to
it are all on the joint.  What comes of it are plain bodies, joints and elements.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from kinode.errors import ModelError
from kinode.model.base.element import ELEMENTS
from kinode.model.base.field_reader import FRAME
from kinode.model.base.fields import short, unknown
from kinode.model.joints.joint import JOINTS
from kinode.model.network.joint_sources import THIRD
from kinode.model.network.part import PORT, Part

if TYPE_CHECKING:
    from kinode.model.system import System


BODY, BASE = "body", "base"
SIDES = {"1": "a", "2": "b"}
NATURES = {
    "solid": "a link of a body",
    "side": "a side of a joint",
    "third": "the link of a joint's freedoms",
    "frame": "a frame of an element",
    "port": "a port",
}
WIRE = re.compile(r"\s*([A-Za-z][\w.]*)\s*(?:-|\u2013|--)\s*([A-Za-z][\w.]*)\s*\Z")


class End(NamedTuple):
    """One end of a connection: a component and its link, or a node, which has none."""

    name: str
    link: str
    text: str


def connect_drawn(system: System, connections: Any, components: Mapping[str, Any]) -> None:
    """Add the components of a drawn circuit, connected as drawn; an error leaves the system as it was."""
    before = system.copy()
    try:
        _Drawn(system, components).build(_read_connections(connections))
    except ModelError:
        system.take_over(before)
        raise


def _read_connections(given: Any) -> list[tuple[str, str]]:
    texts = [text for text in given.split(";") if text.strip()] if isinstance(given, str) else given
    if not isinstance(texts, Sequence):
        message = f"a list of connections is expected, such as KN1.2-SB1.1, not {short(given)}"
        raise ModelError(message, field="connections")
    pairs = []
    for text in texts:
        ends = WIRE.match(text) if isinstance(text, str) else None
        if ends is None:
            raise ModelError(f"{short(text)} is no connection: write two ends, KN1.2-SB1.1", field="connections")
        pairs.append((ends[1], ends[2]))
    return pairs


class _Drawn:
    """The components of one drawing, and what their links are connected to."""

    def __init__(self, system: System, components: Mapping[str, Any]) -> None:
        self.system = system
        if not isinstance(components, Mapping):
            raise ModelError(f"components are a mapping of names, not {short(components)}", field="components")
        self.fields: dict[str, dict[str, Any]] = {}
        for name, fields in components.items():
            if not isinstance(fields, Mapping) or not isinstance(fields.get("kind"), str):
                raise ModelError("needs its kind: body, base, a joint or an element", component=str(name), field="kind")
            self.fields[str(name)] = dict(fields)
        self.joined: dict[tuple[str, str], End] = {}  # side of a joint or frame -> the link of a body
        self.node_of: dict[tuple[str, str], str] = {}  # port -> the end of its node that stands for it
        self.named: dict[str, str] = {}  # that end -> name of the node, or the third link of a joint

    # -- connections -------------------------------------------------------------------------------
    def build(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Read the connections, then add the components: bodies, joints, elements."""
        for one, two in pairs:
            self._join(self._end(one), self._end(two))
        sorts = {name: self._sort(name) for name in self.fields}
        steps = {BASE: self._check_base, BODY: self._add_body, "joint": self._add_joint, "element": self._add_element}
        for sort, add in steps.items():
            for name in (name for name, own in sorts.items() if own == sort):
                add(name)

    def _sort(self, name: str) -> str:
        kind = self.fields[name]["kind"]
        if kind in (BODY, BASE):
            return str(kind)
        if kind in JOINTS:
            return "joint"
        if kind in ELEMENTS or kind in self.system.kinds:
            return "element"
        kinds = (BODY, BASE, *JOINTS, *ELEMENTS, *self.system.kinds)
        raise ModelError(unknown("no component is called", kind, kinds), component=name, field="kind")

    def _end(self, text: str) -> End:
        """What an end of a connection is: the longest name that is a component, and its link."""
        words = text.split(".")
        for k in range(len(words), 0, -1):
            name = ".".join(words[:k])
            if name in self.fields:
                return End(name, self._link(name, ".".join(words[k:]), text), text)
        if len(words) > 1:
            message = unknown(f"{text}: no component is called", words[0], self.fields)
            raise ModelError(message, field="connections")
        return End(text, "", text)

    def _link(self, name: str, link: str, text: str) -> str:
        """The name of a link: a field of an element, a side of a joint, a link of a body."""
        sort = self._sort(name)
        if sort == BASE:
            return "base"
        if sort == "joint":
            if link.partition(".")[0] not in (*SIDES, THIRD):
                raise ModelError(f"{text}: a joint has the links 1, 2 and 3", component=name, field="connections")
            return link
        if sort == BODY:
            known = [str(key) for key in self._links_of(name)]
        else:
            known = self._ends_of(name)
            link = known[int(link) - 1] if link.isdigit() and 0 < int(link) <= len(known) else link
            link = known[0] if not link and known else link
        if link not in known:
            has = f"it has {', '.join(known)}" if known else "it has none"
            raise ModelError(f"{text}: there is no such link; {has}", component=name, field="connections")
        return link

    def _links_of(self, name: str) -> Mapping[Any, Any]:
        links = self.fields[name].get("links") or {}
        if not isinstance(links, Mapping):
            raise ModelError(f"is a mapping of numbers to points, not {short(links)}", component=name, field="links")
        return links

    def _ends_of(self, name: str) -> list[str]:
        """The ports and frames of an element, in the order of declaration."""
        kind = self.fields[name]["kind"]
        cls: Any = self.system.kinds.get(kind) or ELEMENTS[kind]
        return list(cls.fields_of(PORT, FRAME))

    def _is_port(self, end: End) -> bool:
        if end.name not in self.fields:
            return True
        kind = self.fields[end.name]["kind"]
        cls: Any = self.system.kinds.get(kind) or ELEMENTS.get(kind) if self._sort(end.name) == "element" else None
        return cls is not None and issubclass(cls, Part) and end.link in cls.ports()

    def _join(self, one: End, two: End) -> None:
        """Connect two ends; what does not fit is refused: a body to a body, a side of a joint to a port."""
        first, second = natures = [self._nature(end) for end in (one, two)]
        if set(natures) <= {"port", "third"}:
            self._merge(one, two)
            return
        if set(natures) not in ({"solid", "side"}, {"solid", "frame"}):
            both = f"{one.text}-{two.text}"
            raise ModelError(f"{both}: {NATURES[first]} and {NATURES[second]} do not fit", field="connections")
        end, solid = (two, one) if first == "solid" else (one, two)
        taken = self.joined.setdefault((end.name, end.link), solid)
        if taken is not solid:
            raise ModelError(f"{end.text} is connected already, to {taken.text}", field="connections")

    def _nature(self, end: End) -> str:
        if self._is_port(end):
            return "port"
        sort = self._sort(end.name)
        if sort == "joint":
            return "third" if end.link.startswith(THIRD) else "side"
        return "frame" if sort == "element" else "solid"

    def _merge(self, one: End, two: End) -> None:
        """Two ends at one node."""
        first, second = (self._node(end) for end in (one, two))
        if first == second:
            return
        names = {self.named[key] for key in (first, second) if key in self.named}
        if len(names) > 1:
            raise ModelError(f"{' and '.join(sorted(names))} would be one node", field="connections")
        for key, node in self.node_of.items():
            self.node_of[key] = first if node == second else node
        if names:
            self.named[first] = names.pop()

    def _node(self, end: End) -> str:
        known = self.node_of.setdefault((end.name, end.link), end.text)
        if end.name not in self.fields or self._nature(end) == "third":
            self.named.setdefault(known, end.text)
        return known

    # -- components --------------------------------------------------------------------------------
    def _given(self, name: str, *but: str) -> dict[str, Any]:
        return {key: value for key, value in self.fields[name].items() if key not in ("kind", *but)}

    def _check_base(self, name: str) -> None:
        if given := self._given(name):
            raise ModelError("the base is the world, and has no fields", component=name, field=str(next(iter(given))))

    def _add_body(self, name: str) -> None:
        links = self._links_of(name)
        body = self.system.add_kind("bodies", name, "", self._given(name, "links"))
        for key, at in links.items():
            where = at if isinstance(at, Mapping) else {"at": at}
            self.system.place(body.name, where, _frame_name(key))

    def _add_joint(self, name: str) -> None:
        sides: dict[str, Any] = {}
        for number, side in SIDES.items():
            end = self.joined.get((name, number))
            if end is None:
                raise ModelError(f"its link {number} is not connected", component=name, field="connections")
            sides[side] = self._solid(end)
        self.system.joint(name, self.fields[name]["kind"], **sides, **self._given(name))

    def _add_element(self, name: str) -> None:
        ends: dict[str, Any] = {}
        for field in self._ends_of(name):
            if (name, field) in self.node_of:
                node = self.node_of[name, field]
                ends[field] = self.named.get(node, node.replace(".", "_"))
            elif (name, field) in self.joined:
                ends[field] = self._solid(self.joined[name, field])
        self.system.element(name, self.fields[name]["kind"], **ends, **self._given(name))

    def _solid(self, end: End) -> str:
        return "world" if self._sort(end.name) == BASE else f"{end.name}.{_frame_name(end.link)}"


def _frame_name(link: Any) -> str:
    return f"link{link}" if str(link).isdigit() else str(link)
