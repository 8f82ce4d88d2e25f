"""Many runs in the background: the numbers of single runs, whatever the order and the threads; control; failures."""

from __future__ import annotations

import gc
import itertools
import threading
import time
import weakref

import numpy as np
import pytest
from background_runs import run_many

import kinode as kn
from kinode.kernels.kernel_options import Kernel
from kinode.ode import compiled_loops
from kinode.ode.integrate import integrate
from kinode.simulation.solver import Options, Solver
from kinode.structure.loop_closure import rows_serve
from kinode.studies import batch
from kinode.studies.batch import refined_order

# Model, what varies, how far it runs, what is kept: trees with loads, events, loops, circuits, fixed steps and BDF.
CASES = {
    "double_pendulum": ("elbow.q", (0.1, 0.5), 1.0, "elbow.reaction.force|peak", {}),
    "double_pendulum rk4": ("elbow.q", (0.1, 0.5), 0.5, "elbow.reaction.force|rms", {"method": "rk4", "step": 1e-3}),
    "double_pendulum stiff": ("elbow.q", (0.1, 0.5), 0.5, "elbow.reaction.force|mean", {"method": "stiff"}),
    "excavator": ("boom_length", (5.0, 5.4), 3.0, "swing.reaction.moment|peak", {}),
    "backlash_axis": ("play", (1e-3, 2e-3), 0.3, "system.energy|final", {}),
    "stewart_platform": ("base", (0.98, 1.02), 0.2, "system.energy|rms", {"samples": 11}),
    "slider_crank": ("n", (200.0, 300.0), 0.02, "bore.reaction.force|time_of_peak", {}),
}


def oscillator() -> kn.System:
    """A cart on a spring of stiffness k, drawn aside by 0.1 m."""
    system = kn.System("oscillator", gravity=(0, 0, 0))
    k = system.parameter("k", "100 N/m")
    system.input("push", 0.0)
    cart = system.body("cart", mass=1.0)
    system.prismatic("rail", system.world, cart, axis="x", q="0.1 m", stiffness=k, effort="push")
    return system


def escaping() -> kn.System:
    """Speed grows as its square: it is infinite at t = 1/a."""
    system = kn.System("escaping", gravity=(0, 0, 0))
    system.parameter("a", 1.0, bounds=(0.0, 10.0))
    cart = system.body("cart", mass=1.0)
    system.prismatic("rail", system.world, cart, axis="x", u=1.0, effort="a*rail.u^2")
    return system


def prepared(case: str):
    name, (low, high), until, of, fields = case.split()[0], *CASES[case][1:]
    system = kn.load(f"examples/{name}.yaml")
    dynamics, varied = kn.compile(system), CASES[case][0]
    if name == "stewart_platform":
        own = dynamics.parameters[list(dynamics.topology.parameters).index(varied)]
        low, high = low * own, high * own
    return dynamics, varied, np.linspace(low, high, 5).tolist(), until, of, fields


@pytest.mark.parametrize("case", CASES)
def test_rows_are_those_of_single_runs_in_any_order_and_number_of_threads(case):
    dynamics, varied, values, until, of, fields = prepared(case)
    forward = run_many(dynamics, {varied: values}, until, of=of, threads=1, **fields).wait()
    backward = run_many(dynamics, {varied: values}, until, of=of, threads=3, order=range(4, -1, -1), **fields).wait()
    fresh = run_many(
        kn.compile(dynamics.system), {varied: values}, until, of=of, order=[2, 4, 0, 3, 1], **fields
    ).wait()
    assert [row.status for row in forward] == ["done"] * 5, forward[0].message
    numbers = [row.results[of] for row in forward]
    assert numbers == [row.results[of] for row in backward] == [row.results[of] for row in fresh]
    quantity, _, by = of.partition("|")
    for k in (0, 3):
        word = "parameters" if varied in dynamics.system.parameters else "start"
        run = kn.simulate(dynamics, until, **{word: {varied: values[k]}}, **fields)
        size = np.linalg.norm(run[quantity], axis=1) if run[quantity].ndim > 1 else run[quantity]
        if by in ("peak", "final"):
            assert numbers[k] == (size[-1] if by == "final" else size.max())
        elif by == "time_of_peak":
            assert numbers[k] == run.t[np.argmax(size >= size.max() * (1 - 1e-9))]
        else:
            power = 2 if by == "rms" else 1
            mean = np.trapezoid(size**power, run.t) / (run.t[-1] - run.t[0])
            assert numbers[k] == pytest.approx(mean ** (1 / power), rel=1e-13)
    assert len(set(numbers)) > 1


