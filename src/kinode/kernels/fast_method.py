"""Methods of ``Dynamics`` that become built-in functions of machine code when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Fast:
    """A method that is replaced, when it is first asked of an object, by a built-in function of machine code.

    What does not fit the built-in function exactly comes back to the method.
    """

    def __init__(self, roles: str, method: Callable[..., Any], square: bool = False) -> None:
        self.roles, self.method, self.square = tuple(roles.split()), method, square
        self.__doc__ = method.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, dynamics: Any, owner: type | None = None) -> Any:
        if dynamics is None:
            return self
        found = dynamics.__dict__[self.name] = dynamics._make_fast(self)
        return found


def fast(roles: str, square: bool = False) -> Callable[[Callable[..., Any]], Any]:
    """Mark a method of Dynamics as ``Fast``; ``roles`` are its positional arguments as kernels name them."""
    return lambda method: Fast(roles, method, square)
