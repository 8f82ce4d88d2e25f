"""The documentation is true: every snippet and every example runs, and what is shown as output comes out.

``docs/pages.py`` says how a page is run: the ``python`` blocks in order in one namespace, in an empty directory that
has the examples beside it.  A ``yaml`` block that starts with ``kinode:`` is a model, and must load.
"""

import doctest
import importlib
import re
import runpy
import shutil
import sys
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from peers import cannot_try
from player_pages import SCRIPTS as SHOWN

import kinode as kn
from kinode.example_files import find_examples
from kinode.model.base.element import ELEMENTS
from kinode.model.base.kinds import is_builtin
from kinode.model.base.observers.moving_frames import FRAMES
from kinode.model.constraints.constraint import CONSTRAINTS
from kinode.model.joints.joint import JOINTS
from kinode.model.network.domain import DOMAINS

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "docs"))
import gallery  # noqa: E402
import key_tables  # noqa: E402
import site_math  # noqa: E402
from pages import FENCE, PAGES, Block, blocks, differ, outputs  # noqa: E402
from parts import FAMILIES, rewrite, write_kinds  # noqa: E402
from parts import PAGES as TABLES  # noqa: E402

DOCS = ROOT / "docs"
WRITTEN = [*PAGES, ROOT / "CHANGELOG.md"]
SOURCES = [path for folder in ("src", "tests", "benchmarks", "examples") for path in (ROOT / folder).rglob("*.py")]
COLUMN = 88  # characters of code that fit the column of a page
ROOM = 2e6  # bytes of all still pictures
MOVING = 1e6  # bytes of a moving one

SCRIPTS = sorted((ROOT / "examples").glob("*.py"))
MODELS = sorted((ROOT / "examples").glob("*.yaml"))
SHORT = 0.05  # seconds of simulated time: enough to compile, start and store
PLAYER = ROOT / "src" / "kinode" / "studio" / "static" / "player.js"
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
    with patch.dict(JOINTS), patch.dict(ELEMENTS), patch.dict(CONSTRAINTS), patch.dict(DOMAINS):
        yield tmp_path
    from matplotlib import pyplot

    pyplot.close("all")


def shows_a_player(page):
    return re.search(r"\.view\(|kinode view .*--output", "".join(b.text for b in blocks(page) if b.title != "output"))


@pytest.mark.parametrize("page", RUN, ids=name)
def test_page(page, workplace):
    if shows_a_player(page) and not PLAYER.exists():
        cannot_try("the player is not built: python tools/build_player.py")
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
def test_example_script(script, workplace, pages):
    if script.name in SHOWN and PLAYER.exists():  # it is run once, for this test and for that of its page
        assert len(pages.run(script.name)) > 1
        return
    runpy.run_path(str(workplace / "examples" / script.name), run_name="__main__")


@pytest.mark.parametrize("model", MODELS, ids=name)
def test_example_model(model, workplace):
    run = kn.simulate(kn.load(workplace / "examples" / model.name), SHORT)
    assert run.t[-1] == SHORT


def table_rows(page):
    return [line for line in page.read_text().splitlines() if line.startswith("| ")]


def test_every_function_and_unit_of_laws_is_listed():
    from kinode.expressions.function_table import CONSTANTS, FUNCTIONS
    from kinode.expressions.units import find_units
    from kinode.model.environment.atmosphere import STANDARD

    rows = table_rows(DOCS / "reference" / "laws-and-units.md")
    for function, record in (FUNCTIONS | STANDARD).items():
        assert any(row.startswith(f"| `{function}(") and row.endswith(f"| {record.note} |") for row in rows), function
    listed = {word for row in rows for word in row.replace(",", " ").split()}
    assert {f"`{unit}`" for unit in find_units()} - listed == {f"`{p}ohm`" for p in ("", "u", "m", "k", "M", "G")}
    assert {f"`{constant}`" for constant in CONSTANTS} <= listed


def test_readme_is_short_and_shows_rows_of_the_benchmarks():
    all_rows = table_rows(DOCS / "reference" / "benchmarks.md")
    shown = [row for row in table_rows(ROOT / "README.md") if not row.startswith("| work")]
    assert len(shown) == 4
    assert (ROOT / "README.md").stat().st_size <= 4096
    for row in shown:
        assert any(other.startswith(row) for other in all_rows), row


def test_how_to_pages_stand_in_six_groups():
    nav = (ROOT / "mkdocs.yml").read_text().partition("  - How to:\n")[2].partition("  - Theory:")[0]
    assert re.findall(r"^ {6}- (\w+):$", nav, re.MULTILINE) == [
        "Describe",
        "Run",
        "Loads",
        "Derive",
        "Exchange",
        "Studio",
    ]
    listed = re.findall(r"^ {10}- [^:]+: (how-to/[\w-]+\.md)$", nav, re.MULTILINE)
    assert sorted(listed) == sorted(str(path.relative_to(DOCS)) for path in (DOCS / "how-to").glob("*.md"))


