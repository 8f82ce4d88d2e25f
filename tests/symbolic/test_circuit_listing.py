"""The component circuit in the open: topology, equations as they stand, solution vector, scalar links."""

import json
import xml.dom.minidom

import numpy as np
import pytest
from constraint_contract import two_arms
from element_contract import make_element
from element_contract import random_state as random_element_state
from hypothesis import given, settings
from strategies import build, plans

import kinode as kn
from kinode.structure.topology import find_topology
from kinode.tasks.verify import random_state
from known import circuit as known
from known.test_circuit import manipulator
from model.constraints.test_constraint_kinds import EXAMPLES as CONSTRAINT_EXAMPLES
from model.elements.test_element_contract import EXAMPLES as ELEMENT_EXAMPLES

HOLDS = 1e-11  # relative residual of an equation, of values that come from the compiled dynamics
EXAMPLES = (
    "pendulum", "motor_axis", "four_bar", "slider_crank", "elastic_system", "spinning_top", "walker", "backlash_axis",
    "brake_arm", "rlc", "spinning_shell", "ship_gimbal",
)  # fmt: skip


def example(name):
    return kn.load(f"examples/{name}.yaml")


def paper():
    """The two-segment manipulator with seven nodes: Ew1, KN1, Ew2, SB1, KN2, DC, SB2, Ef3."""
    system = manipulator()
    system.force("tip_load", system.bodies["segment2"]["tip"], known.TIP_FORCE, expressed_in=system.bodies["segment2"])
    return system


def test_the_manipulator_has_104_unknowns_and_equations():
    circuit = kn.circuit(paper())
    assert circuit.counts == {
        "potential": 32, "flow": 64, "internal": 8, "component equations": 72, "node equations": 32
    }  # fmt: skip
    assert len(circuit.equations[-1].solved_for) + circuit.equations[-1].first - 1 == 104
    assert len([node for node in circuit.nodes.values() if not node.reference]) == 7
    assert [x.role for x in circuit.components.values()] == ["SB", "SB", "KN", "E", "E", "KN", "DC", "E"]


@pytest.mark.parametrize(("drive", "index"), known.INDEX.items())
def test_index_of_the_manipulator(drive, index):
    """Velocity and moment sources leave index 2, a position source makes it 3."""
    assert kn.circuit(manipulator(**{drive: known.LAW})).index == index


def test_equations_are_those_of_the_document():
    """(1.1) to (1.7) with the sign rule that a flow acts on the component."""
    texts = {(e.owner, e.name): e.text() for e in kn.circuit(paper()).equations}
    assert texts["segment1", "balance of moments"] == (
        "J_segment1 omega°_segment1.1 + omega_segment1.1 x J_segment1 omega_segment1.1 = M_segment1.1 + M_segment1.2"
        " + rho_segment1.1 x F_segment1.1 + rho_segment1.2 x F_segment1.2"
    )
    assert texts["segment1", "velocity of link 2"] == "v_segment1.2 = v_0,segment1 + omega_segment1.1 x rho_segment1.2"
    assert texts["two", "angular velocity of link 2"] == "omega_two.2 = A_two omega_two.1 + a_two.3 omega_two.3"
    assert texts["two", "velocity of link 2"] == "v_two.2 = A_two v_two.1"
    assert texts["two", "force of link 1"] == "F_two.1 = -A_two' F_two.2"
    assert texts["two", "moment of link 3"] == "M_two.3 = -a_two.3 . M_two.2"
    assert texts["two", "rate of the coordinate"] == "q_dot_two = omega_two.3"
    assert texts["two.damping", "moment of the damper"] == "M_two.damping.1 = 0.8 omega_two.damping.1"
    assert texts["one.speed", "prescribed speed"] == "omega_one.speed.1 = 1.2 sin(0.8 t) + 0.5 cos(1.7 t)"


def test_loads_are_printed_as_their_laws():
    texts = {(e.owner, e.name): e.text() for e in kn.circuit(paper()).equations}
    assert texts["tip_load", "force of link 1"] == "F_tip_load.1 = -(4, -6, 0)"
    elastic = {e.name: e.text() for e in kn.circuit(example("elastic_system")).equations if e.owner == "spring"}
    stretched = "stiffness (l_spring - free_length) + damping l_dot_spring"
    assert elastic["force of link 1"] == f"F_spring.1 = -({stretched}) e_spring"
    gas = {e.name: e.text() for e in kn.circuit(example("slider_crank")).equations if e.owner == "gas"}
    assert gas["force of link 1"].startswith("F_gas.1 = -R_piston' (")


