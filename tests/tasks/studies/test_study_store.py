"""Studies in stores and files: nothing is lost, and what is there is read again."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import kinode as kn
from kinode.studies.store import StudyStore
from kinode.studies.worker import NOT_RUN

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

    from kinode.studies import worker

    store = tmp_path / "arm.zarr"
    monkeypatch.setattr("kinode.studies.sweep.MOST_OF_CHUNK", 8)
    kn.sweep(arm, OVER, 0.3, keep=KEEP, samples=5, store=store)
    group = zarr.open_group(str(store), mode="r+")
    group["status"][16:24] = NOT_RUN
    group["kept_0"][16:24] = np.nan
    made = []
    put, put_kept = worker.ChunkResult.put, worker.ChunkResult.put_kept
    note = lambda do: lambda self, *given: made.append(given) or do(self, *given)  # noqa: E731
    monkeypatch.setattr(worker.ChunkResult, "put", note(put))
    monkeypatch.setattr(worker.ChunkResult, "put_kept", note(put_kept))
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
    with pytest.raises(kn.ArgumentError, match=words):
        kn.sweep(given["model"], given["over"], given["until"], keep=given["keep"], store=store, **more)


def test_store_that_is_there_is_not_overwritten(arm, tmp_path):
    store = tmp_path / "arm.zarr"
    kn.sweep(arm, {"elbow.q": [0.1]}, 0.1, keep="elbow.u|final", store=store)
    with pytest.raises(kn.ArgumentError, match="there already"):
        kn.sweep(arm, {"elbow.q": [0.1]}, 0.1, keep="elbow.u|final", store=store, resume=False)
    (tmp_path / "other.zarr").mkdir()
    with pytest.raises(kn.ArgumentError, match="no study"):
        kn.sweep(arm, {"elbow.q": [0.1]}, 0.1, keep="elbow.u|final", store=tmp_path / "other.zarr")


def test_store_knows_a_function_by_what_it_does(arm, tmp_path):
    def make(factor):
        def peak(run):
            return factor * float(np.abs(run["elbow.u"]).max())

        return peak

    store = tmp_path / "arm.zarr"
    first = kn.sweep(arm, {"elbow.q": [0.1]}, 0.1, keep=make(1.0), store=store)
    assert kn.sweep(arm, {"elbow.q": [0.1]}, 0.1, keep=make(1.0), store=store).data.identical(first.data)
    with pytest.raises(kn.ArgumentError, match="another list of what is kept"):
        kn.sweep(arm, {"elbow.q": [0.1]}, 0.1, keep=make(2.0), store=store)


SCRIPT = """
import sys, time
import kinode as kn
import kinode.studies.sweep as task
from kinode.studies.store import StudyStore
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
    pytest.importorskip("zarr")
    store = tmp_path / "killed.zarr"
    kills = 0
    for least in (0, 4, 60):  # runs in chunks of two; none: the store is there and has no run
        process = subprocess.Popen([sys.executable, "-c", SCRIPT, str(store)])
        while process.poll() is None and (_done(store) < least or not store.exists()):
            time.sleep(0.01)
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            kills += 1
        process.wait()
    assert kills == 3 and 0 < _done(store) < 400
    again = kn.sweep(arm, {"elbow.q": kn.between(0, 1)}, 0.3, n=400, keep=["elbow.u|peak"], store=store)
    whole = kn.sweep(arm, {"elbow.q": kn.between(0, 1)}, 0.3, n=400, keep=["elbow.u|peak"])
    assert again.complete and again.notes == ()
    assert again.data.identical(whole.data)


@pytest.mark.nightly
@pytest.mark.skipif(os.name == "nt", reason="there is no kill -9")
def test_study_killed_fifty_times_loses_nothing(arm, tmp_path):
    """Each kill comes at a random moment after the store is reserved: before it is laid out, and while it is filled."""
    rng = random.Random(5)
    whole = kn.sweep(arm, {"elbow.q": kn.between(0, 1)}, 0.3, n=400, keep=["elbow.u|peak"])
    store, done = tmp_path / "killed.zarr", []
    for k in range(50):
        process = subprocess.Popen([sys.executable, "-c", SCRIPT, str(store)])
        while process.poll() is None and not (tmp_path / ".killed.zarr.lock").exists():
            time.sleep(0.001)
        time.sleep(rng.uniform(0.0, 0.7))
        process.kill()
        process.wait()
        done.append(_done(store))
        if k % 5 == 4:
            again = kn.sweep(arm, {"elbow.q": kn.between(0, 1)}, 0.3, n=400, keep=["elbow.u|peak"], store=store)
            assert again.data.identical(whole.data) and again.notes == ()
            shutil.rmtree(store)
    assert len(set(done)) > 5


