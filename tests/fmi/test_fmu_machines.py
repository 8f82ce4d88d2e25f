"""Parts that kinode exports and takes back as FMUs with states: the machine is that of kinode alone."""

import numpy as np
import pytest
from fmu_machines import SAME, export_part, make_machine

import kinode as kn
from kinode.fmi.fmu_calls_ir import COMBINE

VERSIONS = ["2.0", "3.0"]
TIGHT = {"rtol": 1e-12, "atol": 1e-13}


@pytest.fixture(scope="module")
def own():
    return kn.compile(make_machine())


@pytest.mark.parametrize("version", VERSIONS)
def test_the_motion_is_that_of_kinode_alone(own, version):
    machine = kn.compile(make_machine(version))
    assert machine.system["motor"].description.model_exchange.directional
    one, two = (kn.simulate(dynamics, 2.0, every=0.02, **TIGHT) for dynamics in (own, machine))
    for name, other in SAME.items():
        size = np.abs(one[name]).max()
        # the same operations in C and in machine code: both runs take the same steps, up to rounding
        np.testing.assert_allclose(two[other], one[name], atol=1e-9 * size, err_msg=name)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("method", ["stiff", "rk4"])
def test_other_methods_take_the_same_steps(own, version, method):
    options = {"step": 1e-3} if method == "rk4" else {"rtol": 1e-9, "atol": 1e-11}
    machine = kn.compile(make_machine(version))
    one, two = (kn.simulate(dynamics, 1.0, every=0.05, method=method, **options) for dynamics in (own, machine))
    np.testing.assert_allclose(two["elbow.q"], one["elbow.q"], atol=1e-9)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("directional", [True, False], ids=["its derivatives", "differences"])
def test_small_motions_see_its_states(own, version, directional, monkeypatch):
    machine = make_machine(version)
    if not directional:
        kind = type(machine["motor"].description.model_exchange)
        monkeypatch.setattr(kind, "directional", property(lambda self: False), raising=False)
        for name in ("control", "motor", "spring"):
            kept = machine[name].description.model_exchange.__dict__
            monkeypatch.delitem(kept, "directional")
    one, two = (kn.linearize(model, anywhere=True) for model in (own, machine))
    operations = machine["motor"].functions.operations(machine["motor"].functions.join(0, 1))
    assert any(op.what == COMBINE for op in operations) is not directional
    assert {"motor.coil_current", "control.pid_integral"} <= set(two.states)
    a, b = (np.sort_complex(np.linalg.eigvals(x.A)) for x in (one, two))
    np.testing.assert_allclose(b, a, atol=1e-7 * np.abs(a).max())


def test_derivatives_by_its_parameter(own):
    """The gain is a parameter of an FMU: derivatives by it are differences of two instances."""
    machine = kn.compile(make_machine("2.0", events=False))
    y = np.array([0.2, 0.05, 0.1, -0.3, 0.4, 0.5])
    rates = []
    for dynamics in (own, machine):
        z = dict(zip((c.name for c in dynamics.coordinates if c.role == "z"), y[4:], strict=True))
        order = sorted(z, key=lambda name: "current" in name)
        z_values = [y[4 + order.index(c.name)] for c in dynamics.coordinates if c.role == "z"]
        found = dynamics.derivatives(0.3, y[:2], y[2:4], z=z_values, of="z_dot", by="gain").matrix.ravel()
        names = [c.name for c in dynamics.coordinates if c.role == "z"]
        rates.append(found[[names.index(name) for name in order]])
    np.testing.assert_allclose(rates[1], rates[0], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_sampled_part_only_approaches_it(own, version):
    """The way with a period is as it was: its error is of the order of the period."""
    coarse = kn.simulate(make_machine(version, period="2 ms", interface="model_exchange"), 0.3, every=0.02)
    exact = kn.simulate(own, 0.3, every=0.02)
    gap = np.abs(coarse["elbow.q"] - exact["elbow.q"]).max()
    assert 1e-6 < gap < 1e-2


def test_verify_equilibrium_and_equations_see_it():
    machine = make_machine("2.0", events=False)
    assert kn.verify(machine).ok
    held, names = kn.equilibrium(machine), [c.name for c in kn.compile(machine).coordinates if c.role == "z"]
    current = held.state.z[names.index("motor.coil_current")]
    assert current * 0.8 == pytest.approx(9.81 * 2 * 0.3, rel=1e-6), "the torque holds the arm"
    equations = kn.equations(machine)
    assert "motor_torque(t, z_motor_coil_current)" in str(equations)
    for write in (equations.c, equations.python):
        with pytest.raises(kn.ModelError, match="control: it is an FMU"):
            write()


@pytest.mark.parametrize("version", VERSIONS)
def test_a_part_with_events_and_a_clock_is_that_of_kinode_alone(version, tmp_path):
    """A relay, friction that sticks, and a sampled signal: event indicators, discrete states, time events."""

    def add(system, drive):
        slider = system.body("slider", mass=1, inertia=(1, 1, 1))
        sticks = {"coulomb": {"effort": 1.5, "static_effort": 2.0}}
        system.prismatic("track", system.world, slider, axis="x", friction=sticks, effort=f"3*{drive} - 4*track.q")
        system.relay("relay", input="track.q", on=0.2, off=-0.1)
        system.sample_hold("held", input="track.q + relay.output", period="0.13 s")

    alone, part, whole = kn.System("alone"), kn.System("part"), kn.System("whole")
    add(alone, "sin(2*t)")
    part.input("drive")
    add(part, "drive")
    names = ["track.q", "relay.output", "held.output"]
    file = kn.export(part, "fmu", tmp_path / "part.fmu", outputs=names, version=version, platforms="host")
    whole.fmu("part", file, inputs={"drive": "sin(2*t)"})
    one, two = (kn.simulate(system, 5.0, every=0.05, rtol=1e-10, atol=1e-12) for system in (alone, whole))
    assert len(one.events) > 6
    for name in names:
        np.testing.assert_allclose(two[f"part.{name.replace('.', '_')}"], one[name], atol=1e-7, err_msg=name)
    for event in one.events:
        assert min(abs(event.time - other.time) for other in two.events) < 1e-8


def test_several_of_one_file_share_its_folder():
    file = export_part("drive", "2.0")
    system = kn.System("two")
    for k in (1, 2):
        system.fmu(f"m{k}", file, inputs={"volts": f"{k}", "speed": 0.0}, parameters={"K": 0.5 * k})
    run = kn.simulate(system, 1.0, **TIGHT)
    for k in (1, 2):
        exact = k / 0.5 * (1 - np.exp(-25.0))
        assert run[f"m{k}.torque"][-1] == pytest.approx(0.5 * k * exact, rel=1e-10)
    assert system["m1"].file.package is system["m2"].file.package


def test_runs_in_lanes_and_absolute_coordinates_tell_of_steps_or_refuse(own):
    machine = make_machine("2.0", events=False)
    gains = np.linspace(30.0, 50.0, 20)
    studies = [
        kn.sweep(model, {"gain": gains}, 0.2, keep=["elbow.q|final"], method="rk4", step=1e-3)
        for model in (make_machine(), machine)
    ]
    one, two = (study["elbow.q|final"] for study in studies)
    np.testing.assert_allclose(two, one, atol=1e-12)
    with pytest.raises(kn.ArgumentError, match="newton_euler do not tell control of completed steps"):
        kn.simulate(machine, 0.1, formulation="newton_euler")