def test_no_page_installs_from_a_registry():
    """kinode is installed from a clone until a release is on one."""
    assert [name(page) for page in PAGES if re.search(r"install (-U |--upgrade )?kinode", page.read_text())] == []


@pytest.mark.parametrize("page", TABLES, ids=name)
def test_tables_of_kinds_are_those_of_the_classes(page):
    text = page.read_text()
    assert rewrite(text) == text, "`python docs/parts.py` writes them"


def test_every_kind_is_in_a_table():
    kinds = {*JOINTS, *CONSTRAINTS, *ELEMENTS, *FRAMES}
    page, parts_page = DOCS / "reference" / "kinds.md", DOCS / "reference" / "network-parts.md"
    rows = table_rows(page)
    assert {row.split("|")[1].strip(" `") for row in rows} >= kinds
    assert all(write_kinds(family) in page.read_text() for family in FAMILIES)
    parts = {cls.kind for cls in ELEMENTS.values() if issubclass(cls, kn.Part)}
    assert {row.split("(")[0].removeprefix("| `") for row in table_rows(parts_page)} >= parts


def prose(page):
    """The text of a page without its code."""
    return re.sub(r"`[^`\n]*`", "", FENCE.sub("", page.read_text()))


def anchors(page):
    """The anchors of a page: its headings as Markdown names them, and its equations."""
    headings = re.findall(r"^#+ (.*)$", prose_of_headings(page), re.MULTILINE)
    words = [re.sub(r"[^\w\s-]", "", heading).strip().lower() for heading in headings]
    return {re.sub(r"[-\s]+", "-", word) for word in words} | set(site_math.TAG.findall(page.read_text()))


def prose_of_headings(page):
    return FENCE.sub("", page.read_text()).replace("`", "")


@pytest.mark.parametrize("page", WRITTEN, ids=name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), f"{name(page)}: {target}"
        assert not anchor or anchor in anchors(there), f"{name(page)}: {target}"


def test_pages_and_files_that_texts_name_exist():
    """A docstring, message or page that names docs/..., examples/... or benchmarks/... names a file that is there."""
    named = re.compile(r"\b(?:docs|examples|benchmarks)/[\w/-]+\.(?:md|py|yaml)\b")
    for path in [*WRITTEN, *SOURCES, ROOT / "Makefile", ROOT / "mkdocs.yml"]:
        for file in named.findall(path.read_text()):
            assert (ROOT / file).exists(), f"{name(path)}: {file}"


def test_targets_that_texts_name_exist():
    """What a page, message or docstring tells to make is a target of the Makefile, or one of its groups."""
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([\w-]+):", makefile, re.MULTILINE))
    groups = {*re.findall(r"\$\(ONLY\),(\w+)\)", makefile), *re.findall(r"^BENCH_(\w+) ", makefile, re.MULTILINE)}
    call = re.compile(r"(?:`|^ {4}|')make ([a-z][a-z-]*)(?: ONLY=(\w+))?", re.MULTILINE)
    texts = [*WRITTEN, *SOURCES, *(ROOT / "tools").glob("*.py"), ROOT / "docs" / "gallery.py"]
    named = [(name(path), *found) for path in texts for found in call.findall(path.read_text())]
    assert len(named) > 20
    assert [found for found in named if found[1] not in targets or (found[2] and found[2] not in groups)] == []


def test_equations_that_are_cited_exist():
    known = site_math.labels()
    cited = {
        label: name(path)
        for path in [*WRITTEN, *SOURCES, *DOCS.glob("*.py"), *MODELS]
        for label in site_math.citations(path.read_text())
    }
    assert not {label: cited[label] for label in set(cited) - set(known)}
    assert len(set(cited) & set(known)) > 100
    for label, page in known.items():  # equation 3.4 stands on the page that begins with "3"
        first = (DOCS / page).read_text().split("\n", 1)[0]
        assert first.split()[1] == label.removeprefix("T-").split(".")[0], f"{label} on {page}"


def test_citations_become_links():
    known = {"T-3.4": "theory/trees.md"}
    assert site_math.link_citations("<p>by (T-3.4)</p>", "reference/api.md", known) == (
        '<p>by <a href="../theory/trees.html#T-3.4">(T-3.4)</a></p>'
    )
    assert "trees" not in site_math.link_citations("<pre>by (T-3.4)</pre>", "reference/api.md", known)


