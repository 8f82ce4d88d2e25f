"""Functions of derivatives for inner loops, a matrix or the gradient of one number: all but the state is fixed before.

A call with exact arguments goes straight to machine code.  All others are checked and converted here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.derivatives.derivative_request import (
    DerivativeRequest,
    Derivatives,
    check_positions,
    find_limit,
    read_request,
)
from kinode.dynamics.derivatives.shared_columns import find_shared_columns, settle_sharing, shares_in_numbers
from kinode.dynamics.direct_calls import make_direct
from kinode.errors import ArgumentError
from kinode.kernels.compiled_kernels import Kernels
from kinode.kernels.derivatives.derivative_words import OF_SYSTEMS
from kinode.kernels.kernel_options import Kernel
from kinode.kernels.rolled.rolled_programs import is_loop_code
from kinode.kernels.tree_size import is_large
from kinode.model.base.fields import short
from kinode.structure.massless_freedoms import MOST_ENTRIES, count_entries
from kinode.structure.state_layout import EvaluationPoint

if TYPE_CHECKING:
    from kinode.dynamics.compiled_system import Dynamics


MOST_COLUMNS = 120  # in code for all of them at once


class DerivativeFunction:
    """Derivatives as a function of time, coordinates and speeds: ``f(t, q, u, effort, out=)``.

    It returns the matrix of derivatives, in ``out`` if that is given; 2-D ``q, u`` are a batch.  ``rows`` and
    ``columns`` are the slices of the matrix by name, and ``blocks(matrix)`` has its blocks by name.  Of quantities for
    given accelerations the fourth argument is ``u_dot``, and is needed.
    """

    def __init__(self, dynamics: Dynamics, request: DerivativeRequest) -> None:
        self.dynamics, self.request, self.kernels = dynamics, request, dynamics.kernels

    def __reduce__(self) -> tuple[Any, ...]:
        # Machine code cannot be pickled: another process prepares its own.
        return prepare, (self.dynamics, self.request)

    @property
    def rows(self) -> dict[str, slice]:
        """The rows of the matrix that belong to each quantity."""
        return self.request.rows

    @property
    def columns(self) -> dict[str, slice]:
        """The columns of the matrix that belong to each name in ``by``."""
        return self.request.columns

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the matrix."""
        return self.request.shape

    def blocks(self, matrix: Array) -> Derivatives:
        """A matrix that this function returned, with its blocks by name."""
        return Derivatives(matrix, self.request)

    def __call__(
        self, t: Any, q: Any, u: Any, x: Any = None, *, effort: Any = None, u_dot: Any = None, z: Any = None,
        p: Any = None, inputs: Any = None, out: Any = None,
    ) -> Array:  # fmt: skip
        """The matrix of derivatives; the fourth argument may be named."""
        return self.evaluate(t, q, u, read_fourth(self.request, x, effort, u_dot), z, p, inputs, out)

    def evaluate(self, t: Any, q: Any, u: Any, x: Any, z: Any, p: Any, inputs: Any, out: Any) -> Array:
        """The same for arguments of any kind."""
        if self.parts:
            matrix = self._join([part.evaluate(t, q, u, x, z, p, inputs, None) for part in self.parts])
            return matrix if out is None else write_into(out, matrix)
        request, read = self.request, self.dynamics.arguments
        n = read.topology.n_u
        extra = read.read_array(request.argument, x, n, None if request.of_motion else np.zeros(n))
        point = self.dynamics.read_point(request.kernel, t, q, u, z, p, inputs, extra)
        result = self._call(settle_sharing(self.dynamics, request, point), self.kernels, point, extra)
        check_positions(self.dynamics, ", ".join(request.of), point, result)
        return result if out is None else write_into(out, result)

    @cached_property
    def parts(self) -> list[DerivativeFunction]:
        """Derivatives of some of the quantities each, where code of all of them would be long; none by default."""
        requests = split_request(self.dynamics, self.request)
        return [DerivativeFunction(self.dynamics, request) for request in requests]

    def _join(self, matrices: list[Array]) -> Array:
        """The matrix of all quantities from those of the parts."""
        whole = np.empty((*matrices[0].shape[:-2], *self.shape))
        for part, matrix in zip(self.parts, matrices, strict=True):
            for name, rows in part.rows.items():
                whole[..., self.rows[name], :] = matrix[..., rows, :]
        return whole

    def _call(self, request: DerivativeRequest, kernels: Kernels, point: EvaluationPoint, extra: Array) -> Array:
        rows = count_rows(request, point, extra)
        if 0 in self.shape or rows == 0:
            return np.zeros(self.shape if rows is None else (rows, *self.shape))
        if shares_in_numbers(self.dynamics, request):
            return find_shared_columns(self.dynamics, request, point, extra)
        if takes_turns(self.dynamics, request):
            return self._in_turns(request, kernels, point, extra)
        result = kernels.call(request.kernel, point, extra)
        return result.reshape(*result.shape[:-1], *self.shape)

    def _in_turns(self, request: DerivativeRequest, kernels: Kernels, point: EvaluationPoint, extra: Array) -> Array:
        """The matrix as a batch: column by column forward, or row by row backward."""
        kernel = find_turn(self.dynamics, request)
        backward = kernel.name == "gradient_of_motion"
        count, rows = self.shape[0 if backward else 1], count_rows(request, point, extra)
        states = rows or 1

        def repeated(values: Any) -> Array:
            each = np.asarray(values, dtype=float)
            return np.repeat(np.broadcast_to(each, (states, each.shape[-1])), count, axis=0)

        arrays = {name: repeated(getattr(point, name)) for name in ("q", "u", "z", "p", "inputs")}
        times = repeated(np.reshape(point.t, (-1, 1)))[:, 0]
        x = np.hstack([repeated(extra), np.tile(np.eye(count), (states, 1))])
        result = kernels.call(kernel, EvaluationPoint(times, **arrays), x)
        matrices: Array = result.reshape(states, count, -1)
        matrices = matrices if backward else matrices.swapaxes(1, 2)
        return np.ascontiguousarray(matrices if rows is not None else matrices[0])

    def __repr__(self) -> str:
        of, by = ", ".join(self.request.of), ", ".join(self.request.by)
        return f"<derivatives of {of} by {by}: f(t, q, u, {self.request.argument})>"