HOLDER = """
import sys, time
from kinode.atomic_files import locking
with locking(sys.argv[1]) as free:
    print(free, flush=True)
    time.sleep(600)
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such lock")
def test_second_process_is_refused_in_words_until_the_first_one_ends(arm, undisturbed, tmp_path):
    store = tmp_path / "arm.zarr"
    command = [sys.executable, "-c", HOLDER, str(tmp_path / ".arm.zarr.lock")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout.readline() == "True\n"
        with pytest.raises(kn.Error, match=r"another process makes the runs of the study in .*; wait until it ends"):
            kn.sweep(arm, OVER, 0.3, keep=KEEP, samples=5, store=store)
        first.kill()
    assert kn.sweep(arm, OVER, 0.3, keep=KEEP, samples=5, store=store).data.identical(undisturbed.data)
    assert os.listdir(tmp_path) == ["arm.zarr"]


@pytest.mark.nightly
@pytest.mark.skipif(os.name == "nt", reason="Windows has no such lock")
def test_of_two_processes_that_begin_together_one_makes_the_study(arm, tmp_path):
    script = f"""{SCRIPT[: SCRIPT.index("kn.sweep")]}
while time.time() < float(sys.argv[2]): pass
try: print(kn.sweep("examples/double_pendulum.yaml", over, 0.3, n=100, keep=["elbow.u|peak"], store=sys.argv[1]).head)
except kn.Error as error: print(error)
"""
    whole = kn.sweep(arm, {"elbow.q": kn.between(0, 1)}, 0.3, n=100, keep=["elbow.u|peak"])
    for k in range(20):
        store, begin = tmp_path / f"{k}.zarr", str(time.time() + 3.0)
        command = [sys.executable, "-c", script, str(store), begin]
        both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
        words = sorted(process.communicate()[0] for process in both)
        assert words[0].startswith("100 runs") and words[1].startswith(("100 runs", "store: another process"))
        assert kn.load(store).data.identical(whole.data)


@contextmanager
def full_disk(size):
    """No file can grow beyond so many bytes, as on a disk that is full."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))

    try:
        yield fill
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("size", [0, 600, 800])
def test_store_cut_short_while_it_is_made_is_made_anew(arm, undisturbed, tmp_path, size):
    """The metadata of an array take some 700 bytes; all of them, and the record, more."""
    store = tmp_path / "arm.zarr"
    with full_disk(size) as fill:
        fill()
        with pytest.raises(kn.Error, match=r"arm\.zarr: cannot be written: File too large"):
            kn.sweep(arm, OVER, 0.3, keep=KEEP, samples=5, store=store)
    assert os.listdir(tmp_path) == []
    assert kn.sweep(arm, OVER, 0.3, keep=KEEP, samples=5, store=store).data.identical(undisturbed.data)


@pytest.mark.parametrize("missing", [["zarr.json"], ["zarr.json", "status/zarr.json", "message/zarr.json"]])
def test_store_without_runs_and_record_is_made_anew(arm, undisturbed, tmp_path, missing):
    store = tmp_path / "arm.zarr"
    kn.sweep(arm, OVER, 0.3, keep=KEEP, samples=5, store=store)
    for chunks in store.glob("*/c"):
        shutil.rmtree(chunks)
    for name in missing:
        (store / name).unlink()
    with pytest.raises(kn.Error, match="start the same study"):  # removing it is not the only cure
        kn.load(store)
    assert kn.sweep(arm, OVER, 0.3, keep=KEEP, samples=5, store=store).data.identical(undisturbed.data)


def test_chunk_that_is_a_folder_counts_as_damaged(arm, tmp_path):
    """As a file system may leave it that was repaired: its runs are no numbers."""
    store = tmp_path / "arm.zarr"
    kn.sweep(arm, OVER, 0.3, keep=KEEP, samples=5, store=store)
    (chunk,) = (each for each in store.glob("kept_1/c/0/*"))
    chunk.unlink()
    chunk.mkdir()
    with pytest.warns(UserWarning, match=r"kept_1/c/0/\S* is damaged or missing"):
        kn.load(store)


def test_disk_that_fills_up_keeps_what_is_written(arm, tmp_path, monkeypatch):
    """A chunk of eight runs at 501 times takes some 30 kB."""
    monkeypatch.setattr("kinode.studies.sweep.MOST_OF_CHUNK", 8)
    store, write = tmp_path / "arm.zarr", StudyStore.write

    def make(store=store):
        return kn.sweep(arm, {"elbow.q": np.linspace(0.0, 1.0, 40).tolist()}, 0.3, keep="elbow.u", store=store)

    with full_disk(4096) as fill:
        monkeypatch.setattr(StudyStore, "write", lambda *given: (_done(store) == 16 and fill(), write(*given)))
        for _ in range(2):  # and again on the full disk
            with pytest.raises(kn.Error, match="cannot be written: File too large; the 16 runs that are in it stay"):
                make()
    monkeypatch.setattr(StudyStore, "write", write)
    assert _done(store) == 16 and make().data.identical(make(None).data)


