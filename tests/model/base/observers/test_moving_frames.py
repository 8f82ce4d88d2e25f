"""Frames of their own: what they see, how they are described, and what is refused.

Independent of the formulas in moving_frames.py are here the derivatives of what a frame sees along the motion (dual
numbers, differences in runs).  Tolerances: 1e-9 of the scale for exact derivatives, as in test_identities.py.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import build, plans

import kinode as kn
from kinode.algebra.scalars import rate, tidy
from kinode.algebra.spatial import cross
from kinode.formats.yaml_files import dumps, loads
from kinode.formats.yaml_text import read_text
from kinode.formulations.free_flight import FreeFlight
from kinode.model.base.frames import Frame
from kinode.multibody.snapshot import Snapshot
from kinode.structure.state_layout import EvaluationPoint
from kinode.structure.topology import find_topology
from kinode.tasks.verify import random_state

KINDS = {
    "fixed": lambda body: {"on": body.at(0.3, -0.2, 0.1, rpy=(0.4, 0.5, 0.6))},
    "inertial": lambda body: {"on": body.system.world.at(1, 2, 3, rpy=(0.1, 0, 0.4)), "velocity": (1, "2 m/s", -3)},
    "moving": lambda body: {"on": body, "position": ("t", "sin(2*t)", 0.3), "rpy": ("0.4*t", "cos(t)", "t^2")},
    "nonrolling": lambda body: {"on": body.at(0.1, 0.2, 0.3, rpy=(0.3, 0.2, 0.1)), "axis": (1, 2, 2), "roll": 0.3},
    "fixed_plane": lambda body: {"on": body, "axis": "-y", "upright": "x"},
}


def watched(plan, kinds=tuple(KINDS)):
    """A random tree with a frame of each kind on its last body, and one frame that stands on another."""
    system = build(plan)
    body = list(system.bodies.values())[-1]
    for kind in kinds:
        system.frame(kind, kind, **KINDS[kind](body))
    turns = [("z", "t"), ((1, 1, 0), "cos(t)")]
    system.frame("second", "moving", on="nonrolling", position=(0, "t", 0), turns=turns)
    return system


def along(snapshot, function):
    """The rate of a function of a snapshot along the motion."""
    s = snapshot
    y = np.concatenate([[s.t], s.q, s.u, s.z])
    y_dot = np.concatenate([[1.0], s.q_dot, s.u_dot, s.z_dot])
    cuts = np.cumsum([1, len(s.q), len(s.u)])

    def there(y):
        t, q, u, z = np.split(y, cuts)
        return function(Snapshot(s.topology, EvaluationPoint(t[0], q, u, z, s.p, s.inputs)))

    return rate(there, y, y_dot)


def near(a, b, size=1.0):
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    assert abs(a - b).max(initial=0.0) <= 1e-9 * max(abs(a).max(initial=0.0), abs(b).max(initial=0.0), size)


@given(plans(), st.integers(0, 99))
@settings(max_examples=15)
def test_a_motion_seen_from_any_frame_is_the_same_motion(plan, seed):
    """Components that a frame sees, and their exact rates, transformed back to the world."""
    topology = find_topology(watched(plan))
    s = Snapshot(topology, EvaluationPoint(*random_state(topology, np.random.default_rng(seed))))
    body = Frame(next(iter(topology.system.bodies)))
    v, a = s.velocity(body)[1], s.acceleration(body)[1]
    for name in topology.system.frames:
        frame = Frame(name)

        def seen(at, frame=frame):
            return at.pose(frame).R.T @ (at.pose(body).p - at.pose(frame).p)

        def first(at, frame=frame):
            (w, v_o), R = at.velocity(frame), at.pose(frame).R
            r, moving = at.pose(body).p - at.pose(frame).p, at.velocity(body)[1] - v_o
            return R.T @ (moving - cross(w, r))

        R, (w, v_o), (eps, a_o) = s.pose(frame).R, s.velocity(frame), s.acceleration(frame)
        x, x1, x2 = (R @ part for part in (seen(s), along(s, seen), along(s, first)))
        w, eps, x, x1, x2 = (np.asarray(part, dtype=float) for part in (w, eps, x, x1, x2))
        near(first(s), R.T @ x1, 10.0)
        near(v_o + np.cross(w, x) + x1, v, 10.0)
        turned = np.cross(eps, x) + np.cross(w, np.cross(w, x)) + 2 * np.cross(w, x1)
        near(a_o + turned + x2, a, 100.0)


@given(plans(), st.integers(0, 99))
@settings(max_examples=15)
def test_frames_turn_as_their_kinds_say(plan, seed):
    topology = find_topology(watched(plan))
    s = Snapshot(topology, EvaluationPoint(*random_state(topology, np.random.default_rng(seed))))
    for name in topology.system.frames:
        frame = Frame(name)
        R_dot = along(s, lambda at, frame=frame: at.pose(frame).R)
        turning = np.asarray(R_dot @ s.pose(frame).R.T, dtype=float)
        near([turning[2, 1], turning[0, 2], turning[1, 0]], s.velocity(frame)[0], 10.0)
        near(along(s, lambda at, frame=frame: at.velocity(frame)[0]), s.acceleration(frame)[0], 100.0)
    axis = np.array([1.0, 2.0, 2.0]) / 3.0
    near((s.pose(Frame("nonrolling")).R @ axis) @ s.velocity(Frame("nonrolling"))[0], 0.0)
    level = s.pose(Frame("fixed_plane")).R[:, 2]  # next after y
    near(level[0], 0.0)


@given(plans(), st.integers(0, 99))
@settings(max_examples=8)
def test_balances_about_any_frame_give_the_same_motion(plan, seed):
    """u_dot, reactions and momenta do not depend on who looks."""
    system = watched(plan)
    topology = find_topology(system)
    s = Snapshot(topology, EvaluationPoint(*random_state(topology, np.random.default_rng(seed))))
    for name in (*system.frames, "world"):
        flight = FreeFlight(s, Frame(name))
        near(flight.u_dot, s.u_dot, 100.0)
        near(flight.momenta[0], s.momenta[1], 10.0)
        for node in topology.full.nodes:
            found = flight.reaction(node, flight.u_dot)
            near(np.concatenate(found), np.concatenate(s.reaction(node.joint.name)), 1000.0)
        for balance in flight.balances().values():
            near(np.concatenate(balance.acting), np.concatenate(balance.needed), 1000.0)


def spinner():
    system = kn.System("spinner", gravity=(0, 0, -9.81))
    top = system.body("top", mass=2.0, com=(0.0, 0.01, 0.3), inertia=(0.03, 0.03, 0.01))
    system.free("flight", system.world, top, velocity=(3, 0, 5), angular_velocity=(0.3, 0.2, 12))
    system.frame("aero", "nonrolling", on=top, axis="z", roll="20 deg")
    system.frame("drone", "moving", position=("2*t", "sin(t)", 1), turns=[("z", "0.5*t")])
    return system


def test_momenta_are_those_of_the_world_whatever_frame_they_are_found_in():
    system = spinner()
    topology = find_topology(system)
    s = Snapshot(topology, EvaluationPoint(*random_state(topology, np.random.default_rng(7))))
    for name in (*system.frames, "world"):
        L, P = FreeFlight(s, Frame(name)).momenta
        near(L, s.momenta[1], 10.0)
        near(P, s.momenta[0], 10.0)


def test_runs_show_what_frames_see():
    run = kn.simulate(spinner(), 1.0, times=np.linspace(0, 1, 401), rtol=1e-11, atol=1e-12)
    h = run.t[1]

    def slope(x):
        return (x[:-4] - 8 * x[1:-3] + 8 * x[3:-1] - x[4:]) / (12 * h)

    for frame in ("aero", "drone"):
        x, v, a = (getattr(run, key)("top.com", relative_to=frame) for key in ("position", "velocity", "acceleration"))
        assert slope(x) == pytest.approx(v[2:-2], abs=1e-5)
        assert slope(v) == pytest.approx(a[2:-2], abs=1e-4)
    assert run["aero.roll"][0] == pytest.approx(np.radians(20))
    spin = run.angular_velocity("top", relative_to="aero")
    assert slope(run["aero.roll"]) == pytest.approx(spin[2:-2, 2], abs=1e-6)
    assert abs(run["aero.angular_velocity@aero"][:, 2]).max() < 1e-12
    assert run["top.velocity@aero"] == pytest.approx(run.velocity("top", expressed_in="aero"))
    assert {"aero.roll", "drone.position"} <= set(run.names())
    assert run.units("aero.roll") == "rad"


def test_the_roll_is_a_state_that_starts_where_it_is_told():
    dynamics = kn.compile(spinner())
    assert [c.name for c in dynamics.coordinates if c.role == "z"] == ["aero.roll"]
    state = dynamics.state({"aero.roll": "1 rad"})
    assert dynamics.values(state)["aero.roll"] == 1.0
    assert dynamics.rate(0.0, state.y)[-1] == pytest.approx(12.0)
    R, _ = dynamics.pose("aero", 0.0, state.q, z=state.z)
    assert R == pytest.approx(np.array([[np.cos(1), np.sin(1), 0], [-np.sin(1), np.cos(1), 0], [0, 0, 1]]))
    angular, _ = dynamics.jacobian("aero", 0.0, state.q, z=state.z)
    assert angular[:, 3:] == pytest.approx(np.diag([1.0, 1.0, 0.0]), abs=1e-15)


def test_laws_and_loads_use_the_axes_of_frames():
    """A side force that does not roll with the body: the same in the world's axes, on a straight flight."""
    runs = []
    for axes in ("aero", "world"):
        system = kn.System("side", gravity=(0, 0, 0))
        body = system.body("shell", mass=2.0, inertia=(0.1, 0.1, 0.1))
        system.free("flight", system.world, body, velocity=(5, 0, 0), angular_velocity=(30, 0, 0))
        system.frame("aero", "nonrolling", on=body, axis="x")
        system.force("push", body, (0, "1 - 0.3*shell.velocity.y@aero", 0), expressed_in=axes)
        runs.append(kn.simulate(system, 1.0, times=[0, 0.5, 1], rtol=1e-11, atol=1e-12)["shell.position"])
    assert runs[0] == pytest.approx(runs[1], abs=1e-9)
    assert runs[0][-1, 1] > 0.1


