"""The symbols of a circuit diagram as SVG, each about its own middle, 40 by 40 units, leads at top and bottom.

Electrical symbols follow IEC 60617, those of joints ISO 3952.  A kind that has none here is a box with its name.
"""

from __future__ import annotations

from html import escape

from kinode.views.diagram.circuit_graph import INFORMATION, Box

LEADS = '<path d="M0,-20V-12M0,12V20"/>'
ZIGZAG = '<path d="M0,-20V-13L7,-10.5L-7,-6L7,-1.5L-7,3L7,7.5L0,11V20"/>'
DASHPOT = '<path d="M0,-20V-1M-7,-1H7M-10,-9V9H10V-9M0,9V20"/>'
BRAKE = '<path d="M0,-20V-10M-11,10H11M-11,10l-3,5M-4,10l-3,5M3,10l-3,5M10,10l-3,5"/><circle r="9" class="face"/>'
HATCH = '<path d="M0,-20V-4M-11,-4H11M-11,4H11M0,4V20M-9,4L-4,-4M-2,4L3,-4M5,4L10,-4"/>'
STICKS = f'{HATCH}<path d="M-11,-4V4M11,-4V4"/>'
COIL = "a5.5,3.5 0 0 1 0,7 a5.5,3.5 0 0 1 0,7 a5.5,3.5 0 0 1 0,7 a5.5,3.5 0 0 1 0,7"
ROUND_LEADS = '<path d="M0,-20V-14M0,14V20"/>'
PULSE = '<path d="M-12,6V-6H-5V6H2V-6H9V6H13"/>'


def letters(text: str, size: float = 13.0, *, y: float = 0.0, slanted: bool = False) -> str:
    """Words in the middle of a symbol."""
    how = ' font-style="italic"' if slanted else ""
    return f'<text y="{y + 0.36 * size:g}" font-size="{size:g}" text-anchor="middle"{how}>{escape(text)}</text>'


def _round(text: str, *, leads: bool = True, slanted: bool = True) -> str:
    lines = ROUND_LEADS if leads else ""
    return f'{lines}<circle r="14" class="face"/>{letters(text, slanted=slanted)}'


def _plain(text: str) -> str:
    return f'<rect x="-20" y="-20" width="40" height="40" rx="2" class="face"/>{letters(text, 8.0)}'


def _gears(more: str = "") -> str:
    return (
        f'<path d="M0,-20V-16M0,18V20"/><circle cy="-9" r="7" class="face"/><circle cy="8" r="10" class="face"/>{more}'
    )


def _machine(text: str) -> str:
    return f'<circle r="20" class="face"/>{letters("M", 15.0, y=-2.0)}{letters(text, 9.0, y=9.0)}'


TWO_POLES = {
    "resistor": f'{LEADS}<rect x="-6" y="-12" width="12" height="24" class="face"/>',
    "inductor": f'<path d="M0,-20V-14{COIL}V20"/>',
    "capacitor": '<path d="M0,-20V-4M0,4V20"/><path d="M-11,-4H11M-11,4H11" class="plate"/>',
    "voltage_source": '<circle r="14" class="face"/><path d="M0,-20V-14M0,14V20M-4,-6H4M0,-10V-2M-4,7H4"/>',
    "current_source": '<circle r="14" class="face"/><path d="M0,-20V-14M0,14V20M0,9V-8M-4,-3L0,-8L4,-3"/>',
    "battery": '<path d="M0,-20V-4M0,4V20M7,-12H13M10,-15V-9"/><path d="M-12,-4H12"/><path d="M-6,4H6" class="plate"/>',
    "shaft_spring": ZIGZAG,
    "slide_spring": ZIGZAG,
    "shaft_damper": DASHPOT,
    "slide_damper": DASHPOT,
    "shaft_loss": HATCH,
    "slide_loss": HATCH,
    "shaft_friction": STICKS,
    "slide_friction": STICKS,
    "speed_source": _round("ω"),
    "angle_source": _round("φ"),
    "moment_source": _round("M"),
    "velocity_source": _round("v"),
    "position_source": _round("s"),
    "force_source": _round("F"),
    "gearbox": _gears(),
    "elastic_gearbox": _gears('<path d="M-4,8l2,-4l2,8l2,-8l2,4" class="thin"/>'),
    "backlash_gear": _gears('<path d="M-6,-1l4,0M2,-1l4,0" class="plate"/>'),
    "worm_gear": _gears('<path d="M-6,6l3,-5M-2,6l3,-5M2,6l3,-5" class="thin"/>'),
    "diode": '<path d="M0,-20V-7M0,7V20M-8,7H8M-8,-7H8L0,7Z"/>',
    "switch": '<path d="M0,-20V-9M0,9V20M0,9L8,-8"/><circle cy="-9" r="1.6" class="ink"/>',
    "frame_link": '<path d="M0,-20V-6M0,6V20M-4,-12L0,-6L4,-12"/><rect x="-9" y="-6" width="18" height="12"/>',
    "turn_link": '<path d="M0,-20V-6M0,6V20M-6,-15A7,7 0 0 0 6,-13"/><rect x="-9" y="-6" width="18" height="12"/>',
    "lever": '<path d="M0,-20V-8L0,8V20M-14,-8L14,8M-4,8L0,0L4,8Z"/>',
    "pinion": '<path d="M0,-20V-10M-14,12H14M0,12V20M-10,12v-3M-4,12v-3M2,12v-3M8,12v-3"/><circle r="9" class="face"/>',
}

