import zlib

import numpy as np
import pytest

import kinode as kn
from kinode.player.packet import read_packet
from kinode.player.player_file import BODY_SIZE, RUN_SIZE, pack
from kinode.player.run_document import LEFT_OUT, run_document


@pytest.fixture(scope="module")
def arm():
    return kn.simulate(kn.load("examples/double_pendulum.yaml"), 1.0, samples=300)


@pytest.fixture(scope="module")
def document(arm):
    return run_document(arm)


def rotate(q, v):
    w, x = q[0], np.array(q[1:])
    return v + 2 * np.cross(x, np.cross(x, v) + w * v)


def test_poses_are_those_of_the_run(arm, document):
    names = [body["name"] for body in document.header["bodies"]]
    assert names == list(arm.system.bodies)
    for k, name in enumerate(names):
        at = arm.evaluate([f"{name}.position"])[f"{name}.position"]
        assert np.allclose(document.arrays["poses"][k, :3].T, at, atol=1e-6)


def test_places_of_joints_are_theirs_at_all_times(arm, document):
    """The child's place of a joint, carried by the pose of its body, is where kinode says the joint is."""
    poses = document.arrays["poses"]
    for joint in document.header["joints"]:
        at = arm[f"{joint['name']}.child.position"]
        for k in (0, 100, 299):
            pose = poses[joint["child"]["body"], :, k]
            assert np.allclose(pose[:3] + rotate(pose[3:], np.array(joint["child"]["at"])), at[k], atol=1e-6)


def test_loads_are_reactions_in_world_axes(arm, document):
    for joint in document.header["joints"]:
        wrench = arm.reaction(joint["name"], expressed_in="world")
        stored = document.arrays["loads.total"][joint["load"]]
        assert np.allclose(stored[:3].T, wrench.force, rtol=1e-5, atol=1e-5 * abs(wrench.force).max())
        size = np.linalg.norm(wrench.force, axis=1)
        assert joint["peak"]["force"]["value"] == pytest.approx(size.max(), rel=1e-9)


def test_contributions_sum_to_the_kinetic_part(document):
    arrays = document.arrays
    kinetic = arrays["loads.total"] - arrays["loads.static"]
    rows = {joint["name"]: joint["load"] for joint in document.header["joints"]}
    assert document.header["causes"]
    for record in document.header["causes"]:
        total = arrays[record["array"]].sum(axis=0)
        assert np.allclose(total, kinetic[rows[record["joint"]]], atol=2e-5 * abs(kinetic).max())


def test_series_are_quantities_by_name(arm, document):
    for info in document.header["series"]:
        if info["name"] in ("elbow.q", "elbow.u", "system.energy"):
            row = document.arrays["series"][info["row"]]
            assert np.allclose(row, arm[info["name"]], rtol=1e-5, atol=1e-6)
            assert info["unit"] == arm.units(info["name"])
    names = {info["name"] for info in document.header["series"]}
    assert {"elbow.q", "elbow.u", "elbow.effort", "system.energy"} <= names
    assert "lower.acceleration" in document.header["liveOnly"]
    assert not names & set(document.header["liveOnly"])


def test_what_is_kept_is_in_the_file(arm):
    document = run_document(arm, keep=["lower.acceleration", "elbow.q*180/pi"])
    kept = {info["name"]: info for info in document.header["series"] if info["group"] == "kept"}
    assert list(kept) == ["lower.acceleration", "elbow.q*180/pi"]
    assert kept["lower.acceleration"]["parts"] == ["x", "y", "z"]
    with pytest.raises(kn.Error, match="elbow"):
        run_document(arm, keep=["elbow.nothing"])


def test_plane_mechanisms_are_known():
    planes = {}
    for name in ("four_bar", "slider_crank", "stewart_platform", "gyroscope"):
        run = kn.simulate(kn.load(f"examples/{name}.yaml"), 0.01, samples=3)
        planes[name] = run_document(run, checks=False).header["plane"]
    assert planes["stewart_platform"] is None and planes["gyroscope"] is None
    for name in ("four_bar", "slider_crank"):
        assert np.allclose(np.cross(planes[name]["right"], planes[name]["up"]), planes[name]["toward"])


