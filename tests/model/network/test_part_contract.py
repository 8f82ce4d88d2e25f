"""The contract of a part, over the whole registry: square, in units, and no power comes from nowhere.

States are random and then moved onto the part's equations and their rates, so that the balance of power has to hold
for whatever the rest of a circuit may do.
"""

from __future__ import annotations

import numpy as np
import pytest

import kinode as kn
from kinode.errors import ModelError
from kinode.expressions.equation_parser import find_rate
from kinode.expressions.syntax_tree import Expression
from kinode.model.base.element import ELEMENTS
from kinode.model.network.friction_parts import FrictionPart
from kinode.model.network.part import DOMAINS, Part
from kinode.model.system import System

EXACT = 1e-10  # rounding of some ten operations on powers of the order of 1 to 100
SHAFT = {"inertia": 0.4, "viscous": 0.3, "coulomb": 0.7, "slip": 0.5}
COILS = {"plus": "n1", "minus": "n2", "second_plus": "n3", "second_minus": "n4"}
DQ = {"shaft": "s1", "resistance": 0.6, "inductance_d": 0.3, "inductance_q": 0.7, "flux": 0.9, "pole_pairs": 3, **SHAFT}
GEAR = {"input": "s1", "output": "s2", "housing": "s3", "ratio": -2.5, "offset": 0.2, "viscous": 0.3, "coulomb": 0.7}
RUBS = {"coulomb": 0.7, "breakaway": 0.9, "stribeck_speed": 0.5, "viscous": 0.2}
POLES, ENDS, LAW = {"plus": "n1", "minus": "n2"}, {"a": "s1", "b": "s2"}, "1.5 + sin(2*t)"

# kind -> fields, and the power of a source that comes from outside
EXAMPLES = {
    "resistor": ({**POLES, "resistance": LAW}, "0"),
    "capacitor": ({**POLES, "capacitance": 0.4}, "0"),
    "inductor": ({**POLES, "inductance": 0.4}, "0"),
    "voltage_source": ({**POLES, "voltage": LAW}, "voltage*current"),
    "current_source": ({**POLES, "current": LAW}, "voltage*current"),
    "battery": ({**POLES, "voltage": "1.5 - 0.2*part.drawn", "resistance": 0.3}, "voltage*current"),
    "transformer": ({**COILS, "ratio": 3.0}, "0"),
    "bridge": ({**COILS, "modulation": LAW}, "0"),
    "coupled_inductors": ({**COILS, "inductance": 0.5, "second_inductance": 0.3, "coupling": 0.8}, "0"),
    "diode": ({**POLES, "drop": 0.3, "on_resistance": 0.2, "off_conductance": 0.5}, "0"),
    "switch": ({**POLES, "command": LAW, "on_resistance": 0.2, "off_conductance": 0.5}, "0"),
    "shaft_inertia": ({"shaft": "s1", "inertia": 0.4}, "0"),
    "shaft_spring": ({**ENDS, "stiffness": 3.0, "damping": 0.2, "free_angle": 0.3}, "0"),
    "shaft_damper": ({**ENDS, "damping": 0.2}, "0"),
    "shaft_loss": ({**ENDS, "viscous": 0.2, "coulomb": 0.7, "slip": 0.5}, "0"),
    "shaft_friction": ({**ENDS, **RUBS}, "0"),
    "gearbox": (GEAR, "0"),
    "elastic_gearbox": ({**GEAR, "stiffness": 3.0, "damping": 0.2, "efficiency": 0.7}, "0"),
    "backlash_gear": ({**GEAR, "stiffness": 3.0, "damping": 0.2, "play": 0.4}, "0"),
    "worm_gear": ({**GEAR, "stiffness": 3.0, "damping": 0.2, "efficiency": 0.7, "back_efficiency": -0.2}, "0"),
    "speed_source": ({**ENDS, "speed": LAW}, "moment*speed"),
    "angle_source": ({**ENDS, "angle": LAW}, "moment*speed"),
    "moment_source": ({**ENDS, "moment": LAW}, "moment*speed"),
    "slide_mass": ({"slide": "s1", "mass": 0.4}, "0"),
    "slide_spring": ({**ENDS, "stiffness": 3.0, "damping": 0.2, "free_length": 0.3}, "0"),
    "slide_damper": ({**ENDS, "damping": 0.2}, "0"),
    "slide_loss": ({**ENDS, "viscous": 0.2, "coulomb": 0.7, "slip": 0.5}, "0"),
    "slide_friction": ({**ENDS, **RUBS}, "0"),
    "velocity_source": ({**ENDS, "velocity": LAW}, "force*velocity"),
    "position_source": ({**ENDS, "position": LAW}, "force*speed"),
    "force_source": ({**ENDS, "force": LAW}, "force*speed"),
    "lever": ({**ENDS, "arm_a": 0.3, "arm_b": -0.7}, "0"),
    "frame_link": ({"node": "x1", "on": "world", "along": [0.6, 0.8, 0], "offset": 0.3}, "-force*speed"),
    "turn_link": ({"node": "s1", "on": "world", "along": [0.6, 0.8, 0]}, "-moment*speed"),
    "pinion": ({"shaft": "s1", "rack": "x1", "radius": 0.3, "offset": 0.1}, "0"),
    "dc_motor": ({**POLES, "shaft": "s1", "resistance": 0.6, "inductance": 0.3, "constant": 0.8, **SHAFT}, "0"),
    "brushless_motor": (
        {**DQ, "voltage_d": -0.4, "voltage_q": LAW},
        "scaling*(voltage_d*current_d + voltage_q*current_q)",
    ),
    "inverter_motor": ({**POLES, **DQ, "modulation_d": -0.4, "modulation_q": LAW, "scaling": 1}, "0"),
}
every_part = pytest.mark.parametrize("kind", EXAMPLES)
PARTS = {kind: cls for kind, cls in ELEMENTS.items() if issubclass(cls, Part)}


