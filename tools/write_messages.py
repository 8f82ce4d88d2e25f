"""The messages of pages and server for the page: ``make refresh``, or ``python tools/write_messages.py``.

``web/src/messages.ts`` has the kinds of request with their fields and answers, and what is pushed, as the methods of
the desks declare them (`kinode.studio.server.messages`).  ``tests/studio/test_messages.py`` compares it with what is
written here.
"""

from __future__ import annotations

import inspect
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NewType,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from kinode.studio.document.model_document import DocumentState
from kinode.studio.editor.checked_model import Standing
from kinode.studio.editor.comparison import ComparisonAnswers
from kinode.studio.editor.library import Library, LibraryAnswers
from kinode.studio.editor.panes import PaneAnswers, PaneProgress, Verification
from kinode.studio.editor.studies import StudyAnswers, StudyChunk, StudyDropped, StudySummary
from kinode.studio.editor.studio_desk import DiskPush, SketchPush, StudioDesk, TextPush
from kinode.studio.live.live_desk import LiveDesk, LiveHeader, ModelFault, Progress
from kinode.studio.live.page_data import ModelPush
from kinode.studio.live.response_curves import CurvePush
from kinode.studio.placing.place_desk import PlaceDesk
from kinode.studio.server.messages import find_requests, is_optional

TARGET = Path(__file__).resolve().parent.parent / "web" / "src" / "messages.ts"
DESKS = (LiveDesk, StudioDesk, PlaceDesk, LibraryAnswers, ComparisonAnswers, StudyAnswers, PaneAnswers)
# What is pushed, by kind; of those that come as packets the header.
PUSHES = {
    "progress": Progress, "model_error": ModelFault, "response": CurvePush, "document": TextPush,
    "sketch": SketchPush, "standing": Standing, "disk": DiskPush, "reopen": NoneType, "library": Library,
    "verification": Verification, "pane_progress": PaneProgress, "study_state": StudySummary | StudyDropped,
}  # fmt: skip
PACKETS = {"model": ModelPush, "study_chunk": StudyChunk}
ALONE = (DocumentState, LiveHeader)  # what other records have the fields of, or packets in their headers
# Types that the page has itself: unions of what it makes, and the header of a run, which files have too.
OWN = {
    "ComparedPeak": "./studio/comparison/compare_types",
    **dict.fromkeys(("Gesture", "Catalogue"), "./studio/studio_types"),
    **dict.fromkeys(
        ("RunHeader", "RunEnding", "EventData", "StripData", "Geometry", "BadgeData"), "./data/run_document"
    ),
}
PLAIN = {str: "string", int: "number", float: "number", bool: "boolean", NoneType: "null", Any: "unknown"}
HEAD = """// What the page and its server say to each other: written by tools/write_messages.py, not by hand.

import type { Packet } from "./data/packet";
"""
WIDTH = 160


