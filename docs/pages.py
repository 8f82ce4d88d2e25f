"""The pages as programs: ``python docs/pages.py`` runs them and writes what they print back into them.

The ``python`` blocks of a page run in order in one namespace.  A ``text`` block with the title "output" is what the
``python`` block before it prints; one with the title "terminal" holds commands (``$ kinode ...``) and what they print.
``tests/test_docs.py`` compares both with what comes out.
"""

from __future__ import annotations

import contextlib
import io
import math
import re
import shlex
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "web/README.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
FENCE = re.compile(r"^( *)```(\w*)([^\n]*)\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?")
CHANGING = (re.compile(r"simulated in \S+ s"), re.compile(r"\d+ times, "), re.compile(r"\d+ steps"))
NOISE = 1e-6  # differences, defects and what else is zero but for rounding
CLOSE = 2e-2  # the last digits of what is printed may differ from machine to machine


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    language: str
    line: int
    text: str
    title: str = ""


def blocks(path: Path, language: str | None = None) -> list[Block]:
    """The fenced blocks of a page, of one language or of all."""
    text = path.read_text(encoding="utf-8")
    found = []
    for match in FENCE.finditer(text):
        indent, kind, rest, body = match.groups()
        lines = [line.removeprefix(indent) for line in body.splitlines()]
        title = re.search(r'title="([^"]*)"', rest)
        line = text.count("\n", 0, match.start(4)) + 1
        found.append(Block(kind, line, "\n".join(lines) + "\n", title[1] if title else ""))
    return [block for block in found if language in (None, block.language)]


def run_python(page: Path) -> list[str]:
    """Run the python blocks of a page here and now; what each prints."""
    space: dict[str, Any] = {"__name__": "__main__"}
    printed = []
    for block in blocks(page, "python"):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            # Blank lines put the code at its line of the page, so that a traceback points there.
            exec(compile("\n" * (block.line - 1) + block.text, str(page), "exec"), space)
        printed.append(out.getvalue())
    return printed


def run_commands(text: str) -> str:
    """The commands of a block, each with what it prints; ``echo $?`` gives the exit code of the one before.

    They run within this process: importing kinode takes longer than most of them.
    """
    from typer.testing import CliRunner

    from kinode.cli.commands import app

    shown, code = [], 0
    for line in text.splitlines():
        if not line.startswith("$ "):
            continue
        shown.append(line)
        if line == "$ echo $?":
            shown.append(str(code))
            continue
        words = shlex.split(line[2:])
        assert words[0] == "kinode", f"not a command of kinode: {line}"
        done = CliRunner().invoke(app, words[1:], env={"COLUMNS": "80"}, prog_name="kinode", terminal_width=78)
        if not isinstance(done.exception, SystemExit | None):
            raise done.exception
        code = done.exit_code
        shown += [row.rstrip() for row in (done.stdout + done.stderr).splitlines()]
    return "\n".join(shown) + "\n"


def outputs(page: Path) -> list[tuple[Block, str]]:
    """Every block of a page that shows what comes out, and what does."""
    printed, found = iter(run_python(page)), []
    last = ""
    for block in blocks(page):
        if block.language == "python":
            last = next(printed)
        elif block.title == "output":
            found.append((block, "\n".join(line.rstrip() for line in last.splitlines()) + "\n"))
        elif block.title == "terminal":
            found.append((block, run_commands(block.text)))
    return found


def differ(shown: str, real: str) -> str | None:
    """What is different in two texts, beyond spacing, the last digits and times of computing."""
    one, two = (_words(text) for text in (shown, real))
    if len(one) != len(two):
        return f"{len(one)} words are shown, {len(two)} come out:\n{real}"
    for a, b in zip(one, two):
        if not _alike(a, b):
            return f"{a!r} is shown, {b!r} comes out:\n{real}"
    return None


def _words(text: str) -> list[str]:
    for pattern in CHANGING:
        text = pattern.sub("...", text)
    return re.sub(r"[─ =]{2,}", " ", text.replace("\N{MINUS SIGN}", "-")).split()


def _alike(a: str, b: str) -> bool:
    if NUMBER.sub("#", a) != NUMBER.sub("#", b):
        return False
    pairs = zip(NUMBER.findall(a), NUMBER.findall(b))
    return all(math.isclose(float(x), float(y), rel_tol=CLOSE, abs_tol=NOISE) for x, y in pairs)


def write(page: Path) -> bool:
    """Put what comes out into a page; whether anything changed."""
    found = {block.line: real for block, real in outputs(page) if differ(block.text, real)}
    text = page.read_text(encoding="utf-8")

    def put(match: re.Match[str]) -> str:
        line = text.count("\n", 0, match.start(4)) + 1
        if line not in found:
            return match[0]
        indent, kind, rest = match.groups()[:3]
        rows = "".join(f"{indent}{row}".rstrip() + "\n" for row in found[line].splitlines())
        return f"{indent}```{kind}{rest}\n{rows}{indent}```"

    page.write_text(FENCE.sub(put, text), encoding="utf-8")
    return bool(found)


def main() -> None:
    """Run the pages that are named, or all."""
    wanted = [Path(name).resolve() for name in sys.argv[1:]] or PAGES
    for page in wanted:
        with tempfile.TemporaryDirectory() as place:
            shutil.copytree(ROOT / "examples", Path(place) / "examples")
            with contextlib.chdir(place):
                changed = write(page)
        print(f"{page.relative_to(ROOT)}: {'written' if changed else 'as it was'}")


if __name__ == "__main__":
    main()
