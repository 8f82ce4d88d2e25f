"""Nodes of networks: they are made by being named; names of their quantities; references."""

import pytest
from networks import elbow_circuit

import kinode as kn
from kinode.model.base.element import ELEMENTS
from kinode.model.network.nodes import shift_groups
from kinode.model.quantities import find_quantity
from kinode.results.run_quantities import known_names
from kinode.structure.network_equations import NetworkEquations


def test_nodes_are_made_by_being_named():
    nodes = elbow_circuit().nodes
    assert nodes["bus"].ports == (("supply", "plus"), ("motor", "plus"))
    assert nodes["gnd"].reference and nodes["gnd"].kind == "electrical"
    assert (nodes["elbow"].joint, nodes["elbow"].coordinate, nodes["elbow"].kind) == ("elbow", 0, "rotational")
    assert (nodes["slide.travel"].coordinate, nodes["slide.angle"].coordinate) == (0, 1)
    assert nodes["world.angle"].reference and nodes["world.position"].kind == "translational"


def test_quantities_of_parts_ports_and_nodes_have_names_and_units():
    system = elbow_circuit()
    system.check()
    for text, owner, quantity, unit in (
        ("motor.current", "motor", "current", "current"),
        ("motor.plus.current", "motor", "plus.current", "current"),
        ("motor.shaft.speed", "motor", "shaft.speed", "angular_velocity"),
        ("motor.lost", "motor", "lost", "power"),
        ("bus.voltage", "bus", "voltage", "voltage"),
    ):
        found = find_quantity(system, text)
        assert (found.owner, found.quantity, found.dimension, found.size) == (owner, quantity, unit, ())
    known = known_names(system)
    assert {"bus.voltage", "motor.power", "supply.minus.current"} <= set(known)
    assert len(known) == len(set(known)) and "bus.current" not in known
    for name in known:
        find_quantity(system, name)


def test_at_a_joint_the_words_of_networks_and_of_joints_are_the_same():
    rows = NetworkEquations(elbow_circuit())
    for text, meaning in (
        ("elbow.angle", "elbow.q"),
        ("elbow.speed", "der(elbow.q)"),
        ("slide.angle.speed", "der(slide.q.angle)"),
        ("slide.travel.position", "slide.q.travel"),
    ):
        assert rows.meaning(text).text() == meaning
        found = find_quantity(rows.system, text)
        assert found.quantity == ("u" if "der" in meaning else "q") and found.sort == "joint"


@pytest.mark.parametrize(
    "text, said",
    [
        ("motor", "motor is a part, and no number; did you mean motor"),
        ("motor.curent", "did you mean current"),
        ("bus", "bus is a node, and no number; did you mean bus.voltage"),
        ("bus.current", "bus has no quantity 'current'"),
        ("bsu.voltage", "nothing is called 'bsu'; did you mean bus"),
        ("bus.voltage@arm", "no axes"),
    ],
)
def test_names_that_do_not_exist(text, said):
    with pytest.raises(kn.LawError, match=said):
        find_quantity(elbow_circuit(), text)


@pytest.mark.parametrize(
    "port, said",
    [
        ("slide", "slide has several freedoms: write slide.travel or slide.angle"),
        ("slide.travel", "is rotational, and slide.travel slides: it takes a translational port"),
        ("slide.spin", "slide has no freedom 'spin'"),
        ("weld", "weld is fixed and has no freedom"),
        ("ball", "ball has several freedoms"),
        ("ball.w", "ball has no freedom .w.; it has x, y, z"),
        ("arm", "arm is a body; a node, a joint or the world is expected"),
        ("motor.shaft", "motor is an element.*ports that name the same node"),
        ("bus", "is rotational, and bus is electrical by supply.plus"),
        ("nowhere", "is left open: nothing else is connected to 'nowhere'"),
    ],
)
def test_what_a_shaft_cannot_be_connected_to(port, said):
    system = elbow_circuit()
    system.fixed("weld", system["arm"], system.body("tool", mass=1))
    system.spherical("ball", system["arm"], system.body("knob", mass=1, inertia=(1, 1, 1)))
    system.shaft_damper("wrong", port, damping=1)
    with pytest.raises(kn.ModelError, match=said) as error:
        system.check()
    assert (error.value.component, error.value.field) == ("wrong", "a")


