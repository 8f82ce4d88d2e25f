"""Measured data in files: the same columns from text, Excel, MAT and Parquet, and errors that say where."""

import datetime
import re
import warnings

import h5py
import numpy as np
import openpyxl
import pyarrow
import pyarrow.parquet
import pytest
import scipy.io

import kinode as kn
from kinode.expressions import measured_files
from kinode.expressions.measured_columns import MeasuredColumn, MeasuredColumns, find_hint, split_heading
from kinode.expressions.measured_files import read_columns
from kinode.expressions.table_files import read_table_file
from kinode.expressions.units import find_units

ANGLES, TORQUES = [0.0, 90.0, 180.0], [0.0, 1500.0, 500.0]


def workbook(path, **sheets):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def write_text(path):
    rows = "\n".join(f"{a};{b};note" for a, b in zip(ANGLES, TORQUES))
    path.write_text(f"# a test bench\nangle [deg]; torque [N*mm]; remark\n{rows}\n")


def write_excel(path):
    head = [["Bench 3, Tuesday"], [], [None, "angle (deg)", "torque [N*mm]", "remark"]]
    workbook(path, curve=[*head, *([None, a, b, "note"] for a, b in zip(ANGLES, TORQUES)), [], ["below"]])


def write_mat(path):
    data = {"angle": np.array(ANGLES), "torque": np.array(TORQUES)[:, None], "other": np.arange(7.0), "who": "me"}
    scipy.io.savemat(path, {**data, "units": {"angle": "deg", "torque": "N*mm"}})


def write_mat_73(path):
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, values, unit in (("angle", ANGLES, "deg"), ("torque", TORQUES, "N*mm")):
            file.create_dataset(name, data=np.array([values])).attrs["MATLAB_class"] = np.bytes_("double")
            text = file.create_dataset(f"units/{name}", data=np.array([[ord(x)] for x in unit], dtype="u2"))
            text.attrs["MATLAB_class"] = np.bytes_("char")
    with path.open("r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file")


def write_parquet(path):
    fields = [("angle [deg]", None), ("torque", {"units": "N*mm"}), ("remark", None)]
    schema = pyarrow.schema(
        [
            pyarrow.field(name, pyarrow.string() if name == "remark" else pyarrow.float64(), metadata=metadata)
            for name, metadata in fields
        ]
    )
    pyarrow.parquet.write_table(pyarrow.table([ANGLES, TORQUES, ["note"] * 3], schema=schema), path)


FILES = {
    "a.csv": write_text,
    "a.xlsx": write_excel,
    "a.mat": write_mat,
    "b.mat": write_mat_73,
    "a.parquet": write_parquet,
}


@pytest.mark.parametrize("name", FILES)
def test_a_table_from_any_file_is_in_si(tmp_path, name):
    FILES[name](tmp_path / name)
    ((axis,), values) = read_table_file(tmp_path / name, "torque")
    np.testing.assert_allclose(axis, np.radians(ANGLES), rtol=1e-15)
    np.testing.assert_allclose(values, [0.0, 1.5, 0.5], rtol=1e-15)
    (tmp_path / "model.yaml").write_text(
        "kinode: 1\nname: m\nbodies: {b: {mass: 1, inertia: {zz: 1}}}\n"
        f"tables: {{curve: {{file: {name}, column: torque, over: angle, outside: hold}}}}\n"
        "joints: {j: {kind: revolute, between: [world, b], effort: curve(j.q), q: 90 deg}}\n"
    )
    dynamics = kn.compile(kn.load(tmp_path / "model.yaml"))
    assert dynamics.acceleration(0.0, [np.pi / 2], [0.0])[0] == pytest.approx(1.5)


def test_units_in_a_row_of_their_own(tmp_path):
    path = workbook(tmp_path / "a.xlsx", s=[["t", "v"], ["[ms]", "[km/h]"], [0, 0], [1000, 36]])
    assert read_table_file(path) == (((0.0, 1.0),), (0.0, pytest.approx(10.0)))


