"""Errors of networks, in terms of components and connections.

Equations that cannot all hold are a `Conflict`.  The first of the `RULES` that applies to it makes the error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from kinode.algebra.scalars import is_number
from kinode.errors import ModelError, listed
from kinode.model.network.friction_parts import FrictionPart

if TYPE_CHECKING:
    from kinode.model.network.domain import Domain
    from kinode.structure.network_equations import NetworkEquations
    from kinode.structure.network_records import NetworkEquation, Variable


@dataclass(frozen=True)
class Conflict:
    """Equations that overdetermine the ``shared`` variables, and so leave others undetermined."""

    network: NetworkEquations
    equations: tuple[NetworkEquation, ...]
    shared: tuple[Variable, ...]
    open_names: tuple[str, ...]
    combined: NetworkEquation | None = None
    """The linear combination of them in which the shared variables cancel."""

    @cached_property
    def owners(self) -> list[str]:
        """The components in conflict: those with an equation of their own, else all, else the nodes."""
        owners = list(dict.fromkeys(equation.owner for equation in self.equations))
        parts = [owner for owner in owners if owner in self.network.parts]
        return [owner for owner in parts if self._has_own_equation(owner)] or parts or owners

    def _has_own_equation(self, owner: str) -> bool:
        """Whether any equation of a component does more than pass a flow from port to port."""
        own = (equation for equation in self.equations if equation.owner == owner)
        return any(not (is_number(equation.rest) and len(equation.terms) == 2) for equation in own)

    @property
    def first(self) -> str:
        """The component that the error names."""
        if self.owners:
            return self.owners[0]
        return self.network.variables[self.open_names[0]].owner if self.open_names else self.network.system.name

    @property
    def sticking(self) -> list[str]:
        """The friction components among the owners."""
        return [owner for owner in self.owners if isinstance(self.network.parts.get(owner), FrictionPart)]

    @property
    def potentials(self) -> list[Variable]:
        return [variable for variable in self.shared if variable.sort in ("potential", "joint")]

    @property
    def flows(self) -> list[Variable]:
        return [variable for variable in self.shared if variable.sort == "flow"]

    @property
    def undetermined(self) -> list[Variable]:
        return [self.network.variables[name] for name in self.open_names]

    @property
    def domain(self) -> Domain | None:
        """The domain of all shared variables, if it is one."""
        kinds = {variable.kind for variable in self.shared if variable.kind}
        return self.network.domains[kinds.pop()] if len(kinds) == 1 else None

    @property
    def repeats(self) -> bool:
        """Whether the equations repeat each other, and do not contradict each other."""
        rest = None if self.combined is None else self.combined.rest
        return rest is not None and is_number(rest) and rest == 0 and bool(self.open_names)

    @property
    def all_sources(self) -> bool:
        parts = self.network.parts
        return all(owner in parts and parts[owner].is_source for owner in self.owners)

    @property
    def undetermined_text(self) -> str:
        """The undetermined variables, for a message."""
        return f"; it leaves open {listed(sorted(self.open_names)[:6])}" if self.open_names else ""

    @property
    def equations_text(self) -> str:
        """The equations, for a message."""
        labels = "; ".join(equation.label for equation in self.equations[:8])
        return f" (rows: {labels})" if self.equations else ""

    def error(self, message: str) -> ModelError:
        """The error with the equations behind its message."""
        return ModelError(f"{message}{self.equations_text}", component=self.first)


class Rule(NamedTuple):
    """A kind of conflict, and its error."""

    applies: Callable[[Conflict], bool]
    explain: Callable[[Conflict], ModelError]


def _explain_repeated(conflict: Conflict) -> ModelError:
    circle = f"their {_word(conflict, conflict.potentials)} go in a circle; leave one out"
    return conflict.error(f"{listed(conflict.owners)} say one thing twice: {circle}")


def _explain_floating(conflict: Conflict) -> ModelError:
    variables = conflict.undetermined
    nodes, reference = (
        listed(sorted({v.owner for v in variables})),
        conflict.network.domains[variables[0].kind].reference,
    )
    message = f"nothing ties {nodes} to a reference: only differences of their {_word(conflict, variables)} are decided"
    return conflict.error(f"{message}; connect one to {reference}")


def _explain_loop(conflict: Conflict) -> ModelError:
    assert conflict.domain is not None
    owners, potential = conflict.owners, conflict.domain.potential
    what = f"a loop of {potential} sources"
    if owners:
        loop = f"{listed(owners)} form a loop of ideal {potential} sources"
        what = loop if len(owners) > 1 else f"{owners[0]} is a {potential} source that is shorted"
    return _explain_potentials(conflict, what)


def _explain_motions(conflict: Conflict) -> ModelError:
    owners = conflict.owners
    together = f"{listed(owners)} {'both' if len(owners) == 2 else 'all'} decide the motion of one shaft"
    return _explain_potentials(conflict, together if len(owners) > 1 else f"{conflict.first} moves what cannot move")


def _explain_potentials(conflict: Conflict, what: str) -> ModelError:
    assert conflict.domain is not None
    hint = f"put {conflict.domain.between} in between"
    message = f"{what}: their {conflict.domain.potentials} cannot all hold{conflict.undetermined_text}"
    return conflict.error(f"{message}; {hint}")


def _explain_flows(conflict: Conflict) -> ModelError:
    assert conflict.domain is not None
    many = len(conflict.owners) > 1
    what = f"{listed(conflict.owners)} are in series" if many else f"{conflict.first} leads nowhere"
    nodes = sorted({equation.owner for equation in conflict.equations if equation.owner in conflict.network.nodes})
    flows = f"the {conflict.domain.flows}{f' at {listed(nodes)}' if nodes else ''}"
    message = f"{what}: {flows} are all given and cannot sum to zero{conflict.undetermined_text}"
    return conflict.error(f"{message}; add {conflict.domain.beside} beside one of them")


def _explain_contradiction(conflict: Conflict) -> ModelError:
    owners = listed(conflict.owners) if conflict.owners else conflict.network.system.name
    return conflict.error(f"the equations of {owners} contradict or repeat each other{conflict.undetermined_text}")


def _are_potentials_given(conflict: Conflict) -> bool:
    given = not conflict.flows or conflict.all_sources
    return conflict.domain is not None and bool(conflict.potentials) and given


RULES = (
    Rule(lambda c: bool(c.sticking), lambda c: explain_sticking(c.sticking)),
    Rule(lambda c: c.repeats and not c.flows, _explain_repeated),
    Rule(lambda c: c.repeats and all(v.sort == "potential" for v in c.undetermined), _explain_floating),
    Rule(lambda c: _are_potentials_given(c) and c.domain is not None and not c.domain.moves, _explain_loop),
    Rule(_are_potentials_given, _explain_motions),
    Rule(lambda c: c.domain is not None and bool(c.flows) and not c.potentials, _explain_flows),
    Rule(lambda c: True, _explain_contradiction),
)
"""In order: the first that applies makes the error."""


def explain(
    network: NetworkEquations,
    over: Sequence[int],
    shared: Sequence[str],
    open_names: Sequence[str],
    combined: NetworkEquation | None = None,
) -> ModelError:
    """The error for equations that overdetermine ``shared`` variables, and so leave others undetermined.

    ``over`` are indices of equations; those beyond the network belong to the mechanism, and are left out.
    """
    equations = tuple(network.rows[i] for i in over if i < len(network.rows))
    variables = tuple(network.variables[name] for name in shared if name in network.variables)
    conflict = Conflict(network, equations, variables, tuple(open_names), combined)
    return next(rule for rule in RULES if rule.applies(conflict)).explain(conflict)


def explain_sticking(owners: Sequence[str]) -> ModelError:
    """The error for friction components that stick: the shaft must be free to rest, and only one may lock it."""
    if len(owners) > 1:
        message = f"{listed(owners)} stick on one shaft, and nothing tells how much each holds: make them one part"
    else:
        message = "sticks where nothing with an inertia is free to: add a shaft_inertia or a slide_mass where it rubs"
        message += ", or take a shaft_loss or a slide_loss, which do not stick; joints have friction= of their own"
    return ModelError(message, component=owners[0])


def _word(conflict: Conflict, variables: Sequence[Variable]) -> str:
    """Voltages, angles or positions, by the domain of the variables."""
    kinds = {variable.kind for variable in variables}
    return conflict.network.domains[kinds.pop()].potentials if len(kinds) == 1 else "potentials"


def explain_joint(network: NetworkEquations, over: Sequence[int], names: Sequence[str]) -> ModelError:
    """The error for equations that prescribe the motion of joints, which have an equation of motion already."""
    equations = [network.rows[i] for i in over if i < len(network.rows)]
    parts = [owner for owner in dict.fromkeys(equation.owner for equation in equations) if owner in network.parts]
    variables = (name for equation in equations for name in equation.orders(network.variables))
    joints = list(dict.fromkeys(network.joint_of[name][0] for name in variables if name in network.joint_of))
    first = parts[0] if parts else network.system.name
    if len(joints) > 1:
        units = {network.system.joints[name].coordinates[0][1] for name in joints}
        kind = "gear" if len(units) == 1 else "rack"
        message = f"ties the joints {listed(joints)} to each other; write a constraint of the kind {kind} between them"
    elif joints:
        message = f"decides the motion of the joint {joints[0]}; write motion= or speed= in the joint"
        message += ", or connect a source to the joint itself"
    else:
        message = f"says more than its ports can bear, about {listed(sorted(names)[:6])}"
    also = f" (together with {listed(parts[1:])})" if len(parts) > 1 else ""
    return ModelError(f"{message}{also}; or put a spring, a damper or a resistance in between", component=first)


def explain_jerk(network: NetworkEquations, name: str, equations: Iterable[NetworkEquation]) -> ModelError:
    """The error for equations that would need the rate of a joint's acceleration."""
    joint = network.joint_of[name][0]
    owners = list(dict.fromkeys(equation.owner for equation in equations))
    first = next((owner for owner in owners if owner in network.parts), network.system.name)
    message = f"needs the rate of the acceleration of {joint}; put a compliance, a damper or a resistance in between"
    return ModelError(message, component=first)


