"""The flow chart of the algorithm: the eleven steps, what they came to, and a drawing whose words cross nothing."""

import re

import numpy as np
import pytest

import kinode as kn
from kinode.hooks import hook
from kinode.views.mechanism.flow_chart import ChartShape, FlowChart, draw_chart
from kinode.views.mechanism.paper_sketch import LINE_HEIGHT, crossing, line_width


@pytest.fixture(scope="module")
def mast():
    """A mast on a deck that heels and heaves; a motor on the deck turns the lamp on it."""
    system = kn.System("mast", gravity=(0, 0, -9.81))
    deck = system.body("deck", mass=1000.0, inertia=(900, 900, 900))
    lamp = system.body("lamp", mass=5.0, com=(0.1, 0, 0.2), inertia=(0.1, 0.1, 0.1))
    system.planar("waves", system.world, deck, axis="x", motion=(0.0, "0.4*sin(t)", "0.1*cos(t)"))
    system.revolute("azimuth", deck.at(0, 0, 3), lamp, axis="z", damping=0.5)
    rotor = system.body("rotor", mass=0.2, inertia=(1e-3, 1e-3, 1e-3))
    system.revolute("shaft", deck.at(0.1, 0, 2.8), rotor, axis="z", effort="0.1*cos(3*t)")
    system.constraint("gear", "gear", input="shaft", output="azimuth", ratio=-40)
    return kn.explain(system)


def notes(chart):
    return {step.title: list(step.notes) for step in chart.steps}


def test_a_tree_with_a_drive(mast):
    chart = FlowChart(mast)
    told = notes(chart)
    assert [step.number for step in chart.steps if step.number] == [*"12345", "5a", *"6789", "10", "11"]
    assert told["Take the system apart into rigid bodies"][0] == "3 bodies: 2 tiers, 1 rotor of drives"
    assert told["Draw the graphic-vector scheme"] == ["2 poles, 2 mass centers", "1 drive pole with rotor"]
    assert told["Fix the relative motion of each tier"][0] == "joints: 1 free, 1 prescribed, 1 geared"
    # Six equations for each of three bodies; a planar joint holds three directions, a hinge five.
    assert told["Eliminate the reactions"] == [
        "18 \u2212 13 reactions \u2212 4 along prescribed and geared motions",
        "= 1 equation",
    ]
    assert told["Add the equations of the drives"] == ["1 drive unit: \u00d7 \u221240", "laws along 2 joints"]
    assert told["Solve"][0] == "direct: 1 \u00d7 1 for the accelerations"
    assert told["Closed loops?"] == ["no: a tree"]
    check = " ".join(told["Check against other derivations"])
    apart = [float(x) for x in re.findall(r"\d\.\de[-+]\d+", check)]
    assert len(apart) >= 4 and max(apart) < 1e-9
    assert {"residual", "lagrange", "newton_euler", "circuit"} <= set(check.replace(",", " ").split())


def test_loops_are_closed():
    told = notes(FlowChart(kn.load("examples/four_bar.yaml")))
    assert told["Closed loops?"] == ["yes: top"]
    assert told["Close them: constraints and multipliers"][0].startswith("2 independent rows")
    assert told["Solve"][0] == "direct: 5 \u00d7 5 for the accelerations"
    assert told["Add the equations of the drives"] == ["not needed here"]


def test_the_earth_is_named():
    system = kn.System("tower")
    system.prismatic("fall", system.world, system.body("ball", mass=1.0, inertia=(1, 1, 1)), axis="z")
    system.earth_rotation("earth", latitude="30 deg")
    told = notes(FlowChart(system))
    assert told["Take the system apart into rigid bodies"][1].startswith("earth: the world turns at 7.292e")


@pytest.mark.parametrize("width", [80, 50])
def test_text(mast, width):
    text = FlowChart(mast).text(width)
    assert max(map(len, text.splitlines())) <= width
    assert "\n11. Check against other derivations\n" in text


@pytest.mark.parametrize("name", ["four_bar", "motor_axis", "spinning_top"])
def test_words_cross_no_way(name):
    """No line runs through words, but the outlines that words stand in."""
    sketch = FlowChart(kn.load(f"examples/{name}.yaml")).sketch()
    lines = [stroke.points for stroke in sketch.strokes if not stroke.face]
    segments = np.vstack([np.hstack([points[:-1], points[1:]]) for points in lines])
    boxes = [(*text.at, *(text.at + [line_width(text.line), LINE_HEIGHT])) for text in sketch.letters]
    for text, box in zip(sketch.letters, boxes, strict=True):
        assert not crossing(segments, *box).any(), text.line
    for k, a in enumerate(boxes):
        for b in boxes[:k]:
            assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] + 1e-9 or b[3] <= a[1] + 1e-9


def test_files(mast, tmp_path):
    file = tmp_path / "chart.svg"
    hook("draw_chart")(mast, file=file)
    text = file.read_text(encoding="utf-8")
    for step in FlowChart(mast).steps:
        if step.shape is ChartShape.STEP:
            assert step.title in text
    for ending, start in ((".png", b"\x89PNG"), (".pdf", b"%PDF")):
        draw_chart(mast, file=tmp_path / f"chart{ending}")
        assert (tmp_path / f"chart{ending}").read_bytes().startswith(start)


def test_an_explanation_draws_its_chart(mast, tmp_path):
    explanation = kn.explain(mast) if isinstance(mast, kn.System) else mast
    explanation.chart(tmp_path / "chart.svg")
    assert "Solve" in (tmp_path / "chart.svg").read_text()


def test_a_circuit_has_its_own_steps():
    explanation = kn.explain(kn.load("examples/rlc.yaml"))
    chart = FlowChart(explanation)
    assert [step.title for step in chart.steps[1:-1]] == [step.title for step in explanation.steps]
    told = notes(chart)
    assert told["Components"] == ["4 components"] and told["Reduced equations"] == ["2 formulas"]


def test_errors():
    with pytest.raises(kn.ArgumentError, match=r"flow chart: an Explanation or a System is expected, not 3"):
        FlowChart(3)
