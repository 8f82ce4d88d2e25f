"""What can hold joints still: friction that sticks, a stop that a body rests on, a brake, a clutch.

A lock keeps a sum of joint speeds as it is while it is ``stuck``, and does nothing else while it is not.  It holds with
whatever effort that takes; how much it may take is for its owner to say, whose roots end the mode.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kinode.algebra.scalars import Scalar


@dataclass(frozen=True, eq=False)
class Lock:
    """``part`` of ``owner`` holds the sum of factor * speed over its ``joints``; ``stuck`` is 1 while it does, else 0.

    The effort that it holds with acts along each joint, times its factor.  With a ``side``, 1 or -1, it is something
    that joints rest against and that takes part in impacts: it only pushes, against the speed of that sign.

    Of several that hold one joint the sum alone is unique.  Each ``takes`` of the effort that is asked for what it is
    good for, stops first, then brakes; friction takes the rest.  What takes all has no such function.
    """

    owner: str
    part: str
    joints: tuple[tuple[str, Scalar], ...]
    stuck: Scalar
    side: Scalar = 0.0
    takes: Callable[[Scalar], Scalar] | None = None
