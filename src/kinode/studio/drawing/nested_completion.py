"""What may be typed within a field that is a mapping itself, such as a shape or a frame: from the schema of files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from kinode.formats.json_schema import schema
from kinode.studio.drawing.kind_boxes import Plain

Node = dict[str, Any]
FRAME = "#/$defs/frame"


@cache
def _whole() -> Node:
    return schema()


def find_nested(path: Sequence[str], kind: str) -> list[Node]:
    """The parts of the schema at the end of a path of keys; ``kind`` is that of the component around."""
    nodes = [_whole()]
    for step in path:
        nodes = [inner for node in nodes for inner in _step(node, step, kind)]
    return nodes


def list_keys(path: Sequence[str], kind: str) -> dict[str, str]:
    """The keys of a mapping at a path, with their documentation."""
    keys: dict[str, str] = {}
    for node in find_nested(path, kind):
        for each in _alternatives(node, kind):
            for name, inner in each.get("properties", {}).items():
                keys.setdefault(name, _words(inner))
    return keys


def list_words(path: Sequence[str], kind: str) -> list[str]:
    """The words that a value at a path may be."""
    found = [word for node in find_nested(path, kind) for each in _alternatives(node, kind) for word in _enum(each)]
    return list(dict.fromkeys(found))


def is_frame(path: Sequence[str], kind: str) -> bool:
    """Whether a value at a path names a frame or a body."""
    return path[-1] == "body" or any(_names_frame(node) for node in find_nested(path, kind))


def _names_frame(node: Node) -> bool:
    inner = [*node.get("oneOf", ()), *node.get("anyOf", ()), *([node["items"]] if "items" in node else [])]
    return node.get("$ref") == FRAME or any(_names_frame(each) for each in inner)


def _step(node: Node, key: str, kind: str) -> Iterator[Node]:
    for each in _alternatives(node, kind):
        if key in each.get("properties", {}):
            yield each["properties"][key]
        elif isinstance(each.get("additionalProperties"), dict):
            yield each["additionalProperties"]


def _alternatives(node: Node, kind: str) -> Iterator[Node]:
    """What a node may be, with references followed; of several kinds the one that is given."""
    if "$ref" in node:
        name = str(node["$ref"]).rpartition("/")[2]
        yield from _alternatives(_whole()["$defs"][name], kind)
        return
    given = node.get("properties", {}).get("kind", {})
    if kind and given.get("const", kind) != kind:
        return
    yield node
    for word in ("oneOf", "anyOf", "allOf"):
        for each in node.get(word, ()):
            yield from _alternatives(each, kind)
    if "then" in node and node.get("if", {}).get("properties", {}).get("kind", {}).get("const") == kind:
        yield from _alternatives(node["then"], kind)


def _enum(node: Node) -> list[str]:
    words = [*node.get("enum", ()), *([node["const"]] if "const" in node else [])]
    return [word for word in words if isinstance(word, str)]


def _words(node: Node) -> str:
    return str(node.get("description", ""))


def nested_fields(path: Sequence[str], kind: str) -> list[Plain]:
    """The keys as rows of options."""
    return [{"label": name, "detail": words, "apply": f"{name}: "} for name, words in list_keys(path, kind).items()]