def test_parameters_inputs_and_initial_values_are_told_apart():
    rows = run_many(
        kn.compile(oscillator()),
        [{"k": "400 N/m"}, {"push": 10.0}, {"rail.q": "20 cm"}, {}],
        2.0, of=["rail.q|peak", "rail.u|peak", "rail.q|least", "rail.u*0.5|peak"],
    ).wait()  # fmt: skip
    speeds = [abs(row.results["rail.u|peak"]) for row in rows]
    assert speeds == pytest.approx([2.0, 0.0, 2.0, 1.0], rel=2e-3, abs=1e-9)
    assert rows[1].results["rail.q|least"] == pytest.approx(0.1, abs=1e-9)  # the push holds it where it starts
    assert rows[3].results["rail.q|peak"] == pytest.approx(0.1)
    assert rows[3].results["rail.q|least"] == pytest.approx(-0.1, rel=1e-3)
    assert rows[0].results["rail.u*0.5|peak"] == rows[0].results["rail.u|peak"] / 2


def test_the_peak_of_a_number_has_its_sign():
    row = run_many(kn.compile(oscillator()), [{}], 0.3, of=["rail.u|peak", "rail.u|time_of_peak"]).wait()[0]
    assert row.results["rail.u|peak"] == pytest.approx(-1.0, rel=1e-3)
    assert row.results["rail.u|time_of_peak"] == pytest.approx(np.pi / 20, abs=0.02)


def driven(damping=0.4) -> kn.System:
    """A cart on a spring, pushed by a sine of 10 rad/s: its amplitude is largest at k = 100 N/m."""
    system = kn.System("driven", gravity=(0, 0, 0))
    k = system.parameter("k", "100 N/m", bounds=(1.0, 1000.0))
    system.input("push", 1.0)
    cart = system.body("cart", mass=1.0)
    system.prismatic("rail", system.world, cart, axis="x", stiffness=k, damping=damping, effort="push*sin(10*t)")
    return system


def test_the_amplitudes_of_a_driven_oscillator():
    """After 60 s the motion is the steady one: amplitude 1/|k - m w^2 + i c w|."""
    dynamics, fields = kn.compile(driven(damping=1.0)), {"t0": 0.0, "times": np.linspace(50, 60, 4001)}
    values = np.linspace(50.0, 150.0, 5)
    rows = run_many(dynamics, {"k": values}, 60.0, of="rail.q|peak", order=refined_order(5), **fields).wait()
    found = [abs(row.results["rail.q|peak"]) for row in rows]
    np.testing.assert_allclose(found, 1.0 / np.abs(values - 100.0 + 10.0j), rtol=1e-5)  # between samples: (w dt)^2/8


def test_other_values_stay_and_inputs_vary():
    dynamics, of = kn.compile(driven()), "rail.q|rms"
    sets = [{"k": 10.0, "push": push} for push in (0.0, 1.0, 2.0)]
    rest, one, two = (row.results[of] for row in run_many(dynamics, sets, 1.0, of=of, samples=201).wait())
    assert rest == 0.0
    assert two == pytest.approx(2 * one, rel=1e-6)  # linear
    run = kn.simulate(dynamics, 1.0, parameters={"k": 10.0}, samples=201)
    assert one == pytest.approx(np.sqrt(np.trapezoid(run["rail.q"] ** 2, run.t)), rel=1e-12)


def test_failed_runs_are_rows():
    dynamics = kn.compile(escaping())
    rows = run_many(dynamics, {"a": [0.5, 2.0, 11.0, 0.2]}, 1.0, of="rail.u|final").wait()
    assert [row.status for row in rows] == ["done", "failed", "failed", "done"]
    assert rows[0].results["rail.u|final"] == pytest.approx(2.0, rel=1e-6)
    assert np.isnan(rows[1].results["rail.u|final"])
    assert "t = 0.5" in rows[1].message or "0.4999" in rows[1].message
    assert "a" in rows[2].message and "10" in rows[2].message
    condition = run_many(dynamics, {"a": [2.0]}, 1.0, of="rail.u|final", stop_when="rail.u > 3").wait()[0]
    assert condition.status == "condition"
    assert condition.results["rail.u|final"] == pytest.approx(3.0, rel=1e-6)


