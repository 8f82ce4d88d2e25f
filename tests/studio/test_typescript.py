"""The player's own tests, by node: vitest.  Its types are checked by ``make lint``."""

import subprocess
import sys
from pathlib import Path

from peers import cannot_try

ROOT = Path(__file__).parents[2]
WEB = ROOT / "web"
sys.path.insert(0, str(ROOT / "tools"))
import build_player  # noqa: E402


def test_the_player_in_typescript():
    program = "node_modules/vitest/vitest.mjs"
    if not (WEB / program).exists():
        message = "the player's packages are not installed: python tools/build_player.py"
        cannot_try(message)
    node, _ = build_player.find_node()
    done = subprocess.run(
        [*node, program, "run", "--reporter=dot", "--pool=threads"], cwd=WEB, capture_output=True, text=True
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
