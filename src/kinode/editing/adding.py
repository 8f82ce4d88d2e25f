"""The gestures ``add`` and ``join``: a component with what it needs to begin with, a joint between two places.

A new component gets the fields that it needs, with numbers that make sense on a desk.  Frames that a joint misses are
added to the bodies.

Groups of components that are often needed together are text of a model.  Names in angle brackets are the group's own:
each gets one that is free in the model before the text is read, so that nothing else can be meant by it.  ``BODY`` and
``JOINT`` stand for what a group is put on; without a joint a drive ends in an open node.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kinode.editing.draft import (
    GesturePlan,
    ModelDraft,
    claim_new_name,
    free_name,
    fresh_nodes,
    names_in_use,
)
from kinode.editing.gesture_words import Axis, Fields, Side, Step
from kinode.editing.placing import format_number, write_axis
from kinode.errors import ArgumentError, find_close, suggest
from kinode.expressions.units import DIMENSIONS
from kinode.model.base.element import ELEMENTS
from kinode.model.base.field_reader import FRAME, JOINT, LAW
from kinode.model.base.fields import Component, Spec
from kinode.model.base.frames import FRAME_WORDS
from kinode.model.base.observers.moving_frames import FRAMES
from kinode.model.component_store import RESERVED
from kinode.model.constraints.constraint import CONSTRAINTS
from kinode.model.drive_unit import DriveUnit
from kinode.model.joints.joint import JOINTS
from kinode.model.network.part import Part

BODY = {"shape": "{box: {x: 0.4 m, y: 0.05 m, z: 0.05 m, mass: 1 kg}}"}
# By dimension, as a person would type them.
QUANTITIES = {
    "voltage": "12 V", "resistance": "1 Ohm", "inductance": "10 mH", "capacitance": "100 uF", "current": "1 A",
    "torque_constant": "50 mN*m/A", "flux": "10 mWb", "inertia": "0.01 kg*m^2", "mass": "1 kg", "length": "0.1 m",
    "area": "0.01 m^2", "time": "0.1 s", "angle": "1 deg", "stiffness": "100 N/m", "damping": "1 N*s/m",
    "rotational_stiffness": "100 N*m/rad", "rotational_damping": "0.1 N*m*s/rad", "lead": "5 mm/rev",
}  # fmt: skip
# By kind and field, where the general rule gives nonsense.
SPECIAL = {
    ("transfer_function", "denominator"): "[0.1, 1]",
    ("sampled_transfer_function", "denominator"): "[1, -0.5]",
    ("state_space", "A"): "[[-1]]",
    ("sampled_state_space", "A"): "[[0.5]]",
    ("worm_gear", "efficiency"): "40 %",
    ("worm_gear", "ratio"): "20",
    ("coupled_inductors", "coupling"): "0.5",
    ("relay", "on"): "1",
    ("relay", "off"): "0",
    ("switch", "command"): "1",
    ("lugre", "static"): "1.5 N*m",
    ("slide_lugre", "static"): "1.5 N",
}
ALSO: Mapping[str, Mapping[str, str]] = {  # fields that may be left out one by one, but not all; a rotor that can stick
    "dc_motor": {"inertia": "1e-4 kg*m^2"},
    "pid": {"target": "0", "measured": "0", "proportional": "1"},
    "sampled_pid": {"target": "0", "measured": "0", "proportional": "1"},
    "spring": {"stiffness": "100 N/m", "free_length": "0.1 m"},
    "aerodynamic": {"force_coefficients": "[-0.3, 0, 0]"},
    "ballistic": {"drag": "0.3"},
}


def starting_fields(
    cls: type[Component],
    given: Mapping[str, str],
    node: Callable[[], str],
    frame: Callable[[str], str],
    joints: Sequence[str],
) -> dict[str, str]:  # fmt: skip
    """The fields of a new component: those given, and what else it needs.

    ``node`` gives a fresh node for a port, ``frame`` what a frame field refers to, ``joints`` are those that it
    can act in.
    """
    fields: dict[str, str] = {}
    replaced = {field for name in given if name in cls.alternative_fields for field in cls.alternative_fields[name][0]}
    ports = cls.ports() if issubclass(cls, Part) else {}
    ends = "between" in given
    also = {} if ALSO.get(cls.kind, {}).keys() & given.keys() else ALSO.get(cls.kind, {})
    for name, (declared, spec) in cls.specs().items():
        if name in given:
            fields[name] = given[name]
        elif ends and name in ("a", "b"):
            fields["between"] = given["between"]
        elif name in also:
            fields[name] = also[name]
        elif declared.default is dataclasses.MISSING and name not in replaced:
            if name in ports:
                fields[name] = node()
            elif spec.kind is FRAME:
                fields[name] = frame(name)
            elif spec.kind is JOINT:
                if joints:
                    fields[name] = next((joint for joint in joints if joint not in fields.values()), joints[0])
            else:
                fields[name] = SPECIAL.get((cls.kind, name)) or starting_value(spec)
    return {**fields, **{name: value for name, value in given.items() if name not in fields}}


def starting_value(spec: Spec) -> str:
    """A first value for a field."""
    if spec.choices:
        return spec.choices[0]
    dimension = spec.dimension or ""
    if spec.kind.first or dimension in QUANTITIES:
        return spec.kind.first or QUANTITIES[dimension]
    unit = DIMENSIONS[dimension].unit if dimension in DIMENSIONS else "1"
    value = "0" if spec.kind is LAW and not dimension else "1"
    return value if unit == "1" else f"{value} {unit}"


PLAIN = {"body": "bodies", "parameter": "parameters", "input": "inputs", "signal": "signals", "table": "tables",
         "frame": "frames", "drive": "drives"}  # fmt: skip
FIRST = {
    "body": BODY, "parameter": {"value": "1"}, "input": {"value": "0"}, "signal": {"law": "sin(2*pi*t)"},
    "table": {"axes": "[0, 1]", "values": "[0, 1]"}, "frame": {"at": "[0, 0, 0]"},
}  # fmt: skip


def add_part(
    draft: ModelDraft,
    plan: GesturePlan,
    *,
    kind: str,
    name: str | None = None,
    fields: Fields | None = None,
    section: str = "",
) -> None:
    """A component with what it needs; its ports get nodes of their own, ``n1``, ``n2`` and so on."""
    section = find_section(draft, kind, section)
    taken = names_in_use(draft)
    name = claim_new_name(name, name_of_kind(kind), taken)
    given = {field: value for field, value in (fields or {}).items() if field != "kind"}
    fields = _fields(draft, kind, section, given, taken)
    if kind not in PLAIN:
        fields = {"kind": kind, **fields}
    draft.add(section, name, fields)
    plan.made.append(name)
    plan.words = f"add {name}"


def known_kinds(draft: ModelDraft) -> dict[str, Mapping[str, Any]]:
    """The classes of all kinds, by section."""
    elements = {**ELEMENTS, **draft.system.kinds}
    return {"joints": JOINTS, "constraints": CONSTRAINTS, "elements": elements, "frames": FRAMES}


def find_section(draft: ModelDraft, kind: str, wanted: str = "") -> str:
    """The section that components of a kind stand in."""
    known = known_kinds(draft)
    if kind in known.get(wanted, {}):
        return wanted
    if kind in PLAIN:
        return PLAIN[kind]
    for section, kinds in known.items():
        if kind in kinds:
            return section
    near = find_close(kind, [*PLAIN, *(kind for kinds in known.values() for kind in kinds)], 3)
    raise ArgumentError(suggest(f"there is no kind {kind!r}", kind, near))


def name_of_kind(kind: str) -> str:
    """The name for a first component of a kind: its last word, such as motor, where that is free to be a name."""
    word = kind.rpartition("_")[2]
    return kind if word in RESERVED or len(word) < 3 else word


def _fields(draft: ModelDraft, kind: str, section: str, given: dict[str, str], taken: set[str]) -> dict[str, str]:
    """The fields of the new entry, as typed."""
    if kind in FIRST:
        if kind == "body":
            return given if given else dict(BODY)
        return {**FIRST[kind], **given}
    classes = {**known_kinds(draft), "drives": {"drive": DriveUnit}}[section]
    system = draft.system
    bodies = draft.places.in_section("bodies")
    joints = [name for name, joint in system.joints.items() if joint.n_u == 1 and name in draft.places.paths]
    joined = {end.body for joint in system.joints.values() for end in (joint.a, joint.b)}
    loose = [name for name in bodies if name not in joined]
    nodes = fresh_nodes(taken)

    def frame(field: str) -> str:
        second = field == "b" or section != "joints"
        if section == "joints":
            return (loose or bodies)[-1] if second and bodies else "world"
        return "world" if field == "a" or not bodies else bodies[-1]

    if kind == "line" and bodies:
        given = {"start": "world", "end": bodies[-1], **given}
    if section == "joints" and not bodies and not {"between", "a", "b"} & given.keys():
        raise ArgumentError("a joint joins two bodies, or a body and the world: add a body first")
    if section == "joints" and not {"between", "a", "b"} & given.keys():
        given = {"between": f"[world, {(loose or bodies)[-1]}]", **given}
    return starting_fields(classes[kind], given, lambda: next(nodes), frame, joints[::-1])


AT = 1e-9  # m: a place so near to a body's origin is the body itself


def join(
    draft: ModelDraft,
    plan: GesturePlan,
    *,
    kind: str,
    a: Side,
    b: Side,
    axis: Axis | None = None,
    name: str | None = None,
    fields: Fields | None = None,
    step: Step = 1e-3,
) -> None:
    """A joint between two places, with the frames that are missing; numbers are rounded to the step."""
    if kind not in JOINTS:
        raise ArgumentError(f"there is no joint {kind!r}; there are {', '.join(sorted(JOINTS))}")
    name = claim_new_name(name, name_of_kind(kind), names_in_use(draft))
    sides = [_side(draft, word, side, name, step) for word, side in (("a", a), ("b", b))]
    if _body_of(sides[0]) == _body_of(sides[1]):
        raise ArgumentError(f"both places are on {_body_of(sides[0])}: a joint joins two bodies")
    own = {"between": f"[{sides[0]}, {sides[1]}]"}
    if axis is not None and "axis" in JOINTS[kind].specs():
        own["axis"] = axis if isinstance(axis, str) else write_axis(axis)
    add_part(draft, plan, kind=kind, name=name, fields={**own, **(fields or {})})
    plan.words = f"join {_body_of(sides[0])} and {_body_of(sides[1])} by {name}"


def _side(draft: ModelDraft, word: str, side: Side, joint: str, step: float) -> str:
    """What stands in ``between`` for one side."""
    frame, body, at = side
    if frame:
        if "." not in frame:
            raise ArgumentError(f"{word}: {frame!r:.40} is no frame: write body.frame")
        draft.system.find_frame(frame)
        return frame
    if body != "world" and body not in draft.system.bodies:
        raise ArgumentError(f"{word}: there is no body {body!r:.40}")
    if at is None or max(map(abs, at)) < max(AT, 0.5 * step):
        return body
    numbers = "[" + ", ".join(format_number(x, step) for x in at) + "]"
    if body == "world":
        return f"{{body: world, at: {numbers}}}"
    path = (*draft.path_of(body), "frames")
    known = draft.root.find(*path)
    taken = {*(known.entries if known is not None else ()), *FRAME_WORDS}
    own = free_name(joint, taken)
    draft.set((*path, own), numbers)
    draft.restart()
    return f"{body}.{own}"


def _body_of(side: str) -> str:
    return "world" if side.startswith("{") else side.rpartition(".")[0] or side


OWN_NAME = re.compile(r"<(\w+)>")
LINK = """\
bodies:
  <link>: {shape: {box: {x: 0.4 m, y: 0.05 m, z: 0.05 m, mass: 1 kg, at: [0.2 m, 0, 0]}}, frames: {tip: [0.4 m, 0, 0]}}
