"""Code in two tiers: both give the same numbers, the exchange is safe under threads, the cache gets the better one."""

from __future__ import annotations

import ctypes
import io
import os
import pickle
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import kinode as kn
from kernels import call_lanes, straight
from kinode.algebra.scalars import less
from kinode.algebra.trace import Tape, needed
from kinode.jit import code_cache, compiler, llvm_code, machine_code
from kinode.jit.machine_code import ARGUMENTS
from kinode.jit.program_walk import set_keys
from kinode.jit.tiers import better_code, waiting_words
from kinode.jit.tiers.better_code import wait_for_better_code
from kinode.jit.tiers.exchanged_code import Addresses, ExchangedCode
from kinode.ode import compiled_loops

SOURCE = Path(kn.__file__).parents[1]
PATIENCE = 600.0  # s: no wait for code that is made beside the work lasts longer, however busy the machine is
EXAMPLES = Path(__file__).parents[2] / "examples"


def random_program(seed, count=400):
    """Sums and products at random, with products used once and several times."""
    generator, tape = np.random.default_rng(seed), Tape()
    known = [tape.input("q", k) for k in range(6)]
    for _ in range(count):
        a, b, c = (known[k] for k in generator.integers(max(0, len(known) - 12), len(known), 3))
        kind = generator.integers(6)
        known.append([a * b + c, c - a * b, a * b - c, a + b, 0.5 * a - 0.25, a * b][kind])
        known[-1] = known[-1] if kind == 5 else 0.4 * known[-1]  # it stays finite
    return straight([("out", k, value) for k, value in enumerate(known[-20:])], q=6, out=20)


@pytest.mark.parametrize("lanes", [1, 4])
@pytest.mark.parametrize("seed", range(3))
def test_every_level_gives_the_same_bits(monkeypatch, lanes, seed):
    program = random_program(seed)
    rows = {"q": np.random.default_rng(seed).uniform(-1, 1, (lanes, 6))}
    found = []
    for level in (0, 1, 2):
        monkeypatch.setattr(llvm_code, "choose_level", lambda *_, level=level: level)
        found.append(call_lanes(compiler.compile_program(program, lanes), rows).tobytes())
    assert len(set(found)) == 1


@pytest.mark.skipif(not llvm_code.host().fma, reason="this processor has no fused multiply-add")
def test_products_are_fused_with_their_only_sum():
    """A product that is rounded before its sum loses what is beyond 53 bits."""
    tape, eps = Tape(), 2.0**-30
    a, b, c = (tape.input("q", k) for k in range(3))
    rows = {"q": np.array([[1 + eps, 1 - eps, 1.0]])}  # a b = 1 - eps^2
    alone = straight([("out", 0, c - a * b)], q=3, out=1)
    assert call_lanes(compiler.compile_program(alone, 1), rows).tolist() == [[eps**2]]
    several = straight([("out", 0, c - a * b), ("out", 1, a * b - c), ("out", 2, a * b - 1.0)], q=3, out=3)
    assert call_lanes(compiler.compile_program(several, 1), rows).tolist() == [[0.0, 0.0, 0.0]]


def test_what_is_no_number_has_one_key():
    """Else which product is fused with a sum would differ from process to process."""
    keys = []
    for _ in range(2):
        tape = Tape()
        x, y = tape.input("q", 0), tape.input("q", 1)
        nodes = needed([kn.where(less(x, y), float("nan"), x * y)])
        set_keys(nodes)
        keys.append([node.key for node in nodes])
    assert keys[0] == keys[1]


def wait_until(holds, seconds=PATIENCE):
    """Until a condition holds, however busy the machine is."""
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.005)
    return holds()


