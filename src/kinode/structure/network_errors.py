"""What is wrong with a network, in the words of whoever drew it.

Equations that cannot all hold are a `Conflict`; the first of the `RULES` that applies to it tells what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from kinode.algebra.scalars import is_number
from kinode.errors import ModelError
from kinode.model.network.friction_parts import FrictionPart

if TYPE_CHECKING:
    from kinode.structure.network_equations import NetworkEquation, NetworkEquations, Variable

POTENTIALS = {
    "electrical": "voltages",
    "rotational": "angles or speeds",
    "translational": "positions or speeds",
}
FLOWS = {"electrical": "currents", "rotational": "moments", "translational": "forces"}
BETWEEN = {"electrical": "a resistance", "rotational": "a spring or a damper", "translational": "a spring or a damper"}
BESIDE = {"electrical": "a resistance beside one of them", "rotational": "an inertia", "translational": "a mass"}


@dataclass(frozen=True)
class Conflict:
    """Equations that say too much about ``shared`` variables, and so leave others open."""

    rows: NetworkEquations
    equations: tuple[NetworkEquation, ...]
    shared: tuple[Variable, ...]
    open_names: tuple[str, ...]
    combined: NetworkEquation | None = None
    """What is left of them when one is taken from the others."""

    @cached_property
    def owners(self) -> list[str]:
        """The parts to blame: those that give something themselves, else all, else the nodes."""
        owners = list(dict.fromkeys(row.owner for row in self.equations))
        parts = [owner for owner in owners if owner in self.rows.parts]
        return [owner for owner in parts if self._gives(owner)] or parts or owners

    def _gives(self, owner: str) -> bool:
        """Whether a part has an equation of its own among them, not just one that passes a flow through."""
        own = (row for row in self.equations if row.owner == owner)
        return any(not (is_number(row.rest) and len(row.terms) == 2) for row in own)

    @property
    def first(self) -> str:
        """The component that the error names."""
        if self.owners:
            return self.owners[0]
        return self.rows.variables[self.open_names[0]].owner if self.open_names else self.rows.system.name

    @property
    def sticking(self) -> list[str]:
        return [owner for owner in self.owners if isinstance(self.rows.parts.get(owner), FrictionPart)]

    @property
    def potentials(self) -> list[Variable]:
        return [variable for variable in self.shared if variable.sort in ("potential", "joint")]

    @property
    def flows(self) -> list[Variable]:
        return [variable for variable in self.shared if variable.sort == "flow"]

    @property
    def opens(self) -> list[Variable]:
        return [self.rows.variables[name] for name in self.open_names]

    @property
    def domain(self) -> str | None:
        """Electrical, rotational or translational, if all variables are of one."""
        domains = {variable.kind for variable in self.shared if variable.kind}
        return domains.pop() if len(domains) == 1 else None

    @property
    def repeats(self) -> bool:
        """Whether the equations say the same thing twice, and do not contradict each other."""
        rest = None if self.combined is None else self.combined.rest
        return rest is not None and is_number(rest) and rest == 0 and bool(self.open_names)

    @property
    def all_sources(self) -> bool:
        return all(owner in self.rows.parts and self.rows.parts[owner].is_source for owner in self.owners)

    @property
    def left(self) -> str:
        """What stays open, in words."""
        return f"; it leaves open {_list(sorted(self.open_names)[:6])}" if self.open_names else ""

    @property
    def tail(self) -> str:
        """The equations, in words."""
        return f" (rows: {'; '.join(row.said for row in self.equations[:8])})" if self.equations else ""

    def error(self, message: str) -> ModelError:
        """The error with the equations behind its message."""
        return ModelError(f"{message}{self.tail}", component=self.first)


class Rule(NamedTuple):
    """A conflict that is known, and how it is told."""

    applies: Callable[[Conflict], bool]
    tell: Callable[[Conflict], ModelError]


def _tell_repeated(conflict: Conflict) -> ModelError:
    circle = f"their {_word(conflict.potentials)} go in a circle; leave one out"
    return conflict.error(f"{_list(conflict.owners)} say one thing twice: {circle}")


def _tell_floating(conflict: Conflict) -> ModelError:
    opens = conflict.opens
    loose, reference = _list(sorted({v.owner for v in opens})), _reference(opens[0].kind)
    message = f"nothing ties {loose} to a reference: only differences of their {_word(opens)} are decided"
    return conflict.error(f"{message}; connect one to {reference}")


def _tell_voltages(conflict: Conflict) -> ModelError:
    owners = conflict.owners
    what = "a loop of voltage sources"
    if owners:
        loop = f"{_list(owners)} form a loop of ideal voltage sources"
        what = loop if len(owners) > 1 else f"{owners[0]} is a voltage source that is shorted"
    return _tell_potentials(conflict, what)


def _tell_motions(conflict: Conflict) -> ModelError:
    owners = conflict.owners
    together = f"{_list(owners)} {'both' if len(owners) == 2 else 'all'} decide the motion of one shaft"
    return _tell_potentials(conflict, together if len(owners) > 1 else f"{conflict.first} moves what cannot move")


def _tell_potentials(conflict: Conflict, what: str) -> ModelError:
    assert conflict.domain is not None
    hint = f"put {BETWEEN[conflict.domain]} in between"
    return conflict.error(f"{what}: their {POTENTIALS[conflict.domain]} cannot all hold{conflict.left}; {hint}")


def _tell_flows(conflict: Conflict) -> ModelError:
    assert conflict.domain is not None
    many = len(conflict.owners) > 1
    what = f"{_list(conflict.owners)} are in series" if many else f"{conflict.first} leads nowhere"
    nodes = sorted({row.owner for row in conflict.equations if row.owner in conflict.rows.nodes})
    flows = f"the {FLOWS[conflict.domain]}{f' at {_list(nodes)}' if nodes else ''}"
    message = f"{what}: {flows} are all given and cannot sum to zero{conflict.left}; add {BESIDE[conflict.domain]}"
    return conflict.error(message)


def _tell_contradiction(conflict: Conflict) -> ModelError:
    who = _list(conflict.owners) if conflict.owners else conflict.rows.system.name
    return conflict.error(f"the equations of {who} contradict or repeat each other{conflict.left}")


def _are_potentials_given(conflict: Conflict) -> bool:
    given = not conflict.flows or conflict.all_sources
    return conflict.domain is not None and bool(conflict.potentials) and given


RULES = (
    Rule(lambda c: bool(c.sticking), lambda c: explain_sticking(c.sticking)),
    Rule(lambda c: c.repeats and not c.flows, _tell_repeated),
    Rule(lambda c: c.repeats and all(v.sort == "potential" for v in c.opens), _tell_floating),
    Rule(lambda c: _are_potentials_given(c) and c.domain == "electrical", _tell_voltages),
    Rule(_are_potentials_given, _tell_motions),
    Rule(lambda c: c.domain is not None and bool(c.flows) and not c.potentials, _tell_flows),
    Rule(lambda c: True, _tell_contradiction),
)
"""The first that applies tells."""


def explain(
    rows: NetworkEquations,
    over: Sequence[int],
    shared: Sequence[str],
    open_names: Sequence[str],
    combined: NetworkEquation | None = None,
) -> ModelError:
    """The error for equations that say too much about ``shared`` variables, and so leave others open."""
    equations = tuple(rows.rows[i] for i in over if i < len(rows.rows))
    variables = tuple(rows.variables[name] for name in shared if name in rows.variables)
    conflict = Conflict(rows, equations, variables, tuple(open_names), combined)
    return next(rule for rule in RULES if rule.applies(conflict)).tell(conflict)


def explain_sticking(owners: Sequence[str]) -> ModelError:
    """What sticks says that a shaft rests: it has to be free to, and none else may say it."""
    if len(owners) > 1:
        message = f"{_list(owners)} stick on one shaft, and nothing tells how much each holds: make them one part"
    else:
        message = "sticks where nothing with an inertia is free to: add a shaft_inertia or a slide_mass where it rubs"
        message += ", or take a shaft_loss or a slide_loss, which do not stick; joints have friction= of their own"
    return ModelError(message, component=owners[0])


def _word(variables: Sequence[object]) -> str:
    kinds = {getattr(v, "kind", "") for v in variables}
    return POTENTIALS[kinds.pop()] if len(kinds) == 1 else "potentials"


def _reference(kind: str) -> str:
    return "gnd" if kind == "electrical" else "world"


def explain_joint(rows: NetworkEquations, over: Sequence[int], names: Sequence[str]) -> ModelError:
    """Rows that fix the motion of joints, which have an equation of motion already."""
    said = [rows.rows[i] for i in over if i < len(rows.rows)]
    parts = [o for o in dict.fromkeys(row.owner for row in said) if o in rows.parts]
    joints = list(
        dict.fromkeys(rows.joint_of[n][0] for row in said for n in row.orders(rows.variables) if n in rows.joint_of)
    )
    first = parts[0] if parts else rows.system.name
    if len(joints) > 1:
        turning = {rows.system.joints[name].coordinates[0][1] for name in joints}
        kind = "gear" if len(turning) == 1 else "rack"
        message = f"ties the joints {_list(joints)} to each other; write a constraint of the kind {kind} between them"
    elif joints:
        message = f"decides the motion of the joint {joints[0]}; write motion= or speed= in the joint"
    else:
        message = f"says more than its ports can bear, about {_list(sorted(names)[:6])}"
    also = f" (together with {_list(parts[1:])})" if len(parts) > 1 else ""
    return ModelError(f"{message}{also}; or put a spring, a damper or a resistance in between", component=first)


def explain_jerk(rows: NetworkEquations, name: str, asking: Iterable[NetworkEquation]) -> ModelError:
    """Rows that would need the rate of a joint's acceleration."""
    joint = rows.joint_of[name][0]
    parts = list(dict.fromkeys(row.owner for row in asking))
    first = next((p for p in parts if p in rows.parts), rows.system.name)
    message = f"needs the rate of the acceleration of {joint}; put a compliance, a damper or a resistance in between"
    return ModelError(message, component=first)


