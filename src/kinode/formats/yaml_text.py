"""Reads YAML text: as plain values with their line numbers, or as nodes with their places in the text.

The text is YAML 1.2, which includes JSON: ``1e5`` is a number, ``on`` and ``1:30`` are text.  Refused are tags (no
object is ever constructed from one), duplicate keys, several documents, merge keys, and aliases that stand for too many
values.  ruamel.yaml parses the text to events; the values are built here, because its own constructors keep no lines.

The place of a node is a span, in characters from the start of the text.  It leaves out what is around a value: spaces,
comments, the break of its last line.  That of a block collection ends with its last value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from enum import Enum
from typing import Any, NamedTuple

from kinode.errors import ModelError

LARGEST_TEXT = 50_000_000
DEEPEST = 60
MOST_ALIASED = 200_000
LARGEST_WHOLE = 2**53  # up to here floats hold every whole number

_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
# Signs that begin anchors, aliases, tags, directives, keys and blocks of text, escapes and odd white space.
_DELICATE = re.compile(r"(?:^|[\s\[{,:-])[&*!%@`?|>]|[\t\r\\\ufeff\ud800-\udfff]")
_COMMENT = re.compile(r"#.*")
_WORDS: dict[str, bool | None] = {"": None, "~": None, "null": None, "Null": None, "NULL": None}
_WORDS |= {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}


class Map(dict[str, Any]):
    """A mapping; ``lines`` has the line of each key, ``line`` is the line where it starts."""

    line: int = 0

    def __init__(self, line: int = 0) -> None:
        super().__init__()
        self.line = line
        self.lines: dict[str, int] = {}


class List(list[Any]):
    """A sequence; ``lines`` has the line of each item, ``line`` is the line where it starts."""

    line: int = 0

    def __init__(self, line: int = 0) -> None:
        super().__init__()
        self.line = line
        self.lines: list[int] = []


def read_text(text: str, file: str | None) -> Any:
    """The value of a YAML or JSON text."""
    return plain_value(read_spans(text, file))


def read_spans(text: str, file: str | None = None) -> SpanNode:
    """The values of a YAML or JSON text with the places where they stand.

    Parameters
    ----------
    text : str
        The text.
    file : str, optional
        The file that it is from, for error messages.

    Returns
    -------
    SpanNode
        The root: a mapping, a list or a scalar.

    Raises
    ------
    ModelError
        The text is no YAML, or holds what kinode refuses; the error has the line.

    Examples
    --------
    >>> from kinode.formats.yaml_text import read_spans
    >>> root = read_spans("bodies: {arm: {mass: 2 kg}}")
    >>> mass = root.entries["bodies"].node.entries["arm"].node.entries["mass"].node
    >>> mass.start, mass.end, mass.value
    (21, 25, '2 kg')
    """
    if len(text) > LARGEST_TEXT:
        raise ModelError(f"the text is longer than {LARGEST_TEXT // 1_000_000} million characters", file=file)
    return _Composer(text, file).compose()


def parse_events(text: str, quick: bool = True) -> Iterator[Any]:
    """The events of a text, by libyaml where it reads what ruamel.yaml reads, which takes fifteen times as long.

    libyaml knows YAML 1.1: texts with signs whose meaning has changed, and those that it refuses, are not for it.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    if quick and not _DELICATE.search(_COMMENT.sub("", text)):
        with suppress(YAMLError, UnicodeError):
            return iter(list(YAML(typ="safe").parse(text)))
    return iter(YAML(typ="safe", pure=True).parse(text))


