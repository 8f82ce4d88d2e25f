"""Every kind of part and signal with every field: files, copies and subsystems lose nothing."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from small_fmus import make_fmu

import kinode as kn
from kinode.expressions.syntax_tree import Expression
from kinode.formats.yaml_files import dumps, loads
from kinode.model.base.element import ELEMENTS
from kinode.model.signals.continuous import SignalPart
from kinode.multibody.snapshot import Snapshot

NAMES = {"electrical": ("n1", "n2", "n3", "n4"), "rotational": ("s1", "s2", "s3"), "translational": ("x1", "x2")}
PORT = {"electrical": "plus", "rotational": "a", "translational": "a"}
TIES = {
    "electrical": {"kind": "resistor", "minus": "gnd", "resistance": 1},
    "rotational": {"kind": "shaft_damper", "damping": 1},
    "translational": {"kind": "slide_damper", "damping": 1},
}
PARTS = [kind for kind, cls in ELEMENTS.items() if issubclass(cls, kn.Part)]
FIELDS = {"scaling": 1, "on": "b", "along": [0.6, 0.8, 0], "efficiency": 0.9}  # where "x" and "x*sin(t)" will not do
CLOCK = {"period": "0.05 s", "phase": "0.01 s", "delay": 2, "before": "k/7"}
PID = {
    "target": "sig", "measured": "j.q", "proportional": "k", "integral": "k/2", "derivative": "0.1*k",
    "filter_time": "T", "proportional_weight": "k/4", "derivative_weight": 0.2, "feedforward": "sig",
    "limits": ["-k", "k"], "tracking_time": "T", "initial": "k/10",
}  # fmt: skip
MATRICES = {
    "inputs": ["sig", "j.q"], "A": [["k/9", 0], [0.1, 0.3]], "B": [[1, "k"], [0, 1]], "C": [[1, 0], ["k", 1]],
    "D": [[0, "k"], [0, 0]], "outputs": ["one", "two"], "initial": ["k", 0.1],
}  # fmt: skip
SIGNALS = {
    "pid": PID,
    "filter": {"input": "sig", "initial": "k/3", "time_constant": "T", "gain": "k"},
    "rate_limit": {"input": "sig", "initial": "k/3", "rise": "k", "fall": "k/2", "time_constant": "T"},
    "integrator": {"input": "sig", "gain": "k", "initial": "k/9", "limits": ["-k", "k/8"]},
    "saturation": {"input": "sig", "limits": ["-k/9", "k/9"], "smoothing": "T"},
    "dead_zone": {"input": "sig", "zone": ["-k/9", "k/9"]},
    "sensor": {"measures": "j.q", "gain": "k", "offset": "k/5", "lag": "T"},
    "transfer_function": {"input": "sig", "numerator": ["k", 1], "denominator": [1, "k", 3], "initial": "k/8"},
    "state_space": MATRICES,
    "sample_hold": {**CLOCK, "input": "sig", "limits": ["-k", "k"], "resolution": "k/100"},
    "sampled_pid": {**CLOCK, **PID},
    "sampled_transfer_function": {**CLOCK, "input": "sig", "numerator": [1], "denominator": [1, "k/9", 0.2]},
    "sampled_state_space": {**CLOCK, **MATRICES},
    "relay": {"input": "sig", "on": "k/4", "off": "k/8", "high": "k", "low": "-k", "initial": "-k"},
    "controller": {**CLOCK, "inputs": {"level": "sig", "angle": "j.q"}, "remembers": {"total": "k"}},
    "fmu": {**CLOCK, "file": make_fmu("lag", 2), "inputs": {"u": "sig"}, "parameters": {"tau": "T", "lag.gain": "k"}},
}


def base() -> kn.System:
    system = kn.System("base", gravity=(0, 0, 0))
    for name, value in (("k", 2), ("T", 0.05), ("x", 0.37)):
        system.parameter(name, value)
    system.input("w", 0.3)
    system.revolute("j", system.world, system.body("b", mass=1, inertia=(1, 1, 1)), u=1)
    system.signal("sig", "k*sin(j.q) + w")
    return system


def with_part(kind: str) -> kn.System:
    """Two of a kind with all fields, and a way to the reference for every node."""
    system, fields = base(), dict(FIELDS)
    free = {domain: iter(names) for domain, names in NAMES.items()}
    given = {}
    for name, (_, spec) in ELEMENTS[kind].specs().items():
        if spec.shape == "port":
            given[name] = next(free[spec.dimension])
        else:
            given[name] = fields.get(name, "x*sin(t)" if spec.shape == "law" else "x")
    system.element("one", kind, **given)
    system.element("two", kind, **given)
    for name, node in system.nodes.items():
        system.element(f"tie_{name}", **TIES[node.kind] | {PORT[node.kind]: name})
    return system


def remember(t: float, level: float, angle: float, total: float) -> dict[str, float]:
    return {"output": level + 2 * angle, "total": total + level}


def check_copies(system: kn.System) -> kn.System:
    """The system as a subsystem, when copies of all sorts are what they were made from."""
    assert system.copy() == system
    assert pickle.loads(pickle.dumps(system)) == system
    whole = kn.System("whole", gravity=(0, 0, 0))
    whole.add("sub", system)
    for one in (system, whole):
        text = dumps(one)
        again = loads(text, trust=True)  # an FMU is code
        for name in again.elements:  # functions never come from files
            if again[name].kind == "controller":
                again.change(name, function=remember)
        assert again == one and dumps(again) == text
    return whole


@pytest.mark.parametrize("kind", PARTS)
def test_parts(kind: str) -> None:
    system = with_part(kind)
    old, new = system["one"], check_copies(system)["sub.one"]
    for name, (field, spec) in old.specs().items():
        one, two = getattr(old, field.name), getattr(new, field.name)
        if spec.shape in ("number", "law"):
            assert str(two) == (str(one).replace("x", "sub.x") if isinstance(one, Expression) else str(one)), name
        elif spec.shape == "port":
            assert two == f"sub.{one}", name
        changed = system.copy()
        changed.change("one", **{name: one})
        assert changed == system, name


def test_signals_in_a_subsystem_give_what_they_give_alone() -> None:
    """With numbers, limits and matrices that are parameters of the subsystem."""
    assert set(SIGNALS) == {kind for kind, cls in ELEMENTS.items() if issubclass(cls, SignalPart)}
    alone = base()
    for kind, fields in SIGNALS.items():
        alone.element(f"one_{kind}", kind, **fields, **({"function": remember} if kind == "controller" else {}))
    whole = check_copies(alone)
    one, two = snapshot(alone), snapshot(whole)
    assert two.z_dot == pytest.approx(one.z_dot, rel=1e-13, abs=1e-13)
    for element in alone.elements.values():
        twin = whole[f"sub.{element.name}"]
        for name in element.offered():
            same = two.quantity(f"{twin.name}.{name}") == one.quantity(f"{element.name}.{name}")
            assert np.all(same), (element.name, name)
        if element.clocks:
            ticked = [1.0] * len(element.clocks)
            assert twin.sample(two, ticked) == element.sample(one, ticked), element.name


def snapshot(system: kn.System) -> Snapshot:
    """The system in plain numbers at some instant."""
    dynamics = kn.compile(system)
    z = np.random.default_rng(5).uniform(0.1, 0.9, dynamics.initial.z.shape)
    return dynamics.snapshot(kn.State(0.3, np.array([0.4]), np.array([0.7]), z))
