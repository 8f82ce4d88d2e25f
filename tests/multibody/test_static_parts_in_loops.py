"""Static and kinetic parts of reactions where constraints close loops: by hand, at rest, by scaling, in random loops.

Forces are of the size of 10 to 1000 N, and found by solving a few dozen equations: 1e-9 of the size is asked for.
"""

import numpy as np
import pytest
from dense_bodies import NewtonEuler, static_reactions
from example_counts import examples
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import build, plans

import kinode as kn
from kinode.model.base.frames import Frame
from kinode.multibody.loop_statics import joints_in_loops, speeds_in_loops
from kinode.multibody.snapshot import Snapshot
from kinode.structure.state_layout import EvaluationPoint
from kinode.structure.topology import find_topology
from kinode.tasks.verify import random_state

G = 9.81
JOINTS = ("j1", "j2", "j3", "j4")


def plain(x):
    return np.asarray(x, dtype=float)


def four_bar(order=JOINTS, drive=None, effort=None, base=False, kinds=("revolute", "revolute"), load=None, rest=False):
    """Crank a, coupler b, rocker c in the plane; ``base`` puts it all on a turntable."""
    system = kn.System("four_bar", gravity=(0, -G, 0))
    a = system.body("a", mass=1, com=(0.1, 0.01, 0), inertia=(0.01, 0.02, 0.02))
    b = system.body("b", mass=2, com=(0.3, 0.02, 0), inertia=(0.01, 0.05, 0.05))
    c = system.body("c", mass=1.5, com=(0.2, -0.01, 0), inertia=(0.01, 0.03, 0.03))
    ground = system.body("table", mass=4, com=(0.1, 0, 0), inertia=(0.1, 0.1, 0.1)) if base else system.world
    start = {"motion": drive} if drive else {"q": 0.9, **({} if rest else {"u": 2.0})}
    joints = {
        "j1": ("revolute", ground, a, {**start, **({"effort": effort} if effort else {})}),
        "j2": (kinds[0], a.at(0.2, 0, 0), b, {"guess": -0.5} if kinds[0] == "revolute" else {}),
        "j3": (kinds[1], b.at(0.6, 0, 0), c.at(0.4, 0, 0), {}),
        "j4": ("revolute", ground.at(0.5, 0, 0), c, {"guess": 1.2}),
    }
    if base:
        system.revolute("swing", system.world, ground, axis="y", u=1.3)
    for name in order:
        kind, one, two, fields = joints[name]
        system.joint(name, kind, one, two, **fields)
    if load:
        system.force("load", b.at(0.2, 0.1, 0), load)
    return system


def reactions_at(dynamics, part, **how):
    start = dynamics.initial
    return dynamics.reactions(start.t, start.q, start.u, part=part, expressed_in="world", **how)


def by_hand(dynamics, torque, load=(0.0, 0.0)):
    """Forces of j1 .. j4 on the child in the plane, and the moment that holds: three bodies, nine equations.

    ``torque`` names the joint that holds.
    """
    start = dynamics.initial
    names = [f"{x}.position" for x in ("j1.child", "j2.child", "j3.child", "j4.child", "a.com", "b.com", "c.com")]
    more = dynamics.evaluate([*names, "b.rotation", "b.position"], start.t, start.q, start.u)
    pins = [more[name][:2] for name in names[:4]]
    masses, centers = (1.0, 2.0, 1.5), [more[name][:2] for name in names[4:]]
    sides = {"j1": (None, 0), "j2": (0, 1), "j3": (1, 2), "j4": (None, 2)}
    A, right = np.zeros((9, 9)), np.zeros(9)
    for i, (m, at) in enumerate(zip(masses, centers, strict=True)):
        right[3 * i : 3 * i + 3] = [0.0, m * G, m * G * at[0]]  # about the world's origin
    point = (more["b.position"] + more["b.rotation"] @ [0.2, 0.1, 0.0])[:2]
    right[3:6] -= [*load, point[0] * load[1] - point[1] * load[0]]
    for k, (name, (parent, child)) in enumerate(sides.items()):
        x, y = pins[k]
        for body, sign in ((child, 1.0), (parent, -1.0)):
            if body is not None:
                A[3 * body : 3 * body + 3, 2 * k : 2 * k + 2] += sign * np.array([[1, 0], [0, 1], [-y, x]])
                A[3 * body + 2, 8] += sign * (name == torque)
    return np.linalg.solve(A, right)


