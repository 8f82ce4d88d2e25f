"""The cache on disk: what is damaged, foreign or forbidden counts as absent."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import kinode as kn
from kernels import straight
from kinode.algebra.trace import Tape
from kinode.jit import code_cache, compiler
from kinode.jit.kernel_call import run


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("KINODE_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("KINODE_CACHE", raising=False)
    return tmp_path


class Maker:
    """Makes the program q -> 2 q, and counts how often it was asked."""

    def __init__(self):
        self.calls = 0

    def __call__(self):
        self.calls += 1
        return straight([("out", 0, Tape().input("q", 0) * 2.0)], q=1, out=1)


def check(built):
    assert run(built, {"q": [3.0]})[0] == 6.0


def test_a_warm_start_makes_no_program(place):
    maker = Maker()
    check(compiler.build("double", 1, maker))
    check(compiler.build("double", 1, maker))
    assert maker.calls == 1
    compiler.build("double", 4, maker)
    compiler.build("other", 1, maker)
    compiler.build(None, 1, maker)
    assert maker.calls == 4


@pytest.mark.parametrize("damage", ["cut", "empty", "flip", "foreign", "longer"])
def test_damaged_entries_are_rewritten(place, damage):
    maker = Maker()
    check(compiler.build("double", 1, maker))
    (entry,) = [path for path in place.iterdir() if b'"kernel"' in path.read_bytes()]
    data = entry.read_bytes()
    middle = len(data) // 2
    entry.write_bytes(
        {
            "cut": data[:middle],
            "empty": b"",
            "flip": data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :],
            "foreign": b"something else",
            "longer": data + b"x",
        }[damage]
    )
    check(compiler.build("double", 1, maker))
    assert maker.calls == 2
    assert entry.read_bytes()[: len(code_cache.MAGIC)] == code_cache.MAGIC
    check(compiler.build("double", 1, maker))
    assert maker.calls == 2


def test_an_entry_under_another_name_is_foreign(place):
    code_cache.save("one", b"payload")
    (place / "two").write_bytes((place / "one").read_bytes())
    assert code_cache.load("one") == b"payload"
    assert code_cache.load("two") is None


def test_a_directory_that_cannot_be_written_is_no_cache(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    monkeypatch.setenv("KINODE_CACHE_DIR", str(blocked / "inside"))
    maker = Maker()
    check(compiler.build("double", 1, maker))
    check(compiler.build("double", 1, maker))
    assert maker.calls == 2


def test_turned_off(place, monkeypatch):
    monkeypatch.setenv("KINODE_CACHE", "0")
    check(compiler.build("double", 1, Maker()))
    assert not list(place.iterdir())


def test_without_readable_source_nothing_is_kept(place, monkeypatch):
    monkeypatch.setattr(code_cache, "source_digest", lambda: "")
    check(compiler.build("double", 1, Maker()))
    assert not list(place.iterdir())


def test_the_oldest_go_first(place):
    for k in range(4):
        code_cache.save(f"entry{k}", bytes(1000))
        os.utime(place / f"entry{k}", (k, k))
    code_cache.load("entry0")
    code_cache.prune(place, 2500)
    assert sorted(path.name for path in place.iterdir()) == ["entry0", "entry3"]


WRITER = """
import sys
from kinode.jit import code_cache as cache
for k in range(200):
    cache.save("same", bytes([int(sys.argv[1])]) * 50_000)
    found = cache.load("same")
    assert found is not None and len(found) == 50_000 and len(set(found)) == 1
"""


def test_two_processes_at_once(place):
    processes = [subprocess.Popen([sys.executable, "-c", WRITER, str(k)]) for k in (1, 2)]
    assert [process.wait() for process in processes] == [0, 0]
    assert [path.name for path in place.iterdir()] == ["same"]


@pytest.mark.parametrize(
    "changed, quantity, ratio",
    [
        ({"equations": {"loss": "voltage = 2*resistance*current"}}, "lamp.current", 0.5),
        ({"lost": "2*resistance*current^2"}, "lamp.lost", 2.0),
    ],
)
def test_a_kind_that_is_declared_otherwise_is_compiled_anew(place, changed, quantity, ratio):
    def at_the_end(**other):
        system = kn.System("lamps")
        given = {"equations": {"loss": "voltage = resistance*current"}, "lost": "resistance*current^2", **other}
        system.define("lamp", base="two_pole", parameters={"resistance": "Ohm"}, **given)
        system.voltage_source("supply", "bus", "gnd", voltage=12)
        system.element("lamp", "lamp", plus="bus", minus="gnd", resistance=4)
        return kn.simulate(system, 1.0)[quantity][-1]

    before = at_the_end()
    assert at_the_end(**changed) == pytest.approx(ratio * before, rel=1e-12)
    assert at_the_end() == before


def test_one_save_in_sixteen_looks_at_all_entries(place, monkeypatch):
    """Whatever the process writes else: names are digests, so that short processes take their turn as well."""
    looks = []
    monkeypatch.setattr(code_cache, "prune", looks.append)
    monkeypatch.setattr(code_cache, "source_digest", lambda: "the same digests every time")
    for k in range(320):
        code_cache.save(code_cache.digest(str(k)), b"payload")
    assert 5 <= len(looks) <= 50