def test_frames_are_written_and_read_back():
    system = spinner()
    system.frame("eye", "fixed", on=system["top"].at(0.1, 0, 0, rpy=("90 deg", 0, 0)))
    system.frame("train", "inertial", on=system.world.at(0, 0, 1), velocity=(20, 0, 0))
    system.frame("level", "fixed_plane", on="eye", upright="-z")
    system.world.at(1, 2, 3, name="mark")
    again = loads(dumps(system))
    assert again == system
    assert again.copy() == system
    assert "frames to look from" in system.summary()
    validator = pytest.importorskip("jsonschema").Draft202012Validator(kn.schema())
    data = read_text(dumps(system), None)
    assert not list(validator.iter_errors(data))
    data["frames"]["aero"]["rol"] = 1
    assert list(validator.iter_errors(data))


def test_subsystems_bring_their_frames_along():
    system = kn.System("two", gravity=(0, 0, -9.81))
    system.add("left", spinner(), on=system.world.at(0, 1, 0))
    assert system["left.aero"].on.body == "left.top"
    run = kn.simulate(system, 0.1, times=[0, 0.1])
    assert run["left.drone.position"][0] == pytest.approx([0, 1, 1])
    assert run["left.aero.roll"][-1] > 1.0
    system.change("left.aero", roll=0.0)
    assert kn.Dynamics(system).initial.z == pytest.approx([0.0])


