"""``kn.export(system, "c", folder)``: the library compiles without warnings, and simulates as ``kn.simulate`` does."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest
from c_compiler import FLAGS, find_compiler
from typer.testing import CliRunner

import kinode as kn
from kinode.cli.commands import app
from kinode.jit.kernel_text.case_writer import LIBRARY

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ALLOWED = {"memcpy", "memset", "memcmp", "memmove", "__stack_chk_fail"}
MATHEMATICS = {*LIBRARY, "sqrt", "floor", "ceil", "fabs", "fmin", "fmax"}
pytestmark = pytest.mark.skipif(not find_compiler(), reason="there is no C compiler")


class Library:
    """An exported model, compiled and loaded."""

    def __init__(self, system, folder: Path, **options) -> None:
        self.folder = kn.export(system, "c", folder, **options)
        self.source = next(file for file in folder.glob("*.c") if file.name != "main.c")
        self.name, self.object = self.source.stem, folder / "model.so"
        flags = [*find_compiler(), *FLAGS, "-O0", "-fPIC", "-I", str(folder)]
        main = ["-c", str(folder / "main.c"), "-o", str(folder / "main.o")]
        for more in (["-shared", str(self.source), "-o", str(self.object), "-lm"], main):
            done = subprocess.run([*flags, *more], capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr[:2000]
        self.code = ctypes.CDLL(str(self.object))
        self.model = ctypes.create_string_buffer(1 << 22)
        self("defaults")

    def __call__(self, function: str, *arguments, result=ctypes.c_int):
        call = getattr(self.code, f"{self.name}_{function}")
        call.restype = result
        return call(self.model, *(ctypes.c_double(x) if isinstance(x, float) else x for x in arguments))

    def constant(self, word: str) -> int:
        """A number of the header."""
        line = next(x for x in self.source.with_suffix(".h").read_text().splitlines() if f"{word} " in x)
        return int(line.split()[-1])

    def outputs(self):
        """The outputs at the present."""
        out = np.zeros(self.constant("N_OUTPUTS"))
        self("outputs", ctypes.c_void_p(out.ctypes.data))
        return out

    def set_parameter(self, k: int, value: float) -> None:
        """Parameters come first in the structure."""
        ctypes.c_double.from_buffer(self.model, 8 * k).value = value

    def run(self, t0: float, times):
        """The outputs at some times."""
        assert self("init", float(t0)) == 0
        rows = []
        for t in times:
            assert self("advance", float(t)) == 0
            rows.append(self.outputs())
        return np.array(rows)


CASES = {
    "pendulum": ("pivot.q", "pivot.u", "pivot.reaction.force", "system.energy"),
    "four_bar": ("system.energy",),
    "backlash_axis": ("shaft.q", "elbow.q", "elbow.u"),
    "brake_arm": None,
    "balanced_pole": None,
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    """Compiled libraries of some examples, each made once."""
    made: dict[str, Library] = {}

    def find(name: str) -> Library:
        if name not in made:
            outputs = CASES[name]
            options = {} if outputs is None else {"outputs": outputs}
            made[name] = Library(EXAMPLES / f"{name}.yaml", tmp_path_factory.mktemp("c") / name, **options)
        return made[name]

    return find


@pytest.mark.parametrize("name", CASES)
def test_library_simulates_as_kinode_does(libraries, name):
    """Events included; steps end at other times, so that the tolerance of the integration is the measure."""
    library = libraries(name)
    system = kn.load(EXAMPLES / f"{name}.yaml")
    end = min(float(system.run_defaults.get("until") or 1.0), 0.5)
    times = 0.98765 * np.linspace(0.0, end, 11)[1:]  # a tick of a clock at such a time would belong to what follows
    run = kn.simulate(system, until=times[-1], times=[0.0, *times], rtol=1e-10, atol=1e-12)
    states = np.hstack([run.q, run.u, run.z])[1:]
    library("set_tolerance", 1e-10)
    assert library("init", 0.0) == 0
    n = library.constant("N_STATES")
    for t, expected in zip(times, states, strict=True):
        assert library("advance", float(t)) == 0
        y = np.array(library("state", result=ctypes.POINTER(ctypes.c_double))[:n])
        assert np.allclose(y, expected, rtol=1e-6, atol=1e-6 * (1.0 + np.abs(states).max(axis=0))), t


@pytest.mark.parametrize("name", CASES)
def test_no_heap_no_globals(libraries, name):
    """Of other libraries it calls mathematics and block functions alone, and it has no data that can change."""
    compiler = find_compiler()
    if compiler[0] not in ("cc", "gcc", "clang"):
        pytest.skip("nm belongs to the system's compiler")
    library = libraries(name)
    target = library.folder / "model.o"
    subprocess.run([*compiler, "-std=c99", "-O0", "-c", str(library.source), "-o", str(target)], check=True)
    listed = subprocess.run(["nm", str(target)], capture_output=True, text=True, check=True).stdout
    symbols = [line.split() for line in listed.splitlines()]
    called = {parts[-1].lstrip("_") for parts in symbols if parts[-2] == "U"}
    assert called <= ALLOWED | MATHEMATICS
    assert not [parts for parts in symbols if parts[-2] in "BbDdCcGgSs"]
    text = library.source.read_text() + library.source.with_suffix(".h").read_text()
    assert {line for line in text.splitlines() if line.startswith("#include <")} <= {
        "#include <math.h>", "#include <stdint.h>", "#include <stddef.h>", "#include <string.h>"
    }  # fmt: skip


def test_copies_of_the_structure_are_copies_of_the_simulation(libraries):
    library = libraries("backlash_axis")
    first = library.run(0.0, [0.1])
    kept = library.model.raw
    later = library.run(0.0, [0.1, 0.2])[1:]
    other = ctypes.create_string_buffer(kept, len(kept))
    library.model, before = other, library.model
    library("bind", result=None)
    assert library.outputs().tobytes() == first[-1].tobytes()
    assert library("advance", 0.2) == 0
    assert library.outputs().tobytes() == later[-1].tobytes()
    library.model = before


def test_same_model_gives_the_same_bytes(tmp_path):
    texts = []
    for k in range(2):
        folder = kn.export(kn.load(EXAMPLES / "brake_arm.yaml"), "c", tmp_path / f"{k}")
        texts.append({file.name: file.read_bytes() for file in folder.iterdir()})
    assert texts[0] == texts[1]
    assert set(texts[0]) == {"brake_arm.h", "brake_arm.c", "main.c", "CMakeLists.txt", "README.md"}


def test_example_prints_a_table(libraries):
    library = libraries("pendulum")
    program = library.folder / "example"
    parts = [str(library.folder / "main.o"), str(library.source)]
    subprocess.run([*find_compiler(), "-std=c99", *parts, "-lm", "-o", str(program)], check=True)
    lines = subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout.splitlines()
    assert lines[0].startswith("t,pivot.q,pivot.u,pivot.reaction.force.x")
    assert len(lines) == 102
    assert np.isfinite(np.loadtxt(lines[1:], delimiter=",")).all()


def test_what_c_cannot_hold_is_refused_by_name(tmp_path):
    system = kn.load(EXAMPLES / "pendulum.yaml")
    with pytest.raises(kn.Error, match=r"pivot\.qq"):
        kn.export(system, "c", tmp_path / "x", outputs=["pivot.qq"])
    with pytest.raises(kn.ArgumentError, match="no input is called 'push'"):
        kn.export(system, "c", tmp_path / "x", inputs=["push"])
    system.controller("pilot", lambda t, x: x, {"x": "t"}, period="10 ms")
    with pytest.raises(kn.ModelError, match=r"pilot.*function in Python"):
        kn.export(system, "c", tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["export", str(EXAMPLES / "pendulum.yaml"), "--to", "c", "--output", "pivot.q"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert (tmp_path / "pendulum_c" / "pendulum.h").exists()
