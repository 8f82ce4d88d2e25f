"""Irregular seas: energy, spectrum, seeds and responses, against closed forms."""

import numpy as np
import pytest

import kinode as kn
from kinode.model.environment.sea import BAND, density

H, T = 2.5, 8.0
W_P = 2 * np.pi / T


def values(law, times):
    return np.array([law.evaluate({"t": float(t)}.__getitem__, None) for t in times])


@pytest.mark.parametrize("spectrum", ["jonswap", "pierson_moskowitz"])
@pytest.mark.parametrize("components", [1, 7, 40, 300])
def test_the_height_is_that_asked_for(spectrum, components):
    sea = kn.sea_state("2.5 m", "8 s", spectrum=spectrum, components=components, seed=4)
    assert np.sum(sea.amplitudes**2) / 2 == pytest.approx(H**2 / 16, rel=1e-12)
    assert np.all(np.diff(sea.frequencies) > 0)
    assert sea.frequencies[0] >= BAND[0] * W_P
    assert sea.frequencies[-1] <= BAND[1] * W_P


def test_energy_up_to_any_frequency():
    """The integral of the ITTC spectrum is H^2/16 exp(-5/4 (w_p/w)^4)."""
    sea = kn.sea_state(H, T, spectrum="pierson_moskowitz", components=400)
    w = W_P * np.array([0.8, 1.0, 1.3, 2.0])
    found = [np.sum(sea.amplitudes[sea.frequencies < x] ** 2) / 2 for x in w]
    low, high = (np.exp(-1.25 * r**-4.0) for r in BAND)
    wanted = H**2 / 16 * (np.exp(-1.25 * (W_P / w) ** 4) - low) / (high - low)
    assert found == pytest.approx(wanted, abs=0.01 * H**2 / 16)


def test_jonswap_with_peak_1_is_pierson_and_moskowitz():
    one, two = kn.sea_state(H, T, peak=1), kn.sea_state(H, T, spectrum="pierson_moskowitz")
    assert np.array_equal(one.amplitudes, two.amplitudes)
    sharp = kn.sea_state(H, T, peak=7)
    near = abs(sharp.frequencies / W_P - 1) < 0.1
    assert np.sum(sharp.amplitudes[near] ** 2) > 1.5 * np.sum(one.amplitudes[near] ** 2)
    assert density(np.array([W_P]), H, T, 3.3) == pytest.approx(3.3 * density(np.array([W_P]), H, T))


def test_the_seed_makes_the_sea():
    a, b, c = (kn.sea_state(H, T, seed=seed).elevation for seed in (1, 1, 2))
    assert a == b
    assert a != c


def test_a_law_is_the_sum_of_its_harmonics():
    sea = kn.sea_state(H, T, seed=5)
    t = np.linspace(0, 50, 23)
    angles = np.outer(t, sea.frequencies) + sea.phases
    assert values(sea.elevation, t) == pytest.approx(np.cos(angles) @ sea.amplitudes, abs=1e-12)
    slope = np.sin(angles) @ (sea.amplitudes * sea.frequencies**2 / 9.80665)
    assert values(sea.motion(0.5, of="slope"), t) == pytest.approx(0.5 * slope, abs=1e-12)
    lagging = sea.motion(lambda w: 2.0 * np.exp(-1j * w))  # one second late
    assert values(lagging, t + 1.0) == pytest.approx(2 * values(sea.elevation, t), abs=1e-11)


def test_a_motion_with_a_period_of_its_own_is_that_of_an_oscillator():
    """x'' + 2 d w x' + w^2 x = w^2 elevation, by the law's exact derivatives."""
    sea, own, d = kn.sea_state(H, T, seed=6), 2 * np.pi / 10.0, 0.15
    x = sea.motion(1.0, period=10.0, damping=d)
    rate = x.derivative("t")
    t = np.linspace(0, 30, 11)
    left = values(rate.derivative("t"), t) + 2 * d * own * values(rate, t) + own**2 * values(x, t)
    assert left == pytest.approx(own**2 * values(sea.elevation, t), abs=1e-12)


