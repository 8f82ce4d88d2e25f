"""The start of an exported model with parameters of its own, as loops that become C (``jit/loop/translator.py``).

The requested initial values are evaluated with these parameters.  Loops are closed by Newton's method from the
model's own start, and go on to the position nearest to what is asked for where they leave freedoms
(``dynamics/starts/newton_loop.py``).  Where that leads too far, parameters are changed in several pieces, from one
start to the next.  Following states then take their values, and initial values of networks theirs.

Those take the same steps as ``dynamics/starts/network_start.py``: states without an initial value of their own
get the smallest change with which all initial values of derived quantities hold; what is zero by default then comes as
near to zero as the others allow.  Singular values come from one-sided Jacobi rotations (Hestenes 1958): networks have
few such states.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from kinode.dynamics.starts.network_start import NEWTON_STEPS, RANK_TOLERANCE, VALUE_TOLERANCE
from kinode.dynamics.starts.newton_loop import (
    NOT_SOLVED,
    SOLVED,
    WarmMemory,
    follow_position,
    slide,
    solve_speeds_there,
)
from kinode.jit.loop.memory import Floats, Ints, Struct, call, struct, tail

SWEEPS = 40  # of rotations, at most; they converge quadratically
ROTATED = 1e-15  # cosine of the angle between two columns that counts as a right angle


@struct
class NetworkMemory(Struct):
    """What the initial values of a network need.  Rows are given values, then those that are zero by default."""

    kernel: int
    """Number of the kernel of all rows, then of their slopes along the free states; 0 where there are none."""
    n_given: int
    n_zero: int
    n_free: int
    free: Ints
    """Places in z of the states that may change."""
    wanted: Floats
    out: Floats
    r: Floats
    a: Floats
    """Slopes of some rows, whose columns are rotated."""
    b: Floats
    v: Floats
    """The rotations of ``a``, columns beside each other."""
    w: Floats
    """Those of ``b``."""
    sizes: Floats
    """Singular values of the slopes of given values."""
    lengths: Floats
    step: Floats


def rotate_columns(a: Floats, v: Floats, sizes: Floats, m: int, n: int) -> float:
    """Rotate the columns of a matrix (m, n) until they are orthogonal; their lengths, and the largest of them."""
    for i in range(n):
        for j in range(n):
            v[i * n + j] = 1.0 if i == j else 0.0
    for _ in range(SWEEPS):
        turned = False
        for j in range(n):
            for k in range(j + 1, n):
                turned = rotate_pair(a, v, m, n, j, k) or turned
        if not turned:
            break
    largest = 0.0
    for j in range(n):
        total = 0.0
        for i in range(m):
            total += a[i * n + j] * a[i * n + j]
        sizes[j] = math.sqrt(total)
        largest = max(largest, sizes[j])
    return largest


def rotate_pair(a: Floats, v: Floats, m: int, n: int, j: int, k: int) -> bool:
    """Make two columns orthogonal; whether they were not."""
    first, second, both = 0.0, 0.0, 0.0
    for i in range(m):
        first += a[i * n + j] * a[i * n + j]
        second += a[i * n + k] * a[i * n + k]
        both += a[i * n + j] * a[i * n + k]
    if not abs(both) > ROTATED * math.sqrt(first * second):
        return False
    ratio = (second - first) / (2.0 * both)
    tangent = 1.0 / (abs(ratio) + math.sqrt(1.0 + ratio * ratio))
    if ratio < 0.0:
        tangent = -tangent
    cosine = 1.0 / math.sqrt(1.0 + tangent * tangent)
    turn_columns(a, m, n, j, k, cosine, cosine * tangent)
    turn_columns(v, n, n, j, k, cosine, cosine * tangent)
    return True


def turn_columns(a: Floats, m: int, n: int, j: int, k: int, cosine: float, sine: float) -> None:
    """Turn two columns into each other."""
    for i in range(m):
        x, y = a[i * n + j], a[i * n + k]
        a[i * n + j] = cosine * x - sine * y
        a[i * n + k] = sine * x + cosine * y


def solve_shortest(a: Floats, v: Floats, sizes: Floats, least: float, r: Floats, step: Floats, m: int, n: int) -> None:
    """The shortest step with which a matrix times it is nearest to -r; ``a`` has rotated columns."""
    for i in range(n):
        step[i] = 0.0
    for j in range(n):
        if sizes[j] > least:
            total = 0.0
            for i in range(m):
                total -= a[i * n + j] * r[i]
            total /= sizes[j] * sizes[j]
            for i in range(n):
                step[i] += v[i * n + j] * total


def start_network_there(
    net: NetworkMemory, time: Floats, q: Floats, u: Floats, z: Floats, p: Floats, inputs: Floats, work: Floats
) -> bool:
    """Change z until the initial values of the network hold; False if they do not."""
    m, n, out, r = net.n_given, net.n_free, net.out, net.r
    tries = 0
    while True:
        call(net.kernel, time, q, u, z, p, inputs, q, work, out)
        holds = True
        for i in range(m):
            r[i] = out[i] - net.wanted[i]
            holds = holds and abs(r[i]) <= VALUE_TOLERANCE * (1.0 + abs(net.wanted[i]))
        if holds:
            break
        if n == 0 or tries == NEWTON_STEPS:
            return False
        largest = rotate_given(net)
        solve_shortest(net.a, net.v, net.sizes, RANK_TOLERANCE * largest, r, net.step, m, n)
        for j in range(n):
            z[net.free[j]] += net.step[j]
        tries += 1
    if n > 0 and net.n_zero > 0:
        release(net, z)
    return True


def rotate_given(net: NetworkMemory) -> float:
    """Rotate the slopes of given values; the largest singular value."""
    m, n = net.n_given, net.n_free
    first = m + net.n_zero
    for i in range(m * n):
        net.a[i] = net.out[first + i]
    return rotate_columns(net.a, net.v, net.sizes, m, n)


def release(net: NetworkMemory, z: Floats) -> None:
    """Bring what is zero by default as near to zero as the given values allow."""
    m, n, n_zero, out = net.n_given, net.n_free, net.n_zero, net.out
    moves = False
    for i in range(n_zero):
        net.r[i] = out[m + i]
        moves = moves or out[m + i] != 0.0
    if not moves:
        return
    least = RANK_TOLERANCE * rotate_given(net)
    slopes = m + n_zero + m * n
    for i in range(n_zero):
        for j in range(n):
            total = 0.0
            for k in range(n):
                total += out[slopes + i * n + k] * net.v[k * n + j]
            net.b[i * n + j] = 0.0 if net.sizes[j] > least else total
    largest = rotate_columns(net.b, net.w, net.lengths, n_zero, n)
    solve_shortest(net.b, net.w, net.lengths, RANK_TOLERANCE * largest, net.r, net.step, n_zero, n)
    for i in range(n):
        total = 0.0
        for j in range(n):
            if not net.sizes[j] > least:
                total += net.v[i * n + j] * net.step[j]
        z[net.free[i]] += total


CONTRADICTION = 2  # initial values of the network do not hold
TORN = 3  # exact speeds would tear the loops
PIECE_STEPS = 8  # from one closed position to the next
MOST_PIECES = 64
ITERATIONS = 50  # of following states, at most: the longest chain of them


@struct
class StartMemory(Struct):
    """What the start needs; the state is written to ``y``."""

    warm: WarmMemory
    net: NetworkMemory
    requested: int
    """Number of the kernel of requested values: of position, speeds, other states, and quantities of the network."""
    following: int
    """Number of the kernel of following states; 0 for none."""
    n_q: int
    """Coordinates of the state; ``n_x`` are those with cut joints."""
    n_u: int
    n_z: int
    n_x: int
    n_all_u: int
    n_p: int
    n_led_q: int
    """Followers of other joints whose coordinate is given, and those whose speed is; they come last in the request."""
    n_led_u: int
    n_followers: int
    places: Ints
    """For each value of the kernel of following states: its place in z; -1 if it is none."""
    is_given: Ints
    """For each coordinate: 1 if it is requested exactly."""
    anchor: Floats
    """The model's own closed position."""
    spans: Floats
    """How far a coordinate may move in one piece."""
    p_own: Floats
    p_given: Floats
    before: Floats
    request: Floats
    values: Floats
    y: Floats


