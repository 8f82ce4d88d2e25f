"""Values and Jacobians of a compiled system for frameworks that call back: NumPy arrays with any leading dimensions.

The function takes t, q, u, z, p, inputs and efforts (of inverse dynamics accelerations), each with an entry for each of
its numbers along the last dimension.  Leading dimensions are a batch, and are broadcast.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.derivative_calls.derivative_request import expand_names, read_names, read_request
from kinode.dynamics.derivative_calls.prepared_derivatives import prepare
from kinode.dynamics.shared_patterns import find_pattern
from kinode.dynamics.state_batches.state_batch import StateBatch
from kinode.errors import ArgumentError
from kinode.exporters.frameworks.casadi_functions import FORWARD, MOTION
from kinode.exporters.frameworks.exchanged_arguments import ExchangedArguments
from kinode.kernels.kernel_options import Kernel, SharedNames
from kinode.model.base.fields import unknown

if TYPE_CHECKING:
    from kinode.dynamics.compiled_system import Dynamics

WORD_OF = {"q": "coordinates"}  # what an argument is called in ``by=`` of derivatives: the entries of q as they stand


class CalledFunction:
    """What a name, or several, of a system are as a function of all its arguments.

    Attributes
    ----------
    words : tuple of str
        The arguments.
    size : int
        Number of entries of the result: all names one after the other.
    shapes : dict
        The shape of each name.
    """

    def __init__(self, dynamics: Dynamics, of: str | Iterable[str]) -> None:
        names = expand_names(dynamics, read_names("of", of if isinstance(of, str) else tuple(of)))
        request = read_request(dynamics, names, None)
        self.dynamics, self.names, self.shapes = dynamics, names, dict(request.of)
        self.entries = ExchangedArguments(dynamics)
        self.words = MOTION if request.of_motion else FORWARD
        self.kernel = Kernel("values_of_motion" if request.of_motion else "loaded_values", names)
        if not request.of_motion:
            dynamics.kernels.check_forward()
        self.active = [word for word in self.words if self.entries[word]]
        by = tuple(WORD_OF.get(word, word) for word in self.active)
        self.function = prepare(dynamics, read_request(dynamics, names, by, request.of_motion))
        self.columns = {word: self.function.columns[name] for word, name in zip(self.active, by)}
        self.size = self.function.shape[0]

    def order(self, given: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
        """The arguments of a call in order, with the model's own values in place of those that are not given."""
        if len(given) > len(self.words):
            raise ArgumentError(f"{len(given)} arguments are given; there are {', '.join(self.words)}")
        known = dict(zip(self.words, given))
        for name, value in named.items():
            if name not in self.words:
                raise ArgumentError(unknown("no argument is called", name, self.words))
            if name in known:
                raise ArgumentError(f"{name}: it is given twice")
            known[name] = value
        return [known[word] if word in known else self.entries.values_of(word) for word in self.words]

    def check(self, word: str, shape: tuple[int, ...]) -> None:
        """Refuse an argument whose last dimension is not that of the system; a time may be a number."""
        count = len(self.entries[word])
        if word == "t" and not shape:
            return
        if not shape or shape[-1] != count:
            raise ArgumentError(f"{word}: {count} entries along the last dimension are expected, not shape {shape}")

    def values(self, *arguments: Any) -> Array:
        """The result, of shape (..., size)."""
        lead, point = self._point(arguments)
        kernel = self.kernel
        if self.function.request.is_shared:
            pattern = find_pattern(self.dynamics, StateBatch.of(point[0]))
            kernel = kernel._replace(options=SharedNames(self.names, pattern))
        result = self.dynamics.kernels.call(kernel, point[0], point[1])
        return result.reshape(*lead, self.size)

    def jacobian(self, *arguments: Any) -> Array:
        """The derivatives by all arguments that have entries, of shape (..., size, columns)."""
        lead, (point, x) = self._point(arguments)
        matrix = self.function.evaluate(point.t, point.q, point.u, x, point.z, point.p, point.inputs, None)
        return matrix.reshape(*lead, *self.function.shape)

    def _point(self, arguments: Sequence[Any]) -> tuple[tuple[int, ...], tuple[Any, Array]]:
        """The leading dimensions, and the arguments as a batch of rows."""
        arrays = {}
        for word, value in zip(self.words, arguments, strict=True):
            array = np.asarray(value, dtype=float)
            self.check(word, array.shape)
            arrays[word] = array.reshape(1) if array.ndim == 0 else array
        lead = np.broadcast_shapes(*(array.shape[:-1] for array in arrays.values()))
        count = int(np.prod(lead, dtype=int))
        rows = {
            word: np.ascontiguousarray(np.broadcast_to(array, (*lead, array.shape[-1])).reshape(count, array.shape[-1]))
            for word, array in arrays.items()
        }
        x = rows[self.words[-1]]
        t, q, u, z, p, inputs = (rows[word] for word in self.words[:-1])
        return lead, (self.dynamics.read_point(self.kernel, t[:, 0], q, u, z, p, inputs, x), x)
