"""Live numbers: another value gives what the changed text gives, and nothing that was not written appears."""

import copy
import pickle
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from example_choice import examples_for
from text_numbers import TextNumber, change_text, find_text_numbers

import kinode as kn
from kinode.dynamics.live_model import LiveModel
from kinode.model.live_numbers import change_values, find_numbers, make_live

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SHORT = 0.3  # s; long enough for pins to load, contacts to begin and motors to turn
TIMES = 7
SHARE = 0.03  # by which a number is changed
TOGETHER = 16  # numbers in one run
# Two integrations of the same motion with step control differ by rounding that the motion amplifies.
SAME = 2e-7
# Numbers of a file that are no numbers of the model: they bound parameters or declare kinds.
NO_NUMBERS = {"bounds", "components"}


def arm():
    system = kn.System("arm", gravity=(0, -9.81, 0))
    L = system.parameter("L", "0.5 m", bounds=(0.1, 1.0))
    upper = system.body("upper", mass=2.0, com=(L / 2, 0, 0), inertia=(0.01, 0.05, 0.05))
    lower = system.body("lower", mass=1.0, com=(0.2, 0, 0), inertia={"zz": 0.02})
    tip = lower.at(0.4, 0.1, 0, name="tip")
    system.revolute("shoulder", system.world, upper, q="30 deg", damping="0.2 N*m*s/rad")
    stop = {"upper": 1.2, "restitution": 0.4}
    system.revolute("elbow", upper.at(L, 0, 0), lower, at=(0.02, 0, 0), q="20 deg", stop=stop)
    system.spring("return", tip, system.world.at(0, 1, 0), stiffness="50 N/m", free_length=0.8)
    system.signal("push", 3.0)
    system.force("load", "elbow.child", force=(0, "push", 0), expressed_in="world")
    return system


def states(run):
    return np.column_stack([run.q, run.u, run.z])


def outcome(model, until, **options):
    """The states at some times, or the kind of the error."""
    try:
        return states(kn.simulate(model, until, times=np.linspace(0.0, until, TIMES), **options))
    except kn.Error as error:
        return type(error)


def assert_same(one, two, what):
    if isinstance(one, type) or isinstance(two, type):
        assert one is two, what
        return
    assert one == pytest.approx(two, rel=SAME, abs=SAME * abs(two).max()), what


class ChangedNumber(NamedTuple):
    """A number of a text, and the numbers of the model that another value there changes."""

    number: TextNumber
    values: dict[str, float]
    structural: bool


def find_changes(file, written, model):
    """Every number of a file that can be changed alone; the model's other numbers stay as they were."""
    base, own, text = find_numbers(written), written.parameter_values(), file.read_text()
    for number in find_text_numbers(text, SHARE):
        try:
            changed = kn.loads(change_text(text, [number]), file)
        except kn.Error:
            continue  # a body, a rotation or a count that cannot be
        values = {name: x.value for name, x in find_numbers(changed).items() if base[name].value != x.value}
        values |= {
            name: x for name, x in changed.parameter_values().items()
            if own[name] != x and name in model.dynamics.topology.parameters
        }  # fmt: skip
        if not values:
            assert NO_NUMBERS & set(map(str, number.path)), number.path
            continue
        yield ChangedNumber(number, values, any(name in base and base[name].structural for name in values))


def group_changes(changes, file):
    """Changes that are tried in one run, a few of one sort if the model can have them all; and the changed model."""
    for structural in (False, True):
        alike = [change for change in changes if change.structural is structural]
        groups = [alike[k : k + TOGETHER] for k in range(0, len(alike), TOGETHER)]
        while groups:
            few = groups.pop()
            try:
                yield few, kn.loads(change_text(file.read_text(), [change.number for change in few]), file)
            except kn.Error:
                groups += [[change] for change in few]


