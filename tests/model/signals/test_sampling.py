"""The contract of sampled parts, over all kinds: numbers, names, clocks, files, and what is refused.

What they compute is compared with independent solutions in tests/known/test_sampled_control.py.
"""

from __future__ import annotations

from fractions import Fraction

import jsonschema
import numpy as np
import pytest
from number_kinds import KINDS
from small_fmus import make_fmu

import kinode as kn
from kinode.model.base.element import ELEMENTS
from kinode.model.signals.sampling import M1, M2, Sampled, draw_uniform, seeded
from kinode.multibody.snapshot import Snapshot
from kinode.structure.state_layout import EvaluationPoint
from kinode.structure.topology import find_topology

LAW = "0.7*sin(3*t) + hinge.q - 0.2*hinge.u + 0.01*rotor.angular_acceleration.z"
LISTS = {"A": [[0, 1], [-0.2, "0.1*k"]], "B": [[0, 0.5], [1, 0]], "C": [[1, 0], [2, 1]], "D": [[0, 0], [0.3, 0]]}
CLOCK = {"period": "1 kHz", "phase": "0.1 ms"}


def half(t, angle, speed=0.0, total=0.0):
    return {"left": angle, "right": 2 * speed, "total": total + angle}


EXAMPLES = {
    "hold": ("sample_hold", {"input": LAW, "period": 0.01}),
    "noise": (
        "sample_hold",
        {"input": LAW, **CLOCK, "noise": "0.1*k", "seed": 7, "resolution": 0.01, "limits": [-1, 1], "delay": 2},
    ),
    "p": ("sampled_pid", {"error": LAW, "proportional": "2*k", **CLOCK, "before": 3}),
    "pi": ("sampled_pid", {"target": "t", "measured": "hinge.q", "proportional": 2, "integral": 5, **CLOCK}),
    "pd": ("sampled_pid", {"error": "-hinge.q", "derivative": 0.2, "error_rate": "-hinge.u", **CLOCK}),
    "differences": ("sampled_pid", {"error": "-hinge.q", "derivative": 0.2, **CLOCK}),
    "pid": (
        "sampled_pid",
        {
            "target": "sin(t)", "measured": "hinge.q", "proportional": 2, "integral": "3 + hinge.q", "derivative": 0.2,
            "filter_time": "10 ms", "proportional_weight": 0.4, "derivative_weight": 0, "feedforward": "0.1*t",
            "limits": [-0.5, "k"], "tracking_time": "0.2 s", "initial": 0.2, "period": "2 ms", "delay": 1,
        },
    ),
    "gain": ("sampled_transfer_function", {"input": LAW, "numerator": 3, "denominator": [0, 2], **CLOCK}),
    "transfer function": (
        "sampled_transfer_function",
        {"input": LAW, "numerator": [1, "k", 0.5], "denominator": [2, 0.3, 0.4, 0.1], "initial": 0.2, **CLOCK},
    ),
    "state space": (
        "sampled_state_space",
        {"inputs": [LAW, "t"], **LISTS, "outputs": ["left", "right"], "initial": [0.1, 0], "delay": 1, **CLOCK},
    ),
    "small state space": ("sampled_state_space", {"inputs": LAW, "A": 0.3, "B": 2, "C": 1, **CLOCK}),
    "controller": (
        "controller",
        {
            "function": half, "inputs": {"angle": "hinge.q", "speed": LAW}, "outputs": ["left", "right"],
            "remembers": {"total": "k"}, "delay": 1, **CLOCK,
        },
    ),
    "fmu": (
        "fmu",
        {"file": make_fmu("lag", 2), "inputs": {"u": LAW}, "parameters": {"tau": "k"}, "delay": 1, **CLOCK},
    ),
    "small controller": ("controller", {"function": lambda t, x: x, "inputs": {"x": "hinge.q"}, **CLOCK}),
}  # fmt: skip
every_example = pytest.mark.parametrize("example", EXAMPLES)


def hinge():
    system = kn.System("rotor", gravity=(0, 0, 0))
    system.parameter("k", 1.3)
    body = system.body("rotor", mass=1.0, inertia=(0.1, 0.1, 0.1))
    system.revolute("hinge", system.world, body, axis="z", effort="sin(5*t)")
    return system


def make(example):
    system = hinge()
    kind, fields = EXAMPLES[example]
    part = system.element("part", kind, **fields)
    topology = find_topology(system)
    z = np.random.default_rng(3).uniform(-0.4, 0.4, topology.n_z)
    for c in topology.coordinates:
        if ".random" in c.name:
            z[c.index] = 1000.0 + 17 * c.index
    return system, part, topology, z