@pytest.mark.parametrize("torque", JOINTS)
def test_four_bar_by_hand(torque):
    """Whoever holds, in the tree or closing the loop: the equilibrium of three bodies."""
    dynamics = kn.compile(four_bar(load=(7.0, -3.0, 0.0)))
    assert dynamics.topology.cut_names == ("j3",)
    found = reactions_at(dynamics, "static", hold=[torque])
    wanted = by_hand(dynamics, torque, (7.0, -3.0))
    for k, name in enumerate(JOINTS):
        assert found[name].force[:2] == pytest.approx(wanted[2 * k : 2 * k + 2], abs=1e-9), name
    whole = reactions_at(dynamics, "static", hold=[torque], whole=True)
    for name in JOINTS:
        assert whole[name].moment[2] == pytest.approx(wanted[8] if name == torque else 0.0, abs=1e-9), name


def test_at_rest_and_held_by_an_effort_the_static_part_is_all():
    moment = float(by_hand(kn.compile(four_bar(rest=True)), "j1")[8])
    held = kn.compile(four_bar(effort=moment, rest=True))
    static, kinetic, total = (
        reactions_at(held, part, **({} if part == "total" else {"hold": "j1"}))
        for part in ("static", "kinetic", "total")
    )
    for name in JOINTS:
        assert static[name].force == pytest.approx(total[name].force, abs=1e-9)
        assert kinetic[name].force == pytest.approx(np.zeros(3), abs=1e-9)
        assert kinetic[name].moment == pytest.approx(np.zeros(3), abs=1e-9)


def test_kinetic_part_grows_with_the_square_of_a_drive_s_speed():
    """Driven at constant speed nobody has to be named; compared are instants of the same angles."""
    system = four_bar(drive="0.9 + w*t")
    system.parameter("w", 1.0)
    dynamics, angles = kn.compile(system), np.array([0.1, 0.2, 0.35])
    found = {}
    for w in (1.0, 3.0):
        run = kn.simulate(dynamics, angles[-1] / w, times=angles / w, parameters={"w": w})
        for part in ("total", "static", "kinetic"):
            found[w, part] = dynamics.reactions(part=part, **run.arguments)
            alone = run.reaction("j2", part)
            assert alone.force == pytest.approx(found[w, part]["j2"].force, abs=1e-12)
    for name in JOINTS:
        assert found[1, "static"][name].force == pytest.approx(found[3, "static"][name].force, abs=1e-8)
        assert 9 * found[1, "kinetic"][name].force == pytest.approx(found[3, "kinetic"][name].force, abs=1e-7)
        assert abs(found[3, "kinetic"][name].force).max() > 0.5
        for w, field in ((1, "force"), (3, "force"), (1, "moment"), (3, "moment")):
            static, kinetic, total = (found[w, part][name] for part in ("static", "kinetic", "total"))
            assert getattr(static, field) + getattr(kinetic, field) == pytest.approx(getattr(total, field), abs=1e-10)
            assert static.components == total.components


