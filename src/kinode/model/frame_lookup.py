"""Finding and placing frames in a system: ``upper.tip``, ``elbow.child``, ``{body: upper, at: [...]}``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kinode.errors import ModelError
from kinode.model.base.bodies import Body
from kinode.model.base.fields import Component, short, unknown
from kinode.model.base.frames import Frame, check_frame_name, read_frame
from kinode.model.base.observers.moving_frames import Observer
from kinode.model.joints.joint import Joint

if TYPE_CHECKING:
    from kinode.model.system import System


def place(system: System, body: str, given: Mapping[str, Any], name: str | None) -> Frame:
    """A frame on a body; a named one is stored with the body."""
    owner = system[body]
    reader = system.reader(body)
    frame = read_frame(reader, body, given, name or "at", name)
    if name is not None:
        check_frame_name(reader, name, (f.name for f in owner.frames))
        if body == "world" and name in system.frames:
            raise ModelError(f"the name {name!r} is taken by a frame already", component=name)
        system.replace(replace(owner, frames=(*owner.frames, frame)))
    return frame


def find_frame(system: System, raw: Any) -> Frame:
    """The frame meant by a frame, a body, a name such as upper.tip or elbow.child, or {body, at, rpy}."""
    if isinstance(raw, Frame):
        if raw.body not in system:
            raise ModelError(f"{raw.body!r} is a body of another system")
        return raw
    if isinstance(raw, Body):
        if raw.name not in system or raw.system is not system:
            raise ModelError(f"body {raw.name!r} belongs to another system")
        return Frame(raw.name)
    if isinstance(raw, Mapping):
        return _read_frame(system, raw)
    if isinstance(raw, Observer) and raw.name in system.frames:
        return Frame(raw.name)
    if isinstance(raw, Component):
        raise ModelError(f"{raw.name} is a {raw.sort()}, not a body or frame")
    if not isinstance(raw, str):
        raise ModelError(f"a body or frame is expected, not {short(raw)}")
    return find_named_frame(system, raw)


def _read_frame(system: System, raw: Mapping[str, Any]) -> Frame:
    start = raw.get("body", raw.get("on"))
    if not isinstance(start, str):
        raise ModelError("a frame needs its body: {body: upper, at: [x, y, z]}")
    base = find_named_frame(system, start)
    if "body" in raw and not base.is_plain:
        raise ModelError(f"{start} is a frame, not a body: write {{on: {start}, ...}}")
    given = {key: value for key, value in raw.items() if key != "body"}
    return read_frame(system.reader(base.body), base.body, given, "at", None)


def find_named_frame(system: System, name: str) -> Frame:
    """The frame of a name; the owner is the longest leading part of it that is a body or joint."""
    words = name.split(".")
    for count in range(len(words), 0, -1):
        owner = ".".join(words[:count])
        if owner not in system:
            continue
        component, part = system[owner], ".".join(words[count:])
        if isinstance(component, Body):
            return _frame_of(component, part)
        if isinstance(component, Observer):
            if part:
                raise ModelError(f"the frame {owner} has no frame {part!r} of its own")
            return Frame(owner)
        if isinstance(component, Joint) and part in ("parent", "child"):
            return joint_frame(component, part)
        if isinstance(component, Joint) and part:
            raise ModelError(
                unknown(f"the joint {owner} has the frames parent and child, not", part, ("parent", "child"))
            )
        raise ModelError(f"{owner} is a {component.sort()}, not a body or frame")
    named = [f"{body.name}.{f.name}" for body in (system.world, *system.bodies.values()) for f in body.frames]
    raise ModelError(unknown("no body or frame is called", name, [*system.bodies, *system.frames, "world", *named]))


def _frame_of(body: Body, part: str) -> Frame:
    if not part:
        return Frame(body.name)
    if part == "com":
        return body.com
    for frame in body.frames:
        if frame.name == part:
            return frame
    raise ModelError(unknown(f"{body.name} has no frame", part, [*(f.name or "" for f in body.frames), "com"]))


def joint_frame(joint: Joint, side: str) -> Frame:
    """F (parent) or M (child) of a joint, in the axes that the user gave."""
    return (joint.a if side == "parent" else joint.b).shifted(joint.at)
