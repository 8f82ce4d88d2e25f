"""The symbols that come with kinode, by name.

Electrical symbols follow IEC 60617, those of joints ISO 3952.  Two-poles have their leads at the top and the bottom,
the first port at the top.  Joints and constraints are kinematic nodes: circles.  The laws and the effects of a joint
(its motion, its stiffness) hang on its third link, at port ``1``.
"""

from __future__ import annotations

from collections.abc import Mapping

from kinode.model.base.symbols import (
    BOTTOM,
    TOP,
    Disc,
    GlyphFill,
    JointGlyph,
    Lettering,
    Outline,
    Point,
    Stroke,
    StrokeRole,
    Support,
    Symbol,
    centered,
)

FACE, MASS, INK = StrokeRole.FACE, StrokeRole.MASS, StrokeRole.INK
PLATE, THIN, DASHED = StrokeRole.PLATE, StrokeRole.THIN, StrokeRole.DASHED

POLES: Mapping[str, Point] = {"plus": TOP, "minus": BOTTOM}
ENDS: Mapping[str, Point] = {"a": TOP, "b": BOTTOM}
WHEELS: Mapping[str, Point] = {"input": TOP, "output": BOTTOM, "housing": (-20.0, 0.0)}
IN_JOINT: Mapping[str, Point] = {"joint": TOP, "1": TOP}  # what acts in one joint

ZIGZAG = "M0,-20V-13L7,-10.5L-7,-6L7,-1.5L-7,3L7,7.5L0,11"
DASHPOT = "M0,-20V-1M-7,-1H7M-10,-9V9H10V-9"
HATCH = "M-9,4L-4,-4M-2,4L3,-4M5,4L10,-4"
COIL = "a5.5,3.5 0 0 1 0,7 a5.5,3.5 0 0 1 0,7 a5.5,3.5 0 0 1 0,7 a5.5,3.5 0 0 1 0,7"
COIL_UP = COIL.replace("0,7", "0,-7")
LINK_BODY = "M-9,-6H9V6H-9Z"

# Marks of joints in a picture of the mechanism, about one unit wide.
SQUARE = Stroke("M-0.5,-0.5H0.5V0.5H-0.5Z")
DIAMOND = Stroke("M0,-0.70711L0.70711,0L0,0.70711L-0.70711,0Z")
CROSS = Stroke("M-0.16667,-0.5H0.16667V-0.16667H0.5V0.16667H0.16667V0.5H-0.16667V0.16667H-0.5V-0.16667H-0.16667Z")
HEXAGON = Stroke("M0,-0.5L-0.43301,-0.25V0.25L0,0.5L0.43301,0.25V-0.25Z")


def _strokes(*paths: str) -> tuple[Stroke, ...]:
    return tuple(Stroke(path) for path in paths)


def _letter_source(letter: str) -> Symbol:
    """A source between two ends: a letter in a circle."""
    shapes = (Stroke("M0,-20V-14M0,14V20"), Disc(14.0, role=FACE))
    return Symbol(shapes, (centered(letter, slanted=True),), ENDS, source=True)


def _gears(*mark: Stroke) -> Symbol:
    wheels = (Disc(7.0, y=-9.0, role=FACE), Disc(10.0, y=8.0, role=FACE))
    return Symbol((Stroke("M0,-20V-16M0,18V20"), *wheels, *mark), anchors=WHEELS)


def _machine(text: str) -> Symbol:
    return Symbol(texts=(centered("M", 15.0, y=-2.0), centered(text, 9.0, y=9.0)), outline=Outline.MACHINE)


def _node(*shapes: Stroke | Disc, glyph: JointGlyph | None = None) -> Symbol:
    return Symbol(shapes, outline=Outline.CIRCLE, glyph=glyph)


def _applied(letter: str) -> Symbol:
    """What acts on a body or in a joint from outside: a letter in the circle of a source."""
    return Symbol(texts=(Lettering(letter, 16.0, 0.0, 4.68, True),), outline=Outline.CIRCLE, source=True)