def resolve(text: str) -> Any:
    """The value of a plain scalar by the core schema of YAML 1.2; integers become floats."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return _whole_number(text) if text[:2] in ("0o", "0x") else float(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    if _NOT_FINITE.fullmatch(text):
        return float(text.lower().replace(".", "", 1))
    return text


def reads_as_text(text: str) -> bool:
    """Whether a plain scalar stands for itself, and not for a number, a truth value or nothing."""
    return text not in _WORDS and not any(form.fullmatch(text) for form in (_INTEGER, _FLOAT, _NOT_FINITE))


def _whole_number(text: str) -> float:
    """The value of a hexadecimal or octal number, every digit of which counts."""
    number = int(text, 0)
    if number > LARGEST_WHOLE:
        base = "a hexadecimal" if text[1] == "x" else "an octal"
        message = f"{text[:24]}{'...' * (len(text) > 24)} is {base} number that no float holds exactly"
        raise ModelError(f"{message} (the largest is 2^53); write a large number in decimal, or quote it if it is text")
    return float(number)


def plain_value(node: SpanNode) -> Any:
    """The value of a node: a number, a text, a ``Map`` or a ``List``; what aliases name is shared."""
    return _plain(node, {})


def _plain(node: SpanNode, shared: dict[int, Any]) -> Any:
    if node.target is not None:
        if id(node.target) not in shared:  # of a part of a text, which repeats what stands outside
            shared[id(node.target)] = _plain(node.target, shared)
        return shared[id(node.target)]
    value: Any = node.value
    if node.kind is NodeKind.MAP:
        value = Map(node.line)
        for key, entry in node.entries.items():
            value.lines[key] = entry.line
            value[key] = _plain(entry.node, shared)
    elif node.kind is NodeKind.LIST:
        value = List(node.line)
        value.lines = [item.line for item in node.items]
        value.extend([_plain(item, shared) for item in node.items])
    if node.anchor is not None:
        shared[id(node)] = value
    return value


class _Composer:
    """Builds the value of one text from the parser's events."""

    def __init__(self, text: str, file: str | None) -> None:
        self.file = file
        self.events = self._events(text)
        self.anchors: dict[str, tuple[SpanNode, int]] = {}
        self.aliased = 0
        self.count = 0

    def fail(self, message: str, event: Any = None) -> ModelError:
        line = event.start_mark.line + 1 if event is not None else None
        return ModelError(message, file=self.file, line=line)

    def _events(self, text: str) -> Iterator[Any]:
        from ruamel.yaml.error import MarkedYAMLError

        try:
            yield from parse_events(text)
        except MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            line = None if mark is None else mark.line + 1
            problem = " ".join(str(part) for part in (error.problem, error.context) if part)
            hint = "; indent with spaces" if "\\t" in problem else ""
            raise ModelError(f"is no YAML: {problem}{hint}", file=self.file, line=line) from None
        except ModelError:
            raise
        except Exception as error:  # the scanner raises other errors for some broken texts
            position = getattr(error, "position", None)  # of a character that is not allowed
            line = text.count("\n", 0, position) + 1 if isinstance(position, int) else None
            words = str(error).splitlines()[0].strip("'") if str(error) else repr(error)
            raise ModelError(f"is no YAML: {words}", file=self.file, line=line) from None

    def compose(self) -> SpanNode:
        node: SpanNode | None = None
        documents = 0
        for event in self.events:
            kind = type(event).__name__
            if kind == "DocumentStartEvent":
                documents += 1
                if documents > 1:
                    raise self.fail("holds several documents; one is expected", event)
                if event.version is not None and tuple(event.version) != (1, 2):
                    raise self.fail("is read as YAML 1.2; leave out the %YAML line", event)
                if event.tags:
                    raise self.fail("a tag has no meaning here, and %TAG neither", event)
            elif kind not in ("StreamStartEvent", "StreamEndEvent", "DocumentEndEvent"):
                node = self.node(event, 0)
        return node or SpanNode(NodeKind.SCALAR, 0, 0, 1, 0, "")

    def node(self, event: Any, depth: int) -> SpanNode:
        """The node that starts with this event."""
        kind = type(event).__name__
        if kind == "AliasEvent":
            return self.alias(event)
        if depth > DEEPEST:
            raise self.fail(f"is nested more than {DEEPEST} deep", event)
        if event.tag is not None:
            raise self.fail(f"tags such as {event.tag} have no meaning here; nothing is made from them", event)
        before = self.count
        self.count += 1
        if kind == "ScalarEvent":
            self.check_text(event)
            node = _placed(NodeKind.SCALAR, event, event.style or "")
            node.value = event.value if node.style else self.plain_scalar(event)
        elif kind == "SequenceStartEvent":
            node = self.sequence(event, depth)
        else:
            node = self.mapping(event, depth)
        if event.anchor is not None:
            node.anchor = event.anchor
            self.anchors[event.anchor] = (node, self.count - before)
        return node

    def plain_scalar(self, event: Any) -> Any:
        """The value of a scalar without quotes."""
        try:
            return resolve(event.value)
        except ModelError as error:
            raise self.fail(error.message, event) from None

    def alias(self, event: Any) -> SpanNode:
        if event.anchor not in self.anchors:
            raise self.fail(f"the alias *{event.anchor} has no anchor before it", event)
        target, size = self.anchors[event.anchor]
        self.aliased += size
        self.count += size
        if self.aliased > MOST_ALIASED:
            raise self.fail("its aliases stand for more values than a model can need", event)
        node = _placed(NodeKind.ALIAS, event, "*")
        node.value, node.target = target.value, target
        return node

    def check_text(self, event: Any) -> None:
        """Refuse characters that would command a terminal, or that no file can hold."""
        if CONTROL.search(event.value):
            raise self.fail("holds a control character; text is made of letters, signs, spaces and line breaks", event)

    def sequence(self, start: Any, depth: int) -> SpanNode:
        node = _placed(NodeKind.LIST, start, "[" if start.flow_style else "-")
        for event in self.events:
            if type(event).__name__ == "SequenceEndEvent":
                break
            node.items.append(self.node(event, depth + 1))
        # A block collection has no end of its own: the parser names the place where the next token begins.
        node.end = event.end_mark.index if start.flow_style else node.items[-1].end if node.items else node.start
        return node

    def mapping(self, start: Any, depth: int) -> SpanNode:
        node = _placed(NodeKind.MAP, start, "{" if start.flow_style else ":")
        previous: str | None = None
        for event in self.events:
            if type(event).__name__ == "MappingEndEvent":
                break
            key = self.key(event)
            if key in node.entries:
                first = node.entries[key].line
                raise self.fail(f"{key!r} is given twice; the first time in line {first}", event)
            if key.count(")") > key.count("(") and previous is not None:
                raise ModelError(
                    f"the law of {previous!r} was split at its comma: quote the law",
                    field=previous, file=self.file, line=event.start_mark.line + 1,
                )  # fmt: skip
            mark, end = event.start_mark, event.end_mark.index
            value = self.node(next(self.events), depth + 1)
            if value.start == value.end:  # the parser places it where the next token begins
                value.start = value.end = end
                value.line, value.column = mark.line + 1, mark.column
            node.entries[key] = SpanEntry(key, mark.index, end, mark.line + 1, mark.column, value)
            node.end = value.end
            previous = key
        if start.flow_style:
            node.end = event.end_mark.index
        return node

    def key(self, event: Any) -> str:
        if type(event).__name__ != "ScalarEvent":
            raise self.fail("a key is a name, not a list, mapping or alias", event)
        if event.tag is not None:
            raise self.fail(f"tags such as {event.tag} have no meaning here; nothing is made from them", event)
        self.check_text(event)
        if event.value == "<<" and event.style in (None, ""):
            raise self.fail("merge keys (<<) are not part of YAML 1.2; write the fields out", event)
        if event.anchor is not None:
            raise self.fail("a key cannot have an anchor", event)
        return str(event.value)


