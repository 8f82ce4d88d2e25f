"""HTML and MathML by tags.  Text is escaped unless it is ``Markup`` already."""

from __future__ import annotations

import html
from collections.abc import Iterable


class Markup(str):
    """Text that is HTML already and is not escaped again."""

    __slots__ = ()


def escape(text: object) -> Markup:
    """Any text as HTML; what is markup stays as it is."""
    return text if isinstance(text, Markup) else Markup(html.escape(str(text), quote=True))


def tag(name: str, *parts: object, **attributes: str) -> Markup:
    """An element; a trailing _ is dropped from the names of attributes (class_)."""
    given = "".join(f' {key.rstrip("_")}="{escape(value)}"' for key, value in attributes.items())
    return Markup(f"<{name}{given}>{join(parts)}</{name}>")


def join(parts: Iterable[object]) -> Markup:
    """Parts one after the other."""
    return Markup("".join(escape(part) for part in parts))
