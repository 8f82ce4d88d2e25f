"""Runs as files: what is written is read again, elsewhere and by name; what is no run is refused clearly."""

import csv
import os
import subprocess
import sys

import h5py
import numpy as np
import pytest
from run_models import arm, pendulum

import kinode as kn


@pytest.fixture(scope="module")
def run():
    return kn.simulate(arm(), 1.0, parameters={"L": "60 cm"}, inputs={"push": 2.0}, samples=21)


def test_load_in_another_process(run, tmp_path):
    """Without the model: the file holds it.  Reactions come out the same to the last bit."""
    file = tmp_path / "arm.nc"
    run.save(file)
    code = (
        "import sys, kinode as kn\n"
        "run = kn.Trajectory.load(sys.argv[1])\n"
        "force = run['elbow.reaction.force'][-1].tolist()\n"
        "print(force, run.parameters, run.input_values, run.status, run.end.t)\n"
    )
    process = subprocess.run(
        [sys.executable, "-c", code, file], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    force = run["elbow.reaction.force"][-1].tolist()
    assert process.stdout.strip() == f"{force!r} {{'L': 0.6}} {{'push': 2.0}} done 1.0"


def test_load_gives_the_same_run(run, tmp_path):
    run.save(tmp_path / "arm.nc")
    again = kn.Trajectory.load(tmp_path / "arm.nc")
    assert again.system == run.system
    assert np.array_equal(again.t, run.t)
    assert np.array_equal(again.y, run.y)
    assert np.array_equal(again.end.y, run.end.y)
    assert (again.status, again.message) == (run.status, run.message)
    assert again.audit.work == run.audit.work
    assert [path.name for path in tmp_path.iterdir()] == ["arm.nc"]


@pytest.mark.parametrize("name", ["arm.nc", "arm.NC", "arm.h5", "arm.run", "arm"])
def test_kn_load_takes_runs(run, tmp_path, name):
    """By the ending, or by the first bytes where the ending says nothing."""
    run.save(tmp_path / name)
    again = kn.load(tmp_path / name)
    assert isinstance(again, kn.Trajectory)
    assert np.array_equal(again.y, run.y)
    assert again.system == run.system


def test_kn_load_of_a_run_takes_no_options_of_models(run, tmp_path):
    run.save(tmp_path / "arm.nc")
    with pytest.raises(kn.ModelError, match="a saved run is loaded as it is"):
        kn.load(tmp_path / "arm.nc", base="free")
    with pytest.raises(kn.ArgumentError, match="a System, a compiled one or a file is expected, not Trajectory"):
        kn.simulate(tmp_path / "arm.nc", 1.0)


def test_kn_load_of_what_is_no_run(tmp_path):
    (tmp_path / "text.nc").write_text("kinode: 1\n")
    with pytest.raises(kn.Error, match="cannot be read as NetCDF"):
        kn.load(tmp_path / "text.nc")
    with pytest.raises(kn.Error, match="no such file"):
        kn.load(tmp_path / "missing.nc")


def test_the_file_is_plain_netcdf(run, tmp_path):
    run.save(tmp_path / "arm.nc")
    with h5py.File(tmp_path / "arm.nc") as stored:
        assert np.array_equal(stored["elbow.q"][:], run["elbow.q"])
        assert stored["elbow.q"].attrs["units"] == "rad"
        assert stored.attrs["kinode_version"] == kn.__version__
        assert b"elbow" in stored["model"][()]


def test_a_driven_run_without_states(tmp_path):
    run = kn.simulate(pendulum(motion="sin(t)"), 1.0, samples=5)
    run.save(tmp_path / "driven.nc")
    again = kn.Trajectory.load(tmp_path / "driven.nc")
    assert np.array_equal(again["pin.effort"], run["pin.effort"])


def test_missing_states_are_named(run, tmp_path):
    run.save(tmp_path / "arm.nc")
    with h5py.File(tmp_path / "arm.nc", "a") as stored:
        del stored["elbow.u"]
    with pytest.raises(kn.Error, match=r"arm.nc: has no values for elbow.u"):
        kn.Trajectory.load(tmp_path / "arm.nc")


def test_damaged_and_foreign_files(run, tmp_path):
    file = tmp_path / "arm.nc"
    run.save(file)
    whole = file.read_bytes()
    for size in (0, 100, len(whole) // 2, len(whole) - 100):
        file.write_bytes(whole[:size])
        with pytest.raises(kn.Error, match=r"arm.nc: "):
            kn.Trajectory.load(file)
    file.write_text("not a run\n")
    with pytest.raises(kn.Error, match="cannot be read as NetCDF"):
        kn.Trajectory.load(file)
    with h5py.File(file, "w") as stored:
        stored["x"] = np.zeros(3)
    with pytest.raises(kn.Error, match="is no run of kinode"):
        kn.Trajectory.load(file)
    with pytest.raises(kn.Error, match="there is no such file"):
        kn.Trajectory.load(tmp_path / "none.nc")
    with pytest.raises(kn.Error, match="cannot be written"):
        run.save(tmp_path / "no folder" / "arm.nc")


def test_a_wrong_model_in_a_file(run, tmp_path):
    file = tmp_path / "arm.nc"
    run.save(file)
    with h5py.File(file, "a") as stored:
        stored["model"][()] = "kinode: 1\nbodies: !!python/object:os.system {}\n"
    with pytest.raises(kn.Error, match="the model in the file cannot be read"):
        kn.Trajectory.load(file)


def test_csv(run, tmp_path):
    run.to_csv(tmp_path / "arm.csv", ["elbow.q", "lower.position@upper"])
    with open(tmp_path / "arm.csv", newline="") as stream:
        header, *rows = csv.reader(stream)
    parts = [f"lower.position.{x}@upper [m]" for x in "xyz"]
    assert header == ["t [s]", "elbow.q [rad]", *parts]
    expected = np.column_stack([run.t, run["elbow.q"], run["lower.position@upper"]])
    assert np.array_equal(np.array(rows, dtype=float), expected)
    run.to_csv(tmp_path / "states.csv")
    head = "t [s],shoulder.q [rad],elbow.q [rad],shoulder.u [rad/s],elbow.u [rad/s],shoulder.effort [N*m],"
    assert (tmp_path / "states.csv").read_text().startswith(head)


def test_xarray(run):
    data = run.to_xarray(["elbow.q", "lower.position", "lower.rotation", "lower.quaternion"])
    assert data["lower.position"].dims == ("time", "xyz")
    assert data["lower.position"].attrs["units"] == "m"
    assert np.array_equal(data["lower.position"].sel(xyz="y"), run["lower.position.y"])
    assert data["lower.rotation"].dims == ("time", "row", "column")
    assert data["lower.quaternion"].dims == ("time", "wxyz")
    assert list(run.to_xarray().data_vars)[:4] == ["shoulder.q", "elbow.q", "shoulder.u", "elbow.u"]


def test_tables_of_a_driven_run_hold_all_coordinates_and_loads(tmp_path):
    """A mechanism whose only freedom is prescribed has no state, and its table is as full as any other."""
    run = kn.simulate(kn.load("examples/slider_crank.yaml"), 0.02, samples=5)
    joints = ("main", "crankpin", "wristpin", "bore")
    data = run.to_xarray()
    assert [name for name in data if name.endswith((".q", ".u"))] == [f"{j}.{x}" for x in "qu" for j in joints]
    for joint in joints:
        np.testing.assert_array_equal(data[f"{joint}.reaction.force"], run.reaction(joint).force)
        np.testing.assert_array_equal(data[f"{joint}.effort"], run[f"{joint}.effort"])
    assert data["bore.q"].attrs["units"] == "m"
    run.to_csv(tmp_path / "run.csv")
    with open(tmp_path / "run.csv", newline="") as stream:
        head, *rows = csv.reader(stream)
    assert head[:3] == ["t [s]", "main.q [rad]", "crankpin.q [rad]"]
    assert {"main.effort [N*m]", "hub.reaction.moment.z [N*m]", "bore.reaction.force.y [N]"} <= set(head)
    column = head.index("wristpin.reaction.force.x [N]")
    np.testing.assert_array_equal([float(row[column]) for row in rows], run["wristpin.reaction.force.x"])


def test_tables_name_the_coordinates_of_joints_with_several():
    system = kn.System("flight")
    system.free("loose", system.world, system.body("ball", mass=1, inertia=(1, 1, 1)), velocity=(1, 0, 0))
    data = kn.simulate(system, 0.1, samples=2).to_xarray()
    assert data["loose.q.x"].attrs == {"units": "m", "role": "q"} and "loose.reaction.force" not in data


# -- files from anyone -----------------------------------------------------------------------------
def tampered(run, folder, change):
    file = folder / "arm.nc"
    run.save(file)
    with h5py.File(file, "a") as stored:
        change(stored)
    return file


def put(stored, name, **how):
    """Put other data under a name; dimensions stay."""
    shape = stored[name].shape
    del stored[name]
    return stored.create_dataset(name, shape, dtype="f8", **how)


def test_data_in_other_files_are_not_read(run, tmp_path):
    """A secret of 168 bytes, which external storage would show as 21 numbers."""
    secret = tmp_path / "secret"
    secret.write_bytes(np.arange(21.0).tobytes())
    file = tampered(run, tmp_path, lambda stored: put(stored, "elbow.q", external=[(str(secret), 0, 168)]))
    with pytest.raises(kn.Error, match=r"arm.nc: elbow.q lies in another place or file"):
        kn.Trajectory.load(file)


def test_links_and_views_of_other_files_are_not_followed(run, tmp_path):
    run.save(tmp_path / "other.nc")

    def view(stored):
        layout = h5py.VirtualLayout(shape=(21,), dtype="f8")
        layout[:] = h5py.VirtualSource(str(tmp_path / "other.nc"), "elbow.q", shape=(21,))
        del stored["elbow.q"]
        stored.create_virtual_dataset("elbow.q", layout)

    def link(kind):
        def change(stored):
            del stored["elbow.q"]
            stored["elbow.q"] = kind

        return change

    links = [link(h5py.ExternalLink(str(tmp_path / "other.nc"), "elbow.q")), link(h5py.SoftLink("/elbow.u"))]
    for change in (view, *links):
        with pytest.raises(kn.Error, match=r"arm.nc: elbow.q lies in another place"):
            kn.Trajectory.load(tampered(run, tmp_path, change))


def test_a_small_file_cannot_declare_all_memory(run, tmp_path):
    def change(stored):
        stored.create_dataset("large", (10**7, 10**5), dtype="f8", chunks=(1000, 1000))

    with pytest.raises(kn.Error, match=r"arm.nc: declares 8e\+12 bytes"):
        kn.Trajectory.load(tampered(run, tmp_path, change))


@pytest.mark.parametrize("name", ["facts", "events", "ending"])
@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"a":' * 50_000, '{"a": {"b": 1}}', '[{"a": [[1]]}]', "1", "null", "{", "", '"a"']
)
def test_nested_and_foreign_json_is_refused(run, tmp_path, name, text):
    file = tampered(run, tmp_path, lambda stored: stored.attrs.update({name: text}))
    with pytest.raises(kn.Error, match=r"arm.nc: "):
        kn.Trajectory.load(file)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["elbow.q", "elbow.u", "time", "parameter_values", "input_values", "end_state"])
