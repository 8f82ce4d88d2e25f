"""The names of all quantities of a system."""

from __future__ import annotations

from kinode.model.quantity_names import EFFORT_SHARES, FRAME_QUANTITIES, JOINT_WRENCHES, SYSTEM_QUANTITIES
from kinode.model.system import System


def known_names(system: System) -> list[str]:
    """The names of all quantities, without components (``.x``) and axes (``@frame``)."""
    names = ["t", *(f"system.{name}" for name in SYSTEM_QUANTITIES if name != "com" or system.bodies)]
    for name, joint in system.joints.items():
        moving = ("q", "u", "u_dot", "effort", *(f"effort.{share}" for share in EFFORT_SHARES), "power")
        names += [f"{name}.{quantity}" for quantity in (*(moving if joint.n_u else ()), *JOINT_WRENCHES)]
    places = [place for name, body in system.bodies.items() for place in (name, f"{name}.com", *_frames(name, body))]
    places += [f"{name}.{side}" for name in system.joints for side in ("parent", "child")]
    places += system.frames
    names += [f"{place}.{quantity}" for place in places for quantity in FRAME_QUANTITIES]
    names += [f"{name}.{quantity}" for name, frame in system.frames.items() for quantity in frame.quantities]
    for name, element in system.elements.items():
        names += [f"{name}.{quantity}" for quantity in (*element.offered(), *(("power",) if element.pushes else ()))]
    for name, constraint in system.constraints.items():
        sides = [f"on.{body}.{what}" for body in constraint.places(system) for what in ("force", "moment")]
        names += [f"{name}.{quantity}" for quantity in ("residual", "reaction", *sides)]
    names += [f"{name}.{entry}" for name, part in system.components.items() for entry, _ in part.discrete_states]
    for name, node in system.nodes.items():
        names += [f"{name}.{word}" for word in node.domain.across if node.joint is None and not node.reference]
    return [*names, *system.signals, *system.inputs, *system.parameters]


def _frames(name: str, body: object) -> list[str]:
    return [f"{name}.{frame.name}" for frame in getattr(body, "frames", ()) if frame.name]
