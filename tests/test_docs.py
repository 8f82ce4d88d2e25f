"""The documentation is true: every snippet and every example runs, and what is shown as output comes out.

``docs/pages.py`` says how a page is run: the ``python`` blocks in order in one namespace, in an empty directory that
has the examples beside it.  A ``yaml`` block that starts with ``kinode:`` is a model, and must load.
"""

import runpy
import shutil
import sys
from pathlib import Path
from unittest.mock import patch

import pytest

import kinode as kn
from kinode.model.base.element import ELEMENTS
from kinode.model.base.moving_frames import FRAMES
from kinode.model.constraints.constraint import CONSTRAINTS
from kinode.model.joints.joint import JOINTS
from kinode.model.network.part import Part

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "docs"))
from pages import PAGES, Block, blocks, differ, outputs  # noqa: E402
from parts import FAMILIES, rewrite, write_kinds  # noqa: E402
from parts import PAGES as TABLES  # noqa: E402

SCRIPTS = sorted((ROOT / "examples").glob("*.py"))
MODELS = sorted((ROOT / "examples").glob("*.yaml"))
SHORT = 0.05  # seconds of simulated time: enough to compile, start and store
RUN = [page for page in PAGES if blocks(page, "python") or any(b.title == "terminal" for b in blocks(page))]


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def models_in(path: Path) -> list[Block]:
    return [block for block in blocks(path, "yaml") if block.text.lstrip().startswith("kinode:")]


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """An empty directory with the examples in it, as a reader of the page would have.

    The kinds that a page registers are forgotten after it: other tests go over all kinds there are.
    """
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    with patch.dict(JOINTS), patch.dict(ELEMENTS), patch.dict(CONSTRAINTS):
        yield tmp_path
    from matplotlib import pyplot

    pyplot.close("all")


@pytest.mark.parametrize("page", RUN, ids=name)
def test_page(page, workplace):
    for block, real in outputs(page):
        found = differ(block.text, real)
        assert found is None, f"{name(page)}:{block.line}: {found}\n`python docs/pages.py {name(page)}` writes it"


@pytest.mark.parametrize(
    ("page", "block"),
    [pytest.param(p, b, id=f"{name(p)}:{b.line}") for p in PAGES for b in models_in(p)],
)
def test_yaml_of_page(page, block, workplace):
    path = workplace / "model.yaml"
    path.write_text(block.text)
    system = kn.load(path)
    assert system.bodies or system.elements


@pytest.mark.parametrize("script", SCRIPTS, ids=name)
def test_example_script(script, workplace):
    runpy.run_path(str(workplace / "examples" / script.name), run_name="__main__")


@pytest.mark.parametrize("model", MODELS, ids=name)
def test_example_model(model, workplace):
    run = kn.simulate(kn.load(workplace / "examples" / model.name), SHORT)
    assert run.t[-1] == SHORT


def table_rows(page):
    return [line for line in page.read_text().splitlines() if line.startswith("| ")]


def test_every_function_and_unit_of_laws_is_listed():
    from kinode.expressions.parser import CONSTANTS, FUNCTIONS
    from kinode.expressions.units import UNITS
    from kinode.model.environment.atmosphere import STANDARD

    rows = table_rows(ROOT / "docs" / "laws-and-units.md")
    for function, record in (FUNCTIONS | STANDARD).items():
        note = record.note.partition(": ")[2] if record.note.startswith(f"{function}(") else record.note
        assert any(row.startswith(f"| `{function}(") and row.endswith(f"| {note} |") for row in rows), function
    listed = {word for row in rows for word in row.replace(",", " ").split()}
    assert {f"`{unit}`" for unit in UNITS} - listed == {f"`{p}ohm`" for p in ("", "u", "m", "k", "M", "G")}
    assert {f"`{constant}`" for constant in CONSTANTS} <= listed


def test_readme_shows_rows_of_the_benchmarks():
    all_rows = table_rows(ROOT / "docs" / "benchmarks.md")
    shown = [row for row in table_rows(ROOT / "README.md") if not row.startswith("| work")]
    assert len(shown) > 5
    for row in shown:
        assert any(other.startswith(row) for other in all_rows), row


@pytest.mark.parametrize("page", TABLES, ids=name)
def test_tables_of_kinds_are_those_of_the_classes(page):
    text = page.read_text()
    assert rewrite(text) == text, "`python docs/parts.py` writes them"


def test_every_kind_is_in_a_table():
    kinds = {*JOINTS, *CONSTRAINTS, *ELEMENTS, *FRAMES}
    rows = table_rows(ROOT / "docs" / "kinds.md")
    assert {row.split("|")[1].strip(" `") for row in rows} >= kinds
    assert all(write_kinds(family) in (ROOT / "docs" / "kinds.md").read_text() for family in FAMILIES)
    parts = {cls.kind for cls in ELEMENTS.values() if issubclass(cls, Part)}
    assert {row.split("(")[0].removeprefix("| `") for row in table_rows(ROOT / "docs" / "circuits.md")} >= parts


def test_blocks_are_found(tmp_path):
    page = tmp_path / "page.md"
    python = '```python title="x"\na = 1\n```\n\n- item\n\n    ```python\n    if a:\n        b = 2\n    ```\n'
    page.write_text(f"text\n\n{python}\n```yaml\nkinode: 1\n```\n")
    assert blocks(page, "python") == [Block("python", 4, "a = 1\n", "x"), Block("python", 10, "if a:\n    b = 2\n")]
    assert [block.line for block in models_in(page)] == [15]


def test_wrong_output_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text('```python\nprint("angle", 1.2345, 3e-9)\n```\n\n```text title="output"\nangle 1.23 7e-12\n```\n')
    ((block, real),) = outputs(page)
    assert differ(block.text, real) is None
    assert "'1.23' is shown" in differ(block.text, real.replace("1.2345", "1.3"))
    assert "words" in differ(block.text, real + "more")
    assert differ(block.text, real.replace("angle", "angel")) is not None