def test_every_kind_has_an_example():
    assert {kind for kind, _ in EXAMPLES.values()} == {k for k, cls in ELEMENTS.items() if issubclass(cls, Sampled)}


@every_example
@pytest.mark.parametrize("number", sorted(KINDS.keys() - {"symbols"}))
def test_samples_in_every_kind_of_number(example, number):
    _, part, topology, z = make(example)

    def new(t, q, u, z):
        scene = Snapshot(topology, EvaluationPoint(t[0], q, u, z, np.array([1.3])))
        found = part.sample(scene, [1.0])
        return np.array([found[name] for name, _ in part.discrete_states if name in found], dtype=object)

    given = ([0.7], [0.3], [-0.5], z)
    exact = KINDS["floats"](new, given)
    assert abs(exact).max() > 0.01
    assert KINDS[number](new, given) == pytest.approx(exact, rel=1e-12, abs=1e-13)


@every_example
def test_quantities_are_held_entries(example):
    _, part, topology, z = make(example)
    scene = Snapshot(topology, EvaluationPoint(0.7, [0.3], [-0.5], z, np.array([1.3])))
    for name, (_, parts) in part.offered().items():
        assert np.size(scene.quantity(f"part.{name}")) == max(len(parts), 1)
    for c in topology.coordinates:
        if c.role == "z" and not c.name.startswith("part.waiting"):
            assert scene.quantity(c.name) == z[c.index]
    assert not np.any(scene.z_dot)
    assert part.immediate == frozenset()


@every_example
def test_files_hold_it_and_the_schema_knows_it(example, tmp_path):
    system, *_ = make(example)
    system.save(tmp_path / "rotor.yaml")
    loaded = kn.load(tmp_path / "rotor.yaml", trust=True)  # an FMU is code
    kind, fields = EXAMPLES[example]
    if kind == "controller":
        assert loaded["part"].function is None
        with pytest.raises(kn.ModelError, match="a file has none") as caught:
            kn.simulate(loaded, 0.01)
        assert (caught.value.component, caught.value.field) == ("part", "function")
        loaded.change("part", function=fields["function"])
    assert loaded == system
    given = {name: value for name, value in fields.items() if name != "function"}
    jsonschema.Draft202012Validator(kn.schema()).validate({"kinode": 1, "elements": {"part": {"kind": kind, **given}}})
    assert "part" in system.summary()


@every_example
def test_in_a_subsystem_it_does_the_same(example):
    """All but the noise, which goes by the name too."""
    system, *_ = make(example)
    whole = kn.System("whole", gravity=(0, 0, 0))
    whole.add("unit", system)
    if "noise" in EXAMPLES[example][1]:
        assert kn.simulate(whole, 0.01)["unit.part.output"][-1] != kn.simulate(system, 0.01)["part.output"][-1]
    else:
        one, two = kn.simulate(system, 0.01, samples=11), kn.simulate(whole, 0.01, samples=11)
        output = "y" if example == "fmu" else "output"
        assert np.array_equal(one[f"part.{output}"], two[f"unit.part.{output}"])


# -- clocks -------------------------------------------------------------------------------------------------------
PERIODS = {
    "1 ms": Fraction(1, 1000), "1 kHz": Fraction(1, 1000), "3 Hz": Fraction(1, 3), "44.1 kHz": Fraction(1, 44100),
    "8 MHz": Fraction(1, 8_000_000), "0.25 s": Fraction(1, 4), 0.1: Fraction(1, 10), 2: Fraction(2),
    1 / 3: Fraction(1, 3), Fraction(2, 7): Fraction(2, 7), "3 MHz": Fraction(1, 3_000_000),
    Fraction(1234567, 7654321): Fraction(1234567, 7654321), "7/3 s": Fraction(7, 3),
}  # fmt: skip


@pytest.mark.parametrize("given", PERIODS)
def test_periods_are_exact_and_files_keep_them(given, tmp_path):
    system = hinge()
    assert system.sample_hold("part", 0, given).period == PERIODS[given]
    system.save(tmp_path / "rotor.yaml")
    assert kn.load(tmp_path / "rotor.yaml")["part"].period == PERIODS[given]


