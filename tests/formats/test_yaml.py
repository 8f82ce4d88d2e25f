"""What is saved loads as the same system; files are YAML 1.2; the schema and the loader agree."""

# ruff: noqa: E501  (a case is a line)

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from drawn_systems import systems
from example_counts import examples
from hypothesis import given
from hypothesis import strategies as st

import kinode as kn
from kinode.expressions.units import parse_unit
from kinode.formats.yaml_files import dumps, load, loads, save
from kinode.formats.yaml_text import CONTROL, read_text
from kinode.formats.yaml_writer import write_scalar
from kinode.model.base.element import ELEMENTS
from kinode.model.joints.joint import JOINTS

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("*.yaml"))
VALIDATOR = jsonschema.Draft202012Validator(kn.schema())
GOOD = (
    "kinode: 1\nbodies: {arm: {mass: 1, inertia: [1, 1, 1]}}\njoints: {pin: {kind: revolute, between: [world, arm]}}\n"
)


def check_round_trip(system: kn.System) -> None:
    text = dumps(system)
    again = loads(text)
    assert again == system
    assert list(again.joints) == list(system.joints)
    assert dumps(again) == text
    assert VALIDATOR.is_valid(read_text(text, None)), [e.message for e in VALIDATOR.iter_errors(read_text(text, None))]


@given(systems())
def test_any_system_loads_as_it_was_saved(system: kn.System) -> None:
    check_round_trip(system)


@given(systems(), systems(name="leg"))
def test_so_does_a_system_with_subsystems(system: kn.System, leg: kn.System) -> None:
    system.add("left", leg, on="b0.end", bind={"gust": "2*level"})
    system.add("right", leg, parameters={name: 3.0 for name in leg.parameters if name == "p0"})
    check_round_trip(system)


@given(
    st.text().filter(lambda text: not CONTROL.search(text))
    | st.sampled_from(
        [
            "on",
            "1e5",
            "1:30",
            "null",
            "~",
            "- a",
            "*a",
            "a: b",
            "a #b",
            "1_0",
            "0x1f",
            "0x10000000000000000",
            ".5",
            "---",
        ]
    )
)
def test_text_comes_back_as_it_was(text: str) -> None:
    assert read_text(f"{{{write_scalar(text)}: [{write_scalar(text)}]}}", None) == {text: [text]}


@pytest.mark.parametrize("text", ["\x1f", "\x00", "a\x1b[2J", "half \ud800 pair"])
def test_control_characters_are_refused_on_either_side(text: str) -> None:
    with pytest.raises(kn.ModelError, match="control character"):
        write_scalar(text)
    with pytest.raises(kn.ModelError, match="control character"):
        read_text('["' + "".join(f"\\u{ord(x):04x}" for x in text) + '"]', None)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_come_back_to_the_last_digit(x: float) -> None:
    (value,) = read_text(f"[{write_scalar(x)}]", None)
    assert value == x
    assert math.copysign(1.0, value) == math.copysign(1.0, x)


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_examples(file: Path, tmp_path: Path) -> None:
    assert file.read_text().startswith("#"), "an example says what it shows"
    system = load(file)
    check_round_trip(system)
    save(system, tmp_path / "model.yaml")
    assert kn.load(tmp_path / "model.yaml") == system
    VALIDATOR.validate(read_text(file.read_text(), str(file)))
    assert system.run_defaults["until"] > 0
    assert f"{system.name}\n" in system.summary()


def test_yaml_is_1_2() -> None:
    """Readers of YAML 1.1 take 1e5 for text, on for true and 1:30 for 90."""
    assert read_text("[1e5, on, yes, 1:30, 0o17, 010, 1_000, .5, '7', true, ~, -.inf]", None) == [
        1e5, "on", "yes", "1:30", 15.0, 10.0, "1_000", 0.5, "7", True, None, -math.inf,
    ]  # fmt: skip
    system = loads(
        "kinode: 1\nparameters: {on: 1e5, y: 2}\nbodies: {no: {mass: on/y}}\njoints: {off: {kind: free, between: [world, no]}}\n"
    )
    assert system.nominal(system["no"].mass) == 5e4


def test_whole_numbers_are_exact() -> None:
    assert read_text("[0x20000000000000, 0o400000000000000000]", None) == [2.0**53, 2.0**53]
    for text in ("0x20000000000001", "0o400000000000000001"):
        with pytest.raises(kn.ModelError, match=r"line 2: 0.*no float holds exactly"):
            read_text(f"[1,\n {text}]", None)


