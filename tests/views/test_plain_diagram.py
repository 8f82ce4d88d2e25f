"""The circuit diagram as plain data: boxes, ports with their domains, links with their lines."""

import json
from itertools import pairwise
from pathlib import Path

import pytest

import kinode as kn

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(scope="module")
def motor_axis():
    return kn.diagram(EXAMPLES / "motor_axis.yaml")


def test_the_data_are_plain_and_say_what_the_picture_says(motor_axis):
    data = json.loads(json.dumps(motor_axis.data))
    assert data == motor_axis.data
    assert {box["name"]: box["role"] for box in data["boxes"]} == motor_axis.components
    ends = {x["name"]: tuple((e["component"], e["port"]) for e in x["ends"]) for x in data["links"]}
    assert ends == motor_axis.links
    assert tuple(data["extent"][2:]) == motor_axis.size


def test_ports_have_domains(motor_axis):
    ports = {box["name"]: {port["name"]: port for port in box["ports"]} for box in motor_axis.data["boxes"]}
    assert {name: port["domain"] for name, port in ports["motor"].items()} == {
        "plus": "electrical", "minus": "electrical", "shaft": "rotational",
    }  # fmt: skip
    assert ports["motor"]["minus"]["reference"] and not ports["motor"]["plus"]["reference"]
    assert ports["elbow"]["2"]["kind"] == "vector" and ports["elbow"]["3"]["domain"] == "rotational"
    assert ports["elbow"]["3"]["links"] == ["elbow.3"]
    assert ports["target"]["out"]["out"] and ports["target"]["out"]["kind"] == "information"


def test_ports_lie_on_the_edges_of_their_boxes_and_lines_end_there(motor_axis):
    for box in motor_axis.data["boxes"]:
        (x, y), (width, height) = box["at"], box["size"]
        for port in box["ports"]:
            px, py = port["at"]
            edge = {"left": px == x - width / 2, "right": px == x + width / 2,
                    "top": py == y - height / 2, "bottom": py == y + height / 2}  # fmt: skip
            assert edge[port["side"]], (box["name"], port)
    for link in motor_axis.data["links"]:
        corners = [tuple(point) for line in link["path"] for point in line]
        assert {tuple(end["at"]) for end in link["ends"]} <= set(corners), link["name"]
        assert all(a[0] == b[0] or a[1] == b[1] for line in link["path"] for a, b in pairwise(line))