def _placed(kind: NodeKind, event: Any, style: str) -> SpanNode:
    start = event.start_mark
    return SpanNode(kind, start.index, event.end_mark.index, start.line + 1, start.column, style)


class NodeKind(Enum):
    """What a node is."""

    SCALAR = "scalar"
    MAP = "mapping"
    LIST = "list"
    ALIAS = "alias"


class SpanEntry(NamedTuple):
    """An entry of a mapping: its key with the span, line and column of that, and the node of its value."""

    key: str
    start: int
    end: int
    line: int
    column: int
    node: SpanNode


class SpanNode:
    """A value in a text.

    Attributes
    ----------
    kind : NodeKind
        Whether it is a scalar, a mapping, a list or an alias.
    start, end : int
        Its span; an empty value of a mapping stands where its key ends.
    line, column : int
        Where it starts; lines count from 1, columns from 0.
    style : str
        Of a scalar: empty (plain), ``'``, ``"``, ``|`` or ``>``.  Of a mapping ``{`` or ``:``, of a list ``[`` or
        ``-``: in brackets, or by indentation.  Of an alias ``*``.
    value : float, str, bool or None
        The value of a scalar.
    entries : dict
        The entries of a mapping by their keys.
    items : list
        The items of a list.
    anchor : str, optional
        The name by which aliases repeat it.
    target : SpanNode, optional
        What an alias repeats.
    """

    __slots__ = ("anchor", "column", "end", "entries", "items", "kind", "line", "start", "style", "target", "value")

    def __init__(self, kind: NodeKind, start: int, end: int, line: int, column: int, style: str) -> None:
        self.kind, self.start, self.end, self.line, self.column, self.style = kind, start, end, line, column, style
        self.value: Any = None
        self.entries: dict[str, SpanEntry] = {}
        self.items: list[SpanNode] = []
        self.anchor: str | None = None
        self.target: SpanNode | None = None

    def __repr__(self) -> str:
        return f"<{self.kind.value} {self.start}:{self.end}>"

    @property
    def in_flow(self) -> bool:
        """Whether it is a mapping or list in brackets."""
        return self.style in ("{", "[")

    def find(self, *path: str | int) -> SpanNode | None:
        """The node at the end of a path of keys and numbers of items; None where there is none."""
        here: SpanNode | None = self
        for step in path:
            if here is None:
                return None
            if here.kind is NodeKind.MAP and isinstance(step, str):
                here = here.entries[step].node if step in here.entries else None
            elif here.kind is NodeKind.LIST and isinstance(step, int):
                here = here.items[step] if 0 <= step < len(here.items) else None
            else:
                return None
        return here
