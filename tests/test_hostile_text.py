"""Text of a model stays text in everything that is generated from it; what is generated is executed or parsed.

A name or note cannot add anything to markup or files: what is generated differs from that of a harmless name in that
text alone.  Generated code and LaTeX are in ``symbolic/test_escaped_text.py``.
"""

import csv
import itertools
import re
import xml.etree.ElementTree as xml
from html.parser import HTMLParser

import pytest
from example_counts import examples
from hostile_words import EVERY, HARMLESS, HOSTILE, TEXTS, accepted, explanation, model
from hypothesis import given
from typer.testing import CliRunner

import kinode as kn
from kinode.cli.commands import app
from kinode.formats.yaml_files import dumps, loads
from kinode.report import run_report
from kinode.report.run_report import compose


# -- markup ----------------------------------------------------------------------------------------
class Skeleton(HTMLParser):
    """The tags and attributes of a page, and its texts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags, self.texts = [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, [name for name, _ in attributes]))

    def handle_endtag(self, tag):
        self.tags.append(tag)

    def handle_data(self, data):
        self.texts.append(data)

    def handle_comment(self, data):
        self.tags.append(("comment", data))

    def handle_decl(self, data):
        self.tags.append(("declaration", data))

    def unknown_decl(self, data):
        self.tags.append(("unknown", data))


@pytest.fixture(scope="module")
def run():
    return kn.simulate(model(), 0.2, samples=5)


def renamed(run, words: str, notes):
    """The run with other words in its system; the numbers stay."""
    system = run.system
    system.name, system.notes[:] = words, notes
    system.change("L", note=notes[0] if notes else "")
    return run


def test_reports_with_any_text(run):
    harmless = Skeleton(compose(renamed(run, HARMLESS, [HARMLESS] * len(HOSTILE)), verify=False, explain=True))
    page = Skeleton(compose(renamed(run, EVERY, HOSTILE), verify=False, explain=True, title=EVERY))
    assert page.tags == harmless.tags
    assert all(words in "".join(page.texts) for words in (EVERY, *HOSTILE))


@pytest.mark.parametrize("words", ["../../../etc/passwd", "x" * 3000, "机" * 200, "...", "a/b\\c:d"])
def test_a_report_stays_in_its_folder(run, words, tmp_path, monkeypatch):
    monkeypatch.setattr(run_report, "compose", lambda *_, **__: "page")
    file = renamed(run, words, []).report(tmp_path / "out")
    assert file.parent == tmp_path / "out" and file.read_text() == "page"


@pytest.mark.parametrize("words", HOSTILE)
def test_drawings_with_any_text(words):
    name = accepted(words)
    mine, harmless = (kn.diagram(model(n), note=note).svg for n, note in ((name, name), (HARMLESS, HARMLESS)))
    shapes = [
        [(e.tag, sorted(e.attrib.keys() - {"aria-label"})) for e in xml.fromstring(svg).iter()]
        for svg in (mine, harmless)
    ]
    assert shapes[0] == shapes[1]
    assert name in {e.text for e in xml.fromstring(mine).iter()}
    assert Skeleton(explanation(name).html()).tags == Skeleton(explanation(HARMLESS).html()).tags


# -- files and the terminal ------------------------------------------------------------------------
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


@examples(24, nightly=100)
@given(TEXTS, TEXTS)
def test_models_with_any_text(words, notes):
    """A saved model says the same when it is read again; what would command a terminal is not written."""
    system = model(accepted(words), notes)
    if CONTROL.search(notes):
        with pytest.raises(kn.Error, match=r"holds a control character"):
            dumps(system)
    else:
        text = dumps(system)
        assert not CONTROL.search(text)
        assert loads(text) == system


def test_a_name_that_is_no_text_is_refused_everywhere(tmp_path):
    (tmp_path / "base.yaml").write_text(dumps(model()))
    (tmp_path / "model.yaml").write_text("kinode: 1\nextends: base.yaml\nname: [1, 2]\n")
    with pytest.raises(kn.Error, match=r"model.yaml:\d: .*needs a name in text"):
        kn.load(tmp_path / "model.yaml")
    with pytest.raises(kn.Error, match="no place"):
        kn.load(tmp_path / "base.yaml", name="a\nb")
    system = model()
    with pytest.raises(kn.Error, match="no place"):
        system.name = "\x1b[2J"
    assert system.name == HARMLESS


@pytest.mark.parametrize("words", HOSTILE)
def test_runs_with_any_text(run, words, tmp_path):
    system = renamed(run, accepted(words), [HARMLESS]).system
    run.save(tmp_path / "run.nc")
    again = kn.Trajectory.load(tmp_path / "run.nc")
    assert again.system.name == system.name
    run.to_csv(tmp_path / "run.csv")
    with open(tmp_path / "run.csv", newline="") as stream:
        rows = list(csv.reader(stream))
    assert rows[0][:3] == ["t [s]", "pin.q [rad]", "pin.u [rad/s]"] and {len(row) for row in rows} == {len(rows[0])}


@pytest.mark.parametrize("command", ["show --text", "equations", "run --until 0.1", "explain"])
def test_the_terminal_with_any_text(command, tmp_path):
    """No command of a terminal and no markup of its own: what is printed is the text."""
    (tmp_path / "model.yaml").write_text(dumps(model(EVERY, HARMLESS)), encoding="utf-8")
    first, *options = command.split()
    done = CliRunner().invoke(app, [first, str(tmp_path / "model.yaml"), *options])
    assert done.exit_code == 0, done.output
    assert not CONTROL.search(done.output)
    assert re.sub(r"\s+", "", EVERY) in re.sub(r"\s+", "", done.output)


@pytest.mark.parametrize(
    "unit", ["m; import os", "m*/", "<b>", "\\input", '"""', "m\n", "$m$", "N*m)(", "m^(2", "%s", "m#", "=1+1"]
)
def test_units_are_units(unit):
    """A unit is one of the table or refused, so that none can bring its own text along."""
    for build in (
        lambda s: s.parameter("k", f"2 {unit}"),
        lambda s: s.body("b", mass=f"2 {unit}"),
        lambda s: s.define("lamp", base="two_pole", parameters={"r": unit}, equations={"a": "voltage = r*current"}),
    ):
        system = kn.System("units")
        try:
            build(system)
        except kn.Error:
            continue
        assert all(
            p.dimension is None or re.fullmatch(r"[A-Za-z0-9*/^-]+", p.dimension.unit)
            for p in system.parameters.values()
        )


@pytest.mark.parametrize("words", HOSTILE[:-1])
def test_names_of_components_are_refused(words):
    """Components have names of letters, digits and _, wherever they come from."""
    system = model()
    bar = system["bar"]
    for build in (
        lambda: system.body(words, mass=1),
        lambda: system.parameter(words, 1),
        lambda: system.input(words),
        lambda: system.signal(words, "t"),
        lambda: system.spring(words, system.world, bar),
        lambda: bar.at(0, 0, 1, name=words),
        lambda: system.table(words, axes=[0, 1], values=[0, 1]),
        lambda: system.define(words, base="two_pole", equations={"a": "voltage = 2*current"}),
        lambda: system.add(words, model()),
        lambda: system.resistor("r", words, "gnd", resistance=1),
        lambda: system.frame(words, "fixed", on="bar"),
    ):
        with pytest.raises(kn.Error):
            build()
    assert not set(itertools.chain(system.components, system.nodes, system.kinds)) - {"L", "push", "bar", "pin"}
