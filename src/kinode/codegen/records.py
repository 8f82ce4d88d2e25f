"""What compiled functions take and give: states and wrenches; and how a method becomes a built-in function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array


@dataclass(frozen=True, eq=False)
class State:
    """Time, coordinates, speeds and other states."""

    t: float
    q: Array
    u: Array
    z: Array

    @property
    def y(self) -> Array:
        """All of it as one vector [q, u, z]."""
        return np.concatenate([self.q, self.u, self.z])


@dataclass(frozen=True, eq=False)
class Wrench:
    """A force and a moment: on which body, about which point, in whose axes.

    ``unique`` if no other is possible; where some components are and others are not, ``components`` tells of
    force x, y, z and moment x, y, z, as far as they are known apart, and ``shared`` by what the others were chosen:
    the compliance of joints, or least norm.
    """

    force: Array
    moment: Array
    on: str
    at: str
    frame: str
    unique: bool = True
    components: tuple[bool, ...] | None = None
    shared: str = ""


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