class Writer:
    """Writes types, and remembers the records that they name."""

    def __init__(self) -> None:
        self.records: dict[str, Any] = {}
        self.own: dict[str, None] = {}

    def write(self, kind: Any) -> str:
        """A type as TypeScript has it."""
        origin, inner = get_origin(kind) or kind, get_args(kind)
        if kind in PLAIN:
            return PLAIN[kind]
        if kind is None:
            return "null"
        if origin is NotRequired:
            return self.write(inner[0])
        if isinstance(kind, type) and issubclass(kind, Enum):
            return " | ".join(f'"{each.value}"' for each in kind)
        if origin is Annotated:
            return self._write_annotated(*inner)
        if origin in (Union, UnionType):
            return " | ".join(dict.fromkeys(self.write(each) for each in inner))
        if origin is Literal:
            return " | ".join(f'"{x}"' if isinstance(x, str) else str(x).lower() for x in inner)
        if origin is tuple:
            return self._write_tuple(inner)
        if origin is list:
            item = self.write(inner[0])
            return f"({item})[]" if " | " in item else f"{item}[]"
        if isinstance(kind, type) and issubclass(kind, tuple):
            return f"[{', '.join(f'{name}: {self.write(x)}' for name, x in get_type_hints(kind).items())}]"
        if isinstance(kind, NewType) or (isinstance(kind, type) and kind.__name__ in OWN):
            self.own[kind.__name__] = None
            return kind.__name__
        if is_typeddict(kind) or (isinstance(kind, type) and hasattr(kind, "__dataclass_fields__")):
            name = kind.__name__.removeprefix("Sent")
            self.records[name] = kind
            return name
        return f"Record<{', '.join(self.write(each) for each in inner)}>" if inner else "Record<string, unknown>"

    def _write_annotated(self, kind: Any, more: Any) -> str:
        """A list of a fixed length, or a text that is one of a few."""
        if isinstance(more, int):
            return f"[{', '.join([self.write(get_args(kind)[0])] * more)}]"
        return self.write(more)

    def _write_tuple(self, inner: tuple[Any, ...]) -> str:
        """A header with arrays is a packet; others are lists of a fixed length, or of one type."""
        if inner[-1] is Ellipsis:
            return self.write(list[inner[0]])  # type: ignore[valid-type]
        if (len(inner) == 2 and "NDArray" in str(inner[1])) or "ndarray" in str(inner[1]):
            header = self.write(inner[0])
            return "Packet" if header.startswith("Record") else f"Packet<{header}>"
        return f"[{', '.join(self.write(each) for each in inner)}]"

    def write_records(self) -> list[str]:
        """All records that were named, and those that they name."""
        written: dict[str, str] = {}
        while missing := [name for name in self.records if name not in written]:
            for name in missing:
                fields = get_type_hints(self.records[name], include_extras=True).items()
                shown = [f"{field}{'?' * is_optional(kind)}: {self.write(kind)}" for field, kind in fields]
                written[name] = block(f"export interface {name}", shown)
        return [written[name] for name in sorted(written)]


def block(head: str, fields: list[str]) -> str:
    """An interface on one line where it fits, else on several."""
    line = f"{head} {{ {'; '.join(fields)} }}" if fields else f"{head} {{}}"
    if len(line) <= WIDTH:
        return line
    rows = [" "]
    for field in fields:
        if len(rows[-1]) + len(field) > WIDTH - 2:
            rows.append(" ")
        rows[-1] += f" {field};"
    return "\n".join([f"{head} {{", *rows, "}"])


def write_requests(writer: Writer) -> list[str]:
    """The kinds of request, each with its fields and its answer."""
    lines = []
    for desk in DESKS:
        for told, method in find_requests(desk):
            hints = get_type_hints(method, include_extras=True)
            fields = [
                f"{each.name}{'?' * (each.default is not inspect.Parameter.empty)}: {writer.write(hints[each.name])}"
                for each in list(inspect.signature(method).parameters.values())[1:]
                if each.name != "job"
            ]
            shown = f"{{ {'; '.join(fields)} }}" if fields else "Nothing"
            answer = nothing(writer.write(hints["return"]))
            lines.append(f"  {told.kind}: {{ fields: {shown}; answer: {answer} }};")
    return lines


def nothing(answer: str) -> str:
    """A message without fields is an object without any."""
    return "object" if answer == "null" else answer


def write_messages() -> str:
    """The text of messages.ts."""
    writer = Writer()
    requests = write_requests(writer)
    pushes = [f"  {kind}: {nothing(writer.write(record))};" for kind, record in PUSHES.items()]
    packets = [f"  {kind}: {writer.write(record)};" for kind, record in PACKETS.items()]
    for record in ALONE:
        writer.write(record)
    records = writer.write_records()
    files = sorted({OWN[name] for name in writer.own})
    named = [", ".join(name for name in sorted(writer.own) if OWN[name] == file) for file in files]
    imports = [f'import type {{ {names} }} from "{file}";' for names, file in zip(named, files)]
    return "\n".join([
        HEAD + "\n".join(imports), "", "export type Nothing = Record<string, never>;", "", *records, "",
        "/** The kinds of request: what is sent, and what comes back. */",
        "export interface Requests {", *requests, "}",
        "", "/** What is told without a question. */", "export interface Pushes {", *pushes, "}", "",
        "export interface Packets {", *packets, "}", "",
    ])  # fmt: skip


if __name__ == "__main__":
    TARGET.write_text(write_messages(), encoding="utf-8")
