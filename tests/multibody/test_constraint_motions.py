"""Each kind of constraint in motion: against closed forms, and against joints that do the same."""

import numpy as np
import pytest

import kinode as kn
from kinode.kernels.kernel_options import Kernel
from kinode.multibody.snapshot import Snapshot
from kinode.ode.integrate import integrate
from kinode.ode.kernel_spec import KernelSpec
from kinode.structure.state_layout import EvaluationPoint

G = 9.81


def follow(system, until, rtol=1e-10, atol=1e-12):
    """A compiled system and its motion."""
    dynamics = kn.Dynamics(system)
    rate, projection = dynamics.kernels.machine(Kernel("rate")), dynamics.kernels.machine(Kernel("projection"))
    work = max(rate.sizes["work"], projection.sizes["work"])
    spec = KernelSpec(rate.address, dynamics.n_q, dynamics.n_u, dynamics.n_z, 1, work, projection.address)
    run = integrate(
        spec, dynamics.initial.y, 0.0, until, rtol=rtol, atol=atol, method="dopri5",
        quaternions=dynamics.topology.layout.quaternions, p=dynamics.parameters, inputs=dynamics.inputs,
    )  # fmt: skip
    assert run.success
    return dynamics, run


def parts(dynamics, y):
    a, b = dynamics.n_q, dynamics.n_q + dynamics.n_u
    return y[..., :a], y[..., a:b], y[..., b:]


def closed(dynamics, run):
    """Largest residual and slip along a run."""
    found = [dynamics.loops.evaluate(dynamics.point_of(t, y)) for t, y in zip(run.t, run.y, strict=True)]
    return max(abs(c).max() for c, _, _ in found), max(abs(drift).max() for _, _, drift in found)


def energies(dynamics, run):
    q, u, z = parts(dynamics, run.y)
    return dynamics.energy(run.t, q, u, z=z).sum(axis=1)


def assert_held(dynamics, run):
    residual, slip = closed(dynamics, run)
    assert residual < 1e-12
    assert slip < 1e-10  # of speeds up to 20 rad/s, after one Newton step
    energy = energies(dynamics, run)
    assert abs(energy - energy[0]).max() < 1e-7 * max(1.0, abs(energy).max())  # tolerance times steps


def test_a_point_at_a_distance_is_a_pendulum():
    length, angle = 0.8, 0.9
    bob = kn.System("bob", gravity=(0, -G, 0))
    body = bob.body("body", mass=2, inertia=(0.01, 0.01, 0.01))
    bob.planar("flat", bob.world, body, guess=(length * np.sin(angle), -length * np.cos(angle), 0))
    bob.constraint("rod", "distance", a=bob.world, b=body, distance=length)
    dynamics, run = follow(bob, 3.0)
    assert_held(dynamics, run)
    pendulum = kn.System("pendulum", gravity=(0, -G, 0))
    arm = pendulum.body("arm", mass=2, com=(0, -length, 0), inertia=(0, 0, 0))
    pendulum.revolute("pivot", pendulum.world, arm, q=angle)
    tree = kn.Dynamics(pendulum)
    state = tree.initial
    for _ in range(3000):
        state = tree.step(state, 1e-3)
    at = np.array([length * np.sin(state.q[0]), -length * np.cos(state.q[0])])
    assert run.y[-1, :2] == pytest.approx(at, abs=1e-8)
    q, u, _ = parts(dynamics, run.y[-1])
    snapshot = Snapshot(dynamics.topology, EvaluationPoint(run.t[-1], q, u))
    pull = length * state.u[0] ** 2 + G * np.cos(state.q[0])  # tension over mass
    assert float(snapshot.multipliers[0]) == pytest.approx(-2 * pull, rel=1e-7)
    on_body = [load for load in snapshot.constraints.loads(snapshot.multipliers) if load.on.body == "body"]
    (load,) = on_body
    assert np.asarray(load.force, dtype=float)[:2] == pytest.approx(-2 * pull / length * at, rel=1e-6)


