"""Where the compiled loops come from: the cache on disk, or compiled now; and that Python runs them as they stand."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from rates import ending, kepler, kepler_start, tumbling

import kinode as kn
from kinode.jit import code_cache, machine_code
from kinode.ode import compiled_loops, method_table
from kinode.ode.integrate import integrate
from kinode.ode.rk4_batch import rk4_batch

LOOPS = ("advance_adaptive", "advance_fixed", "advance_implicit", "step_fixed_plain", "run_groups")


def test_loops_need_no_library_but_llvm(tmp_path):
    """Neither with an empty cache, nor afterwards."""
    source = Path(compiled_loops.__file__).parents[2]
    code = (
        "import sys; from kinode.ode import compiled_loops as native, integrate as integrators, rk4_batch as batch\n"
        f"for name in {LOOPS}: native.loop(name)\n"
        "print([name for name in ('numba', 'scipy', 'sksundae', 'sympy') if name in sys.modules])"
    )
    environment = os.environ | {"PYTHONPATH": str(source), "KINODE_CACHE_DIR": str(tmp_path)}
    for kept in (0, 6):  # five loops, and the digest of their sources
        assert len(list(tmp_path.glob("*/*"))) == kept
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "[]"


def test_a_cold_run_of_a_loop_imports_no_large_library(tmp_path):
    """What is imported is part of the time from a description to the end of its first run."""
    known = Path(__file__).parents[1] / "support"
    code = (
        f"import sys; sys.path.insert(0, {str(known)!r}); import kinode as kn; from mechanisms import four_bars\n"
        "kn.simulate(four_bars(1), 0.1, times=[0.0, 0.1])\n"
        "print([name for name in ('numba', 'scipy', 'sksundae', 'sympy', 'xarray') if name in sys.modules])"
    )
    environment = os.environ | {
        "PYTHONPATH": str(Path(compiled_loops.__file__).parents[2]),
        "KINODE_CACHE_DIR": str(tmp_path),
    }
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_without_a_cache_the_loop_is_compiled(monkeypatch):
    """Also the way of a damaged entry, which the cache reports as absent."""
    monkeypatch.setattr(code_cache, "load", lambda name: None)
    saved = []
    monkeypatch.setattr(code_cache, "save", lambda name, code: saved.append(code))
    monkeypatch.setattr(machine_code, "_COMPILED", {})
    loop = compiled_loops.loop.__wrapped__("run_groups")
    assert callable(loop)
    assert len([entry for entry in saved if len(entry) > 1000]) == 1  # the other is of the digest of the sources


@pytest.mark.parametrize(
    "options",
    [
        {"method": "dopri5", "rtol": 1e-6},
        {"method": "dopri5", "times": np.linspace(0.0, 2.0, 23)},
        {"method": "dop853", "times": np.linspace(0.0, 2.0, 23)},
        {"method": "rk4", "step": 0.01, "times": np.linspace(0.0, 2.0, 23)},
        {"method": "stiff", "times": np.linspace(0.0, 2.0, 23)},
    ],
)
@pytest.mark.parametrize("model", ["kepler", "tumbling"])
def test_python_runs_the_loops_as_they_stand(monkeypatch, options, model):
    """The same bits: neither side reorders a sum, nor fuses a product with one."""
    kernel, y0 = {
        "kepler": (kepler(), kepler_start(0.5)),
        "tumbling": (tumbling(), np.array([1.0, 0.0, 0.0, 0.0, 0.1, 2.0, 0.3])),
    }[model]
    quaternions = [0] if model == "tumbling" else []
    compiled = integrate(kernel, y0, 0.0, 2.0, quaternions=quaternions, **options)
    monkeypatch.setattr(compiled_loops, "loop", compiled_loops.find_source)
    plain = integrate(kernel, y0, 0.0, 2.0, quaternions=quaternions, **options)
    assert compiled.success and compiled.steps > 5
    assert np.array_equal(compiled.t, plain.t) and np.array_equal(compiled.y, plain.y)
    assert (compiled.steps, compiled.rejected, compiled.evaluations) == (
        plain.steps,
        plain.rejected,
        plain.evaluations,
    )


def test_python_runs_batches_as_they_stand(monkeypatch):
    """A run that ends is noted alike."""
    y0 = np.array([[1.0, 0.0, 0.0], [2.0, 1.0, 0.0], [0.5, 0.0, 1.0]])
    p = np.array([[9.0], [0.35], [9.0]])
    compiled = rk4_batch(ending(4), y0, 0.0, 1.0, 0.05, every=4, p=p, threads=1)
    monkeypatch.setattr(compiled_loops, "loop", compiled_loops.find_source)
    plain = rk4_batch(ending(4), y0, 0.0, 1.0, 0.05, every=4, p=p, threads=1)
    assert np.array_equal(compiled.y, plain.y, equal_nan=True)
    assert compiled.failed_component.tolist() == plain.failed_component.tolist() == [-1, 1, -1]
    assert math.isclose(compiled.failed_time[1], plain.failed_time[1])


@pytest.mark.parametrize("name", ["double_pendulum", "four_bar", "gyroscope"])
@pytest.mark.parametrize("options", [{}, {"method": "rk4", "step": 1e-3}])
def test_loops_without_events_give_the_same_bits(name, options, monkeypatch):
    dynamics = kn.compile(kn.load(f"examples/{name}.yaml"))
    assert method_table.METHODS["rk4"].find_loop(False) == "advance_fixed_plain"
    plain = kn.simulate(dynamics, 0.5, **options)
    monkeypatch.setattr(method_table, "PLAIN_LOOPS", {})
    other = kn.simulate(dynamics, 0.5, **options)
    assert plain.end.y.tobytes() == other.end.y.tobytes() and (plain.t == other.t).all()
