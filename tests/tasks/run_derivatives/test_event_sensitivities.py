"""Derivatives through events: closed forms, and differences of tight runs. Samples lie where nothing jumps."""

import numpy as np
import pytest
from run_differences import TIGHT, find_errors, read

import kinode as kn

G = 9.81
BALL = """
name: ball
gravity: [0, -9.81, 0]
parameters: {rest: 0.7, h: 1 m, ground: 0.05 m}
bodies: {ball: {mass: 2}}
joints: {rail: {kind: prismatic, between: [world, ball], axis: y, q: h, stop: {lower: ground, restitution: rest}}}
"""


def test_a_bouncing_ball():
    """Height after n bounces: v_n = e^n v, the n-th bounce at t_n = (v/g)(1 + 2 e + ... + 2 e^(n-1))."""
    e, v = 0.7, np.sqrt(2 * G * 0.95)
    run = kn.simulate(read(BALL), 1.5, samples=61, sensitivity=["rest", "h"], **TIGHT)
    bounces = [v / G * (1 + 2 * sum(e**i for i in range(1, n))) for n in range(1, 9)]
    for name, scale in (("rest", 1.0), ("h", np.sqrt(G / (2 * 0.95)))):  # dv/dh = g/v
        expected = np.zeros(len(run.t))
        for k, t in enumerate(run.t):
            n = sum(t > bounce for bounce in bounces)
            if n == 0:
                expected[k] = 0.0 if name == "rest" else 1.0
                continue
            since, speed = t - bounces[n - 1], e**n * v
            if name == "rest":
                d_speed, d_time = n * e ** (n - 1) * v, v / G * 2 * sum(i * e ** (i - 1) for i in range(1, n))
            else:
                d_speed, d_time = e**n * scale, bounces[n - 1] / v * scale
            expected[k] = d_speed * since - (speed - G * since) * d_time
        assert len(run.events) == 3
        assert run.sensitivity("rail.q", name) == pytest.approx(expected, abs=1e-8 * abs(expected).max())


def test_an_oscillator_with_dry_friction():
    """Each half period takes 2 F/k off the amplitude: after n of them x = (-1)^n (x0 - 2 n F/k)."""
    model = read("""
name: slider
gravity: [0, 0, 0]
parameters: {F: 1.5 N, k: 40 N/m, x0: 0.5 m}
bodies: {block: {mass: 1}}
joints:
  slide: {kind: prismatic, between: [world, block], axis: x, q: x0, stiffness: k, friction: {coulomb: {effort: F}}}
""")
    half = np.pi / np.sqrt(40)
    run = kn.simulate(model, 8 * half, times=[3 * half, 8 * half], sensitivity=["F", "x0", "k"], **TIGHT)
    assert run["slide.q"] == pytest.approx([6 * 1.5 / 40 - 0.5, 14 * 1.5 / 40 - 0.5], abs=1e-8)  # it sticks after 7
    assert run.sensitivity("slide.q", "F") == pytest.approx([6 / 40, 14 / 40], rel=1e-7)
    assert run.sensitivity("slide.q", "x0") == pytest.approx([-1.0, -1.0], rel=1e-7)
    assert run.sensitivity("slide.q", "k")[-1] == pytest.approx(-14 * 1.5 / 40**2, rel=1e-7)


def test_a_switched_circuit():
    """A capacitor that charges until a time, and discharges after it: v = U (1 - e^(-s/RC)) e^(-(t-s)/RC)."""
    model = read("""
name: rc
parameters: {R: 100 Ohm, U: 10 V, s: 0.07 s}
elements:
  source: {kind: voltage_source, plus: a, minus: gnd, voltage: "U*(t < s)"}
  r: {kind: resistor, plus: a, minus: b, resistance: R}
  c: {kind: capacitor, plus: b, minus: gnd, capacitance: 1 mF}
""")
    run = kn.simulate(model, 0.2, times=[0.05, 0.1, 0.2], sensitivity=["s", "R", "U"], **TIGHT)
    after, tau = run.t > 0.07, 0.1
    v = np.where(after, 10 * (np.exp(0.07 / tau) - 1) * np.exp(-run.t / tau), 10 * (1 - np.exp(-run.t / tau)))
    assert run["c.voltage"] == pytest.approx(v, rel=1e-9)
    by_time = np.where(after, 10 / tau * np.exp((0.07 - run.t) / tau), 0.0)
    assert run.sensitivity("c.voltage", "s") == pytest.approx(by_time, rel=1e-8, abs=1e-9)
    assert run.sensitivity("c.voltage", "U") == pytest.approx(v / 10, rel=1e-8)


