"""Where kinode was called from, for warnings that point at the user's line."""

from __future__ import annotations

import inspect


def caller_depth() -> int:
    """Frames from whoever asks up to the first that is not kinode's, as ``stacklevel`` of a warning counts them."""
    frame, depth = inspect.currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").startswith("kinode."):
        frame, depth = frame.f_back, depth + 1
    return depth