def _block(*shapes: Stroke | Disc, text: Lettering | None = None) -> Symbol:
    """A signal block."""
    return Symbol(shapes, (text,) if text is not None else (), outline=Outline.BOX, size=(60.0, 40.0))


ELECTRICAL = {
    "resistor": Symbol((Stroke("M0,-20V-12M0,12V20"), Stroke("M-6,-12H6V12H-6Z", FACE)), anchors=POLES),
    "inductor": Symbol(_strokes(f"M0,-20V-14{COIL}V20"), anchors=POLES),
    "capacitor": Symbol((Stroke("M0,-20V-4M0,4V20"), Stroke("M-11,-4H11M-11,4H11", PLATE)), anchors=POLES),
    "voltage_source": Symbol(
        (Disc(14.0, role=FACE), Stroke("M0,-20V-14M0,14V20M-4,-6H4M0,-10V-2M-4,7H4")), anchors=POLES, source=True
    ),
    "current_source": Symbol(
        (Disc(14.0, role=FACE), Stroke("M0,-20V-14M0,14V20M0,9V-8M-4,-3L0,-8L4,-3")), anchors=POLES, source=True
    ),
    "battery": Symbol(
        (*_strokes("M0,-20V-4M0,4V20M7,-12H13M10,-15V-9", "M-12,-4H12"), Stroke("M-6,4H6", PLATE)),
        anchors=POLES,
        source=True,
    ),
    "diode": Symbol(_strokes("M0,-20V-7M0,7V20M-8,7H8M-8,-7H8L0,7Z"), anchors=POLES),
    "switch": Symbol((Stroke("M0,-20V-9M0,9V20M0,9L8,-8"), Disc(1.6, y=-9.0, role=INK)), anchors=POLES),
    "transformer": Symbol(
        (*_strokes(f"M-6,-14{COIL}", f"M6,14{COIL_UP}"), Stroke("M0,-14V14", THIN)), outline=Outline.BOX
    ),
    "coupled_inductors": Symbol(_strokes(f"M-6,-14{COIL}", f"M6,14{COIL_UP}"), outline=Outline.BOX),
    "bridge": Symbol(_strokes("M-12,6V-6H-5V6H2V-6H9V6H13"), outline=Outline.BOX),
    "dc_motor": _machine("="),
    "brushless_motor": _machine("3~"),
    "inverter_motor": _machine("=/3~"),
}

