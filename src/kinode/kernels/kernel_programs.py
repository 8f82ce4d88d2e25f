"""The straight-line program of a kernel, and the fingerprint of everything its machine code depends on."""

from __future__ import annotations

import os
import sys
from functools import cached_property
from typing import Any

from kinode.algebra.scalars import Scalar
from kinode.algebra.trace import Tape
from kinode.jit.program import Block, Program
from kinode.kernels.kernel_options import Kernel
from kinode.kernels.kernel_outputs import flat
from kinode.kernels.kernel_table import find_row, outputs_of, sizes
from kinode.model.base.parameters import Input, Parameter, TableRecord
from kinode.multibody.composition import RECURSIVE, Composition
from kinode.multibody.given import Given
from kinode.multibody.snapshot import Snapshot
from kinode.structure.topology import Topology


class TracedModel:
    """A model that is traced once; each kernel takes from it what it needs.

    Numbers of a kernel do not depend on the kernels that were traced before it (``fused_products.py``).
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
        x = self.tape.inputs("x", row.size_of_x(self.topology, kernel.options))
        given = row.given(self.topology, x)
        snapshot = self.snapshot.again(Given(**given)) if given else self.snapshot
        if row.trace is not None:
            return flat(list(row.trace(snapshot, self.tape, x, kernel.options)))
        return outputs_of(kernel, snapshot)


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


def fingerprint(topology: Topology) -> str:
    """Everything of a model that its machine code depends on, as text; not values of parameters and initial values."""
    system = topology.system
    parts: list[Any] = [system.gravity, system.world.frames]
    for component in system.components.values():
        if isinstance(component, Parameter | Input):
            fixed = isinstance(component, Parameter) and not isinstance(component.value, float)
            parts.append((component.name, component.section, component.value if fixed else None))
        elif component.specs():
            given = component.given(aside=False)
            parts.append((component.name, component.section, component.kind, given))
            parts.append(getattr(component, "declaration", None))  # of a type that a file or a call declares
            axes = [given.get("axis"), given.get("normal"), *given.get("axes", ())]
            # The choice of the helper axis depends on the values.
            parts += [[system.nominal(x) for x in v] for v in axes if v is not None and not isinstance(v, str)]
        elif isinstance(component, TableRecord) and component.table.exchangeable_data:
            table = component.table
            parts.append((component.name, component.section, table.shape, table.method, "exchangeable"))
        else:
            parts.append(component)
    if topology.network is not None:  # the choice of states depends on which initial values are given
        parts.append(topology.network.states)
    foreign = {type(c) for c in system.components.values() if not type(c).__module__.startswith("kinode.")}
    return repr(parts) + "".join(sorted(map(_source, foreign)))


def _source(cls: type) -> str:
    """The text of a plug-in's module, so that changed code is compiled again; without text it always is."""
    import inspect

    module = sys.modules.get(cls.__module__)
    try:
        if module is not None and getattr(module, "__file__", None):
            return inspect.getsource(module)
    except OSError:
        pass
    return os.urandom(16).hex()