def make(kind, **changes) -> Part:
    return System("one").element("part", kind, **{**EXAMPLES[kind][0], **changes})


def value(formula, state):
    return formula.evaluate(state.__getitem__) if isinstance(formula, Expression) else formula


def find_state(part, formulas, seed):
    """A state with random values; what rubs slides the way that its mode says, which no row says."""
    if not isinstance(part, FrictionPart):
        return find_state_in(part, formulas, seed, 1.0)
    speed = part.quantity_formula(part.slides)
    states = (find_state_in(part, (*formulas, speed), seed + 100 * k, way) for k in range(9) for way in (1.0, -1.0))
    return next(state for state in states if state["part.mode"] * value(speed, state) > 0.0)


def find_state_in(part, formulas, seed, mode):
    """Random values for all names, moved by the shortest way onto the rows and their rates."""
    rows = [e.equation.residual for e in part.equations()]
    rows += [find_rate(row) for row in rows]
    names = sorted(set().union(*(f.names() for f in (*rows, *formulas) if isinstance(f, Expression))) - {"t"})
    # a diode conducts one way alone, which no row says
    modes = {f"part.{name}": mode * float(part.kind != "diode") for name in part.modes}
    modes |= {f"der({name})": 0.0 for name in modes}
    names = [name for name in names if name not in modes]
    slopes = [[row.derivative(name) for name in names] for row in rows]
    rng = np.random.default_rng(seed)
    x = rng.uniform(-2.0, 2.0, len(names))
    for _ in range(60):
        state = {"t": 0.3, **modes, **dict(zip(names, x, strict=True))}
        residuals = np.array([value(row, state) for row in rows], float)
        if np.abs(residuals).max() < 1e-13:
            return state
        x = x - np.linalg.lstsq([[value(s, state) for s in row] for row in slopes], residuals, rcond=1e-12)[0]
    raise AssertionError("no state fits the rows")


def test_every_part_has_an_example():
    assert set(PARTS) == set(EXAMPLES)


@every_part
def test_kind(kind):
    """Square, names that exist, units that fit; each field, port and unknown is described."""
    cls = PARTS[kind]
    cls.check_kind()
    assert cls.__doc__
    assert all(spec.doc for _, spec in cls.specs().values())
    assert len(make(kind).equations()) == len(cls.ports()) + len(cls.all_unknowns())
    names = [row.name for row in cls.class_rows()]
    assert len(set(names)) == len(names)


@every_part
@pytest.mark.parametrize("seed", range(5))
def test_power_that_goes_in_is_stored_or_lost(kind, seed):
    part = make(kind)
    power, stored, lost = (part.quantity_formula(name) for name in ("power", "stored", "lost"))
    supplied = part.formula(EXAMPLES[kind][1])
    rate = find_rate(stored)
    state = find_state(part, (power, rate, lost, supplied), seed)
    assert abs(value(power, state) - value(rate, state) - value(lost, state) + value(supplied, state)) < EXACT
    assert value(lost, state) >= 0.0
    if {part.stored, part.lost} != {"0"}:  # what states nothing of energy counts as a source
        assert value(part.formula(part.supplied), state) == pytest.approx(value(supplied, state), abs=EXACT)


