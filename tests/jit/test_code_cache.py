"""The cache on disk: what is damaged, foreign or forbidden counts as absent."""

from __future__ import annotations

import hashlib
import os
import stat
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
    """The folder of the entries, which the first of them makes."""
    monkeypatch.setenv("KINODE_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("KINODE_CACHE", raising=False)
    code_cache._warn.cache_clear()
    return tmp_path / code_cache.FOLDER


def name(word):
    """The name of an entry: one that prunes nothing by itself."""
    return f"{hashlib.sha1(word.encode()).hexdigest()[:39]}1"


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
    (entry,) = [path for path in place.iterdir() if b"'kernel'" in path.read_bytes()]
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
    code_cache.save(name("one"), b"payload")
    (place / name("two")).write_bytes((place / name("one")).read_bytes())
    assert code_cache.load(name("one")) == b"payload"
    assert code_cache.load(name("two")) is None


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
    assert not place.exists()


def test_without_readable_source_nothing_is_kept(place, monkeypatch):
    monkeypatch.setattr(code_cache, "source_digest", lambda: "")
    check(compiler.build("double", 1, Maker()))
    assert not place.exists()


def test_the_oldest_go_first(place):
    for k in range(4):
        code_cache.save(name(f"entry{k}"), bytes(1000))
        os.utime(place / name(f"entry{k}"), (k, k))
    code_cache.load(name("entry0"))
    code_cache.prune(place, 2500)
    assert {path.name for path in place.iterdir()} == {name("entry0"), name("entry3")}


def test_only_entries_are_ever_removed(place, tmp_path):
    """Whatever else lies in the folder, or in the one above, stays: also what has the name or the mark of an entry."""
    code_cache.save(name("ours"), bytes(1000))
    entry = (place / name("ours")).read_bytes()
    foreign = {
        tmp_path / "thesis.tex": b"years of work",
        tmp_path / name("above"): entry,
        place / "notes.txt": b"mine",
        place / "copy of an entry": entry,
        place / name("of a name that fits"): b"not an entry",
        place / name("of an entry under another name"): entry,
    }
    for path, contents in foreign.items():
        path.write_bytes(contents)
        os.utime(path, (0, 0))
    (place / "folder").mkdir()
    (place / name("link")).symlink_to(tmp_path / "thesis.tex")
    os.mkfifo(place / name("pipe"))
    code_cache.prune(place, 0)
    assert not (place / name("ours")).exists()
    assert all(path.read_bytes() == contents for path, contents in foreign.items())
    assert (place / "folder").is_dir() and (place / name("link")).is_symlink() and (place / name("pipe")).is_fifo()


def test_links_and_pipes_are_not_followed(place, tmp_path):
    """A valid entry behind a link is not loaded, a pipe is not waited for, and neither is written to."""
    code_cache.save(name("real"), b"payload")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes((place / name("real")).read_bytes())
    (place / name("real")).unlink()
    (place / name("real")).symlink_to(elsewhere)
    os.mkfifo(place / name("pipe"))
    before = elsewhere.read_bytes()
    for word in ("real", "pipe"):
        assert code_cache.load(name(word)) is None
        code_cache.save(name(word), b"other")
        assert code_cache.load(name(word)) is None
    assert elsewhere.read_bytes() == before
    assert (place / name("real")).is_symlink() and (place / name("pipe")).is_fifo()


def test_the_folder_is_closed_to_others(place):
    old = os.umask(0)
    try:
        code_cache.save(name("one"), b"payload")
    finally:
        os.umask(old)
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert stat.S_IMODE((place / name("one")).stat().st_mode) == 0o600


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o722])
def test_a_folder_that_others_can_write_is_not_loaded_from(place, mode):
    code_cache.save(name("one"), b"payload")
    place.chmod(mode)
    with pytest.warns(RuntimeWarning, match=r"others can write this folder.*chmod 700"):
        assert code_cache.load(name("one")) is None
    code_cache.save(name("two"), b"payload")
    assert not (place / name("two")).exists()
    place.chmod(0o755)
    assert code_cache.load(name("one")) == b"payload"


