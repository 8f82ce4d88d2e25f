"""Network parts with stick-slip friction: bearings of shafts and slides, and gears with load-dependent friction.

The mode is 1 and -1 while the part slides forward or back, 0 while it sticks, as in joints (model/base/contact.py).
While it slides, the friction moment follows a law.  While it sticks, the speed is constant and the moment is a
reaction. One equation covers both cases, with stuck = 1 - mode^2:

    stuck unit_inertia der(speed) = (1 - stuck) (moment - law)

If an inertia turns with the part, the moment contains -inertia der(speed).  The acceleration then has the coefficient
stuck unit_inertia + (1 - stuck) inertia, which is never zero.  So the equation keeps its pivot in every mode.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from kinode.algebra.scalars import Scalar, sign, where
from kinode.expressions.syntax_tree import Expression
from kinode.model.base.contact import StickSlip
from kinode.model.base.events import Root
from kinode.model.base.fields import POSITIVE, UNSIGNED, Value, number, record
from kinode.model.base.kinds import register
from kinode.model.base.scene import LawScene, Scene
from kinode.model.joints.coulomb_friction import SLIP
from kinode.model.network.part import Formula, Part, Row
from kinode.model.network.rotational import Wheels
from kinode.model.network.two_port import TwoShaft, TwoSlide, names_along, rows_along

if TYPE_CHECKING:
    from kinode.model.system import System

ORDER = 190  # in lists of kinds

Names = Mapping[str, str | Formula]
Rows = tuple[Row, ...]
SPEEDS = ("angular_velocity", "velocity")


@record
class FrictionPart(Part):
    """A part with friction between two of its ports, which slides or sticks."""

    modes: ClassVar[tuple[str, ...]] = ("mode",)
    rubs: ClassVar[tuple[str, str]] = ("a", "b")  # the ports whose relative speed is the sliding speed
    slides: ClassVar[str] = "speed"  # the name of the sliding speed
    slow: ClassVar[float] = SLIP["angle"]

    def local_values(self) -> dict[str, Expression | float]:
        return {**super().local_values(), "unit_inertia": 1.0}

    def check_in(self, system: System) -> None:
        super().check_in(system)
        ends = tuple(getattr(self, port) for port in self.rubs)
        if all(end in ("world", *system.joints) or _joint(end, system) for end in ends):
            joint = next((end for end in ends if end != "world"), None)
            message = "has friction on no shaft of the network: put one with an inertia there"
            hint = f", or give the friction of the joint {joint} by friction= of the joint" if joint is not None else ""
            raise self.error_at(self.rubs[0], message + hint)

    # -- events --------------------------------------------------------------------------------------
    def limit(self, scene: LawScene) -> Scalar:
        """The largest effort at rest, in both directions from the mean."""
        raise NotImplementedError

    def effort_at_rest(self, scene: LawScene) -> Scalar:
        """The effort at rest, from the mean."""
        raise NotImplementedError

    def _speed(self, scene: LawScene) -> Scalar:
        return scene.lookup(f"{self.name}.{self.slides}") / self.slow

    def _rate(self, scene: LawScene) -> Scalar:
        return scene.lookup(f"{self.name}.acceleration")

    @property
    def slip(self) -> StickSlip:
        """Its friction, which sticks."""
        return StickSlip(self._speed, self._rate, self.limit, self.effort_at_rest, "sticks")

    def consistent_values(self, scene: LawScene) -> Mapping[str, Any]:
        return {"mode": sign(self._speed(scene))}

    @property
    def event_functions(self) -> tuple[Root, ...]:
        return self.slip.roots

    def reset(self, scene: Scene, fired: Sequence[Any]) -> Mapping[str, Any]:
        """The reset map: when it sticks, the speeds of both ports become exactly equal."""
        sticks = sum((f for f, root in zip(fired, self.event_functions, strict=True) if root.then == 0.0), 0.0)
        rests = sticks * self.slip.comes_to_rest(scene)
        return {name: where(rests, new, scene.lookup(name)) for name, new in self._rest(scene).items()}

    def _rest(self, scene: Scene) -> Mapping[str, Scalar]:
        """States by name at which it is at rest: the speed of a port, or all speeds that determine it through gears."""
        states = [name for name, unit in scene.network_rates.items() if unit in SPEEDS]
        for one, other in (self.rubs, self.rubs[::-1]):
            if (name := f"{getattr(self, one)}.speed") in states:
                return {name: scene.lookup(f"{self.name}.{other}.speed")}
        speed, slopes = self._speed(scene), dict[str, Scalar]()
        for name in states:
            slopes[name] = self._speed(scene.shifted(name, 1.0)) - speed
        square = sum((slope * slope for slope in slopes.values()), 0.0)
        return {name: scene.lookup(name) - speed * slope / square for name, slope in slopes.items()}


def _joint(end: str, system: System) -> bool:
    """Whether a port is connected to one freedom of a joint of several."""
    return end.rpartition(".")[0] in system.joints


@record
class BearingFriction(FrictionPart):
    """Friction by Coulomb and Stribeck."""

    flow: ClassVar[str] = "moment"
    symbol: ClassVar[str] = "stick_slip_friction"
    coulomb: Value
    breakaway: Value | None
    stribeck_speed: Value | None

    def local_values(self) -> dict[str, Expression | float]:
        """Defaults: no higher friction at rest, no Stribeck effect."""
        values = super().local_values()
        breakaway = values.setdefault("breakaway", values["coulomb"])
        values["slowly"] = breakaway if self.stribeck_speed is not None else values["coulomb"]
        values.setdefault("stribeck_speed", 1.0)
        return values

    def limit(self, scene: LawScene) -> Scalar:
        return scene.law(self.coulomb if self.breakaway is None else self.breakaway)

    def effort_at_rest(self, scene: LawScene) -> Scalar:
        return -scene.lookup(f"{self.name}.{self.flow}")


@register("shaft_friction", shortcut=True)
class ShaftFriction(BearingFriction, TwoShaft):
    """Friction of a bearing that sticks: ``coulomb`` while it turns, up to ``breakaway`` at rest.

    The one goes over to the other like exp(-(speed/stribeck_speed)^2), at once where no such speed is given.
    """

    coulomb: Value = number("moment", "moment against any speed", range=UNSIGNED)
    breakaway: Value | None = number(
        "moment", "what it holds with at rest; as coulomb unless it is given", None, range=UNSIGNED
    )
    stribeck_speed: Value | None = number("angular_velocity", "speed over which the latter fades", None, range=POSITIVE)
    viscous: Value = number("rotational_damping", "moment for a unit of speed", 0.0, range=UNSIGNED)
    outside: ClassVar[Mapping[str, str]] = {"unit_inertia": "inertia", "slowly": "moment"}
    names: ClassVar[Names] = {
        "acceleration": Formula("der(speed)", "angular_acceleration"),
        "rubbing": "coulomb + (slowly - coulomb)*exp(-(speed/stribeck_speed)^2)",
        "friction": "mode*rubbing + viscous*speed",
    }
    rows: ClassVar[Rows] = (
        Row(
            "sliding or sticking",
            "(1 - mode*mode)*unit_inertia*acceleration = mode*mode*(moment - friction)",
            "a.moment",
        ),
    )
    lost: ClassVar[str] = "mode*mode*friction*speed"


@register("slide_friction", shortcut=True)
class SlideFriction(BearingFriction, TwoSlide):
    """Friction of a guide that sticks, as that of a shaft."""

    flow: ClassVar[str] = "force"
    slow: ClassVar[float] = SLIP["length"]
    coulomb: Value = number("force", "force against any speed", range=UNSIGNED)
    breakaway: Value | None = number(
        "force", "what it holds with at rest; as coulomb unless it is given", None, range=UNSIGNED
    )
    stribeck_speed: Value | None = number("velocity", "speed over which the latter fades", None, range=POSITIVE)
    viscous: Value = number("damping", "force for a unit of speed", 0.0, range=UNSIGNED)
    outside: ClassVar[Mapping[str, str]] = {"unit_inertia": "mass", "slowly": "force"}
    names: ClassVar[Names] = {
        "acceleration": Formula("der(speed)", "acceleration"),
        **names_along(ShaftFriction.names),
    }
    rows: ClassVar[Rows] = rows_along(ShaftFriction.rows)
    lost: ClassVar[str] = ShaftFriction.lost


@register("worm_gear", symbol="worm_gear", shortcut=True)
class WormGear(FrictionPart, Wheels):
    """An elastic gear that rubs in proportion to what it transmits, and sticks at rest.

    Driven from the input it loses the share 1 - efficiency.  Driven back, the share back_efficiency arrives at the
    input: 2 - 1/efficiency with the same friction, unless it is given.  Where that is not above zero the gear locks
    itself: no load turns it.
    """

    rubs: ClassVar[tuple[str, str]] = ("input", "housing")
    slides: ClassVar[str] = "input_speed"
    stiffness: Value = number("rotational_stiffness", "moment at the output for a unit of twist", range=POSITIVE)
    damping: Value = number(
        "rotational_damping", "moment at the output for a unit of twist a second", 0.0, range=UNSIGNED
    )
    efficiency: Value = number("dimensionless", "share of the power that reaches the output", range=POSITIVE)
    back_efficiency: Value | None = number("dimensionless", "share that reaches the input, driven back", None)
    initial_twist: Value | None = number("angle", "twist at the start; none where nothing decides it", None, aside=True)
    starts: ClassVar[Mapping[str, str]] = {"twist": "initial_twist"}
    zero_by_default: ClassVar[tuple[str, ...]] = ("twist", "twist_speed")
    outside: ClassVar[Mapping[str, str]] = {"unit_inertia": "inertia", "back": "dimensionless"}
    names: ClassVar[Names] = {
        "acceleration": Formula("der(input_speed)", "angular_acceleration"),
        "twist": Formula("(input_angle - offset)/ratio - output_angle", "angle"),
        "twist_speed": Formula("input_speed/ratio - output_speed", "angular_velocity"),
        "load": Formula("stiffness*twist + damping*twist_speed", "moment"),
        "rubbing": Formula("coulomb + (1/efficiency - back)/2*abs(load/ratio)", "moment"),
        "middle": Formula("(1/efficiency + back - 2)/2*load/ratio", "moment"),
        "drag": Formula("mode*rubbing + mode*mode*middle + viscous*input_speed", "moment"),
        "friction": Formula("input.moment - load/ratio", "moment"),
        "self_locking": Formula("back <= 0", "dimensionless"),
    }
    rows: ClassVar[Rows] = (
        Row("moment at the output", "output.moment = -load", "output.moment"),
        Row(
            "sliding or sticking",
            "(1 - mode*mode)*unit_inertia*acceleration = mode*mode*(friction - drag)",
            "input.moment",
        ),
    )
    stored: ClassVar[str] = "stiffness*twist^2/2"
    lost: ClassVar[str] = "damping*twist_speed^2 + mode*mode*drag*input_speed"

    @property
    def arriving(self) -> Value:
        """The share of the power that arrives at the input when it is driven from the output."""
        share: Value = 2.0 - 1.0 / self.efficiency if self.back_efficiency is None else self.back_efficiency
        return share

    def local_values(self) -> dict[str, Expression | float]:
        return {**super().local_values(), "back": self.own("back_efficiency", self.arriving)}

    def find_wrong(self, field: str, value: float) -> str | None:
        if field == "efficiency" and value > 1:
            return f"is above 0 and at most 1, not {value:g}"
        return f"is at most 1, not {value:g}" if field == "back_efficiency" and value > 1 else None

    def locks_itself(self, nominal: Callable[[Any], Any]) -> bool:
        """Whether friction takes all the power when it is driven from the output."""
        return bool(nominal(self.arriving) <= 0.0)

    # -- events --------------------------------------------------------------------------------------
    def limit(self, scene: LawScene) -> Scalar:
        return scene.lookup(f"{self.name}.rubbing")

    def effort_at_rest(self, scene: LawScene) -> Scalar:
        return scene.lookup(f"{self.name}.middle") - scene.lookup(f"{self.name}.friction")

    @property
    def slip(self) -> StickSlip:
        locks = isinstance(self.arriving, float) and self.arriving <= 0.0
        return StickSlip(
            self._speed, self._rate, self.limit, self.effort_at_rest, "locks itself" if locks else "sticks"
        )
