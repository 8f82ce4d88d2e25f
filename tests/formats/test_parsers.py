"""libyaml and ruamel.yaml give the same nodes at the same places, wherever libyaml is used."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinode as kn
from kinode.formats import yaml_text
from kinode.formats.yaml_text import parse_events, read_spans

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.yaml"))
SIGNS = [*"{}[]:,#-&*!|>'\"%@?~ \n\t", "\n  ", "- ", ": ", "# c\n", "---\n", "...\n", "é", "1:30", "2*x", "'a", "k: v"]
CUTS = st.tuples(st.integers(0, 10_000), st.integers(0, 3), st.sampled_from(["", *SIGNS]))


def nodes(text, quick, monkeypatch):
    """The nodes with their places; or the error."""
    with monkeypatch.context() as patch:
        patch.setattr(yaml_text, "parse_events", lambda text: parse_events(text, quick))
        try:
            return repr(read_spans(text))
        except kn.ModelError as error:
            return str(error)


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_examples_are_read_alike(file, monkeypatch):
    text = file.read_text()
    assert nodes(text, True, monkeypatch) == nodes(text, False, monkeypatch)


@given(st.sampled_from([file for file in EXAMPLES if file.stat().st_size < 1500]), st.lists(CUTS, max_size=4))
def test_broken_texts_are_read_alike(file, cuts):
    text = file.read_text()
    for at, length, new in cuts:
        at %= len(text) + 1
        text = text[:at] + new + text[at + length :]
    with pytest.MonkeyPatch.context() as patch:
        assert nodes(text, True, patch) == nodes(text, False, patch)


def test_what_yaml_1_2_has_changed_is_not_for_libyaml():
    for text in (
        "a: [1:30, b]",
        "a: &b 1",
        "a: *b",
        "? a",
        "a: |\n  b",
        "\ta: 1",
        'a: "\\ud800"',
        "%YAML 1.1\n---\na: 1",
    ):
        events = [repr(event) for event in parse_safely(text, True)]
        assert events == [repr(event) for event in parse_safely(text, False)]


def parse_safely(text, quick):
    try:
        return list(parse_events(text, quick))
    except Exception as error:
        return [type(error)]
