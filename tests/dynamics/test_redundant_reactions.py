"""Which reactions follow from the motion; the others shared by a rule that does not depend on which joints were cut.

Tolerance 1e-9: forces are of the size of 10 N and found by solving systems of condition 1e4 at the most.
"""

import numpy as np
import pytest
from dense_bodies import NewtonEuler

import kinode as kn
import loop_models as models
from kinode.dynamics.reactions.redundancy import analyze
from kinode.dynamics.state_batch import StateBatch
from kinode.formulations.reaction_uniqueness import JointConstants, characteristic_length
from kinode.kernels.kernel_options import LoadOptions
from kinode.multibody.snapshot import Snapshot
from kinode.report.run_report import compose
from kinode.structure.state_layout import EvaluationPoint

PARTS_BY_J1 = {"total": None, "static": "j1", "kinetic": "j1"}
IN_PLANE = [True, True, False, False, False, True]  # of a hinge about z: the moment about it is none


def geared():
    """A parallelogram whose uprights are geared to each other, as they would turn anyway."""
    system = models.parallelogram(False)
    system.constraint("gear", "gear", input="g2", output="g0", ratio=1.0)
    return system


MECHANISMS = {
    "planar four-bar in space": lambda: models.four_bar(offset=0.1),
    "four-bar with one ball": lambda: models.four_bar(second="spherical", offset=0.1),
    "ball and cylinder": lambda: models.four_bar("spherical", "cylindrical", offset=0.1),
    "parallelogram": lambda: models.parallelogram(False),
    "parallelogram with an extra bar": lambda: models.parallelogram(True),
    "beam fixed twice": lambda: models.beam("fixed", "fixed"),
    "four-bars in a singular position": lambda: models.four_bars(2, angle=-np.pi / 2),
    "geared parallelogram": geared,
    "Bennett": models.bennett,
    "Bricard": models.bricard,
    "tree": models.arm,
}


def slotted():
    """A four-bar whose coupler is held across the plane once more, by a point on a plane."""
    system = models.four_bar(offset=0.1)
    system.constraint("slot", "point_on_plane", point=system["b"].at(0.3, 0, 0), plane=system.world)
    system.constraint("upright", "angle", a=system.world, b=system["c"], axes=("z", "x"), angle="90 deg")
    return system


MECHANISMS["four-bar in a slot"] = slotted


def study(system):
    dynamics = kn.Dynamics(system)
    return dynamics, analyze(dynamics, dynamics.initial)


def compiled(dynamics):
    """All that holds, as it comes from the independent rows."""
    start = dynamics.initial
    values = StateBatch.of(dynamics.point(start)).call(dynamics, "holding", LoadOptions("total"))
    ends = np.cumsum(list(dynamics.topology.holding.values()))[:-1]
    return dict(zip(dynamics.topology.holding, np.split(values, ends), strict=True))


def reactions_of(dynamics):
    """Six components of every joint, as users get them."""
    start = dynamics.initial
    found = dynamics.reactions(start.t, start.q, start.u)
    return {name: np.concatenate([wrench.force, wrench.moment]) for name, wrench in found.items()}


def near(one, two):
    for name in one:
        assert one[name] == pytest.approx(two[name], abs=1e-9), name


@pytest.mark.parametrize("name", MECHANISMS)
def test_bodies_and_their_constraints_say_the_same(name):
    """The null space of the equilibrium matrix against that of the constraints in absolute coordinates."""
    dynamics, found = study(MECHANISMS[name]())
    start = dynamics.initial
    bodies = NewtonEuler(Snapshot(dynamics.topology, EvaluationPoint(start.t, start.q, start.u, start.z)))
    assert found.redundancy == bodies.redundancy
    for joint in dynamics.system.joints:
        moment, force = np.split(bodies.is_unique(joint), 2)
        assert found.unique[joint].tolist() == [*force, *moment], joint
    for origin, flags in found.unique_multipliers.items():
        own = {f"{name}.effort": f"{name}.drive" for name in dynamics.system.joints}
        own.update({f"{name}.effort": f"{name}.gear" for name in dynamics.topology.couplings})
        assert flags.tolist() == bodies.unique_multipliers(own.get(origin, origin)).tolist()


@pytest.mark.parametrize("name", [name for name in MECHANISMS if name != "tree"])
def test_stresses_are_as_many_as_dependent_rows(name):
    """Of the constraints on the coordinates of the tree, which know nothing of balances."""
    dynamics, found = study(MECHANISMS[name]())
    start = dynamics.initial
    _, G, _ = dynamics.loops.evaluate(dynamics.point(start))
    assert found.redundancy == len(G) - np.linalg.matrix_rank(G, tol=1e-8)


@pytest.mark.parametrize("name", [n for n in MECHANISMS if "singular" not in n])
def test_reactions_of_least_norm_are_those_of_absolute_coordinates(name):
    dynamics, found = study(MECHANISMS[name]())
    start = dynamics.initial
    bodies = NewtonEuler(Snapshot(dynamics.topology, EvaluationPoint(start.t, start.q, start.u, start.z)))
    near(reactions_of(dynamics), {joint: np.concatenate(bodies.reaction(joint)[::-1]) for joint in found.directions})


