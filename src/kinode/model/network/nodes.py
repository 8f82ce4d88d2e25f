"""Nodes of a network: where ports meet; no port may be left open, and every connected piece needs a reference.

A node is made by being named, as in a netlist.  Three names are known without that: the references ``gnd`` and
``world``, and joints, whose one freedom (or a named one of several: ``slide.angle``) is a link that parts can act on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from kinode.errors import DomainError, LawError, ModelError
from kinode.expressions.equation_parser import parse_equation, split_rate
from kinode.expressions.syntax_tree import Expression
from kinode.model.base.fields import unknown
from kinode.model.joints.joint import Joint
from kinode.model.network.domain import Domain, domain_of_coordinate
from kinode.model.network.joint_sources import check_joint_sources, find_freedom, split_link
from kinode.model.network.part import Part, Row

if TYPE_CHECKING:
    from kinode.model.system import System


class Node(NamedTuple):
    """A node: its kind, the ports that meet there, and the coordinate of a joint where it is one."""

    name: str
    domain: Domain
    ports: tuple[tuple[str, str], ...] = ()  # (part, port)
    joint: str | None = None
    coordinate: int | None = None  # index in the joint's u
    reference: bool = False
    quasi: bool = False  # whether the freedom is a quasi-velocity, which is no rate of a coordinate

    @property
    def kind(self) -> str:
        return self.domain.kind


def find_nodes(system: System) -> dict[str, Node]:
    """The nodes by name, in the order in which they are first named.

    The two mechanical references are ``world.angle`` and ``world.position``; a joint with one freedom has its name.
    """
    ports: dict[str, list[tuple[str, str]]] = {}
    nodes: dict[str, Node] = {}
    for part in system.parts.values():
        for port, kind in part.ports().items():
            node = find_node(system, part, port, kind)
            known = nodes.setdefault(node.name, node)
            if known.kind != node.kind:
                other = ".".join(ports[node.name][0])
                message = (
                    f"is {kind.kind}, and {node.name} is {known.kind} by {other}: ports of one kind meet at a node"
                )
                raise DomainError(message, component=part.name, field=port)
            ports.setdefault(node.name, []).append((part.name, port))
    return {
        name: Node(node.name, node.domain, tuple(ports[name]), node.joint, node.coordinate, node.reference, node.quasi)
        for name, node in nodes.items()
    }


def find_node(system: System, part: Part, port: str, kind: Domain) -> Node:
    """The node, still without ports, that a port is connected to."""
    name: str = getattr(part, port)
    if name == kind.reference:
        return Node(kind.reference_node, kind, reference=True)
    freedom = find_freedom(system.joints, name)
    if freedom is not None:
        return _joint_node(*freedom, part, port, kind)
    head, _ = split_link(name)
    if head != name:
        message = unknown(f"{name} is the third link of a joint, and no joint is called", head, system.joints)
        raise ModelError(message, component=part.name, field=port)
    words = name.split(".")
    for count in range(len(words), 0, -1):
        owner = ".".join(words[:count])
        taken = system.components.get(owner)
        if taken is not None or owner in system.references:
            what = "the reference" if taken is None else f"{article(taken.sort())} {taken.sort()}"
            wanted = "a node, a joint or the world" if kind.moves else f"a node or {kind.reference}"
            more = _other_names(taken) if isinstance(taken, Part) else ""
            raise ModelError(f"{owner} is {what}; {wanted} is expected{more}", component=part.name, field=port)
    if name in system.prefixes:
        raise ModelError(f"{name} is a subsystem; write {name}.… for a node in it", component=part.name, field=port)
    return Node(name, kind)


def _other_names(part: Part) -> str:
    """What may have been meant by the name of a part where a node is expected."""
    ends = [f"{getattr(part, port)} for {part.name}.{port}" for port in part.ports()]
    return f"; ports that name the same node are connected: write {', '.join(ends)}, or rename one of the two"


def article(word: str) -> str:
    """a or an."""
    return "an" if word[0] in "aeiou" else "a"


def _joint_node(joint: Joint, coordinate: str | None, part: Part, port: str, kind: Domain) -> Node:
    def fail(message: str) -> ModelError:
        return ModelError(message, component=part.name, field=port)

    links = dict(joint.coordinates)
    if not links:
        raise fail(f"{joint.name} is {joint.kind} and has no freedom to act on")
    if len(joint.coordinates) == 1 and coordinate is None:
        coordinate = next(iter(links))
    if coordinate is None:
        raise fail(f"{joint.name} has several freedoms: write {' or '.join(f'{joint.name}.{c}' for c in links)}")
    if coordinate not in links:
        raise fail(unknown(f"{joint.name} has no freedom", coordinate, links) + f"; it has {', '.join(links)}")
    own = domain_of_coordinate(links[coordinate])
    if own != kind:
        message = f"is {kind.kind}, and {joint.name}.{coordinate} {own.moves}: it takes a {own.kind} port"
        raise DomainError(message, component=part.name, field=port)
    name = joint.name if len(links) == 1 else f"{joint.name}.{coordinate}"
    return Node(
        name, kind, joint=joint.name, coordinate=list(links).index(coordinate), quasi=joint.quaternion is not None
    )


MOST_TRIED = 8  # ports of one kind among which all sets are tried


def find_network_errors(system: System, nodes: Mapping[str, Node], whole: bool = True) -> Iterator[ModelError]:
    """The errors of a network: sources that contradict, ports left open, pieces without a reference."""
    try:
        check_joint_sources(system)
    except ModelError as error:
        yield error
    if whole:
        left_open = list(find_open(system, nodes))
        yield from left_open
        if not left_open:
            yield from find_floating(system, nodes)


def find_open(system: System, nodes: Mapping[str, Node]) -> Iterator[ModelError]:
    """A node with a single port is most likely a name misspelled."""
    for node in nodes.values():
        if len(node.ports) == 1 and node.joint is None and not node.reference:
            part, port = node.ports[0]
            others = [name for name, other in nodes.items() if other.kind == node.kind and not other.reference]
            joints = [name for name, joint in system.joints.items() if joint.n_u] if node.domain.moves else []
            known = [name for name in dict.fromkeys((*others, *joints, node.domain.reference)) if name != node.name]
            message = unknown("is left open: nothing else is connected to", node.name, known)
            yield _blame_connection(system, node, ModelError(message, component=part, field=port))


def _blame_connection(system: System, node: Node, error: ModelError) -> ModelError:
    """The error about a node of a subsystem's part, with a hint at ``connect=``, which can correct it."""
    part, port = node.ports[0]
    inside = [prefix for prefix in sorted(system.prefixes, key=len) if part.startswith(f"{prefix}.")]
    for prefix in inside:
        if not node.name.startswith(f"{prefix}."):
            message = f"{part}.{port} " + error.message
            return ModelError(message, component=prefix, field="connect")
    if inside:
        within = node.name.removeprefix(f"{inside[0]}.")
        error.message += f"; connect it where {inside[0]} is added: connect={{{within}: ...}}"
    return error


