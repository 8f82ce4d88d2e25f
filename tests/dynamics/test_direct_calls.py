"""Calls from Python: machine code takes them, whatever the method and the model; results are the callers' own."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from compiled_examples import compiled_example

import kinode as kn
from kinode.dynamics import mode_fitting
from kinode.dynamics.compiled_system import Dynamics
from kinode.dynamics.mode_fitting import Before, find_fit
from kinode.kernels.kernel_options import Kernel

MODELS = ("double_pendulum", "leg", "spatial_slider_crank", "ur5", "brake_arm", "backlash_axis")


def calls(dynamics):
    """Every call of a function by its name, of arguments after time, coordinates and speeds."""
    bodies, n = list(dynamics.system.bodies), dynamics.n_u
    joint, body, a = list(dynamics.system.joints)[-1], bodies[-1], np.linspace(0.1, 0.5, n)
    names = [f"{body}.position", f"{body}.rotation", "system.energy", f"{joint}.reaction.force"]
    at_rest = {} if dynamics.topology.constrained else {"reactions of motion": lambda *x: dynamics.reactions(*x, a)}
    return {
        "acceleration": dynamics.acceleration,
        "acceleration under efforts": lambda *x: dynamics.acceleration(*x, effort=a),
        "effort": lambda *x: dynamics.effort(*x, a),
        "bias": dynamics.bias,
        "energy": dynamics.energy,
        "mass matrix": lambda t, q, u: dynamics.mass_matrix(t, q),
        "pose": lambda t, q, u: dynamics.pose(body, t, q),
        "jacobian": lambda t, q, u: dynamics.jacobian(body, t, q),
        "jacobian rate": lambda *x: dynamics.jacobian_rate(body, *x),
        "one value": lambda *x: dynamics.evaluate("system.energy", *x),
        "values": lambda *x: dynamics.evaluate(names[:3], *x),
        "rate": lambda t, q, u: dynamics.rate(t, np.concatenate([q, u, dynamics.initial.z])),
        "derivatives": lambda *x: dynamics.derivatives(*x, by=("q", "u")).matrix,
        "derivatives of effort": lambda *x: dynamics.derivatives(*x, of="effort", u_dot=a).matrix,
        "gradient": lambda *x: dynamics.gradient(*x, of="system.energy", by=["q", "u"])["u"],
        "reactions": dynamics.reactions,
        "static reactions": lambda *x: dynamics.reactions(*x, joints=joint, about=body),
        **at_rest,
    }


def numbers(result):
    """All numbers of a result."""
    if isinstance(result, dict):
        return [x for value in result.values() for x in numbers(value)]
    if isinstance(result, tuple):
        return [x for value in result for x in numbers(value)]
    if isinstance(result, kn.Wrench):
        return [result.force, result.moment]
    return [np.asarray(result)]


def states(dynamics):
    """Two states: at rest, and moving."""
    q, u = dynamics.initial.q, dynamics.initial.u
    if dynamics.topology.constrained:
        return (0.0, q, u), (0.0, q, 2.0 * u)
    return (0.0, q, 0.0 * u), (0.2, q + 0.1, u + 0.3)


@pytest.mark.parametrize("name", MODELS)
def test_a_later_call_does_not_change_a_result(name):
    dynamics = compiled_example(name)
    first, second = states(dynamics)
    for what, function in calls(dynamics).items():
        for _ in range(2):
            function(*first)
        held = numbers(function(*first))
        before = [x.copy() for x in held]
        after = numbers(function(*second))
        for x, known, other in zip(held, before, after, strict=True):
            np.testing.assert_array_equal(x, known, err_msg=what)
            assert not np.shares_memory(x, other), what
            assert x.flags.writeable, what


@pytest.mark.parametrize("name", MODELS)
def test_machine_code_takes_the_call_and_gives_the_numbers_of_the_checked_way(name):
    """The checked way is that of arguments in lists."""
    dynamics = compiled_example(name)
    every, at = calls(dynamics), states(dynamics)
    checked = {what: [numbers(function(t, list(q), list(u))) for t, q, u in at] for what, function in every.items()
               if what != "rate"}  # fmt: skip
    every["rate"](*at[0])
    shared = {"reactions", "static reactions"} if name == "spatial_slider_crank" else set()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(dynamics), "read_point", None)
        for what in every.keys() - shared:
            for k, state in enumerate(at):
                direct = numbers(every[what](*state))
                for x, y in zip(direct, checked.get(what, [direct, direct])[k], strict=True):
                    assert x.shape == y.shape, what
                    np.testing.assert_array_equal(x, y, err_msg=what)


def test_other_states_parameters_and_inputs_go_straight_through_too(monkeypatch):
    dynamics = compiled_example("excavator")
    assert not dynamics.arguments.has_checked_numbers
    _, (t, q, u) = states(dynamics)
    named = {"z": dynamics.initial.z + 0.1, "inputs": dynamics.inputs, "p": 1.1 * dynamics.parameters}
    known, own = (dynamics.acceleration(t, list(q), list(u), **more) for more in (named, {}))
    monkeypatch.setattr(type(dynamics), "read_point", None)
    np.testing.assert_array_equal(dynamics.acceleration(t, q, u, **named), known)
    np.testing.assert_array_equal(dynamics.acceleration(t, q, u, z=None, p=None, inputs=None), own)
    assert not np.array_equal(own, known)


@pytest.mark.parametrize("name", ["leg", "ur5"])
def test_efforts_of_one_call_are_not_those_of_the_next(name, monkeypatch):
    """Whether the function was taken before the first of them or not."""
    dynamics = compiled_example(name)
    _, (t, q, u) = states(dynamics)
    early, a = dynamics.acceleration, np.linspace(0.1, 0.5, dynamics.n_u)
    own, known = (dynamics.acceleration(t, list(q), list(u), **more) for more in ({}, {"effort": a}))
    body = list(dynamics.system.bodies)[-1]
    pushed = dynamics.acceleration(t, q, u, effort=a, wrenches={body: ([1.0, 2.0, 3.0], [0.0, 0.0, 1.0])})
    for function in (early, dynamics.acceleration):
        np.testing.assert_array_equal(function(t, q, u, effort=a), known)
        for more in ({}, {"wrenches": None}, {"effort": None}, {"effort": None, "wrenches": None, "z": None}):
            np.testing.assert_array_equal(function(t, q, u, **more), own)
        np.testing.assert_array_equal(function(t, q, u, effort=list(a), wrenches=None), known)
        np.testing.assert_array_equal(function(t, list(q), u, effort=a), known)
        assert not np.array_equal(pushed, known)
        with pytest.raises(kn.ArgumentError, match="effort"):
            function(t, q, u, effort=a[:-1])
    monkeypatch.setattr(type(dynamics), "read_point", None)
    np.testing.assert_array_equal(early(t, q, u, effort=2.0 * a), dynamics.acceleration(t, q, u, effort=2.0 * a))
    np.testing.assert_array_equal(early(t, q, u, effort=a, wrenches=None), known)


def test_parameters_that_components_depend_on_are_checked():
    dynamics = compiled_example("backlash_axis")
    assert dynamics.arguments.has_checked_numbers
    _, (t, q, u) = states(dynamics)
    np.testing.assert_array_equal(dynamics.energy(t, q, u, p=dynamics.parameters), dynamics.energy(t, q, u))
    with pytest.raises(kn.ModelError, match="must not be negative"):
        dynamics.energy(t, q, u, p=-dynamics.parameters)


def test_wrong_modes_are_refused_there_too():
    dynamics = compiled_example("brake_arm")
    _, (t, q, u) = states(dynamics)
    wrong = dynamics.modes(t, q, u)
    at, (name, _) = next(iter(dynamics.topology.events.modes.items()))
    wrong[at] = 0.5
    for function in (dynamics.acceleration, dynamics.reactions, dynamics.energy):
        with pytest.raises(kn.ArgumentError, match=f"{name}: 0.5 is none of its modes"):
            function(t, q, u, z=wrong)


@pytest.mark.parametrize("name", ["ur5", "brake_arm", "backlash_axis"])
@pytest.mark.parametrize("kernel", ["acceleration", "effort"])
def test_python_fits_modes_by_the_same_loop(name, kernel):
    dynamics, rng = compiled_example(name), np.random.default_rng(3)
    n_x = dynamics.kernels.machine(Kernel(kernel)).sizes["x"]
    fit = find_fit(dynamics.kernels, Kernel(kernel), dynamics.initial.z, n_x)
    assert isinstance(fit, Before)
    z, x = fit.defaults["z"], np.zeros(n_x + 1)
    for scale in (0.0, 1e-3, 1.0):
        q = dynamics.initial.q + scale * rng.normal(size=dynamics.n_q)
        u = scale * rng.normal(size=dynamics.n_u)
        arrays = [np.array([0.1]), q, u, z, dynamics.parameters, dynamics.inputs, x]
        fit.pointers[:7] = [array.ctypes.data for array in arrays]
        found = []
        for loop in (fit.loop, mode_fitting.fit_call):
            assert loop(fit.record) == 0
            found.append(z.copy())
        np.testing.assert_array_equal(*found)


@pytest.fixture
def wrenches():
    dynamics = compiled_example("leg")
    state = dynamics.initial
    return lambda: dynamics.reactions(0.0, state.q, state.u), list(dynamics.system.joints)


USES = {
    "list": list,
    "length": len,
    "items": lambda w: [name for name, _ in w.items()],
    "values": lambda w: len(w.values()),
    "copy": lambda w: list(copy.copy(w)),
    "plain": lambda w: list(dict(w)),
    "pickle": lambda w: list(pickle.loads(pickle.dumps(w))),
    "unpacked": lambda w: list({**w}),
    "joined": lambda w: list(w | {}),
    "joined after": lambda w: list({} | w),
    "get": lambda w: w.get("no such joint", 3),
    "contains": lambda w: (next(iter(w)) in w, "no such joint" in w),
    "text": repr,
    "reversed": lambda w: list(reversed(w)),
    "equal": lambda w: (w == dict(w), dict(w) == w, w != dict(w), w == {}),
    "truth": bool,
    "pop": lambda w: (w.pop(next(iter(w))) is not None, len(w)),
}


@pytest.mark.parametrize("read", [0, 1])
@pytest.mark.parametrize("use", USES)
def test_wrenches_are_a_dictionary_in_every_use(wrenches, use, read):
    """Whether one was read before, or none."""
    make, joints = wrenches
    make()
    found = make()
    whole = {name: make()[name] for name in joints}
    for name in joints[-1:] * read:
        assert found[name] is found[name]
    assert isinstance(found, dict)
    assert USES[use](found) == USES[use](whole)
    with pytest.raises(KeyError, match="no such joint"):
        found["no such joint"]


def test_two_unread_dictionaries_of_wrenches_are_compared_when_filled(wrenches):
    make, joints = wrenches
    one, other = make(), make()
    assert one != other  # wrenches are equal to themselves alone
    assert list(one) == list(other) == joints
    del one[joints[0]]
    with pytest.raises(KeyError):
        one[joints[0]]


@pytest.mark.parametrize("name", ["pose", "jacobian", "jacobian_rate"])
def test_functions_of_frames_take_as_many_arguments_later_as_at_first(name):
    dynamics = compiled_example("double_pendulum")
    _, (t, q, u) = states(dynamics)
    function, own = getattr(dynamics, name), (q, u) if name == "jacobian_rate" else (q,)
    wrong = [((t, *own, u), {}), ((t, *own), {"u": u}), ((t,), {})] + [((t, q), {})] * (name == "jacobian_rate")
    for _ in range(2):
        for args, keywords in wrong:
            with pytest.raises(TypeError, match="argument"):
                function("lower", *args, **keywords)
        function("lower", t, *own)


def test_no_accelerations_are_not_an_array_without_entries():
    dynamics = compiled_example("double_pendulum")
    _, state = states(dynamics)
    known = numbers(dynamics.reactions(*state))
    for _ in range(2):
        np.testing.assert_array_equal(numbers(dynamics.reactions(*state, None)), known)
        np.testing.assert_array_equal(numbers(dynamics.reactions(*state, u_dot=None)), known)
        with pytest.raises(kn.ArgumentError, match="u_dot"):
            dynamics.reactions(*state, np.zeros(0))
        with pytest.raises(kn.ArgumentError, match="u_dot"):
            dynamics.reactions(*state, u_dot=np.zeros(0))


def test_options_that_equal_the_usual_ones_make_no_further_function():
    dynamics = compiled_example("double_pendulum")
    _, state = states(dynamics)
    known, function = numbers(dynamics.reactions(*state)), dynamics.reactions
    for _ in range(3):
        np.testing.assert_array_equal(numbers(dynamics.reactions(*state, whole=0)), known)
    assert dynamics.reactions is function


class Doubled(Dynamics):
    """A derived class whose methods call those that they replace."""

    def acceleration(self, *args, **keywords):
        return 2.0 * super().acceleration(*args, **keywords)

    def pose(self, *args, **keywords):
        return [2.0 * x for x in super().pose(*args, **keywords)]

    def reactions(self, *args, **keywords):
        return {name: 2.0 * wrench.force for name, wrench in super().reactions(*args, **keywords).items()}


def test_a_derived_class_may_have_methods_of_its_own():
    plain = compiled_example("double_pendulum")
    _, (t, q, u) = states(plain)
    dynamics, x = Doubled(plain.system), np.array([1.0, -2.0])
    for _ in range(3):
        np.testing.assert_array_equal(dynamics.acceleration(t, q, u), 2.0 * plain.acceleration(t, q, u))
        loaded = plain.acceleration(t, q, u, effort=x)
        np.testing.assert_array_equal(dynamics.acceleration(t, q, u, effort=x), 2.0 * loaded)
        np.testing.assert_array_equal(dynamics.pose("lower", t, q)[1], 2.0 * plain.pose("lower", t, q)[1])
        forces = dynamics.reactions(t, q, u)
        np.testing.assert_array_equal(forces["elbow"], 2.0 * plain.reactions(t, q, u)["elbow"].force)