@pytest.mark.parametrize(
    "end, said",
    [
        ("gnd", "is rotational: its reference is world, not gnd"),
        ("t", "reserved"),
        ("in", "'in' is reserved, a word of laws.*such as in_node"),
        ("system", "reserved"),
        (3, "a node's name is expected"),
        ("two words", "a node's name is expected"),
        ("", "a node's name is expected"),
        (None, "a node's name is expected"),
        (["a"], "a node's name is expected"),
    ],
)
def test_what_is_no_name_of_a_node(end, said):
    with pytest.raises(kn.ModelError, match=said) as error:
        kn.System("s").shaft_damper("wrong", end, damping=1)
    assert (error.value.component, error.value.field) == ("wrong", "a")


def test_a_misspelled_node_is_guessed():
    system = elbow_circuit()
    system.resistor("lamp", "buss", "gnd", resistance=3)
    with pytest.raises(kn.ModelError, match=r"lamp\.plus: is left open.*'buss'; did you mean bus"):
        system.check()


def test_the_reference_is_guessed_once():
    system = elbow_circuit()
    system.resistor("lamp", "bus", "gdn", resistance=3)
    with pytest.raises(kn.ModelError, match=r"'gdn'; did you mean gnd\?$"):
        system.check()


def test_a_name_that_an_element_has_is_refused_in_good_english():
    with pytest.raises(kn.ModelError, match="'supply' is taken by an element already"):
        elbow_circuit().resistor("supply", "bus", "gnd", resistance=3)
    with pytest.raises(kn.ModelError, match="the name comes first"):
        elbow_circuit().add(elbow_circuit(), "other")


def test_a_name_taken_later_is_no_node():
    system = kn.System("s")
    system.resistor("r", "mid", "gnd", resistance=1)
    system.resistor("other", "mid", "gnd", resistance=1)
    system.check()
    system.signal("mid", "3")
    with pytest.raises(kn.ModelError, match=r"r\.plus: mid is a signal"):
        system.check()


# -- references --------------------------------------------------------------------------------------------
def test_parts_tie_ports_together_or_to_the_reference():
    def groups(kind, domain):
        cls = ELEMENTS[kind]
        return [(set(group.ports), group.anchored) for group in shift_groups(cls, cls.class_rows(), domain)]

    assert groups("resistor", "electrical") == [({"plus", "minus"}, False)]
    assert groups("shaft_inertia", "rotational") == [({"shaft"}, True)]
    coils = groups("transformer", "electrical")  # two circuits that know nothing of each other's level
    assert coils == [({"plus", "minus"}, False), ({"second_plus", "second_minus"}, False)]
    assert groups("dc_motor", "electrical") == [({"plus", "minus"}, False)]


def test_a_piece_without_a_reference_is_named():
    system = elbow_circuit()
    system.transformer("coils", "bus", "gnd", "up", "down", ratio=2)
    system.resistor("load", "up", "down", resistance=3)
    with pytest.raises(kn.ModelError, match=r"coils, load: no reference.*connect one of up, down to gnd"):
        system.check()
    system.resistor("earth", "down", "gnd", resistance=1e6)
    system.check()


def test_free_masses_need_no_reference():
    system = kn.System("s")
    system.shaft_inertia("one", "a", inertia=1)
    system.shaft_inertia("two", "b", inertia=1)
    system.shaft_spring("between", "a", "b", stiffness=1)
    system.check()
    floating = kn.System("s")
    floating.shaft_damper("one", "a", "b", damping=1)
    floating.shaft_spring("two", "a", "b", stiffness=1)
    with pytest.raises(kn.ModelError, match=r"one, two: no reference.*to world or to a joint"):
        floating.check()
