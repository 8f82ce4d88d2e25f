"""FMUs of all examples in FMPy beside ``kn.simulate``: errors, sizes and times, as a table.

``python benchmarks/fmus.py [EXAMPLE ...] [--worst]``.  Errors are the largest difference of any default output over the
span, as a share of its range, both at tight tolerances; ``--worst`` names it.  An FMU for this machine is made by its
own C compiler.  ``bytes`` is the whole file, sources included.

``python benchmarks/fmus.py --states``: FMUs for Model Exchange as parts with states.  A machine whose controller, drive
and spring are FMUs beside the same machine in kinode alone; and examples as the only part of a system, beside the
example itself and FMPy's ``simulate_fmu`` of the same file (CVODE).  Least processor time of several.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

import kinode as kn  # noqa: E402
from support import fmu_runs  # noqa: E402

KINDS = ("ModelExchange", "CoSimulation")


def measure(name: str) -> dict[str, Any]:
    """One row of the table."""
    system = kn.load(ROOT / "examples" / f"{name}.yaml")
    dynamics, span = kn.compile(system), fmu_runs.find_span(name, system)
    row: dict[str, Any] = {"span": span}
    for version in ("2.0", "3.0"):
        with tempfile.TemporaryDirectory() as folder:
            began = time.process_time()
            file = kn.export(system, "fmu", Path(folder) / "model.fmu", version=version, platforms="host")
            row["export"], row["bytes"] = time.process_time() - began, file.stat().st_size
            place = Path(folder) / "unpacked"
            description = fmu_runs.unpack(file, place)
            if "own" not in row:
                row["own"] = fmu_runs.reference(dynamics, span, list(fmu_runs.output_names(description)))
            for kind in KINDS:
                row[f"{version} {kind}"] = fmu_runs.compare_kind(place, description, kind, span, row["own"])
    return row


def least(do: Any, repeats: int = 7) -> float:
    """The least processor time of several calls, in ms."""
    times = []
    for _ in range(repeats):
        began = time.process_time()
        do()
        times.append(time.process_time() - began)
    return 1e3 * min(times)


def measure_states(name: str, span: float, tolerance: float = 1e-8) -> None:
    """An example as the only part of a system, beside itself and FMPy."""
    import fmpy

    system = kn.load(ROOT / "examples" / f"{name}.yaml")
    with tempfile.TemporaryDirectory() as folder:
        file = kn.export(system, "fmu", Path(folder) / "model.fmu", platforms="host")
        whole = kn.System("whole")
        whole.fmu("part", file)
        own, part = kn.compile(system), kn.compile(whole)
        settings = {"samples": 101, "rtol": tolerance, "atol": tolerance}
        runs = [kn.simulate(model, span, **settings) for model in (own, part)]
        state = own.coordinates[-1].name
        gap = abs(runs[0][state] - runs[1][f"part.{state.replace('.', '_')}"]).max() / abs(runs[0][state]).max()
        peer = {"stop_time": span, "output_interval": span / 100, "relative_tolerance": tolerance}
        took = [least(lambda model=model: kn.simulate(model, span, **settings)) for model in (own, part)]
        took.append(least(lambda: fmpy.simulate_fmu(str(file), fmi_type="ModelExchange", **peer), 3))
    print(f"| {name} | {gap:.1e} | {took[0]:.2f} | {took[1]:.2f} | {took[2]:.1f} |", flush=True)


def print_states() -> None:
    """Print the table of FMUs with states."""
    from support.fmu_machines import make_machine

    print("| model | largest difference | kinode alone, ms | with FMUs, ms | FMPy, ms |")
    print("|---|--:|--:|--:|--:|")
    models = [kn.compile(make_machine(version)) for version in (None, "2.0", "3.0")]
    runs = [kn.simulate(model, 2.0, every=0.02, rtol=1e-8) for model in models]
    took = [least(lambda model=model: kn.simulate(model, 2.0, every=0.02, rtol=1e-8)) for model in models]
    for k, version in ((1, "2.0"), (2, "3.0")):
        gap = abs(runs[k]["elbow.q"] - runs[0]["elbow.q"]).max()
        print(f"| machine of three FMUs {version} | {gap:.1e} | {took[0]:.2f} | {took[k]:.2f} | |", flush=True)
    for name, span in (("rlc", 0.05), ("double_pendulum", 5.0), ("cart_pole", 5.0)):
        measure_states(name, span)


def main() -> None:
    """Print the table."""
    if "--states" in sys.argv:
        print_states()
        return
    names = [x for x in sys.argv[1:] if x[0] != "-"] or sorted(path.stem for path in (ROOT / "examples").glob("*.yaml"))
    print("| example | span, s | 2.0 ME | 2.0 CS | 3.0 ME | 3.0 CS | bytes | 2.0 CS, s | kn.simulate, s |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    for name in names:
        try:
            row = measure(name)
        except Exception as error:  # the table goes on, and says what failed
            print(f"| {name} | {type(error).__name__}: {str(error).splitlines()[0]} |", flush=True)
            continue
        cells = [row[f"{version} {kind}"] for version in ("2.0", "3.0") for kind in KINDS]
        errors = " | ".join(f"{cell.error:.1e}" for cell in cells)
        took = f"{row['2.0 CoSimulation'].seconds:.3f} | {row['own'].seconds:.3f}"
        print(f"| {name} | {row['span']:g} | {errors} | {row['bytes']:,} | {took} |", flush=True)
        if "--worst" in sys.argv:
            print("   ", [cell.worst for cell in cells])


if __name__ == "__main__":
    main()
