"""Which ports of a sketch a port may be connected to, and why not to the others."""

from __future__ import annotations

from kinode.errors import ArgumentError
from kinode.model.circuit_links.circuit_topology import ENERGY, INFORMATION, VECTOR
from kinode.model.network.domains.domain import DOMAINS
from kinode.studio.drawing.kind_boxes import Plain

FITS = ""
REFERENCES = ("world", "gnd")


def find_fits(sketch: Plain, component: str, port: str) -> dict[str, str]:
    """For each port as ``component:port``, and each reference as ``reference:name``, "" or why it does not fit.

    Parameters
    ----------
    sketch : dict
        Of ``Sketcher.draw``.
    component, port : str
        The port that a line is drawn from.

    Raises
    ------
    ArgumentError
        If there is no such port.
    """
    boxes = {box["name"]: box for box in sketch["boxes"]}
    if component not in boxes:
        raise ArgumentError(f"from: nothing is called {component!r:.60}")
    origin = next((x for x in boxes[component]["ports"] if x["name"] == port), None)
    if origin is None:
        raise ArgumentError(f"from: {component} has no port {port!r:.60}")
    targets = {
        f"{box['name']}:{other['name']}": _compare(boxes[component], origin, box, other)
        for box in sketch["boxes"] for other in box["ports"] if other is not origin
    }  # fmt: skip
    names = dict.fromkeys([*REFERENCES, *(domain.reference for domain in DOMAINS.values())])
    return targets | {f"reference:{name}": _refer(boxes[component], origin, name) for name in names}


def _compare(box: Plain, port: Plain, other: Plain, target: Plain) -> str:
    if box is other and not (box["role"] == "part" and port["kind"] == target["kind"] == ENERGY):
        return f"both are {box['name']}"
    if port["kind"] != target["kind"]:
        return _explain_kinds(box, port, other, target)
    if port["kind"] == INFORMATION:
        if port["out"] == target["out"]:
            return "both give a signal: one has to read it" if port["out"] else "both read a signal: none gives it"
        return FITS
    return _vector(box, port, other, target) if port["kind"] == VECTOR else _energy(box, port, other, target)


def _vector(box: Plain, port: Plain, other: Plain, target: Plain) -> str:
    """A vector link joins a body and something else."""
    if "3" in (port["name"], target["name"]) and {box["role"], other["role"]} & {"KN"}:
        return "this is what acts along the freedoms of a joint: connect a part there"
    bodies = [x["role"] == "SB" for x in (box, other)]
    if all(bodies):
        return "two bodies need a joint between them"
    if not any(bodies):
        return f"{other['name']} is no body: a {box['kind'].replace('_', ' ')} is connected to a body or the world"
    joint, side = (other, target) if bodies[0] else (box, port)
    body = box if bodies[0] else other
    across = [x for x in joint["ports"] if x is not side and x["kind"] == VECTOR and x["name"] != "3"]
    ends = {f"{joint['name']}.{x['name']}" for x in across}
    if joint["role"] == "KN" and any(x["name"] in ends for x in body["ports"]):
        return f"{joint['name']} would join {body['name']} to itself"
    return FITS


def _energy(box: Plain, port: Plain, other: Plain, target: Plain) -> str:
    """An energy link joins ports of one domain; the freedoms of two joints are coupled by a part."""
    one, two = port["domain"], target["domain"]
    if one and two and not set(one.split(", ")) & set(two.split(", ")):
        return f"{target['name']} of {other['name']} is {two}, and {port['name']} of {box['name']} is {one}"
    if box["role"] == other["role"] == "KN" and port["name"] == target["name"] == "3":
        return "two joints are coupled by a gear or a shaft between them"
    return FITS


def _explain_kinds(box: Plain, port: Plain, other: Plain, target: Plain) -> str:
    words = {VECTOR: "joins bodies", ENERGY: "carries power ({})", INFORMATION: "carries a signal"}
    one = words[port["kind"]].format(port["domain"] or "of a joint")
    two = words[target["kind"]].format(target["domain"] or "of a joint")
    return f"{port['name']} of {box['name']} {one}, and {target['name']} of {other['name']} {two}"


def _refer(box: Plain, port: Plain, name: str) -> str:
    """Whether a port may be connected to the world or the ground."""
    if port["kind"] == INFORMATION:
        return "a signal has no reference"
    if port["kind"] == VECTOR:
        if box["role"] == "SB":
            return "a body needs a joint to the world"
        return FITS if name == "world" else "only the world holds bodies"
    if box["role"] == "KN":
        return "a joint's freedom is held by a part, or by a motion of the joint"
    known = {DOMAINS[domain].reference for domain in port["domain"].split(", ") if domain in DOMAINS}
    return FITS if not known or name in known else f"{port['domain']} ports have the reference {', '.join(known)}"
