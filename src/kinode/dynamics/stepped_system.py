"""What a compiled system offers for callers with a clock of their own: a single step, and a stepper."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from kinode.hooks import hook
from kinode.kernels.state import State


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
