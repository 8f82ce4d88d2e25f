"""Single faults put into the source: which there are, and that they are put in."""

import json
import subprocess
import sys

import mutations
import pytest
from mutations import Fault, find_faults, read_table, write_table

TEXT = '''"""A file: 1 + 1."""
def turn(x: list[float], n=3):
    """Two words - no faults."""
    if x[0] < 2:
        raise ValueError(f"{x[0] - 1}")
    return -x[1] + 4.0 * n
'''


def test_all_kinds_are_found_in_bodies_alone():
    found = [(fault.line, fault.kind, fault.before, fault.after) for fault in find_faults("a.py", TEXT)]
    assert sorted(found) == [
        (4, "comparison", " < ", " <= "),
        (4, "constant", "0", "1"),
        (4, "constant", "2", "(2*2)"),
        (4, "index", "0", "1"),
        (6, "constant", "1", "(2*1)"),
        (6, "constant", "4.0", "(2*4.0)"),
        (6, "index", "1", "0"),
        (6, "sign", " + ", " - "),
        (6, "sign", "-", "+"),
    ]


def test_a_term_is_dropped_with_its_brackets():
    (drop,) = [fault for fault in find_faults("a.py", "def f(a, b):\n    return (a - 2 * b)\n") if fault.kind == "term"]
    assert drop.apply("def f(a, b):\n    return (a - 2 * b)\n") == "def f(a, b):\n    return (a)\n"


def test_a_table_is_read_as_it_was_written(tmp_path):
    faults = list(find_faults("algebra/a.py", TEXT))
    write_table(faults, tmp_path / "faults.tsv")
    assert read_table(tmp_path / "faults.tsv") == faults


def test_a_row_by_hand_finds_its_place(tmp_path):
    """By a text that stands once in the file, so that it holds however the lines above it change."""
    table = tmp_path / "faults.tsv"
    table.write_text("# the z of a vector product\nalgebra/spatial.py\ta[0] * b[1] - a[1] * b[0]\ta[0] * b[1]\n")
    (fault,) = read_table(table)
    text = (mutations.SOURCE / fault.file).read_text(encoding="utf-8")
    assert fault.apply(text) == text.replace("a[0] * b[1] - a[1] * b[0]", "a[0] * b[1]") != text


def test_a_row_by_hand_that_fits_several_places_is_refused():
    with pytest.raises(AssertionError, match=r"spatial\.py: 'return' stands there \d\d times, not once"):
        Fault.by_hand("algebra/spatial.py", "return", "pass")


def test_faults_chosen_by_hand_are_in_the_source():
    for fault in read_table(mutations.CHOSEN):
        text = (mutations.SOURCE / fault.file).read_text(encoding="utf-8")
        compile(fault.apply(text), fault.file, "exec")
        assert fault.apply(text) != text


def test_lines_are_read_as_they_were_recorded(tmp_path, monkeypatch):
    """Lines with the same tests share one list, which is kept as steps from number to number."""
    monkeypatch.setattr(mutations, "LINES", tmp_path / "lines.json")
    groups = [(0, 2), (1,)]
    lines = {"a.py": {4: 0, 5: 0, 7: 1}}
    seconds = {"x": 0.5, "y": 0.1, "z": 0.2}
    known = {"lines": lines, "groups": [mutations.find_steps(group) for group in groups], "seconds": seconds}
    mutations.LINES.write_text(json.dumps(known))
    assert mutations.read_lines() == ({("a.py", 4): ["x", "z"], ("a.py", 5): ["x", "z"], ("a.py", 7): ["y"]}, seconds)


OFTEN = "from kinode.algebra.spatial import cross; [cross([1, 2, 3], [4, 5, 6]) for k in range(99)]"


@pytest.mark.parametrize("before", [OFTEN, ""], ids=["run often", "not imported"])
def test_a_fault_is_put_in(before):
    """In a process of its own, which is wrong from then on, whether the code has run often or is not imported yet."""
    file = mutations.SOURCE / "algebra" / "spatial.py"
    lines = file.read_text(encoding="utf-8").splitlines()
    line = next(k for k, text in enumerate(lines, 1) if "a[1] * b[2] - a[2] * b[1]" in text)
    fault = Fault("algebra/spatial.py", line, "sign", " - ", " + ", lines[line - 1].index(" - "))
    code = f"""import sys; sys.path.insert(0, "tools"); import mutations
{before}
mutations.put_in(mutations.Fault(*{tuple(fault)!r}))
from kinode.algebra.spatial import cross
print(list(cross([1, 2, 3], [4, 5, 6])))"""
    done = subprocess.run([sys.executable, "-c", code], cwd=mutations.ROOT, capture_output=True, text=True)
    assert done.stdout == "[27, 6, -3]\n", done.stderr
