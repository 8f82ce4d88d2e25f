"""Edits between texts, and merges by lines."""

from hypothesis import given
from hypothesis import strategies as st

from kinode.editing.spans import apply_edits
from kinode.studio.document.model_document import find_edits, merge_texts

LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n", "d: 1\n", "end"]), max_size=12).map("".join)


@given(LINES, LINES)
def test_edits_lead_from_one_text_to_the_other(before, after):
    assert apply_edits(before, find_edits(before, after)) == after


def test_a_long_text_is_one_edit(monkeypatch):
    monkeypatch.setattr("kinode.studio.document.model_document.LONGEST_EXACT", 3)
    before, after = "a\nb\nc\nd\n", "a\nB\nc\nd\n"
    (edit,) = find_edits(before, after)
    assert edit == (2, 3, "B")


@given(LINES, LINES)
def test_a_side_without_changes_gives_way(base, other):
    assert merge_texts(base, base, other) == other
    assert merge_texts(base, other, base) == other
    assert merge_texts(base, other, other) == other


def test_changes_of_different_lines_are_merged():
    assert merge_texts("a\nb\nc\nd\ne\n", "A\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\nf\n") == "A\nb\nc\nd\nE\nf\n"


def test_changes_of_the_same_line_are_not():
    assert merge_texts("a\nb\nc\n", "a\nB\nc\n", "a\nbb\nc\n") is None
    assert merge_texts("a\nb\nc\n", "a\nB\nc\n", "a\nc\n") is None


def test_the_same_change_on_both_sides_is_made_once():
    assert merge_texts("a\nb\nc\nd\n", "A\nb\nc\nd\n", "A\nb\nc\nD\n") == "A\nb\nc\nD\n"


@given(LINES, LINES, LINES)
def test_a_merge_is_the_same_from_both_sides(base, mine, theirs):
    assert merge_texts(base, mine, theirs) == merge_texts(base, theirs, mine)
