"""A compiled system as its callers see it: what it refuses, and in which words; copies and other processes."""

from __future__ import annotations

import copy
import gc
import importlib
import io
import pickle
import sys
import threading
import weakref

import numpy as np
import pytest
from own_process import in_own_process

import kinode as kn
from kinode.dynamics.compile import find_compiled
from kinode.jit.tiers import waiting_words

compiling = importlib.import_module("kinode.dynamics.compile")


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
    (lambda d: kn.compile(d.system, "lagrang"), "not 'lagrang'; did you mean lagrange"),
])  # fmt: skip
def test_wrong_arguments(arm, call, words):
    with pytest.raises(kn.ArgumentError, match=words):
        call(arm)


@pytest.mark.parametrize("again", [copy.deepcopy, lambda d: pickle.loads(pickle.dumps(d))])
def test_copies_compile_for_themselves(arm, again):
    other = again(arm)
    np.testing.assert_array_equal(other.acceleration(0.0, Q, U), arm.acceleration(0.0, Q, U))
    assert repr(other) == "<Dynamics of 'arm': 2 q, 2 u, 0 z>"


# -- compiled once -----------------------------------------------------------------------------------
def swing() -> kn.System:
    system = kn.System("swing", gravity=(0, -9.81, 0))
    length = system.parameter("length", 1.0)
    system.table("bump", axes=(0, 1, 2), values=(0, 1, 0), outside="hold")
    system.signal("push", "bump(t)")
    bob = system.body("bob", mass=1.0, com=(0, -length, 0), inertia=(0.1, 0.1, 0.1))
    system.revolute("pivot", system.world, bob, q=0.1, effort="push")
    return system


def test_a_task_takes_the_machine_code_of_the_task_before():
    system = swing()
    first = kn.simulate(system, 0.1)
    assert kn.simulate(system, 0.1).dynamics is first.dynamics
    assert find_compiled(system) is first.dynamics
    assert kn.compile(system) is not first.dynamics
    assert kn.simulate(system.copy(), 0.1).dynamics is not first.dynamics


CHANGES = {
    "parameter": lambda system: system.change("length", value=2.0),
    "body": lambda system: system.change("bob", mass=2.0, inertia=(0.3, 0.3, 0.3)),
    "joint": lambda system: system.change("pivot", q=0.3),
    "signal": lambda system: system.change("push", law="2*bump(t)"),
    "table": lambda system: system.change("bump", values=(0, 5, 0)),
    "gravity": lambda system: setattr(system, "gravity", (0, -1.62, 0)),
    "element": lambda system: system.force("wind", system["bob"].at(0, -1, 0), force=(1, 0, 0)),
    "whole": lambda system: system.take_over(heavy_swing()),
}


def heavy_swing() -> kn.System:
    system = swing()
    system.change("bob", mass=3.0, inertia=(0.5, 0.5, 0.5))
    return system


@pytest.mark.parametrize("change", CHANGES)
def test_what_was_changed_is_compiled_anew(change):
    system = swing()
    before = kn.simulate(system, 0.5, samples=3)["pivot.q"]
    CHANGES[change](system)
    after = kn.simulate(system, 0.5, samples=3)["pivot.q"]
    np.testing.assert_array_equal(after, kn.simulate(system.copy(), 0.5, samples=3)["pivot.q"])
    assert abs(after - before).max() > 1e-4


def test_the_name_of_a_place_and_notes_count():
    system = swing()
    first = kn.simulate(system, 0.1).dynamics
    system.world.at(1, 0, 0, name="corner")
    second = kn.simulate(system, 0.1).dynamics
    assert second is not first
    assert second.pose("world.corner", 0, [0.1])[1].tolist() == [1, 0, 0]
    system.notes.append("seen")
    assert kn.simulate(system, 0.1).system.notes == ["seen"]


def test_a_run_does_not_change_the_next():
    """A user changes what a run lent: the model of the run, and its initial state."""
    system = swing()
    run = kn.simulate(system, 0.5, samples=3)
    run.dynamics.initial.q[0] = 1.0
    run.system.change("pivot", q=0.9)
    np.testing.assert_array_equal(kn.simulate(system, 0.5, samples=3)["pivot.q"], run["pivot.q"])


@in_own_process
def test_compiled_systems_are_not_kept_for_ever():
    for method in ("dopri5", "auto", "stiff"):
        system = swing()
        alive = weakref.ref(kn.simulate(system, 0.01, method=method).dynamics)
        assert alive() is not None
        del system
        gc.collect()
        assert alive() is None, method


def test_a_terminal_is_told_of_a_long_start(monkeypatch):
    """Tracing and closing loops may take long too, before any kernel is compiled."""

    class Terminal(io.StringIO):
        def isatty(self):
            return True

        def flush(self):
            told.set()

    class Slow(kn.Dynamics):
        def __init__(self, system, formulation):
            told.wait(60.0)
            super().__init__(system, formulation)

    told = threading.Event()
    monkeypatch.setattr(waiting_words, "MOMENT", 0.01)
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(compiling, "Dynamics", Slow)
    kn.compile(kn.load("examples/pendulum.yaml"))
    assert sys.stderr.getvalue().startswith("kinode: compiling pendulum\n")
