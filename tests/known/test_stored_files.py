"""Files that an earlier kinode wrote are opened, gone on with and give their numbers; the present one gives them too.

``stored`` is what ``tests/support/stored_files.py`` wrote, and says how; ``version_0_1/runs`` holds runs of examples as
version 0.1.0 saved them at first, with what it read from them in ``version_0_1/values.json``.  All numbers are those of
the code that wrote them: other tests say that they are right, this one that they stay.  Two models for each method
are tried in every run, all of them at night.
"""

import csv
import json
import math
import pickle
import platform
import random
import re
import shutil
import sys
import zipfile
import zlib
from base64 import b64decode

import numpy as np
import pytest
import stored_files
from c_models import LoadedModel
from compare_platforms import LIMIT, find_worst
from stored_files import FOLDER

import kinode as kn
from kinode.ode.method_table import METHODS
from kinode.player.packet import read_packet
from kinode.studies.worker import DONE

OLD = FOLDER.parent / "version_0_1"
RUNS = {
    f"{folder.name}/{name}": (folder / "runs" / f"{name}.nc", known)
    for folder in (OLD, FOLDER)
    for name, known in json.loads((folder / "values.json").read_text()).items()
}
NUMBERS = json.loads((FOLDER / "numbers.json").read_text())
SCRIPTS = sorted(path.stem for path in (FOLDER / "printed").iterdir())
IN_TEXT = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]\d+)?")
NEVER_SAME = re.compile(r'(guid|instantiationToken|generationDateAndTime|generationTool)="[^"]*"')


def choose(names, count, seed=34):
    """Some names for every run, the others marked for the night."""
    names = sorted(names)
    chosen = set(random.Random(seed).sample(names, count))
    return [pytest.param(name, marks=() if name in chosen else pytest.mark.nightly) for name in names]


def choose_numbers():
    """Two models for each method."""
    by_method = {method: [name for name in NUMBERS if name.split()[1] == method] for method in METHODS}
    return [chosen for k, names in enumerate(by_method.values()) for chosen in choose(names, 2, seed=k)]


def same(values, known):
    """Computed anew by compiled code, which may round in another order."""
    return values == pytest.approx(known, rel=1e-9, abs=1e-9, nan_ok=True)


def compare_tree(new, known, place=""):
    """Everything that was in a header is in it now; there may be more."""
    if isinstance(known, dict):
        for name, value in known.items():
            assert name in new, f"{place}: {name}"
            compare_tree(new[name], value, f"{place}.{name}")
    elif isinstance(known, list):
        assert len(new) == len(known), place
        for k, value in enumerate(known):
            compare_tree(new[k], value, f"{place}[{k}]")
    elif isinstance(known, float):
        assert math.isclose(new, known, rel_tol=1e-6, abs_tol=1e-9), place
    else:
        assert new == known, place


# -- runs and tables -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", RUNS)
def test_runs_are_read(name):
    file, known = RUNS[name]
    run = kn.Trajectory.load(file)
    assert (run.status, len(run.events)) == (known["status"], known["events"])
    assert run.t[-1] == pytest.approx(known["t"][-1], rel=1e-12)
    assert run.y[-1] == pytest.approx(known["y_end"], rel=1e-12, abs=1e-15)
    for quantity in known.keys() - {"t", "y_end", "status", "events"}:
        assert same(np.ravel(run[quantity][-1]), known[quantity]), quantity


@pytest.mark.parametrize("name", choose(stored_files.RUNS, 2))
def test_runs_are_made_again(name):
    file, known = RUNS[f"stored/{name}"]
    run, stored = stored_files.make_run(name), kn.Trajectory.load(file)
    again = stored_files.read_run(run, stored_files.RUNS[name][3])
    assert again["status"] == known["status"] and again["events"] == known["events"]
    for quantity in known.keys() - {"status", "events"}:
        assert same(again[quantity], known[quantity]), quantity
    assert same(run.p, stored.p) and repr(run.input_values) == repr(stored.input_values)
    assert [event.component for event in run.events] == [event.component for event in stored.events]
    if "sensitivity" in stored_files.RUNS[name][2]:
        assert np.allclose(run.columns.values, stored.columns.values, rtol=1e-8, atol=1e-9)