def explain_rate(rows: NetworkEquations, row: NetworkEquation, name: str) -> ModelError:
    """A row that has to be differentiated and holds something without a known rate."""
    message = f"{row.name}: what it stores or moves follows from it at once, so that the rate of {name} is needed"
    hint = "put a resistance, a spring or a damper in between, or write a law of t and of states of the network"
    return ModelError(f"{message}, which is not known; {hint}", component=row.owner)


def explain_nonlinear(row: NetworkEquation, unknowns: Iterable[object], operation: str) -> ModelError:
    """A row that is not affine in what it is solved for."""
    names = [("der(" * n[1] + n[0] + ")" * n[1]) if isinstance(n, tuple) else str(n) for n in unknowns]
    message = f"{row.name} is not linear in what has to be solved for: {operation} of {_list(names)}"
    return ModelError(
        f"{message}; give it a state to act on (a capacitor, an inductor, an inertia)", component=row.owner
    )


def tell_dependent(name: str, owners: Sequence[str]) -> str:
    """A quantity that would be a state if others did not decide it."""
    return f"{name} is no state of its own: it follows from {_list(owners)}"


def _list(names: Sequence[str], word: str = "and") -> str:
    names = list(names)
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}" if names else "nothing"


def explain_singular(
    rows: NetworkEquations, wrong: Sequence[NetworkEquation], unknowns: Iterable[object]
) -> ModelError:
    """Rows that depend on each other where numbers are put in."""
    names = sorted({str(n[0]) if isinstance(n, tuple) else str(n) for n in unknowns})
    owner = next((row.owner for row in wrong if row.owner in rows.parts), wrong[0].owner if wrong else rows.system.name)
    said = "; ".join(row.said for row in wrong[:8])
    return ModelError(
        f"these equations depend on each other and leave {_list(names[:6])} open: {said}", component=owner
    )
