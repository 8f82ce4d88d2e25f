"""Values of a model's text as they were typed, ``20 deg`` and not 0.349, and the comments beside its entries."""

from __future__ import annotations

from typing import Any

from kinode.formats.yaml_text import Map, read_text

SECTIONS = ("parameters", "inputs", "bodies", "frames", "joints", "constraints", "signals", "elements")
SINGLE = {"parameters": "value", "inputs": "value", "signals": "law"}  # what an entry without fields gives


class TypedValues:
    """The entries of a text by name; of no text there are none.

    Parameters
    ----------
    text : str
        A model in YAML that loads.
    """

    def __init__(self, text: str) -> None:
        data = read_text(text, None) if text else Map()
        self._data = data if isinstance(data, Map) else Map()
        self._lines = text.splitlines()
        self._entries: dict[str, dict[str, Any]] = {}
        self._at: dict[str, int] = {}
        circuit = self._data.get("circuit")
        drawn = circuit.get("components") if isinstance(circuit, Map) else None
        changed = self._data.get("changes") or {}
        for section, entries in [("elements", drawn), *((name, self._data.get(name)) for name in SECTIONS)]:
            if not isinstance(entries, Map):
                continue
            for name, entry in entries.items():
                self._at[name] = entries.lines[name]
                if name not in changed:
                    self._entries[name] = entry if isinstance(entry, Map) else {SINGLE.get(section, ""): entry}

    def field(self, name: str, field: str) -> Any:
        """What was typed for a field of a component; None where nothing was."""
        return self._entries.get(name, {}).get(field)

    def top(self, name: str) -> Any:
        """What was typed at the top of the file; None where nothing was."""
        return self._data.get(name)

    def comments(self, name: str) -> list[str]:
        """The comments above an entry and at the end of its line."""
        at = self._at.get(name)
        if at is None or at > len(self._lines):
            return []
        above = at - 1
        while above > 0 and self._lines[above - 1].lstrip().startswith("#"):
            above -= 1
        found = [line.strip().lstrip("#").strip() for line in self._lines[above : at - 1]] if above < at - 1 else []
        return [x for x in (*found, end_comment(self._lines[at - 1])) if x]

    def opening(self) -> list[str]:
        """The comments with which the text begins."""
        found = []
        for line in self._lines:
            if not line.lstrip().startswith("#"):
                break
            found.append(line.strip().lstrip("#").strip())
        return found


def end_comment(line: str) -> str:
    """The comment at the end of a line; a # within quotes or a word begins none."""
    quote = ""
    for k, letter in enumerate(line):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'" and (k == 0 or line[k - 1] in " [{,:"):
            quote = letter
        elif letter == "#" and k and line[k - 1] in " \t":
            return line[k + 1 :].strip()
    return ""
