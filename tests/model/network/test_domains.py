"""Domains as data: what a declaration has to say, what is refused, files and copies; heat ports."""

import pickle
from unittest.mock import patch

import numpy as np
import pytest
from networks import AMBIENT, CAPACITY, THERMAL, add_thermal

import kinode as kn
from kinode.model.base.element import ELEMENTS
from kinode.model.network.domain import DOMAINS, plural


def heated(**fields):
    """A resistor that warms a capacity, which cools to the ambient."""
    system = add_thermal(kn.System("heated"))
    system.voltage_source("source", "bus", "gnd", voltage=10)
    system.resistor("wire", "bus", "gnd", **{"resistance": 5, "heat": "core", **fields})
    system.element("core_mass", "heat_capacity", node="core", capacity=40)
    system.element("air", "heat_conductance", a="core", conductance=2)
    return system


def test_the_three_domains_are_declarations():
    assert list(DOMAINS)[:3] == ["electrical", "rotational", "translational"]
    assert {name: (d.potential, d.flow, d.reference, d.position) for name, d in list(DOMAINS.items())[:3]} == {
        "electrical": ("voltage", "current", "gnd", None),
        "rotational": ("speed", "moment", "world", "angle"),
        "translational": ("speed", "force", "world", "position"),
    }
    assert all(domain.product_is_power for domain in list(DOMAINS.values())[:3])


def test_whether_the_product_is_a_power_follows_from_the_units():
    system = add_thermal(kn.System("s"))
    assert not system.domains["thermal"].product_is_power
    hydraulic = system.domain(
        "hydraulic", potential={"pressure": "Pa"}, flow={"volume_flow": "m^3/s"}, reference="tank"
    )
    assert hydraulic.product_is_power and hydraulic.port_power("a") == "a.pressure*a.volume_flow"
    assert system.domains["thermal"].port_power("a") == "a.heat_flow"


@pytest.mark.parametrize(
    "changes, said",
    [
        ({"potential": None}, "thermal.potential: is needed"),
        ({"flow": "W"}, "thermal.flow: takes one word with its SI unit"),
        ({"flow": {"heat_flow": "furlong"}}, "thermal.flow: .*furlong"),
        ({"flow": {"temperature": "W"}}, "different names"),
        ({"flow": {"power": "W"}}, "cannot name a quantity"),
        ({"flow": {"heat": "J"}, "letters": None}, "neither temperature times heat, .* is a power"),
        ({"power": "product"}, "thermal.power: temperature times heat_flow is .*, no power"),
        ({"power": "both"}, "is product or flow"),
        ({"reference": None}, "thermal.reference: is needed"),
        ({"reference": "gnd"}, "gnd is the reference of the domain electrical"),
        ({"reference": {"ambient": "3 m"}}, "thermal.reference: .*K"),
        ({"reference": "body"}, "body is a component already"),
        ({"position": {"heat": "m"}}, "the rate of heat is .*, and temperature is in K"),
        ({"letters": {"heat": "Q"}}, "no field 'heat'"),
        ({"symbol": "tree"}, "is ground or base"),
        ({"potentials": {}}, "a domain has no field 'potentials'; did you mean potential"),
    ],
)
def test_what_a_declaration_cannot_say(changes, said):
    system = kn.System("s")
    system.body("body", mass=1)
    with pytest.raises(kn.ModelError, match=said):
        system.domain("thermal", **{**THERMAL, **changes})
    assert not system.domains


def test_names_of_references_are_taken():
    system = add_thermal(kn.System("s"))
    with pytest.raises(kn.ModelError, match=r"'ambient' is taken by a reference node"):
        system.body("ambient", mass=1)
    with pytest.raises(kn.ModelError, match=r"the domain 'electrical' is there already"):
        system.domain("electrical", **THERMAL)


def test_what_is_wrong_in_a_circuit_with_heat():
    wrong = heated()
    wrong.resistor("r", "bus", "core", resistance=1)
    with pytest.raises(kn.ModelError, match=r"r.minus: is electrical, and core is thermal by wire.heat"):
        wrong.check()
    lost = heated()
    lost.element("far", "heat_conductance", a="cor", conductance=1)
    with pytest.raises(kn.ModelError, match=r"'cor'; did you mean core"):
        lost.check()
    floating = add_thermal(kn.System("floating"))
    floating.element("one", "heat_conductance", a="x", b="y", conductance=1)
    floating.element("two", "heat_conductance", a="x", b="y", conductance=1)
    with pytest.raises(
        kn.ModelError, match=r"the temperature of every node is left open; connect one of x, y to ambient$"
    ):
        floating.check()
    with pytest.raises(kn.ModelError, match=r"'termal' is not one of electrical, rotational, translational, thermal"):
        floating.define("bad", ports={"a": "termal"}, equations={"x": "a.heat_flow = 0"})
    with pytest.raises(kn.LawError, match=r"no quantity is called 'a.temprature'; did you mean a.temperature"):
        floating.define("bad", ports={"a": "thermal"}, equations={"x": "a.heat_flow = a.temprature"})
    with pytest.raises(kn.ModelError, match=r"is thermal: its reference is ambient, not gnd"):
        floating.element("three", "heat_conductance", a="x", b="gnd", conductance=1)


