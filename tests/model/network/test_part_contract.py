"""The contract of a part, over the whole registry; and what is said of motors, of zeros and of wrong numbers."""

from __future__ import annotations

import numpy as np
import pytest
from part_contract import CHECKS, PartExample, make_part

import kinode as kn
from kinode.model.base import fields
from kinode.model.base.element import ELEMENTS

SHAFT = {"inertia": 0.4, "viscous": 0.3, "coulomb": 0.7, "slip": 0.5}
COILS = {"plus": "n1", "minus": "n2", "second_plus": "n3", "second_minus": "n4"}
DQ = {"shaft": "s1", "resistance": 0.6, "inductance_d": 0.3, "inductance_q": 0.7, "flux": 0.9, "pole_pairs": 3, **SHAFT}
GEAR = {"input": "s1", "output": "s2", "housing": "s3", "ratio": -2.5, "offset": 0.2, "viscous": 0.3, "coulomb": 0.7}
RUBS = {"coulomb": 0.7, "breakaway": 0.9, "stribeck_speed": 0.5, "viscous": 0.2}
POLES, ENDS, LAW = {"plus": "n1", "minus": "n2"}, {"a": "s1", "b": "s2"}, "1.5 + sin(2*t)"

EXAMPLES = [
    PartExample("resistor", {**POLES, "resistance": LAW}),
    PartExample("capacitor", {**POLES, "capacitance": 0.4}),
    PartExample("inductor", {**POLES, "inductance": 0.4}),
    PartExample("voltage_source", {**POLES, "voltage": LAW}, "voltage*current"),
    PartExample("current_source", {**POLES, "current": LAW}, "voltage*current"),
    PartExample("battery", {**POLES, "voltage": "1.5 - 0.2*part.drawn", "resistance": 0.3}, "voltage*current"),
    PartExample("transformer", {**COILS, "ratio": 3.0}),
    PartExample("bridge", {**COILS, "modulation": LAW}),
    PartExample("coupled_inductors", {**COILS, "inductance": 0.5, "second_inductance": 0.3, "coupling": 0.8}),
    PartExample("diode", {**POLES, "drop": 0.3, "on_resistance": 0.2, "off_conductance": 0.5}),
    PartExample("switch", {**POLES, "command": LAW, "on_resistance": 0.2, "off_conductance": 0.5}),
    PartExample("shaft_inertia", {"shaft": "s1", "inertia": 0.4}, keeps_force=True),
    PartExample("shaft_spring", {**ENDS, "stiffness": 3.0, "damping": 0.2, "free_angle": 0.3}),
    PartExample("shaft_damper", {**ENDS, "damping": 0.2}),
    PartExample("shaft_loss", {**ENDS, "viscous": 0.2, "coulomb": 0.7, "slip": 0.5}),
    PartExample("shaft_friction", {**ENDS, **RUBS}),
    PartExample("gearbox", GEAR),
    PartExample("elastic_gearbox", {**GEAR, "stiffness": 3.0, "damping": 0.2, "efficiency": 0.7}),
    PartExample("backlash_gear", {**GEAR, "stiffness": 3.0, "damping": 0.2, "play": 0.4}),
    PartExample("worm_gear", {**GEAR, "stiffness": 3.0, "damping": 0.2, "efficiency": 0.7, "back_efficiency": -0.2}),
    PartExample("speed_source", {**ENDS, "speed": LAW}, "moment*speed"),
    PartExample("angle_source", {**ENDS, "angle": LAW}, "moment*speed"),
    PartExample("moment_source", {**ENDS, "moment": LAW}, "moment*speed"),
    PartExample("slide_mass", {"slide": "s1", "mass": 0.4}, keeps_force=True),
    PartExample("slide_spring", {**ENDS, "stiffness": 3.0, "damping": 0.2, "free_length": 0.3}),
    PartExample("slide_damper", {**ENDS, "damping": 0.2}),
    PartExample("slide_loss", {**ENDS, "viscous": 0.2, "coulomb": 0.7, "slip": 0.5}),
    PartExample("slide_friction", {**ENDS, **RUBS}),
    PartExample("velocity_source", {**ENDS, "velocity": LAW}, "force*velocity"),
    PartExample("position_source", {**ENDS, "position": LAW}, "force*speed"),
    PartExample("force_source", {**ENDS, "force": LAW}, "force*speed"),
    PartExample("lever", {**ENDS, "arm_a": 0.3, "arm_b": -0.7}, keeps_force=True),
    PartExample(
        "frame_link",
        {"node": "x1", "on": "world", "along": [0.6, 0.8, 0], "offset": 0.3},
        "-force*speed",
        keeps_force=True,
    ),
    PartExample("turn_link", {"node": "s1", "on": "world", "along": [0.6, 0.8, 0]}, "-moment*speed", keeps_force=True),
    PartExample("pinion", {"shaft": "s1", "rack": "x1", "radius": 0.3, "offset": 0.1}, keeps_force=True),
    PartExample(
        "dc_motor",
        {**POLES, "shaft": "s1", "resistance": 0.6, "inductance": 0.3, "constant": 0.8, **SHAFT},
        keeps_force=True,
    ),
    PartExample(
        "brushless_motor",
        {**DQ, "voltage_d": -0.4, "voltage_q": LAW},
        "scaling*(voltage_d*current_d + voltage_q*current_q)",
        keeps_force=True,
    ),
    PartExample(
        "inverter_motor", {**POLES, **DQ, "modulation_d": -0.4, "modulation_q": LAW, "scaling": 1}, keeps_force=True
    ),
]
BY_KIND = {example.kind: example for example in EXAMPLES}
PARTS = {kind: cls for kind, cls in ELEMENTS.items() if issubclass(cls, kn.Part)}
RANGES = [(kind, field, allowed) for kind, cls in PARTS.items() for field, allowed in cls.number_ranges().items()]


