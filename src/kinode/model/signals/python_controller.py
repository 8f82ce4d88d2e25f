"""A controller that is a Python function of sampled signals.

At each tick its inputs, which are laws, are sampled into discrete states.  Then the function is called once, with these
and its memory; its results are constant until the next tick.  It is never called within a step: between ticks the run
is compiled code.  Its memory is part of the state, so that a run can be continued.

A file holds its signals and its clock, but no function and nothing that leads to one: ``system.change(name,
function=...)`` gives a model from a file its function again.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from kinode.errors import LawError
from kinode.expressions.function_table import RESERVED
from kinode.model.base.events import Sampler
from kinode.model.base.field_reader import Reader
from kinode.model.base.fields import Spec, Value, short, special, unknown
from kinode.model.base.frames import NAME
from kinode.model.base.kinds import register
from kinode.model.base.scene import LawScene
from kinode.model.signals.linear_systems import Coefficients
from kinode.model.signals.sampling import Memory, Sampled

ORDER = 60  # in lists of kinds

Named = tuple[tuple[str, Value], ...]


@register("controller", symbol="controller", shortcut=True)
class Controller(Coefficients, Sampled):
    """A Python function of sampled signals, called once at each tick of a clock."""

    leading_fields: ClassVar[tuple[str, ...]] = ("function", "inputs")
    inputs: Named = special("named_laws", "signals that are sampled, {name: law}: arguments of the function", ...)
    outputs: tuple[str, ...] | None = special("words", "names of several outputs; one alone is called output")
    remembers: Named = special("named_numbers", "{name: value at the start}: what the function gets and gives anew", ())
    function: Callable[..., Any] | None = special(
        "function", "f(t, **signals): a number, or {name: number}; only in Python", aside=True
    )

    @classmethod
    def read_named_laws(cls, reader: Reader, raw: Any, field: str, spec: Spec) -> Named:
        return _read_named(reader, raw, field, lambda item: reader.law(item, None, field))

    @classmethod
    def read_named_numbers(cls, reader: Reader, raw: Any, field: str, spec: Spec) -> Named:
        return _read_named(reader, raw, field, lambda item: reader.number(item, None, field))

    @classmethod
    def read_function(cls, reader: Reader, raw: Any, field: str, spec: Spec) -> Callable[..., Any]:
        if not callable(raw):
            raise reader.fail(field, f"is a function in Python, which a file cannot give, not {short(raw)}")
        return raw  # type: ignore[no-any-return]

    def check(self) -> None:
        super().check()
        names = [*self.signal_names, *self.memory[len(self.signal_names) :]]
        for name in names:
            if names.count(name) > 1 or name in ("output", "t") or name.startswith("waiting"):
                raise self.error_at("inputs", f"{name!r} has a meaning already; choose another name")
        if self.outputs is not None and len(self.outputs) == 1:
            raise self.error_at("outputs", "one output is called output")
        if self.resolution is not None and not isinstance(self.resolution, float):
            message = "a plain number is expected: the function is called outside of the equations"
            raise self.error_at("resolution", message)
        self._check_arguments()

    def _check_arguments(self) -> None:
        """The function takes t and every signal by its name."""
        if self.function is None:
            return
        try:
            signature = inspect.signature(self.function)
        except (TypeError, ValueError):  # of some built-in functions nothing is known
            return
        try:
            signature.bind(0.0, **dict.fromkeys(self.memory, 0.0))
        except TypeError as error:
            wanted = ", ".join(("t", *self.memory))
            message = f"has to take ({wanted}), and {getattr(self.function, '__name__', 'it')}{signature} does not"
            raise self.error_at("function", f"{message}: {error}") from None

    # -- sampled -----------------------------------------------------------------------------------
    @property
    def signal_names(self) -> tuple[str, ...]:
        """The names of its inputs."""
        return tuple(name for name, _ in self.inputs)

    @property
    def channels(self) -> tuple[str, ...]:
        return self.outputs or ()

    @property
    def memory(self) -> tuple[str, ...]:
        return (*self.signal_names, *(name for name, _ in self.remembers))

    def initial_memory(self, resolve: Callable[[Any], Any]) -> Sequence[float]:
        return [*[0.0] * len(self.inputs), *(float(resolve(value)) for _, value in self.remembers)]

    @property
    def clocks(self) -> tuple[Sampler, ...]:
        """Two clocks: the first samples the inputs in compiled code, the second calls the function."""
        reads = tuple(f"{self.name}.{name}" for name, _ in self.discrete_states)
        return (Sampler(self.period, self.phase), Sampler(self.period, self.phase, reads, self.call))

    def sample(self, scene: LawScene, ticked: Sequence[Any]) -> Mapping[str, Any]:
        return {name: scene.law(law) for name, law in self.inputs}

    def call(self, t: float, values: Mapping[str, Any]) -> Memory:
        """Call the function and return its outputs."""
        if self.function is None:
            message = f"is needed: a file has none; give it by system.change({self.name!r}, function=...)"
            raise self.error_at("function", message)
        memory = {name.removeprefix(f"{self.name}."): value for name, value in values.items()}
        given = self.function(t, **{name: memory[name] for name in self.memory})
        results = self._named(t, given)
        kept = {name: results[name] for name, _ in self.remembers}
        outputs = [results[name] for name in self.channels or ("output",)]
        return {**kept, **self.give_out(outputs, memory, lambda value: value)}

    def _named(self, t: float, given: Any) -> dict[str, float]:
        """The results of the function by name: all outputs, and new values of its whole memory."""
        wanted = self.channels or ("output",)
        known = [*wanted, *(name for name, _ in self.remembers)]
        if not isinstance(given, Mapping):
            if self.remembers:
                whole = ", ".join(f"{name!r}: ..." for name in known)
                message = f"its function gives {short(given)} at t = {t:.9g} s, and not what it remembers"
                raise LawError(f"{message}: return {{{whole}}}", component=self.name)
            several = isinstance(given, (list, tuple)) or getattr(given, "ndim", 0) == 1
            values = list(given) if several else [given]
            if len(values) != len(wanted):
                count = "1 number is" if len(wanted) == 1 else f"{len(wanted)} numbers are"
                message = f"its function gives {short(given)} at t = {t:.9g} s, and {count} expected"
                raise LawError(message, component=self.name)
            given = dict(zip(wanted, values, strict=True))
        for name in given:
            if name not in known:
                message = unknown(f"its function gives at t = {t:.9g} s what it does not have:", name, known)
                raise LawError(message, component=self.name)
        for name in known:
            if name not in given:
                raise LawError(f"its function gives no {name} at t = {t:.9g} s", component=self.name)
        return {name: self._number(t, name, value) for name, value in given.items()}

    def _number(self, t: float, name: str, value: Any) -> float:
        try:
            if isinstance(value, str):
                raise TypeError
            return float(value)
        except (TypeError, ValueError):
            message = f"its function gives {name} = {short(value)} at t = {t:.9g} s, and a number is expected"
            raise LawError(message, component=self.name) from None


def _read_named(reader: Reader, raw: Any, field: str, read: Callable[[Any], Any]) -> Named:
    """Values by name; a tuple of pairs has been read before."""
    if isinstance(raw, tuple) and all(isinstance(pair, tuple) and len(pair) == 2 for pair in raw):
        raw = dict(raw)
    if not isinstance(raw, Mapping):
        raise reader.fail(field, f"is {{name: value}}, not {short(raw)}")
    for name in raw:
        if not isinstance(name, str) or "." in name or not NAME.match(name) or name in RESERVED:
            raise reader.fail(field, f"{name!r} is no name for an argument: use letters, digits and _")
    return tuple((name, read(value)) for name, value in raw.items())
