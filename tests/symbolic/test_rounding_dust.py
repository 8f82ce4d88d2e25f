"""No rounding error of a frame's rotation, and no needless 1.0, in printed equations.

cos(pi/2) is 6e-17 in floating point.  The same turn written as a matrix of zeros and ones says what is to be printed.
"""

from __future__ import annotations

import random
import re
from pathlib import Path

import numpy as np
import pytest

import kinode as kn
from kinode.algebra.spatial import exact_entries, rotation_from_rpy
from kinode.model.base.frames import Frame

FORMULATIONS = ("lagrange", "hamilton", "recursive", "newton_euler", "elimination", "circuit", "quasi_base", "rotators")
EXAMPLES = sorted(x.name for x in Path("examples").iterdir() if x.suffix in (".yaml", ".xml"))
DUST = re.compile(r"\d[eE]-[1-9]\d|10(\*\*\(|\^\{)-1[3-9]|(?<![\d.])1\.0(\*|\s*\\cdot|\s[A-Za-z\\])")
HALF = np.sqrt(0.5)
# A turn by each form, and the matrix that a person writes for it.
TURNS = [
    ({"rpy": [0, 0, "-90 deg"]}, [[0, 1, 0], [-1, 0, 0], [0, 0, 1]]),
    ({"rpy": [0, 0, "180 deg"]}, [[-1, 0, 0], [0, -1, 0], [0, 0, 1]]),
    ({"rpy": ["90 deg", 0, "90 deg"]}, [[0, 0, 1], [1, 0, 0], [0, 1, 0]]),
    ({"turns": [["z", "90 deg"], ["x", "90 deg"]]}, [[0, 0, 1], [1, 0, 0], [0, 1, 0]]),
    ({"turns": [[[0, 0, -3], "90 deg"]]}, [[0, 1, 0], [-1, 0, 0], [0, 0, 1]]),
    ({"turns": [[[1, 1, 1], "120 deg"]]}, [[0, 0, 1], [1, 0, 0], [0, 1, 0]]),
    ({"quaternion": [HALF, 0, 0, -HALF]}, [[0, 1, 0], [-1, 0, 0], [0, 0, 1]]),
    ({"quaternion": [0, 0, 0, 1]}, [[-1, 0, 0], [0, -1, 0], [0, 0, 1]]),
]


def paper(turn: dict) -> kn.System:
    """Document 004 in the paper's own axes and letters; the hinge's axes on the slider are turned."""
    s = kn.System("paper")
    for name, value in {"m1": 1, "m2": 5, "k": 250, "c": 5, "L0": 1, "l1": 1, "Jz1": 1, "g": 9.81}.items():
        s.parameter(name, value)
    s.gravity = (0, "-g", 0)
    slider = s.body("body2", mass="m2", inertia=(1, 1, 1))
    rod = s.body("body1", mass="m1", com=("l1/2", 0, 0), inertia=(1, 1, "Jz1"), about="origin")
    s.prismatic("guide", s.world, slider, axis="x")
    s.revolute("hinge", slider.at(0, 0, 0, **turn), rod, axis="z", q="90 deg")
    s.spring("spring", s.world.at("-L0", 0, 0), slider, stiffness="k", damping="c", free_length="L0")
    return s


def printed(system: kn.System, formulation: str) -> str:
    """Text and LaTeX; nothing if the formulation does not apply."""
    try:
        if formulation == "elimination":
            sheets = kn.equations(system, "newton_euler").elimination
            sheets = (sheets, sheets.reduced)
        else:
            sheets = (kn.equations(system, formulation),)
    except kn.Error:
        return ""
    return "\n".join(text for sheet in sheets for text in (sheet.text(), sheet.latex(), sheet.mathml()))


@pytest.mark.parametrize(("turn", "matrix"), TURNS, ids=lambda x: next(iter(x)) if isinstance(x, dict) else "")
def test_a_turn_by_right_angles_prints_as_its_matrix(turn, matrix):
    system, exact = paper(turn), paper({"matrix": matrix})
    for formulation in ("lagrange", "newton_euler"):
        text = kn.equations(system, formulation).text()
        assert text == kn.equations(exact, formulation).text()
        assert not DUST.search(text)


def test_the_elimination_of_a_turned_joint_prints_as_that_of_its_matrix():
    (turn, matrix), *_ = TURNS
    text = printed(paper(turn), "elimination")
    assert text == printed(paper({"matrix": matrix}), "elimination")
    assert not DUST.search(text)


@pytest.mark.parametrize("turn", [
    {"rpy": [0, 0, "45 deg"]}, {"rpy": ["60 deg", "60 deg", 0]}, {"turns": [["x", "30 deg"], ["z", "60 deg"]]},
    {"turns": [[[1, 1, 0], "90 deg"]]}, {"turns": [[[1, 1, 1], "60 deg"]]},
], ids=str)  # fmt: skip
@pytest.mark.parametrize("axis", ["z", (1, 1, 0)], ids=str)
def test_common_angles_before_an_oblique_axis(turn, axis):
    """Numbers of the model are 0.1 to 10, and five of them are multiplied: what is below 1e-13 would be rounding."""
    s = kn.System("oblique", gravity=(0, 0, -9.81))
    m, L = s.parameter("m", 2.0), s.parameter("L", 0.5)
    arm = s.body("arm", mass=m, com=("L/2", 0, 0), inertia=(1, 1.5, 2))
    tip = s.body("tip", mass=1, com=(0, 0.2, 0), inertia=(0.1, 0.2, 0.3))
    s.revolute("shoulder", s.world.at(0, 0, 0, **turn), arm, axis=axis)
    s.revolute("elbow", arm.at(L, 0, 0, **turn), tip, axis="y")
    for formulation in ("lagrange", "hamilton", "recursive"):
        assert not DUST.search(kn.equations(s, formulation).text()), formulation


