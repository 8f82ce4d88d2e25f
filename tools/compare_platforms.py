"""Numbers of the examples on one computer, in a file, and files of two computers beside each other.

    python tools/compare_platforms.py write FILE [EXAMPLE ...] [--longest SECONDS] [--method NAME]
    python tools/compare_platforms.py compare FILE FILE [--limit SHARE]

``write`` runs the examples (all without a name) as they are described, for no longer than was said, and keeps for each
the last states, the loads in all joints then, the number of steps and the times of events.  ``compare`` prints the
largest difference of each example as a share of the largest value that the quantity had in the run, and fails where
one is above the limit.  Times of events are compared as shares of the run.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 1e-9
FLOOR = 1e-6  # of the largest of a kind: what stays below may be zero with rounding, and counts as of this size


def describe_computer() -> dict[str, str]:
    """What the numbers depend on, or might."""
    import kinode
    from kinode.jit.llvm_code import choose_lanes, host

    return {
        "system": platform.platform(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "kinode": kinode.__version__,
        "llvm": " ".join(host()[:2]) + f", {choose_lanes()} lanes",
    }


def run_example(path: Path, longest: float | None, method: str | None, step: float | None = None) -> dict[str, Any]:
    """The numbers of one example: each with the largest size that it had in the run."""
    import kinode as kn

    began = time.perf_counter()
    system = kn.load(path)
    until = system.run_defaults.get("until")
    span = longest if until is None else min(float(until), longest or float(until))
    given: dict[str, Any] = {"method": method, "step": step}
    run = kn.simulate(system, span, **{name: value for name, value in given.items() if value is not None})
    parts = [(f"{kind}[{k}]", column) for kind in ("q", "u", "z") for k, column in enumerate(getattr(run, kind).T)]
    values = {name: [float(column[-1]), float(np.abs(column).max())] for name, column in parts}
    loads = [f"{joint}.reaction.{kind}" for joint in system.joints for kind in ("force", "moment")]
    known = set(run.names())
    for name, course in run.evaluate([name for name in loads if name in known]).items():
        course = np.asarray(course).reshape(len(run.t), -1)
        size = float(np.linalg.norm(course, axis=1).max())
        values |= {f"{name}[{k}]": [float(x), size] for k, x in enumerate(course[-1])}
    return {
        "until": float(run.t[-1]),
        "steps": len(run.t),
        "events": [float(event.time) for event in run.events],
        "values": values,
        "seconds": round(time.perf_counter() - began, 2),
    }


def write(file: Path, names: list[str], longest: float | None, method: str | None) -> None:
    """Run examples and keep their numbers."""
    found: dict[str, Any] = {"computer": describe_computer(), "longest": longest, "method": method, "examples": {}}
    for path in sorted((ROOT / "examples").glob("*.yaml")):
        if not names or path.stem in names:
            found["examples"][path.stem] = numbers = run_example(path, longest, method)
            print(f"{path.stem}: {numbers['steps']} steps, {numbers['seconds']} s", flush=True)
            file.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def find_kind(name: str) -> str:
    """Coordinates, velocities, states of parts or loads: what belongs together."""
    return "load" if ".reaction." in name else name[0]


def find_worst(one: dict[str, Any], other: dict[str, Any]) -> tuple[float, str]:
    """The largest difference as a share of the size of its quantity, and whose it is."""
    if one["values"].keys() != other["values"].keys():
        return np.inf, "other quantities"
    if len(one["events"]) != len(other["events"]):
        return np.inf, f"{len(one['events'])} and {len(other['events'])} events"
    largest = dict[str, float]()
    for name, (_, size) in one["values"].items():
        largest[find_kind(name)] = max(largest.get(find_kind(name), 0.0), size)
    worst, owner = 0.0, ""
    for name, (value, size) in one["values"].items():
        error = abs(value - other["values"][name][0]) / max(size, FLOOR * largest[find_kind(name)], 1e-12)
        if not error <= worst:
            worst, owner = error, name
    for k, (first, second) in enumerate(zip(one["events"], other["events"], strict=True)):
        if not (error := abs(first - second) / one["until"]) <= worst:
            worst, owner = error, f"time of event {k + 1}"
    return worst, owner


def compare(files: list[Path], limit: float) -> int:
    """Print the differences of two files; 1 if one is above the limit."""
    one, other = (json.loads(file.read_text(encoding="utf-8")) for file in files)
    for name, computer in zip("AB", (one["computer"], other["computer"]), strict=True):
        print(f"{name}: {', '.join(computer.values())}")
    both = [name for name in one["examples"] if name in other["examples"]]
    if not both or (one["longest"], one["method"]) != (other["longest"], other["method"]):
        print("These files have no run in common.")
        return 1
    print("\n| example | s | steps A | steps B | events | largest difference | of |\n|---|--:|--:|--:|--:|--:|---|")
    failed = 0
    for name in both:
        a, b = one["examples"][name], other["examples"][name]
        worst, owner = find_worst(a, b)
        failed += not worst <= limit
        row = (name, f"{a['until']:g}", a["steps"], b["steps"], len(a["events"]), f"{worst:.1e}", owner)
        print("|", " | ".join(str(x) for x in row), "|" if worst <= limit else "| <-- above the limit")
    print(f"\n{len(both)} examples, {failed} above {limit:g}.")
    return int(failed > 0)


def main() -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    writes = commands.add_parser("write")
    writes.add_argument("file", type=Path)
    writes.add_argument("names", nargs="*")
    writes.add_argument("--longest", type=float)
    writes.add_argument("--method")
    compares = commands.add_parser("compare")
    compares.add_argument("files", type=Path, nargs=2)
    compares.add_argument("--limit", type=float, default=LIMIT)
    given = parser.parse_args()
    if given.command == "compare":
        return compare(given.files, given.limit)
    write(given.file, given.names, given.longest, given.method)
    return 0


if __name__ == "__main__":
    sys.exit(main())
