"""Fields of components: what each takes, in which unit, and how it is read.

A component is a frozen dataclass whose fields are declared by the functions below.  One declaration
serves the builder in Python, files, the JSON schema, the documentation and saving, so that a field is
added in one place.  Why no validation library: a field takes a number, text with a unit, an expression
of parameters or a law, with a dimension that may depend on the joint, and errors name the component.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from kinode.errors import LawError, ModelError, UnitError, find_close
from kinode.expressions.parser import locate, parse
from kinode.expressions.syntax_tree import Expression
from kinode.expressions.units import Dimension, Quantity, check_dimension, parse_quantity
from kinode.model.base.events import Root, Sampler
from kinode.model.base.lock import Lock

if TYPE_CHECKING:
    from kinode.model.base.scene import Scene, VelocityScene

Value = float | Expression
Vector = tuple[Value, Value, Value]
Values = tuple[Value, ...]


@dataclass(frozen=True)
class Spec:
    """What a field takes: ``shape`` names the reader, ``dimension`` the unit, ``doc`` is for people."""

    shape: str
    dimension: str | None = None
    doc: str = ""
    choices: tuple[str, ...] = ()
    public: str | None = None  # the name that users write, where the attribute has another
    aside: bool = False  # no part of the equations: initial values, limits, looks


def declare(default: Any, spec: Spec) -> Any:
    """A field of a record with what it takes; ``...`` for one that has to be given."""
    metadata = {"spec": spec}
    if default is ...:
        return dataclasses.field(metadata=metadata, kw_only=True)
    return dataclasses.field(default=default, metadata=metadata, kw_only=True)


def number(dimension: str | None, doc: str, default: Any = ..., *, aside: bool = False) -> Any:
    """A number, a quantity in text, or arithmetic with parameters."""
    return declare(default, Spec("number", dimension, doc, aside=aside))


def vector(
    dimension: str | None, doc: str, default: Any = ..., public: str | None = None, *, aside: bool = False
) -> Any:
    """Three numbers."""
    return declare(default, Spec("vector", dimension, doc, public=public, aside=aside))


def law(dimension: str | None, doc: str, default: Any = None) -> Any:
    """A number or a law of time, state, inputs, signals and tables."""
    return declare(default, Spec("law", dimension, doc))


def laws(dimension: str | None, doc: str, default: Any = ...) -> Any:
    """Three laws."""
    return declare(default, Spec("laws", dimension, doc))


def frame(doc: str, default: Any = ...) -> Any:
    """A body, a named frame, or a place on a body."""
    return declare(default, Spec("frame", None, doc))


def per_coordinate(dimension: str, doc: str) -> Any:
    """One number for each coordinate of a joint; one number serves a joint with one coordinate."""
    return declare(None, Spec("per_coordinate", dimension, doc))


def laws_per_coordinate(dimension: str, doc: str) -> Any:
    """One law for each coordinate of a joint."""
    return declare(None, Spec("laws_per_coordinate", dimension, doc))


def choice(choices: Iterable[str], doc: str, default: Any = ...) -> Any:
    """One word out of several."""
    return declare(default, Spec("choice", None, doc, tuple(choices)))


def special(shape: str, doc: str, default: Any = None, *, aside: bool = False) -> Any:
    """A field with a reader of its own, a method ``read_<shape>`` of the component's class."""
    return declare(default, Spec(shape, None, doc, aside=aside))


# Shapes whose values act along coordinates or over time; all others make up the geometry and inertia.
ACTING = frozenset({"law", "laws", "per_coordinate", "laws_per_coordinate", "friction"})
_SPECS: dict[type[Component], dict[str, tuple[dataclasses.Field[Any], Spec]]] = {}
T = TypeVar("T")


def record(cls: type[T]) -> type[T]:
    """Make a class of components a frozen record.

    A dataclass without generated methods: ``Component`` has them once for all, since writing and compiling
    them for every class is a good part of the time that it takes to import kinode.
    """
    return dataclass(init=False, repr=False, eq=False)(cls)