@pytest.mark.filterwarnings("ignore::kinode.errors.GuessWarning")
@pytest.mark.parametrize("file", examples_for(), ids=lambda file: file.stem)
def test_every_number_of_every_example_is_live_or_compiled_anew(file):
    """Set by name: the run of the changed text."""
    written = kn.load(file)
    model, until = LiveModel(written), min(written.run_defaults.get("until", SHORT), SHORT)
    outcome(model.dynamics, until)
    changes = list(find_changes(file, written, model))
    assert len(changes) >= 2
    for few, changed in group_changes(changes, file):
        paths = [change.number.path for change in few]
        values = {name: x.value for name, x in find_numbers(changed).items()} | changed.parameter_values()
        model.reset()
        now = model.set({name: values[name] for change in few for name in change.values})
        assert_same(outcome(now.dynamics, until, parameters=now.parameters), outcome(changed, until), paths)
        assert not now.compiled or few[0].structural, paths


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("upper.mass", ("upper", {"mass": 2.5})),
        ("lower.com.x", ("lower", {"com": (0.25, 0, 0)})),
        ("lower.inertia.zz", ("lower", {"inertia": {"zz": 0.03}})),
        ("elbow.q", ("elbow", {"q": 0.5})),
        ("elbow.stop.upper", ("elbow", {"stop": {"upper": 0.5, "restitution": 0.4}})),
        ("shoulder.damping", ("shoulder", {"damping": 0.7})),
        ("return.free_length", ("return", {"free_length": 0.6})),
        ("push.law", ("push", {"law": 5.0})),
    ],
)
def test_a_live_number_does_what_change_does(name, fields):
    system = arm()
    dynamics = kn.compile(system, live=True)
    before = outcome(dynamics, 1.0)
    component, new = fields
    changed = system.copy()
    changed.change(component, **new)
    value = find_numbers(changed)[name].value
    after = outcome(dynamics, 1.0, parameters={name: value})
    assert_same(after, outcome(changed, 1.0), name)
    assert not np.allclose(after, before, rtol=1e-4)


def test_copies_of_a_frame_follow():
    """The place of a joint is in the joint, and in a load at its child frame; a named frame is in a spring too."""
    system = arm()
    dynamics = kn.compile(system, live=["elbow.at", "lower.tip"])
    assert list(dynamics.live) == [
        "lower.tip.at.x", "lower.tip.at.y", "lower.tip.at.z", "elbow.at.x", "elbow.at.y", "elbow.at.z",
    ]  # fmt: skip
    run = kn.simulate(dynamics, 0.5, parameters={"elbow.at.x": 0.05, "lower.tip.at.y": 0.2})
    system.change("elbow", at=(0.05, 0, 0))
    system.change("load", on=system.find_frame("elbow.child"))
    system.change("lower", frames={"tip": [0.4, 0.2, 0]})
    assert_same(run.end.y, kn.simulate(system, 0.5).end.y, "frames")


def test_two_copies_of_a_subsystem_have_numbers_of_their_own():
    leg = kn.System("leg", gravity=(0, -9.81, 0))
    rod = leg.body("rod", mass=1.0, com=(0.1, 0, 0), inertia=(0.01, 0.01, 0.01))
    leg.revolute("hip", leg.world.at(0.3, 0.1, 0), rod, q=0.2)
    both = kn.System("both", gravity=(0, -9.81, 0))
    both.add("left", leg)
    both.add("right", leg)
    dynamics = kn.compile(both, live=True)
    run = kn.simulate(dynamics, 0.3, parameters={"left.rod.com.x": 0.2, "left.hip.a.at.x": 0.5})
    alone = kn.simulate(leg, 0.3)
    assert run["right.hip.q"][-1] == pytest.approx(alone["hip.q"][-1], rel=1e-6)
    assert run["left.hip.q"][-1] != pytest.approx(alone["hip.q"][-1], rel=1e-3)
    assert run["left.rod.position"][-1] == pytest.approx([0.5, 0.1, 0.0])
    assert run["right.rod.position"][-1] == pytest.approx([0.3, 0.1, 0.0])


