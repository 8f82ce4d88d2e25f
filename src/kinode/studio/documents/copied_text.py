"""Components as text of their own, to be pasted into this model or another."""

from __future__ import annotations

from collections.abc import Iterable

from kinode.errors import ArgumentError
from kinode.formats.editing.entry_places import EntryPlaces
from kinode.formats.editing.spans.entry_text import entry_text


def copy_components(places: EntryPlaces, names: Iterable[str]) -> str:
    """The entries of components as they are written, under the names of their sections.

    Parameters
    ----------
    places : EntryPlaces
        Of the model.
    names : iterable of str
        Components that the text describes.

    Raises
    ------
    ArgumentError
        If the text describes no component of a name.

    Examples
    --------
    >>> from kinode.formats.editing.model_draft import read_places
    >>> from kinode.studio.documents.copied_text import copy_components
    >>> print(copy_components(read_places("kinode: 1\\nbodies: {arm: {mass: 2}, leg: {mass: 1}}"), ["arm"]), end="")
    bodies:
      arm: {mass: 2}
    """
    text = places.text
    sections: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        path = places.paths.get(name)
        entry = None if path is None else places.entry(path)
        if path is None or entry is None:
            raise ArgumentError(f"{name!r:.60} is not described in this text, and cannot be copied")
        sections.setdefault(places.section_of(name), []).append(f"{entry_text(text, entry)}\n")
    return "".join(f"{section}:\n{''.join(entries)}" for section, entries in sections.items())
