"""Straight-line programs of kernels: a model is traced, and each kernel of ``kernel_table.py`` computed from it."""

from __future__ import annotations

from functools import cached_property

from kinode.algebra.scalars import Array, Scalar
from kinode.algebra.trace import Tape
from kinode.jit.program import Block, Program
from kinode.kernels import kernel_outputs
from kinode.kernels.kernel_options import Kernel
from kinode.kernels.kernel_table import call_named, count_x, find_row, sizes
from kinode.multibody.given import Given
from kinode.multibody.snapshot import RECURSIVE, Composition, Snapshot
from kinode.structure.topology import Topology


def outputs_of(kernel: Kernel, snapshot: Snapshot, tape: Tape | None = None, x: Array | None = None) -> list[Scalar]:
    """The result of a kernel as a flat list; ``tape`` and ``x`` are for those that need more than a snapshot."""
    name = find_row(kernel).trace or f".kernel_outputs.{kernel.name}"
    if "." not in name:
        return kernel_outputs.flat(getattr(snapshot, name))
    return kernel_outputs.flat(call_named(name, snapshot=snapshot, tape=tape, x=x, options=kernel.options))


class TracedModel:
    """A model that is traced once; each kernel takes from it what it needs.

    Numbers of a kernel do not depend on the kernels that were traced before it (``jit/program_walk.py``).
    """

    def __init__(self, topology: Topology, formulation: Composition = RECURSIVE) -> None:
        self.topology, self.formulation = topology, formulation
        self.tape = Tape()

    @cached_property
    def snapshot(self) -> Snapshot:
        """The instant with nothing given besides the state."""
        return Snapshot(self.topology, self.topology.layout.traced_point(self.tape), formulation=self.formulation)

    def trace(self, kernel: Kernel) -> list[Scalar]:
        """The result of a kernel as nodes of a tape."""
        row = find_row(kernel)
        if row.own_tape and self.tape.nodes:
            return trace(self.topology, kernel, self.formulation)
        x = self.tape.inputs("x", count_x(self.topology, kernel))
        given = row.given(self.topology, x)
        snapshot = self.snapshot.again(Given(**given)) if given else self.snapshot
        return outputs_of(kernel, snapshot, self.tape, x)


def make_program(
    topology: Topology, kernel: Kernel, formulation: Composition = RECURSIVE, traced: TracedModel | None = None
) -> Program:
    """The straight-line program of a kernel in a formulation; ``traced`` is the model, if it was traced already."""
    results = (traced or TracedModel(topology, formulation)).trace(kernel)
    stores = [("out", i, x) for i, x in enumerate(results)]
    counts = {**sizes(topology, kernel), "out": len(results)}
    return Program("kernel", counts, {}, [Block(1, {}, [stores])], find_row(kernel).rare)


def trace(topology: Topology, kernel: Kernel, formulation: Composition = RECURSIVE) -> list[Scalar]:
    """The result of a kernel as nodes of a tape of its own."""
    return TracedModel(topology, formulation).trace(kernel)
