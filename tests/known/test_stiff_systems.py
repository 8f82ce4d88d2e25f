"""Stiff systems: problems of the Test Set for IVP Solvers, loops with stiff pins, events, large systems, messages.

The test set is F. Mazzia, C. Magherini, Test Set for Initial Value Problem Solvers, release 2.4, 2008 (Bari, CWI).
"""

from __future__ import annotations

import numpy as np
import pytest
from background_runs import run_many
from mechanisms import ANDREWS_ANGLES, andrews

import kinode as kn
from kinode.kernels.derivatives import derivative_words
from kinode.simulation import run_kernels

TIGHT = {"rtol": 1e-10, "atol": 1e-12}


# -- the test set ------------------------------------------------------------------------------------------------------
def test_andrews_squeezer():
    """Seven bodies in three loops, with a stiff spring; chapter II-3."""
    run = kn.simulate(andrews(), 0.03, method="stiff", **TIGHT)
    assert run.facts["steps"] < 400
    for name, angle in ANDREWS_ANGLES.items():
        assert run[f"{name}.q"][-1] == pytest.approx(angle, abs=2e-8)
    coarse = kn.simulate(andrews(), 0.03, method="stiff", rtol=1e-6, atol=1e-8)
    assert coarse["beta.q"][-1] == pytest.approx(ANDREWS_ANGLES["beta"], abs=2e-4)


def car_axis():
    """An axle over a bumpy road, on stiff springs between wheels, chapter II-4: masses of 5e-4 at both of its ends."""
    system = kn.System("car_axis", gravity=(0, -1, 0))
    road, guide = system.body("road"), system.body("guide")
    bar = system.body("bar", mass=1e-3, com=(0.5, 0, 0), inertia={"zz": 2.5e-4})
    system.revolute("bump", system.world, road, motion="asin(0.1*sin(10*t))")
    system.prismatic("left", road, guide, axis="y", q=0.5, u=0.0)
    system.revolute("tilt", guide, bar, q=0.0, u=-1.0)
    ends = bar.at(0, 0, 0, name="l"), bar.at(1, 0, 0, name="r")
    system.spring("left_spring", system.world.at(0, 0, 0), ends[0], stiffness=1.0, free_length=0.5)
    system.spring("right_spring", road.at(1, 0, 0), ends[1], stiffness=1.0, free_length=0.5)
    return system


def test_car_axis():
    """Positions and velocities of both ends after 3 s, as the test set has them."""
    published = [
        0.493455784275402809122e-1, 0.496989460230171153861, 0.104174252488542151681e1, 0.373911027265361256927,
        -0.770583684040972357970e-1, 0.744686658723778553466e-2, 0.175568157537232222276e-1, 0.770341043779251976443,
    ]  # fmt: skip
    run = kn.simulate(car_axis(), 3.0, method="stiff", samples=2, **TIGHT)
    found = [run[f"bar.{end}.{what}"][-1][:2] for what in ("position", "velocity") for end in "lr"]
    assert np.concatenate(found) == pytest.approx(published, abs=1e-10)


