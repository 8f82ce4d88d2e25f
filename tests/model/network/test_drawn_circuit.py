"""Circuits entered as drawn: what comes of them, and what does not fit."""

import pytest

import kinode as kn

ARM = {
    "base": {"kind": "base"},
    "pin": {"kind": "revolute", "axis": "z"},
    "bar": {"kind": "body", "mass": 2, "inertia": (0.1, 0.1, 0.1), "links": {1: (-0.3, 0, 0), "end": (0.3, 0, 0)}},
    "motor": {"kind": "speed_source", "speed": "sin(t)"},
    "weight": {"kind": "force", "force": (0, -3, 0)},
    "brace": {"kind": "spring", "stiffness": 100, "free_length": 0.5},
}
WIRES = "base-pin.1; pin.2-bar.1; motor-pin.3; bar.end-weight; bar.end-brace.1; base-brace.2"


def test_what_is_drawn_is_what_is_written():
    drawn, written = kn.System("arm"), kn.System("arm")
    drawn.connect(WIRES, ARM)
    bar = written.body("bar", mass=2, inertia=(0.1, 0.1, 0.1))
    bar.at(-0.3, 0, 0, name="link1")
    bar.at(0.3, 0, 0, name="end")
    written.revolute("pin", written.world, "bar.link1")
    written.speed_source("motor", "pin.3", speed="sin(t)")
    written.force("weight", "bar.end", (0, -3, 0))
    written.spring("brace", "bar.end", written.world, stiffness=100, free_length=0.5)
    assert drawn == written


def test_nodes_of_ports_are_named_or_made():
    rlc = kn.System("rlc")
    rlc.connect(
        ["E.1-R.plus", "R.2 - L.1", "L.2-C.plus", "L.2-top", "C.minus-gnd", "E.minus-gnd"],
        {
            "E": {"kind": "voltage_source", "voltage": 12},
            "R": {"kind": "resistor", "resistance": 20},
            "L": {"kind": "inductor", "inductance": 0.1},
            "C": {"kind": "capacitor", "capacitance": 1e-5},
        },
    )
    ports = {tuple(sorted(".".join(port) for port in node.ports)) for node in rlc.nodes.values()}
    assert ports == {("E.plus", "R.plus"), ("L.plus", "R.minus"), ("C.plus", "L.minus"), ("C.minus", "E.minus")}
    assert {"top", "gnd"} <= rlc.nodes.keys()


@pytest.mark.parametrize("wires", ["drag-pin.3; rotor-drag", "rotor-drag; pin.3-rotor", "drag-pin.3; rotor-pin.3"])
def test_ports_that_are_connected_to_each_other_share_the_joint(wires):
    system = kn.System("arm")
    loads = {"drag": {"kind": "shaft_damper", "damping": 1}, "rotor": {"kind": "shaft_inertia", "inertia": 1}}
    kept = {name: ARM[name] for name in ("base", "pin", "bar")}
    system.connect(f"base-pin.1; pin.2-bar.1; {wires}", {**kept, **loads})
    assert set(system.nodes["pin"].ports) == {("drag", "a"), ("rotor", "shaft")}


@pytest.mark.parametrize(
    "wires, said",
    [
        ("base-pin.1", "pin.connections: its link 2 is not connected"),
        ("base-pin.4", "pin.4: a joint has the links 1, 2 and 3"),
        ("base-pim.1", "no component is called 'pim'; did you mean pin"),
        ("base pin.1", "is no connection: write two ends"),
        ("bar.1-bar.end", "a link of a body and a link of a body do not fit"),
        ("motor-pin.2", "a port and a side of a joint do not fit"),
        ("bar.9-pin.1", "bar.9: there is no such link; it has 1, end"),
        (WIRES + "; pin.2-bar.end", "pin.2 is connected already, to bar.1"),
        ("motor-pin.3; motor-top", "pin.3 and top would be one node"),
        ("base-pin.3", "a link of a body and the link of a joint's freedoms do not fit"),
        (3, "a list of connections is expected"),
    ],
)
def test_what_cannot_be_connected(wires, said):
    system = kn.System("arm")
    with pytest.raises(kn.ModelError, match=said):
        system.connect(wires, ARM)
    assert not system.components  # nothing is left behind


def test_components_need_a_kind_that_there_is():
    with pytest.raises(kn.ModelError, match=r"a.kind: no component is called 'resistr'; did you mean resistor"):
        kn.System("s").connect("a-b", {"a": {"kind": "resistr"}})
    with pytest.raises(kn.ModelError, match=r"a.kind: needs its kind"):
        kn.System("s").connect("a-b", {"a": {}})
    with pytest.raises(kn.ModelError, match=r"x and y would be one node"):
        kn.System("s").connect("x-a.1; a.1-y", {"a": {"kind": "resistor", "resistance": 1}})


@pytest.mark.parametrize(
    "name, field, said",
    [("base", "mass", "base.mass: the base is the world"), ("pin", "links", "a revolute has no field 'links'")],
)
def test_no_field_is_passed_over(name, field, said):
    with pytest.raises(kn.ModelError, match=said):
        kn.System("arm").connect(WIRES, {**ARM, name: {**ARM[name], field: 3}})


def test_an_error_in_a_file_has_its_line():
    parts = "{base: {kind: base}, pin: {kind: revolute}}"
    text = f"kinode: 1\nname: s\ncircuit:\n  connections: [base-pin.4]\n  components: {parts}\n"
    with pytest.raises(kn.ModelError, match=r"pin.4: a joint has") as error:
        kn.loads(text)
    assert error.value.line is not None
    with pytest.raises(kn.ModelError, match=r"a circuit has no field 'wires'"):
        kn.loads("kinode: 1\nname: s\ncircuit: {wires: []}\n")
    with pytest.raises(kn.ModelError, match=r"components are a mapping of names"):
        kn.loads("kinode: 1\nname: s\ncircuit: {components: [1, 2]}\n")
