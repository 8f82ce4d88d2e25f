"""The symbols of a circuit diagram as SVG, each about its own middle.

The symbols are records (``kinode.model.base.symbols``) that the classes of components name; this file writes them.  An
outline is as large as the box of its component.  A two-pole is rotated into the line between its ports.
"""

from __future__ import annotations

from html import escape

from kinode.model.base.symbols import Disc, Lettering, Outline, Stroke, StrokeRole, Symbol
from kinode.model.circuit_topology import INFORMATION
from kinode.views.diagram.circuit_graph import Box

ANGLES = {"top": 0, "bottom": 180, "left": -90, "right": 90}  # of a two-pole, by the side of its first port
ROLES = {StrokeRole.LINE: "", StrokeRole.DASHED: ' stroke-dasharray="2 3"'}


def draw(box: Box) -> str:
    """The symbol of a component about its middle, its outline included."""
    symbol = box.symbol
    if symbol.outline is Outline.BODY:
        return _body(box)
    if box.is_two_pole:
        return _turned(box)
    return _outline(box) + _contents(symbol)


def _contents(symbol: Symbol, angle: int = 0) -> str:
    """Shapes and texts; ``angle`` is that of the symbol, in which its texts stay upright."""
    return "".join(map(_shape, symbol.shapes)) + "".join(_text(text, angle) for text in symbol.texts)


def _shape(shape: Stroke | Disc) -> str:
    role = ROLES.get(shape.role, f' class="{shape.role}"')
    if isinstance(shape, Stroke):
        return f'<path d="{shape.path}"{role}/>'
    x = f'cx="{shape.x:g}" ' if shape.x else ""
    y = f'cy="{shape.y:g}" ' if shape.y else ""
    return f'<circle {x}{y}r="{shape.radius:g}"{role}/>'


def _text(text: Lettering, angle: int) -> str:
    upright = f' transform="rotate({-angle})"' if angle else ""
    x = f' x="{text.x:g}"' if text.x else ""
    slant = ' font-style="italic"' if text.slanted else ""
    attributes = f'{x} y="{text.y:g}" font-size="{text.size:g}" text-anchor="middle"'
    return f"<text{upright}{attributes}{slant}>{escape(text.text)}</text>"


def _outline(box: Box) -> str:
    match box.symbol.outline:
        case Outline.BOX:
            return f'<rect {_extent(box)} rx="2" class="face"/>'
        case Outline.CIRCLE:
            return '<circle r="20" class="face"/>'
        case Outline.MACHINE:
            return f'{_machine_leads(box)}<circle r="20" class="face"/>'
        case _:
            return ""


def _extent(box: Box) -> str:
    w, h = box.width, box.height
    return f'x="{-w / 2:g}" y="{-h / 2:g}" width="{w:g}" height="{h:g}"'


def _body(box: Box) -> str:
    name = f'<text y="-1" font-size="11" font-weight="bold" text-anchor="middle">{escape(box.label)}</text>'
    mass = f'<text y="12" font-size="9" text-anchor="middle" class="muted">{escape(box.value)}</text>'
    return f'<rect {_extent(box)} rx="3" class="body"/>{name}{mass}'


def _turned(box: Box) -> str:
    """A two-pole along the line between its ports, with a lead to what else is connected to it."""
    first = box.ports.get(box.symbol.first_port or "")
    side = first.side if first is not None else "top"
    angle = ANGLES[side]
    svg = _contents(box.symbol, angle)
    if angle:
        svg = f'<g transform="rotate({angle})">{svg}</g>'
    upright = side in ("top", "bottom")
    if upright and any(port.side == "left" for port in box.ports.values()):
        return f'<path d="M-20,0H-10"/>{svg}'
    if not upright and any(port.side == "bottom" for port in box.ports.values()):
        return f'<path d="M0,20V10"/>{svg}'
    return svg


def _machine_leads(box: Box) -> str:
    """From the ports of a machine to its middle, which its circle covers."""
    lines = ""
    for port in box.ports.values():
        level = port.side in ("left", "right")
        edge = (box.width if level else box.height) / 2 * (-1 if port.side in ("left", "top") else 1)
        x, y = (edge, port.offset) if level else (port.offset, edge)
        dashed = ' stroke-dasharray="5 3.5" stroke-width="1.3" class="told"' if port.kind == INFORMATION else ""
        lines += f'<path d="M{x:g},{y:g}{"H0" if level else "V0"}"{dashed}/>'
    return lines