def start_by(with_loops: bool, with_network: bool) -> Callable[[StartMemory], int]:
    """The function that finds the start of a model with loops, or of one without; with initial values of a network."""

    def find_start(start: StartMemory) -> int:
        """The state at the start; not solved where the loops cannot be closed, torn where speeds do not fit."""
        y, request, x, u = start.y, start.request, start.warm.x, start.warm.step
        if with_loops:
            if not _close(start):
                return NOT_SOLVED
            for i in range(start.n_all_u):
                u[i] = request[start.n_x + i]
            if solve_speeds_there(start.warm) != SOLVED:
                return TORN
        else:
            _set_share(start, 1.0)
            for i in range(start.n_x):
                x[i] = request[i]
            for i in range(start.n_all_u):
                u[i] = request[start.n_x + i]
        for i in range(start.n_q):
            y[i] = x[i]
        for i in range(start.n_u):
            y[start.n_q + i] = u[i]
        for i in range(start.n_z):
            y[start.n_q + start.n_u + i] = request[start.n_x + start.n_all_u + i]
        if start.following != 0:
            _follow_states(start)
        if with_network and not _start_network(start):
            return CONTRADICTION
        return SOLVED

    return find_start


def _set_share(start: StartMemory, share: float) -> None:
    """Parameters between the model's own and the given ones, and the values that they request."""
    warm, p, own, given = start.warm, start.warm.p, start.p_own, start.p_given
    for i in range(start.n_p):
        p[i] = given[i] if share == 1.0 else own[i] + share * (given[i] - own[i])
    call(
        start.requested, warm.time, warm.x, warm.still, warm.z, p, warm.inputs, warm.x, warm.work, start.request
    )  # fmt: skip
    places, speeds, first = warm.positions, warm.speeds, start.n_x + start.n_all_u + start.n_z + start.net.n_given
    for i in range(start.n_led_q):
        places.asked[places.n_rows - start.n_led_q + i] = start.request[first + i]
    for i in range(start.n_led_u):
        speeds.asked[speeds.n_rows - start.n_led_u + i] = start.request[first + start.n_led_q + i]