def test_nothing_hidden_is_shown(tmp_path):
    system = arm()
    dynamics = kn.compile(system, live=True)
    run = kn.simulate(dynamics, 0.2, parameters={"upper.mass": 3.0, "L": 0.6})
    assert run.parameters == {"L": 0.6}
    assert run.live["upper.mass"] == 3.0
    assert run.live["elbow.q"] == pytest.approx(np.radians(20))
    assert list(run.system.parameters) == ["L"]
    assert run.system["upper"].mass == 3.0
    assert run.system == change_values(system, {"upper.mass": 3.0})
    assert "live:" not in run.system.summary()
    system.change("upper", mass=3.0)
    other = kn.simulate(system, 0.2, parameters={"L": 0.6})
    assert run["system.energy"] == pytest.approx(other["system.energy"], rel=1e-6)
    run.save(tmp_path / "run.nc")
    again = kn.load(tmp_path / "run.nc")
    assert again.system == run.system
    assert again.parameters == run.parameters
    assert again["elbow.reaction.force"] == pytest.approx(run["elbow.reaction.force"], rel=1e-9, abs=1e-9)


def test_numbers_as_written_are_those_of_the_model():
    system = arm()
    plain, live = kn.simulate(system, 0.5), kn.simulate(kn.compile(system, live=True), 0.5)
    assert_same(live.end.y, plain.end.y, "own values")
    assert live.system == system
    assert kn.compile(system).live == {}


def test_structural_numbers_say_why():
    system = arm()
    system.change("shoulder", axis=(0, 0.1, 1))
    dynamics = kn.compile(system, live=True)
    assert "zero" in dynamics.live["lower.com.y"].reason
    assert "axes" in dynamics.live["shoulder.axis.y"].reason
    assert dynamics.live["lower.com.x"].reason == ""
    assert dynamics.live["shoulder.q"].unit == "rad"
    assert "structural" in repr(dynamics.live["lower.com.y"])
    with pytest.raises(kn.Error, match=r"lower\.com\.y is zero.*new compilation"):
        kn.simulate(dynamics, 0.1, parameters={"lower.com.y": 0.1})


def test_an_initial_value_of_zero_is_live():
    system = arm()
    system.change("elbow", q=0.0)
    dynamics = kn.compile(system, live=["elbow.q"])
    run = kn.simulate(dynamics, 0.1, parameters={"elbow.q": "10 deg"})
    assert run["elbow.q"][0] == pytest.approx(np.radians(10))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"upper.mass": -1.0}, r"upper\.mass: must not be negative"),
        ({"upper.mass": "3 m"}, r"upper\.mass: 3 m is a length \(m\); a mass is needed"),
        ({"lower.inertia.zz": -1.0}, r"lower\.inertia: no body has it"),
        ({"elbow.stop.restitution": 2.0}, r"elbow\.stop\.restitution: must be between 0 and 1"),
        ({"return.stiffness": -1.0}, r"return\.stiffness: must not be negative"),
        ({"upper.mass": float("nan")}, r"upper\.mass: must be finite"),
        ({"upper.mass": "heavy"}, r"upper\.mass"),
        ({"upper.maas": 1.0}, r"has no parameter 'upper\.maas'"),
        ({"L": 2.0}, "outside its bounds"),
    ],
)
def test_impossible_values_are_refused_by_name(values, message):
    system = arm()
    dynamics, model = kn.compile(system, live=True), LiveModel(system)
    with pytest.raises(kn.Error, match=message):
        kn.simulate(dynamics, 0.1, parameters=values)
    before = model.set({"upper.mass": 2.2})
    with pytest.raises(kn.Error):
        model.set(values)
    assert model.set({}).parameters == before.parameters


def test_names_that_are_no_numbers():
    system = arm()
    with pytest.raises(kn.Error, match=r"no number is called 'uper\.mass'; did you mean upper\.mass"):
        kn.compile(system, live=["uper.mass"])
    with pytest.raises(kn.Error, match="True or names"):
        kn.compile(system, live=3)
    with pytest.raises(kn.Error, match=r"kn\.compile\(system, live=\['upper\.mass'\]\)"):
        kn.simulate(system, 0.1, parameters={"upper.mass": 1.0})
    with pytest.raises(kn.Error, match=r"no number or field is called 'elbow\.axes'"):
        LiveModel(system).set({"elbow.axes": 1.0})