def read_fourth(request: DerivativeRequest, x: Any, effort: Any, u_dot: Any) -> Any:
    """The argument after t, q and u, which may be given by its place or by its name."""
    own, other = (u_dot, effort) if request.of_motion else (effort, u_dot)
    if other is not None or (own is not None and x is not None):
        raise ArgumentError(f"derivatives: after t, q and u, {request.argument} is expected, once")
    return own if x is None else x


def count_rows(request: DerivativeRequest, point: EvaluationPoint, extra: Array) -> int | None:
    """The number of states of a call; None for a single state.  Batches of different lengths are refused."""
    given = {name: getattr(point, name) for name in ("q", "u", "z", "p", "inputs")} | {request.argument: extra}
    rows = {name: len(values) for name, values in given.items() if np.ndim(values) == 2}
    rows |= {"t": len(point.t)} if np.ndim(point.t) else {}
    if len(set(rows.values())) > 1:
        lengths = ", ".join(f"{name} has {count}" for name, count in rows.items())
        raise ArgumentError(f"derivatives: the batches differ in their numbers of rows: {lengths}")
    return next(iter(rows.values()), None)


def join_rows(parts: list[Array]) -> Array:
    """Vectors side by side; where some have rows, all get as many."""
    rows = {len(part) for part in parts if part.ndim == 2}
    if len(rows) > 1:
        raise ArgumentError(f"batches of {' and '.join(map(str, sorted(rows)))} rows do not fit")
    return np.concatenate([np.broadcast_to(part, (*rows, part.shape[-1])) for part in parts], axis=-1)


def write_into(out: Any, result: Array) -> Array:
    """The result, written into an array that is given for it."""
    if not isinstance(out, np.ndarray) or out.shape != result.shape or out.dtype != result.dtype:
        raise ArgumentError(f"out: an array of floats of shape {result.shape} is expected, not {short(out)}")
    if not out.flags.writeable:
        raise ArgumentError("out: an array that can be written to is expected")
    out[...] = result
    return out


def split_request(dynamics: Dynamics, request: DerivativeRequest) -> list[DerivativeRequest]:
    """Requests for one function of the whole system each in a large system, whose loop code gives one alone."""
    along = Kernel("derivatives_along", request.options)
    if request.of_motion or dynamics.formulation != "recursive" or not is_large(dynamics.topology):
        return []
    if is_loop_code(dynamics.topology, along):
        return []
    quantities = tuple(name for name in request.of if name not in OF_SYSTEMS)
    groups = [(name,) for name in request.of if name in OF_SYSTEMS] + ([quantities] if quantities else [])
    return [read_request(dynamics, names, tuple(request.by)) for names in groups] if len(groups) > 1 else []


