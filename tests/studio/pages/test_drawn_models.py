"""Whole models drawn from nothing in a real browser, with mouse and keyboard: run, read, saved, and loaded again."""

import numpy as np
import pytest
from page_patience import shows
from page_readings import FACTORS, JOINT_TABLE, JOINT_UNITS
from player_pages import ROOT
from studio_hands import studio

import kinode as kn
from kinode.formats.yaml_files import dumps, loads
from known import circuit as known

EXAMPLES = ROOT / "examples"


def save(hands, file):
    """Save by keys, unasked under the name that the command was given, and load what is in the file."""
    hands.page.locator(".canvas-sheet").focus()
    hands.page.keyboard.press("Control+s")
    hands.page.wait_for_function("() => !kinodeStudio.document.dirty")
    assert file.read_text() == hands.text
    return kn.load(file)


# -- the two-segment manipulator -------------------------------------------------------------------
def draw_segment(hands, name, mass, inertia, links):
    hands.add_as("body", name)
    near, far = links
    frames = f"{{link1: {list(near)}, link2: {list(far)}}}"
    hands.fill(shape="", mass=f"{mass} kg", inertia=str(list(inertia)), frames=frames)


def draw_manipulator(hands):
    """Bodies and their links, joints between links, then what drives, brakes and loads them."""
    for k, (mass, inertia, *links) in enumerate(known.SEGMENTS):
        draw_segment(hands, f"SB{k + 1}", mass, inertia, links)
    hands.add_as("revolute", "KN1", "world", "SB1.link1")
    hands.fill(q="0.3 rad")
    hands.add_as("revolute", "KN2", "SB1.link2", "SB2.link1")
    hands.fill(q="0.9 rad", u="-0.4 rad/s")
    hands.add_as("speed_source", "Ew2")
    hands.fill(speed=known.LAW)
    hands.connect_by_keys("Ew2", "a", "KN1.3")
    hands.add_as("shaft_damper", "DC")
    hands.fill(damping="0.8 N*m*s/rad")
    hands.drag_wire(("DC", "a"), ("KN2", "3"))
    hands.add_as("force", "Ef3", "SB2.link2")
    hands.fill(force="[4, -6, 0]", expressed_in="SB2")
    hands.add_as("moment", "Em3", "SB2.link2")
    hands.fill(moment="[0, 0, 0.5]", expressed_in="SB2")
    hands.choose_nothing()
    hands.fill({"gravity": "[0, -9.80665, 0]", "run.until": "5 s"})


@pytest.mark.nightly  # the same hands as below, on another model
def test_the_manipulator_of_the_paper_is_drawn_and_has_its_numbers(large, tmp_path):
    file = tmp_path / "manipulator.yaml"
    with studio(large, file) as hands:
        draw_manipulator(hands)
        assert hands.problems() == []
        hands.wait_for_run("KN1.q", "KN2.q", "KN2.u", "Ew2.moment")
        figures = known.ARM["loaded"]
        for column, name in enumerate(("KN1.q", "KN2.q", "KN2.u", "Ew2.moment")):
            t, values = hands.series(name)
            expected = [row[column] for row in figures.values()]
            assert np.interp(list(figures), t, values) == pytest.approx(expected, abs=1e-6 * np.abs(expected).max()), (
                name
            )
        drawn = save(hands, file)
    text = dumps(kn.load(EXAMPLES / "manipulator.yaml"))
    for joint in ("KN1", "KN2"):
        text = text.replace(f"{joint}.3", joint)  # one freedom: the third link of a joint, or the joint
    assert drawn == loads(text)


# -- a motor with gear, arm and controller ---------------------------------------------------------
def draw_motor_axis(hands):
    """The arm and its joint by hand, the rest as a ready group; its stiff gear is replaced by an elastic one."""
    hands.choose_nothing()
    for name, value in (("ratio", "60"), ("reach", "0.35 m")):
        hands.add_parameter(name, value)
    hands.fill({"gravity": "[0, -9.81, 0]", "run.until": "4 s"})
    hands.add_as("body", "arm")
    frames = "{hand: [2*reach, 0, 0]}"
    hands.fill(shape="", mass="3", com="[reach, 0, 0]", inertia="{zz: 0.15}", frames=frames)
    hands.add_as("revolute", "elbow", "world", "arm")
    hands.fill(q="0", damping="0.2 N*m*s/rad")
    hands.add("axis")
    hands.wait_for_part("controller")
    hands.choose("gear")
    hands.page.keyboard.press("Delete")
    hands.add_as("elastic_gearbox", "gear")
    hands.fill(ratio="ratio", stiffness="4000 N*m/rad", damping="8 N*m*s/rad", efficiency="85 %", slip="1 rad/s")
    hands.drag_wire(("gear", "input"), ("motor", "shaft"))
    hands.connect_by_keys("gear", "output", "elbow.3")
    shows(hands.page, "() => kinodeStudio.selection", ["gear"])  # as before it was connected
    hands.find("motor")
    hands.fill(coulomb="3 mN*m", slip="1 rad/s")
    hands.find("target")
    hands.fill(law="1.2*smoothstep(t, 0.2, 1.2) - 0.6*smoothstep(t, 2, 2.6)")