joints:
  <hinge>: {kind: revolute, between: [BODY, <link>], axis: y}
"""
MOTOR = """\
  <motor>: {kind: dc_motor, plus: <coil>, minus: gnd, shaft: <rotor>, resistance: 0.9 Ohm, inductance: 0.4 mH,
          constant: 48 mN*m/A, inertia: 6e-5 kg*m^2, viscous: 2e-5 N*m*s/rad}
  <gear>: {kind: gearbox, input: <rotor>, output: JOINT, ratio: 60}
"""
DRIVE = f"""\
elements:
  <supply>: {{kind: voltage_source, plus: <coil>, minus: gnd, voltage: 12 V}}
{MOTOR}"""
PID_LOOP = """\
signals:
  <target>: 0.5*smoothstep(t, 0.5, 1.5)
elements:
  <controller>: {kind: pid, target: <target>, measured: MEASURED, proportional: 20, integral: 10, derivative: 4,
               filter_time: 10 ms}
"""
AXIS = f"""\
signals:
  <target>: 0.5*smoothstep(t, 0.5, 1.5)
elements:
  <battery>: {{kind: battery, plus: <bus>, minus: gnd, voltage: 24 V, resistance: 50 mOhm}}
  <controller>: {{kind: pid, target: <target>, measured: MEASURED, proportional: 20, integral: 40, derivative: 0.5,
               filter_time: 2 ms, limits: [-1, 1]}}
  <amplifier>: {{kind: bridge, plus: <bus>, minus: gnd, second_plus: <coil>, second_minus: gnd,
              modulation: <controller>.output}}
{MOTOR}"""
GROUPS = {
    "link": (LINK, "A body with a revolute joint to the body that is selected, else to the last one; at its tip."),
    "axis": (AXIS, "A driven axis: battery, amplifier, motor, gear and controller in a joint."),
    "drive": (DRIVE, "A supply, a motor and a gear, whose output turns a joint."),
    "pid_loop": (PID_LOOP, "A target, a PID controller and the moment that it gives."),
}
"""The text of each group, and what it is in words."""


def fill_group(what: str, body: str, joint: str, taken: set[str]) -> str:
    """The text of a group on a body, a frame of it, or a joint, with names that are free."""
    text, _ = GROUPS[what]
    measured = f"{joint}.q" if joint else "<gear>.output.angle" if what == "axis" else "0"
    text = text.replace("MEASURED", measured).replace("JOINT", joint or "<output>").replace("BODY", body)
    own = dict.fromkeys(OWN_NAME.findall(text))
    names = {name: free_name(name, taken | (own.keys() - {name})) for name in own}
    return OWN_NAME.sub(lambda found: names[found[1]], text)