def test_slider_crank_of_the_textbook():
    """Gas force and inertia of an engine, its rod standing for two masses, one turning, one going with the piston."""
    r, l, m, turning, going, w, gas = 0.03, 0.1, 0.25, 0.2, 0.1, 300.0, -2e3
    engine = kn.System("engine", gravity=(0, 0, 0))
    crank = engine.body("crank", mass=0.4, inertia={"zz": 4e-4})
    both = turning + going
    rod = engine.body("rod", mass=both, com=(l * going / both, 0, 0), inertia={"zz": turning * going / both * l**2})
    piston = engine.body("piston", mass=m)
    engine.revolute("main", engine.world, crank, motion=f"0.4 + {w}*t")
    engine.revolute("crankpin", crank.at(r, 0, 0), rod, guess=-0.5)
    engine.revolute("wristpin", rod.at(l, 0, 0), piston)
    engine.prismatic("bore", engine.world, piston, axis="x", guess=r + l)
    engine.force("gas", piston, (gas, 0, 0), expressed_in="world")
    run = kn.simulate(engine, 0.02, samples=41)
    angle = run["main.q"]
    tilt = np.arcsin(r / l * np.sin(angle))
    # x = r cos(angle) + l cos(tilt) with l sin(tilt) = r sin(angle), differentiated twice at constant speed
    tilt_dot = w * r * np.cos(angle) / (l * np.cos(tilt))
    tilt_ddot = (tilt_dot**2 * np.sin(tilt) - w**2 * r / l * np.sin(angle)) / np.cos(tilt)
    a = -r * w**2 * np.cos(angle) - l * (np.sin(tilt) * tilt_ddot + np.cos(tilt) * tilt_dot**2)
    # on the piston along x, and along x in the rod, which has no mass but at its ends
    for part, push, along in (("static", -gas + 0 * a, -gas + 0 * a), ("kinetic", m * a, (m + going) * a)):
        pin = run.reaction("wristpin", part, on="piston", expressed_in="world").force
        assert pin[:, 0] == pytest.approx(push, abs=1e-6)
        assert pin[:, 1] == pytest.approx(-along * np.tan(tilt), abs=1e-6)
        bore = run.reaction("bore", part, on="piston", expressed_in="world").force
        assert bore[:, 1] == pytest.approx(along * np.tan(tilt), abs=1e-6)
        drive = run.wrench("main", part, expressed_in="world").moment[:, 2]
        assert drive == pytest.approx(-along * r * (np.sin(angle) + np.cos(angle) * np.tan(tilt)), abs=1e-6)
    left, right = run.bearings("main", at=(-0.1, 0.1), part="kinetic")
    assert left.force + right.force == pytest.approx(run.reaction("main", "kinetic").force, abs=1e-9)


@pytest.mark.parametrize("order", [("j3", "j4", "j1", "j2"), ("j2", "j3", "j4", "j1")])
def test_which_joint_is_cut_does_not_matter(order):
    """Components that are not unique are shared, by the same rule in all parts: they still add up."""
    one, two = kn.compile(four_bar(load=(3.0, 1.0, 5.0))), kn.compile(four_bar(order, load=(3.0, 1.0, 5.0)))
    assert one.topology.cut_names != two.topology.cut_names
    parts = {part: reactions_at(two, part, hold="j3") for part in ("static", "kinetic")}
    reference, total = reactions_at(one, "static", hold="j3"), reactions_at(two, "total")
    for name in JOINTS:
        assert parts["static"][name].force == pytest.approx(reference[name].force, abs=1e-8)
        assert parts["static"][name].moment == pytest.approx(reference[name].moment, abs=1e-8)
        for field in ("force", "moment"):
            each = sum(getattr(part[name], field) for part in parts.values())
            assert each == pytest.approx(getattr(total[name], field), abs=1e-9)
    assert abs(reference["j1"].force[2]) > 1.0
    assert not reference["j1"].unique


def test_what_no_loop_touches_holds_itself():
    """The turntable under a four-bar: its static part is the weight of all, and nobody has to be named."""
    dynamics = kn.compile(four_bar(base=True))
    assert "swing" not in joints_in_loops(dynamics.topology)
    start = dynamics.initial
    found = dynamics.reactions(start.t, start.q, start.u, part="static", joints=["swing"], expressed_in="world")[
        "swing"
    ]
    assert found.force == pytest.approx([0.0, 8.5 * G, 0.0], abs=1e-9)
    assert found.unique
    held = dynamics.reactions(start.t, start.q, start.u, part="static", hold="j4", expressed_in="world")
    assert held["swing"].force == pytest.approx(found.force, abs=1e-9)
    assert held["swing"].moment == pytest.approx(found.moment, abs=1e-9)
    kinetic = dynamics.reactions(start.t, start.q, start.u, part="kinetic", joints="swing", expressed_in="world")
    assert abs(kinetic["swing"].force).max() > 1.0