def test_rows_come_as_they_are_made():
    order = refined_order(9)
    batch = run_many(
        kn.compile(oscillator()), {"k": np.linspace(50, 90, 9)}, 1.0, of="rail.u|rms", order=order, threads=1
    )
    assert [row.index for row in batch] == order == [0, 8, 4, 2, 6, 1, 3, 5, 7]
    assert [row.index for row in batch.rows] == list(range(9))
    assert batch.finished
    assert not batch.cancelled


@pytest.mark.parametrize("count", [1, 2, 3, 6, 10, 33])
def test_a_refined_order_names_each_point_once(count):
    order = refined_order(count)
    assert sorted(order) == list(range(count))
    assert order[:2] == ([0, count - 1] if count > 1 else [0])


def test_no_values_no_rows():
    batch = run_many(kn.compile(oscillator()), [], 1.0, of="rail.q|peak")
    assert batch.wait() == []
    assert list(batch) == []


def test_a_batch_is_cancelled_between_runs():
    batches = []
    ready = threading.Event()

    def stop_at_third(row):
        ready.wait()
        if len(batches[0].rows) >= 3:
            batches[0].cancel()

    batches.append(run_many(kn.compile(oscillator()), [{}] * 500, 1.0, of="rail.q|peak", on_row=stop_at_third))
    ready.set()
    assert 3 <= len(batches[0].wait()) < 20
    assert batches[0].cancelled
    assert batches[0].finished


def test_a_long_run_is_given_up():
    batch = run_many(kn.compile(oscillator()), [{}] * 4, 1e7, of="rail.q|peak", times=[1e7])
    batch.cancel()
    assert batch.wait(120.0) == []
    assert batch.finished


def test_a_batch_pauses_and_goes_on():
    batches = []
    ready, first = threading.Event(), threading.Event()

    def pause_at_first(row):
        ready.wait()
        if len(batches[0].rows) == 1:
            batches[0].pause()
            first.set()

    dynamics = kn.compile(oscillator())
    batches.append(
        run_many(dynamics, {"k": np.linspace(50, 90, 40)}, 1.0, of="rail.u|rms", on_row=pause_at_first, threads=1)
    )
    ready.set()
    assert first.wait(180.0)
    assert len(batches[0].wait(0.3)) == 1  # no other row comes
    batches[0].resume()
    paused = batches[0].wait()
    plain = run_many(dynamics, {"k": np.linspace(50, 90, 40)}, 1.0, of="rail.u|rms").wait()
    assert [row.results for row in paused] == [row.results for row in plain]
    with run_many(dynamics, [{}], 1.0, of="rail.q|peak").paused():
        pass


def test_what_on_row_raises_is_raised_where_rows_are_asked_for():
    def fault(row):
        raise RuntimeError("full")

    with pytest.raises(RuntimeError, match="full"):
        run_many(kn.compile(oscillator()), [{}] * 3, 0.1, of="rail.q|peak", on_row=fault).wait()


@pytest.mark.parametrize(
    ("values", "fields", "message"),
    [
        ([{"K": 1.0}], {}, "K: neither a parameter nor an input"),
        ([{"rail.v": 1.0}], {}, "rail.v"),
        ([{}], {"of": "rail.q"}, r"Write rail.q\|peak"),
        ([{}], {"of": "rail.q|peek"}, "did you mean peak"),
        ([{}], {"of": "rail.w|peak"}, "rail"),
        ([{}], {"method": "euler"}, "method"),
    ],
)
def test_wrong_arguments_are_named(values, fields, message):
    with pytest.raises(kn.Error, match=message):
        run_many(kn.compile(oscillator()), values, 1.0, **{"of": "rail.q|peak", **fields})


def test_initial_values_need_a_start_by_name():
    dynamics = kn.compile(oscillator())
    with pytest.raises(kn.ArgumentError, match=r"rail.q is to vary, and the start is a whole state"):
        run_many(dynamics, [{"rail.q": 1.0}], 1.0, of="rail.q|peak", start=dynamics.initial)
    common = run_many(dynamics, [{"rail.q": 0.0}], 1.0, of="rail.u|peak", start={"rail.u": 0.7}).wait()[0]
    assert abs(common.results["rail.u|peak"]) == pytest.approx(0.7)