def test_json_is_yaml(tmp_path: Path) -> None:
    model = {
        "kinode": 1,
        "bodies": {"arm": {"mass": 1}},
        "joints": {"pin": {"kind": "fixed", "between": ["world", "arm"]}},
    }
    (tmp_path / "arm.json").write_text(json.dumps(model, indent="\t"))
    system = kn.load(tmp_path / "arm.json")
    assert system.name == "arm"
    assert system["pin"].b.body == "arm"


def test_anchors_may_be_used() -> None:
    system = loads(
        "kinode: 1\nbodies:\n  a: &a {mass: 1}\n  b: *a\njoints:\n  i: {kind: free, between: [world, a]}\n  j: {kind: free, between: [a, b]}\n"
    )
    assert system["b"].mass == 1.0


def test_the_face() -> None:
    """The example of FACE.md, field by field; its loop is for topology to find."""
    system = loads("""
kinode: 1
name: slider_crank
gravity: [0, -9.81, 0]
parameters: {n: 3000 rpm}
bodies:
  crank:    {mass: 0.4, com: [0.015, 0, 0], inertia: {zz: 4e-4}}
  flywheel: {shape: {cylinder: {radius: 80 mm, length: 20 mm, axis: z, mass: 3}}}
  rod:      {mass: 0.3, com: [0.06, 0, 0], inertia: [1e-5, 3e-4, 3e-4]}
  piston:   {mass: 0.25, com: [0.13, 0, 0], frames: {crown: [0.13, 0, 0]}}
joints:
  main:     {kind: revolute, between: [world, crank], speed: n}
  hub:      {kind: fixed, between: [crank, flywheel]}
  crankpin: {kind: revolute, between: [crank, rod], at: [0.03, 0, 0]}
  wristpin: {kind: revolute, between: [rod, piston], at: [0.13, 0, 0]}
  bore:     {kind: prismatic, between: [world, piston], at: [0.13, 0, 0], axis: x}
elements:
  gas: {kind: force, on: piston.crown, force: ["-2e3*max(0, cos(main.q))", 0, 0], expressed_in: world}
""")
    check_round_trip(system)
    assert system.nominal(system.parameters["n"].value) == pytest.approx(100 * math.pi)
    assert system["crank"].inertia == (2e-4, 2e-4, 4e-4, 0.0, 0.0, 0.0)
    assert system["gas"].on == system["piston"]["crown"]


def test_places_on_frames() -> None:
    text = GOOD + "frames:\n  hook: {at: [0, 0, 1], rpy: [0, 0, 90 deg]}\n  tip: {body: arm, at: [1, 0, 0]}\n"
    text += "elements:\n  s: {kind: spring, between: [{on: world.hook, at: [2, 0, 0]}, arm.tip], stiffness: 3}\n"
    system = loads(text)
    pose = system["s"].a.pose(system.nominal)
    assert pose.p.astype(float) == pytest.approx([0, 2, 1])
    assert system["s"].b == system["arm"]["tip"]
    check_round_trip(system)


def test_extends_and_changes(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(GOOD + "parameters: {k: 2 N*m/rad}\nsignals: {law: t}\n")
    (tmp_path / "more.yaml").write_text(
        "kinode: 1\nname: more\nextends: base.yaml\ngravity: [0, 0, 0]\nbodies: {hand: {mass: 1}}\n"
        "joints: {wrist: {kind: fixed, between: [arm, hand]}}\n"
        "changes: {k: 3 N*m/rad, law: 2*t, arm: {mass: 5}, pin: {stiffness: k, axis: x}}\n"
    )
    system = load(tmp_path / "more.yaml")
    base = load(tmp_path / "base.yaml")
    base.name, base.gravity = "more", (0, 0, 0)
    base.body("hand", mass=1)
    base.fixed("wrist", "arm", "hand")
    base.change("k", value="3 N*m/rad")
    base.change("law", law="2*t")
    base.change("arm", mass=5)
    base.change("pin", stiffness="k", axis="x")
    assert system == base
    assert list(system.components) == ["k", "arm", "pin", "law", "hand", "wrist"]
    check_round_trip(system)


def test_errors_name_the_file_that_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "leg.yaml").write_text(GOOD + "elements:\n  push: {kind: force, on: arm, force: [x, 0, 0]}\n")
    (tmp_path / "body.yaml").write_text("kinode: 1\nsystems:\n  left: {file: leg.yaml}\n")
    with pytest.raises(kn.ModelError) as caught:
        load(tmp_path / "body.yaml")
    assert (Path(caught.value.file or "").name, caught.value.line, caught.value.component) == ("leg.yaml", 5, "push")


