"""Quantities by name: compiled values, with redundant reactions distributed by a rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kinode.algebra.scalars import Array
from kinode.dynamics.frame_calls.lost_frames import check_frames
from kinode.dynamics.joint_reactions import by_name
from kinode.dynamics.link_reactions import link_change
from kinode.dynamics.load_uniqueness import is_shared
from kinode.dynamics.state_batches.state_batch import StateBatch, split_values
from kinode.model.quantity_names import find_quantity

if TYPE_CHECKING:
    from kinode.dynamics.compiled_system import Dynamics
    from kinode.dynamics.redundant_reactions import ReactionSharing


def evaluate_names(
    dynamics: Dynamics, texts: tuple[str, ...], states: StateBatch, sharing: Callable[[], ReactionSharing]
) -> dict[str, Array]:
    """Quantities by name; ``sharing`` is called where reactions are not unique."""
    names = [find_quantity(dynamics.system, name) for name in texts]
    values = dict(split_values(states.call(dynamics, "evaluate", texts), names))
    check_frames(dynamics, names, values, states)
    for name in names:
        if is_shared(dynamics, name) and name.sort == "link":
            value = values[name.text]
            values[name.text] = value + link_change(dynamics, name, states, sharing()).reshape(value.shape)
        elif is_shared(dynamics, name):
            values[name.text] = by_name(dynamics, name, states, sharing(), values[name.text])
    return values
