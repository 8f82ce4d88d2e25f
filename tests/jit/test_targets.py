"""Code for computers that are not at hand: Windows, macOS on ARM, Linux on ARM.

All that kinode compiles for some examples is compiled for these too, and what it needs from outside is looked at: it
must be something that kinode provides or that the C library of that system has.  This cannot say that the code runs.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from example_counts import is_fixed
from object_symbols import find_needed

from kinode.jit.llvm_code import find_triple
from kinode.jit.machine_code import CALLED, RUNTIME

SUPPORT = Path(__file__).parents[1] / "support"
ROOT = Path(__file__).parents[2]
TARGETS = {
    "windows": ("x86_64-pc-windows-msvc", "x86-64-v3"),
    "macos": ("arm64-apple-macosx11.0", "apple-m1"),
    "linux-arm": ("aarch64-unknown-linux-gnu", "neoverse-n1"),
}
# Of the C libraries, beyond what kernels name: LLVM writes them where it sees the chance.
SYSTEM = {
    "windows": set(),
    "macos": {"bzero", "memset_pattern16", "__sincos_stret"},
    "linux-arm": {"sincos"},
}
EVERY_RUN = ["slider_crank"]  # a loop with a driven joint; some 20 texts with the loops of the integrator
AT_NIGHT = sorted(path.stem for path in (ROOT / "examples").glob("*.yaml"))

# Runs an example for a moment with an empty cache, and keeps every text that is compiled.
COLLECT = """
import sys
from pathlib import Path
from kinode.jit import llvm_code
texts, compile_text = {}, llvm_code.compile_text
def keep(text, level=None, optimize=False):
    texts[text] = optimize
    return compile_text(text, level, optimize)
llvm_code.compile_text = keep
import kinode as kn
for name in sys.argv[2:]:
    run = kn.simulate(kn.load(f"examples/{name}.yaml"), 0.01)
    joints = list(run.system.joints)
    run["system.energy"]
    if joints:
        run[f"{joints[0]}.reaction.force"]
for k, (text, optimize) in enumerate(texts.items()):
    Path(sys.argv[1], f"{k}{'o' if optimize else ''}.ll").write_text(text, encoding="utf-8")
"""


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    names = EVERY_RUN if is_fixed() else AT_NIGHT
    environment = {**os.environ, "KINODE_CACHE": "0", "KINODE_TIERS": "first"}
    subprocess.run([sys.executable, "-c", COLLECT, str(folder), *names], check=True, cwd=ROOT, env=environment)
    found = [(path.read_text(encoding="utf-8"), "o" in path.stem) for path in sorted(folder.iterdir())]
    assert len(found) > 5
    return found


@pytest.fixture(scope="module")
def binding():
    import llvmlite.binding as binding

    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    return binding


def compile_for(binding, text, triple, cpu):
    machine = binding.Target.from_triple(triple).create_target_machine(cpu=cpu, opt=1, jit=True)
    return machine.emit_object(binding.parse_assembly(text))


@pytest.mark.parametrize("name", TARGETS)
def test_nothing_is_missing_there(texts, binding, name):
    triple, cpu = TARGETS[name]
    known = {*CALLED, *RUNTIME, *SYSTEM[name]}
    defined = {line.split("@")[1].split("(")[0] for text, _ in texts for line in text.splitlines() if "define " in line}
    for text, _ in texts:
        needed = find_needed(compile_for(binding, text, find_triple(triple), cpu))
        missing = {symbol for symbol in needed - known - defined if not symbol.startswith("kinode_")}
        assert missing == set(), missing


def test_the_probe_of_large_frames_is_known(binding):
    """On Windows a frame of more than a page is touched page by page, by a function that kinode provides."""
    text = """
define double @large(ptr %x) {
  %a = alloca [4000 x double]
  %p = getelementptr [4000 x double], ptr %a, i64 0, i64 3999
  %v = load double, ptr %x
  store volatile double %v, ptr %p
  %w = load volatile double, ptr %p
  ret double %w
}
"""
    code = compile_for(binding, text, find_triple("x86_64-pc-windows-msvc"), "x86-64")
    assert find_needed(code) == {"__chkstk"} <= {*RUNTIME}
