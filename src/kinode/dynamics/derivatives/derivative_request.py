"""A call of derivatives: what is asked for and what by, whether it exists at a state, and the result with its blocks.

q, u, z          state; q in small motions along the speeds, so that a quaternion has three columns
coordinates      the entries of q as they stand
t                time
effort           efforts added to the model's own laws
u_dot            accelerations, where they are given
p or parameters  all parameters; or one of them by its name
inputs           all inputs; or one of them by its name

In singular positions of loops accelerations have no derivatives: the constraint rows depend on each other, and what
would be divided by zero is divided by rounding errors.  A result that is neither infinite nor very large is not looked
at, so that the check costs next to nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.reactions.sharing_pattern import find_shared_names
from kinode.errors import ArgumentError, counted
from kinode.kernels.derivatives.derivative_words import count_columns, shape_of
from kinode.kernels.kernel_options import DerivativeOptions, Kernel
from kinode.model.base.fields import short, unknown
from kinode.structure.loop_closure import find_rank
from kinode.structure.state_layout import EvaluationPoint

if TYPE_CHECKING:
    from kinode.dynamics.compiled_system import Dynamics


Names = str | Iterable[str]
ARRAYS = {"q": "q", "coordinates": "coordinates", "u": "u", "z": "z", "t": "t", "p": "p", "parameters": "p"}
ARRAYS |= {"inputs": "inputs", "effort": "x", "u_dot": "x"}
OF_ACCELERATIONS = ("u_dot", "rate")  # what has no derivative where accelerations are given
BY_DEFAULT = ("q", "u", "effort")
BY_DEFAULT_OF_MOTION = ("q", "u", "u_dot")


@dataclass(frozen=True, eq=False)
class DerivativeRequest:
    """What is differentiated by what.

    ``of`` and ``by`` are the names as they were given, with the shape of each.  ``of_motion`` says whether
    accelerations are given; otherwise they follow from the model, with added efforts.  ``is_shared`` says whether there
    are reactions among the quantities that equilibrium alone does not determine.
    """

    of: Mapping[str, tuple[int, ...]]
    by: Mapping[str, tuple[int, ...]]
    options: DerivativeOptions
    of_motion: bool
    is_shared: bool = False

    @property
    def kernel(self) -> Kernel:
        """The compiled function."""
        return Kernel("derivatives_of_motion" if self.of_motion else "derivatives", self.options)

    @property
    def argument(self) -> str:
        """The name of the argument after t, q and u."""
        return "u_dot" if self.of_motion else "effort"

    @cached_property
    def rows(self) -> dict[str, slice]:
        """The rows of the matrix that belong to each quantity."""
        return _slices(self.of)

    @cached_property
    def columns(self) -> dict[str, slice]:
        """The columns of the matrix that belong to each name in ``by``."""
        return _slices(self.by)

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the matrix."""
        return _size(self.of), _size(self.by)


def _size(shapes: Mapping[str, tuple[int, ...]]) -> int:
    return sum(int(np.prod(shape, dtype=int)) for shape in shapes.values())


def _slices(shapes: Mapping[str, tuple[int, ...]]) -> dict[str, slice]:
    slices: dict[str, slice] = {}
    start = 0
    for name, shape in shapes.items():
        slices[name] = slice(start, start := start + int(np.prod(shape, dtype=int)))
    return slices


def read_request(dynamics: Dynamics, of: Names, by: Names | None, of_motion: bool = False) -> DerivativeRequest:
    """What a call asks for; ``of_motion`` says whether accelerations are given besides."""
    names = expand_names(dynamics, read_names("of", of))
    of_motion = of_motion or "effort" in names or (by is not None and "u_dot" in read_names("by", by))
    default = BY_DEFAULT_OF_MOTION if of_motion else BY_DEFAULT
    words = default if by is None else read_names("by", by)
    _check_words(names, words, of_motion)
    topology = dynamics.arguments.topology
    shapes = {name: shape_of(topology, name) for name in names}
    directions = {word: read_direction(dynamics, word) for word in words}
    options = DerivativeOptions(names, tuple(directions.values()))
    sizes = {
        word: (count_columns(topology, array),) if position is None and word != "t" else ()
        for word, (array, position) in directions.items()
    }
    shared = find_shared_names(dynamics, names)
    return DerivativeRequest(shapes, sizes, options, of_motion, bool(shared))


def read_names(argument: str, value: Names, example: str = "u_dot") -> tuple[str, ...]:
    """One name or several, each once; the error of another value gives an example."""
    names = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, Iterable) else ()
    if not names or not all(isinstance(name, str) for name in names):
        raise ArgumentError(f"{argument}: a name or several are expected, such as {example!r}, not {short(value)}")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ArgumentError(f"{argument}: {twice} is named twice")
    return names


def _check_words(names: tuple[str, ...], words: tuple[str, ...], of_motion: bool) -> None:
    """Refuse what does not go together: accelerations are given, or they follow from efforts."""
    if not of_motion:
        return
    if "effort" in words:
        raise ArgumentError("by: effort follows from given accelerations here; differentiate by u_dot")
    for name in OF_ACCELERATIONS:
        if name in names:
            raise ArgumentError(f"of: {name} cannot be differentiated where accelerations are given")


