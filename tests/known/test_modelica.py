"""Examples of Modelica.Mechanics.MultiBody against the reference results that the Modelica Association publishes.

The records (MAP-LIB_ReferenceResults, Modelica 4.0.0) are of Dymola with DASSL and a tolerance of 1e-6: 1e-5 rad and
1e-4 rad/s is what they hold.  World: gravity 9.80665 m/s^2 along -y.
"""

import numpy as np
import pytest

import kinode as kn

TIGHT = {"method": "dop853", "rtol": 1e-12, "atol": 1e-13}
G = 9.80665


def test_pendulum():
    """Elementary.Pendulum: 1 kg at 0.5 m, inertia 0.001 kg m^2, a damper of 0.1 N m s/rad.  t, rev.phi, rev.w."""
    record = np.array([
        [0.1, -0.0963594740968355, -1.9132967936705],
        [0.36, -1.14983599160817, -5.64809983325851],
        [5.0, -1.67963464183622, -2.31814702855536],
    ])  # fmt: skip
    system = kn.System("Pendulum", gravity=(0, -G, 0))
    body = system.body("body", mass=1.0, com=(0.5, 0, 0), inertia=(0.001, 0.001, 0.001))
    system.revolute("rev", system.world, body, axis="z", damping=0.1)
    run = kn.simulate(system, 5.0, times=[0.0, *record[:, 0]], **TIGHT)
    assert run["rev.q"][1:] == pytest.approx(record[:, 1], abs=1e-5)
    assert run["rev.u"][1:] == pytest.approx(record[:, 2], abs=1e-4)


def test_double_pendulum():
    """Elementary.DoublePendulum: two boxes of 0.5 x 0.06 x 0.06 m, 7700 kg/m^3, a damper of 0.1 in the first hinge.

    t, revolute1.phi, revolute1.w, revolute2.phi, revolute2.w.
    """
    record = np.array([
        [0.1002, -0.125230870024152, -2.46804701305642, 0.164564822884664, 3.1795379251562],
        [0.1182, -0.173277955008986, -2.86543146977533, 0.225693553878126, 3.59511758005106],
        [2.9952, -2.33744251606748, 4.03600479639967, -1.73586687636693, -0.208507251243533],
        [3.0, -2.31792856164629, 4.09411019727828, -1.73649166916319, -0.0503767046344943],
    ])  # fmt: skip
    system = kn.System("DoublePendulum", gravity=(0, -G, 0))
    box = kn.box("0.5 m", "0.06 m", "0.06 m", density=7700, at=(0.25, 0, 0))
    upper, lower = (system.body(name, shape=box) for name in ("boxBody1", "boxBody2"))
    system.revolute("revolute1", system.world, upper, axis="z", damping=0.1)
    system.revolute("revolute2", upper.at(0.5, 0, 0), lower, axis="z")
    run = kn.simulate(system, 3.0, times=[0.0, *record[:, 0]], **TIGHT)
    values = np.column_stack([run[name][1:] for name in ("revolute1.q", "revolute1.u", "revolute2.q", "revolute2.u")])
    assert values[:, ::2] == pytest.approx(record[:, 1::2], abs=1e-4)  # after 3 s errors have grown fourfold
    assert values[:, 1::2] == pytest.approx(record[:, 2::2], abs=2e-4)
    assert values[:2] == pytest.approx(record[:2, 1:], abs=1e-5)


def test_planar_four_bar():
    """Loops.PlanarFourbar: boxes of 0.05 x 0.05 m, a damper of 0.1 in the first hinge.  t, revolute1.phi, revolute1.w.

    The bars whirl at 13 rad/s, and the error of the record grows with every turn: by 5 s it is 6e-4 rad, while runs
    with tolerances of 1e-8 and 1e-11 here agree to 1e-8.
    """
    record = np.array([
        [1.0, -1.82106780567352, 12.4555110108612],
        [1.2, -0.310168057143461, 3.83764380570461],
        [5.0, -0.939783395642669, 6.99349011457421],
    ])  # fmt: skip
    r1, r2, r3 = np.array([0.4, 0, 0]), np.array([0.1, 1.1, 0]), np.array([-0.15, 1.0, 0])
    r4 = r1 + r2 - r3
    system = kn.System("PlanarFourbar", gravity=(0, -G, 0))

    def box(name, r):
        length = float(np.linalg.norm(r))
        mass = 7700 * length * 0.05**2
        return system.body(name, mass=mass, com=tuple(r / 2), inertia={"zz": mass * (length**2 + 0.05**2) / 12})

    body1, body2, body4 = box("body1", r1), box("body2", r2), box("body4", r4)
    system.revolute("revolute1", system.world, body1, damping=0.1, q=0, u=0)
    system.revolute("revolute2", body1.at(*r1), body2)
    system.revolute("revolute3", system.world.at(*r3), body4)
    system.revolute("revolute4", body4.at(*r4), body2.at(*r2))
    times = [0.0, *record[:, 0]]
    run, looser = (kn.simulate(system, 5.0, times=times, rtol=rtol, atol=rtol / 10) for rtol in (1e-11, 1e-8))
    assert run["revolute1.q"] == pytest.approx(looser["revolute1.q"], abs=1e-6)
    angle, speed = (abs(run[name][1:] - column) for name, column in zip(("revolute1.q", "revolute1.u"), record.T[1:]))
    assert (angle < [5e-5, 2e-5, 1e-3]).all()
    assert (speed < [5e-4, 5e-4, 5e-3]).all()
