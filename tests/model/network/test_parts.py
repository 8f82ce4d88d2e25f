"""Describing networks: equations in text, kinds that cannot be meant, nodes, names, what is connected to what."""

from __future__ import annotations

import inspect
import itertools
from typing import ClassVar

import pytest
from networks import elbow_circuit

import kinode as kn
from kinode.expressions.equation_parser import find_rate, parse_equation, parse_formula, split_rate
from kinode.model.base.element import ELEMENTS

COUNT = itertools.count()


def declare(base=kn.TwoPole, **body):
    """Register a kind under a name of its own; what it declares is given by name."""
    notes = {name: str for name in body if name not in CLASS_WORDS}
    made = type("Made", (base,), {"__annotations__": notes, "__module__": f"made{next(COUNT)}", **body})
    kind = f"made_{next(COUNT)}"
    try:
        return kn.register(kind)(made)
    finally:
        ELEMENTS.pop(kind, None)


CLASS_WORDS = ("rows", "unknowns", "names", "starts", "stored", "stores", "lost", "common")
OHM = {"resistance": kn.number("resistance", "ratio"), "rows": (kn.Row("Ohm", "voltage = resistance*current"),)}


def texts(part):
    return [found.equation.text() for found in part.equations()]


# -- equations in text ----------------------------------------------------------------------------------
def test_rates_are_names_or_are_written_out():
    assert parse_equation("v = L*der(i)").names() == {"v", "L", "der(i)"}
    assert parse_formula("der(der(x))").text() == "der(der(x))"
    assert split_rate("der(der(x))") == ("x", 2)
    rate = parse_formula("der(x^2*t)")  # 2 x x' t + x^2
    values = {"x": 3.0, "t": 5.0, "der(x)": 7.0}
    assert rate.evaluate(values.__getitem__) == 2 * 3 * 7 * 5 + 9
    second = find_rate(find_rate(parse_formula("x*y")))
    values = {"x": 2.0, "y": 3.0, "der(x)": 5.0, "der(y)": 7.0, "der(der(x))": 11.0, "der(der(y))": 13.0}
    assert second.evaluate(values.__getitem__) == 11 * 3 + 2 * 5 * 7 + 2 * 13


@pytest.mark.parametrize(
    "text, said, position",
    [
        ("voltage", "two sides", 6),
        ("a == b", "two sides", 5),
        ("a = b = c", "one '='", 6),
        ("a = (b", "not closed", 4),
        ("= b", "empty", 0),
        ("a = dre(b)", "did you mean der", 4),
        ("a = der(b, c)", "takes 1 argument", 4),
        ("a = der + 1", "is a function", 4),
        ("a = der.d0(b)", "no derivatives of its own", 0),
    ],
)
def test_equations_that_cannot_be_read_say_where(text, said, position):
    with pytest.raises(kn.LawError, match=said) as error:
        parse_equation(text)
    assert (error.value.text, error.value.position) == (text, position)


def test_long_and_deep_equations_are_refused():
    with pytest.raises(kn.LawError, match="too long"):
        parse_equation("a = " + "b + " * 5000 + "b")
    with pytest.raises(kn.LawError, match="nested more than"):
        parse_equation("a = " + "(" * 500 + "b" + ")" * 500)


# -- kinds ------------------------------------------------------------------------------------------------
def test_a_kind_in_a_few_lines_is_written_in_the_names_of_the_system():
    @kn.register("test_coil")
    class Coil(kn.TwoPole):
        """A coil with a resistance."""

        inductance: float = kn.number("inductance", "flux for a unit of current")
        resistance: float = kn.number("resistance", "of its wire", 0.0)
        initial_current: float = kn.number("current", "at the start", None, aside=True)
        unknowns: ClassVar = {"current": kn.Unknown("current", start="initial_current", priority=3)}
        names: ClassVar = {"flux": kn.Formula("inductance*current")}
        rows: ClassVar = (kn.Row("induction", "voltage = resistance*current + der(flux)", "der(current)"),)
        stored: ClassVar = "flux*current/2"
        lost: ClassVar = "resistance*current^2"

    try:
        system = kn.System("s")
        system.parameter("L", "3 mH")
        coil = system.element("coil", "test_coil", plus="a", minus="gnd", inductance="2*L", initial_current="1 A")
        assert texts(coil) == [
            "coil.plus.current + coil.minus.current = 0",
            "coil.current = coil.plus.current",
            "coil.plus.voltage - coil.minus.voltage = 2*L*der(coil.current)",
        ]
        assert [found.solves for found in coil.equations()][1:] == ["coil.current", "der(coil.current)"]
        (start,) = coil.initial_values()
        assert (start.quantity.text(), start.value, start.field) == ("coil.current", 1.0, "initial_current")
        assert coil.quantity_formula("stored").text() == "2*L*coil.current*coil.current/2"
        assert coil.units()["flux"] == "flux" and coil.quantity_formula("lost") == 0.0
    finally:
        ELEMENTS.pop("test_coil")