OTHERS = {
    # solid bodies without vector links
    "shaft_inertia": '<path d="M0,-20V-8"/><rect x="-14" y="-8" width="28" height="14" class="mass"/>',
    "slide_mass": '<path d="M0,-20V-10"/><rect x="-12" y="-10" width="24" height="20" class="mass"/>',
    # machines
    "dc_motor": _machine("="),
    "brushless_motor": _machine("3~"),
    "inverter_motor": _machine("=/3~"),
    "transformer": f'<rect x="-20" y="-20" width="40" height="40" rx="2" class="face"/><path d="M-6,-14{COIL}"/>'
    f'<path d="M6,14{COIL}" transform="rotate(180 6 14)"/><path d="M0,-14V14" class="thin"/>',
    "coupled_inductors": f'<rect x="-20" y="-20" width="40" height="40" rx="2" class="face"/><path d="M-6,-14{COIL}"/>'
    f'<path d="M6,14{COIL}" transform="rotate(180 6 14)"/>',
    "bridge": f'<rect x="-20" y="-20" width="40" height="40" rx="2" class="face"/>{PULSE}',
    # joints
    "revolute": '<circle r="6"/>',
    "prismatic": '<rect x="-7" y="-4" width="14" height="8"/><path d="M-13,-4V4M13,-4V4M-13,0H-7M7,0H13"/>',
    "cylindrical": '<rect x="-7" y="-4" width="14" height="8"/><path d="M-13,0H-7M7,0H13M-3,-9a6,4 0 1 1 6,0"/>',
    "screw": '<rect x="-8" y="-5" width="16" height="10"/><path d="M-13,0H13M-6,5L-2,-5M-1,5L3,-5M4,5L8,-5"/>',
    "universal": '<path d="M-9,0H9M0,-9V9M-9,-4V4M9,-4V4M-4,-9H4M-4,9H4"/>',
    "spherical": '<circle r="5" class="ink"/><path d="M-7,-6a9,9 0 1 0 14,0"/>',
    "planar": '<path d="M-12,5L-5,-7H12L5,5ZM-12,9H5"/>',
    "free": '<circle r="9" stroke-dasharray="2 3"/>',
    "fixed": '<path d="M-8,-8L8,8M-8,8L8,-8"/>',
    "gear": '<circle cx="-5" r="5"/><circle cx="7" r="7"/>',
    "rack": '<circle cy="-4" r="7"/><path d="M-12,4H12M-8,4v3M-2,4v3M4,4v3M10,4v3"/>',
    "distance": '<path d="M-9,5L9,-5"/><circle cx="-9" cy="5" r="2" class="ink"/><circle cx="9" cy="-5" r="2.5"/>',
    "point_on_line": '<path d="M-12,6L12,-6"/><circle r="3.5" class="ink"/>',
    "point_on_plane": '<path d="M-12,6L-5,-5H12L5,6Z"/><circle r="3" class="ink"/>',
    "rolling": '<circle cy="-2" r="8"/><path d="M-13,6H13"/>',
    "knife_edge": '<path d="M-12,7H12M0,7L-4,-9H4Z"/>',
    "angle": '<path d="M-9,8H10M-9,8L6,-8M2,8a11,11 0 0 0 -4,-8"/>',
    # what acts in joints and on bodies
    "stiffness": ZIGZAG,
    "spring": ZIGZAG,
    "damping": DASHPOT,
    "friction": HATCH,
    "lugre": HATCH,
    "slide_lugre": HATCH,
    "stop": '<path d="M0,-20V-5M-8,-5H8M-8,5H8M0,5V20M-8,5l-3,4M-2,5l-3,4M4,5l-3,4"/>',
    "backlash": '<path d="M0,-20V-8H-7V-3M-7,-3H-1M7,3H1M-7,3V8H7V-3"/>',
    "brake": BRAKE,
    "slide_brake": BRAKE,
    "clutch": '<path d="M0,-20V-4M-10,-4H10M-10,3H10M0,3V20"/>',
    "aerodynamic": _round("A", leads=False),
    "ballistic": _round("A", leads=False),
    "position_turn": _round("φ"),
    "position_slide": _round("s"),
    "position_both": _round("q"),
    "velocity_turn": _round("ω"),
    "velocity_slide": _round("v"),
    "velocity_both": _round("u"),
    "moment": _round("M"),
    "force": _round("F"),
    "effort": _round("Q"),
    "thrust": _round("T"),
    "central_gravity": _round("g", leads=False),
    "earth_rotation": _round("Ω", leads=False),
}

