"""A mechanism with loops in kinode, warm, as a user calls it: a compiled system, the trajectory at its end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import kinode as kn
from loop_models import Array, Mechanism, poses_of

METHODS = ("dopri5", "dop853")


def variants(mechanism: Mechanism) -> dict[str, tuple[Callable[[float], Any], Callable[[], Array]]]:
    """Of each method: go to the end with a relative tolerance, and the poses that were reached."""
    dynamics = kn.compile(mechanism.make())
    until = mechanism.until
    found: dict[str, Any] = {}
    for method in METHODS:
        last: list[Any] = []

        def run(rtol: float, method: str = method, last: list[Any] = last) -> None:
            options = {"method": method, "rtol": rtol, "atol": rtol / 100}
            last[:] = [kn.simulate(dynamics, until, times=[0.0, until], **options)]

        found[method] = run, lambda last=last: poses_of(last[0])
    return found
