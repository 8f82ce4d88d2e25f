"""Runs as Excel and MAT files, loaded back; and the same files as measured records."""

import shutil
import subprocess

import numpy as np
import openpyxl
import pytest
import scipy.io

import kinode as kn
from kinode.cli.options import input_pairs
from kinode.results import run_tables
from kinode.results.run_tables import _title, matlab_name
from kinode.studies.fits.measured_records import read_channel, read_record

NAMES = ["elbow.q", "elbow.reaction.force", "lower.position@upper", "lower.rotation", "elbow.q*180/pi", "L"]


@pytest.fixture(scope="module")
def run():
    return kn.simulate(kn.load("examples/double_pendulum.yaml"), 0.2, samples=11)


def test_excel_has_a_sheet_for_each_component(run, tmp_path):
    run.to_excel(tmp_path / "run.xlsx", NAMES)
    book = openpyxl.load_workbook(tmp_path / "run.xlsx", data_only=True)
    assert book.sheetnames == ["run", "elbow", "lower", "expressions", "L"]
    rows = list(book["elbow"].values)
    assert rows[0] == ("t [s]", "elbow.q [rad]", *(f"elbow.reaction.force.{x} [N]" for x in "xyz"))
    expected = np.column_stack([run.t, run["elbow.q"], run["elbow.reaction.force"]])
    np.testing.assert_allclose(np.array(rows[1:]), expected, rtol=1e-15)  # openpyxl writes 16 digits
    assert book["lower"]["B1"].value == "lower.position.x@upper [m]" and book["lower"].max_column == 13
    first = dict(row[:2] for row in book["run"].values if row[0])
    assert first["model"] == "double_pendulum" and first["status"] == "done" and first["times"] == 11
    assert first["to [s]"] == pytest.approx(0.2) and first["L"] == 0.5 and str(first["program"]).startswith("kinode")


def test_without_names_the_usual_table_is_written(run, tmp_path):
    run.to_excel(tmp_path / "run.xlsx")
    run.to_mat(tmp_path / "run.mat")
    assert openpyxl.load_workbook(tmp_path / "run.xlsx").sheetnames == ["run", "shoulder", "elbow"]
    data = scipy.io.loadmat(tmp_path / "run.mat", simplify_cells=True)
    assert set(data["elbow"]) == {"q", "u", "effort", "reaction_force", "reaction_moment"}


def test_mat_has_a_struct_for_each_component(run, tmp_path):
    run.to_mat(tmp_path / "run.mat", NAMES)
    data = scipy.io.loadmat(tmp_path / "run.mat", simplify_cells=True)
    np.testing.assert_array_equal(data["t"], run.t)
    np.testing.assert_array_equal(data["elbow"]["reaction_force"], run["elbow.reaction.force"])
    assert data["lower"]["rotation"].shape == (11, 3, 3)
    assert data["units"]["elbow"] == {"q": "rad", "reaction_force": "N"}
    assert data["names"]["lower"]["position_in_upper"] == "lower.position@upper"
    assert data["run"]["model"] == "double_pendulum" and data["run"]["parameters"]["L"] == 0.5


@pytest.mark.nightly
def test_octave_reads_what_is_written_for_matlab(run, tmp_path):
    if not shutil.which("octave-cli"):
        pytest.skip("octave is not installed")
    run.to_mat(tmp_path / "run.mat", NAMES)
    script = """a = load(argv(){1}); printf("%s %s %s|", a.units.elbow.q, a.names.lower.position_in_upper, a.run.model);
printf("%.17g ", size(a.lower.rotation), a.t(end), a.elbow.reaction_force(end, :), a.lower.rotation(end, 2, 1));"""
    (tmp_path / "show.m").write_text(script)
    command = ["octave-cli", "--quiet", "--no-init-file", str(tmp_path / "show.m"), str(tmp_path / "run.mat")]
    words, numbers = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("|")
    assert words == "rad lower.position@upper double_pendulum"
    expected = [11, 3, 3, run.t[-1], *run["elbow.reaction.force"][-1], run["lower.rotation"][-1, 1, 0]]
    assert [float(x) for x in numbers.split()] == [float(x) for x in expected]


def test_what_does_not_fit_is_refused(run, tmp_path, monkeypatch):
    for write, ending in ((run.to_excel, "xlsx"), (run.to_mat, "mat")):
        with pytest.raises(kn.ArgumentError, match=f"ends with .{ending}"):
            write(tmp_path / "run.csv")
    monkeypatch.setattr(run_tables, "MOST_ROWS", 10)
    with pytest.raises(kn.ArgumentError, match="11 times are more than the 9 rows"):
        run.to_excel(tmp_path / "run.xlsx")
    monkeypatch.undo()
    monkeypatch.setattr(run_tables, "MOST_COLUMNS", 3)
    with pytest.raises(kn.ArgumentError, match="elbow: 5 columns are more than the 3"):
        run.to_excel(tmp_path / "run.xlsx", NAMES)
    monkeypatch.setattr(run_tables, "LARGEST", 10)
    with pytest.raises(kn.ArgumentError, match="elbow has more than the 2 GB"):
        run.to_mat(tmp_path / "run.mat", NAMES)
    assert not list(tmp_path.iterdir())


def test_names_of_sheets_and_of_variables():
    taken = {"run"}
    assert [_title(x, taken) for x in ("run", "a/b", "A_B", "x" * 40, "x" * 41)] == [
        "run (2)", "a_b", "A_B (2)", "x" * 31, "x" * 27 + " (2)"
    ]  # fmt: skip
    names: set[str] = set()
    assert [matlab_name(x, names) for x in ("a.b", "a_b", "3d", "end", "é", "y" * 70)] == [
        "a_b", "a_b_2", "x_3d", "x_end", "x", "y" * 63
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["run.xlsx#elbow", "run.mat", "run.parquet", "run.csv"])
def test_records_and_inputs_from_all_files(run, tmp_path, name):
    file = tmp_path / name.partition("#")[0]
    if file.suffix == ".parquet":
        import pandas

        pandas.DataFrame({"t [ms]": run.t * 1e3, "elbow.q [deg]": np.degrees(run["elbow.q"]), "who": "me"}).to_parquet(
            file
        )
    else:
        {".xlsx": run.to_excel, ".mat": run.to_mat, ".csv": run.to_csv}[file.suffix](file, ["elbow.q"])
    record = read_record(f"{tmp_path}/{name}")
    np.testing.assert_allclose(record.t, run.t, atol=1e-15)
    np.testing.assert_allclose(read_channel(record, "elbow.q", "rad"), run["elbow.q"], rtol=1e-14)
    driven = kn.System("driven")
    driven.input("u", "0 rad")
    times, values = input_pairs(driven, [f"u={tmp_path}/{name}:elbow.q"])["u"]
    np.testing.assert_allclose(times, run.t, atol=1e-15)
    np.testing.assert_allclose(values, run["elbow.q"], rtol=1e-14)
    if file.suffix == ".parquet":
        with pytest.raises(kn.ArgumentError, match=r"run.parquet: row 1: column 'who': 'me' is not a finite number"):
            read_channel(record, "who", None)
