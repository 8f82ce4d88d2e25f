"""The machine code of one topology: each kernel is compiled when it is first called, or found in the cache on disk."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError
from kinode.jit import compiler, kernel_call
from kinode.jit.compiler import Machine
from kinode.jit.program import Program
from kinode.kernels import kernel_programs
from kinode.kernels.kernel_options import Kernel
from kinode.kernels.kernel_table import find_row
from kinode.multibody.composition import Composition
from kinode.structure.evaluation_point import EvaluationPoint
from kinode.structure.topology import Topology

SHORT_TREE = 12  # links up to which two vectors side by side hide each other's delays; beyond, they only cost compiling
LANES_FROM = 64  # rows from which a batch is worth code for several lanes


class Kernels:
    """The compiled functions of a topology in one formulation.

    Parameters
    ----------
    topology : Topology
        What the kernels are traced from; its constraint rows are part of their identity.
    formulation : str
        Its name, part of the identity of the machine code.
    composition : Composition
        The parts of the snapshot that the formulation traces.
    check_forward : callable
        Called before the first kernel of forward dynamics is made; raises where the system has no such dynamics.
    """

    def __init__(
        self,
        topology: Topology,
        formulation: str,
        composition: Composition,
        check_forward: Callable[[], None] = lambda: None,
    ) -> None:
        self.topology, self.formulation = topology, formulation
        self._composition, self._check_forward = composition, check_forward
        self._machines: dict[tuple[Kernel, int], Machine] = {}

    @cached_property
    def fingerprint(self) -> str:
        """All of the model that the machine code depends on."""
        rows = "" if self.topology.rows is None else f"\nrows {self.topology.rows}"
        return f"{self.formulation}\n{kernel_programs.fingerprint(self.topology)}{rows}"

    @property
    def lanes(self) -> int:
        """Rows that batches work on at once: twice the width of the machine's vectors where the code is short."""
        lanes = compiler.choose_lanes()
        return 2 * lanes if lanes > 1 and len(self.topology.tree.nodes) <= SHORT_TREE else lanes

    def has(self, kernel: Kernel) -> bool:
        """Whether a kernel is made already."""
        return (kernel, 1) in self._machines

    @property
    def made(self) -> frozenset[Kernel]:
        """The kernels that are made already."""
        return frozenset(kernel for kernel, _ in self._machines)

    def machine(self, kernel: Kernel, lanes: int = 1) -> Machine:
        """The machine code of a kernel: its address and the sizes of its arguments."""
        code = self._machines.get((kernel, lanes))
        if code is None:
            if find_row(kernel).forward:
                if self.topology.unmoved is not None:
                    raise self.topology.unmoved
                self._check_forward()
            code = compiler.build(f"{kernel}\n{self.fingerprint}", lanes, lambda: self._make_program(kernel))
            self._machines[kernel, lanes] = code
        return code

    def _make_program(self, kernel: Kernel) -> Program:
        from kinode.kernels.rolled_programs import make_program  # new code only: many runs find theirs in the cache

        return make_program(self.topology, kernel, self._composition)

    def call(self, kernel: Kernel, point: EvaluationPoint, x: Array | None = None) -> Array:
        """Run a kernel at a point, or at each row of a batch.

        Parameters
        ----------
        kernel : Kernel
        point : EvaluationPoint
            Of floats.  Arrays of two dimensions have one row for each call, others are shared.
        x : array, optional
            What the kernel takes besides the point (``kernel_table.py``); zero by default.

        Returns
        -------
        array
            The result of the kernel, of a batch a row for each point.
        """
        single = self.machine(kernel)
        given = {
            "t": _as_column(point.t),
            "q": np.asarray(point.q, dtype=float),
            "u": np.asarray(point.u, dtype=float),
            "z": np.asarray(point.z, dtype=float),
            "p": np.asarray(point.p, dtype=float),
            "inputs": np.asarray(point.inputs, dtype=float),
            "x": np.zeros(single.sizes["x"]) if x is None else np.asarray(x, dtype=float),
        }
        rows = {len(array) for array in given.values() if array.ndim == 2}
        if len(rows) > 1:
            shapes = ", ".join(f"{k} {v.shape}" for k, v in given.items() if v.ndim == 2)
            raise ArgumentError(f"{kernel.name}: the batches differ in their numbers of rows: {shapes}")
        if not rows:
            return kernel_call.run(single, given)
        count = rows.pop()
        lanes = self.lanes if count >= LANES_FROM and find_row(kernel).lanes else 1
        code = single if lanes == 1 else self.machine(kernel, lanes)
        return kernel_call.run_batch(code, count, {k: (v, v.ndim == 2) for k, v in given.items()})


def _as_column(t: object) -> Array:
    times = np.asarray(t, dtype=float)
    return times.reshape(-1, 1) if times.ndim else times.reshape(1)
