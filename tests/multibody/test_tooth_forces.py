"""Tooth forces in the reactions: balance of every body, the same by all formulations, the motion untouched.

``kn.verify`` compares the recursion, which adds tooth forces to the reactions of the joints that take them, with
newton_euler, where the tooth force is the row of the gear on free bodies, and free_flight, where it is a load.
"""

from __future__ import annotations

import numpy as np
import pytest
from dense_bodies import NewtonEuler
from hypothesis import given, settings
from hypothesis import strategies as st

import kinode as kn
from kinode.model.base.frames import Frame
from kinode.multibody.snapshot import Snapshot
from kinode.structure.state_layout import EvaluationPoint

G = np.array([1.0, -2.0, -9.0])
TEETH = {"pressure_angle": "20 deg", "helix_angle": 0.3, "mesh_at": 0.03}


def train(ratio=-2.3, flips=(False, False), teeth=TEETH, bolted=0, friction=None):
    """Two unbalanced wheels on parallel axes of a swinging base, the joints declared either way.

    ``bolted`` brackets, fixed to the base, carry the first wheel.
    """
    system = kn.System("train", gravity=tuple(G))
    base = system.body("base", mass=2, com=(0.1, 0.2, 0.05), inertia=(0.3, 0.4, 0.5))
    system.revolute("root", system.world, base, axis=(1, 2, 0.5), q=0.3, u=1.0)
    carrier = base
    for k in range(bolted):
        bracket = system.body(f"bracket{k}", mass=0.5, com=(0.1, 0.2, 0.3), inertia=(0.1, 0.1, 0.1))
        pair = (carrier.at(0.1, 0.2, 0, rpy=(0.1, 0.2, 0.3)), bracket.at(0, 0.1, 0, rpy=(0.1, 0.2, 0.3)))
        system.fixed(f"bolt{k}", *(pair[::-1] if k else pair))
        carrier = bracket
    a = system.body("a", mass=1, com=(0.02, 0.01, 0.3), inertia=(0.1, 0.1, 0.15))
    b = system.body("b", mass=3, com=(0.0, 0.05, 0.1), inertia=(0.3, 0.3, 0.4))
    rpy = (0.4, 0.1, 0.7)
    more = {} if friction is None else {"friction": {"coulomb": friction}}
    for name, body, place, flip in (
        ("ja", a, carrier.at(0.1, 0.05, 0, rpy=rpy), flips[0]),
        ("jb", b, base.at(0.3, 0.1, 0.2, rpy=rpy), flips[1]),
    ):
        load = {"effort": "3*sin(5*t) + 1"} if name == "ja" else {"damping": 0.5}
        system.revolute(name, *((body, place) if flip else (place, body)), **load, **more)
    ratio = -ratio if flips[0] != flips[1] else ratio
    system.constraint("mesh", "gear", input="ja", output="jb", ratio=ratio, **teeth)
    return system


def snapshot(system, t=0.2):
    dynamics = kn.Dynamics(system)
    start = dynamics.initial
    return Snapshot(dynamics.topology, EvaluationPoint(t, start.q, start.u + 0.3, start.z, dynamics.point(start).p))


def plain(x):
    return np.asarray(x, dtype=float)


@pytest.mark.parametrize("ratio", [-2.3, 2.7, 0.4], ids=["external", "internal", "ring"])
@pytest.mark.parametrize("flips", [(False, False), (True, False), (True, True)], ids=str)
def test_all_formulations_apply_the_same_tooth_force(ratio, flips):
    verification = kn.verify(train(ratio, flips), 1, compiled=ratio == 2.7 and flips == (True, False))
    assert verification.ok, str(verification)
    compared = {(row.one, row.two) for row in verification.rows if row.quantity in ("reactions", "static reactions")}
    assert {("recursive", name) for name in ("newton_euler", "circuit", "free_flight", "rotators")} <= compared


