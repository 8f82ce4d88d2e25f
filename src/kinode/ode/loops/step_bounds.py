"""Bounds of laws and event functions within a step, so that none acts between two evaluations unseen.

Laws are functions of sums and products of time and other quantities, their arguments. The path of each argument in a
step is taken as the cubic through its values at both ends and their rates. The control points of a piece of a cubic
enclose it; they give the range of the argument there. A kernel of interval arithmetic gives the least and the largest
value of each law and event function for these ranges. A piece of the step whose bounds do not settle the question is
halved. As bounds narrow with the piece, few halvings reach a short effect, however short.

Most steps need no bounds of their own. Where a law hardly changes, and event functions stay clear of zero, within a box
much larger than the ranges of one step, that is known for all steps in the box. And a sine hides nothing in a step in
which its argument changes by a small part of a turn.

A law hides something if its values in the step exceed those at the stages, which is all that the error estimate knows.
An event function hides an event if it is negative between two times at which it is positive.
"""

from __future__ import annotations

from kinode.jit.loop.memory import Floats
from kinode.ode.loops.dense_output import table_row
from kinode.ode.loops.event_triggers import ZERO_LEVEL, is_active
from kinode.ode.loops.loop_primitives import law_time, run_kernel, slope
from kinode.ode.loops.run_codes import MOST_REACH
from kinode.ode.loops.run_memory import RunMemory

MAX_HALVINGS = 40  # a piece of a step is not halved more often: what acts for a shorter time has no effect
MAX_PIECES = 256  # pieces of one step
ALLOWED_SHARE = 0.5  # of the range of a law at the stages, by which its values between them may exceed it
ALLOWED_CHANGE = 1e-3  # the same, relative to the size of the law at the stages
LAW_ROUNDING = 1e-9  # the same, in the unit of the law
LEAST_REACH = 2.0  # least size of the box on either side of a step's ranges, as a multiple of these
WAIT = 16  # steps until a box is tried again


def prepare_bounds(run: RunMemory) -> None:
    """Find the ranges of the arguments in the step that was just accepted, and what is known of them."""
    bounds, step = run.bounds, run.step
    if bounds.known == 0:
        run_kernel(run, bounds.arguments, law_time(run, step.t), run.state.y, run.state.slopes, bounds.before)
        bounds.known, bounds.laws_before_known = 1, 0
    bounds.laws_after_known = 0
    last = slope(run, run.method.last)
    run_kernel(run, bounds.arguments, law_time(run, step.t_new), run.state.y_new, last, bounds.after)
    if not _find_ranges(run):
        bounds.laws_settled, bounds.functions_settled = int(bounds.n_laws == 0), 0
    if (bounds.laws_settled == 0 and bounds.tame == 0) or bounds.functions_settled == 0:
        if bounds.wait > 0:
            bounds.wait -= 1
        else:
            _settle(run)


def _find_ranges(run: RunMemory) -> bool:
    """The range of each argument in the whole step; whether all are in the box. ``tame`` tells whether all are short.

    The second and third control point follow from the rates at the ends.
    """
    bounds, n, third = run.bounds, run.bounds.n_arguments, run.step.h_done / 3.0
    before, after, ranges, box, widths = bounds.before, bounds.after, bounds.ranges, bounds.box, bounds.widths
    outside, wide = 0, 0
    for i in range(n):
        second, third_point = before[i] + third * before[n + i], after[i] - third * after[n + i]
        low = min(min(before[i], after[i]), min(second, third_point))
        high = max(max(before[i], after[i]), max(second, third_point))
        outside += int(not low >= box[i]) + int(not high <= box[n + i])
        wide += int(not high - low <= widths[i])
        ranges[i] = low
        ranges[n + i] = high
    bounds.tame = int(wide == 0)
    return outside == 0


