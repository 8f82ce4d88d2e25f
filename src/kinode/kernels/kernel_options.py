"""Options of kernels: with the name, they identify a kernel."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from kinode.multibody.loop_statics import Support


class Kernel(NamedTuple):
    """A compiled model function by name.

    ``options`` is one of the records below, or a tuple of names (of quantities, of a frame, of a law); the table in
    ``kernel_table.py`` says which.
    """

    name: str
    options: Hashable = ()

    def __str__(self) -> str:
        return f"{self.name} {self.options!r}"


@dataclass(frozen=True)
class LoadOptions:
    """Options of the kernels for load-bearing constraints: which share of their loads.

    ``support`` are the joint freedoms that support loops in a static equilibrium.
    """

    part: str = "total"
    support: Support = None


@dataclass(frozen=True)
class ReactionOptions(LoadOptions):
    """Options of the kernels for reactions: share, joints, body, reference point, axes.

    ``whole`` adds the efforts along the freedoms.  None means the default: on the child, about its joint point, in the
    joint axes of the parent.
    """

    whole: bool = False
    on: str | None = None
    about: str | None = None
    axes: str | None = None
    joints: tuple[str, ...] = ()


@dataclass(frozen=True)
class ContributionOptions:
    """The kinetic shares of the reactions of joints, split by body, by cause or by term."""

    by: str
    joints: tuple[str, ...]
    support: Support = None
    about: str | None = None
    axes: str | None = None


@dataclass(frozen=True)
class SharingOptions:
    """How redundant reactions are shared: the length that divides moments, locked coordinates, what is not unique.

    ``shared`` says for each component of ``topology.holding`` whether it is shared; the others stay as they are.
    """

    length: float
    locks: tuple[tuple[str, int], ...]
    shared: tuple[bool, ...]


@dataclass(frozen=True)
class SharedNames:
    """Names of quantities, and how redundant reactions among them are shared."""

    names: tuple[str, ...]
    sharing: SharingOptions | None


@dataclass(frozen=True)
class BoundOptions:
    """What the kernels of bounds cover: laws as text, event functions by their index, and how many arguments."""

    laws: tuple[str, ...] = ()
    event_functions: tuple[int, ...] = ()
    n_arguments: int = 0


@dataclass(frozen=True)
class PictureOptions:
    """What pictures of a run show: quantities by name, loads of joints and of constraints, by part.

    ``constraints`` have the body that each acts on.  ``rotations`` adds the axes in which reactions are given.
    """

    names: tuple[str, ...] = ()
    joints: tuple[str, ...] = ()
    constraints: tuple[tuple[str, str], ...] = ()
    parts: tuple[str, ...] = ("total",)
    support: Support = None
    rotations: bool = False


@dataclass(frozen=True)
class DerivativeOptions:
    """What is differentiated, and by what.

    ``of`` are names of quantities, or words of ``derivatives/derivative_outputs.py``.  ``by`` has a word of that file
    and a position in that array, or None for all of it.  ``sharing`` is how redundant reactions among the quantities
    are shared.
    """

    of: tuple[str, ...]
    by: tuple[tuple[str, int | None], ...]
    sharing: SharingOptions | None = None


@dataclass(frozen=True)
class ColumnOptions:
    """Which kernel gets columns of derivatives beside its result, and by which parameters and inputs.

    ``by`` has an array and a position for each column; None where a column is of the state alone.  ``with_time`` says
    whether the time has a rate in each column too, with which inputs change along their slopes.
    """

    of: Kernel
    by: tuple[tuple[str, int] | None, ...]
    with_time: bool = False
