"""The component circuit: the two-segment manipulator, a spatial chain, long chains, cost and structure."""

from pathlib import Path

import numpy as np
import pytest
from circuit_structure import find_circuit
from strategies import Link, Plan, build

import kinode as kn
import loop_models
from kinode.algebra.trace import Tape, count_operations
from kinode.formulations.component_circuit import CIRCUIT
from kinode.model.joints.joint import JOINTS
from kinode.multibody.snapshot import RECURSIVE, Snapshot
from kinode.structure.sigma_method import StructureError, choose_states
from kinode.structure.state_layout import EvaluationPoint
from kinode.structure.topology import find_topology
from kinode.tasks.verify import random_state
from known import circuit as known

WAYS = ("circuit", "recursive")
MOVING = tuple(kind for kind in JOINTS if kind != "fixed")


def manipulator(loaded=False, **drive):
    """Two segments; a source drives the first joint by its velocity, the second turns with losses."""
    system = kn.System("manipulator", gravity=known.WEIGHT if loaded else (0, 0, 0))
    bodies = []
    for k, (mass, inertia, _, tip) in enumerate(known.SEGMENTS):
        bodies.append(system.body(f"segment{k + 1}", mass=mass, inertia=inertia))
        bodies[k].at(*tip, name="tip")
    (first, second), (one, two) = known.START[:2], bodies
    if not drive:
        drive = {"speed": known.LAW, "q": first}
    system.revolute("one", system.world, one.at(*known.SEGMENTS[0][2]), **drive)
    near, far = one.at(*known.SEGMENTS[0][3]), two.at(*known.SEGMENTS[1][2])
    system.revolute("two", near, far, q=second, u=known.START[2], damping=known.LOSS)
    if loaded:
        system.force("tip_load", two["tip"], known.TIP_FORCE, expressed_in=two)
        system.moment("tip_moment", two["tip"], (0, 0, known.TIP_MOMENT), expressed_in=two)
    return system


DRAWN = "Ew1-KN1.1; Ew2-KN1.3; KN1.2-SB1.1; SB1.2-KN2.1; DC-KN2.3; KN2.2-SB2.1; SB2.2-Ef3"


def drawn_manipulator(case):
    """The same as its circuit is drawn, in Python."""
    bodies = {
        f"SB{k + 1}": {"kind": "body", "mass": mass, "inertia": inertia, "links": {1: first, 2: second}}
        for k, (mass, inertia, first, second) in enumerate(known.SEGMENTS)
    }
    load = known.TIP_FORCE if case == "loaded" else (0.0, 0.0, 0.0)
    system = kn.System("manipulator", gravity=known.WEIGHT if case == "loaded" else (0, 0, 0))
    system.connect(
        DRAWN,
        {
            **bodies,
            "Ew1": {"kind": "base"},
            "KN1": {"kind": "revolute", "q": known.START[0]},
            "Ew2": {"kind": "speed_source", "speed": known.LAW},
            "KN2": {"kind": "revolute", "q": known.START[1], "u": known.START[2]},
            "DC": {"kind": "shaft_damper", "damping": known.LOSS},
            "Ef3": {"kind": "force", "force": load, "expressed_in": "SB2"},
        },
    )
    if case == "loaded":
        system.moment("Em3", "SB2.link2", (0, 0, known.TIP_MOMENT), expressed_in="SB2")
    return system


@pytest.mark.parametrize("case", known.ARM)
def test_manipulator_as_its_circuit_is_drawn(case):
    figures = known.ARM[case]
    times = list(figures)
    run = kn.simulate(drawn_manipulator(case), times[-1], times=times, rtol=1e-12, atol=1e-13)
    forces = [run[f"KN{k}.reaction.force@SB{k}"][:, :2] for k in (1, 2)]
    values = [run["KN1.q"], run["KN2.q"], run["KN2.u"], run["Ew2.moment"], -run["DC.moment"], *forces]
    values = np.column_stack([*values, run["SB2.link2.velocity"][:, :2]])
    assert abs(values - np.array(list(figures.values()))).max() < 1e-9


def test_manipulator_as_drawn_in_a_file():
    example = Path(__file__).resolve().parents[2] / "examples" / "manipulator.yaml"
    system, drawn = kn.load(example), drawn_manipulator("loaded")
    system.run_defaults = {}
    assert system == drawn
    assert "all agree" in str(kn.verify(system, 2, compiled=False))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", known.ARM)
