"""What ``Dynamics`` offers beside its equations: bodies and frames, steps, functions for other programs.

A step and a stepper serve callers with a clock of their own.  Other programs are CasADi, JAX and
PyTorch.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.direct_calls import Function, KnownFunctions, fast, make_direct
from kinode.hooks import hook
from kinode.kernels.kernel_options import Kernel
from kinode.kernels.state import State

if TYPE_CHECKING:
    from kinode.dynamics.compiled_system import Dynamics


class FrameMethods:
    """Base of ``Dynamics``: functions of a body or frame."""

    functions: KnownFunctions

    @fast
    def pose(self, of: Any, t: Any, q: Any, *, z: Any = None, p: Any = None, inputs: Any = None) -> tuple[Array, Array]:
        """Rotation (to world axes) and position of a body or frame."""
        rotation, position = self._frame_function("pose", of, [(3, 3), (3,)])(t, q, z=z, p=p, inputs=inputs)
        return rotation, position

    @fast
    def jacobian(
        self, of: Any, t: Any, q: Any, *, z: Any = None, p: Any = None, inputs: Any = None
    ) -> tuple[Array, Array]:
        """Angular and linear velocity of a body or frame, in world axes, for unit speeds: two 3 x n_u matrices."""
        shape = (3, cast("Dynamics", self).n_u)
        angular, linear = self._frame_function("jacobian", of, [shape, shape])(t, q, z=z, p=p, inputs=inputs)
        return angular, linear

    @fast
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
        from kinode.dynamics.derivatives.directed_calls import is_quantity

        known, dynamics = self.functions["jacobian_rate"], cast("Dynamics", self)
        if type(of) is str and of not in known and is_quantity(dynamics, of):
            known[of] = _make_rate(dynamics, of)
        function = self._frame_function("jacobian_rate", of, [(3,), (3,)])
        rates: tuple[Array, Array] | Array = function(t, q, u, z=z, p=p, inputs=inputs)
        return rates

    def _frame_function(self, kind: str, of: Any, shapes: list[tuple[int, ...]]) -> Function:
        """The function of a kind for a frame: a tuple of parts with these shapes."""
        known, dynamics = self.functions[kind], cast("Dynamics", self)
        if type(of) is str and of in known:
            return known[of]
        name = dynamics.arguments.placed_frame_name(of)
        if name not in known:
            kernel, roles = Kernel(kind, (name,)), ("t", "q", "u") if kind == "jacobian_rate" else ("t", "q")
            known[name] = make_direct(dynamics, kernel, roles, shapes, _take_any(dynamics, kernel, shapes))
        return known[name]


def _take_any(dynamics: Dynamics, kernel: Kernel, shapes: list[tuple[int, ...]]) -> Function:
    """The function for arguments of any kind; a batch of states has a result for each."""
    ends = np.cumsum([math.prod(shape) for shape in shapes])

    def parts(*args: Any) -> tuple[Array, ...]:
        pieces = np.split(dynamics.call_kernel(kernel, *args), ends[:-1], axis=-1)
        return tuple(x.reshape(*x.shape[:-1], *shape) for x, shape in zip(pieces, shapes, strict=True))

    def at(t: Any, q: Any, *, z: Any = None, p: Any = None, inputs: Any = None) -> tuple[Array, ...]:
        return parts(t, q, None, z, p, inputs)

    def moving(t: Any, q: Any, u: Any, *, z: Any = None, p: Any = None, inputs: Any = None) -> tuple[Array, ...]:
        return parts(t, q, u, z, p, inputs)

    return moving if kernel.name == "jacobian_rate" else at


def _make_rate(dynamics: Dynamics, name: str) -> Function:
    """J_dot u of a quantity that positions determine: its second derivative along the speeds, twice."""
    from kinode.dynamics.derivatives.directed_calls import CallPoint, find_second, read_position

    request, still = read_position(dynamics, name), np.zeros(dynamics.n_u)
    kernel, shape = Kernel("second_derivatives", request.options), request.of[name]
    direct = make_direct(dynamics, kernel, ("t", "q", "u", "x"), None, _tell_none)

    def rate(t: Any, q: Any, u: Any, *, z: Any = None, p: Any = None, inputs: Any = None) -> Array:
        """The rate at a state, or at each of a batch."""
        if z is p is inputs is None and type(u) is np.ndarray and u.shape == still.shape:
            values = direct(t, q, u, np.concatenate((still, u, u)))
            if values.size:  # else an argument is not what machine code takes
                return np.reshape(values, shape)
        return find_second(dynamics, name, {"q": u}, None, CallPoint(t, q, u, None, z, p, inputs))

    return rate


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
