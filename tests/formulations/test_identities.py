"""Identities on random trees: what must hold whatever the model, and whichever way it is derived.

Tolerances: the trees have numbers of the order of 1 and some hundred operations, condition numbers up to about 1e4;
1e-9 of the largest entry leaves a factor of a thousand.
"""

from __future__ import annotations

import numpy as np
import pytest
from example_counts import examples, is_fixed
from hypothesis import given, settings
from hypothesis import strategies as st
from joint_contract import needed_fields
from number_kinds import KINDS
from strategies import KINDS as JOINT_KINDS
from strategies import Link, Plan, build, plans, topology_of, turn

import kinode as kn
from kinode.algebra.scalars import rate
from kinode.formulations.component_circuit import CIRCUIT
from kinode.formulations.formulation_table import FORMULATIONS, OUTPUTS, InstantValues
from kinode.formulations.lagrange import LAGRANGE
from kinode.model.base.frames import Frame
from kinode.model.joints.joint import JOINTS
from kinode.multibody.snapshot import RECURSIVE, Snapshot
from kinode.structure.state_layout import EvaluationPoint
from kinode.structure.topology import find_topology
from kinode.tasks.verify import random_state
from kinode.tasks.verify_identities import grow

ANGLES = tuple(kind for kind in JOINT_KINDS if JOINTS[kind].quaternion is None)
WAYS = {"recursive": RECURSIVE, "lagrange": LAGRANGE, "circuit": CIRCUIT}
every_way = pytest.mark.parametrize("way", WAYS)


def numbers(topology, seed):
    return random_state(topology, np.random.default_rng(seed))


def plain(x):
    return np.asarray(x, dtype=float)


def near(a, b, size=0.0):
    """To 1e-9 of the largest entry: rounding of some thousand operations, mass matrices having conditions below 100."""
    a, b = plain(a), plain(b)
    assert a.shape == b.shape
    assert abs(a - b).max(initial=0.0) <= 1e-9 * max(abs(a).max(initial=0.0), abs(b).max(initial=0.0), size, 1.0)


# -- all ways agree ---------------------------------------------------------------------------------


@given(plans(), st.integers(0, 99))
@examples(10, nightly=160)
def test_all_formulations_agree_and_keep_the_identities(plan, seed):
    verification = kn.verify(build(plan), 1, seed=seed, compiled=False)
    assert verification.ok, str(verification)


def drives(kind):
    """How a joint can be driven: one without freedom not at all, one that turns by a quaternion by its speed."""
    if not JOINTS[kind].coordinates:
        return ("none",)
    return ("none", "speed") if JOINTS[kind].quaternion is not None else ("none", "motion", "speed")


@pytest.mark.parametrize(("kind", "drive"), [(kind, drive) for kind in JOINT_KINDS for drive in drives(kind)])
@pytest.mark.parametrize("backward", [False, True])
def test_each_joint_in_the_middle_of_a_chain(kind, backward, drive):
    """Every joint for certain, not only where hypothesis happens to look."""
    loads = frozenset() if kind == "fixed" else frozenset({"effort", "damping"})
    links = (Link("revolute", -1, seed=1), Link(kind, 0, backward, drive, loads, seed=2), Link("revolute", 1, seed=3))
    verification = kn.verify(build(Plan(links, springs=((0, 2),))), 1 if is_fixed() else 2, compiled=False)
    assert verification.ok, str(verification)


@given(plans(), st.integers(0, 99))
def test_mass_matrix_is_the_hessian_of_the_kinetic_energy(plan, seed):
    topology = topology_of(plan)
    t, q, u, z = numbers(topology, seed)
    M = plain(Snapshot(topology, EvaluationPoint(t, q, u, z)).mass_matrix)

    def energy(u):
        return np.array([Snapshot(topology, EvaluationPoint(t, q, u, z)).kinetic_energy], dtype=object)

    units = np.eye(topology.n_u)
    H = [[rate(lambda v, j=j: rate(energy, v, units[j]), u, units[i])[0] for j in range(i + 1)] for i in range(len(M))]
    for i, row in enumerate(H):
        near(M[i, : i + 1], row, size=abs(M).max())
    assert np.linalg.eigvalsh(M)[0] > 0 if len(M) else True


