"""``run.balance``: what acts on a body or on the system, and what its motion needs, about any frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kinode.results.run_quantities import RunQuantities

if TYPE_CHECKING:
    from kinode.results.frame_balances.run_balance import RunBalance


class BalancedRun(RunQuantities):
    """A run whose balances can be asked for."""

    def balance(self, of: Any = "system", about: Any = "world") -> RunBalance:
        """Both sides of the balance of force and moment of a body, or of the system, term by term.

        The terms of the motion are those that ``kn.equations(system, frame=...)`` prints: of the origin of the frame
        (acceleration, turning), relative, Euler, Coriolis, centrifugal, and of the moment of momentum.

        Parameters
        ----------
        of : body or str
            The body, or "system" (default).
        about : body, frame or str
            The frame, which may move at will: moments are about its origin, components in its axes.

        Returns
        -------
        RunBalance
            Prints as a table; ``.acting``, ``.motion``, ``.residual``; ``.plot()`` stacks both sides over time.

        Examples
        --------
        >>> run = kn.simulate(kn.load("examples/double_pendulum.yaml"), 0.1, samples=3)
        >>> balance = run.balance("lower", about="upper")
        >>> balance.motion.forces["Coriolis"].shape, balance.residual < 1e-12
        ((3, 3), True)
        """
        from kinode.results.frame_balances.both_sides import compute_balance  # few runs need the printed terms

        return compute_balance(self, of, about)
