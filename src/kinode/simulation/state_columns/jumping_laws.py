"""Finds where laws of the state jump, so that a run has no derivative behind that time.

Events with a threshold of their own (stops, friction, switches, relays) are located, and derivatives pass them.  A law
such as ``10*(elbow.q > 1)`` or ``sign(elbow.u)`` jumps within a step, which error control makes short there; nothing
locates the jump.  So the run is repeated without derivatives at its own steps, the results of all comparisons in laws
are compared from step to step, and where one changes, the rates of the state on both sides of it.  Equal rates are no
jump: most comparisons join the pieces of a continuous law.
"""

from __future__ import annotations

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.expressions.syntax_tree import Expression, walk
from kinode.kernels.kernel_options import Kernel
from kinode.model.system_checks import laws_of
from kinode.ode.runs.input_table import Inputs, inputs_at

SWITCHES, RATE = Kernel("switches"), Kernel("rate")
BISECTIONS = 50  # of the way between two steps
JUMP = 1e-6  # change of a rate, as a share of the largest along the run
JUMPING = frozenset({"sign", "floor", "less", "less_equal", "equal", "call"})


def has_switches(dynamics: Dynamics) -> bool:
    """Whether a comparison, a sign or a table in a law is decided by the state."""
    return dynamics.kernels.machine(SWITCHES).sizes["out"] > 1


def find_jump(dynamics: Dynamics, t: Array, y: Array, p: Array, inputs: Inputs) -> tuple[float, str] | None:
    """The time at which a law jumps first, and its name in words; None if no law jumps.

    ``t, y`` are the steps of the run.
    """

    def call(kernel: Kernel, times: Array, states: Array) -> Array:
        return dynamics.kernels.call(kernel, dynamics.point_of(times, states, p, inputs_at(inputs, times)))

    pattern = call(SWITCHES, t, y)
    changes = np.flatnonzero((pattern[1:] != pattern[:-1]).any(axis=1) & (np.diff(t) > 0.0))
    if not len(changes):
        return None
    largest = abs(call(RATE, t, y)).max(axis=0)
    low, high = np.zeros(len(changes)), np.ones(len(changes))
    t0, dt, y0, dy = t[changes], np.diff(t)[changes], y[changes], np.diff(y, axis=0)[changes]

    def at(share: Array) -> tuple[Array, Array]:
        return t0 + share * dt, y0 + share[:, None] * dy

    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        same = (call(SWITCHES, *at(middle)) == pattern[changes]).all(axis=1)
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    jumps = abs(call(RATE, *at(high)) - call(RATE, *at(low)))
    jumping = np.flatnonzero((jumps > JUMP * largest + 1e-300).any(axis=1))
    if not len(jumping):
        return None
    return float(t0[jumping[0]]), _describe(dynamics)


def _describe(dynamics: Dynamics) -> str:
    """The laws that may jump, by name."""
    names = [
        f"{component.name}.{field}"
        for component in dynamics.system.components.values()
        for field, law in laws_of(component)
        if isinstance(law, Expression) and any(node.op in JUMPING for node in walk(law))
    ]
    which = f"one of the laws {', '.join(names)}" if len(names) > 1 else f"the law {names[0]}" if names else "a law"
    advice = "give the jump a width, as tanh(x/width) for sign(x), or use a relay, a switch, friction= or stop="
    return f"{which} jumps there, and only events are located exactly; {advice}"
