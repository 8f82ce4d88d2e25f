"""Robots of example-robot-data in, out and in again, as URDF and as MJCF: the same masses and accelerations.

A few in every run, all at night.  MJCF has no inertia that no body can have; such links are named, and those robots may
differ.  MuJoCo wants at least 1e-15 kg and kg*m^2 of a body that moves, which shows where a joint carries next to none.
"""

import warnings
from importlib.metadata import distribution
from pathlib import Path

import numpy as np
import pytest

import kinode as kn

FILES = sorted(
    (Path(str(file.locate())) for file in distribution("example-robot-data").files or [] if file.suffix == ".urdf"),
    key=lambda path: path.name,
)
EVERY_RUN = {"panda.urdf", "allegro_left_hand.urdf", "bolt.urdf", "talos_left_arm.urdf", "tiago_no_hand.urdf"}
REFUSED = {
    "ur3.urdf": "no links",  # Pinocchio refuses it too
    "romeo_laas_small.urdf": "has no mass and carries nothing",
}
WITHOUT_MIMIC = {"alex_psyonic_hands.urdf"}  # it mimics joints that it does not have
UNDETERMINED = {"romeo.urdf": "LHand: LFinger11Link and 11 more bodies .* have no mass"}  # its accelerations
IMPOSSIBLE = "no body has its inertia"
CLOSE = {"urdf": 1e-11, "mjcf": 1e-9}  # of the largest acceleration
LIGHT = {"icub.urdf": 1e-6}  # joints that turn point masses: their inertia is rounding, 1e-20 kg*m^2, in the file


def marked():
    for path in FILES:
        yield pytest.param(path, id=path.stem, marks=() if path.name in EVERY_RUN else pytest.mark.nightly)


def accelerate(system, values=None):
    """Accelerations by coordinate; and the state by name, random if it is not given."""
    dynamics = kn.compile(system)
    names = [one.name for one in dynamics.coordinates if one.role in ("q", "u")]
    if values is None:
        rng = np.random.default_rng(7)
        values = {name: float(rng.uniform(-1, 1)) for name in names}
    assert sorted(names) == sorted(values)
    arrays = {"q": np.zeros(dynamics.n_q), "u": np.zeros(dynamics.n_u)}
    for one in dynamics.coordinates:
        if one.role in arrays:
            arrays[one.role][one.index] = values[one.name]
    u_dot = dynamics.acceleration(0.0, arrays["q"], arrays["u"])
    return {one.name: u_dot[one.index] for one in dynamics.coordinates if one.role == "u"}, values


@pytest.mark.parametrize("path", list(marked()))
def test_a_robot_goes_out_and_comes_back(path, tmp_path):
    if path.name in REFUSED:
        with pytest.raises(kn.ModelError, match=REFUSED[path.name]):
            accelerate(kn.load(path))
        return
    system = kn.load(path, mimic=path.name not in WITHOUT_MIMIC)
    determined = path.name not in UNDETERMINED
    expected, values = accelerate(system) if determined else ({}, {})
    if not determined:
        with pytest.raises(kn.ModelError, match=UNDETERMINED[path.name]):
            accelerate(system)
    total = sum(float(body.mass) for body in system.bodies.values())
    largest = max([1.0, *map(abs, expected.values())])
    for kind, ending in (("urdf", "urdf"), ("mjcf", "xml")):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always", kn.ExportWarning)
            again = kn.load(kn.export(system, kind, tmp_path / f"robot.{ending}"))
        assert sum(float(body.mass) for body in again.bodies.values()) == pytest.approx(total, rel=1e-9)
        if determined:
            found, _ = accelerate(again, values)
            error = max((abs(found[name] - expected[name]) for name in expected), default=0.0) / largest
            listed = IMPOSSIBLE in (tmp_path / f"robot.{ending}").read_text()
            assert error < max(CLOSE[kind], LIGHT.get(path.name, 0.0)) or (listed and kind == "mjcf"), (kind, error)
        assert not said or kind == "mjcf"  # URDF says all that it said


def test_an_inertia_that_no_body_has_is_named_and_others_keep_theirs(tmp_path):
    system = kn.System("s")
    plate = system.body("plate", mass=1, inertia=(0.1, 0.2, 0.1 + 0.2))  # more than their sum, by rounding
    odd = system.body("odd", mass=1, inertia=(1e-7, 2e-7, 2.5e-7, 1e-8, 2e-8, 3e-8), com=(0.1, 0, 0))
    wrong = system.body("wrong", mass=1, inertia=(0.1, 0.1, 0.5), physical=False)
    ghost = system.body("ghost", inertia=(1e-6, 2e-6, 2e-6))  # an inertia without a mass
    point = system.body("point", mass=0.2, com=(0, 0, 0.1))
    for body in (plate, odd, wrong):
        system.revolute(f"hinge_of_{body.name}", system.world, body, axis=(1, 2, 3))
    for body in (ghost, point):
        system.fixed(f"mount_of_{body.name}", odd, body)
    with pytest.warns(kn.ExportWarning, match="wrong: no body has its inertia, of the moments 0.1 0.1 0.5; MuJoCo"):
        file = kn.export(system, "mjcf", tmp_path / "s.xml")
    assert file.read_text().count(IMPOSSIBLE) == 1
    (expected, values), again = accelerate(system), kn.load(file)
    found, _ = accelerate(again, values)
    for name in ("hinge_of_plate.u", "hinge_of_odd.u"):
        assert found[name] == pytest.approx(expected[name], rel=1e-9)
    assert again["ghost"].inertia[0] == pytest.approx(1e-6, rel=1e-12) and again["point"].mass == 0.2
