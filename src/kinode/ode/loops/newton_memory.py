"""The memory of implicit methods, and of the watch that asks for them: parts of that of a run (run_memory.py)."""

from __future__ import annotations

from kinode.jit.loop.memory import Floats, Ints, Struct, struct


@struct
class JacobianColumns(Struct):
    """The kernel of derivatives and its arguments, interleaved over its lanes."""

    kernel: int
    """Its address; 0 for differences of the rate."""
    form: int
    """`JacobianForm`."""
    lanes: int
    n_q: int
    n_u: int
    time: Floats
    y: Floats
    p: Floats
    inputs: Floats
    x: Floats
    work: Floats
    out: Floats


@struct
class NewtonMemory(Struct):
    """Coefficients, matrices and vectors of an implicit method. Matrices are stored column by column."""

    columns: JacobianColumns
    stages: int
    pairs: int
    """Pairs of complex eigenvalues of the coefficient matrix."""
    change: Floats
    """T: stage values from transformed ones, row by row."""
    change_back: Floats
    """Its inverse."""
    slopes: Floats
    """The inverse of the coefficient matrix: slopes of the stages from their values."""
    eigenvalues: Floats
    """Of that inverse: the real one, then real and imaginary part of one of each pair."""
    hold: float
    """A step grows only if it may be longer by this factor: a step as long as the last needs no new factors."""
    slow: float
    """Contraction of an iteration from which on the next step gets a new Jacobian."""
    ease: float
    """The error estimate may be so many tolerances, since the solution is more accurate than the estimate."""
    jacobian: Floats
    pattern: Floats
    """1 for each entry of the Jacobian that was not zero so far."""
    n_eliminated: int
    eliminated: Ints
    """The states that are eliminated."""
    row_starts: Ints
    row_columns: Ints
    """The columns of the entries in their rows, one row after the other; where each begins."""
    part: Ints
    """For each state: -1 if it is eliminated, else 0."""
    parents: Ints
    """For each state: another of its part of the model, or itself for the first."""
    below_starts: Ints
    below_ends: Ints
    below_rows: Ints
    """The rows of the entries in the columns of eliminated states, and where those of each begin and end."""
    below_many: Ints
    """1 for columns with many entries: begin and end are then rows, not places in the list."""
    n_colors: int
    """Groups of columns that share no row; 0 for none."""
    colors: Ints
    """The group of each column."""
    n_blocks: int
    kept: Ints
    """The states that remain, block by block."""
    place: Ints
    """For each state: its place among them."""
    block_of: Ints
    """For each place: its block."""
    block_starts: Ints
    """The first place of each block, and the number of places."""
    block_entries: Ints
    """The first entry of each block in ``direct``, and the number of entries."""
    n_entries: int
    """That number."""
    is_sparse: Ints
    """For each block: 1 if its factors are sparse."""
    order: Ints
    rank: Ints
    """For each place: of a sparse block, the unknown that is eliminated there in turn; and the turn of an unknown."""
    degree: Ints
    """Numbers of an analysis."""
    fill_starts: Ints
    fill_rows: Ints
    """The rows of the entries below the diagonal of sparse factors, column by column; where each column begins."""
    across_starts: Ints
    across_columns: Ints
    across_entries: Ints
    """The same entries row by row: where each row begins, and column and number of each entry."""
    direct: Floats
    through: Floats
    """Entries of the blocks: those of the Jacobian, and those through eliminated states."""
    factors: Floats
    """The blocks of the real matrix in factors, then real and imaginary part of each complex one."""
    pivots: Ints
    x: Floats
    """Right side and solution of a block, real and imaginary part; sizes of rows."""
    z: Floats
    """The stage values less the start of the step, one after the other."""
    w: Floats
    """The same, transformed."""
    f: Floats
    """The time derivatives at the stages."""
    change_of_w: Floats
    """Right side and solution of the linear equations."""
    scale: Floats
    """The tolerance of each entry of the state; not below what rounding changes."""
    inverse_scale: Floats
    """The inverse of the tolerance of changes in an iteration."""
    squares: Floats
    """Sums of squares over the stages."""
    extension: Floats
    """Weights of the slopes of the last step in what its path, extended, changes to the stages; row by row."""
    extended_from: float
    extended_by: float
    """Start and length of the step for which they hold, as shares of the last one."""
    rounding: Floats
    """The rounding error of each rate."""
    noise: Floats
    """The rounding error of each entry of the state in a step."""
    jacobian_time: float
    """Start of the step for which the Jacobian was found; nan for none."""
    jacobian_failed: float
    """Start of a step whose equations the Jacobian in its middle did not solve."""
    jacobian_wanted: int
    """1 if the next step needs a new Jacobian."""
    factored: float
    """Length of the step for which the matrices are factored; 0 for none."""
    contraction: float
    """How much a Newton iteration shrinks the error, and with it the estimate of what is left."""
    left_over: float
    """Error after an iteration, as a multiple of its change."""
    step_time: float
    """Start of the present step."""
    slope_before: Floats
    """The slope with which the path of the step before ended."""
    slope_known: int
    """1 if it is known."""
    jump_time: float
    """Time at which the state or its slope jumped last."""
    path_time: float
    path_span: float
    """Start and length of the step to which the slopes of the stages belong; no length for none."""
    jacobians: int
    factorizations: int
    iterations: int


@struct
class StiffnessWatch(Struct):
    """Whether stability bounds the steps of an explicit method (stiffness_watch.py)."""

    limit: float
    """Step times eigenvalue at the edge of the stability region; 0 where it is not watched."""
    worth: int
    """Steps that must be left for another method to be wanted; 0 where there is none."""
    wanted: int
    """1 if another method is wanted."""
    suspected: int
    clear: int
    """Steps at the edge and, in a row, within it, since stiffness is suspected."""
    since: float
    """Time of the first of them."""
    first: float
    """Time from which on the problem was stiff for the first time."""
    bound_steps: int
    """Steps at the edge since then."""