def _settle(run: RunMemory) -> None:
    """Try a box about the ranges of the step: whether laws hardly change in it, and event functions stay positive."""
    bounds, ranges, box, n = run.bounds, run.bounds.ranges, run.bounds.box, run.bounds.n_arguments
    for i in range(n):
        reach = bounds.reach * (ranges[n + i] - ranges[i])
        box[i] = ranges[i] - reach
        box[n + i] = ranges[n + i] + reach
    run_kernel(run, bounds.kernel, run.step.t, run.state.y, box, bounds.box_out)
    bounds.laws_settled, bounds.functions_settled = int(_laws_rest(run, bounds.box_out)), _functions_stay(run)
    if (bounds.laws_settled == 0 and bounds.tame == 0) or bounds.functions_settled == 0:
        bounds.wait = 0 if bounds.reach > LEAST_REACH else WAIT
        bounds.reach = max(LEAST_REACH, 0.25 * bounds.reach)
    else:
        bounds.reach = min(MOST_REACH, 2.0 * bounds.reach)


def _laws_rest(run: RunMemory, out: Floats) -> bool:
    """Whether no law changes by more, within its bounds, than a step may leave unseen."""
    bounds, rest = run.bounds, True
    for j in range(bounds.n_laws):
        low, high = out[j], out[bounds.count + j]
        least = max(0.0, max(low, -high))  # the smallest size of the law
        rest = rest and high - low <= LAW_ROUNDING + ALLOWED_CHANGE * least
    return rest


def _functions_stay(run: RunMemory) -> int:
    """2 if all active event functions are clearly positive in the box, 1 if all those with bounds are, else 0."""
    bounds, events, out = run.bounds, run.events, run.bounds.box_out
    covered, active, stay = bounds.covered, run.events.active, 2
    for i in range(events.n_active):
        at = covered[active[i]]
        if at == 0:
            stay = min(stay, 1)
        elif not out[bounds.n_laws - 1 + at] > ZERO_LEVEL:
            stay = 0
    return stay


def finish_bounds(run: RunMemory) -> None:
    """The next step begins with the arguments and laws at the end of this one."""
    bounds, before, after = run.bounds, run.bounds.before, run.bounds.after
    for i in range(2 * bounds.n_arguments):
        before[i] = after[i]
    laws_before, laws_after = bounds.laws_before, bounds.laws_after
    bounds.laws_before_known = bounds.laws_after_known
    if bounds.laws_after_known != 0:
        for j in range(bounds.n_laws):
            laws_before[j] = laws_after[j]


def _bound(run: RunMemory, a: float, b: float) -> None:
    """The bounds of all laws and event functions from share a to share b of the step."""
    bounds, n, h = run.bounds, run.bounds.n_arguments, run.step.h_done
    before, after, piece, third = bounds.before, bounds.after, bounds.piece, (b - a) / 3.0
    for i in range(n):
        linear, change = h * before[n + i], after[i] - before[i]
        cubic = linear + h * after[n + i] - 2.0 * change
        square = change - linear - cubic
        first = before[i] + a * (linear + a * (square + a * cubic))
        last = before[i] + b * (linear + b * (square + b * cubic))
        second = first + third * (linear + a * (2.0 * square + 3.0 * a * cubic))
        third_point = last - third * (linear + b * (2.0 * square + 3.0 * b * cubic))
        piece[i] = min(min(first, last), min(second, third_point))
        piece[n + i] = max(max(first, last), max(second, third_point))
    run_kernel(run, bounds.kernel, run.step.t, run.state.y, piece, bounds.out)


def _bound_step(run: RunMemory) -> None:
    """The bounds of all laws and event functions in the whole step."""
    run_kernel(run, run.bounds.kernel, run.step.t, run.state.y, run.bounds.ranges, run.bounds.out)


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
        allowed = ALLOWED_SHARE * (high - low) + LAW_ROUNDING + ALLOWED_CHANGE * max(abs(low), abs(high))
        inside = out[j] >= low - allowed and out[bounds.count + j] <= high + allowed
        exceeds = exceeds or not inside
    return exceeds


