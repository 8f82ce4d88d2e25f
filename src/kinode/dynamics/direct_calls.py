"""Calls of a compiled system from Python: one cache of built-in functions of machine code, for all methods and models.

A method that is called with exact arguments (jit/python_function.py) goes straight to machine code.  The functions are
kept by the name of the method and its options, and found before any name is read or any argument checked.  All other
calls are checked and converted by the methods, or by the function that is the fallback.  Modes that are not given are
made consistent by a loop before the kernel.
"""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.mode_fitting import find_fit
from kinode.jit.python_function import make_callable, make_finder, prepare_wrapper
from kinode.kernels.kernel_options import Kernel
from kinode.kernels.kernel_table import KERNELS
from kinode.kernels.tree_size import is_large

if TYPE_CHECKING:
    from kinode.dynamics.compiled_system import Dynamics

Function = Callable[..., Any]
KnownFunctions = defaultdict[str, dict[Hashable, Function]]
"""The functions that were made for a compiled system: those of each method by its options."""
F = TypeVar("F", bound=Function)


class Fast:
    """A method that is replaced by a built-in function of machine code when an object first uses it.

    The row of the kernel table with the method's name lists the positional arguments.  Where it has none, the first
    argument of the method is the option by which its functions are known.  Calls that the built-in function does not
    handle go to the method.
    """

    def __init__(self, method: Function) -> None:
        self.method = method
        self.__doc__ = method.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, dynamics: Any, owner: type | None = None) -> Any:
        if dynamics is None:
            return self
        if getattr(type(dynamics), self.name) is not self:  # a derived class has a method of its own, which calls this
            return self.method.__get__(dynamics)
        function = dynamics.__dict__[self.name] = self.make(dynamics)
        return function

    def make(self, dynamics: Dynamics) -> Function:
        """The built-in function, or the method where there is none."""
        method, row = plain_method(dynamics, self.name), KERNELS[self.name]
        if not row.arguments:
            prepare_wrapper()
            return make_finder(dynamics.functions[self.name], method, self.name, *documented(method))
        if row.square and is_large(dynamics.topology):
            return method
        shape = (dynamics.n_u, dynamics.n_u) if row.square else None
        return make_direct(dynamics, Kernel(row.name), row.arguments, shape, method, described=method)


def fast(method: F) -> F:
    """Mark a method of Dynamics as ``Fast``."""
    return cast("F", Fast(method))


def plain_method(dynamics: Dynamics, name: str) -> Function:
    """A method that is marked as ``Fast`` itself; it takes all calls."""
    own = (base.__dict__.get(name) for base in type(dynamics).__mro__)
    method: Function = next(each for each in own if isinstance(each, Fast)).method.__get__(dynamics)
    return method


def forget_builtins(dynamics: Dynamics) -> None:
    """Let the built-in functions of an object be made anew, since what they were compiled from has changed."""
    dynamics.functions.clear()
    for name in list(dynamics.__dict__):
        if isinstance(getattr(type(dynamics), name, None), Fast | FunctionType):
            del dynamics.__dict__[name]


def make_direct(
    dynamics: Dynamics,
    kernel: Kernel,
    roles: Sequence[str | None],
    shape: tuple[int, ...] | list[tuple[int, ...]] | None,
    plain: Function,
    *,
    described: Function | None = None,
    keywords: Mapping[str, str | tuple[str, int] | None] | None = None,
    defaults: Mapping[str, Array] | None = None,
    **options: Any,
) -> Function:
    """The built-in function of a kernel with the model's own values of what is not given; else ``plain``.

    ``shape`` is that of the result, or of its parts; all entries in a row by default.  ``described`` is the function
    with the documentation.  ``keywords`` are names of arguments besides z, p and inputs; ``defaults`` are other values.
    The ``options`` are those of ``make_callable``.
    """
    read, machine = dynamics.arguments, dynamics.kernels.machine(kernel)
    if not machine.sizes["out"]:
        return plain
    prepare_wrapper()
    initial = dynamics.start.initial_values.z
    own = {"p": read.parameters, "inputs": read.inputs, "z": initial, "u": np.zeros(dynamics.n_u)}
    own = {name: array for name, array in {**own, **(defaults or {})}.items() if name not in roles}
    by_name = {"z": "z", "inputs": "inputs", "p": None if read.has_checked_numbers else "p", **(keywords or {})}
    if described:
        options["signature"], options["doc"] = documented(described)
    before = find_fit(dynamics.kernels, kernel, initial, machine.sizes["x"])
    shape = (machine.sizes["out"],) if shape is None else shape
    return make_callable(
        machine, roles, own, shape, plain, name=kernel.name, keywords=by_name, before=before, **options
    )  # fmt: skip


def documented(function: Function) -> tuple[str, str]:
    """The signature of a function, without types, and its documentation."""
    parameters = inspect.signature(function).parameters.values()
    bare = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in parameters]
    return str(inspect.Signature(bare)), function.__doc__ or ""