@given(plans(kinds=ANGLES, most=4, driven=False, loaded=False, gravity=False), st.integers(0, 99))
@examples(10, nightly=100)
def test_rate_of_the_mass_matrix_less_twice_coriolis_is_skew(plan, seed):
    """C by the symbols of Christoffel of M alone; C u is then all that the speeds contribute to the bias."""
    topology = topology_of(plan)
    t, q, u, z = numbers(topology, seed)
    n = topology.n_u

    def mass(q):
        return Snapshot(topology, EvaluationPoint(t, q, np.zeros(n), z)).mass_matrix

    D = np.array([plain(rate(mass, q, e)) for e in np.eye(n)]).reshape(n, n, n)  # D[k, i, j] = dM_ij/dq_k
    C = 0.5 * (np.einsum("kij,k->ij", D, u) + np.einsum("jik,k->ij", D, u) - np.einsum("ijk,k->ij", D, u))
    skew = np.einsum("kij,k->ij", D, u) - 2.0 * C
    assert abs(skew + skew.T).max(initial=0.0) < 1e-9
    near(-Snapshot(topology, EvaluationPoint(t, q, u, z)).bias_effort, C @ u)


@every_way
@given(plans(), st.integers(0, 99))
@examples(8, nightly=100)
def test_inverse_dynamics_inverts_forward_dynamics(way, plan, seed):
    """acceleration(effort=effort(a)) == a."""
    topology = topology_of(plan)
    state = numbers(topology, seed)
    wanted = np.random.default_rng(seed).normal(size=topology.n_u)
    effort = plain(Snapshot(topology, EvaluationPoint(*state), u_dot=wanted, formulation=WAYS[way]).inverse_effort)
    near(Snapshot(topology, EvaluationPoint(*state), effort=effort, formulation=WAYS[way]).u_dot, wanted, size=10.0)


@given(plans(), st.integers(0, 99))
@examples(8, nightly=100)
def test_added_efforts_and_wrenches_act_alike_in_both(plan, seed):
    topology = topology_of(plan)
    state, rng = numbers(topology, seed), np.random.default_rng(seed)
    more = {"effort": rng.normal(size=topology.n_u)}
    more["wrenches"] = {name: (rng.normal(size=3), rng.normal(size=3)) for name in topology.system.bodies}
    near(
        Snapshot(topology, EvaluationPoint(*state), **more).u_dot,
        Snapshot(topology, EvaluationPoint(*state), formulation=LAGRANGE, **more).u_dot,
        size=10.0,
    )


def test_an_added_wrench_is_a_force_at_the_origin_of_the_body():
    plan = Plan((Link("revolute", -1, seed=1), Link("spherical", 0, seed=2)))
    force, moment = np.array([1.0, -2.0, 3.0]), np.array([0.5, 0.2, -0.3])
    loaded = build(plan)
    loaded.force("push", "body1", tuple(force))
    loaded.moment("twist", "body1", tuple(moment))
    state = numbers(topology_of(plan), 0)
    added = Snapshot(topology_of(plan), EvaluationPoint(*state), wrenches={"body1": (force, moment)})
    near(added.u_dot, Snapshot(find_topology(loaded), EvaluationPoint(*state)).u_dot)


# -- conservation -----------------------------------------------------------------------------------


@given(plans(root="free", gravity=False, driven=False), st.integers(0, 99))
def test_momenta_of_a_floating_tree_stay(plan, seed):
    """Only inner loads: springs between bodies, joints with springs and dampers, forces with their reactions."""
    links = (Link("free", -1, plan.links[0].backward, seed=plan.links[0].seed), *plan.links[1:])
    inner = tuple(pair for pair in plan.springs if -1 not in pair)
    forces = tuple(i for i in plan.forces[:1] if links[i].parent >= 0)
    topology = topology_of(Plan(links, inner, forces, None, False, plan.seed))
    t, q, u, z = numbers(topology, seed)
    now = Snapshot(topology, EvaluationPoint(t, q, u, z))

    def momentum(n, which, k):
        return Snapshot(topology, EvaluationPoint(n.t, n.q, n.u, n.z)).momenta[which][k]

    size = abs(plain(now.mass_matrix)).max() * (1.0 + abs(plain(now.u_dot)).max())
    for which in (0, 1):
        rates = [
            grow(topology, InstantValues(t, q, u, z), plain(now.u_dot), lambda n, k=k: momentum(n, which, k))  # noqa: B023
            for k in range(3)
        ]
        assert abs(np.array(rates)).max() < 1e-9 * size


