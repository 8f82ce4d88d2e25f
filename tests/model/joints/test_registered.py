"""A joint that is registered from outside is as good as one of the nine: its own numbers may be parameters."""

from unittest.mock import patch

import numpy as np
import pytest

import kinode as kn
from kinode.kernels.compiled_kernels import find_fingerprint
from kinode.model.joints.joint import JOINTS
from kinode.structure.topology import find_topology


@pytest.fixture(autouse=True)
def registered():
    """A slide along x whose child is held ``position`` above it: a name that a free joint has for its start."""
    with patch.dict(JOINTS):

        @kn.register("stilt")
        class Stilt(kn.Joint):
            """b travels along x at a height."""

            coordinates = (("travel", "length"),)
            n_q = 1
            position: float = kn.fields.number("length", "height of b above a")

            def form(self, resolve):
                return np.array([resolve(self.position)], dtype=object)

            def transform(self, q, form):
                return kn.Pose(np.eye(3), np.array([q[0], 0.0, form[0]], dtype=object))

            def motion_subspace(self, q, form):
                return np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0])[:, None]

        yield


def walker(height):
    """A stilt at the end of a hinge about y; its height is the arm of its weight."""
    system = kn.System("walker")
    system.parameter("h", height)
    arm, foot = (system.body(name, mass=1.0, inertia=(0.1, 0.1, 0.1)) for name in ("arm", "foot"))
    system.revolute("hinge", system.world, arm, axis="y")
    system.joint("stilt", "stilt", arm, foot, position="h")
    return system


def test_its_own_numbers_may_be_parameters():
    q, u = np.array([0.3, 0.2]), np.array([1.0, -0.5])
    dynamics, higher = kn.compile(walker(0.4)), kn.compile(walker(0.9))
    changed = dynamics.acceleration(0.0, q, u, p={"h": 0.9})
    assert changed == pytest.approx(higher.acceleration(0.0, q, u), rel=1e-13)
    assert changed != pytest.approx(dynamics.acceleration(0.0, q, u), rel=1e-3)


def test_its_own_numbers_tell_its_code_from_other_code():
    systems = walker(0.4), walker(0.4), walker(0.4)
    systems[1].change("stilt", position=0.9)
    systems[2].change("stilt", q=0.1)
    one, other, elsewhere = (find_fingerprint(find_topology(system)) for system in systems)
    assert one != other
    assert one == elsewhere, "where it starts is no part of the code"
