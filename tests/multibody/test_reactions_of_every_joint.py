"""Every joint of the registry in one loop: in the tree, as the cut that closes it, and with its sides exchanged.

A joint that is registered comes under this contract by itself; needed fields are numbers.  All is
compared at closed states in general position, with speeds, by plain numbers: equal accelerations of all bodies there
are equal motions.
"""

import numpy as np
import pytest
from dense_bodies import NewtonEuler
from hypothesis import given, settings
from hypothesis import strategies as st
from joint_contract import needed_fields

import kinode as kn
from kinode.model.base.frames import Frame
from kinode.model.joints.joint import JOINTS
from kinode.model.system import joint_frame
from kinode.multibody import loop_constraints
from kinode.multibody.kinematics import Kinematics
from kinode.multibody.snapshot import Snapshot
from kinode.structure.state_layout import EvaluationPoint
from kinode.structure.topology import find_topology

KINDS = list(JOINTS)
VARIANTS = [("tree", False), ("cut", False), ("tree", True), ("cut", True)]
ON = {"ball": "a", "tested": "b", "other": "c", "ground": "c"}
SAME = 1e-9  # relative; the states agree to 1e-14, the equations have condition 1e4 at the most


def loop(kind, tested, reverse, seat=((0, 0, 0), (0, 0, 0)), fields=None):
    """world - ball - a - kind - b - ball - c - universal - world; the second ball sits where ``seat`` says.

    The body that comes first hangs in the tree by what it meets first; what meets from the other side is cut.
    """
    system = kn.System("loop", gravity=(1.0, -2.0, -9.0))
    bodies = {"a": (1.0, 0.1), "b": (0.8, 0.15), "c": (1.5, 0.2)}
    a, b, c = (
        system.body(name, mass=m, com=(x, 0.02, 0.03), inertia=(0.02, 0.03, 0.04)) for name, (m, x) in bodies.items()
    )
    pair = [a.at(0.3, 0.1, 0.05, rpy=(0.2, 0.3, 0.1)), b.at(0.1, -0.2, 0.1, rpy=(0.5, -0.3, 0.4))]
    grounds = [
        lambda: system.spherical("ball", system.world, a),
        lambda: system.universal("ground", system.world.at(0.9, 0, 0), c, axes=("y", "z")),
    ]
    for add in grounds if tested == "tree" else grounds[::-1]:
        add()
    axes = {"axes": ("x", "y")} if "axes" in JOINTS[kind].specs() else {}
    wanted = dict({**needed_fields(kind, 0.1), **axes} if fields is None else fields)
    if reverse and "axes" in wanted:
        wanted["axes"] = wanted["axes"][::-1]
    system.joint("tested", kind, *(pair[::-1] if reverse else pair), **wanted)
    system.spherical("other", b.at(*seat[0]), c.at(*seat[1]))
    return system


def read(snapshot, *frames):
    """Poses of frames as plain numbers."""
    return [snapshot.pose(frame) for frame in frames]


class Case:
    """One kind of joint at one closed state, in all variants."""

    def __init__(self, kind, seed):
        rng = np.random.default_rng(seed)
        topology = find_topology(loop(kind, "tree", False))
        q, u = 0.5 * rng.normal(size=topology.n_q), rng.normal(size=topology.n_u)
        for k in topology.layout.quaternions:
            q[k : k + 4] = rng.normal(size=4)
            q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
        # The second ball is put to some point of c and to where this point is on b: so the loop is closed.
        X_b, X_c = read(Snapshot(topology, EvaluationPoint(0.0, q, u)), Frame("b"), Frame("c"))
        on_c = rng.uniform(-0.3, 0.3, 3)
        on_b = np.asarray(X_b.R, dtype=float).T @ np.asarray(X_c.R @ on_c + X_c.p - X_b.p, dtype=float)
        self.seat = tuple(float(x) for x in on_b), tuple(float(x) for x in on_c)
        topology = find_topology(loop(kind, "tree", False, self.seat))
        start = Snapshot(topology, EvaluationPoint(0.0, q, u)).kinematics
        (tie,) = loop_constraints.loop_constraints_of(topology)
        G = np.asarray(loop_constraints.jacobian(start, tie), dtype=float)
        drift = np.asarray(loop_constraints.drift(start, [tie])[0], dtype=float)
        self.first = Snapshot(topology, EvaluationPoint(0.0, q, u - np.linalg.pinv(G) @ drift))
        self.kind = kind

    def variant(self, tested, reverse):
        """The same state of the same bodies by another tree: coordinates and speeds from poses and velocities."""
        topology = find_topology(loop(self.kind, tested, reverse, self.seat))
        assert ("tested" in topology.cut_names) == (tested == "cut" or self.kind == "free")  # which is always cut
        q, u = np.zeros(topology.n_q), np.zeros(topology.n_u)
        there = _Borrowed(topology, self.first)
        for name in topology.q_of:
            q[topology.q_of[name]], u[topology.u_of[name]] = there.cut_state(name)
        found = Snapshot(topology, EvaluationPoint(0.0, q, u))
        for body in "abc":
            one, two = (s.pose(Frame(body)) for s in (self.first, found))
            near(one.p, two.p)
            near(one.R, two.R)
            near(np.concatenate(self.first.velocity(Frame(body))), np.concatenate(found.velocity(Frame(body))))
        return found


