"""A run that may have been differentiated while it was simulated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

from kinode.results.shown_run import ShownRun

if TYPE_CHECKING:
    from kinode.algebra.scalars import Array
    from kinode.results.sensitivities.tolerance import Tolerance
    from kinode.results.trajectory import Trajectory


class DifferentiatedRun(ShownRun):
    """A run with the derivatives of its quantities, if ``sensitivity=`` was given to ``kn.simulate``."""

    def sensitivity(self, of: str, by: str) -> Array:
        """The derivative of a quantity by a parameter, an input or an initial value, along the run.

        It is that at fixed times: at an event whose time moves, it jumps as the quantity does.

        Parameters
        ----------
        of : str
            Name of a quantity, such as "elbow.q" or "elbow.reaction.force", or an expression of scalar ones.
        by : str
            One of the names in ``sensitivity=`` of ``kn.simulate``.

        Returns
        -------
        array
            (time, ...) in SI: the unit of the quantity divided by that of ``by``.

        Raises
        ------
        ArgumentError
            The run was not differentiated by that name, or the derivative does not exist to its end.

        Examples
        --------
        >>> run = kn.simulate(kn.load("examples/pendulum.yaml"), 1.0, samples=11, sensitivity=["pivot.q"])
        >>> run.sensitivity("pivot.q", "pivot.q")[0]
        np.float64(1.0)
        """
        from kinode.results.sensitivities.run_sensitivity import find_sensitivity

        return find_sensitivity(self, of, by)

    def tolerance(
        self, spread: Mapping[str, Any], of: str | Iterable[str] | None = None, *, check: int = 0, seed: int = 0
    ) -> Tolerance:
        """How far results spread where parameters do, to first order: standard deviations and the share of each.

        Parameters
        ----------
        spread : mapping
            For names in ``sensitivity=`` of ``kn.simulate`` one standard deviation, in SI or as text with a unit
            ("0.1 mm"); with a sign, "+-0.1 mm", the limits, which are three standard deviations wide.
        of : str or sequence of str, optional
            Quantities by name; the reactions of all joints by default. A vector counts by its magnitude.
        check : int, default 0
            Runs with drawn values, whose peaks stand beside the first-order ones.
        seed : int, default 0
            Another number draws other values.

        Returns
        -------
        Tolerance
            Prints as a table; ``.plot()`` draws the courses with their bands.

        Raises
        ------
        ArgumentError
            The run was not differentiated by a name, or a value is wrong.

        Examples
        --------
        >>> run = kn.simulate(kn.load("examples/double_pendulum.yaml"), 0.5, samples=51, sensitivity=["L", "elbow.q"])
        >>> loads = run.tolerance({"L": "+-5 mm", "elbow.q": "0.2 deg"}, "elbow.reaction.force")
        >>> spread = loads["elbow.reaction.force"]
        >>> round(spread.peak, 1), round(spread.peak_sigma, 2), round(spread.shares["L"], 1)
        (11.7, 0.06, 0.4)
        """
        from kinode.results.sensitivities.tolerance import find_tolerance

        return find_tolerance(cast("Trajectory", self), spread, of, check, seed)