CASES = {
    "clutch and brake": ("""
name: line
gravity: [0, 0, 0]
parameters: {M: 5 N*m, J: 2 kg*m^2, on: 1 s, B: 20 N*m}
bodies: {one: {mass: 1, inertia: {zz: J}}, two: {mass: 1, inertia: {zz: 3}}}
joints:
  a: {kind: revolute, between: [world, one], u: 10}
  b: {kind: revolute, between: [world, two]}
elements:
  clutch: {kind: clutch, first: a, second: b, capacity: M, command: "where(t < on, 0, 1)"}
  brake: {kind: brake, joint: b, capacity: B, command: "where(t < 4, 0, 1)"}
""", 7.7731, ["M", "J", "on", "B"]),
    "a pulse with a period": ("""
name: pulses
parameters: {R: 100 Ohm, duty: 0.3, T: 0.05 s}
elements:
  s: {kind: voltage_source, plus: a, minus: gnd, voltage: "10*(mod(t, T) < duty*T)"}
  r: {kind: resistor, plus: a, minus: b, resistance: R}
  c: {kind: capacitor, plus: b, minus: gnd, capacitance: 1 mF}
""", 0.3177, ["R", "duty", "T"]),
    "stick and slip": ("""
name: belt
gravity: [0, 0, 0]
parameters: {v: 0.1 m/s, k: 50 N/m, F: 3 N, Fs: 5 N}
bodies: {belt: {mass: 1}, block: {mass: 1}}
joints:
  drive: {kind: prismatic, between: [world, belt], axis: x, speed: v}
  slip: {kind: prismatic, between: [belt, block], axis: x, friction: {coulomb: {effort: F, static_effort: Fs}}}
elements:
  spring: {kind: spring, a: world, b: block, stiffness: k, free_length: 0}
""", 4.0131, ["v", "k", "F", "Fs"]),
    "play": ("""
name: play
gravity: [0, 0, 0]
parameters: {play: 0.02 rad, k: 2000, c: 3, w: 9 rad/s}
bodies: {one: {mass: 1, inertia: {zz: 0.05}}, two: {mass: 1, inertia: {zz: 0.02}}}
joints:
  a: {kind: revolute, between: [world, one], damping: 0.3, effort: "2*sin(w*t)"}
  b: {kind: revolute, between: [one, two], backlash: {play: play, stiffness: k, damping: c}}
""", 0.6, ["play", "k", "c", "w"]),
    "a relay": ("""
name: kept
gravity: [0, 0, 0]
parameters: {low: -0.1, high: 0.1, F: 3 N, m: 1 kg}
bodies: {b: {mass: m}}
joints: {x: {kind: prismatic, between: [world, b], axis: x, damping: 1, q: 0.5, effort: "-F*r.output"}}
elements: {r: {kind: relay, input: x.q, off: low, on: high, low: -1}}
""", 3.0, ["low", "high", "F", "m"]),
    "a sampled controller": ("""
name: controlled
gravity: [0, 0, 0]
parameters: {P: 30, D: 2, J: 0.5 kg*m^2}
bodies: {b: {mass: 1, inertia: {zz: J}}}
joints: {x: {kind: revolute, between: [world, b], damping: 0.1, effort: c.output}}
elements:
  c: {kind: sampled_pid, period: 50 Hz, target: "0.5*step(t - 0.1)", measured: x.q, proportional: P, integral: 20,
      derivative: D, filter_time: 30 ms}
""", 1.0131, ["P", "D", "J"]),
    "a stop in a chain with friction": ("""
name: chain
gravity: [0, -9.81, 0]
parameters: {L: 0.5 m, rest: 0.6, mu: 0.3 N*m, up: 1.2 rad}
bodies:
  a: {mass: 1.2, com: [L/2, 0, 0], inertia: {zz: 0.03}}
  b: {mass: 1, com: [0.2, 0, 0], inertia: {zz: 0.02}}
joints:
  s: {kind: revolute, between: [world, a], q: 20 deg, friction: {coulomb: {effort: mu}}}
  e: {kind: revolute, between: [{body: a, at: [L, 0, 0]}, b], q: 30 deg,
      stop: {lower: -1, upper: up, restitution: rest}}
""", 1.1713, ["L", "rest", "mu", "up"]),
    "a stop in a loop": ("""
name: closed
gravity: [0, -9.81, 0]
parameters: {L: 0.4 m, rest: 0.5, up: 2.0 rad}
bodies:
  left: {mass: 1, com: [L/2, 0, 0], inertia: {zz: 0.02}}
  top: {mass: 1, com: [0.25, 0, 0], inertia: {zz: 0.03}}
  right: {mass: 1, com: [0.25, 0, 0], inertia: {zz: 0.03}}
joints:
  a: {kind: revolute, between: [world, left], q: 70 deg, u: 4, stop: {lower: 0.3, upper: up, restitution: rest}}
  b: {kind: revolute, between: [{body: left, at: [L, 0, 0]}, top], guess: -60 deg}
  c: {kind: revolute, between: [{body: world, at: [0.6, 0, 0]}, right], guess: 100 deg}
  d: {kind: revolute, between: [{body: top, at: [0.5, 0, 0]}, {body: right, at: [0.5, 0, 0]}]}
""", 0.6131, ["L", "rest", "up", "a.u"]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_sensitivities_pass_events(name):
    text, until, names = CASES[name]
    errors = find_errors(read(text), until, names)
    assert max(errors.values()) < 1e-6, errors


def test_the_run_has_events():
    for text, until, _ in (CASES["a stop in a loop"], CASES["play"], CASES["a relay"], CASES["stick and slip"]):
        assert len(kn.simulate(read(text), until).events) >= 1


@pytest.mark.parametrize("seed", range(4))
def test_random_chains_with_stops_and_friction(seed):
    """Chains of three links with random numbers, whose joints hit stops and rub, over 0.8 s."""
    random = np.random.default_rng(seed)
    system = kn.System("chain", gravity=(0, -G, 0))
    system.parameter("rest", float(random.uniform(0.3, 0.8)))
    system.parameter("rub", float(random.uniform(0.05, 0.3)))
    system.parameter("L", float(random.uniform(0.3, 0.6)))
    parent = system.world
    for k in range(3):
        inertia = tuple(random.uniform(0.01, 0.03, 3))
        body = system.body(f"link{k}", mass=float(random.uniform(0.5, 2)), com=("L/2", 0, 0), inertia=inertia)
        at = parent if k == 0 else parent.at("L", 0, 0)
        system.revolute(
            f"j{k}", at, body, q=float(random.uniform(-0.5, 0.5)), u=float(random.uniform(-3, 3)),
            stop={"lower": -0.9, "upper": 0.9, "restitution": "rest"} if k else None,
            friction=kn.coulomb(effort="rub"),
        )  # fmt: skip
        parent = body
    errors = find_errors(system, 0.8, ["rest", "rub", "L"], samples=17)
    assert max(errors.values()) < 1e-6, errors


def test_thresholds_that_an_input_over_time_moves():
    """The brake of a wheel grips with a rising command: when it stops turning depends on slope and capacity."""
    model = read("""
name: braked
gravity: [0, 0, 0]
parameters: {M: 4 N*m, F: 2 N*m}
inputs: {grip: 0}
bodies: {wheel: {mass: 1, inertia: {zz: 0.5}}}
joints: {hub: {kind: revolute, between: [world, wheel], u: 3, effort: F*grip}}
elements: {brake: {kind: brake, joint: hub, capacity: M, command: 1 - grip}}
""")
    courses = {"grip": ([0.0, 1.0, 3.0], [0.0, 0.1, 0.9])}
    errors = find_errors(model, 2.9131, ["M", "F"], inputs=courses)
    assert max(errors.values()) < 1e-6, errors
    run = kn.simulate(model, 2.9131, inputs=courses)
    assert len(run.events) == 2  # it sticks, and slips again where the push exceeds the grip
    with pytest.raises(kn.ArgumentError, match="grip changes over time"):
        kn.simulate(model, 1.0, inputs=courses, sensitivity=["grip"])