# -- nothing depends on how it is written down ------------------------------------------------------


def by_name(topology, values):
    names = [c.name for c in topology.coordinates if c.role == "u"]
    return dict(zip(names, plain(values), strict=True))


@given(plans(), st.integers(0, 99))
@examples(10, nightly=100)
def test_the_inertial_frame_does_not_matter(plan, seed):
    """The whole model, gravity and loads turned: the same coordinates, efforts, reactions and energies."""
    R = turn(np.random.default_rng(seed))
    one, two = topology_of(plan), topology_of(plan, world=R)
    state = numbers(one, seed)
    a, b = Snapshot(one, EvaluationPoint(*state)), Snapshot(two, EvaluationPoint(*state))
    near(a.u_dot, b.u_dot, size=10.0)
    near(a.kinetic_energy, b.kinetic_energy)
    near(a.potential_energy, b.potential_energy, size=10.0)
    for k in (0, 1):
        near(R @ plain(a.momenta[k]), b.momenta[k])
    for name in a.full.kinematics.node_named:
        for x, y in zip(a.reaction(name), b.reaction(name), strict=True):
            near(x, y, size=100.0)


@given(plans(), st.integers(0, 99), st.randoms(use_true_random=False))
@examples(10, nightly=100)
def test_the_order_of_declaration_does_not_matter(plan, seed, random):
    order = list(range(len(plan.links)))
    random.shuffle(order)
    one, two = topology_of(plan), topology_of(plan, order=order)
    t, q, u, z = numbers(one, seed)
    values = {(c.role, c.name): {"q": q, "u": u, "z": z}[c.role][c.index] for c in one.coordinates}
    moved = {role: np.zeros(getattr(two, f"n_{role}")) for role in "quz"}
    for c in two.coordinates:
        moved[c.role][c.index] = values[c.role, c.name]
    a, b = (
        Snapshot(one, EvaluationPoint(t, q, u, z)),
        Snapshot(two, EvaluationPoint(t, moved["q"], moved["u"], moved["z"])),
    )
    accelerations = by_name(two, b.u_dot)
    for name, value in by_name(one, a.u_dot).items():
        near(value, accelerations[name], size=10.0)
    for name in a.full.kinematics.node_named:
        near(np.concatenate(a.reaction(name)), np.concatenate(b.reaction(name)), size=100.0)


def flipped_state(one, two, name, q, u):
    """Coordinates of a joint declared the other way round, at the same poses and speeds."""
    old, new = one.system.joints[name], two.system.joints[name]
    C, C_new = (
        kn.Pose(plain(j.axis_rotation(one.system.nominal, one.system.nominal)), np.zeros(3)) for j in (old, new)
    )
    form, form_new = (j.form(one.system.nominal) for j in (old, new))
    X = C @ kn.Pose(*map(plain, _parts(old.transform(q, form)))) @ C.inverse()
    q_new = new.solve_coordinates(C_new.inverse() @ X.inverse() @ C_new, form_new)
    V = plain(old.motion_subspace(q, form)) @ u if old.n_u else np.zeros(6)
    w, v = X.R @ C.R @ V[:3], X.R @ C.R @ V[3:]  # of M's side relative to F's, in F's axes, at M
    back = np.concatenate([C_new.R.T @ -w, C_new.R.T @ (-v + np.cross(w, X.p))])
    S = plain(new.motion_subspace(q_new, form_new))
    return q_new, np.linalg.lstsq(S, back, rcond=None)[0] if new.n_u else np.zeros(0)


def _parts(X):
    return X.R, X.p