def test_two_segment_manipulator(case, way):
    """Trajectories and link forces against the independent solution: 1e-9 of sizes that go to 180."""
    figures = known.ARM[case]
    times = list(figures)
    model = kn.compile(manipulator(case == "loaded"), formulation=way)
    run = kn.simulate(model, times[-1], times=times, rtol=1e-12, atol=1e-13)
    force_one, force_two = run["one.reaction.force@segment1"], run["two.reaction.force@segment2"]
    found = np.column_stack(
        [
            run["one.q"], run["two.q"], run["two.u"], run["one.effort"], run["two.effort"],
            force_one[:, :2], force_two[:, :2], run["segment2.tip.velocity"][:, :2],
        ]
    )  # fmt: skip
    assert abs(found - np.array(list(figures.values()))).max() < 1e-9


def spatial():
    """The chain of the reference, bodies' origins at their mass centers."""
    system = kn.System("spatial", gravity=known.GRAVITY)
    carrier = system.world
    for k, (axis, mass, J, near, far) in enumerate(known.SPATIAL):
        body = system.body(f"body{k + 1}", mass=mass, inertia=[list(row) for row in J])
        kind = "revolute" if k != 1 else "prismatic"
        given = {"axis": axis, "q": known.Q[k], "u": known.U[k], "effort": known.EFFORTS[k]}
        system.joint(f"joint{k + 1}", kind, carrier, body.at(*near), **given)
        carrier = body.at(*far) if k != 0 else body.at(*np.add(far, known.OFFSET))
    system.force("force", carrier, known.TIP[:3], expressed_in=body)
    system.moment("moment", carrier, known.TIP[3:], expressed_in=body)
    return system


@pytest.mark.parametrize("way", WAYS)
def test_spatial_chain(way):
    """Accelerations and flows of every link; without the gyroscopic moment accelerations differ in the third digit."""
    model = kn.compile(spatial(), formulation=way)
    at = (0.0, np.array(known.Q), np.array(known.U))
    found = model.acceleration(*at)
    assert abs(found - known.U_DOT).max() < 1e-10
    assert abs(found - known.U_DOT_WITHOUT_GYROSCOPIC_MOMENT).max() > 5e-3
    for k, flow in enumerate(known.FLOWS, start=1):
        wrench = model.reactions(*at, joints=f"joint{k}", whole=True, expressed_in=f"body{k}")[f"joint{k}"]
        assert abs(np.concatenate([wrench.force, wrench.moment]) - flow).max() < 1e-10


# -- structure --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("drive", "freedom"), [("speed", 3), ("effort", 4), ("motion", 2)])
def test_index_of_the_manipulator(drive, freedom):
    """(T-7.12): a source of velocity 2, of moment 2, of position 3; so many initial values are left to choose."""
    circuit = find_circuit(find_topology(manipulator(**{drive: known.LAW})))
    assert circuit.structure.index == known.INDEX[drive]
    assert circuit.structure.freedom == freedom


def test_kinematic_rows_are_differentiated_and_joint_speeds_can_be_the_states():
    circuit = find_circuit(find_topology(manipulator(effort=known.LAW)))
    twice = {row[:2] for row, c in zip(circuit.rows, circuit.structure.c, strict=True) if c}
    assert {what for _, what in twice} == {"rests", "moves", "moves with its body"}
    priorities = {j: 1.0 for j, (_, what, _) in enumerate(circuit.variables) if what in ("q", "u")}
    states = choose_states(circuit.structure, priorities).states
    assert {circuit.variables[j] for j, _ in states} == {(name, x, 0) for name in ("one", "two") for x in "qu"}


def test_spatial_chain_has_index_two():
    assert find_circuit(find_topology(spatial())).structure.index == 2


def test_a_planar_loop_has_too_many_rows():
    """A four-bar of hinges: three rows more than can be matched, and as many forces that nothing gives."""
    system = kn.System("four bar")
    a, b, c = (system.body(name, mass=1.0, inertia=(0.1, 0.1, 0.1)) for name in "abc")
    system.revolute("j1", system.world, a)
    system.revolute("j2", a.at(1, 0, 0), b)
    system.revolute("j3", b.at(2, 0, 0), c.at(0, 1, 0))
    system.revolute("j4", system.world.at(3, -1, 0), c)
    with pytest.raises(StructureError) as error:
        find_circuit(find_topology(system))
    over, under = error.value.over, error.value.under
    assert len(over.rows) - len(over.variables) == 3
    assert len(under.variables) - len(under.rows) == 3


def test_structure_is_that_of_bodies_and_joints():
    system = manipulator(effort=known.LAW)
    system.constraint("rod", "distance", a=system.world, b=system["segment2"]["tip"], distance=0.7)
    with pytest.raises(kn.Error, match="rod"):
        find_circuit(find_topology(system))


# -- chains -----------------------------------------------------------------------------------------


