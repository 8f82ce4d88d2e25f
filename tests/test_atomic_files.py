"""Files are written as a whole or not at all: every writer, on a full disk and when it is killed."""

import ast
import os
import re
import signal
import stat
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from example_counts import by_day
from run_models import pendulum
from typer.testing import CliRunner

import kinode as kn
from kinode import atomic_files
from kinode.cli.commands import app
from kinode.formats.yaml_files import dumps
from kinode.views.mechanism.mechanism_drawing import draw
from kinode.views.mechanism.vector_scheme import draw_scheme
from kinode.views.plots.time_plots import plot_loads

SOURCE = Path(__file__).resolve().parent.parent / "src" / "kinode"
OLD = "what was there before\n"
NOBODY = 65534
SMALL = 60  # bytes that fit the full disk: less than any of the files takes


def command(*words: str) -> None:
    """A command of kinode in this process; its failure is raised as the message."""
    outcome = CliRunner().invoke(app, list(words))
    if outcome.exit_code:
        raise kn.Error(outcome.output)


# Name of the file, and what writes it: of a run, the folder of the model, and the file.
WRITERS: dict[str, Callable[[kn.Trajectory, Path, Path], object]] = {
    "model.yaml": lambda run, models, file: run.system.save(file),
    "run.nc": lambda run, models, file: run.save(file),
    "table.csv": lambda run, models, file: run.to_csv(file),
    "pendulum.html": lambda run, models, file: run.report(file.parent, verify=False, joints=0),
    "lines.png": lambda run, models, file: run.plot("pin.q", file=file),
    "lines.svg": lambda run, models, file: run.plot("pin.q", file=file),
    "lines.pdf": lambda run, models, file: run.plot("pin.q", file=file),
    "loads.svg": lambda run, models, file: plot_loads(run, "pin", file=file),
    "causes.svg": lambda run, models, file: run.causes("pin").plot(file=file),
    "spectrum.svg": lambda run, models, file: run.spectrum("pin").plot(file=file),
    "polar.svg": lambda run, models, file: run.pressure("pin").plot(file=file),
    "mechanism.svg": lambda run, models, file: draw(run, file=file),
    "scheme.svg": lambda run, models, file: draw_scheme(run.system, file=file),
    "diagram.svg": lambda run, models, file: kn.diagram(run.system, file),
    "equations.tex": lambda run, models, file: command("equations", f"{models}/pendulum.yaml", "--latex", f"{file}"),
    "equations.py": lambda run, models, file: command("equations", f"{models}/pendulum.yaml", "--python", f"{file}"),
    "equations.c": lambda run, models, file: command("equations", f"{models}/pendulum.yaml", "--c", f"{file}"),
    "derivation.tex": lambda run, models, file: command("explain", f"{models}/pendulum.yaml", "--latex", f"{file}"),
    "schema.json": lambda run, models, file: command("schema", "--out", f"{file}"),
}
if not hasattr(os, "fork"):
    pytest.skip("needs fork", allow_module_level=True)
resource = pytest.importorskip("resource")  # on systems with fork


@pytest.fixture(scope="module")
def run():
    return kn.simulate(pendulum(u=20.0), 1.0, samples=401)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    (folder / "pendulum.yaml").write_text(dumps(pendulum()))
    return folder


@pytest.fixture(scope="module")
def write(run, models, tmp_path_factory):
    """Writes the file of a name; of another run once before, so that no child imports all modules again."""
    folder, known, other = tmp_path_factory.mktemp("written"), set(), kn.simulate(pendulum(u=19.0), 1.0, samples=401)

    def prepared(name: str) -> Callable[[Path], object]:
        if name not in known:
            WRITERS[name](other, models, folder / name)
            assert (folder / name).stat().st_size > SMALL
            known.add(name)
        return lambda file: WRITERS[name](run, models, file)

    return prepared