@given(plans(loaded=False, driven=False), st.integers(0, 99), st.data())
@examples(16, nightly=100)
def test_which_side_of_a_joint_is_called_a_does_not_matter(plan, seed, data):
    """Exchanged a and b at the same poses and speeds: bodies accelerate alike, the reaction is the opposite."""
    i = data.draw(st.integers(0, len(plan.links) - 1))
    name = f"joint{i}"
    one, two = topology_of(plan), topology_of(plan, flip=frozenset({i}))
    t, q, u, z = numbers(one, seed)
    q_new, u_new = q.copy(), u.copy()
    if name in one.q_of:
        where_q, where_u = one.q_of[name], one.u_of[name]
        q_new[where_q], u_new[where_u] = flipped_state(one, two, name, q[where_q], u[where_u])
    a, b = Snapshot(one, EvaluationPoint(t, q, u, z)), Snapshot(two, EvaluationPoint(t, q_new, u_new, z))
    for body in one.system.bodies:
        near(a.pose(Frame(body)).p, b.pose(Frame(body)).p)
        near(np.concatenate(a.acceleration(Frame(body))), np.concatenate(b.acceleration(Frame(body))), size=10.0)
    world = Frame("world")
    for other in a.full.kinematics.node_named:
        sign = -1.0 if other == name else 1.0
        x, y = (np.concatenate(s.reaction(other, whole=True, about=world, expressed_in=world)) for s in (a, b))
        near(x, sign * plain(y), size=100.0)


# -- scalar types -----------------------------------------------------------------------------------


@every_way
@given(plans(most=3), st.integers(0, 99))
@settings(max_examples=10)
def test_traced_numbers_give_what_floats_give(way, plan, seed):
    topology = topology_of(plan)
    t, q, u, z = numbers(topology, seed)

    def function(t, q, u, z):
        s = Snapshot(topology, EvaluationPoint(t[0], q, u, z), formulation=WAYS[way])
        return np.concatenate([s.u_dot, np.asarray(s.mass_matrix).ravel(), [s.kinetic_energy, s.potential_energy]])

    state = ([t], q, u, z)
    near(KINDS["traced"](function, state), KINDS["floats"](function, state), size=10.0)


@every_way
@pytest.mark.parametrize("kind", [kind for kind in JOINT_KINDS if kind != "fixed"])
def test_symbols_give_what_floats_give(way, kind):
    """One body with plain numbers: formulas are to be read, and grow fast."""
    system = kn.System("plain")
    body = system.body("body", mass=2.0, com=(0.3, 0.0, 0.0), inertia=(0.1, 0.2, 0.25))
    system.joint(
        "joint", kind, system.world, body, damping=[0.5] * len(JOINTS[kind].coordinates), **needed_fields(kind)
    )
    topology = find_topology(system)
    t, q, u, z = numbers(topology, 1)

    def function(t, q, u, z):
        s = Snapshot(topology, EvaluationPoint(t[0], q, u, z), formulation=WAYS[way])
        return np.concatenate(
            [s.bias_effort, np.asarray(s.mass_matrix).ravel(), [s.kinetic_energy, s.potential_energy]]
        )

    state = ([t], q, u, z)
    near(KINDS["symbols"](function, state), KINDS["floats"](function, state))


@every_way
def test_symbols_give_the_equation_of_a_pendulum(way):
    """(J + m l^2) u_dot = -m g l sin(q), for any m, l, J."""
    import sympy

    m, l, J, q, u = sympy.symbols("m l J q u", positive=True)
    system = kn.System("pendulum", gravity=(0.0, -1.0, 0.0))
    mass, length, inertia = (system.parameter(name, 1.0) for name in ("m", "l", "J"))
    body = system.body("bob", mass=mass, com=(0.0, -1.0 * length, 0.0), inertia=(inertia, inertia, inertia))
    system.revolute("hinge", system.world, body)
    topology = find_topology(system)
    p = np.array([{"m": m, "l": l, "J": J}[name] for name in topology.parameters], dtype=object)
    point = EvaluationPoint(0.0, np.array([q]), np.array([u]), p=p)
    evaluated = Snapshot(topology, point, formulation=WAYS[way])
    assert sympy.simplify(evaluated.mass_matrix[0, 0] - (J + m * l**2)) == 0
    assert sympy.simplify(sympy.nsimplify(evaluated.u_dot[0]) + m * l * sympy.sin(q) / (J + m * l**2)) == 0


# -- verify itself ----------------------------------------------------------------------------------


