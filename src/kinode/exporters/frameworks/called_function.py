"""Values and Jacobians of a compiled system for frameworks that call back: NumPy arrays with any leading dimensions.

A function is called as ``f(q=q, u=u, effort=tau)``.  It takes t, q, u, z, p, inputs and efforts (of inverse dynamics
accelerations): arrays with the names, units and own values of their entries along the last dimension.  What is not
given has the model's own values.  Leading dimensions are a batch, and are broadcast.  Values and Jacobians are computed
by machine code (``CalledFunction``); each framework adds how it calls back, and its rule of derivatives.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.derivatives.derivative_request import expand_names, read_names, read_request
from kinode.dynamics.derivatives.prepared_derivatives import prepare
from kinode.dynamics.reactions.sharing_pattern import find_pattern
from kinode.dynamics.state_batch import StateBatch
from kinode.errors import ArgumentError
from kinode.exporters.variables import Variable
from kinode.kernels.kernel_options import Kernel, SharedNames
from kinode.model.base.fields import unknown
from kinode.model.quantities import unit_of
from kinode.optional_packages import need
from kinode.sheets.tables import word_table

if TYPE_CHECKING:
    from kinode.dynamics.compiled_system import Dynamics


EFFORT_OF_SPEED = {"rad/s": ("N*m", "rad/s^2"), "m/s": ("N", "m/s^2")}


class ExchangedArguments(Mapping[str, tuple[Variable, ...]]):
    """The arguments t, q, u, z, p, inputs and effort of a system's functions, and u_dot: the entries of each."""

    def __init__(self, dynamics: Dynamics) -> None:
        system, state = dynamics.system, dynamics.initial
        arrays = {"q": state.q, "u": state.u, "z": state.z}
        roles: dict[str, list[Variable]] = {"t": [Variable("t", "s", float(state.t))], "q": [], "u": [], "z": []}
        for c in dynamics.coordinates:
            roles[c.role].append(Variable(c.name, _one(unit_of(system, c.name)), float(arrays[c.role][c.index])))
        for word, names, values in (
            ("p", dynamics.topology.parameters, dynamics.parameters),
            ("inputs", dynamics.topology.inputs, dynamics.inputs),
        ):
            roles[word] = [Variable(n, _one(unit_of(system, n)), float(v)) for n, v in zip(names, values)]
        for k, word in enumerate(("effort", "u_dot")):
            units = (EFFORT_OF_SPEED.get(entry.unit, ("", ""))[k] for entry in roles["u"])
            renamed = (entry.name.replace(".u", f".{word}", 1) for entry in roles["u"])
            roles[word] = [Variable(name, unit, 0.0) for name, unit in zip(renamed, units)]
        self._entries = {word: tuple(entries) for word, entries in roles.items()}

    def __getitem__(self, name: str) -> tuple[Variable, ...]:
        return self._entries[name]

    def __iter__(self) -> Any:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def values_of(self, name: str) -> Array:
        """The model's own values of an argument; efforts and accelerations are zero."""
        return np.array([entry.value for entry in self._entries[name]])

    def fill(self, words: tuple[str, ...], given: Mapping[str, Any]) -> dict[str, Any]:
        """All arguments that ``words`` name: the given ones, and the model's own values of the others.

        An argument by the names of some entries, such as ``p={"length": 0.4}``, keeps the others.
        """
        for name in given:
            if name not in words:
                raise ArgumentError(unknown("no argument is called", name, words))
        return {word: self._fill(word, given[word]) if word in given else self.values_of(word) for word in words}

    def _fill(self, word: str, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        places = {entry.name: k for k, entry in enumerate(self._entries[word])}
        vector = self.values_of(word)
        for name, number in value.items():
            if name not in places:
                raise ArgumentError(unknown(f"{word}: no entry is called", str(name), places))
            vector[places[name]] = number
        return vector

    def table(self, words: tuple[str, ...]) -> str:
        """The entries as lines: argument, index, name, unit, own value."""
        rows = [
            (word, str(k), entry.name, entry.unit or "-", f"{entry.value:.6g}")
            for word in words
            for k, entry in enumerate(self._entries[word])
        ]
        return "\n".join(word_table([""] * 5, rows).lines())


def _one(unit: str | tuple[str, ...]) -> str:
    return unit if isinstance(unit, str) else unit[0]


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


class FrameworkFunction:
    """A compiled system as a function of a framework.

    Attributes
    ----------
    words : tuple of str
        The arguments in order: t, q, u, z, p, inputs, effort (of inverse dynamics u_dot).
    entries : mapping of str to tuple
        Names, SI units and own values of the entries of each argument.
    shapes : dict
        The shape of each name; one name gives an array of its shape, several give a dictionary.
    """

    package: ClassVar[str]
    """The framework: its package, its extra, and the end of the method's name."""

    def __init__(self, dynamics: Dynamics, of: str | Iterable[str]) -> None:
        self.framework = need(self.package, self.package, f"to_{self.package}")
        self.called = CalledFunction(dynamics, of)
        self.words, self.entries, self.shapes = self.called.words, self.called.entries, self.called.shapes
        self.single = isinstance(of, str)

    def __reduce__(self) -> tuple[Any, ...]:
        dynamics = self.called.dynamics
        return type(self), (dynamics, self.called.names[0] if self.single else self.called.names)

    def __deepcopy__(self, memo: object) -> FrameworkFunction:
        """Itself: nothing of it changes.  A network that has it among its parts can be copied."""
        return self

    @classmethod
    def refuse_twice(cls, *arguments: Any) -> Any:
        """What a second derivative comes to."""
        message = "second derivatives are not offered; dynamics.to_casadi() has derivatives of any order"
        raise ArgumentError(f"to_{cls.package}: {message}")

    def split(self, flat: Any, lead: tuple[int, ...] = ()) -> Any:
        """The result of each name, with leading dimensions, of one name by itself."""
        parts, start = {}, 0
        for name, shape in self.shapes.items():
            size = int(np.prod(shape, dtype=int))
            parts[name] = flat[..., start : start + size].reshape((*lead, *shape))
            start += size
        return next(iter(parts.values())) if self.single else parts


POINT = ("t", "q", "u", "z", "p", "inputs")
FORWARD = (*POINT, "effort")
MOTION = (*POINT, "u_dot")
