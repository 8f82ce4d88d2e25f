"""The catalogue of the studio: every kind, with symbol, ports and fields, plug-ins included."""

import json
from xml.etree import ElementTree

import pytest

import kinode as kn
from kinode.model.base.element import ELEMENTS
from kinode.model.constraints.constraint import CONSTRAINTS
from kinode.model.joints.joint import JOINTS
from kinode.studio.editor.kinds import find_domain, make_catalogue


@pytest.fixture(scope="module")
def catalogue():
    return make_catalogue()


def test_every_registered_kind_is_in_it_once_and_it_is_plain(catalogue):
    kinds = [row["kind"] for row in catalogue["kinds"]]
    assert len(kinds) == len(set(kinds))
    assert {*JOINTS, *CONSTRAINTS, *ELEMENTS, "body", "signal", "input", "parameter"} == set(kinds)
    assert json.loads(json.dumps(catalogue)) == catalogue


def test_every_kind_has_words_a_symbol_and_a_known_domain(catalogue):
    domains = {domain["name"] for domain in catalogue["domains"]}
    for row in catalogue["kinds"]:
        assert row["words"].endswith(".") and "``" not in row["words"], row["kind"]
        assert row["domain"] in domains
        ElementTree.fromstring(f"<g>{row['symbol']}</g>")
        names = [field["name"] for field in row["fields"]]
        assert len(names) == len(set(names)), row["kind"]


def test_ports_are_on_the_edge_of_the_box_and_do_not_coincide(catalogue):
    for row in catalogue["kinds"]:
        width, height = row["size"]
        places = [tuple(port["at"]) for port in row["ports"]]
        assert len(set(places)) == len(places), row["kind"]
        for x, y in places:
            assert abs(x) == width / 2 or abs(y) == height / 2, row["kind"]


def test_fields_say_unit_default_and_whether_they_are_needed(catalogue):
    motor = next(row for row in catalogue["kinds"] if row["kind"] == "dc_motor")
    fields = {field["name"]: field for field in motor["fields"]}
    assert fields["constant"]["required"] and fields["constant"]["unit"] == "N*m/A"
    assert fields["slip"]["default"] == "0.01 rad/s" and not fields["slip"]["required"]
    assert fields["torque_constant"]["instead"] == ["constant"]


def test_words_of_other_programs_find_a_kind(catalogue):
    hinge = next(row for row in catalogue["kinds"] if "hinge" in row["keywords"])
    assert hinge["kind"] == "revolute"


def test_a_kind_of_a_plug_in_is_in_it_by_itself():
    @kn.register("test_winch")
    class Winch(kn.Element):
        """Winds a rope."""

        on: object = kn.fields.frame("what it pulls")

    try:
        row = next(row for row in make_catalogue()["kinds"] if row["kind"] == "test_winch")
        assert row["words"] == "Winds a rope." and row["domain"] == "forces"
        assert [port["name"] for port in row["ports"]] == ["on"]
    finally:
        del ELEMENTS["test_winch"]


def test_parts_are_found_under_their_domain():
    assert find_domain(ELEMENTS["resistor"]) == "electrical"
    assert find_domain(ELEMENTS["dc_motor"]) == "machines"
    assert find_domain(ELEMENTS["pid"]) == "signals"
    assert find_domain(JOINTS["revolute"]) == "mechanism"