def test_numbers_that_are_none_are_refused(run, tmp_path, name, value):
    def change(stored):
        stored[name][0] = value

    with pytest.raises(kn.Error, match=rf"arm.nc: .*{name.partition('.')[0]}.* not finite"):
        kn.Trajectory.load(tampered(run, tmp_path, change))


def test_times_that_go_back_and_values_of_another_model_are_refused(run, tmp_path):
    def swapped(stored):
        stored["time"][3:5] = stored["time"][3:5][::-1]

    def fewer(stored):
        put(stored, "end_state")[:] = 0.0
        stored["coordinate"][0] = "shoulder.q"

    def other(stored):
        stored["parameter"][0] = "stolen"

    for change, words in ((swapped, "forth and back"), (fewer, "end_state"), (other, "parameter_values are not those")):
        with pytest.raises(kn.Error, match=f"arm.nc: .*{words}"):
            kn.Trajectory.load(tampered(run, tmp_path, change))


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "run.nc")
    with pytest.raises(kn.Error, match=r"run.nc: is no ordinary file"):
        kn.Trajectory.load(tmp_path / "run.nc")


def test_a_run_that_ended_without_a_finite_value_is_kept(tmp_path):
    """What is stored of it is finite, so that its file is read again."""
    with pytest.raises(kn.SimulationError) as failure:
        kn.simulate(pendulum(u=1.0, effort="50*pin.u^3"), 10.0, samples=101)
    run = failure.value.run
    assert np.all(np.isfinite(run.y))
    run.save(tmp_path / "run.nc")
    again = kn.Trajectory.load(tmp_path / "run.nc")
    assert again.ending == run.ending and np.array_equal(again.y, run.y)
