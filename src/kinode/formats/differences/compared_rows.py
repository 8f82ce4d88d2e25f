"""What differs between two models, row by row: part, field, both values and both lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from kinode.formats.yaml_text import CONTROL
from kinode.hooks import hook

WIDEST = 48  # characters of a value in a printed table


class RowChange(Enum):
    """How a row differs: its sign in tables, and its word."""

    ADDED = "added"
    REMOVED = "removed"
    RENAMED = "renamed"
    CHANGED = "changed"

    @property
    def sign(self) -> str:
        """A sign that needs no color."""
        return {"added": "+", "removed": "-", "renamed": ">", "changed": "~"}[self.value]


@dataclass(frozen=True)
class ComparedRow:
    """One difference.

    Attributes
    ----------
    change : RowChange
        Added, removed, renamed or changed, from the first model to the second.
    section : str
        The section of the file: ``bodies``, ``run`` ...; ``nodes`` of a node, empty of the whole.
    part : str
        The part's name in the second model; of a removed part that in the first.  Empty is the whole.
    field : str
        The field, nested ones with dots; empty where the part as a whole came, went or was renamed.
    before, after : str
        Both values with their units, as the files write them; empty where there is none.
    line_before, line_after : int, optional
        Where they stand in both files, if they are in a file.
    old_part : str
        The part's name in the first model.
    percent : float, optional
        The change of a number, in per cent of its magnitude.
    link : bool
        Whether it says what the part is connected to.
    """

    change: RowChange
    section: str
    part: str
    field: str = ""
    before: str = ""
    after: str = ""
    line_before: int | None = None
    line_after: int | None = None
    old_part: str = ""
    percent: float | None = None
    link: bool = False

    @property
    def name(self) -> str:
        """Part and field as one word; ``model`` is the whole."""
        part = self.part or "model"
        return f"{part}.{self.field}" if self.field else part

    def to_dict(self) -> dict[str, Any]:
        """The row as plain data."""
        return {
            "change": self.change.value, "section": self.section, "part": self.part, "field": self.field,
            "before": self.before, "after": self.after, "line_before": self.line_before,
            "line_after": self.line_after, "old_part": self.old_part, "percent": self.percent, "link": self.link,
        }  # fmt: skip

    def __str__(self) -> str:
        return f"{self.change.sign} {self.name}: {describe_values(self)}"


@dataclass(frozen=True)
class ModelComparison:
    """What differs between two models; prints as a table, and is true if anything does.

    Attributes
    ----------
    first, second : str
        The two models.
    rows : tuple of ComparedRow
        The differences, in the order of the sections of a file.
    """

    first: str
    second: str
    rows: tuple[ComparedRow, ...]

    def __bool__(self) -> bool:
        return bool(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[ComparedRow]:
        return iter(self.rows)

    @property
    def parts(self) -> list[str]:
        """The parts that differ, each once."""
        return list(dict.fromkeys(row.part for row in self.rows))

    @property
    def verdict(self) -> str:
        """How many rows of each sort, in words."""
        if not self.rows:
            return "no difference"
        counts = {change: sum(row.change is change for row in self.rows) for change in RowChange}
        return ", ".join(f"{count} {change.value}" for change, count in counts.items() if count)

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain data, for JSON."""
        return {"first": self.first, "second": self.second, "rows": [row.to_dict() for row in self.rows]}

    def __repr__(self) -> str:
        return f"<ModelComparison of {self.first!r} and {self.second!r}: {self.verdict}>"

    def __str__(self) -> str:
        lines = [f"{self.first} -> {self.second}: {self.verdict}"]
        widest = max((len(row.name) for row in self.rows), default=0)
        return "\n".join([*lines, *(
            f"{row.change.sign} {row.name.ljust(widest)}  {describe_values(row)}".rstrip() for row in self.rows
        )])  # fmt: skip

    def _repr_html_(self) -> str:
        return str(hook("notebook_html")(self))


def describe_values(row: ComparedRow, widest: int = WIDEST) -> str:
    """Both values of a row in a few words."""
    before, after = shorten(row.before, widest), shorten(row.after, widest)
    if row.change is RowChange.ADDED:
        return after
    if row.change is RowChange.REMOVED:
        return before
    percent = f" ({describe_percent(row.percent)})" if row.percent is not None else ""
    return f"{before or 'default'} -> {after or 'default'}{percent}"


def describe_percent(percent: float) -> str:
    """A change in per cent, with its sign."""
    return f"{percent:+.3g} %" if abs(percent) < 1e4 else f"{percent:+.1e} %"


def shorten(text: str, widest: int) -> str:
    """A text on one line, cut where it is too long; nothing in it commands a terminal."""
    line = CONTROL.sub("?", " ".join(text.split()))
    return line if len(line) <= widest else f"{line[: widest - 3]}..."
