"""The vector scheme: every body, joint and vector is in it; labels cross no line, no other label, and stay on paper."""

import math
from pathlib import Path

import numpy as np
import pytest
from example_choice import examples_for
from PIL import Image

import kinode as kn
from kinode.views.mechanism.paper_sketch import crossing
from kinode.views.mechanism.scheme_tiers import SchemeTiers, drive_table, tier_table
from kinode.views.mechanism.vector_scheme import Scheme, draw_scheme
from kinode.views.style import style


def gimbal():
    """Six tiers on one pole or on others, three of them with drive units, and a body that is welded on."""
    system = kn.System("gimbal", gravity=(0, 0, -9.81))
    below = system.world
    for k, (name, axis) in enumerate(zip("KTRGVC", "xzyzyx", strict=True)):
        body = system.body(f"tier_{name}", mass=float(k > 1), com=(0.1, 0, 0.01 * k), inertia=(0.1, 0.1, 0.1))
        fields = {"motion": f"0.1*sin({k + 1}*t)"} if k < 3 else {"damping": 1.0}
        frame = below.at(0.5, 0, 1.0) if k >= 3 else below
        system.revolute(f"joint_{name}", frame, body, axis=axis, **fields)
        if k >= 3:
            com = (0, 0, 0.1) if k > 3 else (0, 0, 0)
            rotor = system.body(f"rotor_{name}", mass=0.5, com=com, inertia=(1e-3, 1e-3, 1e-3))
            system.revolute(f"shaft_{name}", below.at(0, 0.3, 0.5), rotor, axis=axis)
            ratio = (120, -100, 80)[k - 3]
            system.constraint(f"gear_{name}", "gear", input=f"shaft_{name}", output=f"joint_{name}", ratio=ratio)
        below = body
    system.fixed("bolts", below, system.body("lamp", mass=0.2, inertia=(1e-3, 1e-3, 1e-3)))
    return system


def bush(seed, count=14):
    """A random tree with joints of all freedoms."""
    rng = np.random.default_rng(seed)
    system = kn.System("bush", gravity=(0, 0, -9.81))
    bodies = [system.world]
    kinds = ("revolute", "prismatic", "cylindrical", "universal", "spherical", "planar", "free", "fixed")
    for k in range(count):
        body = system.body(f"body_{k}", mass=float(rng.integers(2)), com=(0.1, 0, 0), inertia=(0.1, 0.1, 0.1))
        below = bodies[rng.integers(len(bodies))]
        rpy = tuple(rng.uniform(-1, 1, 3))
        getattr(system, kinds[rng.integers(len(kinds))])(f"joint_{k}", below.at(0.3, 0, 0.1, rpy=rpy), body)
        bodies.append(body)
    return system


