"""The memory of the compiled uniqueness analysis (stress_loop.py): the structure of a system as tables, work arrays."""

from __future__ import annotations

from kinode.jit.pointers import Floats, Ints, Struct, struct


@struct
class StressMemory(Struct):
    """Tables, arguments, results and work arrays of one thread.

    A column stands for a force in the loops: six for each cut joint, one for each gear, then one for each multiplier.
    """

    first: int
    last: int
    """The states of this thread."""
    bodies: int
    nodes: int
    cuts: int
    gears: int
    multipliers: int
    n: int
    """Components of all joints and multipliers together."""
    m: int
    """Columns."""
    share: int
    """1 if the change to the least norm is asked for."""
    keep: int
    """1 if the stresses of each state are kept, not only those of the last."""
    length: float
    """The characteristic length, by which moments are divided."""

    joint_at: Ints
    """Where the directions of a joint begin: R_WM, p_WM, R_FM, S, T (kernel ``stress_directions``)."""
    joint_n_u: Ints
    joint_row: Ints
    """The first of the six components of a joint."""
    joint_a: Ints
    joint_b: Ints
    """The bodies of a joint, -1 for the world."""
    joint_unit: Ints
    """The first unit of a joint in ``units``."""
    units: Floats
    """The unit of each effort: the length for angles."""
    origins_at: int
    """Where the origins of the bodies begin in the directions."""

    node_joint: Ints
    node_body: Ints
    node_carrier: Ints
    node_sign: Floats
    node_effort: Ints
    """The component of a drive's effort; -1 where the effort must vanish."""
    node_low: Ints
    node_high: Ints
    """The columns that a node may carry."""
    cut_joint: Ints
    cut_effort: Ints
    gear_follower: Ints
    gear_leader: Ints
    gear_row: Ints
    gear_column: Ints
    gear_ratio: Floats
    first_multiplier: int
    multiplier_row: Ints
    multiplier_scale: Floats

    local_first: Ints
    local_equation: Ints
    """The equations that contain the columns of one cut joint only, from ``local_first`` on for each."""
    globals: int
    global_equation: Ints
    """The other equations."""

    n_directions: int
    n_unit_loads: int
    directions: Floats
    unit_loads: Floats
    x: Floats
    """Components before the sharing, with moments over the length."""
    change: Floats
    norms: Floats
    """The norm of each component's row of the null space."""
    redundancy: Ints
    doubt: Ints
    """Nonzero where the ranks are doubtful."""
    stresses: Floats

    reduced: int
    """Columns that are left after the local equations."""
    n_stresses: int
    N: Floats
    loads: Floats
    components: Floats
    equations: Floats
    basis: Floats
    blocks: Floats
    """Null space of the local equations of each cut joint, by rows of six."""
    block_size: Ints
    small: Floats
    remaining: Floats
    narrow: Floats
    doubtful: Floats
    arm: Floats
    factors: Floats
    wrench: Floats
    about: Floats
    triangle: Floats
    solution: Floats
