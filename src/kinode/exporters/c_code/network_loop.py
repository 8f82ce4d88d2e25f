"""Initial values of networks in an exported model, as loops that become C (``jit/translator.py``).

The same steps as ``dynamics/initialization/network_start.py``: states without an initial value of their own get the
smallest change with which all initial values of derived quantities hold; what is zero by default then comes as near to
zero as the others allow.  Singular values come from one-sided Jacobi rotations (Hestenes 1958): networks have few such
states.
"""

from __future__ import annotations

import math

from kinode.dynamics.initialization.network_start import NEWTON_STEPS, RANK_TOLERANCE, VALUE_TOLERANCE
from kinode.jit.pointers import Floats, Ints, Struct, call, struct

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
