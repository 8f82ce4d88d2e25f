"""The gradient of one number as a function for inner loops: weights and all but the state are fixed when it is made."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.derivative_calls.derivative_blocks import Derivatives
from kinode.dynamics.derivative_calls.derivative_request import DerivativeRequest, read_request
from kinode.dynamics.derivative_calls.prepared_derivatives import (
    join_rows,
    read_fourth,
    split_request,
    write_into,
)
from kinode.dynamics.derivative_calls.shared_gradients import find_shared_gradients, shares_in_numbers
from kinode.dynamics.derivative_calls.shared_requests import settle_sharing
from kinode.dynamics.derivative_calls.singular_states import check_positions, find_limit
from kinode.dynamics.mode_fitting import needs_modes
from kinode.errors import ArgumentError
from kinode.jit.python_calls import builtin_function
from kinode.kernels.kernel_options import Kernel

if TYPE_CHECKING:
    from kinode.dynamics.compiled_system import Dynamics


class GradientFunction(Protocol):
    """The gradient as a function of time, coordinates and speeds: ``g(t, q, u, effort, weights=, out=)``.

    It returns the derivatives of one number by all columns, in ``out`` if that is given; 2-D ``q, u`` are a batch.
    Where accelerations are given the fourth argument is ``u_dot``, and is needed.
    """

    @property
    def request(self) -> DerivativeRequest:
        """What is differentiated by what."""

    @property
    def columns(self) -> dict[str, slice]:
        """The entries of the gradient that belong to each name in ``by``."""

    @property
    def shape(self) -> tuple[int]:
        """The shape of the gradient."""

    def blocks(self, gradient: Array) -> Derivatives:
        """A gradient that this function returned, with its blocks by name."""

    def evaluate(
        self, t: Any, q: Any, u: Any, x: Any, z: Any, p: Any, inputs: Any, weights: Any, out: Any = None
    ) -> Array:
        """The gradient for arguments of any kind."""

    def __call__(
        self, t: Any, q: Any, u: Any, x: Any = None, *, effort: Any = None, u_dot: Any = None, weights: Any = None,
        z: Any = None, p: Any = None, inputs: Any = None, out: Any = None,
    ) -> Array:  # fmt: skip
        """The gradient."""


class PreparedGradient:
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
        names = tuple(self.request.of), tuple(self.request.by)
        return _prepare_again, (self.dynamics, *names, self.request.of_motion, self.weights)

    @cached_property
    def parts(self) -> list[PreparedGradient]:
        """Gradients of some of the quantities each, where code of all of them would be long; none by default."""
        requests = split_request(self.dynamics, self.request)
        return [PreparedGradient(self.dynamics, request, None) for request in requests]

    def _weights_of(self, part: PreparedGradient, weights: Array) -> Array:
        """The weights of the quantities of a part."""
        return np.concatenate([weights[..., self.request.rows[name]] for name in part.request.of], axis=-1)

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
        number = replace(self.request, of={", ".join(self.request.of): ()})
        return Derivatives(gradient.reshape(*gradient.shape[:-1], 1, gradient.shape[-1]), number)

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
        if request.shape[1] and self.parts:
            each = ((part, self._weights_of(part, own)) for part in self.parts)
            result = np.sum([part.evaluate(t, q, u, x, z, p, inputs, several) for part, several in each], axis=0)
        elif request.shape[1]:
            point = self.dynamics.read_point(self.kernel, t, q, u, z, p, inputs, joined)
            settled = settle_sharing(self.dynamics, request, point)
            if shares_in_numbers(self.dynamics, settled):
                weights = np.expand_dims(own, -2)
                result = find_shared_gradients(self.dynamics, settled, point, loads, weights)[..., 0, :]
            else:
                result = self.dynamics.kernels.call(self.kernel._replace(options=settled.options), point, joined)
            check_positions(self.dynamics, ", ".join(request.of), point, result)
        else:
            result = np.zeros((*joined.shape[:-1], 0))
        return result if out is None else write_into(out, result)

    def __repr__(self) -> str:
        of, by = ", ".join(self.request.of), ", ".join(self.request.by)
        return f"<gradient of {of} by {by}: g(t, q, u, {self.request.argument})>"


def _prepare_again(
    dynamics: Dynamics, of: tuple[str, ...], by: tuple[str, ...], of_motion: bool, weights: Array | None
) -> GradientFunction:
    return prepare_gradient(dynamics, read_request(dynamics, of, by, of_motion), weights)


def prepare_gradient(dynamics: Dynamics, request: DerivativeRequest, weights: Any) -> GradientFunction:
    """The function for a request; one of machine code where its weights are known, and accelerations are not given."""
    plain = PreparedGradient(dynamics, request, weights)
    fixed = plain.weights is not None and plain.weights.ndim == 1
    if request.is_shared or 0 in request.shape:
        return plain
    modes = needs_modes(dynamics.arguments.topology, plain.kernel)
    if not fixed or request.of_motion or modes or plain.parts:
        return plain
    defaults = {"p": dynamics.parameters, "inputs": dynamics.inputs, "z": dynamics.start.initial_values.z}
    function = builtin_function.make_callable(
        dynamics.kernels.machine(plain.kernel),
        ("t", "q", "u"),
        {**defaults, "x": np.concatenate([np.zeros(dynamics.n_u), plain.weights])},
        plain.shape,
        plain,
        name="gradient",
        doc=PreparedGradient.__doc__ or "",
        signature=f"(t, q, u, {request.argument}, *, weights=None, z=None, p=None, inputs=None, out=None)",
        takes_out=True,
        limit=find_limit(dynamics),
    )
    fast: Any = partial(function)  # it can have attributes, and Python calls it without a step in between
    fast.request, fast.columns, fast.shape = request, plain.columns, plain.shape
    fast.blocks, fast.evaluate, fast.__doc__ = plain.blocks, plain.evaluate, plain.__doc__
    made: GradientFunction = fast
    return made
