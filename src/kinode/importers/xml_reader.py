"""A small, safe XML reader: elements with attributes and line numbers, nothing else.

Files may come from anywhere.  A document type is therefore refused, and with it external entities and entities that
expand without limit.  Text between tags is dropped; URDF has none.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.parsers import expat

from kinode.errors import ModelError


class XmlElement:
    """A tag with its attributes, its first line, and its children."""

    __slots__ = ("attributes", "children", "line", "tag")

    def __init__(self, tag: str, attributes: dict[str, str], line: int) -> None:
        self.tag = tag
        self.attributes = attributes
        self.line = line
        self.children: list[XmlElement] = []

    def find(self, tag: str) -> XmlElement | None:
        """The first child with a tag."""
        for child in self.children:
            if child.tag == tag:
                return child
        return None

    def find_all(self, *tags: str) -> Iterator[XmlElement]:
        """The children with any of the tags, in order."""
        return (child for child in self.children if child.tag in tags)


def parse(data: bytes | str, file: str | None = None) -> XmlElement:
    """The root element of a document."""
    parser = expat.ParserCreate()
    top = XmlElement("", {}, 0)
    stack = [top]

    def start(tag: str, attributes: dict[str, str]) -> None:
        element = XmlElement(tag, attributes, parser.CurrentLineNumber)
        stack[-1].children.append(element)
        stack.append(element)

    def end(tag: str) -> None:
        stack.pop()

    def refuse(*_: object) -> None:
        message = "a document type (DOCTYPE) is not accepted: it can pull in other files"
        raise ModelError(message, file=file, line=parser.CurrentLineNumber)

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise ModelError(f"is not XML: {expat.ErrorString(error.code)}", file=file, line=error.lineno) from None
    except (LookupError, ValueError) as error:  # an unknown or unusable encoding
        raise ModelError(f"is not XML: {error}", file=file, line=parser.CurrentLineNumber) from None
    return top.children[0]