@pytest.mark.parametrize("name", ["double_pendulum", "backlash_axis", "four_bar"])
def test_loops_leave_python_to_other_threads(name):
    """While a loop runs in one go, this thread computes: the loop does not hold Python's lock."""
    dynamics = kn.compile(kn.load(f"examples/{name}.yaml"))
    solver, y, busy = Solver(dynamics, dynamics.parameters, dynamics.inputs, Options()), dynamics.initial.y, []
    arguments = {"p": dynamics.parameters, "inputs": dynamics.inputs, "quaternions": solver.quaternions}
    compiled_loops.loop("advance_adaptive")

    def run():
        began = time.thread_time()
        while not busy or busy[-1] < 0.2:  # enough that a lock held would be seen
            integrate(solver.kernel, y, 0.0, 2.0, chunk=1 << 40, times=[2.0], **arguments)
            busy.append(time.thread_time() - began)

    thread = threading.Thread(target=run)
    thread.start()
    turns, began = 0, time.thread_time()
    while thread.is_alive():
        turns += 1
    mine = time.thread_time() - began
    thread.join()
    assert mine > 0.2 * busy[-1]
    assert turns > 1000


def table(middle="0.5 m") -> kn.System:
    """A board on three legs of one length: one leg is redundant, unless the middle one has another length."""
    system = kn.System("table", gravity=(0, -9.81, 0))
    lengths = (0.5, system.parameter("middle", middle), 0.5)
    board = system.body("board", mass=1, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    for k, length in enumerate(lengths):
        leg = system.body(f"leg{k}", mass=1, inertia=(0.01, 0.01, 0.01))
        system.revolute(f"foot{k}", system.world.at(0.5 * k, 0, 0), leg, guess=1.0)
        system.revolute(f"top{k}", leg.at(length, 0, 0), board.at(0.5 * k, 0, 0), guess=-1.0)
    return system


def test_a_run_with_other_independent_constraints_is_made_and_noted():
    dynamics, of = kn.compile(table()), "board.velocity|peak"
    rows = run_many(dynamics, {"middle": [0.5, 0.49, 0.5]}, 0.2, of=of).wait()
    assert [row.status for row in rows] == ["done"] * 3, [row.message for row in rows]
    assert rows[1].results[of] < 1e-9  # it is rigid now
    assert any("foot0 starts at" in note for note in rows[1].notes)
    assert rows[0].notes == ()
    assert rows[0].results == rows[2].results
    assert rows[0].results[of] > 0.1


def find_other_rows(dynamics):
    """Independent constraint rows that serve as well as those in use."""
    own = dynamics.closure.rows
    G = dynamics.loops.evaluate(dynamics.point(dynamics.initial))[1]
    choices = itertools.combinations(range(len(G)), len(own))
    return next(choice for choice in choices if choice != own and rows_serve(G, choice, len(own)))


def test_code_of_a_run_stays_in_memory_when_another_run_takes_other_rows():
    """Loops in machine code hold addresses only: code that was freed under them ended the process."""
    dynamics = kn.compile(table())
    own = dynamics.closure.rows
    dynamics.start.use_rows(find_other_rows(dynamics))
    run = Solver(dynamics, dynamics.parameters, dynamics.inputs, Options())
    kernels, code = weakref.ref(dynamics.kernels), weakref.ref(dynamics.kernels.machine(Kernel("rate")).engine[0])
    dynamics.start.use_rows(own)
    Solver(dynamics, dynamics.parameters, dynamics.inputs, Options())  # keeps its kernels in the place of the others
    gc.collect()
    assert code() is not None
    assert dynamics.kernels is not kernels() and kernels().kernel_at(run.kernel.address) == Kernel("rate")


def test_rows_that_one_run_chooses_are_kept_from_the_others(monkeypatch):
    """A start that chooses other independent rows gets a compiled system of its own; the common one keeps its rows."""
    dynamics, of = kn.compile(table()), "board.velocity|peak"
    own, other = dynamics.closure.rows, find_other_rows(dynamics)
    plain = run_many(dynamics, [{}, {}], 0.2, of=of).wait()
    find_begin, chosen = batch.find_begin, []

    def choose_other(task, *arguments):
        begin = find_begin(task, *arguments)
        if not chosen:
            chosen.append(other)
            task.dynamics.start.use_rows(other)
        return begin

    monkeypatch.setattr(batch, "find_begin", choose_other)
    rows = run_many(dynamics, [{}, {}], 0.2, of=of, threads=1).wait()
    assert chosen == [other]
    assert dynamics.closure.rows == own
    assert rows[1].results == plain[1].results
    assert rows[0].results[of] == pytest.approx(plain[0].results[of], rel=1e-6)  # other rows, the same motion
