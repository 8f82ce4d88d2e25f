"""What compiled functions take and give: states and wrenches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinode.algebra.scalars import Array


@dataclass(frozen=True, eq=False)
class State:
    """Time, coordinates, speeds and other states."""

    t: float
    q: Array
    u: Array
    z: Array

    @property
    def y(self) -> Array:
        """All of it as one vector [q, u, z]."""
        return np.concatenate([self.q, self.u, self.z])


@dataclass(frozen=True, eq=False)
class Wrench:
    """A force and a moment: on which body, about which point, in whose axes.

    ``unique`` if no other is possible; where some components are and others are not, ``components`` tells of
    force x, y, z and moment x, y, z, as far as they are known apart, and ``shared`` by what the others were chosen:
    the compliance of joints, or least norm.
    """

    force: Array
    moment: Array
    on: str
    at: str
    frame: str
    unique: bool = True
    components: tuple[bool, ...] | None = None
    shared: str = ""
