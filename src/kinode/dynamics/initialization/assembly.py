"""A state in which all loops are closed: what ``kn.assemble`` gives and ``start=`` takes."""

from __future__ import annotations

from dataclasses import dataclass, field

from kinode.errors import ArgumentError, Gap
from kinode.kernels.state import State
from kinode.model.base.fields import unknown

ROUNDING = 1e-12  # m or rad: gaps that are not worth telling apart


@dataclass(frozen=True, eq=False)
class Assembly:
    """A state in which all loops are closed; printed, a table.

    ``values`` has the coordinates and speeds of all joints by name, driven ones and those that close loops among them;
    ``residual`` what each constraint, or joint that closes a loop, is still off by; ``moved`` how far each joint is
    from where it was asked to be, and ``held`` the joints that had to be just there.
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
        worst = [max([ROUNDING, *(gap[k] for gap in self.residual.values())]) for k in (0, 1)]
        rows = [("", "q", "u", "moved by")]
        for name in dict.fromkeys(text.split(".q")[0].split(".u")[0] for text in self.values):
            far = "held" if name in self.held else str(self.moved[name]) if name in self.moved else "driven"
            rows.append((name, self._told(f"{name}.q"), self._told(f"{name}.u"), far))
        widths = [max(len(row[k]) for row in rows) for k in range(4)]
        table = ["  " + "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)) for row in rows]
        title = f"{self.system} at t = {self.state.t:g} s, closed to {worst[0]:.0e} m and {worst[1]:.0e} rad"
        return "\n".join([title, *(line.rstrip() for line in table)])

    def _told(self, owner: str) -> str:
        found = [x for name, x in self.values.items() if name == owner or name.startswith(f"{owner}.")]
        return ", ".join(f"{x if abs(x) > 1e-12 else 0.0:.5g}" for x in found)
