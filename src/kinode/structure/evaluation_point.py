"""The point at which a model is evaluated: time, state, parameters and inputs, as one value.

Entries may be floats, traced scalars, dual numbers or symbols.  Floats may also form a batch of points: a 2-D array (a
1-D array of times) has one row for each point, and all points share the other arrays.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array, Scalar

EMPTY = np.empty(0)
FLOAT = np.dtype(np.float64)


@dataclass(frozen=True, eq=False)
class EvaluationPoint:
    """Where a model is evaluated.

    ``t`` is the time, ``q`` the coordinates, ``u`` the speeds, ``z`` the other states with the discrete ones at the
    end, ``p`` the parameters and ``inputs`` the inputs, all in the order of the ``StateLayout``.
    """

    t: Scalar
    q: Array
    u: Array
    z: Array = field(default_factory=lambda: EMPTY)
    p: Array = field(default_factory=lambda: EMPTY)
    inputs: Array = field(default_factory=lambda: EMPTY)

    @property
    def y(self) -> Array:
        """The state vector [q, u, z]."""
        return np.concatenate([self.q, self.u, self.z], axis=-1)

    @property
    def is_plain(self) -> bool:
        """Whether it is one point of float64, of a time that is a number."""
        arrays = (self.q, self.u, self.z, self.p, self.inputs)
        return isinstance(self.t, float) and all(x.ndim == 1 and x.dtype == FLOAT for x in arrays)

    @property
    def n_rows(self) -> int | None:
        """The number of points in a batch; None for a single point."""
        counts = [np.size(self.t)] if np.ndim(self.t) else []
        counts += [len(x) for x in (self.q, self.u, self.z, self.p, self.inputs) if np.ndim(x) == 2]
        return counts[0] if counts else None

    def row(self, k: int) -> EvaluationPoint:
        """One point of a batch."""
        arrays = (x[k] if np.ndim(x) == 2 else x for x in (self.q, self.u, self.z, self.p, self.inputs))
        return EvaluationPoint(self.t[k] if np.ndim(self.t) else self.t, *arrays)

    def replaced(self, **changes: Any) -> EvaluationPoint:
        """The point with some of its arrays replaced."""
        given = {"t": self.t, "q": self.q, "u": self.u, "z": self.z, "p": self.p, "inputs": self.inputs, **changes}
        return EvaluationPoint(**given)
