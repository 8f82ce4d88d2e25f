"""Networks in files: ports, declared components, connected subsystems; wrong ones, and anything at all."""

# ruff: noqa: E501  (a case is a line)

from __future__ import annotations

import pickle
import re
from typing import Any

import jsonschema
import numpy as np
import pytest
from example_counts import examples
from hypothesis import example, given
from hypothesis import strategies as st

import kinode as kn
from kinode.expressions.units import DIMENSIONS, find_unit_name
from kinode.formats.yaml_files import dumps, loads
from kinode.formats.yaml_text import read_text
from kinode.model.quantities import find_quantity

VALIDATOR = jsonschema.Draft202012Validator(kn.schema())
HEAD = "kinode: 1\nname: axis\n"
ARM = "bodies: {arm: {mass: 1, inertia: [1, 1, 1]}}\njoints: {elbow: {kind: revolute, between: [world, arm]}}\n"
COIL = """components:
  coil:
    doc: "A coil: its wire has a resistance."
    base: two_pole
    parameters:
      inductance: H
      resistance: {unit: Ohm, default: 20 mOhm, doc: of its wire}
    laws: {heat: {unit: K, default: 293}}
    unknowns: {current: {unit: A, start: initial_current, priority: 3}}
    names: {linkage: inductance*current, odd: {law: current/heat, unit: A/K}}
    equations:
      induction: voltage = resistance*current + der(linkage)
    stored: linkage*current/2
    stores: electric
    lost: resistance*current^2
    positive: [inductance]
"""
DRIVE = """      elements:
        motor: {kind: dc_motor, plus: supply, minus: gnd, shaft: rotor, resistance: 1, constant: 0.1}
        gear: {kind: gearbox, input: rotor, output: load, ratio: 30}
      signals: {error: 1 - load.angle, level: supply.voltage + motor.current}
"""
USED = """elements:
  source: {kind: voltage_source, plus: bus, minus: gnd, voltage: 24 V}
  choke: {kind: coil, plus: bus, minus: gnd, inductance: 3 mH, initial_current: 1 A, heat: 300 + t}
"""
CONNECTED = (
    f"{HEAD}{COIL}{ARM}systems:\n  drive:\n    connect: {{supply: bus, load: elbow}}\n    system:\n{DRIVE}{USED}"
)


def plain(text: str) -> Any:
    """The text as plain data, for the schema."""
    return read_text(text, None)


def check_round_trip(system: kn.System) -> None:
    text = dumps(system)
    again = loads(text)
    assert again == system and dumps(again) == text
    VALIDATOR.validate(plain(text))


def test_a_file_with_everything_comes_back_as_it_was():
    VALIDATOR.validate(plain(CONNECTED))
    system = loads(CONNECTED)
    check_round_trip(system)
    assert system["drive.gear"].output == "elbow" and system["drive.motor"].plus == "bus"
    assert system["drive.motor"].shaft == "drive.rotor" and system["drive.motor"].minus == "gnd"
    assert system.signals["drive.error"].law.text() == "1 - elbow.angle"
    assert system.signals["drive.level"].law.text() == "bus.voltage + drive.motor.current"
    assert system.nodes["bus"].ports == (("drive.motor", "plus"), ("source", "plus"), ("choke", "plus"))
    check_round_trip(system.copy())


def test_a_declared_kind_is_the_class_that_one_would_write():
    choke = loads(CONNECTED)["choke"]
    assert [row.equation.text() for row in choke.equations()] == [
        "choke.plus.current + choke.minus.current = 0",
        "choke.current = choke.plus.current",
        "choke.plus.voltage - choke.minus.voltage = 0.02*choke.current + 0.003*der(choke.current)",
    ]
    assert type(choke).__doc__ == "A coil: its wire has a resistance."
    assert choke.units()["linkage"] == "flux" and choke.units()["odd"] == "A/K"
    assert choke.quantity_formula("odd").text() == "choke.current/(300 + t)"
    (start,) = choke.initial_values()
    assert (start.quantity.text(), start.value, start.priority) == ("choke.current", 1.0, 3)
    assert pickle.loads(pickle.dumps(choke)) == choke