@pytest.mark.parametrize(
    ("heading", "parts"),
    [("a [N*m]", ("a", "N*m")), ("a (mm)", ("a", "mm")), ("a (left)", ("a (left)", None)), ("a [-]", ("a", None)),
     ("elbow.q", ("elbow.q", None)), ("f(1)", ("f(1)", None)), ("a(deg)", ("a", "deg")), ("v/(m/s)", ("v", "m/s")),
     ("t/ms", ("t", "ms")), ("F / N", ("F", "N")), ("s/mm", ("s", "mm")), ("a/b", ("a/b", None)),
     ("v/km/h", ("v", "km/h")), ("km/h", ("km/h", None)), ("n 1/min", ("n", "1/min")), ("1/min", ("1/min", None)),
     ("angle deg", ("angle", "deg")), ("torque N m", ("torque", "N m")), ("way in mm", ("way", "mm")),
     ("valve in", ("valve", "in")), ("arm angle °", ("arm angle", "°")), ("mean value", ("mean value", None)),
     ("valve_in", ("valve_in", None)), ("u_N", ("u_N", None)), ("Zeit_ms", ("Zeit_ms", None)), ("deg", ("deg", None))],
)  # fmt: skip
def test_headings(heading, parts):
    assert split_heading(heading) == parts


def test_every_unit_is_read_in_every_form():
    for unit in find_units():
        for heading in (f"x [{unit}]", f"x ({unit})", f"x({unit})", f"x/{unit}", f"x {unit}", f"x in {unit}"):
            assert split_heading(heading) == ("x", unit), heading
        assert split_heading(f"x_{unit}") == (f"x_{unit}", None)


GOOD = [["x", "y [mm]", "z"], [0, 1, 2], [1, 2, 3]]


@pytest.mark.parametrize(
    ("sheets", "arguments", "message"),
    [
        ({"a": GOOD, "b": GOOD}, {}, "a.xlsx: there are 2 sheets; say which by sheet=: a, b"),
        ({"a": GOOD}, {"sheet": "c"}, "there is no sheet 'c'; there are a"),
        ({"a": GOOD}, {"sheet": 2}, "there is no sheet 2"),
        ({"a": GOOD}, {}, "sheet 'a': row 1: a table file has 2 columns, this one 3"),
        ({"a": GOOD}, {"column": "w"}, "sheet 'a': row 1: no column of values is called 'w'; there are y, z"),
        ({"a": [*GOOD, [2, "n/a", 1]]}, {"column": "y"}, "sheet 'a': row 4: column 'y': 'n/a' is not a finite number"),
        ({"a": [*GOOD, [2, None, 1]]}, {"column": "y"}, "sheet 'a': row 4: column 'y': the cell is empty"),
        ({"a": [*GOOD, [0.5, 1, 1]]}, {"column": "y"}, "row 4: the axis must increase: 0.5 follows 1"),
        ({"a": [["x", "y [foo]"], [0, 1], [1, 2]]}, {}, "row 1: column 'y'"),
        ({"a": [["only"]]}, {}, "there is no table of at least two columns"),
        ({"a": GOOD}, {"over": "w"}, "no column is called 'w'"),
    ],
)
def test_wrong_workbooks_name_sheet_column_and_row(tmp_path, sheets, arguments, message):
    path = workbook(tmp_path / "a.xlsx", **sheets)
    with pytest.raises(kn.ModelError) as caught:
        read_table_file(path, arguments.pop("column", None), **arguments)
    assert message in str(caught.value)


def test_a_sheet_behind_the_name(tmp_path):
    workbook(tmp_path / "a.xlsx", a=GOOD, b=[["x", "y"], [0, 5], [1, 6]])
    assert read_table_file(f"{tmp_path}/a.xlsx#b")[1] == (5.0, 6.0)
    with pytest.raises(kn.ModelError, match="the name of the file has a sheet"):
        read_columns(f"{tmp_path}/a.xlsx#b", "a")


@pytest.mark.parametrize(
    ("name", "message"),
    [("a.xlsx", "is no Excel file that can be read"), ("a.mat", "is no MAT file that can be read"),
     ("a.parquet", "is no Parquet file that can be read"), ("a.xls", "Excel before 2007"), ("a.ods", "OpenDocument")],
)  # fmt: skip
def test_files_that_are_something_else(tmp_path, name, message):
    (tmp_path / name).write_bytes(b"\x00\x01 nothing of the kind" * 20)
    with pytest.raises(kn.ModelError, match=message):
        read_table_file(tmp_path / name)