BAD = [
    ({"kind": "rolling"}, "no frame is called 'rolling'; did you mean", "kind"),
    ({"kind": "nonrolling", "on": "tip"}, "no body or frame is called 'tip'; did you mean top?", "on"),
    ({"kind": "nonrolling", "on": "top", "axis": "w"}, "'w' is no axis", "axis"),
    ({"kind": "nonrolling", "on": "top", "roll": "2 m"}, "an angle is needed", "roll"),
    ({"kind": "nonrolling", "on": "top", "rolls": 2}, "has no field 'rolls'; did you mean roll?", "rolls"),
    ({"kind": "fixed_plane", "on": "top", "axis": [1, 0, 0]}, "is not one of x, y, z", "axis"),
    ({"kind": "inertial", "on": "top"}, "an inertial frame stands on the world, not on top", "on"),
    ({"kind": "moving", "rpy": [0, 0, "t"], "turns": [["z", "t"]]}, "give rpy or turns", "turns"),
    ({"kind": "moving", "turns": "z"}, "is a list of", "turns"),
    ({"kind": "moving", "turns": [["z"]]}, "a pair of an axis and an angle", "turns"),
    ({"kind": "moving", "position": ["top.position.x", 0, 0]}, "may depend on t, parameters and inputs", "position"),
    ({"kind": "moving", "turns": [["z", "gust"]]}, "nothing is called 'gust'", "turns"),
]


