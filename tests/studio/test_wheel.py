"""Wheel and source distribution hold the built player and studio."""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLAYER = "src/kinode/studio/static/player.js"
STUDIO = "src/kinode/studio/static/studio.js"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    if not (ROOT / PLAYER).exists():
        pytest.skip("the player is not built: make player")
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return folder


def test_the_wheel_holds_the_player(built):
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        for built_file in (PLAYER, STUDIO):
            assert archive.read(built_file.removeprefix("src/")) == (ROOT / built_file).read_bytes()
        assert not [name for name in archive.namelist() if "node_modules" in name or name.endswith(".ts")]


def test_the_source_distribution_holds_player_and_sources(built):
    (source,) = built.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {PLAYER, STUDIO, "web/src/main.ts", "web/package-lock.json", "tools/build_player.py"} <= names
    assert not [name for name in names if "node_modules" in name]
