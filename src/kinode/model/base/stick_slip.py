"""Sticking and sliding: the roots of what rubs, whatever it is.

A mode is 1 or -1 while it slides forward or back, and 0 while it sticks.  It sticks where its speed comes to zero, and
slides where holding still takes more than its limit, or where an impact gave it a speed.  Speeds are divided by a small
one, of which 1e-9 counts as rest.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from kinode.algebra.scalars import Scalar, absolute, less, where
from kinode.model.base.events import Root
from kinode.model.base.scene import Scene

Of = Callable[[Scene], Scalar]
Whether = Callable[[Scene], bool]

NEARLY = 1e-6  # the share of the small speed from which what should rest moves; what begins to stick with less rests
STILL = 1e-9  # m/s^2, rad/s^2: an acceleration below this takes a second to matter
TINY = 1e-200
WAYS = ((1.0, "slides forward"), (-1.0, "slides back"))


def sticking_roots(
    mode: str, speed: Of, rate: Of, limit: Of, holding: Of, *, rest: str = "sticks", beside: Of | None = None,
    given: Whether | None = None,
) -> tuple[Root, ...]:  # fmt: skip
    """Event functions for each direction of sliding: the one that ends it, and the one that begins it.

    ``beside`` is 1 while something else holds the same speed: what comes to rest by that sticks too.  A speed that is
    ``given`` by laws of time may come to zero and stay there.
    """
    roots: list[Root] = []
    for way, words in WAYS:
        ends = partial(_slides, way, speed, given), partial(_slowing, way, rate, beside)
        roots += [
            Root(mode, way, 0.0, *ends, (words, rest), by_state=True),
            Root(mode, 0.0, way, partial(_holds, way, speed, limit, holding), words=(rest, words)),
        ]
    return tuple(roots)


def comes_to_rest(speed: Scalar) -> Scalar:
    """Whether what begins to stick has no speed but for rounding; an impact may have turned it around."""
    return less(absolute(speed), NEARLY)


def _slides(way: float, speed: Of, given: Whether | None, scene: Scene) -> Scalar:
    least = 0.5 * NEARLY if given is not None and given(scene) else 0.0
    return way * speed(scene) - least


def _slowing(way: float, rate: Of, beside: Of | None, scene: Scene) -> Scalar:
    """The time derivative of the sliding speed; where other joints of a loop hold it, rounding is taken for zero."""
    slowing = rate(scene)
    slowing = where(less(absolute(slowing), STILL), 0.0, way * slowing)
    return slowing if beside is None else where(beside(scene), -1.0, slowing)


def _holds(way: float, speed: Of, limit: Of, holding: Of, scene: Scene) -> Scalar:
    """The share of the holding limit that is left against sliding in one direction."""
    v, most, h = speed(scene), limit(scene), holding(scene)
    share = (most + way * h) / (most + absolute(h) + TINY)
    return where(less(absolute(v), NEARLY), share, -way * v)
