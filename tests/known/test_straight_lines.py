"""Linkages that draw straight lines, against their closed forms.

Hoeken's crank and rocker (1926; R. L. Norton, *Design of Machinery*, 3.8): crank 1, frame 2, coupler and rocker 2.5,
the point as far beyond the middle pin.  Frame pin and crank pin see the point under a right angle, since the middle pin
is as far from all three: the point lies across the line between them, at sqrt(25 - that distance^2).

Peaucellier's inversor (1864; A. B. Kempe, *How to draw a straight line*, 1877): two long bars L from O to opposite
corners of a rhombus of sides s.  OA OC = L^2 - s^2, so that C is on a line while A is on a circle through O.
"""

import numpy as np
import pytest

import kinode as kn

TIGHT = {"method": "dop853", "rtol": 1e-11, "atol": 1e-12}
CROSS = np.array([[0.0, -1.0], [1.0, 0.0]])  # turns by a right angle


def bar(system, name, length):
    """A slender bar of 1 kg/m along x."""
    return system.body(name, mass=length, com=(length / 2, 0, 0), inertia={"zz": length**3 / 12})


def hoeken(angle):
    """The point at an angle of the crank, and its rate with it."""
    from_crank = np.array([2.0, 0.0]) - np.column_stack([np.cos(angle), np.sin(angle)])
    rate = np.column_stack([np.sin(angle), -np.cos(angle)])
    square, change = (from_crank**2).sum(axis=1), 2 * (from_crank * rate).sum(axis=1)
    size = np.sqrt(25 / square - 1)[:, None]
    growth = (-25 * change / square**2)[:, None] / (2 * size)
    return np.array([2.0, 0.0]) + from_crank @ CROSS.T * size, rate @ CROSS.T * size + from_crank @ CROSS.T * growth


def test_hoekens_linkage():
    """Half a turn of the crank, from 90 to 270 degrees, draws 4 m of a line that is straight within 10 mm."""
    system = kn.System("hoeken", gravity=(0, -9.81, 0))
    crank, coupler, rocker = bar(system, "crank", 1.0), bar(system, "coupler", 5.0), bar(system, "rocker", 2.5)
    system.revolute("drive", system.world, crank, motion="pi/2 + 2*t")
    system.revolute("pin", crank.at(1, 0, 0), coupler, guess=-0.9)
    system.revolute("pivot", system.world.at(2, 0, 0), rocker, guess=1.5)
    system.revolute("middle", coupler.at(2.5, 0, 0), rocker.at(2.5, 0, 0))
    coupler.at(5, 0, 0, name="point")
    run = kn.simulate(system, np.pi, samples=201, **TIGHT)
    wanted, rate = hoeken(np.pi / 2 + 2 * run.t)
    point = run["coupler.point.position"]
    assert point[:, :2] == pytest.approx(wanted, abs=1e-10)
    assert run["coupler.point.velocity"][:, :2] == pytest.approx(2 * rate, abs=1e-9)
    assert point[[0, 50, 100], :2] == pytest.approx(np.array([[4, 4], [2, 4], [0, 4]]), abs=1e-10)
    line = point[:101, 1]
    assert line.min() > 4 - 1e-10 and line.max() == pytest.approx(4.00975373, abs=1e-5)  # at 128.7 and 231.3 degrees
    assert run.audit.relative < 1e-9  # the work of the drive is what weights and speeds take


def test_peaucelliers_inversor():
    """L = 5, s = 3, OQ = QA = 1.5: the line is at (25 - 9)/3 = 16/3 m, and C on it at the height 16/3 tan(crank/2)."""
    system = kn.System("inversor", gravity=(0, 0, 0))
    crank = bar(system, "crank", 1.5)
    long, near, far = ([bar(system, f"{kind}_{side}", length) for side in ("up", "down")]
                       for kind, length in (("long", 5.0), ("near", 3.0), ("far", 3.0)))  # fmt: skip
    corner = np.arccos(5 / 6)  # at O for a crank at 0, where OA = 3
    slope = np.arctan2(5 * np.sin(corner), 5 * np.cos(corner) - 3)  # of the near sides
    system.revolute("Q", system.world.at(1.5, 0, 0), crank, q=0.0, u=0.9)
    for k, sign in enumerate((1, -1)):
        system.revolute(f"O{k}", system.world, long[k], guess=sign * corner)
        system.revolute(f"A{k}", crank.at(1.5, 0, 0), near[k], guess=sign * slope)
        system.revolute(f"B{k}", long[k].at(5, 0, 0), near[k].at(3, 0, 0))
        system.revolute(f"D{k}", near[k].at(3, 0, 0), far[k], guess=-2 * sign * slope)
    system.revolute("C", far[0].at(3, 0, 0), far[1].at(3, 0, 0))
    far[0].at(3, 0, 0, name="C")
    run = kn.simulate(system, 1.5, samples=101, **TIGHT)
    angle, point = run["Q.q"], run["far_up.C.position"]
    assert angle[-1] > 0.8
    assert point[:, 0] == pytest.approx(np.full(101, 16 / 3), abs=1e-10)
    assert point[:, 1] == pytest.approx(16 / 3 * np.tan(angle / 2), abs=1e-10)
    assert run.audit.relative < 1e-10
