"""Studies in stores and files: nothing is lost, and what is there is read again."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import kinode as kn
from kinode.errors import ArgumentError, Error
from kinode.tasks.studies.study_chunks import NOT_RUN
from kinode.tasks.studies.study_store import StudyStore

KEEP = ["elbow.reaction.force|peak", "elbow.u"]
OVER = {"elbow.q": np.linspace(0.0, 1.0, 40).tolist(), "rtol": [1e-7, 5.0]}


@pytest.fixture(scope="module")
def arm():
    return kn.compile(kn.load("examples/double_pendulum.yaml"))


@pytest.fixture(scope="module")
def undisturbed(arm):
    return kn.sweep(arm, OVER, 0.3, keep=KEEP, samples=5)


def test_store_holds_the_same_study(arm, undisturbed, tmp_path):
    store = tmp_path / "arm.zarr"
    study = kn.sweep(arm, OVER, 0.3, keep=KEEP, samples=5, store=store)
    assert study.data.identical(undisturbed.data)
    assert kn.load(store).data.identical(undisturbed.data)
    assert kn.load(store).failures == undisturbed.failures


def test_only_what_is_missing_is_made_again(arm, undisturbed, tmp_path, monkeypatch):
    import zarr

    from kinode.tasks.studies import study_chunks

    store = tmp_path / "arm.zarr"
    monkeypatch.setattr("kinode.tasks.studies.study_making.MOST_OF_CHUNK", 8)
    kn.sweep(arm, OVER, 0.3, keep=KEEP, samples=5, store=store)
    group = zarr.open_group(str(store), mode="r+")
    group["status"][16:24] = NOT_RUN
    group["kept_0"][16:24] = np.nan
    made = []
    put, put_kept = study_chunks.ChunkResult.put, study_chunks.ChunkResult.put_kept
    note = lambda do: lambda self, *given: made.append(given) or do(self, *given)  # noqa: E731
    monkeypatch.setattr(study_chunks.ChunkResult, "put", note(put))
    monkeypatch.setattr(study_chunks.ChunkResult, "put_kept", note(put_kept))
    again = kn.sweep(arm, OVER, 0.3, keep=KEEP, samples=5, store=store)
    assert len(made) == 8
    assert again.data.identical(undisturbed.data)
    kn.sweep(arm, OVER, 0.3, keep=KEEP, samples=5, store=store)
    assert len(made) == 8


@pytest.mark.parametrize("change, words", [
    ({"over": {"elbow.q": [0.1]}}, "another design"),
    ({"keep": ["elbow.u|peak"]}, "another list of what is kept"),
    ({"until": 0.2}, "other arguments of the simulation"),
    ({"rtol": 1e-5, "over": {"elbow.q": OVER["elbow.q"]}}, "another design"),
    ({"model": "examples/pendulum.yaml", "over": {"pivot.q": [0.1]}, "keep": "pivot.u|peak"}, "another model"),
])  # fmt: skip
def test_store_of_another_study_is_refused(arm, tmp_path, change, words):
    store = tmp_path / "arm.zarr"
    given = {"model": arm, "over": {"elbow.q": [0.1, 0.2]}, "until": 0.1, "keep": ["elbow.u|final"]}
    kn.sweep(given["model"], given["over"], given["until"], keep=given["keep"], store=store)
    given |= change
    more = {name: value for name, value in given.items() if name not in ("model", "over", "until", "keep")}
    with pytest.raises(ArgumentError, match=words):
        kn.sweep(given["model"], given["over"], given["until"], keep=given["keep"], store=store, **more)


def test_store_that_is_there_is_not_overwritten(arm, tmp_path):
    store = tmp_path / "arm.zarr"
    kn.sweep(arm, {"elbow.q": [0.1]}, 0.1, keep="elbow.u|final", store=store)
    with pytest.raises(ArgumentError, match="there already"):
        kn.sweep(arm, {"elbow.q": [0.1]}, 0.1, keep="elbow.u|final", store=store, resume=False)
    (tmp_path / "other.zarr").mkdir()
    with pytest.raises(ArgumentError, match="no study"):
        kn.sweep(arm, {"elbow.q": [0.1]}, 0.1, keep="elbow.u|final", store=tmp_path / "other.zarr")


def test_store_knows_a_function_by_what_it_does(arm, tmp_path):
    def make(factor):
        def peak(run):
            return factor * float(np.abs(run["elbow.u"]).max())

        return peak

    store = tmp_path / "arm.zarr"
    first = kn.sweep(arm, {"elbow.q": [0.1]}, 0.1, keep=make(1.0), store=store)
    assert kn.sweep(arm, {"elbow.q": [0.1]}, 0.1, keep=make(1.0), store=store).data.identical(first.data)
    with pytest.raises(ArgumentError, match="another list of what is kept"):
        kn.sweep(arm, {"elbow.q": [0.1]}, 0.1, keep=make(2.0), store=store)


SCRIPT = """
import sys, time
import kinode as kn
import kinode.tasks.studies.study_making as task
from kinode.tasks.studies.study_store import StudyStore
task.MOST_OF_CHUNK = 2
write, written = StudyStore.write, []
def write_most(*given):  # whoever kills it may be slow: it does not come to its end
    written.append(given)
    if len(written) > 150: time.sleep(600)
    return write(*given)