@pytest.mark.parametrize(
    "given", [0, -1, "0 s", "0 Hz", "1 rad/s", "60 rpm", "2 m", "k", "1/1000", "1/0 s", "0/3 s", None, [1], np.nan]
)
def test_what_is_no_period_is_refused(given):
    system = hinge()
    with pytest.raises(kn.ModelError) as caught:
        system.element("part", "sample_hold", input=0, period=given)
    assert (caught.value.component, caught.value.field) == ("part", "period")


def test_a_rate_is_no_phase():
    with pytest.raises(kn.ModelError, match="a time, 1 ms, is expected"):
        hinge().sample_hold("part", 0, "1 ms", phase="1 kHz")


# -- random numbers -----------------------------------------------------------------------------------------------
def test_the_generator_is_that_of_the_literature():
    """The first numbers of MRG32k3a from a state of 12345 each (L'Ecuyer's own examples), and whole numbers beside."""
    state = [12345.0] * 6
    whole = [12345] * 6
    found = []
    for _ in range(2000):
        value, state = draw_uniform(state)
        a = (1403580 * whole[1] - 810728 * whole[0]) % int(M1)
        b = (527612 * whole[5] - 1370589 * whole[3]) % int(M2)
        whole = [*whole[1:3], a, *whole[4:6], b]
        assert state == whole
        found.append(value)
    assert found[:2] == pytest.approx([0.127011122046577, 0.318527565396794], abs=1e-14)
    assert 0 < min(found) < max(found) < 1


def test_seeds_and_names_give_other_noise():
    assert seeded("1 probe") == seeded("1 probe")
    assert len({tuple(seeded(text)) for text in ("1 probe", "2 probe", "1 other", "11 probe")}) == 4


# -- what is refused ----------------------------------------------------------------------------------------------
def nothing(t):
    return 0.0


WRONG = [
    ("sample_hold", {"input": 0}, "period", "is needed"),
    ("sample_hold", {"input": 0, "period": 1, "delay": 1.5}, "delay", "whole number"),
    ("sample_hold", {"input": 0, "period": 1, "delay": -1}, "delay", "whole number"),
    ("sample_hold", {"input": 0, "period": 1, "delay": float("nan")}, "delay", "whole number"),
    ("sample_hold", {"input": 0, "period": 1, "delay": float("inf")}, "delay", "whole number"),
    ("sample_hold", {"input": 0, "period": 1, "delay": True}, "delay", "whole number"),
    ("sample_hold", {"input": 0, "period": 1, "resolution": 0}, "resolution", "must be positive"),
    ("sample_hold", {"input": 0, "period": 1, "phase": -1}, "phase", "not be negative"),
    ("sample_hold", {"input": 0, "period": 1, "seed": 3}, "seed", "is for noise"),
    ("sample_hold", {"input": 0, "period": 1, "noise": 1, "seed": "x"}, "seed", "whole number"),
    ("sample_hold", {"input": 0, "period": 1, "noise": -1}, "noise", "must be positive"),
    ("sample_hold", {"input": 0, "period": 1, "limits": [1, 0]}, "limits", "the lower one comes first"),
    ("sample_hold", {"input": "hinge.p", "period": 1}, "input", "no quantity 'p'"),
    ("sampled_pid", {"period": 1}, "error", "takes an error"),
    ("sampled_pid", {"error": 0, "integral": 1, "limits": [0, 1], "period": 1}, "tracking_time", "is needed"),
    (
        "sampled_pid",
        {"error": 0, "derivative": 1, "filter_time": 1, "error_rate": 0, "period": 1}, "filter_time", "rate is known",
    ),
    (
        "sampled_transfer_function",
        {"input": 0, "numerator": [1, 0], "denominator": [2], "period": 1}, "numerator", "still to come",
    ),
    (
        "sampled_transfer_function",
        {"input": 0, "numerator": [1, -1], "denominator": [1, 0], "initial": 1, "period": 1}, "initial", "0 at z = 1",
    ),
    ("sampled_state_space", {"inputs": 0, "A": 1, "B": [1, 2], "C": 1, "period": 1}, "B", "has to be 1 by 1"),
    ("controller", {"function": 3, "inputs": {}, "period": 1}, "function", "a function in Python"),
    ("controller", {"function": "os.system", "inputs": {}, "period": 1}, "function", "which a file cannot give"),
    ("controller", {"function": nothing, "inputs": {"x": 0}, "period": 1}, "function", r"has to take \(t, x\)"),
    ("controller", {"function": half, "inputs": {"speed": 0}, "period": 1}, "function", "missing a required argument"),
    ("controller", {"function": nothing, "inputs": ["x"], "period": 1}, "inputs", "is {name: value}"),
    ("controller", {"function": nothing, "inputs": {"x.y": 0}, "period": 1}, "inputs", "is no name"),
    ("controller", {"function": nothing, "inputs": {"output": 0}, "period": 1}, "inputs", "has a meaning already"),
    ("controller", {"function": nothing, "inputs": {}, "outputs": ["a"], "period": 1}, "outputs", "is called output"),
    ("controller", {"function": nothing, "inputs": {}, "resolution": "k", "period": 1}, "resolution", "plain number"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "fields", "field", "message"), WRONG)
