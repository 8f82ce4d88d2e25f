"""MJCF models of MuJoCo's packages: whether they are imported, how far accelerations are apart, what was left out.

    python benchmarks/mujoco_models.py [--states 3] [--markdown] [NAME ...]

Every .xml of the packages mujoco, dm_control and gymnasium whose content is MJCF is tried; names choose by parts of
paths.  What kinode leaves out is taken out of MuJoCo's model too, so that the models are equal; see
tests/support/mujoco_peer.py.  Files that MuJoCo itself refuses, and those without freedoms, are counted apart.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

from mujoco_peer import compare, compile_peer  # noqa: E402

import kinode as kn  # noqa: E402

PACKAGES = ("mujoco", "dm_control", "gymnasium")


def find_files() -> list[tuple[str, Path]]:
    """The XML files of the packages whose first element is mujoco."""
    files: list[tuple[str, Path]] = []
    for package in PACKAGES:
        spec = importlib.util.find_spec(package)
        if spec is None or not spec.submodule_search_locations:
            continue
        top = Path(spec.submodule_search_locations[0])
        found = [file for file in sorted(top.rglob("*.xml")) if b"<mujoco" in file.read_bytes()]
        files += [(f"{package}/{file.relative_to(top).as_posix()}", file) for file in found]
    return files


def judge(file: Path, states: int) -> tuple[str, str, str]:
    """Whether it is imported, the error, and what was left out."""
    try:
        model = compile_peer(file)
    except ValueError as error:
        return "MuJoCo refuses it", "", " ".join(str(error).split())[:60]
    if not model.nv:
        return "no freedoms", "", ""
    trust = False
    try:
        kn.load(file)
    except kn.ModelError:
        trust = True  # files outside its folder
    peer = compare(file, states, trust=trust)
    words = [note.removeprefix("left out: ") for note in peer.system.notes if note.startswith("left out")]
    return "with trust" if trust else "yes", f"{peer.error:.1e}", shorten(words)


def shorten(words: list[str]) -> str:
    """What was left out, with repeated kinds counted."""
    kinds: dict[str, int] = {}
    for word in words:
        head = word.split(" (")[0]
        first = head.split(" ")[0]
        kind = f"{first}: {head.partition(': ')[2]}" if first in ("actuator", "tendon", "equality") else head
        kinds[kind] = kinds.get(kind, 0) + 1
    return "; ".join(kind if count == 1 else f"{count} x {kind}" for kind, count in kinds.items())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--states", type=int, default=3)
    parser.add_argument("--markdown", action="store_true")
    chosen = parser.parse_args()
    start, worst, counts = time.process_time(), 0.0, dict[str, int]()
    if chosen.markdown:
        print("| model | imported | error | left out |\n|---|---|---|---|")
    for name, file in find_files():
        if chosen.names and not any(part in name for part in chosen.names):
            continue
        imported, error, left_out = judge(file, chosen.states)
        counts[imported] = counts.get(imported, 0) + 1
        worst = max(worst, float(error or 0.0))
        row = (name, imported, error, left_out)
        print("| " + " | ".join(row) + " |" if chosen.markdown else f"{name:75} {imported:18} {error:8} {left_out}")
    print(f"\n{counts}; largest error {worst:.1e}; {time.process_time() - start:.0f} s of processor time")


if __name__ == "__main__":
    main()
