"""Methods of ``Dynamics`` that are replaced by built-in functions of machine code at their first use."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from kinode.algebra.scalars import Array
from kinode.jit import python_function
from kinode.jit.machine_code import Machine
from kinode.kernels.kernel_table import KernelRow


class Fast:
    """A method that is replaced by a built-in function of machine code when an object first uses it.

    The row of the kernel table with the method's name lists the positional arguments.  Calls that the built-in function
    does not handle go to the method.
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


def forget_builtins(owner: Any) -> None:
    """Let the built-in functions of an object be made anew, since what they were compiled from has changed."""
    for name in [name for name in owner.__dict__ if isinstance(getattr(type(owner), name, None), Fast)]:
        del owner.__dict__[name]


def make_builtin(
    row: KernelRow, machine: Machine, defaults: Mapping[str, Array], n_u: int, method: Callable[..., Any]
) -> Callable[..., Any]:
    """The built-in function of a kernel; calls that it does not handle go to ``method``."""
    shape = (n_u, n_u) if row.square else (machine.sizes["out"],)
    default_arrays = {name: array for name, array in defaults.items() if name not in row.arguments}
    parameters = list(inspect.signature(method).parameters.values())
    bare = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in parameters]
    function: Callable[..., Any] = python_function.make_callable(
        machine,
        row.arguments,
        default_arrays,
        shape,
        method,
        name=row.name,
        doc=method.__doc__ or "",
        signature=str(inspect.Signature(bare)),
    )
    return function
