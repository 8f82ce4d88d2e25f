"""Every number in the text of a model file, changed in the text: what a person with an editor would do."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ruamel.yaml import YAML
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

NUMBER = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(\s+\S+)?\Z")
LEFT_OUT = ("kinode", "run", "tables", "inputs", "domains", "kinds", "circuit")  # sections without live numbers


class TextNumber(NamedTuple):
    """A number in a text: its path, where it stands, and what is to stand there."""

    path: tuple[str | int, ...]
    start: int
    end: int
    value: str


def find_text_numbers(text: str, share: float) -> Iterator[TextNumber]:
    """The numbers of a text, each larger by a share; zeros are left out."""
    for path, node in _scalars(YAML().compose(text), ()):
        found = NUMBER.match(node.value)
        if not found or path[0] in LEFT_OUT or float(found[1]) == 0.0 or node.style:
            continue
        value = repr(float(found[1]) * (1.0 + share))
        start, end = node.start_mark.index, node.end_mark.index
        yield TextNumber(path, start, end, value + (found[2] or ""))


def change_text(text: str, numbers: Iterable[TextNumber]) -> str:
    """The text with these numbers in their places."""
    for number in sorted(numbers, key=lambda number: number.start, reverse=True):
        text = text[: number.start] + number.value + text[number.end :]
    return text


def _scalars(node: Node, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], ScalarNode]]:
    if isinstance(node, MappingNode):
        for key, value in node.value:
            yield from _scalars(value, (*path, key.value))
    elif isinstance(node, SequenceNode):
        for k, item in enumerate(node.value):
            yield from _scalars(item, (*path, k))
    elif isinstance(node, ScalarNode):
        yield path, node
