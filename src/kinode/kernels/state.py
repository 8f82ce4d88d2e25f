"""States and wrenches: arguments and results of compiled functions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinode.algebra.scalars import Array
from kinode.hooks import hook


@dataclass(frozen=True, eq=False)
class State:
    """Time, coordinates, speeds and other states."""

    t: float
    q: Array
    u: Array
    z: Array

    @property
    def y(self) -> Array:
        """The state vector [q, u, z]."""
        return np.concatenate([self.q, self.u, self.z])

    def copy(self) -> State:
        """The same state in arrays of its own."""
        return State(self.t, self.q.copy(), self.u.copy(), self.z.copy())


@dataclass(frozen=True, eq=False)
class Wrench:
    """A force and a moment: on which body, about which point, in whose axes.

    ``unique`` tells whether the wrench is determined by equilibrium alone, and is all of the load.  If equilibrium
    determines only some components, ``components`` has a flag for each of force x, y, z and moment x, y, z (None if the
    components are not distinguished), and ``shared`` says how the others were chosen: by the compliance of joints, or
    as the least norm.  ``left_out`` names loads that are not in it, as "tooth force" of a gear whose teeth are not
    given.
    """

    force: Array
    moment: Array
    on: str
    at: str
    frame: str
    unique: bool = True
    components: tuple[bool, ...] | None = None
    shared: str = ""
    left_out: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Wrench on {self.on}, about {self.at}, in the axes of {self.frame}: {self._describe()}>"

    def _describe(self) -> str:
        several = np.ndim(self.force) > 1
        parts = []
        for word, values, unit in (("force", self.force, "N"), ("moment", self.moment, "N*m")):
            if several:
                largest = np.linalg.norm(values, axis=-1).max(initial=0.0)
                parts.append(f"{word} up to {largest:.5g} {unit}")
            else:
                parts.append(f"{word} ({', '.join(f'{float(x):.5g}' for x in values)}) {unit}")
        times = f"{len(self.force)} times, " if several else ""
        notes = (["not unique"] if self.shared else []) + [f"without {load}" for load in self.left_out]
        return times + ", ".join([*parts, *notes])

    def _repr_html_(self) -> str:
        return str(hook("notebook_html")(self))
