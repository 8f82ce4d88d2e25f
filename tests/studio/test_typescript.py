"""The player's own tests and its types, by node: vitest and the TypeScript compiler."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WEB = ROOT / "web"
sys.path.insert(0, str(ROOT / "tools"))
import build_player  # noqa: E402

# What the compiler found in files that have not changed since is still known; test files have threads of one process.
KNOWN = ROOT / ".cache" / "typescript" / "known.tsbuildinfo"
COMMANDS = {
    "types": ["node_modules/typescript/bin/tsc", "--noEmit", "--incremental", "--tsBuildInfoFile", str(KNOWN)],
    "vitest": ["node_modules/vitest/vitest.mjs", "run", "--reporter=dot", "--pool=threads"],
}


@pytest.mark.parametrize("what", COMMANDS)
def test_the_player_in_typescript(what):
    program, *arguments = COMMANDS[what]
    if not (WEB / program).exists():
        message = "the player's packages are not installed: make player"
        pytest.fail(message) if os.environ.get("CI") else pytest.skip(message)
    node, _ = build_player.find_node()
    done = subprocess.run([*node, program, *arguments], cwd=WEB, capture_output=True, text=True)
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