def rod_model(with_rod):
    """Two pendulums tied by a rod: a distance, or a body that is nearly massless between spherical joints."""
    system = kn.System("tied", gravity=(0.5, -G, 1.0))
    one = system.body("one", mass=1, com=(0, -0.3, 0), inertia=(0.02, 0.01, 0.02))
    two = system.body("two", mass=2, com=(0, -0.4, 0), inertia=(0.03, 0.01, 0.03))
    system.universal("p1", system.world, one, axes=("x", "z"), q=(0.2, 0.1), u=(0, 0))
    system.universal("p2", system.world.at(0.7, 0, 0), two, axes=("x", "z"), guess=(0.2, 0.1))
    ends = one.at(0, -0.6, 0), two.at(0, -0.6, 0)
    if with_rod:
        rod = system.body("rod", mass=1e-9, com=(0.35, 0, 0), inertia=(1e-12, 1e-10, 1e-10))
        system.spherical("s1", ends[0], rod)
        system.spherical("s2", rod.at(0.7, 0, 0), ends[1])
    else:
        system.constraint("rod", "distance", a=ends[0], b=ends[1], distance=0.7)
    return system


def test_a_distance_is_a_massless_rod():
    tied, rod = kn.Dynamics(rod_model(False)), kn.Dynamics(rod_model(True))
    assert tied.initial.q[:2] == pytest.approx(rod.initial.q[:2])
    begin = kn.State(0.0, np.concatenate([tied.initial.q, rod.initial.q[4:]]), np.zeros(rod.n_u), np.empty(0))
    q = rod.loops.close(rod.point(begin), np.arange(rod.n_u) < 4)
    one = tied.acceleration(0.0, tied.initial.q, tied.initial.u)
    two = rod.acceleration(0.0, q, np.zeros(rod.n_u))
    assert one == pytest.approx(two[:4], abs=1e-6)  # the rod's mass: 1e-9 of the others, over its inertia


def test_the_same_by_motion_keeps_energy_and_length():
    dynamics, run = follow(rod_model(False), 5.0)
    assert_held(dynamics, run)
    assert dynamics.closure.freedoms == 3


def test_a_bead_on_a_line_slides_like_in_a_slot_and_turns_freely():
    direction = np.array([1.0, 2.0, -2.0]) / 3
    system = kn.System("bead", gravity=(0, 0, -G))
    bead = system.body("bead", mass=2, inertia=(0.1, 0.1, 0.1))
    system.free("f", system.world, bead, angular_velocity=(0.3, -0.2, 0.5))
    system.constraint("wire", "point_on_line", point=bead, line=system.world, axis=(1, 2, -2))
    dynamics, run = follow(system, 1.5)
    assert_held(dynamics, run)
    travel = 0.5 * 1.5**2 * (np.array([0, 0, -G]) @ direction)
    assert run.y[-1, :3] == pytest.approx(travel * direction, abs=1e-9)
    u = parts(dynamics, run.y[-1])[1]
    assert np.linalg.norm(u[3:]) == pytest.approx(np.linalg.norm([0.3, -0.2, 0.5]), abs=1e-9)


def ladder(by_joint):
    """A rod whose ends slide on wall and floor; on the wall by a constraint, or by a light block in a slot."""
    system = kn.System("ladder", gravity=(0, -G, 0))
    rod = system.body("rod", mass=1, com=(0.5, 0, 0), inertia=(0.01, 1 / 12, 1 / 12))
    if by_joint:
        block = system.body("block", mass=1e-12, inertia=(1e-12, 1e-12, 1e-12))
        system.prismatic("slot", system.world, block, axis="y", guess=0.9)
        system.revolute("pin", block, rod, guess=-0.6)
    else:
        system.planar("flat", system.world, rod, guess=(0, 0.9, -0.6))
        system.constraint("wall", "point_on_line", point=rod, line=system.world, axis="y")
    system.constraint("level", "point_on_plane", point=rod.at(1, 0, 0), plane=system.world, normal="y")
    return system


@pytest.mark.parametrize("by_joint", [False, True])
def test_a_ladder_slides_down_on_a_line_or_in_a_slot(by_joint):
    dynamics = kn.Dynamics(ladder(by_joint))
    assert dynamics.closure.freedoms == 1  # in the plane one row of the line asks for nothing
    y, angle = dynamics.initial.q[-2:]
    assert y + np.sin(angle) == pytest.approx(0, abs=1e-12)
    # m L^2 w^2 / 6 - m g (L / 2) sin(angle) is constant
    found = dynamics.acceleration(0.0, dynamics.initial.q, np.zeros(dynamics.n_u))
    assert found[-1] == pytest.approx(1.5 * G * np.cos(angle), rel=1e-9)


