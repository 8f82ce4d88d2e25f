"""The lead of a screw: a length for a turn, in any unit of one."""

import math

import pytest

import kinode as kn


@pytest.mark.parametrize("lead", ["5 mm", "5 mm/rev", "5 mm/min/rpm", "300 mm/min/(rev/s)"])
def test_a_turn_of_a_screw_advances_by_its_lead_however_it_is_written(lead):
    system = kn.System("jack")
    system.screw("thread", system.world, system.body("nut", mass=1), lead=lead)
    travel = kn.compile(system).evaluate(["nut.position.z"], 0.0, [2 * math.pi], [0.0])["nut.position.z"]
    assert travel == pytest.approx(0.005, rel=1e-14)


def test_a_parameter_per_angle_cannot_become_a_lead_unseen():
    system = kn.System("jack")
    with pytest.raises(kn.UnitError, match=r"pitch\.value: 5 mm/rev is a length for an angle.* the length of one turn"):
        system.parameter("pitch", "5 mm/rev")
    with pytest.raises(kn.UnitError, match=r"pitch\.unit: m/rad is a length for an angle"):
        system.parameter("pitch", 8e-4, unit="m/rad")
    pitch = system.parameter("pitch", "5 mm")
    assert system.screw("thread", system.world, system.body("nut", mass=1), lead=pitch).lead == pitch
    with pytest.raises(kn.UnitError, match="a length for an angle"):
        system.change("pitch", value="5 mm/rev")
