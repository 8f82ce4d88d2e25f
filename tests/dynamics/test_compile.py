"""A compiled system as its callers see it: what it refuses, and in which words; copies and other processes."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import kinode as kn


@pytest.fixture(scope="module")
def arm():
    system = kn.System("arm")
    upper = system.body("upper", mass=2.0, com=(0.3, 0, 0), inertia=(0.1, 0.2, 0.25))
    lower = system.body("lower", mass=1.0, com=(0.2, 0, 0), inertia=(0.1, 0.1, 0.1))
    hand = system.body("hand", mass=0.5, com=(0.1, 0, 0), inertia=(0.01, 0.01, 0.01))
    system.revolute("shoulder", system.world, upper, axis="y")
    system.revolute("elbow", upper.at(0.6, 0, 0), lower, axis="y")
    system.fixed("wrist", lower.at(0.4, 0, 0), hand)
    return kn.compile(system)


Q, U = np.array([0.3, -0.5]), np.array([1.0, 2.0])


def test_reactions_on_a_body_are_those_of_its_joints(arm):
    usual, on = arm.reactions(0.0, Q, U), arm.reactions(0.0, Q, U, on="lower")
    assert list(on) == ["elbow", "wrist"]
    np.testing.assert_allclose(on["elbow"].force, usual["elbow"].force, rtol=1e-12, atol=1e-12)  # code of its own
    np.testing.assert_allclose(on["wrist"].force, -usual["wrist"].force, rtol=1e-12, atol=1e-12)
    assert {w.on for w in on.values()} == {"lower"}
    assert list(arm.reactions(0.0, Q, U, on="world")) == ["shoulder"]
    assert list(arm.reactions(0.0, Q, U, joints="elbow")) == ["elbow"]


@pytest.mark.parametrize(("call", "words"), [
    (lambda d: d.reactions(0.0, Q, U, on="lwer"), "on: no body is called 'lwer'; did you mean lower"),
    (lambda d: d.reactions(0.0, Q, U, on="hand", joints=["elbow"]), "on: elbow joins upper and lower, not hand"),
    (lambda d: d.reactions(0.0, Q, U, u_dot=[1.0]), r"u_dot: shape \(2,\)"),
    (lambda d: d.reactions(0.0, Q, U, joints=["elbo"]), "no joint is called 'elbo'; did you mean elbow"),
    (lambda d: d.acceleration(0.0, Q, U, wrenches={"hand": (0.0, 0.0, 9.81)}), r"hand takes \(force, moment\)"),
    (lambda d: d.acceleration(0.0, Q, U, wrenches=5), "wrenches: {body: "),
    (lambda d: d.state(5), "state: values by name are expected"),
    (lambda d: kn.compile("arm.yaml"), "compile: a System is expected, not 'arm.yaml'; kn.load"),
    (lambda d: kn.compile(d.system, "lagrange"), "'recursive' and 'circuit', not 'lagrange'"),
])  # fmt: skip
def test_wrong_arguments(arm, call, words):
    with pytest.raises(kn.ArgumentError, match=words):
        call(arm)


@pytest.mark.parametrize("again", [copy.deepcopy, lambda d: pickle.loads(pickle.dumps(d))])
def test_copies_compile_for_themselves(arm, again):
    other = again(arm)
    np.testing.assert_array_equal(other.acceleration(0.0, Q, U), arm.acceleration(0.0, Q, U))
    assert repr(other) == "<Dynamics of 'arm': 2 q, 2 u, 0 z>"