def test_a_declared_kind_moves_as_the_closed_form_says():
    text = HEAD + COIL + USED.replace("1 A, heat: 300 + t", "0")
    run = kn.simulate(loads(text), 0.5, rtol=1e-10, atol=1e-10, times=np.linspace(0, 0.5, 26))
    expected = 24 / 0.02 * (1 - np.exp(-run.t * 0.02 / 3e-3))
    assert run["choke.current"] == pytest.approx(expected, rel=1e-8)
    assert run["choke.stored"] == pytest.approx(3e-3 * expected**2 / 2, rel=1e-8)
    assert run.audit.relative < 1e-8


def test_the_same_declaration_in_python():
    system = kn.System("axis")
    declared = plain(COIL)["components"]["coil"]
    kind = system.define("coil", **declared)
    assert kind is loads(HEAD + COIL).kinds["coil"]
    with pytest.raises(kn.ModelError, match="declared already"):
        system.define("coil", **declared)
    with pytest.raises(kn.ModelError, match="'resistor' is there already"):
        system.define("resistor", **declared)


def test_a_file_leaves_no_kind_behind():
    loads(CONNECTED)
    with pytest.raises(kn.ModelError, match="no element is called 'coil'"):
        kn.System("other").element("choke", "coil", plus="a", minus="gnd", inductance=1)


def test_kinds_of_subsystems_come_along_and_keep_apart():
    one, two = (kn.System(name) for name in ("one", "two"))
    pad = {"base": "two_pole", "parameters": {"resistance": "Ohm"}}
    one.define("pad", **pad, equations={"loss": "voltage = resistance*current"})
    two.define("pad", **pad, equations={"loss": "2*voltage = resistance*current"})
    for system in (one, two):
        system.element("r", "pad", plus="bus", minus="gnd", resistance=3)
    whole = kn.System("whole")
    whole.add("first", one, connect={"bus": "bus"})
    whole.add("second", two, connect={"bus": "bus"})
    whole.add("third", one, connect={"bus": "bus"})
    assert list(whole.kinds) == ["pad", "second.pad"] and whole["second.r"].kind == "second.pad"
    assert whole["third.r"].kind == "pad"
    assert (
        whole["second.r"].equations()[-1].equation.left.text() == "2*(second.r.plus.voltage - second.r.minus.voltage)"
    )
    check_round_trip(whole)


def test_units_and_names_of_dimensions_are_each_others_inverse():
    for name, kind in DIMENSIONS.items():
        assert find_unit_name(kind.unit) == name == find_unit_name(name)
    assert find_unit_name("kg*m/s^2") == "force" and find_unit_name("W/K") == "W/K"
    assert DIMENSIONS["W/K"].dimension == DIMENSIONS["power"].dimension / DIMENSIONS["temperature"].dimension


def test_subsystems_in_subsystems_and_their_references():
    inner = kn.System("inner")
    inner.shaft_spring("spring", "end", "world", stiffness=3)
    inner.signal("twist", "end.angle - mid.speed")
    inner.shaft_damper("rub", "end", "mid", damping=1)
    middle = kn.System("middle")
    middle.add("in", inner, connect={"mid": "world"})
    assert middle.signals["in.twist"].law.text() == "in.end.angle - world.angle.speed"
    whole = kn.System("whole")
    whole.shaft_inertia("wheel", "hub", inertia=1)
    whole.add("part", middle, connect={"in.end": "hub"})
    whole.check()
    assert whole["part.in.spring"].a == "hub" and whole["part.in.rub"].b == "world"
    check_round_trip(whole)


def test_a_subsystem_at_one_freedom_of_several():
    system = kn.System("whole")
    system.cylindrical("slide", system.world, system.body("rod", mass=1, inertia=(1, 1, 1)))
    part = kn.System("part")
    part.shaft_damper("rub", "end", damping=1)
    part.signal("turns", "end.speed/(2*pi) + end.angle")
    system.add("at", part, connect={"end": "slide.angle"})
    system.check()
    assert system["at.rub"].a == "slide.angle"
    assert system.signals["at.turns"].law.text() == "slide.angle.speed/6.283185307179586 + slide.angle.angle"
    for text, quantity, unit in (
        ("slide.angle.speed", "u", "angular_velocity"),
        ("slide.travel.position", "q", "length"),
    ):
        named = find_quantity(system, text)
        assert (named.owner, named.quantity, named.dimension, named.size) == ("slide", quantity, unit, ())