def test_a_slide_shifts_the_point_of_its_second_link():
    """(1.8) to (1.10)."""
    system = kn.System("slide")
    body = system.body("body", mass=1.0, inertia=(1, 1, 1))
    system.prismatic("rail", system.world, body, axis="x")
    texts = {e.name: e.text() for e in kn.circuit(system, "global").equations if e.owner == "rail"}
    assert texts["velocity of link 2"] == "v_rail.2 = v_rail.1 + omega_rail.1 x rho_rail + R_body b_rail.3 v_rail.3"
    assert texts["moment of link 1"] == "M_rail.1 = -M_rail.2 - rho_rail x F_rail.2"
    assert texts["force of link 3"] == "F_rail.3 = -R_body b_rail.3 . F_rail.2"


@pytest.mark.parametrize("basis", ["body", "global"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_every_equation_holds_along_a_run(name, basis):
    system = kn.load(f"examples/{name}.yaml")
    run = kn.simulate(system, 0.2, samples=21)
    k = 13
    state = kn.State(float(run.t[k]), run.q[k], run.u[k], run.z[k])
    now = kn.circuit(system, basis).evaluate(state)
    assert now.worst[0] < HOLDS, now.worst
    assert abs(now.tellegen) <= 1e-12 * sum(abs(x) for x in now.power.values())


@pytest.mark.parametrize("name", EXAMPLES)
def test_as_many_equations_as_unknowns(name):
    circuit = kn.circuit(kn.load(f"examples/{name}.yaml"))
    c = circuit.counts
    assert c["potential"] + c["flow"] + c["internal"] == c["component equations"] + c["node equations"]
    solved = [x for e in circuit.equations for x in e.solved_for if x]
    assert (
        len(set(solved)) == len(solved) == sum(e.size for e in circuit.equations) - len(circuit.analysis.open_variables)
    )


@settings(max_examples=20)
@given(plans(most=4))
def test_equations_hold_on_random_systems(plan):
    """All kinds of joints, drives, springs, forces and gears, at random states."""
    system = build(plan)
    topology = find_topology(system)
    state = kn.State(*random_state(topology, np.random.default_rng(plan.seed)))
    now = kn.circuit(system).evaluate(state)
    assert now.worst[0] < HOLDS, now.worst
    assert abs(now.tellegen) <= 1e-11 * (1.0 + sum(abs(x) for x in now.power.values()))


@pytest.mark.parametrize("name", ELEMENT_EXAMPLES)
def test_equations_hold_with_every_kind_of_element(name):
    topology, _ = make_element(ELEMENT_EXAMPLES[name])
    now = kn.circuit(topology.system).evaluate(kn.State(0.3, *random_element_state(topology), np.zeros(topology.n_z)))
    assert now.worst[0] < HOLDS, now.worst


@pytest.mark.parametrize("example", [x for x in CONSTRAINT_EXAMPLES if not x.couples], ids=lambda example: example.kind)
def test_equations_hold_with_every_kind_of_constraint(example):
    circuit = kn.circuit(two_arms(example))
    now = circuit.evaluate()
    assert now.worst[0] < HOLDS, now.worst
    assert circuit.index == 2


def test_a_gear_is_a_component_with_two_scalar_links():
    system = kn.System("gear", gravity=(0, 0, 0))
    for name, at, laws in (("one", 0, {"effort": 2.0}), ("two", 1, {"damping": 0.1})):
        body = system.body(name, mass=1, inertia=(0.1, 0.1, 0.1))
        system.revolute(f"pin_{name}", system.world.at(at, 0, 0), body, **laws)
    system.constraint("mesh", "gear", input="pin_one", output="pin_two", ratio=-2.0)
    circuit = kn.circuit(system)
    texts = [e.text() for e in circuit.equations if e.owner == "mesh"]
    assert texts[0] == "omega_mesh.1 = -2 omega_mesh.2"
    assert circuit.evaluate().worst[0] < HOLDS


def test_rows_that_only_repeat_others_are_set_aside():
    """A plane loop: the rows of its last joint across the plane, and the flows that they leave open."""
    circuit = kn.circuit(kn.load("examples/four_bar.yaml"))
    assert circuit.index == 2
    assert set(circuit.analysis.open_variables) == {"top.2.moment.x", "top.2.moment.y", "top.2.force.z"}
    repeated = {e.owner for e in circuit.equations if -1 in e.differentiated}
    assert repeated == {"top"}


def test_incidence_has_two_ends_for_each_branch():
    circuit = kn.circuit(kn.load("examples/motor_axis.yaml"))
    dense = circuit.incidence.matrix.toarray()
    assert not dense.sum(axis=0).any()
    assert set(np.abs(dense).sum(axis=0)) <= {0, 2}
    assert {"world", "gnd"} <= set(circuit.incidence.nodes)
    table = kn.circuit(kn.load("examples/rlc.yaml")).incidence.to_dataframe()
    assert table.loc["supply", "wire"] == 1 and table.loc["middle", "wire"] == -1


def test_pieces_and_modes_of_links():
    system = kn.System("two")
    crank = system.body("crank", mass=1, inertia=(1, 1, 1))
    free = system.body("free", mass=1, inertia=(1, 1, 1))
    system.revolute("led", system.world, crank, speed=2.0)
    system.revolute("loose", system.world.at(1, 0, 0), free)
    circuit = kn.circuit(system)
    assert [sorted(piece) for piece in circuit.pieces] == [["crank", "led", "led.speed"], ["free", "loose"]]
    modes = {link.name: circuit.mode_of(link) for link in circuit.links}
    assert modes["led.2"] == modes["led.3"] == "kinematic" and modes["loose.2"] == "dynamic"
    words = ("velocity", "angular velocity", "rate", "link", "prescribed")
    assert all(e.name.startswith(words) for e in kn.circuit(system, mode="kinematic").equations)
    assert "R" in str(circuit.operating_space)


def test_link_variables_by_name_over_a_run():
    run = kn.simulate(manipulator(loaded=True), 0.5, samples=6)
    np.testing.assert_allclose(run["two.2.force"], -run["two.wrench.force@segment2"], atol=1e-12)
    np.testing.assert_allclose(run["segment2.1.force"], run["two.wrench.force@segment2"], atol=1e-12)
    np.testing.assert_allclose(run["two.3.moment"], run["two.effort"], atol=1e-12)
    np.testing.assert_allclose(run["two.damping.1.moment"], 0.8 * run["two.u"], atol=1e-12)
    V = run.circuit["V"]
    assert V.dims == ("time", "variable")
    np.testing.assert_allclose(V.sel(variable="one.1.force.y"), run["one.1.force.y"])
    assert str(V.sel(variable="one.1.force.y").unit.values) == "N"
    assert abs(run.circuit.tellegen).max() < 1e-10
    assert max(abs(x).max() for x in run.circuit.nodal_laws.values()) < 1e-10
    assert run.circuit.at(0.3).worst[0] < HOLDS


def test_a_run_with_other_parameters():
    system = kn.load("examples/pendulum.yaml")
    run = kn.simulate(system, 0.3, parameters={"L": 2.0}, samples=4)
    assert run.circuit.at(0.2).worst[0] < HOLDS


def test_redundant_loads_are_shared_as_reactions_are():
    """A door on three hinges in line."""
    system = kn.System("door", gravity=(0, -9.81, 0.5))
    door = system.body("door", mass=20, com=(0.4, 0, 0.1), inertia=(1, 1, 1))
    for k in range(3):
        system.revolute(f"hinge{k}", system.world.at(0, 0, k), door.at(0, 0, k), axis="z")
    run = kn.simulate(system, 0.1, samples=3)
    for k in range(3):
        wrench = run.wrench(f"hinge{k}", on="world", about=f"hinge{k}.parent", expressed_in="world")
        np.testing.assert_allclose(run[f"hinge{k}.1.force"], -wrench.force, atol=1e-12)
        np.testing.assert_allclose(run[f"hinge{k}.1.moment"], -wrench.moment, atol=1e-12)


def test_scalar_links_take_vectors_apart():
    scalar = kn.circuit(paper()).scalar()
    assert len(scalar.links) == 64 and len(scalar.equations) == 104
    by_name = {(e.owner, e.name): f"{e.left} = {e.right}" for e in scalar.equations}
    turned = by_name["two", "velocity of link 2, x"]
    assert turned == "two.2.velocity.x = two.1.velocity.x*cos(two.q) + two.1.velocity.y*sin(two.q)"
    assert by_name["segment2", "velocity of link 1, y"] == (
        "two.2.velocity.y = segment2.com.velocity.y@segment2 - 0.22*two.2.angular_velocity.z"
    )


def test_forms_of_output(tmp_path):
    circuit = kn.circuit(kn.load("examples/motor_axis.yaml"))
    data = json.loads(circuit.to_json(tmp_path / "circuit.json"))
    assert json.loads((tmp_path / "circuit.json").read_text()) == data
    assert data["counts"]["flow"] == 38 and data["index"] == 2
    assert {x["name"] for x in data["components"]} == set(circuit.components)
    xml.dom.minidom.parseString(f"<div>{circuit.mathml()}</div>")
    assert circuit.latex(document=True).count(r"\begin{align*}") == len([s for s in circuit._sheet.sections if s.lines])
    assert all(len(line) <= 110 for line in circuit.text(110).splitlines())
    assert str(kn.equations(kn.load("examples/motor_axis.yaml"), "circuit")) == str(circuit)


def test_what_is_typed_wrongly_is_named():
    system = kn.load("examples/pendulum.yaml")
    with pytest.raises(kn.ArgumentError, match="basis: 'local' is none of body, global"):
        kn.circuit(system, "local")
    with pytest.raises(kn.ArgumentError, match="mode: 'static'"):
        kn.circuit(system, mode="static")
    with pytest.raises(kn.ArgumentError, match=r"a System is expected, not 3"):
        kn.circuit(3)
    run = kn.simulate(system, 0.1)
    with pytest.raises(kn.LawError, match="pivot has 3 links, and none has the number 4"):
        run["pivot.4.force"]
    with pytest.raises(kn.LawError, match=r"link pivot\.3 has no variable 'force'"):
        run["pivot.3.force"]
    with pytest.raises(kn.LawError, match=r"pivot\.3 has no axes"):
        run["pivot.3.moment@world"]
    with pytest.raises(kn.ArgumentError, match=r"run\.circuit has V and power"):
        run.circuit["flows"]


# -- the kinematic problem -------------------------------------------------------------------------
@pytest.mark.parametrize("basis", ["body", "global"])
def test_the_kinematic_problem_is_square_with_its_free_speeds_given(basis):
    """Of the manipulator 39 equations for 40 unknowns: the speed of the second joint is free."""
    circuit = kn.circuit(paper(), basis, "kinematic")
    assert circuit.counts == {
        "potential": 32, "flow": 0, "internal": 8, "component equations": 39, "node equations": 0
    }  # fmt: skip
    assert circuit.analysis.open_variables == ("two.3.speed",)
    assert circuit.index == 1 and not any("force" in name for name in circuit.variables)
    assert {x for e in circuit.equations for x in e.differentiated} == {0}
    solved = [x for e in circuit.equations for x in e.solved_for]
    assert len(set(solved)) == len(solved) == 39
    assert "Nothing prescribes two.3.speed" in " ".join(circuit.text().split())
    assert json.loads(circuit.to_json())["mode"] == "kinematic"
    assert len(circuit.scalar().equations) == 39 and circuit.scalar().links[0].flow == ""


def test_kinematic_problem_of_loops_and_prescribed_positions():
    loop = kn.circuit(kn.load("examples/four_bar.yaml"), mode="kinematic")
    assert loop.analysis.open_variables == ("left.3.speed",)
    assert sum(x < 0 for e in loop.equations for x in e.differentiated) == 3
    driven = kn.circuit(manipulator(motion=known.LAW), mode="kinematic")
    assert driven.index == 2
    assert "no bodies" in str(kn.circuit(kn.load("examples/rlc.yaml"), mode="kinematic"))


# -- redundancy in every basis ---------------------------------------------------------------------
@pytest.mark.parametrize("name", ["four_bar", "slider_crank"])
def test_redundant_rows_are_the_same_in_world_axes(name):
    system = kn.load(f"examples/{name}.yaml")
    own, world = (kn.circuit(system, basis).analysis.open_variables for basis in ("body", "global"))
    assert len(own) == 3
    assert [f"{x}@world" for x in own] == list(world)


@pytest.mark.parametrize("basis", ["body", "global"])
def test_a_rod_beside_a_rod_is_redundant(basis):
    system = kn.System("rods", gravity=(0, -9.81, 0))
    ends = []
    for k in range(2):
        body = system.body(f"arm{k}", mass=1, com=(0.3, 0, 0), inertia=(1, 1, 1))
        system.revolute(f"pin{k}", system.world.at(k, 0, 0), body)
        ends.append(body.at(0, 1, 0))
    for k in range(2):
        system.constraint(f"rod{k}", "distance", a=ends[0], b=ends[1], distance=1.0)
    circuit = kn.circuit(system, basis)
    assert circuit.analysis.open_variables == ("rod1.reaction",)
    assert circuit.evaluate().worst[0] < HOLDS


# -- small numbers, narrow lines, names ------------------------------------------------------------
def test_scalar_equations_keep_small_masses():
    """A micro-mechanism: coefficients far below 1 are not rounding."""
    system = kn.System("small", gravity=(0, 0, 0))
    body = system.body("dot", mass=1e-17, inertia=(1e-24, 1e-24, 1e-24))
    system.revolute("pin", system.world, body, axis=(1, 1, 0))
    texts = {(e.owner, e.name): str(e.left) for e in kn.circuit(system).scalar().equations}
    assert "1.0e-17*der(dot.com.velocity.z@dot)" in texts["dot", "balance of forces, z"]
    assert "1.0e-24*der(pin.2.angular_velocity.z)" in texts["dot", "balance of moments, z"]


@pytest.mark.parametrize("width", [50, 80])
@pytest.mark.parametrize("basis", ["body", "global"])
def test_no_line_is_wider_than_asked(width, basis):
    circuit = kn.circuit(kn.load("examples/spinning_top.yaml"), basis)
    for text in (circuit.text(width), circuit.scalar().text(width)):
        assert max(map(len, text.splitlines())) <= width


def test_symbols_are_explained():
    rows = {row[0]: row[1:] for row in kn.circuit(paper())["Symbols"].table[1]}
    assert rows["J_segment1"] == ("inertia about the mass center", "kg*m^2")
    assert rows["M_one.3"] == ("moment", "N*m")


def test_values_of_links_by_name_at_an_instant():
    now = kn.circuit(paper()).evaluate()
    assert now["two.1.force.y"] == now["two.1.force"][1]
    np.testing.assert_array_equal(now["segment1.2.velocity"], now["two.1.velocity"])
    with pytest.raises(kn.ArgumentError, match=r"'two\.1\.force\.w' is no variable"):
        now["two.1.force.w"]


@pytest.mark.parametrize(
    "kind, freedoms, number, word", [("spherical", 3, 3, "angle"), ("free", 6, 3, "position"), ("free", 6, 6, "angle")]
)
def test_a_freedom_without_a_coordinate_has_no_angle(kind, freedoms, number, word):
    """Speeds of joints with a quaternion are no rates; an angle is there once a part integrates the speed."""
    system = kn.System("top")
    system.joint("ball", kind, system.world, system.body("top", mass=1, inertia=(1, 1, 1)), damping=[1] * freedoms)
    for link in (f"ball.{number}", f"ball.damping.{number - 2}"):
        with pytest.raises(kn.LawError, match=f"link {link} has no {word}: the speeds of a {kind} joint"):
            kn.circuit(system).evaluate().snapshot.quantity(f"{link}.{word}")
    if kind == "spherical":
        system.element("drag", "shaft_damper", a="ball.x", damping=1)
        assert kn.circuit(system).evaluate().snapshot.quantity("ball.3.angle") == 0


def test_wrong_states_and_times_are_named():
    system = kn.load("examples/pendulum.yaml")
    with pytest.raises(kn.ArgumentError, match="state: a State is expected, not 3"):
        kn.circuit(system).evaluate(3)
    run = kn.simulate(system, 0.1)
    for t in (9.0, -1.0, float("nan")):
        with pytest.raises(kn.ArgumentError, match=r"is not in the run, 0 to 0\.1 s"):
            run.circuit.at(t)
    with pytest.raises(kn.ArgumentError, match="a time in seconds is expected, not 'end'"):
        run.circuit.at("end")
    alone = kn.System("alone")
    alone.body("stone", mass=1, inertia=(1, 1, 1))
    with pytest.raises(kn.ModelError, match="stone: is not joined to anything"):
        kn.circuit(alone)
