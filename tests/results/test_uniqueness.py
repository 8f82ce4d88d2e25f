"""Which reactions follow from the motion; the others shared by a rule that does not depend on which joints were cut.

Tolerance 1e-9: forces are of the size of 10 N and found by solving systems of condition 1e4 at the most.
"""

import loop_models as models
import numpy as np
import pytest

from kinode.codegen.dynamics import Dynamics
from kinode.errors import ArgumentError
from kinode.formulations.newton_euler import NewtonEuler
from kinode.formulations.snapshot import Snapshot
from kinode.results.uniqueness import analyze, analyze_all

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


def study(system):
    dynamics = Dynamics(system)
    return dynamics, analyze(dynamics, dynamics.initial)


def reactions_of(dynamics):
    start = dynamics.initial
    return dynamics.reactions(start.t, start.q, start.u)


def near(one, two):
    for name in one:
        for a, b in zip(one[name], two[name], strict=True):
            assert a == pytest.approx(b, abs=1e-9), name


@pytest.mark.parametrize("name", MECHANISMS)
def test_bodies_and_their_constraints_say_the_same(name):
    """The null space of the equilibrium matrix against that of the constraints in absolute coordinates."""
    dynamics, found = study(MECHANISMS[name]())
    start = dynamics.initial
    bodies = NewtonEuler(Snapshot(dynamics.topology, start.t, start.q, start.u, start.z))
    assert found.redundancy == bodies.redundancy
    for joint in dynamics.system.joints:
        moment, force = np.split(bodies.is_unique(joint), 2)
        assert found.unique[joint].tolist() == [*force, *moment], joint


@pytest.mark.parametrize("name", [name for name in MECHANISMS if name != "tree"])
def test_stresses_are_as_many_as_dependent_rows(name):
    """Of the constraints on the coordinates of the tree, which know nothing of balances."""
    dynamics, found = study(MECHANISMS[name]())
    start = dynamics.initial
    _, G, _ = dynamics.closer.evaluate(start.t, start.q, start.u, start.z, None, None)
    assert found.redundancy == len(G) - np.linalg.matrix_rank(G, tol=1e-8)


@pytest.mark.parametrize("name", [n for n in MECHANISMS if "singular" not in n and "geared" not in n])
def test_reactions_of_least_norm_are_those_of_absolute_coordinates(name):
    dynamics, found = study(MECHANISMS[name]())
    start = dynamics.initial
    bodies = NewtonEuler(Snapshot(dynamics.topology, start.t, start.q, start.u, start.z))
    least = found.minimum_norm(reactions_of(dynamics))
    near(least, {joint: bodies.reaction(joint)[::-1] for joint in dynamics.system.joints})


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
    left, right = (reactions_of(dynamics)[name].force for name in ("left", "right"))
    assert left == pytest.approx([0, 10, 0], abs=1e-9)
    assert right == pytest.approx([0, 10, 0], abs=1e-9)


def test_beam_fixed_twice_shares_its_weight():
    dynamics, found = study(models.beam("fixed", "fixed"))
    given = reactions_of(dynamics)
    assert found.redundancy == 6
    assert found.unique["slide"].all()
    assert not found.unique["left"].any()
    even = found.minimum_norm(given)
    for name in ("left", "right"):
        assert even[name][0] == pytest.approx([0, 10, 0], abs=1e-9)
        assert even[name][1] == pytest.approx([0, 0, 0], abs=1e-9)
    assert even["slide"][0] == pytest.approx([0, 71 - 1, 0], abs=1e-9)


def test_compliances_share_in_proportion():
    """Compliant in force alone, the left support three times as stiff: it takes three quarters of the weight."""
    dynamics, found = study(models.beam("fixed", "fixed"))
    given = reactions_of(dynamics)
    soft = [1e-3, 1e-3, 1e-3, 0, 0, 0]
    shared = found.minimum_norm(given, compliance={"left": soft, "right": 3 * np.array(soft)})
    assert shared["left"][0] == pytest.approx([0, 15, 0], abs=1e-9)
    assert shared["right"][0] == pytest.approx([0, 5, 0], abs=1e-9)
    # the moments cost nothing, and are equal by least norm: about the left end M_l + M_r + 5 N * 1 m = 20 N * 0.5 m
    assert shared["left"][1] == pytest.approx([0, 0, 2.5], abs=1e-9)
    assert shared["right"][1] == pytest.approx([0, 0, 2.5], abs=1e-9)


