"""Every number in the text of a model file, changed in the text: what a person with an editor would do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ruamel.yaml import YAML
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

NUMBER = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(\s+\S+)?\Z")
LEFT_OUT = ("kinode", "run", "tables", "inputs", "domains", "kinds", "circuit")  # sections without live numbers


class TextNumber(NamedTuple):
    """A number in a text: its path, and the text with another number there."""

    path: tuple[str | int, ...]
    text: str


def changed_texts(file: Path, share: float) -> Iterator[TextNumber]:
    """The text of a file with one number after the other larger by a share; zeros stay."""
    text = file.read_text()
    for path, node in _scalars(YAML().compose(text), ()):
        found = NUMBER.match(node.value)
        if not found or path[0] in LEFT_OUT or float(found[1]) == 0.0 or node.style:
            continue
        value = repr(float(found[1]) * (1.0 + share))
        start, end = node.start_mark.index, node.end_mark.index
        yield TextNumber(path, text[:start] + value + (found[2] or "") + text[end:])


def _scalars(node: Node, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], ScalarNode]]:
    if isinstance(node, MappingNode):
        for key, value in node.value:
            yield from _scalars(value, (*path, key.value))
    elif isinstance(node, SequenceNode):
        for k, item in enumerate(node.value):
            yield from _scalars(item, (*path, k))
    elif isinstance(node, ScalarNode):
        yield path, node
