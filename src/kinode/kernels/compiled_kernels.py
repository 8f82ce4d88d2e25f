"""The machine code of one topology: a kernel is compiled, or loaded from the cache on disk, at its first call.

The fingerprint is everything of a model that its machine code depends on.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from kinode.algebra.named_data import NamedData
from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError
from kinode.jit import code_cache, compiler, kernel_call
from kinode.jit.compiler import BuildRequest
from kinode.jit.llvm_code import choose_lanes
from kinode.jit.machine_code import Machine
from kinode.kernels.kernel_options import Kernel
from kinode.kernels.kernel_table import find_row
from kinode.kernels.tree_size import is_large
from kinode.model.base.element import Element
from kinode.model.base.parameters import Input, Parameter, TableRecord
from kinode.ode.ode_arguments import all_finite
from kinode.paused_collection import paused_collection
from kinode.structure.state_layout import EvaluationPoint
from kinode.structure.topology import Topology

if TYPE_CHECKING:
    from kinode.jit.program import Program
    from kinode.kernels.kernel_traces import TracedModel
    from kinode.multibody.snapshot import Composition


Found = TypeVar("Found")


def find_fingerprint(topology: Topology) -> str:
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
            parts += [component.foreign_code] if isinstance(component, Element) and component.foreign_code else []
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


SHORT_TREE = 12  # links; up to here two vectors at a time hide each other's latency, beyond they only cost compile time
CLOSURE = Kernel("closure")
LANES_FROM = 64  # rows; smaller batches are not worth compiling code for several lanes


class Kernels:
    """The compiled functions of a topology in one formulation.

    Parameters
    ----------
    topology : Topology
        The system; its independent constraint rows are part of the identity of the machine code.
    formulation : str
        The name of the formulation, part of the identity of the machine code.
    find_composition : callable
        Gives the classes of the formulation from which the kernels are traced.
    check_forward : callable
        Called before the first kernel of forward dynamics is made; raises where the system has no such dynamics.
    """

    def __init__(
        self,
        topology: Topology,
        formulation: str,
        find_composition: Callable[[], Composition],
        check_forward: Callable[[], None] = lambda: None,
    ) -> None:
        self.topology, self.formulation = topology, formulation
        self._find_composition, self._check_forward = find_composition, check_forward
        self._machines: dict[tuple[Kernel, int], Machine] = {}
        self._traced: TracedModel | None = None
        self._n_tracing = 0
        self._building = RLock()
        self._found: dict[Hashable, Any] = {}

    def once(self, key: Hashable, find: Callable[[], Found]) -> Found:
        """What else follows from the system, found when it is first asked for."""
        if key not in self._found:
            self._found[key] = find()
        found: Found = self._found[key]
        return found

    @cached_property
    def fingerprint(self) -> str:
        """Everything of the model that the machine code depends on, as text."""
        topology = self.topology
        rows = "" if topology.rows is None else f"\nrows {topology.rows}"
        rows += f" groups {topology.groups} {topology.scale}" if topology.groups else ""
        return f"{self.formulation}\n{find_fingerprint(self.topology)}{rows}"

    @cached_property
    def _exchangeable_data(self) -> dict[str, NamedData]:
        """The numbers that are no part of the machine code: those of tables, and addresses of external functions."""
        system = self.topology.system
        tables = {name: data for table in system.tables.values() for name, data in table.exchangeable_data.items()}
        return {name: door for element in system.elements.values() for name, door in element.doors.items()} | tables

    @property
    def lanes(self) -> int:
        """Rows that a batch computes at once: the width of the CPU's vectors, or twice that for short code."""
        lanes = choose_lanes()
        return 2 * lanes if lanes > 1 and len(self.topology.tree.nodes) <= SHORT_TREE else lanes

    def check_forward(self) -> None:
        """Refuse forward dynamics where the system has none: a freedom without inertia, or that nothing moves."""
        if self.topology.unmoved is not None:
            raise self.topology.unmoved
        self._check_forward()

    def has(self, kernel: Kernel) -> bool:
        """Whether a kernel is compiled or loaded already."""
        return (kernel, 1) in self._machines

    @property
    def made(self) -> frozenset[Kernel]:
        """The kernels that are compiled or loaded already."""
        return frozenset(kernel for kernel, _ in self._machines)

    def machine(self, kernel: Kernel, lanes: int = 1) -> Machine:
        """The machine code of a kernel: its address and the sizes of its arguments."""
        if (kernel, lanes) not in self._machines:
            self._build([kernel], lanes)
        return self._machines[kernel, lanes]

    def _find_traced(self) -> TracedModel:
        from kinode.kernels.kernel_traces import TracedModel

        if self._traced is None:
            self._traced = TracedModel(self.topology, self._find_composition())
        return self._traced

    @contextmanager
    def tracing(self) -> Iterator[Callable[[], TracedModel]]:
        """The traced model, which all kernels share that are made within; it is large, and forgotten afterwards."""
        self._n_tracing += 1
        try:
            yield self._find_traced
        finally:
            self._n_tracing -= 1
            if not self._n_tracing:
                self._traced = None

    def prepare(self, kernels: Iterable[Kernel]) -> None:
        """Compile or load several kernels: the model is traced once for all, and LLVM works beside Python."""
        if missing := [kernel for kernel in dict.fromkeys(kernels) if not self.has(kernel)]:
            self._build(missing, 1)

    def _build(self, kernels: Sequence[Kernel], lanes: int) -> None:
        """Compile or load kernels; one thread at a time, since code that another thread runs must not be replaced."""
        if any(find_row(kernel).forward for kernel in kernels):
            self.check_forward()
        with self._building, paused_collection(), self.tracing() as find_traced:
            missing = [kernel for kernel in kernels if (kernel, lanes) not in self._machines]
            is_kept = code_cache.directory() is not None
            requests = [
                BuildRequest(
                    f"{kernel}\n{self.fingerprint}" if is_kept else None, lanes,
                    partial(self._make_program, kernel, find_traced),
                    self._exchangeable_data, f"{kernel.name} of {self.topology.system.name}",
                )
                for kernel in missing
            ]  # fmt: skip
            for kernel, code in zip(missing, compiler.build_several(requests), strict=True):
                self._machines[kernel, lanes] = code

    def _make_program(self, kernel: Kernel, find_traced: Callable[[], TracedModel]) -> Program:
        if is_large(self.topology):
            from kinode.kernels.rolled.rolled_programs import make_program
        else:
            from kinode.kernels.kernel_traces import make_program
        return make_program(self.topology, kernel, self._find_composition(), find_traced())

    def program(self, kernel: Kernel) -> Program:
        """The program of a kernel, for another writer than LLVM's; several within ``tracing`` share the model."""
        with paused_collection(), self.tracing() as find_traced:
            return self._make_program(kernel, find_traced)

    def kernel_at(self, address: int) -> Kernel | None:
        """The kernel whose machine code of one lane stands at an address; None if there is none."""
        found = (kernel for (kernel, lanes), code in self._machines.items() if lanes == 1 and code.address == address)
        return next(found, None)

    def call(self, kernel: Kernel, point: EvaluationPoint, x: Array | None = None) -> Array:
        """Run a kernel at a point, or at each row of a batch.

        Parameters
        ----------
        kernel : Kernel
        point : EvaluationPoint
            Of floats.  Arrays of two dimensions have one row for each call, others are shared.
        x : array, optional
            The argument of the kernel besides the point (``kernel_table.py``); zero by default.

        Returns
        -------
        array
            The result of the kernel; for a batch, one row for each point.
        """
        if x is None and point.is_plain:
            result = kernel_call.run_at(
                self.machine(kernel), (point.t, point.q, point.u, point.z, point.p, point.inputs)
            )
            return self._checked(kernel, point, result)
        given = {
            "t": _as_column(point.t),
            "q": np.asarray(point.q, dtype=float),
            "u": np.asarray(point.u, dtype=float),
            "z": np.asarray(point.z, dtype=float),
            "p": np.asarray(point.p, dtype=float),
            "inputs": np.asarray(point.inputs, dtype=float),
        }
        if x is not None:
            given["x"] = np.asarray(x, dtype=float)
        rows = {len(array) for array in given.values() if array.ndim == 2}
        if len(rows) > 1:
            known = given | {find_row(kernel).x_name: given["x"]} if x is not None else given
            shapes = ", ".join(f"{k} {v.shape}" for k, v in known.items() if v.ndim == 2 and k != "x")
            raise ArgumentError(f"{kernel.name}: the batches differ in their numbers of rows: {shapes}")
        count = rows.pop() if rows else None
        lanes = self.lanes if count is not None and count >= LANES_FROM and find_row(kernel).lanes else 1
        code = self.machine(kernel, lanes)
        if count is not None:
            given.setdefault("x", np.zeros(code.sizes["x"]))
            return kernel_call.run_batch(code, count, {k: (v, v.ndim == 2) for k, v in given.items()})
        return self._checked(kernel, point, kernel_call.run(code, given))

    def _checked(self, kernel: Kernel, point: EvaluationPoint, result: Array) -> Array:
        """The result of one evaluation; rows of constraints that are not defined there are named in an error."""
        if kernel == CLOSURE and not all_finite(result):
            from kinode.kernels.undefined_rows import check_rows

            check_rows(self.topology, point, result)
        return result


def _as_column(t: object) -> Array:
    """Times as an array of shape (rows, 1); a single time as (1,)."""
    times = np.asarray(t, dtype=float)
    return times.reshape(-1, 1) if times.ndim else times.reshape(1)
