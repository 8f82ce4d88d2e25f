"""One step of the classical Runge-Kutta method, without error control, in machine code.

A step is a call of the loop ``step_once`` on memory that is kept from call to call, one for each thread.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError, SimulationError
from kinode.jit.pointers import floats_of
from kinode.kernels.kernel_options import Kernel
from kinode.kernels.state import State
from kinode.ode import compiled_loops
from kinode.ode.kernel_spec import KernelSpec
from kinode.ode.loop_run import provide_rows
from kinode.ode.loops.run_codes import Outcome
from kinode.ode.loops.run_memory import RunMemory

if TYPE_CHECKING:
    from kinode.dynamics.compiled_system import Dynamics

CLASSICAL_STAGES = 4
DONE = int(Outcome.DONE)  # of an enum, each comparison would look it up


class Steppers(threading.local):
    """The stepper of each thread."""

    def __init__(self, dynamics: Dynamics) -> None:
        self.own = Stepper(dynamics)


class Stepper:
    """Takes single steps of a compiled system; refused where events could lie within a step."""

    def __init__(self, dynamics: Dynamics) -> None:
        topology = dynamics.topology
        if (table := topology.events) is not None:
            owner = (*table.owners, *(entry.owner for entry in table.samplers))[0]
            message = (
                "changes at once, which a single step does not see; simulate until t + dt with start=state instead"
            )
            raise ArgumentError(f"step: {owner} {message}")
        self._arguments, self._coordinates = dynamics.arguments, dynamics.coordinates
        n_q, n_u, n_z = sizes = dynamics.n_q, dynamics.n_u, dynamics.n_z
        kernels = [Kernel("rate"), *([Kernel("projection")] if topology.constrained else [])]
        self._machines = machines = [dynamics.kernels.machine(kernel) for kernel in kernels]
        spec = KernelSpec(
            machines[0].address, *sizes, n_work=max(machine.sizes["work"] for machine in machines),
            projection=machines[1].address if topology.constrained else 0,
        )  # fmt: skip
        self._run = run = RunMemory()
        self._p, self._inputs = dynamics.parameters.copy(), dynamics.inputs.copy()
        rows = provide_rows(run, spec, (self._p, self._inputs), topology.layout.quaternions, CLASSICAL_STAGES)
        run.model.p, run.model.inputs = floats_of(self._p), floats_of(self._inputs)
        y, self._y_new = rows[0], rows[1]
        self._sizes, self._shapes = sizes, ((n_q,), (n_u,), (n_z,))
        self._q, self._u, self._z = y[:n_q], y[n_q : n_q + n_u], y[n_q + n_u :]
        self._u_at, self._z_at = n_q, n_q + n_u
        self._changed = False  # whether the last step had other parameters or inputs than the model's
        self._times, self._loop = run.step, compiled_loops.loop("step_once")

    def advance(self, state: State, dt: float, p: Any, inputs: Any) -> State:
        """The state a time dt later."""
        q, u, z = state.q, state.u, state.z
        try:
            fits = (q.shape, u.shape, z.shape) == self._shapes
        except AttributeError:  # lists
            q, u, z = (np.array(values, dtype=float) for values in (q, u, z))
            fits = (q.shape, u.shape, z.shape) == self._shapes
        if not fits:
            expected = ", ".join(map(str, self._sizes))
            raise ArgumentError(f"step: a state with q, u, z of {expected} numbers is expected")
        self._q[:], self._u[:] = q, u
        if self._z.size:
            self._z[:] = z
        if p is not None or inputs is not None or self._changed:
            read, self._changed = self._arguments, p is not None or inputs is not None
            self._p[:], self._inputs[:] = _row("p", read.read_parameters(p)), _row("inputs", read.read_inputs(inputs))
        times, t_new = self._times, state.t + dt
        times.t, times.t_new = state.t, t_new
        code = self._loop(self._run)
        if code != DONE:
            raise self._failure(code, t_new)
        y = self._y_new.copy()
        return State(t_new, y[: self._u_at], y[self._u_at : self._z_at], y[self._z_at :])

    def _failure(self, code: int, t: float) -> SimulationError:
        if code == Outcome.LEFT_BRANCH:
            message = "ends so far from where the loops close that it may have left its branch: take shorter steps"
            return SimulationError(f"step: the step to t = {t:.9g} s {message}")
        entry = self._coordinates[self._run.counts.failed]
        return SimulationError(f"step: {entry.name} is not finite at t = {t:.9g} s")


def _row(name: str, values: Array) -> Array:
    if values.ndim != 1:
        raise ArgumentError(f"step: {name}: one value for each name is expected, not a batch")
    return values