def find_turn(dynamics: Dynamics, request: DerivativeRequest) -> Kernel:
    """The function of one column; where accelerations are given and it is no loop code, of one row."""
    if not request.of_motion:
        return Kernel("derivatives_along", request.options)
    along = Kernel("motion_along", request.options)
    return along if has_loops(dynamics, along) else Kernel("gradient_of_motion", request.options)


def has_loops(dynamics: Dynamics, kernel: Kernel) -> bool:
    """Whether a function of a system is loop code."""
    return dynamics.formulation == "recursive" and is_loop_code(dynamics.topology, kernel)


def takes_turns(dynamics: Dynamics, request: DerivativeRequest) -> bool:
    """Whether columns, or rows, are computed one by one: straight-line code of all would take long to compile."""
    topology = dynamics.topology
    if dynamics.formulation == "recursive" and is_large(topology):
        if is_loop_code(topology, request.kernel):
            return False
        if request.of_motion or is_loop_code(topology, find_turn(dynamics, request)):
            return True
    return count_entries(topology) > MOST_ENTRIES or request.shape[1] > MOST_COLUMNS


def has_columns(dynamics: Dynamics, request: DerivativeRequest) -> bool:
    """Whether a gradient is the weighted sum of the rows of the matrix: its own code would grow with the links."""
    if request.is_shared:
        return shares_in_numbers(dynamics, request)
    if split_request(dynamics, request):
        return True
    return has_loops(dynamics, request.kernel) or has_loops(dynamics, find_turn(dynamics, request))


def prepare(dynamics: Dynamics, request: DerivativeRequest) -> DerivativeFunction:
    """The function for a request; where that is possible, one of machine code."""
    plain = DerivativeFunction(dynamics, request)
    topology, kernel = dynamics.arguments.topology, request.kernel
    if 0 in request.shape or topology.n_u == 0 or request.is_shared:
        return plain
    if takes_turns(dynamics, request) or plain.parts:
        return plain
    function = make_direct(
        dynamics, kernel, ("t", "q", "u", "x"), request.shape, plain, keywords={request.argument: "x"},
        doc=DerivativeFunction.__doc__ or "", least=4 if request.of_motion else 3, takes_out=True,
        signature=f"(t, q, u, {request.argument}, *, z=None, p=None, inputs=None, out=None)",
        limit=find_limit(dynamics),
    )  # fmt: skip
    made: DerivativeFunction = _Direct(function, plain)
    return made


class _Direct(partial[Array]):
    """A built-in function with the attributes of the plain one.

    Python calls a ``partial`` object without a step in between, and it can have attributes; a method of a class of our
    own takes 0.1 us longer, and with ``out`` 0.2 us, which is as long as small mechanisms take altogether.
    """

    def __new__(cls, function: Callable[..., Array], plain: DerivativeFunction | GradientFunction) -> Any:
        """The function, with what callers read besides."""
        direct: Any = super().__new__(cls, function)
        direct.plain, direct.request, direct.__doc__ = plain, plain.request, plain.__doc__
        direct.rows, direct.columns, direct.shape = plain.request.rows, plain.columns, plain.shape
        direct.blocks, direct.evaluate = plain.blocks, plain.evaluate
        return direct

    def __reduce__(self) -> Any:
        return self.__dict__["plain"].__reduce__()

    def __repr__(self) -> str:
        return repr(self.__dict__["plain"])


