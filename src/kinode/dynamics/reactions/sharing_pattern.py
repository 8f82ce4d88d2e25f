"""The pattern of redundancy of a mechanism: which loads are shared, and which coordinates lock it.

Operations on a tape share reactions for one pattern (``kernels/derivatives/shared_quantities.py``).  It seldom
changes: a planar linkage has the same one in all positions but those where links fall into line.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kinode.dynamics.reactions.lost_values import is_shared
from kinode.dynamics.reactions.redundancy import REFERENCES, Analyses, check_teeth, find_options, share_certified
from kinode.dynamics.state_batch import StateBatch
from kinode.errors import ArgumentError, Error
from kinode.kernels.derivatives.derivative_words import OF_SYSTEMS
from kinode.kernels.kernel_options import Kernel, SharedNames, SharingOptions
from kinode.model.quantities import QuantityName, find_quantity

if TYPE_CHECKING:
    from kinode.dynamics.compiled_system import Dynamics


def find_pattern(dynamics: Dynamics, states: StateBatch) -> SharingOptions:
    """The pattern that holds at all states, proved for each; an ArgumentError where there is none."""
    known: list[SharingOptions] = dynamics.kernels.once("patterns", list)
    for pattern in known:
        if _holds(dynamics, states, pattern):
            return pattern
    known.append(_proved(dynamics, states, _find_new(dynamics, states)))
    return known[-1]


def _proved(dynamics: Dynamics, states: StateBatch, pattern: SharingOptions) -> SharingOptions:
    """A pattern that holds at all states; another one is refused."""
    if not _holds(dynamics, states, pattern):
        raise ArgumentError(_explain(dynamics, states, pattern))
    return pattern


def find_shared_names(dynamics: Dynamics, names: Iterable[str]) -> list[str]:
    """The quantities that depend on how redundant reactions are shared; those of links are refused."""
    words = [name for name in names if name not in OF_SYSTEMS]
    quantities = [find_quantity(dynamics.system, name) for name in words]
    shared = [quantity for quantity in quantities if is_shared(dynamics, quantity)]
    for quantity in shared:
        if quantity.sort == "link":
            message = "is not determined by equilibrium alone here, and loads of links are not differentiated then"
            raise ArgumentError(f"of: {quantity.text} {message}; name the reaction of the joint")
    return [quantity.text for quantity in shared]


def find_start_pattern(dynamics: Dynamics, names: Iterable[str]) -> SharingOptions | None:
    """The pattern at the start for these quantities, where some are shared; else None."""
    if not find_shared_names(dynamics, names):
        return None

    def find() -> SharingOptions:
        states = StateBatch.of(dynamics.point(dynamics.initial))
        return _proved(dynamics, states, _find_new(dynamics, states))

    return dynamics.kernels.once("pattern at the start", find)


def has_start_pattern(dynamics: Dynamics, name: QuantityName) -> bool:
    """Whether a quantity by name can be written into other programs: it is unique, or shared by least norm."""
    try:
        find_start_pattern(dynamics, [name.text])
    except Error:
        return False
    return True


def values_kernel(dynamics: Dynamics, names: tuple[str, ...]) -> Kernel:
    """The kernel of quantities by name, with reactions shared by the pattern at the start."""
    pattern = find_start_pattern(dynamics, names)
    return Kernel("evaluate", names) if pattern is None else Kernel("shared_values", SharedNames(names, pattern))


def _count(states: StateBatch) -> int:
    return 1 if states.n_rows is None else states.n_rows


def _certify(dynamics: Dynamics, states: StateBatch, pattern: SharingOptions) -> npt.NDArray[np.bool_]:
    trial = np.zeros((_count(states), len(pattern.shared)))
    return share_certified(dynamics, _as_batch(states), pattern, trial)[1]


def _holds(dynamics: Dynamics, states: StateBatch, pattern: SharingOptions) -> bool:
    return bool(_certify(dynamics, states, pattern).all())


def _as_batch(states: StateBatch) -> StateBatch:
    """One state as a batch of one."""
    if states.n_rows is not None:
        return states
    arrays = {name: np.atleast_2d(getattr(states, name)) for name in ("q", "u", "z")}
    return StateBatch(np.atleast_1d(states.t), p=states.p, inputs=states.inputs, **arrays)


def _find_new(dynamics: Dynamics, states: StateBatch) -> SharingOptions:
    """The pattern of most of the states."""
    rows = _count(states)
    analyses = Analyses(dynamics, states, rows)
    check_teeth(dynamics, analyses)
    if analyses.constants.roots:
        names = ", ".join(analyses.constants.roots)
        raise ArgumentError(
            f"of: reactions are shared by the compliance of {names} here; they can be differentiated without it"
        )
    some = np.unique(np.linspace(0, rows - 1, REFERENCES).astype(int))
    pattern = find_options(analyses.tables, analyses.directions(some), analyses.unit_loads(some))
    if pattern is None:
        message = "which reactions are unique is in doubt at this state, which is near a singular position"
        raise ArgumentError(f"of: {message}; nothing can be differentiated there")
    freedoms = dynamics.n_u - len(dynamics.closure.rows)
    if len(pattern.locks) != freedoms:
        message = f"the mechanism has {len(pattern.locks)} freedoms at this state and {freedoms} at others"
        raise ArgumentError(
            f"of: {message}: a singular position, or an open loop; how reactions are shared has no derivative there"
        )
    return pattern


def _explain(dynamics: Dynamics, states: StateBatch, pattern: SharingOptions) -> str:
    bad = np.flatnonzero(~_certify(dynamics, states, pattern))
    if _count(states) == 1:
        return "of: how reactions are shared changes at this state, a singular position: they have no derivative there"
    return (
        f"of: how reactions are shared is not the same at all states: state {bad[0]} differs; differentiate them apart"
    )
