"""Strategies of hypothesis for what a person, or a broken page, does to the text of a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from kinode.editing.draft import ModelDraft

PASTED = (
    "elements:\n  r: {kind: resistor, plus: a, minus: gnd, resistance: 1}\n", "bodies: {b: {mass: 1}}", "x", "[1, 2]",
    "bodies: [", "elements:\n\tr: 1", "joints: {j: {kind: revolute, between: [world, nobody]}}", "kinode: 1\nname: z",
    "bodies: {world: {mass: 1}}", "bodies: {b: &a {mass: 1}, c: *a}", "elements: {\"'\": 3}", "notes: 3", "\0",
    "---\n---",
)  # fmt: skip
TYPED = (
    "{", "}", "[", "]", ": ", ", ", "#", "&a", "*a", "null", "\n", "\n  ", "  x: 1\n", "é", "😀", "\r", "\t", "'", '"',
    "- ", "elements:\n", "bodies: {}\n", "---\n", "1e400", "\u2028", "gnd", "world", "|", "? ",
)  # fmt: skip
PLACES = st.floats(-500, 500) | st.sampled_from([float("nan"), float("inf"), 1e9, "1", None])
POINTS = st.lists(PLACES, min_size=1, max_size=3)
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["do", "name", "at", "to"]), inner),
    max_leaves=4,
)


@st.composite
def gestures(draw: Any, text: str, path: Path) -> dict[str, Any]:
    """Any gesture, sensible or not, at the components of a text."""
    draft = ModelDraft(text, path)
    names = list(draft.places.paths)
    name = st.sampled_from([*names, "nobody", "world"])
    ports = ["1", "2", "3", "a", "b", "plus", "minus", "shaft", "on", "out", "in target", "input", "output", ""]
    end = st.fixed_dictionaries({"component": name, "port": st.sampled_from(ports)})
    other = end | st.fixed_dictionaries({"reference": st.sampled_from(["gnd", "world"])})
    kinds = ["body", "revolute", "resistor", "dc_motor", "pid", "force", "parameter", "signal", "gear", "nonsense"]
    paths = st.sampled_from([["mass"], ["com", 0], ["damping"], ["kind"], ["frames", "tip"], ["value"], ["law"], ["a"]])
    value = st.sampled_from(["1", "2 kg", "[1, 0, max(0, t)]", "{x: 1}", "a: b #c", "'", '"', "*x", "- 1", "é ∞"])
    words = {
        "add": {"kind": st.sampled_from(kinds)},
        "set": {"name": name, "path": paths, "value": st.none() | value | st.text(max_size=6)},
        "connect": {"from": end, "to": other},
        "disconnect": {"component": name, "port": st.sampled_from(ports)},
        "delete": {"names": st.lists(name, min_size=1, max_size=3)},
        "rename": {"name": name, "to": st.sampled_from(["fresh", "x", "world", "1", *names[:2]])},
        "duplicate": {"names": st.lists(name, min_size=1, max_size=3)},
        "group": {"what": st.sampled_from(["link", "drive", "axis", "pid_loop"]), "on": st.none() | name},
        "paste": {"text": st.sampled_from(PASTED) | st.text(max_size=12)},
    }
    do = draw(st.sampled_from(list(words)))
    return {"do": do, **draw(st.fixed_dictionaries(words[do]))}


def edits_of(text: str) -> st.SearchStrategy[list[list[Any]]]:
    """Edits as an editor sends them, and some that it would not."""
    place = st.integers(-1, len(text) + 1)
    near = st.tuples(place, st.integers(0, 9), st.sampled_from(TYPED) | st.text(max_size=3))
    return st.lists(near.map(lambda one: [one[0], one[0] + one[1], one[2]]), min_size=1, max_size=2)


@st.composite
def desk_gestures(draw: Any, text: str, path: Path) -> Any:
    """Any gesture that may reach a desk: of the text, of the drawing, several together, or none at all."""
    what = draw(st.sampled_from(["do", "do", "do", "text", "text", "move", "waypoints", "tidy", "all", "junk"]))
    if what == "do":
        gesture = draw(gestures(text, path))
        return {**gesture, "at": draw(POINTS)} if draw(st.booleans()) else gesture
    if what == "text":
        return {"do": "text", "edits": draw(edits_of(text))}
    if what == "all":
        return {"do": "all", "gestures": draw(st.lists(gestures(text, path), max_size=3))}
    if what == "junk":
        junk = draw(JUNK)
        return {**junk, "do": draw(st.sampled_from([*GESTURES, "fly"]))} if isinstance(junk, dict) else junk
    name = st.sampled_from(["arm", "coil", "n1", "nobody"])
    fields = {
        "move": {"places": st.dictionaries(name, POINTS, max_size=2)},
        "waypoints": {"link": name, "points": st.none() | st.lists(POINTS, max_size=2)},
        "tidy": {},
    }
    return {"do": what, **draw(st.fixed_dictionaries(fields[what]))}


GESTURES = (
    "add", "set", "connect", "disconnect", "delete", "rename", "duplicate", "group", "paste", "text", "move",
    "waypoints", "all",
)  # fmt: skip
