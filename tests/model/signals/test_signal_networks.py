"""Random networks of signal parts: circles are found where there are any, and machine code agrees with plain numbers.

Whether a network has a circle is decided here by what each kind is: the output of some follows from the input at once,
that of others is a state or held.
"""

from __future__ import annotations

import numpy as np
import pytest
from example_counts import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import kinode as kn

# kind -> (fields, whether the output follows at once)
KINDS = {
    "gain": ("saturation", {"limits": [-2, 3]}, True),
    "zone": ("dead_zone", {"zone": [-0.2, 0.1]}, True),
    "shown": ("sensor", {"gain": 1.5}, True),
    "lead": ("transfer_function", {"numerator": [0.3, 1], "denominator": [0.1, 1]}, True),
    "pi": ("pid", {"proportional": 2, "integral": 3, "limits": [-1, 4]}, True),
    "lag": ("filter", {"time_constant": 0.3}, False),
    "slow": ("rate_limit", {"rise": 0.4, "time_constant": 0.05}, False),
    "sum": ("integrator", {"gain": 0.7, "initial": 0.1}, False),
    "i": ("pid", {"integral": 3}, False),
    "second": ("transfer_function", {"numerator": [2, 1], "denominator": [1, 2, 3]}, False),
    "through": ("state_space", {"A": [[0, 1], [-1, -2]], "B": [0, 1], "C": [1, 0], "D": 0.5}, True),
    "plant": ("state_space", {"A": [[0, 1], [-1, -2]], "B": [0, 1], "C": [1, 0]}, False),
    "held": ("sample_hold", {"period": "20 ms", "resolution": 0.01}, False),
    "digital": ("sampled_pid", {"period": "30 ms", "proportional": 0.5, "integral": 1}, False),
}
FIELD = {"sensor": "measures", "pid": "error", "sampled_pid": "error", "state_space": "inputs"}


@st.composite
def networks(draw):
    """A list of (kind, the parts that its input uses)."""
    n = draw(st.integers(1, 6))
    kinds = draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=n, max_size=n))
    return [(kind, draw(st.lists(st.integers(0, n - 1), max_size=2, unique=True))) for kind in kinds]


def build(network):
    system = kn.System("network", gravity=(0, 0, 0))
    body = system.body("disk", mass=1, inertia=(1, 1, 1))
    system.revolute("hinge", system.world, body, axis="z", q=0.3, damping=0.5, effort="p0.output - hinge.q")
    for k, (kind, uses) in enumerate(network):
        name, fields, _ = KINDS[kind]
        terms = ["0.4*sin(3*t + 1)", "hinge.q", *(f"{0.3 * (-1) ** j}*p{j}.output" for j in uses)]
        system.element(f"p{k}", name, **{FIELD.get(name, "input"): " + ".join(terms)}, **fields)
    return system


def has_circle(network):
    """Whether values would be needed to find themselves: by taking away what needs nothing more, again and again."""
    needs = {k: set(uses) for k, (kind, uses) in enumerate(network) if KINDS[kind][2]}
    while True:
        ready = [k for k, uses in needs.items() if not uses & needs.keys()]
        if not ready:
            return bool(needs)
        for k in ready:
            del needs[k]


@examples(16, nightly=100)
@given(networks())
def test_circles_are_found_and_only_these(network):
    system = build(network)
    if has_circle(network):
        with pytest.raises(kn.LawError, match="depends on itself"):
            system.check()
    else:
        system.check()
        assert system == build(network)


@settings(max_examples=6, deadline=None)
@given(networks().filter(lambda network: not has_circle(network)))
def test_machine_code_and_plain_numbers_agree(network):
    system = build(network)
    dynamics = kn.compile(system)
    start = dynamics.initial
    exact = dynamics.snapshot(start)
    y_dot = dynamics.rate(start.t, start.y)
    assert y_dot[dynamics.n_q + dynamics.n_u :] == pytest.approx(np.asarray(exact.z_dot, dtype=float), abs=1e-12)
    run = kn.simulate(dynamics, 0.1, samples=3)
    for k in range(len(network)):
        assert np.isfinite(run[f"p{k}.output"]).all()
