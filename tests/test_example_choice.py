"""The examples of every run have all that any example has, and one with something new is among them by itself."""

from collections import Counter

from example_choice import EXAMPLES, find_cover, find_features


def test_all_kinds_and_fields_are_there():
    cover = find_cover(EXAMPLES)
    every = Counter(feature for path in EXAMPLES for feature in find_features(path))
    assert {"dc_motor", "tables", "joints.axis", "elements.shaft", "circuit"} <= set(every)
    assert {feature for path in cover for feature in find_features(path)} == set(every)
    assert {path for path in EXAMPLES if any(every[x] == 1 for x in find_features(path))} <= set(cover) < set(EXAMPLES)


def test_kinds_take_fewer():
    cover = find_cover(EXAMPLES, fields=False)
    kinds = {x for path in EXAMPLES for x in find_features(path) if "." not in x}
    assert {x for path in cover for x in find_features(path) if "." not in x} == kinds
    assert len(cover) < len(find_cover(EXAMPLES))


def test_a_new_field_brings_its_example(tmp_path):
    known, new = tmp_path / "known.yaml", tmp_path / "new.yaml"
    known.write_text("joints: {a: {kind: revolute, axis: x, q: 1}}\nbodies: {b: {}}\nrun: {until: 1}\n")
    new.write_text("joints: {a: {kind: revolute, axis: x}}\nbodies: {b: {}}\nrun: {rtol: 1e-3}\n")
    assert find_cover([known, new]) == [known]
    newer = tmp_path / "newer.yaml"
    newer.write_text("joints: {a: {kind: revolute, damping: 1}}\nbodies: {b: {}}\n")
    assert find_cover([known, new, newer]) == [known, newer]
    assert find_cover([known, new, newer], fields=False) == [new]  # as much in fewer letters
    loop = tmp_path / "loop.yaml"
    loop.write_text("joints: {a: {kind: revolute}, b: {kind: revolute}}\nbodies: {b: {}}\n")
    assert loop in find_cover([known, new, loop], fields=False)
