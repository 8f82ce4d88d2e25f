"""LLVM by llvmlite's Python: what it refuses, code in memory, threads and processes, and which computer code is for."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from kinode.jit import llvm_code, machine_code
from kinode.jit.llvm_code import compile_text
from kinode.jit.machine_code import load_object

TEXT = "define double @f(double %x) nounwind {\n  %y = fmul double %x, %x\n  ret double %y\n}\n"
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
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux describes its pages")
ROOT = Path(__file__).parents[2]
WARM = """
import sys
import kinode as kn
dynamics = kn.compile(kn.load("examples/{0}.yaml"))
start = dynamics.state()
print(dynamics.acceleration(0.0, start.q, start.u).tobytes().hex(), *sys.modules)
"""


# A process forks while another thread compiles long texts, one after the other.
FORKED = """
import os, threading, time
from kinode.jit import llvm_code
lines = [f"  %y{k} = fmul double %y{k - 1}, 3.0e-1" for k in range(1, 20000)]
text = "\\n".join(["define double @f(double %y0) {", *lines, "  ret double %y19999", "}"])
short = "define void @g() {\\n  ret void\\n}\\n"
llvm_code.compile_text(short)
def work():
    for _ in range(3):  # not for ever: the lock is not fair
        llvm_code.compile_text(text, 2)
threading.Thread(target=work, daemon=True).start()
time.sleep(0.02)
child = os.fork()
if child == 0:
    llvm_code.compile_text(short)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""


def function_of(engine, name="both", arguments=()):
    function = ctypes.CFUNCTYPE(ctypes.c_double, *arguments)(engine.get_function_address(name))
    function.engine = engine  # which owns the code
    return function


def run_script(script, **environment):
    """What a script prints in a process of its own."""
    environment = {**os.environ, **environment}
    command = [sys.executable, "-X", "faulthandler", "-c", script]
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, (ended.returncode, ended.stderr)
    return ended.stdout


def find_permissions(address):
    """What may be done with the page of an address."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        pages, permissions = line.split()[:2]
        first, last = (int(end, 16) for end in pages.split("-"))
        if first <= address < last:
            return permissions[:3]
    return ""


@on_linux
def test_pages_are_written_or_executed():
    memory = load_object(compile_text(VARIABLE))
    both, place = function_of(memory), memory.get_global_value_address("place")
    assert both() == 1.5
    ctypes.c_double.from_address(place).value = 2.5
    ctypes.c_double.from_address(memory.get_global_value_address("empty") + 16).value = 0.25
    assert both() == 2.75
    assert find_permissions(memory.get_function_address("both")) == "r-x"
    assert find_permissions(place) == "rw-"


@on_linux
def test_memory_is_given_back():
    memory = load_object(compile_text(VARIABLE))
    address = memory.get_function_address("both")
    assert "x" in find_permissions(address)
    del memory
    assert "x" not in find_permissions(address)


def test_functions_are_those_of_the_c_library_of_this_process():
    """Python's own functions, so that compiled code gives the last bits that NumPy and ``math`` give."""
    code = compile_text(CALLS.format("cbrt"))
    assert function_of(load_object(code), "call", (ctypes.c_double,))(27.0) == pytest.approx(3.0)
    load_object(code)
    for name in machine_code.CALLED:
        assert llvm_code.llvm().address_of_symbol(name) == machine_code.find_symbol(name) != 0


@pytest.mark.parametrize("optimize", [False, True])
def test_wrong_text_and_unknown_processors_are_said(optimize, monkeypatch):
    with pytest.raises(RuntimeError, match="parsing error"):
        compile_text("define nothing", 0, optimize)
    real = llvm_code.host()
    monkeypatch.setattr(llvm_code, "host", lambda: real._replace(triple="no-such-processor", cpu="", features=""))
    with pytest.raises(RuntimeError, match="no-such-processor"):
        compile_text(TEXT, 0, optimize)
    monkeypatch.setattr(llvm_code, "host", lambda: real._replace(cpu="", features=""))
    assert compile_text(TEXT, 0, optimize)


def test_threads_compile_and_load_at_the_same_time():
    expected, found = compile_text(TEXT, 1), []

    def work():
        for x in range(5):
            code = compile_text(TEXT, 1)
            found.append((code, function_of(load_object(code), "f", (ctypes.c_double,))(float(x)) - x * x))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [(expected, 0.0)] * 20


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_forked_process_compiles_too():
    """Where the child waited for a lock that nobody gives back, the script would not end."""
    run_script(FORKED)


def test_another_processor_and_another_llvm_have_other_code(monkeypatch):
    real, entries = llvm_code.host(), set()
    for other in (real, real._replace(features=""), real._replace(cpu="x"), real._replace(version="llvmlite 9")):
        monkeypatch.setattr(llvm_code, "host", lambda other=other: other)
        entries.add(machine_code.find_entry("key"))
    assert None not in entries and len(entries) == 4


@pytest.mark.parametrize("model", ["double_pendulum", "four_bar"])
def test_what_makes_code_is_not_imported_for_code_in_the_cache(model, tmp_path):
    runs = [run_script(WARM.format(model), KINODE_CACHE_DIR=str(tmp_path)).split() for _ in range(2)]
    (first, *made), (again, *found) = runs
    assert first == again
    assert set(found) < set(made) and len(made) - len(found) > 8
    assert {"kinode.jit.llvm_program", "kinode.kernels.kernel_traces"} <= set(made) - set(found)
