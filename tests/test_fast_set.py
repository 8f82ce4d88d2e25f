"""Which tests are slow: by what they use, by the record of a whole run, or by a short list of files."""

import subprocess

import pytest
from fast_set import FILES, MOST, TESTS, SlowTests, find_slow_files, find_uses, write_record


def start():
    return subprocess.run(["true"])


class Started:
    def begin(self):
        return start()


def uses_a_class():
    return Started().begin()


def uses_nothing():
    return [MOST, pytest]


def in_a_function_within():
    def inner():
        return subprocess.PIPE

    return inner()


@pytest.mark.parametrize(
    ("function", "marks"),
    [
        (start, {"subprocess"}),
        (uses_a_class, {"subprocess"}),
        (in_a_function_within, {"subprocess"}),
        (uses_nothing, set()),
    ],
)
def test_a_test_is_marked_by_what_it_names(function, marks):
    assert find_uses(function, {}) == marks
    assert find_uses(uses_nothing, {"made": function}) == marks
    assert find_uses(function, {"browser": None, "page": None}) == {"browser"} | marks
    assert find_uses(function, {"compiler": None}) == {"compiler"} | marks


def test_the_record_decides_where_there_is_one(tmp_path):
    record, files = tmp_path / "record.json", tmp_path / "files.txt"
    files.write_text("tests/test_long.py\n")
    listed = SlowTests(record, files)
    assert [listed.took_long(name) for name in ("tests/test_long.py::a", "tests/test_longer.py::a")] == [True, False]
    write_record({"tests/test_long.py::a": 0.01, "tests/test_b.py::b[1]": 2 * MOST, "tests/test_b.py::b": MOST}, record)
    recorded = SlowTests(record, files)
    names = ("tests/test_long.py::a", "tests/test_b.py::b[1]", "tests/test_b.py::b", "tests/test_new.py::c")
    assert [recorded.took_long(name) for name in names] == [False, True, False, False]


def test_the_listed_files_are_those_that_take_longest():
    seconds = {"a.py::x": 3.0, "b.py::x": 1.0, "b.py::y": 1.0, "c.py::x": MOST, "c.py::y": MOST}
    assert find_slow_files(seconds) == ["a.py", "b.py"]
    assert find_slow_files(seconds, 1) == ["a.py"]


def test_the_list_is_short_and_true():
    names = FILES.read_text(encoding="utf-8").split()
    assert names == sorted(set(names)) and len(names) <= 40
    assert [name for name in names if not (TESTS.parent / name).is_file()] == []
