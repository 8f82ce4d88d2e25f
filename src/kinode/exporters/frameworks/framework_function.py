"""What the functions of all frameworks that call back share: arguments, entries, the parts of a result.

A function is called as ``f(q=q, u=u, effort=tau)``; what is not given has the model's own values.  Values and Jacobians
are computed by machine code (``CalledFunction``); each framework adds how it calls back, and its rule of derivatives.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from kinode.errors import ArgumentError
from kinode.exporters.frameworks.called_function import CalledFunction
from kinode.optional_packages import need

if TYPE_CHECKING:
    from kinode.dynamics.compiled_system import Dynamics


class FrameworkFunction:
    """A compiled system as a function of a framework.

    Attributes
    ----------
    words : tuple of str
        The arguments in order: t, q, u, z, p, inputs, effort (of inverse dynamics u_dot).
    entries : mapping of str to tuple
        Names, SI units and own values of the entries of each argument.
    shapes : dict
        The shape of each name; one name gives an array of its shape, several give a dictionary.
    """

    package: ClassVar[str]
    """The framework: its package, its extra, and the end of the method's name."""

    def __init__(self, dynamics: Dynamics, of: str | Iterable[str]) -> None:
        self.framework = need(self.package, self.package, f"to_{self.package}")
        self.called = CalledFunction(dynamics, of)
        self.words, self.entries, self.shapes = self.called.words, self.called.entries, self.called.shapes
        self.single = isinstance(of, str)

    def __reduce__(self) -> tuple[Any, ...]:
        dynamics = self.called.dynamics
        return type(self), (dynamics, self.called.names[0] if self.single else self.called.names)

    def __deepcopy__(self, memo: object) -> FrameworkFunction:
        """Itself: nothing of it changes.  A network that has it among its parts can be copied."""
        return self

    @classmethod
    def refuse_twice(cls, *arguments: Any) -> Any:
        """What a second derivative comes to."""
        message = "second derivatives are not offered; dynamics.to_casadi() has derivatives of any order"
        raise ArgumentError(f"to_{cls.package}: {message}")

    def split(self, flat: Any, lead: tuple[int, ...] = ()) -> Any:
        """The result of each name, with leading dimensions, of one name by itself."""
        parts, start = {}, 0
        for name, shape in self.shapes.items():
            size = int(np.prod(shape, dtype=int))
            parts[name] = flat[..., start : start + size].reshape((*lead, *shape))
            start += size
        return next(iter(parts.values())) if self.single else parts