def test_tables_are_written_again(tmp_path):
    """As CSV, for Excel and for MATLAB, from a run that was stored."""
    openpyxl, loadmat = pytest.importorskip("openpyxl"), pytest.importorskip("scipy.io").loadmat
    run, stored = kn.load(FOLDER / "runs" / f"{stored_files.TABLED}.nc"), FOLDER / "tables"
    run.to_csv(tmp_path / "run.csv")
    run.to_excel(tmp_path / "run.xlsx")
    run.to_mat(tmp_path / "run.mat")
    new, known = ([*csv.reader((folder / "run.csv").open(newline=""))] for folder in (tmp_path, stored))
    assert new[0] == known[0]
    assert same(np.array(new[1:], float), np.array(known[1:], float))
    new, known = (openpyxl.load_workbook(folder / "run.xlsx") for folder in (tmp_path, stored))
    assert new.sheetnames == known.sheetnames
    for sheet in known.sheetnames[1:]:  # the first says what run it is
        compare_tree(*([list(row) for row in book[sheet].values] for book in (new, known)), sheet)
    new, known = (loadmat(folder / "run.mat", simplify_cells=True) for folder in (tmp_path, stored))
    assert {name for name in new if name[0] != "_"} == {name for name in known if name[0] != "_"}
    assert same(new["t"], known["t"])
    assert same(new["elbow"]["q"], known["elbow"]["q"])


# -- studies ---------------------------------------------------------------------------------------------------------
STUDIES = json.loads((FOLDER / "studies" / "values.json").read_text())


@pytest.mark.parametrize("kind", [".nc", "_whole.zarr"])
@pytest.mark.parametrize("name", STUDIES)
def test_studies_are_read(name, kind):
    study = kn.load(FOLDER / "studies" / f"{name}{kind}")
    assert study.complete and study.kept == tuple(STUDIES[name])
    for kept, values in STUDIES[name].items():
        assert np.allclose(study.data[kept].values, values, rtol=1e-12, atol=0.0, equal_nan=True)


@pytest.mark.parametrize("name", STUDIES)
def test_studies_half_done_go_on(name, tmp_path):
    """What was done stays as it is, to the last bit; the rest is as it would have been."""
    store = shutil.copytree(FOLDER / "studies" / f"{name}_half.zarr", tmp_path / "half.zarr")
    half = kn.load(store)
    study = stored_files.make_study(name, store=store)
    done = half.data["status"].values == DONE
    assert 0 < done.sum() < done.size
    assert study.complete and study.notes == ()
    for kept, values in STUDIES[name].items():
        assert same(study.data[kept].values, np.array(values))
        assert np.array_equal(study.data[kept].values[done], half.data[kept].values[done], equal_nan=True)


# -- pages -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", choose(stored_files.PAGES, 1))
def test_pages_hold_what_they_held(name):
    """The page's own reader opens the first of them in ``web/test/fixtures.test.ts``."""
    stored = zlib.decompress(b64decode((FOLDER / "pages" / f"{name}.txt").read_text()))
    (known, old), (header, arrays) = read_packet(stored), read_packet(stored_files.make_packet(name))
    for changing in ("written", "facts", "id"):
        known.pop(changing, None)
    compare_tree(header, known)
    for array, values in old.items():
        size = np.abs(values[np.isfinite(values)]).max(initial=1e-9)
        assert np.allclose(arrays[array], values, rtol=1e-6, atol=1e-6 * size, equal_nan=True), array


# -- exports ---------------------------------------------------------------------------------------------------------
LIBRARIES = json.loads((FOLDER / "exports" / "values.json").read_text())


def find_face(folder, name):
    """The functions and constants that a header declares, without the sizes of memory."""
    text = (folder / f"{name}.h").read_text()
    return set(re.findall(rf"\b{name}_\w+\s*\(", text)) | set(
        re.findall(r"^\s*#define \w+|^\s+\w+ = \d+,?", text, re.M)
    )


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize("name", choose(LIBRARIES, 1))
def test_libraries_in_c_are_as_they_were(name, tmp_path):
    stored = FOLDER / "exports" / name
    new = LoadedModel(stored_files.load_example(name), tmp_path, outputs=stored_files.LIBRARIES[name])
    assert find_face(stored, name) <= find_face(tmp_path, name)
    assert {file.name for file in stored.iterdir()} <= {file.name for file in tmp_path.iterdir()}
    assert same(np.array(stored_files.read_library(new)), np.array(LIBRARIES[name]))


