"""The process that compiles beside another one: it answers while more may come, and nothing else reaches the pipe."""

import json
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src"
SERVE = f"import sys; sys.path.insert(0, {str(SOURCE)!r}); from kinode.jit.tiers.compile_worker import *; "
TEXT = b"define double @same(double %x) {\n  ret double %x\n}\n"


@contextmanager
def worker(code):
    """A process with pipes, which ends when its input does."""
    process = subprocess.Popen([sys.executable, "-c", SERVE + code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        yield process
        process.stdin.close()
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def ask(process, content, level):
    """What is answered while the input stays open."""
    asked = {"length": len(content), "entry": None, "level": level, "head": None, "optimize": False}
    process.stdin.write(json.dumps(asked).encode() + b"\n" + content)
    process.stdin.flush()
    return process.stdout.read(int.from_bytes(process.stdout.read(8), "little"))


def test_answers_come_while_more_may_be_asked():
    """Packed operations need NumPy, whose libraries look at the input on Windows: that must not wait for a request."""
    with worker("main()") as process:
        assert ask(process, b"these are no operations", None) == b""
        assert len(ask(process, TEXT, 1)) > len(TEXT)
        assert ask(process, b"this is no text of LLVM", 1) == b""


def test_what_libraries_print_or_read_does_not_reach_the_pipes():
    code = (
        "r, w = take_streams(); print('lost', flush=True); assert sys.stdin.read() == ''; w.write(r.read(4)); w.flush()"
    )
    with worker(code) as process:
        process.stdin.write(b"kept and more")
        process.stdin.flush()
        assert process.stdout.read() == b"kept"