def part(fields: str) -> str:
    return f"{HEAD}{ARM}elements:\n  r:\n    {fields}\n"


def component(
    fields: str, more: str = "base: two_pole\n    equations: {ohm: voltage = resistance*current}\n    "
) -> str:
    return f"{HEAD}components:\n  pad:\n    {more}{fields}\n"


PAD = "base: two_pole\n    parameters: {resistance: Ohm}\n    "
LOSS = "equations: {ohm: voltage = resistance*current}\n    "
SYSTEM = f"{HEAD}{ARM}systems:\n  drive:\n    system:\n{DRIVE}    connect: "
# (name, text, part of the message, component, field)
CASES: list[tuple[str, str, str, str | None, str | None]] = [
    ("port is a number", part("kind: resistor\n    plus: 3 #!\n    minus: gnd\n    resistance: 1"), "a node's name or gnd is expected", "r", "plus"),
    ("port is a mapping", part("kind: shaft_damper\n    a: {b: 1} #!\n    damping: 1"), "a node's name is expected", "r", "a"),
    ("port is missing", part("kind: resistor\n    plus: a\n    resistance: 1"), "is needed", "r", "minus"),
    ("port misspelled", part("kind: resistor\n    plsu: a #!\n    minus: gnd\n    resistance: 1"), "did you mean plus", "r", "plsu"),
    ("port is reserved", part("kind: resistor\n    plus: t #!\n    minus: gnd\n    resistance: 1"), "reserved", "r", "plus"),
    ("wrong reference", part("kind: resistor\n    plus: world #!\n    minus: gnd\n    resistance: 1"), "its reference is gnd", "r", "plus"),
    ("joint of the wrong kind", part("kind: slide_damper\n    a: elbow #!\n    damping: 1"), "elbow.angle turns", "r", "a"),
    ("electrical joint", part("kind: resistor\n    plus: elbow #!\n    minus: gnd\n    resistance: 1"), "turns", "r", "plus"),
    ("body as node", part("kind: shaft_damper\n    a: arm #!\n    damping: 1"), "arm is a body", "r", "a"),
    ("open", part("kind: shaft_damper\n    a: elbwo #!\n    damping: 1"), "did you mean elbow", "r", "a"),
    ("between", part("kind: shaft_damper\n    between: [elbow, elbwo] #!\n    damping: 1"), "did you mean elbow", "r", "b"),
    ("quantity in a law", part("kind: shaft_damper\n    a: elbow\n    damping: 1\nsignals:\n  s: r.speeed #!"), "did you mean speed", "s", "law"),
    ("component is a list", f"{HEAD}components:\n  pad: [1] #!\n", "mapping of fields", "pad", None),
    ("component field", component("equation: 3 #!"), "did you mean equations", "pad", "equation"),
    ("component name", f"{HEAD}components:\n  my-pad: {{}} #!\n", "cannot name a kind", "my-pad", None),
    ("component is there", f"{HEAD}components:\n  resistor: {{}} #!\n", "there already", "resistor", None),
    ("no ports", f"{HEAD}components:\n  pad: {{}} #!\n", "has no ports", "pad", None),
    ("not square", f"{HEAD}components:\n  pad: {{base: two_pole}} #!\n", "needs 2, one for each of its 2 ports", "pad", None),
    ("no such base", component("base: three_pole #!", ""), "is not one of two_pole", "pad", "base"),
    ("port of no kind", component("ports: {a: magnetic} #!", ""), "is not one of electrical", "pad", "ports.a"),
    ("port without kind", component("ports: {a: {doc: x}} #!", ""), "is needed", "pad", "ports.a.kind"),
    ("ports are a list", component("ports: [a, b] #!", ""), "mapping of names", "pad", "ports"),
    ("no unit", component("parameters: {resistance: Omh} #!"), "no known unit", "pad", "parameters.resistance.unit"),
    ("unit not SI", component("parameters: {resistance: kOhm} #!"), "no SI unit: write Ohm", "pad", "parameters.resistance.unit"),
    ("default in a wrong unit", component("parameters: {resistance: {unit: Ohm, default: 3 V}} #!"), "a resistance is needed", "pad", "parameters.resistance.default"),
    ("default is no number", component("parameters: {resistance: {unit: Ohm, default: many}} #!"), "no parameter is called 'many'", "pad", "parameters.resistance.default"),
    ("parameter with a meaning", component("parameters: {rows: Ohm} #!"), "has a meaning for every part", "pad", "parameters.rows"),
    ("parameter of Python", component("parameters: {lambda: Ohm} #!"), "cannot be a name", "pad", "parameters"),
    ("hidden name", component("parameters: {__init__: Ohm} #!"), "cannot be a name", "pad", "parameters"),
    ("unknown name", component("equations: {ohm: voltage = resistanse*current} #!", PAD), "did you mean resistance", "pad", "ohm"),
    ("no equation", component("equations: {ohm: voltage} #!", PAD), "two sides", "pad", "ohm"),
    ("equation is a number", component("equations: {ohm: 3} #!", PAD), "text is expected", "pad", "equations.ohm"),
    ("call", component("equations: {ohm: 'voltage = __import__(1)'} #!", PAD), "do not begin with an underscore", "pad", "ohm"),
    ("units differ", component("equations: {ohm: voltage = current} #!", PAD), "on the left", "pad", "ohm"),
    ("solves nothing", component("equations: {ohm: {law: voltage = resistance*current, solves: heat}} #!", PAD), "cannot be solved for", "pad", "ohm"),
    ("lost is no power", component("lost: resistance*current #!", PAD + LOSS), "not a power", "pad", "lost"),
    ("stores", component("stores: chemical #!", PAD + LOSS), "kinetic, potential, electric", "pad", "stores"),
    ("start", component("unknowns: {heat: {unit: J, start: 3}} #!", PAD + LOSS), "the name of a parameter", "pad", "unknowns.heat.start"),
    ("priority", component("unknowns: {heat: {unit: J, priority: 1.5}} #!", PAD + LOSS), "a whole number", "pad", "unknowns.heat.priority"),
    ("positive", component("positive: [resistence] #!", PAD + LOSS), "did you mean resistance", "pad", "positive"),
    ("positive is a word", component("positive: resistance #!", PAD + LOSS), "a list of parameters", "pad", "positive"),
    ("port and parameter", component("ports: {a: electrical}\n    parameters: {a: V} #!", ""), "'a' is a port already", "pad", "parameters.a"),
    ("start is a port", component("ports: {a: electrical}\n    unknowns: {q: {unit: C, start: a}} #!", ""), "'a' is a port; a parameter is expected", "pad", "unknowns.q.start"),
    ("start is an unknown", component("unknowns: {q: {unit: C, start: q}} #!"), "'q' is an unknown", "pad", "unknowns.q.start"),
    ("default of a port", component("ports: {a: {kind: electrical, default: world}} #!", ""), "its reference is gnd", "pad", "ports.a.default"),
    ("default is no node", component("ports: {a: {kind: electrical, default: 3}} #!", ""), "a node's name or gnd is expected", "pad", "ports.a.default"),
    ("too many", component("parameters: {" + ", ".join(f"p{i}: V" for i in range(201)) + "} #!"), "at most 200", "pad", "parameters"),
    ("kind not declared", f"{HEAD}{COIL}elements:\n  c: {{kind: cail, plus: a, minus: gnd}} #!\n", "did you mean coil", "c", "kind"),
    ("declared and not positive", f"{HEAD}{COIL}elements:\n  c:\n    kind: coil\n    plus: a\n    minus: gnd\n    inductance: 0 #!\n", "must be positive", "c", "inductance"),
    ("connect is a list", SYSTEM + "[a] #!\n", "mapping of names", "drive", "connect"),
    ("connect to nothing", SYSTEM + "{suply: bus} #!\n", "did you mean supply", "drive", "connect"),
    ("connect a reference", SYSTEM + "{gnd: bus} #!\n", "shared by all systems", "drive", "connect"),
    ("connect to a number", SYSTEM + "{supply: 3} #!\n", "not to 3", "drive", "connect"),
    ("connect to a wrong reference", SYSTEM + "{supply: world} #!\n", "its reference is gnd", "drive", "connect"),
    ("connect to the wrong kind", SYSTEM + "{supply: elbow, load: elbow} #!\n", "supply is electrical, and elbow.angle turns", "drive", "connect"),
    ("connected too little", SYSTEM + "{load: elbow}\n", "'drive.supply'; connect it where drive is added: connect={supply: ...}", "drive.motor", "plus"),
    ("connected to a word of laws", SYSTEM + "{supply: in, load: elbow} #!\n", "not to 'in'", "drive", "connect"),
    ("connected to nothing else", SYSTEM + "{supply: buss, load: elbow}\n", "drive.motor.plus is left open", "drive", "connect"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_wrong_networks(case: tuple[str, str, str, str | None, str | None]) -> None:
    _, text, message, component, field = case
    with pytest.raises(kn.ModelError) as caught:
        loads(text, "model.yaml")
    error = caught.value
    assert message in str(error)
    assert (error.component, error.field) == (component, field), str(error)
    marked = [number for number, line in enumerate(text.split("\n"), start=1) if line.endswith("#!")]
    assert not marked or error.line == marked[0], str(error)


# -- anything at all ---------------------------------------------------------------------------------------
def read(text: str) -> None:
    try:
        system = loads(text, "model.yaml")
    except kn.Error as error:
        assert str(error).strip()
        return
    assert loads(dumps(system)) == system
    system.summary()


SNIPPETS = (
    "gnd", "world", "elbow", "bus", "elbow.angle", "t", "der(current)", "der(der(der(voltage)))", "voltage = 0", "= =", "A", "K/0", "{}",
    "[]", "null", "3", "-1", "1e400", "two_pole", "electrical", "rotational", "kinetic", "coil", "current", "resistance", "__class__",
    "(" * 150, "der(" * 90 + "x*x" + ")" * 90, "x" * 300, "initial_current", "{law: a = b}", "{unit: V, start: x}", "plus.voltage",
)  # fmt: skip


@st.composite
def swapped(draw: st.DrawFn) -> str:
    text = CONNECTED
    places = list(re.finditer(r"(?<=[:,\[{] )[^,\[\]{}\n:]+|\w+(?=:)", text))
    for match in sorted(draw(st.lists(st.sampled_from(places), min_size=1, max_size=3)), key=lambda m: -m.start()):
        put = draw(st.sampled_from(SNIPPETS))
        text = text[: match.start()] + put + text[match.end() :]
    return text


@examples(30, nightly=120)
@given(swapped())
@example(CONNECTED)
def test_networks_with_other_words(text: str) -> None:
    read(text)


@examples(30, nightly=100)
@given(st.integers(0, len(CONNECTED)), st.integers(0, 30), st.sampled_from(SNIPPETS) | st.text(max_size=4))
def test_networks_with_other_text(start: int, length: int, put: str) -> None:
    read(CONNECTED[:start] + put + CONNECTED[start + length :])


def test_declarations_that_grow_without_measure_are_refused():
    names = {"n0": "voltage", **{f"n{i}": f"n{i - 1}*n{i - 1}" for i in range(1, 30)}}
    deep = {"base": "two_pole", "names": names, "equations": {"x": "der(der(der(n29))) = 0*current"}}
    with pytest.raises(kn.Error):
        kn.System("s").define("deep", **deep)
    with pytest.raises(kn.ModelError, match="too long"):
        kn.System("s").define("far", base="two_pole", equations={"x": "der(" * 30 + "voltage" + ")" * 30 + " = 0"})
    ports = {f"p{i}": "electrical" for i in range(40)}
    rows = {f"e{i}": f"p{i}.current = 0" for i in range(39)}
    system = kn.System("s")
    system.define("many", ports=ports, equations={**rows, "sum": " + ".join(f"{p}.voltage" for p in ports) + " = 0"})
    system.element("m", "many", **dict.fromkeys(ports, "bus"))
    system.check()