def test_the_papers_mass_matrix_letter_by_letter():
    """(82) and (94): A = [[m1 + m2, l1 m1 cos q / 2], [., Jz1]] with the pendulum's axis turned back by 90 degrees."""
    lines = kn.equations(paper({"rpy": [0, 0, "-90 deg"]}), "lagrange").text().splitlines()
    assert lines[1].startswith("  u_dot_guide*(m1 + m2) + l1*m1*u_dot_hinge*cos(q_hinge)/2 + k*q_guide")
    assert lines[3].startswith("  l1*m1*u_dot_guide*cos(q_hinge)/2 + Jz1*u_dot_hinge + g*l1*m1*sin(q_hinge)/2")


def test_a_turn_by_a_parameter_keeps_the_exact_part_exact():
    s = kn.System("tilted", gravity=(0, 0, -9.81))
    tilt = s.parameter("tilt", 0.3)
    arm = s.body("arm", mass=2, com=(0.1, 0, 0), inertia=(0.1, 0.2, 0.3))
    s.revolute("hinge", s.world.at(0, 0, 0, rpy=(tilt, 0, "90 deg")), arm)
    for formulation in ("lagrange", "newton_euler"):
        text = printed(s, formulation)
        assert "tilt" in text and not DUST.search(text)


@pytest.mark.parametrize("degrees", [0, 30, 45, 60, 90, 120, 135, 150, 180, 210, 225, 240, 270, 300, 315, 330])
def test_entries_of_common_angles_are_exact(degrees):
    """cos and sin by their closed forms, in every form in which a turn can be given."""
    size = {0: 0.0, 30: 0.5, 45: np.sqrt(0.5), 60: np.sqrt(0.75), 90: 1.0}
    folded = degrees % 180 if degrees % 180 <= 90 else 180 - degrees % 180
    s, c = size[folded] * (1 if degrees < 180 else -1), size[90 - folded] * (-1 if 90 < degrees < 270 else 1)
    angle = np.deg2rad(degrees)
    exact = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) + 0.0
    half = (float(np.cos(angle / 2)), 0.0, 0.0, float(np.sin(angle / 2)))
    for data in (("rpy", (0.0, 0.0, angle)), ("turns", (("z", angle),)), ("turns", (("-z", -angle),)),
                 ("turns", (((0.0, 0.0, 1.0), angle),)), ("quaternion", half)):  # fmt: skip
        R = Frame("a", rotation=data).pose(lambda x: x).R
        assert np.array_equal(R, exact), data
        assert not np.signbit(R[R == 0]).any()


def test_other_entries_stay_as_they_are():
    """To the last bit, however near to a common one: 1e-12 is no rounding error."""
    R = np.asarray(rotation_from_rpy([0.3, -0.7, 1.1]), dtype=float)
    assert np.array_equal(exact_entries(R), R)
    near = np.array([1e-12, 0.5 + 1e-12, 1 - 1e-12])
    assert np.array_equal(exact_entries(near), near)


def test_small_numbers_of_a_model_are_powers_of_ten():
    """1e-12 kg m^2 is no rounding error, and is not left out."""
    s = kn.System("tiny")
    s.revolute("hinge", s.world, s.body("grain", mass=1, inertia={"zz": 1e-12}), stiffness=3)
    text = kn.equations(s).text()
    assert text.splitlines()[1] == "  10**(-12)*u_dot_hinge + 3*q_hinge = 0"


def test_factors_of_decimal_numbers_are_decimal_numbers():
    """A common divisor of 30 digits is no common factor: the knee's spring, 20 degrees from its rest."""
    text = kn.equations(kn.load("examples/leg.yaml"), "hamilton").text()
    assert max(map(len, re.findall(r"\d+", text))) <= 17
    assert "knee_stiffness*q_knee" in text or "knee_stiffness*(q_knee" in text


# All that printed such numbers, and some of the others, which the seed chooses.
SUSPECTS = [("leg.yaml", "hamilton"), ("rotor.yaml", "hamilton"), ("ship_gimbal.yaml", "recursive"),
            ("spinning_shell.yaml", "recursive")]  # fmt: skip
SMALL = (
    "pendulum.yaml",
    "double_pendulum.yaml",
    "slider_crank.yaml",
    "four_bar.yaml",
    "manipulator.yaml",
    "rotor.yaml",
)
CHOSEN = random.Random(13).sample([(name, x) for name in SMALL for x in FORMULATIONS], 6)


@pytest.mark.parametrize(("example", "formulation"), [*SUSPECTS, *CHOSEN])
def test_no_rounding_dust_in_an_example(example, formulation):
    text = printed(kn.load(f"examples/{example}"), formulation)
    assert DUST.findall(text) == []


@pytest.mark.nightly
@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("example", EXAMPLES)
def test_no_rounding_dust_in_any_example(example, formulation):
    if example.endswith(".xml"):
        pytest.importorskip("mujoco")
    assert not DUST.search(printed(kn.load(f"examples/{example}"), formulation))
