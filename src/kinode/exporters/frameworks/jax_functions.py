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
from kinode.exporters.frameworks.called_function import FrameworkFunction

if TYPE_CHECKING:
    from kinode.dynamics.compiled_system import Dynamics


class JaxFunction(FrameworkFunction):
    """A function of JAX, of one state: ``f(q=q, u=u, effort=tau)``."""

    package = "jax"

    def __init__(self, dynamics: Dynamics, of: str | Iterable[str]) -> None:
        super().__init__(dynamics, of)
        self._function = _differentiable(self.framework, self)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """The result for one state; ``jax.vmap`` makes it a function of many."""
        jnp, called = self.framework.numpy, self.called
        arrays = []
        for word, value in zip(self.words, called.order(arguments, named)):
            if jnp.iscomplexobj(value):
                raise ArgumentError(f"{word}: real numbers are expected, not {jnp.asarray(value).dtype}")
            array = jnp.asarray(value, dtype=float)
            array = array.reshape(1) if word == "t" and array.ndim == 0 else array
            if array.ndim != 1:
                raise ArgumentError(f"{word}: one state is expected, not shape {array.shape}; jax.vmap takes many")
            called.check(word, array.shape)
            arrays.append(array)
        return self.split(self._function(*arrays))


def to_jax(dynamics: Dynamics, of: str | Iterable[str] = "rate") -> JaxFunction:
    """The function of ``Dynamics.to_jax``."""
    return JaxFunction(dynamics, of)


def _differentiable(jax: Any, function: FrameworkFunction) -> Any:
    """The flat result as a function of all arguments in order, with its rule of derivatives."""
    called = function.called

    def promise(*shape: int) -> Any:
        """A result in the precision that JAX has at the call; it may change after the function was made."""
        return jax.ShapeDtypeStruct(shape, jax.numpy.result_type(float))

    def call_back(host: Any, shape: Any, arguments: tuple[Any, ...]) -> Any:
        return jax.pure_callback(host, shape, *arguments, vmap_method="broadcast_all")

    def find_value(*arrays: Any) -> Any:
        given = [np.asarray(array) for array in arrays]
        return np.asarray(called.values(*given), dtype=given[0].dtype)

    def find_both(*arrays: Any) -> Any:
        given = [np.asarray(array) for array in arrays]
        dtype = given[0].dtype
        return np.asarray(called.values(*given), dtype=dtype), np.asarray(called.jacobian(*given), dtype=dtype)

    def along(primals: Any, tangents: Any) -> Any:
        result, J = both(*primals)
        slopes = dict(zip(called.words, tangents))
        return result, sum(J[:, called.columns[word]] @ slopes[word] for word in called.active)

    both = jax.custom_jvp(
        lambda *given: call_back(find_both, (promise(called.size), promise(*called.function.shape)), given)
    )
    value = jax.custom_jvp(lambda *given: call_back(find_value, promise(called.size), given))
    both.defjvp(function.refuse_twice)
    value.defjvp(along)
    return value
