"""The front of an instant has all that components may ask of a scene."""

from itertools import pairwise

import numpy as np
import pytest

import kinode as kn
from kinode.model.base import scene
from kinode.multibody.snapshot import Snapshot
from kinode.structure.state_layout import EvaluationPoint
from kinode.structure.topology import find_topology

LEVELS = (
    scene.LawScene,
    scene.PositionScene,
    scene.VelocityScene,
    scene.AccelerationScene,
    scene.LockScene,
    scene.Scene,
)


def members(level):
    """Names that a level declares, with those of the levels below it."""
    return {name for base in level.__mro__[:-1] for name in vars(base) if not name.startswith("_")}


@pytest.fixture(scope="module")
def snapshot():
    system = kn.System("pendulum")
    system.revolute("pivot", system.world, system.body("bob", mass=1.0, com=(0, 0, -1)), axis="y")
    return Snapshot(find_topology(system), EvaluationPoint(0.0, np.array([0.3]), np.array([0.1])))


@pytest.mark.parametrize("level", LEVELS, ids=lambda level: level.__name__)
def test_a_snapshot_answers_for_every_member(level, snapshot):
    assert {name for name in members(level) if not hasattr(snapshot, name)} == set()


def test_each_level_adds_to_the_one_below():
    for low, high in pairwise(LEVELS):
        assert members(low) < members(high)
