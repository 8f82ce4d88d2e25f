"""Stops and play in joints of one freedom: contacts at the two ends of a range.

They are compliant, or rigid (model/base/contact.py).  Backlash is a range of ``play`` around the neutral position of a
joint.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from kinode.model.base.field_reader import Nested, Reader
from kinode.model.base.fields import POSITIVE, SHARE, UNSIGNED, Component, Value, number

if TYPE_CHECKING:
    from kinode.model.base.frames import Resolve
    from kinode.model.joints.joint import Joint


@dataclass(frozen=True)
class Ends(Nested):
    """The contact law of the ends of a range: compliant, or rigid with a restitution, which is 0 by default."""

    shape: ClassVar[str] = "ends"
    stiffness: Value | None = number("stiffness", "of compliant ends", None, range=POSITIVE)
    damping: Value | None = number("damping", "of compliant ends", None, range=UNSIGNED)
    restitution: Value | None = number("dimensionless", "of rigid ends", None, range=SHARE)
    rest_speed: Value | None = number("rate", "below which rigid ends do not rebound", None, range=POSITIVE)

    @property
    def rigid(self) -> bool:
        return self.stiffness is None

    @classmethod
    def dimensions(cls, owner: type[Component]) -> dict[str, str | None]:
        """The range comes first."""
        every, law = super().dimensions(owner), Ends.specs()
        return dict(sorted(every.items(), key=lambda item: item[0] in law))

    @classmethod
    def check_owner(cls, reader: Reader, field: str, owner: type[Joint]) -> None:  # type: ignore[override]
        if len(owner.coordinates) != 1 or owner.quaternion is not None:
            has = f"a {owner.kind} joint has {len(owner.coordinates)}"
            raise reader.fail(field, f"belongs to a joint with one freedom; {has}")

    def check_together(self, reader: Reader, field: str) -> None:
        for name in ("restitution", "rest_speed"):
            if self.stiffness is not None and getattr(self, name) is not None:
                message = "belongs to rigid ends; give stiffness and damping, or restitution"
                raise reader.fail(f"{field}.{name}", message)
        if self.stiffness is None and self.damping is not None:
            raise reader.fail(f"{field}.damping", "needs a stiffness; rigid ends take a restitution")


@dataclass(frozen=True)
class Stop(Ends):
    """End stops of a joint."""

    lower: Value | None = number("coordinate", "lower end", None)
    upper: Value | None = number("coordinate", "upper end", None)

    def check_together(self, reader: Reader, field: str) -> None:
        if self.lower is None and self.upper is None:
            raise reader.fail(field, "needs lower or upper, where the joint stops")
        if isinstance(self.lower, float) and isinstance(self.upper, float) and self.lower >= self.upper:
            raise reader.fail(field, f"the lower end {self.lower:g} is not below the upper end {self.upper:g}")
        super().check_together(reader, field)


@dataclass(frozen=True)
class Backlash(Ends):
    """Play of a joint: its coordinate moves freely by ``play`` in all, half of it to each side of neutral."""

    play: Value | None = number("coordinate", "how far the joint moves freely, in all", None, range=UNSIGNED)

    def check_together(self, reader: Reader, field: str) -> None:
        if self.play is None:
            raise reader.fail(f"{field}.play", "is needed: how far the joint moves freely, in all")
        super().check_together(reader, field)


def bounds(joint: Joint, resolve: Resolve) -> tuple[Any, Any]:
    """The lower and upper end of a joint's range; None where there is none."""
    ends = joint.ends
    if isinstance(ends, Stop):
        return tuple(None if x is None else resolve(x) for x in (ends.lower, ends.upper))  # type: ignore[return-value]
    assert isinstance(ends, Backlash) and ends.play is not None
    middle = 0.0 if joint.neutral is None else resolve(joint.neutral[0])
    half = 0.5 * resolve(ends.play)
    return middle - half, middle + half


def passed_end(joint: Joint, resolve: Resolve, q: float, slack: float = 0.0) -> float | None:
    """The end of the range that a joint is beyond by more than ``slack`` times its position; None if it is within."""
    for side, end in zip((-1.0, 1.0), bounds(joint, resolve), strict=True):
        if end is not None and side * (q - float(end)) > slack * max(1.0, abs(float(end))):
            return float(end)
    return None
