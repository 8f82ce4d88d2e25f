"""Frames that are not defined at some state: along a velocity that is zero, along a line without length.

Compiled code gives numbers that are not finite there.  The frame is found by evaluating it once more in Python.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ModelError
from kinode.model.base.frames import Frame
from kinode.model.base.observers.following_frames import standing
from kinode.model.quantity_names import QuantityName

if TYPE_CHECKING:
    from kinode.dynamics.compiled_system import Dynamics
    from kinode.dynamics.state_batches.state_batch import StateBatch
    from kinode.multibody.snapshot import Snapshot


def check_frames(
    dynamics: Dynamics, names: Sequence[QuantityName], values: Mapping[str, Array], states: StateBatch
) -> None:
    """Refuse values that are not finite because a frame that they are seen from is not defined."""
    system = dynamics.system
    if not system.frames:
        return
    for name in names:
        value = values[name.text]
        rows = value.reshape((*value.shape[: value.ndim - len(name.size)], -1))
        check_seen(dynamics, [f for f in (name.frame, name.axes) if f is not None], rows, states)


def check_seen(dynamics: Dynamics, seen_from: Sequence[Frame], values: Array, states: StateBatch) -> None:
    """Refuse values (state, ...) that are not finite because one of some frames is not defined."""
    frames = [name for frame in seen_from for name in standing(dynamics.system, frame)]
    if not frames or np.isfinite(values).all():
        return
    for k in np.flatnonzero(~np.isfinite(np.atleast_2d(values)).all(axis=1)):
        snapshot = snapshot_of(dynamics, states, int(k))
        lost = find_lost(snapshot, frames)
        if lost is not None:
            raise ModelError(f"at t = {float(snapshot.t):.6g} s {lost[1]}", component=lost[0])


def find_lost(snapshot: Snapshot, frames: Sequence[str]) -> tuple[str, str] | None:
    """The first of some frames that is not defined at a state of plain numbers, and why."""
    for name in reversed(frames):
        try:
            words = snapshot.system.frames[name].undefined(snapshot)
        except (ArithmeticError, ValueError):
            words = ""
        if words:
            return name, words
    return None


def snapshot_of(dynamics: Dynamics, states: StateBatch, row: int) -> Snapshot:
    """One state of a batch."""
    from kinode.multibody.snapshot import Snapshot  # a frame is lost seldom

    def pick(x: Array, size: int) -> Array:
        return x[row] if np.ndim(x) > size else x

    t, q, u, z = pick(states.t, 0), pick(states.q, 1), pick(states.u, 1), pick(states.z, 1)
    point = states.replaced(t=float(t), q=q, u=u, z=z, p=pick(states.p, 1), inputs=pick(states.inputs, 1))
    return Snapshot(dynamics.topology, point)


def lost_frame(snapshot: Snapshot) -> str | None:
    """A frame of the model that is not defined at a state of plain numbers, in words."""
    lost = find_lost(snapshot, list(snapshot.system.frames))
    return None if lost is None else f"{lost[0]}: {lost[1]}"
