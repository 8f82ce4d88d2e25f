"""Memory for the output of one run after another: each ends before the next one writes over it."""

from __future__ import annotations

import numpy as np

from kinode.ode.ode_arguments import Array


class OutputRoom:
    """The rows of the run that was made last; a thread has a room of its own."""

    def __init__(self) -> None:
        self.t, self.y = np.empty(0), np.empty((0, 0))

    def provide(self, rows: int, width: int) -> tuple[Array, Array]:
        """Arrays for at least so many rows: those of the last run, if they suffice."""
        if len(self.t) < rows or self.y.shape[1] != width:
            self.t, self.y = np.empty(rows), np.empty((rows, width))
        return self.t, self.y

    def join(self, blocks: list[tuple[Array, Array]]) -> tuple[Array, Array]:
        """The rows of several blocks as one, in memory that serves a run of twice the length."""
        rows = sum(len(t) for t, _ in blocks)
        t, y = self.provide(2 * rows, blocks[0][1].shape[1])
        np.concatenate([t for t, _ in blocks], out=t[:rows])
        np.concatenate([y for _, y in blocks], out=y[:rows])
        return t[:rows], y[:rows]