def in_a_child(task: Callable[[], object]) -> tuple[int, str]:
    """The exit status of a child process that does this, and the message of its failure: a crash shows as a signal."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        code = 70
        try:
            task()
            code = 0
        except kn.Error as error:
            os.write(write, str(error).encode()[:4000])
            code = 1
        except BaseException as error:
            os.write(write, repr(error).encode()[:4000])
        finally:
            os._exit(code)
    os.close(write)
    with open(read, encoding="utf-8") as pipe:
        said = pipe.read()
    return os.waitpid(child, 0)[1], said


def fill_the_disk(room: int = SMALL) -> None:
    sys.dont_write_bytecode = True  # Python does not look whether its own files fit
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))


def kill_before_the_end() -> None:
    """Kill the process when its contents are written and do not have their name yet."""

    def kill(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    os.fsync = kill


@pytest.mark.parametrize("name", by_day(WRITERS, 10))
def test_a_full_disk_leaves_the_old_file(write, tmp_path, name):
    file, write_it = tmp_path / name, write(name)
    file.write_text(OLD)
    status, said = in_a_child(lambda: (fill_the_disk(), write_it(file)))
    assert os.waitstatus_to_exitcode(status) == 1, said
    assert name in said.replace("\n", "") and "cannot be written" in said
    assert file.read_text() == OLD
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_on_a_full_disk_kernels_are_made_and_not_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("KINODE_CACHE_DIR", str(tmp_path))

    def compute() -> None:
        fill_the_disk()
        kn.simulate(pendulum(u=18.0), 0.1, samples=5)

    status, said = in_a_child(compute)
    assert os.waitstatus_to_exitcode(status) == 0, said
    (folder,) = tmp_path.iterdir()  # so it was tried
    assert not list(folder.iterdir())


@pytest.mark.parametrize("room", [1000, 10_000, 20_000])
def test_a_disk_that_is_full_halfway(write, tmp_path, room):
    """HDF5 itself ends the process where its last blocks do not fit."""
    file, write_it = tmp_path / "run.nc", write("run.nc")
    status, said = in_a_child(lambda: (fill_the_disk(room), write_it(file)))
    assert os.waitstatus_to_exitcode(status) == 1, said
    assert "run.nc: cannot be written: File too large" in said
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", by_day(WRITERS, 8))
def test_a_kill_leaves_the_old_file(write, tmp_path, name):
    file, write_it = tmp_path / name, write(name)
    file.write_text(OLD)
    status, said = in_a_child(lambda: (kill_before_the_end(), write_it(file)))
    assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL, said
    assert file.read_text() == OLD
    (left,) = (path.name for path in tmp_path.iterdir() if path != file)
    assert left.startswith(".kinode-") and left.endswith(".part")
    atomic_files.write_text(file, "new\n")
    assert file.read_text() == "new\n"


WRITING_CALLS = {"write_text", "write_bytes", "savefig", "to_netcdf", "mkstemp", "NamedTemporaryFile", "copyfile",
                 "copy2", "tofile", "savetxt", "savez", "fdopen"}  # fmt: skip
MODES = {"w", "wb", "a", "ab", "x", "xb", "r+", "r+b", "w+", "w+b"}


def writing_calls(text: str) -> list[str]:
    """The calls in a text that write files by themselves."""
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    writing = []
    for call in calls:
        name = getattr(call.func, "attr", None) or getattr(call.func, "id", "")
        words = {x.value for x in [*call.args, *(k.value for k in call.keywords)] if isinstance(x, ast.Constant)}
        if (name == "open" and words & MODES) or (isinstance(call.func, ast.Attribute) and name in WRITING_CALLS):
            writing.append(ast.unparse(call)[:40])
    return writing


def test_nothing_else_writes_files():
    """No module opens a file for writing itself; a figure goes to memory first, or to a stream of the caller's."""
    texts = {path.name: path.read_text() for path in SOURCE.rglob("*.py")}
    may = re.compile("|".join(WRITING_CALLS | {"open"}))
    others = {name: writing_calls(text) for name, text in texts.items() if may.search(text)}
    assert {name: calls for name, calls in others.items() if calls} == {
        "atomic_files.py": ["open(target, 'wb')", "open(descriptor, 'wb')", "open(place, 'wb')"],
        # no file: the pipe to the process that asked
        "worker_tasks.py": ["os.fdopen(os.dup(1), 'wb')"],
        "style.py": [
            "figure.savefig(out, format=path.suffix.r",
            "figure.savefig(out, format='svg', metada",
            "figure.savefig(file)",
        ],
    }


