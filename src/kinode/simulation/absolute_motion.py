"""Integrates the equations of all bodies in absolute coordinates, (77) and (78) of the elastic system (T-10.9).

    v_dot = M^-1 (-Omega v + Q + L lam),    x_dot = D v

The rate is compiled.  Each kept state is measured in joint coordinates, so that the run has the usual names, and its
violations of joints are reported as the drift; nothing is projected.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array, Scalar
from kinode.algebra.trace import Tape
from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import ArgumentError, Error
from kinode.formulations.absolute_kinematics import (
    POSE_SIZE,
    SPEEDS,
    AbsoluteLayout,
    drift_sizes,
    trace_measurement,
    trace_rate,
)
from kinode.formulations.reaction_uniqueness import characteristic_length
from kinode.jit import compiler, kernel_call
from kinode.jit.machine_code import Machine
from kinode.jit.program import Block, Program
from kinode.kernels.state import State
from kinode.model.constraints.constraint import ANGULAR
from kinode.model.system import System
from kinode.model.system_checks import find_asking
from kinode.ode.endings import Ending, EndKind
from kinode.ode.input_table import Inputs, inputs_at, split_inputs
from kinode.ode.integrate import integrate
from kinode.ode.kernel_spec import KernelSpec
from kinode.ode.method_table import METHODS
from kinode.simulation.absolute_drift import Drift, JointDrift
from kinode.simulation.run_length import LengthWatch, check_lengths
from kinode.simulation.solver import OnProgress, Options, StateHistory, check_start
from kinode.simulation.time_events import find_law_times
from kinode.structure.topology import Topology

LARGEST_DRIFT = 1e-2  # share of the mechanism's size, or rad: a joint that is farther apart ends the run as a failure


class AbsoluteSolver:
    """The compiled equations of all bodies of a system."""

    def __init__(self, dynamics: Dynamics) -> None:
        self.dynamics, self.topology = dynamics, dynamics.kernels.topology
        self.layout = AbsoluteLayout(self.topology)
        self.rate = self._build("rate", trace_rate)
        self.measurement = self._build("measurement", trace_measurement)

    def _build(self, name: str, trace: Callable[[Topology, Tape], list[Scalar]]) -> Machine:
        layout, topology = self.layout, self.topology

        def make() -> Program:
            results = trace(topology, Tape())
            stores = [("out", i, x) for i, x in enumerate(results)]
            counts = {
                "t": 1, "q": layout.n_x, "u": layout.n_v, "z": layout.n_z, "p": len(topology.parameters),
                "inputs": len(topology.inputs), "x": 0, "out": len(results),
            }  # fmt: skip
            return Program("kernel", counts, {}, [Block(1, {}, [stores])])

        tables = topology.system.tables.values()
        data = {name: values for table in tables for name, values in table.exchangeable_data.items()}
        return compiler.build(f"absolute {name}\n{self.dynamics.kernels.fingerprint}", 1, make, data)

    def measure(self, t: Array, y: Array, p: Array, inputs: Array) -> tuple[Array, Array]:
        """States in joint coordinates, and the violations of all joints, of absolute states."""
        n_x, n_v, n = self.layout.n_x, self.layout.n_v, self.topology.layout.n_y
        parts = {"q": y[:, :n_x], "u": y[:, n_x : n_x + n_v], "z": y[:, n_x + n_v :]}
        arguments = {name: (np.ascontiguousarray(part), True) for name, part in parts.items()}
        arguments |= {"t": (np.ascontiguousarray(t).reshape(-1, 1), True), "p": (p, False)}
        arguments |= {"inputs": (inputs, inputs.ndim == 2)}
        values = kernel_call.run_batch(self.measurement, len(t), arguments)
        return self._continuous(values[:, :n]), values[:, n:]

    def _continuous(self, y: Array) -> Array:
        """The states with quaternions that do not change their sign from one to the next."""
        y = y.copy()
        for start in self.topology.layout.quaternions:
            q = y[:, start : start + 4]
            signs = np.where((q[1:] * q[:-1]).sum(axis=1) < 0.0, -1.0, 1.0)
            q[1:] *= np.cumprod(signs)[:, None]
        return y


def _ending(solver: AbsoluteSolver, ending: Ending, t_end: float) -> Ending:
    """The ending of a run; a number that is not finite is named by its body."""
    if ending.kind is EndKind.DONE:
        return EndKind.DONE.at(t_end)
    if ending.entry is None:
        return ending
    layout, entry = solver.layout, ending.entry
    own = entry - layout.n_x
    k = entry // POSE_SIZE if own < 0 else own // SPEEDS
    if k >= len(layout.bodies):
        return replace(ending, entry=None)
    message = f"at t = {ending.time:.9g} s the {'velocity' if own < 0 else 'acceleration'} of {layout.bodies[k]}"
    return replace(ending, entry=None, component=layout.bodies[k], message=f"{message} became not finite")


def _open_joint(system: System, drift: Drift, ending: Ending, step: float | None) -> Ending:
    """The ending, or that of a run whose joints came so far apart that its results are of no use."""
    if ending.failed:
        return ending
    size = characteristic_length(system)
    shares = {name: max(joint.length / size, joint.angle) for name, joint in drift.joints.items()}
    name = max(shares, key=shares.__getitem__, default="")
    if not shares or shares[name] <= LARGEST_DRIFT:
        return ending
    apart = drift.joints[name]
    message = f"{name} came apart, by {apart.length:.1e} m and {apart.angle:.1e} rad until t = {ending.time:.9g} s"
    finer = "tighten rtol and atol" if step is None else "shorten the step"
    advice = f"nothing corrects the drift of absolute coordinates: {finer}, or leave newton_euler out"
    return Ending(EndKind.LOOP_OPEN, ending.time, f"{message}; {advice}", name)


def compute_absolute_motion(
    dynamics: Dynamics, start: State, until: float, *, times: Array | None, options: Options, p: Array, inputs: Inputs,
    stop_when: Any = None, on_progress: OnProgress | None = None,
) -> tuple[StateHistory, Drift]:  # fmt: skip
    """The states from the start until a time in s, in joint coordinates, and their drift."""
    if stop_when is not None:
        raise ArgumentError("stop_when: runs by newton_euler go on until their end; use formulation='recursive'")
    if asking := find_asking(dynamics.system):
        message = f"formulation: runs by newton_euler do not tell {asking[0].name} of completed steps, as its FMU wants"
        raise ArgumentError(f"{message}; use 'recursive'")
    if not isinstance(options.atol, float):
        raise ArgumentError("atol: runs by newton_euler take one number, since their states are those of all bodies")
    check_start(dynamics, start, p, inputs)
    check_lengths(dynamics, options.step, options.max_step, start.t, until)
    solver, laws = AbsoluteSolver(dynamics), find_law_times(dynamics, p, inputs, start.t, until)
    layout, (row, courses) = solver.layout, split_inputs(inputs)
    kernel = KernelSpec(
        solver.rate.address, layout.n_x, layout.n_v, layout.n_z, n_work=solver.rate.sizes["work"],
    )  # fmt: skip
    begin = layout.from_joints(dynamics.point(start, p, inputs))
    due, look = LengthWatch(dynamics, p, inputs, METHODS[options.method]).watch(0, start.t, until)["on_long"]

    def look_at_joints(t: float, y: Array, steps: int, events: int) -> int | Ending:
        return look(t, solver.measure(np.array([t]), y[None], p, inputs_at(inputs, t))[0][0], steps, events)

    try:
        solution = integrate(
            kernel, begin, start.t, until, method=options.method, times=times, step=options.step, rtol=options.rtol,
            atol=options.atol, p=p, inputs=row, courses=courses, quaternions=layout.quaternions,
            max_step=min(options.max_step, laws.longest), breaks=laws.breaks, margin=laws.margin,
            on_progress=on_progress, on_long=(due, look_at_joints) if options.step is None else None,
        )  # fmt: skip
    except Error:
        raise
    except ValueError as error:
        raise ArgumentError(str(error)) from None
    times_and_end = np.append(solution.t, solution.t_end)
    y, violations = solver.measure(
        times_and_end, np.vstack([solution.y, solution.y_end]), p, inputs_at(inputs, times_and_end)
    )
    drift = _summarize_drift(solver.topology, violations)
    ending = _open_joint(dynamics.system, drift, _ending(solver, solution.ending, solution.t_end), options.step)
    history = StateHistory(
        solution.t, y[:-1], p, inputs, ending, solution.t_end, y[-1], solution.steps, solution.evaluations,
        dynamics=dynamics, method=options.method,
    )  # fmt: skip
    return history, drift


def _summarize_drift(topology: Topology, values: Array) -> Drift:
    """The drift of a run from the violations at all its times, in the order of ``drift_sizes``."""
    joints, start = {}, 0
    largest = np.abs(values).max(axis=0, initial=0.0)
    for name, (positions, rates) in drift_sizes(topology).items():
        both = (*positions, *rates)
        part, start = largest[start : start + len(both)], start + len(both)
        fields = ("length",) * len(positions) + ("velocity",) * len(rates)
        angular = {"length": "angle", "velocity": "angular_velocity"}
        sums = dict.fromkeys(("length", "angle", "velocity", "angular_velocity"), 0.0)
        for unit, field, value in zip(both, fields, part, strict=True):
            key = angular[field] if unit in ANGULAR else field
            sums[key] = max(sums[key], float(value))
        joints[name] = JointDrift(**sums)
    return Drift(joints)