def test_planar_four_bar_in_space():
    """Three redundant constraints: what is in the plane is unique, what is across it is not."""
    _, found = study(models.four_bar())
    assert found.redundancy == 3
    assert all(found.unique[joint].tolist() == IN_PLANE for joint in ("j1", "j2", "j3", "j4"))
    assert found.null_space.T @ found.null_space == pytest.approx(np.eye(3), abs=1e-12)


def test_ball_and_cylinder_remove_the_redundancy():
    _, found = study(models.four_bar("spherical", "cylindrical"))
    assert found.redundancy == 0
    assert all(unique.all() for unique in found.unique.values())


def test_extra_bar_makes_forces_along_the_uprights_a_matter_of_fit():
    _, one = study(models.parallelogram(False))
    _, two = study(models.parallelogram(True))
    assert (one.redundancy, two.redundancy) == (3, 7)  # three across the plane for each loop, one in it
    assert one.unique["top0"][:2].all()
    # in the axes of the left upright: the force along it is not unique, the force across it is
    assert two.unique["top0"].tolist() == [True, False, False, False, False, True]


def test_supported_beam_is_determinate():
    dynamics, found = study(models.beam("revolute"))
    assert found.redundancy == 0
    assert all(unique.all() for unique in found.unique.values())
    left, right = (reactions_of(dynamics)[name][:3] for name in ("left", "right"))
    assert left == pytest.approx([0, 10, 0], abs=1e-9)
    assert right == pytest.approx([0, 10, 0], abs=1e-9)


def test_beam_fixed_twice_shares_its_weight():
    dynamics, found = study(models.beam("fixed", "fixed"))
    assert found.redundancy == 6
    assert found.unique["slide"].all()
    assert not found.unique["left"].any()
    even = reactions_of(dynamics)
    for name in ("left", "right"):
        assert even[name] == pytest.approx([0, 10, 0, 0, 0, 0], abs=1e-9)
    assert even["slide"][:3] == pytest.approx([0, 71 - 1, 0], abs=1e-9)


def test_compliances_share_in_proportion():
    """Compliant in force alone, the left support three times as stiff: it takes three quarters of the weight."""
    system = models.beam("fixed", "fixed")
    system.change("left", compliance={"force": "1 mm/N"})
    system.change("right", compliance={"force": [3e-3, 3e-3, "3 um/mN"]})
    dynamics = kn.Dynamics(system)
    shared = reactions_of(dynamics)
    # the moments cost nothing, and are equal by least norm: about the left end M_l + M_r + 5 N * 1 m = 20 N * 0.5 m
    assert shared["left"] == pytest.approx([0, 15, 0, 0, 0, 2.5], abs=1e-9)
    assert shared["right"] == pytest.approx([0, 5, 0, 0, 0, 2.5], abs=1e-9)
    start = dynamics.initial
    assert dynamics.reactions(start.t, start.q, start.u)["left"].shared == "least norm"  # of the moments


def test_compliances_make_the_energy_least():
    """No stress that balances itself lowers the complementary energy; it is that of one number for each joint."""
    compliance = {"j1": 1.0, "j2": 4.0, "j3": 0.5, "j4": 2.0}
    dynamics, found = study(compliant(compliance))
    shared = reactions_of(dynamics)
    gradient = np.zeros(found.redundancy)
    for name, x in shared.items():
        gradient += compliance[name] * found.stresses(name).T @ (x / np.repeat([1, found.length], 3))
    assert gradient == pytest.approx(0.0, abs=1e-9)
    least = reactions_of(kn.Dynamics(models.four_bar(offset=0.1)))
    assert abs(least["j1"][2] - shared["j1"][2]) > 1e-3
    assert least["j1"][:2] == pytest.approx(shared["j1"][:2], abs=1e-9)
    assert all(found.elastic.values())


def compliant(each):
    """A four-bar, one number for each joint: for forces, and divided by length^2 for moments."""
    system = models.four_bar(offset=0.1)
    length = characteristic_length(system)
    for name, c in each.items():
        system.change(name, compliance={"force": c, "moment": c / length**2})
    return system


def test_a_scale_of_all_compliances_changes_nothing():
    all_soft = kn.Dynamics(compliant(dict.fromkeys(("j1", "j2", "j3", "j4"), 1e-7)))
    near(reactions_of(all_soft), reactions_of(kn.Dynamics(models.four_bar(offset=0.1))))


def test_which_joints_are_cut_does_not_matter():
    one = kn.Dynamics(models.four_bar(offset=0.1))
    two = kn.Dynamics(models.four_bar(offset=0.1, order=("j4", "j3", "j1", "j2")))
    assert one.topology.cuts[0].joint.name != two.topology.cuts[0].joint.name
    given = [compiled(dynamics) for dynamics in (one, two)]
    assert abs(given[0]["j1"] - given[1]["j1"]).max() > 1e-3  # as they come, they depend on the cut
    near(reactions_of(one), reactions_of(two))