def test_a_deck_moves_by_the_sea():
    """A driven joint has the law's value and its two derivatives; a file keeps it."""
    sea = kn.sea_state(H, T, seed=7)
    system = kn.System("raft")
    system.prismatic("heave", system.world, system.body("raft", mass=3.0), motion=sea.elevation)
    found = kn.compile(system).evaluate(("heave.q", "heave.u", "heave.u_dot", "heave.effort"), 4.0, [], [])
    angles = 4.0 * sea.frequencies + sea.phases
    acceleration = -np.cos(angles) @ (sea.amplitudes * sea.frequencies**2)
    assert found["heave.u"] == pytest.approx(-np.sin(angles) @ (sea.amplitudes * sea.frequencies))
    assert found["heave.u_dot"] == pytest.approx(acceleration)
    assert found["heave.effort"] == pytest.approx(3.0 * (9.81 + acceleration))


def test_a_deck_moves_by_samples(tmp_path):
    """Recorded at 5 Hz, the accelerations of a motion of 6 s are met to a part in 1e5."""
    t = np.arange(0, 20.01, 0.2)
    w = 2 * np.pi / 6
    rows = np.column_stack([t, 0.9 * np.sin(w * t), 12 * np.cos(w * t)])
    np.savetxt(tmp_path / "deck.csv", rows, delimiter=",", header="t,heave,roll", comments="")
    system = kn.System("deck")
    for name in ("heave", "roll"):
        system.table(f"{name}_samples", file=tmp_path / "deck.csv", column=name, method="quintic")
    mid, deck = system.body("mid"), system.body("deck", mass=2.0, inertia=(1, 1, 1))
    system.prismatic("heave", system.world, mid, axis="z", motion="heave_samples(t)")
    system.revolute("roll", mid, deck, axis="x", motion="roll_samples(t)*deg")
    found = kn.compile(system).evaluate(("heave.u_dot", "roll.u", "roll.effort"), 9.13, [], [])
    assert found["heave.u_dot"] == pytest.approx(-0.9 * w**2 * np.sin(w * 9.13), rel=1e-5)
    assert found["roll.u"] == pytest.approx(-np.radians(12) * w * np.sin(w * 9.13), rel=1e-5)
    assert found["roll.effort"] == pytest.approx(-np.radians(12) * w**2 * np.cos(w * 9.13), rel=1e-4)


WRONG = [
    ({"height": 0}, "sea_state.height: must be positive, and is 0"),
    ({"height": "2 s"}, "sea_state.height: 2 s is a time"),
    ({"period": "h"}, "sea_state.period: "),
    ({"spectrum": "jonswop"}, "sea_state.spectrum: there is no 'jonswop'; did you mean jonswap?"),
    ({"components": 0}, "sea_state.components: a whole number from 1 to 1000 is expected, not 0"),
    ({"seed": 1.5}, "sea_state.seed: a whole number"),
    ({"peak": float("inf")}, "sea_state.peak: "),
]


@pytest.mark.parametrize(("fields", "message"), WRONG)
def test_wrong_seas_are_refused(fields, message):
    with pytest.raises(kn.Error) as caught:
        kn.sea_state(**{"height": H, "period": T, **fields})
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"of": "slop"}, "sea_state.of: waves have no 'slop'; did you mean slope?"),
        ({"period": 5}, "sea_state.damping: period and damping go together"),
        ({"period": -5, "damping": 0.1}, "sea_state.period: must be a positive number"),
        ({"response": "big"}, "sea_state.response: is a finite number"),
        ({"response": lambda w: w[:3]}, "sea_state.response: is a finite number"),
    ],
)
def test_wrong_responses_are_refused(fields, message):
    with pytest.raises(kn.Error) as caught:
        kn.sea_state(H, T).motion(**fields)
    assert message in str(caught.value)
