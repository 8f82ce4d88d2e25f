"""``dynamics.to_torch``: a compiled system as a function of PyTorch, with exact first derivatives.

Values and Jacobians are computed by machine code on the processor, in double precision; results have the type and the
device of the arguments.  Leading dimensions are a batch, computed by one call; ``torch.func.vmap`` adds one.  A second
derivative is refused when it is asked for.
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

TWICE = "to_torch: second derivatives are not offered; dynamics.to_casadi() has derivatives of any order"


class TorchFunction:
    """A function of PyTorch: ``f(q=q, u=u, effort=tau)``; what is not given has the model's own values.

    Attributes
    ----------
    words : tuple of str
        The arguments in order: t, q, u, z, p, inputs, effort (of inverse dynamics u_dot).
    entries : mapping of str to tuple
        Names, SI units and own values of the entries of each argument.
    shapes : dict
        The shape of each name; one name gives a tensor of its shape, several give a dictionary.
    """

    def __init__(self, dynamics: Dynamics, of: str | Iterable[str]) -> None:
        self._torch = need("torch", "torch", "to_torch")
        self._called = CalledFunction(dynamics, of)
        self.words, self.entries, self.shapes = self._called.words, self._called.entries, self._called.shapes
        self._single = isinstance(of, str)
        self._function = _differentiable(self._torch, self._called)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """The result, with the leading dimensions of the arguments."""
        torch, called = self._torch, self._called
        given = called.order(arguments, named)
        tensors = [value for value in given if isinstance(value, torch.Tensor)]
        like = {"dtype": torch.float64, "device": "cpu"}
        if tensors:
            kinds = [x.dtype for x in tensors if x.dtype.is_floating_point]
            like = {"dtype": kinds[0] if kinds else torch.float64, "device": tensors[0].device}
        ready = []
        for word, value in zip(self.words, given):
            tensor = value if isinstance(value, torch.Tensor) else torch.as_tensor(np.asarray(value, dtype=float))
            tensor = tensor.to(**like)
            called.check(word, tuple(tensor.shape))
            ready.append(tensor.reshape(1) if tensor.ndim == 0 else tensor)
        lead = torch.broadcast_shapes(*(tensor.shape[:-1] for tensor in ready))
        flat = self._function.apply(*(tensor.expand(*lead, tensor.shape[-1]) for tensor in ready))
        parts, start = {}, 0
        for name, shape in self.shapes.items():
            size = int(np.prod(shape, dtype=int))
            parts[name] = flat[..., start : start + size].reshape(*lead, *shape)
            start += size
        return next(iter(parts.values())) if self._single else parts


def to_torch(dynamics: Dynamics, of: str | Iterable[str] = "rate") -> TorchFunction:
    """The function of ``Dynamics.to_torch``."""
    return TorchFunction(dynamics, of)


def _differentiable(torch: Any, called: CalledFunction) -> Any:
    """The flat result as a function of all arguments in order, with its backward rule."""

    def on_host(function: Any, tensors: tuple[Any, ...]) -> Any:
        arrays = [tensor.detach().cpu().double().numpy() for tensor in tensors]
        return torch.as_tensor(function(*arrays)).to(dtype=tensors[0].dtype, device=tensors[0].device)

    def batched(function: Any, in_dims: tuple[Any, ...], arguments: tuple[Any, ...], size: int) -> tuple[Any, int]:
        """The rule of ``vmap``: the new dimension is one more leading one."""
        moved = [x if d is None else x.movedim(d, 0) for x, d in zip(arguments, in_dims)]
        spread = [x.expand(size, *x.shape) if d is None else x for x, d in zip(moved, in_dims)]
        return function.apply(*spread), 0

    class TorchJacobian(torch.autograd.Function):  # type: ignore[misc]
        """The matrix of derivatives, which has none of its own."""

        @staticmethod
        def forward(*arguments: Any) -> Any:
            return on_host(called.jacobian, arguments)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            """Nothing is kept."""

        @staticmethod
        def backward(ctx: Any, *slopes: Any) -> Any:
            raise ArgumentError(TWICE)

        @staticmethod
        def vmap(info: Any, in_dims: Any, *arguments: Any) -> Any:
            return batched(TorchJacobian, in_dims, arguments, info.batch_size)

    class TorchValue(torch.autograd.Function):  # type: ignore[misc]
        """The result and its backward rule."""

        @staticmethod
        def forward(*arguments: Any) -> Any:
            return on_host(called.values, arguments)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx: Any, slope: Any) -> Any:
            matrix = TorchJacobian.apply(*ctx.saved_tensors)
            row = (slope.unsqueeze(-2) @ matrix).squeeze(-2)
            return tuple(row[..., called.columns[word]] if word in called.columns else None for word in called.words)

        @staticmethod
        def vmap(info: Any, in_dims: Any, *arguments: Any) -> Any:
            return batched(TorchValue, in_dims, arguments, info.batch_size)

    return TorchValue