def test_an_angle_between_axes_is_a_universal_joint():
    def top(by_joint):
        system = kn.System("top", gravity=(0, 0, -G))
        body = system.body("body", mass=1, com=(0.1, 0.2, 0.3), inertia=(0.05, 0.06, 0.07))
        if by_joint:
            system.universal("pivot", system.world, body, axes=("z", "x"), q=(0.3, 0.4), u=(1, 2))
        else:
            rotation = np.asarray(kn.Dynamics(top(True)).pose("body", 0.0, [0.3, 0.4])[0], dtype=float)
            system.spherical("pivot", system.world, body, q=quaternion(rotation), u=rates)
            system.constraint("upright", "angle", a=system.world, b=body, axes=("z", "x"), angle="90 deg")
        return system

    joint = kn.Dynamics(top(True))
    w = np.asarray(
        joint.evaluate(["body.angular_velocity@body"], 0.0, [0.3, 0.4], [1, 2])["body.angular_velocity@body"]
    )
    rates = tuple(float(x) for x in w)
    dynamics, run = follow(top(False), 2.0)
    assert_held(dynamics, run)
    state = joint.initial
    for _ in range(4000):
        state = joint.step(state, 5e-4)
    R = quaternion_matrix(parts(dynamics, run.y[-1])[0])
    assert R == pytest.approx(np.asarray(joint.pose("body", 2.0, state.q)[0], dtype=float), abs=1e-7)


def quaternion(R):
    from kinode.algebra.spatial import quaternion_from_rotation

    return tuple(float(x) for x in quaternion_from_rotation(R))


def quaternion_matrix(q):
    from kinode.algebra.spatial import rotation_from_quaternion

    return np.asarray(rotation_from_quaternion(q), dtype=float)


def test_chaplygins_sleigh_has_its_closed_form():
    """Blade at the origin, mass center a ahead: u' = a w^2, (J + m a^2) w' = -m a u w.

    With E = u^2 + k^2 w^2, k^2 = (J + m a^2) / m: u = sqrt(E) tanh(s), k w = sqrt(E) / cosh(s),
    s = a sqrt(E) t / k^2 + s0 (Bloch, Nonholonomic Mechanics and Control, section 1.7).
    """
    m, a, J, speed, turn = 2.0, 0.3, 0.15, 0.2, 1.5
    system = kn.System("sleigh")
    body = system.body("body", mass=m, com=(a, 0, 0), inertia=(0.1, 0.1, J))
    system.planar("ice", system.world, body, u=(speed, 0, turn))
    system.constraint("blade", "knife_edge", blade=body)
    dynamics, run = follow(system, 3.0)
    assert_held(dynamics, run)
    k = np.sqrt((J + m * a**2) / m)
    E = speed**2 + k**2 * turn**2
    s = a * np.sqrt(E) / k**2 * run.t + np.arctanh(speed / np.sqrt(E))
    q, u, _ = parts(dynamics, run.y)
    along = u[:, 0] * np.cos(q[:, 2]) + u[:, 1] * np.sin(q[:, 2])
    assert along == pytest.approx(np.sqrt(E) * np.tanh(s), abs=1e-8)
    assert u[:, 2] == pytest.approx(np.sqrt(E) / k / np.cosh(s), abs=1e-8)


@pytest.mark.parametrize(("shape", "share"), [("disc", 2 / 3), ("ball", 5 / 7)])
def test_what_rolls_down_an_incline(shape, share):
    slope, r, m = 0.3, 0.1, 2.0
    system = kn.System("incline")
    J = (0.25 * m * r**2, 0.5 * m * r**2, 0.25 * m * r**2) if shape == "disc" else (0.4 * m * r**2,) * 3
    wheel = system.body("wheel", mass=m, inertia=J)
    ramp = system.world.at(0, 0, 0, rpy=(0, slope, 0), name="ramp")
    system.free("f", ramp, wheel, position=(0, 0, r))
    system.constraint("contact", "rolling", wheel=wheel, axis="y", radius=r, ground=ramp, shape=shape)
    dynamics, run = follow(system, 1.0)
    assert_held(dynamics, run)
    q = parts(dynamics, run.y[-1])[0]
    assert q[:3] == pytest.approx([0.5 * share * G * np.sin(slope), 0, r], abs=1e-9)
    snapshot = Snapshot(dynamics.topology, EvaluationPoint(0.0, dynamics.initial.q, dynamics.initial.u))
    normal, *across = (float(x) for x in snapshot.multipliers)
    assert normal == pytest.approx(m * G * np.cos(slope), rel=1e-9)
    assert np.hypot(*across) == pytest.approx((1 - share) * m * G * np.sin(slope), rel=1e-9)


