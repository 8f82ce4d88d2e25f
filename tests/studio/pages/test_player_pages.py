"""Every example in the player: it is drawn, its points are where kinode says, all views show the clock's time."""

import numpy as np
import pytest
from page_patience import look
from player_pages import EXAMPLES, PLAYER, SCRIPTS

PARTS = """(t) => {
  const { stage, clock, main } = globalThis.kinodePlayer;
  clock.pause();
  clock.seek(t);
  stage.renderNow(t);
  const { rig, drawing, canvas } = stage.view;
  const camera = rig.camera;
  const joints = main.header.joints.map((joint) => {
    const point = drawing.poses.place(joint.child);
    return { name: joint.name, point, seen: stage.projectPoint(point) };
  });
  const bodies = main.header.bodies.map(({ name, com }, k) => {
    return { name, seen: stage.projectPoint(drawing.poses.point(k, com)) };
  });
  return {
    joints, bodies, projection: camera.projectionMatrix.elements, look: camera.matrixWorldInverse.elements,
    width: canvas.clientWidth, height: canvas.clientHeight, size: main.header.size,
  };
}"""
DRAWN = """() => {
  const { stage, clock } = globalThis.kinodePlayer;
  stage.renderNow(clock.t);
  const { canvas } = stage;
  const copy = document.createElement("canvas");
  [copy.width, copy.height] = [canvas.width, canvas.height];
  const pen = copy.getContext("2d");
  pen.drawImage(canvas, 0, 0);
  const { data } = pen.getImageData(0, 0, copy.width, copy.height);
  let colored = 0;
  const colors = new Set();
  for (let k = 0; k < data.length; k += 4) {
    const [r, g, b] = [data[k], data[k + 1], data[k + 2]];
    colors.add((r << 16) | (g << 8) | b);
    if (Math.max(r, g, b) - Math.min(r, g, b) > 40) colored++;
  }
  return { colors: colors.size, colored: colored / (data.length / 4) };
}"""
TIMES = """() => {
  const { clock, stage, root } = globalThis.kinodePlayer;
  const bar = root.querySelector("[role=slider][aria-label=Time]");
  return [clock.t, Number(bar.getAttribute("aria-valuenow")), stage.view.drawing.poses.time];
}"""
FOCUS = "() => document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent"
PICK = "([x, y]) => globalThis.kinodePlayer.stage.pickAt(x, y).joints"


def has_bodies(page):
    return page.evaluate("() => globalThis.kinodePlayer.stage.view !== null")


def projected(points, found):
    """Points of the world on the screen, by the page's matrices (written by columns)."""
    projection, look = (np.reshape(found[key], (4, 4)).T for key in ("projection", "look"))
    clip = projection @ look @ np.vstack([np.transpose(points), np.ones(len(points))])
    x, y = clip[:2] / clip[3]
    return np.stack([(x + 1) / 2 * found["width"], (1 - y) / 2 * found["height"]], axis=1)


# What differs in a scene: the others are drawn at night.
SCENES = {
    "rlc": "no bodies", "pendulum": "one joint", "slider_crank": "a closed loop", "spinning_shell": "a free body",
    "excavator": "cylinders and a network", "stewart_platform": "many loops", "strut": "springs",
    "ur5_path.py": "meshes, by a script",
}  # fmt: skip


@pytest.mark.parametrize(
    "example", [pytest.param(x, marks=() if x in SCENES else pytest.mark.nightly) for x in (*EXAMPLES, *SCRIPTS)]
)
def test_an_example_is_drawn(example, page, open_run, pages):
    """3D is not blank, points are at kinode's projected positions, the cursor is the same everywhere."""
    open_run(page, example)
    if not has_bodies(page):
        assert page.locator(".stage svg, .stage p").count() > 0
        return
    drawn = page.evaluate(DRAWN)
    assert drawn["colors"] > 20 and drawn["colored"] > 5e-4
    run = pages.run(example)
    for share in (0.0, 0.37, 1.0):
        k = round(share * (len(run) - 1))
        check_points(page, run, k)
        check_cursor(page, float(run.t[k]))


def check_points(page, run, k):
    """Mass centers and joints at a stored time: within half a pixel of kinode's own."""
    found = page.evaluate(PARTS, float(run.t[k]))
    names = [f"{body['name']}.com" for body in found["bodies"]]
    names += [f"{joint['name']}.child" for joint in found["joints"] if joint["name"] in run.system.joints]
    values = run.evaluate([f"{name}.position" for name in names])
    seen = {f"{body['name']}.com": body["seen"] for body in found["bodies"]}
    seen |= {f"{joint['name']}.child": joint["seen"] for joint in found["joints"]}
    expected = projected([values[f"{name}.position"][k] for name in names], found)
    actual = np.array([[seen[name]["x"], seen[name]["y"]] for name in names])
    assert np.isfinite(actual).all()
    assert np.abs(actual - expected).max() < 0.5, dict(zip(names, (actual - expected).tolist()))
    visible = [name for name in names if seen[name]["visible"]]
    assert len(visible) > 0.5 * len(names), "the model is out of the picture"
    check_pick(page, run, expected, names, seen)


def check_pick(page, run, expected, names, seen):
    """What kinode says is a joint's place is the joint for the pointer too."""
    for name, place in zip(names, expected.tolist()):
        joint = name.removesuffix(".child")
        if joint == name or not seen[name]["visible"] or run.system.joints[joint].kind == "free":
            continue
        assert joint in page.evaluate(PICK, place)
        break


def check_cursor(page, t):
    """The time of the clock, of the bar and of the 3D view."""
    shown = look(page, TIMES)
    span = max(abs(t), 1e-3)
    assert np.allclose(shown, t, rtol=0, atol=6e-6 * span), (shown, t)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_nothing_is_cut_off(scheme, width, make_page, open_run):
    page = open_run(make_page(scheme=scheme, width=width), "excavator")
    assert look(page, "() => document.documentElement.scrollWidth <= innerWidth")
    assert look(page, "() => globalThis.kinodePlayer.theme") == scheme
    for place in (".stage-canvas", "[role=slider][aria-label=Time]", ".save-menu button"):
        box = page.locator(place).first.bounding_box()
        assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= width + 1, place


def test_the_keyboard_alone(page, open_run):
    """Play, pause, step, ends; every tab and the menu Save are reached by the Tab key."""
    open_run(page, "pendulum")
    clock = "() => [kinodePlayer.clock.t, kinodePlayer.clock.playing]"
    page.locator(".kinode-player").focus()
    page.keyboard.press("End")
    end = page.evaluate("() => kinodePlayer.clock.to")
    assert look(page, clock) == [end, False]
    page.keyboard.press("Home")
    assert look(page, clock)[0] == page.evaluate("() => kinodePlayer.clock.from")
    page.keyboard.press(" ")
    page.wait_for_function("() => kinodePlayer.clock.t > kinodePlayer.clock.from")
    page.keyboard.press(" ")
    assert look(page, clock)[1] is False
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(
            page.evaluate(
                "() => document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent"
            )
        )
    assert {"Time", "Plots"} <= reached and any(words and words.startswith("Save") for words in reached), reached


def test_the_player_is_small():
    assert PLAYER.stat().st_size < 1.5e6


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_file_of_an_example_is_small(example, pages):
    assert pages.page(example).stat().st_size < 1.5e6 + 1e6
