"""The documentation is true: every snippet and every example runs.

The ``python`` blocks of a page run in order in one namespace, in an empty directory that has the examples beside it. A
``yaml`` block that starts with ``kinode:`` is a model, and must load. What is not meant to run is marked ``text``.
"""

import re
import runpy
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

import kinode as kn

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
SCRIPTS = sorted((ROOT / "examples").glob("*.py"))
MODELS = sorted((ROOT / "examples").glob("*.yaml"))
SHORT = 0.05  # seconds of simulated time: enough to compile, start and store


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    language: str
    line: int
    text: str


def blocks(path: Path, language: str) -> list[Block]:
    text = path.read_text()
    found = []
    for match in FENCE.finditer(text):
        indent, kind, body = match.groups()
        lines = [line.removeprefix(indent) for line in body.splitlines()]
        found.append(Block(kind, text.count("\n", 0, match.start(3)) + 1, "\n".join(lines) + "\n"))
    return [block for block in found if block.language == language]


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def models_in(path: Path) -> list[Block]:
    return [block for block in blocks(path, "yaml") if block.text.lstrip().startswith("kinode:")]


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """An empty directory with the examples in it, as a reader of the page would have."""
    if (ROOT / "examples").is_dir():
        shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    from matplotlib import pyplot

    pyplot.close("all")


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "python")], ids=name)
def test_python_of_page(page, workplace):
    space = {"__name__": "__main__"}
    for block in blocks(page, "python"):
        # Blank lines put the code at its line of the page, so that a traceback points there.
        exec(compile("\n" * (block.line - 1) + block.text, str(page), "exec"), space)


@pytest.mark.parametrize(
    ("page", "block"),
    [pytest.param(p, b, id=f"{name(p)}:{b.line}") for p in PAGES for b in models_in(p)],
)
def test_yaml_of_page(page, block, workplace):
    path = workplace / "model.yaml"
    path.write_text(block.text)
    assert kn.load(path).bodies


@pytest.mark.parametrize("script", SCRIPTS, ids=name)
def test_example_script(script, workplace):
    runpy.run_path(str(workplace / "examples" / script.name), run_name="__main__")


@pytest.mark.parametrize("model", MODELS, ids=name)
def test_example_model(model, workplace):
    run = kn.simulate(kn.load(workplace / "examples" / model.name), SHORT)
    assert run.t[-1] == SHORT


def test_blocks_are_found(tmp_path):
    page = tmp_path / "page.md"
    python = '```python title="x"\na = 1\n```\n\n- item\n\n    ```python\n    if a:\n        b = 2\n    ```\n'
    page.write_text(f"text\n\n{python}\n```yaml\nkinode: 1\n```\n")
    assert blocks(page, "python") == [Block("python", 4, "a = 1\n"), Block("python", 10, "if a:\n    b = 2\n")]
    assert [block.line for block in models_in(page)] == [15]