def test_gallery_has_every_example():
    assert gallery.write_gallery() == gallery.PAGE.read_text(), "`python docs/gallery.py` writes it"
    examples = find_examples()
    assert {*MODELS, *SCRIPTS} < set(examples)
    for example in examples:
        assert f"**{example.name}**" in gallery.PAGE.read_text()
    drawn = {path.stem for path in (DOCS / "pictures" / "gallery").glob("*.png")}
    assert drawn == {example.stem for example in examples}, "`python docs/make_pictures.py` draws them"


def test_pictures_are_small():
    sizes = {path: path.stat().st_size for path in (DOCS / "pictures").rglob("*.*")}
    moving = {path.name: size for path, size in sizes.items() if path.suffix == ".webp"}
    assert 2 <= len(moving) <= 4
    assert max(moving.values()) < MOVING
    assert sum(sizes.values()) - sum(moving.values()) < ROOM


def test_keys_of_the_player_are_those_of_its_sources():
    text = key_tables.PAGE.read_text()
    assert key_tables.rewrite(text) == text, "`python docs/key_tables.py` writes them"
    assert "| `Space`, `k` | play, pause |" in text


def test_data_of_the_player_are_described():
    from kinode.player.run_document import run_document

    listed = set(re.findall(r"`([\w.]+)`", (DOCS / "reference" / "player-data.md").read_text()))
    document = run_document(kn.simulate(kn.load(ROOT / "examples" / "motor_axis.yaml"), 0.1, samples=3))
    header = document.header
    parts = [header[key][0] for key in ("bodies", "joints", "series", "parameters", "badges")]
    parts += [header["diagram"], header["diagram"]["links"][0], header["diagram"]["components"][0], header["equations"]]
    assert {key for record in (header, header["run"], *parts) for key in record} - listed == set()
    assert {key for key in document.arrays if not key.startswith("causes")} <= listed


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_code_fits_its_column(page):
    """What a program prints may be longer: it wraps."""
    for block in blocks(page):
        if block.title not in ("output", "terminal"):
            assert max(map(len, block.text.splitlines()), default=0) <= COLUMN, f"{name(page)}:{block.line}"


def test_every_public_name_is_in_the_reference():
    text = (DOCS / "reference" / "api.md").read_text()
    words = set(re.findall(r"[\w.]+", text))
    shown = {word.rsplit(".", 1)[-1] for word in words}
    assert set(kn.__all__) - {"__version__"} <= shown


SOURCE = ROOT / "src"
WITH_EXAMPLES = [
    ".".join(path.relative_to(SOURCE).with_suffix("").parts)
    for path in sorted(SOURCE.rglob("*.py"))
    if re.search(r"^ *>>> ", path.read_text(), re.MULTILINE)
]


@pytest.mark.parametrize("module", WITH_EXAMPLES)
def test_examples_of_docstrings(module, workplace):
    """The examples of functions, classes and methods; each starts from nothing but ``kn``, ``np`` and its module."""
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    examples = doctest.DocTestFinder().find(importlib.import_module(module), module, extraglobs={"kn": kn, "np": np})
    assert any(example.examples for example in examples)
    for example in examples:
        runner = doctest.DocTestRunner(verbose=False, optionflags=options)
        failures = []
        assert runner.run(example, out=failures.append).failed == 0, "".join(failures)


def test_no_example_of_a_docstring_is_skipped():
    skipped = "doctest: +" + "SKIP"
    assert [path.name for path in SOURCE.rglob("*.py") if skipped in path.read_text()] == []


def test_every_quantity_is_in_the_reference():
    from kinode.model.quantities import (
        EFFORT_SHARES,
        FRAME_QUANTITIES,
        GROUND_QUANTITIES,
        JOINT_WRENCHES,
        POWERS,
        SYSTEM_QUANTITIES,
    )

    listed = set(re.findall(r"`([\w.]+)`", (DOCS / "reference" / "quantities.md").read_text()))
    assert {*FRAME_QUANTITIES, *JOINT_WRENCHES, *POWERS, *(f"ground.{word}" for word in GROUND_QUANTITIES)} <= listed
    assert {f"effort.{share}" for share in EFFORT_SHARES} | {f"system.{word}" for word in SYSTEM_QUANTITIES} <= listed


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


def test_every_constraint_is_described_like_a_joint():
    """A row on the page of constraints, a method with its fields, and the condition that each row of it names."""
    page = (DOCS / "reference" / "constraints.md").read_text()
    for kind, cls in CONSTRAINTS.items():
        if is_builtin(cls):
            assert page.count(f"| `{kind}` |") == 2, kind
            text = getattr(kn.System, kind).__doc__
            assert all(f"\n{name} : " in text for name in cls.specs()), kind
            assert all(f"`{label}`" in page for label in cls.labels if label), kind
