"""Methods of a run that write it for other programs."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

from kinode.results.sensitivities.differentiated_run import DifferentiatedRun

if TYPE_CHECKING:
    import xarray

    from kinode.results.trajectory import Trajectory

Names = Iterable[str] | None


class WrittenRun(DifferentiatedRun):
    """A run that can be written as a table: xarray, CSV, Excel, MATLAB."""

    def to_xarray(self, names: Names = None) -> xarray.Dataset:
        """Quantities over time as an xarray Dataset, with units.

        Parameters
        ----------
        names : iterable of str, optional
            Names of quantities; default are coordinates and speeds of all joints, other states, and the joint loads.

        Returns
        -------
        xarray.Dataset
        """
        from kinode.results.run_files import to_xarray

        return to_xarray(cast("Trajectory", self), names)

    def to_csv(self, path: str | os.PathLike[str], names: Names = None) -> None:
        """Write quantities over time as a CSV table, with units in the header.

        Parameters
        ----------
        path : str or path
            The file.
        names : iterable of str, optional
            Names of quantities; default as in ``to_xarray``.
        """
        from kinode.results.run_files import to_csv

        to_csv(cast("Trajectory", self), path, names)

    def to_excel(self, path: str | os.PathLike[str], names: Names = None) -> None:
        """Write quantities over time as an Excel file: what run it is, then a sheet for each component, with units.

        Takes openpyxl: ``pip install 'kinode[excel]'``.

        Parameters
        ----------
        path : str or path
            The file, such as "arm.xlsx".
        names : iterable of str, optional
            Names of quantities; default as in ``to_xarray``.

        Examples
        --------
        >>> run = kn.simulate(kn.load("examples/double_pendulum.yaml"), 0.1, samples=3)
        >>> run.to_excel("swing.xlsx", ["elbow.q", "elbow.reaction.force"])
        """
        from kinode.results.written_tables.excel_runs import to_excel

        to_excel(cast("Trajectory", self), path, names)

    def to_mat(self, path: str | os.PathLike[str], names: Names = None) -> None:
        """Write quantities over time for MATLAB and Octave: a struct for each component, with units.

        Parameters
        ----------
        path : str or path
            The file, such as "arm.mat".  In MATLAB ``load arm.mat; plot(t, elbow.q)``; ``units.elbow.q`` is the unit.
        names : iterable of str, optional
            Names of quantities; default as in ``to_xarray``.

        Examples
        --------
        >>> run = kn.simulate(kn.load("examples/double_pendulum.yaml"), 0.1, samples=3)
        >>> run.to_mat("swing.mat", ["elbow.q", "elbow.reaction.force"])
        """
        from kinode.results.written_tables.mat_runs import to_mat

        to_mat(cast("Trajectory", self), path, names)
