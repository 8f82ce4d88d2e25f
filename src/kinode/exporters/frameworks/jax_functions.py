"""``dynamics.to_jax``: a compiled system as a function of JAX, with exact derivatives.

Values and Jacobians are computed by machine code through ``jax.pure_callback``.  The rule of derivatives is linear in
the tangents, so that forward and reverse mode, ``jit`` and ``vmap`` (one call for the whole batch) work.  Second
derivatives are refused.  JAX counts in single precision unless ``jax.config.update("jax_enable_x64", True)`` is said
first.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.errors import ArgumentError
from kinode.exporters.frameworks.called_function import CalledFunction
from kinode.optional_packages import need

if TYPE_CHECKING:
    from kinode.dynamics.compiled_system import Dynamics

TWICE = "to_jax: second derivatives are not offered; dynamics.to_casadi() has derivatives of any order"


class JaxFunction:
    """A function of JAX: ``f(q=q, u=u, effort=tau)``; what is not given has the model's own values.

    Attributes
    ----------
    words : tuple of str
        The arguments in order: t, q, u, z, p, inputs, effort (of inverse dynamics u_dot).
    entries : mapping of str to tuple
        Names, SI units and own values of the entries of each argument.
    shapes : dict
        The shape of each name; one name gives an array of its shape, several give a dictionary.
    """

    def __init__(self, dynamics: Dynamics, of: str | Iterable[str]) -> None:
        self._jax = need("jax", "jax", "to_jax")
        self._called = CalledFunction(dynamics, of)
        self.words, self.entries, self.shapes = self._called.words, self._called.entries, self._called.shapes
        self._single = isinstance(of, str)
        self._function = _differentiable(self._jax, self._called)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """The result for one state; ``jax.vmap`` makes it a function of many."""
        jnp, called = self._jax.numpy, self._called
        arrays = []
        for word, value in zip(self.words, called.order(arguments, named)):
            array = jnp.asarray(value, dtype=float)
            array = array.reshape(1) if word == "t" and array.ndim == 0 else array
            if array.ndim != 1:
                raise ArgumentError(f"{word}: one state is expected, not shape {array.shape}; jax.vmap takes many")
            called.check(word, array.shape)
            arrays.append(array)
        flat = self._function(*arrays)
        parts, start = {}, 0
        for name, shape in self.shapes.items():
            size = int(np.prod(shape, dtype=int))
            parts[name] = flat[start : start + size].reshape(shape)
            start += size
        return next(iter(parts.values())) if self._single else parts


def to_jax(dynamics: Dynamics, of: str | Iterable[str] = "rate") -> JaxFunction:
    """The function of ``Dynamics.to_jax``."""
    return JaxFunction(dynamics, of)


def _differentiable(jax: Any, called: CalledFunction) -> Any:
    """The flat result as a function of all arguments in order, with its rule of derivatives."""

    dtype = jax.numpy.result_type(float)
    shapes = (jax.ShapeDtypeStruct((called.size,), dtype), jax.ShapeDtypeStruct(called.function.shape, dtype))

    def call_back(host: Any, shape: Any, arguments: tuple[Any, ...]) -> Any:
        return jax.pure_callback(host, shape, *arguments, vmap_method="broadcast_all")

    def find_value(*arrays: Any) -> Any:
        return np.asarray(called.values(*map(np.asarray, arrays)), dtype=dtype)

    def find_both(*arrays: Any) -> Any:
        given = [np.asarray(array) for array in arrays]
        return np.asarray(called.values(*given), dtype=dtype), np.asarray(called.jacobian(*given), dtype=dtype)

    def refuse(primals: Any, tangents: Any) -> Any:
        raise ArgumentError(TWICE)

    def along(primals: Any, tangents: Any) -> Any:
        result, J = both(*primals)
        slopes = dict(zip(called.words, tangents))
        return result, sum(J[:, called.columns[word]] @ slopes[word] for word in called.active)

    both = jax.custom_jvp(lambda *arguments: call_back(find_both, shapes, arguments))
    value = jax.custom_jvp(lambda *arguments: call_back(find_value, shapes[0], arguments))
    both.defjvp(refuse)
    value.defjvp(along)
    return value
