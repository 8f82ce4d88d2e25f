"""Where the compiled loops come from: the cache on disk, without numba, and again if the entry is damaged."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kinode.codegen import cache
from kinode.solve import native

LOOPS = ("advance", "advance_fixed", "run_groups")


@pytest.fixture(scope="module", autouse=True)
def entries() -> None:
    """All loops are in the cache before the first test."""
    for name in LOOPS:
        native.loop(name)


def test_a_warm_start_does_not_import_numba():
    source = Path(native.__file__).parents[2]
    code = (
        "import sys; from kinode.solve import native, integrators, batch\n"
        f"for name in {LOOPS}: native.loop(name)\n"
        "print('numba' in sys.modules, 'scipy' in sys.modules, 'sksundae' in sys.modules)"
    )
    environment = os.environ | {"PYTHONPATH": str(source)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False", "False"]


def test_an_entry_depends_on_the_loop():
    names = {native._entry(name) for name in LOOPS}
    assert len(names) == 3 and None not in names


def test_without_a_cache_the_loop_is_compiled(monkeypatch):
    """Also the way of a damaged entry, which the cache reports as absent."""
    monkeypatch.setattr(cache, "load", lambda name: None)
    saved = []
    monkeypatch.setattr(cache, "save", lambda name, code: saved.append((name, code)))
    loop = native.loop.__wrapped__("advance_fixed")
    assert callable(loop)
    assert saved[0][0] == native._entry("advance_fixed") and len(saved[0][1]) > 1000