@given(
    ratio=st.floats(-4, 4).filter(lambda x: abs(x) > 0.2 and abs(x - 1) > 0.1),
    angles=st.tuples(st.floats(0, 0.6), st.floats(-0.8, 0.8)),
    flips=st.tuples(st.booleans(), st.booleans()),
    bolted=st.integers(0, 2),
)
@settings(max_examples=10)
def test_every_body_is_in_balance(ratio, angles, flips, bolted):
    """Reactions, efforts of their own, tooth forces and weight change the momentum of every body."""
    teeth = {"pressure_angle": angles[0], "helix_angle": angles[1], "mesh_at": 0.1}
    system = train(ratio, flips, teeth, bolted)
    now = snapshot(system)
    total = {name: np.zeros(6) for name in (*system.bodies, "world")}

    def add(body, point, force, moment=(0, 0, 0)):
        total[body] += np.concatenate([np.cross(point, force) + moment, force])

    for name, joint in system.joints.items():
        moment, force = (plain(x) for x in now.reaction(name, expressed_in=Frame("world")))
        axis = plain(now.pose(system.find_frame(f"{name}.parent")).R) @ plain(
            joint.axis_rotation(now.resolve, system.nominal)
        )
        own = plain(now.loads.own_effort(name))
        moment = moment + (axis[:, 2] * own[0] if joint.n_u else 0.0)
        point = plain(now.pose(system.find_frame(f"{name}.child")).p)
        add(joint.b.body, point, force, moment)
        add(joint.a.body, point, -force, -moment)
    for body in ("a", "b"):
        force, moment = (plain(now.quantity(f"mesh.on.{body}.{what}")) for what in ("force", "moment"))
        add(body, plain(now.pose(Frame(body)).p), force, moment)
    for name, body in system.bodies.items():
        center, R, w = plain(now.pose(body.com).p), plain(now.pose(body.com).R), plain(now.velocity(body.com)[0])
        eps, acceleration = (plain(x) for x in now.acceleration(body.com))
        J = R @ plain(body.central_inertia(now.resolve)) @ R.T
        mass = float(body.mass)
        needed = np.concatenate(
            [J @ eps + np.cross(w, J @ w) + np.cross(center, mass * (acceleration - G)), mass * (acceleration - G)]
        )
        assert total[name] == pytest.approx(needed, abs=1e-9 * abs(needed).max())


def test_fixed_joints_between_the_carriers_take_the_force():
    """The bolts of a bracket carry what its wheel is pushed with; without teeth the force would be missing."""
    with_teeth, without = (snapshot(train(bolted=1, teeth=teeth)) for teeth in (TEETH, {}))
    push = plain(with_teeth.quantity("mesh.on.a.force"))
    forces = [plain(now.reaction("bolt0", expressed_in=Frame("world"))[1]) for now in (with_teeth, without)]
    assert forces[0] - forces[1] == pytest.approx(-push, abs=1e-9)
    assert abs(push).max() > 1.0


def test_teeth_do_not_change_the_motion():
    with_teeth, without = (snapshot(train(teeth=teeth)) for teeth in (TEETH, {}))
    assert (plain(with_teeth.u_dot) == plain(without.u_dot)).all()
    for name in ("ja.effort", "jb.effort", "jb.power", "mesh.reaction", "root.reaction.force"):
        assert plain(with_teeth.quantity(name)) == pytest.approx(plain(without.quantity(name)), abs=1e-12)
    change = plain(with_teeth.quantity("jb.reaction.force")) - plain(without.quantity("jb.reaction.force"))
    assert abs(change).max() > 1.0


def test_shares_add_up_on_the_flank_that_carries_the_load():
    run = kn.simulate(train(), 1.0, samples=20)
    total, static = run.reaction("jb").force, run.reaction("jb", "static").force
    kinetic = run.reaction("jb", "kinetic").force
    assert static + kinetic == pytest.approx(total, abs=1e-9)
    bodies = run.causes("jb", by="body")
    assert {"a", "b"} <= set(bodies.names)  # the other wheel loads it by the teeth
    assert bodies.force == pytest.approx(kinetic, abs=1e-9)
    assert len(set(np.sign(run["mesh.reaction"]))) == 2  # both flanks are used
    with pytest.raises(kn.Error, match=r"does not know tooth forces \(mesh\); by='body' always works"):
        run.causes("jb", by="cause")


def test_friction_and_teeth_depend_on_each_other():
    """newton_euler iterates friction, reactions and flanks; the recursion solves for them at once."""
    friction = {"coefficient": 0.3, "radius": 0.05, "slip": 0.01}
    verification = kn.verify(train(friction=friction), 1, compiled=False)
    assert verification.ok, str(verification)