def test_wrong_columns_of_mat_and_text(tmp_path, monkeypatch):
    write_mat(tmp_path / "a.mat")
    with pytest.raises(kn.ModelError, match="'other' has 7 rows, and the others 3"):
        read_table_file(tmp_path / "a.mat", "other")
    with pytest.raises(kn.ModelError, match="'who' is no vector of numbers"):
        read_table_file(tmp_path / "a.mat", "who")
    scipy.io.savemat(tmp_path / "b.mat", {"who": "me"})
    with pytest.raises(kn.ModelError, match="holds no vectors of numbers"):
        read_table_file(tmp_path / "b.mat")
    with pytest.raises(kn.ModelError, match=r"there are no sheets in a \.mat file"):
        read_table_file(tmp_path / "a.mat", sheet="x")
    path = workbook(tmp_path / "a.xlsx", a=GOOD)
    monkeypatch.setattr(measured_files, "LARGEST_UNPACKED", 100)
    with pytest.raises(kn.ModelError, match="unpacked it is larger"):
        read_columns(path)


def test_a_package_that_is_missing_is_named(tmp_path, monkeypatch):
    path = workbook(tmp_path / "a.xlsx", a=GOOD)
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    with pytest.raises(
        kn.ArgumentError, match=r"a.xlsx: an Excel file needs the package openpyxl: pip install 'kinode\[excel\]'"
    ):
        read_columns(path)


def test_never_outside_the_folder_of_the_model(tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    workbook(tmp_path / "secret.xlsx", a=[["x", "y"], [0, 1], [1, 2]])
    (folder / "link.xlsx").symlink_to(tmp_path / "secret.xlsx")
    for name in ("../secret.xlsx", "link.xlsx", str(tmp_path / "secret.xlsx"), "../secret.xlsx#a"):
        (folder / "model.yaml").write_text(f"kinode: 1\ntables: {{f: {{file: '{name}'}}}}\n")
        with pytest.raises(kn.ModelError, match="outside the folder of the model"):
            kn.load(folder / "model.yaml")


# -- nothing is lost, no number is another ---------------------------------------------------------------
def columns_of(path):
    found = read_columns(path)
    return {column.name: found.numbers_in_si(column).tolist() for column in found.columns}


def test_an_empty_row_ends_a_table_only_where_no_numbers_go_on(tmp_path):
    rows = [["t [s]", "x [mm]"], [0, 1], [1, 2], []]
    ended = workbook(tmp_path / "ended.xlsx", log=[*rows, ["mean of both", 1.5], [], ["other", "table"], [7, 8]])
    assert columns_of(ended) == {"t": [0, 1], "x": [0.001, 0.002]}
    broken = workbook(tmp_path / "broken.xlsx", log=[*rows, [2, 4]])
    with pytest.raises(kn.ModelError, match="row 4 is empty, and numbers go on in row 5; a table has no empty rows"):
        read_columns(broken)


def test_columns_of_numbers_without_a_heading_count(tmp_path):
    book = openpyxl.Workbook()
    for row in [["t [s]", "x [mm]", None, None], [0, 1, 5, "remark"], [1, 2, 6, ""]]:
        book.active.append(row)
    book.active.merge_cells("B1:C1")
    book.save(tmp_path / "merged.xlsx")
    assert columns_of(tmp_path / "merged.xlsx") == {"t": [0, 1], "x": [0.001, 0.002], "3": [5, 6]}


@pytest.mark.parametrize(("shown", "expected"), [("0.0%", [0.5, 0.25]), ("General", [0.005, 0.0025])])
def test_per_cent_in_the_heading_and_in_the_cells_count_once(tmp_path, shown, expected):
    book = openpyxl.Workbook()
    for row in [[None, "t [s]", "load [%]"], [None, 0, 0.5], [None, 1, 0.25]]:
        book.active.append(row)
    for k in (2, 3):
        book.active.cell(k, 3).number_format = shown
    book.save(tmp_path / "load.xlsx")
    assert columns_of(tmp_path / "load.xlsx")["load"] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("t [s];x [mm]\n0,5;-1,25e1\n1;2\n", {"t": [0.5, 1.0], "x": [-0.0125, 0.002]}),
        ("sep=;\nt;x\n0;1,5\n1;2\n", {"t": [0.0, 1.0], "x": [1.5, 2.0]}),
        ("\ufefft (s)\tx [mm]\r\n0\t1.5\r\n1\t2\r\n", {"t": [0.0, 1.0], "x": [0.0015, 0.002]}),
    ],
)
def test_decimal_commas_and_separators(tmp_path, text, expected):
    (tmp_path / "log.csv").write_text(text, encoding="utf-8")
    found = columns_of(tmp_path / "log.csv")
    assert {name: pytest.approx(values) for name, values in expected.items()} == found


