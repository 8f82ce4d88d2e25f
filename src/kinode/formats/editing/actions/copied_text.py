"""Components as text of their own: what is copied to be pasted, here or elsewhere."""

from __future__ import annotations

from collections.abc import Iterable

from kinode.errors import ArgumentError
from kinode.formats.editing.entry_places import EntryPlaces, Path
from kinode.formats.editing.spans.entry_text import moved_lines
from kinode.formats.editing.spans.span_edits import INDENT
from kinode.formats.span_nodes import SpanNode
from kinode.formats.yaml_text import plain_value
from kinode.formats.yaml_writer import write_flow


def copy_components(places: EntryPlaces, names: Iterable[str]) -> str:
    """The entries of components as they are written, under the names of their sections, in the order of the text.

    Parameters
    ----------
    places : EntryPlaces
        The entries of a model's text.
    names : iterable of str
        Components that the text describes.

    Raises
    ------
    ArgumentError
        If the text describes no component of a name.

    Examples
    --------
    >>> from kinode.formats.editing.actions.copied_text import copy_components
    >>> from kinode.formats.editing.model_draft import read_places
    >>> places = read_places("kinode: 1\\nbodies: {arm: {mass: 2}, leg: {mass: 1}}")
    >>> print(copy_components(places, ["arm"]), end="")
    bodies:
      arm: {mass: 2}
    """
    wanted = set(names)
    for name in wanted - set(places.paths):
        raise ArgumentError(f"{name!r:.60} is not described in this text, and cannot be copied")
    sections: dict[str, list[str]] = {}
    for name, path in places.paths.items():
        if name in wanted:
            sections.setdefault(places.section_of(name), []).append(_copied_entry(places, path))
    return "".join(f"{section}:\n{''.join(entries)}" for section, entries in sections.items())


def _copied_entry(places: EntryPlaces, path: Path) -> str:
    """An entry as it is written; values that it shares with others of the text are written out."""
    entry = places.entry(path)
    assert entry is not None
    text = places.text[entry.start : max(entry.end, entry.node.end)]
    if _is_shared(entry.node):
        text = f"{places.text[entry.start : entry.end]}: {write_flow(plain_value(entry.node))}"
    return moved_lines(text, entry.column, INDENT) + "\n"


def _is_shared(node: SpanNode) -> bool:
    """Whether a value is repeated elsewhere by its anchor, or repeats another."""
    within = (*node.items, *(entry.node for entry in node.entries.values()))
    return node.anchor is not None or node.target is not None or any(_is_shared(inner) for inner in within)
