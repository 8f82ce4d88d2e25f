"""Fields of components: what each takes, in which unit, and how it is read.

A component is a frozen dataclass whose fields are declared by the functions below.  One declaration
serves the builder in Python, files, the JSON schema, the documentation and saving, so that a field is
added in one place.  Why no validation library: a field takes a number, text with a unit, an expression
of parameters or a law, with a dimension that may depend on the joint, and errors name the component.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, ParamSpec, TypeVar, cast

import numpy as np

from kinode.errors import Advice, ModelError, Suggestion, find_close, listed, suggest
from kinode.expressions.syntax_tree import Expression
from kinode.expressions.units import DIMENSIONS
from kinode.model.base.value_walk import PLAIN_TYPES, find_expressions, is_plain

if TYPE_CHECKING:
    from kinode.model.base.contact import Lock
    from kinode.model.base.events import Root, Sampler
    from kinode.model.base.field_reader import FieldKind, Nested, Reader
    from kinode.model.base.kinds import Registry
    from kinode.model.base.scene import Scene, VelocityScene
    from kinode.model.base.symbols import Symbol


Value = float | Expression
Vector = tuple[Value, Value, Value]
Values = tuple[Value, ...]


class NumberRange(Enum):
    """What numbers a field takes; the value completes "must ..." in a message."""

    POSITIVE = "be positive"
    UNSIGNED = "not be negative"
    NONZERO = "not be zero"
    SHARE = "be between 0 and 1"

    def holds(self, x: float) -> bool:
        """Whether a number is in the range."""
        if self is NumberRange.POSITIVE:
            return not x <= 0.0
        if self is NumberRange.UNSIGNED:
            return not x < 0.0
        return x != 0.0 if self is NumberRange.NONZERO else 0.0 <= x <= 1.0

    def refuse(self, x: float, told: str) -> str:
        """What is wrong with a number out of the range, ``told`` in one of two ways: "not" or "and is"."""
        return f"must {self.value}" if self is NumberRange.NONZERO else f"must {self.value}, {told} {x:g}"


POSITIVE, UNSIGNED, NONZERO, SHARE = NumberRange


@dataclass(frozen=True)
class Spec:
    """What a field takes: ``shape`` names its kind, ``dimension`` the unit, ``doc`` is for people."""

    shape: str
    dimension: str | None = None
    doc: str = ""
    choices: tuple[str, ...] = ()
    former: tuple[str, ...] = ()  # words of earlier versions that are still read
    public: str | None = None  # the name that users write, where the attribute has another
    aside: bool = False  # not in the equations: initial values, limits, visuals
    range: NumberRange | None = None  # of a number, or of the values of a law
    record: type[Nested] | None = None  # that the field holds

    @cached_property
    def kind(self) -> FieldKind:
        """The kind that its shape names."""
        from kinode.model.base.field_reader import KINDS, FieldKind, RecordKind

        return KINDS.get(self.shape) or (FieldKind if self.record is None else RecordKind)(self.shape)


class Alternative(NamedTuple):
    """A field that replaces others, such as ``torque_constant`` for ``constant``; ``gather`` converts it."""

    fields: tuple[str, ...]
    spec: Spec


def declare(default: Any, spec: Spec) -> Any:
    """A field of a record with its specification; the default ``...`` makes it required."""
    metadata = {"spec": spec}
    if default is ...:
        return dataclasses.field(metadata=metadata, kw_only=True)
    return dataclasses.field(default=default, metadata=metadata, kw_only=True)


def number(
    dimension: str | None, doc: str, default: Any = ..., *, aside: bool = False, range: NumberRange | None = None
) -> Any:
    """A number, a quantity in text, or arithmetic with parameters; elements and nested records hold to its range."""
    return declare(default, Spec("number", dimension, doc, aside=aside, range=range))


def vector(
    dimension: str | None, doc: str, default: Any = ..., public: str | None = None, *, aside: bool = False
) -> Any:
    """Three numbers."""
    return declare(default, Spec("vector", dimension, doc, public=public, aside=aside))


def law(dimension: str | None, doc: str, default: Any = None, *, range: NumberRange | None = None) -> Any:
    """A number or a law of time, state, inputs, signals and tables."""
    return declare(default, Spec("law", dimension, doc, range=range))


def laws(dimension: str | None, doc: str, default: Any = ...) -> Any:
    """Three laws."""
    return declare(default, Spec("laws", dimension, doc))


def frame(doc: str, default: Any = ...) -> Any:
    """A body, a named frame, or a place on a body."""
    return declare(default, Spec("frame", None, doc))


def per_coordinate(dimension: str, doc: str, *, aside: bool = False) -> Any:
    """One number for each coordinate of a joint; one number serves a joint with one coordinate."""
    return declare(None, Spec("per_coordinate", dimension, doc, aside=aside))


def laws_per_coordinate(dimension: str, doc: str) -> Any:
    """One law for each coordinate of a joint."""
    return declare(None, Spec("laws_per_coordinate", dimension, doc))


def choice(choices: Iterable[str], doc: str, default: Any = ..., *, former: Iterable[str] = ()) -> Any:
    """One word out of several; ``former`` are words of earlier versions."""
    return declare(default, Spec("choice", None, doc, tuple(choices), tuple(former)))


def special(shape: str, doc: str, default: Any = None, *, dimension: str | None = None, aside: bool = False) -> Any:
    """A field of another kind, such as "axis", or read by a method ``read_<shape>`` of the component's class."""
    return declare(default, Spec(shape, dimension, doc, aside=aside))


