"""Single faults put into the source: which there are, and that they are put in."""

import subprocess
import sys

import mutations
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


def test_faults_chosen_by_hand_are_in_the_source():
    for fault in read_table(mutations.CHOSEN):
        text = (mutations.SOURCE / fault.file).read_text(encoding="utf-8")
        assert fault.apply(text) != text


def test_a_fault_is_put_in():
    """In a process of its own, which is wrong from then on."""
    file = mutations.SOURCE / "algebra" / "spatial.py"
    lines = file.read_text(encoding="utf-8").splitlines()
    line = next(k for k, text in enumerate(lines, 1) if "a[1] * b[2] - a[2] * b[1]" in text)
    fault = Fault("algebra/spatial.py", line, "sign", " - ", " + ", lines[line - 1].index(" - "))
    code = f"""import sys; sys.path.insert(0, "tools")
import mutations; from kinode.algebra.spatial import cross
before = list(cross([1, 2, 3], [4, 5, 6])); mutations.put_in(mutations.Fault(*{tuple(fault)!r}))
print(before, list(cross([1, 2, 3], [4, 5, 6])))"""
    done = subprocess.run([sys.executable, "-c", code], cwd=mutations.ROOT, capture_output=True, text=True)
    assert done.stdout == "[-3, 6, -3] [27, 6, -3]\n", done.stderr
