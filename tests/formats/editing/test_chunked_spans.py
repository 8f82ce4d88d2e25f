"""A text read in pieces is the text read as a whole."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinode as kn
from kinode.editing.chunked_spans import reread_spans
from kinode.formats.yaml_text import SpanNode, read_spans

EXAMPLES = sorted((Path(__file__).resolve().parents[3] / "examples").glob("*.yaml"))
TEXTS = [path.read_text() for path in EXAMPLES]


def spans(node: SpanNode) -> object:
    """All that a node says, as plain values."""
    entries = {k: (e.start, e.end, e.line, e.column, spans(e.node)) for k, e in node.entries.items()}
    target = None if node.target is None else (node.target.start, node.target.end)
    own = (node.kind, node.start, node.end, node.line, node.column, node.style, node.value, node.anchor, target)
    return own, entries, [spans(item) for item in node.items]


def same(text: str) -> None:
    try:
        whole = spans(read_spans(text))
    except kn.ModelError as error:
        with pytest.raises(kn.ModelError) as caught:
            reread_spans(text)
        assert str(caught.value) == str(error)
    else:
        assert spans(reread_spans(text)) == whole


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_of_every_example(path):
    text = path.read_text()
    same(text)
    same(text.replace("\n", "\r\n"))
    same(text.removesuffix("\n"))
    same("\ufeff" + text)


LONG = "x" * 500
ODD = [
    "", "a: 1", "a: 1\na: 2\n", "a: {b: 1,\nc: 2}\n", 'a: "x\nb: y"\n', "a: &n 1\nb: *n\n", "---\na: 1\n", "? a\n: b\n",
    f"a: # {LONG}\n  b: &n {{c: 1}}\n  d: *n\n", f"a:\n  b: 'x\n  c: y'\n  d: {LONG}\n",
    f"a:\n  b: |\n    {LONG}\n\n  c: 1\n",
    f"a:\n    b: {LONG}\n  c: 1\n", f"a:\n  b: {LONG}\n  b: 2\n", f"a:\n- b\n- {LONG}\n", f"a:\n  - b\n  - {LONG}\n",
    f"a:\n  {LONG}\n  d: 1\n", "a: 1\n# end\n...\n", "a: 1\u2028b: 2\n", f"# top\n\na:\n\n  # c\n  b: {LONG}\n\nc:\n",
    f"a:\n  b: 1 # {LONG}\n  # end\nc: 2\n", "# \x95\na: 1\n", "a: 1\n# \x07\nb: 2\n", "a: \ufffe\n",
    "#\n  x\na: 1\n", "  b: 1\na: 1\n",
]  # fmt: skip


@pytest.mark.parametrize("text", ODD)
def test_of_odd_texts(text):
    same(text)


@given(st.sampled_from(TEXTS), st.data())
def test_after_any_change(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 30)))
    new = data.draw(st.text(st.sampled_from("ab: {}[],#\n'\"&*-|?1\t"), max_size=8))
    same(text[:start] + new + text[end:])