def nested(record: type[Nested], doc: str, default: Any = None, *, aside: bool = False) -> Any:
    """A record with fields of its own, given as a mapping."""
    return declare(default, Spec(record.shape, None, doc, aside=aside, record=record))


Fields = tuple[dict[str, Any], dict[str, Any], list[str], list[str]]  # of a class; they do not change
T = TypeVar("T")
P = ParamSpec("P")


def found_once(find: Callable[P, T]) -> Callable[P, T]:
    """A function of classes and kinds, whose results do not change."""
    return cast("Callable[P, T]", cache(find))


def record(cls: type[T]) -> type[T]:
    """Make a class of components a frozen record.

    A dataclass without generated methods: ``Component`` has them once for all kinds.
    """
    return dataclasses.dataclass(init=False, repr=False, eq=False)(cls)


@found_once
def _fields_of(cls: type[Any]) -> Fields:
    """Defaults of all fields and of those that a record has not from its class, names of positional and needed ones."""
    fields = dataclasses.fields(cls)
    defaults = {field.name: field.default for field in fields}
    needed = [name for name, default in defaults.items() if default is dataclasses.MISSING]
    stored = {
        name: default
        for name, default in defaults.items()
        if not (getattr(cls, name, ...) is default and (type(default) in PLAIN_TYPES or is_plain(default)))
    }
    return defaults, stored, [field.name for field in fields if not field.kw_only], needed


