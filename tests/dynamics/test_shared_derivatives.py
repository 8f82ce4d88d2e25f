"""Derivatives of reactions that equilibrium alone does not determine, shared by least norm."""

import numpy as np
import pytest
from example_counts import by_day

import kinode as kn
import loop_models as models

# Central differences of values that are right to 1e-12, over steps of 1e-5.
BY_DIFFERENCES = 1e-6


def every_load(system):
    """Names of all reactions, whole wrenches, and of efforts and powers of joints with freedoms."""
    joints = system.joints.values()
    wrenches = ("reaction.force", "reaction.moment", "wrench.force", "wrench.moment", "reaction.radial")
    efforts = ("effort", "effort.drive", "power")
    return [f"{j.name}.{word}" for j in joints for word in (*wrenches, *(efforts if j.n_u else ()))]


def geared():
    """A parallelogram whose uprights are geared to each other, as they would turn anyway."""
    system = models.parallelogram(False)
    system.constraint("gear", "gear", input="g2", output="g0", ratio=1.0)
    return system


def slotted():
    """A four-bar whose coupler is held across its plane once more, by a point on a plane."""
    system = models.four_bar(offset=0.1)
    system.constraint("slot", "point_on_plane", point=system["b"].at(0.3, 0, 0), plane=system.world)
    return system


def driven():
    """A parallelogram with a third upright, whose crank turns by a law."""
    system = models.parallelogram(True)
    system.change("g0", q=None, motion="0.4 + 0.3*sin(2*t)")
    return system


MECHANISMS = {
    "planar four-bar": lambda: models.four_bar(offset=0.1),
    "four-bar with one ball": lambda: models.four_bar(second="spherical", offset=0.1),
    "third upright": lambda: models.parallelogram(True),
    "geared": geared,
    "slotted": slotted,
    "driven": driven,
    "Bennett": models.bennett,
}


def named(values, names):
    return np.concatenate([np.atleast_1d(values[name]).reshape(-1) for name in names])


@pytest.mark.parametrize("example", ["four_bar", "slider_crank"])
def test_against_differences(example):
    """By all coordinates, speeds and parameters: planar linkages stay redundant where a loop opens."""
    system = kn.load(f"examples/{example}.yaml")
    dynamics, names = kn.compile(system), every_load(system)
    run = kn.simulate(system, 0.3, times=[0, 0.3])
    at = {"q": run.q[-1], "u": run.u[-1], "z": run.z[-1], "p": dynamics.parameters}
    found = dynamics.derivatives(0.1, **at, of=names, by=("coordinates", "u", "p"))

    def loads(**changed):
        return named(dynamics.evaluate(names, 0.1, **at | changed), names)

    columns = []
    for word in ("q", "u", "p"):
        for k, value in enumerate(at[word]):
            step = np.zeros(len(at[word]))
            step[k] = 1e-5 * max(abs(value), 1e-2)
            high, low = loads(**{word: at[word] + step}), loads(**{word: at[word] - step})
            columns.append((high - low) / (2 * step[k]))
    expected = np.array(columns).T
    scale = abs(expected).max(axis=0)
    assert (abs(found.matrix - expected).max(axis=0) < BY_DIFFERENCES * scale).all()
    weights = np.linspace(-1.0, 1.0, len(expected))
    by = ("coordinates", "u", "p")
    gradient = dynamics.gradient(0.1, **at, of=names, by=by, weights=weights)
    assert gradient.matrix[0] == pytest.approx(weights @ found.matrix, rel=1e-9, abs=1e-9 * abs(found.matrix).max())


@pytest.mark.parametrize("mechanism", by_day(MECHANISMS, 4))
def test_along_a_motion(mechanism):
    """The rate of every load along a run is its derivative by the state times the rate of the state."""
    system = MECHANISMS[mechanism]()
    names = every_load(system) + [f"{name}.reaction" for name in system.constraints]
    h = 1e-4
    run = kn.simulate(system, 0.2, times=[0, 0.1 - h, 0.1, 0.1 + h], rtol=1e-12, atol=1e-13)
    loads = [named({name: run[name][k] for name in names}, names) for k in range(4)]
    rate = (loads[3] - loads[1]) / (2 * h)
    dynamics = run.dynamics
    d = dynamics.derivatives(0.1, run.q[2], run.u[2], z=run.z[2], of=names, by=("q", "u", "t"))
    u_dot = dynamics.acceleration(0.1, run.q[2], run.u[2], z=run.z[2])
    found = d.matrix @ np.concatenate([run.u[2], u_dot, [1.0]])
    # The differences leave h^2 / 6 times a third derivative, of some hundred times the loads.
    assert abs(found - rate).max() < 2e-5 * (abs(rate).max() + abs(loads[2]).max())


def test_batches_and_prepared_functions_give_the_same():
    dynamics = kn.compile(models.four_bar(offset=0.1))
    run = kn.simulate(dynamics, 0.5, samples=4)
    f = dynamics.derivatives_of("j3.reaction.force", by=("q", "u"))
    whole = f(run.t, run.q, run.u)
    for k, t in enumerate(run.t):
        assert whole[k] == pytest.approx(f(t, run.q[k], run.u[k]), rel=1e-12, abs=1e-10)
    out = np.empty(f.shape)
    assert f(run.t[0], run.q[0], run.u[0], out=out) is out


def test_second_derivatives_are_those_of_the_first():
    dynamics = kn.compile(kn.load("examples/four_bar.yaml"))
    q, u, name = dynamics.initial.q, dynamics.initial.u + 0.5, "pin.reaction.moment"
    direction, h = np.array([1.0, -0.5, 0.3]), 1e-5

    def along(q):
        return dynamics.derivatives(0.0, q, u, of=name, by="q")["q"] @ direction

    expected = (along(q + h * direction) - along(q - h * direction)) / (2 * h)
    found = dynamics.second_derivatives(0.0, q, u, of=name, along={"q": direction})
    assert found == pytest.approx(expected, rel=BY_DIFFERENCES, abs=BY_DIFFERENCES * abs(expected).max())


def test_all_reactions_and_all_poses_by_one_word():
    system = kn.load("examples/double_pendulum.yaml")
    dynamics = kn.compile(system)
    d = dynamics.derivatives(0.0, [0.1, 0.2], [1.0, 0.0], of=("reactions", "poses"), by="q")
    assert d.of == (
        *(f"{joint}.reaction.{part}" for joint in system.joints for part in ("force", "moment")),
        *(f"{body}.{part}" for body in system.bodies for part in ("position", "rotation")),
    )
    one = dynamics.derivatives(0.0, [0.1, 0.2], [1.0, 0.0], of="elbow.reaction.force", by="q")
    assert d["elbow.reaction.force", "q"] == pytest.approx(one["q"], rel=1e-12)


def test_what_has_no_derivative_says_why():
    singular = kn.compile(models.four_bars(2, angle=-np.pi / 2))
    start = singular.initial
    with pytest.raises(kn.ArgumentError, match="singular position"):
        singular.derivatives(0.0, start.q, start.u, of="g0.reaction.force", by="q")
    soft = kn.load("examples/four_bar.yaml")
    soft.change("left", compliance={"axial": 1e-8, "radial": 1e-8})
    dynamics = kn.compile(soft)
    with pytest.raises(kn.ArgumentError, match="shared by the compliance of left"):
        dynamics.derivatives(0.0, dynamics.initial.q, dynamics.initial.u, of="pin.reaction.force", by="q")
