"""Trajectory: the result of a simulation.

The states and all named quantities are in ``run_quantities``.  Loads in joints are computed in ``joint_loads``; their
evaluation for design in ``reaction_causes``, ``shaft_loads``, ``bearings``, ``load_spectra``, ``sizing``; motion
relative to moving frames in ``relative_motion``; the energy audit in ``energy_audit``; files in ``run_files``.  Each is
imported when it is first asked for: many runs are asked for their states alone.
"""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING, Any

from kinode.algebra.scalars import Array
from kinode.kernels.state import Wrench
from kinode.results.written_tables.written_run import WrittenRun

if TYPE_CHECKING:
    from kinode.results.acceleration_causes import AccelerationCauses
    from kinode.results.energy_audit import Audit
    from kinode.results.reaction_causes import Causes
    from kinode.results.shafts.bearings import Bearing
    from kinode.results.shafts.load_spectra import Resonance, Spectrum
    from kinode.results.shafts.shaft_loads import Pressure
    from kinode.results.sizing.drive_sizing import Sizing


class Trajectory(WrittenRun):
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
        from kinode.results.reaction_causes import compute_causes

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
        from kinode.results.shafts.bearings import bearings

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
        from kinode.results.shafts.shaft_loads import compute_pressure

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
        from kinode.results.shafts.load_spectra import compute_spectrum

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
        from kinode.results.shafts.load_spectra import compute_resonance

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
        from kinode.results.sizing.drive_sizing import compute_sizing

        return compute_sizing(self)

    def position(self, of: Any, relative_to: Any = None, expressed_in: Any = None) -> Array:
        """Position of the origin of a body or frame relative to another.

        Parameters
        ----------
        of : body, frame or str
            The body or frame.
        relative_to : body, frame or str, optional
            The observer, which may move and rotate; default is the world.
        expressed_in : body, frame or str, optional
            The axes of the result; default are those of the observer.

        Returns
        -------
        array
            (time, 3), m.

        Examples
        --------
        >>> run = kn.simulate(kn.load("examples/double_pendulum.yaml"), 0.1, samples=3)
        >>> run.position("lower", relative_to="upper").shape
        (3, 3)
        """
        from kinode.results import relative_motion

        return relative_motion.motion(self, "position", of, relative_to, expressed_in)

    def velocity(self, of: Any, relative_to: Any = None, expressed_in: Any = None) -> Array:
        """Velocity relative to a moving and rotating observer, (time, 3), m/s; parameters as in ``position``."""
        from kinode.results import relative_motion

        return relative_motion.motion(self, "velocity", of, relative_to, expressed_in)

    def acceleration(self, of: Any, relative_to: Any = None, expressed_in: Any = None) -> Array:
        """Acceleration relative to a moving and rotating observer, (time, 3), m/s^2; parameters as in ``position``."""
        from kinode.results import relative_motion

        return relative_motion.motion(self, "acceleration", of, relative_to, expressed_in)

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
        from kinode.results.acceleration_causes import acceleration_by_cause

        return acceleration_by_cause(self, of, by, expressed_in)

    def angular_velocity(self, of: Any, relative_to: Any = None, expressed_in: Any = None) -> Array:
        """Angular velocity relative to another body or frame, (time, 3), rad/s; parameters as in ``position``."""
        from kinode.results import relative_motion

        return relative_motion.motion(self, "angular_velocity", of, relative_to, expressed_in)

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