def test_tables_from_files(tmp_path: Path) -> None:
    (tmp_path / "curve.csv").write_text("t, force\n0, 0\n1, 5\n")
    (tmp_path / "model.yaml").write_text(GOOD + "tables: {curve: {file: curve.csv}}\nsignals: {s: curve(t)}\n")
    system = load(tmp_path / "model.yaml")
    assert system.tables["curve"].evaluate(0.5) == 2.5
    check_round_trip(system)
    (tmp_path / "curve.csv").write_text("0, 0\n0, x\n")
    with pytest.raises(kn.ModelError) as caught:
        load(tmp_path / "model.yaml")
    assert (Path(caught.value.file or "").name, caught.value.line) == ("curve.csv", 2)


@pytest.mark.parametrize("outside", ["repeat", "[repeat, hold]"])
def test_a_table_says_what_is_outside_of_each_axis(outside: str) -> None:
    table = f"{{axes: [[0, 1, 2], [0, 5]], values: [[1, 1], [3, 3], [1, 1]], outside: {outside}}}"
    text = GOOD + f"tables: {{map: {table}}}\n"
    system = loads(text)
    assert system.tables["map"].outsides == (("repeat",) * 2 if outside == "repeat" else ("repeat", "hold"))
    check_round_trip(system)
    with pytest.raises(kn.ModelError, match="a word is expected"):
        loads(text.replace("repeat", "3"))


TYPOS: list[Any] = [
    "bodies: {a: {masss: 1}}", "joints: {j: {kind: revolut, between: [a, b]}}", "joints: {j: {kind: fixed, axis: x, between: [a, b]}}",
    "joints: {j: {kind: revolute, between: [a]}}", "joints: {j: {kind: revolute, a: b}}", "elements: {e: {kind: spring, on: a}}",
    "boddies: {}", "run: {untill: 3}", "gravity: [0, 0]", "bodies: {a: {shape: {sphere: {r: 1}}}}", "bodies: {a: {inertia: [1, 2]}}",
    "bodies: {2a: {}}", "tables: {f: {axes: [0, 1]}}", "joints: {j: {kind: screw, between: [a, b]}}", "systems: {s: {fle: a}}",
    "constraints: {g: {kind: gear, input: a, output: b}}", "parameters: {k: [1]}", "joints: {j: {kind: universal, between: [a, b], q: 1}}",
]  # fmt: skip


@pytest.mark.parametrize("text", TYPOS)
def test_the_schema_refuses(text: str) -> None:
    assert not VALIDATOR.is_valid(read_text(f"kinode: 1\n{text}\n", None))


MOTOR = "{kind: dc_motor, plus: bus, minus: gnd, shaft: rotor, resistance: 1, %s}"
BRUSHLESS = "{kind: brushless_motor, shaft: rotor, resistance: 1, flux: 1, pole_pairs: 4, voltage_q: 1, %s}"


@pytest.mark.parametrize(
    ("element", "fields", "valid"),
    [
        (MOTOR, "constant: 0.1", True), (MOTOR, "torque_constant: 0.1 N*m/A", True), (MOTOR, "speed_constant: 120 rpm/V", True),
        (MOTOR, "back_emf_constant: 0.1 V*s/rad", True), (MOTOR, "viscous: 0", False), (MOTOR, "constant: 1, speed_constant: 1", False),
        (MOTOR, "torque_constant: 1, back_emf_constant: 1", False),
        (BRUSHLESS, "inductance: 1 mH", True), (BRUSHLESS, "inductance_d: 1 mH, inductance_q: 1 mH", True),
        (BRUSHLESS, "inductance_d: 1 mH", False), (BRUSHLESS, "viscous: 0", False), (BRUSHLESS, "inductance: 1, inductance_d: 1", False),
    ],
)  # fmt: skip
def test_the_schema_takes_the_alternative_fields_that_the_loader_takes(element: str, fields: str, valid: bool) -> None:
    source = "source: {kind: voltage_source, plus: bus, minus: gnd, voltage: 1}, " if element is MOTOR else ""
    text = f"kinode: 1\nelements: {{{source}load: {{kind: shaft_inertia, shaft: rotor, inertia: 1}}, motor: {element % fields}}}\n"
    assert VALIDATOR.is_valid(read_text(text, None)) == valid
    if valid:
        loads(text)
    else:
        with pytest.raises(kn.ModelError):
            loads(text)


def test_the_schema_names_every_alternative_field() -> None:
    definitions = kn.schema()["$defs"]
    for section, registry in (("joint", JOINTS), ("element", ELEMENTS)):
        for case, cls in zip(definitions[section]["allOf"], registry.values(), strict=True):
            assert set(cls.alternative_fields) <= set(case["then"]["properties"])