def test_verify_finds_what_is_wrong(monkeypatch):
    """A formulation with a sign error does not pass, and the table says where."""
    import dataclasses

    right = FORMULATIONS["lagrange"]

    def evaluate(topology, numbers, wanted):
        outputs = right.evaluate(topology, numbers, wanted)
        if "u_dot" in outputs:
            outputs["u_dot"] = outputs["u_dot"] * [1.0, -1.0]
        return outputs

    monkeypatch.setitem(FORMULATIONS, "lagrange", dataclasses.replace(right, evaluate=evaluate))
    verification = kn.verify(
        build(Plan((Link("revolute", -1, seed=1), Link("prismatic", 0, seed=2)))), 3, compiled=False
    )
    assert not verification.ok
    wrong = {(row.quantity, row.one) for row in verification.rows if not row.ok}
    assert ("accelerations", "recursive") in wrong
    assert ("power balance", "lagrange") in wrong
    assert not any(one == "recursive" and quantity != "accelerations" for quantity, one in wrong)
    assert not verification.worst.ok
    assert "joint1.u_dot" in str(verification)
    assert "!" in str(verification)
    assert "accelerations: recursive and lagrange are" in str(verification)
    assert max(map(len, str(verification).splitlines())) <= 150


def test_verify_compares_the_compiled_code():
    verification = kn.verify(
        build(Plan((Link("revolute", -1, seed=1), Link("spherical", 0, seed=2)), springs=((1, -1),))), 2
    )
    assert verification.ok, str(verification)
    compiled = {row.quantity for row in verification.rows if row.two == "compiled"}
    assert {"accelerations", "mass matrix", "bias", "inverse dynamics", "kinetic energy", "reactions"} <= compiled


def test_every_formulation_gives_what_it_promises():
    topology = topology_of(Plan((Link("revolute", -1, seed=1), Link("prismatic", 0, seed=2))))
    t, q, u, z = numbers(topology, 0)
    for formulation in FORMULATIONS.values():
        assert formulation.applies(topology) is None
        outputs = formulation.evaluate(topology, InstantValues(t, q, u, z), OUTPUTS)
        assert formulation.outputs <= set(outputs)


@pytest.mark.parametrize(("model", "states", "words"), [
    ("arm.yaml", None, "a System is expected, not 'arm.yaml'"),
    (Plan((Link("revolute", -1, seed=1),)), 0, "states: at least one"),
    (Plan((Link("revolute", -1, seed=1),)), "all", "states: how many"),
])  # fmt: skip
def test_what_cannot_be_verified(model, states, words):
    with pytest.raises(kn.ArgumentError, match=words):
        kn.verify(build(model) if isinstance(model, Plan) else model, states)


def test_where_no_power_is_exchanged_rounding_is_no_disagreement():
    """A balanced wheel keeps its speed: all powers vanish, and what is left of their difference is rounding."""
    system = kn.System("wheel")
    system.revolute("hub", system.world, system.body("wheel", mass=1, inertia=(1, 1, 1)))
    assert kn.verify(system).ok


def test_where_all_energy_is_in_parts_rounding_is_no_disagreement():
    """No body moves: what is left of the energy of the whole, less that of the parts, is rounding."""
    system = kn.System("motor")
    data = {"resistance": 0.3, "inductance_d": "1.2 mH", "inductance_q": "2.1 mH", "flux": "30 mWb", "pole_pairs": 4}
    system.brushless_motor("motor", "shaft", voltage_q=20, inertia=3e-4, **data)
    system.shaft_spring("coupling", "shaft", "load", stiffness=15)
    system.shaft_inertia("wheel", "load", inertia=2e-3)
    verification = kn.verify(system)
    assert verification.ok, str(verification)


@pytest.mark.parametrize(("kind", "inertia"), [("spherical", (1.0, 1.0, 1.0)), ("planar", {"zz": 1e-6})])
def test_where_nothing_acts_rounding_is_no_disagreement(kind, inertia):
    """A ball on its center and a body on a table: forces and moments along their freedoms are exactly zero."""
    system = kn.System("balanced")
    getattr(system, kind)("joint", system.world, system.body("body", mass=1.0, inertia=inertia))
    assert kn.verify(system).ok
