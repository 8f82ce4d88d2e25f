"""Locks: they keep joints at rest by sticking friction, a stop that a body rests on, a brake, a clutch.

While a lock is ``stuck`` it keeps a weighted sum of joint speeds constant, with the effort that this takes.  Otherwise
it has no effect.  The owner of the lock limits the effort: its event functions end the mode.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kinode.algebra.scalars import Scalar


@dataclass(frozen=True, eq=False)
class Lock:
    """A lock of the sum of factor * speed over its ``joints``; ``stuck`` is 1 while it is active, else 0.

    ``owner`` is its component, ``part`` names the lock within it.  The locking effort acts along each joint, times its
    factor.  With a ``side``, 1 or -1, the lock is an end stop that takes part in impacts: it only pushes, against the
    speed of that sign.

    If several locks act on one joint, only the sum of their efforts is unique.  ``takes(effort)`` is the share of a
    required effort that this lock can take: stops come first, then brakes, and friction takes the rest.  Without the
    function a lock takes all.
    """

    owner: str
    part: str
    joints: tuple[tuple[str, Scalar], ...]
    stuck: Scalar
    side: Scalar = 0.0
    takes: Callable[[Scalar], Scalar] | None = None