MECHANICAL = {
    "spring": Symbol(_strokes(f"{ZIGZAG}V20"), anchors=ENDS),
    "damper": Symbol(_strokes(f"{DASHPOT}M0,9V20"), anchors=ENDS),
    "smooth_friction": Symbol(_strokes(f"M0,-20V-4M-11,-4H11M-11,4H11M0,4V20{HATCH}"), anchors=ENDS),
    "stick_slip_friction": Symbol(
        _strokes(f"M0,-20V-4M-11,-4H11M-11,4H11M0,4V20{HATCH}", "M-11,-4V4M11,-4V4"), anchors=ENDS
    ),
    "speed_source": _letter_source("ω"),
    "angle_source": _letter_source("φ"),
    "moment_source": _letter_source("M"),
    "velocity_source": _letter_source("v"),
    "position_source": _letter_source("s"),
    "force_source": _letter_source("F"),
    "gearbox": _gears(),
    "elastic_gearbox": _gears(Stroke("M-4,8l2,-4l2,8l2,-8l2,4", THIN)),
    "backlash_gear": _gears(Stroke("M-6,-1l4,0M2,-1l4,0", PLATE)),
    "worm_gear": _gears(Stroke("M-6,6l3,-5M-2,6l3,-5M2,6l3,-5", THIN)),
    "frame_link": Symbol(
        _strokes("M0,-20V-6M0,6V20M-4,-12L0,-6L4,-12", LINK_BODY), anchors={"on": TOP, "node": BOTTOM}
    ),
    "turn_link": Symbol(
        _strokes("M0,-20V-6M0,6V20M-6,-15A7,7 0 0 0 6,-13", LINK_BODY), anchors={"on": TOP, "node": BOTTOM}
    ),
    "lever": Symbol(_strokes("M0,-20V-8L0,8V20M-14,-8L14,8M-4,8L0,0L4,8Z"), anchors=ENDS),
    "pinion": Symbol(
        (Stroke("M0,-20V-10M-14,12H14M0,12V20M-10,12v-3M-4,12v-3M2,12v-3M8,12v-3"), Disc(9.0, role=FACE)),
        anchors={"shaft": TOP, "rack": BOTTOM},
    ),
    "shaft_inertia": Symbol((Stroke("M0,-20V-8"), Stroke("M-14,-8H14V6H-14Z", MASS)), anchors={"shaft": TOP}),
    "slide_mass": Symbol((Stroke("M0,-20V-10"), Stroke("M-12,-10H12V10H-12Z", MASS)), anchors={"slide": TOP}),
    "clutch": Symbol(_strokes("M0,-20V-4M-10,-4H10M-10,3H10M0,3V20"), anchors={"first": TOP, "second": BOTTOM}),
    "brake": Symbol(
        (Stroke("M0,-20V-10M-11,10H11M-11,10l-3,5M-4,10l-3,5M3,10l-3,5M10,10l-3,5"), Disc(9.0, role=FACE)),
        anchors=IN_JOINT,
    ),
    # effects in a joint
    "stiffness": Symbol(_strokes(ZIGZAG), anchors=IN_JOINT),
    "damping": Symbol(_strokes(DASHPOT), anchors=IN_JOINT),
    "friction": Symbol(_strokes(f"M0,-20V-4M-11,-4H11M-11,4H11{HATCH}"), anchors=IN_JOINT),
    "stop": Symbol(_strokes("M0,-20V-5M-8,-5H8M-8,5H8M-8,5l-3,4M-2,5l-3,4M4,5l-3,4"), anchors=IN_JOINT),
    "backlash": Symbol(_strokes("M0,-20V-8H-7V-3M-7,-3H-1M7,3H1M-7,3V8H7V-3"), anchors=IN_JOINT),
}

NODES = {
    "revolute": _node(
        Disc(6.0),
        glyph=JointGlyph(),
    ),
    "prismatic": _node(
        *_strokes("M-7,-4H7V4H-7Z", "M-13,-4V4M13,-4V4M-13,0H-7M7,0H13"),
        glyph=JointGlyph(SQUARE, 6.0, guided=True, support=Support.PLATE),
    ),
    "cylindrical": _node(
        *_strokes("M-7,-4H7V4H-7Z", "M-13,0H-7M7,0H13M-3,-9a6,4 0 1 1 6,0"),
        glyph=JointGlyph(SQUARE, 6.5, GlyphFill.LIGHT, guided=True),
    ),
    "screw": _node(
        *_strokes("M-8,-5H8V5H-8Z", "M-13,0H13M-6,5L-2,-5M-1,5L3,-5M4,5L8,-5"),
        glyph=JointGlyph(DIAMOND, 5.5),
    ),
    "universal": _node(
        *_strokes("M-9,0H9M0,-9V9M-9,-4V4M9,-4V4M-4,-9H4M-4,9H4"),
        glyph=JointGlyph(CROSS, 8.0),
    ),
    "spherical": _node(
        Disc(5.0, role=INK),
        Stroke("M-7,-6a9,9 0 1 0 14,0"),
        glyph=JointGlyph(Disc(0.5), 8.0, GlyphFill.DARK),
    ),
    "planar": _node(
        *_strokes("M-12,5L-5,-7H12L5,5ZM-12,9H5"),
        glyph=JointGlyph(HEXAGON, 7.0, support=Support.PLATE),
    ),
    "free": _node(
        Disc(9.0, role=DASHED),
        glyph=JointGlyph(None),
    ),
    "fixed": _node(
        *_strokes("M-8,-8L8,8M-8,8L8,-8"),
        glyph=JointGlyph(SQUARE, 3.2, GlyphFill.INK, support=Support.PLATE),
    ),
    "gear": _node(Disc(5.0, x=-5.0), Disc(7.0, x=7.0)),
    "rack": _node(Disc(7.0, y=-4.0), Stroke("M-12,4H12M-8,4v3M-2,4v3M4,4v3M10,4v3")),
    "distance": _node(Stroke("M-9,5L9,-5"), Disc(2.0, -9.0, 5.0, INK), Disc(2.5, 9.0, -5.0)),
    "point_on_line": _node(Stroke("M-12,6L12,-6"), Disc(3.5, role=INK)),
    "point_on_plane": _node(Stroke("M-12,6L-5,-5H12L5,6Z"), Disc(3.0, role=INK)),
    "rolling": _node(Disc(8.0, y=-2.0), Stroke("M-13,6H13")),
    "knife_edge": _node(Stroke("M-12,7H12M0,7L-4,-9H4Z")),
    "angle": _node(Stroke("M-9,8H10M-9,8L6,-8M2,8a11,11 0 0 0 -4,-8")),
}

