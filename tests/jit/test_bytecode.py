"""Bytecode: every operation gives the bits of compiled code, alone, in batches, and after a way through bytes."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from mechanisms import four_bars

import kinode as kn
from kernels import call_lanes, straight
from kinode.algebra.scalars import apply
from kinode.algebra.trace import Tape
from kinode.jit import compiler, kernel_call, llvm_code
from kinode.jit.bytecode import bytecode_kernel, operation_list
from kinode.jit.bytecode.interpreter_ir import ON_STACK
from kinode.jit.bytecode.operation_list import CODES, list_operations, unpack
from kinode.jit.program import Block, Program
from kinode.jit.tiers import better_code
from kinode.jit.tiers.exchanged_code import ExchangedCode
from kinode.kernels.kernel_options import Kernel

EXAMPLES = Path(__file__).parents[2] / "examples"
OWN = {"end", "input", "fused", "fused_minus", "minus_fused"}  # codes that are no function of a tape
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 3.0, -1e200, 3e5, 1e-300, float("inf"), float("-inf"), float("nan")]


def same(a, b):
    """Whether two arrays have the same bits; what is no number has no bits that count."""
    return np.array_equal(np.where(np.isnan(a), 7.0, a).view(np.int64), np.where(np.isnan(b), 7.0, b).view(np.int64))


def both(program):
    """The kernel as bytecode and as compiled code."""
    listed = list_operations(program, llvm_code.host().fma)
    return bytecode_kernel.load_bytecode(listed), compiler.compile_program(program, 1)


@pytest.mark.parametrize("name", sorted(CODES.keys() - OWN))
def test_every_operation_gives_the_bits_of_compiled_code(name):
    count, tape = operation_list.count_operands(name), Tape()
    n = len(SPECIAL) ** min(count, 2)
    grids = np.array(np.meshgrid(*[SPECIAL] * min(count, 2))).reshape(min(count, 2), -1)
    given = np.concatenate([*grids, grids[0][::-1]])[: count * n]
    stores = []
    for k in range(n):
        value = apply(name, *(tape.input("q", j * n + k) for j in range(count)))
        stores.append(("out", k, value))
    machines = both(straight(stores, q=count * n, out=n))
    found = [call_lanes(machine, {"q": given[None]}) for machine in machines]
    assert same(*found)


def mixed_program(seed, count=600):
    """Operations of all kinds at random, some with constants; products are used once and several times."""
    generator, tape = np.random.default_rng(seed), Tape()
    known = [tape.input("q", k) for k in range(6)] + [tape.input("z", 3)]
    for _ in range(count):
        a, b, c = (known[k] for k in generator.integers(max(0, len(known) - 15), len(known), 3))
        made = [
            lambda a=a, b=b, c=c: a * b + c, lambda a=a, b=b, c=c: c - a * b, lambda a=a, b=b, c=c: a * b - c,
            lambda a=a, b=b: a + b, lambda a=a: 0.5 * a - 0.25, lambda a=a, b=b: a * b, lambda a=a: -a,
            lambda a=a: apply("sin", a), lambda a=a: apply("cos", a), lambda a=a: apply("exp", apply("cos", a)),
            lambda a=a: apply("inv", 2.0 + a * a), lambda a=a: apply("sqrt", 1.0 + a * a),
            lambda a=a, b=b: apply("atan2", a, b), lambda a=a, b=b, c=c: apply("where", apply("less", a, b), c, a),
        ][generator.integers(14)]()  # fmt: skip
        known.append(0.3 * made)
    stores = [("out", k, value) for k, value in enumerate([*known[-20:], 1.5, known[0]])]
    return straight(stores, q=6, z=4, out=22)


@pytest.mark.parametrize("seed", range(4))
def test_programs_give_the_bits_of_compiled_code(seed):
    program = mixed_program(seed)
    listed = list_operations(program, llvm_code.host().fma)
    again = compiler.compile_program(unpack(listed.pack()), 1)
    interpreted, compiled = both(program)
    rows = np.random.default_rng(seed).uniform(-1, 1, (30, 6))
    for row in rows[:3]:
        found = [call_lanes(m, {"q": row[None]}).tobytes() for m in (interpreted, compiled, again)]
        assert len(set(found)) == 1
    batches = [
        kernel_call.run_batch(m, len(rows), {"q": (rows, True), "z": (np.ones(4), False)})
        for m in (interpreted, compiled)
    ]
    assert batches[0].tobytes() == batches[1].tobytes()
    assert interpreted.reads_z == compiled.reads_z and interpreted.sizes == compiled.sizes


def test_many_results_have_a_place_beside_the_stack():
    count, tape = 2 * ON_STACK, Tape()
    values = [tape.input("q", k) for k in range(2)]
    for _ in range(count):
        values.append(values[-1] - values[-2])
    listed = list_operations(straight([("out", k, values[-1 - k]) for k in range(6)], q=2, out=6), False)
    assert len(listed.codes) > count
    machine = bytecode_kernel.load_bytecode(listed)
    rows = np.random.default_rng(2).uniform(-1, 1, (8, 1, 2))

    def expected(a, b):
        last = [a, b]
        for _ in range(count):
            last.append(last[-1] - last[-2])
        return last[:-7:-1]

    with ThreadPoolExecutor(4) as pool:  # each call has memory of its own
        found = list(pool.map(lambda row: call_lanes(machine, {"q": row}), rows))
    for row, result in zip(rows, found, strict=True):
        assert result[0].tolist() == expected(*row[0].tolist())


@pytest.mark.parametrize("system", [lambda: kn.load(EXAMPLES / "stewart_platform.yaml"), lambda: four_bars(3)])
def test_kernels_of_loops_give_the_bits_of_compiled_code(system):
    dynamics = kn.compile(system())
    generator = np.random.default_rng(3)
    for name in ("closure", "rate", "projection"):
        interpreted, compiled = both(dynamics.kernels.program(Kernel(name)))
        for _ in range(3):
            given = {k: generator.uniform(-1, 1, compiled.sizes[k]) for k in ("t", "q", "u", "p", "x")}
            found = [kernel_call.run(machine, given).tobytes() for machine in (interpreted, compiled)]
            assert found[0] == found[1]


def test_what_bytecode_leaves_to_the_compiler():
    tape = Tape()
    x = tape.input("q", 0)
    plain = [("out", 0, x + 1.0)]
    assert list_operations(straight(plain, q=1, out=1), True) is not None
    table = apply("fetch", (1.0, 2.0), x)
    packed = tape.lanes(tape.pack([x, x * 2.0]) * x, 2)
    loop = Program("kernel", {"q": 1, "out": 1}, blocks=[Block(2, {}, [plain])])
    views = Program("kernel", {"q": 1, "out": 1}, blocks=[Block(1, {"out": ("out", np.array([0]))}, [plain])])
    for program in (
        straight([("out", 0, table)], q=1, out=1), straight([("out", 0, packed[1])], q=1, out=1), loop, views,
        straight([*plain, ("out", 0, x)], q=1, out=1), straight([("work", 0, x)], q=1, work=1),
    ):  # fmt: skip
        assert list_operations(program, True) is None


@pytest.fixture
def tiered(monkeypatch, tmp_path):
    monkeypatch.setenv("KINODE_TIERS", "1")
    monkeypatch.setenv("KINODE_CACHE_DIR", str(tmp_path))
    better_code.stop_better_code()  # that of another test has another cache
    yield
    better_code.stop_better_code()


def test_the_compiled_kernel_takes_the_place_of_bytecode(monkeypatch, tiered):
    program, rows = mixed_program(9), {"q": np.random.default_rng(1).uniform(-1, 1, (1, 6))}
    monkeypatch.setattr(compiler, "write_kernel", lambda *_: pytest.fail("the kernel is compiled here"))
    monkeypatch.setattr(compiler, "_has_interpreter", lambda: True)
    machine = compiler.build("test of bytecode", 1, lambda: program)
    first = call_lanes(machine, rows)
    assert better_code.wait_for_better_code(600.0) and machine.engine.n_exchanges == 1
    kept = compiler.build("test of bytecode", 1, lambda: pytest.fail("it is in the cache"))
    assert not isinstance(kept.engine, ExchangedCode)
    assert call_lanes(machine, rows).tobytes() == call_lanes(kept, rows).tobytes() == first.tobytes()


def test_few_operations_do_not_wait_for_an_interpreter_that_is_not_there(monkeypatch, tiered):
    monkeypatch.setattr(compiler, "_has_interpreter", lambda: False)
    monkeypatch.setattr(bytecode_kernel, "write_interpreter", lambda *_: pytest.fail("it takes longer"))
    program, rows = mixed_program(9), {"q": np.random.default_rng(1).uniform(-1, 1, (1, 6))}
    compiled = call_lanes(compiler.build(None, 1, lambda: program), rows)
    monkeypatch.undo()
    assert compiled.tobytes() == call_lanes(both(program)[0], rows).tobytes()


def test_a_process_that_ends_leaves_what_it_asked_for():
    lines = (
        "import sys",
        "from kinode.jit.tiers import better_code",
        "def start(requests):",
        "    sys.stdout.write(requests.read().decode())",
        "better_code._start = start",
        "better_code.MOMENT = 60.0",
        "for name in ('a', 'b'):",
        "    better_code.improve(better_code.Request(name.encode(), name, print, 1))",
    )
    environment = {"PYTHONPATH": str(Path(kn.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], env=environment, capture_output=True, check=True)
    told = [line for line in done.stdout.decode().splitlines() if line]
    assert len(told) == 3 and told[1].startswith("a{") and told[2] == "b" and '"entry": "b"' in told[1]