def test_a_failed_run_says_where_it_ended():
    system = kn.System("fall", gravity=(0, 0, -9.81))
    body = system.body("ball", mass=1.0)
    system.prismatic("rail", system.world, body, axis="z", q=0.5, effort="500*rail.q^5")
    with pytest.raises(kn.SimulationError) as error:
        kn.simulate(system, 10.0)
    run = error.value.run
    document = run_document(run)
    end = document.header["events"][-1]
    assert document.header["run"]["status"] == "failed"
    assert end["kind"] == "end" and end["message"] == run.message
    assert end["time"] == document.header["run"]["to"] == document.arrays["t"][-1]


def test_runs_without_bodies_or_times():
    rlc = kn.simulate(kn.load("examples/rlc.yaml"), 0.01, samples=11)
    document = run_document(rlc)
    assert document.header["bodies"] == [] and document.arrays["poses"].shape[0] == 0
    assert document.header["diagram"]["svg"].startswith("<svg")


def test_bearings_with_life():
    run = kn.simulate(kn.load("examples/rotor.yaml"), 0.04, samples=5)
    given = {"shaft": {"at": ("-15 cm", "15 cm"), "C": "25 kN"}}
    first, second = run_document(run, bearings=given).header["bearings"]
    assert (first["joint"], first["name"], second["name"]) == ("shaft", "first", "second")
    assert "L10" in dict(map(tuple, first["rows"]))["life"]
    with pytest.raises(kn.ArgumentError, match="'at'"):
        run_document(run, bearings={"shaft": {}})
    with pytest.raises(kn.ArgumentError, match="rating"):
        run_document(run, bearings={"shaft": {"at": (0, 1), "rating": 3}})


def test_packed_runs_come_back(document):
    import base64

    packet = zlib.decompress(base64.b64decode(pack(document)))
    header, arrays = read_packet(packet)
    assert header["name"] == document.header["name"]
    blocks = {each["name"]: (arrays["series"], each["row"]) for each in header["series"]}
    for info in document.header["series"]:
        stored, row = blocks[info["name"]]  # equal quantities share their rows
        size = max(1, len(info["parts"]))
        given = document.arrays["series"][info["row"] : info["row"] + size]
        assert np.allclose(stored[row : row + size], given, rtol=0, atol=2e-5 * np.ptp(given) + 1e-6 * abs(given).max())
    for name, array in document.arrays.items():
        if name == "series":
            assert len(arrays[name]) < len(array)
            continue
        span = np.ptp(array, axis=-1, keepdims=True)
        assert np.all(abs(arrays[name] - array) <= 2e-5 * span + 1e-6 * abs(array).max())


def test_too_much_leaves_out_who_loads_the_joints(document):
    lighter = document.without("causes.cause")
    assert {record["by"] for record in lighter.header["causes"]} == {"body"}
    assert lighter.header["loadNotes"][-1] == LEFT_OUT
    assert not any(name.startswith("causes.cause") for name in lighter.arrays)
    assert len(pack(document)) < max(RUN_SIZE, BODY_SIZE * 2 * 300)


def test_views_of_several_runs(arm, tmp_path):
    other = kn.simulate(kn.load("examples/pendulum.yaml"), 0.1, samples=3)
    with pytest.raises(kn.ArgumentError, match="different models"):
        arm.view(tmp_path / "x.html", beside=[other])
    with pytest.raises(kn.ArgumentError, match="theme"):
        arm.view(tmp_path / "x.html", theme="pink")
    with pytest.raises(kn.ArgumentError, match=r"\.html"):
        arm.view(tmp_path / "x.txt")
    path = arm.view(tmp_path / "x.html", beside=[arm])
    assert path.read_text().count('type="application/x-kinode-run"') >= 2