def chain(count, kinds, backward=False):
    links = tuple(Link(kinds[i % len(kinds)], i - 1, backward and i % 2 == 1, seed=i) for i in range(count))
    return find_topology(build(Plan(links)))


@pytest.mark.parametrize("kind", MOVING)
@pytest.mark.parametrize("backward", [False, True])
def test_chains_of_twenty_links_agree_with_the_recursion(kind, backward):
    """Every kind of joint in turn with hinges, at random states: accelerations to 1e-12 of the largest."""
    topology = chain(20, (kind, "revolute"), backward)
    for seed in range(2):
        point = EvaluationPoint(*random_state(topology, np.random.default_rng(seed)))
        snapshots = (Snapshot(topology, point, formulation=way) for way in (CIRCUIT, RECURSIVE))
        one, two = (np.asarray(snapshot.u_dot, float) for snapshot in snapshots)
        assert abs(one - two).max() < 1e-12 * abs(two).max()


def test_reactions_of_a_long_chain():
    topology = chain(20, MOVING)
    state = random_state(topology, np.random.default_rng(5))
    circuit, recursion = (
        Snapshot(topology, EvaluationPoint(*state), formulation=CIRCUIT),
        Snapshot(topology, EvaluationPoint(*state)),
    )
    pairs = [
        [np.concatenate(way.reaction(name)).astype(float) for way in (circuit, recursion)]
        for name in topology.system.joints
    ]
    size = max(abs(two).max() for _, two in pairs)
    assert max(abs(one - two).max() for one, two in pairs) < 1e-12 * size


def operations(topology, way):
    made = Snapshot(topology, topology.layout.traced_point(Tape()), formulation=way)
    return sum(count_operations(made.u_dot).values())


@pytest.mark.parametrize("kinds", [("revolute",), MOVING], ids=["hinges", "all joints"])
def test_operations_stay_near_those_of_the_recursion(kinds):
    topology = chain(20, kinds)
    assert operations(topology, CIRCUIT) < 2.5 * operations(topology, RECURSIVE)


def test_operations_grow_in_proportion_to_the_links():
    """Hinges in general directions: the second twenty cost what the first did, but for the simple base."""
    ten, twenty, forty = (operations(chain(n, ("revolute",)), CIRCUIT) for n in (10, 20, 40))
    assert (forty - twenty) / 20 == pytest.approx((twenty - ten) / 10, rel=0.03)


# -- loops ------------------------------------------------------------------------------------------

LOOPS = {
    "four-bar": loop_models.four_bar,
    "parallelogram": lambda: loop_models.parallelogram(1),
    "Bennett": loop_models.bennett,
    "Bricard": loop_models.bricard,
}


@pytest.mark.parametrize("name", LOOPS)
def test_redundant_loops(name):
    """Loops that move although their rows are too many: accelerations, and what of the reactions is unique."""
    found = kn.verify(LOOPS[name](), 2, compiled=False)
    assert found.ok, str(found)
    assert {"accelerations", "reactions"} <= {row.quantity for row in found.rows if "circuit" in (row.one, row.two)}


def test_flows_along_rows_that_depend_on_others_are_zero():
    """A planar four-bar: its closing hinge holds in the plane alone, two rows of five."""
    dynamics = kn.compile(loop_models.four_bar())
    state = dynamics.initial
    circuit = Snapshot(dynamics.topology, EvaluationPoint(state.t, state.q, state.u), formulation=CIRCUIT)
    (cut,) = dynamics.topology.cuts
    assert len(circuit.multipliers) == len(dynamics.topology.rows) == 2
    flow = circuit.motion.solution.numbers(circuit.motion.solution.cut_joints[cut.joint.name].reaction)
    assert np.count_nonzero(abs(flow) > 1e-12) <= 2


def test_friction_that_sticks_by_the_code_of_the_circuit():
    """A block that slides, is braked to rest and stays there while another swings on it."""
    system = kn.System("block")
    block, rider = (
        system.body(name, mass=mass, inertia=(0.1, 0.1, 0.1)) for name, mass in (("block", 1.0), ("rider", 0.5))
    )
    system.prismatic("slide", system.world, block, axis="x", u=1.0, friction=kn.coulomb(effort=3.0))
    system.prismatic("swing", block, rider, axis="x", q=0.2, stiffness=20.0)
    runs = [kn.simulate(kn.compile(system, formulation=way), 2.0, rtol=1e-10, atol=1e-12) for way in WAYS]
    assert len(runs[0].events) == len(runs[1].events) == 1
    assert runs[0]["slide.u"][-1] == 0.0
    assert abs(runs[0].end.q - runs[1].end.q).max() < 1e-9
