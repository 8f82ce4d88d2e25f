"""``kn.export(system, "c", folder)``: the library compiles without warnings, and simulates as ``kn.simulate`` does."""

from __future__ import annotations

import ctypes
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from c_compiler import find_compiler
from c_models import LoadedModel
from networks import add_parts, pole
from typer.testing import CliRunner

import kinode as kn
from kinode.algebra.scalars import LIBRARY
from kinode.cli.commands import app
from kinode.exporters.c_code import model_source
from kinode.ode.loops import adaptive_step
from kinode.ode.loops.run_codes import Outcome
from kinode.tasks.start_argument import find_start

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ALLOWED = {"stack_chk_fail"}
MATHEMATICS = {*LIBRARY, "sqrt", "floor", "ceil", "fabs", "fmin", "fmax"}
pytestmark = pytest.mark.usefixtures("compiler")


CASES = {
    "pendulum": ("pivot.q", "pivot.u", "pivot.reaction.force", "system.energy"),
    "four_bar": ("system.energy",),
    "backlash_axis": ("shaft.q", "elbow.q", "elbow.u"),
    "brake_arm": None,
    "balanced_pole": None,
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    """Compiled libraries of some examples, each made once."""
    made: dict[str, LoadedModel] = {}

    def find(name: str) -> LoadedModel:
        if name not in made:
            outputs = CASES[name]
            options = {} if outputs is None else {"outputs": outputs}
            made[name] = LoadedModel(EXAMPLES / f"{name}.yaml", tmp_path_factory.mktemp("c") / name, **options)
        return made[name]

    return find


@pytest.mark.parametrize("name", CASES)
def test_library_simulates_as_kinode_does(libraries, name):
    """Events included; steps end at other times, so that the tolerance of the integration is the measure."""
    library = libraries(name)
    system = kn.load(EXAMPLES / f"{name}.yaml")
    end = min(float(system.run_defaults.get("until") or 1.0), 0.5)
    times = 0.98765 * np.linspace(0.0, end, 11)[1:]  # a tick of a clock at such a time would belong to what follows
    run = kn.simulate(system, until=times[-1], times=[0.0, *times], rtol=1e-10, atol=1e-12)
    states = np.hstack([run.q, run.u, run.z])[1:]
    library("set_tolerance", 1e-10)
    assert library("init", 0.0) == 0
    for t, expected in zip(times, states, strict=True):
        assert library("advance", float(t)) == 0
        assert np.allclose(library.state(), expected, rtol=1e-6, atol=1e-6 * (1.0 + np.abs(states).max(axis=0))), t


@pytest.mark.parametrize("name", CASES)
def test_one_advance_takes_the_steps_of_kinode(libraries, name):
    """The same kernels and loops: what differs is rounding, since machine code fuses products."""
    library, end = libraries(name), 0.4321
    library("defaults", result=None)
    assert library("init", 0.0) == 0
    assert library("advance", end) == 0
    run = kn.simulate(EXAMPLES / f"{name}.yaml", until=end)
    expected = np.array([*run.q[-1], *run.u[-1], *run.z[-1]])
    assert np.allclose(library.state(), expected, rtol=0, atol=1e-10 * (1.0 + np.abs(expected).max()))


@pytest.mark.parametrize("name", CASES)
def test_no_heap_no_globals(libraries, name):
    """Of other libraries it calls mathematics alone, and it has no data that can change."""
    compiler = find_compiler()
    if compiler[0] not in ("cc", "gcc", "clang"):
        pytest.skip("nm belongs to the system's compiler")
    library = libraries(name)
    target = library.folder / "model.o"
    subprocess.run([*compiler, "-std=c99", "-O0", "-c", str(library.source), "-o", str(target)], check=True)
    listed = subprocess.run(["nm", str(target)], capture_output=True, text=True, check=True).stdout
    symbols = [line.split() for line in listed.splitlines()]
    called = {parts[-1].lstrip("_") for parts in symbols if parts[-2] == "U"}
    assert called <= ALLOWED | MATHEMATICS
    assert not [parts for parts in symbols if parts[-2] in "BbDdCcGgSs"]
    text = library.source.read_text() + library.source.with_suffix(".h").read_text()
    included = {line for line in text.splitlines() if line.startswith("#include <")}
    assert included == {"#include <math.h>", "#include <stdint.h>"}


@pytest.mark.parametrize(("name", "step", "count"), [("backlash_axis", 0.1, 3), ("brake_arm", 0.01, 57)])
def test_an_instant_at_the_end_of_a_step_belongs_to_the_next(libraries, name, step, count):
    """A tick of the controller, a brake that falls in by a law of time: added steps end beyond them by rounding."""
    library, system = libraries(name), kn.load(EXAMPLES / f"{name}.yaml")
    library("defaults", result=None)
    library("set_tolerance", 1e-10)
    assert library("init", 0.0) == 0
    for _ in range(count):
        assert library("step", step) == 0
    tick = round(step * count, 6)
    assert library("time", result=ctypes.c_double) != tick
    run = kn.simulate(system, tick + step, times=[tick - 1e-9, tick + 1e-9, tick + step], rtol=1e-10, atol=1e-12)
    before, after, later = np.hstack([run.q, run.u, run.z])[-3:]
    assert np.abs(after - before).max() > 1e-3
    near = {"rtol": 1e-6, "atol": 1e-6}
    assert np.allclose(library.state(), before, **near)
    assert library("step", step) == 0
    assert np.allclose(library.state(), later, **near)


def test_copies_of_the_structure_are_copies_of_the_simulation(libraries):
    library = libraries("backlash_axis")
    first = library.run(0.0, [0.1])
    kept = library.model.raw
    later = library.run(0.0, [0.1, 0.2])[1:]
    other = ctypes.create_string_buffer(kept, len(kept))
    library.model, before = other, library.model
    library("bind", result=None)
    assert library.outputs().tobytes() == first[-1].tobytes()
    assert library("advance", 0.2) == 0
    assert library.outputs().tobytes() == later[-1].tobytes()
    library.model = before


def test_same_model_gives_the_same_bytes(tmp_path):
    texts = []
    for k in range(2):
        folder = kn.export(kn.load(EXAMPLES / "brake_arm.yaml"), "c", tmp_path / f"{k}")
        texts.append({file.name: file.read_bytes() for file in folder.iterdir()})
    assert texts[0] == texts[1]
    assert set(texts[0]) == {"brake_arm.h", "brake_arm.c", "main.c", "CMakeLists.txt", "README.md"}


def test_example_prints_a_table(libraries):
    library = libraries("pendulum")
    program = library.folder / "example"
    parts = [str(library.folder / "main.o"), str(library.source)]
    subprocess.run([*find_compiler(), "-std=c99", *parts, "-lm", "-o", str(program)], check=True)
    lines = subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout.splitlines()
    assert lines[0].startswith("t,pivot.q,pivot.u,pivot.reaction.force.x")
    assert len(lines) == 102
    assert np.isfinite(np.loadtxt(lines[1:], delimiter=",")).all()


def test_what_c_cannot_hold_is_refused_by_name(tmp_path):
    system = kn.load(EXAMPLES / "pendulum.yaml")
    with pytest.raises(kn.Error, match=r"pivot\.qq"):
        kn.export(system, "c", tmp_path / "x", outputs=["pivot.qq"])
    with pytest.raises(kn.ArgumentError, match="no input is called 'push'"):
        kn.export(system, "c", tmp_path / "x", inputs=["push"])
    system.controller("pilot", lambda t, x: x, {"x": "t"}, period="10 ms")
    with pytest.raises(kn.ModelError, match=r"pilot.*function in Python"):
        kn.export(system, "c", tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["export", str(EXAMPLES / "pendulum.yaml"), "--to", "c", "--output", "pivot.q"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert (tmp_path / "pendulum_c" / "pendulum.h").exists()


FOUR_BAR = """
kinode: 1
name: adjustable
gravity: [0, -9.81, 0]
parameters: {short: 0.2, long: 0.4, start: 50 deg, rate: 2 rad/s, weight: 1.0}
bodies:
  crank:   {mass: weight, com: [0.1, 0, 0], inertia: [0.01, 0.02, 0.02]}
  coupler: {mass: 2, com: [0.3, 0, 0], inertia: [0.01, 0.05, 0.05]}
  rocker:  {mass: 1.5, com: [0.2, 0, 0], inertia: [0.01, 0.03, 0.03]}
joints:
  left:  {kind: revolute, between: [world, crank], q: start, u: rate}
  pin:   {kind: revolute, between: [{body: crank, at: [short, 0, 0]}, coupler], guess: -30 deg}
  right: {kind: revolute, between: [{body: world, at: [0.5, 0, 0]}, rocker], guess: 70 deg}
  top:   {kind: revolute, between: [{body: coupler, at: [0.6, 0, 0]}, {body: rocker, at: [long, 0, 0]}]}
run: {until: 0.3 s}
"""


def test_start_follows_parameters(tmp_path):
    """Loops are closed in C with other lengths and initial values; far ones in several pieces."""
    system = kn.loads(FOUR_BAR)
    library, dynamics = LoadedModel(system, tmp_path / "c"), kn.compile(system)
    names = dynamics.topology.parameters
    assert "acts at init" in library.source.with_suffix(".h").read_text()
    for changed in ({}, {"short": 0.21}, {"long": 0.45, "start": 1.0, "rate": -3.0}, {"short": 0.15, "start": 1.6}):
        values = {**{name: system.parameters[name].value for name in names}, **changed}
        expected = find_start(dynamics, None, 0.0, np.array([values[name] for name in names]), dynamics.inputs)
        library.set_parameters([values[name] for name in names])
        assert library("init", 0.0) == 0
        assert np.allclose(library.state(), [*expected.q, *expected.u], rtol=0, atol=1e-9), changed
    library.set_parameters([2.0, 0.4, 0.9, 0.0, 1.0])  # no rocker reaches so far
    assert library("init", 0.0) == 30
    text = library.code.adjustable_status_text
    text.restype = ctypes.c_char_p
    assert b"do not close" in text(30)


GUESSES = {"pin": "guess: -30 deg", "right": "guess: 70 deg"}
STARTS = {
    "exact q": {"left": "q: start"},
    "exact q and guesses": {"left": "q: start", **GUESSES},
    "exact q and u": {"left": "q: start, u: rate", **GUESSES},
    "u at the other end": {"left": "q: start", **GUESSES, "right": "guess: 70 deg, u: rate"},
    "one guess": {"left": "guess: start"},
    "guesses": {"left": "guess: start", **GUESSES},
    "guesses and u": {"left": "guess: start, u: rate", **GUESSES},
    "nothing": {},
    "u alone": {"left": "u: rate"},
    "driven": {"left": 'motion: "start + rate*t"', **GUESSES},
    "driven, with nothing else": {"left": 'motion: "start + rate*t"'},
    "driven by its speed": {"left": "q: start, speed: rate", **GUESSES},
}


def four_bar_with(**fields: str) -> kn.System:
    """The four-bar with other initial values."""
    lines = []
    for line in FOUR_BAR.splitlines():
        joint = line.partition(":")[0].strip()
        if joint in ("left", "pin", "right"):
            given = fields.get(joint)
            bare = re.sub(r"(, (q|u|guess): [^,}]+)+}$", "}", line)
            line = f"{bare[:-1]}, {given}}}" if given else bare
        lines.append(line)
    return kn.loads("\n".join(lines))


def geared_four_bar(given: str = "exact q and u", **values: float) -> kn.System:
    """The crank follows a motor, whose coordinate is the one that leads; given is what is said of the crank."""
    system = four_bar_with(**STARTS[given])
    system.parameter("ratio", 4.0)
    shaft = system.body("shaft", mass=1.0, inertia=(0.1, 0.1, 0.1))
    system.revolute("motor", system.world.at(0, 0.5, 0), shaft)
    system.gear("reduction", input="motor", output="left", ratio="ratio")
    return changed_system(system, values)


def four_bar_on_balls(**values: float) -> kn.System:
    """The coupler has a ball at each end: it may turn about its line, so that exact values leave a freedom."""
    text = FOUR_BAR.replace(", u: rate", "").replace(", guess: -30 deg", "")
    text = re.sub(r"((pin|top):\s+{kind: )revolute", r"\1spherical", text)
    return changed_system(kn.loads(text), values)


def changed_system(system: kn.System, values: Mapping[str, float]) -> kn.System:
    """The same with other values of parameters."""
    for name, value in values.items():
        system.change(name, value=value)
    return system


KINDS_OF_START = {name: lambda name=name, **v: changed_system(four_bar_with(**STARTS[name]), v) for name in STARTS}
KINDS_OF_START |= {"geared": geared_four_bar, "on balls": four_bar_on_balls}
KINDS_OF_START["geared, no speed"] = lambda **values: geared_four_bar("exact q", **values)


@pytest.mark.parametrize(
    "start",
    [
        pytest.param(
            x, marks=() if x in ("exact q", "nothing", "on balls", "geared, no speed") else pytest.mark.nightly
        )
        for x in KINDS_OF_START
    ],
)
def test_every_kind_of_start_follows_parameters(tmp_path, start):
    """Beside a model that has these numbers, and is assembled anew."""
    make = KINDS_OF_START[start]
    library, names = LoadedModel(make(), tmp_path / "c", outputs=["left.q"]), kn.compile(make()).topology.parameters
    assert "does not follow" not in (library.folder / "README.md").read_text()
    for changed in ({"short": 0.21}, {"long": 0.45, "start": 1.0, "rate": -3.0}, {"short": 0.15, "start": 1.4}):
        other = make(**changed)
        expected = kn.compile(other).initial
        library.set_parameters([float(other.parameters[name].value) for name in names])
        assert library("init", 0.0) == 0
        assert np.allclose(library.state(), [*expected.q, *expected.u, *expected.z], rtol=0, atol=1e-9), changed


def test_speeds_that_tear_loops_are_refused(tmp_path):
    """Two speeds in a mechanism of one freedom fit with the model's own lengths alone."""
    system = four_bar_with(left="q: start, u: 2", pin="guess: -30 deg", right="guess: 70 deg")
    follows = float(kn.assemble(system)["right.u"])
    system = four_bar_with(left="q: start, u: 2", pin="guess: -30 deg", right=f"guess: 70 deg, u: {follows!r}")
    library, names = LoadedModel(system, tmp_path / "c"), kn.compile(system).topology.parameters
    assert library("init", 0.0) == 0
    values = {name: float(system.parameters[name].value) for name in names} | {"short": 0.21}
    library.set_parameters([values[name] for name in names])
    assert library("init", 0.0) == 32
    text = library.code.adjustable_status_text
    text.restype = ctypes.c_char_p
    assert b"tear the loops" in text(32)


def test_the_start_of_a_free_body_follows_parameters(tmp_path):
    """Its velocity is given in the axes of the world, and its coordinates are those of the turned body."""
    system = kn.System("thrown")
    for name, value in {"height": "2 m", "turn": "0.3 rad", "speed": "1 m/s"}.items():
        system.parameter(name, value)
    body = system.body("body", mass=1.0, inertia=(1.0, 1.0, 1.0))
    system.free("flight", system.world, body, position=(0, 0, "height"), velocity=("speed", 0, 0), rpy=(0, 0, "turn"))
    library = LoadedModel(system, tmp_path / "c")
    library.set_parameters(
        [{"height": 3.0, "turn": 0.5, "speed": 2.0}[x] for x in kn.compile(system).topology.parameters]
    )
    assert library("init", 0.0) == 0
    c, s = np.cos(0.5), np.sin(0.5)
    expected = [0, 0, 3.0, np.cos(0.25), 0, 0, np.sin(0.25), 2 * c, -2 * s, 0, 0, 0, 0]
    assert np.allclose(library.state(), expected, rtol=0, atol=1e-14)


def geared():
    """Two elastic gears side by side, which cannot both be at ease, with a spring that is wound up between them."""
    system = kn.System("geared", gravity=(0, 0, 0))
    values = {"ratio": 5.0, "start": 0.4, "wound": 0.2, "speed": 3.0, "charge": 3.0}
    for name, value in values.items():
        system.parameter(name, value)
    arm = system.body("arm", mass=1.0, inertia=(1e-3, 1e-3, 2e-3))
    system.revolute("elbow", system.world, arm, axis="z", q="start", u="speed")
    parts = {
        "j1": ("shaft_inertia", {"shaft": "x", "inertia": 1e-4}),
        "j2": ("shaft_inertia", {"shaft": "y", "inertia": 1e-4}),
        "g1": ("elastic_gearbox", {"input": "x", "output": "elbow", "ratio": "ratio", "stiffness": 100.0}),
        "g2": ("elastic_gearbox", {"input": "y", "output": "elbow", "ratio": "1.3*ratio", "stiffness": 200.0}),
        "k": ("shaft_spring", {"a": "x", "b": "y", "stiffness": 4.0, "initial_angle": "wound"}),
        "c1": pole("capacitor", "a", capacitance=1.0, initial_voltage="charge"),
        "c2": pole("capacitor", "a", capacitance=2.0, initial_voltage=3.0),
        "r": pole("resistor", "a", resistance=1.0),
    }
    return add_parts(system, parts), values


def test_start_of_a_network_follows_parameters(tmp_path):
    system, own = geared()
    library, dynamics = LoadedModel(system, tmp_path / "c"), kn.compile(system)
    names, before = dynamics.topology.parameters, None
    assert "does not follow" not in (library.folder / "README.md").read_text()
    for changed in ({}, {"ratio": 7.0}, {"start": -1.0, "wound": 0.5}, {"speed": 4.0, "ratio": -2.0}):
        p = np.array([{**own, **changed}[name] for name in names])
        expected = find_start(dynamics, None, 0.0, p, dynamics.inputs).y
        library.set_parameters(p.tolist())
        assert library("init", 0.0) == 0
        assert np.allclose(library.state(), expected, rtol=0, atol=1e-12), changed
        assert before is None or np.abs(expected - before).max() > 0.1
        before = expected
    library.set_parameters([{**own, "charge": 4.0}[name] for name in names])
    assert library("init", 0.0) == 31
    text = library.code.geared_status_text
    text.restype = ctypes.c_char_p
    assert b"contradict" in text(31)


@pytest.mark.parametrize("options", [{"method": "rk4", "step": 1e-3}, {"method": "stiff"}])
def test_other_methods(tmp_path, options):
    """Steps of fixed length, and an implicit method; the Jacobian is that of differences."""
    system = kn.load(EXAMPLES / "double_pendulum.yaml")
    library = LoadedModel(system, tmp_path / "c", jacobian=True, **options)
    assert library("init", 0.0) == 0
    assert library("advance", 0.1) == 0
    assert library("advance", 0.2) == 0
    run = kn.simulate(system, until=0.2, **options)
    assert np.allclose(library.state(), [*run.q[-1], *run.u[-1]], rtol=1e-7, atol=1e-7)
    n, m = library.constant("N_STATES"), library.constant("N_OUTPUTS")
    whole, rates = np.zeros((n + m, n)), []
    library("jacobian", ctypes.c_void_p(whole.ctypes.data), result=None)
    pointer, rate = library("state", result=ctypes.POINTER(ctypes.c_double)), np.zeros(n)
    for k in range(n):
        ends = []
        for side in (1e-6, -1e-6):
            pointer[k] += side
            library("rate", ctypes.c_void_p(rate.ctypes.data), result=None)
            ends.append(np.concatenate([rate, library.outputs()]))
            pointer[k] -= side
        rates.append((ends[0] - ends[1]) / 2e-6)
    assert np.allclose(whole, np.array(rates).T, rtol=1e-6, atol=1e-5)


def chain(axes, **more):
    """Links one after the other, with mass centers beside the lines between their hinges."""
    system, body = kn.System("chain", gravity=(0, 0, -9.81)), None
    for k, axis in enumerate(axes):
        place = system.world if body is None else body.at(0.5, 0, 0)
        body = system.body(f"link{k}", mass=1.0 + 0.3 * k, com=(0.25, 0.05, 0.03), inertia=(0.01, 0.02, 0.02))
        system.revolute(f"hinge{k}", place, body, axis=axis, q=0.3, **more)
    return system


@pytest.mark.parametrize("axes", ["zyzy", *(pytest.param(x, marks=pytest.mark.nightly) for x in ("yyyyy", "zy" * 9))])
def test_the_stiff_method_runs_chains(tmp_path, axes):
    """Their Jacobian is long code, which C passes values through memory for; that of the longest one has columns.

    The measure is an explicit method of machine code at tight tolerances.
    """
    damping = 0.0 if len(axes) < 6 else 0.5
    system, end = chain(axes, damping=damping), 0.5 if len(axes) < 6 else 0.1
    library = LoadedModel(system, tmp_path / "c", method="stiff")
    assert library("init", 0.0) == 0
    assert library("advance", end) == 0
    run = kn.simulate(system, until=end, method="dop853", rtol=1e-11, atol=1e-13)
    expected = np.array([*run.q[-1], *run.u[-1]])
    assert np.allclose(library.state(), expected, rtol=0, atol=1e-6 * abs(expected).max())


def arm_in_oil(folder, damping):
    """The library of an arm in oil by an explicit method, whose steps stability bounds, and what a status says."""
    system = kn.System("oil", gravity=(0, -9.81, 0))
    arm = system.body("arm", mass=1.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    system.revolute("hinge", system.world, arm, q=0.1, damping=damping)
    library = LoadedModel(system, folder / "c", method="dopri5")
    assert library("init", 0.0) == 0
    text = library.code.oil_status_text
    text.restype = ctypes.c_char_p
    return library, text


def test_steps_of_a_call_are_bounded(tmp_path, monkeypatch):
    """A call that would not end says so, and the next one goes on."""
    monkeypatch.setattr(model_source, "MOST_STEPS", 500)
    library, text = arm_in_oil(tmp_path, 1e5)
    assert library("advance", 1.0) == Outcome.TOO_MANY_STEPS
    assert b"too many steps" in text(int(Outcome.TOO_MANY_STEPS))
    before = library("time", result=ctypes.c_double)
    assert 0.0 < before < 0.1
    for k in range(20):
        assert library("advance", before + 1e-3 * (k + 1)) == 0


def test_a_call_stalls_and_many_short_calls_do_not(tmp_path, monkeypatch):
    monkeypatch.setattr(adaptive_step, "STALL_STEPS", 40)
    library, text = arm_in_oil(tmp_path / "thick", 1e9)
    assert library("advance", 1.0) == Outcome.STALLED
    assert b"hardly advance" in text(int(Outcome.STALLED))
    library, _ = arm_in_oil(tmp_path / "slow", 1e6)  # 40 steps advance it by 5e-5 s, as stability bounds them
    assert library("advance", 1.0) == Outcome.STALLED
    library, _ = arm_in_oil(tmp_path / "thin", 1.0)
    assert library("advance", 10.0) == 0
    for k in range(100):
        assert library("advance", 10.0 + 1e-9 * (k + 1)) == 0


def test_the_jacobian_of_a_large_tree(tmp_path):
    """Its code is loops, and so is that of its derivatives."""
    system, body = kn.System("rope", gravity=(0, 0, -9.81)), None
    for i in range(45):
        link = system.body(f"link{i}", mass=0.1 + 0.01 * (i % 3), com=(0.05, 0, 0), inertia=(1e-5, 1e-4, 1e-4))
        place = system.world if body is None else body.at(0.1, 0.0, 0.0)
        system.revolute(f"pin{i}", place, link, axis="yz"[i % 2], damping=1e-3, q=0.03 * (-1) ** i)
        body = link
    library = LoadedModel(system, tmp_path / "c", jacobian=True, method="dopri5", outputs=["link44.position"])
    assert library("init", 0.0) == 0
    whole = np.zeros((93, 90))
    library("jacobian", ctypes.c_void_p(whole.ctypes.data), result=None)
    dynamics, of = kn.compile(system), ("rate", "link44.position")
    start = dynamics.initial
    expected = dynamics.derivatives(0.0, start.q, start.u, of=of, by=("coordinates", "u")).matrix
    # two writers of one program: rounding, times the condition of a long chain
    assert np.allclose(whole, expected, rtol=1e-9, atol=1e-9 * abs(expected).max())


@pytest.mark.parametrize(("damping", "method"), [("10 N*m*s/rad", "stiff"), ("1e-4 N*m*s/rad", "dopri5")])
def test_the_automatic_method_is_decided_at_export(tmp_path, damping, method):
    """A light vane in thick oil, or in thin one."""
    system = kn.System("arm", gravity=(0, -9.81, 0))
    arm = system.body("arm", mass=4.0, com=(0.3, 0, 0), inertia=(0.01, 0.2, 0.2))
    vane = system.body("vane", mass=0.01, com=(0.01, 0, 0), inertia={"zz": 5e-5})
    system.revolute("shoulder", system.world, arm, q="20 deg")
    system.revolute("pivot", arm.at(0.3, 0, 0), vane, damping=damping)
    system.run_defaults["until"] = 1.5
    for name, chosen in {"own": {}, "auto": {"method": "auto"}, method: {"method": method}}.items():
        kn.export(system, "c", tmp_path / name, **chosen)
    assert len({(tmp_path / name / "arm.c").read_bytes() for name in ("own", "auto", method)}) == 1


def test_parameters_act_between_steps(tmp_path):
    """A parameter that moves no start may change at any time; a law of time breaks where parameters say."""
    system = kn.System("pushed")
    system.parameter("m", 2.0)
    system.parameter("late", "0.35 s")
    system.prismatic("slide", system.world, system.body("block", mass="m"), axis="x", effort="3*(t > late)")
    library = LoadedModel(system, tmp_path / "c", outputs=["slide.q"])
    assert abs(library.run(0.0, [1.0])[0, 0] - 0.5 * 1.5 * 0.65**2) < 1e-9
    library.set_parameters([2.0, 0.6])
    assert abs(library.run(0.0, [1.0])[0, 0] - 0.5 * 1.5 * 0.4**2) < 1e-9
    library.set_parameters([4.0, 0.6])
    assert library("advance", 2.0) == 0
    speed, way = 1.5 * 0.4, 0.5 * 1.5 * 0.4**2
    assert abs(library.outputs()[0] - (way + speed + 0.5 * 0.75)) < 1e-9


def test_a_second_compiler_has_no_warnings(tmp_path):
    """Clang, as zig brings it, warns of other things than GCC does."""
    pytest.importorskip("ziglang")
    name = "four_bar"
    folder = kn.export(EXAMPLES / f"{name}.yaml", "c", tmp_path / name)
    flags = ("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror")
    command = [sys.executable, "-m", "ziglang", "cc", *flags, "-O0", "-c", f"{name}.c", "-o", f"{name}.o"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]


@pytest.mark.parametrize("name", ["math", "stdio", "Main", "fmu_core"])
def test_names_of_files_that_others_have(tmp_path, name):
    system = kn.System(name)
    system.prismatic("j", system.world, system.body("b", mass=1, inertia=(1, 1, 1)), effort="sin(t)")
    folder = kn.export(system, "c", tmp_path / "made")
    assert (folder / f"{name}_.c").is_file() and (folder / "main.c").is_file()
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-O0", "-I."]
    command = [*find_compiler(), *flags, f"{name}_.c", "main.c", "-lm", "-o", "example"]
    subprocess.run(command, cwd=folder, check=True)
    shown = subprocess.run([str(folder / "example")], capture_output=True, text=True, check=True).stdout
    assert len(shown.splitlines()) == 102


def test_a_long_name_is_cut(tmp_path):
    system = kn.System("x" * 300)
    system.prismatic("j", system.world, system.body("b", mass=1, inertia=(1, 1, 1)))
    assert (kn.export(system, "c", tmp_path / "made") / f"{'x' * 100}.c").is_file()