class GradientFunction:
    """The gradient as a function of time, coordinates and speeds: ``g(t, q, u, effort, weights=, out=)``.

    It returns the derivatives of one number by all columns, in ``out`` if that is given; 2-D ``q, u`` are a batch.
    ``columns`` are its slices by name, and ``blocks(gradient)`` has its blocks by name.  ``weights`` replace those that
    were given when it was made.  Where accelerations are given the fourth argument is ``u_dot``, and is needed.
    """

    def __init__(self, dynamics: Dynamics, request: DerivativeRequest, weights: Any) -> None:
        self.dynamics, self.request = dynamics, request
        self.kernel = Kernel("gradient_of_motion" if request.of_motion else "gradient", request.options)
        self.weights = None if weights is None and request.shape[0] != 1 else self._read_weights(weights)

    def __reduce__(self) -> tuple[Any, ...]:
        # Machine code cannot be pickled: another process prepares its own.
        return prepare_gradient, (self.dynamics, self.request, self.weights)

    @cached_property
    def matrix(self) -> DerivativeFunction | None:
        """The derivatives whose rows are summed in a large system; None where the gradient has code of its own."""
        return prepare(self.dynamics, self.request) if has_columns(self.dynamics, self.request) else None

    def _sum_rows(self, matrix: Array, weights: Array) -> Array:
        """The weighted sum of the rows of a matrix, or of each of a batch."""
        if matrix.ndim == 3 and weights.ndim == 2 and len(matrix) != len(weights):
            raise ArgumentError(f"gradient: {len(weights)} rows of weights do not fit {len(matrix)} states")
        total: Array = (weights[..., None, :] @ matrix)[..., 0, :]
        return total

    @property
    def columns(self) -> dict[str, slice]:
        """The entries of the gradient that belong to each name in ``by``."""
        return self.request.columns

    @property
    def shape(self) -> tuple[int]:
        """The shape of the gradient."""
        return (self.request.shape[1],)

    def blocks(self, gradient: Array) -> Derivatives:
        """A gradient that this function returned, with its blocks by name."""
        return Derivatives(gradient[..., None, :], self._number)

    @cached_property
    def _number(self) -> DerivativeRequest:
        """The request with all quantities as one number."""
        return replace(self.request, of={", ".join(self.request.of): ()})

    def _read_weights(self, weights: Any) -> Array:
        return self.dynamics.arguments.read_array("weights", weights, self.request.shape[0], np.ones(1))

    def __call__(
        self, t: Any, q: Any, u: Any, x: Any = None, *, effort: Any = None, u_dot: Any = None, weights: Any = None,
        z: Any = None, p: Any = None, inputs: Any = None, out: Any = None,
    ) -> Array:  # fmt: skip
        """The gradient; the fourth argument may be named."""
        return self.evaluate(t, q, u, read_fourth(self.request, x, effort, u_dot), z, p, inputs, weights, out)

    def evaluate(
        self, t: Any, q: Any, u: Any, x: Any, z: Any, p: Any, inputs: Any, weights: Any, out: Any = None
    ) -> Array:
        """The same for arguments of any kind."""
        request, read, n = self.request, self.dynamics.arguments, self.dynamics.n_u
        own = self.weights if weights is None else self._read_weights(weights)
        if own is None:
            names, size = ", ".join(request.of), request.shape[0]
            raise ArgumentError(
                f"weights: {names} has {size} entries, and a gradient is that of one number: give weights"
            )
        loads = read.read_array(request.argument, x, n, None if request.of_motion else np.zeros(n))
        joined = join_rows([loads, own])
        if request.shape[1] and self.matrix is not None:
            given = {name: value for name, value in (("z", z), ("p", p), ("inputs", inputs)) if value is not None}
            result = self._sum_rows(self.matrix(t, q, u, loads, **given), own)
        elif request.shape[1]:
            point = self.dynamics.read_point(self.kernel, t, q, u, z, p, inputs, joined)
            settled = settle_sharing(self.dynamics, request, point)
            result = self.dynamics.kernels.call(self.kernel._replace(options=settled.options), point, joined)
            check_positions(self.dynamics, ", ".join(request.of), point, result)
        else:
            result = np.zeros((*joined.shape[:-1], 0))
        return result if out is None else write_into(out, result)

    def __repr__(self) -> str:
        of, by = ", ".join(self.request.of), ", ".join(self.request.by)
        return f"<gradient of {of} by {by}: g(t, q, u, {self.request.argument})>"


def prepare_gradient(dynamics: Dynamics, request: DerivativeRequest, weights: Any = None) -> GradientFunction:
    """The function for a request; one of machine code where its weights are known, and accelerations are not given."""
    plain = GradientFunction(dynamics, request, weights)
    fixed = plain.weights is not None and plain.weights.ndim == 1
    if request.is_shared or 0 in request.shape:
        return plain
    if not fixed or request.of_motion or plain.matrix is not None:
        return plain
    function = make_direct(
        dynamics, plain.kernel, ("t", "q", "u"), plain.shape, plain, takes_out=True, limit=find_limit(dynamics),
        defaults={"x": np.concatenate([np.zeros(dynamics.n_u), plain.weights])}, doc=GradientFunction.__doc__ or "",
        signature=f"(t, q, u, {request.argument}, *, weights=None, z=None, p=None, inputs=None, out=None)",
    )  # fmt: skip
    made: GradientFunction = _Direct(function, plain)
    return made
