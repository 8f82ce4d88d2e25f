"""Reads the arguments of compiled functions: checks them and converts them to the arrays that kernels take.

Users write numbers, names and frames in several ways.  An argument that does not fit raises an error here, so that no
kernel reads beyond an array.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError
from kinode.kernels.kernel_table import count_loads
from kinode.kernels.state import Wrench
from kinode.model.base.fields import short, unknown
from kinode.model.base.frames import Frame
from kinode.model.base.parameters import is_hidden, is_plain, read_input
from kinode.structure.state_layout import EvaluationPoint
from kinode.structure.topology import Topology

if TYPE_CHECKING:
    from kinode.model.live_numbers import LiveNumber
    from kinode.model.network.part import Part

FLOATS = np.dtype(float)
MOST_CHECKED_SAMPLES = 16  # of a batch of parameters; of a larger batch only the extremes are checked


class Arguments:
    """Reads arguments by the names, sizes and default values of a system."""

    def __init__(self, topology: Topology) -> None:
        self.topology, self.system = topology, topology.system
        values = self.system.parameter_values()
        self.parameters = np.array([values[name] for name in topology.parameters])
        self.inputs = np.array([self.system.nominal(x.value) for x in self.system.inputs.values()])
        self.parameters.flags.writeable = self.inputs.flags.writeable = False  # compiled functions and runs share them
        self._known_values: tuple[bytes, dict[str, float]] | None = None  # all parameters, of the last vector
        self._known_changes: tuple[dict[str, float], frozenset[str]] | None = None  # those that are not the model's
        self.derived: dict[str, Any] = {}  # what follows from the model and is found once
        self._checked = b""  # the parameters with which components were last checked
        self._settled = self.parameters  # the last vector of ``settle_parameters``

    def read_point(self, t: Any, q: Any, u: Any, z: Any, p: Any, inputs: Any, default_z: Array) -> EvaluationPoint:
        """The evaluation point that the arguments of a compiled function describe; u is zero by default."""
        topology = self.topology
        times = self.read_array("t", t, 1)
        return EvaluationPoint(
            times[0] if times.ndim == 1 else times[:, 0],
            self.read_array("q", q, topology.n_q),
            self.read_array("u", u, topology.n_u, np.zeros(topology.n_u)),
            self.read_array("z", z, topology.n_z, default_z),
            self.read_parameters(p),
            self.read_inputs(inputs, times[0] if times.ndim == 1 else times[:, 0]),
        )

    def read_array(self, name: str, value: Any, size: int, default: Array | None = None) -> Array:
        """An argument as an array of shape (size,), or (rows, size) of a batch."""
        if value is None:
            if default is None:
                raise ArgumentError(f"{name}: needed and not given")
            return default
        if type(value) is np.ndarray and value.dtype is FLOATS and value.shape == (size,) and name != "t":
            return value
        try:
            if getattr(value, "dtype", FLOATS).kind in "cmM":  # NumPy would drop imaginary parts and units of time
                raise TypeError
            array = np.asarray(value, dtype=float)
        except (TypeError, ValueError):
            raise ArgumentError(f"{name}: numbers are expected, not {value!r:.80}") from None
        if name == "t":
            if array.ndim > 1:
                raise ArgumentError(f"t: one time, or one for each row, not shape {array.shape}")
            return array.reshape(-1, 1) if array.ndim else array.reshape(1)
        if array.ndim not in (1, 2) or array.shape[-1] != size:
            raise ArgumentError(f"{name}: shape ({size},) or (rows, {size}) is expected, not {array.shape}")
        return array

    def split_state(self, y: Any) -> tuple[Array, Array, Array]:
        """q, u and z of a state vector, or of a batch with one in each row."""
        topology = self.topology
        return topology.layout.split(self.read_array("y", y, topology.n_q + topology.n_u + topology.n_z))

    def read_parameters(self, p: Any) -> Array:
        """Parameters from a mapping by name, a vector, or one vector for each row; None means the model's values."""
        if p is None:
            return self.parameters
        return self._settled if p is self._settled else self._read_vector("p", p)

    def settle_parameters(self, p: Any) -> Array:
        """The same as a vector of its own that nobody can change, and that is not read and checked again."""
        values = self.read_parameters(p)
        if values is self.parameters or values is self._settled:
            return values
        values = values.copy()
        values.flags.writeable = False
        self._settled = values
        return values

    def read_inputs(self, inputs: Any, t: Any = None) -> Array:
        """Inputs; given like parameters.  Those that change with time are evaluated at the time, or times, t."""
        if inputs is None or inputs is self.inputs:
            return self.inputs
        from kinode.ode.input_table import VaryingInputs

        if isinstance(inputs, VaryingInputs):
            return inputs.at(t)
        return self._read_vector("inputs", inputs)

    def _read_vector(self, name: str, value: Any) -> Array:
        names = self.topology.parameters if name == "p" else self.topology.inputs
        vector = self._by_name(name, value) if isinstance(value, Mapping) else self.read_array(name, value, len(names))
        if name == "p":
            self._check_components(vector)
        return vector

    def _by_name(self, name: str, value: Mapping[str, Any]) -> Array:
        """Parameters or inputs, with the model's values except for those in the mapping."""
        if name == "p":
            vector, live = self.parameters.copy(), self.live_numbers
            own = {key: new for key, new in value.items() if key not in live}
            for key in own.keys() - self.system.parameters.keys():
                from kinode.model.live_numbers import find_field

                if is_hidden(key) or find_field(self.system, key):
                    raise ArgumentError(f"p: {key} is no parameter; kn.compile(system, live=[{key!r}]) makes it one")
            for key, new in self.system.read_parameters(own).items():
                if key not in self._places:
                    raise ArgumentError(f"p: {key} is calculated from other parameters; change those")
                vector[self._places[key]] = self.system.nominal(new)
            for key in value.keys() & live.keys():
                vector[self._places[live[key].parameter]] = self.read_live(live[key], value[key])
            return vector
        names, vector = self.topology.inputs, self.inputs.copy()
        for key, new in value.items():
            if key not in names:
                raise ArgumentError(unknown("inputs: no input is called", key, names))
            vector[names.index(key)] = self.system.nominal(read_input(self.system, key, new))
        return vector

    @property
    def live_numbers(self) -> Mapping[str, LiveNumber]:
        """The numbers of the model that were made live, by name."""
        return {} if self.system.live is None else self.system.live.numbers

    def read_live(self, number: LiveNumber, value: Any) -> float:
        """Another value of a live number, in SI."""
        if number.structural:
            raise ArgumentError(f"p: {number.name} is {number.reason}; it takes other values by a new compilation")
        return number.read(self.system, value)

    @cached_property
    def _places(self) -> dict[str, int]:
        """Where each parameter stands in the vector of parameters."""
        return {name: k for k, name in enumerate(self.topology.parameters)}

    @cached_property
    def _parametric_components(self) -> tuple[tuple[Part, frozenset[str]], ...]:
        """The network components with numbers that depend on parameters, and the names in them."""
        names = set(self.system.parameters)
        return tuple((part, part.used_names) for part in self._parts if not names.isdisjoint(part.used_names))

    @property
    def has_checked_numbers(self) -> bool:
        """Whether other values of parameters are checked: there are components whose numbers depend on them."""
        return bool(self._parametric_components)

    @cached_property
    def _parts(self) -> tuple[Part, ...]:
        return tuple(self.system.parts.values())

    def _check_components(self, p: Array) -> None:
        """Check the numbers of network components; of a large batch, only at the extremes of each parameter.

        Those that depend on no parameter with another value were checked with the model.
        """
        if not self._parametric_components or p.tobytes() == self._checked:
            return
        samples = np.atleast_2d(p)
        if len(samples) > MOST_CHECKED_SAMPLES:
            samples = samples[np.unique([*samples.argmin(axis=0), *samples.argmax(axis=0)])]
        for sample in samples:
            resolve, changed = self._resolver_of_sample(sample), self.find_changed(sample)
            for component, names in self._parametric_components:
                if not names.isdisjoint(changed):
                    component.check_at(self.system, resolve)
        self._checked = p.tobytes()

    def resolver(self, p: Any) -> Callable[[Any], float]:
        """A function that evaluates numbers of the model with given parameters."""
        return self.system.nominal if p is None else self._resolver_of_sample(self.read_parameters(p))

    def _resolver_of_sample(self, p: Array) -> Callable[[Any], float]:
        """A function that evaluates numbers of the model with one value for each parameter."""
        full = self.values_by_name(p)
        return lambda value: float(value) if isinstance(value, float) else float(value.evaluate(full.__getitem__))

    def find_changed(self, p: Array) -> frozenset[str]:
        """The parameters, those calculated from others among them, whose values are not the model's."""
        full, known = self.values_by_name(p), self._known_changes
        if known is None or known[0] is not full:
            own = self.system.parameter_values()
            known = self._known_changes = full, frozenset(name for name, value in full.items() if value != own[name])
        return known[1]

    def values_by_name(self, p: Array) -> dict[str, float]:
        """All parameters by name, those calculated from others too; of the last vector they are kept."""
        key, known = p.tobytes(), self._known_values
        if known is None or known[0] != key:
            given = dict(zip(self.topology.parameters, p.tolist(), strict=True))
            known = self._known_values = key, self.system.parameter_values(given)
        return known[1]

    def read_number(self, name: str, value: Any) -> float:
        """A value for a quantity, in SI."""
        from kinode.model.quantities import find_quantity

        if is_plain(value):
            return float(value)
        reader = self.system.reader(name)
        quantity = find_quantity(self.system, name)
        dimension = quantity.dimension if isinstance(quantity.dimension, str) else None
        return self.system.nominal(reader.number(value, dimension, "start"))

    def frame_name(self, of: Any) -> str:
        """The name of a frame, part of a kernel's identity; a frame without a name is refused."""
        frame = self.system.find_frame(of if not hasattr(of, "com") else of.name)
        if isinstance(of, str):
            return of
        if isinstance(frame, Frame) and (frame.is_plain or frame.name):
            return str(frame)
        raise ArgumentError("give the place a name: body.at(..., name=...)")

    def placed_frame_name(self, of: Any) -> str:
        """The same of a frame whose pose follows from positions alone."""
        from kinode.model.base.observers.moving_frames import needs_jerk

        name = self.frame_name(of)
        if needs_jerk(self.system, self.system.find_frame(name)):
            message = f"{name} follows a velocity, and has no pose by positions alone"
            raise ArgumentError(f"{message}: evaluate {name}.rotation and {name}.position at a state")
        return name

    @cached_property
    def _load_sizes(self) -> tuple[int, int]:
        """The number of efforts, and of all entries of added loads."""
        return self.topology.n_u, count_loads(self.topology)

    def joints_on(self, on: str | None, joints: str | Sequence[str] | None) -> tuple[str, ...]:
        """The names of joints for which reactions are requested; with ``on``, joints of that body."""
        known = self.system.joints
        names = tuple(known) if joints is None else (joints,) if isinstance(joints, str) else tuple(joints)
        for name in names:
            if name not in known:
                raise ArgumentError(unknown("no joint is called", name, known))
        if on is None:
            return names
        if on != "world" and on not in self.system.bodies:
            raise ArgumentError(unknown("on: no body is called", on, self.system.bodies))
        on_body = tuple(name for name in names if on in (known[name].a.body, known[name].b.body))
        if joints is not None and on_body != names:
            joint = known[next(name for name in names if name not in on_body)]
            raise ArgumentError(f"on: {joint.name} joins {joint.a.body} and {joint.b.body}, not {on}")
        return on_body

    def read_loads(self, effort: Any, wrenches: Any) -> Array:
        """The argument ``x`` of added efforts and wrenches; each of them may have one row for each state."""
        n, n_loads = self._load_sizes
        efforts = self.read_array("effort", np.zeros(n) if effort is None else effort, n)
        if wrenches is None:
            x = np.zeros((*efforts.shape[:-1], n_loads))
            x[..., :n] = efforts
            return x
        blocks = [(slice(0, n), efforts)]
        starts = {body: n + 6 * i for i, body in enumerate(self.system.bodies)}
        if not isinstance(wrenches, Mapping):
            raise ArgumentError(f"wrenches: {{body: (force, moment)}} is expected, not {short(wrenches)}")
        for body, wrench in wrenches.items():
            if body not in starts:
                raise ArgumentError(unknown("wrenches: no body is called", body, starts))
            try:
                force, moment = (wrench.force, wrench.moment) if isinstance(wrench, Wrench) else wrench
            except (TypeError, ValueError):
                raise ArgumentError(
                    f"wrenches: {body} takes (force, moment) of three numbers each, not {short(wrench)}"
                ) from None
            start = starts[body]
            blocks.append((slice(start, start + 3), self.read_array(f"force on {body}", force, 3)))
            blocks.append((slice(start + 3, start + 6), self.read_array(f"moment on {body}", moment, 3)))
        rows = {len(values) for _, values in blocks if values.ndim == 2}
        if len(rows) > 1:
            raise ArgumentError(
                f"effort and wrenches: batches of {' and '.join(map(str, sorted(rows)))} rows do not fit"
            )
        x = np.zeros((*rows, n_loads))
        for columns, values in blocks:
            x[..., columns] = values
        return x
