"""The fixtures that the page's own tests read are what kinode gives now."""

import base64
import json
import zlib
from itertools import pairwise

import numpy as np
import pytest
from web_fixtures import FOLDER, LED, ROOT, ROUTED, STATES, WAYPOINTS, rotor_fixture, routed_circuit

from kinode.player.packet import read_packet


def test_the_rotor_is_as_stored():
    stored = json.loads((FOLDER / "rotor.json").read_text(encoding="utf-8"))
    current = rotor_fixture()
    assert stored["t"] == current["t"]
    for part, arrays in current["numbers"].items():
        for name, values in arrays.items():
            assert np.allclose(stored["numbers"][part][name], values, rtol=1e-6, atol=1e-6), (part, name)


def test_the_packet_of_the_rotor_holds_the_loads():
    """In world axes, which are those of the joint: its parent is the world."""
    stored = json.loads((FOLDER / "rotor.json").read_text(encoding="utf-8"))
    header, arrays = read_packet(zlib.decompress(base64.b64decode(stored["packet"])))
    row = next(joint["load"] for joint in header["joints"] if joint["name"] == "shaft")
    loads = arrays["loads.total"][row][:, list(STATES)].T
    expected = np.hstack([stored["numbers"]["total"]["force"], stored["numbers"]["total"]["moment"]])
    assert np.abs(loads - expected).max() < 1e-5 * np.abs(expected).max()


@pytest.mark.parametrize("example", ROUTED)
def test_links_are_routed_as_stored(example):
    stored = json.loads((FOLDER / "routes.json").read_text(encoding="utf-8"))
    assert stored[example] == routed_circuit(ROOT / "examples" / f"{example}.yaml", ROUTED[example])


def test_links_are_led_through_waypoints():
    """Those of ``middle`` lie inside a part, and are left out."""
    stored = json.loads((FOLDER / "routes.json").read_text(encoding="utf-8"))[LED]
    current = routed_circuit(ROOT / "examples" / "rlc.yaml", 600.0, WAYPOINTS)
    assert stored == current
    for name in ("supply", "top"):
        (line,) = current["lines"][name]["path"]
        for x, y in WAYPOINTS[name]:
            spans = pairwise(line)
            assert any(
                min(a[0], b[0]) <= x <= max(a[0], b[0]) and min(a[1], b[1]) <= y <= max(a[1], b[1]) for a, b in spans
            )
