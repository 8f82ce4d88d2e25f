"""The size of the source, by package: files and folders, lines, syntax nodes, classes, docstrings, length of lines.

    python tools/count_house.py [CHECKOUT]

Lines can be won by making them denser; the nodes of the syntax trees then stay, and lines of code become longer.  A
line of code is one with anything but a comment, outside docstrings; its length is that without indentation, so that
code may move in or out of a class.  The last lines of the table are what stands beside ``src/kinode``: code that moved
there is not gone.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BESIDE = {
    "src, C": ("src", (".c", ".h")), "src, data": ("src", (".yaml", ".json", ".csv", ".txt")),
    "tests": ("tests", (".py",)), "tools": ("tools", (".py",)), "benchmarks": ("benchmarks", (".py",)),
    "docs, Python": ("docs", (".py",)), "web": ("web", (".ts", ".svelte", ".css", ".mjs")),
}  # fmt: skip
HEAD = ("", "files", "folders", "lines", "nodes", "classes", "docstrings", "code lines", "their mean", "fmt: skip")


@dataclass
class Size:
    """What is counted of files; sizes add up."""

    files: int = 0
    folders: int = 0
    """Those with at least one file besides ``__init__``."""
    lines: int = 0
    nodes: int = 0
    """Of the syntax trees, as ``ast.walk`` gives them; docstrings are two each."""
    classes: int = 0
    docstrings: int = 0
    """Lines of docstrings, and of texts below attributes."""
    code: int = 0
    """Lines of code."""
    letters: int = 0
    """Of the lines of code, without indentation."""
    skips: int = 0
    """Comments that keep the formatter off."""

    def __add__(self, other: Size) -> Size:
        return Size(*(a + b for a, b in zip(vars(self).values(), vars(other).values(), strict=True)))

    def row(self, name: str) -> tuple[str, ...]:
        """A line of the table."""
        share, mean = self.docstrings / max(self.lines, 1), self.letters / max(self.code, 1)
        counts = [f"{n:,}" for n in (self.files, self.folders, self.lines, self.nodes, self.classes)]
        return (name, *counts, f"{share:.1%}", f"{self.code:,}", f"{mean:.2f}", f"{self.skips:,}")


def find_docstrings(tree: ast.AST) -> Iterator[range]:
    """The lines of texts that stand alone: docstrings of modules, classes and functions, and those of attributes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield range(node.lineno, (node.end_lineno or node.lineno) + 1)


def measure(text: str) -> Size:
    """The size of one file of Python."""
    tree, lines = ast.parse(text), text.splitlines()
    told = {number for span in find_docstrings(tree) for number in span}
    code = [line.strip() for number, line in enumerate(lines, 1) if number not in told]
    code = [line for line in code if line and not line.startswith("#")]
    nodes = list(ast.walk(tree))
    return Size(
        files=1, lines=len(lines), nodes=len(nodes), classes=sum(isinstance(node, ast.ClassDef) for node in nodes),
        docstrings=len(told), code=len(code), letters=sum(map(len, code)),
        skips=sum("# fmt: skip" in line or "# fmt: off" in line for line in lines),
    )  # fmt: skip


def measure_packages(source: Path) -> dict[str, Size]:
    """The size of each package, and of the modules beside them."""
    sizes: dict[str, Size] = {}
    for path in sorted(source.rglob("*.py")):
        parts = path.relative_to(source).parts
        name = parts[0] if len(parts) > 1 else "(modules)"
        sizes[name] = sizes.get(name, Size()) + measure(path.read_text(encoding="utf-8"))
    for folder in {path.parent for path in source.rglob("*.py") if path.name != "__init__.py"}:
        parts = folder.relative_to(source).parts
        sizes[parts[0] if parts else "(modules)"].folders += 1
    return sizes


def count_beside(root: Path) -> dict[str, tuple[int, int]]:
    """Files and lines of what is in the repository beside the source."""
    command = ["git", "ls-files", "-z", *(folder for folder, _ in BESIDE.values())]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout.split("\0")
    counts = {}
    for name, (folder, endings) in BESIDE.items():
        chosen = {file for file in listed if file.startswith(f"{folder}/") and file.endswith(endings)}
        there = [root / file for file in chosen if (root / file).is_file()]
        counts[name] = (len(there), sum(len(path.read_bytes().splitlines()) for path in there))
    return counts


def write_table(rows: list[tuple[str, ...]]) -> str:
    """Rows of text under one another."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(HEAD))]
    return "\n".join(
        "  ".join(cell.rjust(width) if k else cell.ljust(width) for k, (cell, width) in enumerate(zip(row, widths)))
        for row in rows
    )


def main(root: Path = ROOT) -> None:
    """Print the table."""
    sizes = measure_packages(root / "src" / "kinode")
    rows = [size.row(name) for name, size in sorted(sizes.items(), key=lambda item: -item[1].lines)]
    rows.append(sum(sizes.values(), Size()).row("all"))
    empty = ("",) * (len(HEAD) - 4)
    rows += [(name, f"{n:,}", "", f"{lines:,}", *empty) for name, (n, lines) in count_beside(root).items()]
    print(write_table([HEAD, *rows]))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