def boxes_of(figure, scheme):
    """All lines of text with their boxes on the paper, in pixels."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    renderer = FigureCanvasAgg(figure).get_renderer()
    (axes,) = figure.axes
    pieces = iter(axes.texts)
    for letters in scheme.sketch.letters:
        own = [next(pieces).get_window_extent(renderer) for _ in letters.line]
        box = min(b.x0 for b in own), min(b.y0 for b in own), max(b.x1 for b in own), max(b.y1 for b in own)
        yield "".join(run.text for run in letters.line), box


def segments_of(figure):
    """All straight pieces of all lines and outlines, in pixels: x, y, x, y."""
    (axes,) = figure.axes
    shapes = [
        collection.get_transform().transform(path.vertices)
        for collection in axes.collections
        for path in collection.get_paths()
    ]
    return np.vstack([np.hstack([points[:-1], points[1:]]) for points in shapes])


def check(system):
    """Look at all boxes and lines; returns all lines of text, letters joined with their indices."""
    scheme = Scheme(system)
    assert not scheme.sketch.unplaced
    with style():
        figure = scheme.figure()
    figure.set_dpi(288)  # widths of letters are rounded to pixels
    words, boxes = zip(*boxes_of(figure, scheme), strict=True)
    segments, (width, height) = segments_of(figure), figure.get_size_inches() * figure.dpi
    for text, (x0, y0, x1, y1) in zip(words, boxes, strict=True):
        assert x0 >= 0 and x1 <= width and y0 >= 0 and y1 <= height, text
        across = crossing(segments, x0, y0, x1, y1)
        assert not across.any(), (text, segments[across])
    low, high = np.array(boxes)[:, :2], np.array(boxes)[:, 2:]
    covers = (low[:, None] < high[None]).all(axis=2) & (low[None] < high[:, None]).all(axis=2)
    np.fill_diagonal(covers, False)
    assert not covers.any(), [(words[i], words[j]) for i, j in zip(*np.nonzero(covers), strict=True)]
    shown = "\n".join(words)
    for name in system.bodies:
        assert name in shown, name
    return words


def test_six_tiers_with_drive_units():
    words = check(gimbal())
    k = range(1, 7)
    for letter in ("R", "\u03c9", "\u03b3", "M"):
        assert [f"{letter}{i}" for i in k if f"{letter}{i}" in words] == [f"{letter}{i}" for i in k], letter
    assert {f"RC{i}" for i in range(3, 8)} <= set(words) and not {"RC1", "RC2"} & set(words)  # two have no mass
    for letter in ("RD", "MD", "ωD"):
        assert {f"{letter}{i}" for i in (4, 5, 6)} <= set(words)
    assert {"RCD5", "RCD6"} <= set(words) and "RCD4" not in words  # its center is on its pole
    assert {f"{axis}{i}" for axis in "xyz" for i in range(1, 8)} <= set(words)
    assert {"\u00d7 120", "\u00d7 \u2212100", "\u00d7 80"} <= set(words)
    heights = [cell.at[1] for cell in Scheme(gimbal()).cells]
    assert heights == sorted(heights) and len(set(heights)) == 7


def test_tables_say_what_stands_at_each_number():
    scheme = SchemeTiers(gimbal())
    _, rows = tier_table(scheme)
    assert [row[:2] for row in rows][2:4] == [("3", "tier_R"), ("4", "tier_G")]
    assert rows[3][2:] == ("1", "3", "joint_G: revolute about z, damper", "(0.5, 0, 1)", "(0.1, 0, 0.03)")
    assert rows[0][2:] == ("", "world", "joint_K: revolute about x, prescribed", "0", "")
    _, drives = drive_table(scheme)
    own = ("5", "rotor_V", "0.5", "joint_V", "\u00d7 \u2212100", "(0, 0.3, 0.5)", "(0, 0, 0.1)")
    assert drives[1] == own


@pytest.mark.parametrize("name", [path.stem for path in examples_for(fields=False)])
def test_examples(name):
    system = kn.load(f"examples/{name}.yaml")
    words = check(system)
    for joint in kn.compile(system).topology.cut_names:
        assert joint in words


@pytest.mark.parametrize("seed", range(4))
def test_random_trees(seed):
    check(bush(seed))


def test_axes_point_as_they_do_at_the_start():
    """A body turned by 90 degrees about z has its x axis along the y axis of the world."""
    system = kn.System("turned")
    body = system.body("plate", mass=1.0, inertia=(1, 1, 1))
    system.revolute("pin", system.world, body, axis="z", q=math.pi / 2)
    (tier,) = SchemeTiers(system).tiers
    assert tier.axes[:, 0] == pytest.approx([0, 1, 0])


@pytest.mark.parametrize("central", [False, True])
def test_the_center_of_the_earth(central):
    """O with its turning, and the radius vector from there to the world."""
    system = kn.System("tower", gravity=(0, 0, 0 if central else -9.81))
    system.free("fall", system.world, system.body("ball", mass=1.0, inertia=(1, 1, 1)))
    at = system.world.at(0, 0, -6.4e6)
    if central:
        system.central_gravity("pull", center=at)
    else:
        system.earth_rotation("earth", latitude="30 deg", through=at)
    words = check(system)
    assert "RO" in words and ("ωO" in words) != central
    _, rows = tier_table(SchemeTiers(system))
    assert rows[0][0] == "O" and rows[0][5] == "(0, 0, 6.4e+06)"
    assert rows[0][4] == ("center of gravity" if central else "turns at 7.292e\u22125 rad/s about (0.866, 0, 0.5)")


def test_the_picture_of_the_page_is_of_this_scheme(tmp_path, monkeypatch):
    """``docs/make_pictures.py`` makes it; what is stored is what it makes now."""
    monkeypatch.syspath_prepend("docs")
    import make_pictures

    stored = Path(make_pictures.PICTURES / "scheme.png")
    monkeypatch.setattr(make_pictures, "PICTURES", tmp_path)
    images = [np.asarray(Image.open(path).convert("L"), dtype=float) for path in (stored, make_pictures.make_scheme())]
    assert images[0].shape == images[1].shape
    assert np.abs(images[0] - images[1]).mean() < 0.5  # letters may differ by a pixel between versions of matplotlib


def test_it_is_kept_as_svg(tmp_path):
    file = tmp_path / "scheme.svg"
    draw_scheme(gimbal(), file=file)
    text = file.read_text(encoding="utf-8")
    assert text.count("tier_G") >= 1 and "</svg>" in text