def _flip(contents):
    """One bit is wrong, in the middle; in JSON a letter becomes another one."""
    return (
        contents[: len(contents) // 2] + bytes([contents[len(contents) // 2] ^ 1]) + contents[len(contents) // 2 + 1 :]
    )


DAMAGES = {
    "gone": lambda path: path.unlink(),
    "empty": lambda path: path.write_bytes(b""),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-3]),
    "bit": lambda path: path.write_bytes(_flip(path.read_bytes())),
}


@pytest.fixture(scope="module")
def whole_store(arm, tmp_path_factory):
    """A store in chunks of eight runs, of which every second run failed."""
    store = tmp_path_factory.mktemp("whole") / "arm.zarr"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kinode.studies.sweep.MOST_OF_CHUNK", 8)
        kn.sweep(arm, OVER, 0.3, keep=KEEP, samples=5, store=store)
    return store


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", ["kept_0/c/2", "kept_1/c/2/0", "message/c/2/0", "status/c/2"])
def test_damaged_chunk_is_named_and_its_runs_alone_are_made_again(
    arm, undisturbed, whole_store, tmp_path, monkeypatch, name, damage
):
    store = Path(shutil.copytree(whole_store, tmp_path / "arm.zarr"))
    DAMAGES[damage](store / name)
    if (name, damage) != ("status/c/2", "gone"):  # as if these runs were not made yet
        with pytest.warns(
            UserWarning, match=f"{name} is damaged or missing, with 8 of 80 runs; the same study, started"
        ):
            half = kn.load(store)
        assert half.counts["not run"] == 8 and "damaged" in str(half)
        whole, left = undisturbed.data, half.data["status"].values != NOT_RUN
        assert np.array_equal(half.data[KEEP[0]].values[left], whole[KEEP[0]].values[left], equal_nan=True)
    made, write = [], StudyStore.write
    monkeypatch.setattr(StudyStore, "write", lambda *given: (made.append(len(given[2])), write(*given)))
    again = kn.sweep(arm, OVER, 0.3, keep=KEEP, samples=5, store=store)
    assert made == [8] and again.data.identical(undisturbed.data)
    assert kn.load(store).data.identical(undisturbed.data)


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", ["kept_0/zarr.json", "message/zarr.json", "status/zarr.json", "zarr.json"])
def test_damage_beside_the_results_is_mended_and_no_run_is_made_again(
    arm, undisturbed, whole_store, tmp_path, monkeypatch, name, damage
):
    store = Path(shutil.copytree(whole_store, tmp_path / "arm.zarr"))
    DAMAGES[damage](store / name)
    with pytest.raises(kn.Error, match=f": {name} is damaged or missing; start the same study again"):
        kn.load(store)
    monkeypatch.setattr(StudyStore, "write", lambda *given: pytest.fail("a run was made again"))
    again = kn.sweep(arm, OVER, 0.3, keep=KEEP, samples=5, store=store)
    assert again.data.identical(undisturbed.data)
    assert (store / name).read_bytes() == (whole_store / name).read_bytes()


def test_store_whose_study_cannot_be_told_is_left_as_it_is(arm, whole_store, tmp_path):
    store = Path(shutil.copytree(whole_store, tmp_path / "arm.zarr"))
    for name in ("zarr.json", "status/zarr.json"):
        (store / name).write_text("{")
    with pytest.raises(kn.ArgumentError, match="holds no study of kinode; remove it, or choose another name"):
        kn.sweep(arm, OVER, 0.3, keep=KEEP, samples=5, store=store)
    assert (store / "kept_0/c/2").read_bytes() == (whole_store / "kept_0/c/2").read_bytes()


def _done(path):
    try:
        store = StudyStore(path)
        store.open()
        return int((store.status != NOT_RUN).sum())
    except (kn.Error, OSError, KeyError, ValueError):
        return 0


def test_study_as_netcdf_is_read_again(arm, undisturbed, tmp_path):
    file = tmp_path / "arm.nc"
    undisturbed.save(file)
    again = kn.load(file)
    assert again.data.equals(undisturbed.data)
    assert again.failures == undisturbed.failures
    assert again.units("elbow.q") == "rad"
    with pytest.raises(kn.Error, match="is a study"):
        kn.Trajectory.load(file)
    with pytest.raises(kn.ArgumentError, match="no model"):
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
    with pytest.raises(kn.ArgumentError, match=r"kinode\[cluster\]"):
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
    with pytest.raises(kn.ArgumentError, match="needs dask"):
        kn.sweep(arm, {"elbow.q": [0.1]}, 0.1, keep="elbow.u|final", on="tcp://127.0.0.1:1")
