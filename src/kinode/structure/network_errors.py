"""What is wrong with a network, in the words of whoever drew it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from kinode.algebra.scalars import is_number
from kinode.errors import ModelError
from kinode.model.network.friction_parts import FrictionPart

if TYPE_CHECKING:
    from kinode.structure.network_equations import NetworkEquation, NetworkEquations

POTENTIALS = {
    "electrical": "voltages",
    "rotational": "angles or speeds",
    "translational": "positions or speeds",
}
FLOWS = {"electrical": "currents", "rotational": "moments", "translational": "forces"}
BETWEEN = {"electrical": "a resistance", "rotational": "a spring or a damper", "translational": "a spring or a damper"}
BESIDE = {"electrical": "a resistance beside one of them", "rotational": "an inertia", "translational": "a mass"}


def explain(
    rows: NetworkEquations,
    over: Sequence[int],
    shared: Sequence[str],
    open_names: Sequence[str],
    combined: NetworkEquation | None = None,
) -> ModelError:
    """Rows that say too much about ``shared`` variables, and so leave others open."""
    said = [rows.rows[i] for i in over if i < len(rows.rows)]
    owners = [o for o in dict.fromkeys(row.owner for row in said) if o in rows.parts]
    wired = [o for o in owners if _gives(said, o)]
    owners = wired or owners or list(dict.fromkeys(row.owner for row in said))
    sticking = [o for o in owners if isinstance(rows.parts.get(o), FrictionPart)]
    if sticking:
        return explain_sticking(sticking)
    variables = [rows.variables[name] for name in shared if name in rows.variables]
    first = owners[0] if owners else (rows.variables[open_names[0]].owner if open_names else rows.system.name)
    tail = f" (rows: {'; '.join(row.said for row in said[:8])})" if said else ""
    left = f"; it leaves open {_list(sorted(open_names)[:6])}" if open_names else ""
    kinds = {variable.kind for variable in variables if variable.kind}
    potentials = [v for v in variables if v.sort in ("potential", "joint")]
    flows = [v for v in variables if v.sort == "flow"]
    kind = next(iter(kinds)) if len(kinds) == 1 else None
    if combined is not None and is_number(combined.rest) and combined.rest == 0 and open_names:
        opens = [rows.variables[name] for name in open_names]
        if not flows:
            message = f"{_list(owners)} say one thing twice: their {_word(potentials)} go in a circle; leave one out"
            return ModelError(f"{message}{tail}", component=first)
        if all(v.sort == "potential" for v in opens):
            loose = _list(sorted({v.owner for v in opens}))
            message = f"nothing ties {loose} to a reference: only differences of their {_word(opens)} are decided"
            return ModelError(f"{message}; connect one to {_reference(opens[0].kind)}{tail}", component=first)
    if kind is not None and potentials and (not flows or _sources(rows, owners)):
        if kind == "electrical":
            what = f"{_list(owners)} form a loop of ideal voltage sources" if len(owners) > 1 else (
                f"{owners[0]} is a voltage source that is shorted" if owners else "a loop of voltage sources"
            )  # fmt: skip
        else:
            together = f"{_list(owners)} {'both' if len(owners) == 2 else 'all'} decide the motion of one shaft"
            what = together if len(owners) > 1 else f"{first} moves what cannot move"
        message = f"{what}: their {POTENTIALS[kind]} cannot all hold{left}; put {BETWEEN[kind]} in between{tail}"
        return ModelError(message, component=first)
    if kind is not None and flows and not potentials:
        many = f"{_list(owners)} are in series" if len(owners) > 1 else f"{first} leads nowhere"
        where = sorted({row.owner for row in said if row.owner in rows.nodes})
        at = f" at {_list(where)}" if where else ""
        message = f"{many}: the {FLOWS[kind]}{at} are all given and cannot sum to zero{left}; add {BESIDE[kind]}{tail}"
        return ModelError(message, component=first)
    owners_said = _list(owners) if owners else rows.system.name
    message = f"the equations of {owners_said} contradict or repeat each other{left}{tail}"
    return ModelError(message, component=first)


def explain_sticking(owners: Sequence[str]) -> ModelError:
    """What sticks says that a shaft rests: it has to be free to, and none else may say it."""
    if len(owners) > 1:
        message = f"{_list(owners)} stick on one shaft, and nothing tells how much each holds: make them one part"
    else:
        message = "sticks where nothing with an inertia is free to: add a shaft_inertia or a slide_mass where it rubs"
        message += ", or take a shaft_loss or a slide_loss, which do not stick; joints have friction= of their own"
    return ModelError(message, component=owners[0])


def _gives(said: Sequence[NetworkEquation], owner: str) -> bool:
    """Whether a part has a row of its own among them, not just one that passes a flow through."""
    return any(row.owner == owner and not (is_number(row.rest) and len(row.terms) == 2) for row in said)


def _sources(rows: NetworkEquations, owners: Sequence[str]) -> bool:
    """Whether all of the parts are sources by their kind."""
    return all(o in rows.parts and "source" in rows.parts[o].kind for o in owners)


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
