"""Pictures of mechanisms: that everything is in them, and seen from where it should be."""

import numpy as np
import pytest

import kinode as kn
from kinode.model.base.symbols import Disc
from kinode.model.joints.joint import JOINTS
from kinode.views.mechanism.camera import box_patches, find_camera, hull
from kinode.views.mechanism.drawn_scene import find_scene
from kinode.views.mechanism.mechanism_drawing import draw
from kinode.views.mechanism.mechanism_symbols import glyph_of, metric, round_length


def words(figure):
    return {text.get_text() for text in figure.axes[0].texts}


def test_names_scale_and_axes_are_there(arm_run, tmp_path):
    figure = draw(arm_run, file=tmp_path / "arm.svg")
    assert {"shoulder", "elbow", "upper", "lower", "x", "y"} <= words(figure)
    assert "z" not in words(figure), "a planar mechanism is seen along its axis"
    assert "<svg" in (tmp_path / "arm.svg").read_text()


def test_every_shape_can_be_drawn(crane_run, tmp_path):
    figure = draw(crane_run, file=tmp_path / "crane.png")
    assert {"base", "boom", "jib", "ball", "stray", "x", "y", "z"} <= words(figure)


def test_everything_is_inside_the_picture(crane_run, tmp_path):
    axes = draw(crane_run, file=tmp_path / "crane.png").axes[0]
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    for line in axes.get_lines():
        x, y = line.get_data()
        assert left <= np.min(x) and np.max(x) <= right and low <= np.min(y) and np.max(y) <= high


@pytest.mark.parametrize("view", ["side", "front", "top", "isometric", (1, 0, 0)])
def test_views(arm_run, tmp_path, view):
    draw(arm_run, view=view, file=tmp_path / "a.png", ghosts=0, paths=False)


def test_an_unknown_view_is_told(arm_run, tmp_path):
    with pytest.raises(kn.Error, match="isometric"):
        draw(arm_run, view="behind", file=tmp_path / "a.png")


def test_up_is_against_gravity():
    for gravity in ((0, 0, -9.81), (0, -9.81, 0), (9.81, 0, 0)):
        camera = find_camera(kn.System("s", gravity=gravity))
        seen = camera.see(gravity)
        assert seen[1] < 0 and abs(seen[0]) < 1e-12
        np.testing.assert_allclose(camera.axes @ camera.axes.T, np.eye(3), atol=1e-12)
        assert np.linalg.det(camera.axes) == pytest.approx(1.0)


def test_a_box_shows_three_faces_at_the_most():
    camera = find_camera(kn.System("s"))
    assert len(box_patches(camera, np.eye(3), np.zeros(3), np.ones(3))) == 3


def test_small_parts():
    assert len(hull(np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0.5, 0.5]]))) == 4
    assert (round_length(0.7), round_length(3.0)) == (0.5, 2.0)
    assert (metric(0.05), metric(0.5), metric(2000)) == ("50 mm", "0.5 m", "2 km")


def test_parameters_of_the_run_are_used(arm_run, tmp_path):
    longer = kn.simulate(arm_run.system, 0.1, parameters={"L": 2.0})
    axes = draw(longer, file=tmp_path / "a.png").axes[0]
    assert axes.get_xlim()[1] > 2.0


def test_seen_from_a_body_it_stands_still(crane_run):
    rows = range(len(crane_run.t))
    fixed, moving = find_scene(crane_run, rows, "boom"), find_scene(crane_run, rows)
    np.testing.assert_allclose(fixed.p["boom"], 0.0, atol=1e-15)
    np.testing.assert_allclose(fixed.R["boom"] - np.eye(3), 0.0, atol=1e-12)
    for scene in (fixed, moving):  # distances are the same from everywhere
        gaps = np.linalg.norm(scene.p["stray"] - scene.p["world"], axis=1)
        np.testing.assert_allclose(gaps, np.linalg.norm(crane_run["stray.position"], axis=1), rtol=1e-12)


@pytest.mark.parametrize("kind", [kind for kind in JOINTS if kind != "free"])
def test_a_joint_is_drawn_by_the_mark_of_its_symbol(kind, tmp_path):
    system = kn.System("one")
    fields = {"lead": 0.1} if kind == "screw" else {}
    system.joint("j", kind, system.world, system.body("b", mass=1, com=(0.1, 0, 0), inertia=(1, 1, 1)), **fields)
    axes = draw(kn.simulate(system, 0.01), file=tmp_path / "one.svg", names=False, view="front").axes[0]
    glyph = glyph_of(system["j"])
    scale = axes.get_figure().get_size_inches()[0] * 72 / np.diff(axes.get_xlim())[0]
    marks = [x for x in (*axes.patches, *axes.lines) if x.get_zorder() == 6.5]
    assert len(marks) == 1
    if isinstance(glyph.mark, Disc):
        assert marks[0].get_markersize() == 2 * glyph.mark.radius * glyph.size
    else:
        drawn = marks[0].get_xy() * scale / glyph.size
        (outline,) = glyph.mark.polylines()
        assert np.ptp(drawn, axis=0) == pytest.approx(np.ptp(np.array(outline), axis=0), rel=1e-3)


def test_a_joint_without_a_mark_is_not_drawn(tmp_path):
    system = kn.System("stray")
    system.joint("j", "free", system.world, system.body("b", mass=1, inertia=(1, 1, 1)))
    axes = draw(kn.simulate(system, 0.01), file=tmp_path / "one.svg").axes[0]
    assert glyph_of(system["j"]).mark is None
    assert not [x for x in (*axes.patches, *axes.lines) if x.get_zorder() == 6.5]


def test_axes_of_frames_are_drawn(arm_run, tmp_path):
    plain, shown = (draw(arm_run, file=tmp_path / "a.png", frames=frames) for frames in ((), ("lower", "upper.com")))
    assert {"x lower", "y lower", "x upper.com"} <= words(shown) - words(plain)
    assert "z lower" not in words(shown), "an axis that is seen end on has no arrow"
    axes = shown.axes[0]
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    tips = [text.xy for text in axes.texts if getattr(text, "xy", None) is not None and text.get_text() == ""]
    assert len(tips) >= 4
    assert all(left < x < right and low < y < high for x, y in tips)


def test_axes_that_coincide_share_a_label(tmp_path):
    system = kn.load("examples/asymmetric_shell.yaml")
    run = kn.simulate(system, 0.01, samples=2)
    figure = draw(run, frames=["aero", "shell"], seen_from="aero", file=tmp_path / "a.png", paths=False, ghosts=0)
    assert {"x aero, x shell", "y aero", "y shell"} <= words(figure)
    with pytest.raises(kn.Error, match="no body or frame is called 'areo'; did you mean aero"):
        draw(run, frames=["areo"], file=tmp_path / "a.png")