def test_drives_against_each_other():
    """Two drives in one freedom: their efforts, and the forces between them, follow from nothing."""
    free = kn.Dynamics(models.four_bar("spherical", "cylindrical"))
    there = free.initial.q[free.topology.q_of["j4"]][0]
    _, one = study(models.four_bar("spherical", "cylindrical", drives={"j1": 0.9}))
    assert one.redundancy == 0
    assert one.unique_multipliers == {"j1.effort": [True]}
    _, two = study(models.four_bar("spherical", "cylindrical", drives={"j1": 0.9, "j4": float(there)}))
    assert two.redundancy == 1
    assert two.unique_multipliers == {"j1.effort": [False], "j4.effort": [False]}
    assert not two.unique["j2"][:2].any()


def test_gear_that_says_what_the_loop_says():
    """Its effort follows from nothing; given, it is shared with the reactions, and all still balance."""
    dynamics, found = study(geared())
    assert found.redundancy == 4
    assert found.unique_multipliers == {"g2.effort": [False]}
    given = {**compiled(dynamics), "g2.effort": [100.0]}
    change = {name: value - given[name] for name, value in found.share(given).items()}
    # about the hinge of the right upright: the gear's moment and the force at its top, 1 m up, in its own axes
    start = dynamics.initial
    R = dynamics.pose("right", start.t, start.q)[0]
    bar = dynamics.pose("bar", start.t, start.q)[0]
    force = bar @ change["top2"][:3]  # by the bar on the upright
    assert change["g2.effort"][0] + np.cross(R @ [0, 1, 0], force)[2] == pytest.approx(0.0, abs=1e-9)
    assert abs(change["g2.effort"][0]) > 1.0


def test_what_is_refused():
    dynamics, found = study(models.beam("fixed", "fixed"))
    given = compiled(dynamics)
    with pytest.raises(kn.ArgumentError, match="the reaction of left is missing"):
        found.share({"slide": given["slide"]})
    with pytest.raises(kn.ArgumentError, match="nothing with a reaction is called 'lft'"):
        found.share({**given, "lft": 1.0})
    bad = {
        "a mapping with some of force, moment, axial": 1.0,
        "has no part 'radail'; did you mean radial": {"radail": 1.0},
        "either force and moment, or axial": {"force": 1.0, "tilt": 1.0},
        "must not be negative": {"axial": -1.0},
        "3 numbers are expected": {"force": [1.0, 2.0]},
        "must be finite": {"force": float("nan")},
    }
    for message, value in bad.items():
        with pytest.raises(kn.ModelError, match=message):
            dynamics.system.change("slide", compliance=value)
    with pytest.raises(kn.ModelError, match="has no part 'axial'"):
        dynamics.system.change("left", compliance={"axial": 1.0})
    with pytest.raises(kn.UnitError, match=r"m/N"):
        dynamics.system.change("slide", compliance={"axial": "5 N/m"})


def test_a_run_is_analyzed_without_singular_values(monkeypatch):
    """Whatever is asked of it: mesh analysis decides every state, and the parts still add up."""
    seen = []
    analyze_one = JointConstants.analyze
    monkeypatch.setattr(JointConstants, "analyze", lambda self, *given: seen.append(1) or analyze_one(self, *given))
    run = kn.simulate(slotted(), 0.1, samples=4)
    parts = {part: run.reaction("j2", part, hold=hold) for part, hold in PARTS_BY_J1.items()}
    assert abs(parts["static"].force + parts["kinetic"].force - parts["total"].force).max() < 1e-9
    run["slot.reaction"], run["j3.reaction.moment"]
    run.causes("j2", by="body", hold="j1")
    compose(run, verify=False)
    assert not seen


def test_loads_of_unit_multipliers_in_compiled_code_are_those_of_the_constraints():
    """Against the virtual power of each constraint, body by body, in plain numbers."""
    dynamics = kn.Dynamics(slotted())
    start, bodies = dynamics.initial, list(dynamics.system.bodies)
    s = Snapshot(
        dynamics.topology, EvaluationPoint(start.t, start.q, start.u, start.z, dynamics.parameters, dynamics.inputs)
    )
    found = StateBatch.of(dynamics.point(start)).call(dynamics, "unit_loads").reshape(6 * len(bodies), 2)
    expected = np.zeros_like(found)
    for j, name in enumerate(("slot", "upright")):
        (constraint,) = (constraint for constraint in s.constraints.loop_constraints if constraint.name == name)
        for load in s.constraints.loads_of(constraint, [1.0]):
            if load.on.body in bodies:
                k = 6 * bodies.index(load.on.body)
                arm = np.asarray(s.pose(load.on).p - s.pose(dynamics.system.find_frame(load.on.body)).p, dtype=float)
                expected[k : k + 3, j] += load.moment + np.cross(arm, np.asarray(load.force, dtype=float))
                expected[k + 3 : k + 6, j] += load.force
    assert abs(expected).max() > 0.5 and abs(found - expected).max() < 1e-12
