"""Events: found to the last bit, the same for every method and tolerance, and never without end."""

from __future__ import annotations

import math

import numpy as np
import pytest
from discrete import METHODS, G, ball, known_kinds

import kinode as kn
from kinode.ode import compiled_loops
from kinode.ode.endings import EndKind
from kinode.ode.integrate import integrate
from kinode.ode.rk4_batch import rk4_batch
from kinode.simulation.solver import Options, Solver


@pytest.fixture(autouse=True)
def kinds():
    with known_kinds():
        yield


def room(**fields):
    system = ball(u=0.0)
    system.element("room", kind="thermostat", **fields)
    return system


def bounces(e, count, h=1.0):
    """Times at which a ball that falls from rest hits the floor."""
    first = math.sqrt(2 * h / G)
    times, flight = [first], 2 * first
    for _ in range(count - 1):
        flight *= e
        times.append(times[-1] + flight)
    return times


def whose(run, name):
    return [event.time for event in run.events if event.component == name]


@pytest.mark.parametrize("method", METHODS)
def test_a_ball_bounces_where_it_should(method):
    system = ball()
    system.element("ground", kind="floor", restitution=0.8)
    run = kn.simulate(system, 3.0, method=method, **METHODS[method])
    expected = bounces(0.8, len(run.events))
    assert expected[-1] < 3.0 < bounces(0.8, len(run.events) + 1)[-1]
    assert np.allclose(whose(run, "ground"), expected, atol=1e-13 if method in ("dopri5", "dop853") else 1e-7)
    assert {(event.kind, event.was, event.becomes) for event in run.events} == {("jump", "flies", "bounces")}


@pytest.mark.parametrize("method", METHODS)
def test_a_thermostat_has_the_period_of_its_closed_form(method):
    run = kn.simulate(room(), 6.0, method=method, **METHODS[method])
    times = whose(run, "room")
    on, off = 0.5 * math.log((3.0 - 1.0) / (3.0 - 2.0)), 0.5 * math.log(2.0 / 1.0)
    first = 0.5 * math.log(3.0 / (3.0 - 2.0))
    expected = [first + sum(([off, on] * 20)[:k]) for k in range(len(times))]
    assert len(times) == 16
    assert len(run) < 2000 or method == "rk4"  # looking for events does not shorten the steps
    assert np.allclose(times, expected, atol=1e-8)
    assert run["room.mode"][0] == 1.0
    assert set(run["room.mode"]) == {0.0, 1.0}
    assert [event.becomes for event in run.events[:3]] == ["rests", "heats", "rests"]


def test_a_bouncing_ball_comes_to_rest():
    """It bounces without end in a finite time, which ends in contact."""
    system = ball()
    system.element("ground", kind="table", restitution=0.5, on="slide_ball")
    run = kn.simulate(system, 3.0)
    end = math.sqrt(2 / G) * (1 + 2 * 0.5 / (1 - 0.5))
    assert run.status == "done"
    assert run.events[-1].becomes == "lies"
    assert run.events[-1].time == pytest.approx(end, abs=1e-6)  # the speeds that are left out take 1e-7 s
    after = run.t > end
    assert np.array_equal(run["slide.q"][after], np.full(after.sum(), run["slide.q"][-1]))
    assert abs(run["slide.q"][-1]) < 1e-12
    assert not run["slide.u"][after].any()


def test_bouncing_without_contact_is_named():
    system = ball()
    system.element("ground", kind="floor", restitution=0.5)
    with pytest.raises(kn.SimulationError, match=r"ground changes without end at t = 1\.354.* nanosecond") as caught:
        kn.simulate(system, 3.0)
    assert caught.value.run.t[-1] == pytest.approx(3 * math.sqrt(2 / G), abs=1e-7)


def test_modes_that_cannot_stay_are_named():
    system = ball()
    system.element("wings", kind="flutter")
    with pytest.raises(kn.SimulationError, match=r"at t = 0.3\d* s no modes are consistent: wings"):
        kn.simulate(system, 1.0)


