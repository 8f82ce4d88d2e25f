"""The gallery of examples, written from the examples themselves: ``python docs/gallery.py``.

Every file in ``examples`` gets a card: its picture (``gallery_cards.py`` draws it), the first line of its comment, the
sentence there that begins with "Shows", the command that runs it, and the pages that use it.  A model goes to the first
section that it fits.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import kinode as kn
from kinode.model.joints.free import Free

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "gallery.md"
EXAMPLES = ROOT / "examples"
ENDINGS = (".yaml", ".xml", ".py")
GUIDES = ("tutorials", "first-steps", "how-to")  # where pages are looked for, in this order

INTRO = """\
---
hide: [navigation]
---

# Gallery

All examples that come with kinode. `kinode examples --copy .` writes them into the present folder, so that the commands
below run as they stand: they show the example [moving](how-to/see-it-move.md) in the browser, with the loads in its
joints. `kinode run` in their place prints the loads, and with `--report out` writes a report with plots. kinode draws
the pictures from these runs: a mechanism at its start, with its later positions in lighter colors and the paths of
its ends.
"""


@dataclass(frozen=True)
class Card:
    """One example, and what the gallery says of it."""

    path: Path
    what: str
    shows: str
    section: str


def _is_connected(system: kn.System) -> bool:
    rooms = ("kinode.model.network", "kinode.model.signals")
    return any(type(element).__module__.startswith(rooms) for element in system.elements.values())


def _flies(system: kn.System) -> bool:
    return any(isinstance(joint, Free) for joint in system.joints.values())


SECTIONS: dict[str, Callable[[kn.System], bool]] = {
    "Chains and trees": lambda system: True,
    "Closed loops": lambda system: len(system.joints) > len(system.bodies),
    "Drives, circuits and control": _is_connected,
    "In flight": _flies,
}
SCRIPTS = "Studies in Python"


def find_section(path: Path) -> str:
    """The section of an example: the last one that its model fits."""
    if path.suffix == ".py":
        return SCRIPTS
    system = kn.load(path)
    return [name for name, fits in SECTIONS.items() if fits(system)][-1]


def read_comment(path: Path) -> list[str]:
    """The lines of the comment, or docstring, that an example begins with."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return text.split('"""')[1].splitlines()
    if path.suffix == ".xml":
        return text.partition("<!--")[2].partition("-->")[0].strip().splitlines()
    lines = text.splitlines()
    end = next(k for k, line in enumerate(lines) if not line.startswith("#"))
    return [line.removeprefix("#").strip() for line in lines[:end]]


def read_card(path: Path) -> Card:
    """What the gallery says of an example; an error if its comment does not say what it shows."""
    first, *rest = read_comment(path)
    shows = re.search(r"Shows .*?(\.(?=\s|$)|$)", " ".join(" ".join(rest).split()))
    if shows is None:
        raise ValueError(f"{path.name}: its comment has no sentence that begins with 'Shows'")
    return Card(path, first.strip(), shows[0], find_section(path))


def find_guides(path: Path) -> list[Path]:
    """The pages that use an example, tutorials first."""
    folders = [sorted((ROOT / "docs" / folder).glob("*.md")) for folder in GUIDES]
    return [page for pages in folders for page in pages if re.search(rf"\b{path.name}\b", page.read_text("utf-8"))]


def write_card(card: Card) -> str:
    """An entry of the list, in Markdown."""
    name = card.path.name
    command = f"python {name}" if card.path.suffix == ".py" else f"kinode view {name}"
    lines = [f"![{card.path.stem}](pictures/gallery/{card.path.stem}.png)", f"**{name}**<br>{card.what}", card.shows]
    guides = find_guides(card.path)[:3]
    links = [f"[{page.read_text('utf-8').splitlines()[0][2:]}]({page.relative_to(PAGE.parent)})" for page in guides]
    lines += [f"`{command}`", *(["Used in " + ", ".join(links)] if links else [])]
    return "-   " + "\n\n    ".join(lines) + "\n"


def write_gallery() -> str:
    """The page, with every example once."""
    cards = [read_card(path) for ending in ENDINGS for path in sorted(EXAMPLES.glob(f"*{ending}"))]
    parts = [INTRO]
    for section in (*SECTIONS, SCRIPTS):
        entries = [write_card(card) for card in cards if card.section == section]
        parts += [f"## {section}\n", '<div class="gallery" markdown>\n', *entries, "</div>\n"]
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(write_gallery(), encoding="utf-8")
