"""The decorator ``dataclass`` of the standard library, at a tenth of its cost.

The standard one writes and compiles six methods for each class; for the hundred records of kinode that took a third of
the time of ``import kinode``.  This one compiles ``__init__`` alone, when it is first used: most classes have no record
in most runs.  The other methods are the same functions for all classes.  What it knows about annotations is that those
of ``ClassVar`` are no fields.  ``fields``, ``replace`` and ``asdict`` of the
standard library work on its classes.  Not supported are ``slots``, ``order``, ``kw_only`` and ``InitVar``.

The modules that load and compile a model use it, and those with classes that inherit from theirs: the standard
decorator refuses to freeze a class whose base it did not freeze.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from inspect import get_annotations
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, eq=True, repr=True):
        """Add ``__init__`` and, unless the class has its own, ``__repr__``, ``__eq__`` and ``__hash__``."""

        def decorate(cls: type) -> type:
            return _make_record(cls, frozen, eq, repr)

        return decorate if cls is None else decorate(cls)


def _make_record(cls: type, frozen: bool, eq: bool, repr: bool) -> type:
    own = cls.__dict__
    methods: dict[str, Any] = {}
    fields = add_fields(cls)
    if "__init__" not in own:
        methods["__init__"] = _LaterInit(cls, fields, frozen)
    if repr:
        methods["__repr__"] = _repr
    if eq:
        values = _find_values([field.name for field in fields if field.compare])
        methods["__eq__"] = _make_equal(values)
        if "__hash__" not in own or own["__hash__"] is None:
            methods["__hash__"] = _make_hash(values) if frozen else None
    if frozen:
        methods |= {"__setattr__": _refuse_assignment, "__delattr__": _refuse_deletion}
    for name, method in methods.items():
        if name not in own or name == "__hash__":
            setattr(cls, name, method)
    return cls


@dataclasses.dataclass(init=False, repr=False, eq=False)
class _Plain:
    """What the standard decorator leaves behind where it writes no methods."""


_PARAMETERS: Any = _Plain.__dict__["__dataclass_params__"]
_ORDINARY: Any = vars(dataclasses)["_FIELD"]  # how it marks fields that are neither of the class nor of __init__ alone


def add_fields(cls: Any) -> tuple[dataclasses.Field[Any], ...]:
    """Make a class a dataclass without any method, and return its fields."""
    known = cls.__dataclass_fields__ = _find_fields(cls)
    cls.__dataclass_params__ = _PARAMETERS
    fields = tuple(known.values())
    if "__match_args__" not in cls.__dict__:
        names = tuple(field.name for field in fields if field.init and not field.kw_only)
        type.__setattr__(cls, "__match_args__", names)
    return fields


def _find_fields(cls: type) -> dict[str, dataclasses.Field[Any]]:
    """The fields of a class, those of its bases first."""
    fields: dict[str, dataclasses.Field[Any]] = {}
    for base in cls.__mro__[-1:0:-1]:
        fields |= base.__dict__.get("__dataclass_fields__", {})
    for name, annotation in get_annotations(cls).items():
        if "ClassVar" in annotation if isinstance(annotation, str) else _is_of_class(annotation):
            continue
        default: Any = getattr(cls, name, dataclasses.MISSING)
        field: Any = default if isinstance(default, dataclasses.Field) else dataclasses.field(default=default)
        if isinstance(default, dataclasses.Field):
            if field.default is dataclasses.MISSING:
                delattr(cls, name)
            else:
                setattr(cls, name, field.default)
        if field.default.__class__.__hash__ is None:
            raise ValueError(f"{cls.__name__}.{name}: a default that can be changed needs default_factory")
        field.name, field.type, field._field_type = name, annotation, _ORDINARY
        field.kw_only = field.kw_only is True
        fields[name] = field
    return fields


def _is_of_class(annotation: object) -> bool:
    return getattr(annotation, "__origin__", annotation) is ClassVar


class _LaterInit:
    """Stands for the method ``__init__`` of a class until it is first used, and is then replaced by it."""

    def __init__(self, cls: type, fields: tuple[dataclasses.Field[Any], ...], frozen: bool) -> None:
        self.cls, self.fields, self.frozen = cls, fields, frozen

    def __get__(self, record: object, owner: type) -> Callable[..., None]:
        init = self.cls.__dict__["__init__"]
        if init is self:  # another thread may have been faster
            init = _write_init(self.cls, self.fields, self.frozen)
            self.cls.__init__ = init
        bound: Callable[..., None] = init.__get__(record, owner)
        return bound


def _write_init(cls: type, fields: tuple[dataclasses.Field[Any], ...], frozen: bool) -> Callable[..., None]:
    """The method ``__init__``; a frozen class sets its fields past its own refusal."""
    names: dict[str, Any] = {"_put": object.__setattr__, "_MISSING": dataclasses.MISSING}
    arguments, lines = ["self"], list[str]()
    for field in fields:
        name, value = field.name, field.name
        if field.default_factory is not dataclasses.MISSING:
            names[f"_make_{name}"] = field.default_factory
            value = f"_make_{name}() if {name} is _MISSING else {name}" if field.init else f"_make_{name}()"
        elif field.default is not dataclasses.MISSING:
            names[f"_default_{name}"] = field.default
        if not field.init and field.default_factory is dataclasses.MISSING:
            continue  # the class has the default
        lines.append(f"_put(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
        if field.init:
            made = "_MISSING" if f"_make_{name}" in names else f"_default_{name}"
            arguments.append(f"{name}={made}" if made in names else name)
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    text = f"def __init__({', '.join(arguments)}):\n " + "\n ".join(lines or ["pass"])
    exec(text, names)
    init: Callable[..., None] = names["__init__"]
    init.__qualname__, init.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    init.__annotations__ = {field.name: field.type for field in fields if field.init} | {"return": None}
    return init


def _find_values(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    """A function that gives the fields of a record, in order."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda record: tuple(getattr(record, name) for name in names)


def _make_equal(values: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any, object], bool]:
    def equal(self: Any, other: object) -> bool:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return equal


def _make_hash(values: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any], int]:
    return lambda self: hash(values(self))


_SHOWN: dict[type, tuple[str, ...]] = {}  # the fields in the text of a record


def _repr(self: Any) -> str:
    cls = type(self)
    names = _SHOWN.get(cls)
    if names is None:
        names = _SHOWN[cls] = tuple(field.name for field in dataclasses.fields(cls) if field.repr)
    return f"{cls.__qualname__}({', '.join([f'{name}={getattr(self, name)!r}' for name in names])})"


def _refuse_assignment(self: Any, name: str, value: object) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deletion(self: Any, name: str) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
