"""Parts with two ends, between which something flows: what goes in at one comes out at the other.

``PoleEnds``, ``ShaftEnds`` and ``SlideEnds`` say that alone, and serve sources, which count what they deliver.  Loads
count what acts on them at the first end: ``TwoPole``, ``TwoShaft`` and ``TwoSlide``.  Translational parts are
written as the rotational ones in other words (``along``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

from kinode.model.base.fields import record
from kinode.model.network.part import Formula, Part, Row, port

Names = Mapping[str, str | Formula]
Rows = tuple[Row, ...]
WORDS = {
    "angle": "position", "moment": "force", "shaft": "slide", "inertia": "mass",
    "free_angle": "free_length", "initial_angle": "initial_position",
}  # fmt: skip


def along(text: str) -> str:
    """A text about shafts in the words of slides."""
    return re.sub(r"[A-Za-z_]+", lambda word: WORDS.get(word[0], word[0]), text)


def rows_along(rows: Rows) -> Rows:
    """Rows of a shaft, of a slide."""
    return tuple(Row(along(row.name), along(row.text), row.solves and along(row.solves)) for row in rows)


def names_along(names: Names) -> dict[str, str]:
    """Derived quantities, or where they start, likewise."""
    return {along(name): along(text) for name, text in names.items() if isinstance(text, str)}


@record
class PoleEnds(Part):
    """Current goes in at one node and comes out at another."""

    plus: str = port("electrical", "node at the positive end")
    minus: str = port("electrical", "node at the negative end")
    common: ClassVar[Rows] = (Row("current through it", "plus.current + minus.current = 0", "minus.current"),)


@record
class TwoPole(PoleEnds):
    """What has two electrical ports: current flows in at plus and out at minus."""

    names: ClassVar[Names] = {"voltage": "plus.voltage - minus.voltage", "current": "plus.current"}


@record
class ShaftEnds(Part):
    """A moment between two shafts, or between a shaft and the world."""

    a: str = port("rotational", "shaft, or joint that turns")
    b: str = port("rotational", "shaft that it turns against", "world")
    common: ClassVar[Rows] = (Row("moment through it", "a.moment + b.moment = 0", "b.moment"),)


@record
class TwoShaft(ShaftEnds):
    """What turns between two shafts, or between a shaft and the world: ``moment`` acts on it at a."""

    names: ClassVar[Names] = {"angle": "a.angle - b.angle", "speed": "a.speed - b.speed", "moment": "a.moment"}


@record
class SlideEnds(Part):
    """A force between two points of a line, or between one and the world."""

    a: str = port("translational", "node, or joint that slides")
    b: str = port("translational", "node that it slides against", "world")
    common: ClassVar[Rows] = rows_along(ShaftEnds.common)


@record
class TwoSlide(SlideEnds):
    """What slides between two points of a line, or between one and the world: ``force`` acts on it at a."""

    names: ClassVar[Names] = names_along(TwoShaft.names)
