"""How far the joints of a run in absolute coordinates drifted from what they hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

PREFIX = "drift."  # of the facts of a run


@dataclass(frozen=True)
class JointDrift:
    """The largest violation of a joint or constraint during a run: lengths in m, angles in rad, and their rates."""

    length: float = 0.0
    angle: float = 0.0
    velocity: float = 0.0
    angular_velocity: float = 0.0


@dataclass(frozen=True)
class Drift:
    """The largest violations during a run in absolute coordinates, by joint and constraint.

    The constraints are satisfied in accelerations; in positions and velocities as far as the steps of the run keep
    them.  Nothing is corrected, so that the drift is a measure of the run's errors.

    Attributes
    ----------
    joints : dict of str to JointDrift
        By joint or constraint.
    """

    joints: Mapping[str, JointDrift]

    def _largest(self, field: str) -> tuple[float, str]:
        return max(((getattr(drift, field), name) for name, drift in self.joints.items()), default=(0.0, ""))

    @property
    def length(self) -> float:
        """The largest distance by which a joint is apart, m."""
        return self._largest("length")[0]

    @property
    def angle(self) -> float:
        """The largest angle by which a joint is off, rad."""
        return self._largest("angle")[0]

    @property
    def velocity(self) -> float:
        """The largest velocity in a direction that a joint holds, m/s."""
        return self._largest("velocity")[0]

    @property
    def angular_velocity(self) -> float:
        """The largest angular velocity about an axis that a joint holds, rad/s."""
        return self._largest("angular_velocity")[0]

    def __str__(self) -> str:
        worst = max(self._largest("length"), self._largest("angle"))[1]
        positions = f"drift: joints are apart by up to {self.length:.1e} m and {self.angle:.1e} rad"
        rates = f"{self.velocity:.1e} m/s and {self.angular_velocity:.1e} rad/s"
        return f"{positions}, their velocities by {rates}" + (f"; most at {worst}" if worst else "")

    def to_facts(self) -> dict[str, float]:
        """The drift as numbers by name, as the facts of a run keep them: ``drift.pin.length``."""
        return {
            f"{PREFIX}{name}.{part}": value
            for name, drift in self.joints.items()
            for part, value in vars(drift).items()
        }

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any]) -> Drift | None:
        """The drift from the facts of a run; None if it has none."""
        joints: dict[str, dict[str, float]] = {}
        for key, value in facts.items():
            if key.startswith(PREFIX):
                name, _, part = key.removeprefix(PREFIX).rpartition(".")
                joints.setdefault(name, {})[part] = float(value)
        return cls({name: JointDrift(**values) for name, values in joints.items()}) if joints else None