def expand_names(dynamics: Dynamics, names: tuple[str, ...]) -> tuple[str, ...]:
    """Names of quantities, with ``reactions`` and ``poses`` replaced by the names of all joints and bodies."""
    system = dynamics.system
    groups = {
        "reactions": [f"{joint}.reaction.{part}" for joint in system.joints for part in ("force", "moment")],
        "poses": [f"{body}.{part}" for body in system.bodies for part in ("position", "rotation")],
    }
    whole = [name for each in names for name in groups.get(each, [each])]
    return tuple(dict.fromkeys(whole))


def read_direction(dynamics: Dynamics, word: str, argument: str = "by") -> tuple[str, int | None]:
    """The array of a name in ``by``, and the position in it; None for all of it.  Errors name the ``argument``."""
    topology, live = dynamics.arguments.topology, dynamics.arguments.live_numbers
    if word in ARRAYS:
        return ARRAYS[word], 0 if word == "t" else None
    if word in topology.inputs:
        return "inputs", topology.inputs.index(word)
    if word in live and live[word].structural:
        raise ArgumentError(f"{argument}: {word} is {live[word].reason}; there is no derivative by it")
    name = live[word].parameter if word in live else word
    if name in topology.parameters:
        return "p", topology.parameters.index(name)
    if name in dynamics.system.parameters:
        raise ArgumentError(f"{argument}: {word} is calculated from other parameters; differentiate by those")
    known = [*ARRAYS, *topology.parameters, *topology.inputs, *live]
    raise ArgumentError(unknown(f"{argument}: no parameter or input is called", word, known))


@dataclass(frozen=True, eq=False)
class Derivatives:
    """Derivatives at one state, or at each row of a batch.

    ``matrix`` has a row for each entry of what is differentiated, and a column for each entry of what it is
    differentiated by; of a batch it has three dimensions.  ``derivatives["q"]`` is a block of it: the shape of the
    quantity, then one more axis, which one parameter or input by name does not have.  Of several quantities a block has
    two names, as in ``derivatives["lower.position", "q"]``.  The blocks are views: they change with the matrix.
    """

    matrix: Array
    request: DerivativeRequest

    @property
    def of(self) -> tuple[str, ...]:
        """The names of what is differentiated."""
        return tuple(self.request.of)

    @property
    def by(self) -> tuple[str, ...]:
        """The names of what it is differentiated by."""
        return tuple(self.request.by)

    def __getitem__(self, key: str | tuple[str, str]) -> Array:
        of, by = key if isinstance(key, tuple) else (None, key)
        request = self.request
        if by not in request.by:
            raise ArgumentError(unknown("derivatives: there is no block by", by, self.by))
        if of is not None and of not in request.of:
            raise ArgumentError(unknown("derivatives: there is no block of", of, self.of))
        if of is None and len(request.of) == 1:
            (of,) = request.of
        rows, shape = (slice(None), (request.shape[0],)) if of is None else (request.rows[of], request.of[of])
        block: Array = self.matrix[..., rows, request.columns[by]]
        return np.reshape(block, (*block.shape[:-2], *shape, *request.by[by]))

    def __repr__(self) -> str:
        rows = f", {len(self.matrix)} times" if self.matrix.ndim == 3 else ""
        return f"<Derivatives of {', '.join(self.of)} by {', '.join(self.by)}{rows}>"


SUSPICIOUS = 1e12  # in SI; divisions by rounding errors give 1e13 and more


def find_limit(dynamics: Dynamics) -> float | None:
    """Beyond this size a prepared function leaves its result to ``check_positions``; None where no loop is."""
    return SUSPICIOUS if dynamics.topology.constrained else None


def check_positions(dynamics: Dynamics, of: str, point: EvaluationPoint, result: Array) -> Array:
    """The derivatives of ``of``; an error where they are those in a singular position."""
    if not dynamics.topology.constrained or not result.size:
        return result
    states = result[None] if point.n_rows is None else result
    with np.errstate(invalid="ignore"):
        usual = (abs(states) < SUSPICIOUS).all(axis=tuple(range(1, states.ndim)))
    for k in map(int, np.flatnonzero(~usual)):
        alone = point.n_rows is None
        extra = _count_extra(dynamics, point if alone else point.row(k))
        if extra:
            where = "this state" if alone else f"state {k}"
            more = f"{counted(extra, 'more freedom')} than at positions beside it"
            raise ArgumentError(f"{of}: {where} is a singular position, with {more}: there is no derivative")
    return result


def _count_extra(dynamics: Dynamics, point: EvaluationPoint) -> int:
    """The freedoms of a position beyond those of others; none where the constraint rows are not finite."""
    closure = dynamics.closure
    G = dynamics.loops.evaluate(point)[1][closure.used]
    return max(0, len(closure.rows) - find_rank(G)) if np.isfinite(G).all() else 0
