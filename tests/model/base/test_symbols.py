"""Symbols are data: every path can be read, JSON keeps all of it, and a wrong symbol is refused in clear words."""

import json

import pytest

import kinode as kn
from kinode.model.base.house_symbols import HOUSE_SYMBOLS
from kinode.model.base.symbols import (
    Disc,
    GlyphFill,
    JointGlyph,
    Lettering,
    Outline,
    Stroke,
    StrokeRole,
    Symbol,
    find_symbol,
    parse_path,
)


@pytest.mark.parametrize("name", HOUSE_SYMBOLS)
def test_json_keeps_a_symbol(name):
    symbol = find_symbol(name)
    again = Symbol.from_dict(json.loads(json.dumps(symbol.to_dict())))
    assert again == symbol and hash(again) == hash(symbol)


@pytest.mark.parametrize("name", HOUSE_SYMBOLS)
def test_strokes_stay_in_the_box(name):
    """And every anchor without an outline is a point that a stroke begins or ends at."""
    symbol = find_symbol(name)
    ends = set()
    for shape in symbol.shapes:
        if isinstance(shape, Stroke):
            points = corners(shape)
            assert all(abs(x) <= symbol.size[0] / 2 and abs(y) <= symbol.size[1] / 2 for x, y in points)
            ends |= set(points)
        else:
            assert abs(shape.x) + shape.radius <= symbol.size[0] / 2
            assert abs(shape.y) + shape.radius <= symbol.size[1] / 2
    on_axis = {point for point in symbol.anchors.values() if point[0] == 0}  # a lead from the side ends on a face
    assert on_axis <= ends


def corners(stroke):
    """The points that a path goes through."""
    x = y = 0.0
    start, points = (0.0, 0.0), []
    for command, numbers in stroke.steps():
        base = (x, y) if command.islower() else (0.0, 0.0)
        match command.upper():
            case "H":
                x = base[0] + numbers[0]
            case "V":
                y = base[1] + numbers[0]
            case "Z":
                x, y = start
            case _:
                x, y = base[0] + numbers[-2], base[1] + numbers[-1]
        if command.upper() == "M":
            start = (x, y)
        points.append((x, y))
    return points


def test_paths_are_read_as_in_svg():
    assert parse_path("M0-20v.5") == (("M", (0, -20)), ("v", (0.5,)))
    assert parse_path("M 0,0 L1 2 3 4z") == (("M", (0, 0)), ("L", (1, 2)), ("L", (3, 4)), ("z", ()))
    assert [step.command for step in parse_path("M0,0a5.5,3.5 0 0 1 0,7")] == ["M", "a"]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("", "character 1: a path begins with M"),
        ("L0,0", "character 1: a path begins with M"),
        ("1,2M0,0", "character 1: a path begins with M"),
        ("M0,0L1", "character 5: L takes 2 numbers, not 1"),
        ("M0,0V", "character 5: V takes 1 number, not 0"),
        ("M0,0X3", "character 5: there is no command X"),
        ("M0,0;L1,1", "character 5: ';' is neither a command nor a number"),
        ("M0,0Z1", "character 5: Z takes no numbers"),
    ],
)
def test_a_wrong_path_is_refused(path, message):
    with pytest.raises(kn.ModelError) as caught:
        Stroke(path)
    assert str(caught.value) == f"path {path!r}, {message}"


def test_the_order_of_anchors_does_not_matter():
    one, other = Symbol(anchors={"a": (0, -20), "b": (0, 20)}), Symbol(anchors={"b": (0, 20), "a": (0, -20)})
    assert one == other and len({one, other}) == 1


def test_other_wrong_symbols_are_refused():
    with pytest.raises(kn.ModelError, match=r"anchor plus at \(0, -30\) is outside the box"):
        Symbol(anchors={"plus": (0, -30)})
    with pytest.raises(kn.ModelError, match="radius -1"):
        Disc(-1)
    with pytest.raises(kn.ModelError, match="lettering ''"):
        Lettering("")
    with pytest.raises(kn.ModelError, match="a width and a height"):
        Symbol(size=(0, 40))
    with pytest.raises(kn.ModelError, match="no symbol"):
        Symbol.from_dict({"shapes": [{"role": "line"}]})
    with pytest.raises(kn.ModelError, match=r"no symbol is called 'resistr'; did you mean resistor\?"):
        find_symbol("resistr")


def test_two_poles_lie_between_their_ports():
    resistor = find_symbol("resistor")
    assert resistor.is_two_pole and resistor.first_port == "plus"
    assert not find_symbol("transformer").is_two_pole
    assert not find_symbol("shaft_inertia").is_two_pole


def test_the_name_of_a_kind_is_in_a_blank_symbol_alone():
    assert [text.text for text in find_symbol("box").with_name("rubber_mount").texts] == ["rubber m"]
    assert [text.text for text in find_symbol("node").with_name("coupler").texts] == ["coupl"]
    assert find_symbol("resistor").with_name("heater") is find_symbol("resistor")
    own = Symbol(shapes=(Stroke("M0,0H5", StrokeRole.PLATE),), outline=Outline.BOX)
    assert find_symbol(own) is own and own.with_name("x") is own


def test_straight_paths_are_lines_of_points():
    assert Stroke("M1,2h3v-1zm5,0l1,1").polylines() == (((1, 2), (4, 2), (4, 1), (1, 2)), ((6, 2), (7, 3)))
    with pytest.raises(kn.ModelError, match="straight lines is expected, without a"):
        Stroke("M0,0a1,1 0 0 1 2,2").polylines()


def test_a_wrong_glyph_is_refused():
    with pytest.raises(kn.ModelError, match="one closed line"):
        JointGlyph(Stroke("M0,0L1,1"))
    with pytest.raises(kn.ModelError, match="one closed line"):
        JointGlyph(Stroke("M0,0H1V1ZM2,2H3V3Z"))
    with pytest.raises(kn.ModelError, match="size 0"):
        JointGlyph(size=0)
    with pytest.raises(kn.ModelError, match="no symbol"):
        Symbol.from_dict({"glyph": {"mark": None}})
    own = JointGlyph(Stroke("M-1,-1H1V1H-1Z"), 4.0, GlyphFill.LIGHT, guided=True)
    assert JointGlyph.from_dict(json.loads(json.dumps(own.to_dict()))) == own