def test_compliances_make_the_energy_least():
    """No stress that balances itself lowers the complementary energy; it is that of one number for each joint."""
    dynamics, found = study(models.four_bar(offset=0.1))
    compliance = {"j1": 1.0, "j2": 4.0, "j3": 0.5, "j4": 2.0}
    shared = found.minimum_norm(reactions_of(dynamics), compliance=compliance)
    gradient = np.zeros(found.redundancy)
    for name, (force, moment) in shared.items():
        gradient += compliance[name] * found.stresses(name).T @ np.concatenate([force, moment / found.length])
    assert gradient == pytest.approx(0.0, abs=1e-9)
    least = found.minimum_norm(reactions_of(dynamics))
    assert abs(least["j1"][0][2] - shared["j1"][0][2]) > 1e-3
    assert least["j1"][0][:2] == pytest.approx(shared["j1"][0][:2], abs=1e-9)


def test_a_scale_of_all_compliances_changes_nothing():
    dynamics, found = study(models.four_bar(offset=0.1))
    given = reactions_of(dynamics)
    near(found.minimum_norm(given, compliance=dict.fromkeys(given, 1e-7)), found.minimum_norm(given))


def test_which_joints_are_cut_does_not_matter():
    one = Dynamics(models.four_bar(offset=0.1))
    two = Dynamics(models.four_bar(offset=0.1, order=("j4", "j3", "j1", "j2")))
    assert one.topology.cuts[0].joint.name != two.topology.cuts[0].joint.name
    given = [reactions_of(dynamics) for dynamics in (one, two)]
    assert abs(given[0]["j1"].moment - given[1]["j1"].moment).max() > 1e-3  # as they come, they depend on the cut
    near(*(analyze(d, d.initial).minimum_norm(r) for d, r in zip((one, two), given, strict=True)))


def test_drives_against_each_other():
    """Two drives in one freedom: their efforts, and the forces between them, follow from nothing."""
    free = Dynamics(models.four_bar("spherical", "cylindrical"))
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
    given = {**reactions_of(dynamics), "g2.effort": [100.0]}
    shared = found.minimum_norm(given)
    change = {name: shared[name] - np.asarray(given[name]) for name in ("g2.effort",)}
    for name in dynamics.system.joints:
        change[name] = np.concatenate([shared[name][0] - given[name].force, shared[name][1] - given[name].moment])
    # about the hinge of the right upright: the gear's moment and the force at its top, 1 m up, in its own axes
    start = dynamics.initial
    R = dynamics.pose("right", start.t, start.q)[0]
    bar = dynamics.pose("bar", start.t, start.q)[0]
    force = bar @ change["top2"][:3]  # by the bar on the upright
    assert change["g2.effort"][0] + np.cross(R @ [0, 1, 0], force)[2] == pytest.approx(0.0, abs=1e-9)
    assert abs(change["g2.effort"][0]) > 1.0


def test_many_states_at_once():
    dynamics, one = study(models.four_bar())
    rows = np.array([dynamics.initial.y] * 3)
    found = list(analyze_all(dynamics, np.zeros(3), rows))
    assert len(found) == 3
    assert abs(found[2].null_space) == pytest.approx(abs(one.null_space), abs=1e-12)


def test_what_is_refused():
    dynamics, found = study(models.beam("fixed", "fixed"))
    given = reactions_of(dynamics)
    with pytest.raises(ArgumentError, match="the reaction of left is missing"):
        found.minimum_norm({"slide": given["slide"]})
    with pytest.raises(ArgumentError, match="no joint is called 'lft'"):
        found.minimum_norm(given, compliance={"lft": 1.0})
    for bad in (-1.0, (1, 2), "soft", np.nan):
        with pytest.raises(ArgumentError, match="compliance of left: one number or six"):
            found.minimum_norm(given, compliance={"left": bad})
