"""Assembly: the same start wherever loops are cut, the nearest branch, and errors that say why."""

import itertools

import numpy as np
import pytest

import kinode as kn

JOINTS = ("j1", "j2", "j3", "j4")


def four_bar(order=JOINTS, **given):
    """Bars of 0.2, 0.6, 0.4 on a ground of 0.5; the order of the joints decides which of them is cut."""
    system = kn.System("four_bar", gravity=(0, -9.81, 0))
    a, b, c = (system.body(name, mass=1, com=(0.1, 0, 0), inertia=(0.01, 0.02, 0.02)) for name in "abc")
    sides = {
        "j1": (system.world, a),
        "j2": (a.at(0.2, 0, 0), b),
        "j3": (b.at(0.6, 0, 0), c.at(0.4, 0, 0)),
        "j4": (system.world.at(0.5, 0, 0), c),
    }
    for name in order:
        system.revolute(name, *sides[name], **given.get(name, {}))
    return system


def start_of(system):
    """Coordinates and speeds of all joints at the start."""
    dynamics = kn.compile(system)
    snapshot = dynamics.snapshot(dynamics.initial)
    states = [snapshot.joint_state(name)[:2] for name in JOINTS]
    return dynamics.topology.cut_names, np.array([[float(q[0]), float(u[0])] for q, u in states])


def by_cut(**given):
    """The start for every joint that can be the one which is cut."""
    found = {}
    for order in itertools.permutations(JOINTS):
        cut, values = start_of(four_bar(order, **given))
        found.setdefault(cut, values)
        if len(found) == 2:
            break
    assert len(found) == 2
    return list(found.values())


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"j3": {"q": 0.7}},
        {"j2": {"q": -0.6, "u": 1.5}},
        {"j3": {"guess": -1.0, "u": 2.0}},
        {"j1": {"guess": 0.9}, "j2": {"guess": -0.5}, "j4": {"guess": 1.2}},
    ],
    ids=str,
)
def test_the_start_does_not_depend_on_the_cut(given):
    one, two = by_cut(**given)
    assert np.abs(one - two).max() < 1e-9
    for name, fields in given.items():
        q, u = one[JOINTS.index(name)]
        assert q == pytest.approx(fields.get("q", q), abs=1e-12)
        assert u == pytest.approx(fields.get("u", u), abs=1e-12)
    q1, q2, q3, q4 = one[:, 0]  # the loop closes: positions of the pin by hand
    pin = 0.2 * np.exp(1j * q1) + 0.6 * np.exp(1j * (q1 + q2))
    assert abs(pin - 0.5 - 0.4 * np.exp(1j * q4)) < 1e-12
    assert np.exp(1j * (q1 + q2 + q3)) == pytest.approx(np.exp(1j * q4), abs=1e-12)


def test_nothing_said_is_the_nearest_to_all_zero():
    """Against a scan over the crank's angle of both branches, by the law of cosines."""
    (found, _) = by_cut()
    best = np.inf
    for q1 in np.linspace(-np.pi, np.pi, 20001):
        from_pin = 0.5 - 0.2 * np.exp(1j * q1)
        d = abs(from_pin)
        if not 0.2 < d < 1.0:
            continue
        for side in (1, -1):
            up = np.angle(from_pin) + side * np.arccos((d * d + 0.36 - 0.16) / (2 * 0.6 * d))
            q4 = np.angle(0.2 * np.exp(1j * q1) + 0.6 * np.exp(1j * up) - 0.5)
            turns = np.angle(np.exp(1j * np.array([q1, up - q1, q4 - up, q4])))
            best = min(best, float(turns @ turns))
    assert float(found[:, 0] @ found[:, 0]) == pytest.approx(best, abs=1e-6)


def test_values_in_conflict_are_told_apart_from_lengths_that_do_not_reach():
    with pytest.raises(kn.AssemblyError, match=r"in conflict: .* loop of .*j1.*q=") as error:
        kn.compile(four_bar(j1={"q": 0.9}, j2={"q": 0.5}))
    assert max(gap.length for gap in error.value.residuals.values()) > 1e-3
    far = kn.System("far", gravity=(0, 0, 0))
    a, b = (far.body(name, mass=1, inertia=(1, 1, 1)) for name in "ab")
    far.revolute("left", far.world, a, q=0.3)
    far.revolute("right", far.world.at(3, 0, 0), b)
    far.revolute("middle", a.at(1, 0, 0), b.at(-1, 0, 0))
    with pytest.raises(kn.AssemblyError, match="do not reach"):
        kn.compile(far)


def test_a_follower_may_be_the_one_that_is_given():
    """input.q = ratio output.q: the angle of the input decides that of the output."""
    system = kn.System("gears", gravity=(0, 0, 0))
    a, b = (system.body(name, mass=1, inertia=(1, 1, 1)) for name in "ab")
    system.revolute("fast", system.world, a, q=0.6, u=1.2)
    system.revolute("slow", system.world, b)
    system.constraint("gear", "gear", input="fast", output="slow", ratio=3)
    start = kn.compile(system).initial
    assert start.q == pytest.approx([0.2], abs=1e-13)
    assert start.u == pytest.approx([0.4], abs=1e-13)
