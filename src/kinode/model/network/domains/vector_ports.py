"""Vector ports of parts: a point of a body as a link of six scalar ones, v, w | F, M.

A frame field that ``Part.vector_ports`` names is such a port.  Its potentials are the velocity of the frame's origin
and the angular velocity of its body, its flows the force and the moment on the part there, three numbers each, in world
axes or in the frame's own.  The part states an equation for each of the six flows; the body feels the opposite ones.
``position`` is told beside them, as an information link.

A row in vectors stands for three, one for each axis: ``hand.force = damping*hand.velocity``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from kinode.algebra.scalars import Scalar, tidy
from kinode.errors import ModelError
from kinode.expressions.syntax_tree import Expression, symbol
from kinode.model.base.element import Load
from kinode.model.base.frames import Frame

if TYPE_CHECKING:
    from kinode.model.base.scene import VelocityScene
    from kinode.model.network.part import Part

MECHANICAL = "mechanical"  # the kind of a vector port in a declaration
WORLD_AXES, OWN_AXES = "world", "own"
AXES = (WORLD_AXES, OWN_AXES)
POTENTIALS = {"velocity": "velocity", "angular_velocity": "angular_velocity"}
FLOWS = {"force": "force", "moment": "moment"}
TOLD = {"position": "length"}  # information, no potential
LETTERS = "xyz"


def vector_units(ports: Mapping[str, str], words: Mapping[str, str]) -> dict[str, str]:
    """The scalar quantities of vector ports: ``hand.force.x``, with their units."""
    return {f"{port}.{word}.{x}": unit for port in ports for word, unit in words.items() for x in LETTERS}


def in_components(text: str, ports: Mapping[str, str]) -> list[tuple[str, str]]:
    """A text in vectors of ports as three in their components, each with the letter of its axis; else the text."""
    names = "|".join(map(re.escape, ports))
    words = "|".join((*POTENTIALS, *FLOWS, *TOLD))
    vector = re.compile(rf"(?<![\w.])(?:{names})\.(?:{words})(?![\w.])")
    if not ports or not vector.search(text):
        return [("", text)]
    return [(x, vector.sub(rf"\g<0>.{x}", text)) for x in LETTERS]


def refused_rate(ports: Mapping[str, str], name: str, order: int) -> str | None:
    """Why the derivative of a name cannot be used, in words: the part is solved before accelerations are known."""
    if not order or name not in vector_units(ports, {**POTENTIALS, **TOLD}):
        return None
    port, word, _ = name.split(".")
    if word in TOLD and order == 1 and ports[port] == WORLD_AXES:
        return None
    return f"the rate of {name} is not known to a part at a vector port; a mass belongs to the body"


def vector_power(port: str) -> str:
    """The power into a part through a vector port, as a formula."""
    pairs = (("force", "velocity"), ("moment", "angular_velocity"))
    return " + ".join(f"{port}.{flow}.{x}*{port}.{potential}.{x}" for flow, potential in pairs for x in LETTERS)


def vector_values(part: Part) -> dict[str, Expression | float]:
    """What the names of its vector ports stand for in the system: quantities of frames, and flows of its own."""
    values: dict[str, Expression | float] = {}
    for port, axes in part.vector_ports.items():
        frame: Frame = getattr(part, port)
        turned = f"@{frame}" if axes == OWN_AXES else ""
        for word in (*POTENTIALS, *TOLD):
            values |= {f"{port}.{word}.{x}": symbol(f"{frame}.{word}.{x}{turned}") for x in LETTERS}
        values |= {f"{port}.{word}.{x}": symbol(f"{part.name}.{port}.{word}.{x}") for word in FLOWS for x in LETTERS}
    return values


def vector_loads(part: Part, scene: VelocityScene) -> tuple[Load, ...]:
    """What the bodies feel: the opposite of the flows."""
    loads = []
    for port, axes in part.vector_ports.items():
        frame: Frame = getattr(part, port)

        def flow(word: str, port: str = port) -> list[Scalar]:
            return [-scene.law(symbol(f"{part.name}.{port}.{word}.{x}")) for x in LETTERS]

        force, moment = (tidy(flow(word)) for word in FLOWS)
        if axes == OWN_AXES:
            R = scene.pose(frame).R
            force, moment = R @ np.asarray(force), R @ np.asarray(moment)
        loads.append(Load(frame, force, moment))
    return tuple(loads)


def check_vector_ports(part: Part) -> None:
    """Refuse frames without a name, whose quantities the equations could not name."""
    for port in part.vector_ports:
        frame: Frame = getattr(part, port)
        if not frame.is_plain and frame.name is None:
            raise ModelError("the frame needs a name: body.at(..., name=...)", component=part.name, field=port)
