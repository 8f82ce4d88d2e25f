"""CVODE on kinode's compiled rate and Jacobian through its C interface: no Python runs within a step.

The libraries are those of the wheel of scikit-sundae; a few lines of C join them and the kernels (compiled_cvode.c), so
that a C compiler is needed.  CVODE finds the events by its own search for roots, with kinode's event functions and
reset maps; it begins anew there and at breaks of laws.  Its linear algebra is dense, which is best for systems of this
size.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import numpy as np

import kinode as kn
from kinode.ode.loops.run_codes import JacobianForm
from kinode.simulation.run_kernels import find_kernel
from kinode.simulation.time_events import find_law_times

BDF, NORMAL, ROOT = 2, 1, 2  # of CVODE
MOST_STEPS = 10_000_000
LIBRARIES = ("core", "nvecserial", "sunmatrixdense", "sunlinsoldense", "cvode")
POINTER, NUMBER, COUNT = ctypes.c_void_p, ctypes.c_double, ctypes.c_long


class Model(ctypes.Structure):
    """The model, as the C file has it."""

    _fields_ = (
        *((name, POINTER) for name in ("rate", "jacobian", "functions", "data", "columns")),
        *((name, POINTER) for name in ("y", "p", "inputs", "x", "work", "out", "matrix", "g", "values", "modes")),
        *((name, NUMBER) for name in ("earliest", "latest")),
        *((name, COUNT) for name in ("n", "n_continuous", "n_q", "n_u", "n_functions", "evaluations", "jacobians")),
    )


@dataclass(frozen=True)
class CvodeRun:
    """States at the output times, and the work: processor time in s, counts."""

    y: Any
    seconds: float
    steps: int
    evaluations: int
    jacobians: int
    factorizations: int


@cache
def libraries() -> dict[str, ctypes.CDLL]:
    """The libraries of SUNDIALS, and the C file compiled; raises where one of them is missing."""
    import sksundae

    folder = Path(sksundae.__file__).parent.parent / "scikit_sundae.libs"
    found = {}
    for name in LIBRARIES:
        (path,) = folder.glob(f"libsundials_{name}-*.so*")
        found[name] = ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
    with TemporaryDirectory() as directory:
        target = Path(directory) / "compiled_cvode.so"
        source = Path(__file__).with_suffix(".c")
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", str(source), "-o", str(target)], check=True)
        found["own"] = ctypes.CDLL(str(target))
    return found


def available() -> bool:
    """Whether there is a C compiler, and the wheel of scikit-sundae."""
    try:
        import sksundae  # noqa: F401
    except ImportError:
        return False
    return shutil.which("cc") is not None


def _call(library: str, name: str, *arguments: Any, gives: Any = ctypes.c_int) -> Any:
    """Call a function; numbers of Python are counts unless they are floats."""
    function = getattr(libraries()[library], name)
    function.restype = gives
    kinds = {float: NUMBER, int: COUNT}
    result = function(*(kinds[type(a)](a) if type(a) in kinds else a for a in arguments))
    if gives is ctypes.c_int and result < 0:
        raise RuntimeError(f"{name}: {result}")
    return result


class CompiledCvode:
    """CVODE for the system of a run, from its start to its end, with its parameters and inputs."""

    def __init__(self, run: kn.Run) -> None:
        dynamics, until = run.dynamics, float(run.t[-1])
        p, inputs = (np.array(v, dtype=float) for v in (run.p, run.inputs))
        kernel = find_kernel(dynamics, p, inputs, True)
        assert kernel.jacobian is not None and kernel.jacobian.form == JacobianForm.WHOLE
        n = kernel.n_y
        self.n = n - (0 if kernel.events is None else kernel.events.n_discrete)
        work = max(kernel.n_work, kernel.jacobian.n_work, 1)
        self.arrays = {
            "y": run.y[0].copy(), "p": p, "inputs": inputs, "x": np.zeros(n + 8), "work": np.zeros(work),
            "out": np.zeros(n), "matrix": np.zeros(n * n),
        }  # fmt: skip
        self.events = kernel.events
        modes = () if kernel.events is None else kernel.events.modes
        values = () if kernel.events is None else kernel.events.values
        self.arrays |= {"g": np.zeros(2 * len(modes)), "values": np.array(values, dtype=float)}
        self.arrays |= {"modes": np.array(modes, dtype=np.int64)}
        self.start, self.until = self.arrays["y"].copy(), until
        self.model = Model(n=n, n_continuous=self.n, n_q=kernel.n_q, n_u=kernel.n_u, n_functions=len(modes))
        for name, array in self.arrays.items():
            setattr(self.model, name, array.ctypes.data)
        self.model.rate, self.model.jacobian = kernel.address, kernel.jacobian.address
        self.model.functions = None if kernel.events is None else kernel.events.functions
        self.model.data = ctypes.cast(libraries()["core"].N_VGetArrayPointer, POINTER).value
        self.model.columns = ctypes.cast(libraries()["sunmatrixdense"].SUNDenseMatrix_Cols, POINTER).value
        laws = find_law_times(dynamics, p, inputs, 0.0, until)
        self.margin = laws.margin
        self.stops = [*(float(t) for t in laws.breaks if 0.0 < t < until), until]

    def run(self, times: Any, rtol: float, atol: float) -> CvodeRun:
        """One run; seconds are those of all of it, memory of CVODE included."""
        self.arrays["y"][:] = self.start
        self.model.evaluations = self.model.jacobians = 0
        began, own, context = process_time(), libraries()["own"], POINTER()
        _call("core", "SUNContext_Create", ctypes.c_int(0), ctypes.byref(context))
        vector = POINTER(_call("nvecserial", "N_VNew_Serial", self.n, context, gives=POINTER))
        matrix = POINTER(_call("sunmatrixdense", "SUNDenseMatrix", self.n, self.n, context, gives=POINTER))
        solver = POINTER(_call("sunlinsoldense", "SUNLinSol_Dense", vector, matrix, context, gives=POINTER))
        memory = POINTER(_call("cvode", "CVodeCreate", ctypes.c_int(BDF), context, gives=POINTER))
        address = _call("core", "N_VGetArrayPointer", vector, gives=POINTER)
        y = np.ctypeslib.as_array(ctypes.cast(address, ctypes.POINTER(NUMBER)), (self.n,))
        y[:] = self.start[: self.n]
        _call("cvode", "CVodeInit", memory, own.cvode_rate, 0.0, vector)
        _call("cvode", "CVodeSStolerances", memory, rtol, atol)
        _call("cvode", "CVodeSetUserData", memory, ctypes.byref(self.model))
        _call("cvode", "CVodeSetMaxNumSteps", memory, MOST_STEPS)
        _call("cvode", "CVodeSetLinearSolver", memory, solver, matrix)
        _call("cvode", "CVodeSetJacFn", memory, own.cvode_jacobian)
        if self.model.n_functions:
            _call("cvode", "CVodeRootInit", memory, ctypes.c_int(self.model.n_functions), own.cvode_functions)
        rows, counts = self._follow(memory, vector, y, times)
        for library, name, thing in (
            ("cvode", "CVodeFree", ctypes.byref(memory)), ("core", "SUNLinSolFree", solver),
            ("core", "SUNMatDestroy", matrix), ("core", "N_VDestroy", vector),
            ("core", "SUNContext_Free", ctypes.byref(context)),
        ):  # fmt: skip
            _call(library, name, thing, gives=None)
        seconds = process_time() - began
        return CvodeRun(rows, seconds, counts[0], self.model.evaluations, self.model.jacobians, counts[1])

    def _follow(self, memory: Any, vector: Any, y: Any, times: Any) -> tuple[Any, Any]:
        """The states at the times, and the numbers of steps and factorizations."""
        rows, at, counts = np.zeros((len(times), self.model.n)), 0, np.zeros(2, dtype=int)
        t, reached = 0.0, NUMBER()
        for stop in self.stops:
            self.model.earliest, self.model.latest = t + self.margin, stop - self.margin
            if t > 0.0:
                counts += self._restart(memory, vector, t)
            _call("cvode", "CVodeSetStopTime", memory, stop)
            while t < stop:
                target = float(times[at]) if at < len(times) and times[at] < stop else stop
                code = 0
                if target > t:
                    given = memory, target, vector, ctypes.byref(reached), ctypes.c_int(NORMAL)
                    code, t = _call("cvode", "CVode", *given), reached.value
                if code == ROOT:
                    self._change(memory, y, t)
                    counts += self._restart(memory, vector, t)
                    _call("cvode", "CVodeSetStopTime", memory, stop)
                elif target < stop:
                    rows[at], at = self._state(y), at + 1
        rows[at:] = self._state(y)
        return rows, counts + self._count(memory)

    def _state(self, y: Any) -> Any:
        return np.concatenate([y, self.arrays["y"][self.n :]])

    def _count(self, memory: Any) -> Any:
        """The numbers of steps and factorizations since the last start."""
        count, counts = COUNT(), []
        for name in ("CVodeGetNumSteps", "CVodeGetNumLinSolvSetups"):
            _call("cvode", name, memory, ctypes.byref(count))
            counts.append(count.value)
        return np.array(counts)

    def _restart(self, memory: Any, vector: Any, t: float) -> Any:
        """Begin anew at a time; returns the counts until then."""
        counts = self._count(memory)
        _call("cvode", "CVodeReInit", memory, t, vector)
        return counts

    def _change(self, memory: Any, y: Any, t: float) -> None:
        """The reset map of the event function that came to zero."""
        found = (ctypes.c_int * self.model.n_functions)()
        _call("cvode", "CVodeGetRootInfo", memory, found)
        x = self.arrays["x"]
        x[: len(found)] = [float(direction < 0) for direction in found]
        self.arrays["y"][: self.n] = y
        own = libraries()["own"]
        own.cvode_reset.restype = None
        own.cvode_reset(ctypes.byref(self.model), POINTER(self.events.reset), NUMBER(t))
        y[:], x[:] = self.arrays["y"][: self.n], 0.0