def test_speeds_are_rates_of_angles():
    system = kn.System("s")
    damper = system.shaft_damper("d", "a", "b", damping=3)
    assert texts(damper)[-1] == "d.a.moment = 3*(der(d.a.angle) - der(d.b.angle))"
    inertia = system.shaft_inertia("j", "a", inertia=2)
    assert any("der(der(j.shaft.angle))" in text for text in texts(inertia))


@pytest.mark.parametrize(
    "body, said",
    [
        ({}, r"needs 2, one for each of its 2 ports and 0 unknowns, and has 1 equation \(current through it\)"),
        ({**OHM, "unknowns": {"heat": kn.Unknown("energy")}}, "needs 3"),
        ({**OHM, "rows": (kn.Row("Ohm", "voltage = resistanse*current"),)}, "did you mean resistance"),
        ({**OHM, "rows": (kn.Row("Ohm", "voltage = resistance + current"),)}, "puts .* together"),
        ({**OHM, "rows": (kn.Row("Ohm", "voltage = current"),)}, "a voltage .* on the left and a current"),
        ({**OHM, "rows": (kn.Row("Ohm", "voltage = resistance*current", "heat"),)}, "cannot be solved for"),
        ({**OHM, "lost": "resistance*current"}, "is a voltage"),
        ({**OHM, "stored": "charge"}, "no quantity is called 'charge'"),
        ({**OHM, "stores": "nuclear"}, "kinetic, potential, electric"),
        ({**OHM, "names": {"power": "voltage*current"}}, "'power' is a quantity of every part already"),
        ({**OHM, "names": {"resistance": "voltage/current"}}, "'resistance' is a field already"),
        ({**OHM, "names": {"one": "two", "two": "one"}}, "no quantity is called 'two'"),
        ({**OHM, "names": {"odd": "der(voltage)*current^2"}}, "unit does not follow"),
        ({**OHM, "starts": {"voltage": "initial"}}, "the start of voltage is in no field 'initial'"),
        ({**OHM, "unknowns": {"x y": kn.Unknown("energy")}}, "cannot name an unknown"),
        ({**OHM, "unknowns": {"heat": kn.Unknown("warmth")}}, "no dimension is called 'warmth'"),
        ({**OHM, "size": kn.number("mm", "of it")}, "'mm' is no SI unit: write m"),
        ({**OHM, "size": kn.number("lenght", "of it")}, "no dimension is called 'lenght'; did you mean length"),
        (
            {"given": kn.law("voltage", "of t"), "rows": (kn.Row("x", "der(voltage) = der(given)"),)},
            "the rate of the law given is not known",
        ),
        ({**OHM, "base": kn.Part}, "has no ports"),
    ],
)
def test_a_kind_that_cannot_be_meant_is_refused_when_it_is_registered(body, said):
    with pytest.raises(kn.ModelError, match=said) as error:
        declare(**body)
    assert str(error.value).startswith("made_")


def test_classes_in_between_may_have_fields():
    class Wire(kn.TwoPole):
        resistance: float = kn.number("Ohm", "of the wire")
        names: ClassVar = {"drop": "resistance*current"}

    kind = declare(base=Wire, rows=(kn.Row("loss", "voltage = drop"),))
    assert (
        texts(kind("w", plus="a", minus="b", resistance=2.0))[-1]
        == "w.plus.voltage - w.minus.voltage = 2*w.plus.current"
    )


