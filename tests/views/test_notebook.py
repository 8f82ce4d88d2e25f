"""What a notebook shows: whole HTML, every text escaped, the figures of the result."""

import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree.ElementTree import fromstring

import numpy as np
import pytest

import kinode as kn
from kinode.sheets.markup import MOST_ROWS
from kinode.tasks.verify import Comparison, Verification
from kinode.views.notebook import notebook_html

ROOT = Path(__file__).resolve().parents[2]
HOSTILE = '<script>alert(1)</script>&"x'


class Reader(HTMLParser):
    """Text and elements of a page; refuses what is not closed."""

    def __init__(self):
        super().__init__()
        self.open, self.texts, self.elements = [], [], []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def read(thing):
    reader = Reader()
    html = thing._repr_html_()
    for picture in re.findall(r"<svg.*?</svg>", html, re.DOTALL):
        fromstring(picture)
        html = html.replace(picture, "")
    reader.feed(html)
    reader.close()
    assert not reader.open
    assert {tag for tag, _ in reader.elements} <= {
        "div", "strong", "details", "summary", "table", "thead", "tbody", "tr", "th", "td", "ul", "li",
    }  # fmt: skip
    return reader


@pytest.fixture(scope="module")
def hostile():
    system = kn.System(HOSTILE, gravity=(0, -9.81, 0))
    system.parameter("L", "2 m", note=HOSTILE)
    system.notes.append(HOSTILE)
    body = system.body("bar", mass=1.5, com=(1, 0, 0), inertia=(1, 1, 1))
    system.revolute("pin", system.world, body, axis="z", effort="3*(pin.q < 1)")
    return system


@pytest.fixture(scope="module")
def run(hostile):
    return kn.simulate(hostile, 1.0, samples=11)


def test_a_system(hostile):
    page = read(hostile)
    assert page.texts.count(HOSTILE) == 2  # its name and its note; a parameter's note stands behind its value
    assert f"2 m  ({HOSTILE})" in page.texts
    assert any("pin.q < 1" in text for text in page.texts)
    assert {"bar", "pin", "gravity (0, -9.81, 0) m/s^2", "total mass 1.5 kg"} <= set(page.texts)


def test_a_large_system_is_folded_and_counted():
    system = kn.System("chain")
    body = system.world
    for k in range(MOST_ROWS + 5):
        body, old = system.body(f"link{k}", mass=1.0, inertia=(1, 1, 1)), body
        system.revolute(f"j{k}", old, body)
    page = read(system)
    assert "... and 5 more" in page.texts
    assert all("open" not in attributes for tag, attributes in page.elements if tag == "details")


def test_a_run(run):
    page = read(run)
    assert HOSTILE in page.texts
    assert ": 0 to 1 s, 11 times" in page.texts
    assert page.texts[page.texts.index("pin.q") + 5] == "rad"
    assert any(f"{len(run.names())} quantities" in text for text in page.texts)


def test_a_run_with_events_and_one_without_states():
    system = kn.System("drop", gravity=(-9.81, 0, 0))
    stop = {"lower": 0, "restitution": 0.5}
    system.prismatic("slide", system.world, system.body("ball", mass=1.0), axis="x", q=0.1, stop=stop)
    run = kn.simulate(system, 0.2)
    assert run.events[0].message in read(run).texts
    driven = kn.System("driven")
    driven.prismatic("slide", driven.world, driven.body("ball", mass=1.0), axis="x", motion="t")
    assert "driven" in read(kn.simulate(driven, 0.1, samples=2)).texts


def test_an_audit(run):
    page = read(run.audit)
    assert f"{run.audit.change:.6e} J" in page.texts
    assert run.audit.trust in page.texts
    assert repr(run.audit).startswith("<Audit: ")


def test_a_verification():
    rows = (
        Comparison("bias", "recursive", "lagrange", 1e-15, "a, state 0"),
        Comparison("accelerations", "recursive", "lagrange", 0.5, HOSTILE),
    )
    verification = Verification(HOSTILE, 2, rows, (("circuit", HOSTILE),))
    page = read(verification)
    assert "5.0e-01!" in page.texts
    assert any(attributes.get("title") == "these disagree" for _, attributes in page.elements)
    assert ", 2 random states: 1 of 2 comparisons disagree" in page.texts
    assert repr(verification) == f"<Verification of {HOSTILE!r}, 2 random states: 1 of 2 comparisons disagree>"


def test_wrenches(run):
    series = run.reaction("pin")
    page = read(series)
    largest = np.linalg.norm(series.force, axis=1).max()
    assert f"{largest:.4g}" in page.texts
    assert repr(series).startswith("<Wrench on bar, about pin.child, in the axes of pin.parent: 11 times, force up to ")
    moments = np.array([[0.0, 0.0, 1.0], [3.0, 0.0, 4.0], [0.0, 2.0, 0.0], [0.0, 2.0, 0.0]])
    several = kn.Wrench(2.0 * moments, moments, "bar", "p", "f")
    assert repr(several).endswith("4 times, force up to 10 N, moment up to 5 N*m>")
    single = kn.Wrench(
        np.array([3.0, 4.0, 0.0]), np.zeros(3), HOSTILE, "p", "f", False, (True,) * 5 + (False,), "least norm"
    )
    page = read(single)
    assert {"5", "0*", "* not determined by equilibrium alone: least norm"} <= set(page.texts)
    assert repr(single).endswith("force (3, 4, 0) N, moment (0, 0, 0) N*m, not unique>")


def test_an_assembly():
    assembly = kn.assemble(ROOT / "examples" / "four_bar.yaml")
    page = read(assembly)
    assert assembly.title in page.texts
    assert [row[0] for row in assembly.rows[1:]] == [text for text in page.texts if text in assembly.moved]
    assert repr(assembly) == f"<Assembly of {assembly.title}>"


def test_nothing_else_is_shown():
    with pytest.raises(TypeError, match="shows int as text"):
        notebook_html(1)
