"""The signed incidence matrix of a circuit: which branch leads from which node to which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from kinode.model.circuit_links.circuit_topology import (
    INFORMATION,
    VECTOR,
    WORLD,
    CircuitLink,
    CircuitNode,
    CircuitTopology,
)


@dataclass(frozen=True, eq=False)
class Incidence:
    """Nodes by branches: 1 where a branch begins, -1 where it ends.

    A branch is a link of a component.  It begins at the link's node and ends at the reference of its kind: the world,
    ``gnd``.  A component through which its flow passes is one branch, from its first node to its second.  Every column
    has the sum zero or, if both ends are a reference, no entry.

    Attributes
    ----------
    matrix : csr_array
        The matrix, sparse, of integers.
    nodes, branches : tuple of str
        Names of rows and columns.
    """

    matrix: Any
    nodes: tuple[str, ...]
    branches: tuple[str, ...]

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Head and rows of a table: one row for each branch, with its two ends."""
        columns = self.matrix.tocsc()
        rows = []
        for k, branch in enumerate(self.branches):
            entries = columns.indices[columns.indptr[k] : columns.indptr[k + 1]]
            signs = columns.data[columns.indptr[k] : columns.indptr[k + 1]]
            start = next((self.nodes[i] for i, sign in zip(entries, signs, strict=True) if sign > 0), "")
            end = next((self.nodes[i] for i, sign in zip(entries, signs, strict=True) if sign < 0), "")
            rows.append([str(k + 1), branch, start, end])
        return ["branch", "name", "from", "to"], rows

    def to_dataframe(self) -> Any:
        """The matrix as a table of pandas with names; needs pandas."""
        import pandas  # type: ignore[import-untyped]

        return pandas.DataFrame(self.matrix.toarray(), index=list(self.nodes), columns=list(self.branches))

    def __str__(self) -> str:
        """The matrix with names; a dot is a zero."""
        dense = self.matrix.toarray()
        left = max((len(name) for name in self.nodes), default=0)
        widths = [max(len(name), 2) for name in self.branches]
        head = " " * left + "  " + "  ".join(f"{name:>{w}}" for name, w in zip(self.branches, widths, strict=True))
        lines = [head]
        for name, row in zip(self.nodes, dense, strict=True):
            cells = (f"{'.' if x == 0 else f'{x:+d}':>{w}}" for x, w in zip(row, widths, strict=True))
            lines.append(f"{name:<{left}}  " + "  ".join(cells))
        return "\n".join(lines)


def reference_of(link: CircuitLink) -> str:
    """The name of the reference node of a link's kind."""
    if link.kind == VECTOR:
        return WORLD
    return link.words.reference_node


def find_incidence(topology: CircuitTopology) -> Incidence:
    """The incidence matrix of a circuit."""
    names = [node.name for node in topology.nodes.values() if node.kind != INFORMATION]
    branches, entries = [], []
    for component in topology.components.values():
        links = [link for link in component.links if link.kind != INFORMATION]
        if component.through:
            branches.append(component.name)
            entries.append((links[0].node, links[1].node))
            links = links[2:]
        for link in links:
            branches.append(link.name)
            entries.append((link.node, reference_of(link)))
    nodes = list(dict.fromkeys([*names, *(end for pair in entries for end in pair)]))
    place = {name: k for k, name in enumerate(nodes)}
    rows, columns, signs = [], [], []
    for k, (start, end) in enumerate(entries):
        if start != end:
            rows += [place[start], place[end]]
            columns += [k, k]
            signs += [1, -1]
    matrix = csr_array((np.array(signs, dtype=int), (rows, columns)), shape=(len(nodes), len(branches)))
    return Incidence(matrix, tuple(nodes), tuple(branches))


def find_pieces(topology: CircuitTopology) -> list[list[str]]:
    """Names of the components of each piece that hangs together by links, without the references."""
    names = [name for name in topology.components if name != WORLD]
    nodes: Sequence[CircuitNode] = [node for node in topology.nodes.values() if not node.reference]
    place = {name: k for k, name in enumerate(names)}
    pairs = [
        (place[link.component], len(names) + k)
        for k, node in enumerate(nodes)
        for link in node.links
        if link.component in place
    ]
    rows, columns = np.array(pairs, dtype=int).reshape(-1, 2).T
    size = len(names) + len(nodes)
    graph = csr_array((np.ones(len(pairs)), (rows, columns)), shape=(size, size))
    _, labels = connected_components(graph, directed=False)
    pieces: dict[int, list[str]] = {}
    for name, label in zip(names, labels, strict=False):
        pieces.setdefault(int(label), []).append(name)
    return list(pieces.values())
