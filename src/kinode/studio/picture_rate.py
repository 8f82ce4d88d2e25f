"""How many pictures of a run the player needs."""

from __future__ import annotations

import math

from kinode.errors import ArgumentError

PICTURE_RATE = 60.0  # Hz
LEAST_PICTURES, MOST_PICTURES = 300, 3600


def count_pictures(span: float, rate: float | None = None) -> int:
    """Number of pictures over a span of time: at a rate, or 60 Hz within limits."""
    if rate is None:
        wanted = math.ceil(span * PICTURE_RATE)
        return min(max(wanted, LEAST_PICTURES), MOST_PICTURES) + 1
    if not (math.isfinite(rate) and rate > 0):
        raise ArgumentError(f"rate: a positive number of pictures for a second is expected, not {rate!r}")
    return max(math.ceil(span * rate), 1) + 1
