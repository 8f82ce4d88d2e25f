"""Which loads equilibrium alone may not determine: those of constraints with redundant rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinode.model.quantity_names import ACTED_ON, JOINT_WRENCHES, QuantityName

if TYPE_CHECKING:
    from kinode.dynamics.compiled_system import Dynamics


def is_redundant(dynamics: Dynamics) -> bool:
    """Whether constraint rows are redundant, so that reactions may not be unique."""
    closure = dynamics.closure if dynamics.topology.constrained else None
    return closure is not None and len(closure.rows) < closure.total


def is_shared(dynamics: Dynamics, name: QuantityName) -> bool:
    """Whether a quantity by name depends on the distribution of redundant reactions."""
    if not is_redundant(dynamics):
        return False
    if name.sort == "constraint":
        return name.quantity != "residual"
    if name.sort == "link":
        return name.quantity.rpartition(".")[2] in ("force", "moment")
    if name.sort != "joint":
        return False
    acted_on = dynamics.system.joints[name.owner].driven or name.owner in dynamics.topology.tied
    return name.quantity in JOINT_WRENCHES or (acted_on and name.quantity in ACTED_ON)
