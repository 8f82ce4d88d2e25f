"""Types that ``make lint`` checks besides those of kinode's own sources: ``python tools/check_types.py``.

- of the player in ``web/``, by the TypeScript compiler, which needs node and the player's packages.  Where they are
  missing that is said; where ``CI`` is set it is a fault;
- of what a user writes: mypy reads a script with every shortcut and every field, with every public name, and with
  mistakes that it must find.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from build_player import WEB, BuildError, find_node

import kinode as kn
from kinode.model.base.bodies import Body
from kinode.model.base.element import ELEMENTS
from kinode.model.base.kinds import find_arguments
from kinode.model.drive_unit import DriveUnit
from kinode.model.joints.joint import JOINTS

ROOT = Path(__file__).resolve().parent.parent
COMPILER = WEB / "node_modules" / "typescript" / "bin" / "tsc"
# What the compiler found in files that have not changed since is still known.
KNOWN = ROOT / ".cache" / "typescript" / "known.tsbuildinfo"
CLASSES: list[type[Any]] = [
    Body,
    DriveUnit,
    *(cls for cls in (*JOINTS.values(), *ELEMENTS.values()) if cls.has_shortcut),
]


def check_player() -> list[str]:
    """What the TypeScript compiler finds in the player."""
    if not COMPILER.exists():
        message = "the types of the player were not checked: its packages are missing (cd web && npm ci)"
        if os.environ.get("CI"):
            return [message]
        print(message, file=sys.stderr)
        return []
    node, _ = find_node()
    command = [*node, str(COMPILER), "--noEmit", "--incremental", "--tsBuildInfoFile", str(KNOWN)]
    done = subprocess.run(command, cwd=WEB, capture_output=True, text=True)
    return [done.stdout + done.stderr] if done.returncode else []


def write_user_script() -> str:
    """Every shortcut with every field, each argument of the type that it is declared with; every public name."""
    types = sorted({argument.spec.kind.type_for(argument.spec) for cls in CLASSES for argument in find_arguments(cls)})
    results = dict.fromkeys(cls.shortcut_result() for cls in CLASSES)
    variables = {text: f"x{k}" for k, text in enumerate(types)}
    lines = ["from typing import Literal, assert_type", "import kinode as kn"]
    lines += [f"from kinode.model.base.kinds import {text}" for text in types if text.endswith("Like")]
    lines += [f"from {cls.__module__} import {cls.__name__}" for cls in results]
    arguments = ", ".join(f"{name}: {text}" for text, name in variables.items())
    lines += [f"def use(system: kn.System, {arguments}) -> None:"]
    for cls in CLASSES:
        given = [(argument, variables[argument.spec.kind.type_for(argument.spec)]) for argument in find_arguments(cls)]
        places = [variable for argument, variable in given if argument.positional]
        named = [f"{argument.name}={variable}" for argument, variable in given if not argument.positional]
        call = f"system.{cls.kind or cls.sort()}({', '.join(['str()', *places, *named])})"
        lines.append(f"    assert_type({call}, {cls.shortcut_result().__name__})")
    lines += ["    system.revolute('pin', 'world', 'arm', stifness=3.0)  # wrong: stifness"]
    lines += ["    system.resistor('r', 'a', 'b')  # wrong: resistance is missing"]
    lines += ["    system.revolut('pin', 'world', 'arm')  # wrong: revolut", "    kn.simulte  # wrong: simulte"]
    return "\n".join([*lines, *(f"reveal_type(kn.{name})" for name in kn.__all__)]) + "\n"


def read_messages(source: str) -> dict[str, list[str]]:
    """What mypy says of each line of a user's script, with the settings of this project."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "script.py"
        script.write_text(source, encoding="utf-8")
        # What `mypy` has found before is still known: kinode itself is not looked at again.
        command = [sys.executable, "-m", "mypy", "--cache-dir", str(ROOT / ".mypy_cache")]
        command += ["--no-error-summary", "--hide-error-context", str(script)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    messages: dict[str, list[str]] = {}
    lines = source.splitlines()
    for line in (done.stdout + done.stderr).splitlines():
        place = re.match(r".*?script\.py:(\d+): (.*)", line)
        messages.setdefault(lines[int(place[1]) - 1].strip() if place else "mypy", []).append(
            place[2] if place else line
        )
    return messages


def find_faults(messages: dict[str, list[str]]) -> list[str]:
    """Mistakes that were not found, faults where there are none, public names without a type."""
    faults = []
    for line, texts in messages.items():
        wrong = line.partition("# wrong: ")[2].partition(" ")[0]
        if not line.startswith("reveal_type") and not (wrong and any(wrong in text for text in texts)):
            faults.append(f"{line}: {'; '.join(texts)}")
    mistakes = [line.strip() for line in write_user_script().splitlines() if "# wrong: " in line]
    faults += [f"not found to be wrong: {line}" for line in mistakes if line not in messages]
    for name in kn.__all__:
        text = "; ".join(messages.get(f"reveal_type(kn.{name})", ["nothing"]))
        unknown = re.search(r"type is \"(Any|builtins\.object|types\.ModuleType)", text) and name != "fields"
        if unknown or not text.startswith('note: Revealed type is "'):
            faults.append(f"kn.{name} has no type: {text}")
    return faults


def main() -> int:
    """Exit code 0, or 1 where something was found."""
    try:
        faults = check_player()
    except BuildError as error:
        faults = [f"the types of the player were not checked: {error}"]
    faults += find_faults(read_messages(write_user_script()))
    print(*faults, sep="\n", end="\n" if faults else "", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
