"""``dynamics.to_casadi``: a compiled system as CasADi functions of scalars, with CasADi's exact derivatives.

The model is traced as for machine code, with efforts or accelerations given besides, and each result is written by
``casadi_writer.py``.  Large systems are straight-line code here too.  Not offered are the distribution of reactions
that equilibrium does not determine, and the changes of discrete states at events.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array, Scalar
from kinode.dynamics.compiled_formulations import find_composition
from kinode.dynamics.derivative_calls.derivative_request import read_names
from kinode.dynamics.shared_patterns import find_start_pattern, has_start_pattern
from kinode.errors import ArgumentError
from kinode.exporters.frameworks.casadi_writer import CasadiWriter, casadi_names
from kinode.exporters.frameworks.exchanged_arguments import ExchangedArguments
from kinode.kernels.derivatives.derived_values import find_values
from kinode.kernels.derivatives.request_sizes import OF_SYSTEMS, shape_of
from kinode.kernels.kernel_options import SharingOptions
from kinode.kernels.kernel_programs import TracedModel
from kinode.model.quantity_expressions import unit_of
from kinode.model.quantity_names import find_quantity
from kinode.multibody.given import Given
from kinode.multibody.restraints import loop_constraints
from kinode.multibody.snapshot import Snapshot
from kinode.optional_packages import need
from kinode.paused_collection import paused_collection

if TYPE_CHECKING:
    from kinode.dynamics.compiled_system import Dynamics

POINT = ("t", "q", "u", "z", "p", "inputs")
FORWARD = (*POINT, "effort")
MOTION = (*POINT, "u_dot")
NAMED = 6  # components that a warning names


@dataclass(frozen=True, eq=False)
class CasadiFunctions:
    """A system as CasADi functions; all take t, q, u, z, p, inputs, and efforts added to the model's own.

    Attributes
    ----------
    rate : casadi.Function
        q_dot, u_dot, z_dot.
    outputs : casadi.Function or None
        The quantities that were asked for, one result for each; ``names`` has their names in CasADi.
    determined : casadi.Function or None
        What ``reactions`` gives, which says also what it leaves out.
    effort : casadi.Function
        Inverse dynamics: takes u_dot in place of effort.
    closure : casadi.Function or None
        Residuals of the constraint equations, and their rates, in a system with loops: both are zero in consistent
        states.  Takes t, q, u, z, p and inputs.
    entries : ExchangedArguments
        The entries of each argument: name, unit, own value.
    names : mapping of str to str
        The names of quantities and joints in CasADi, where ``.`` and ``@`` are underscores.
    units : mapping of str to str or tuple of str
        The SI unit of each quantity.
    undetermined : tuple of str
        The joints whose reactions neither equilibrium nor the rule of least norm determines.
    """

    rate: Any
    outputs: Any
    determined: Any
    effort: Any
    closure: Any
    entries: ExchangedArguments
    names: Mapping[str, str]
    units: Mapping[str, str | tuple[str, ...]]
    undetermined: tuple[str, ...]

    @property
    def reactions(self) -> Any:
        """Force and moment (6 numbers, N and N m) of each joint whose reaction is determined, or None without any.

        A warning names the joints that it leaves out.
        """
        if self.undetermined:
            told = "are not determined by equilibrium alone; how they are shared here is no function of CasADi"
            message = f"to_casadi: the reactions of {', '.join(self.undetermined)} {told}, and they are left out"
            warnings.warn(message, UserWarning, stacklevel=2)
        return self.determined

    def arguments(self, **given: Any) -> dict[str, Any]:
        """All arguments of ``rate``, ``outputs`` and ``reactions`` by name: those given, else the model's own values.

        ``functions.rate(**functions.arguments(q=q, effort=tau))["u_dot"]``; in ``p={"length": 0.4}`` the other
        parameters stay.
        """
        return self.entries.fill(FORWARD, given)

    def __str__(self) -> str:
        shown = [x for x in (self.rate, self.outputs, self.determined, self.effort, self.closure) if x is not None]
        return "\n".join([*map(str, shown), "", self.entries.table(FORWARD)])


def to_casadi(dynamics: Dynamics, outputs: str | Iterable[str] = ()) -> CasadiFunctions:
    """The functions of ``Dynamics.to_casadi``."""
    casadi = need("casadi", "casadi", "to_casadi")
    names = read_names("outputs", outputs, "tool.position") if outputs else ()
    for name in names:
        _check_output(dynamics, name)
    dynamics.kernels.check_forward()
    _tell_events(dynamics)
    with paused_collection():
        maker = _Maker(casadi, dynamics)
        joints = {name: [f"{name}.reaction.{part}" for part in ("force", "moment")] for name in dynamics.system.joints}
        shared = [
            joint for joint, wrench in joints.items() if not has_start_pattern(dynamics, _quantity(dynamics, wrench[0]))
        ]
        determined = [joint for joint in joints if joint not in shared]
        pattern = find_start_pattern(dynamics, [*names, *(name for joint in determined for name in joints[joint])])
        aliases = casadi_names([*names, *determined])
        instant, moved = maker.forward, maker.moved
        values = {aliases[name]: _matrix(instant, name, pattern) for name in names}
        wrenches = {joint: find_values(instant, tuple(joints[joint]), pattern) for joint in determined}
        return CasadiFunctions(
            maker.function("rate", FORWARD, {x: find_values(instant, (x,)) for x in ("q_dot", "u_dot", "z_dot")}),
            maker.function("outputs", FORWARD, values) if names else None,
            maker.function("reactions", FORWARD, {aliases[x]: v for x, v in wrenches.items()}) if wrenches else None,
            maker.function("effort", MOTION, {"effort": find_values(moved, ("effort",))}),
            _closure(maker) if dynamics.topology.constrained else None,
            maker.entries,
            aliases,
            {name: "" if name in OF_SYSTEMS else unit_of(dynamics.system, name) for name in names},
            tuple(shared),
        )


def _tell_events(dynamics: Dynamics) -> None:
    """Warn of components whose discrete states only events change."""
    topology = dynamics.topology
    named = list(topology.layout.discrete_of) if topology.events is not None else []
    if named:
        shown = ", ".join(named[:NAMED]) + (f" and {len(named) - NAMED} others" if len(named) > NAMED else "")
        message = f"to_casadi: events are no functions of CasADi; the discrete states of {shown} stay as they are given"
        warnings.warn(message, UserWarning, stacklevel=4)


class _Maker:
    """Makes functions of one traced model."""

    def __init__(self, casadi: Any, dynamics: Dynamics) -> None:
        self.casadi, self.entries = casadi, ExchangedArguments(dynamics)
        traced = TracedModel(dynamics.kernels.topology, find_composition(dynamics.formulation))
        n = dynamics.n_u
        self.forward = traced.snapshot.again(Given(effort=traced.tape.inputs("effort", n)))
        self.moved = traced.snapshot.again(Given(u_dot=traced.tape.inputs("u_dot", n)))
        self.symbols = {word: casadi.SX.sym(word, len(entries)) for word, entries in self.entries.items()}
        self.writer = CasadiWriter(casadi, self.symbols)

    def function(self, name: str, arguments: tuple[str, ...], results: Mapping[str, Sequence[Scalar] | Array]) -> Any:
        """A CasADi function with named arguments and results; a result of two dimensions is a matrix."""
        written = []
        for result in results.values():
            array = np.asarray(result, dtype=object)
            entries = self.casadi.vertcat(*self.writer.write(list(array.ravel())), self.casadi.SX(0, 1))
            written.append(entries if array.ndim < 2 else self.casadi.reshape(entries, *array.shape[::-1]).T)
        symbols = [self.symbols[word] for word in arguments]
        return self.casadi.Function(name, symbols, written, list(arguments), list(results))


def _closure(maker: _Maker) -> Any:
    constraints = maker.forward.constraints
    rows = {"residual": loop_constraints.residual, "rate": loop_constraints.drift}
    return maker.function("closure", POINT, {name: list(constraints.every(f)) for name, f in rows.items()})


def _matrix(snapshot: Snapshot, name: str, pattern: SharingOptions | None) -> Array:
    return np.array(find_values(snapshot, (name,), pattern), dtype=object).reshape(shape_of(snapshot.topology, name))


def _quantity(dynamics: Dynamics, name: str) -> Any:
    return find_quantity(dynamics.system, name)


def _check_output(dynamics: Dynamics, name: str) -> None:
    if name in OF_SYSTEMS:
        if name == "effort":
            raise ArgumentError("outputs: effort is a function of its own, of given accelerations: .effort")
    elif not has_start_pattern(dynamics, _quantity(dynamics, name)):
        message = "is not determined by equilibrium alone; how it is shared here is no function of CasADi"
        raise ArgumentError(f"outputs: {name} {message}")