def test_a_folder_of_another_user_is_not_loaded_from(place, monkeypatch):
    code_cache.save(name("one"), b"payload")
    user = place.stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: user + 1)
    owner = os.lstat

    def of_another(path):
        about = list(owner(path))
        about[stat.ST_UID] = user + 2
        return os.stat_result(about)

    monkeypatch.setattr(os, "lstat", of_another)
    with pytest.warns(RuntimeWarning, match="others can write"):
        assert code_cache.load(name("one")) is None


def test_an_entry_that_others_can_write_is_not_loaded(place):
    code_cache.save(name("one"), b"payload")
    (place / name("one")).chmod(0o666)
    assert code_cache.load(name("one")) is None


def test_a_link_in_place_of_the_folder_is_no_cache(place, tmp_path):
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    place.symlink_to(tmp_path / "elsewhere")
    code_cache.save(name("one"), b"payload")
    assert not list((tmp_path / "elsewhere").iterdir())


WRITER = """
import sys
from kinode.jit import code_cache as cache
for k in range(200):
    cache.save("5" * 40, bytes([int(sys.argv[1])]) * 50_000)
    found = cache.load("5" * 40)
    assert found is not None and len(found) == 50_000 and len(set(found)) == 1
"""


def test_two_processes_at_once(place):
    processes = [subprocess.Popen([sys.executable, "-c", WRITER, str(k)]) for k in (1, 2)]
    assert [process.wait() for process in processes] == [0, 0]
    assert [path.name for path in place.iterdir()] == ["5" * 40]


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


def test_one_save_in_256_looks_at_all_entries(place, monkeypatch):
    """Whatever the process writes else: names are digests, so that short processes take their turn as well."""
    looks = []
    monkeypatch.setattr(code_cache, "prune", looks.append)
    monkeypatch.setattr(code_cache, "source_digest", lambda: "the same digests every time")
    for k in range(2560):
        code_cache.save(code_cache.digest(str(k)), b"payload")
    assert 3 <= len(looks) <= 25


@pytest.fixture
def copied(tmp_path, monkeypatch, place):
    """A tree of sources in place of kinode's: `dynamics` imports `jit`, nothing imports `views`."""
    root = tmp_path / "source"
    for path, text in {
        "__init__.py": "",
        "dynamics/compile.py": "from kinode.jit import call\n",
        "jit/call.py": "import kinode.errors\n",
        "errors.py": "",
        "views/plot.py": "",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    monkeypatch.setattr(code_cache, "ROOT", root)
    yield root
    code_cache.source_digest.cache_clear()


def digest_now(*packages):
    code_cache.source_digest.cache_clear()
    return code_cache.source_digest(*packages)


def test_the_digest_is_that_of_the_contents(copied):
    first = digest_now()
    assert code_cache.find_sources() == ["dynamics", "errors", "jit"]
    os.utime(copied / "jit" / "call.py", (1, 1))
    (copied / "views" / "plot.py").write_text("changed")
    assert digest_now() == first
    (copied / "errors.py").write_text("# new\n")
    second = digest_now()
    assert second != first
    (copied / "errors.py").write_text("")
    assert digest_now() == first


def test_a_module_that_moves_changes_the_digest(copied):
    first = digest_now()
    (copied / "jit" / "call.py").rename(copied / "jit" / "kernel_call.py")
    assert digest_now() != first
    (copied / "model").mkdir()
    (copied / "jit" / "kernel_call.py").rename(copied / "model" / "kernel_call.py")
    (copied / "dynamics" / "compile.py").write_text("from kinode.model import kernel_call\n")
    assert code_cache.find_sources() == ["dynamics", "errors", "model"]
    (copied / "model").rename(copied / "mechanics")  # the entry of the cache names a package that is gone
    (copied / "dynamics" / "compile.py").write_text("from kinode.mechanics import kernel_call\n")
    assert digest_now() not in (first, "")


def test_sources_are_read_again_only_where_a_size_or_time_differs(copied, monkeypatch):
    first = digest_now()
    monkeypatch.setattr(code_cache, "find_sources", lambda: pytest.fail("nothing has changed"))
    assert digest_now() == first


def test_a_package_that_is_not_there_is_an_error(copied):
    with pytest.raises(FileNotFoundError, match="loops"):
        digest_now("loops")


def test_without_source_there_is_no_digest(copied):
    (copied / "__init__.py").unlink()
    assert digest_now() == ""
