"""Broken files end in a clear error or a valid model, never in anything else."""

# ruff: noqa: E501  (a case is a line)

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from example_counts import examples
from hypothesis import example, given
from hypothesis import strategies as st

import kinode as kn
from kinode.formats.yaml_files import dumps, loads

EXAMPLES = [file.read_text() for file in sorted((Path(__file__).resolve().parents[2] / "examples").glob("*.yaml"))]
SNIPPETS = (
    "{", "}", "[", "]", ":", ",", "#", "&a", "*a", "!!python/object:os.system x", "null", "true", "1e400", ".nan", "-", "''", '"',
    "\t", "\n", "\x00", "é", "1/0", "world", "t", "0", "-1", "[[]]", "{a: b}", "[1, 2, 3]", "1e-320", "(" * 200, "9" * 500, "kind",
    "2 m", "inf", "<<", "? ", "|", ">", "%YAML 1.1", "---", "\u2028", "self.__class__", "pow(9, 9)^9^9", "between", "10^400",
)  # fmt: skip


def read(text: str) -> None:
    try:
        system = loads(text, "model.yaml")
    except kn.Error as error:
        assert str(error).strip()
        return
    assert loads(dumps(system)) == system
    system.summary()


@st.composite
def mutations(draw: st.DrawFn) -> str:
    text = draw(st.sampled_from(EXAMPLES))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        length = draw(st.integers(0, 8))
        put = draw(st.sampled_from(SNIPPETS) | st.text(max_size=3))
        text = text[:start] + put + text[start + length :]
    return text


@st.composite
def swapped_values(draw: st.DrawFn) -> str:
    """A model whose structure is kept and some values of which are replaced."""
    text = draw(st.sampled_from(EXAMPLES))
    places = list(re.finditer(r"(?<=[:,\[] )[^,\[\]{}\n]+", text))
    for match in draw(st.lists(st.sampled_from(places), min_size=1, max_size=3)):
        put = draw(st.sampled_from(SNIPPETS))
        text = text[: match.start()] + put + text[match.start() + len(match.group()) :]
    return text


@examples(60, nightly=150)
@given(mutations())
def test_mutated_files(text: str) -> None:
    read(text)


@examples(60, nightly=150)
@given(swapped_values())
def test_swapped_values(text: str) -> None:
    read(text)


VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.sampled_from(["world", "a", "t", "2 m", "-a", "x", "z", "", "revolute", "a.com"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["a", "at", "body", "on", "box", "zz"]), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
FIELDS = (
    "kind", "between", "a", "b", "at", "axis", "axes", "q", "u", "guess", "motion", "speed", "effort", "stiffness", "neutral",
    "damping", "limits", "mass", "com", "inertia", "about", "shape", "frames", "meshes", "physical", "on", "force", "moment",
    "expressed_in", "reaction_on", "tension", "value", "bounds", "note", "file", "system", "bind", "parameters", "rpy",
    "quaternion", "matrix", "turns", "position", "rotation", "lead", "input", "output", "ratio", "law", "values", "method",
)  # fmt: skip
KINDS = st.sampled_from(
    ["fixed", "revolute", "universal", "spherical", "free", "screw", "planar", "spring", "force", "gear"]
)


@examples(60, nightly=300)
@given(
    st.sampled_from(["bodies", "joints", "elements", "constraints", "frames", "tables", "parameters", "inputs", "signals", "systems", "changes"]),
    st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=5), KINDS, st.booleans(),
)  # fmt: skip
@example("joints", {"between": ["world", "a"], "q": [None]}, "revolute", True)
def test_any_values_in_any_field(section: str, fields: dict[str, Any], kind: str, joined: bool) -> None:
    if section in ("joints", "elements", "constraints"):
        fields = {"kind": kind, **({"between": ["world", "a"]} if joined else {}), **fields}
    model: dict[str, Any] = {
        "kinode": 1,
        "bodies": {"a": {"mass": 1}},
        "joints": {"j": {"kind": "fixed", "between": ["world", "a"]}},
    }
    model.setdefault(section, {})["a" if section == "changes" else "x"] = fields
    read(to_yaml(model))


def to_yaml(value: Any) -> str:
    """JSON, but for the numbers that JSON does not have."""
    import json

    text = json.dumps(value)
    return re.sub(
        r"-?\b(Infinity|NaN)\b", lambda m: {"Infinity": ".inf", "-Infinity": "-.inf"}.get(m.group(), ".nan"), text
    )
