"""Programs for large trees: loops over tables of bodies instead of straight-line code."""

from __future__ import annotations

from kinode.compile import kernels
from kinode.compile.kernels import Kernel
from kinode.compile.program import Program
from kinode.topology import Topology


def make_program(topology: Topology, kernel: Kernel) -> Program:
    """The program of a kernel."""
    return kernels.make_program(topology, kernel)