def ring_modulator():
    """Two signals mixed by four diodes, chapter II-12, with capacities of 2 pF: its 15 equations, as integrators."""
    y = {k: f"y{k}.output" for k in range(1, 16)}
    low, high = "0.5*sin(2000*pi*t)", "2*sin(20000*pi*t)"
    voltages = (
        f"{y[3]} - {y[5]} - {y[7]} - {high}", f"-{y[4]} + {y[6]} - {y[7]} - {high}",
        f"{y[4]} + {y[5]} + {y[7]} + {high}", f"-{y[3]} - {y[6]} + {y[7]} + {high}",
    )  # fmt: skip
    rates = (
        f"({y[8]} - 0.5*{y[10]} + 0.5*{y[11]} + {y[14]} - {y[1]}/25000)/1.6e-8",
        f"({y[9]} - 0.5*{y[12]} + 0.5*{y[13]} + {y[15]} - {y[2]}/25000)/1.6e-8",
        f"({y[10]} - d1 + d4)/2e-12", f"(-{y[11]} + d2 - d3)/2e-12",
        f"({y[12]} + d1 - d3)/2e-12", f"(-{y[13]} - d2 + d4)/2e-12",
        f"(-{y[7]}/50 + d1 + d2 - d3 - d4)/1e-8",
        f"-{y[1]}/4.45", f"-{y[2]}/4.45",
        f"(0.5*{y[1]} - {y[3]} - 17.3*{y[10]})/5e-4", f"(-0.5*{y[1]} + {y[4]} - 17.3*{y[11]})/5e-4",
        f"(0.5*{y[2]} - {y[5]} - 17.3*{y[12]})/5e-4", f"(-0.5*{y[2]} + {y[6]} - 17.3*{y[13]})/5e-4",
        f"(-{y[1]} + {low} - (50 + 36.3)*{y[14]})/0.002", f"(-{y[2]} - (600 + 36.3)*{y[15]})/0.002",
    )  # fmt: skip
    system = kn.System("ring_modulator")
    for k, voltage in enumerate(voltages, 1):
        system.signal(f"d{k}", f"40.67286402e-9*(exp(17.7493332*({voltage})) - 1)")
    for k, rate in enumerate(rates, 1):
        system.integrator(f"y{k}", rate)
    return system


def test_ring_modulator():
    """After 1 ms; the published numbers have eleven digits."""
    published = [
        -0.2339057358486745e-1, -0.7367485485540825e-2, 0.2582956709291169, -0.4064465721283450, -0.4039455665149794,
        0.2607966765422943, 0.1106761861269975, 0.2939904342435596e-6, -0.2840029933642329e-7, 0.7267198267264553e-3,
        0.7929487196960840e-3, -0.7255283495698965e-3, -0.7941401968526521e-3, 0.7088495416976114e-4,
        0.2390059075236570e-4,
    ]  # fmt: skip
    run = kn.simulate(ring_modulator(), 1e-3, method="stiff", samples=2, rtol=1e-7, atol=1e-11)
    assert [run[f"y{k}.output"][-1] for k in range(1, 16)] == pytest.approx(published, rel=1e-6)


# -- loops -------------------------------------------------------------------------------------------------------------
BARS = {"crank": (1.0, 0.1, 0.02), "coupler": (2.0, 0.3, 0.05), "rocker": (1.5, 0.2, 0.03)}
ANGLES = {"left": 0.8726646259971648, "pin": -0.5405865533341843, "right": 1.059344071594348}


def four_bar(stiffness=None, damping=2e3, top="revolute"):
    """The four-bar of the examples; its pins give by a stiffness in N/m."""
    system = kn.System("four_bar", gravity=(0, -9.81, 0))
    crank, coupler, rocker = (
        system.body(name, mass=mass, com=(com, 0, 0), inertia=(0.01, inertia, inertia))
        for name, (mass, com, inertia) in BARS.items()
    )
    give = {"stiffness": (stiffness, stiffness, 0), "damping": (damping, damping, 0)} if stiffness else {}
    pins = {
        "left": (system.world, crank),
        "pin": (crank.at(0.2, 0, 0), coupler),
        "right": (system.world.at(0.5, 0, 0), rocker),
    }
    for name, ends in pins.items():
        if stiffness:
            system.planar(name, *ends, q=(0, 0, ANGLES[name]), **give)
        else:
            system.revolute(name, *ends, **({"q": ANGLES[name]} if name == "left" else {"guess": ANGLES[name]}))
    ends = coupler.at(0.6, 0, 0, name="end"), rocker.at(0.4, 0, 0, name="end")
    if top == "planar":
        system.planar("top", *ends, **give)
    else:
        system.revolute("top", *ends)
    return system


