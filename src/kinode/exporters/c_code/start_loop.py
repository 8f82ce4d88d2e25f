"""The start of an exported model with parameters of its own, as loops that become C (``jit/translator.py``).

The requested initial values are evaluated with these parameters.  Loops are closed by Newton's method from the model's
own start, and go on to the position nearest to what is asked for where they leave freedoms
(``warm_starts/newton_loop.py``).  Where that leads too far, parameters are changed in several pieces, from one start to
the next.  Following states then take their values, and initial values of networks theirs
(``network_loop.py``).
"""

from __future__ import annotations

from collections.abc import Callable

from kinode.dynamics.initialization.warm_starts.newton_loop import (
    NOT_SOLVED,
    SOLVED,
    WarmMemory,
    follow_position,
    slide,
    solve_speeds_there,
)
from kinode.exporters.c_code.network_loop import NetworkMemory, start_network_there
from kinode.jit.pointers import Floats, Ints, Struct, call, struct, tail

CONTRADICTION = 2  # initial values of the network do not hold
TORN = 3  # exact speeds would tear the loops
NEWTON_STEPS = 8  # from one closed position to the next
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
        warm.steps = NEWTON_STEPS
        if follow_position(warm) != SOLVED:
            return False
        if warm.leaders.n_free != 0:
            for i in range(start.n_x):
                warm.wanted[i] = request[i]
            warm.steps = NEWTON_STEPS
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
