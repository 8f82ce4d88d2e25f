"""Wheel and source distribution hold the built player and studio, and work in a fresh environment."""

import os
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest
from peers import cannot_try

ROOT = Path(__file__).resolve().parents[2]
PLAYER = "src/kinode/studio/static/player.js"
STUDIO = "src/kinode/studio/static/studio.js"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    if not (ROOT / PLAYER).exists():
        cannot_try("the player is not built: python tools/build_player.py")
    pytest.importorskip("hatchling")
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


def test_the_source_distribution_builds_the_same_wheel(built, tmp_path):
    (source,), (wheel,) = built.glob("*.tar.gz"), built.glob("*.whl")
    with tarfile.open(source) as archive:
        archive.extractall(tmp_path, filter="data")
    (folder,) = tmp_path.iterdir()
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "again")]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    with zipfile.ZipFile(wheel) as one, zipfile.ZipFile(tmp_path / "again" / wheel.name) as two:
        assert sorted(one.namelist()) == sorted(two.namelist())


TRY = """
import sys
import kinode as kn
assert kn.__file__.startswith(sys.prefix), kn.__file__
system = kn.System("s")
body = system.body("b", mass=1, com=(0.1, 0, 0), inertia=(1, 1, 1))
system.revolute("j", system.world, body, axis="y", stiffness=2)
assert abs(kn.simulate(system, 0.1)["j.q"][-1]) > 0
"""


def test_the_wheel_works_in_a_fresh_environment(built, tmp_path):
    """Installed by pip; its dependencies are those of this environment, which stand behind it on the path."""
    (wheel,) = built.glob("*.whl")
    place = tmp_path / "fresh"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    binaries = place / ("Scripts" if os.name == "nt" else "bin")
    install = [sys.executable, "-m", "pip", "--python", str(binaries / "python"), "install", "--no-deps", "--no-index"]
    subprocess.run([*install, "--no-compile", str(wheel)], check=True, capture_output=True)
    (packages,) = [
        path for path in place.rglob("site-packages") if not path.is_symlink() and path.parent.name != "lib64"
    ]
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    run = {"check": True, "cwd": tmp_path, "env": environment, "capture_output": True, "text": True}
    subprocess.run([str(binaries / "python"), "-c", TRY], **run)
    shown = subprocess.run([str(binaries / "kinode"), "examples"], **run).stdout
    assert "four_bar" in shown