@record
class Component:
    """Anything with a name in a system."""

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]
    section: ClassVar[str] = ""
    kind: ClassVar[str] = ""
    local: ClassVar[Mapping[str, frozenset[str]]] = {}  # names that the law in a field has for itself
    timely: ClassVar[tuple[str, ...]] = ()  # fields whose laws are differentiated by time, and depend on nothing else
    name: str

    def __init__(self, *values: Any, **named: Any) -> None:
        fields = dataclasses.fields(self)
        put = object.__setattr__
        for field, value in zip((f for f in fields if not f.kw_only), values, strict=False):
            named[field.name] = value
        for field in fields:
            value = named.pop(field.name, field.default)
            if value is dataclasses.MISSING:
                raise TypeError(f"{type(self).__name__} needs {field.name}")
            put(self, field.name, value)
        if named:
            raise TypeError(f"{type(self).__name__} has no field {next(iter(named))!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        raise dataclasses.FrozenInstanceError(f"a record is not changed: use system.change({self.name!r}, {name}=...)")

    def __delattr__(self, name: str) -> None:
        raise dataclasses.FrozenInstanceError(f"a record is not changed: {name!r} stays")

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(getattr(self, f.name) == getattr(other, f.name) for f in dataclasses.fields(self) if f.compare)

    def __hash__(self) -> int:
        return hash((type(self), self.name))

    def __repr__(self) -> str:
        shown = (f"{f.name}={getattr(self, f.name)!r}" for f in dataclasses.fields(self) if f.repr)
        return f"{type(self).__name__}({', '.join(shown)})"

    @classmethod
    def gather(cls, reader: Reader, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """What was given, by the names of the fields: for kinds that have other spellings for some of them."""
        return given

    @classmethod
    def sort(cls) -> str:
        """What a component is, in a word: body, joint, parameter."""
        return {"bodies": "body"}.get(cls.section, cls.section.rstrip("s"))

    @classmethod
    def specs(cls) -> Mapping[str, tuple[dataclasses.Field[Any], Spec]]:
        """The declared fields, by the names that users write."""
        found = _SPECS.get(cls)
        if found is None:
            declared = ((f, f.metadata["spec"]) for f in dataclasses.fields(cls) if "spec" in f.metadata)
            found = _SPECS[cls] = {spec.public or f.name: (f, spec) for f, spec in declared}
        return found

    @property
    def states(self) -> tuple[tuple[str, str], ...]:
        """Names and units of the states that it has of its own: entries of z."""
        return ()

    def initial_states(self, resolve: Callable[[Any], Any]) -> np.ndarray:
        """Their values at the start."""
        return np.zeros(len(self.states))

    def settled(self, scene: VelocityScene) -> Mapping[str, Any]:
        """States that begin where the rest of the system leads them, by name, unless the start is told otherwise."""
        return {}

    def state_rates(self, scene: Scene) -> np.ndarray:
        """Their rates."""
        raise NotImplementedError

    @property
    def held(self) -> tuple[tuple[str, str], ...]:
        """Names and units of its discrete entries of z, which only events change: modes, samples, memories."""
        return ()

    def initial_held(self, resolve: Callable[[Any], Any]) -> np.ndarray:
        """Their values at the start; ``settled`` gives those that follow from the state, as a mode from a speed."""
        return np.zeros(len(self.held))

    @property
    def roots(self) -> tuple[Root, ...]:
        """What ends its modes."""
        return ()

    def jump(self, scene: Scene, fired: Sequence[Any]) -> Mapping[str, Any]:
        """What is new after an event of its own: own states and held entries by name, coordinates as ``elbow.u``.

        ``fired[k]`` is 1.0 for the root that ended its mode, which takes its new value by itself unless it is given
        here; ``u`` stands for all speeds of the state, of which an impact changes many.
        """
        return {}

    def locks(self, scene: VelocityScene) -> Sequence[Lock]:
        """What of it can hold joints still."""
        return ()

    def locks_itself(self, nominal: Callable[[Any], Any]) -> bool:
        """Whether no load drives it back, however large: what it transmits rubs more than it moves."""
        return False

    @property
    def samples(self) -> tuple[Sampler, ...]:
        """The clocks at which it acts."""
        return ()

    def sample(self, scene: Scene, ticked: Sequence[Any]) -> Mapping[str, Any]:
        """New values of held entries at a tick; ``ticked[k]`` is 1.0 for its clocks that tick.

        Components sample one after the other, in the order of their declaration: who comes later sees what is new.
        """
        return {}

    @property
    def late(self) -> frozenset[str]:
        """Fields whose laws decide rates of states or samples alone: they may use accelerations and close no circle."""
        return frozenset()

    def own(self, field: str, law: Value) -> Value:
        """A law of a field with the names that it has for itself written out as quantities of the component."""
        local = self.local.get(field, frozenset())
        if not isinstance(law, Expression) or not local & law.names():
            return law
        return law.rename(lambda name: f"{self.name}.{name}" if name in local else name)

    def given(self) -> dict[str, Any]:
        """The fields that differ from their defaults."""
        return {
            name: getattr(self, field.name)
            for name, (field, _) in self.specs().items()
            if field.default is dataclasses.MISSING or getattr(self, field.name) != field.default
        }

    def constants(self) -> Iterable[Any]:
        """The values of the fields that make up geometry and inertia."""
        for field, spec in self.specs().values():
            if not spec.aside and spec.shape not in ACTING:
                yield getattr(self, field.name)

    def expressions(self) -> Iterable[tuple[str, Expression]]:
        """Every expression in the component, with the name of its field."""
        for name, (field, _) in self.specs().items():
            value = getattr(self, field.name)
            if value is not None and type(value) is not float:
                yield from ((name, e) for e in find_expressions(value))


def find_expressions(value: Any) -> Iterable[Expression]:
    """The expressions inside a value, however nested."""
    if value is None or type(value) in (float, str):
        return
    if isinstance(value, Expression):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from find_expressions(item)
    elif isinstance(value, (tuple, list)):
        for item in value:
            if type(item) is not float:
                yield from find_expressions(item)
    elif dataclasses.is_dataclass(value):
        for name in value.__dataclass_fields__:
            yield from find_expressions(getattr(value, name))


class Reader:
    """Reads raw fields of one component into values; knows the system's names for its errors."""

    def __init__(
        self,
        component: str,
        *,
        parameters: Mapping[str, Any],
        tables: Collection[str],
        frame: Callable[[Any], Any],
        symbols: Callable[[], Any],
    ) -> None:
        self.component = component
        self.parameters = parameters
        self.tables = tables
        self._frame = frame
        self._symbols = symbols

    def fail(self, field: str | None, message: str) -> ModelError:
        return ModelError(message, component=self.component, field=field)

    def read_component(self, cls: type[Component], raw: Mapping[str, Any]) -> dict[str, Any]:
        """All declared fields of a component from what was given; defaults fill the rest."""
        specs = cls.specs()
        raw = cls.gather(self, raw)
        for name in raw:
            if name not in specs:
                raise self.fail(str(name), unknown(f"a {cls.kind or cls.sort()} has no field", name, specs))
        values = {}
        for name, (field, spec) in specs.items():
            if name in raw and not (raw[name] is None and field.default is None):
                values[field.name] = self.read(cls, name, spec, raw[name])
            elif field.default is dataclasses.MISSING:
                raise self.fail(name, "is needed and was not given")
        return values

    def read(self, cls: type[Component], name: str, spec: Spec, raw: Any) -> Any:
        """One field."""
        if spec.shape == "number":
            return self.number(raw, spec.dimension, name)
        if spec.shape == "law":
            return self.law(raw, spec.dimension, name)
        if spec.shape == "vector":
            return self.vector(raw, spec.dimension, name)
        if spec.shape == "laws":
            return self.sequence(raw, 3, name, lambda item: self.law(item, spec.dimension, name))
        if spec.shape == "frame":
            return self.frame(raw, name)
        if spec.shape == "choice":
            if not isinstance(raw, str) or raw not in spec.choices:
                raise self.fail(name, f"{short(raw)} is not one of {', '.join(spec.choices)}")
            return raw
        if spec.shape in ("text", "joint"):
            return self.text(raw, name)
        reader = getattr(cls, f"read_{spec.shape}")
        return reader(self, raw, name, spec)

    def text(self, raw: Any, field: str) -> str:
        """A word or a sentence; a component stands for its name."""
        raw = raw.name if isinstance(raw, Component) else raw
        if not isinstance(raw, str):
            raise self.fail(field, f"text is expected, not {short(raw)}")
        return raw

    def frame(self, raw: Any, field: str) -> Any:
        """A body or a place on one."""
        try:
            return self._frame(raw)
        except ModelError as error:
            raise error.located(component=self.component, field=field) from None

    def number(self, raw: Any, dimension: str | Dimension | None, field: str) -> Value:
        """A constant: a number, a quantity, or arithmetic with declared parameters."""
        value = self._value(raw, dimension, field)
        if isinstance(value, Expression):
            for name in sorted(value.names()):
                if name not in self.parameters:
                    raise self._unknown_name(value, name, field)
            if value.calls():
                raise self.fail(field, f"a table cannot be used in a constant: {value.text()}")
            self._check_expression(value, dimension, field)
        return value

    def law(self, raw: Any, dimension: str | Dimension | None, field: str) -> Value:
        """A law; its names are checked once the whole system is known."""
        if callable(raw) and not isinstance(raw, Expression):
            raw = self._call(raw, field)
        return self._value(raw, dimension, field)

    def _call(self, function: Callable[[Any], Any], field: str) -> Any:
        """What a law written as a Python function gives for symbols."""
        hint = "it is given symbols s, once: s.t, s['elbow.q'], for kn.sin, kn.where and so on"
        symbols = self._symbols()
        try:
            found = function(symbols)
        except ModelError as error:
            raise error.located(component=self.component, field=field) from None
        except Exception as error:  # whatever a user's function may raise
            message = f"the law's function fails with {type(error).__name__}: {error}; {hint}"
            raise LawError(message, component=self.component, field=field) from error
        if found is symbols:
            raise LawError(f"the law's function returns no number; {hint}", component=self.component, field=field)
        return found

    def _value(self, raw: Any, dimension: str | Dimension | None, field: str) -> Value:
        if isinstance(raw, Expression):
            return raw
        if isinstance(raw, bool) or raw is None:
            raise self.fail(field, f"a number is expected, not {raw!r}")
        if isinstance(raw, (int, float, np.integer, np.floating)):
            if not math.isfinite(raw):
                raise self.fail(field, f"must be finite, not {raw}")
            return float(raw)
        if not isinstance(raw, str):
            raise self.fail(field, f"a number is expected, not {short(raw)}")
        try:
            quantity = parse_quantity(raw)
            if quantity is not None:
                if dimension is not None:
                    return check_dimension(quantity, dimension, field=field, component=self.component)
                return quantity.value_si
            return parse(raw, self.tables)
        except (LawError, UnitError) as error:
            raise error.located(component=self.component, field=field) from None

    def _check_expression(self, value: Expression, dimension: str | Dimension | None, field: str) -> None:
        try:
            found = value.dimension(lambda name: self.parameters[name].dimension)
        except UnitError as error:
            raise error.located(component=self.component, field=field) from None
        if found is not None and dimension is not None:
            quantity = Quantity(0.0, found, "", text=value.text())
            check_dimension(quantity, dimension, field=field, component=self.component)

    def _unknown_name(self, value: Expression, name: str, field: str) -> LawError:
        text = value.text()
        changes = "; it stays the same in a run: a number or arithmetic with parameters is expected, no law"
        return LawError(
            unknown("no parameter is called", name, self.parameters) + changes * (name == "t" or "." in name),
            text=text,
            position=locate(text, name),
            component=self.component,
            field=field,
        )

    def sequence(self, raw: Any, count: int, field: str, read: Callable[[Any], Any]) -> tuple[Any, ...]:
        """A tuple of ``count`` items."""
        if isinstance(raw, np.ndarray):
            raw = raw.tolist()
        numbers = f"{count} numbers are" if count > 1 else "one number is"
        if isinstance(raw, (str, Mapping)) or not isinstance(raw, Sequence):
            raise self.fail(field, f"{numbers} expected, not {short(raw)}")
        split = any(isinstance(item, str) and item.count("(") > item.count(")") for item in raw)
        if split and len(raw) > 1:
            raise self.fail(field, f"{numbers} expected; a law was split at its comma: quote the law")
        if len(raw) != count:
            raise self.fail(field, f"{numbers} expected, not {len(raw)}")
        return tuple(read(item) for item in raw)

    def vector(self, raw: Any, dimension: str | None, field: str) -> Vector:
        values = self.sequence(raw, 3, field, lambda item: self.number(item, dimension, field))
        return (values[0], values[1], values[2])


def unknown(message: str, name: object, known: Iterable[str]) -> str:
    """A message about a name that is not known, with the nearest ones that are."""
    near = find_close(str(name), known, 3)
    return f"{message} {name!r}" + (f"; did you mean {' or '.join(near)}?" if near else "")


def short(raw: Any) -> str:
    """A value in few words, for messages."""
    text = repr(raw)
    return text if len(text) <= 60 else text[:57] + "..."
