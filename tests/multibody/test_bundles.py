"""Equal parts that are traced side by side give the operations that they give one by one."""

from pathlib import Path

import numpy as np
import pytest
from mechanisms import four_bars, net

import kinode as kn
from kinode.algebra.scalars import Dual
from kinode.algebra.trace import Tape, count_operations, needed, replay
from kinode.kernels.kernel_options import Kernel
from kinode.kernels.kernel_traces import trace
from kinode.multibody import bundles
from kinode.multibody.bundles import map_alike

ROOT = Path(__file__).parents[2]
EXAMPLES = ("four_bar", "stewart_platform", "quadcopter", "walker", "ur5", "excavator")


def one_by_one(monkeypatch):
    monkeypatch.setattr(bundles, "LEAST", 10**9)


def closed(a, X, pair):
    """Something of each type of argument, with a zero in one part that is none in the others."""
    b, c = pair
    return kn.Pose(X.R @ X.R, X.p * a), (kn.cos(a) * b[0] - b[1] / c, kn.where(a, b[2], 1.0 - c)), None


def make_calls(tape):
    q = tape.inputs("q", 12)
    calls = []
    for k in range(4):
        X = kn.Pose(
            np.array([[q[3 * k], 0.0, 1.0], [0.0, float(k), 2.0], [1.0, 0.0, -q[0]]], dtype=object), np.eye(3)[0]
        )
        calls.append((q[3 * k + 1], X, (np.array([q[3 * k + 2], float(k), 3.0], dtype=object), q[k])))
    return calls


def flat(results):
    return [x for X, pair, _ in results for x in [*X.R.ravel(), *np.ravel(X.p), *pair]]


def test_parts_side_by_side_have_the_operations_of_parts_one_by_one(monkeypatch):
    called = []

    def counted(*args):
        called.append(args)
        return closed(*args)

    together = flat(map_alike(counted, make_calls(Tape())))
    assert len(called) == 1
    one_by_one(monkeypatch)
    alone = flat(map_alike(counted, make_calls(Tape())))
    assert len(called) == 5
    assert count_operations(together) == count_operations(alone)
    values = {("q", k): 0.3 + 0.1 * k for k in range(12)}
    assert replay(together, values) == replay(alone, values)


def test_other_scalars_are_not_put_together():
    duals = [(Dual(1.0 + k, 2.0, 1), np.array([3.0])) for k in range(4)]
    assert [x.rate for x in map_alike(lambda x, y: x * x * y[0], duals)] == [12.0, 24.0, 36.0, 48.0]
    assert map_alike(lambda x, y: x + y, [(k, 1.0) for k in range(5)]) == [1.0, 2.0, 3.0, 4.0, 5.0]


def test_parts_of_another_kind_or_form_are_computed_apart():
    class Owner:
        def __init__(self, kind):
            self.kind = kind

    tape, seen = Tape(), []

    def function(owner, x, y):
        seen.append(owner.kind)
        return x * y[0]

    q = tape.inputs("q", 8)
    calls = [(q[k], np.array([q[k], 1.0], dtype=object) if k < 6 else np.array([2.0])) for k in range(8)]
    owners = [Owner("a" if k % 2 else "b") for k in range(8)]
    results = map_alike(function, calls, owners)
    assert sorted(seen) == ["a", "a", "b", "b"]  # three of each kind at once, and the two of another form
    assert replay(results, {("q", k): 1.0 + k for k in range(8)}) == [1, 4, 9, 16, 25, 36, 14, 16]


@pytest.mark.parametrize("name", [*EXAMPLES, "four_bars", "net"])
def test_kernels_have_the_same_operations_and_numbers(name, monkeypatch):
    """Numbers to the last bit: what is added to what, and in which order, is the same."""
    made = {"four_bars": lambda: four_bars(5), "net": lambda: net(2, 2)}
    system = made[name]() if name in made else kn.load(ROOT / "examples" / f"{name}.yaml")
    topology = kn.compile(system).topology
    kernels = [Kernel("rate"), *[Kernel(name) for name in ("closure", "projection") if topology.constrained]]
    together = [trace(topology, kernel) for kernel in kernels]
    one_by_one(monkeypatch)
    for kernel, outputs in zip(kernels, together, strict=True):
        alone = trace(topology, kernel)
        assert count_operations(outputs) == count_operations(alone)
        inputs = {node.args for node in [*needed(outputs), *needed(alone)] if node.op == "input"}
        values = {each: 0.3 + 0.37 * np.sin(k + len(each[0])) for k, each in enumerate(sorted(inputs))}
        assert np.array_equal(np.array(replay(outputs, values), float), np.array(replay(alone, values), float), True)
