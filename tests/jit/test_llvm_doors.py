"""Two ways to LLVM: they give the same bytes; a version that is not known goes the slower way."""

from __future__ import annotations

import threading

import pytest

from kinode.jit import llvm_code
from kinode.jit.llvm_doors import library_door
from kinode.jit.llvm_doors.binding_door import BindingDoor
from kinode.jit.translator import translate

TEXT = "define double @f(double %x) nounwind {\n  %y = fmul double %x, %x\n  ret double %y\n}\n"
direct = pytest.mark.skipif(library_door.open_door() is None, reason="this version of llvmlite is not known")


def add_up(count: int) -> int:
    total = 0
    for k in range(count):
        total += k
    return total


@direct
@pytest.mark.parametrize(("level", "optimize"), [(0, False), (2, False), (0, True), (2, True)])
def test_both_ways_give_the_same_bytes(level, optimize):
    host = llvm_code.host()[:3]
    text = translate(add_up, "add_up") if optimize else TEXT
    assert llvm_code.llvm().compile(text, level, optimize, host) == BindingDoor().compile(text, level, optimize, host)


@direct
def test_both_ways_tell_the_same_of_the_host():
    found, other = library_door.open_door(), BindingDoor()
    assert (found.describe(), found.version) == (other.describe(), other.version)


@pytest.mark.parametrize("way", [library_door.open_door, BindingDoor])
def test_wrong_text_and_unknown_processors_are_said(way):
    opened = way() or BindingDoor()
    triple, _, _ = host = llvm_code.host()[:3]
    with pytest.raises(RuntimeError, match="parsing error"):
        opened.compile("define nothing", 0, False, host)
    with pytest.raises(RuntimeError):
        opened.compile(TEXT, 0, False, ("no-such-processor", "", ""))
    assert opened.compile(TEXT, 0, False, (triple, "", ""))


def test_an_unknown_version_goes_through_python(tmp_path, monkeypatch):
    (tmp_path / "_version.py").write_text("version_version = '9.1.0'\n", encoding="utf-8")
    assert library_door.find_version(str(tmp_path)) == "9.1.0"
    assert library_door.find_version(str(tmp_path / "missing")) == ""
    monkeypatch.setattr(library_door, "find_version", lambda folder: "9.1.0")
    assert library_door.open_door() is None
    monkeypatch.setattr(library_door, "find_version", lambda folder: library_door.KNOWN_VERSIONS[-1])
    monkeypatch.setitem(library_door.SIGNATURES, "NoSuchFunction", (None,))
    assert library_door.open_door() is None


def test_threads_compile_side_by_side():
    expected, found = llvm_code.compile_text(TEXT, 1), []
    threads = [
        threading.Thread(target=lambda: found.extend(llvm_code.compile_text(TEXT, 1) for _ in range(5)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 20