def test_the_exchange_is_safe_under_threads():
    machines = [
        compiler.compile_program(straight([("out", 0, Tape().input("q", 0) + float(k))], q=1, out=1), 1) for k in (1, 2)
    ]
    places = [Addresses(machine.address, machine.batch_address) for machine in machines]
    exchanged = ExchangedCode(places[0], machines[0].engine)
    machine = replace(machines[0], address=exchanged.addresses.kernel, batch_address=exchanged.addresses.batch)
    found, ended = set(), threading.Event()

    def call():
        function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(ARGUMENTS))(machine.address)
        q, out = np.array([0.5]), np.zeros(1)
        arrays = [{"q": q, "out": out}.get(name, q).ctypes.data for name in ARGUMENTS]
        while not ended.is_set():
            function(*arrays)
            found.add(float(out[0]))

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    wait_until(lambda: 1.5 in found)
    for k in range(2000):
        exchanged.exchange(places[k % 2], machines[k % 2].engine)
    wait_until(lambda: 2.5 in found)
    ended.set()
    for thread in threads:
        thread.join()
    assert found == {1.5, 2.5} and call_lanes(machine, {"q": np.array([[0.5]])})[0, 0] == 2.5


@pytest.fixture
def tiered(monkeypatch, tmp_path):
    monkeypatch.setenv("KINODE_TIERS", "1")
    monkeypatch.setenv("KINODE_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compiler, "TWO_TIER_LINES", 500)


def test_better_code_takes_the_place_of_the_first(tiered):
    program = random_program(5, 1500)
    rows = {"q": np.random.default_rng(1).uniform(-1, 1, (1, 6))}
    machine = compiler.build("test of tiers", 1, lambda: program)
    first = call_lanes(machine, rows)
    assert wait_for_better_code(PATIENCE) and machine.engine.n_exchanges == 1
    assert call_lanes(machine, rows).tobytes() == first.tobytes()
    again = compiler.build("test of tiers", 1, lambda: pytest.fail("it is in the cache"))
    assert not isinstance(again.engine, ExchangedCode) and call_lanes(again, rows).tobytes() == first.tobytes()


def test_the_first_tier_alone(tiered, monkeypatch):
    """Long code is compiled with low effort and stays so, under an entry of its own."""
    monkeypatch.setenv("KINODE_TIERS", "first")
    levels, compile_text = [], llvm_code.compile_text
    monkeypatch.setattr(
        llvm_code, "compile_text", lambda text, level: levels.append(level) or compile_text(text, level)
    )
    request = compiler.BuildRequest("test of the first tier", 1, lambda: random_program(5, 1500))
    (first,) = compiler.build_several([request])
    (short,) = compiler.build_several([compiler.BuildRequest("a short one", 1, lambda: random_program(5, 20))])
    assert levels == [0, 2]
    assert not any(isinstance(machine.engine, ExchangedCode) for machine in (first, short))
    entry = request.entry
    monkeypatch.setenv("KINODE_TIERS", "1")
    assert request.entry != entry


def test_without_a_cache_code_is_made_here(tiered, monkeypatch):
    monkeypatch.setenv("KINODE_CACHE", "0")
    machine = compiler.build("test of one tier", 1, lambda: random_program(5, 1500))
    assert not isinstance(machine.engine, ExchangedCode)


@pytest.mark.parametrize("start", ["nowhere", "broken"])
def test_where_no_process_can_be_started_the_first_code_stays(tiered, monkeypatch, start):
    executable = {"nowhere": "/nowhere/python", "broken": sys.executable}[start]
    monkeypatch.setattr(sys, "executable", executable)
    monkeypatch.setattr(better_code, "START", "raise SystemExit(1)")
    program, rows = random_program(7, 1500), {"q": np.random.default_rng(1).uniform(-1, 1, (1, 6))}
    machine = compiler.build(f"test of {start}", 1, lambda: program)
    first = call_lanes(machine, rows)
    assert wait_for_better_code(PATIENCE) and machine.engine.n_exchanges == 0
    assert call_lanes(machine, rows).tobytes() == first.tobytes()


def test_what_cannot_be_compiled_or_is_there_does_not_keep_the_rest_waiting(tiered):
    text = "define double @same(double %x) {\n  ret double %x\n}\n"
    names = [digit * 40 for digit in "123"]
    code_cache.save(names[1], b"what another process made")
    batch = [(names[0], b"", "no text of LLVM", 1, False), *((name, b"head", text, 1, True) for name in names[1:])]
    better_code.compile_all(io.BytesIO(pickle.dumps(batch)))
    assert code_cache.load(names[0]) is None and code_cache.load(names[1]) == b"what another process made"
    assert code_cache.load(names[2]).startswith(b"head\x7fELF") or sys.platform != "linux"


def test_a_run_with_both_tiers_is_bit_for_bit_that_of_one(tiered, monkeypatch):
    def run():
        return kn.simulate(kn.compile(kn.load(EXAMPLES / "four_bar.yaml")), 0.5, progress=False)

    both = run()
    assert wait_for_better_code(PATIENCE)
    monkeypatch.setenv("KINODE_TIERS", "0")
    monkeypatch.setenv("KINODE_CACHE", "0")
    alone = run()
    assert both.q.tobytes() == alone.q.tobytes() and both.u.tobytes() == alone.u.tobytes()


def test_loops_come_in_two_tiers_with_the_same_bits(tiered, monkeypatch):
    """The loop that advances runs, first of low effort: a run with it, and with what takes its place."""
    dynamics = kn.compile(kn.load(EXAMPLES / "four_bar.yaml"))

    def run():
        found = kn.simulate(dynamics, 0.5, progress=False)
        return found.q.tobytes() + found.u.tobytes()

    def forget():
        monkeypatch.setattr(machine_code, "_COMPILED", {})
        compiled_loops.loop.cache_clear()

    forget()
    first = run()
    name = "kinode.ode.loops.advance:advance_adaptive_plain"
    (loop,) = machine_code._COMPILED[(name,)]
    assert better_code._known
    address = loop.address
    assert wait_for_better_code() and loop.address != address
    forget()
    assert run() == first
    forget()
    monkeypatch.setattr(llvm_code, "compile_text", lambda *_, **__: pytest.fail("it is in the cache"))
    assert run() == first


@pytest.mark.slow
def test_the_better_code_is_kept_though_the_process_ends(tmp_path):
    """A process that ends while it still gathers what it wants leaves it to another one."""
    model = "d = kn.compile(kn.load('stewart_platform.yaml')); s = d.initial"
    gathers = "from kinode.jit.tiers import better_code; better_code.MOMENT = 600.0"
    tells = "print(*(wanted.entry for wanted, _ in better_code._known[0]._asked))"
    script = f"{gathers}; import kinode as kn; {model}; d.acceleration(s.t, s.q, s.u); {tells}"
    environment = {**os.environ, "KINODE_TIERS": "1", "KINODE_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(SOURCE)}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, cwd=EXAMPLES, check=True, stdout=subprocess.PIPE, text=True
    )
    asked, folder = done.stdout.split(), tmp_path / "kinode-kernels"
    assert asked and wait_until(lambda: all((folder / entry).is_file() for entry in asked))


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(("stream", "said"), [(Terminal(), "kinode: compiling u_dot of arm\n"), (io.StringIO(), "")])
def test_a_terminal_is_told_what_is_compiled(monkeypatch, stream, said):
    monkeypatch.setattr(waiting_words, "MOMENT", 0.01)
    monkeypatch.setattr(sys, "stderr", stream)
    with waiting_words.waiting_words("u_dot of arm"):
        wait_until(lambda: stream.getvalue(), 60.0 if said else 0.1)
    with waiting_words.waiting_words(""):
        time.sleep(0.03)
    monkeypatch.setattr(waiting_words, "MOMENT", 5.0)
    with waiting_words.waiting_words("what is there at once"):
        pass
    assert stream.getvalue() == said
