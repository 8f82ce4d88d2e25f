"""Small programs and calls that the tests of this folder share."""

from __future__ import annotations

import ctypes

import numpy as np

from kinode.jit.machine_code import ARGUMENTS, Machine
from kinode.jit.program import Block, Program


def sizes(**given: int) -> dict[str, int]:
    """Sizes of all arguments, zero where not given."""
    return {name: given.get(name, 0) for name in ARGUMENTS}


def straight(stores, name="kernel", **given):
    """A program of one straight-line block."""
    return Program(name, sizes(**given), {}, [Block(1, {}, [stores])])


def call_lanes(machine: Machine, rows: dict[str, np.ndarray]) -> np.ndarray:
    """Call a kernel on rows (lanes, size) of each argument; gives rows of ``out``."""
    lanes = machine.lanes
    arrays = {name: np.zeros(max(1, size * lanes)) for name, size in machine.sizes.items()}
    for name, values in rows.items():
        arrays[name][: values.size] = np.ascontiguousarray(values.T).ravel()
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 9)(machine.address)
    function(*[arrays[name].ctypes.data for name in ARGUMENTS])
    return arrays["out"][: machine.sizes["out"] * lanes].reshape(-1, lanes).T.copy()
