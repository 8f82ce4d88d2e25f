"""Exported C beside machine code: size, time of the compiler, and time of a step, as a table.

``python benchmarks/c_code.py [EXAMPLE ...]``.  A step is an interval of 1 ms by dopri5: by the exported
library (``-O2``), and by ``dynamics.stepper`` with the same method, in this process, by turns; the least of several.
"""

from __future__ import annotations

import ctypes
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from c_compiler import find_compiler  # noqa: E402

import kinode as kn  # noqa: E402

EXAMPLES = ("pendulum", "four_bar", "backlash_axis", "spatial_slider_crank", "ur5")
STEPS, ROUNDS, DT = 400, 5, 1e-3


def compile_model(source: Path) -> tuple[Path, float]:
    """The library of a source, and the processor time of the compiler in s."""
    target, before = source.with_suffix(".so"), resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    command = [*find_compiler(), "-std=c99", "-O2", "-march=native", "-fPIC", "-shared", str(source)]
    subprocess.run([*command, "-o", str(target), "-lm"], check=True)
    return target, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def measure(name: str) -> str:
    """One row of the table."""
    system = kn.load(ROOT / "examples" / f"{name}.yaml")
    stepper = kn.compile(system).stepper(DT, method="dopri5")
    with tempfile.TemporaryDirectory() as folder:
        began = time.process_time()
        kn.export(system, "c", Path(folder) / "c", method="dopri5")
        export = time.process_time() - began
        source = next(file for file in (Path(folder) / "c").glob("*.c") if file.name != "main.c")
        lines, size, name_c = source.read_text().count("\n"), source.stat().st_size, source.stem
        with source.open("a") as stream:  # a loop in C: a call from Python takes as long as a short step
            stream.write(f"void many({name_c}_model *m, int n, double dt);\n")
            stream.write(f"void many({name_c}_model *m, int n, double dt) {{ while (n--) {name_c}_step(m, dt); }}\n")
        target, compiling = compile_model(source)
        code, model = ctypes.CDLL(str(target)), ctypes.create_string_buffer(1 << 22)
        code.many.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_double]
        init = getattr(code, f"{source.stem}_init")
        init.argtypes = [ctypes.c_void_p, ctypes.c_double]
        getattr(code, f"{source.stem}_defaults")(model)
        times: dict[str, list[float]] = {"c": [], "machine": []}
        for _ in range(ROUNDS):
            assert init(model, 0.0) == 0
            began = time.process_time()
            code.many(model, STEPS, DT)
            times["c"].append((time.process_time() - began) / STEPS)
            stepper.reset()
            began = time.process_time()
            for _ in range(STEPS):
                stepper.step()
            times["machine"].append((time.process_time() - began) / STEPS)
    c, machine = min(times["c"]) * 1e6, min(times["machine"]) * 1e6
    return (
        f"| {name} | {lines:,} | {size / 1000:.0f} | {export:.2f} | {compiling:.1f} | {c:.1f} | {machine:.1f} |"
        f" {c / machine:.2f} |"
    )


def main() -> None:
    """Print the table."""
    print("| example | lines | KB | export s | cc -O2 s | step in C us | stepper us | ratio |")
    print("|---|---|---|---|---|---|---|---|")
    for name in sys.argv[1:] or EXAMPLES:
        print(measure(name), flush=True)


if __name__ == "__main__":
    main()
