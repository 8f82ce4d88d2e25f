"""Trajectory: the result of a simulation, as its users see it.

States, named quantities and relative motion are in ``run_quantities``.  Here is what else can be asked of a run, each
with the module that computes it.  That is imported when it is first asked for: many runs are asked for their states
alone.  Views are drawn by later packages (``hooks.py``).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from kinode.algebra.scalars import Array
from kinode.hooks import hook
from kinode.kernels.state import Wrench
from kinode.results.run_quantities import RunQuantities

if TYPE_CHECKING:
    import xarray

    from kinode.results.causes import AccelerationCauses, Causes
    from kinode.results.drive_sizing import Sizing
    from kinode.results.energy_audit import Audit
    from kinode.results.load_spectra import Resonance, Spectrum
    from kinode.results.run_balance import RunBalance
    from kinode.results.run_frames import RunFrames
    from kinode.results.sensitivity import Tolerance
    from kinode.results.shaft_loads import Bearing, Pressure

LEAST, MOST = 300, 3600  # pictures of a run, where nothing else is asked for
Names = Iterable[str] | None


class Trajectory(RunQuantities):
    """The result of a simulation: times, states, and all quantities that follow from them, by name.

    ``run["elbow.q"]`` is an array (time, ...) in SI; ``run.names()`` lists all names.

    Attributes
    ----------
    t : array
        Times, s.
    status : str
        "done", "condition" (``stop_when`` became true), "stopped" (by the user) or "failed".
    message : str
        The status in words.
    ending : Ending
        How the run ended: ``kind``, ``time``, ``component``, ``message``.
    events : tuple of Event
        Changes of modes, resets, passes of singular positions.
    facts : dict
        Solver statistics: method, tolerances, steps, evaluations, seconds of computing.

    Examples
    --------
    >>> run = kn.simulate(kn.load("examples/pendulum.yaml"), 1.0, samples=101)
    >>> run["pivot.q"].shape, run.units("pivot.q"), run.status
    ((101,), 'rad', 'done')
    """

    @cached_property
    def audit(self) -> Audit:
        """The energy audit: change of the mechanical energy against the work done."""
        from kinode.results.energy_audit import compute_audit

        return compute_audit(self)

    # -- loads and motion --------------------------------------------------------------------------
    def reaction(
        self, joint: str, part: str = "total", *, hold: Any = None,
        on: Any = None, about: Any = None, expressed_in: Any = None,
    ) -> Wrench:  # fmt: skip
        """The reaction of a joint: force and moment of the constraint, zero along the freedoms.

        By default the wrench of the parent on the child, about the child's joint point, in the parent's joint axes.

        Parameters
        ----------
        joint : str
            The joint.
        part : {"total", "static", "kinetic"}
            The whole reaction; the share of the applied loads at the actual state, without inertia; or the share of
            inertia alone.
        hold : str or sequence of str, optional
            Joints that support the loops in the static share, if no drives do.
        on : body or str, optional
            The body that the wrench acts on, one of the two of the joint.
        about, expressed_in : body, frame or str, optional
            Another reference point, other axes.

        Returns
        -------
        Wrench
            ``force`` in N and ``moment`` in N*m, each (time, 3).

        Examples
        --------
        >>> run = kn.simulate(kn.load("examples/double_pendulum.yaml"), 0.1, samples=3)
        >>> run.reaction("elbow", part="kinetic").force.shape
        (3, 3)
        """
        from kinode.results import joint_loads

        return joint_loads.reaction(self, joint, part, on, about, expressed_in, whole=False, hold=hold)

    def wrench(
        self, joint: str, part: str = "total", *, hold: Any = None,
        on: Any = None, about: Any = None, expressed_in: Any = None,
    ) -> Wrench:  # fmt: skip
        """The whole wrench that a joint transmits: its reaction, and its effort along the freedoms.

        Parameters and result are those of ``reaction``.
        """
        from kinode.results import joint_loads

        return joint_loads.reaction(self, joint, part, on, about, expressed_in, whole=True, hold=hold)

    def causes(
        self, joint: str, by: str = "cause", *, hold: Any = None, about: Any = None, expressed_in: Any = None
    ) -> Causes:
        """The breakdown of the kinetic share of a joint's reaction.

        Parameters
        ----------
        joint : str
            The joint.
        by : {"cause", "body", "term"}
            By cause (angular acceleration, centrifugal, Coriolis, gyroscopic, sliding) or by term of the equations,
            both for trees of revolute and prismatic joints; or by body, for every system.
        hold : str or sequence of str, optional
            Joints that support the loops in the static share, if no drives do.
        about, expressed_in : body, frame or str, optional
            Another reference point, other axes.

        Returns
        -------
        Causes
            Prints as a table; ``.plot()`` stacks it over time.
        """
        from kinode.results.causes import compute_causes

        return compute_causes(self, joint, by, hold, about, expressed_in)

    def bearings(
        self, joint: str, at: tuple[Any, Any], part: str = "total", *, hold: Any = None, axial: str = "first"
    ) -> tuple[Bearing, Bearing]:
        """The forces of two bearings on the axis of a joint, which together carry its reaction.

        Parameters
        ----------
        joint : str
            A revolute or cylindrical joint.
        at : tuple of two
            Positions of the bearings along the axis, from the child's joint point: m, or text such as "40 mm".
        part : {"total", "static", "kinetic"}
            The whole reaction; the share of the applied loads at the actual state, without inertia; or the share of
            inertia alone.
        hold : str or sequence of str, optional
            Joints that support the loops in the static share, if no drives do.
        axial : {"first", "second"}
            The bearing that takes the axial force.

        Returns
        -------
        tuple of two Bearing

        Examples
        --------
        >>> run = kn.simulate(kn.load("examples/rotor.yaml"), 0.04, samples=5)
        >>> first, second = run.bearings("shaft", at=("-15 cm", "15 cm"))
        >>> print(first.life("25 kN"))
        P = 125.9 N, C = 25000 N, p = 3: L10 = 7.836e+06 million turns, 4.353e+07 h at 3000 rpm
        """
        from kinode.results.shaft_loads import bearings

        return bearings(self, joint, at, part, hold, axial)

    def pressure(self, joint: str, part: str = "kinetic", *, hold: Any = None) -> Pressure:
        """The force of a shaft on its parent: magnitude and direction, in fixed and in rotating axes.

        Parameters
        ----------
        joint : str
            A revolute or cylindrical joint.
        part : {"kinetic", "total", "static"}
            The whole reaction; the share of the applied loads at the actual state, without inertia; or the share of
            inertia alone.
        hold : str or sequence of str, optional
            Joints that support the loops in the static share, if no drives do.

        Returns
        -------
        Pressure
        """
        from kinode.results.shaft_loads import compute_pressure

        return compute_pressure(self, joint, part, hold)

    def spectrum(
        self, joint: str, part: str = "kinetic", *, of: str = "force", over: str = "time", hold: Any = None,
        expressed_in: Any = None,
    ) -> Spectrum:  # fmt: skip
        """The amplitude spectrum of a joint's reaction.

        Parameters
        ----------
        joint : str
            The joint.
        part : {"kinetic", "total", "static"}
            The whole reaction; the share of the applied loads at the actual state, without inertia; or the share of
            inertia alone.
        of : {"force", "moment"}
            What to analyze.
        over : {"time", "turns"}
            Over frequency in Hz, or over orders of the rotation of the shaft.
        hold : str or sequence of str, optional
            Joints that support the loops in the static share, if no drives do.
        expressed_in : body, frame or str, optional
            Other axes.

        Returns
        -------
        Spectrum
        """
        from kinode.results.load_spectra import compute_spectrum

        return compute_spectrum(self, joint, part, of, over, expressed_in, hold)

    def resonance(
        self, joint: str, frequency: str, part: str = "kinetic", *, of: str = "force", within: float = 0.2,
        hold: Any = None, expressed_in: Any = None,
    ) -> Resonance:  # fmt: skip
        """Whether a joint's load excites a natural frequency, and the distance to the nearest spectral line.

        Parameters
        ----------
        joint : str
            The joint.
        frequency : str
            The natural frequency with its unit: "50 Hz", "3000 rpm".
        within : float
            Share of the frequency within which a line excites it; default 0.2.
        part, of, hold, expressed_in
            As in ``spectrum``.

        Returns
        -------
        Resonance
        """
        from kinode.results.load_spectra import compute_resonance

        return compute_resonance(self, joint, frequency, part, of, within, expressed_in, hold)

    def sizing(self) -> Sizing:
        """What motor and gear of each drive have to give; prints as a table.

        On the motor's side the inertia and losses of the rotor count; on the output side is what reaches the links.

        Examples
        --------
        >>> run = kn.simulate(kn.load("examples/slider_crank.yaml"), 0.02, samples=101)
        >>> round(run.sizing()["main"].motor.effort.peak, 1)
        18.2
        """
        from kinode.results.drive_sizing import compute_sizing

        return compute_sizing(self)

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
        from kinode.results.run_balance import compute_balance

        return compute_balance(self, of, about)

    def acceleration_by_cause(self, of: Any, by: str = "tier", *, expressed_in: Any = None) -> AccelerationCauses:
        """The breakdown of the acceleration of a point: relative, tangential, centripetal and Coriolis terms.

        Parameters
        ----------
        of : body, frame or str
            A body or frame; the point is its origin.
        by : {"tier", "segment"}
            By the joint whose motion causes it, or by the radius vectors from joint to joint.
        expressed_in : body, frame or str, optional
            The axes of the result; default is the world.

        Returns
        -------
        AccelerationCauses
            Prints as a table; ``.plot()`` stacks it over time.
        """
        from kinode.results.causes import acceleration_by_cause

        return acceleration_by_cause(self, of, by, expressed_in)

    # -- derivatives -------------------------------------------------------------------------------
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
        from kinode.results.sensitivity import find_sensitivity

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
        from kinode.results.sensitivity import find_tolerance

        return find_tolerance(self, spread, of, check, seed)

    # -- views -------------------------------------------------------------------------------------
    def frames(
        self, rate: float | None = None, *, names: Iterable[str] = (), hold: Any = None, least: int = LEAST,
        most: int = MOST,
    ) -> RunFrames:  # fmt: skip
        """Poses of all bodies and loads of all joints at even times, as a moving view needs them.

        A run keeps the states that were asked for, which may be few.  Where they are not close enough together, the
        run is repeated with its own method and tolerances and kept at the times of the pictures.

        Parameters
        ----------
        rate : float, optional
            Pictures for each second of the run.  By default 60, but at least ``least`` and at most ``most`` in all.
        names : iterable of str, optional
            Quantities, or expressions of them, to be evaluated at the same times.
        hold : str or sequence of str, optional
            Joints that support the loops in the static share, if no drives do.
        least, most : int
            Bounds of the number of pictures where no rate is given.

        Returns
        -------
        RunFrames

        Examples
        --------
        >>> run = kn.simulate(kn.load("examples/double_pendulum.yaml"), 1.0, samples=3)
        >>> frames = run.frames(50, names=["elbow.q"])
        >>> frames.poses.shape, frames.loads["static"].shape, frames["elbow.q"].shape
        ((2, 7, 51), (2, 6, 51), (51,))
        """
        from kinode.results.picture_states import find_picture_run, find_picture_times
        from kinode.results.run_frames import prepare_frames

        evaluator = prepare_frames(self.dynamics, names, hold=hold)
        times = find_picture_times(self, rate, least, most)
        pictures = find_picture_run(self, times)
        if pictures.run.dynamics is not self.dynamics:  # repeated with other independent constraint rows
            evaluator = prepare_frames(pictures.run.dynamics, names, hold=hold)
        return evaluator(pictures.run, notes=pictures.notes)

    def _repr_html_(self) -> str:
        return str(hook("notebook_html")(self))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """The player, for notebooks that show widgets; text and table have methods of their own."""
        return dict(hook("run_bundle")(self))

    def plot(self, *names: str, **options: Any) -> Any:
        """Plot quantities over time.

        Parameters
        ----------
        *names : str
            Names of quantities; default are the coordinates.
        **options
            Options of ``kinode.views.plots.time_plots.plot``.

        Returns
        -------
        matplotlib.figure.Figure
        """
        return hook("plot")(self, *names, **options)

    def report(self, folder: str | os.PathLike[str], **options: Any) -> Any:
        """Write a report: one HTML file with summary, plots, loads and energy audit.

        Parameters
        ----------
        folder : str or path
            The folder of the report.
        **options
            Options of ``kinode.report.run_report.report``.

        Returns
        -------
        Path
        """
        return hook("report")(self, folder, **options)

    def view(self, file: str | os.PathLike[str] | None = None, **options: Any) -> Any:
        """Show the run moving, with the loads in its joints.

        Parameters
        ----------
        file : str or path, optional
            An .html file to write, which needs nothing else; else a notebook shows the player, a script a browser.
        **options
            Options of ``kinode.studio.live.view.view``.

        Returns
        -------
        Path, or what a notebook shows
        """
        return hook("view")(self, file, **options)

    # -- files -------------------------------------------------------------------------------------
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write states, parameters and the model to a NetCDF file; ``kn.Trajectory.load`` needs nothing else.

        Parameters
        ----------
        path : str or path
            The file, such as "arm.nc".
        """
        from kinode.results.run_files import save

        save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, trust: bool = False) -> Trajectory:
        """Read a run from the file that ``save`` wrote.

        Parameters
        ----------
        path : str or path
            The file.
        trust : bool, default False
            Whether FMUs that the model of the run names may be loaded: they are code.

        Returns
        -------
        Trajectory
        """
        from kinode.results.run_files import load_run

        return load_run(path, trust)

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

        return to_xarray(self, names)

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

        to_csv(self, path, names)

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
        from kinode.results.run_tables import to_excel

        to_excel(self, path, names)

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
        from kinode.results.run_tables import to_mat

        to_mat(self, path, names)
