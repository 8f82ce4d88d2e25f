"""The contract of signal parts, over all kinds: numbers, names, files, circles, and what is refused.

What they compute is compared with independent solutions in tests/known/test_control.py.
"""

from __future__ import annotations

import jsonschema
import numpy as np
import pytest
from number_kinds import KINDS

import kinode as kn
from kinode.model.base.element import ELEMENTS
from kinode.model.signals.continuous import SignalPart
from kinode.multibody.power import find_causes
from kinode.multibody.snapshot import Snapshot
from kinode.structure.state_layout import EvaluationPoint
from kinode.structure.topology import find_topology

LAW = "0.7*sin(3*t) + hinge.q - 0.2*hinge.u"
LISTS = {"A": [[0, 1], [-2, "-k"]], "B": [[0, 0.5], [1, 0]], "C": [[1, 0], [2, 1]], "D": [[0, 0], [0.3, 0]]}
EXAMPLES = {
    "p": ("pid", {"error": LAW, "proportional": "2*k"}),
    "pi": ("pid", {"target": "t", "measured": "hinge.q", "proportional": 2, "integral": 5, "initial": 0.3}),
    "pd": ("pid", {"error": "-hinge.q", "proportional": 2, "derivative": 0.2, "error_rate": "-hinge.u"}),
    "pid": (
        "pid",
        {
            "target": "sin(t)", "measured": "hinge.q", "proportional": 2, "integral": "3 + hinge.q", "derivative": 0.2,
            "filter_time": "10 ms", "proportional_weight": 0.4, "derivative_weight": 0, "feedforward": "0.1*t",
            "limits": [-0.5, "k"], "tracking_time": "0.2 s",
        },
    ),
    "filter": ("filter", {"input": LAW, "time_constant": "20 ms", "gain": "k"}),
    "filter with a start": ("filter", {"input": LAW, "time_constant": "20 ms", "initial": 0.4}),
    "integrator": ("integrator", {"input": LAW, "gain": 2, "initial": -0.1}),
    "integrator with limits": ("integrator", {"input": LAW, "limits": [-0.2, 0.2]}),
    "gain": ("transfer_function", {"input": LAW, "numerator": 3, "denominator": [0, 2]}),
    "transfer function": (
        "transfer_function",
        {"input": LAW, "numerator": [1, "k", 0.5], "denominator": [2, 3, 40, 7], "initial": 0.2},
    ),
    "lead": ("transfer_function", {"input": LAW, "numerator": [0.1, 1], "denominator": [0.01, 1]}),
    "state space": ("state_space", {"inputs": [LAW, "t"], **LISTS, "outputs": ["left", "right"], "initial": [0.1, 0]}),
    "small state space": ("state_space", {"inputs": LAW, "A": -3, "B": 2, "C": 1}),
    "one state, two ways": ("state_space", {"inputs": [LAW, "t"], "A": -3, "B": [2, 1], "C": [[1], [4]]}),
    "flat lists": ("state_space", {"inputs": LAW, "A": [[0, 1], [-2, -3]], "B": [0, 1], "C": [1, 0], "D": 0.5}),
    "saturation": ("saturation", {"input": LAW, "limits": [-0.1, "0.2*k"]}),
    "rounded saturation": ("saturation", {"input": LAW, "limits": [-0.1, 0.2], "smoothing": 0.05}),
    "dead zone": ("dead_zone", {"input": LAW, "zone": [-0.1, 0.1]}),
    "rate limit": ("rate_limit", {"input": LAW, "rise": "0.8", "fall": 2, "time_constant": "5 ms"}),
    "sensor": ("sensor", {"measures": LAW, "gain": 100, "offset": "-3*k"}),
    "slow sensor": ("sensor", {"measures": LAW, "lag": "1 ms"}),
}  # fmt: skip
every_example = pytest.mark.parametrize("example", EXAMPLES)


def hinge(**fields):
    system = kn.System("rotor", gravity=(0, 0, 0))
    system.parameter("k", 1.3)
    system.revolute("hinge", system.world, system.body("rotor", mass=1.0, inertia=(0.1, 0.1, 0.1)), axis="z", **fields)
    return system


def make(example):
    system = hinge(effort=0.0)
    kind, fields = EXAMPLES[example]
    part = system.element("part", kind, **fields)
    topology = find_topology(system)
    return system, part, topology, np.random.default_rng(3).uniform(-0.4, 0.4, topology.n_z)


