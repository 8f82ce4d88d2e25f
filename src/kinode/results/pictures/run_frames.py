"""RunFrames: what moving views of a run show, as arrays of single precision with the pictures along the last axis."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError
from kinode.kernels.state import Wrench
from kinode.model.base.fields import short, unknown
from kinode.results.pictures.load_breakdown import LoadBreakdown, find_breakdown
from kinode.results.run_quantities import RunQuantities


@dataclass(frozen=True, eq=False)
class RunFrames:
    """Poses, loads and quantities of a run at the times of n pictures.

    Attributes
    ----------
    t : array
        Times, s, (n,).
    bodies : tuple of str
        The bodies.
    poses : array
        (bodies, 7, n): position x, y, z, then quaternion w, x, y, z of each body, whose sign does not jump.
    joints : tuple of str
        The joints that have reactions, then the constraints that act on bodies.
    on : tuple of str
        The body that each load acts on: the child of a joint.
    at : tuple of str
        The point about which its moment is, in words: the child's side of a joint.
    points : array
        (joints, 3, n): where each load acts, in world axes.
    loads : mapping of str to array
        By part, "total" and "static": (joints, 6, n), force then moment about the point, in world axes.  The kinetic
        part is the difference.
    unique : array
        (joints, 6): whether each component is determined by equilibrium, in the axes of the joint (``Wrench``).
    shared : tuple of str
        How components that are not unique were chosen, for each joint.
    left_out : tuple of tuple of str
        Loads that are not in the reactions of each joint.
    columns : mapping of str to slice
        Where each quantity by name is in ``quantities``.
    quantities : array
        (columns, n).
    notes : tuple of str
        What is missing, and why.
    run : RunQuantities
        The run with one state for each picture; None if states were given without a run.
    """

    t: Array
    bodies: tuple[str, ...]
    poses: Array
    joints: tuple[str, ...]
    on: tuple[str, ...]
    at: tuple[str, ...]
    points: Array
    loads: Mapping[str, Array]
    unique: Array
    shared: tuple[str, ...]
    left_out: tuple[tuple[str, ...], ...]
    columns: Mapping[str, slice]
    quantities: Array
    notes: tuple[str, ...] = ()
    run: RunQuantities | None = None
    hold: Any = None

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        return f"<RunFrames: {len(self)} pictures, {len(self.bodies)} bodies, {len(self.joints)} loads>"

    def __getitem__(self, name: str) -> Array:
        """A quantity that was asked for by name: (n,), or (components, n)."""
        if name not in self.columns:
            raise ArgumentError(unknown("frames hold no quantity called", short(name), self.columns))
        values = self.quantities[self.columns[name]]
        return values[0] if len(values) == 1 else values

    def evaluate(self, names: Iterable[str]) -> dict[str, Array]:
        """Quantities at the times of the pictures, (n, ...): all that are new by one compiled function.

        Parameters
        ----------
        names : iterable of str
            Names of quantities, or expressions of them, as in ``run.evaluate``.

        Returns
        -------
        dict of str to array
        """
        if self.run is None:
            raise ArgumentError("evaluate: these frames were made of states, not of a run")
        return self.run.evaluate(names)

    @property
    def wrenches(self) -> dict[str, Wrench]:
        """The whole loads as wrenches, in world axes; their ``components`` are told apart in the joint's axes."""
        wrenches = {}
        for k, name in enumerate(self.joints):
            force, moment = self.loads["total"][k, :3].T, self.loads["total"][k, 3:].T
            flags = tuple(bool(flag) for flag in self.unique[k])
            wrenches[name] = Wrench(
                force, moment, on=self.on[k], at=self.at[k], frame="world", components=flags,
                unique=all(flags) and not self.left_out[k], shared=self.shared[k], left_out=self.left_out[k],
            )  # fmt: skip
        return wrenches

    @property
    def kinetic(self) -> Array | None:
        """The kinetic part of the loads, (joints, 6, n); None if there is no static part."""
        static = self.loads.get("static")
        return None if static is None else np.asarray(self.loads["total"] - static)

    def breakdown(self, joint: str, by: str = "body") -> LoadBreakdown:
        """The kinetic part of a joint's reaction as a sum over bodies, or over causes.

        Parameters
        ----------
        joint : str
            The joint.
        by : {"body", "cause"}
            By body for every system; by cause for trees.

        Returns
        -------
        LoadBreakdown
            ``names`` of what contributes and ``loads`` (contributors, 6, n), in world axes about the child's point.
        """
        if self.run is None:
            raise ArgumentError("breakdown: these frames were made of states, not of a run")
        return find_breakdown(self.run, joint, by, self.hold)
