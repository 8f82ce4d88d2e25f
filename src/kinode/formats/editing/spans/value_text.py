"""What a person types for a field, as YAML or JSON: quoted where it has to be, otherwise as it was typed.

``max(0, t)`` within braces would be read as two values: it is quoted.  ``[max(0, t), 0, 0]`` is a list of three.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from kinode.errors import ArgumentError, ModelError
from kinode.formats.span_nodes import NodeKind, SpanNode
from kinode.formats.yaml_text import CONTROL, plain_value, read_spans
from kinode.formats.yaml_writer import write_scalar

OPENING, CLOSING = "([{", ")]}"


def format_value(typed: str, *, in_flow: bool, as_json: bool = False) -> str:
    """The text that stands in a file for a value as it was typed.

    Parameters
    ----------
    typed : str
        A number, a quantity, a law, a name, a list ``[...]`` or a mapping ``{...}``.
    in_flow : bool
        Whether it stands within brackets, where commas and brackets separate.
    as_json : bool, default False
        Whether the file is JSON.

    Returns
    -------
    str

    Raises
    ------
    ArgumentError
        Nothing was typed, or brackets do not match.

    Examples
    --------
    >>> from kinode.formats.editing.spans.value_text import format_value
    >>> format_value("2 kg", in_flow=True), format_value("max(0, t)", in_flow=True)
    ('2 kg', '"max(0, t)"')
    """
    if not isinstance(typed, str):
        raise ArgumentError(f"a value is given as text, as it would be typed, not {typed!r:.60}")
    text = typed.strip()
    if not text:
        raise ArgumentError("a value is needed; to take a field out, give null")
    if CONTROL.search(text):
        raise ArgumentError("a value holds no control characters")
    if as_json:
        return _as_json(text)
    node = _read_alone(text, in_flow)
    if node is not None and _says_what_is_meant(node, text):
        return text
    if text[0] == "[" and text[-1] == "]":
        return "[" + ", ".join(format_value(item, in_flow=True) for item in _split(text[1:-1])) + "]"
    if text[0] == "{" and text[-1] == "}":
        return "{" + ", ".join(_format_pair(item) for item in _split(text[1:-1])) + "}"
    if text[0] in "[{":
        raise ArgumentError(f"brackets or quotes do not match in {text!r:.80}")
    return write_scalar(text)


def format_key(name: str, as_json: bool = False) -> str:
    """The text of a key."""
    return json.dumps(name, ensure_ascii=False) if as_json else write_scalar(name)


def _format_pair(text: str) -> str:
    """An entry of a mapping that has to be written anew."""
    key, colon, value = text.partition(":")
    if not colon or not key.strip() or not value.strip():
        raise ArgumentError(f"{text.strip()!r:.60} is no entry of a mapping: write key: value")
    return f"{format_value(key, in_flow=True)}: {format_value(value, in_flow=True)}"


def _read_alone(text: str, in_flow: bool) -> SpanNode | None:
    """The node that the text is where it is to stand; None where it would be more or less than one value."""
    before, after = ("{k: ", "}") if in_flow else ("k: ", "")
    try:
        root = read_spans(before + text + after)
    except ModelError:
        return None
    node = root.find("k")
    if node is None or len(root.entries) != 1 or "\n" in text or "\r" in text:
        return None
    return node if (node.start, node.end) == (len(before), len(before) + len(text)) else None


def _says_what_is_meant(node: SpanNode, text: str) -> bool:
    """Whether no law was split at its comma, and nothing in it is an anchor or an alias."""
    if node.anchor is not None or node.kind is NodeKind.ALIAS:
        return False
    if node.kind is NodeKind.SCALAR:
        return not isinstance(node.value, str) or node.value.count("(") == node.value.count(")")
    inner = [*node.items, *(entry.node for entry in node.entries.values())]
    return all(_says_what_is_meant(item, text) for item in inner) and not any("(" in key for key in node.entries)


def _split(text: str) -> Iterator[str]:
    """The items between commas that stand in no brackets and no quotes."""
    depth, start, quote = 0, 0, ""
    for k, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'" and not text[start:k].strip():
            quote = character
        elif character in OPENING:
            depth += 1
        elif character in CLOSING:
            depth -= 1
        elif character == "," and depth == 0:
            yield text[start:k]
            start = k + 1
        if depth < 0:
            break
    if depth != 0 or quote:
        raise ArgumentError(f"brackets or quotes do not match in {text.strip()!r:.80}")
    if text[start:].strip():
        yield text[start:]


def _as_json(text: str) -> str:
    """The same in JSON, which quotes every text."""
    value = plain_value(read_spans(f"k: {format_value(text, in_flow=False)}"))["k"]
    try:
        return json.dumps(_whole(value), ensure_ascii=False, allow_nan=False)
    except ValueError:
        raise ArgumentError(f"{text!r:.60} is no number that JSON can hold") from None


def _whole(value: object) -> object:
    """Numbers that are whole without their point."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return {key: _whole(item) for key, item in value.items()} if isinstance(value, dict) else value
