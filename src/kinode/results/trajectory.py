"""Trajectory: what a simulation gives.  The states are stored; everything else is computed from them when asked for.

    run["elbow.q"]; run["elbow.reaction.force"]; run["lower.position@upper"]; run["system.energy"]

A quantity is computed once, by machine code, for all times at a time.  Joint loads are in joint_loads.py, and what
designers make of them in reaction_causes.py, shaft_loads.py, bearings.py and load_spectra.py; motion seen from moving
frames is in relative_motion.py, files in run_files.py, the energy audit in energy_audit.py.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compile import Dynamics
from kinode.dynamics.redundant_reactions import Analyses, ReactionSharing, StateBatch, share
from kinode.errors import ArgumentError
from kinode.expressions.units import DIMENSIONS
from kinode.hooks import hook
from kinode.kernels.state import State, Wrench
from kinode.model.base.parameters import Input, Parameter
from kinode.model.quantity_names import QuantityName, find_quantity
from kinode.model.system import System
from kinode.multibody.restraints.loop_statics import Support
from kinode.ode.event_spec import Fired
from kinode.ode.integrate import SingularPass
from kinode.results import joint_loads, relative_motion
from kinode.results.acceleration_causes import AccelerationCauses, acceleration_by_cause
from kinode.results.bearings import Bearing, bearings
from kinode.results.known_names import known_names
from kinode.results.load_spectra import Resonance, Spectrum, compute_resonance, compute_spectrum
from kinode.results.reaction_causes import Causes, compute_causes
from kinode.results.shaft_loads import Pressure, compute_pressure
from kinode.simulation.event_log import Event, count_events, find_events
from kinode.simulation.solver import StateHistory, split

if TYPE_CHECKING:
    import xarray

    from kinode.results.energy_audit import Audit


class Trajectory:
    """A run: times, states, and all quantities that follow from them, by name.

    ``status`` is done, condition (``stop_when`` became true), stopped (by the user) or failed; ``message`` says it in
    words.  ``events`` tells what happened on the way: changes of modes, jumps, passes of singular positions.
    ``facts`` says how the run was made: method, tolerances, steps, seconds of computing.
    """

    def __init__(
        self, dynamics: Dynamics, t: Array, y: Array, *, p: Any = None, inputs: Any = None,
        status: str = "done", message: str = "reached the end", end: State | None = None,
    ) -> None:  # fmt: skip
        self.dynamics = dynamics
        self.t, self.y = (np.ascontiguousarray(x, dtype=float) for x in (t, y))
        for array in (self.t, self.y):
            array.setflags(write=False)
        self.p, self.inputs = dynamics._vector("p", p), dynamics._vector("inputs", inputs)
        self.status, self.message = status, message
        self._passes: tuple[SingularPass, ...] = ()
        self._fired: tuple[Fired, ...] = ()
        self.facts: dict[str, Any] = {}
        self._end = end
        self._known: dict[str, Array] = {}
        self._shared: dict[tuple[str, Support], ReactionSharing] = {}

    @classmethod
    def from_motion(cls, dynamics: Dynamics, motion: StateHistory, message: str | None = None) -> Trajectory:
        """The trajectory of a motion."""
        run = cls(
            dynamics, motion.t, motion.y, p=motion.p, inputs=motion.inputs, status=motion.status,
            message=message or motion.message, end=split(dynamics, motion.t_end, motion.y_end),
        )  # fmt: skip
        run._passes, run._fired = motion.passes, motion.fired
        run.facts = {"steps": motion.steps, "evaluations": motion.evaluations}
        return run

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """What happened on the way, in the order of time: changes of modes, jumps, passes of singular positions.

        Who takes part in the last is found when it is asked for.
        """
        return find_events(self.dynamics, self._fired, self._passes, self.p, self.inputs)

    # -- states ------------------------------------------------------------------------------------
    @property
    def system(self) -> System:
        """The description that was simulated; ``parameters`` may have other values."""
        return self.dynamics.system

    @property
    def parameters(self) -> dict[str, float]:
        """Values of all parameters in this run."""
        values = dict(zip(self.dynamics.topology.parameters, self.p.tolist()))
        return self.system.parameter_values(values) if values else {}

    @property
    def input_values(self) -> dict[str, float]:
        """Values of the inputs in this run."""
        return dict(zip(self.dynamics.topology.inputs, self.inputs.tolist()))

    @property
    def q(self) -> Array:
        """Coordinates, a row for each time."""
        return self.y[:, : self.dynamics.n_q]

    @property
    def u(self) -> Array:
        """Speeds, a row for each time."""
        return self.y[:, self.dynamics.n_q : self.dynamics.n_q + self.dynamics.n_u]

    @property
    def z(self) -> Array:
        """Other states, a row for each time."""
        return self.y[:, self.dynamics.n_q + self.dynamics.n_u :]

    @property
    def end(self) -> State:
        """The last state that was reached, to go on from."""
        if self._end is not None:
            return self._end
        if not len(self):
            raise ArgumentError("the run holds no states")
        return split(self.dynamics, float(self.t[-1]), self.y[-1])

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        span = f"{self.t[0]:g} to {self.t[-1]:g} s, " if len(self) else ""
        met = f", {count_events(self.events)}" if self.events else ""
        return f"<Trajectory of {self.system.name!r}: {span}{len(self)} times, {self.status}{met}>"

    # -- quantities --------------------------------------------------------------------------------
    def __getitem__(self, name: str) -> Array:
        return self.evaluate([name])[name]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self.names()

    def __iter__(self) -> Iterator[str]:
        raise TypeError('a run is not a sequence: ask for a quantity, run["elbow.q"], or for run.names()')

    def evaluate(self, names: str | Iterable[str]) -> dict[str, Array]:
        """Several quantities at once, which compiles less than one after the other."""
        wanted = [names] if isinstance(names, str) else list(names)
        for name in wanted:
            if not isinstance(name, str):
                raise ArgumentError(f"the name of a quantity is expected, not {name!r}")
        missing = [name for name in dict.fromkeys(wanted) if name not in self._known]
        for name in list(missing):
            stored = self._stored(find_quantity(self.system, name))
            if stored is not None:
                self._known[name] = stored
                missing.remove(name)
        if missing:
            found = self.dynamics._evaluate(tuple(missing), self.states, self.shared)
            for name, value in found.items():
                joined = self._joined(find_quantity(self.system, name), value)
                joined.setflags(write=False)
                self._known[name] = joined
        return {name: self._known[name] for name in wanted}

    @property
    def arguments(self) -> dict[str, Array]:
        """What the functions of ``dynamics`` take: t, q, u, z, p, inputs."""
        return {"t": self.t, "q": self.q, "u": self.u, "z": self.z, "p": self.p, "inputs": self.inputs}

    @property
    def states(self) -> StateBatch:
        """The same as one record."""
        return StateBatch(**self.arguments)

    def shared(self, part: str = "total", hold: Support = None) -> ReactionSharing:
        """How reactions that are not unique are shared among all that holds."""
        if (part, hold) not in self._shared:
            self._shared[part, hold] = share(self.dynamics, self.states, part, hold, self._analyses)
        return self._shared[part, hold]

    @cached_property
    def _analyses(self) -> Analyses:
        return Analyses(self.dynamics, self.states, len(self))

    def _joined(self, name: QuantityName, value: Array) -> Array:
        """Angles of a joint that closes a loop are known within a turn: the turns are counted along the run."""
        if name.quantity != "q" or name.owner not in self.dynamics.topology.cut_names:
            return value
        kinds = name.dimension if isinstance(name.dimension, tuple) else (name.dimension,)
        turned = value.reshape(len(value), -1).copy()
        for k, kind in enumerate(kinds):
            if kind == "angle":
                turned[:, k] = np.unwrap(turned[:, k])
        return turned.reshape(value.shape)

    def _stored(self, name: QuantityName) -> Array | None:
        """A quantity that is a state, the time or a constant."""
        if name.sort == "time":
            return self.t
        if name.sort == "parameter":
            return np.full(len(self), self.parameters[name.owner])
        if name.sort == "input":
            return np.full(len(self), self.input_values[name.owner])
        if name.sort == "held":
            return self.z[:, next(c.index for c in self.dynamics.coordinates if c.name == name.text)]
        if name.sort != "joint" or name.quantity not in ("q", "u"):
            return None
        topology, offset = self.dynamics.topology, self.dynamics.n_q + self.dynamics.n_u
        places = {"q": (topology.q_of, 0), "u": (topology.u_of, self.dynamics.n_q)}
        where, start = places[name.quantity]
        if name.owner not in where:
            if name.quantity == "u" or name.owner not in topology.z_of:
                return None
            where, start = topology.z_of, offset
        found = self.y[:, start + where[name.owner].start : start + where[name.owner].stop]
        if name.part is not None:
            return found[:, name.part]
        return found if name.parts else found[:, 0]

    def names(self) -> list[str]:
        """Everything that can be asked for; vectors also by part (``.x``) and in other axes (``@frame``)."""
        return known_names(self.system)

    def units(self, name: str) -> str | tuple[str, ...]:
        """The SI unit of a quantity; a unit for each part where they differ."""
        found = find_quantity(self.system, name)
        if found.sort in ("parameter", "input"):
            record: Any = self.system[found.owner]
            known = isinstance(record, Parameter | Input) and record.dimension is not None
            return str(record.dimension.unit) if known else ""
        if found.sort == "signal":
            return ""
        if isinstance(found.dimension, str):
            return DIMENSIONS[found.dimension].unit
        each = tuple(DIMENSIONS[part].unit for part in found.dimension)
        return each[0] if len(set(each)) == 1 else each

    @cached_property
    def audit(self) -> Audit:
        """The energy audit: change of energy against the work done."""
        from kinode.results.energy_audit import compute_audit

        return compute_audit(self)

    # -- loads and motion --------------------------------------------------------------------------
    def reaction(
        self, joint: str, part: str = "total", *, hold: Any = None,
        on: Any = None, about: Any = None, expressed_in: Any = None,
    ) -> Wrench:  # fmt: skip
        """Force and moment in a joint: by the parent on the child, about its joint point, in the parent's axes.

        ``part`` is total, static (applied loads at the actual state, without inertia) or kinetic (inertia alone); for
        these ``hold`` names the joints that hold loops, where drives do not;
        ``on`` one of the two bodies, ``about`` a point and ``expressed_in`` axes: bodies or named frames.
        """
        return joint_loads.reaction(self, joint, part, on, about, expressed_in, whole=False, hold=hold)

    def wrench(
        self, joint: str, part: str = "total", *, hold: Any = None,
        on: Any = None, about: Any = None, expressed_in: Any = None,
    ) -> Wrench:  # fmt: skip
        """All that a joint transmits: its reaction, and its effort along the freedoms."""
        return joint_loads.reaction(self, joint, part, on, about, expressed_in, whole=True, hold=hold)

    def causes(
        self, joint: str, by: str = "cause", *, hold: Any = None, about: Any = None, expressed_in: Any = None
    ) -> Causes:
        """The kinetic part of a joint's reaction as a sum: by cause, by body or by term; printed, a table.

        Causes (angular acceleration, centrifugal, Coriolis, gyroscopic, sliding) and terms are known for trees of
        hinges and slides, bodies for every system.
        """
        return compute_causes(self, joint, by, hold, about, expressed_in)

    def bearings(
        self, joint: str, at: tuple[Any, Any], part: str = "total", *, hold: Any = None, axial: str = "first"
    ) -> tuple[Bearing, Bearing]:
        """The forces of two bearings on a joint's axis, at these distances from the child's joint point.

        Both carry radially, the first or the second carries axially; they hold the whole reaction of the joint.
        """
        return bearings(self, joint, at, part, hold, axial)

    def pressure(self, joint: str, part: str = "kinetic", *, hold: Any = None) -> Pressure:
        """What a shaft presses on its parent with: magnitude and direction, in fixed and turning axes."""
        return compute_pressure(self, joint, part, hold)

    def spectrum(
        self, joint: str, part: str = "kinetic", *, of: str = "force", over: str = "time", hold: Any = None,
        expressed_in: Any = None,
    ) -> Spectrum:  # fmt: skip
        """Amplitudes of a joint's force or moment over frequency, or over orders of the shaft: ``over="turns"``."""
        return compute_spectrum(self, joint, part, of, over, expressed_in, hold)

    def resonance(
        self, joint: str, frequency: str, part: str = "kinetic", *, of: str = "force", within: float = 0.2,
        hold: Any = None, expressed_in: Any = None,
    ) -> Resonance:  # fmt: skip
        """Whether a joint's load excites a natural frequency ("50 Hz", "3000 rpm"), and how far the nearest line is.

        It counts as excited where a line is nearer than ``within``, a share of the frequency.
        """
        return compute_resonance(self, joint, frequency, part, of, within, expressed_in, hold)

    def position(self, of: Any, relative_to: Any = None, expressed_in: Any = None) -> Array:
        """Position of a body or frame from the origin of ``relative_to`` (the world), in its axes or in others."""
        return relative_motion.motion(self, "position", of, relative_to, expressed_in)

    def velocity(self, of: Any, relative_to: Any = None, expressed_in: Any = None) -> Array:
        """Velocity as seen by somebody who moves and turns with ``relative_to``, in its axes or in others."""
        return relative_motion.motion(self, "velocity", of, relative_to, expressed_in)

    def acceleration(self, of: Any, relative_to: Any = None, expressed_in: Any = None) -> Array:
        """Acceleration as seen by somebody who moves and turns with ``relative_to``, in its axes or in others."""
        return relative_motion.motion(self, "acceleration", of, relative_to, expressed_in)

    def acceleration_by_cause(self, of: Any, by: str = "tier", *, expressed_in: Any = None) -> AccelerationCauses:
        """The acceleration of a point as a sum over the tiers that carry it: which of them shakes it, and how.

        Terms are relative, tangential, centripetal and Coriolis.  By tier each is due to the motion of one joint; by
        segment they go along the radius vectors from pole to pole.  Printed, it is a table; ``.plot()`` stacks it.
        """
        return acceleration_by_cause(self, of, by, expressed_in)

    def angular_velocity(self, of: Any, relative_to: Any = None, expressed_in: Any = None) -> Array:
        """Angular velocity relative to another body or frame, in its axes or in others."""
        return relative_motion.motion(self, "angular_velocity", of, relative_to, expressed_in)

    def plot(self, *names: str, **options: Any) -> Any:
        """Quantities against time, as a matplotlib figure; see ``kinode.views.plots.time_plots.plot``."""
        return hook("plot")(self, *names, **options)

    def report(self, folder: str | os.PathLike[str], **options: Any) -> Any:
        """One HTML file with summary, plots, loads and audit, in a folder; see ``kinode.views.report``."""
        return hook("report")(self, folder, **options)

    # -- files -------------------------------------------------------------------------------------
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write states, parameters and the model to a NetCDF file that ``load`` reads without anything else."""
        from kinode.results.run_files import save

        save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Trajectory:
        """A run from its file."""
        from kinode.results.run_files import load

        return load(path)

    def to_xarray(self, names: Iterable[str] | None = None) -> xarray.Dataset:
        """Quantities (the states, if none are named) as an xarray Dataset over time, with units."""
        from kinode.results.run_files import to_xarray

        return to_xarray(self, names)

    def to_csv(self, path: str | os.PathLike[str], names: Iterable[str] | None = None) -> None:
        """Write quantities (the states, if none are named) as a table, with units in the header."""
        from kinode.results.run_files import to_csv

        to_csv(self, path, names)