def test_every_kind_has_an_example():
    """Those that remember nothing but states: modes and samples are for others to test."""
    signals = {kind: cls for kind, cls in ELEMENTS.items() if issubclass(cls, SignalPart)}
    smooth = {kind for kind, cls in signals.items() if cls.discrete_states is SignalPart.discrete_states}
    assert {kind for kind, _ in EXAMPLES.values()} == smooth


@every_example
@pytest.mark.parametrize("number", sorted(KINDS.keys() - {"symbols"}))
def test_rates_and_outputs_in_every_kind_of_number(example, number):
    _, part, topology, z = make(example)

    def everything(t, q, u, z):
        scene = Snapshot(topology, EvaluationPoint(t[0], q, u, z, np.array([1.3])))
        outputs = [np.asarray(part.quantity(name, scene)).ravel() for name in part.offered()]
        return np.concatenate([part.state_rates(scene) if part.states else [], *outputs])

    given = ([0.7], [0.3], [-0.5], z)
    exact = KINDS["floats"](everything, given)
    assert abs(exact).max() > 0.01
    assert KINDS[number](everything, given) == pytest.approx(exact, abs=1e-13)


@every_example
def test_quantities_are_found_by_name_and_states_are_what_they_are_called(example):
    _, part, topology, z = make(example)
    scene = Snapshot(topology, EvaluationPoint(0.7, [0.3], [-0.5], z, np.array([1.3])))
    for name, (_, parts) in part.offered().items():
        assert np.size(scene.quantity(f"part.{name}")) == max(len(parts), 1)
        for k, each in enumerate(parts):
            assert scene.quantity(f"part.{name}.{each}") == scene.quantity(f"part.{name}")[k]
    for c in topology.coordinates:
        if c.role == "z" and c.name in [f"part.{name}" for name in part.offered()]:
            assert scene.quantity(c.name) == z[c.index]
    with pytest.raises(kn.LawError, match="no axes"):
        scene.quantity("part.output@rotor")


@every_example
def test_it_loads_nothing_and_does_no_work(example):
    _, part, topology, z = make(example)
    assert part.wrenches(Snapshot(topology, EvaluationPoint(0.7, [0.3], [-0.5], z, np.array([1.3])))) == ()
    assert find_causes(topology) == ("hinge.drive",)
    with pytest.raises(kn.LawError, match="no quantity 'power'"):
        Snapshot(topology, EvaluationPoint(0.7, [0.3], [-0.5], z, np.array([1.3]))).quantity("part.power")


@every_example
def test_files_hold_it_and_the_schema_knows_it(example, tmp_path):
    system, *_ = make(example)
    system.save(tmp_path / "rotor.yaml")
    assert kn.load(tmp_path / "rotor.yaml") == system
    kind, fields = EXAMPLES[example]
    model = {"kinode": 1, "elements": {"part": {"kind": kind, **fields}}}
    jsonschema.Draft202012Validator(kn.schema()).validate(model)
    assert "part" in system.summary()


@every_example
def test_in_a_subsystem_its_laws_keep_their_meaning(example):
    system, _, topology, z = make(example)
    whole = kn.System("whole", gravity=(0, 0, 0))
    whole.add("unit", system)
    there = find_topology(whole)
    assert there.n_z == topology.n_z
    found = []
    for now, name in ((topology, "part"), (there, "unit.part")):
        scene = Snapshot(now, EvaluationPoint(0.7, [0.3], [-0.5], z, np.array([1.3])))
        found.append(np.append(scene.z_dot, scene.quantity(f"{name}.output")).astype(float))
    assert np.array_equal(*found)


# -- where states begin -------------------------------------------------------------------------------------------
def test_followers_begin_where_their_inputs_are_through_chains():
    system = hinge(q=0.5, effort=0.0)
    system.filter("third", "2*second.output", time_constant=1)  # declared before what it follows
    system.sensor("second", "first.output", gain=3, lag=1)
    system.filter("first", "hinge.q", time_constant=1, gain=10)
    system.pid("pid", error="third.output", derivative=1, filter_time=0.1)
    system.rate_limit("slow", "pid.derivative + 7", rise=1, time_constant=1)
    start = kn.compile(system).values(kn.compile(system).initial)
    assert [start[name] for name in ("first.output", "second.output", "third.output")] == [5, 15, 30]
    assert (start["pid.filtered"], start["slow.output"]) == (30, 7)


