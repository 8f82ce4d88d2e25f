"""What kinode writes as an FMU it reads again: the part does what the model does."""

import numpy as np
import pytest
from compiled_examples import compiled_example
from example_counts import is_fixed

import kinode as kn

UNTIL, PERIOD = 0.3, 0.01


@pytest.fixture(scope="module")
def crank():
    """A pendulum with a stop: a state event on the way."""
    system = kn.System("hammer")
    body = system.body("b", mass=2, com=(0.3, 0, 0), inertia=(0.1, 0.1, 0.1))
    system.revolute("j", system.world, body, axis="y", q="10 deg", stop={"upper": "30 deg", "restitution": 0.5})
    return system


@pytest.fixture(scope="module")
def exact(crank):
    return kn.simulate(crank, UNTIL, every=PERIOD, rtol=1e-11, atol=1e-13)


@pytest.fixture(scope="module", params=["2.0"] if is_fixed() else ["2.0", "3.0"])
def path(request, crank, tmp_path_factory):
    path = tmp_path_factory.mktemp("fmu") / "hammer.fmu"
    kn.export(crank, "fmu", path, version=request.param, platforms="host", outputs=["j.q", "j.u"])
    return path


@pytest.mark.parametrize("interface", ["co_simulation", "model_exchange"])
def test_the_part_does_what_the_model_does(path, exact, interface):
    host = kn.System("host")
    part = host.fmu("m", path, period=PERIOD, interface=interface)
    assert dict(part.outputs) == {"j_q": "j.q", "j_u": "j.u"}
    run = kn.simulate(host, UNTIL, every=PERIOD)
    n = len(run.t) - 1  # the last tick is at the end of the run
    assert exact["j.u"][:n].max() > 0 > exact["j.u"][:n].min()  # there was an impact
    for name in ("j.q", "j.u"):
        expected = exact[name][:n].ravel()
        error = abs(run[f"m.{name.replace('.', '_')}"][:n] - expected).max()
        # the tolerance of either solver, of the range
        assert error < 1e-6 * np.ptp(expected), (name, error)


def test_which_side_of_a_tick_is_read(tmp_path):
    """Clocks of the FMU tick at every tick of the part: before them in co-simulation, after them in model exchange."""
    dynamics = compiled_example("backlash_axis")
    names = ("controller.derivative", "controller.output", "elbow.q")
    path = kn.export(dynamics.system, "fmu", tmp_path / "axis.fmu", platforms="host", optimization="-O0", outputs=names)
    ticks = PERIOD * np.arange(1, 30)
    for interface, side in (("co_simulation", -1e-9), ("model_exchange", 0.0)):
        run = kn.simulate(dynamics, UNTIL, times=[0.0, *(ticks + side)], rtol=1e-10, atol=1e-12)
        host = kn.System("host")
        host.fmu("m", path, period=PERIOD, interface=interface)
        read = kn.simulate(host, UNTIL, every=PERIOD)
        for name in names:
            expected = run[name][1:]
            error = abs(read[f"m.{name.replace('.', '_')}"][1:30] - expected).max()
            assert error < 1e-6 * np.ptp(expected), (interface, name, error)
    first, second = (kn.simulate(dynamics, UNTIL, times=[0.0, 0.2 + side])[names[0]][1] for side in (-1e-9, 0.0))
    assert abs(second - first) > 0.01
