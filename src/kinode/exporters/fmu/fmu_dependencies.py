"""Which states and inputs derivatives and outputs depend on, read off the operations of their programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kinode.algebra.scalars import Scalar
from kinode.algebra.trace import Traced, needed
from kinode.dynamics.compiled_system import Dynamics
from kinode.dynamics.shared_patterns import values_kernel
from kinode.exporters.fmu.fmu_variables import ExportedVariables
from kinode.kernels.kernel_options import Kernel
from kinode.kernels.tree_size import is_large


def find_dependencies(
    dynamics: Dynamics, variables: ExportedVariables
) -> tuple[list[frozenset[int]] | None, list[frozenset[int]] | None]:
    """Value references that each derivative, and each output, depends on; None for systems whose code is loops."""
    if is_large(dynamics.topology):
        return None, None
    places = _places(dynamics, variables)
    with dynamics.kernels.tracing() as find_traced:
        traced = find_traced()
        rates = traced.trace(Kernel("rate"))[: len(variables.states)]
        outputs = traced.trace(values_kernel(dynamics, variables.quantities)) if variables.quantities else []
        return _reached(rates, places), _reached(outputs, places)


def _places(dynamics: Dynamics, variables: ExportedVariables) -> Mapping[tuple[str, int], int]:
    """The value reference of each entry of the arguments of a kernel that is a continuous state or an input."""
    layout, ranges = dynamics.topology.layout, variables.ranges
    places, n = {}, len(variables.states)
    for role, where in layout.role_slices.items():
        for k in range(where.start, min(where.stop, n)):
            places[role, k - where.start] = ranges.state + k
    return places | {("inputs", k): ranges.input + k for k in range(len(layout.inputs))}


def _reached(results: Sequence[Scalar], places: Mapping[tuple[str, int], int]) -> list[frozenset[int]]:
    """The value references that each result depends on: sets of bits, passed from operation to operation."""
    bits: dict[int, int] = {}
    for node in needed(results):
        if node.op == "input":
            place = places.get((str(node.args[0]), int(node.args[1])))
            bits[node.index] = 0 if place is None else 1 << place
        else:
            found = 0
            for argument in node.args:
                if type(argument) is Traced:
                    found |= bits[argument.index]
            bits[node.index] = found
    return [_members(bits[x.index] if type(x) is Traced else 0) for x in results]


def _members(bits: int) -> frozenset[int]:
    return frozenset(k for k in range(bits.bit_length()) if bits >> k & 1)
