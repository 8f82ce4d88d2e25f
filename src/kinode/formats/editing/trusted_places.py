"""Models that the person who started a studio trusts, by their place.

A text under change is read again and again, by many who know no more than its place.  What is trusted is one file, as
long as the studio that was started with it is open; a model cannot say it of itself.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_TRUSTED: Counter[Path] = Counter()


@contextmanager
def trusting(file: str | os.PathLike[str]) -> Iterator[None]:
    """Trust the model of a file for a while."""
    place = Path(file).resolve()
    _TRUSTED[place] += 1
    try:
        yield
    finally:
        _TRUSTED[place] -= 1


def is_trusted(file: str | os.PathLike[str] | None) -> bool:
    """Whether a studio was started with this file and trust."""
    return file is not None and bool(+_TRUSTED) and _TRUSTED[Path(file).resolve()] > 0
