"""Trial steps of the energy audit: one step of order 8 from each state of a batch, with the work of each cause and the
estimated errors.

The compiled loop takes one explicit Runge-Kutta step from each state.  The states go through the kernel in groups of as
many as it has lanes; the stages of a group stay in the processor's cache.  jit/loop/translator.py describes the
language.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.model_loops import load_loop
from kinode.jit.loop.memory import Floats, Struct, call, floats_of, struct, tail
from kinode.jit.threads import share
from kinode.kernels.kernel_options import Kernel
from kinode.ode.input_table import Inputs, split_inputs
from kinode.ode.loops.courses import CourseMemory, follow_courses
from kinode.ode.tableaus import dop853

if TYPE_CHECKING:
    from kinode.dynamics.compiled_system import Dynamics


@struct
class TrialMemory(Struct):
    """Arguments, results and work arrays of one thread; rows of the work arrays are interleaved over the lanes."""

    first: int
    last: int
    """The groups of this thread."""
    rows: int
    """States of the batch."""
    kernel: int
    """Address of the kernel that gives the rate of a state, then the power of each cause."""
    lanes: int
    n: int
    """Entries of a state."""
    n_all: int
    """Entries of a rate and powers."""
    u_at: int
    z_at: int
    stages: int
    width: int
    """Columns of the tables."""
    weights: Floats
    nodes: Floats
    errors: Floats
    t: Floats
    h: Floats
    earliest: Floats
    latest: Floats
    """The times within which laws are evaluated, for each state."""
    y: Floats
    out: Floats
    """The change of the state and the work of each cause, for each state."""
    error: Floats
    """The estimated error of each entry of ``out``."""
    p: Floats
    inputs: Floats
    x: Floats
    work: Floats
    time: Floats
    steps: Floats
    """The length of the step, for each entry of a row."""
    begin: Floats
    stage: Floats
    sum: Floats
    other: Floats
    rates: Floats
    courses: CourseMemory
    """Those of inputs that change with time."""


def take_steps(memory: TrialMemory) -> int:
    """Take one step from each state of the groups."""
    lanes, n_row = memory.lanes, memory.n_all * memory.lanes
    for group in range(memory.first, memory.last):
        _gather(memory, group)
        for s in range(memory.stages):
            _evaluate(memory, group, s)
        weights = tail(memory.weights, memory.stages * memory.width)
        _combine(memory, weights, memory.stages, n_row, memory.sum)
        _scatter(memory, group, memory.sum, memory.out)
        _combine(memory, memory.errors, memory.stages, n_row, memory.sum)
        _combine(memory, tail(memory.errors, memory.width), memory.stages, n_row, memory.other)
        fifth, third = memory.sum, memory.other
        for i in range(n_row):  # as in DOP853
            size = math.sqrt(fifth[i] * fifth[i] + 0.01 * third[i] * third[i])
            fifth[i] = 0.0 if size == 0.0 else fifth[i] * fifth[i] / size
        _scatter(memory, group, fifth, memory.error)
    return lanes


def _gather(memory: TrialMemory, group: int) -> None:
    """The states of a group, interleaved; the last state fills lanes without one."""
    lanes, n, begin, steps = memory.lanes, memory.n, memory.begin, memory.steps
    for lane in range(lanes):
        k = min(group * lanes + lane, memory.rows - 1)
        row = tail(memory.y, k * n)
        for i in range(n):
            begin[i * lanes + lane] = row[i]
        for i in range(memory.n_all):
            steps[i * lanes + lane] = memory.h[k]


def _evaluate(memory: TrialMemory, group: int, s: int) -> None:
    """The rate and powers at a stage."""
    lanes, n_row = memory.lanes, memory.n * memory.lanes
    time, begin, stage, slope = memory.time, memory.begin, memory.stage, memory.sum
    for lane in range(lanes):
        k = min(group * lanes + lane, memory.rows - 1)
        time[lane] = min(max(memory.t[k] + memory.nodes[s] * memory.h[k], memory.earliest[k]), memory.latest[k])
    _combine(memory, tail(memory.weights, s * memory.width), s, n_row, slope)
    for i in range(n_row):
        stage[i] = begin[i] + slope[i]
    u, z = tail(stage, memory.u_at * lanes), tail(stage, memory.z_at * lanes)
    out = tail(memory.rates, s * memory.n_all * lanes)
    if memory.courses.count != 0:
        follow_courses(memory.courses, time, lanes, memory.inputs)
    call(memory.kernel, time, stage, u, z, memory.p, memory.inputs, memory.x, memory.work, out)


def _combine(memory: TrialMemory, weights: Floats, count: int, n_row: int, out: Floats) -> None:
    """The weighted sum of rates times the length of the step."""
    for i in range(n_row):
        out[i] = 0.0
    for j in range(count):
        factor, rates = weights[j], tail(memory.rates, j * memory.n_all * memory.lanes)
        if factor != 0.0:
            for i in range(n_row):
                out[i] = out[i] + factor * rates[i]
    steps = memory.steps
    for i in range(n_row):
        out[i] = out[i] * steps[i]


def _scatter(memory: TrialMemory, group: int, source: Floats, target: Floats) -> None:
    lanes, n_all = memory.lanes, memory.n_all
    for lane in range(min(lanes, memory.rows - group * lanes)):
        row = tail(target, (group * lanes + lane) * n_all)
        for i in range(n_all):
            row[i] = source[i * lanes + lane]


POWER = Kernel("power")
LEAST_GROUPS = 64  # for each thread


@dataclass(frozen=True, eq=False)
class TrialSteps:
    """The ends of the steps, the work of each cause, and the errors that the lower orders estimate."""

    y: Array
    work: Array
    state_error: Array
    work_error: Array


class TrialStepper:
    """Takes steps of a system with given parameters and inputs; it keeps the work arrays of the last steps."""

    def __init__(self, dynamics: Dynamics, p: Array, inputs: Inputs) -> None:
        self.table, topology = dop853(), dynamics.topology
        self.lanes = dynamics.kernels.lanes
        self.machine = dynamics.kernels.machine(POWER, self.lanes)
        self.n, self.n_all = topology.n_q + topology.n_u + topology.n_z, self.machine.sizes["out"]
        self.u_at, self.z_at = topology.n_q, topology.n_q + topology.n_u
        self.tables = [np.ascontiguousarray(x) for x in (self.table.stages, self.table.nodes, self.table.errors)]
        row, self.courses = split_inputs(inputs)
        self.constants = [np.repeat(np.append(x, 0.0), self.lanes) for x in (p, row)]
        self.evaluations = 0  # so far
        self._own_memory = self._new_memory()

    def _new_memory(self) -> TrialMemory:
        """A record with everything that does not depend on the states."""
        memory, table, machine, lanes = TrialMemory(), self.table, self.machine, self.lanes
        memory.kernel, memory.n, memory.n_all, memory.lanes = machine.address, self.n, self.n_all, lanes
        memory.u_at, memory.z_at, memory.stages, memory.width = self.u_at, self.z_at, table.last, table.stages.shape[1]
        memory.weights, memory.nodes, memory.errors = map(floats_of, self.tables)
        p, inputs = self.constants
        memory.p, memory.inputs = floats_of(p), floats_of(inputs.copy())  # courses write into the inputs
        if self.courses is not None:
            self.courses.fill(memory.courses, np.zeros(len(self.courses.pairs), dtype=np.int64), np.zeros(0))
        memory.x, memory.time = floats_of(np.zeros(1 + machine.sizes["x"] * lanes)), floats_of(np.zeros(lanes))
        memory.work = floats_of(np.zeros(1 + machine.work_size))
        memory.steps, memory.begin, memory.stage, memory.sum, memory.other = (
            floats_of(np.zeros((self.n_all + 1) * lanes)) for _ in range(5)
        )
        memory.rates = floats_of(np.zeros(table.last * self.n_all * lanes))
        return memory

    def take(self, t: Array, y: Array, h: Array, span: tuple[Array, Array]) -> TrialSteps:
        """Take a step of length ``h`` from each state; ``span`` are the times within which laws are evaluated."""
        rows, n = y.shape
        self.evaluations += rows * self.table.last
        out, error = np.zeros((rows, self.n_all)), np.zeros((rows, self.n_all))
        arrays = [np.ascontiguousarray(x, dtype=float) for x in (t, h, *span, y)]

        def work(first: int, last: int) -> None:
            memory = self._own_memory if first == 0 else self._new_memory()
            memory.first, memory.last, memory.rows = first, last, rows
            memory.t, memory.h, memory.earliest, memory.latest, memory.y = map(floats_of, arrays)
            memory.out, memory.error = floats_of(out), floats_of(error)
            loop(memory)

        if rows:
            loop = load_loop(take_steps)  # before the threads begin, of which each would compile it
            share(work, -(-rows // self.lanes), LEAST_GROUPS)
        return TrialSteps(y + out[:, :n], out[:, n:], error[:, :n], error[:, n:])
