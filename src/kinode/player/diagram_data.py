"""The circuit diagram for the player: its SVG, and for each link the quantities that are shown on it.

Nothing is evaluated here: links name quantities (``elbow.1.power``, ``bus.voltage`` ...), and ``names`` lists all of
them, so that whoever writes the run can evaluate them together.  A power is that into the component at an end.  At a
node they sum to zero; over a run the powers into a component sum to what the audit says: the change of what it stores
less its work.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from kinode.errors import Error
from kinode.model.circuit_topology import (
    ENERGY,
    INFORMATION,
    POWER,
    SIZE,
    VECTOR,
    CircuitLink,
    CircuitTopology,
    find_circuit_topology,
)
from kinode.model.quantities import find_quantity, unit_of
from kinode.model.system import System
from kinode.views.diagram.circuit_diagram import Plain, diagram

NARROW, WIDE = 720.0, 1600.0  # of a row: the player shows the diagram beside the mechanism; a large one is zoomed
MOST_NARROW = 30  # components: to fold more into narrow rows takes seconds, and makes links cross
MOST_COMPONENTS = 150  # routing more would take seconds
MOST_NAMES = 400  # quantities; of a larger circuit powers alone are shown
VECTOR_WORDS = {"force": "F", "moment": "M", "velocity": "v", "angular_velocity": "ω"}
STYLE = re.compile(r"<style>.*?</style>\n?", re.DOTALL)
_PAPER = re.compile(r'<rect [^>]*class="paper"/>\n?')


class DiagramRecord(NamedTuple):
    """The data of a diagram (``DiagramData`` of the player), and the names of the quantities on its links."""

    data: Plain
    names: list[str]


def diagram_data(system: System) -> DiagramRecord | None:
    """The circuit diagram of a system as data of the player; None if there is nothing to draw, or too much.

    Parameters
    ----------
    system : System

    Returns
    -------
    DiagramRecord or None

    Examples
    --------
    >>> record = diagram_data(kn.load("examples/rlc.yaml"))
    >>> record.data["links"][0]["values"][0]
    {'label': 'voltage', 'series': 'supply.voltage', 'unit': 'V', 'of': ''}
    """
    run_system, system = system, system.as_declared()  # sources of motion are drawn as parts
    count = len(find_circuit_topology(system).components)
    if count > MOST_COMPONENTS:
        return None
    try:
        drawing = diagram(system, width=NARROW if count <= MOST_NARROW else WIDE, legend=False)
    except Error:
        return None
    for sizes in (True, False):
        links = _Links(system, find_circuit_topology(system), drawing.data, sizes)
        data = {
            "svg": _PAPER.sub("", STYLE.sub("", drawing.svg)),
            "extent": drawing.data["extent"],
            "links": links.data,
            "components": links.components(),
        }
        if len(links.names) <= MOST_NAMES:
            break
    return DiagramRecord(data, [name for name in links.names if run_system is system or _is_known(run_system, name)])


def _is_known(system: System, name: str) -> bool:
    try:
        find_quantity(system, name)
    except Error:
        return False
    return True


class _Links:
    """The quantities on the links of a diagram; without ``sizes`` powers and information alone."""

    def __init__(self, system: System, topology: CircuitTopology, drawn: Plain, sizes: bool) -> None:
        self.system, self.topology, self.drawn, self.sizes = system, topology, drawn, sizes
        self.names: dict[str, None] = {}
        self.by_name = {link.name: link for link in topology.links}
        self.ports = {(box["name"], port["name"]): port for box in drawn["boxes"] for port in box["ports"]}
        self.data = [self._link(each) for each in drawn["links"]]

    def _link(self, drawn: Plain) -> Plain:
        ends = [[self.by_name[name] for name in self._names_at(end)] for end in drawn["ends"]]
        if drawn["kind"] == INFORMATION:
            values, powers = list(self._read(drawn)), []
        elif any(link.kind == VECTOR for links in ends for link in links):
            # both ends have the same velocity, and opposite loads: one row says it for both
            k = next((k for k, end in enumerate(drawn["ends"]) if self._role(end) != "SB"), 0)
            values = list(self._vector_values(ends[k][0])) if self.sizes else []
            powers = [self._power(ends[k][0], end, 1 if j == k else -1) for j, end in enumerate(drawn["ends"])]
        else:
            values = list(self._energy_values(ends, drawn["ends"])) if self.sizes else []
            powers = [self._power(link, end) for end, links in zip(drawn["ends"], ends) for link in links]
        shape = {key: drawn[key] for key in ("name", "kind", "domain", "ends", "path")}
        return {**shape, "values": values, "powers": powers}

    def _names_at(self, end: Plain) -> list[str]:
        names: list[str] = self.ports[end["component"], end["port"]]["links"]
        return names

    def _role(self, end: Plain) -> str:
        return self.topology.components[end["component"]].role

    def _vector_values(self, link: CircuitLink) -> Iterator[Plain]:
        for word, letter in VECTOR_WORDS.items():
            of = link.component if word in ("force", "moment") else ""
            yield self._value(f"|{letter}|", f"{link.name}.{word}.{SIZE}", of)

    def _energy_values(self, ends: list[list[CircuitLink]], drawn: list[Plain]) -> Iterator[Plain]:
        """The potential of each node once, and the flow into the component at each end."""
        seen = set()
        for links in ends:
            for link in links:
                if link.node not in seen:
                    seen.add(link.node)
                    yield self._value(self._word(link, link.words.potential), self._potential(link), "")
        for links, end in zip(ends, drawn):
            for link in links:
                flow = link.words.flow
                yield self._value(self._word(link, flow), f"{link.name}.{flow}", end["component"])

    def _joint(self, link: CircuitLink) -> str:
        """The joint whose freedom a link belongs to; none: an empty text."""
        return "" if link.freedom is None else self.topology.at_joint(link).component

    def _word(self, link: CircuitLink, word: str) -> str:
        """A word for a quantity; that of one of several freedoms says which."""
        word, joint = word.replace("_", " "), self._joint(link)
        several = joint and self.system.joints[joint].n_u > 1
        return f"{word} {link.node.removeprefix(f'{joint}.')}" if several else word

    def _potential(self, link: CircuitLink) -> str:
        """The name of the potential of a link: that of its node, of a single freedom u."""
        word, joint = link.words.potential, self._joint(link)
        if joint:
            return f"{joint}.u" if self.system.joints[joint].n_u == 1 else f"{link.name}.{word}"
        return f"{link.node}.{word}"

    def _read(self, drawn: Plain) -> Iterator[Plain]:
        """What is read through an information link."""
        for name in self.topology.read.get(drawn["name"].removesuffix(".out"), ()):
            if find_quantity(self.system, name).size == ():
                yield self._value(name, name, "")

    def _value(self, label: str, series: str, of: str) -> Plain:
        self.names[series] = None
        unit = unit_of(self.system, series)
        return {"label": label, "series": series, "unit": unit if isinstance(unit, str) else unit[0], "of": of}

    def _power(self, link: CircuitLink, end: Plain, sign: int = 1) -> Plain:
        series = f"{link.name}.{POWER}"
        self.names[series] = None
        return {"end": f"{end['component']}:{end['port']}", "series": series, "sign": sign}

    def components(self) -> list[Plain]:
        """The boxes, each with what a click on it selects and shows."""
        return [
            {
                **{key: box[key] for key in ("name", "owner", "role", "kind", "at", "size")},
                "series": list(self._series_of(box["name"])),
                "references": list(self._references(box)),
            }
            for box in self.drawn["boxes"]
        ]

    def _series_of(self, name: str) -> Iterator[str]:
        """The quantities on the links of a component."""
        for link in self.data:
            if any(end["component"] == name for end in link["ends"]):
                own = [value["series"] for value in link["values"] if value["of"] in ("", name)]
                yield from (series for series in own if self.sizes)

    def _references(self, box: Plain) -> Iterator[Plain]:
        """Links to a reference where power leaves: of a domain whose flow itself is a power, as heat."""
        for port in box["ports"]:
            for link in (self.by_name[name] for name in port["links"]):
                if port["reference"] and link.kind == ENERGY and not link.words.product_is_power:
                    end = {"component": box["name"], "port": port["name"]}
                    yield {"at": port["at"], "power": self._power(link, end)}
