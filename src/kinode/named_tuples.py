"""``NamedTuple`` of the standard library's ``typing``, at a tenth of its cost.

The standard one compiles a text for each annotation and one for each class; for the forty classes that a process needs
until its first acceleration that took a seventh of the time of their import.  This one compiles ``__new__`` alone, when
the first tuple of a class is made, and keeps annotations as they are.  The other methods are the same functions for all
classes.  The modules that load and compile a model use it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from inspect import get_annotations
from operator import itemgetter
from typing import TYPE_CHECKING, Any

try:  # how collections.namedtuple reads fields
    from _collections import _tuplegetter as _field_getter  # type: ignore[import-not-found]
except ImportError:

    def _field_getter(index: int, doc: str) -> Any:
        return property(itemgetter(index), doc=doc)


class _NamedFields(tuple):  # type: ignore[type-arg]
    """The methods that all classes share."""

    __slots__ = ()
    if TYPE_CHECKING:
        _fields: tuple[str, ...]

    @classmethod
    def _make(cls, values: Iterable[Any]) -> Any:
        made = tuple.__new__(cls, values)
        if len(made) != len(cls._fields):
            raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
        return made

    def _replace(self, /, **changes: Any) -> Any:
        made = self._make(map(changes.pop, self._fields, self))
        if changes:
            raise ValueError(f"Got unexpected field names: {list(changes)!r}")
        return made

    __replace__ = _replace

    def _asdict(self) -> dict[str, Any]:
        return dict(zip(self._fields, self, strict=True))

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self)

    def __repr__(self) -> str:
        shown = ", ".join([f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True)])
        return f"{type(self).__name__}({shown})"


class _LaterNew:
    """Stands for the method ``__new__`` of a class until it is first used, and is then replaced by it."""

    def __init__(self, cls: type, names: tuple[str, ...], defaults: tuple[Any, ...]) -> None:
        self.cls, self.names, self.defaults = cls, names, defaults

    def __get__(self, made: object, owner: type) -> Callable[..., Any]:
        known = self.cls.__dict__["__new__"]
        if known is not self:  # another thread was faster
            function: Callable[..., Any] = known.__get__(made, owner)
            return function
        values = "".join([f"{name}, " for name in self.names])
        new = eval(f"lambda _cls, {values}: _make(_cls, ({values}))", {"_make": tuple.__new__, "__builtins__": {}})
        new.__name__, new.__qualname__ = "__new__", f"{self.cls.__qualname__}.__new__"
        new.__module__, new.__defaults__ = self.cls.__module__, self.defaults
        new.__annotations__ = get_annotations(self.cls)
        self.cls.__new__ = staticmethod(new)
        return new  # type: ignore[no-any-return]


class _TupleMaker(type):
    """Makes an ordinary class of tuples of each class that names ``NamedTuple`` as its base."""

    def __new__(mcls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> Any:
        cls: Any = type.__new__(type, name, (_NamedFields,), {**namespace, "__slots__": ()})
        names, defaults = tuple(get_annotations(cls)), dict[str, Any]()
        for index, field in enumerate(names):
            if field in namespace:
                defaults[field] = namespace[field]
            elif defaults:
                raise TypeError(f"{name}.{field} has no default, and follows a field that has one")
            setattr(cls, field, _field_getter(index, f"Alias for field number {index}"))
        cls._fields = names
        type.__setattr__(cls, "__match_args__", names)
        cls._field_defaults = defaults
        cls.__new__ = _LaterNew(cls, names, tuple(defaults.values()))
        return cls


if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    NamedTuple = type.__new__(_TupleMaker, "NamedTuple", (), {"__doc__": "The base to name, as that of ``typing``."})