# -- constraints that are no joints ----------------------------------------------------------------


def test_a_strut_that_is_a_constraint_carries_the_same():
    """A bar held by a massless strut: by moments about the hinge, whoever holds nothing is left to hold."""
    system = kn.System("strut", gravity=(0, -G, 0))
    bar = system.body("bar", mass=3, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    system.revolute("hinge", system.world, bar, guess=0.1)
    system.constraint("strut", "distance", a=system.world.at(0, 1, 0), b=bar.at(1, 0, 0), distance=float(np.sqrt(2)))
    dynamics = kn.compile(system)
    found = reactions_at(dynamics, "static")["hinge"].force
    assert dynamics.initial.q == pytest.approx([0.0], abs=1e-12)
    # the strut pulls with S along (-1, 1)/sqrt(2) at the tip: S/sqrt(2) = 3 g / 2
    assert found == pytest.approx([1.5 * G, 3 * G - 1.5 * G, 0.0], abs=1e-9)
    assert reactions_at(dynamics, "kinetic")["hinge"].force == pytest.approx(np.zeros(3), abs=1e-9)


def test_freedoms_of_a_joint_are_held_one_by_one():
    """A sleigh has two freedoms left: along the blade and turning; all three of the joint would be too many."""
    system = kn.System("sleigh", gravity=(0, 0, -G))
    body = system.body("body", mass=1, com=(0.2, 0, 0), inertia=(0.03, 0.03, 0.05))
    system.planar("ice", system.world, body, u=(1, 0, 0.5))
    system.constraint("edge", "knife_edge", blade=body)
    dynamics = kn.compile(system)
    found = reactions_at(dynamics, "static", hold=["ice.x", "ice.q.angle"])["ice"]
    assert found.force == pytest.approx([0, 0, G], abs=1e-9)
    with pytest.raises(kn.ArgumentError, match=r"3 freedoms held, ice\.x, ice\.y and ice\.angle.*only 2 freedoms"):
        reactions_at(dynamics, "static", hold="ice")


@pytest.mark.parametrize("holder", ["axle", "j1", "j4"])
def test_a_gear_on_a_loop_passes_on_what_it_must(holder):
    """A wheel geared to the crank: its gear carries the wheel's own weight, unless the wheel holds all the rest."""
    system = four_bar(kinds=("spherical", "cylindrical"))
    wheel = system.body("wheel", mass=1, com=(0.05, 0, 0), inertia=(0.01, 0.01, 0.01))
    system.revolute("axle", system.world.at(0, 1, 0), wheel)
    system.constraint("gear", "gear", input="axle", output="j1", ratio=-2.0, offset=1.8)  # at the start axle.q is 0
    dynamics = kn.compile(system)
    now, hold = dynamics.snapshot(dynamics.initial), ((holder, 0),)
    wanted, gear = static_reactions(NewtonEuler(now), hold), plain(now.multipliers_of("gear", now.statics(hold)))
    assert gear == pytest.approx(wanted["gear"][0], abs=1e-9)
    assert (gear[0] == pytest.approx(0.05 * G, abs=1e-9)) == (holder != "axle")
    for name in system.joints:
        assert plain(np.concatenate(now.reaction(name, "static", hold=hold))) == pytest.approx(
            np.concatenate(wanted[name]), abs=1e-9
        )


# -- who cannot hold --------------------------------------------------------------------------------


def two_loops():
    """Two four-bars side by side, not connected."""
    system = kn.System("two", gravity=(0, -G, 0))
    for k in (0, 1):
        up = {"mass": 1, "com": (0, 0.5, 0), "inertia": (0.08, 0.01, 0.08)}
        left, right = system.body(f"left{k}", **up), system.body(f"right{k}", **up)
        bar = system.body(f"bar{k}", mass=2, com=(0.8, 0, 0), inertia=(0.01, 0.5, 0.5))
        system.revolute(f"l{k}", system.world.at(3 * k, 0, 0), left, q=0.4)
        system.revolute(f"r{k}", system.world.at(3 * k + 2, 0, 0), right, guess=0.4)
        system.revolute(f"tl{k}", left.at(0, 1, 0), bar, guess=-0.4)
        system.revolute(f"tr{k}", bar.at(2, 0, 0), right.at(0, 1, 0))
    return system


REFUSED = {
    "nobody": (four_bar, None, "1 freedom that no drive takes, and the static part depends.*: j1, j2, j3 or j4"),
    "too many": (four_bar, ["j1", "j4"], "2 freedoms held, j1 and j4, and the loops have only 1 freedom"),
    "driven": (lambda: four_bar(drive="t"), "j1", "j1 is driven, and holds already"),
    "nothing left": (lambda: four_bar(drive="0.9 + t"), "j2", "1 freedom held, j2, and the loops have none"),
    "no loop": (lambda: four_bar(base=True), ["swing"], "swing is in no loop, and holds itself"),
    "unknown": (four_bar, "j5", "no joint is called 'j5'"),
    "part": (four_bar, "j1.x", "j1 has no freedom 'x'"),
    "two": (two_loops, None, "2 freedoms that no drive takes"),
    "one of two": (two_loops, "l0", "beside l0 1 freedom of the loops must be held, by l1, r1, tl1 or tr1"),
    "same loop": (two_loops, ["l0", "r0"], "l0 and r0 do not hold the loops, in which l1, r1, tl1 or tr1 could still"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    make, hold, message = REFUSED[name]
    with pytest.raises(kn.ArgumentError, match=message):
        reactions_at(kn.compile(make()), "static", hold=hold)


def test_the_total_has_no_choice():
    with pytest.raises(kn.ArgumentError, match="not to the total"):
        reactions_at(kn.compile(four_bar()), "total", hold="j1")


def test_formulations_ask_too():
    dynamics = kn.compile(four_bar())
    with pytest.raises(kn.ModelError, match="j2: it is part of a loop"):
        dynamics.snapshot(dynamics.initial).reaction("j2", "static")


def test_a_dead_center_is_told_with_its_time():
    """Held at the piston, a crank cannot be kept from turning where crank and rod are in line."""
    engine = kn.System("engine", gravity=(0, -G, 0))
    crank = engine.body("crank", mass=0.4, com=(0.015, 0, 0), inertia={"zz": 4e-4})
    rod, piston = engine.body("rod", mass=0.3, com=(0.05, 0, 0)), engine.body("piston", mass=0.25)
    engine.revolute("main", engine.world, crank, q=-0.5, u=10.0)
    engine.revolute("crankpin", crank.at(0.03, 0, 0), rod, guess=0.6)
    engine.revolute("wristpin", rod.at(0.1, 0, 0), piston)
    engine.prismatic("bore", engine.world, piston, axis="x", guess=0.12)
    dynamics = kn.compile(engine)
    angles = np.array([-0.5, -1e-3, 0.0, 1e-3, np.pi])
    states = [dynamics.state({"main.q": angle}) for angle in angles]
    q, u, t = np.array([s.q for s in states]), np.array([s.u for s in states]), np.array([0.0, 0.1, 0.2, 0.3, 0.4])
    with pytest.raises(
        kn.ArgumentError, match=r"bore cannot hold the mechanism at t = 0\.2 s and 1 other time: a dead"
    ):
        dynamics.reactions(t, q, u, part="static", hold="bore")
    good = [0, 1, 3]
    found = dynamics.reactions(t[good], q[good], u[good], part="static", hold="bore", whole=True)["bore"]
    assert np.isfinite(found.force).all()
    # near the dead center the force goes with one over the angle
    assert found.force[1, 0] == pytest.approx(-found.force[2, 0], rel=1e-2)
    assert abs(found.force[1, 0]) > 100 * abs(found.force[0, 0])


# -- random loops -----------------------------------------------------------------------------------


def placed(system, body, X):
    """A frame of a body at a pose in the world."""
    R, p = plain(X.R), plain(X.p)
    owner = system.world if body == "world" else system[body]
    return owner.at(*p, matrix=R.tolist())


@given(
    plans(most=5, kinds=("revolute", "revolute", "universal", "spherical", "prismatic", "cylindrical", "fixed")),
    st.sampled_from(["spherical", "revolute", "universal", "distance", "point_on_plane"]),
    st.integers(0, 99),
)
@examples(16, nightly=100)
def test_random_loops_balance_as_bodies_do(plan, closing, seed):
    """A tree in any position, closed there by one more joint or constraint: recursion against absolute coordinates."""
    rng = np.random.default_rng(seed)
    system = build(plan)
    open_topology = find_topology(system)
    now = Snapshot(open_topology, EvaluationPoint(*random_state(open_topology, rng)))
    last = f"body{len(plan.links) - 1}"
    bodies = ["world", *(name for name in system.bodies if name != last)]
    other = bodies[rng.integers(len(bodies))]
    X = now.pose(Frame(last))
    if closing in ("spherical", "revolute", "universal"):
        frames = [placed(system, name, now.pose(Frame(name)).inverse() @ X) for name in (other, last)]
        system.joint("closing", closing, *frames)
    else:
        p = plain(X.p) - plain(now.pose(Frame(other)).p)
        axis = plain(now.pose(Frame(other)).R).T @ p
        size = float(np.linalg.norm(axis))
        assume(size > 0.1)
        ends = {"a": system.world if other == "world" else system[other], "b": system[last], "distance": size}
        plane = {"point": system[last], "plane": ends["a"], "normal": tuple(axis), "height": size}
        system.constraint("closing", closing, **(ends if closing == "distance" else plane))
    topology = find_topology(system)
    q, u = np.zeros(topology.n_q), rng.normal(size=topology.n_u)
    for name, where in topology.q_of.items():
        q[where] = system.joints[name].neutral_q() if name == "closing" else plain(now.joint_state(name)[0])
    z = np.zeros(topology.n_z)
    for name, where in topology.z_of.items():
        z[where] = plain(now.joint_state(name)[0])
    closed = Snapshot(topology, EvaluationPoint(now.t, q, u, z))
    hold = somebody(closed, rng)
    assume(hold is not None)
    found, wanted = closed.statics(hold), static_reactions(NewtonEuler(closed), hold)
    assume(float(found.doubt) < 1e-20)  # else a position in which they hardly hold
    size = max(100.0, max(abs(plain(part)).max() for parts in wanted.values() for part in parts))
    for name in system.joints:
        reaction = plain(np.concatenate(closed.reaction(name, "static", hold=hold)))
        assert reaction == pytest.approx(np.concatenate(wanted[name]), abs=1e-9 * size), name


def somebody(closed, rng):
    """Freedoms that hold, drawn among those of the tree and of the closing joint; None where the rows depend."""
    topology = closed.topology
    bound = list(speeds_in_loops(topology))
    rows = plain(closed.constraints.jacobian)[:, bound]
    if len(rows) > len(bound) or np.linalg.matrix_rank(rows, tol=1e-3) < len(rows):
        return None
    freedoms = [(name, k) for name, where in topology.u_of.items() for k in range(where.stop - where.start)]
    freedoms = [freedom for freedom in freedoms if topology.u_of[freedom[0]].start + freedom[1] in bound]
    chosen = []
    for j in rng.permutation(len(freedoms)):
        unit = np.zeros(len(bound))
        unit[bound.index(topology.u_of[freedoms[j][0]].start + freedoms[j][1])] = 1.0
        more = np.vstack([rows, unit])
        if len(more) <= len(bound) and np.linalg.matrix_rank(more, tol=1e-3) == len(more):
            rows, chosen = more, [*chosen, freedoms[j]]
    return tuple(chosen) if len(rows) == len(bound) else None