def test_a_loop_with_stiff_pins_is_closed_and_moves_as_by_short_steps():
    times = np.linspace(0.0, 1.0, 41)
    stiff = kn.simulate(four_bar(1e7), 1.0, method="stiff", times=times)
    short = kn.simulate(four_bar(1e7), 1.0, times=times, **TIGHT)
    assert np.abs(stiff["left.q.angle"] - short["left.q.angle"]).max() < 1e-7
    assert stiff.facts["steps"] < short.facts["steps"] / 20
    assert stiff.facts["evaluations"] < 23 * stiff.facts["steps"]  # five in each iteration
    ends = [stiff.position(f"{body}.end") for body in ("coupler", "rocker")]
    assert np.abs(ends[0] - ends[1]).max() < 1e-13
    assert kn.simulate(four_bar(1e7), 1.0, method="stiff").audit.relative < 1e-5


@pytest.mark.parametrize("top", ["revolute", "planar"])
def test_pins_that_hardly_give_move_as_rigid_ones(top):
    """The distance of the motions goes with the inverse of the stiffness: some millirad at 1e7 N/m."""
    rigid = kn.simulate(four_bar(), 0.5, samples=21, **TIGHT)["left.q"]
    off = [
        np.abs(kn.simulate(four_bar(k, 2e-4 * k, top), 0.5, samples=21, method="stiff")["left.q.angle"] - rigid).max()
        for k in (1e7, 1e8, 1e9, 1e10)
    ]
    assert 1e-5 < off[0] < 1e-2
    assert off[0] / off[1] == pytest.approx(10, rel=0.05)
    assert off[0] / off[2] == pytest.approx(100, rel=0.05)
    assert off[3] == pytest.approx(off[0] / 1000, abs=1e-6)  # rounding shows: 4e-7 with two of three processors


def test_batches_of_stiff_loops_are_their_single_runs():
    dynamics = kn.compile(four_bar(1e7))
    sets = [{"left.q.angle": ANGLES["left"]}, {"pin.u.angle": 0.5}]
    rows = run_many(dynamics, sets, 0.2, of=["left.q.angle|final"], method="stiff", threads=2).wait()
    for values, row in zip(sets, rows, strict=True):
        run = kn.simulate(dynamics, 0.2, start=values, method="stiff")
        assert row.results["left.q.angle|final"] == pytest.approx(run["left.q.angle"][-1], abs=1e-12)


# -- events ------------------------------------------------------------------------------------------------------------
def clutch():
    """A wheel that drives another through a clutch, which is applied, slips, sticks and is released."""
    system = kn.System("clutch", gravity=(0, 0, 0))
    first, second = (system.body(name, mass=1.0, inertia=(0.1, 0.1, 0.2)) for name in ("first", "second"))
    system.revolute("drive", system.world, first, u=20.0, damping=0.01)
    system.revolute("load", system.world, second, stiffness=0.5)
    system.clutch("plate", "drive", "load", capacity="3 N*m", command="(t > 0.3) - (t > 2)")
    return system


@pytest.mark.parametrize("model", ["brake_arm", "backlash_axis", "clutch"])
def test_events_are_those_of_the_explicit_method(model):
    system = clutch() if model == "clutch" else kn.load(f"examples/{model}.yaml")
    until = 3.0 if model == "clutch" else 1.0
    runs = [kn.simulate(system, until, method=method, samples=11, **TIGHT) for method in ("dopri5", "stiff")]
    told = [[(event.component, event.becomes) for event in run.events] for run in runs]
    assert told[0] == told[1] and len(told[0]) > 1
    times = [[event.time for event in run.events] for run in runs]
    assert times[0] == pytest.approx(times[1], abs=1e-7)
    assert runs[0].q[-1] == pytest.approx(runs[1].q[-1], abs=1e-6)