@pytest.mark.nightly  # the same hands as below, on another model
def test_a_motor_with_gear_arm_and_controller_is_drawn(large, tmp_path):
    file = tmp_path / "motor_axis.yaml"
    with studio(large, file) as hands:
        draw_motor_axis(hands)
        assert hands.problems() == []
        hands.wait_for_run("elbow.q", "motor.current")
        example = kn.load(EXAMPLES / "motor_axis.yaml")
        exact = kn.simulate(example)
        for name, slack in (("elbow.q", 1e-5), ("motor.current", 5e-3)):
            t, values = hands.series(name)
            assert t[-1] == pytest.approx(4.0)
            assert np.interp(t, exact.t, exact[name]) == pytest.approx(np.array(values), abs=slack), name
        drawn = save(hands, file)
    assert drawn == example


# -- a slider-crank, and the load of its bearing ---------------------------------------------------
CRANK_BODIES = {
    "crank": {"shape": "", "mass": "0.4", "com": "[0.015, 0, 0]", "inertia": "{zz: 4e-4}"},
    "flywheel": {"shape": "{cylinder: {radius: 80 mm, length: 20 mm, axis: z, mass: 3}}"},
    "rod": {"shape": "", "mass": "0.3", "com": "[0.06, 0, 0]", "inertia": "[1e-5, 3e-4, 3e-4]"},
    "piston": {"shape": "", "mass": "0.25", "com": "[0.13, 0, 0]", "frames": "{crown: [0.13, 0, 0]}"},
}
CRANK_JOINTS = {
    "hub": ("fixed", "crank", "flywheel", {}),
    "crankpin": ("revolute", "crank", "rod", {"at": "[0.03, 0, 0]"}),
    "wristpin": ("revolute", "rod", "piston", {"at": "[0.13, 0, 0]"}),
    "bore": ("prismatic", "world", "piston", {"at": "[0.13, 0, 0]", "axis": "x"}),
    "main": ("revolute", "world", "crank", {"speed": "n"}),
}


def draw_slider_crank(hands):
    """Bodies and joints are dragged out of the palette, and the bodies of a joint clicked."""
    hands.choose_nothing()
    hands.add_parameter("n", "3000 rpm")
    hands.fill({"gravity": "[0, -9.81, 0]", "run.until": "60 ms"})
    for k, (name, fields) in enumerate(CRANK_BODIES.items()):
        hands.drag_from_palette("body", -240 + 140 * k, -120)
        hands.wait_for_part("body")
        hands.rename_shown("body", name)
        hands.fill(fields)
    for k, (name, (kind, one, two, fields)) in enumerate(CRANK_JOINTS.items()):
        hands.drag_from_palette(kind, -280 + 120 * k, 60)
        hands.click_places(one, two)
        hands.wait_for_part(kind)
        hands.rename_shown(kind, name)
        hands.fill(fields)
    hands.add_as("force", "gas", "piston.crown")
    hands.fill(force='["-2e3*max(0, cos(main.q))", 0, 0]', expressed_in="world")


# Whether the table of the joint shows a total force in N: three components and the size, those that are not null.
FORCE = f"""([expected, slack, factors]) => {{
  const row = ({JOINT_TABLE})().find(([kind, part]) => kind === "force" && part === "total");
  const factor = factors[({JOINT_UNITS})()[0]] ?? 1;
  return row?.[2].every((text, k) => (expected[k] ?? null) === null
    || Math.abs(factor * Number(text.replace("\u2212", "-")) - expected[k]) <= slack);
}}"""


def check_bearing(page, joint, exact):
    """The table of the joint that was clicked, at the time of the clock and at the peak, beside a run in Python."""
    page.wait_for_function("(name) => document.querySelector('.joint-head select')?.value === name", arg=joint)
    forces = exact.reaction(joint).force
    peak = np.linalg.norm(forces, axis=1).max()
    check_force(page, forces, exact.t, 6e-4 * peak)
    page.get_by_role("button", name="Peak of the total force").click()  # the clock goes there
    page.wait_for_function(FORCE, arg=[[None, None, None, peak], 6e-4 * peak, FACTORS])
    check_force(page, forces, exact.t, 6e-4 * peak)


def check_force(page, forces, t, slack):
    now = page.evaluate("() => kinodeStudio.run.player.clock.t")
    page.wait_for_function(FORCE, arg=[[np.interp(now, t, forces[:, c]) for c in range(3)], slack, FACTORS])


def test_a_slider_crank_is_drawn_and_a_click_on_its_bearing_shows_the_load(large, tmp_path):
    file = tmp_path / "slider_crank.yaml"
    with studio(large, file) as hands:
        draw_slider_crank(hands)
        assert hands.problems() == []
        hands.wait_for_run("main.q", "crankpin.q")
        example = kn.load(EXAMPLES / "slider_crank.yaml")
        exact = kn.simulate(example)
        for joint in ("crankpin", "wristpin"):
            hands.choose(joint)
            check_bearing(large, joint, exact)
        drawn = save(hands, file)
    assert drawn == example