@pytest.mark.parametrize("method", ["dopri5", "dop853"])
def test_number_and_order_of_events_do_not_depend_on_the_tolerance(method):
    system = room()
    system.element("ground", kind="floor", restitution=0.9)
    found = []
    for digits in range(5, 12):
        run = kn.simulate(system, 5.0, method=method, rtol=10.0**-digits, atol=10.0**-digits)
        found.append([(event.component, event.becomes) for event in run.events])
    assert len(found[0]) > 15
    assert all(each == found[0] for each in found)


@pytest.mark.parametrize("method", METHODS)
def test_rows_before_and_after_an_event_stand_at_its_time(method):
    system = ball()
    system.element("ground", kind="floor", restitution=0.5)
    run = kn.simulate(system, 0.8, method=method, **METHODS[method])
    (k,) = np.flatnonzero(np.diff(run.t) == 0)
    assert run.t[k] == run.events[0].time
    assert np.array_equal(run["slide.q"][k], run["slide.q"][k + 1])
    assert run["slide.u"][k + 1] == pytest.approx(-0.5 * run["slide.u"][k], rel=1e-15)
    assert (np.diff(run.t) >= 0).all()


@pytest.mark.parametrize("method", METHODS)
def test_asked_times_have_the_state_after_the_event(method):
    """Also where a time asked for is that of the event, and none is added."""
    system = ball()
    system.element("ground", kind="floor", restitution=0.5)
    options = METHODS[method]
    hit = kn.simulate(system, 0.9, method=method, **options).events[0].time
    times = [0.0, 0.2, hit, hit, 0.7, 0.9]
    run = kn.simulate(system, 0.9, method=method, times=times, **options)
    assert np.array_equal(run.t, times)
    assert run.events[0].time == hit
    assert run["slide.u"][2] == run["slide.u"][3] == pytest.approx(0.5 * math.sqrt(2 * G), rel=1e-6)
    u = 0.5 * math.sqrt(2 * G)
    s = np.array([0.7, 0.9]) - math.sqrt(2 / G)
    assert np.allclose(run["slide.q"][-2:], u * s - 0.5 * G * s**2, atol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_events_at_the_start(method):
    """A ball that starts on the floor, downwards: it is thrown back at once; upwards or at rest nothing happens."""
    system = ball()
    system.element("ground", kind="floor", restitution=0.5)
    run = kn.simulate(system, 0.1, start={"slide.q": 0.0, "slide.u": -2.0}, method=method, **METHODS[method])
    assert run.events[0].time == 0.0
    assert (run.t[0], run["slide.u"][0]) == (0.0, 1.0)
    assert run["slide.q"][-1] == pytest.approx(0.1 - 0.005 * G, abs=1e-9)
    run = kn.simulate(system, 0.1, start={"slide.q": 0.0, "slide.u": 1.0}, method=method, **METHODS[method])
    assert not run.events


@pytest.mark.parametrize("options", [{"method": "rk4", "step": 1.0}, {"max_step": 1.0}, {"method": "stiff"}])
def test_a_root_that_is_positive_at_both_ends_of_a_step_is_seen_in_its_middle(options):
    """Of uniform motion steps are as long as they may be."""
    system = kn.System("slider", gravity=(0, 0, 0))
    body = system.body("body", mass=1.0, inertia=(1, 1, 1))
    system.prismatic("slide", system.world, body, axis="z", u=1.0)
    system.element("latch", kind="latch", of="cos(2*pi*t) + 0.5")
    more = {"max_step": 0.3} if options.get("method") == "stiff" else {}
    run = kn.simulate(system, 4.0, **options, **more)
    assert run["latch.time"][-1] == pytest.approx(1 / 3, abs=1e-12)
    assert run.events[0].time == run["latch.time"][-1]


@pytest.mark.parametrize("options", [{"method": "rk4", "step": 1.0}, {"max_step": 1.0}, {"method": "stiff"}])
@pytest.mark.parametrize("middle", [2.03, 2.11, 2.32, 2.69, 2.97])
def test_a_dip_of_a_fiftieth_of_a_step_is_seen(middle, options):
    """Positive at both ends of a step of 1 s and in its middle: a parabola that is negative for 20 ms."""
    system = ball(u=0.0)
    system.element("latch", kind="latch", of=f"(t - {middle})^2 - 1e-4")
    run = kn.simulate(system, 4.0, **options)
    assert [event.time for event in run.events] == pytest.approx([middle - 0.01], abs=1e-12)


def test_short_flights_within_one_step_are_all_seen():
    """The step is kept across events, longer than many flights are."""
    system = ball(q=1e-6)
    system.element("ground", kind="floor", restitution=1.0)
    run = kn.simulate(system, 0.05)
    flight = 2 * math.sqrt(2e-6 / G)
    expected = [(k + 0.5) * flight for k in range(len(run.events))]
    assert len(expected) == math.floor(0.05 / flight + 0.5)
    assert np.allclose([event.time for event in run.events], expected, rtol=1e-9)


def test_simultaneous_events_all_happen():
    system = ball()
    ball("other", system)
    for name, joint in (("ground", "slide"), ("floor_b", "other")):
        system.element(name, kind="floor", joint=joint)
    run = kn.simulate(system, 1.0)
    one, two = whose(run, "ground"), whose(run, "floor_b")
    assert one == two == pytest.approx([math.sqrt(2 / G)])
    assert np.array_equal(run["slide.u"], run["other.u"])


def test_held_entries_do_not_drift():
    """Not by a bit, over a million steps; nor does the error control look at them."""
    system = room(warm=1e9)
    system.element("memory", kind="latch", of="0.5 - t")
    run = kn.simulate(system, 1000.0, method="rk4", step=1e-3, samples=3)
    assert run.facts["steps"] >= 10**6
    assert run["memory.time"][-1] == run["memory.time"][1] == run.events[0].time
    assert np.array_equal(run["room.mode"], np.ones(3))
    few, many = room(warm=1e9), room(warm=1e9)
    for k in range(50):
        many.element(f"memory{k}", kind="latch", of="2 - t")
    assert kn.simulate(many, 1.0).facts["steps"] == kn.simulate(few, 1.0).facts["steps"]


def mixed():
    system = room()
    system.element("ground", kind="floor", restitution=0.9)
    system.element("clock", kind="clock", of="slide.q", period=0.03)
    return system


@pytest.mark.parametrize(("method", "step"), [("dopri5", None), ("dop853", None), ("rk4", 0.007)])
def test_runs_in_chunks_have_the_same_bits(method, step):
    dynamics = kn.compile(mixed())
    solver = Solver(dynamics, dynamics.parameters, dynamics.inputs, Options(method=method, step=step))
    given = {"method": method, "step": step, "p": dynamics.parameters, "inputs": dynamics.inputs}
    start = dynamics.initial.y
    whole = integrate(solver.kernel, start, 0.0, 3.0, **given)
    for chunk in (1, 7):
        parts = integrate(solver.kernel, start, 0.0, 3.0, chunk=chunk, **given)
        assert np.array_equal(parts.t, whole.t)
        assert np.array_equal(parts.y, whole.y)
        assert parts.events == whole.events
    assert len(whole.events) > 5
    seen = []
    stopped = integrate(
        solver.kernel, start, 0.0, 3.0, chunk=9, on_progress=lambda t: seen.append(t) or t < 1.5, **given
    )
    assert stopped.ending.kind is EndKind.STOPPED
    assert 0.0 < stopped.t_end < 3.0
    assert np.array_equal(stopped.t, whole.t[: len(stopped.t)])
    assert np.array_equal(stopped.y, whole.y[: len(stopped.y)])


def test_a_run_that_goes_on_is_the_same_run():
    system = mixed()
    whole = kn.simulate(system, 3.0, rtol=1e-11, atol=1e-12)
    part = kn.simulate(system, 1.2, rtol=1e-11, atol=1e-12)
    rest = kn.simulate(system, 3.0, start=part, rtol=1e-11, atol=1e-12)
    both = [*part.events, *rest.events]
    assert [(e.component, e.becomes) for e in both] == [(e.component, e.becomes) for e in whole.events]
    assert np.allclose([e.time for e in both], [e.time for e in whole.events], atol=1e-8)
    assert np.allclose(rest.y[-1], whole.y[-1], atol=1e-7)


@pytest.mark.parametrize("method", ["dopri5", "dop853", "rk4", "stiff"])
def test_conditions_stop_runs_with_events(method):
    system = mixed()
    options = METHODS[method]
    run = kn.simulate(system, 3.0, stop_when="clock.count > 30.5", method=method, **options)
    assert run.t[-1] == pytest.approx(0.9, abs=1e-9)
    whole = kn.simulate(system, 3.0, method=method, **options)
    met = "(slide.q > 0.3)*(room.mode < 0.5)*(t > 0.7)"
    run = kn.simulate(system, 3.0, stop_when=met, method=method, **options)
    assert run.status == "condition"
    known = [e for e in whole.events if e.time <= run.t[-1]]
    assert [e.component for e in run.events] == [e.component for e in known]
    assert np.allclose([e.time for e in run.events], [e.time for e in known], atol=1e-6)
    run = kn.simulate(system, 1.0, stop_when="slide.q < -1", method=method, **options)
    assert run.status == "done"
    assert run["clock.count"][-1] == 34


def fourbar():
    system = kn.System("fourbar", gravity=(0, -G, 0))
    bars = {}
    for name, length in (("crank", 0.4), ("rod", 1.0), ("rocker", 0.8)):
        bars[name] = system.body(name, mass=length, com=(length / 2, 0, 0), inertia=(0.01, 0.1 * length, 0.1 * length))
    system.revolute("a", system.world, bars["crank"], axis="z", q=1.2)
    system.revolute("b", bars["crank"].at(0.4, 0, 0), bars["rod"], axis="z", guess=-1.0)
    system.revolute("d", system.world.at(1.0, 0, 0), bars["rocker"], axis="z", guess=1.8)
    ends = bars["rod"].at(1.0, 0, 0, name="far"), bars["rocker"].at(0.8, 0, 0, name="far")
    system.revolute("c", *ends, axis="z")
    return system


@pytest.mark.parametrize("method", ["dopri5", "dop853", "rk4", "stiff"])
def test_loops_stay_closed_through_jumps(method):
    """The crank bounces at zero: all other speeds follow it."""
    system = fourbar()
    system.element("ground", kind="wall", joint="a", restitution=0.5)
    run = kn.simulate(system, 1.3, method=method, **METHODS[method])
    bounces = [event for event in run.events if event.kind == "jump"]
    assert len(bounces) > 2
    k = np.flatnonzero(np.diff(run.t) == 0)
    assert len(k) == len(bounces)
    before, after = run["a.u"][k], run["a.u"][k + 1]
    assert np.allclose(after, -0.5 * before, rtol=1e-12)
    for name in ("b.u", "d.u"):
        assert np.allclose(run[name][k + 1], -0.5 * run[name][k], rtol=1e-9)
    ends = [run.position(f"{body}.{end}") for body, end in (("rod", "far"), ("rocker", "far"))]
    assert np.abs(ends[0] - ends[1]).max() < 1e-12
    free = kn.simulate(fourbar(), 4.0, stop_when="a.q < 0", rtol=1e-10, atol=1e-12)
    assert bounces[0].time == pytest.approx(free.t[-1], abs=1e-8)


def test_batches_and_going_back_are_refused():
    system = ball()
    system.element("ground", kind="floor")
    dynamics = kn.compile(system)
    solver = Solver(dynamics, dynamics.parameters, dynamics.inputs, Options())
    with pytest.raises(ValueError, match="events happen forwards in time"):
        integrate(solver.kernel, dynamics.initial.y, 1.0, 0.0)
    with pytest.raises(ValueError, match="simulate them one by one"):
        rk4_batch(solver.kernel, dynamics.initial.y[None], 0.0, 1.0, step=0.1)


def test_small_motions_leave_modes_as_they_are():
    system = room()
    system.element("ground", kind="floor")
    system.element("clock", kind="clock", of="slide.q")
    small = kn.linearize(system, anywhere=True)
    assert small.states == ("slide.q", "slide.u", "room.T")
    assert np.allclose(small.A, [[0, 1, 0], [0, 0, 0], [0, 0, -2.0]])


def test_loads_with_jumps_have_a_spectrum():
    """A shaft that bounces: two rows stand at each event."""
    system = kn.System("shaft", gravity=(0, 0, 0))
    disk = system.body("disk", mass=1.0, com=(0.1, 0, 0), inertia=(0.1, 0.1, 0.1))
    system.revolute("bearing", system.world, disk, axis="z", q=1.0, u=-3.0)
    system.element("stop", kind="floor", joint="bearing", restitution=1.0)
    system.element("clock", kind="clock", of="bearing.q", period=0.01)
    run = kn.simulate(system, 2.0, max_step=1e-3)
    assert (np.diff(run.t) == 0).sum() > 100
    assert run.spectrum("bearing", "total").mean[:2].any()
    assert run.audit.relative < 1e-9


@pytest.mark.parametrize(("method", "step"), [("dopri5", None), ("dop853", None), ("rk4", 0.05)])
def test_python_runs_the_loops_with_events_as_they_stand(monkeypatch, method, step):
    """The same bits as machine code."""
    dynamics = kn.compile(mixed())
    solver = Solver(dynamics, dynamics.parameters, dynamics.inputs, Options(method=method, step=step))
    given = {"method": method, "step": step, "p": dynamics.parameters, "inputs": dynamics.inputs}
    compiled = integrate(solver.kernel, dynamics.initial.y, 0.0, 0.7, **given)
    monkeypatch.setattr(compiled_loops, "loop", compiled_loops.find_source)
    plain = integrate(solver.kernel, dynamics.initial.y, 0.0, 0.7, **given)
    assert np.array_equal(plain.t, compiled.t)
    assert np.array_equal(plain.y, compiled.y)
    assert plain.events == compiled.events
    assert len(plain.events) == 2


def test_python_runs_the_events_of_the_stiff_method_as_they_stand(monkeypatch):
    dynamics = kn.compile(mixed())
    solver = Solver(dynamics, dynamics.parameters, dynamics.inputs, Options(method="stiff"))
    times = np.linspace(0.0, 0.7, 30)
    compiled = solver.run(dynamics.initial.y, 0.0, 0.7, times)
    monkeypatch.setattr(compiled_loops, "loop", compiled_loops.find_source)
    plain = solver.run(dynamics.initial.y, 0.0, 0.7, times)
    assert np.array_equal(plain.y, compiled.y)
    assert plain.events == compiled.events
    assert (len(plain.events), plain.steps) == (2, compiled.steps)


def test_runs_with_events_are_kept_and_shown(tmp_path):
    run = kn.simulate(mixed(), 1.0)
    run.save(tmp_path / "run.nc")
    again = kn.Trajectory.load(tmp_path / "run.nc")
    assert again.events == run.events
    assert np.array_equal(again.t, run.t)
    assert np.array_equal(again["room.mode"], run["room.mode"])
    assert again.end.z[-1] == run["clock.count"][-1]
    assert len(run.to_xarray().time) == len(run)
    assert f"{len(run.events)} events" in repr(run)
    figure = run.plot("slide.q", "room.mode")
    assert len(figure.axes[0].collections[0].get_segments()) == len(run.events)
