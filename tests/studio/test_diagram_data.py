"""The circuit diagram of the player: quantities on links, and powers whose sums are those of the energy audit."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import simpson

import kinode as kn
from kinode.player.diagram_data import MOST_COMPONENTS, diagram_data

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def work_into_components(run, record):
    """The powers at the ends of all links, summed for each component and integrated over the run."""
    values, powers = run.evaluate(record.names), {}
    for link in record.data["links"]:
        for power in link["powers"]:
            component = power["end"].partition(":")[0]
            powers[component] = powers.get(component, 0.0) + power["sign"] * values[power["series"]]
    for component in record.data["components"]:
        for reference in component["references"]:
            name = component["name"]
            powers[name] = powers.get(name, 0.0) + values[reference["power"]["series"]]
    return {name: float(simpson(power, x=run.t)) for name, power in powers.items()}


# Causes of the audit -> components of the circuit: the share of a joint that its law has is a component of its own.
SHARES = {"drive": ("motion", "speed", "effort"), "damping": ("damping",)}


@pytest.mark.parametrize(
    ("name", "until", "step"), [("motor_axis", 4.0, 1e-3), ("rlc", 0.05, 2e-5), ("excavator", 2.0, 1e-3)]
)
def test_the_powers_on_links_sum_to_the_works_of_the_audit(name, until, step):
    system = kn.load(EXAMPLES / f"{name}.yaml")
    run = kn.simulate(system, until, samples=round(until / step) + 1)
    record = diagram_data(system)
    into = work_into_components(run, record)
    checked = 0
    # Simpson's rule across the corners of laws has an error of its own, beside that of the run.
    allowed = run.audit.largest + run.audit.uncertainty + 2e-6 * run.audit.scale
    for cause, work in run.audit.work.items():
        owner, _, share = cause.rpartition(".")
        names = [f"{owner}.{word}" for word in SHARES.get(share, ())] or [cause]
        components = [each for each in names if each in into]
        if not components:
            continue
        stored = run[f"{cause}.stored"] if cause in system.parts else np.zeros(1)
        given = sum(into[each] for each in components)
        assert given == pytest.approx(stored[-1] - stored[0] - work, abs=allowed), cause
        checked += 1
    assert checked >= 3


def test_the_powers_at_a_link_sum_to_zero_at_every_time():
    run = kn.simulate(kn.load(EXAMPLES / "warm_motor.yaml"), 2.0, samples=51)
    record = diagram_data(run.system)
    values = run.evaluate(record.names)
    for link in record.data["links"]:
        rows = [power["sign"] * values[power["series"]] for power in link["powers"]]
        assert np.abs(np.sum(rows, axis=0)).max() <= 1e-12 * max(1.0, np.abs(rows).max()), link["name"]
    (outlet,) = [x for each in record.data["components"] for x in each["references"]]
    assert outlet["power"]["series"] == "air.2.power"
    assert simpson(values["air.2.power"], x=run.t) == pytest.approx(run.audit.work["ambient"], rel=1e-4)


def test_sizes_and_powers_of_links_are_those_of_their_vectors():
    run = kn.simulate(kn.load(EXAMPLES / "double_pendulum.yaml"), 1.0, samples=21)
    names = ["elbow.2.force", "elbow.2.velocity", "elbow.2.moment", "elbow.2.angular_velocity"]
    force, velocity, moment, rate = run.evaluate(names).values()
    np.testing.assert_allclose(run["elbow.2.force.size"], np.linalg.norm(force, axis=1), atol=1e-12)
    np.testing.assert_allclose(run["elbow.2.power"], np.sum(force * velocity + moment * rate, axis=1), atol=1e-12)
    assert run.units("elbow.2.power") == "W" and run.units("elbow.2.force.size") == "N"
    with pytest.raises(kn.Error, match="no part 'length'"):
        run["elbow.2.force.length"]


def test_every_quantity_on_a_link_can_be_evaluated():
    for name in ("motor_axis", "balanced_pole", "quadcopter", "leg"):
        run = kn.simulate(kn.load(EXAMPLES / f"{name}.yaml"), 0.05, samples=3)
        record = diagram_data(run.system)
        values = run.evaluate(record.names)
        assert all(array.shape == (3,) for array in values.values())
        shown = {value["series"] for link in record.data["links"] for value in link["values"]}
        shown |= {power["series"] for link in record.data["links"] for power in link["powers"]}
        assert shown <= set(record.names)
        for link in record.data["links"]:
            assert all(value["unit"] == run.units(value["series"]) for value in link["values"])


def test_an_information_link_carries_what_is_read():
    record = diagram_data(kn.load(EXAMPLES / "motor_axis.yaml"))
    told = {link["name"]: [v["series"] for v in link["values"]] for link in record.data["links"]
            if link["kind"] == "information"}  # fmt: skip
    assert told == {"target.out": ["target"], "elbow.out": ["elbow.q"], "controller.out": ["controller.output"]}


def test_the_picture_has_no_colors_of_its_own():
    svg = diagram_data(kn.load(EXAMPLES / "motor_axis.yaml")).data["svg"]
    assert "<style" not in svg and "white" not in svg and not re.search(r"#[0-9a-f]{6}", svg)
    assert 'data-name="battery"' in svg


def test_a_large_circuit_has_no_diagram():
    system = kn.System("ladder")
    for k in range(MOST_COMPONENTS + 1):
        system.element(f"r{k}", "resistor", plus=f"n{k}", minus="gnd", resistance=1.0)
    assert diagram_data(system) is None