def _begin_range(run: RunMemory) -> None:
    """Start the range of each law with its values at both ends of the step."""
    bounds, least, most = run.bounds, run.bounds.least, run.bounds.most
    before, after = bounds.laws_before, bounds.laws_after
    if bounds.laws_before_known == 0:
        run_kernel(run, bounds.laws, run.step.t, run.state.y, bounds.before, before)
    run_kernel(run, bounds.laws, run.step.t, run.state.y, bounds.after, after)
    bounds.laws_before_known, bounds.laws_after_known = 1, 1
    for j in range(bounds.n_laws):
        least[j] = min(before[j], after[j])
        most[j] = max(before[j], after[j])


def find_hidden(run: RunMemory) -> float:
    """The share of the step at which a law acts as none of the stages has seen it; 0 if there is none."""
    bounds = run.bounds
    if bounds.laws_settled != 0 or bounds.tame != 0:
        return 0.0
    _bound_step(run)
    if _laws_rest(run, bounds.out):
        return 0.0
    _begin_range(run)
    at = 0.0
    if _any_exceeds(run):
        nodes, errors = table_row(run, run.method.stages), table_row(run, run.method.stages + 1)
        for s in range(1, run.method.last):
            if errors[s] != 0.0:  # the error estimate knows nothing of the others
                _bound(run, nodes[s], nodes[s])
                _widen(run)
        at = _search_laws(run)
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


def stays_clear(run: RunMemory) -> bool:
    """Whether bounds show that all active event functions are clearly positive throughout the step; they are armed.

    Then none has to be evaluated. Their present values are replaced by the bounds.
    """
    events, covered, active, settled = run.events, run.bounds.covered, run.events.active, run.bounds.functions_settled
    first = run.bounds.n_laws - 1
    if events.n_costly != 0 or run.bounds.count == run.bounds.n_laws:
        return False
    out = run.bounds.box_out if settled == 2 else run.bounds.out
    if settled != 2:
        _bound_step(run)
        for i in range(events.n_active):
            at = covered[active[i]]
            if at == 0 or not out[first + at] > ZERO_LEVEL:
                return False
    g, armed = events.g, events.armed
    for i in range(events.n_active):
        g[active[i]] = out[first + covered[active[i]]]
        armed[active[i]] = 1
    return True


def _lowest_bound(run: RunMemory, a: float, b: float) -> float:
    """The least lower bound of the event functions that were positive at the start, from share a to b of the step."""
    bounds, out, functions = run.bounds, run.bounds.out, run.bounds.functions
    armed, before, lowest = run.events.armed, run.events.g_before, 1.0
    if b - a == 1.0:
        _bound_step(run)
    else:
        _bound(run, a, b)
    for j in range(bounds.n_laws, bounds.count):
        if not out[j] > 0.0:
            k = functions[j - bounds.n_laws]
            if armed[k] != 0 and before[k] > ZERO_LEVEL and is_active(run, k, run.state.y):
                lowest = min(lowest, -1.0 if out[j] != out[j] else out[j])
    return lowest


def search_functions(run: RunMemory) -> bool:
    """Whether an event function is negative in the step: at ``bounds.share`` of it, and not up to ``bounds.left``.

    A piece of the step in which all lower bounds are positive has no event; others are halved, the earliest first.
    """
    depth, index, length, pieces = 0, 0, 1.0, 0
    if run.bounds.functions_settled != 0:
        return False
    while not (depth == 0 and index == 1):
        pieces += 1
        settled = pieces >= MAX_PIECES or depth >= MAX_HALVINGS
        if not settled and _lowest_bound(run, index * length, (index + 1) * length) <= 0.0:
            middle = (index + 0.5) * length
            if _lowest_bound(run, middle, middle) < 0.0:
                run.bounds.left, run.bounds.share = index * length, middle
                return True
            depth, index, length = depth + 1, 2 * index, 0.5 * length
        else:
            index += 1
            while depth > 0 and index % 2 == 0:
                depth, index, length = depth - 1, index // 2, 2.0 * length
    return False
