"""The result of a call of derivatives: a matrix, and its blocks by name."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.derivative_calls.derivative_request import DerivativeRequest
from kinode.errors import ArgumentError
from kinode.model.base.fields import unknown


@dataclass(frozen=True, eq=False)
class Derivatives:
    """Derivatives at one state, or at each row of a batch.

    ``matrix`` has a row for each entry of what is differentiated, and a column for each entry of what it is
    differentiated by; of a batch it has three dimensions.  ``derivatives["q"]`` is a block of it: the shape of the
    quantity, then one more axis, which one parameter or input by name does not have.  Of several quantities a block has
    two names, as in ``derivatives["lower.position", "q"]``.  The blocks are views: they change with the matrix.
    """

    matrix: Array
    request: DerivativeRequest

    @property
    def of(self) -> tuple[str, ...]:
        """The names of what is differentiated."""
        return tuple(self.request.of)

    @property
    def by(self) -> tuple[str, ...]:
        """The names of what it is differentiated by."""
        return tuple(self.request.by)

    def __getitem__(self, key: str | tuple[str, str]) -> Array:
        of, by = key if isinstance(key, tuple) else (None, key)
        request = self.request
        if by not in request.by:
            raise ArgumentError(unknown("derivatives: there is no block by", by, self.by))
        if of is not None and of not in request.of:
            raise ArgumentError(unknown("derivatives: there is no block of", of, self.of))
        if of is None and len(request.of) == 1:
            (of,) = request.of
        rows, shape = (slice(None), (request.shape[0],)) if of is None else (request.rows[of], request.of[of])
        block: Array = self.matrix[..., rows, request.columns[by]]
        return np.reshape(block, (*block.shape[:-2], *shape, *request.by[by]))

    def __repr__(self) -> str:
        rows = f", {len(self.matrix)} times" if self.matrix.ndim == 3 else ""
        return f"<Derivatives of {', '.join(self.of)} by {', '.join(self.by)}{rows}>"
