"""What kinode writes as an FMU it reads again: the part does what the model does."""

import numpy as np
import pytest
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