def make(kind, **changes) -> kn.Part:
    return make_part(BY_KIND[kind], **changes)


def test_every_part_has_an_example():
    assert set(PARTS) == set(BY_KIND)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.kind)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_contract(example, check):
    check(example)


@pytest.mark.parametrize("field", ["inductance", "inertia"])
def test_zero_leaves_out_a_state_where_it_is_written(field):
    part = make("dc_motor", **{field: 0.0})
    names = set().union(*(e.equation.names() for e in part.equations()))
    assert ("der(part.current)" in names) == (field != "inductance")
    assert ("der(der(part.shaft.angle))" in names) == (field != "inertia")
    system = kn.System("one")
    system.parameter("nothing", 0.0)
    part = system.element("part", "dc_motor", **{**BY_KIND["dc_motor"].fields, field: "nothing"})
    with pytest.raises(kn.ModelError, match="write the number 0"):
        part.check_in(system)


@pytest.mark.parametrize(
    ("given", "constant"),
    [
        ({"constant": "50 mN*m/A"}, 0.05),
        ({"torque_constant": "50 mN*m/A"}, 0.05),
        ({"back_emf_constant": "0.05 V*s/rad"}, 0.05),
        ({"speed_constant": "120 rpm/V"}, 30 / (120 * np.pi)),
    ],
)
def test_one_constant_of_a_motor_by_many_names(given, constant):
    fields = {key: item for key, item in BY_KIND["dc_motor"].fields.items() if key != "constant"}
    assert kn.System("one").element("part", "dc_motor", **fields, **given).constant == pytest.approx(
        constant, rel=1e-15
    )
    with pytest.raises(kn.ModelError, match="the same constant as") as caught:
        kn.System("one").element("part", "dc_motor", **{**fields, "constant": 1.0, "torque_constant": 1.0})
    assert caught.value.component == "part"


@pytest.mark.parametrize(
    ("kind", "given", "field", "words"),
    [
        ("gearbox", {"ratio": 0}, "ratio", "zero"),
        ("elastic_gearbox", {"efficiency": 1.2}, "efficiency", "at most 1"),
        ("lever", {"arm_a": 0}, "arm_a", "zero"),
        ("pinion", {"radius": 0}, "radius", "zero"),
        ("brushless_motor", {"scaling": 2}, "scaling", "1.5"),
        ("brushless_motor", {"inductance": 2}, "inductance_d", "both axes"),
        ("dc_motor", {"speed_constant": 0, "constant": None}, "speed_constant", "zero"),
        (
            "dc_motor",
            {"speed_constant": "9 rpm", "constant": None},
            "speed_constant",
            "speed constant is needed, in rad/s/V",
        ),
        ("dc_motor", {"constant": "5 V"}, "constant", "V"),
        ("resistor", {"plus": "world"}, "plus", "gnd"),
        ("coupled_inductors", {"coupling": 1.5}, "coupling", "between"),
        ("transformer", {"ratio": 0}, "ratio", "zero"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_name(kind, given, field, words):
    with pytest.raises(kn.ModelError, match=words) as caught:
        make(kind, **given)
    assert (caught.value.component, caught.value.field) == ("part", field)


@pytest.mark.parametrize(
    ("kind", "field", "wrong", "words"),
    [
        *((kind, field, 0.0, "must not be zero") for kind, field, allowed in RANGES if allowed is fields.NONZERO),
        ("elastic_gearbox", "efficiency", 1.2, "at most 1"),
        ("coupled_inductors", "coupling", -1.0, "between -1 and 1"),
        ("inverter_motor", "scaling", 2.0, "1.5 for amplitudes"),
    ],
)
def test_parameters_are_held_to_what_numbers_are(kind, field, wrong, words):
    system = kn.System("one")
    system.parameter("x", wrong)
    part = system.element("part", kind, **{**BY_KIND[kind].fields, field: "x"})
    with pytest.raises(kn.ModelError, match=words) as caught:
        part.check_in(system)
    assert (caught.value.component, caught.value.field) == ("part", field)
    system.change("x", value=BY_KIND[kind].fields[field])
    part.check_in(system)


def test_parameters_of_a_run_are_held_to_the_same():
    system = kn.System("one", gravity=(0, 0, 0))
    system.parameter("ratio", 3)
    system.shaft_inertia("rotor", "fast", inertia=1)
    system.gearbox("gear", "fast", "slow", ratio="ratio")
    system.moment_source("push", "slow", moment=9)
    assert kn.simulate(system, 1.0, parameters={"ratio": 9})["slow.speed"][-1] == pytest.approx(9 / 81)
    with pytest.raises(kn.ModelError, match=r"gear\.ratio: must not be zero"):
        kn.simulate(system, 1.0, parameters={"ratio": 0})
