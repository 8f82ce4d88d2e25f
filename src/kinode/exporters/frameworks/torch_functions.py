"""``dynamics.to_torch``: a compiled system as a function of PyTorch, with exact first derivatives of both modes.

Values and Jacobians are computed by machine code on the processor, in double precision; results have the widest type
and the device of the arguments.  Leading dimensions are a batch, computed by one call; ``torch.func.vmap`` adds one.  A
second derivative is refused when it is asked for.  ``torch.compile`` leaves the call as it is and compiles what stands
around it; ``torch.jit.trace``, which would keep the numbers of one call, is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.errors import ArgumentError
from kinode.exporters.frameworks.called_function import FrameworkFunction

if TYPE_CHECKING:
    from kinode.dynamics.compiled_system import Dynamics


class TorchFunction(FrameworkFunction):
    """A function of PyTorch, of one state or a batch: ``f(q=q, u=u, effort=tau)``."""

    package = "torch"

    def __init__(self, dynamics: Dynamics, of: str | Iterable[str]) -> None:
        super().__init__(dynamics, of)
        self._function = _differentiable(self.framework, self)
        self._call = self.framework.compiler.disable(self._evaluate)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """The result, with the leading dimensions of the arguments."""
        return self._call(arguments, named)

    def _evaluate(self, arguments: Any, named: Any) -> Any:
        torch, called = self.framework, self.called
        if torch.jit.is_tracing():
            raise ArgumentError("to_torch: torch.jit.trace would keep the numbers of one call; torch.compile works")
        given = called.order(arguments, named)
        like = _find_kind(torch, dict(zip(self.words, given)))
        ready = []
        for word, value in zip(self.words, given):
            tensor = value if isinstance(value, torch.Tensor) else torch.as_tensor(np.asarray(value, dtype=float))
            tensor = tensor.to(**like)
            called.check(word, tuple(tensor.shape))
            ready.append(tensor.reshape(1) if tensor.ndim == 0 else tensor)
        lead = torch.broadcast_shapes(*(tensor.shape[:-1] for tensor in ready))
        flat = self._function.apply(*(tensor.expand(*lead, tensor.shape[-1]) for tensor in ready))
        return self.split(flat, tuple(lead))


def _find_kind(torch: Any, given: dict[str, Any]) -> dict[str, Any]:
    """The widest type of the tensors, and their device; numbers of other kinds have no say."""
    tensors = {word: value for word, value in given.items() if isinstance(value, torch.Tensor)}
    for word, value in tensors.items():
        if value.dtype.is_complex:
            raise ArgumentError(f"{word}: real numbers are expected, not {value.dtype}")
    kinds = [value.dtype for value in tensors.values() if value.dtype.is_floating_point]
    device = next((value.device for value in tensors.values()), "cpu")
    return {"dtype": reduce(torch.promote_types, kinds) if kinds else torch.float64, "device": device}


def to_torch(dynamics: Dynamics, of: str | Iterable[str] = "rate") -> TorchFunction:
    """The function of ``Dynamics.to_torch``."""
    return TorchFunction(dynamics, of)


def _differentiable(torch: Any, function: FrameworkFunction) -> Any:
    """The flat result as a function of all arguments in order, with its rules of derivatives."""
    called, jacobian = function.called, _make_jacobian(torch, function)

    class TorchValue(torch.autograd.Function):  # type: ignore[misc]
        """The result and its rules of derivatives."""

        @staticmethod
        def forward(*arguments: Any) -> Any:
            return _on_host(torch, called.values, arguments)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> Any:
            matrix = jacobian.apply(*ctx.saved_tensors)
            slopes = {word: slope for word, slope in zip(called.words, tangents) if slope is not None}
            blocks = ((matrix[..., called.columns[word]], slopes[word]) for word in called.active if word in slopes)
            return sum((block @ slope.unsqueeze(-1)).squeeze(-1) for block, slope in blocks)

        @staticmethod
        def backward(ctx: Any, slope: Any) -> Any:
            matrix = jacobian.apply(*ctx.saved_tensors)
            row = (slope.unsqueeze(-2) @ matrix).squeeze(-2)
            return tuple(row[..., called.columns[word]] if word in called.columns else None for word in called.words)

        @staticmethod
        def vmap(info: Any, in_dims: Any, *arguments: Any) -> Any:
            return _batched(TorchValue, in_dims, arguments, info.batch_size)

    return TorchValue


def _make_jacobian(torch: Any, function: FrameworkFunction) -> Any:
    """The matrix of derivatives as a function of all arguments in order."""

    class TorchJacobian(torch.autograd.Function):  # type: ignore[misc]
        """The matrix of derivatives, which has none of its own."""

        @staticmethod
        def forward(*arguments: Any) -> Any:
            return _on_host(torch, function.called.jacobian, arguments)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            """Nothing is kept."""

        @staticmethod
        def backward(ctx: Any, *slopes: Any) -> Any:
            return function.refuse_twice()

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> Any:
            return function.refuse_twice()

        @staticmethod
        def vmap(info: Any, in_dims: Any, *arguments: Any) -> Any:
            return _batched(TorchJacobian, in_dims, arguments, info.batch_size)

    return TorchJacobian


def _on_host(torch: Any, function: Any, tensors: tuple[Any, ...]) -> Any:
    """A function of NumPy arrays, called with tensors."""
    arrays = [tensor.detach().cpu().double().numpy() for tensor in tensors]
    return torch.as_tensor(function(*arrays)).to(dtype=tensors[0].dtype, device=tensors[0].device)


def _batched(function: Any, in_dims: tuple[Any, ...], arguments: tuple[Any, ...], size: int) -> tuple[Any, int]:
    """The rule of ``vmap``: the new dimension is one more leading one."""
    moved = [x if d is None else x.movedim(d, 0) for x, d in zip(arguments, in_dims)]
    spread = [x.expand(size, *x.shape) if d is None else x for x, d in zip(moved, in_dims)]
    return function.apply(*spread), 0
