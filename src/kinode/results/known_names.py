"""The names of all quantities of a system, and of those that tables hold where nobody chooses."""

from __future__ import annotations

from kinode.dynamics.compiled_system import Dynamics
from kinode.model.quantity_names import (
    EFFORT_SHARES,
    FRAME_QUANTITIES,
    GROUND_QUANTITIES,
    JOINT_WRENCHES,
    MOMENTUM_QUANTITIES,
    POWERS,
    SYSTEM_QUANTITIES,
)
from kinode.model.system import System


def known_names(system: System) -> list[str]:
    """The names of all quantities, without components (``.x``) and axes (``@frame``)."""
    names = ["t", *(f"system.{name}" for name in SYSTEM_QUANTITIES if name != "com" or system.bodies)]
    if "ground" not in system.components and "ground" not in system.nodes:
        names += [f"ground.{name}" for name in GROUND_QUANTITIES]
    for name, joint in system.joints.items():
        of_freedoms = ("q", "u", "u_dot", "effort", *(f"effort.{share}" for share in EFFORT_SHARES), *POWERS)
        names += [f"{name}.{quantity}" for quantity in (*(of_freedoms if joint.n_u else ()), *JOINT_WRENCHES)]
    names += [f"{name}.{quantity}" for name in system.bodies for quantity in MOMENTUM_QUANTITIES]
    frames = [text for name, body in system.bodies.items() for text in (name, f"{name}.com", *_frames(name, body))]
    frames += [f"{name}.{side}" for name in system.joints for side in ("parent", "child")]
    frames += system.frames
    names += [f"{frame}.{quantity}" for frame in frames for quantity in FRAME_QUANTITIES]
    names += [f"{name}.{quantity}" for name, record in system.frames.items() for quantity in record.quantities]
    for name, element in system.elements.items():
        names += [f"{name}.{quantity}" for quantity in (*element.offered(), *(("power",) if element.pushes else ()))]
    for name, constraint in system.constraints.items():
        sides = [f"on.{body}.{word}" for body in constraint.places(system) for word in ("force", "moment")]
        names += [f"{name}.{quantity}" for quantity in ("residual", "reaction", *sides)]
    names += [f"{name}.{entry}" for name, part in system.components.items() for entry, _ in part.discrete_states]
    for name, node in system.nodes.items():
        names += [f"{name}.{word}" for word in node.domain.across if node.joint is None and not node.reference]
    return [*names, *system.signals, *system.inputs, *system.parameters]


def table_names(dynamics: Dynamics) -> list[str]:
    """Coordinates and speeds of all joints, driven ones too, other states, and the loads in the joints."""
    joints = dynamics.system.joints
    names = []
    for letter in "qu":
        for name, joint in joints.items():
            entries = [entry for entry, _ in (joint.coordinate_names if letter == "q" else joint.coordinates)]
            names += (
                [f"{name}.{letter}.{x}" for x in entries] if len(entries) > 1 else [f"{name}.{letter}"] * len(entries)
            )
    names += [coordinate.name for coordinate in dynamics.coordinates if coordinate.role == "z"]
    for name, joint in joints.items():
        names += [f"{name}.effort"] if joint.n_u else []
        names += [f"{name}.reaction.{load}" for load in ("force", "moment") if joint.n_u < 6]
    return list(dict.fromkeys(names))


def _frames(name: str, body: object) -> list[str]:
    """Names of the frames of a body."""
    return [f"{name}.{frame.name}" for frame in getattr(body, "frames", ()) if frame.name]