def test_a_break_of_time_and_a_stop_move_with_their_numbers():
    """The times of a law that a live number sets, and the place of a stop, are not those of the run before."""
    system = kn.System("push", gravity=(0, 0, 0))
    block = system.body("block", mass=1.0)
    system.signal("begin", 0.5)
    system.prismatic("guide", system.world, block, axis="x", effort="where(t > begin, 2.0, 0.0)",
                     stop={"upper": 0.25, "restitution": 0.5})  # fmt: skip
    dynamics = kn.compile(system, live=True)
    for begin, upper in ((0.5, 0.25), (0.7, 0.25), (0.7, 0.16), (0.5, 0.16)):
        run = kn.simulate(dynamics, 1.5, parameters={"begin.law": begin, "guide.stop.upper": upper})
        first = next(event for event in run.events if "guide" in event.components)
        assert first.time == pytest.approx(begin + np.sqrt(upper), abs=1e-8)


def test_a_model_that_is_set_goes_to_zero_and_back():
    system = arm()
    model = LiveModel(system)
    first = model.set({})
    there = model.set({"lower.com.y": "2 cm", "upper.mass": 2.5})
    assert there.compiled == ("lower.com.y",)
    assert "lower.com.y: zero" in there.message
    assert model.set({"lower.com.y": 0.03}).message == ""
    changed = change_values(system, {"lower.com.y": 0.03, "upper.mass": 2.5})
    now = model.set({})
    assert_same(outcome(now.dynamics, 0.5, parameters=now.parameters), outcome(changed, 0.5), "there")
    back = model.set({"lower.com.y": 0.0})
    assert back.dynamics is first.dynamics
    assert back.parameters == {"upper.mass": 2.5}
    gone = model.set({"shoulder.damping": 0.0})
    assert gone.compiled == ("shoulder.damping",)
    system.change("shoulder", damping=0.0)
    system.change("upper", mass=2.5)
    assert_same(outcome(gone.dynamics, 0.5, parameters=gone.parameters), outcome(system, 0.5), "no damping")
    assert model.reset().dynamics is first.dynamics


def test_whole_fields_are_set_by_a_new_compilation():
    system = arm()
    model = LiveModel(system)
    now = model.set({"shoulder.axis": (0.0, 0.6, 0.8)})
    assert now.compiled == ("shoulder.axis",)
    system.change("shoulder", axis=(0.0, 0.6, 0.8))
    assert_same(outcome(now.dynamics, 0.5, parameters=now.parameters), outcome(system, 0.5), "axis")
    now = model.set({"shoulder.axis.y": 0.8})
    system.change("shoulder", axis=(0.0, 0.8, 0.8))
    assert_same(outcome(now.dynamics, 0.5, parameters=now.parameters), outcome(system, 0.5), "an entry of an axis")
    now = model.set({"system.gravity": (0.0, 0.0, -9.81)})
    system.gravity = (0.0, 0.0, -9.81)
    assert_same(outcome(now.dynamics, 0.5, parameters=now.parameters), outcome(system, 0.5), "gravity")


def test_live_systems_are_copied_and_pickled():
    dynamics = kn.compile(arm(), live=["upper", "elbow.q"])
    for twin in (pickle.loads(pickle.dumps(dynamics)), kn.compile(copy.copy(dynamics.system))):
        assert twin.live == dynamics.live
        run = kn.simulate(twin, 0.2, parameters={"upper.mass": 3.0})
        assert run.end.y == pytest.approx(kn.simulate(dynamics, 0.2, parameters={"upper.mass": 3.0}).end.y)
    assert make_live(dynamics.system, ["upper.mass"]).live.origin == arm()