@every_part
def test_energies_are_together_what_is_stored(kind):
    part = make(kind)
    formulas = [part.formula(text) for text in part.energies().values()]
    state = find_state(part, [part.quantity_formula("stored"), *formulas], 1)
    assert sum(value(f, state) for f in formulas) == pytest.approx(value(part.quantity_formula("stored"), state))
    assert sum(value(f, state) for f in formulas) >= 0.0


@every_part
def test_flows_of_each_kind_balance(kind):
    """What goes in comes out: currents always, moments and forces where nothing is accelerated or fixed inside."""
    part = make(kind)
    open_ended = {"shaft_inertia", "slide_mass", "lever", "pinion", "dc_motor", "brushless_motor", "inverter_motor"}
    open_ended |= {"frame_link", "turn_link"}  # whose body takes the force
    for domain in DOMAINS.values():
        ports = [name for name, kind_ in part.ports().items() if kind_ is domain]
        if not ports or (domain.position and kind in open_ended):
            continue
        flows = part.formula(" + ".join(f"{name}.{domain.flow}" for name in ports))
        assert abs(value(flows, find_state(part, (flows,), 2))) < EXACT


@every_part
def test_every_quantity_has_a_formula(kind):
    part = make(kind)
    for name in part.units():
        part.quantity_formula(name)


SIGNED = [(kind, field) for kind, cls in PARTS.items() for field in sorted({*cls.positive, *cls.unsigned})]


@pytest.mark.parametrize(("kind", "field"), SIGNED, ids=lambda word: word)
def test_a_number_of_the_wrong_sign_is_refused(kind, field):
    system = System("one")
    system.parameter("minus_one", -1.0)
    with pytest.raises(ModelError, match="must") as caught:
        system.element("part", kind, **{**EXAMPLES[kind][0], field: -1.0})
    assert (caught.value.component, caught.value.field) == ("part", field)
    part = system.element("part", kind, **{**EXAMPLES[kind][0], field: "minus_one"})
    with pytest.raises(ModelError, match="must") as caught:
        part.check_in(system)
    assert (caught.value.component, caught.value.field) == ("part", field)


@pytest.mark.parametrize("field", ["inductance", "inertia"])
def test_zero_leaves_out_a_state_where_it_is_written(field):
    part = make("dc_motor", **{field: 0.0})
    names = set().union(*(e.equation.names() for e in part.equations()))
    assert ("der(part.current)" in names) == (field != "inductance")
    assert ("der(der(part.shaft.angle))" in names) == (field != "inertia")
    system = System("one")
    system.parameter("nothing", 0.0)
    part = system.element("part", "dc_motor", **{**EXAMPLES["dc_motor"][0], field: "nothing"})
    with pytest.raises(ModelError, match="write the number 0"):
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
    fields = {key: item for key, item in EXAMPLES["dc_motor"][0].items() if key != "constant"}
    assert System("one").element("part", "dc_motor", **fields, **given).constant == pytest.approx(constant, rel=1e-15)
    with pytest.raises(ModelError, match="the same constant as") as caught:
        System("one").element("part", "dc_motor", **{**fields, "constant": 1.0, "torque_constant": 1.0})
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
    with pytest.raises(ModelError, match=words) as caught:
        make(kind, **given)
    assert (caught.value.component, caught.value.field) == ("part", field)


@pytest.mark.parametrize(
    ("kind", "field", "wrong", "words"),
    [
        *((kind, field, 0.0, "must not be zero") for kind, cls in PARTS.items() for field in cls.nonzero),
        ("elastic_gearbox", "efficiency", 1.2, "at most 1"),
        ("coupled_inductors", "coupling", -1.0, "between -1 and 1"),
        ("inverter_motor", "scaling", 2.0, "1.5 for amplitudes"),
    ],
)
def test_parameters_are_held_to_what_numbers_are(kind, field, wrong, words):
    system = System("one")
    system.parameter("x", wrong)
    part = system.element("part", kind, **{**EXAMPLES[kind][0], field: "x"})
    with pytest.raises(ModelError, match=words) as caught:
        part.check_in(system)
    assert (caught.value.component, caught.value.field) == ("part", field)
    system.change("x", value=EXAMPLES[kind][0][field])
    part.check_in(system)


def test_parameters_of_a_run_are_held_to_the_same():
    system = System("one", gravity=(0, 0, 0))
    system.parameter("ratio", 3)
    system.shaft_inertia("rotor", "fast", inertia=1)
    system.gearbox("gear", "fast", "slow", ratio="ratio")
    system.moment_source("push", "slow", moment=9)
    assert kn.simulate(system, 1.0, parameters={"ratio": 9})["slow.speed"][-1] == pytest.approx(9 / 81)
    with pytest.raises(ModelError, match=r"gear\.ratio: must not be zero"):
        kn.simulate(system, 1.0, parameters={"ratio": 0})
