"""Quantities by name: ``component.quantity[.part][@frame]``, and the names that laws may use.

``find_quantity`` says what a name means and which unit it has; it computes nothing.  A name that means no quantity is
answered with what it is, and what may have been meant.

Expressions of quantities are asked for like a quantity: ``run["elbow.q*180/pi"]``, ``run["arm.effort*arm.u"]``.  The
text is parsed as a law, never evaluated as Python.  It may use whatever a result may be: every scalar quantity, also
accelerations and reactions, functions, and the system's tables.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kinode.algebra.scalars import Array, Scalar
from kinode.errors import LawError, ModelError, find_close, suggest
from kinode.expressions.function_table import CONSTANTS, FUNCTIONS
from kinode.expressions.parser import locate, parse
from kinode.expressions.syntax_tree import Expression, walk
from kinode.expressions.units import DIMENSIONS, Dimension, find_units
from kinode.model.base.bodies import Body
from kinode.model.base.element import Element
from kinode.model.base.fields import unknown
from kinode.model.base.frames import Frame
from kinode.model.base.observers.moving_frames import Observer, Row, known_rates
from kinode.model.base.parameters import Input, Parameter, Signal
from kinode.model.constraints.constraint import Constraint, find_transmissions
from kinode.model.joints.joint import DERIVED, EFFECTS, Joint, coordinate_names
from kinode.model.network.domain import domain_of_coordinate
from kinode.model.network.joint_sources import JointDrive
from kinode.model.network.part import Part
from kinode.other_words import OTHER_WORDS, translate

if TYPE_CHECKING:
    from kinode.model.system import System


XYZ = ("x", "y", "z")
EULER = ("precession", "nutation", "spin")
ROTATION = tuple(f"{i}{j}" for i in XYZ for j in XYZ)

# Of bodies and frames
FRAME_QUANTITIES: dict[str, Row] = {
    "position": ("length", XYZ, "position"),
    "velocity": ("velocity", XYZ, "velocity"),
    "acceleration": ("acceleration", XYZ, "acceleration"),
    "quaternion": ("dimensionless", ("w", "x", "y", "z"), "position"),
    "rpy": ("angle", ("roll", "pitch", "yaw"), "position"),
    "rotation": ("dimensionless", ROTATION, "position"),
    "euler": ("angle", EULER, "position"),
    "euler_rates": ("angular_velocity", EULER, "velocity"),
    "angular_velocity": ("angular_velocity", XYZ, "velocity"),
    "angular_acceleration": ("angular_acceleration", XYZ, "acceleration"),
}
SYSTEM_QUANTITIES: dict[str, Row] = {
    "energy": ("energy", (), "velocity"),
    "kinetic_energy": ("energy", (), "velocity"),
    "potential_energy": ("energy", (), "position"),
    "electric_energy": ("energy", (), "velocity"),
    "thermal_energy": ("energy", (), "velocity"),
    "momentum": ("momentum", XYZ, "velocity"),
    "angular_momentum": ("angular_momentum", XYZ, "velocity"),
    "com": ("length", XYZ, "position"),
    "gravity": ("acceleration", XYZ, "position"),
}
# Of a body, about its mass center; of the bodies that a joint carries, about its point on their side.
MOMENTUM_QUANTITIES = {name: SYSTEM_QUANTITIES[name] for name in ("momentum", "angular_momentum")}
# What the whole system does to the world: the shaking force, and the shaking moment about the world's origin.
GROUND_QUANTITIES: dict[str, Row] = {
    "force": ("force", XYZ, "acceleration"),
    "moment": ("moment", XYZ, "acceleration"),
}
JOINT_WRENCHES = {
    "reaction.force": ("force", XYZ),
    "reaction.moment": ("moment", XYZ),
    "reaction.axial": ("force", ()),
    "reaction.radial": ("force", ()),
    "wrench.force": ("force", XYZ),
    "wrench.moment": ("moment", XYZ),
}
LINK_NUMBER = re.compile(r"(?<![^.])[1-9]\d*(?![^.])")
# Unit of a constraint row -> unit of its constraint force.
FORCE_OF_ROW = {"length": "force", "velocity": "force", "angle": "moment", "angular_velocity": "moment"}
EFFORT_SHARES = (*(effect.share for effect in EFFECTS), "parts", "rotor", "gear")
POWERS = ("power", "power.drive")
ACTED_ON = ("effort", "effort.drive", "effort.rotor", "effort.gear", *POWERS)
"""What drives and gears contribute to."""
SHARE_OF = {"power": "effort", "power.drive": "effort.drive"}
"""The effort whose power a quantity is."""
NEEDS = ("time", "events", "position", "velocity", "acceleration")
"""What has to be known for a value: time, parameters and inputs alone; the events until then; the state; its rates."""


class QuantityName(NamedTuple):
    """The meaning of a name: its owner, quantity, component, axes and unit."""

    text: str
    owner: str
    sort: str  # a key of multibody.quantity_values.VALUES: joint, frame, element, part, node, system, ground, ...
    quantity: str
    parts: tuple[str, ...]
    part: int | None
    frame: Frame | None  # whose quantity
    axes: Frame | None  # in whose axes; None: as the quantity is defined
    dimension: str | tuple[str, ...]
    needs: str  # of NEEDS

    @property
    def size(self) -> tuple[int, ...]:
        """Shape of the value."""
        if self.part is not None or not self.parts:
            return ()
        return (3, 3) if self.quantity == "rotation" else (len(self.parts),)

    @property
    def is_load(self) -> bool:
        """Whether it is what joints and constraints bear, which redundant reactions may leave open."""
        if self.sort == "joint":
            return self.quantity in JOINT_WRENCHES or self.quantity in ACTED_ON
        if self.sort == "constraint":
            return self.quantity != "residual"
        return self.sort == "link" and self.quantity.rpartition(".")[2] in ("force", "moment")


def find_quantity(system: System, text: str) -> QuantityName:
    """What a name means; an unknown one raises a LawError with the nearest that is known."""
    known: dict[str, QuantityName] = system.once("quantities", dict)
    found = known.get(text)
    if found is None:
        found = known[text] = _read_name(system, text)
    return found


def _read_name(system: System, text: str) -> QuantityName:
    head, at, frame_name = text.partition("@")
    axes = None
    if at:
        try:
            axes = system.find_frame(frame_name)
        except ModelError as error:
            raise LawError(str(error), text=text, position=len(head) + 1) from None
    if head in CONSTANTS or head.startswith(("t.", *(f"{name}." for name in CONSTANTS))):
        raise LawError(explain_constant(head), text=text, position=0)
    if head == "t":
        return QuantityName(text, "t", "time", "t", (), None, None, None, "time", "time")
    owner, rest = split_owner(system, head, text)
    if LINK_NUMBER.search(rest):
        from kinode.model.circuit_topology import find_link_quantity

        return find_link_quantity(system, text, owner, rest, axes)
    if owner not in system and owner in system.nodes:
        return _network_quantity(text, "node", owner, rest, system.nodes[owner].domain.across, axes)
    if owner == "system":
        if rest.partition(".")[0] == "com" and not system.bodies:
            raise LawError(f"{system.name} has no bodies, and so no mass center", text=text, position=len("system."))
        return _pick(text, owner, "system", rest, SYSTEM_QUANTITIES, None, axes)
    if owner == "ground" and owner not in system:
        return _pick(text, owner, "ground", rest, GROUND_QUANTITIES, None, axes)
    component = system[owner]
    if isinstance(component, Parameter | Input | Signal):
        if rest:
            raise LawError(f"{owner} is a number and has no {rest!r}", text=text, position=len(owner) + 1)
        needs = "position" if isinstance(component, Signal) else "time"
        return QuantityName(text, owner, component.sort(), owner, (), None, None, None, "dimensionless", needs)
    for name, unit in component.discrete_states:
        if rest == name and axes is None:
            return QuantityName(text, owner, "held", rest, (), None, None, None, unit, "events")
    if isinstance(component, Joint):
        return _quantity_at_joint(system, text, component, rest, axes)
    if isinstance(component, Body):
        return _body_quantity(text, component, rest, axes)
    if isinstance(component, Observer):
        own = {name: (unit, (), "position") for name, unit in component.quantities.items()}
        sort = "observer" if rest in own else "frame"
        try:
            table = known_rates(system, owner, rest.partition(".")[0], {**FRAME_QUANTITIES, **own})
        except ValueError as error:
            raise LawError(str(error), text=text, position=len(owner) + 1) from None
        return _pick(text, owner, sort, rest, table, Frame(owner), axes)
    if isinstance(component, Part):
        return _network_quantity(text, "part", owner, rest, component.units(), axes)
    if isinstance(component, JointDrive):
        quantity = _network_quantity(text, "drive", owner, rest, component.units(), axes)
        return quantity._replace(needs=component.needs_of(rest))
    if isinstance(component, Element):
        table = {name: (unit, parts, "velocity") for name, (unit, parts) in component.offered().items()}
        if component.pushes:
            table["power"] = ("power", (), "acceleration")  # of its loads; laws cannot use it
        elif axes is not None:
            raise LawError(f"{owner} has no axes to be expressed in", text=text, position=text.index("@"))
        return _pick(text, owner, "element", rest, table, None, axes)
    if isinstance(component, Constraint):
        return _constraint_quantity(system, text, component, rest, axes)
    raise LawError(f"{owner} has no quantities", text=text, position=0)


def _quantity_at_joint(system: System, text: str, joint: Joint, rest: str, axes: Frame | None) -> QuantityName:
    """A quantity of a joint, of its frames, or the integral of a quasi-velocity where a part acts on it."""
    for side in ("parent", "child"):
        if rest.startswith(side + "."):
            frame = system.find_frame(f"{joint.name}.{side}")
            return _pick(text, joint.name, "frame", rest[len(side) + 1 :], FRAME_QUANTITIES, frame, axes)
    if rest.partition(".")[0] in MOMENTUM_QUANTITIES:
        return _pick(text, joint.name, "carried", rest, MOMENTUM_QUANTITIES, None, axes)
    link, _, word = f"{joint.name}.{rest}".rpartition(".")
    node = system.nodes.get(link)
    if node is not None and node.quasi and word == node.domain.position:
        return _network_quantity(text, "node", link, word, node.domain.across, axes)
    return _joint_quantity(text, joint, link_quantity(joint, rest), axes, _effort_needs(system, joint))


def link_quantity(joint: Joint, rest: str) -> str:
    """The quantity behind a network name of a joint: ``elbow.speed`` and ``slide.angle.speed`` are speeds u."""
    several = len(joint.coordinates) > 1
    for name, unit in joint.coordinates:
        kind = domain_of_coordinate(unit)
        roles = {kind.potential: "u"} if joint.quaternion is not None else {kind.position: "q", kind.potential: "u"}
        for word, role in roles.items():
            if rest == (f"{name}.{word}" if several else word):
                return f"{role}.{name}" if several else role
    return rest


def _network_quantity(
    text: str, sort: str, owner: str, rest: str, units: Mapping[str, str], axes: Frame | None
) -> QuantityName:
    """A scalar quantity of a network part (``current``, ``plus.current``) or of a node (``voltage``)."""
    if axes is not None:
        raise LawError(f"{owner} has no axes to be expressed in", text=text, position=text.index("@"))
    if rest not in units:
        if not rest:
            raise LawError(explain_owner(owner, "a part" if sort == "part" else "a node", units), text=text, position=0)
        raise LawError(unknown(f"{owner} has no quantity", rest, units), text=text, position=len(owner) + 1)
    needs = "position" if units[rest] in ("angle", "length") else "velocity"
    return QuantityName(text, owner, sort, rest, (), None, None, None, units[rest], needs)


def _constraint_quantity(
    system: System, text: str, constraint: Constraint, rest: str, axes: Frame | None
) -> QuantityName:
    """Residual and constraint force of a constraint, and its force and moment on a body (``on.body.force``)."""
    rows = constraint.rows(system)
    tables = {"residual": rows, "reaction": tuple(FORCE_OF_ROW[unit] for unit in rows)}
    head, _, tail = rest.partition(".")
    if head in tables:
        if axes is not None:
            raise LawError(f"{head} has no axes to be expressed in", text=text, position=text.index("@"))
        needs = "acceleration" if head == "reaction" else "velocity"
        row = _units(tables[head], "length"), _parts(constraint.labels), needs
        return name_quantity(text, constraint.name, "constraint", head, row, tail)
    points = constraint.places(system)
    known = [*tables, *(f"on.{body}.{what}" for body in points for what in ("force", "moment"))]
    for body, point in points.items():
        if rest.startswith(f"on.{body}."):
            what, _, part = rest.removeprefix(f"on.{body}.").partition(".")
            if what in ("force", "moment"):
                row = what, XYZ, "acceleration"
                return name_quantity(text, constraint.name, "constraint", f"on.{what}", row, part, point, axes)
    if not rest:
        raise LawError(explain_owner(constraint.name, "a constraint", known), text=text, position=0)
    message = unknown(f"{constraint.name} has no quantity", rest, known)
    raise LawError(message, text=text, position=min(len(constraint.name) + 1, len(text) - 1))


def _body_quantity(text: str, body: Body, rest: str, axes: Frame | None) -> QuantityName:
    """A quantity of the body itself, or of one of its named frames, whose names may contain dots."""
    first = rest.partition(".")[0]
    if first in MOMENTUM_QUANTITIES:
        return _pick(text, body.name, "body", rest, MOMENTUM_QUANTITIES, None, axes)
    if not first or first in FRAME_QUANTITIES:
        return _pick(text, body.name, "frame", rest, FRAME_QUANTITIES, Frame(body.name), axes)
    for frame in (body.com, *body.frames):
        if rest == frame.name or rest.startswith(f"{frame.name}."):
            tail = rest[len(frame.name or "") + 1 :]
            return _pick(text, f"{body.name}.{frame.name}", "frame", tail, FRAME_QUANTITIES, frame, axes)
    if body.name == "ground" and first in GROUND_QUANTITIES:
        message = f"ground is a body here; under another name it leaves ground.{first} to the load on the world"
        raise LawError(message, text=text, position=0)
    known = [*FRAME_QUANTITIES, *MOMENTUM_QUANTITIES, "com", *(frame.name or "" for frame in body.frames)]
    components = [f"{quantity}.{axis}" for quantity in ("position", "velocity") for axis in XYZ]
    known = translate(first, components) or known  # arm.x
    message = unknown(f"{body.name} has neither a quantity nor a frame called", first, known)
    raise LawError(message, text=text, position=len(body.name) + 1)


def split_owner(system: System, head: str, text: str) -> tuple[str, str]:
    """The longest leading part of a dotted name that is a component."""
    words = head.split(".")
    for count in range(len(words), 0, -1):
        owner = ".".join(words[:count])
        if owner == "world" and ".".join(words[:-1]) in system.nodes and words[-1] not in XYZ:
            return ".".join(words[:-1]), words[-1]  # the reference of shafts: world.angle.speed
        if owner in ("system", "world") or owner in system.components:
            return owner, ".".join(words[count:])
    if words[0] == "ground" and "ground" not in system.nodes:
        return "ground", ".".join(words[1:])
    for node, rest in ((head, ""), (".".join(words[:-1]), words[-1])):
        if node in system.nodes:
            return node, rest
    raise LawError(explain_unknown(system, words), text=text, position=0)


def _pick(
    text: str, owner: str, sort: str, rest: str, table: Mapping[str, Row], frame: Frame | None, axes: Frame | None
) -> QuantityName:
    quantity, _, part = rest.partition(".")
    if quantity not in table:
        position = len(text.partition("@")[0]) - len(rest)
        if not rest:
            what = {"frame": "a body" if frame and frame.is_plain else "a frame", "system": "the whole system"}
            raise LawError(explain_owner(owner, what.get(sort, f"an {sort}"), table), text=text, position=0)
        raise LawError(unknown(f"{owner} has no quantity", quantity, table), text=text, position=position)
    return name_quantity(text, owner, sort, quantity, table[quantity], part, frame, axes)


def name_quantity(
    text: str, owner: str, sort: str, quantity: str, row: Row,
    part: str = "", frame: Frame | None = None, axes: Frame | None = None,
) -> QuantityName:  # fmt: skip
    """A quantity, or one part of it, by the row that tells of it."""
    unit, parts, needs = row
    if not part:
        return QuantityName(text, owner, sort, quantity, parts, None, frame, axes, unit, needs)
    if part not in parts:
        offered = f"its parts are {', '.join(parts)}" if parts else "it is a single number"
        position = len(text.partition("@")[0]) - len(part)
        raise LawError(f"there is no part {part!r}; {offered}", text=text, position=position)
    index = parts.index(part)
    unit = unit[index] if isinstance(unit, tuple) else unit
    return QuantityName(text, owner, sort, quantity, parts, index, frame, axes, unit, needs)


def _effort_needs(system: System, joint: Joint) -> Callable[[str], str]:
    """What has to be known for the effort of a joint, or for one of its shares (``effort.drive``).

    A prescribed motion, a gear, the parts of a network and friction contribute efforts that depend on accelerations.
    """
    gears = find_transmissions(system)
    geared = any(joint.name == gear.load for gear in gears)
    tied = geared or any(joint.name == gear.motor for gear in gears)
    tied = tied or any(node.joint == joint.name for node in system.nodes.values())
    led = joint.driven or tied or joint.friction is not None
    depends = {f"effort.{effect.share}": False for effect in EFFECTS if effect.by_state}
    depends["effort.drive"] = joint.driven or geared
    fields = (
        (element, field) for element in system.elements.values() for field in getattr(element, "joint_fields", ())
    )
    depends["effort.parts"] = led or any(getattr(element, field) == joint.name for element, field in fields)
    return lambda quantity: "acceleration" if depends.get(quantity, led) else "velocity"


def _joint_quantity(
    text: str, joint: Joint, rest: str, axes: Frame | None, effort_needs: Callable[[str], str]
) -> QuantityName:
    """A quantity of a joint."""

    def make(quantity: str, parts: tuple[str, ...], part: str, unit: str | tuple[str, ...], needs: str) -> QuantityName:
        if axes is not None and quantity not in JOINT_WRENCHES:
            raise LawError(f"{quantity} has no axes to be expressed in", text=text, position=text.index("@"))
        return name_quantity(text, joint.name, "joint", quantity, (unit, parts, needs), part, None, axes)

    for name, (unit, parts) in JOINT_WRENCHES.items():
        if rest == name or rest.startswith(name + "."):
            return make(name, parts, rest[len(name) + 1 :], unit, "acceleration")
    head, _, tail = rest.partition(".")
    if joint.n_u == 0 and head in ("q", "u", "u_dot", "effort", "power"):
        raise LawError(f"{joint.name} is {joint.kind} and has no freedom", text=text, position=len(joint.name) + 1)
    names = tuple(name for name, _ in joint.coordinates)
    kinds = tuple(kind for _, kind in joint.coordinates)
    if head == "q":
        names_q, kinds_q = coordinate_names(joint)
        return make("q", _parts(names_q), tail, _units(kinds_q, "angle"), "position")
    units = {"u": "rate", "u_dot": "second", "effort": "effort"}
    if head in units:
        share, _, part = tail.partition(".")
        quantity = head
        if head == "effort" and share in EFFORT_SHARES:
            quantity, tail = f"effort.{share}", part
        table = DERIVED.get(units[head]) or {"angle": "angular_acceleration", "length": "acceleration"}
        each = tuple(table[kind] for kind in kinds)
        needs = effort_needs(quantity) if head == "effort" else "velocity" if head == "u" else "acceleration"
        return make(quantity, _parts(names), tail, _units(each, "moment"), needs)
    if rest in POWERS:
        return make(rest, (), "", "power", "acceleration")
    known = ["q", "u", "u_dot", "effort", *(f"effort.{s}" for s in EFFORT_SHARES), *JOINT_WRENCHES, *POWERS]
    known += MOMENTUM_QUANTITIES
    if not rest:
        what = "a joint" if joint.n_u == 1 else f"a joint of {joint.n_u} freedoms"
        raise LawError(explain_owner(joint.name, what, known if joint.n_u else JOINT_WRENCHES), text=text, position=0)
    position = min(len(joint.name) + 1, len(text) - 1)
    raise LawError(unknown(f"{joint.name} has no quantity", rest, known), text=text, position=position)


def _parts(names: tuple[str, ...]) -> tuple[str, ...]:
    return names if len(names) > 1 else ()


def _units(kinds: tuple[str, ...], default: str) -> str | tuple[str, ...]:
    return kinds if len(kinds) > 1 else kinds[0] if kinds else default


MOST_HINTS = 3


def explain_owner(owner: str, what: str, quantities: Iterable[str]) -> str:
    """The message about a component where one of its quantities is expected: ``h`` where ``h.q`` was meant."""
    known = list(quantities)
    message = suggest(f"{owner} is {what}, and no number", owner, [f"{owner}.{quantity}" for quantity in known[:1]])
    return message + (f" It has {', '.join(known)}" if known else "; it has no quantities")


def explain_constant(name: str) -> str:
    """The message about the time, a constant or a unit that is written like a component."""
    word, _, rest = name.partition(".")
    what = {"t": "the time", "pi": "the number pi"}.get(word, f"a unit, {CONSTANTS.get(word, 1.0):.6g} in SI")
    return f"{word} is {what}, and has no {rest!r}" if rest else f"{word} is {what}, and no quantity of the system"


def explain_unknown(system: System, words: list[str]) -> str:
    """The message about a name that no component has."""
    name = words[0]
    message = f"nothing is called {name!r}"
    known = [*system.components, *system.nodes, "system", "ground", "t", *(CONSTANTS if len(words) == 1 else ())]
    near = find_close(name, known, MOST_HINTS)
    if len(words) > 1:
        if not near and words[-1] in system.components:  # reaction.elbow
            near = [".".join((words[-1], *words[:-1]))]
    elif name in FUNCTIONS:
        return f"{message}; it is a function: write {name}(...)"
    elif not any(word.lower() == name.lower() for word in near):
        near = _with_owner(system, name) or near
        if not near and name in find_units():
            return f"{message}; it is a unit, and a quantity with its unit stands alone: '2 {name}'"
    return suggest(message, name, near, MOST_HINTS)


def _with_owner(system: System, name: str) -> list[str]:
    """Names of quantities, with their owners, that a bare word may stand for: ``torque`` is ``elbow.effort``."""
    meant = [name, *OTHER_WORDS.get(name.lower(), ())]
    if "t" in meant:
        return ["t"]
    if name.lower() in _WHOLE:
        return [f"system.{_WHOLE[name.lower()]}"]
    return [
        f"{owner}.{word}"
        for word in dict.fromkeys(meant)
        for owner, quantities in _quantities(system)
        if word in quantities
    ]


_WHOLE = {
    **dict.fromkeys(("g", "gravity"), "gravity"),
    **dict.fromkeys(("energy", "total_energy"), "energy"),
    **{word: word for word in ("kinetic_energy", "potential_energy", "momentum", "angular_momentum", "com")},
}


def _quantities(system: System) -> Iterable[tuple[str, Iterable[str]]]:
    """Components with the names of their quantities, those that are mostly asked for."""
    for name, joint in system.joints.items():
        yield name, ("q", "u", "u_dot", "effort", "power") if joint.n_u else ()
    for name, element in system.elements.items():
        yield name, element.offered()
    for name in system.bodies:
        yield name, ("position", "velocity", "acceleration", "rpy", "quaternion", "angular_velocity")


_MORE_THAN_A_NAME = re.compile(r"[^\w.@]")
# Operations whose result is an angle, and those whose result has the unit of their arguments.
_ANGLES = frozenset({"asin", "acos", "atan", "atan2"})
_KEEP_UNIT = frozenset({"name", "add", "sub", "neg", "abs", "min", "max", "where"})


class QuantityExpression(NamedTuple):
    """An expression of quantities: its text, its syntax tree (a number if it is constant) and the names in it."""

    text: str
    value: Expression | float
    names: tuple[str, ...]

    def evaluate(self, system: System, values: Mapping[str, Array], count: int) -> Array:
        """Its values at ``count`` times, from those of its names."""

        def call(table: str, args: tuple[Scalar, ...], axes: tuple[int, ...] = ()) -> Scalar:
            return system.callable_tables[table].call(args, axes)

        value = self.value
        result = value.evaluate(values.__getitem__, call) if isinstance(value, Expression) else value
        return np.array(np.broadcast_to(np.asarray(result, dtype=float), (count,)))


def find_expression(system: System, text: str) -> QuantityExpression | None:
    """The expression in a text; None if the text is the name of one quantity.

    Raises
    ------
    LawError
        The text cannot be parsed, or a name in it is no scalar quantity.
    UnitError
        Quantities of different dimensions are added or compared.
    """
    if not _MORE_THAN_A_NAME.search(text):
        return None
    value = parse(text, system.call_counts())
    names = tuple(sorted(value.names())) if isinstance(value, Expression) else ()
    for name in names:
        try:
            quantity = find_quantity(system, name)
        except LawError as error:
            position = (locate(text, name) or 0) + (error.position or 0)
            raise LawError(error.message, text=text, position=position) from None
        if quantity.size != ():
            head, at, axes = name.partition("@")
            message = f"{name} has {len(quantity.parts)} parts; write {head}.{quantity.parts[0]}{at}{axes}"
            raise LawError(message, text=text, position=locate(text, name))
    expression = QuantityExpression(text, value, names)
    _dimension(system, expression)
    return expression


def find_unit(system: System, expression: QuantityExpression) -> str:
    """The SI unit of an expression; "" where a plain factor leaves it open: ``180/pi`` turns rad into degrees."""
    dimension = _dimension(system, expression)
    if dimension is None:
        return ""
    units = {unit_of(system, name) for name in expression.names}
    assert isinstance(expression.value, Expression)
    if len(units) == 1 and all(node.op in _KEEP_UNIT for node in walk(expression.value)):
        unit = units.pop()
        return unit if isinstance(unit, str) else unit[0]
    return "rad" if expression.value.op in _ANGLES else dimension.unit


def _dimension(system: System, expression: QuantityExpression) -> Dimension | None:
    def lookup(name: str) -> Dimension | None:
        quantity = find_quantity(system, name)
        record = system.components.get(quantity.owner)
        if isinstance(record, Parameter | Input | Signal):
            return getattr(record, "dimension", None)
        assert isinstance(quantity.dimension, str)
        return DIMENSIONS[quantity.dimension].dimension

    return expression.value.dimension(lookup) if isinstance(expression.value, Expression) else None


def unit_of(system: System, name: str) -> str | tuple[str, ...]:
    """The SI unit of a quantity: one, or one for each component if they differ; "" if it is not known."""
    quantity = find_quantity(system, name)
    record = system.components.get(quantity.owner)
    if isinstance(record, Parameter | Input | Signal):
        dimension = getattr(record, "dimension", None)
        return "" if dimension is None else str(dimension.unit)
    if isinstance(quantity.dimension, str):
        return DIMENSIONS[quantity.dimension].unit
    each = tuple(DIMENSIONS[part].unit for part in quantity.dimension)
    return each[0] if len(set(each)) == 1 else each
