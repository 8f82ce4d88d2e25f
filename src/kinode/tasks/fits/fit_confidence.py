"""How well data show the unknowns of a fit: covariance, and what they do not show, by name.

With residuals r in units of the noise, J = dr/dx and S the scales of the unknowns, J S = U diag(s) V': along a column v
of V the unknowns are known to 1/s of their scales.  Where that is more than the scale itself, or s is not told from
rounding, the data do not show the direction.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kinode.algebra.scalars import Array
from kinode.tasks.fits.fit_problem import FreeNumber

ROUNDING = 3e-6
"""Singular value, as a share of the largest, that derivatives by differences do not tell from zero."""
PART = 0.1
"""Share of the largest entry of a direction from which on an unknown belongs to it."""


@dataclass(frozen=True, eq=False)
class Unshown:
    """Unknowns that the data do not show: one by itself, or several of which only a combination counts.

    Attributes
    ----------
    names : tuple of str
    shares : tuple of float
        Changes of these, as shares of their scales, that together change next to nothing.
    """

    names: tuple[str, ...]
    shares: tuple[float, ...]

    def __str__(self) -> str:
        if len(self.names) == 1:
            return f"the data do not show {self.names[0]}"
        changes = ", ".join(f"{name} {share:+.2g} %" for name, share in zip(self.names, self.shares, strict=True))
        listed = f"{', '.join(self.names[:-1])} and {self.names[-1]}"
        return f"the data do not show {listed} by themselves: a change of {changes} hardly changes the motion"


@dataclass(frozen=True, eq=False)
class Confidence:
    """Covariance of the unknowns, infinite for those that are not shown, and these."""

    covariance: Array
    unshown: tuple[Unshown, ...]


def find_confidence(
    unknowns: Sequence[FreeNumber], x: Array, jacobian: Array, robust: tuple[Array, Array] | None = None
) -> Confidence:
    """The covariance from derivatives of residuals in units of the noise.

    ``robust`` are, of a robust loss, the weights of the residuals and the residuals: the covariance is then that of the
    weighted equations (the sandwich of Huber).
    """
    scale = np.maximum([unknown.scale for unknown in unknowns], np.abs(x))
    weighted = jacobian * scale if robust is None else jacobian * scale * np.sqrt(robust[0])[:, None]
    _, s, Vt = np.linalg.svd(np.linalg.qr(weighted, mode="r"))
    shown = (s > 1.0) & (s > ROUNDING * s.max(initial=0.0))
    V = Vt[shown].T / s[shown]
    if robust is None:
        relative = V @ V.T
    else:
        pull = V.T @ (jacobian * scale * (robust[0] * robust[1])[:, None]).T
        relative = V @ (pull @ pull.T) @ V.T
    unshown = tuple(_name_direction(unknowns, v) for v in Vt[~shown])
    covariance = relative * np.outer(scale, scale)
    hidden = (np.abs(Vt[~shown]) > PART).any(axis=0) if len(unshown) else np.zeros(len(unknowns), dtype=bool)
    covariance[hidden, :] = covariance[:, hidden] = math.nan
    covariance[hidden, hidden] = math.inf
    return Confidence(covariance, unshown)


def _name_direction(unknowns: Sequence[FreeNumber], v: Array) -> Unshown:
    """The unknowns of a direction, the largest first, with their shares in %."""
    largest = float(np.abs(v).max())
    order = [int(k) for k in np.argsort(-np.abs(v)) if abs(v[k]) > PART * largest]
    sign = math.copysign(1.0, v[order[0]])
    shares = tuple(float(sign * v[k] / largest) for k in order)
    return Unshown(tuple(label(unknowns[k]) for k in order), shares)


def label(unknown: FreeNumber) -> str:
    """What an unknown is called: its name, and the record of a start value."""
    return unknown.name if unknown.record is None else f"{unknown.name} of record {unknown.record}"