def test_a_link_is_followed_and_the_mode_kept(tmp_path):
    target = tmp_path / "kept.txt"
    target.write_text(OLD)
    target.chmod(0o640)
    (tmp_path / "link.txt").symlink_to(target)
    atomic_files.write_text(tmp_path / "link.txt", "new")
    assert (tmp_path / "link.txt").is_symlink() and target.read_text() == "new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_a_new_file_has_the_usual_mode(tmp_path):
    atomic_files.write_text(tmp_path / "ours", "")
    (tmp_path / "usual").write_text("")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_protected_file_is_not_replaced():
    """By a child that is not root, who may write everything; in a folder that it may enter."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        target = Path(folder) / "protected"
        target.write_text(OLD)
        target.chmod(0o444)

        def write() -> None:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            atomic_files.write_text(target, "new")

        status, said = in_a_child(write)
        assert os.waitstatus_to_exitcode(status) == 1
        assert "protected: cannot be written: Permission denied" in said
        assert target.read_text() == OLD


def test_a_device_is_written_as_it_is():
    atomic_files.write_text(os.devnull, "anything")
    assert not stat.S_ISREG(os.stat(os.devnull).st_mode)
    with pytest.raises(kn.Error, match="No space left"):
        atomic_files.write_text("/dev/full", "anything")


@pytest.mark.parametrize(("name", "words"), [("none/new", "No such file"), ("a\0b", "null"), ("\ud800", "surrogates")])
def test_what_cannot_be_a_file_is_told(tmp_path, name, words):
    with pytest.raises(kn.Error, match=f"cannot be written: .*{words}"):
        atomic_files.write_text(tmp_path / name, "text")


def test_text_that_is_no_text(tmp_path):
    with pytest.raises(kn.Error, match="cannot be written"):
        atomic_files.write_text(tmp_path / "file", "\ud800")
    assert not list(tmp_path.iterdir())


def test_folder_is_written_whole_or_not_at_all(tmp_path):
    """Files of the folder that are not written stay; a failure leaves all as it was."""
    folder = tmp_path / "code"
    atomic_files.write_folder(folder, {"a.c": b"1", "inner/b.h": b"2"})
    (folder / "own.txt").write_text("mine")
    atomic_files.write_folder(folder, {"a.c": b"3"})
    contents = {str(x.relative_to(folder)): x.read_text() for x in folder.rglob("*") if x.is_file()}
    assert contents == {"a.c": "3", "inner/b.h": "2", "own.txt": "mine"}
    with pytest.raises(kn.Error, match="cannot be written"):
        atomic_files.write_folder(folder, {"a.c": b"4", "x\0y": b""})
    assert (folder / "a.c").read_text() == "3"
    assert [x.name for x in tmp_path.iterdir()] == ["code"]


def test_a_folder_in_the_way_leaves_all_files_of_a_folder(tmp_path):
    (tmp_path / "made" / "b.txt").mkdir(parents=True)
    (tmp_path / "made" / "a.txt").write_text("old", encoding="utf-8")
    with pytest.raises(kn.Error, match=r"made: cannot be written: b\.txt in it is a folder"):
        atomic_files.write_folder(tmp_path / "made", {"a.txt": b"new", "b.txt": b"new"})
    assert (tmp_path / "made" / "a.txt").read_text(encoding="utf-8") == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["made"]
    with pytest.raises(kn.Error, match="cannot be written"):
        atomic_files.write_folder(f"{tmp_path}/a\0b", {"a.txt": b"new"})
