"""Machine code in memory: our loader beside LLVM's, what it refuses, and which computer code is for."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kernels import call_lanes, straight
from kinode.algebra.named_data import NamedData
from kinode.algebra.trace import Tape
from kinode.jit import compiler
from kinode.jit.llvm_code import compile_text
from kinode.jit.loading import elf_memory, host_identity, object_code
from kinode.jit.translator import translate_together
from kinode.ode import compiled_loops

ours = pytest.mark.skipif(not elf_memory.is_supported(), reason="object files of Linux on 64-bit x86")
CALLS = (
    "declare double @{0}(double)\ndefine double @call(double %x) {{ %y = call double @{0}(double %x) ret double %y }}"
)
VARIABLE = """
@place = global double 1.5, align 8
@empty = global [3 x double] zeroinitializer, align 64
define double @both() nounwind {
  %x = load double, ptr @place
  %at = getelementptr double, ptr @empty, i64 2
  %y = load double, ptr %at
  %sum = fadd double %x, %y
  ret double %sum
}
"""
WARM = """
import sys
import kinode as kn
dynamics = kn.compile(kn.load("examples/{0}.yaml"))
start = dynamics.state()
print(dynamics.acceleration(0.0, start.q, start.u).tobytes().hex(), sorted({1!r} & set(sys.modules)))
"""
NEW_CODE_ONLY = {"kinode.jit.llvm_doors.library_door", "kinode.jit.program_ir", "kinode.kernels.kernel_programs"}


def function_of(engine, name="both", arguments=()):
    return ctypes.CFUNCTYPE(ctypes.c_double, *arguments)(engine.get_function_address(name))


def find_permissions(address):
    """What may be done with the page of an address."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        pages, permissions = line.split()[:2]
        first, last = (int(end, 16) for end in pages.split("-"))
        if first <= address < last:
            return permissions[:3]
    return ""


@ours
def test_pages_are_written_or_executed():
    memory = object_code.load_object(compile_text(VARIABLE))
    assert isinstance(memory, elf_memory.CodeMemory)
    both, place = function_of(memory), memory.get_global_value_address("place")
    assert both() == 1.5
    ctypes.c_double.from_address(place).value = 2.5
    ctypes.c_double.from_address(memory.get_global_value_address("empty") + 16).value = 0.25
    assert both() == 2.75
    assert find_permissions(memory.get_function_address("both")) == "r-x"
    assert find_permissions(place) == "rw-"
    assert memory.get_function_address("none") == 0


@ours
def test_memory_is_given_back():
    memory = object_code.load_object(compile_text(VARIABLE))
    address = memory.get_function_address("both")
    del memory
    assert "x" not in find_permissions(address)


@ours
def test_kernels_have_the_same_bits_as_by_llvm(monkeypatch):
    tape = Tape()
    q = tape.inputs("q", 4)
    table = NamedData("curve", (0.5, 1.5, 4.0, 9.0))
    stores = [
        ("out", k, tape.node(op, x)) for k, (op, x) in enumerate(zip(("sin", "exp", "tan", "sqrt"), q, strict=True))
    ]
    stores.append(("out", 4, tape.node("fetch", table, q[3])))
    rows = np.random.default_rng(3).uniform(0.1, 3.0, (4, 4))
    found = []
    for supported in (True, False):
        monkeypatch.setattr(elf_memory, "is_supported", lambda supported=supported: supported)
        for lanes in (1, 4):
            machine = compiler.build(None, lanes, lambda: straight(stores, q=4, out=5), {"curve": (3.0, 2.0, 1.0, 7.0)})
            assert isinstance(machine.engine[0], elf_memory.CodeMemory) == supported
            found.append(call_lanes(machine, {"q": rows[:lanes]})[:1].tobytes())
    assert found[0] == found[2] and found[1] == found[3]
    assert np.frombuffer(found[0])[4] in (3.0, 2.0, 1.0, 7.0)