def test_none_takes_a_field_back_to_its_default():
    system = kn.System("loop")
    system.pid("control", error="1 - t", proportional=2, feedforward="3*t", limits=[-1, 1])
    system.change("control", feedforward=None, limits=None)
    plain = kn.System("loop")
    plain.pid("control", error="1 - t", proportional=2)
    assert system == plain
    with pytest.raises(kn.ModelError, match="no field 'feedfoward'"):
        system.change("control", feedfoward=None)
    system.voltage_source("source", "bus", "gnd", voltage=12)
    with pytest.raises(kn.ModelError, match=r"source\.voltage: is needed and was not given"):
        system.change("source", voltage=None)


def test_a_part_is_changed_like_anything_else():
    system = elbow_circuit()
    system.resistor("lamp", "bus", "gnd", resistance=3)
    system.change("lamp", plus="other", resistance="4 Ohm")
    assert system["lamp"].plus == "other" and system.nodes["other"].ports == (("lamp", "plus"),)
    with pytest.raises(kn.ModelError, match=r"lamp\.minus: is electrical: its reference is gnd"):
        system.change("lamp", minus="world")


def test_no_kind_of_port_is_invented():
    with pytest.raises(kn.ModelError, match="did you mean electrical"):
        kn.port("electric", "a plug")


def test_a_number_that_has_to_be_there_is_named():
    kind = declare(gap=kn.number("voltage", "of the arc", None), rows=(kn.Row("arc", "voltage = gap"),))
    with pytest.raises(kn.ModelError, match=r"arc\.gap: 'arc' needs it"):
        kind("arc", plus="a", minus="gnd").equations()
    kind = declare(gap=kn.number("current", "of the arc", 0.0), rows=(kn.Row("arc", "current^2/gap = current"),))
    with pytest.raises(kn.ModelError, match="'arc' has no meaning: gap is zero"):
        kind("arc", plus="a", minus="gnd").equations()


# -- shortcuts ---------------------------------------------------------------------------------------------
def test_every_part_has_a_shortcut_with_its_ports_in_order():
    for kind, cls in ELEMENTS.items():
        if issubclass(cls, kn.Part) and cls.__module__.startswith("kinode."):
            parameters = list(inspect.signature(getattr(kn.System, kind)).parameters)
            assert parameters[: 2 + len(cls.ports())] == ["self", "name", *cls.ports()]


def test_ends_by_place_and_by_name_are_the_same():
    one, two = kn.System("s"), kn.System("s")
    assert one.resistor("r", "a", "b", resistance=1) == two.resistor("r", minus="b", plus="a", resistance="1 Ohm")
    with pytest.raises(kn.ModelError, match=r"r2: 3 values are given by their position; a resistor takes plus"):
        one.resistor("r2", "a", "b", "c", resistance=1)
    with pytest.raises(kn.ModelError, match="given twice"):
        one.resistor("r2", "a", "b", plus="c", resistance=1)
    with pytest.raises(kn.ModelError, match=r"r2\.minus: is needed"):
        one.resistor("r2", "a", resistance=1)


def test_the_summary_lists_parts_and_nodes():
    said = elbow_circuit().summary()
    assert "parts\n  supply  voltage_source, plus bus, minus gnd" in said
    assert "  bus             electrical: supply.plus, motor.plus" in said


# -- names and circles -------------------------------------------------------------------------------------
def test_an_equation_may_be_called_as_a_quantity():
    system = kn.System("s")
    rows = {"voltage": "voltage = ohms*current"}
    system.define("lamp", base="two_pole", parameters={"ohms": "Ohm"}, equations=rows, lost="ohms*current^2")
    system.voltage_source("supply", "bus", "gnd", voltage=12)
    system.element("light", "lamp", plus="bus", minus="gnd", ohms=4)
    assert kn.compile(system).evaluate("light.current", 0.0, [], [])["light.current"] == 3.0


@pytest.mark.parametrize(("law", "words"), [
    ("1 + 0.5*source.moment", r"source.moment: depends on itself: source.moment -> source.moment"),
    ("1 + 0.5*other.moment", r"other.moment -> source.moment -> other.moment|source.moment -> other.moment -> source"),
])  # fmt: skip
def test_laws_of_parts_in_a_circle_are_refused(law, words):
    system = kn.System("s")
    system.moment_source("source", "shaft", moment=law)
    system.moment_source("other", "shaft", moment="2*source.moment")
    system.shaft_inertia("wheel", "shaft", inertia=2)
    with pytest.raises(kn.LawError, match=words):
        kn.compile(system).rate(0.0, [0.0, 0.0])
