"""The tables of keys on the page "See it move", from the sources of the player: ``python docs/key_tables.py``."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "how-to" / "see-it-move.md"
SOURCES = {"keys": ROOT / "web" / "src" / "ui" / "keys.ts", "live keys": ROOT / "web" / "src" / "live" / "live_keys.ts"}
ENTRY = re.compile(r'keys: \[((?:"[^"]*"(?:, )?)+)\],\s*words: "([^"]*)"')
NAMES = {
    " ": "Space", "ArrowLeft": "←", "ArrowRight": "→", "Shift+ArrowLeft": "Shift ←", "Shift+ArrowRight": "Shift →",
    "PageUp": "Page up", "PageDown": "Page down",
}  # fmt: skip


def write_table(source: Path) -> str:
    """The keys that a source declares, a row for each action."""
    rows = ["| key | does |", "|---|---|"]
    for keys, words in ENTRY.findall(source.read_text(encoding="utf-8")):
        names = [f"`{NAMES.get(key, key)}`" for key in re.findall(r'"([^"]*)"', keys)]
        rows.append(f"| {', '.join(names)} | {words} |")
    return "\n".join(rows)


def rewrite(text: str) -> str:
    """The page with its tables as the sources have them."""
    for mark, source in SOURCES.items():
        head, end = f"<!-- {mark} -->\n", "\n<!-- end of keys -->"
        before, rest = text.split(head)
        text = before + head + write_table(source) + rest[rest.index(end) :]
    return text


if __name__ == "__main__":
    PAGE.write_text(rewrite(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
