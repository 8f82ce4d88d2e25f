"""``dynamics.to_casadi``: a compiled system as CasADi functions of scalars, with CasADi's exact derivatives.

The model is traced as for machine code, with efforts or accelerations given besides, and each result is written as
CasADi expressions: the tape a third time, beside machine code and formulas.  Large systems are straight-line code here
too.  Not offered are the distribution of reactions that equilibrium does not determine, and the changes of discrete
states at events.

An operation of the tape is one of CasADi's, so that values agree to rounding and CasADi's derivatives are exact.
Lookup tables become sums over their intervals, in which all terms but one are zero.  Of a ``where`` both sides are
computed; CasADi multiplies the derivative of the side that is not taken by zero.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import ARITHMETIC, LIBRARY, Array, Scalar
from kinode.algebra.trace import Traced, needed
from kinode.dynamics.compiled_system import find_composition
from kinode.dynamics.derivatives.derivative_request import read_names
from kinode.dynamics.reactions.sharing_pattern import find_start_pattern, has_start_pattern
from kinode.errors import ArgumentError, ModelError
from kinode.exporters.frameworks.called_function import FORWARD, MOTION, POINT, ExchangedArguments
from kinode.kernels.derivatives.derivative_outputs import find_values
from kinode.kernels.derivatives.derivative_words import OF_SYSTEMS, shape_of
from kinode.kernels.kernel_options import SharingOptions
from kinode.kernels.kernel_traces import TracedModel
from kinode.model.component_store import claim_name
from kinode.model.quantities import find_quantity, unit_of
from kinode.multibody import loop_constraints
from kinode.multibody.given import Given
from kinode.multibody.snapshot import Snapshot
from kinode.optional_packages import need
from kinode.paused_collection import paused_collection

if TYPE_CHECKING:
    from kinode.dynamics.compiled_system import Dynamics


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


class CasadiWriter:
    """Writes nodes of one tape; what was written for one result serves the next."""

    def __init__(self, casadi: Any, inputs: Mapping[str, Any]) -> None:
        """``inputs`` are the CasADi symbols in place of the input arrays of the tape."""
        self.casadi, self.inputs = casadi, inputs
        self.values: dict[int, Any] = {}
        self.operations = _operations(casadi)

    def write(self, results: Sequence[Scalar]) -> list[Any]:
        """CasADi scalars of traced results; numbers stay numbers."""
        for node in needed(results):
            if node.index not in self.values:
                self.values[node.index] = self._write(node)
        return [self.values[x.index] if type(x) is Traced else float(x) for x in results]

    def _write(self, node: Traced) -> Any:
        if node.op == "input":
            name, position = node.args
            return self.inputs[name][position]
        if node.op == "external":
            message = "it is an FMU, code of others, which CasADi cannot hold"
            raise ModelError(message, component=node.args[0].function.owner)
        args = (self.values[arg.index] if type(arg) is Traced else arg for arg in node.args)
        return self.operations[node.op](*args)


def _operations(casadi: Any) -> Mapping[str, Callable[..., Any]]:
    """CasADi's function of each operation of a tape."""

    def interval(breaks: Sequence[float], x: Any) -> Any:
        """The number of breaks up to x, less the first and without the last."""
        return sum((x >= b for b in breaks[1:-1]), casadi.SX(0))

    def fetch(values: Sequence[float], index: Any) -> Any:
        return sum((v * (index == k) for k, v in enumerate(values) if v != 0), casadi.SX(0))

    def pack(*entries: Any) -> Any:
        return casadi.vertcat(*entries)

    def lane(vector: Any, k: int, width: int) -> Any:
        return vector[k] if vector.numel() == width else vector

    return {
        **ARITHMETIC,
        **{name: getattr(casadi, name) for name in (*(LIBRARY.keys() - {"pow"}), "sqrt", "floor", "sign")},
        "inv": lambda a: 1.0 / a,
        "pow": casadi.power,
        "abs": casadi.fabs,
        "min": casadi.fmin,
        "max": casadi.fmax,
        "less": lambda a, b: a < b,
        "less_equal": lambda a, b: a <= b,
        "equal": lambda a, b: a == b,
        "where": lambda c, a, b: casadi.if_else(c != 0, a, b),
        "interval": interval,
        "fetch": fetch,
        "pack": pack,
        "lane": lane,
    }


def casadi_names(texts: Iterable[str]) -> dict[str, str]:
    """A name that CasADi takes for each text, no two alike: letters, digits and single underscores."""
    names, taken = dict[str, str](), set[str]()
    for text in texts:
        words = "".join(x if x.isascii() and x.isalnum() else " " for x in text).split()
        name = "_".join(words) or "x"
        name = name if name[0].isalpha() and name not in ("null", "jac", "hess") else f"x_{name}"
        names[text] = claim_name(name, taken)
    return names