@pytest.mark.parametrize("cell", ["1.234,5", "1,234"])
def test_separators_of_thousands_are_refused(tmp_path, cell):
    """With a point elsewhere in the file, a comma may mean either."""
    (tmp_path / "log.csv").write_text(f"t;x\n0.5;{cell}\n1.5;2\n", encoding="utf-8")
    with pytest.raises(kn.ModelError, match=f"log.csv:2: '{cell}' is not a finite number"):
        columns_of(tmp_path / "log.csv")


def test_cells_that_are_no_numbers_say_what_they_are(tmp_path):
    day = datetime.datetime(2026, 1, 2, 3, 4, 5)
    for cell, message in (
        (day, "2026-01-02 03:04:05 is a date or time of day; write seconds since the start"),
        ("=A2*2", "the cell is empty, or a formula whose value the file does not have"),
        ("0,5", "'0,5' is not a finite number; decimals follow a point"),
    ):
        path = workbook(tmp_path / "log.xlsx", log=[["t", "x"], [0, cell], [1, 2]])
        with pytest.raises(kn.ModelError, match=re.escape(f"row 2: column 'x': {message}")):
            columns_of(path)


# -- units in headings ------------------------------------------------------------------------------------
CAM = "0,0\n90,10\n180,0\n"


@pytest.mark.parametrize(
    "head",
    ["angle [deg],lift [mm]", "angle (deg),lift(mm)", "angle/deg,lift/mm", "angle deg,lift mm",
     "angle in deg,lift in mm", "[deg],lift mm"],
)  # fmt: skip
def test_units_of_headings_count_and_the_summary_tells_them(tmp_path, head):
    """A cam that lifts 10 mm at a quarter of a turn lifts 0.01 m at pi/2."""
    (tmp_path / "cam.csv").write_text(f"{head}\n{CAM}")
    system = kn.System("cam")
    system.table("lift", file=tmp_path / "cam.csv")
    table = system.tables["lift"]
    np.testing.assert_allclose([*table.axes[0], *table.values], [0, np.pi / 2, np.pi, 0, 0.01, 0], rtol=1e-15)
    words = " ".join(system.summary().split())
    assert "values over 0 to 3.14159 (" in words and "in deg)" in words and "values 0 to 0.01 (lift in mm)" in words


