"""A state in which all loops are closed: what ``kn.assemble`` gives and ``start=`` takes."""

from __future__ import annotations

from dataclasses import dataclass, field

from kinode.errors import ArgumentError, Gap
from kinode.hooks import hook
from kinode.kernels.state import State
from kinode.model.base.fields import unknown

LEAST_ERROR = 1e-12  # m or rad: closure errors below are rounding, and printed as this
LEAST_VALUE = 1e-12  # values below are rounding, and printed as zero


@dataclass(frozen=True, eq=False)
class Assembly:
    """A state in which all loops are closed; printed, a table.

    Attributes
    ----------
    system : str
        Name of the system.
    state : State
        The assembled state.
    values : dict
        Coordinates and speeds of all joints by name, driven joints and cut joints included.
    residual : dict
        Closure error of each constraint and cut joint.
    moved : dict
        Offset of each joint from its requested position.
    held : tuple of str
        Joints with fixed coordinates.
    """

    system: str
    state: State
    values: dict[str, float] = field(repr=False)
    residual: dict[str, Gap] = field(repr=False)
    moved: dict[str, Gap] = field(repr=False)
    held: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> float:
        if name not in self.values:
            raise ArgumentError(unknown("no coordinate is called", name, self.values))
        return self.values[name]

    def __str__(self) -> str:
        widths = [max(len(row[k]) for row in self.rows) for k in range(4)]
        lines = ["  " + "  ".join(x.ljust(width) for x, width in zip(row, widths, strict=True)) for row in self.rows]
        return "\n".join([self.title, *(line.rstrip() for line in lines)])

    def __repr__(self) -> str:
        return f"<Assembly of {self.title}>"

    def _repr_html_(self) -> str:
        return str(hook("notebook_html")(self))

    @property
    def title(self) -> str:
        """The system, the time, and how well its loops are closed."""
        worst = [max([LEAST_ERROR, *(error[k] for error in self.residual.values())]) for k in (0, 1)]
        return f"{self.system} at t = {self.state.t:g} s, closed to {worst[0]:.0e} m and {worst[1]:.0e} rad"

    @property
    def rows(self) -> list[tuple[str, str, str, str]]:
        """The table: its head, then a row for each joint with q, u and how far it moved."""
        rows = [("", "q", "u", "moved by")]
        for name in dict.fromkeys(map(_joint_of, self.values)):
            offset = "held" if name in self.held else str(self.moved[name]) if name in self.moved else "driven"
            rows.append((name, self._format(f"{name}.q"), self._format(f"{name}.u"), offset))
        return rows

    def _format(self, owner: str) -> str:
        """The values of ``joint.q`` or ``joint.u``, with commas between them."""
        numbers = [x for name, x in self.values.items() if name == owner or name.startswith(f"{owner}.")]
        return ", ".join(f"{x if abs(x) > LEAST_VALUE else 0.0:.5g}" for x in numbers)


def _joint_of(name: str) -> str:
    """The joint of a coordinate or speed: ``leg.knee`` of ``leg.knee.q``, ``ball`` of ``ball.u.x``."""
    owner, _, role = name.rpartition(".")
    return owner if role in ("q", "u") else owner.rpartition(".")[0]