def find_floating(system: System, nodes: Mapping[str, Node]) -> Iterator[ModelError]:
    """The errors about connected pieces of a network with neither a reference nor a joint, one for each piece.

    A part connects ports whose potentials can be shifted only together.  A part whose equations change with any shift,
    such as an inertia, is connected to the reference by itself.
    """
    node_of = {port: name for name, node in nodes.items() for port in node.ports}
    parent = {name: name for name in (*nodes, "")}  # "" stands for all references

    def root(name: str) -> str:
        while parent[name] != name:
            parent[name] = name = parent[parent[name]]
        return name

    for name, node in nodes.items():
        if node.reference or node.joint is not None:
            parent[root(name)] = root("")
    for part in system.parts.values():
        for kind in {domain.kind for domain in part.ports().values()}:
            for group in groups_of(part, kind):
                connected = [node_of[part.name, port] for port in group.ports] + [""] * group.anchored
                for name in connected[1:]:
                    parent[root(name)] = root(connected[0])
    told = {root("")}
    for name, node in nodes.items():
        if root(name) in told:
            continue
        told.add(root(name))
        piece = [other for other in nodes if root(other) == root(name)]
        parts = dict.fromkeys(part for other in piece for part, _ in nodes[other].ports)
        yield _given_flows(system, nodes, piece) or _floating(node, piece, list(parts))