def test_a_unit_behind_an_underscore_is_no_unit_but_a_warning_with_the_text_to_type(tmp_path):
    path = tmp_path / "cam.csv"
    path.write_text(f"angle_deg,lift_mm\n{CAM}")
    with pytest.warns(UserWarning) as caught:
        ((axis,), values) = read_table_file(path)
    texts = [str(each.message).partition("write ")[2] for each in caught]
    assert axis[-1] == 180.0 and values[1] == 10.0  # as they stand
    assert texts == ["over='angle_deg deg'", "column='lift_mm mm'"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ((axis,), values) = read_table_file(path, "lift_mm mm", over="angle_deg deg")
        assert axis[-1] == pytest.approx(np.pi) and values[1] == pytest.approx(0.01)
        assert read_table_file(path, "lift_mm m", over="angle_deg rad")[1][1] == 10.0  # said, so no question


@pytest.mark.parametrize(
    ("name", "expected", "unit"),
    [("Zeit_ms", "s", "ms"), ("lift_mm", "m", "mm"), ("v_km_h", "m/s", "km/h"), ("M_N_mm", "N*m", "N*mm"),
     ("angle degrees", "rad", "deg"), ("n_rpm", None, "rpm"), ("km/h", "m/s", "km/h"), ("mm", None, "mm"),
     ("valve_in", None, "in"), ("valve_in", "V", None), ("u_N", "V", None), ("x_m", "m", None), ("time", "s", None),
     ("s", "s", None), ("t", "s", None), ("peak_force", "N", None),
     ("angle_in_deg", None, "deg"), ("torque_in_lbf", "N*m", "in*lbf"), ("v_km/h", None, "km/h"),
     ("w_1/min", None, "1/min"), ("q_deg/s", None, "deg/s"), ("n U/min", None, "rpm"), ("U/min", None, "rpm"),
     ("n (U/min)", None, "rpm"), ("x DEG", "rad", "deg"), ("x (Deg)", "rad", "deg"), ("n_RPM", None, "rpm"),
     ("x (degrees)", None, "deg"), ("x_inch", None, "in"), ("v_kmh", "m/s", "km/h"), ("T (Nmm)", None, "N*mm"),
     ("a mm/s2", None, "mm/s^2"), ("a (deg/s2)", None, "deg/s^2"), ("n min-1", None, "min^-1"),
     ("lift [mm] left", None, "mm"), ("angle <deg>", None, "deg"), ("u_N/kV", "V", "kV"), ("x_in1", None, None),
     ("motor_U", None, None), ("x (left)", None, None), ("v_m/s", None, None)],
)  # fmt: skip
def test_units_that_names_suggest(name, expected, unit):
    """Only what would change the numbers, and fits what they are, is worth a warning."""
    assert find_hint(name, expected) == unit


@pytest.mark.parametrize(
    ("heading", "told", "factor"),
    [("v_km/h", "km/h", 1 / 3.6), ("w_1/min", "1/min", 1 / 60), ("n U/min", "rpm", np.pi / 30),
     ("n (U/min)", "rpm", np.pi / 30), ("a (mm/s2)", "mm/s^2", 1e-3), ("T Nmm", "N*mm", 1e-3)],
)  # fmt: skip
def test_a_unit_that_is_not_written_as_one_is_questioned_and_the_text_to_type_is_right(heading, told, factor):
    """Factors by hand: a turn is 2 pi, an hour 3600 s; a slash in a ratio is none before a unit: v_km/h is not in h."""
    log = log_of(**{heading: [1.0, 2.0]})
    with pytest.warns(UserWarning, match=f"{re.escape(heading)} {re.escape(told)}'"):
        assert log.numbers_in_si(log.columns[0])[0] == 1.0
    assert log.numbers_in_si(log.find(f"{heading} {told}"))[0] == pytest.approx(factor)


def log_of(**cells):
    columns = tuple(MeasuredColumn.of(heading, np.asarray(x)) for heading, x in cells.items())
    return MeasuredColumns("log", "", columns, range(2), 0, True, False, {})


def test_a_heading_that_is_named_letter_for_letter_comes_first():
    log = log_of(**{"Zeit": [1.0, 2.0], "Zeit ms": [3.0, 4.0], "valve in": [5.0, 6.0], "angle deg": [180.0, 0.0]})
    assert log.find("Zeit ms").cells[0] == 3.0 and log.find("Zeit").cells[0] == 1.0
    for text in ("Zeit us", "Zeit in us", "Zeit [us]", "Zeit (us)", "Zeit/us"):
        assert log.find(text).cells[0] == 1.0 and log.find(text).unit == "us"
    assert log.find("valve in mm").name == "valve" and log.find("valve in mm").unit == "mm"
    assert log.numbers_in_si(log.find("angle deg"), "rad")[0] == pytest.approx(np.pi)
    assert log.numbers_in_si(log.find("valve"), "m")[0] == pytest.approx(5 * 0.0254)
    with pytest.raises(kn.ModelError, match="column 'valve': 'in' is no unit of what is measured in V"):
        log.numbers_in_si(log.find("valve"), "V")
    with pytest.warns(UserWarning, match="taken in V, since in is no unit of that; write 'valve in V'"):
        assert log.numbers_in_si(log.find("valve in"), "V")[0] == 5.0
    with pytest.warns(UserWarning, match="taken as they stand; if they are in in, write 'valve in in'"):
        assert log.numbers_in_si(log.find("valve in"))[0] == 5.0
    with pytest.raises(kn.ModelError, match=r"counts cycles.*write rpm"):
        log.numbers_in_si(log.find("angle Hz"), "rad/s")
