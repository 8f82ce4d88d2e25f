"""Derivatives of traced code against differences of the same functions in plain numbers.

The values come from forward dynamics as it stands on the tape, without equations that are solved for changes; the
derivatives from the program of the kernel, interpreted.  Nothing here needs a compiler.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinode.algebra.trace import Tape, replay
from kinode.jit.program import Program, interpret
from kinode.kernels.derivatives.derivative_outputs import find_values
from kinode.kernels.derivatives.derivative_words import count_columns
from kinode.kernels.kernel_options import DerivativeOptions, Kernel
from kinode.kernels.kernel_traces import make_program
from kinode.multibody.snapshot import Snapshot
from kinode.structure.state_layout import EvaluationPoint
from kinode.structure.topology import Topology

STEP = 1e-3  # of differences of fourth order: their error is of the order of 1e-12 and of rounding / STEP
NEAR = 2e-8  # relative to the largest entry of the same block, or to 1
WEIGHTS = ((-2, 1 / 12), (-1, -2 / 3), (1, 2 / 3), (2, -1 / 12))
ALL = ("q", "u", "z", "t", "p", "inputs", "x")
ARRAYS = {"coordinates": "q"}


class TapeValues:
    """Quantities of a system in plain numbers at any point; ``x`` are added efforts, or given accelerations."""

    def __init__(self, topology: Topology, of: Sequence[str], x_is: str) -> None:
        tape = Tape()
        given = {x_is: tape.inputs("x", topology.n_u)}
        self.topology = topology
        self.results = find_values(Snapshot(topology, topology.layout.traced_point(tape), **given), tuple(of))

    def __call__(self, point: EvaluationPoint, x: np.ndarray) -> np.ndarray:
        arrays = {name: getattr(point, name) for name in ("q", "u", "z", "p", "inputs")} | {"t": [point.t], "x": x}
        inputs = {(name, k): float(value) for name, array in arrays.items() for k, value in enumerate(array)}
        return np.array(replay(self.results, inputs), dtype=float)

    def moved(self, word: str, k: int, step: float, point: EvaluationPoint, x: np.ndarray) -> np.ndarray:
        """The values after a step along one direction."""
        if word == "t":
            return self(point.replaced(t=point.t + step), x)
        if word == "q":
            change = np.zeros(self.topology.n_u)
            change[k] = step
            return self(point.replaced(q=self.topology.advance_q(point.q, change)), x)
        name = ARRAYS.get(word, word)
        changed = np.array(x if name == "x" else getattr(point, name), dtype=float)
        changed[k] += step
        return self(point, changed) if name == "x" else self(point.replaced(**{name: changed}), x)

    def differences(self, word: str, point: EvaluationPoint, x: np.ndarray) -> np.ndarray:
        """The block by a word, from differences; columns of discrete states are zero."""
        columns = []
        events = self.topology.events
        fixed = self.topology.n_z - (events.n_held if events else 0)
        for k in range(count_columns(self.topology, word)):
            if word == "z" and k >= fixed:
                columns.append(np.zeros(len(self.results)))
                continue
            step = STEP * (abs(point.p[k]) or 1.0 if word == "p" else 1.0)
            columns.append(sum(w * self.moved(word, k, j * step, point, x) for j, w in WEIGHTS) / step)
        return np.array(columns).reshape(-1, len(self.results)).T


def least_step(point: EvaluationPoint, word: str) -> float:
    """The shortest step of differences by a word, in parts of STEP; those of parameters are relative."""
    return min((abs(x) for x in point.p if x), default=1.0) if word == "p" else 1.0


def run_kernel(topology: Topology, kernel: Kernel, point: EvaluationPoint, x: np.ndarray) -> np.ndarray:
    """The result of a kernel, interpreted."""
    return run_program(make_program(topology, kernel), point, x)


def run_program(program: Program, point: EvaluationPoint, x: np.ndarray) -> np.ndarray:
    """The result of a program, interpreted; nothing may be read before it was written."""
    out, work = (np.full(program.sizes.get(name, 0), np.nan) for name in ("out", "work"))
    arrays = {"t": np.array([point.t]), "q": point.q, "u": point.u, "z": point.z, "p": point.p}
    interpret(program, {**arrays, "inputs": point.inputs, "x": x, "work": work, "out": out})
    return out


def check_derivatives(
    topology: Topology, point: EvaluationPoint, of: Sequence[str] = ("rate",), by: Sequence[str] = ALL, *,
    x: np.ndarray | None = None, x_is: str = "effort", near: float = NEAR,
) -> np.ndarray:  # fmt: skip
    """Compare all blocks with differences; returns the matrix."""
    by = [word for word in by if count_columns(topology, word)]
    x = np.linspace(-1.0, 1.3, topology.n_u) if x is None else x
    name = "derivatives" if x_is == "effort" else "derivatives_of_motion"
    kernel = Kernel(name, DerivativeOptions(tuple(of), tuple((word, 0 if word == "t" else None) for word in by)))
    values = TapeValues(topology, of, x_is)
    rounding = 50 * np.finfo(float).eps * abs(values(point, x)).max(initial=0.0) / STEP
    matrix = run_kernel(topology, kernel, point, x).reshape(len(values.results), -1)
    assert np.isfinite(matrix).all()
    start = 0
    for word in by:
        expected = values.differences(word, point, x)
        block = matrix[:, start : start + expected.shape[1]]
        start += expected.shape[1]
        scale = max(1.0, abs(expected).max(initial=0.0))
        error = abs(block - expected).max(initial=0.0)
        assert error < near * scale + rounding / least_step(point, word), (word, error / scale)
    return matrix


def random_point(
    topology: Topology, parameters: np.ndarray, inputs: np.ndarray, z: np.ndarray, seed: int = 0
) -> EvaluationPoint:
    """A point in general position; the discrete states are those of ``z``."""
    rng = np.random.default_rng(seed)
    q, u = 0.5 * rng.normal(size=topology.n_q), rng.normal(size=topology.n_u)
    for k in topology.layout.quaternions:
        if k < topology.n_q:
            q[k : k + 4] = rng.normal(size=4)
            q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
    moved = np.array(z, dtype=float)
    free = topology.n_z - (topology.events.n_held if topology.events else 0)
    moved[:free] += rng.uniform(-0.3, 0.3, free)
    return EvaluationPoint(0.37, q, u, moved, np.asarray(parameters), np.asarray(inputs))
