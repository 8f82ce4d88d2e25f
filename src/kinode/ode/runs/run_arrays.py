"""The arrays that compiled loops work on."""

from __future__ import annotations

import numpy as np

from kinode.ode.event_spec import Array


def provide_arrays(*sizes: int) -> list[Array]:
    """Arrays of zeros in one block of memory, each aligned to 64 bytes for vector instructions."""
    return provide_block(*sizes)[1]


def provide_block(*sizes: int) -> tuple[Array, list[Array]]:
    """The block and its arrays."""
    starts = [0]
    for size in sizes:
        starts.append(starts[-1] + -(-size // 8) * 8)
    block = np.zeros(starts[-1] + 8)
    first = (-block.ctypes.data % 64) // 8
    return block, [block[first + start : first + start + size] for start, size in zip(starts, sizes, strict=False)]