@pytest.mark.nightly
@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize("name", LIBRARIES)
def test_stored_libraries_in_c_compile(name, tmp_path):
    old = LoadedModel(None, shutil.copytree(FOLDER / "exports" / name, tmp_path / name))
    assert same(np.array(stored_files.read_library(old)), np.array(LIBRARIES[name]))


@pytest.mark.skipif(sys.platform != "linux" or platform.machine() != "x86_64", reason="stored FMUs are for Linux")
@pytest.mark.parametrize("version", stored_files.FMU_VERSIONS)
def test_stored_fmus_are_opened(version):
    """By kinode itself, as a component: the run inside it is the pendulum's."""
    file = FOLDER / "exports" / f"{stored_files.FMU_MODEL}_{version[0]}.fmu"
    holder = kn.System("holder")
    holder.fmu("inner", file, period="10 ms")
    assert len(holder["inner"].output_channels) == 4
    run = kn.simulate(holder, 0.1, every=0.01)
    own = kn.simulate(stored_files.load_example(stored_files.FMU_MODEL), 0.1, every=0.01)
    assert np.allclose(run["inner.pivot_q"][:-1], own["pivot.q"][:-1], rtol=1e-6, atol=1e-6)


@pytest.mark.nightly
@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize("version", stored_files.FMU_VERSIONS)
def test_fmus_describe_themselves_as_they_did(version, tmp_path):
    """Variables, their references and their dependencies; not the identity and the time of writing."""
    texts = [
        NEVER_SAME.sub("", zipfile.ZipFile(file).read("modelDescription.xml").decode())
        for file in (
            stored_files.make_fmu(version, tmp_path / f"{stored_files.FMU_MODEL}.fmu"),
            FOLDER / "exports" / f"{stored_files.FMU_MODEL}_{version[0]}.fmu",
        )
    ]
    assert texts[0] == texts[1]


# -- pickles ---------------------------------------------------------------------------------------------------------
PICKLES = json.loads((FOLDER / "pickles" / "values.json").read_text())


@pytest.mark.parametrize("kind", ["system", "dynamics"])
@pytest.mark.parametrize("name", PICKLES)
def test_pickles_are_read_or_name_what_has_moved(name, kind):
    data = (FOLDER / "pickles" / f"{name}_{kind}.pickle").read_bytes()
    try:
        read = pickle.loads(data)
    except (ModuleNotFoundError, AttributeError) as error:  # a class of then stands elsewhere now: they are made anew
        assert "kinode" in str(error)
    else:
        assert same(kn.simulate(read, stored_files.PICKLED_UNTIL).y[-1], PICKLES[name])


# -- numbers ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", choose_numbers())
def test_examples_have_the_numbers_they_had(name):
    """As shares of the largest value in the run; the default of computers that round otherwise is kept to 1e-9, too."""
    if name.startswith("gripper.xml"):
        pytest.importorskip("mujoco")
    numbers, known = stored_files.example_numbers(*name.split()), NUMBERS[name]
    worst, owner = find_worst(known, numbers)
    assert worst <= stored_files.LOOSER.get(name, LIMIT), owner
    assert abs(numbers["steps"] - known["steps"]) <= 1 + known["steps"] // 100


def test_every_example_has_its_numbers():
    stored = {name.split()[0] for name in NUMBERS} | {f"{name}.py" for name in SCRIPTS}
    examples = {path.name for path in (*stored_files.MODELS, *stored_files.EXAMPLES.glob("*.py"))}
    assert stored == examples, "`python tests/support/stored_files.py numbers printed` writes them"


@pytest.mark.nightly
@pytest.mark.parametrize("name", SCRIPTS)
def test_examples_print_what_they_printed(name, tmp_path, monkeypatch):
    """The same words; numbers to a unit of their last digit, or what is rounding in the sums of the energy audit."""
    monkeypatch.setenv("MPLBACKEND", "Agg")
    known, new = (FOLDER / "printed" / f"{name}.txt").read_text(), stored_files.print_example(f"{name}.py")
    assert " ".join(IN_TEXT.sub("#", new).split()) == " ".join(IN_TEXT.sub("#", known).split())
    for before, after in zip(IN_TEXT.findall(known), IN_TEXT.findall(new), strict=True):
        digits, _, power = before.partition("e")
        unit = 10.0 ** (int(power or 0) - len(digits.partition(".")[2]))
        assert abs(float(after) - float(before)) <= max(1.01 * unit, 1e-12), (before, after)
