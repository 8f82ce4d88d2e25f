"""Bounds of laws and event functions within a step, so that none acts between two evaluations unseen.

The path of the state in a step is taken as the cubic through both ends and their slopes. The control points of a piece
of a cubic enclose it; they are the corners of a box of states. A kernel of interval arithmetic gives the least and the
largest value that each law and event function has in that box. A piece of the step whose bounds do not settle the
question is halved. As bounds narrow with the piece, few halvings reach a short effect, however short.

A law hides something if its values in the step exceed those at the stages, which is all that the error estimate knows.
An event function hides an event if it is negative between two times at which it is positive.
"""

from __future__ import annotations

from kinode.ode.loops.dense_output import table_row
from kinode.ode.loops.event_triggers import ZERO_LEVEL, is_active
from kinode.ode.loops.loop_primitives import law_time, run_kernel, slope
from kinode.ode.loops.run_memory import RunMemory

MAX_HALVINGS = 40  # a piece of a step is not halved more often: what acts for a shorter time has no effect
MAX_PIECES = 256  # pieces of one step
ALLOWED_SHARE = 0.5  # of the range of a law at the stages, by which its values between them may exceed it
LAW_ROUNDING = 1e-9  # the same, in the unit of the law, and relative to its size


def _bound(run: RunMemory, a: float, b: float) -> None:
    """The bounds of all laws and event functions from share a to share b of the step."""
    bounds, y, new, h = run.bounds, run.state.y, run.state.y_new, run.step.h_done
    low, high, states = bounds.low, bounds.high, bounds.states
    k, k_last, third = run.state.slopes, slope(run, run.method.last), (b - a) / 3.0
    for j in range(bounds.n_states):
        i = states[j]
        first, last = y[i], y[i]
        if i < run.model.n_continuous:
            linear, change = h * k[i], new[i] - y[i]
            cubic = linear + h * k_last[i] - 2.0 * change
            square = change - linear - cubic
            first += a * (linear + a * (square + a * cubic))
            last += b * (linear + b * (square + b * cubic))
            second = first + third * (linear + a * (2.0 * square + 3.0 * a * cubic))
            third_point = last - third * (linear + b * (2.0 * square + 3.0 * b * cubic))
            low[i] = min(min(first, last), min(second, third_point))
            high[1 + i] = max(max(first, last), max(second, third_point))
        else:
            low[i], high[1 + i] = first, last
    begin, end = law_time(run, run.step.t + a * h), law_time(run, run.step.t + b * h)
    high[0] = max(begin, end)
    run_kernel(run, bounds.kernel, min(begin, end), low, high, bounds.out)


def _widen(run: RunMemory) -> None:
    """Let the range of each law at the stages include its present values."""
    bounds, out, least, most = run.bounds, run.bounds.out, run.bounds.least, run.bounds.most
    for j in range(bounds.n_laws):
        least[j] = min(least[j], out[j])
        most[j] = max(most[j], out[bounds.count + j])


def _any_exceeds(run: RunMemory) -> bool:
    """Whether the present bounds of a law exceed its range at the stages; true for bounds that are not numbers."""
    bounds, out, least, most = run.bounds, run.bounds.out, run.bounds.least, run.bounds.most
    exceeds = False
    for j in range(bounds.n_laws):
        low, high = least[j], most[j]
        allowed = ALLOWED_SHARE * (high - low) + LAW_ROUNDING * (1.0 + max(abs(low), abs(high)))
        inside = out[j] >= low - allowed and out[bounds.count + j] <= high + allowed
        exceeds = exceeds or not inside
    return exceeds


def _begin_range(run: RunMemory) -> None:
    """Start the range of each law with its values at both ends of the step."""
    bounds, out = run.bounds, run.bounds.out
    least, most, now, end = bounds.least, bounds.most, bounds.now, bounds.end
    if bounds.known == 0:
        _bound(run, 0.0, 0.0)
        for j in range(bounds.n_laws):
            now[j] = out[j]
        bounds.known = 1
    _bound(run, 1.0, 1.0)
    for j in range(bounds.n_laws):
        end[j] = out[j]
        least[j], most[j] = now[j], now[j]
    _widen(run)


def _end_range(run: RunMemory) -> None:
    """Keep the values of laws at the end of an accepted step: the next one begins with them."""
    now, end = run.bounds.now, run.bounds.end
    for j in range(run.bounds.n_laws):
        now[j] = end[j]


def find_hidden(run: RunMemory) -> float:
    """The share of the step at which a law acts as none of the stages has seen it; 0 if there is none."""
    bounds = run.bounds
    if bounds.n_laws == 0:
        return 0.0
    _begin_range(run)
    _bound(run, 0.0, 1.0)
    at = 0.0
    if _any_exceeds(run):
        nodes = table_row(run, run.method.stages)
        for s in range(1, run.method.last):
            _bound(run, nodes[s], nodes[s])
            _widen(run)
        at = _search_laws(run)
    if at == 0.0:
        _end_range(run)
    return at


def _search_laws(run: RunMemory) -> float:
    """The first share of the step, from the left, at which a law was found to exceed its range; 0 if there is none."""
    depth, index, length, pieces = 0, 0, 1.0, 0
    while not (depth == 0 and index == 1):
        pieces += 1
        _bound(run, index * length, (index + 1) * length)
        if pieces < MAX_PIECES and depth < MAX_HALVINGS and _any_exceeds(run):
            middle = (index + 0.5) * length
            _bound(run, middle, middle)
            if _any_exceeds(run):
                return middle
            depth, index, length = depth + 1, 2 * index, 0.5 * length
        else:
            index += 1
            while depth > 0 and index % 2 == 0:
                depth, index, length = depth - 1, index // 2, 2.0 * length
    return 0.0


def lowest_bound(run: RunMemory, a: float, b: float) -> float:
    """The least lower bound of the event functions that were positive at the start, from share a to b of the step."""
    bounds, out, functions = run.bounds, run.bounds.out, run.bounds.functions
    armed, before, lowest = run.events.armed, run.events.g_before, 1.0
    _bound(run, a, b)
    for j in range(bounds.n_laws, bounds.count):
        k = functions[j - bounds.n_laws]
        if armed[k] != 0 and before[k] > ZERO_LEVEL and is_active(run, k, run.state.y) and not out[j] > 0.0:
            lowest = min(lowest, -1.0 if out[j] != out[j] else out[j])
    return lowest
