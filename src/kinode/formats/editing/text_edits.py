"""Edits of a text: spans and what replaces them.  Positions count characters (code points) of the text before."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from kinode.errors import ArgumentError


class Edit(NamedTuple):
    """The characters from ``start`` to ``end`` are replaced by ``text``."""

    start: int
    end: int
    text: str


def read_edits(raw: Any) -> list[Edit]:
    """Edits from a list of [start, end, text], as they come from a page."""
    if not isinstance(raw, list | tuple):
        raise ArgumentError(f"edits are a list of [start, end, text], not {raw!r:.60}")
    edits = []
    for item in raw:
        whole = isinstance(item, list | tuple) and len(item) == 3 and all(type(x) is int for x in item[:2])
        if not whole or not isinstance(item[2], str):
            raise ArgumentError(f"an edit is [start, end, text], not {item!r:.60}")
        edits.append(Edit(*item))
    return edits


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text after edits that do not overlap.

    Parameters
    ----------
    text : str
        The text before.
    edits : iterable of Edit
        Their positions are those in ``text``; those at one position are made in the order given.

    Returns
    -------
    str

    Raises
    ------
    ArgumentError
        Edits overlap or lie outside the text.

    Examples
    --------
    >>> from kinode.formats.editing.text_edits import Edit, apply_edits
    >>> apply_edits("mass: 1", [Edit(6, 7, "2 kg")])
    'mass: 2 kg'
    """
    pieces, at = [], 0
    for start, end, new in in_order(text, edits):
        pieces += [text[at:start], new]
        at = end
    return "".join([*pieces, text[at:]])


def in_order(text: str, edits: Iterable[Edit]) -> list[Edit]:
    """The edits sorted by position; those that overlap or lie outside the text are refused."""
    ordered = sorted(edits, key=lambda edit: (edit.start, edit.end))
    at = 0
    for edit in ordered:
        if not 0 <= edit.start <= edit.end <= len(text):
            raise ArgumentError(f"the edit {edit.start} to {edit.end} is outside the text of {len(text)} characters")
        if edit.start < at:
            raise ArgumentError(f"two edits overlap at {edit.start}")
        at = edit.end
    return ordered


def invert_edits(text: str, edits: Iterable[Edit]) -> list[Edit]:
    """The edits that lead back: of the text that ``edits`` make of ``text``.

    Examples
    --------
    >>> from kinode.formats.editing.text_edits import Edit, invert_edits
    >>> invert_edits("mass: 1", [Edit(6, 7, "2 kg")])
    [Edit(start=6, end=10, text='1')]
    """
    inverse, shift = [], 0
    for start, end, new in in_order(text, edits):
        inverse.append(Edit(start + shift, start + shift + len(new), text[start:end]))
        shift += len(new) - (end - start)
    return inverse


def rebase_edits(edits: Iterable[Edit], done: Sequence[Edit]) -> list[Edit]:
    """Edits of a text as edits of the text after others were made; ArgumentError where they touch the same place.

    Examples
    --------
    >>> from kinode.formats.editing.text_edits import Edit, rebase_edits
    >>> rebase_edits([Edit(6, 7, "2")], [Edit(0, 0, "# note")])
    [Edit(start=12, end=13, text='2')]
    """
    rebased = []
    for edit in edits:
        shift = 0
        for other in done:
            if other.end <= edit.start and (other.start, other.end) != (edit.start, edit.end):
                shift += len(other.text) - (other.end - other.start)
            elif other.start < edit.end or other.start == edit.start:
                raise ArgumentError("this place has been changed meanwhile")
        rebased.append(Edit(edit.start + shift, edit.end + shift, edit.text))
    return rebased


class EditedText:
    """A text under several edits, one after the other; ``edits`` says what they are as edits of the first text."""

    def __init__(self, text: str) -> None:
        self.first = self.text = text
        self._pieces: list[tuple[int, int] | str] = [(0, len(text))]  # spans of the first text, and what is new

    def apply(self, edits: Iterable[Edit]) -> None:
        """Make edits of the present text."""
        for start, end, new in reversed(in_order(self.text, edits)):
            self.text = self.text[:start] + new + self.text[end:]
            before, rest = _split(self._pieces, start)
            _, after = _split(rest, end - start)
            self._pieces = [*before, new, *after]

    def edits(self) -> list[Edit]:
        """All edits so far, as edits of the first text."""
        edits: list[Edit] = []
        at, new = 0, ""
        for piece in [*self._pieces, (len(self.first), len(self.first))]:
            if isinstance(piece, str):
                new += piece
                continue
            start, end = piece
            if start == end < len(self.first):
                continue
            if at < start or new:
                edits.append(_trimmed(self.first, at, start, new))
            at, new = end, ""
        return [edit for edit in edits if edit.text or edit.start < edit.end]


def _split(pieces: list[tuple[int, int] | str], position: int) -> tuple[list[Any], list[Any]]:
    """The pieces before and after a position."""
    at = 0
    for k, piece in enumerate(pieces):
        length = len(piece) if isinstance(piece, str) else piece[1] - piece[0]
        if position <= at + length:
            cut = position - at
            if isinstance(piece, str):
                return [*pieces[:k], piece[:cut]], [piece[cut:], *pieces[k + 1 :]]
            middle = piece[0] + cut
            return [*pieces[:k], (piece[0], middle)], [(middle, piece[1]), *pieces[k + 1 :]]
        at += length
    return list(pieces), []


def _trimmed(text: str, start: int, end: int, new: str) -> Edit:
    """The edit without characters at its ends that stay the same."""
    while start < end and new and text[start] == new[0]:
        start, new = start + 1, new[1:]
    while start < end and new and text[end - 1] == new[-1]:
        end, new = end - 1, new[:-1]
    return Edit(start, end, new)
