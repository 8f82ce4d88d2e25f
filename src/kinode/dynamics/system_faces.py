"""What ``Dynamics`` offers beside its equations: bodies and frames, steps, functions for other programs.

Each frame that is asked for its pose, Jacobian or rate of the Jacobian gets a built-in function of machine code
(``jit/python_function.py``), which is kept: to read a name and to check arguments would take ten times as long as the
numbers themselves.  A step and a stepper serve callers with a clock of their own.  Other programs are CasADi, JAX and
PyTorch.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.mode_fitting import needs_modes
from kinode.hooks import hook
from kinode.jit.python_function import make_callable, prepare_wrapper
from kinode.kernels.compiled_kernels import Kernels
from kinode.kernels.kernel_options import Kernel
from kinode.kernels.state import State

if TYPE_CHECKING:
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
            from kinode.dynamics.derivatives.directed_calls import is_quantity

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
        from kinode.dynamics.derivatives.directed_calls import read_position

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
        from kinode.dynamics.derivatives.directed_calls import CallPoint, find_second

        return find_second(self.dynamics, self.name, {"q": u}, None, CallPoint(t, q, u, None, z, p, inputs))


def _tell_none(*_: Any) -> Array:
    """What stands for no result: no quantity has no entries."""
    return np.empty(0)


class SteppedSystem:
    """Base of ``Dynamics``: steps of fixed length, by the loops of ``kn.simulate``."""

    def step(self, state: State, dt: float, *, p: Any = None, inputs: Any = None) -> State:
        """The state a time dt later, by one classical Runge-Kutta step with its events.

        ``kn.simulate`` controls the error; ``stepper`` takes steps one after the other in less time.
        """
        new: State = self._steppers.own.advance(state, dt, p, inputs)
        return new

    @cached_property
    def _steppers(self) -> Any:
        return hook("find_steppers")(self)

    def stepper(
        self, dt: float | str, *, method: str | None = None, start: Any = None, t0: Any = None,
        parameters: Any = None, inputs: Any = None, until: Any = None, **tolerances: Any,
    ) -> Any:  # fmt: skip
        """The system in motion, advanced by the caller: for hardware in the loop, games, controllers in Python.

        Parameters
        ----------
        dt : float or str
            Length of a step in s, or text with a unit ("1 ms").
        method : str, optional
            "rk4" (one step of equal work, the default), or "dopri5", "dop853", "stiff", which take as many steps within
            ``dt`` as their tolerance needs.
        start : mapping or State, optional
            Initial values by name in place of the model's, or a state.
        t0 : float or str, optional
            Time of the start; 0, or that of a state.
        parameters, inputs : mapping or array, optional
            First values, by name or all.
        until : float or str, optional
            Time up to which jumps of laws of time are found before the first step. Later ones are found in pauses of
            some milliseconds, as soon as they are needed: give the end of the session to have none.
        rtol, atol : float, optional
            Tolerances of a method that chooses its steps.

        Returns
        -------
        Stepper
            ``stepper.step(inputs)`` advances it; ``q``, ``u``, ``z``, ``t`` are its present state.

        Examples
        --------
        >>> stepper = kn.compile(kn.load("examples/pendulum.yaml")).stepper("1 ms")
        >>> for _ in range(1000):
        ...     stepper.step()
        >>> float(stepper.q[0].round(3)), round(stepper.t, 9)
        (-3.133, 1.0)
        """
        options = {"method": method, "start": start, "t0": t0, "parameters": parameters, "inputs": inputs}
        return hook("make_stepper")(self, dt, until=until, **options, **tolerances)


class ExchangedSystem:
    """Base of ``Dynamics``: the same functions in the form that another program takes."""

    def to_casadi(self, outputs: str | Iterable[str] = ()) -> Any:
        """The system as CasADi functions, whose derivatives of any order CasADi makes itself.

        All take t, q, u, z, p, inputs and ``effort`` (N or N m along the speeds, added to the model's own laws), in the
        order of ``coordinates``, ``topology.parameters`` and ``topology.inputs``; SI units.

        Parameters
        ----------
        outputs : name or names, optional
            Quantities such as ``"tool.position"`` or ``"elbow.reaction.force"``, or ``"energy"``, ``"bias"``.

        Returns
        -------
        CasadiFunctions
            ``rate`` (q_dot, u_dot, z_dot), ``outputs``, ``reactions``, ``effort`` (inverse dynamics), ``closure``
            (constraint equations); ``print`` lists all arguments with names and units.

        Examples
        --------
        >>> dynamics = kn.compile(kn.load("examples/double_pendulum.yaml"))
        >>> functions = dynamics.to_casadi("lower.position")
        >>> at = functions.arguments(q=[0.1, 0.2], effort=[1.0, 0.0])
        >>> u_dot = functions.rate(**at)["u_dot"].full().ravel()
        >>> bool(abs(u_dot - dynamics.acceleration(0.0, [0.1, 0.2], [0.0, 0.0], effort=[1.0, 0.0])).max() < 1e-12)
        True
        """
        return hook("to_casadi")(self, outputs)

    def to_jax(self, of: str | Iterable[str] = "rate") -> Any:
        """The system as a function of JAX, with exact derivatives, under ``jit``, ``grad`` and ``vmap``.

        Parameters
        ----------
        of : name or names, default "rate"
            As in ``derivatives``: ``rate`` ([q_dot, u_dot, z_dot]), ``u_dot``, ``effort`` (inverse dynamics), or
            quantities such as ``"tool.position"``.

        Returns
        -------
        JaxFunction
            ``f(t, q, u, z, p, inputs, effort)``, all by position or name; what is not given has the model's own values.
        """
        return hook("to_jax")(self, of)

    def to_torch(self, of: str | Iterable[str] = "rate") -> Any:
        """The system as a function of PyTorch, with exact first derivatives; leading dimensions are a batch.

        Parameters
        ----------
        of : name or names, default "rate"
            As in ``to_jax``.

        Returns
        -------
        TorchFunction
            ``f(t, q, u, z, p, inputs, effort)``, all by position or name; what is not given has the model's own values.
        """
        return hook("to_torch")(self, of)