SIGNALS = {
    "pid": letters("PID"),
    "sampled_pid": letters("PID", y=-4.0) + PULSE.replace("-6", "8").replace("6", "14"),
    "filter": '<path d="M-16,-8H-2C4,-8 6,8 16,8"/>',
    "integrator": letters("∫", 18.0),
    "saturation": '<path d="M-16,8H-7L7,-8H16"/><path d="M-18,0H18M0,-13V13" class="thin"/>',
    "dead_zone": '<path d="M-16,10L-6,0H6L16,-10"/><path d="M-18,0H18M0,-13V13" class="thin"/>',
    "relay": '<path d="M-16,8H6V-8H16M-6,8V-8H6"/>',
    "rate_limit": '<path d="M-14,9H-8L6,-9H14"/>',
    "sensor": '<circle r="10"/><path d="M0,6L6,-5"/>',
    "transfer_function": letters("G(s)", slanted=True),
    "sampled_transfer_function": letters("G(z)", slanted=True),
    "state_space": letters("A, B, C", 11.0, slanted=True),
    "sampled_state_space": letters("A, B, C", 11.0, slanted=True),
    "sample_hold": '<path d="M-15,9V4H-7V-2H1V-8H9V-3H15"/>',
    "controller": letters("u[k]", slanted=True),
    "signal": letters("f(t)", slanted=True),
    "input": letters("→", 18.0),
}


def draw(box: Box) -> str:
    """The symbol of a component about its middle, its outline included."""
    if box.role == "E" and box.kind in OTHERS:
        return (
            OTHERS[box.kind]
            .replace(ROUND_LEADS, "")
            .replace('r="14"', 'r="20"')
            .replace('font-size="13"', 'font-size="16"')
        )
    if box.role == "DC" and len(box.ports) == 1:
        return OTHERS.get(box.kind, _plain(box.kind[:6])).replace("V20", "")
    if box.role == "SB":
        return _body(box)
    if box.role == "signal":
        w, h = box.width, box.height
        inside = SIGNALS.get(box.kind) or letters(box.kind.replace("_", " ")[:9], 9.0)
        return f'<rect x="{-w / 2:g}" y="{-h / 2:g}" width="{w:g}" height="{h:g}" rx="2" class="face"/>{inside}'
    if box.role == "KN":
        return f'<circle r="20" class="face"/>{OTHERS.get(box.kind) or letters(box.kind[:5], 9.0)}'
    if box.kind in TWO_POLES and box.role == "part":
        return _turned(box, TWO_POLES[box.kind])
    if box.kind in OTHERS:
        return _leads(box) + _wide(box, OTHERS[box.kind])
    return _wide(box, _plain(box.kind.replace("_", " ")[:8]))


def _body(box: Box) -> str:
    w, h = box.width, box.height
    name = f'<text y="-1" font-size="11" font-weight="bold" text-anchor="middle">{escape(box.label)}</text>'
    words = f'<text y="12" font-size="9" text-anchor="middle" class="muted">{escape(box.value)}</text>'
    return f'<rect x="{-w / 2:g}" y="{-h / 2:g}" width="{w:g}" height="{h:g}" rx="3" class="body"/>{name}{words}'


def _turned(box: Box, symbol: str) -> str:
    """A two-pole along the line between its ports, its first one at the positive end."""
    first = next((port for port in box.ports.values() if port.name in ("plus", "a", "input", "shaft")), None)
    side = first.side if first is not None else "top"
    angle = {"top": 0, "bottom": 180, "left": -90, "right": 90}[side]
    words = symbol.replace("<text", f'<text transform="rotate({-angle})"') if angle else symbol
    found = f'<g transform="rotate({angle})">{words}</g>' if angle else symbol
    upright = side in ("top", "bottom")
    if upright and any(port.side == "left" for port in box.ports.values()):  # a housing
        found = f'<path d="M-20,0H-10"/>{found}'
    if not upright and any(port.side == "bottom" for port in box.ports.values()):
        found = f'<path d="M0,20V10"/>{found}'
    return found


def _leads(box: Box) -> str:
    """From the ports of a machine, which is round, to where it begins."""
    if not box.kind.endswith("motor"):
        return ""
    ends = {"left": "H0", "right": "H0", "top": "V0", "bottom": "V0"}
    lines = ""
    for port in box.ports.values():
        x, y = {"left": (-box.width / 2, port.offset), "right": (box.width / 2, port.offset)}.get(
            port.side, (port.offset, (-1 if port.side == "top" else 1) * box.height / 2)
        )
        dashed = ' stroke-dasharray="5 3.5" stroke-width="1.3" class="told"' if port.kind == INFORMATION else ""
        lines += f'<path d="M{x:g},{y:g}{ends[port.side or "top"]}"{dashed}/>'
    return lines


def _wide(box: Box, symbol: str) -> str:
    """A box that is larger than its symbol, for many ports."""
    w, h = box.width, box.height
    outline = f'x="{-w / 2:g}" y="{-h / 2:g}" width="{w:g}" height="{h:g}"'
    return symbol.replace('x="-20" y="-20" width="40" height="40"', outline)


def has_symbol(kind: str) -> bool:
    """Whether a kind is drawn by a symbol of its own."""
    return any(kind in known for known in (TWO_POLES, OTHERS, SIGNALS))
