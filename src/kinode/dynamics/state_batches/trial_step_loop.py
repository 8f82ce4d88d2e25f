"""The compiled loop of trial steps: one explicit Runge-Kutta step from each state of a batch, with its error estimates.

The states go through the kernel in groups of as many as it has lanes; the stages of a group stay in the processor's
cache.  jit/translator.py describes the language.
"""

from __future__ import annotations

import math

from kinode.jit.pointers import Floats, Struct, call, struct, tail
from kinode.ode.loops.inputs.course_memory import CourseMemory
from kinode.ode.loops.inputs.follow_courses import follow_courses


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
