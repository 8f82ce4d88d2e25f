"""A gear with backlash.

The mode is 1 and -1 in contact on either flank, 0 within the play, which is the total play at the output.  The flanks
give by ``stiffness`` and ``damping``, and push only (model/joints/end_stops.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

from kinode.algebra.scalars import Scalar, less, minimum
from kinode.model.base.events import Root
from kinode.model.base.fields import POSITIVE, UNSIGNED, Value, number
from kinode.model.base.kinds import register
from kinode.model.base.scene import LawScene
from kinode.model.joints.end_stops import DEPTH_SCALE
from kinode.model.network.part import Formula, Row
from kinode.model.network.rotational import Gear

ORDER = 150  # in lists of kinds

SIDES = ((1.0, "forward flank"), (-1.0, "backward flank"))


@register("backlash_gear", symbol="backlash_gear", shortcut=True)
class BacklashGear(Gear):
    """A gear with play between its flanks."""

    modes: ClassVar[tuple[str, ...]] = ("mode",)
    play: Value = number("angle", "how far the output moves freely, in all", range=UNSIGNED)
    stiffness: Value = number("rotational_stiffness", "moment at the output for a unit of depth", range=POSITIVE)
    damping: Value = number(
        "rotational_damping", "moment at the output for a unit of depth a second", 0.0, range=UNSIGNED
    )
    initial_twist: Value | None = number("angle", "twist at the start; none where nothing decides it", None, aside=True)
    starts: ClassVar[Mapping[str, str]] = {"twist": "initial_twist"}
    zero_by_default: ClassVar[tuple[str, ...]] = ("twist", "twist_speed")
    names: ClassVar[Mapping[str, str | Formula]] = {
        "twist": Formula("(input_angle - offset)/ratio - output_angle", "angle"),
        "twist_speed": Formula("input_speed/ratio - output_speed", "angular_velocity"),
        "depth": Formula("mode*mode*(twist - mode*play/2)", "angle"),
        "load": Formula("stiffness*depth + mode*mode*damping*twist_speed", "moment"),
        "drag": "viscous*input_speed + coulomb*tanh(input_speed/slip)",
    }
    rows: ClassVar[tuple[Row, ...]] = (
        Row("moment at the output", "output.moment = -load", "output.moment"),
        Row("moment at the input", "input.moment = load/ratio + drag", "input.moment"),
    )
    stored: ClassVar[str] = "stiffness*depth^2/2"
    lost: ClassVar[str] = "mode*mode*damping*twist_speed^2 + drag*input_speed"

    @property
    def event_functions(self) -> tuple[Root, ...]:
        event_functions: list[Root] = []
        for side, flank in SIDES:
            touch = f"touches its {flank}"
            for value, then, sense, words in (
                (0.0, side, -1.0, ("is free", touch)),
                (side, 0.0, 1.0, (touch, "is free")),
            ):
                g, rate = partial(self._push, side, sense), partial(self._push_rate, side, sense)
                event_functions.append(Root("mode", value, then, g, rate, words, by_state=True))
        return tuple(event_functions)

    def consistent_values(self, scene: LawScene) -> Mapping[str, Any]:
        return {"mode": sum((side * less(0.0, self._depth(side, scene)) for side, _ in SIDES), 0.0)}

    def _depth(self, side: float, scene: LawScene) -> Scalar:
        return side * scene.lookup(f"{self.name}.twist") - 0.5 * scene.law(self.play)

    def _push(self, side: float, sense: float, scene: LawScene) -> Scalar:
        """The event function: positive in contact, negative while free."""
        spring, lag = self._depth(side, scene), scene.law(self.damping) / scene.law(self.stiffness)
        speed = scene.lookup(f"{self.name}.twist_speed")
        return sense * minimum(spring + lag * side * speed, spring) / DEPTH_SCALE["angle"]

    def _push_rate(self, side: float, sense: float, scene: LawScene) -> Scalar:
        return sense * side * scene.lookup(f"{self.name}.twist_speed")
