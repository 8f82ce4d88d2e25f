"""FMUs of all examples in FMPy beside ``kn.simulate``: errors, sizes and times, as a table.

``python benchmarks/fmus.py [EXAMPLE ...] [--worst]``.  Errors are the largest difference of any default output over the
span, as a share of its range, both at tight tolerances; ``--worst`` names it.  An FMU for this machine is made by its
own C compiler.  ``bytes`` is the whole file, sources included.
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
            description = fmu_runs.unpack(file, Path(folder) / "unpacked")
            compared = fmu_runs.compare_all(dynamics, Path(folder) / "unpacked", description, span)
            for kind in KINDS:
                row[f"{version} {kind}"] = compared[kind]
    return row


def main() -> None:
    """Print the table."""
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
        took = f"{row['2.0 CoSimulation'].seconds:.3f} | {cells[0].own_seconds:.3f}"
        print(f"| {name} | {row['span']:g} | {errors} | {row['bytes']:,} | {took} |", flush=True)
        if "--worst" in sys.argv:
            print("   ", [cell.worst for cell in cells])


if __name__ == "__main__":
    main()