def test_what_a_start_says_stays():
    system = hinge(q=0.5, effort=0.0)
    system.filter("lag", "hinge.q", time_constant=1, initial=2)
    system.filter("other", "lag.output", time_constant=1)
    dynamics = kn.compile(system)
    assert dynamics.values(dynamics.initial)["other.output"] == 2
    given = dynamics.values(dynamics.state({"other.output": -1, "lag.output": 0}))
    assert (given["lag.output"], given["other.output"]) == (0, -1)


# -- circles ------------------------------------------------------------------------------------------------------
def test_circles_through_outputs_are_named():
    system = hinge(effort="pid.output")
    system.pid("pid", error="1 - gain.output", proportional=1)
    system.saturation("gain", "pid.output", limits=[-1, 1])
    with pytest.raises(kn.LawError, match=r"depends on itself: (pid -> gain -> pid|gain -> pid -> gain)"):
        kn.simulate(system, 1.0)


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("filter", {"time_constant": 0.1}),
        ("integrator", {}),
        ("transfer_function", {"numerator": [1], "denominator": [1, 1]}),
        ("rate_limit", {"rise": 1, "time_constant": 0.1}),
    ],
)
def test_a_state_breaks_the_circle(kind, fields):
    system = hinge(effort="pid.output")
    system.pid("pid", error="1 - back.output", proportional=2)
    system.element("back", kind, input="pid.output", **fields)
    run = kn.simulate(system, 0.3)
    assert run["pid.output"] == pytest.approx(2 * (1 - run["back.output"]))


def test_direct_feedthrough_makes_a_circle_and_an_integral_alone_does_not():
    for fields, closes in (({"integral": 1}, False), ({"integral": 1, "proportional": 1}, True)):
        system = hinge(effort=0.0)
        system.pid("pid", error="1 - gain.output", **fields)
        system.saturation("gain", "pid.output", limits=[-1, 1])
        if closes:
            with pytest.raises(kn.LawError, match="depends on itself"):
                system.check()
        else:
            system.check()
    for numerator, closes in (([1], False), ([1, 1], True)):
        system = hinge(effort=0.0)
        system.transfer_function("tf", "1 - gain.output", numerator=numerator, denominator=[1, 2])
        system.saturation("gain", "tf.output", limits=[-1, 1])
        if closes:
            with pytest.raises(kn.LawError, match="depends on itself"):
                system.check()
        else:
            system.check()


