"""Where kinode was called from, for warnings that point at the user's line."""

from __future__ import annotations

import inspect


def caller_depth() -> int:
    """Number of frames up to the first outside kinode, for ``stacklevel`` of a warning."""
    frame, depth = inspect.currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").startswith("kinode."):
        frame, depth = frame.f_back, depth + 1
    return depth