@pytest.mark.parametrize(("field", "least"), [("delay", 0), ("seed", 0), ("samples", 2)])
def test_the_schema_and_the_reader_agree_on_the_least_whole_number(field: str, least: int) -> None:
    validator = jsonschema.Draft202012Validator(kn.schema())
    for value in (least, least - 1):
        part = {"kind": "sample_hold", "input": "t", "period": 0.01, "noise": 1.0}
        model: dict[str, Any] = {"kinode": 1, "elements": {"part": part}}
        (model.setdefault("run", {}) if field == "samples" else part)[field] = value
        assert validator.is_valid(model) is (value == least)
        if value == least:
            loads(json.dumps(model))
        else:
            with pytest.raises(kn.Error, match=field):
                loads(json.dumps(model))


def test_the_schema_knows_every_kind_and_field() -> None:
    whole = kn.schema()
    jsonschema.Draft202012Validator.check_schema(whole)
    revolute = next(
        case["then"]
        for case in whole["$defs"]["joint"]["allOf"]
        if case["if"]["properties"]["kind"]["const"] == "revolute"
    )
    assert "prescribed motion" in revolute["properties"]["motion"]["description"]
    assert json.loads(json.dumps(whole)) == whole


# -- dimensions ------------------------------------------------------------------------------------
RAW = st.sampled_from(["2", "2 N/m", "3 kg", "0.5 rad", "1 m", 4.0])
MADE = st.sampled_from(["k+k", "2*k", "k*m", "sqrt(k)", "k/m", "k^2", "-k", "sin(k)", "k + 0*m"])


@examples(24, nightly=100)
@given(RAW, RAW, MADE, RAW | MADE, RAW | MADE, RAW)
def test_dimensions_of_parameters_are_kept(k, m, made, bound, bound_made, changed):
    """Of a subsystem's parameters too, whether numbers or arithmetic in either system gives them."""
    try:
        inner = kn.System("inner")
        inner.parameter("k", k)
        inner.parameter("m", m)
        inner.parameter("made", made)
        inner.input("push", made)
        system = kn.System("outer")
        system.parameter("k", "3 N/m")
        system.parameter("m", 2.0)
        system.add("part", inner, bind={"k": bound}, parameters={"made": bound_made})
        system.change("m", value=changed)
    except kn.ModelError:  # terms of different dimensions, or a value of another than was declared
        return
    again = loads(dumps(system))
    assert again == system
    assert dumps(again) == dumps(system)
    for name, record in system.parameters.items():
        assert again.parameters[name].dimension == record.dimension, name


def test_the_dimension_of_a_bound_parameter_is_written():
    """Arithmetic with plain numbers has no dimension of its own; the parameter that it is given to has one."""
    inner = kn.System("inner")
    inner.parameter("stiffness", "250 N/m", note="of the coil")
    system = kn.System("outer")
    system.parameter("base", 100.0)
    system.add("coil", inner, parameters={"stiffness": "2*base"})
    assert system.parameters["coil.stiffness"].dimension == parse_unit("N/m").dimension
    assert "unit: N/m" in dumps(system)
    again = loads(dumps(system))
    assert again == system
    with pytest.raises(kn.ModelError, match="N/m is needed"):
        again.change("coil.stiffness", value="3 kg")


def test_the_unit_of_a_parameter():
    system = kn.System("units")
    system.parameter("base", 100.0)
    system.parameter("k", "2*base", unit="N/m")
    system.parameter("root", 2.0, unit="kg^(1/2)/s^(3/2)")
    system.input("push", 5, unit="N")
    assert system.parameters["root"].dimension.exponents == (Fraction(1, 2), 0, Fraction(-3, 2), 0, 0)
    assert loads(dumps(system)) == system
    for unit, words in (
        ("mm", "no SI unit"),
        ("mm^(1/2)", "of an SI unit"),
        ("m^(1/0)", "fractional power"),
        (3, "text is"),
    ):
        with pytest.raises(kn.ModelError, match=rf"wrong.unit: .*{words}"):
            system.parameter("wrong", 2.0, unit=unit)
    with pytest.raises(kn.ModelError, match="N/m is needed"):
        system.parameter("wrong", "2 kg", unit="N/m")


def test_where_parts_are_drawn_is_no_model(tmp_path: Path) -> None:
    file = tmp_path / "axis.view.yaml"
    file.write_text("kinode: 1\n")
    with pytest.raises(kn.ModelError, match=r"load axis\.yaml"):
        kn.load(file)
