"""The vector scheme: every body and joint is in it, words cover neither each other nor leave the paper."""

import itertools

import pytest

import kinode as kn
from kinode.views.mechanism.vector_scheme import Scheme, draw_scheme

MODELS = ("ship_gimbal", "walker", "excavator", "four_bar", "stewart_platform")


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
            rotor = system.body(f"rotor_{name}", mass=0.5, inertia=(1e-3, 1e-3, 1e-3))
            system.revolute(f"shaft_{name}", below.at(0, 0.3, 0.5), rotor, axis=axis)
            ratio = (120, -100, 80)[k - 3]
            system.constraint(f"gear_{name}", "gear", input=f"shaft_{name}", output=f"joint_{name}", ratio=ratio)
        below = body
    system.fixed("bolts", below, system.body("lamp", mass=0.2, inertia=(1e-3, 1e-3, 1e-3)))
    return system


def words_of(figure):
    """All texts with their boxes on the paper, in pixels, as they are drawn."""
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    (axes,) = figure.axes
    found = []
    for text in axes.texts:
        text.set_bbox(None)  # the white ground reaches beyond the letters
        found.append((text.get_text(), text.get_window_extent(renderer)))
    return found


def check(system):
    figure = draw_scheme(system, shown=False)
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    FigureCanvasAgg(figure)
    words = words_of(figure)
    texts = [text for text, _ in words]
    for name in system.bodies:
        assert name in texts, name
    width, height = figure.get_size_inches() * figure.dpi
    for text, box in words:
        assert 0 <= box.x0 and box.x1 <= width and 0 <= box.y0 and box.y1 <= height, text
    for (one, a), (two, b) in itertools.combinations(words, 2):
        apart = a.x1 <= b.x0 or b.x1 <= a.x0 or a.y1 <= b.y0 or b.y1 <= a.y0
        assert apart, (one, two)
    return texts


def test_six_tiers_with_drive_units():
    system = gimbal()
    texts = check(system)
    for name in system.joints:  # the shaft of a drive unit goes by the name of its rotor
        assert (name in texts) == (not name.startswith("shaft")), name
    assert {"\u00d7 120", "\u00d7 -100", "\u00d7 80"} <= set(texts)
    assert texts.count("prescribed") == 3
    assert texts.count("\u03c9") == 6
    scheme = Scheme(system)
    heights = {cell.body: cell.y for cell in scheme.cells}
    tiers = [heights[f"tier_{name}"] for name in "KTRGVC"]
    assert tiers == sorted(tiers) and len(set(tiers)) == 6


@pytest.mark.parametrize("name", MODELS)
def test_examples(name):
    system = kn.load(f"examples/{name}.yaml")
    texts = check(system)
    for joint in kn.compile(system).topology.cut_names:
        assert joint in texts


def test_it_is_kept_as_svg(tmp_path):
    file = tmp_path / "scheme.svg"
    draw_scheme(gimbal(), file=file)
    text = file.read_text(encoding="utf-8")
    assert text.count("tier_G") >= 1 and "</svg>" in text