class _Borrowed(Kinematics):
    """A topology whose bodies are where, and as fast as, those of another snapshot."""

    def __init__(self, topology, other):
        point = EvaluationPoint(0.0, np.zeros(topology.n_q), np.zeros(topology.n_u))
        super().__init__(topology, topology.tree, point, other.laws, other.given)
        self.pose, self.velocity = other.pose, other.velocity


def near(one, two, size=None):
    one, two = np.asarray(one, dtype=float), np.asarray(two, dtype=float)
    assert abs(one - two).max() < SAME * (1 + (abs(one).max() if size is None else size))


def reactions(snapshot):
    """Moment and force on the bodies of ON, about their centers of mass, in world axes."""
    find = snapshot.system.find_frame
    return {
        name: snapshot.reaction(name, on=on, about=find(f"{on}.com"), expressed_in=find("world"))
        for name, on in ON.items()
    }


def power_of_reaction(snapshot, name):
    """What the reaction does on the relative motion of the two sides, at the child's joint point."""
    joint = snapshot.system.joints[name]
    moment, force = snapshot.reaction(name, expressed_in=Frame("world"))
    F, M = (joint_frame(joint, side) for side in ("parent", "child"))
    (w_F, v_F), (w_M, v_M) = snapshot.velocity(F), snapshot.velocity(M)
    arm = snapshot.pose(M).p - snapshot.pose(F).p
    return np.dot(force, v_M - v_F - np.cross(w_F, arm)) + np.dot(moment, w_M - w_F)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=4)
@given(seed=st.integers(0, 999))
def test_the_same_in_the_tree_as_a_cut_and_reversed(kind, seed):
    case = Case(kind, seed)
    wanted, size = reactions(case.first), max(np.linalg.norm(f) for _, f in reactions(case.first).values())
    for variant in VARIANTS:
        there = case.variant(*variant)
        for body in "abc":
            one, two = (np.concatenate(s.acceleration(Frame(body))) for s in (case.first, there))
            near(one, two)
        found = reactions(there)
        for name, parts in wanted.items():
            for one, two in zip(parts, found[name], strict=True):
                near(one, two, size)
            assert abs(power_of_reaction(there, name)) < SAME * (1 + size)
    bodies = NewtonEuler(case.first)  # where no joint is special
    assert bodies.redundancy == 0
    for name in ON:
        for one, two in zip(case.first.reaction(name), bodies.reaction(name), strict=True):
            near(one, two, size)


def test_the_contract_notices_another_joint():
    """A hinge about another axis is another motion: what is compared here depends on the joint."""
    case = Case("revolute", 1)
    tilted = find_topology(loop("revolute", "tree", False, case.seat, {"axis": (0, 0.1, 1)}))
    other = Snapshot(tilted, EvaluationPoint(0.0, case.first.q, case.first.u))
    apart = [np.asarray(one) - np.asarray(two) for one, two in zip(
        case.first.acceleration(Frame("b")), other.acceleration(Frame("b")), strict=True)]  # fmt: skip
    assert max(abs(x).max() for x in apart) > 1e-3
