"""The kinode side of the rows: what the public functions do not offer is reached for here and nowhere else."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import kinode as kn
from kinode.jit.llvm_code import compile_text
from kinode.jit.loop.memory import Floats, call
from kinode.jit.loop.translator import translate
from kinode.jit.machine_code import ARGUMENTS, load_object
from kinode.jit.tiers import better_code
from kinode.kernels.kernel_options import Kernel
from measure import Side


@cache
def compiled(path: Path) -> tuple[Any, Any]:
    """System and compiled dynamics of a URDF file, without damping in joints, which Pinocchio leaves out."""
    system = kn.load(path)
    for name in [name for name, joint in system.joints.items() if joint.damping is not None]:
        system.change(name, damping=None)
    return system, kn.compile(system)


def wait_for_better_code() -> None:
    """Let the code that is compiled in the background take its place."""
    better_code.wait_for_better_code()


def kernel_loop(path: Path, q: Any, u: Any) -> Side:
    """Forward dynamics n times in a compiled loop, through the kernel's address, as an integrator calls it."""
    return kernel_side(compiled(path)[1], Kernel("acceleration"), q, u, np.zeros(0))


def kernel_side(dynamics: Any, which: Kernel, q: Any, u: Any, z: Any) -> Side:
    """A kernel n times in a compiled loop."""
    kernel = dynamics.kernels.machine(which)
    arrays = {name: np.zeros(max(1, kernel.sizes[name])) for name in ARGUMENTS}
    for name, values in {"q": q, "u": u, "z": z, "p": dynamics.parameters, "inputs": dynamics.inputs}.items():
        arrays[name][: kernel.sizes[name]] = values[: kernel.sizes[name]]
    return Side(timed(kernel.address, [arrays[name] for name in ARGUMENTS]), arrays["out"])


def repeat(
    n: int, address: int, t: Floats, q: Floats, u: Floats, z: Floats, p: Floats, i: Floats, x: Floats, w: Floats,
    o: Floats,
) -> None:  # fmt: skip
    """Call a kernel n times."""
    for _ in range(n):
        call(address, t, q, u, z, p, i, x, w, o)


def timed(address: int, arrays: list[Any]) -> Callable[[int], float]:
    """Seconds of n calls of a kernel with these arrays, in a loop that is compiled before the clock starts."""
    engine = load_object(compile_text(translate(repeat, "repeat"), optimize=True))
    loop = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 2, *[ctypes.c_void_p] * 9)(engine.get_function_address("repeat"))
    places = [array.ctypes.data for array in arrays]
    loop(1, address, *places)

    def seconds(n: int, kept: Any = (engine, arrays)) -> float:
        start = perf_counter()
        loop(n, address, *places)
        return perf_counter() - start

    return seconds


def simulate_rk4(path: Path, q: Any, u: Any, until: float, step: float) -> Any:
    """A run at fixed step, as a user asks for it."""
    _, dynamics = compiled(path)
    start = kn.State(0.0, np.array(q), np.array(u), np.empty(0))
    return kn.simulate(dynamics, until, method="rk4", step=step, start=start)


def final_state(path: Path, run: Any) -> Any:
    """[q, u] at the end of a run."""
    return np.concatenate([run.end.q, run.end.u])


def rk4_batch(path: Path, q: Any, u: Any, step: float, steps: int) -> Any:
    """Many runs at once on both cores, every step kept: an array (rows, steps, 2 n)."""
    from kinode.ode.kernel_spec import KernelSpec
    from kinode.ode.rk4_batch import rk4_batch as run

    _, dynamics = compiled(path)
    lanes = dynamics.kernels.lanes
    kernel = dynamics.kernels.machine(Kernel("rate"), lanes)
    spec = KernelSpec(kernel.address, dynamics.n_q, dynamics.n_u, 0, lanes, kernel.sizes["work"])
    found = run(spec, np.hstack([q, u]), 0.0, steps * step, step, every=1, threads=2)
    return found.y[:, 1:]
