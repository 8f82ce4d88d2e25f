"""Freedoms, counts, redundant constraints by name, and passes near singular positions."""

import numpy as np
import pytest

import kinode as kn
import loop_models as models

# count in space, in the plane, true freedoms, redundant constraints
KNOWN = {
    "four-bar": (models.four_bar, -2, 1, 1, 3),
    "ball and cylinder": (lambda: models.four_bar("spherical", "cylindrical"), 1, None, 1, 0),
    "one ball": (lambda: models.four_bar("spherical"), 0, None, 1, 1),
    "extra bar": (lambda: models.parallelogram(True), -6, 0, 1, 7),
    "Bennett": (models.bennett, -2, None, 1, 3),
    "Bricard": (models.bricard, 0, None, 1, 1),
    "beam fixed twice": (lambda: models.beam("fixed", "fixed"), -5, -2, 1, 6),
    "beam on a shoe": (lambda: models.beam("revolute"), 1, None, 1, 0),
    "tree": (models.arm, 4, None, 4, 0),
}


@pytest.mark.parametrize("name", KNOWN)
def test_counts(name):
    make, spatial, planar, freedoms, redundant = KNOWN[name]
    found = kn.mobility(make())
    assert (found.spatial, found.planar, found.freedoms, found.redundant) == (spatial, planar, freedoms, redundant)
    assert found.freedoms == found.spatial + found.redundant
    assert not found.singular


def test_redundant_directions_by_name():
    found = kn.mobility(models.four_bar())
    (group,) = found.redundancies
    assert group.count == 3
    assert group.carried == dict.fromkeys(("j1", "j2", "j4", "j3"), ("force z", "moment x", "moment y"))
    lines = str(found).splitlines()
    assert lines[0] == "four_bar: 3 bodies, 4 joints, 1 loop"
    assert [line.split() for line in lines[1:5]] == [
        ["degrees", "of", "freedom", "1"],
        ["counted", "in", "space", "-2"],
        ["counted", "in", "the", "plane", "1"],
        ["redundant", "constraints", "3"],
    ]
    assert "  j4  force along z; moment about x, y" in lines


def test_loops_apart_are_told_apart():
    """Two four-bars on one ground share no stress."""
    system = models.parallelogram(False)
    up = {"mass": 1, "com": (0, 0.5, 0), "inertia": (0.08, 0.01, 0.08)}
    left, right, bar = (system.body(name, **up) for name in ("left_", "right_", "bar_"))
    system.revolute("h0", system.world.at(5, 0, 0), left, q=0.3)
    system.revolute("h2", system.world.at(7, 0, 0), right, guess=0.3)
    system.revolute("k0", left.at(0, 1, 0), bar, guess=-0.3)
    system.spherical("k2", bar.at(2, 0, 0), right.at(0, 1, 0))
    found = kn.mobility(system)
    assert [(group.count, set(group.carried)) for group in found.redundancies] == [
        (3, {"g0", "g2", "top0", "top2"}),
        (1, {"h0", "h2", "k0", "k2"}),
    ]


def test_drives_against_each_other_carry_stress():
    free = kn.Dynamics(models.four_bar("spherical", "cylindrical"))
    there = float(free.initial.q[free.topology.q_of["j4"]][0])
    found = kn.mobility(models.four_bar("spherical", "cylindrical", drives={"j1": 0.9, "j4": there}))
    assert (found.driven, found.spatial, found.freedoms, found.redundant) == (2, -1, 0, 1)
    assert found.redundancies[0].carried["j4.effort"] == ("multiplier",)
    assert "j4.effort  its own force" in str(found)


@pytest.mark.parametrize("count", [2, 5])
def test_singular_start_is_said(count):
    """All rods in one line: the freedom is count + 1; the redundant directions are those of positions near it."""
    found = kn.mobility(models.four_bars(count, angle=-np.pi / 2))
    assert found.singular
    assert (found.freedoms, found.freedoms_at_start, found.redundant) == (1, count + 1, 3 * count)
    assert f"it has {count + 1} freedoms, positions near it 1" in str(found)
    upright = kn.mobility(models.four_bars(count))
    assert not upright.singular
    assert upright.redundancies == found.redundancies


def test_drives_are_counted():
    found = kn.mobility(models.arm())
    assert (found.driven, found.freedoms) == (1, 4)
    assert "driven freedoms" in str(found)


def test_a_compiled_system_will_do():
    assert kn.mobility(kn.Dynamics(models.four_bar())) == kn.mobility(models.four_bar())