def _given_flows(system: System, nodes: Mapping[str, Node], piece: Sequence[str]) -> ModelError | None:
    """The error about a piece whose flows are all given by sources, whatever its potential: they cannot balance."""
    domain = nodes[piece[0]].domain
    sources: dict[str, str] = {}
    for part, port in (at for name in piece for at in nodes[name].ports):
        if Group((port,)) in groups_of(system.parts[part], domain.kind):
            sources.setdefault(part, port)
    if sources:
        who, first = " and ".join(sources), next(iter(sources))
        what = "are in series" if len(sources) > 1 else "leads nowhere else"
        message = f"{who} {what}: every {domain.flow} at {', '.join(piece)} is given, and they have to sum to zero"
        message = f"{message}; put {domain.beside} beside one of them, or leave one out"
        return ModelError(message, component=first, field=sources[first])
    return None


def _floating(node: Node, piece: list[str], parts: list[str]) -> ModelError:
    reference = node.domain.reference
    where = "one of " + ", ".join(piece[:4]) + ", ..." * (len(piece) > 4) if len(piece) > 1 else piece[0]
    advice = f"connect {where} to {reference}" + (" or to a joint" if node.domain.moves else "")
    who = f"{', '.join(parts[:6])}{', ...' * (len(parts) > 6)}: " if len(parts) > 1 else ""
    message = f"{who}no reference, so that the {node.domain.potential} of every node is left open; {advice}"
    return ModelError(message, component=parts[0], field=node.ports[0][1])


class Group(NamedTuple):
    """Ports whose potentials a part relates to each other; ``anchored``: to the reference too."""

    ports: tuple[str, ...]
    anchored: bool = False


def groups_of(part: Part, kind: str) -> tuple[Group, ...]:
    """``shift_groups`` of a part."""
    return shift_groups(type(part), part.find_rows(), kind)  # type: ignore[arg-type]  # classes can be hashed


@lru_cache(maxsize=1024)
def shift_groups(cls: type[Part], rows: tuple[Row, ...], kind: str) -> tuple[Group, ...]:
    """The smallest sets of ports of a kind whose common shift leaves the equations unchanged."""
    residuals = [cls.expand(parse_equation(row.text).residual) for row in rows]
    groups: list[Group] = []
    for together in _find_together(cls, residuals, kind):
        left = together
        sizes = range(1, len(left) + 1) if len(left) <= MOST_TRIED else (len(left),)
        for size in sizes:
            for ports in combinations(tuple(left), size):
                if all(port in left for port in ports) and _is_unchanged(cls, residuals, ports):
                    groups.append(Group(ports))
                    left = [port for port in left if port not in ports]
        if left:
            groups.append(Group(tuple(left), anchored=True))
    return tuple(groups)


def _find_together(cls: type[Part], residuals: Sequence[Expression | float], kind: str) -> list[list[str]]:
    """The ports of a kind in sets: potentials of different sets appear in no common equation."""
    sets: list[list[str]] = [[name] for name, domain in cls.ports().items() if domain.kind == kind]
    for residual in residuals:
        names = {split_rate(name)[0] for name in residual.names()} if isinstance(residual, Expression) else set()
        ports = {name.rpartition(".")[0] for name in names if name.rpartition(".")[2] in cls.domains[kind].across}
        joined = [one for one in sets if not ports.isdisjoint(one)]
        if len(joined) > 1:
            sets = [one for one in sets if one not in joined] + [[port for one in joined for port in one]]
    return sets


def _is_unchanged(cls: type[Part], residuals: Sequence[Expression | float], group: tuple[str, ...]) -> bool:
    """Whether a common shift of the potentials of some ports leaves the equations unchanged.

    It is tested with random numbers, for positions, speeds and accelerations of the ports at once.
    """
    from random import Random

    draw = Random(7)
    values: dict[str, float] = {}
    shifts = [draw.uniform(0.5, 1.5) for _ in range(9)]  # of the position, of its rate, ...
    ports = cls.ports()

    def value_of(name: str, shifted: bool) -> float:
        base, order = split_rate(name)
        if name not in values:
            values[name] = draw.uniform(0.5, 1.5)
        head, _, word = base.rpartition(".")
        if not shifted or head not in group or word == ports[head].flow:
            return values[name]
        return values[name] + shifts[min(8, order + (word == ports[head].potential and bool(ports[head].position)))]

    def change(residual: Expression | float) -> float:
        if not isinstance(residual, Expression):
            return 0.0
        after, before = (float(residual.evaluate(partial(value_of, shifted=shifted))) for shifted in (True, False))
        return abs(after - before)

    try:
        return all(change(residual) < 1e-9 for residual in residuals)
    except (LawError, ArithmeticError, ValueError):
        return False
