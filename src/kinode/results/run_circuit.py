"""The component circuit along a run: the solution vector V, the power through every link, nodal laws."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError
from kinode.kernels.state import State
from kinode.model.base.fields import short
from kinode.model.circuit_topology import INFORMATION, VECTOR
from kinode.multibody.link_values import link_power, power_names
from kinode.ode.input_table import inputs_at
from kinode.symbolic.circuit.circuit_state import CircuitState
from kinode.symbolic.circuit.circuit_variables import scalar_names
from kinode.symbolic.circuit.whole_circuit import Circuit, circuit

if TYPE_CHECKING:
    import xarray

    from kinode.results.run_quantities import RunQuantities

ARRAYS = ("V", "power")
OUTSIDE = 1e-9  # s: a time beyond the end by no more is the end


class RunCircuit:
    """The circuit of a run; ``run.circuit`` returns it.

    ``run.circuit["V"]`` is the solution vector over time, ``run.circuit["power"]`` the power into the components
    through their links, each as an xarray with names and units.
    """

    def __init__(self, run: RunQuantities) -> None:
        self.run = run

    @cached_property
    def circuit(self) -> Circuit:
        """The circuit itself, with the parameters of the run: components, nodes, equations."""
        system, values = self.run.system, self.run.parameters
        changed = {name: x for name, x in values.items() if x != system.parameter_values()[name]}
        if changed:
            system = system.copy()
            for name, value in changed.items():
                system.change(name, value=value)
        return circuit(system)

    def __getitem__(self, name: str) -> xarray.DataArray:
        if name not in ARRAYS:
            raise ArgumentError(f"run.circuit has {' and '.join(ARRAYS)}, not {short(name)}")
        return self._solution if name == "V" else self._power

    @cached_property
    def _solution(self) -> xarray.DataArray:
        import xarray

        variables = self.circuit.variables
        values = self.run.evaluate(list(variables))
        columns = [np.reshape(values[name], (len(self.run), -1)) for name in variables]
        names = [x for v in variables.values() for x in scalar_names(self.run.system, v)]
        units = [unit for v in variables.values() for unit in _spread(v.unit, v.size)]
        sorts = [v.sort for v in variables.values() for _ in range(v.size)]
        coordinates = {
            "time": self.run.t, "variable": names, "unit": ("variable", units), "sort": ("variable", sorts)
        }  # fmt: skip
        return xarray.DataArray(np.hstack(columns), coords=coordinates, dims=("time", "variable"), name="V")

    @cached_property
    def _power(self) -> xarray.DataArray:
        import xarray

        branches = self.circuit.branches
        values = self.run.evaluate([name for link in branches for name in power_names(link)])
        columns = np.stack([link_power(link, values.__getitem__) for link in branches], axis=1)
        coordinates = {"time": self.run.t, "link": [link.name for link in branches]}
        return xarray.DataArray(columns, coords=coordinates, dims=("time", "link"), name="power", attrs={"unit": "W"})

    @property
    def tellegen(self) -> Array:
        """The sum of the powers through all links at each time, W: zero but for rounding; see ``CircuitState``."""
        inner = [link.name for link in self.circuit.inner_branches]
        return np.asarray(self._power.sel(link=inner).sum("link"))

    @property
    def nodal_laws(self) -> dict[str, Array]:
        """For each node the sum of its flows over time, which vanishes: (time,) or, of a vector node, (time, 6)."""
        sums: dict[str, Array] = {}
        for node in self.circuit.nodes.values():
            if node.reference or node.kind == INFORMATION:
                continue
            words = ("force", "moment") if node.kind == VECTOR else (node.links[0].words.flow,)
            frame = node.links[0].frame
            axes = f"@{frame.body}" if frame is not None else ""
            names = [[f"{link.name}.{word}{axes}" for link in node.links] for word in words]
            values = self.run.evaluate([name for each in names for name in each])
            totals = [sum((values[name] for name in each), start=np.zeros_like(values[each[0]])) for each in names]
            sums[node.name] = np.hstack(totals) if node.kind == VECTOR else totals[0]
        return sums

    def at(self, t: float) -> CircuitState:
        """The circuit at the stored time nearest to t, with the residual of every equation."""
        times = self.run.t
        if isinstance(t, bool) or not isinstance(t, int | float | np.number):
            raise ArgumentError(f"run.circuit.at: a time in seconds is expected, not {short(t)}")
        if not times[0] - OUTSIDE <= t <= times[-1] + OUTSIDE:
            raise ArgumentError(f"run.circuit.at: {t:g} s is not in the run, {times[0]:g} to {times[-1]:g} s")
        k = int(np.argmin(np.abs(times - float(t))))
        state = State(float(self.run.t[k]), self.run.q[k], self.run.u[k], self.run.z[k])
        inputs = inputs_at(self.run.inputs, state.t).tolist()
        return self.circuit.evaluate(state, inputs=dict(zip(self.run.dynamics.topology.inputs, inputs, strict=True)))

    def __repr__(self) -> str:
        return f"<circuit of a run of {self.run.system.name!r}: {', '.join(ARRAYS)} at {len(self.run)} times>"


def _spread(unit: str, size: int) -> list[str]:
    """One unit for each component of a variable."""
    each = unit.split(", ")
    return each if len(each) == size else each[:1] * size