@record
class Component:
    """Anything with a name in a system."""

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]
    section: ClassVar[str] = ""
    kind: ClassVar[str] = ""
    kind_registry: ClassVar[Registry[Any] | None] = None  # of a family of components that has kinds
    symbol: ClassVar[Symbol | str] = "box"  # what it is drawn with: a symbol, or the name of one of kinode's
    has_shortcut: ClassVar[bool] = False  # whether System has a method of the name of the kind
    leading_fields: ClassVar[tuple[str, ...]] = ()  # positional fields of this method before all others
    alternative_fields: ClassVar[Mapping[str, Alternative]] = {}  # fields that replace others, see ``gather``
    local: ClassVar[Mapping[str, frozenset[str]]] = {}  # local names that the law in a field may use
    bare_values: ClassVar[Mapping[str, Spec]] = {}  # what records without declared fields hold
    before_number: ClassVar[str] = "not"  # what stands before a wrong number in messages
    timely: ClassVar[tuple[str, ...]] = ()  # fields whose laws depend on time only and are differentiated
    name: str

    def __init__(self, *values: Any, **named: Any) -> None:
        defaults, stored, positional, needed = _fields_of(type(self))
        named.update(zip(positional, values, strict=False))
        if not named.keys() <= defaults.keys():
            wrong = next(name for name in named if name not in defaults)
            raise TypeError(f"{type(self).__name__} has no field {wrong!r}")
        for name in needed:
            if name not in named:
                raise TypeError(f"{type(self).__name__} needs {name}")
        put = object.__setattr__
        for name, value in (stored | named).items():
            put(self, name, value)
        declared, plain_defaults = _declared_fields(type(self))
        for name, value in named.items():
            if type(value) not in PLAIN_TYPES and name in declared and not is_plain(value):
                return
        if plain_defaults:
            put(self, EXPRESSIONS, ())

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
        """The given fields with alternative fields replaced by those that they stand for."""
        return given

    @classmethod
    def sort(cls) -> str:
        """What a component is, in a word: body, joint, parameter."""
        return {"bodies": "body"}.get(cls.section, cls.section.rstrip("s"))

    @classmethod
    def specs(cls) -> Mapping[str, tuple[dataclasses.Field[Any], Spec]]:
        """The declared fields, by the names that users write."""
        return _specs_of(cls)

    @classmethod
    def fields_of(cls, *kinds: FieldKind) -> Mapping[str, Spec]:
        """The declared fields of some kinds, by the names that users write."""
        return _find_fields(cls, kinds)

    def values_of(self, *kinds: FieldKind) -> dict[str, Any]:
        """The values of the fields of some kinds, as far as they are given, by the names that users write."""
        specs = self.specs()
        values = ((name, getattr(self, specs[name][0].name)) for name in _find_fields(type(self), kinds))
        return {name: value for name, value in values if value is not None}

    @classmethod
    def walked_fields(cls) -> tuple[tuple[str, str, Spec], ...]:
        """What a walk over its values meets: names, attributes and specifications."""
        return _walked_of(cls)

    @classmethod
    def number_ranges(cls) -> dict[str, NumberRange]:
        """What the numbers and laws of its fields have to be."""
        return {name: spec.range for name, (_, spec) in cls.specs().items() if spec.range is not None}

    @classmethod
    def required_fields(cls) -> tuple[str, ...]:
        """The names of the declared fields that must be given."""
        return _required_of(cls)

    @classmethod
    def positional_fields(cls) -> tuple[str, ...]:
        """The positional fields of its shortcut: what it is connected to, then other required ones."""
        needed = cls.required_fields()
        connected = [name for name in needed if cls.specs()[name][1].kind.connects]
        return tuple(dict.fromkeys((*cls.leading_fields, *connected, *needed)))

    @classmethod
    def shortcut_result(cls) -> type[Component]:
        """The type that its shortcut returns."""
        return cls

    @classmethod
    def field_unit(cls, spec: Spec) -> str:
        """The SI unit of a field as text; empty if it has none."""
        dimension = spec.dimension or ""
        unit = DIMENSIONS[dimension].unit if dimension in DIMENSIONS else ""
        return "" if unit == "1" else unit

    @classmethod
    def dimension_of(cls, spec: Spec) -> str | None:
        """The dimension of a number in a record within one of its fields."""
        return spec.dimension

    @classmethod
    def check_kind(cls) -> None:
        """Refuse a kind whose declaration is wrong, when it is registered."""

    @property
    def states(self) -> tuple[tuple[str, str], ...]:
        """Names and units of its own states, which are entries of z."""
        return ()

    def initial_states(self, resolve: Callable[[Any], Any]) -> np.ndarray:
        """Initial values of its own states."""
        return np.zeros(len(self.states))

    def consistent_values(self, scene: VelocityScene) -> Mapping[str, Any]:
        """Consistent initial values, by name, of states that follow from the rest of the system and were not given."""
        return {}

    def state_rates(self, scene: Scene) -> np.ndarray:
        """Time derivatives of its own states."""
        raise NotImplementedError

    @property
    def discrete_states(self) -> tuple[tuple[str, str], ...]:
        """Names and units of its discrete states, entries of z that only events change: modes, samples, memories."""
        return ()

    def initial_discrete_states(self, resolve: Callable[[Any], Any]) -> np.ndarray:
        """Initial values of its discrete states; ``consistent_values`` gives those that follow from the state."""
        return np.zeros(len(self.discrete_states))

    @property
    def event_functions(self) -> tuple[Root, ...]:
        """The event functions that end its modes."""
        return ()

    def reset(self, scene: Scene, fired: Sequence[Any]) -> Mapping[str, Any]:
        """The reset map of its events: new values of its states by name, of coordinates as ``elbow.u``.

        ``fired[k]`` is 1.0 for the event function that triggered; its mode takes its new value by itself unless it is
        given here.  ``u`` stands for all speeds of the state, of which an impact changes many.
        """
        return {}

    def locks(self, scene: VelocityScene) -> Sequence[Lock]:
        """The locks that may keep its joints still."""
        return ()

    def locks_itself(self, nominal: Callable[[Any], Any]) -> bool:
        """Whether it is self-locking: no load at its output, however large, drives it back."""
        return False

    @property
    def clocks(self) -> tuple[Sampler, ...]:
        """The clocks at which it acts."""
        return ()

    def sample(self, scene: Scene, ticked: Sequence[Any]) -> Mapping[str, Any]:
        """New values of discrete states at a clock tick; ``ticked[k]`` is 1.0 for its clocks that tick.

        Components sample in the order of their declaration; a later one reads the new values of those before it.
        """
        return {}

    @property
    def late(self) -> frozenset[str]:
        """Fields whose laws enter only time derivatives of states or samples: these may use accelerations."""
        return frozenset()

    def own(self, field: str, law: Value) -> Value:
        """A law of a field with its local names written out as quantities of the component."""
        local = self.local.get(field, frozenset())
        if not isinstance(law, Expression) or not local & law.names():
            return law
        return law.rename(lambda name: f"{self.name}.{name}" if name in local else name)

    def given(self, *, aside: bool = True) -> dict[str, Any]:
        """The fields that differ from their defaults; without ``aside`` those alone that are in the equations."""
        given: dict[str, Any] = {}
        for name, (field, spec) in self.specs().items():
            value = getattr(self, field.name)
            if value is field.default or (spec.aside and not aside):
                continue
            if field.default is dataclasses.MISSING or value != field.default:
                given[name] = value
        return given

    def check_numbers(self, known: Callable[[Any], float | None]) -> None:
        """Refuse numbers out of their ranges; ``known`` gives the value of one, None where it is open."""
        for name, allowed in self.number_ranges().items():
            value = getattr(self, self.specs()[name][0].name)
            number = None if value is None else known(value)
            if number is not None and not allowed.holds(number):
                raise self.error_at(name, allowed.refuse(number, self.before_number))

    def error_at(self, field: str | None, message: str) -> ModelError:
        """The error about one of its fields, or about the whole of it."""
        return ModelError(message, component=self.name, field=field)

    def expressions(self) -> tuple[tuple[str, Expression], ...]:
        """Every expression in the component, with the name of its field."""
        known: tuple[tuple[str, Expression], ...] | None = self.__dict__.get(EXPRESSIONS)
        if known is None:  # they are asked for many times, and a record is not changed
            values, (declared, _) = self.__dict__, _declared_fields(type(self))
            odd = {k for k, v in values.items() if type(v) not in PLAIN_TYPES and k in declared and not is_plain(v)}
            fields = self.walked_fields() if odd else ()
            known = tuple((name, law) for name, x, _ in fields if x in odd for law in find_expressions(values[x]))
            object.__setattr__(self, EXPRESSIONS, known)
        return known

    @cached_property
    def used_names(self) -> frozenset[str]:
        """The names in its expressions."""
        return frozenset().union(*(law.names() for _, law in self.expressions()))