# -- Jacobians and large systems ---------------------------------------------------------------------------------------
def test_every_kind_of_jacobian_serves(monkeypatch):
    """One function of the whole matrix, directional derivatives, differences: the same motion to the tolerance."""
    runs = []
    for how in ("whole", "columns", "differences"):
        monkeypatch.setattr(run_kernels, "WHOLE_UP_TO", 32 if how == "whole" else 0)
        if how == "differences":
            monkeypatch.setattr(run_kernels, "_find_jacobian", lambda *given: None)
        systems = [kn.compile(system) for system in (four_bar(1e7), clutch())]
        runs += [kn.simulate(system, 0.5, method="stiff", samples=11) for system in systems]
    for k in (2, 4):
        assert np.abs(runs[k]["left.q.angle"] - runs[0]["left.q.angle"]).max() < 1e-7
        assert np.abs(runs[k + 1].y - runs[1].y).max() < 1e-7
        assert runs[k].facts["steps"] == pytest.approx(runs[0].facts["steps"], rel=0.3)


@pytest.mark.parametrize("how", ["recursion", "universal joints", "columns", "differences"])
def test_a_long_chain_with_stiff_joints(how, monkeypatch):
    """Loop code has exact derivatives: by the recursion where that covers the tree, else column by column."""
    system = kn.System("chain", gravity=(0, -9.81, 0))
    before = system.world
    for k in range(42):
        link = system.body(f"link_{k}", mass=0.1, com=(0.05, 0, 0), inertia=(1e-5, 1e-4, 1e-4))
        if how == "universal joints" and k % 7 == 0:
            system.universal(f"joint_{k}", before, link, stiffness=(2e3, 2e3), damping=(20.0, 20.0))
        else:
            system.revolute(f"joint_{k}", before, link, stiffness=2e3, damping=20.0)
        before = link.at(0.1, 0, 0)
    if how == "columns":
        monkeypatch.setattr(derivative_words, "has_paired_recursion", lambda *given: False)
    if how == "differences":
        monkeypatch.setattr(run_kernels, "_find_jacobian", lambda *given: None)
    dynamics = kn.compile(system)
    times = [0.0, 0.1, 0.2]
    stiff = kn.simulate(dynamics, 0.2, method="stiff", times=times, rtol=1e-7, atol=1e-9)
    short = kn.simulate(dynamics, 0.2, times=times, rtol=1e-7, atol=1e-9)
    assert np.abs(stiff.q - short.q).max() < 1e-6
    assert np.abs(stiff.q).max() > 1e-3
    assert stiff.facts["steps"] < 0.05 * short.facts["steps"]


def test_the_bdf_of_sundials_agrees():
    """CVODE by scikit-sundae, with the same rate and Jacobian."""
    CVODE = pytest.importorskip("sksundae.cvode").CVODE
    dynamics = kn.compile(car_axis())

    def rate(t, y, y_dot):
        y_dot[:] = dynamics.rate(t, y)

    def jacobian(t, y, y_dot, matrix):
        matrix[:] = dynamics.rate_jacobian(t, y)

    run = kn.simulate(dynamics, 0.5, method="stiff", samples=6, **TIGHT)
    other = CVODE(rate, method="BDF", jacfn=jacobian, max_num_steps=100_000, **TIGHT)
    assert np.abs(other.solve(run.t, run.y[0]).y - run.y).max() < 1e-6


# -- messages ----------------------------------------------------------------------------------------------------------
def test_more_states_than_matrices_can_have_are_refused(monkeypatch):
    monkeypatch.setattr("kinode.ode.newton_setup.MOST_STATES", 3)
    with pytest.raises(kn.ArgumentError, match=r"method: 'stiff' keeps full matrices, of 3 states at most, .* has 4"):
        kn.simulate(car_axis(), 0.1, method="stiff")


def test_what_the_stiff_method_cannot_follow_is_said_without_advice_to_take_it():
    system = kn.System("slide", gravity=(0, 0, 0))
    system.prismatic("slide", system.world, system.body("body", mass=1.0), axis="x", u=1.0, effort="slide.u**3")
    with pytest.raises(kn.SimulationError, match=r"slide") as caught:
        kn.simulate(system, 2.0, method="stiff")
    assert 'method="stiff"' not in str(caught.value)
    assert caught.value.run.t[-1] == pytest.approx(0.5, abs=1e-3)