@pytest.mark.parametrize(("fields", "message", "field"), BAD, ids=[case[1][:30] for case in BAD])
def test_what_no_frame_can_be(fields, message, field):
    fields = dict(fields)
    with pytest.raises(kn.ModelError, match=r"^eye") as caught:
        system = spinner()
        system.frame("eye", fields.pop("kind"), **fields)
        system.check()
    assert message in str(caught.value)
    assert caught.value.field == field


def test_nothing_is_joined_to_a_frame_or_acts_on_it():
    system = spinner()
    body = system.body("arm", mass=1.0)
    message = "aero is a frame to look from, no body: nothing is joined to it or acts on it"
    for make in (
        lambda: system.revolute("pin", "aero", body),
        lambda: system.spring("pull", "aero", body, stiffness=3.0),
        lambda: system.force("push", {"body": "aero", "at": [1, 0, 0]}, (0, 0, 1)),
        lambda: system.force("push", body, (0, 0, 1), reaction_on="aero"),
        lambda: system.constraint("rod", "distance", a="aero", b=body, distance=1.0),
    ):
        with pytest.raises(kn.ModelError, match=message):
            make()


def test_names_of_frames_are_taken_once():
    system = spinner()
    with pytest.raises(kn.ModelError, match="taken by a frame"):
        system.world.at(0, 0, 0, name="aero")
    system.world.at(0, 0, 0, name="mark")
    with pytest.raises(kn.ModelError, match="taken by a frame of the world"):
        system.frame("mark", "fixed")
    with pytest.raises(kn.ModelError, match="has no frame 'tip' of its own"):
        system.find_frame("aero.tip")
    with pytest.raises(kn.LawError, match="did you mean roll"):
        kn.simulate(spinner(), 0.1)["aero.rol"]


def test_frames_that_stand_on_each_other():
    system = spinner()
    system.frame("eye", "fixed", on="drone")
    system.change("drone", on="eye")
    with pytest.raises(kn.ModelError, match="in a circle: drone -> eye -> drone"):
        system.check()


def test_a_frame_in_symbols():
    """The axes of a nonrolling frame, read: only the roll relative to the body comes in."""
    import sympy

    topology = find_topology(spinner())
    phi = sympy.Symbol("phi")
    s = Snapshot(
        topology, EvaluationPoint(0.0, np.array([0.0, 0, 0, 1, 0, 0, 0]), np.zeros(6), np.array([phi], dtype=object))
    )
    R = s.pose(Frame("aero")).R
    assert sympy.simplify(R[0, 1] - sympy.sin(phi)) == 0
    assert tidy(R[2]).astype(float) == pytest.approx([0.0, 0.0, 1.0])
