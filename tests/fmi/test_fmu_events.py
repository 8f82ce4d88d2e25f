"""FMUs for Model Exchange with events as parts with states of the system: located, repeatable, in threads and files."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from small_fmus import make_fmu

import kinode as kn
from kinode.fmi.fmu_pool import InstancePool

VERSIONS = [2, 3]
TIGHT = {"rtol": 1e-11, "atol": 1e-13}
METHODS = [(None, TIGHT), ("stiff", {"rtol": 1e-9}), ("rk4", {"step": 2e-3})]


def make_ball(version=2, **parameters):
    system = kn.System("s")
    system.fmu("ball", make_fmu("ball", version), parameters=parameters)
    return system


def fall(t, e=0.7, g=9.81, push=0.0, until=1.2):
    """Height of the ball from 1 m: impacts return the share e of the speed, a push adds to it at t = 1 s; and times."""
    h, v, t0, times, pieces = 1.0, 0.0, 0.0, [], []
    while t0 < until:
        lands = t0 + (v + np.sqrt(v * v + 2 * g * h)) / g
        pushed = t0 < 1.0 < lands
        t1 = 1.0 if pushed else lands
        pieces.append((t0, h, v))
        h, v = h + v * (t1 - t0) - g * (t1 - t0) ** 2 / 2, v - g * (t1 - t0)
        h, v = (h, v + push) if pushed else (0.0, -e * v)
        times.append(t1)
        t0 = t1
    last = [[piece for piece in pieces if piece[0] <= x][-1] for x in t]
    return np.array([p[1] + p[2] * (x - p[0]) - g * (x - p[0]) ** 2 / 2 for x, p in zip(t, last, strict=True)]), times


def make_room(version=2, law="2 + 0.2*room.switches", **parameters):
    system = kn.System("s")
    system.fmu("room", make_fmu("thermostat", version), inputs={"u": law}, parameters=parameters)
    return system


def warmth(t, high=1.0, low=0.5):
    """x of the thermostat whose heating grows by a tenth with each switch, and the times of switches."""
    x, t0, n, times, pieces = 0.0, 0.0, 0, [], []
    while t0 < t[-1]:
        aim, target = (0.0, low) if n % 2 else (2 + 0.2 * n, high)
        pieces.append((t0, x, aim))
        t0 += np.log((x - aim) / (target - aim))
        x, n = target, n + 1
        times.append(t0)
    last = [[piece for piece in pieces if piece[0] <= s][-1] for s in t]
    return np.array([p[2] + (p[1] - p[2]) * np.exp(p[0] - s) for s, p in zip(t, last, strict=True)]), times


# -- what happens ------------------------------------------------------------------------------------
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("method", "options"), METHODS)
def test_impacts_and_time_events_are_those_of_mechanics(version, method, options):
    run = kn.simulate(make_ball(version, push=1.5), 1.2, every=0.01, method=method, **options)
    exact, times = fall(run.t, push=1.5)
    np.testing.assert_allclose(run["ball.h"], exact, atol=1e-9)
    happened = np.array([event.time for event in run.events])
    for time in times[:-1]:  # on the ground its indicator is zero: leaving it is another event, 1e-9 m above
        assert abs(happened - time).min() < 1e-11
    assert len(happened) == 5 and times[-1] > 1.2
    assert run["ball.next_event"][0] == 1.0 and run["ball.next_event"][-1] == 2.0


@pytest.mark.parametrize("version", VERSIONS)
def test_discrete_outputs_change_at_events_and_act_in_laws(version):
    run = kn.simulate(make_room(version), 4.0, every=0.02, **TIGHT)
    exact, times = warmth(run.t)
    np.testing.assert_allclose(run["room.x"], exact, atol=1e-9)
    passed = np.searchsorted(times, run.t, side="right")
    np.testing.assert_array_equal(run["room.switches"], passed)
    np.testing.assert_array_equal(run["room.heats"], 1.0 - passed % 2)
    assert len(times) > 5


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("method", [None, "stiff", "rk4"])
def test_an_event_that_is_asked_for_after_a_step(version, method):
    options = {"step": 0.01} if method == "rk4" else {"max_step": 0.01}
    run = kn.simulate(make_room(version, "0", asks=0.3, high=3.0), 1.0, method=method, **options)
    [event] = run.events
    assert 0.3 <= event.time < 0.3 + 0.011
    behind = run.t > event.time + 1e-9
    np.testing.assert_allclose(run["room.x"][behind], np.exp(event.time - run.t[behind]), atol=1e-6)


def test_an_fmu_among_other_events_and_machines():
    """A relay of kinode switches an input of the FMU: the indicator changes its sign at once, and the FMU answers."""
    system = kn.System("s")
    system.relay("relay", input="sin(t)", on=0.5, off=-0.5, low=-2, high=2)
    system.fmu("room", make_fmu("thermostat", 2), inputs={"u": "relay.output"})
    run = kn.simulate(system, 8.0, every=0.05, **TIGHT)
    assert len(run.events) > 4 and run["room.switches"][-1] >= 2
    assert run["room.x"].max() <= 1 + 1e-9


# -- runs and instances ------------------------------------------------------------------------------
def test_runs_repeat_and_go_on():
    dynamics = kn.compile(make_room())
    whole = kn.simulate(dynamics, 4.0, every=0.1, **TIGHT)
    for _ in range(2):
        again = kn.simulate(dynamics, 4.0, every=0.1, **TIGHT)
        for name in ("room.x", "room.ticket", "room.switches"):
            np.testing.assert_array_equal(again[name], whole[name])
    first = kn.simulate(dynamics, 2.0, every=0.1, **TIGHT)
    kn.simulate(dynamics, 0.3)
    rest = kn.simulate(dynamics, 4.0, start=first, every=0.1, **TIGHT)
    np.testing.assert_allclose(rest["room.x"][-1], whole["room.x"][-1], atol=1e-10)
    assert rest["room.switches"][-1] == whole["room.switches"][-1]


def test_the_same_run_has_the_same_tickets_in_another_process():
    run = kn.simulate(make_room(), 2.0, every=0.5)
    other = kn.simulate(pickle.loads(pickle.dumps(make_room())), 2.0, every=0.5)
    np.testing.assert_array_equal(run["room.ticket"], other["room.ticket"])
    assert len(np.unique(run["room.ticket"])) > 2


def test_threads_do_not_disturb_each_other():
    system = kn.System("s")
    system.parameter("high", 1.0)
    system.fmu("room", make_fmu("thermostat", 3), inputs={"u": 2}, parameters={"high": "high"})
    dynamics, highs = kn.compile(system), np.linspace(0.8, 1.4, 8)

    def last(high):
        return float(kn.simulate(dynamics, 5.0, parameters={"high": float(high)}, rtol=1e-9)["room.x"][-1])

    alone = [last(high) for high in highs]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(last, highs)) == alone
    study = kn.sweep(dynamics, {"high": highs}, 5.0, keep=["room.x|final"], rtol=1e-9, workers=2)
    np.testing.assert_allclose(study["room.x|final"], alone, atol=1e-12)


def test_a_study_in_other_processes_has_the_same_numbers():
    """Sampled and with states, with events and without: each process unpacks the file and makes its own instances."""
    system = kn.System("s")
    system.parameter("high", 1.0)
    system.fmu("room", make_fmu("thermostat", 2), inputs={"u": 2}, parameters={"high": "high"})
    system.fmu("lag", make_fmu("lag", 3), inputs={"u": "room.x"}, outputs=["y"], events=False)
    system.fmu("sampled", make_fmu("lag", 2), inputs={"u": "room.x"}, outputs=["y"], period="10 ms")
    keep, highs = ["room.x|final", "room.switches|final", "lag.y|final", "sampled.y|final"], [0.8, 1.0, 1.2]
    here, there = (kn.sweep(system, {"high": highs}, 1.0, keep=keep, **on) for on in ({}, {"on": "processes"}))
    for name in keep:
        np.testing.assert_array_equal(there[name], here[name], err_msg=name)


def test_one_instance_in_a_process_serves_all(monkeypatch):
    monkeypatch.setattr("kinode.fmi.fmu_pool.MOST_INSTANCES", 1)
    dynamics = kn.compile(make_room(3))
    with ThreadPoolExecutor(3) as pool:
        ends = list(pool.map(lambda _: float(kn.simulate(dynamics, 3.0, **TIGHT)["room.x"][-1]), range(6)))
    assert set(ends) == {ends[0]} and ends[0] == pytest.approx(warmth(np.array([3.0]))[0][-1], abs=1e-9)


def test_no_event_mode_in_trial_steps(monkeypatch):
    """Events of the FMU happen once each, however many steps are tried."""
    happened, go_on = [], InstancePool.continue_history
    monkeypatch.setattr(InstancePool, "continue_history", lambda self, *a: happened.append(a[0]) or go_on(self, *a))
    run = kn.simulate(make_room(), 4.0, rtol=1e-4)
    assert happened == [event.time for event in run.events]


def test_an_event_of_an_unknown_history_is_refused_by_name():
    dynamics = kn.compile(make_room(3))
    y = dynamics.initial
    y.z[[c.name for c in dynamics.coordinates].index("room.ticket")] = 12345.0
    with pytest.raises(kn.Error, match=r"room: the FMU thermostat_3\.fmu cannot be brought to where an event left it"):
        kn.simulate(dynamics, 0.1, start=y)


# -- what is refused ---------------------------------------------------------------------------------
def test_without_events_it_needs_a_period():
    with pytest.raises(kn.ModelError, match=r"ball\.period: is needed: the FMU has event indicators, and events=False"):
        kn.System("s").fmu("ball", make_fmu("ball", 2), events=False)
    with pytest.raises(kn.ModelError, match=r"ball\.events: is true or false"):
        kn.System("s").fmu("ball", make_fmu("ball", 2), events="often")


def test_derivatives_of_runs_are_refused_by_name():
    with pytest.raises(kn.ArgumentError, match=r"sensitivity: room may have events in an FMU"):
        kn.simulate(make_room(2, high=1.0), 1.0, sensitivity=["room.x"])


# -- memory ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("version", VERSIONS)
def test_memory_beyond_states_is_found_and_told(version):
    words = rf"room: the FMU thermostat_{version}\.fmu remembers more than its states: at t = 0\.3 s der\(x\) is"
    with pytest.raises(kn.SimulationError, match=words) as error:
        kn.simulate(make_room(version, keeps=0.5), 0.3)
    assert "give a period=" in str(error.value) and error.value.run.t[-1] == 0.3
    assert kn.simulate(make_room(version), 0.3)["room.x"][-1] > 0.4


def test_memory_is_looked_for_in_some_runs_alone(monkeypatch):
    from kinode.fmi import fmu_functions

    asked, find = [], fmu_functions.find_memory
    monkeypatch.setattr(fmu_functions, "find_memory", lambda *given: asked.append(given[1][0]) or find(*given))
    dynamics = kn.compile(make_room())
    for _ in range(9):
        kn.simulate(dynamics, 0.2)
    assert len(asked) == 4  # of the runs 1, 2, 4, 8
    kn.simulate(dynamics, 0.4)
    assert asked[-1] == 0.4, "a longer run than all before"