# -- what is refused ----------------------------------------------------------------------------------------------
WRONG = [
    ("pid", {"proportional": 1}, "error", "takes an error, or a target"),
    ("pid", {"error": 0, "target": 1, "proportional": 1}, "error", "takes an error, or a target"),
    ("pid", {"target": 1, "proportional": 1}, "error", "takes an error, or a target"),
    ("pid", {"error": 0, "proportional_weight": 0}, "proportional_weight", "is for a target"),
    ("pid", {"error": 0, "derivative": 1}, "derivative", "needs filter_time or error_rate"),
    ("pid", {"error": 0, "filter_time": 1}, "filter_time", "derivative gain, which is zero"),
    ("pid", {"error": 0, "derivative": 1, "filter_time": 0}, "filter_time", "must be positive"),
    ("pid", {"error": 0, "derivative": 1, "filter_time": "1 m"}, "filter_time", "a time is needed"),
    ("pid", {"error": 0, "proportional": 1, "limits": [1, -1]}, "limits", "the lower one comes first"),
    ("pid", {"error": 0, "proportional": 1, "limits": 3}, "limits", "2 numbers are expected"),
    ("pid", {"error": 0, "integral": 1, "limits": [-1, 1]}, "tracking_time", "is needed"),
    ("pid", {"error": 0, "integral": 1, "tracking_time": 1}, "tracking_time", "limits of the output"),
    ("pid", {"error": 0, "initial": 1}, "initial", "integral gain, which is zero"),
    ("pid", {"error": 0, "gain": 1}, "gain", "has no field 'gain'"),
    ("filter", {"input": 0}, "time_constant", "is needed"),
    ("filter", {"time_constant": 1}, "input", "is needed"),
    ("filter", {"input": 0, "time_constant": -1}, "time_constant", "must be positive"),
    ("filter", {"input": 0, "time_constant": "k - 2"}, "time_constant", "must be positive"),
    ("transfer_function", {"input": 0, "numerator": [1, 0, 0], "denominator": [1, 0]}, "numerator", "is of order 2"),
    ("transfer_function", {"input": 0, "numerator": [1], "denominator": [0, 0]}, "denominator", "is zero"),
    ("transfer_function", {"input": 0, "numerator": [], "denominator": [1]}, "numerator", "is empty"),
    ("transfer_function", {"input": 0, "numerator": ["x"], "denominator": [1]}, "numerator", "no parameter"),
    ("transfer_function", {"input": 0, "numerator": 1, "denominator": ["k - 1.3", 1]}, "denominator", "leading coeff"),
    ("transfer_function", {"input": 0, "numerator": [1, 0], "denominator": [1, 1], "initial": 1}, "initial", "ends in"),
    ("state_space", {"inputs": 0, "A": [[1, 2], [3]], "B": 1, "C": 1}, "A", "rows of 1 and 2 numbers"),
    ("state_space", {"inputs": 0, "A": [[1, 2]], "B": 1, "C": 1}, "A", "is 1 by 2"),
    ("state_space", {"inputs": [0, 1], "A": 1, "B": 1, "C": 1}, "B", "has to be 1 by 2"),
    ("state_space", {"inputs": 0, "A": 1, "B": 1, "C": [[1, 2]]}, "C", "has to be 1 by 1"),
    ("state_space", {"inputs": 0, "A": 1, "B": 1, "C": [[1], [2]], "D": 1}, "D", "has to be 2 by 1"),
    ("state_space", {"inputs": 0, "A": 1, "B": 1, "C": [1, [2]]}, "C", "is a matrix"),
    ("state_space", {"inputs": 0, "A": 1, "B": 1, "C": 1, "outputs": "y"}, "outputs", "one output is called output"),
    ("state_space", {"inputs": 0, "A": 1, "B": 1, "C": [[1], [2]], "outputs": ["a", "a"]}, "outputs", "twice"),
    ("state_space", {"inputs": 0, "A": 1, "B": 1, "C": [[1], [2]], "outputs": ["a", "b.c"]}, "outputs", "no name"),
    ("state_space", {"inputs": 0, "A": 1, "B": 1, "C": 1, "initial": [1, 2]}, "initial", "1 numbers are expected"),
    ("saturation", {"input": 0}, "limits", "is needed"),
    ("saturation", {"input": 0, "limits": [-1, 1], "smoothing": 0}, "smoothing", "must be positive"),
    ("saturation", {"input": 0, "limits": ["k", "k - 1"]}, "limits", "the lower one comes first"),
    ("dead_zone", {"input": 0, "zone": [1, 1]}, "zone", "the lower one comes first"),
    ("rate_limit", {"input": 0, "rise": -1, "time_constant": 1}, "rise", "must be positive"),
    ("rate_limit", {"input": 0, "rise": 1}, "time_constant", "is needed"),
    ("integrator", {"input": 0, "limits": [0, 1], "initial": 2}, "initial", "beyond the limits"),
    ("sensor", {"measures": "hinge.p"}, "measures", "hinge has no quantity 'p'"),
    ("sensor", {"measures": "rotor.velocity"}, "measures", "has 3 parts"),
    ("sensor", {"measures": "hinge.u_dot"}, "measures", "depends on accelerations"),
    ("sensor", {"measures": "t", "lag": 0}, "lag", "must be positive"),
]


@pytest.mark.parametrize(("kind", "fields", "field", "message"), WRONG)
def test_what_cannot_be_is_refused_by_name(kind, fields, field, message):
    system = hinge(effort=0.0)
    with pytest.raises(kn.ModelError, match=message) as caught:
        system.element("part", kind, **fields)
        system.check()
    assert (caught.value.component, caught.value.field) == ("part", field)


def test_a_transfer_function_begins_where_it_is_told_with_parameters_too():
    """Steady at its initial output while the input is what holds it there, whoever evaluates it."""
    system = kn.System("lag")
    system.parameter("k", 5.0)
    system.parameter("T", 0.1)
    system.revolute("j", system.world, system.body("b", mass=1, inertia=(1, 1, 1)))
    system.transfer_function("g", input=0.2, numerator=["T", "k"], denominator=["T", 1], initial=1.0)
    run = kn.simulate(system, 1.0)
    assert run["g.output"] == pytest.approx(1.0, abs=1e-12)
    dynamics = kn.compile(system)
    assert dynamics.snapshot(dynamics.initial).quantity("g.output") == pytest.approx(1.0, abs=1e-15)