@pytest.mark.parametrize("ahead", [True, False])
def test_bearing_friction_of_a_pinion_by_hand(ahead):
    """The journal takes F_t / cos(alpha), so that F_t r = T - mu rho F_t / cos(alpha), if the pinion turns with T."""
    system = kn.System("pair", gravity=(0, 0, 0))
    bodies = [system.body(name, mass=1, inertia=(1, 1, 1)) for name in "ab"]
    friction = {"coulomb": {"coefficient": 0.2, "radius": 0.03, "slip": 1e-6}}
    system.revolute("small", system.world, bodies[0], effort=5.0, friction=friction)
    system.revolute("large", system.world.at(0.3, 0, 0), bodies[1], speed=-1.0 if ahead else 1.0)
    system.constraint("mesh", "gear", input="small", output="large", ratio=-2, pressure_angle="20 deg")
    now = Snapshot(kn.Dynamics(system).topology, EvaluationPoint(0.0, np.empty(0), np.empty(0), np.zeros(1)))
    rub = 0.2 * 0.03 / np.cos(np.radians(20)) * (1 if ahead else -1)
    assert plain(now.quantity("mesh.reaction")) == pytest.approx(-5.0 * 0.1 / (0.1 + rub))


def loop(geared, closing="spherical"):
    """A four-bar linkage with wheels that mesh with some of its bodies, about the axes of their joints."""
    system = kn.System("loop", gravity=(0, -9.81, 0))
    A, C = (system.body(name, mass=1, com=(0.1, 0, 0), inertia=(0.01, 0.01, 0.01)) for name in "AC")
    B = system.body("B", mass=1, com=(0.2, 0, 0.1), inertia=(0.01, 0.02, 0.02))
    system.revolute("j1", system.world, A, q=1.0)
    system.revolute("j2", A.at(0.2, 0, 0), B)
    system.joint("j3", closing, B.at(0.4, 0, 0), C.at(0.25, 0, 0))
    system.revolute("j4", system.world.at(0.4, 0.1, 0), C, guess=1.2)
    carriers = {"j1": system.world, "j4": system.world, "j2": B, "j3": B}
    for k, joint in enumerate(geared):
        wheel = system.body(f"wheel{k}", mass=1, com=(0, 0.02, 0), inertia=(1, 1, 1))
        system.revolute(f"spin{k}", carriers[joint].at(0.2, 0.3, 0.1), wheel)
        system.constraint(f"mesh{k}", "gear", input=f"spin{k}", output=joint, ratio=-2.0, **TEETH)
    return system


@pytest.mark.parametrize("geared", [["j1"], ["j4"]], ids=" ".join)
def test_teeth_in_loops(geared):
    verification = kn.verify(loop(geared), 1, compiled=False)
    assert verification.ok, str(verification)


def test_teeth_at_a_joint_that_closes_a_loop():
    """Every joint of the loop has a mesh, and one of them is cut: its gear is a constraint row."""
    system = loop(["j1", "j2", "j3", "j4"], "revolute")
    topology = kn.Dynamics(system).topology
    assert len(topology.constraints) == 1
    assert topology.meshes[topology.constraints[0].name].leader.joint in topology.cut_names
    verification = kn.verify(system, 1, compiled=False)
    assert verification.ok, str(verification)


def test_redundant_loops_share_what_teeth_put_into_them():
    """A planar four-bar in space: the rule of sharing is applied to reactions with tooth forces."""
    dynamics = kn.Dynamics(loop(["j1"], "revolute"))
    start = dynamics.initial
    shared = dynamics.reactions(start.t, start.q, start.u)
    bodies = NewtonEuler(Snapshot(dynamics.topology, EvaluationPoint(start.t, start.q, start.u, start.z)))
    for name, wrench in shared.items():
        expected = np.concatenate(bodies.reaction(name))
        assert np.concatenate([wrench.moment, wrench.force]) == pytest.approx(expected, abs=1e-8)
    assert not shared["j1"].unique
    assert shared["spin0"].unique


@pytest.mark.parametrize("ratio", [-2.0, 3.0])
@pytest.mark.parametrize("driven", ["input", "output"])
def test_either_wheel_may_be_driven(driven, ratio):
    """A driven joint leads, whichever end of the gear it is; the helix is that of the input."""
    system = kn.System("driven", gravity=(0, -9.81, 0))
    one = system.body("one", mass=1, inertia=(0.01, 0.01, 0.01))
    two = system.body("two", mass=2, com=(0.02, 0, 0), inertia=(0.05, 0.05, 0.05))
    motion = {driven: {"motion": "0.5*t**2 + 0.3*t"}}
    system.revolute("input", system.world, one, **motion.get("input", {}))
    system.revolute("output", system.world.at(0.3, 0, 0), two, damping=0.1, **motion.get("output", {}))
    teeth = {"pressure_angle": "20 deg", "helix_angle": "15 deg", "mesh_at": 0.04}
    system.gear("mesh", input="input", output="output", ratio=ratio, **teeth)
    verification = kn.verify(system, 2, compiled=False)
    assert verification.ok, str(verification)