def test_two_given_temperatures_are_refused_in_the_words_of_the_domain():
    system = add_thermal(kn.System("s"))
    held = {"a": "thermal", "b": {"kind": "thermal", "default": "ambient"}}
    system.define("bath", ports=held, laws={"over": "K"},
                  equations={"through": "a.heat_flow + b.heat_flow = 0",
                             "held": "a.temperature - b.temperature = over"})  # fmt: skip
    system.element("one", "bath", a="x", over=3)
    system.element("two", "bath", a="x", over=4)
    with pytest.raises(kn.ModelError, match=r"loop of ideal temperature sources.*put a conductance in between"):
        kn.compile(system)


def test_heat_ports_are_refused_where_they_mean_nothing():
    system = heated()
    with pytest.raises(kn.ModelError, match=r"tank.heat: a capacitor loses nothing"):
        system.capacitor("tank", "bus", "gnd", capacitance=1, heat="core")
    with pytest.raises(kn.ModelError, match=r"wire.heat: no domain is declared whose flow is a power"):
        kn.System("cold").resistor("wire", "a", "b", resistance=1, heat="core")
    with pytest.raises(kn.ModelError, match=r"wire.heat: is thermal: its reference is ambient, not gnd"):
        heated(heat="gnd")


def test_heat_ports_come_and_go():
    system = heated()
    assert kn.loads(_saved(system)) == system
    again = pickle.loads(pickle.dumps(system["wire"]))
    assert again == system["wire"] and type(again) is type(system["wire"])
    system.change("wire", heat=None)
    assert "heat" not in system["wire"].ports() and type(system["wire"]) is type(heated(heat=None)["wire"])
    system.change("wire", heat="core")
    assert system == heated()


def _saved(system):
    from kinode.formats.yaml_writer import write_system

    return write_system(system, 1)


def test_subsystems_bring_their_domains():
    outer = kn.System("outer")
    outer.add("left", heated())
    outer.add("right", heated(), connect={"core": "left.core"})
    run = kn.simulate(outer, 5.0)
    assert run["left.core.temperature"][-1] > AMBIENT + 1
    assert outer.domains.keys() == {"thermal"} and {"ambient", "left.core"} <= outer.nodes.keys()
    other = kn.System("other")
    other.domain("thermal", **{**THERMAL, "reference": "ice"})
    with pytest.raises(kn.ModelError, match=r"its domain thermal has another meaning in other"):
        other.add("left", heated())


def test_a_plug_in_declares_a_domain_for_all_systems():
    with patch.dict(DOMAINS), patch.dict(ELEMENTS):
        kn.register_domain("thermal", **THERMAL)
        assert kn.register_domain("thermal", **THERMAL) is DOMAINS["thermal"]  # once more says nothing new
        with pytest.raises(kn.ModelError, match=r"'thermal' is there already, with another meaning"):
            kn.register_domain("thermal", **{**THERMAL, "reference": "ice"})

        @kn.register("test_leak")
        class Leak(kn.Part):
            """It takes a given heat away."""

            a: str = kn.port("thermal", "warm end")
            b: str = kn.port("thermal", "cold end", "ambient")
            draw: float = kn.number("power", "heat that it takes away")
            rows = (
                kn.Row("through", "a.heat_flow + b.heat_flow = 0"),
                kn.Row("law", "a.heat_flow = draw"),
            )

        system = kn.System("s")
        system.define("heat_capacity", **CAPACITY)
        system.element("leak", "test_leak", a="x", draw="20 W")
        system.element("mass", "heat_capacity", node="x", capacity=10)
        assert [domain.kind for domain in Leak.ports().values()] == ["thermal", "thermal"] and not system.domains
        assert kn.simulate(system, 3.0)["x.temperature"][-1] == pytest.approx(AMBIENT - 6.0)
    assert "thermal" not in DOMAINS
    with pytest.raises(kn.ModelError, match=r"no kind of port is called 'thermal'"):
        kn.port("thermal", "one end")


@pytest.mark.parametrize("word, words", [("heat_flow", "heat flows"), ("viscosity", "viscosities"), ("mass", "masses")])
def test_plurals_of_messages(word, words):
    assert plural(word) == words


def test_states_of_a_domain_begin_at_its_reference():
    """A capacity without a start of its own: its temperature is a state of the node."""
    system = add_thermal(kn.System("s"))
    system.define("mass", ports={"node": "thermal"}, equations={"takes": "node.heat_flow = 5*der(node.temperature)"})
    system.element("m", "mass", node="x")
    system.element("air", "heat_conductance", a="x", conductance=2)
    run = kn.simulate(system, 1.0)
    assert np.all(run["x.temperature"] == AMBIENT)
