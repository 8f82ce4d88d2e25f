"""What ``Dynamics`` says of a body or frame: pose, Jacobian, rate of the Jacobian.

Each name that is asked for gets a built-in function of machine code (``jit/python_calls``), which is kept: to read a
name and to check arguments would take ten times as long as the numbers themselves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.mode_fitting import needs_modes
from kinode.jit.python_calls.builtin_function import make_callable, prepare_wrapper
from kinode.kernels.compiled_kernels import Kernels
from kinode.kernels.kernel_options import Kernel

if TYPE_CHECKING:  # most runs ask for no frame by itself
    from kinode.dynamics.compiled_system import Dynamics

Function = Callable[..., Array]


class FrameMethods(ABC):
    """Base of ``Dynamics``: functions of a body or frame."""

    @property
    @abstractmethod
    def kernels(self) -> Kernels:
        """The compiled functions."""

    @cached_property
    def _frame_functions(self) -> dict[tuple[Kernels, str, str], Function]:
        return {}

    def pose(self, of: Any, t: Any, q: Any, *, z: Any = None, p: Any = None, inputs: Any = None) -> tuple[Array, Array]:
        """Rotation (to world axes) and position of a body or frame."""
        function = self._frame_function("pose", of)
        values = function(t, q) if z is p is inputs is None else function(t, q, z=z, p=p, inputs=inputs)
        return values[..., :9].reshape(*values.shape[:-1], 3, 3), values[..., 9:]

    def jacobian(
        self, of: Any, t: Any, q: Any, *, z: Any = None, p: Any = None, inputs: Any = None
    ) -> tuple[Array, Array]:
        """Angular and linear velocity of a body or frame, in world axes, for unit speeds: two 3 x n_u matrices."""
        function = self._frame_function("jacobian", of)
        values = function(t, q) if z is p is inputs is None else function(t, q, z=z, p=p, inputs=inputs)
        return values[..., :3, :], values[..., 3:, :]

    def jacobian_rate(
        self, of: Any, t: Any, q: Any, u: Any, *, z: Any = None, p: Any = None, inputs: Any = None
    ) -> tuple[Array, Array] | Array:
        """J_dot u: what the acceleration is while u_dot is zero.

        Of a body or frame angular and linear, in world axes, as ``jacobian`` gives J.  Of the name of a quantity that
        positions determine, such as ``"lower.position"``, the rate of its Jacobian times u.

        Examples
        --------
        >>> dynamics = kn.compile(kn.load("examples/double_pendulum.yaml"))
        >>> q, u = np.array([0.1, 0.2]), np.array([1.0, -0.5])
        >>> angular, linear = dynamics.jacobian_rate("lower", 0.0, q, u)
        >>> bool(abs(linear - dynamics.jacobian_rate("lower.position", 0.0, q, u)).max() < 1e-12)
        True
        """
        function = self._frame_function("jacobian_rate", of)
        values = function(t, q, u) if z is p is inputs is None else function(t, q, u, z=z, p=p, inputs=inputs)
        if isinstance(function, QuantityRate):
            return values
        return values[..., :3], values[..., 3:]

    def _frame_function(self, kind: str, of: Any) -> Function:
        """The function of a kind for a frame, or for the position of this name."""
        if type(of) is not str:
            return self._make_frame_function(kind, of)
        key = (self.kernels, kind, of)
        if (function := self._frame_functions.get(key)) is None:
            function = self._frame_functions[key] = self._make_frame_function(kind, of)
        return function

    def _make_frame_function(self, kind: str, of: Any) -> Function:
        dynamics = cast("Dynamics", self)
        if kind == "jacobian_rate" and isinstance(of, str):
            from kinode.dynamics.derivative_calls.directed_calls import is_quantity

            if is_quantity(dynamics, of):
                return QuantityRate(dynamics, of)
        kernel = Kernel(kind, (dynamics.arguments.placed_frame_name(of),))
        shape = (6, dynamics.n_u) if kind == "jacobian" else (12,) if kind == "pose" else (6,)
        takes_speeds = kind == "jacobian_rate"
        plain = _take_any(dynamics, kernel, shape, takes_speeds)
        if type(of) is not str:
            return plain
        return make_direct(dynamics, kernel, ("t", "q", "u") if takes_speeds else ("t", "q"), shape, plain)


def _take_any(dynamics: Dynamics, kernel: Kernel, shape: tuple[int, ...], takes_speeds: bool) -> Function:
    """The function for arguments of any kind; a batch of states has a result for each."""

    def of_positions(t: Any, q: Any, *, z: Any = None, p: Any = None, inputs: Any = None) -> Array:
        return dynamics.call_kernel(kernel, t, q, None, z, p, inputs, shape=shape)

    def of_speeds(t: Any, q: Any, u: Any, *, z: Any = None, p: Any = None, inputs: Any = None) -> Array:
        return dynamics.call_kernel(kernel, t, q, u, z, p, inputs, shape=shape)

    return of_speeds if takes_speeds else of_positions


def make_direct(
    dynamics: Dynamics, kernel: Kernel, roles: Sequence[str], shape: tuple[int, ...], plain: Function
) -> Function:
    """The built-in function of a kernel with the model's own parameters, inputs and other states; else ``plain``."""
    size = dynamics.n_u
    if size == 0 or needs_modes(dynamics.topology, kernel):
        return plain
    prepare_wrapper()
    own = {"p": dynamics.parameters, "inputs": dynamics.inputs, "z": dynamics.start.initial_values.z}
    defaults = {**own, "u": np.zeros(size)} if "u" not in roles else own
    return make_callable(dynamics.kernels.machine(kernel), roles, defaults, shape, plain, name=kernel.name)


class QuantityRate:
    """J_dot u of a quantity that positions determine: its second derivative along the speeds, twice."""

    def __init__(self, dynamics: Dynamics, name: str) -> None:
        from kinode.dynamics.derivative_calls.directed_calls import read_position

        request = read_position(dynamics, name)
        kernel = Kernel("second_derivatives", request.options)
        self.dynamics, self.name, self.shape = dynamics, name, request.of[name]
        self._still = np.zeros(dynamics.n_u)
        self._direct = make_direct(dynamics, kernel, ("t", "q", "u", "x"), request.shape[:1], _tell_none)

    def __call__(self, t: Any, q: Any, u: Any, *, z: Any = None, p: Any = None, inputs: Any = None) -> Array:
        """The rate at a state, or at each of a batch."""
        if z is p is inputs is None and type(u) is np.ndarray and u.shape == self._still.shape:
            values = self._direct(t, q, u, np.concatenate((self._still, u, u)))
            if values.size:  # else an argument is not what machine code takes
                return values.reshape(self.shape)
        from kinode.dynamics.derivative_calls.directed_calls import CallPoint, find_second

        return find_second(self.dynamics, self.name, {"q": u}, None, CallPoint(t, q, u, None, z, p, inputs))


def _tell_none(*_: Any) -> Array:
    """What stands for no result: no quantity has no entries."""
    return np.empty(0)