@ours
@pytest.mark.parametrize("names", compiled_loops.COMPILED_TOGETHER, ids=lambda names: names[0])
def test_no_integrator_is_left_to_llvm(names):
    text = translate_together({compiled_loops.PREFIX + name: compiled_loops.find_source(name) for name in names})
    memory = elf_memory.place_object(compile_text(text, level=0), object_code.find_symbol)
    assert set(memory.symbols) >= {compiled_loops.PREFIX + name for name in names}


@ours
def test_what_is_not_expected_is_refused():
    code = compile_text(CALLS.format("cbrt"))
    assert function_of(object_code.load_object(code), "call", (ctypes.c_double,))(27.0) == pytest.approx(3.0)
    other_machine = code[:18] + b"\x28\x00" + code[20:]
    for wrong in (b"", b"MZ" + code[2:], other_machine, code[:400], compile_text(CALLS.format("no_such_function"))):
        with pytest.raises((elf_memory.UnknownForm, ValueError, IndexError)):
            elf_memory.place_object(wrong, object_code.find_symbol)


@ours
@pytest.mark.parametrize("field", ["offset", "size"])
def test_what_reaches_past_its_end_is_refused(field):
    """Sections of the file and places to be filled in: nothing outside is read or written."""
    code = compile_text(VARIABLE)
    header = np.frombuffer(code, elf_memory.HEADER, 1)[0]
    start = int(header["sections"])
    sections = np.frombuffer(code, elf_memory.SECTION, int(header["count"]), start)
    for k in np.flatnonzero(sections["type"] == elf_memory.ADDED):
        wrong = bytearray(code)
        np.frombuffer(wrong, elf_memory.SECTION, len(sections), start)[field][k] = len(code)
        with pytest.raises(elf_memory.UnknownForm, match="outside of the file"):
            elf_memory.place_object(bytes(wrong), object_code.find_symbol)
        wrong = bytearray(code)
        np.frombuffer(wrong, elf_memory.RELOCATION, 1, int(sections["offset"][k]))["offset"][0] = len(code)
        with pytest.raises(elf_memory.UnknownForm, match="outside of its section"):
            elf_memory.place_object(bytes(wrong), object_code.find_symbol)


def test_what_our_loader_refuses_is_loaded_by_llvm(monkeypatch):
    def refuse(code, find):
        raise elf_memory.UnknownForm("test")

    monkeypatch.setattr(elf_memory, "place_object", refuse)
    assert function_of(object_code.load_object(compile_text(VARIABLE)))() == 1.5


def test_another_processor_has_other_code(monkeypatch, tmp_path):
    words = []
    for flags in ("sse2 avx2 fma", "sse2", None):
        host_identity._processor.cache_clear()
        file = tmp_path / f"{flags}"
        if flags is not None:
            file.write_text(
                f"processor : 0\nmodel name : x\ncpu MHz : {len(flags)}\nflags : {flags}\n\nprocessor : 1\n"
            )
        monkeypatch.setattr(host_identity, "DESCRIPTION", str(file))
        words.append(host_identity.identify_host(lambda: "asked LLVM"))
    host_identity._processor.cache_clear()
    assert len(set(words)) == 3 and words[2] == "asked LLVM"
    assert "cpu MHz" not in words[0]


@ours
@pytest.mark.parametrize("model", ["double_pendulum", "four_bar"])
def test_what_makes_code_is_not_imported_for_code_in_the_cache(model, tmp_path):
    root = Path(__file__).parents[2]
    environment = {**os.environ, "KINODE_CACHE_DIR": str(tmp_path)}
    texts = [
        subprocess.run(
            [sys.executable, "-c", WARM.format(model, NEW_CODE_ONLY)], cwd=root, env=environment,
            check=True, capture_output=True, text=True,
        ).stdout.split(" ", 1)
        for _ in range(2)
    ]  # fmt: skip
    assert texts[0][0] == texts[1][0]
    assert texts[0][1].strip() == str(sorted(NEW_CODE_ONLY)) and texts[1][1].strip() == "[]"