def test_a_tilted_disc_turns_steadily():
    """A thin disc whose center goes round a circle of radius R at the rate W, leaning inward: by the momentum theorems.

    The moment of the ground's force about the center is the rate of the angular momentum, which turns with W.
    """
    r, m, lean, R = 0.1, 2.0, 0.4, 0.5
    A, C = 0.25 * m * r**2, 0.5 * m * r**2
    # e outward, k up, t forward: the axle points inward and down, the arm to the contact outward and down.
    cos, sin = np.cos(lean), np.sin(lean)
    e, k, t = np.array([1.0, 0, 0]), np.array([0, 0, 1.0]), np.array([0, 1.0, 0])
    axle = -cos * e - sin * k
    arm = r * (sin * e - cos * k)
    # w = W k + s axle; velocity of the center R W t; no slip: R W t + w x arm = 0.
    s = -((R * t + np.cross(k, arm)) @ t) / (np.cross(axle, arm) @ t)
    w = k + s * axle
    momentum = A * w + (C - A) * (w @ axle) * axle
    rate = np.cross(k, momentum)  # times W^2
    # ground force: m g k - m R W^2 e; arm x force = rate W^2, about t
    W2 = (np.cross(arm, m * G * k) @ t) / (rate @ t + m * R * (np.cross(arm, e) @ t))
    assert W2 > 0
    W = np.sqrt(W2)
    system = kn.System("coin")
    coin = system.body("coin", mass=m, inertia=(A, A, C))
    columns = np.column_stack([np.cross(t, axle), t, axle])
    system.free(
        "f", system.world, coin, position=tuple(R * e + r * cos * k), matrix=columns.tolist(),
        velocity=tuple(R * W * t), angular_velocity=tuple(W * w),
    )  # fmt: skip
    system.constraint("contact", "rolling", wheel=coin, radius=r)
    until = 2 * np.pi / W
    dynamics, run = follow(system, until)
    assert_held(dynamics, run)
    q, _, _ = parts(dynamics, run.y)
    assert np.hypot(q[:, 0], q[:, 1]) == pytest.approx(R, abs=1e-6)
    assert q[:, 2] == pytest.approx(r * cos, abs=1e-7)
    assert q[-1, :2] == pytest.approx([R, 0], abs=1e-6)


def pinion_model(**drive):
    system = kn.System("pinion", gravity=(0, -G, 0))
    wheel = system.body("wheel", mass=1, inertia=(0.01, 0.01, 0.02))
    bar = system.body("bar", mass=3)
    system.revolute("turn", system.world, wheel, **drive.get("turn", {}))
    system.prismatic("rise", system.world, bar, axis="y", **drive.get("rise", {}))
    system.constraint("mesh", "rack", rack="rise", pinion="turn", radius=0.2, offset=0.05)
    return system


def test_a_rack_is_a_coupling_between_tree_joints():
    dynamics = kn.Dynamics(pinion_model())
    assert not dynamics.topology.constrained and dynamics.n_u == 1
    J = 0.02 + 3 * 0.2**2
    assert dynamics.acceleration(0.0, [0.3], [1.0]) == pytest.approx([-3 * G * 0.2 / J])
    assert float(dynamics.evaluate(["rise.q"], 0.0, [0.3], [0.0])["rise.q"]) == pytest.approx(0.05 + 0.2 * 0.3)


