"""Assembly: the same start wherever loops are cut, the nearest branch, and errors that say why."""

import itertools
from pathlib import Path

import numpy as np
import pytest

import kinode as kn

JOINTS = ("j1", "j2", "j3", "j4")
EXAMPLES = Path(__file__).parents[2] / "examples"


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
        kn.assemble(four_bar(j1={"q": 0.9}, j2={"q": 0.5}))
    assert max(gap.length for gap in error.value.residuals.values()) > 1e-3
    far = kn.System("far", gravity=(0, 0, 0))
    a, b = (far.body(name, mass=1, inertia=(1, 1, 1)) for name in "ab")
    far.revolute("left", far.world, a, q=0.3)
    far.revolute("right", far.world.at(3, 0, 0), b)
    far.revolute("middle", a.at(1, 0, 0), b.at(-1, 0, 0))
    with pytest.raises(kn.AssemblyError, match="do not reach"):
        kn.assemble(far)


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


# -- kn.assemble ------------------------------------------------------------------------------------------------------
ROUGH = {"j1.q": 0.8, "j2.q": 0.1, "j3.q": 0.3}


def nearest(weights):
    """Angles of the closed four-bar with the least weighted offset from ROUGH, by a scan over the crank."""
    q1 = np.linspace(0, 1.5, 200001)
    from_pin = 0.5 - 0.2 * np.exp(1j * q1)
    d = abs(from_pin)
    up = np.angle(from_pin) + np.arccos((d * d + 0.36 - 0.16) / (1.2 * d))
    q4 = np.angle(0.2 * np.exp(1j * q1) + 0.6 * np.exp(1j * up) - 0.5)
    angles = np.array([q1, up - q1, q4 - up])
    off = angles - np.array([[0.8], [0.1], [0.3]])
    return angles[:, np.argmin(np.array(weights) @ off**2)]


@pytest.mark.parametrize("weight", [1.0, 100.0])
@pytest.mark.parametrize("order", [JOINTS, ("j3", "j4", "j2", "j1")])
def test_rough_values_give_way_by_their_weights(weight, order):
    found = kn.assemble(four_bar(order), ROUGH, weights={"j3": weight})
    expected = nearest([1.0, 1.0, weight])
    assert [found[f"j{k}.q"] for k in (1, 2, 3)] == pytest.approx(expected, abs=1e-5)  # the scan's own step
    assert found.moved["j3"].angle == pytest.approx(abs(found["j3.q"] - 0.3), abs=1e-12)
    assert max(gap.length for gap in found.residual.values()) < 1e-12


def test_a_heavy_joint_hardly_moves():
    far = [kn.assemble(four_bar(), ROUGH, weights={"j2": w}).moved["j2"].angle for w in (1.0, 1e3, 1e5)]
    assert far[0] > 0.1
    assert far[1] / far[2] == pytest.approx(100, rel=0.05)  # in the limit it goes with the inverse of the weight


def test_what_is_held_keeps_its_start():
    held = kn.assemble(four_bar(), {**ROUGH, "j1.u": 2.0}, hold=["j1"])
    assert (held["j1.q"], held["j1.u"]) == (0.8, 2.0)
    assert held.held == ("j1",)
    model = four_bar(j1={"q": 0.2})  # values by name have precedence over those of the model
    assert kn.assemble(model, {"j1.q": 0.8}, hold="j1")["j1.q"] == 0.8
    with pytest.raises(kn.AssemblyError, match="conflict"):
        kn.assemble(four_bar(), ROUGH, hold=["j1", "j2", "j3"])


def test_without_more_it_is_the_start_of_a_simulation():
    model = four_bar(j1={"q": 0.9, "u": 1.5}, j2={"guess": -0.5})
    found = kn.assemble(model)
    run = kn.simulate(model, 0.01)
    for name in JOINTS:
        assert found[f"{name}.q"] == pytest.approx(run[f"{name}.q"][0], abs=1e-14)
        assert found[f"{name}.u"] == pytest.approx(run[f"{name}.u"][0], abs=1e-13)


def test_a_simulation_starts_from_an_assembly():
    model = kn.compile(four_bar())
    found = kn.assemble(model, ROUGH, t0="2 s")
    for start in (found, found.state):
        run = kn.simulate(model, 2.01, start=start)
        assert run.t[0] == 2.0
        assert run["j3.q"][0] == pytest.approx(found["j3.q"], abs=1e-14)
    again = kn.assemble(model, found)  # nothing moves any more
    assert again.state.t == 2.0
    assert np.abs(again.state.q - found.state.q).max() < 1e-12


def test_the_table_tells_every_joint():
    text = str(kn.assemble(four_bar(), ROUGH, hold="j1"))
    lines = text.splitlines()
    assert lines[0].startswith("four_bar at t = 0 s, closed to ")
    assert [line.split()[0] for line in lines[2:]] == list(JOINTS)
    assert lines[2].endswith("held") and lines[3].endswith("rad")


