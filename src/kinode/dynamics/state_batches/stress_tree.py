"""The tree in the compiled uniqueness analysis (stress_loop.py): it carries the forces of the loops to the world.

Loads of a body are about its origin, in world axes, with moments over the length.
"""

from __future__ import annotations

from kinode.dynamics.state_batches.stress_memory import StressMemory
from kinode.dynamics.state_batches.stress_rows import add_moments, add_row, clear_row, turn_rows
from kinode.jit.pointers import Floats, tail

MOMENT, FORCE = 0, 3


def carry_loads(memory: StressMemory, directions: Floats, unit_loads: Floats) -> None:
    """The components of all joints for unit forces in the loops, and the efforts that must vanish."""
    m, loads = memory.m, memory.loads
    clear_row(6 * memory.bodies * m, loads)
    clear_row(memory.n * m, memory.components)
    n_equations = 0
    for c in range(memory.cuts):
        n_equations = _begin_cut(memory, directions, c, n_equations)
    for g in range(memory.gears):
        column, follower, leader = memory.gear_column[g], memory.gear_follower[g], memory.gear_leader[g]
        tail(memory.components, memory.gear_row[g] * m)[column] = 1.0
        unit = memory.units[memory.joint_unit[follower]]
        _load_effort(memory, directions, follower, column, unit)
        _load_effort(memory, directions, leader, column, -memory.gear_ratio[g] * unit)
    for j in range(memory.multipliers):
        column, row = memory.first_multiplier + j, memory.multiplier_row[j]
        tail(memory.components, row * m)[column] = 1.0
        for i in range(6 * memory.bodies):
            scale = memory.multiplier_scale[j] / (memory.length if i % 6 < FORCE else 1.0)
            tail(loads, i * m)[column] = unit_loads[i * memory.multipliers + j] * scale
    for k in range(memory.nodes):
        n_equations = _pass_node(memory, directions, k, n_equations)


def _begin_cut(memory: StressMemory, directions: Floats, c: int, n_equations: int) -> int:
    """Unit wrenches of a cut joint in the axes of M, with moments over the length, as loads on its two bodies."""
    m, joint, column = memory.m, memory.cut_joint[c], 6 * c
    at, w = tail(directions, memory.joint_at[joint]), memory.wrench
    for i in range(6):
        row = tail(w, i * m + column)
        clear_row(6, row)
        row[i] = 1.0
    for axis in range(3):
        for i in range(3):
            _load(memory, directions, joint, at[3 * i + axis], MOMENT + i, column + axis)
            _load(memory, directions, joint, at[3 * i + axis], FORCE + i, column + 3 + axis)
    return _resolve(memory, directions, joint, memory.cut_effort[c], n_equations, column, 6)


def _load_effort(memory: StressMemory, directions: Floats, joint: int, column: int, factor: float) -> None:
    """Add the wrench of a multiple of a joint's unit effort to the loads of its two bodies."""
    at, n_u = tail(directions, memory.joint_at[joint]), memory.joint_n_u[joint]
    T = tail(at, 21 + 6 * n_u)
    for i in range(3):
        moment, force = 0.0, 0.0
        for j in range(3):
            moment += at[3 * i + j] * T[j * n_u]
            force += at[3 * i + j] * T[(3 + j) * n_u]
        _load(memory, directions, joint, factor * moment / memory.length, MOMENT + i, column)
        _load(memory, directions, joint, factor * force, FORCE + i, column)


def _load(memory: StressMemory, directions: Floats, joint: int, size: float, i: int, column: int) -> None:
    """Add one component of a wrench at a joint's point, in world axes: on b, and its opposite on a."""
    m, at = memory.m, tail(directions, memory.joint_at[joint] + 9)
    for side in range(2):
        body = memory.joint_b[joint] if side == 0 else memory.joint_a[joint]
        value = size if side == 0 else -size
        if body >= 0:
            load, origin = tail(memory.loads, 6 * body * m + column), tail(directions, memory.origins_at + 3 * body)
            load[i * m] += value
            if i >= FORCE:
                x, y, z = at[0] - origin[0], at[1] - origin[1], at[2] - origin[2]
                value = value / memory.length
                load[0] += (y if i == 5 else 0.0) * value - (z if i == 4 else 0.0) * value
                load[m] += (z if i == 3 else 0.0) * value - (x if i == 5 else 0.0) * value
                load[2 * m] += (x if i == 4 else 0.0) * value - (y if i == 3 else 0.0) * value


def _pass_node(memory: StressMemory, directions: Floats, k: int, n_equations: int) -> int:
    """Add the loads of a body to those of its carrier, and resolve what its joint transmits."""
    m, joint, body, carrier = memory.m, memory.node_joint[k], memory.node_body[k], memory.node_carrier[k]
    low = memory.node_low[k]
    width, arm = memory.node_high[k] - low, memory.arm
    load, origin = tail(memory.loads, 6 * body * m + low), tail(directions, memory.origins_at + 3 * body)
    if carrier >= 0:
        home, to = tail(memory.loads, 6 * carrier * m + low), tail(directions, memory.origins_at + 3 * carrier)
        for i in range(6):
            add_row(width, 1.0, tail(load, i * m), tail(home, i * m))
        for i in range(3):
            arm[i] = origin[i] - to[i]
        add_moments(m, width, 1.0 / memory.length, arm, load, home)
    at, w, about, sign = tail(directions, memory.joint_at[joint]), memory.wrench, memory.about, memory.node_sign[k]
    for i in range(6):
        row, out = tail(load, i * m), tail(about, i * m + low)
        for j in range(width):
            out[j] = sign * row[j]
    for i in range(3):
        arm[i] = origin[i] - at[9 + i]
    add_moments(m, width, sign / memory.length, arm, load, tail(about, low))
    turn_rows(m, width, at, 3, 1, tail(about, low), tail(w, low))
    turn_rows(m, width, at, 3, 1, tail(about, FORCE * m + low), tail(w, FORCE * m + low))
    return _resolve(memory, directions, joint, memory.node_effort[k], n_equations, low, width)


def _resolve(
    memory: StressMemory, directions: Floats, joint: int, effort_row: int, n_equations: int, low: int, width: int
) -> int:
    """Resolve ``wrench`` into the effort, which is an unknown of a drive or must vanish, and the reaction."""
    m, n_u, length, w = memory.m, memory.joint_n_u[joint], memory.length, tail(memory.wrench, low)
    at = tail(directions, memory.joint_at[joint])
    S, T = tail(at, 21), tail(at, 21 + 6 * n_u)
    first = tail(memory.equations, n_equations * m) if effort_row < 0 else tail(memory.components, effort_row * m)
    for d in range(n_u):
        effort, unit = tail(first, d * m), memory.units[memory.joint_unit[joint] + d]
        clear_row(m, effort)
        for i in range(6):
            factor = S[i * n_u + d] * (length if i < FORCE else 1.0) / unit
            if factor != 0.0:
                add_row(width, factor, tail(w, i * m), tail(effort, low))
    for d in range(n_u):
        effort, unit = tail(first, d * m + low), memory.units[memory.joint_unit[joint] + d]
        for i in range(6):
            factor = T[i * n_u + d] * unit / (length if i < FORCE else 1.0)
            if factor != 0.0:
                add_row(width, -factor, effort, tail(w, i * m))
    own = tail(memory.components, memory.joint_row[joint] * m + low)
    turn_rows(m, width, tail(at, 12), 1, 3, tail(w, FORCE * m), own)
    turn_rows(m, width, tail(at, 12), 1, 3, w, tail(own, 3 * m))
    return n_equations if effort_row >= 0 else n_equations + n_u
