"""The gestures ``connect`` and ``disconnect``: what is written into which field, or why two ends do not fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kinode.errors import ArgumentError
from kinode.formats.editing.actions.gesture_plan import FRESH, GesturePlan, fresh_nodes, names_in_use
from kinode.formats.editing.actions.inherited_parts import inherited_ports, set_inherited
from kinode.formats.editing.actions.link_ends import LinkEnd, find_end, freedoms_of, has_default, is_open_box
from kinode.formats.editing.entry_places import DRAWN
from kinode.formats.editing.model_draft import ModelDraft
from kinode.formats.editing.name_sites import FRAME, LAW, PORT
from kinode.formats.editing.text_edits import Edit
from kinode.formats.span_nodes import NodeKind

NETWORK = ("port", "node", "freedom", "reference")


def connect(draft: ModelDraft, gesture: Mapping[str, Any], plan: GesturePlan) -> None:
    """Connect two ends."""
    one, two = find_end(draft, gesture.get("from")), find_end(draft, gesture.get("to"))
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
        first, second = find_end(draft, one), find_end(draft, two)
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
    if _is_inherited(side):
        joint = draft.system.joints[side.component]
        there = joint.b if side.field in ("1", "a") else joint.a
        return f"{side.component} would join {body} to itself" if there.body == body else ""
    other = draft.root.find(*draft.places.field_path(side.component, ("b" if side.field in ("1", "a") else "a",)))
    if other is not None and _body_of(other) == body:
        return f"{side.component} would join {body} to itself"
    return ""


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
        write_end(draft, first, "world" if second.nature == "reference" else second.text)


def _is_inherited(end: LinkEnd) -> bool:
    """Whether an end is a field of a component of the file that the model extends."""
    return end.path[:1] == ("changes",)


def write_end(draft: ModelDraft, end: LinkEnd, text: str) -> None:
    """Write what an end is connected to into its field."""
    if _is_inherited(end):
        set_inherited(draft, end.component, end.path[2:], text)
    else:
        draft.set(end.path, text)


def _join(draft: ModelDraft, port: LinkEnd, other: LinkEnd, plan: GesturePlan) -> None:
    """Bring a port to another end; two nodes become one, and a port leaves a joint or a reference by itself."""
    if is_open_box(draft, other) and _is_node(draft, port.text, port):
        port, other = other, port
    target = _network_name(draft, port, other)
    if is_open_box(draft, port):
        merge_nodes(draft, port.text, target, plan)
        draft.set(port.path, target)
    elif not _is_node(draft, port.text, port):
        write_end(draft, port, target)
    elif other.nature == "reference" or not _is_node(draft, target, other):
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


def _is_node(draft: ModelDraft, name: str, end: LinkEnd) -> bool:
    """Whether a name is a node of its own, and no joint or reference."""
    if not name or name in draft.system.references or (end.domain is not None and name == end.domain.reference):
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
        if (site.role == PORT and site.name == gone) or (site.role == LAW and site.name.startswith(f"{gone}."))
    ]
    for site in draft.sites:
        if site.role == PORT and site.name == gone:
            draft.guard(site.path)
    draft.apply(edits)
    for name, port in inherited_ports(draft, gone):
        set_inherited(draft, name, (port,), keep)
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
def disconnect(draft: ModelDraft, gesture: Mapping[str, Any], plan: GesturePlan) -> None:
    """Take one end off what it is connected to."""
    name, port = gesture.get("component"), gesture.get("port")
    if isinstance(name, str) and isinstance(port, str) and draft.places.section_of(name) == "bodies" and "." in port:
        name, _, port = port.rpartition(".")  # the body's end of a link is named by what is joined there
    if isinstance(name, str) and isinstance(port, str) and draft.places.paths.get(name, ())[:2] == DRAWN:
        _disconnect_drawn(draft, name, port)
        plan.words = f"disconnect {name}"
        return
    end = find_end(draft, {"component": name, "port": port})
    plan.words = f"disconnect {_name(end)}"
    nodes = fresh_nodes(names_in_use(draft))
    if _is_inherited(end):
        _disconnect_inherited(draft, end, next(nodes))
    elif end.nature == "port":
        together = [site for site in draft.sites if site.role == PORT and site.name == end.text]
        if len(together) < 2 - is_open_box(draft, end) and _is_node(draft, end.text, end):
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
        if not any(site.role == PORT and site.name == end.text for site in draft.sites):
            raise ArgumentError(f"no part is connected to {_name(end)}")
        merge_nodes(draft, end.text, next(nodes), plan)
        plan.renamed.clear()
    elif end.nature in ("frame", "law"):
        leave_out(draft, end.component, end.field, end.path)
    else:
        raise ArgumentError(f"{end.words} cannot be disconnected; delete the component, or connect it elsewhere")


def _disconnect_inherited(draft: ModelDraft, end: LinkEnd, node: str) -> None:
    """Take an end of an inherited component off what it is connected to, by a change in this file."""
    if end.nature == "port":
        set_inherited(draft, end.component, end.path[2:], node)
    elif end.nature in ("frame", "law") and has_default(draft, end.component, end.field):
        set_inherited(draft, end.component, end.path[2:], None)
    else:
        raise ArgumentError(f"{end.words} is needed where it comes from; connect it elsewhere instead")


def _leave_node(draft: ModelDraft, end: LinkEnd) -> None:
    """Connect a node of a subsystem to nothing."""
    connect = draft.root.find(*end.path[:-1])
    alone = connect is not None and len(connect.entries) == 1
    draft.set(end.path[:-1] if alone else end.path, None)


def leave_out(draft: ModelDraft, name: str, field: str, path: tuple[str | int, ...]) -> None:
    """Take a field out, or give it the nothing that it can have."""
    if has_default(draft, name, field) and draft.places.section_of(name) != "signals":
        draft.set(draft.places.field_path(name, (field,)), None)
        return
    roles = {site.role for site in draft.sites if site.path[: len(path)] == path}
    draft.set(path, "world" if FRAME in roles else "0")


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
