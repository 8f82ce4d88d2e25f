"""Programs and loops as C: the bits of ``interpret``, and those of the loops in machine code."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest
from c_compiler import ARGUMENTS as SIGNATURE
from c_compiler import compile_library
from rolled_models import random_tree

import kinode as kn
from kinode.algebra.scalars import FLOAT_FUNCTIONS
from kinode.jit import kernel_call
from kinode.jit.c.c_loops import CLoopWriter
from kinode.jit.c.c_numbers import write_helpers
from kinode.jit.c.c_programs import CProgramWriter, split_lines
from kinode.jit.loop.memory import Floats, Struct, struct
from kinode.jit.loop.syntax import TranslationError
from kinode.jit.machine_code import ARGUMENTS, CompiledFunction
from kinode.jit.program import Program, interpret
from kinode.kernels.kernel_options import Kernel
from kinode.ode import compiled_loops
from kinode.ode.compiled_loops import find_source
from kinode.simulation.run_kernels import RATE_BY_STATE

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("*.yaml"))
WITH_DERIVATIVES = {"pendulum", "four_bar", "backlash_axis", "spinning_top"}
LOOPS = ("advance_adaptive", "advance_fixed", "advance_implicit", "advance_adaptive_plain")
pytestmark = pytest.mark.usefixtures("compiler")


def kernels_of(dynamics):
    """The kernels that a run needs, outputs with a joint load, and derivatives of some."""
    topology = dynamics.topology
    names = ["rate", "energy", *(["projection"] if topology.constrained else [])]
    if topology.events is not None:
        names += ["roots", "jump"] if topology.events.roots else []
        names += ["glance"] if any(entry.root.by_state for entry in topology.events.roots) else []
        in_python = [entry.sampler.call is not None for entry in topology.events.samplers]
        names += ["sample"] if in_python and not all(in_python) else []
    kernels = [Kernel(name) for name in names]
    joint = next((name for name, joint in dynamics.system.joints.items() if joint.n_u == 1), None)
    if joint is not None and not topology.constrained:
        kernels.append(Kernel("evaluate", (f"{joint}.reaction.force", f"{joint}.q")))
    if dynamics.system.name in WITH_DERIVATIVES:
        kernels += [Kernel("direction"), Kernel("derivatives", RATE_BY_STATE)]
    return kernels


def arguments_of(dynamics, program: Program, work: int):
    """Arrays for a call at a state near the start."""
    rng, start = np.random.default_rng(0), dynamics.start.initial
    given = {
        "t": [0.3], "q": start.q, "u": start.u + rng.normal(size=dynamics.n_u), "z": start.z,
        "p": dynamics.parameters, "inputs": dynamics.inputs, "x": rng.normal(size=int(program.sizes.get("x", 0))),
        "work": np.zeros(work), "out": np.zeros(int(program.sizes["out"])),
    }  # fmt: skip
    return {name: np.array([*given[name], 0.0], dtype=float) for name in ARGUMENTS}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """All kernels of all examples, and of a rolled tree, in one library, with their programs."""
    loops = CLoopWriter("kn")
    writer = CProgramWriter("kn", loops.name_of)
    texts, entries = [], []
    for system in (*map(kn.load, EXAMPLES), random_tree(40, 1).system):
        dynamics = kn.compile(system)
        with dynamics.kernels.tracing():
            for kernel in kernels_of(dynamics):
                program, name = dynamics.kernels.program(kernel), f"k{len(entries)}"
                texts.append(writer.write(program, name))
                calls = ", ".join(ARGUMENTS)
                texts.append(f"void public_{name}({SIGNATURE});")
                texts.append(f"void public_{name}({SIGNATURE})\n{{\n    {name}({calls});\n}}\n")
                entries.append((dynamics, kernel, program, name))
    text = write_helpers("kn", {*writer.helpers, *loops.helpers} - {"call"}) + "\n".join([*loops.texts, *texts])
    library = compile_library(text, tmp_path_factory.mktemp("kernels"))
    return library, writer, entries


def test_kernels_of_all_examples_have_the_bits_of_interpret(written):
    library, writer, entries = written
    for dynamics, kernel, program, name in entries:
        one = arguments_of(dynamics, program, writer.work_of[name])
        two = {key: array.copy() for key, array in one.items()}
        with np.errstate(all="ignore"):
            interpret(program, one)
        getattr(library, f"public_{name}")(*(ctypes.c_void_p(two[key].ctypes.data) for key in ARGUMENTS))
        where = f"{dynamics.system.name}: {kernel.name}"
        assert np.array_equal(one["out"], two["out"], equal_nan=True), where
        assert np.array_equal(np.signbit(one["out"]) & (one["out"] == 0), np.signbit(two["out"]) & (two["out"] == 0))


def test_kernels_are_near_machine_code(written):
    library, writer, entries = written
    for dynamics, kernel, program, name in entries:
        if kernel.name not in ("rate", "projection", "roots"):
            continue
        given = arguments_of(dynamics, program, writer.work_of[name])
        machine = dynamics.kernels.machine(kernel)
        expected = kernel_call.run(machine, {key: given[key][:-1] for key in ARGUMENTS[:7]})
        getattr(library, f"public_{name}")(*(ctypes.c_void_p(given[key].ctypes.data) for key in ARGUMENTS))
        out = given["out"][:-1]
        largest = np.nanmax(np.abs(expected), initial=1e-300)
        assert np.allclose(out, expected, rtol=0, atol=1e-13 * largest, equal_nan=True), dynamics.system.name


@pytest.fixture(scope="module")
def c_loops(tmp_path_factory):
    """The integrator loops in C, which call kernels by their addresses."""
    writer = CLoopWriter("kn")
    ends = "".join(
        f"int64_t public_{name}(void *memory);\n"
        f"int64_t public_{name}(void *memory)\n{{\n    return {writer.name_of(find_source(name))}(memory);\n}}\n"
        for name in LOOPS
    )
    call = (
        f"typedef void (*kn_kernel)({SIGNATURE});\n"
        f"static void kn_call(int64_t kernel, {SIGNATURE})\n"
        f"{{\n    ((kn_kernel)(intptr_t)kernel)({', '.join(ARGUMENTS)});\n}}\n"
    )
    parts = [writer.structures(), write_helpers("kn", {*writer.helpers} - {"call"}), call, *writer.texts, ends]
    library = compile_library("\n".join(parts), tmp_path_factory.mktemp("loops"))
    addresses = {name: ctypes.cast(getattr(library, f"public_{name}"), ctypes.c_void_p).value for name in LOOPS}
    return library, {name: CompiledFunction(address) for name, address in addresses.items()}


@pytest.mark.parametrize(
    ("example", "until", "options"),
    [
        ("backlash_axis", 0.4, {}),
        ("backlash_axis", 0.2, {"method": "rk4", "step": 1e-3}),
        ("brake_arm", 2.0, {"method": "stiff"}),
        ("balanced_pole", 0.3, {}),
        ("four_bar", 0.5, {}),
        ("slider_crank", 0.3, {"method": "stiff"}),
    ],
)
def test_loops_in_c_give_the_same_bits(c_loops, monkeypatch, example, until, options):
    """Steps, events, ticks, projections: the integrators in C in place of their machine code."""
    dynamics = kn.compile(kn.load(EXAMPLES[0].parent / f"{example}.yaml"))
    expected = kn.simulate(dynamics, until=until, **options)
    monkeypatch.setattr(compiled_loops, "loop", c_loops[1].__getitem__)
    run = kn.simulate(dynamics, until=until, **options)
    assert len(run.events) == len(expected.events)
    for name in ("t", "q", "u", "z"):
        assert getattr(run, name).tobytes() == getattr(expected, name).tobytes(), name


@struct
class Pair(Struct):
    """Two numbers."""

    a: float
    b: float


def add_one(pair: Pair) -> float:
    """A function that changes what others read."""
    pair.a += 1.0
    return pair.a


def in_order(pair: Pair) -> float:
    """Python reads the first operand before the call changes it."""
    return pair.a * 100.0 + add_one(pair)


def out_of_order(pair: Pair, n: int) -> int:
    """An order that C does not keep, where nothing can be put before it."""
    while n > 0 and pair.a + add_one(pair) < 3.0:
        n -= 1
    return n


def swap(values: Floats, n: int) -> int:
    """Values are computed before the first is assigned; integers are divided as in Python."""
    values[0], values[1] = values[1], values[0]
    return -n // 3 * 10 + -n % 3 + min(n, 2) + int(values[0])


def test_loop_language_keeps_the_order_of_python(tmp_path):
    writer = CLoopWriter("kn")
    ends = f"double order(void *m);\ndouble order(void *m) {{ return {writer.name_of(in_order)}(m); }}\n"
    ends += "int64_t exchange(double *v, int64_t n);\n"
    ends += f"int64_t exchange(double *v, int64_t n) {{ return {writer.name_of(swap)}(v, n); }}\n"
    parts = [writer.structures(), write_helpers("kn", writer.helpers), *writer.texts, ends]
    library = compile_library("\n".join(parts), tmp_path)
    library.order.restype, library.exchange.restype = ctypes.c_double, ctypes.c_int64
    library.exchange.argtypes = [ctypes.c_void_p, ctypes.c_int64]
    pair, other = Pair(1.0, 0.0), Pair(1.0, 0.0)
    assert library.order(ctypes.byref(pair)) == in_order(other) == 102.0
    values, again = np.array([3.0, 7.5]), [3.0, 7.5]
    assert library.exchange(values.ctypes.data, 7) == swap(again, 7)
    assert values.tolist() == again == [7.5, 3.0]
    with pytest.raises(TranslationError, match="an order that C does not keep"):
        CLoopWriter("kn").find(out_of_order)


def test_powers_have_the_signs_of_python(tmp_path):
    """An overflow of a negative base to an odd power is minus infinity; a negative power of either zero is plus."""
    end = "double power(double a, double b);\ndouble power(double a, double b) { return kn_power(a, b); }\n"
    library = compile_library(write_helpers("kn", ["power"]) + end, tmp_path)
    library.power.restype, library.power.argtypes = ctypes.c_double, [ctypes.c_double, ctypes.c_double]
    for a, b in ((-1e200, 3.0), (-1e200, 2.0), (-1e-200, -3.0), (-0.0, -1.0), (0.0, -1.0), (-np.inf, 3.0), (-2.0, 0.5)):
        np.testing.assert_equal(library.power(a, b), FLOAT_FUNCTIONS["pow"](a, b), f"{a}**{b}")


def test_long_code_is_split(tmp_path):
    """A part sees the values of parts before it."""
    lines = ["    const double v0 = x[0];", *(f"    const double v{k} = v{k - 1} + v0;" for k in range(1, 9))]
    lines += ["    out[0] = v8 + v0;"]
    split = split_lines(lines, 3)
    arguments = "(const double *x, double *out, double *passed)"
    texts = [
        f"static void part{k}{arguments}\n{{\n    (void)x; (void)out;\n" + "\n".join(part) + "\n}\n"
        for k, part in enumerate(split.texts)
    ]
    calls = " ".join(f"part{k}(x, out, passed);" for k in range(4))
    end = f"void run{arguments};\nvoid run{arguments} {{ {calls} }}\n"
    library = compile_library("".join(texts) + end, tmp_path)
    x, out, passed = np.array([1.5]), np.zeros(1), np.zeros(split.n_slots)
    library.run(*(ctypes.c_void_p(array.ctypes.data) for array in (x, out, passed)))
    assert out[0] == 15.0
    assert split.n_slots <= 3