def _close(start: StartMemory) -> bool:
    """Close the loops, in as few pieces as possible."""
    pieces = 1
    while pieces <= MOST_PIECES:
        if _follow_in(start, pieces):
            return True
        pieces *= 2
    return False


def _follow_in(start: StartMemory, pieces: int) -> bool:
    """Follow the model's own position in so many pieces."""
    warm, x, step, request = start.warm, start.warm.x, start.warm.step, start.request
    for i in range(start.n_x):
        x[i] = start.anchor[i]
    for k in range(1, pieces + 1):
        _set_share(start, 1.0 if k == pieces else k / pieces)
        for i in range(start.n_x):
            if start.is_given[i] != 0:
                x[i] = request[i]
            start.before[i] = x[i]
        for i in range(start.n_all_u):
            step[i] = 0.0
        for i in range(start.n_z):
            warm.z[i] = request[start.n_x + start.n_all_u + i]
        warm.steps = PIECE_STEPS
        if follow_position(warm) != SOLVED:
            return False
        if warm.leaders.n_free != 0:
            for i in range(start.n_x):
                warm.wanted[i] = request[i]
            warm.steps = PIECE_STEPS
            if slide(warm) != SOLVED:
                return False
        for i in range(start.n_x):
            if not abs(x[i] - start.before[i]) <= start.spans[i]:
                return False
    return True


def _follow_states(start: StartMemory) -> None:
    """Values of following states, evaluated again until none changes."""
    warm, z = start.warm, tail(start.y, start.n_q + start.n_u)
    for _ in range(ITERATIONS):
        call(
            start.following, warm.time, start.y, tail(start.y, start.n_q), z, warm.p, warm.inputs, warm.x, warm.work,
            start.values,
        )  # fmt: skip
        changed = False
        for k in range(start.n_followers):
            at = start.places[k]
            if at >= 0 and z[at] != start.values[k]:
                z[at] = start.values[k]
                changed = True
        if not changed:
            return


def _start_network(start: StartMemory) -> bool:
    """Initial values of the network, with the coordinates and speeds that were found."""
    warm, y, first = start.warm, start.y, start.n_x + start.n_all_u + start.n_z
    for i in range(start.net.n_given):
        start.net.wanted[i] = start.request[first + i]
    u, z = tail(y, start.n_q), tail(y, start.n_q + start.n_u)
    return start_network_there(start.net, warm.time, y, u, z, warm.p, warm.inputs, warm.work)


STARTS = {loops: {network: start_by(loops, network) for network in (False, True)} for loops in (False, True)}
"""The functions by whether there are loops, and initial values of a network."""