def test_what_cannot_be_is_refused_by_name(kind, fields, field, message):
    system = hinge()
    with pytest.raises(kn.ModelError, match=message) as caught:
        system.element("part", kind, **fields)
        system.check()
    assert (caught.value.component, caught.value.field) == ("part", field)


ANSWERS = {
    "nothing": (lambda t, x: None, "expected"),
    "text": (lambda t, x: "much", "expected"),
    "a number as text": (lambda t, x: "1", "a number is expected"),
    "too many": (lambda t, x: (1, 2), "1 number is expected"),
    "another name": (lambda t, x: {"out": 1}, "what it does not have: 'out'"),
    "no output": (lambda t, x: {}, "gives no output"),
    "infinity": (lambda t, x: np.inf, "output = inf"),
    "an error": (lambda t, x: 1 / 0, "ZeroDivisionError"),
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_what_a_function_must_not_give_is_told_with_the_time(answer):
    function, message = ANSWERS[answer]
    system = hinge()
    system.controller(
        "part", lambda t, x: 0.0 if t < 0.015 else function(t, x), inputs={"x": "t"}, period="10 ms"
    )  # fmt: skip
    with pytest.raises(kn.Error, match=message) as caught:
        kn.simulate(system, 0.1)
    assert "part" in str(caught.value) and "t = 0.02" in str(caught.value)


@pytest.mark.parametrize(("answer", "message"), [
    (2.0, r"gives 2.0 at t = 0 s, and not what it remembers: return {'output': ..., 'kept': ...}"),
    ({"output": 2.0}, r"gives no kept at t = 0 s"),
])  # fmt: skip
def test_a_function_gives_anew_what_it_remembers(answer, message):
    system = hinge()
    system.controller("part", lambda t, x, kept: answer, inputs={"x": "t"}, period="10 ms", remembers={"kept": 0})
    with pytest.raises(kn.LawError, match=message):
        kn.simulate(system, 0.1)


def test_laws_of_a_circle_through_a_sample_are_a_loop():
    system = hinge()
    system.sampled_pid("one", "1 ms", error="1 - two.output", proportional=0.5)
    system.sample_hold("two", "one.output", period="1 ms")
    run = kn.simulate(system, 0.0055, times=[0.001 * k for k in range(6)])
    # one acts first, on what two gave a tick before
    expected = []
    two = 0.0
    for _ in range(6):
        two = 0.5 * (1 - two)
        expected.append(two)
    assert run["two.output"] == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("signals", [{"error": "2 - x"}, {"target": "2", "measured": "x"}])
def test_everything_that_a_pid_has_can_be_asked_for_sampled_or_not(signals):
    """At a sample both say the same: the shares add up to what is limited; gains that are zero have shares of zero."""
    system = kn.System("signals")
    system.voltage_source("source", "bus", "gnd", voltage=1)
    system.resistor("load", "bus", "gnd", resistance=1)
    system.signal("x", "0.5*t")
    gains = {"proportional": 3, "integral": 4, "feedforward": 0.25, "limits": [-1, 1], "tracking_time": 1}
    system.pid("smooth", **signals, **gains)
    system.sampled_pid("held", "2 Hz", **signals, **gains)
    run = kn.simulate(system, 0.6, times=[0.0, 0.45, 0.6])
    asked = ["output", "unlimited", "error", "proportional", "integral", "derivative", *signals]
    seen = {name: (run[f"smooth.{name}"][0], run[f"held.{name}"][0]) for name in asked}
    assert seen["error"] == (2.0, 2.0)
    assert seen["proportional"] == (6.0, 6.0)
    assert seen["unlimited"] == (6.25, 6.25)
    assert seen["output"] == (1.0, 1.0)
    assert seen["derivative"] == (0.0, 0.0)
    assert seen["integral"] == (0.0, pytest.approx(4 * 2 / 2 + (1 - 6.25) / 2))  # that of the next sample
    assert run["held.error"][1:].tolist() == pytest.approx([2.0, 1.75])  # as it was when it was sampled