def test_the_table_names_joints_of_subsystems():
    """The names begin with q and u, as coordinates and speeds do."""
    leg = kn.System("leg")
    thigh, shin = (leg.body(name, mass=1, inertia=(1, 1, 1)) for name in ("thigh", "shin"))
    leg.revolute("upper", leg.world, thigh, q=0.25)
    leg.spherical("quick", thigh.at(0, -0.4, 0), shin)
    robot = kn.System("robot")
    robot.add("left", leg)
    lines = str(kn.assemble(robot)).splitlines()
    assert [line.split()[:2] for line in lines[2:]] == [["left.upper", "0.25"], ["left.quick", "1,"]]


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"hold": ["j9"]}, "hold: no joint .* 'j9'"),
        ({"weights": {"j1": 0.0}}, "weights: j1 takes a positive number"),
        ({"weights": {"j1": "much"}}, "weights: j1 takes a positive number"),
        ({"weights": {"k": 1.0}}, "weights: no joint"),
        ({"weights": 3.0}, r"weights: \{joint: weight\}"),
        ({"start": [0.1]}, "start: values by name"),
        ({"start": {"j9.q": 1.0}}, "j9.q"),
    ],
    ids=str,
)
def test_wrong_arguments_are_told(given, match):
    with pytest.raises(kn.ArgumentError, match=match):
        kn.assemble(four_bar(), **given)


def test_a_model_may_close_with_other_parameters_than_its_own():
    """Two bars of 1 m over a base of 3 m; with bars of 2 m it is a triangle, its height by Pythagoras."""
    system = kn.System("far", gravity=(0, -9.81, 0))
    length = system.parameter("length", "1 m")
    a, b = (system.body(name, mass=1, com=(length / 2, 0, 0), inertia=(1, 1, 1)) for name in "ab")
    system.revolute("left", system.world, a, guess=0.7)
    system.revolute("right", system.world.at(3, 0, 0), b, guess=2.4)
    system.revolute("middle", a.at(length, 0, 0), b.at(length, 0, 0))
    dynamics = kn.compile(system)
    with pytest.raises(kn.AssemblyError, match="do not reach"):
        dynamics.acceleration(0.0, np.zeros(2), np.zeros(2))
    found = kn.assemble(dynamics, parameters={"length": 2.0})
    assert found["left.q"] == pytest.approx(np.arccos(0.75), abs=1e-12)
    run = kn.simulate(system, 0.1, parameters={"length": 2.0})
    assert run["a.velocity"] == pytest.approx(0.0, abs=1e-9)  # a triangle does not move


def test_inputs_move_the_start():
    system = four_bar(j1={"guess": 0.0})
    system.input("lift", 0.0)
    system.change("j1", motion="0.3 + lift", guess=None)
    run = kn.simulate(system, 0.01, inputs={"lift": 0.4}, samples=2)
    found = kn.assemble(system, inputs={"lift": 0.4})
    assert found["j1.q"] == pytest.approx(0.7)
    assert run["j2.q"][0] == pytest.approx(found["j2.q"], abs=1e-12)


def test_a_stewart_platform_from_a_rough_guess():
    """Six legs drawn out as asked, all angles off by 0.15 rad: the corners are at the legs' lengths."""
    model = kn.compile(kn.load(EXAMPLES / "stewart_platform.yaml"))
    own = kn.assemble(model).values
    off = {name: 0.15 * (-1) ** k for k, name in enumerate(own) if ".foot.q" in name}
    drawn = {f"leg{k}.stroke.q": 0.01 * k for k in range(1, 7)}
    rough = {**{name: own[name] + off[name] for name in off}, **drawn}
    found = kn.assemble(model, rough, hold=[f"leg{k}.stroke" for k in range(1, 7)])
    R, p = model.pose("table", 0.0, found.state.q)
    feet = np.radians([-15, 15, 105, 135, 225, 255])
    corners = np.radians([-45, 45, 75, 165, 195, 285])
    for k in range(6):
        foot = 1.1 * np.array([np.cos(feet[k]), np.sin(feet[k]), 0])
        corner = p + R @ (0.7 * np.array([np.cos(corners[k]), np.sin(corners[k]), 0]))
        assert np.linalg.norm(corner - foot) == pytest.approx(1.2 + 0.01 * (k + 1), abs=1e-10)
    assert max(gap.length for gap in found.residual.values()) < 1e-11


def test_a_constraint_on_what_is_welded_is_off_by_what_it_is():
    """Nothing can move: d^2 is 0.35^2 + 0.05^2 + 0.1^2 where 0.7^2 is asked for; (d^2 - 0.7^2) / 1.4 is the error."""
    system = kn.System("still")
    body = system.body("body", mass=1)
    system.fixed("weld", system.world, body)
    system.constraint("tie", "distance", a=system.world.at(0, -0.3, 0), b=body.at(0.35, -0.35, 0.1), distance=0.7)
    with pytest.raises(kn.AssemblyError, match=rf"tie is off by {(0.49 - 0.135) / 1.4:.3g} m"):
        kn.simulate(system, 0.1)