APPLIED = {
    "force": _applied("F"),
    "moment": _applied("M"),
    "effort": _applied("Q"),
    "thrust": _applied("T"),
    "aerodynamics": _applied("A"),
    "gravity": _applied("g"),
    "earth_rotation": _applied("Ω"),
    # prescribed motion of a joint: by what is prescribed, and whether the joint turns, slides or does both
    "position_turn": _applied("φ"),
    "position_slide": _applied("s"),
    "position_both": _applied("q"),
    "velocity_turn": _applied("ω"),
    "velocity_slide": _applied("v"),
    "velocity_both": _applied("u"),
}

SIGNALS = {
    "pid": _block(text=centered("PID")),
    "sampled_pid": _block(Stroke("M-12,14V8H-5V14H2V8H9V14H13"), text=centered("PID", y=-4.0)),
    "filter": _block(Stroke("M-16,-8H-2C4,-8 6,8 16,8")),
    "integrator": _block(text=centered("∫", 18.0)),
    "saturation": _block(Stroke("M-16,8H-7L7,-8H16"), Stroke("M-18,0H18M0,-13V13", THIN)),
    "dead_zone": _block(Stroke("M-16,10L-6,0H6L16,-10"), Stroke("M-18,0H18M0,-13V13", THIN)),
    "relay": _block(Stroke("M-16,8H6V-8H16M-6,8V-8H6")),
    "rate_limit": _block(Stroke("M-14,9H-8L6,-9H14")),
    "sensor": _block(Disc(10.0), Stroke("M0,6L6,-5")),
    "transfer_function": _block(text=centered("G(s)", slanted=True)),
    "sampled_transfer_function": _block(text=centered("G(z)", slanted=True)),
    "state_space": _block(text=centered("A, B, C", 11.0, slanted=True)),
    "sample_hold": _block(Stroke("M-15,9V4H-7V-2H1V-8H9V-3H15")),
    "controller": _block(text=centered("u[k]", slanted=True)),
    "input": _block(text=centered("→", 18.0)),
    "signal": Symbol(texts=(centered("f(t)", slanted=True),), outline=Outline.BOX, size=(60.0, 40.0), source=True),
}

BLANK = {  # the name of the kind is written in them
    "box": Symbol(outline=Outline.BOX),
    "block": Symbol(outline=Outline.BOX, size=(60.0, 40.0)),
    "node": Symbol(outline=Outline.CIRCLE),
    "body": Symbol(outline=Outline.BODY, size=(60.0, 40.0)),
}

HOUSE_SYMBOLS: Mapping[str, Symbol] = {**BLANK, **ELECTRICAL, **MECHANICAL, **NODES, **APPLIED, **SIGNALS}