def test_a_driven_rack_leads_its_pinion():
    dynamics = kn.Dynamics(pinion_model(rise={"motion": "0.1*t^2"}))
    found = dynamics.evaluate(["turn.q", "turn.u", "turn.u_dot"], 2.0, [], [])
    assert [float(x) for x in found.values()] == pytest.approx([(0.4 - 0.05) / 0.2, 0.4 / 0.2, 0.2 / 0.2])
    with pytest.raises(kn.ModelError, match="both joints have a prescribed motion"):
        kn.Dynamics(pinion_model(rise={"motion": "t"}, turn={"motion": "t"}))


def linkage(geared):
    """A parallelogram and a wheel that is geared to it, at the joint that closes the loop or at one of the tree.

    In the parallelogram the coupler does not turn, so that the closing joint turns as the crank does.
    """
    system = kn.System("linkage", gravity=(0, -G, 0))
    a = system.body("a", mass=1, com=(0, 0.25, 0), inertia=(0.02, 0.01, 0.02))
    b = system.body("b", mass=1, com=(0.5, 0, 0), inertia=(0.01, 0.08, 0.08))
    c = system.body("c", mass=1, com=(0, 0.25, 0), inertia=(0.02, 0.01, 0.02))
    wheel = system.body("wheel", mass=1, inertia=(0.1, 0.1, 0.2))
    system.revolute("crank", system.world, a, q=0.3, u=2.0, damping=0)
    system.revolute("knee", a.at(0, 0.5, 0), b, guess=-0.3, damping=0)
    system.revolute("rocker", system.world.at(1, 0, 0), c, guess=0.3, damping=0)
    system.revolute("closing", b.at(1, 0, 0), c.at(0, 0.5, 0))
    system.revolute("spin", system.world.at(0, 2, 0), wheel)
    system.constraint("mesh", "gear", input="spin", output=geared, ratio=3)
    return system


def test_a_gear_at_a_joint_that_closes_a_loop_turns_as_one_in_the_tree():
    dynamics, run = follow(linkage("closing"), 4.0)
    assert dynamics.topology.cut_names == ("closing",)
    assert_held(dynamics, run)
    other, reference = follow(linkage("crank"), 4.0)
    names = ["crank.q", "spin.q"]
    ends = []
    for d, r in ((dynamics, run), (other, reference)):
        q, u, z = parts(d, r.y[-1])
        ends.append([float(x) for x in d.evaluate(names, r.t[-1], q, u, z=z).values()])
    assert ends[0] == pytest.approx(ends[1], abs=1e-6)
    assert abs(ends[0][1]) > 2 * np.pi  # the wheel made turns that the closing joint's angle does not show


@pytest.mark.parametrize("geared", ["closing", "crank"])
def test_gears_are_rows_of_bodies_too(geared):
    found = kn.verify(linkage(geared), 2, compiled=False)
    assert found.ok, str(found)


@pytest.mark.parametrize("gears", [
    [("a", "b", 0.5), ("a", "c", -4.0)], [("b", "a", 2.0), ("a", "c", -4.0)],
    [("a", "b", 0.5), ("c", "d", 3.0), ("a", "c", -4.0)],
])  # fmt: skip
def test_gears_may_be_declared_from_either_side(gears):
    """Wheels a = b/2, a = -4 c, c = 3 d as seen from a: (J_a + 4 J_b + J_c/16 + J_d/144) a'' = torque."""
    system, J = kn.System("wheels"), {"a": 0.2, "b": 0.3, "c": 4.0, "d": 5.0}
    for x, name in enumerate(J):
        wheel = system.body(f"wheel_{name}", mass=1.0, inertia={"zz": J[name]})
        system.revolute(name, system.world.at(x, 0, 0), wheel, effort=1.5 if name == "a" else 0.0)
    for k, (follower, leader, ratio) in enumerate(gears):
        system.gear(f"gear{k}", follower, leader, ratio=ratio)
    dynamics = kn.Dynamics(system)
    names = [f"{name}.u_dot" for name in "abc"]
    a, b, c = (float(x) for x in dynamics.evaluate(names, 0.0, *([0.0] * dynamics.n_u,) * 2).values())
    total = J["a"] + 4 * J["b"] + J["c"] / 16 + (J["d"] / 144 if len(gears) == 3 else 0.0)
    assert (a, b, c) == pytest.approx((1.5 / total, 3.0 / total, -0.375 / total), rel=1e-12)
