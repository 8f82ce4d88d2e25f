"""Kernels of one model are traced together: what was traced before a kernel does not change its numbers."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import kinode as kn
from kernels import call_lanes, straight
from kinode.algebra.scalars import apply
from kinode.algebra.trace import Tape
from kinode.jit import compiler, kernel_call
from kinode.kernels import kernel_table
from kinode.kernels import kernel_traces as kernel_programs
from kinode.kernels.kernel_options import Kernel
from kinode.kernels.kernel_traces import TracedModel
from kinode.multibody.snapshot import Snapshot

MODELS = ("double_pendulum", "four_bar", "stewart_platform", "backlash_axis", "excavator")
BEFORE = ("energy", "pose_errors", "closure", "effort", "mass_matrix")


@cache
def topology_of(name):
    return kn.compile(kn.load(f"examples/{name}.yaml")).topology


def kernels_of(topology):
    names = ["rate", "acceleration", "bias", "effort", "loaded_acceleration", "power"]
    names += ["projection"] * topology.constrained + ["roots", "jump"] * (topology.events is not None)
    return [Kernel(name) for name in names]


def numbers(topology, program):
    """What compiled code gives at some points."""
    machine = compiler.compile_program(program, 1)
    rng = np.random.default_rng(0)
    points = [{k: rng.uniform(0.1, 1.0, n) for k, n in machine.sizes.items()} for _ in range(3)]
    return np.concatenate([kernel_call.run(machine, point) for point in points])


@pytest.mark.parametrize("name", MODELS)
def test_numbers_do_not_depend_on_what_was_traced_before(name):
    topology = topology_of(name)
    shared = TracedModel(topology)
    for kernel in BEFORE[: None if topology.constrained else 1]:
        shared.trace(Kernel(kernel))
    for kernel in reversed(kernels_of(topology)):
        together = kernel_programs.make_program(topology, kernel, traced=shared)
        alone = kernel_programs.make_program(topology, kernel)
        assert numbers(topology, together).tobytes() == numbers(topology, alone).tobytes(), kernel.name


def test_the_model_is_traced_once():
    topology = topology_of("four_bar")
    shared = TracedModel(topology)
    shared.trace(Kernel("rate"))
    before = len(shared.tape.nodes)
    again = shared.trace(Kernel("acceleration"))
    assert len(shared.tape.nodes) == before and len(again) == topology.n_u


def test_derivatives_have_a_tape_of_their_own():
    topology = topology_of("double_pendulum")
    shared = TracedModel(topology)
    shared.trace(Kernel("rate"))
    before = len(shared.tape.nodes)
    result = shared.trace(Kernel("direction"))
    assert len(shared.tape.nodes) == before and result[0].tape is not shared.tape


def random_sums(order, seed):
    """Sums of two products at random; ``order`` is the order in which the inputs are made, and so their age."""
    tape, rng = Tape(), np.random.default_rng(seed)
    inputs = {k: tape.input("q", int(k)) for k in order}
    known = [inputs[k] for k in range(len(order))]
    for _ in range(60):
        a, b, c, d = (known[k] for k in rng.integers(0, len(known), 4))
        kind = rng.integers(5)
        known.append([a * b + c * d, a * b - c * d, (a - b) * c - d * a, apply("min", a - b, c), c * (b - a)][kind])
    return known[-12:]


@pytest.mark.parametrize("seed", range(5))
def test_the_choice_of_products_does_not_depend_on_their_age(seed):
    rows = {"q": np.random.default_rng(seed).uniform(-1, 1, (1, 6))}
    found = set()
    for order in (range(6), range(5, -1, -1), (3, 1, 5, 0, 2, 4)):
        stores = [("out", k, value) for k, value in enumerate(random_sums(order, seed))]
        found.add(call_lanes(compiler.compile_program(straight(stores, q=6, out=12), 1), rows).tobytes())
    assert len(found) == 1


def test_every_kernel_of_the_table_has_its_computation():
    for row in kernel_table.KERNELS.values():
        for text, known in (
            (row.trace or f".kernel_outputs.{row.name}", ["snapshot", "tape", "x", "options"]),
            *((text, ["topology", "options"]) for text in (row.n_x, row.rolled) if isinstance(text, str)),
        ):
            if "." in text:
                asked = kernel_table.find_named(text)[1]
                assert asked == tuple(name for name in known if name in asked)
            else:
                assert hasattr(Snapshot, text)
