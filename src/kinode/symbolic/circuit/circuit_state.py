"""The circuit at an instant: every link variable by name, and how well each equation and nodal law holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.algebra.spatial import cross
from kinode.dynamics.compiled_system import Dynamics
from kinode.dynamics.reactions.lost_values import is_redundant
from kinode.errors import ArgumentError
from kinode.expressions.syntax_tree import symbol as named
from kinode.kernels.state import State
from kinode.model.base.fields import short
from kinode.model.base.frames import Frame
from kinode.model.circuit_topology import WORLD
from kinode.multibody import loop_constraints
from kinode.multibody.link_values import link_power, other_loads, summed
from kinode.sheets.terms import IndexedSymbol, Sum, VectorTerm, symbols_of
from kinode.sheets.values import SymbolValues
from kinode.symbolic.circuit import link_symbols as s
from kinode.symbolic.circuit.component_rows import ComponentRow

if TYPE_CHECKING:
    from kinode.multibody.snapshot import Snapshot
    from kinode.symbolic.circuit.whole_circuit import Circuit


NEGLIGIBLE = 1e-6  # of the largest term of all equations: terms of another unit that are smaller are rounding


@dataclass(frozen=True, eq=False)
class CircuitState:
    """The solution vector V of a circuit at an instant; ``circuit.evaluate`` returns it.

    Attributes
    ----------
    t : float
        Time, s.
    V : dict of str to array
        Every variable by name, SI: ``V["elbow.1.force"]``.
    """

    circuit: Circuit
    t: float
    V: Mapping[str, Array]
    snapshot: Snapshot

    def __getitem__(self, name: str) -> Array:
        if name in self.V:
            return self.V[name]
        value = self._at_link(name) if isinstance(name, str) else None
        if value is None:
            raise ArgumentError(f"{short(name)} is no variable of the circuit; they are the keys of circuit.variables")
        return value

    def _at_link(self, name: str) -> Array | None:
        """A component of a vector (elbow.1.force.x), or the potential of a link, which is that of its node."""
        head, at, axes = name.partition("@")
        vector, _, part = head.rpartition(".")
        if part in ("x", "y", "z"):
            value = self.V.get(f"{vector}{at}{axes}", self._at_link(f"{vector}{at}{axes}"))
            return None if value is None or len(value) != 3 else value[["xyz".index(part)]]
        link = self.circuit.meanings.link_named.get(vector)
        return None if link is None else self.V.get(f"{link.node}.{part}{at}{axes}")

    @cached_property
    def residuals(self) -> tuple[float, ...]:
        """For each equation the difference of its sides, relative to the largest term of all equations of its unit."""
        evaluate, largest = SymbolValues(self._value), dict[str, float]()
        differences = []
        for _, row in self.circuit.rows:
            difference, size = _difference(evaluate, row.left, row.right)
            unit = _unit(row)
            largest[unit] = max(largest.get(unit, 0.0), size)
            differences.append((difference, unit))
        least = NEGLIGIBLE * max(largest.values(), default=0.0) or 1.0
        return tuple(x / max(largest[unit], least) for x, unit in differences)

    @property
    def worst(self) -> tuple[float, str]:
        """The largest residual, and the equation that has it."""
        size, row = max(zip(self.residuals, (row for _, row in self.circuit.rows), strict=True), key=lambda x: x[0])
        return size, f"{row.owner}: {row.name}"

    @cached_property
    def power(self) -> dict[str, float]:
        """The power into the component through each link, W."""
        return {link.name: float(link_power(link, self._link_value)) for link in self.circuit.branches}

    @property
    def tellegen(self) -> float:
        """The sum of the powers through all inner branches, W; zero but for rounding."""
        return float(sum(self.power[link.name] for link in self.circuit.inner_branches))

    # -- values of symbols -------------------------------------------------------------------------
    def _link_value(self, name: str) -> Any:
        """A link variable: from V, or the potential of a reference or of a shaft, which V has by other names."""
        for text in (f"{name}{self.circuit.axes_suffix}", name):
            value = self.V[text] if text in self.V else self._at_link(text)
            if value is not None:
                return value if len(value) > 1 else value[0]
        return self.snapshot_value(name)

    def snapshot_value(self, name: str) -> Any:
        """A quantity by name at this instant, in plain numbers."""
        return self.snapshot.resolve(named(name))

    @cached_property
    def _variable_values(self) -> dict[tuple[str, int], Array]:
        return {(name, 0): value for name, value in self.V.items()}

    def _value(self, symbol: IndexedSymbol) -> Any:
        return self.circuit.meanings.given(self._variable_values, self._other)(symbol)

    def _other(self, symbol: IndexedSymbol) -> Any:
        """Rates, orientations, loads, laws and quantities of networks."""
        family, name = symbol.family, str(symbol.places[-1]) if symbol.places else ""
        rate = self._rate(family, name)
        if rate is not None:
            return rate
        geometry = self.geometry(symbol)
        if geometry is not None:
            return geometry
        snapshot = self.snapshot
        if family in (s.OTHER_FORCE, s.OTHER_MOMENT):
            moment, force = other_loads(snapshot, name)
            return self._in_axes(force if family == s.OTHER_FORCE else moment, name)
        if family in (s.LOAD, s.LOAD_MOMENT):
            word = "force" if family == s.LOAD else "moment"
            return -self.V[f"{name}.{word}{self.circuit.axes_suffix}"]
        if family == s.EFFORT:
            return -self.V[f"{name}.{self.circuit.meanings.link_named[name].words.flow}"][0]
        if family in (s.TENSION, s.LENGTH, s.LENGTH_RATE):
            word = {s.TENSION: "tension", s.LENGTH: "length", s.LENGTH_RATE: "rate"}[family]
            return snapshot.system.elements[name].quantity(word, snapshot)
        if family == s.DIRECTION:
            one, two = (snapshot.pose(x.frame).p for x in self.circuit.components[name].links if x.frame is not None)
            return (two - one) / np.linalg.norm(two - one)
        return self._named_value(symbol)

    def geometry(self, symbol: IndexedSymbol) -> Any:
        """Orientations, and what unit multipliers of constraints do; None for other symbols."""
        if symbol.family == s.TURN:
            return self.snapshot.pose(Frame(str(symbol.places[-1]))).R
        return self._row_load(symbol) if symbol.family in (s.ROW_FORCE, s.ROW_MOMENT) else None

    def _named_value(self, symbol: IndexedSymbol) -> Any:
        """A quantity of a network, or a quantity by its own name."""
        meaning = self.circuit.network_rows.meaning_of.get(symbol)
        if meaning is None:
            return self.snapshot_value(symbol.family.letter)
        base, order = meaning
        network = self.snapshot.network
        rows = self.circuit.network_rows.network
        if base in rows.joint_of:
            joint, k = rows.joint_of[base]
            q, u, _ = self.snapshot.joint_state(joint)
            derivative = order - rows.speed_order(base)  # of the speed; a coordinate is one below
            return (u, self.snapshot.joint_acceleration(joint), q)[derivative][k]
        assert network.condensed is not None
        return network.number(network.condensed.value((base, order)), base)

    def _rate(self, family: Any, name: str) -> Any:
        """Accelerations of bodies and rates of coordinates."""
        snapshot, system = self.snapshot, self.circuit.system
        if family in (s.V0_RING, s.V0_DOT):
            R, com = snapshot.pose(Frame(name)).R, system.bodies[name].com
            if family == s.V0_DOT:
                return snapshot.acceleration(com)[1]
            w, v = snapshot.velocity(com)
            return R.T @ (snapshot.acceleration(com)[1] - cross(w, v))
        if family in (s.W_RING, s.W_DOT):
            frame = self.circuit.meanings.link_named[name].frame
            assert frame is not None
            alpha = snapshot.acceleration(frame)[0]
            return alpha if family == s.W_DOT else snapshot.pose(Frame(frame.body)).R.T @ alpha
        if family in (s.Q_DOT, s.QS_DOT):
            joint = self.circuit.meanings.joint_of(name)
            q, u, _ = snapshot.joint_state(joint)
            rates = np.asarray(system.joints[joint].rate_map(q, u), dtype=float)
            entry = self.circuit.meanings.coordinate_number(name)
            return rates if family == s.QS_DOT else rates[entry]
        return None

    def _row_load(self, symbol: IndexedSymbol) -> Array:
        """Force or moment at a link for a unit multiplier of one row of a constraint."""
        row, link_name = (str(x) for x in symbol.places)
        name, _, number = row.partition(",")
        constraint = loop_constraints.loop_constraint_of(self.snapshot.topology, self.circuit.system.constraints[name])
        unit = np.eye(len(constraint.units))[int(number) - 1]
        frame = self.circuit.meanings.link_named[link_name].frame
        assert frame is not None
        loads = [x for x in self.snapshot.constraints.loads_of(constraint, unit) if x.on.body == frame.body]
        moment, force = summed(self.snapshot, loads, frame)
        return self._in_axes(force if symbol.family == s.ROW_FORCE else moment, frame.body)

    def _in_axes(self, vector: Array, body: str) -> Array:
        """A vector in world axes, in those of the equations."""
        own = self.circuit.basis == "body" and body != WORLD
        return self.snapshot.pose(Frame(body)).R.T @ vector if own else vector


def evaluate_circuit(circuit: Circuit, state: State | None, inputs: Mapping[str, float] | None) -> CircuitState:
    """The circuit at a state; at the assembled start by default."""
    if state is not None and not isinstance(state, State):
        raise ArgumentError(f"state: a State is expected, not {short(state)}; run.circuit.at(t) takes that of a run")
    dynamics = Dynamics(circuit.system)
    state = dynamics.initial if state is None else state
    names, snapshot = list(circuit.unknowns.variables), dynamics.snapshot(state, inputs=inputs)
    if is_redundant(dynamics):  # loads are shared among joints
        values = dynamics.evaluate(names, state.t, state.q, state.u, z=state.z, inputs=inputs)
    else:
        values = {name: snapshot.quantity(name) for name in names}
    V = {name: np.atleast_1d(np.asarray(values[name], dtype=float)) + 0.0 for name in names}  # no zero has a sign
    return CircuitState(circuit, float(state.t), V, snapshot)


def _difference(evaluate: SymbolValues, left: VectorTerm, right: VectorTerm) -> tuple[float, float]:
    """The largest difference of two sides, and the largest of their terms."""
    terms = [evaluate(x) for side in (left, right) for x in (side.terms if isinstance(side, Sum) else (side,))]
    largest = max(float(np.max(np.abs(x))) for x in terms)
    return float(np.max(np.abs(evaluate(left) - evaluate(right)))), largest


def _unit(row: ComponentRow) -> str:
    """What the terms of a row are measured in; rows without vectors are compared with their own terms."""
    families = {symbol.family for side in (row.left, row.right) for symbol in symbols_of(side)}
    for family in (s.M, s.F, s.V, s.W):  # a balance of moments has forces too, a velocity angular velocities
        if family in families:
            return family.unit
    return f"{row.owner}: {row.name}"