EXPRESSIONS = "_expressions"  # where a component keeps those in it, once they were asked for


@found_once
def _specs_of(cls: type[Component]) -> dict[str, tuple[dataclasses.Field[Any], Spec]]:
    declared = ((f, f.metadata["spec"]) for f in dataclasses.fields(cls) if "spec" in f.metadata)
    return {spec.public or f.name: (f, spec) for f, spec in declared}


@found_once
def _find_fields(cls: type[Component], kinds: tuple[FieldKind, ...]) -> dict[str, Spec]:
    return {name: spec for name, (_, spec) in cls.specs().items() if spec.kind in kinds}


@found_once
def _walked_of(cls: type[Component]) -> tuple[tuple[str, str, Spec], ...]:
    bare = ((name, name, spec) for name, spec in cls.bare_values.items())
    return (*bare, *((name, field.name, spec) for name, (field, spec) in cls.specs().items()))


@found_once
def _required_of(cls: type[Component]) -> tuple[str, ...]:
    return tuple(name for name, (field, _) in cls.specs().items() if field.default is dataclasses.MISSING)


@found_once
def _declared_fields(cls: type[Any]) -> tuple[frozenset[str], bool]:
    """The names of the fields that a kind declares, and whether no default is an expression."""
    fields = [field for _, field, _ in cls.walked_fields()]
    return frozenset(fields), not any(find_expressions(cls.__dataclass_fields__[x].default) for x in fields)


def unknown(message: str, name: object, known: Iterable[str]) -> str:
    """A message about an unknown name, with the nearest known ones."""
    return suggest(f"{message} {name!r}", name, find_close(str(name), known, 3))


def unknown_fields(what: str, names: Sequence[object], known: Iterable[str]) -> str:
    """A message about names that are no fields, with the nearest fields and the list of all."""
    fields = list(known)
    nearest = [find_close(str(name), fields, 3 if len(names) == 1 else 1) for name in names]
    near = dict.fromkeys(field for few in nearest for field in few)
    message = f"{what} has no field{'s' * (len(names) > 1)} {', '.join(repr(name) for name in names)}"
    if not near:
        return f"{message}; its fields are {', '.join(fields)}"
    question = f"did you mean {' or '.join(near)}? Its fields are {', '.join(fields)}"
    return Advice(f"{message}; {question}", Suggestion(str(names[0]), tuple(nearest[0])))


def missing_fields(names: Sequence[str]) -> str:
    """A message about several fields that have to be given."""
    return f"{listed(names)} are needed and were not given"


def short(raw: Any) -> str:
    """A value in few words, for messages."""
    text = repr(raw)
    return text if len(text) <= 60 else text[:57] + "..."


def plain_number(value: Any) -> float | None:
    """A number that is written as one; None for an expression."""
    return value if isinstance(value, float) else None
