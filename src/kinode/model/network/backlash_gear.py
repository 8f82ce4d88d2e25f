"""A gear with backlash.

The mode is 1 and -1 in contact on either flank, 0 within the play, which is the total play at the output.  The flanks
give by ``stiffness`` and ``damping``, and push only (model/base/contact.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from kinode.algebra.scalars import Scalar
from kinode.model.base.contact import Contact, ContactLaw
from kinode.model.base.events import Root
from kinode.model.base.fields import POSITIVE, UNSIGNED, Value, number
from kinode.model.base.kinds import register
from kinode.model.base.scene import LawScene, VelocityScene
from kinode.model.network.part import Formula, Row
from kinode.model.network.rotational import Gear

ORDER = 150  # in lists of kinds


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
    def flanks(self) -> list[Flank]:
        """The contacts at both ends of its play."""
        return [Flank(self, side, f"touches its {way} flank") for side, way in ((1.0, "forward"), (-1.0, "backward"))]

    @property
    def event_functions(self) -> tuple[Root, ...]:
        return tuple(root for flank in self.flanks for root in flank.roots)

    def consistent_values(self, scene: VelocityScene) -> Mapping[str, Any]:
        return {"mode": sum((flank.first_mode(scene) for flank in self.flanks), 0.0)}


class Flank(Contact):
    """One end of the play of a gear."""

    def __init__(self, gear: BacklashGear, side: float, words: str) -> None:
        super().__init__(gear.name, "mode", side, words, ContactLaw(False, gear.stiffness, gear.damping))
        self.play = gear.play

    def depth(self, scene: LawScene) -> Scalar:
        return self.side * scene.lookup(f"{self.owner}.twist") - 0.5 * scene.law(self.play)

    def speed(self, scene: LawScene) -> Scalar:
        return self.side * scene.lookup(f"{self.owner}.twist_speed")
