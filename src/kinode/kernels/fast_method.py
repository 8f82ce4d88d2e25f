"""Methods of ``Dynamics`` that become built-in functions of machine code when they are first asked for."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from kinode.algebra.scalars import Array
from kinode.jit import builtin_function
from kinode.jit.compiler import Machine
from kinode.kernels.kernel_table import KernelRow


class Fast:
    """A method that is replaced, when it is first asked of an object, by a built-in function of machine code.

    The kernel table says by the method's name which arguments it takes by position.  What does not fit the built-in
    function exactly comes back to the method.
    """

    def __init__(self, method: Callable[..., Any]) -> None:
        self.method = method
        self.__doc__ = method.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, dynamics: Any, owner: type | None = None) -> Any:
        if dynamics is None:
            return self
        function = dynamics.__dict__[self.name] = dynamics.make_fast(self)
        return function


def fast(method: Callable[..., Any]) -> Any:
    """Mark a method of Dynamics as ``Fast``."""
    return Fast(method)


def make_builtin(
    row: KernelRow, machine: Machine, defaults: Mapping[str, Array], n_u: int, method: Callable[..., Any]
) -> Callable[..., Any]:
    """The built-in function of a kernel; calls that do not fit it exactly go to ``method``."""
    shape = (n_u, n_u) if row.square else (machine.sizes["out"],)
    kept = {name: array for name, array in defaults.items() if name not in row.arguments}
    parameters = list(inspect.signature(method).parameters.values())
    bare = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in parameters]
    function: Callable[..., Any] = builtin_function.make_callable(
        machine,
        row.arguments,
        kept,
        shape,
        method,
        name=row.name,
        doc=method.__doc__ or "",
        signature=str(inspect.Signature(bare)),
    )
    return function
