"""Calls of derivatives along directions: second derivatives, rates of Jacobians."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.derivatives.derivative_request import (
    DerivativeRequest,
    check_positions,
    read_direction,
    read_names,
    read_request,
)
from kinode.dynamics.derivatives.prepared_derivatives import join_rows
from kinode.dynamics.derivatives.shared_columns import settle_sharing
from kinode.errors import ArgumentError, Error
from kinode.kernels.kernel_options import Kernel
from kinode.model.base.fields import short
from kinode.model.quantities import find_quantity

if TYPE_CHECKING:
    from kinode.dynamics.compiled_system import Dynamics


@dataclass(frozen=True, eq=False)
class CallPoint:
    """The arguments of a call: state, added efforts or given accelerations, parameters and inputs."""

    t: Any
    q: Any
    u: Any
    x: Any
    z: Any
    p: Any
    inputs: Any


def _loads(dynamics: Dynamics, request: DerivativeRequest, at: CallPoint) -> Array:
    n = dynamics.n_u
    return dynamics.arguments.read_array(request.argument, at.x, n, None if request.of_motion else np.zeros(n))


# -- second derivatives ----------------------------------------------------------------------------
def refuse_fmus(dynamics: Dynamics) -> None:
    """Raise for a system whose motion follows functions of an FMU, which has no second derivatives."""
    for name, element in dynamics.system.elements.items():
        if element.doors:
            raise ArgumentError(f"second_derivatives: {name} is an FMU, of which first derivatives alone are known")


def find_second(dynamics: Dynamics, of: str, along: Any, then: Any, at: CallPoint) -> Array:
    """The second derivatives of a quantity along two directions."""
    then = along if then is None else then
    words = tuple(dict.fromkeys([*_words(dynamics, "along", along), *_words(dynamics, "then", then)]))
    request = read_request(dynamics, of, words)
    if request.of_motion or len(request.of) != 1:
        raise ArgumentError("of: one quantity that follows from the state is expected, such as 'u_dot'")
    factors = [_factors(dynamics, request, name, values) for name, values in (("along", along), ("then", then))]
    x = join_rows([_loads(dynamics, request, at), *factors])
    kernel = Kernel("second_derivatives", request.options)
    point = dynamics.read_point(kernel, at.t, at.q, at.u, at.z, at.p, at.inputs, x)
    settled = settle_sharing(dynamics, request, point)
    result = dynamics.kernels.call(kernel._replace(options=settled.options), point, x)
    check_positions(dynamics, of, point, result)
    (shape,) = request.of.values()
    return result.reshape((*result.shape[:-1], *shape))


def _words(dynamics: Dynamics, name: str, direction: Any) -> list[str]:
    if not isinstance(direction, Mapping) or not direction:
        raise ArgumentError(f"{name}: a direction by name is expected, such as {{'q': [1, 0]}}, not {short(direction)}")
    for word in read_names(name, direction, "q"):
        read_direction(dynamics, word, name)
    return list(direction)


def _factors(dynamics: Dynamics, request: DerivativeRequest, name: str, direction: Mapping[str, Any]) -> Array:
    """A direction as factors of all columns."""
    parts = []
    for word, shape in request.by.items():
        size = request.columns[word].stop - request.columns[word].start
        value = direction.get(word, np.zeros(size))
        value = np.reshape(value, (1,)) if shape == () and np.ndim(value) == 0 else value
        parts.append(dynamics.arguments.read_array(f"{name}: {word}", value, size))
    return join_rows(parts)


# -- rates of Jacobians ----------------------------------------------------------------------------
def read_position(dynamics: Dynamics, name: str) -> DerivativeRequest:
    """The derivatives of a quantity by small motions; one that speeds determine has no Jacobian of positions."""
    if find_quantity(dynamics.system, name).needs in ("velocity", "acceleration"):
        raise ArgumentError(f"of: {name} depends on speeds; J is that of a position")
    return read_request(dynamics, name, ("q",))


def is_quantity(dynamics: Dynamics, name: str) -> bool:
    """Whether a name is that of a quantity; bodies and frames are none."""
    try:
        find_quantity(dynamics.system, name)
    except Error:
        return False
    return True
