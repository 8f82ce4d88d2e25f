"""The sketch of a model: places that are kept, open ports, broken parts."""

import json
from pathlib import Path

import pytest

import kinode as kn
from kinode.studio.editor.drawn_circuit import BrokenPart
from kinode.studio.editor.sketch import Sketcher

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
MODELS = sorted(EXAMPLES.glob("*.yaml"))


def draw(name, **given):
    return Sketcher(kn.load(EXAMPLES / name), **given).draw(1)


def boxes_of(sketch):
    return {box["name"]: box for box in sketch["boxes"]}


def ports_of(box):
    return {port["name"]: port for port in box["ports"]}


@pytest.mark.parametrize("file", MODELS, ids=lambda path: path.stem)
def test_every_example_is_drawn_as_its_diagram_is(file):
    system = kn.load(file)
    sketch = Sketcher(system).draw()
    assert json.loads(json.dumps(sketch)) == sketch
    data = kn.diagram(system).data
    assert {box["name"] for box in data["boxes"]} == {box["name"] for box in sketch["boxes"]}
    ends = {link["name"]: {(e["component"], e["port"]) for e in link["ends"]} for link in data["links"]}
    assert ends == {link["name"]: {(e["component"], e["port"]) for e in link["ends"]} for link in sketch["links"]}


@pytest.mark.parametrize("file", MODELS, ids=lambda path: path.stem)
def test_ports_are_on_the_edges_and_do_not_coincide(file):
    for box in Sketcher(kn.load(file)).draw()["boxes"]:
        (x, y), (width, height) = box["at"], box["size"]
        for port in box["ports"]:
            px, py = port["at"]
            assert abs(px - x) == width / 2 or abs(py - y) == height / 2, (box["name"], port)
        assert len({tuple(port["at"]) for port in box["ports"]}) == len(box["ports"]), box["name"]


def test_what_is_connected_says_so():
    boxes = boxes_of(draw("motor_axis.yaml"))
    motor, elbow, arm = ports_of(boxes["motor"]), ports_of(boxes["elbow"]), ports_of(boxes["arm"])
    assert motor["minus"]["reference"] == "gnd" and not motor["minus"]["open"]
    assert motor["plus"]["field"] == ["plus"] and motor["plus"]["domain"] == "electrical"
    assert elbow["1"]["reference"] == "world" and elbow["1"]["field"] == ["between", "0"]
    assert elbow["3"]["domain"] == "rotational" and not elbow["3"]["open"]
    assert arm["body"]["open"] and arm["body"]["kind"] == "vector"
    assert ports_of(boxes["amplifier"])["in controller"]["field"] == ["modulation"]


def test_ports_with_nothing_at_them_are_open():
    system = kn.System("start")
    system.body("arm", mass=1.0)
    system.revolute("pivot", "world", "arm")
    system.element("supply", "voltage_source", plus="n1", minus="gnd", voltage=12.0)
    boxes = boxes_of(Sketcher(system).draw())
    assert ports_of(boxes["pivot"])["3"]["open"]
    supply = ports_of(boxes["supply"])
    assert supply["plus"]["open"] and not supply["minus"]["open"]
    assert supply["voltage"]["kind"] == "information" and supply["voltage"]["open"]


def test_given_places_are_kept_on_the_grid_and_others_do_not_cover_them():
    first = draw("rlc.yaml")
    taken = boxes_of(first)["tank"]["at"]
    moved = draw("rlc.yaml", places={"coil": [taken[0] + 3, taken[1]]})
    boxes = boxes_of(moved)
    assert boxes["coil"]["at"] == taken and boxes["coil"]["pinned"] and not boxes["tank"]["pinned"]
    assert boxes["tank"]["at"] != taken
    for one in moved["boxes"]:
        for other in moved["boxes"]:
            if one["name"] < other["name"]:
                apart = [abs(a - b) - (u + v) / 2 for a, b, u, v in
                         zip(one["at"], other["at"], one["size"], other["size"])]  # fmt: skip
                assert max(apart) >= 0, (one["name"], other["name"])


def test_what_a_field_is_drawn_as_stands_below_its_component():
    boxes = boxes_of(draw("motor_axis.yaml", places={"elbow": [900, 500], "motor": [0, 0]}))
    x, y = boxes["elbow.damping"]["at"]
    assert x == 900 and 500 < y <= 620


def test_all_places_given_give_the_same_places():
    first = Sketcher(kn.load(EXAMPLES / "motor_axis.yaml"))
    again = Sketcher(kn.load(EXAMPLES / "motor_axis.yaml"), places=first.positions())
    assert again.positions() == first.positions()
    assert [box["ports"] for box in again.draw()["boxes"]] == [box["ports"] for box in first.draw()["boxes"]]


def test_a_part_that_could_not_be_built_is_drawn_with_its_words_and_its_links():
    system = kn.load(EXAMPLES / "rlc.yaml")
    broken = [
        BrokenPart("lamp", "elements", "resistor", "needs its resistance", {"plus": "top", "minus": "gnd"}),
        BrokenPart("odd", "elements", "rezistor", "no such kind", {}),
        BrokenPart("link", "bodies", "", "mass must be positive", {}),
    ]
    sketch = Sketcher(system, broken).draw()
    boxes = boxes_of(sketch)
    assert boxes["lamp"]["broken"] == "needs its resistance" and boxes["coil"]["broken"] is None
    assert ports_of(boxes["lamp"])["minus"]["reference"] == "gnd"
    top = next(link for link in sketch["links"] if link["name"] == "top")
    assert {"component": "lamp", "port": "plus"} in top["ends"]
    assert boxes["odd"]["kind"] == "rezistor" and boxes["link"]["role"] == "SB"


def test_nothing_is_drawn_of_an_empty_model():
    sketch = Sketcher(kn.System("empty")).draw()
    assert sketch["boxes"] == [] and sketch["links"] == []


def test_a_joint_that_hangs_in_the_air_is_drawn():
    system = kn.System("loose")
    system.body("a", mass=1.0)
    system.body("b", mass=1.0)
    system.revolute("hinge", "a", "b")
    sketch = Sketcher(system).draw(routed=True)
    assert {box["name"] for box in sketch["boxes"]} == {"a", "b", "hinge"}
    assert len(sketch["links"]) == 2 and all(link["path"] for link in sketch["links"])