def explain_rate(equation: NetworkEquation, name: str) -> ModelError:
    """The error for an equation that has to be differentiated and contains a quantity without a known rate."""
    message = f"{equation.name}: what it stores or moves follows from it at once, so that the rate of {name} is needed"
    hint = "put a resistance, a spring or a damper in between, or write a law of t and of states of the network"
    return ModelError(f"{message}, which is not known; {hint}", component=equation.owner)


def explain_nonlinear(equation: NetworkEquation, unknowns: Iterable[object], operation: str) -> ModelError:
    """The error for an equation that is not affine in the unknowns that it is solved for."""
    names = [("der(" * n[1] + n[0] + ")" * n[1]) if isinstance(n, tuple) else str(n) for n in unknowns]
    message = f"{equation.name} is not linear in what has to be solved for: {operation} of {listed(names)}"
    return ModelError(
        f"{message}; give it a state to act on (a capacitor, an inductor, an inertia)", component=equation.owner
    )


def describe_dependent(name: str, owners: Sequence[str]) -> str:
    """The note on a quantity that would be a state if others did not determine it."""
    return f"{name} is no state of its own: it follows from {listed(owners)}"


def explain_singular(
    network: NetworkEquations, equations: Sequence[NetworkEquation], unknowns: Iterable[object]
) -> ModelError:
    """The error for equations that are linearly dependent at sample values."""
    names = sorted({str(n[0]) if isinstance(n, tuple) else str(n) for n in unknowns})
    default = equations[0].owner if equations else network.system.name
    owner = next((equation.owner for equation in equations if equation.owner in network.parts), default)
    labels = "; ".join(equation.label for equation in equations[:8])
    return ModelError(
        f"these equations depend on each other and leave {listed(names[:6])} open: {labels}", component=owner
    )