StudyStore.write = write_most
over = {"elbow.q": kn.between(0, 1)}
kn.sweep("examples/double_pendulum.yaml", over, 0.3, n=400, keep=["elbow.u|peak"], store=sys.argv[1])
"""


@pytest.mark.skipif(os.name == "nt", reason="there is no kill -9")
def test_killed_study_goes_on_and_equals_the_undisturbed_one(arm, tmp_path):
    store = tmp_path / "killed.zarr"
    kills = 0
    for least in (4, 60):  # chunks of two runs
        process = subprocess.Popen([sys.executable, "-c", SCRIPT, str(store)])
        while process.poll() is None and _done(store) < least:
            time.sleep(0.01)
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            kills += 1
        process.wait()
    assert kills == 2 and 0 < _done(store) < 400
    again = kn.sweep(arm, {"elbow.q": kn.between(0, 1)}, 0.3, n=400, keep=["elbow.u|peak"], store=store)
    whole = kn.sweep(arm, {"elbow.q": kn.between(0, 1)}, 0.3, n=400, keep=["elbow.u|peak"])
    assert again.complete
    assert again.data.identical(whole.data)


def _done(path):
    try:
        store = StudyStore(path)
        store.open()
        return int((store.status != NOT_RUN).sum())
    except (Error, OSError, KeyError, ValueError):
        return 0


def test_study_as_netcdf_is_read_again(arm, undisturbed, tmp_path):
    file = tmp_path / "arm.nc"
    undisturbed.save(file)
    again = kn.load(file)
    assert again.data.equals(undisturbed.data)
    assert again.failures == undisturbed.failures
    assert again.units("elbow.q") == "rad"
    with pytest.raises(Error, match="is a study"):
        kn.Trajectory.load(file)
    with pytest.raises(ArgumentError, match="no model"):
        again.evaluate([[0.1]])


def test_expression_with_a_slash_survives_a_file(arm, tmp_path):
    study = kn.sweep(arm, {"elbow.q": [0.1]}, 0.1, keep="elbow.q*180/pi|final")
    study.save(tmp_path / "arm.nc")
    assert kn.load(tmp_path / "arm.nc")["elbow.q*180/pi|final"].item() == study["elbow.q*180/pi|final"].item()


def test_tables_have_a_row_for_each_run(undisturbed, tmp_path):
    pandas = pytest.importorskip("pandas")
    undisturbed.to_csv(tmp_path / "arm.csv")
    table = pandas.read_csv(tmp_path / "arm.csv")
    assert list(table.columns[:3]) == ["elbow.q [rad]", "rtol", "elbow.reaction.force|peak [N]"]
    assert len(table) == 80
    assert np.array_equal(
        table["elbow.reaction.force|peak [N]"], undisturbed[KEEP[0]].values.reshape(-1), equal_nan=True
    )
    undisturbed.to_parquet(tmp_path / "arm.parquet")
    assert pandas.read_parquet(tmp_path / "arm.parquet")["status"].value_counts().to_dict() == {
        "done": 40,
        "failed": 40,
    }


def test_without_zarr_a_store_is_refused_in_words(arm, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "zarr", None)
    with pytest.raises(ArgumentError, match=r"kinode\[cluster\]"):
        kn.sweep(arm, {"elbow.q": [0.1]}, 0.1, keep="elbow.u|final", store=tmp_path / "a.zarr")


def test_dask_cluster_gives_the_same_bits(arm, undisturbed):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None, protocol="inproc://"
    ) as cluster, distributed.Client(cluster) as client:  # fmt: skip
        study = kn.sweep(arm, OVER, 0.3, keep=KEEP, samples=5, on=client)
    assert study.data.identical(undisturbed.data)


def test_address_without_a_cluster_is_said(arm, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ArgumentError, match="needs dask"):
        kn.sweep(arm, {"elbow.q": [0.1]}, 0.1, keep="elbow.u|final", on="tcp://127.0.0.1:1")
