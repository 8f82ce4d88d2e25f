"""How many random examples and cases a costly test takes: few in every run, the same ones, and more at night."""

from collections.abc import Collection
from typing import Any

import pytest
from hypothesis import settings

EVERY_RUN = 25  # default of the profile "fixed" is at most this; those of "nightly" and "explore" are larger


def is_fixed():
    """Whether this is a run that tries the same examples every time."""
    return settings.default.max_examples <= EVERY_RUN


def by_day(cases: Collection[Any], count: int) -> list[Any]:
    """The cases of a family that tries one thing on many: so many in every run, evenly chosen, all of them at night."""
    chosen = {round(k * (len(cases) - 1) / max(1, count - 1)) for k in range(count)}
    marks = [() if k in chosen else pytest.mark.nightly for k in range(len(cases))]
    return [pytest.param(*(x if isinstance(x, tuple) else (x,)), marks=m) for x, m in zip(cases, marks, strict=True)]


def examples(every_run, nightly):
    """Settings with so many examples in every run, and so many in runs that seek new ones."""
    return settings(max_examples=every_run if is_fixed() else nightly)
