"""Kinds: one declaration makes a class of components known everywhere.

    @register("resistor", symbol="resistor", shortcut=True)
    class Resistor(TwoPole):
        ...

The builder, the YAML format, the JSON schema, the documentation and the contract tests read the registries, so that a
new kind needs no other entry.  There is one registry for joints, one for constraints, one for elements and one for
frames; the base class of each family names its own in ``kind_registry``.

kinode's own kinds are found by walking the packages of ``builtin_kinds.py``.  A module may set ``ORDER``, the place of
its kinds in schema and documentation.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable, Iterator, MutableMapping
from typing import TYPE_CHECKING, Any, TypeVar

from kinode.errors import ModelError
from kinode.hooks import hook
from kinode.model.base.fields import Component, record
from kinode.model.base.shortcut_methods import add_shortcut, remove_shortcut

if TYPE_CHECKING:
    from kinode.model.base.symbols import Symbol

C = TypeVar("C", bound=Component)
BUILTIN = "kinode.model."


class Registry(MutableMapping[str, type[C]]):
    """Classes of components by kind, in the order in which schema and documentation list them.

    kinode's own modules are imported at the first access to a kind that is not known yet.
    """

    def __init__(self) -> None:
        self._classes: dict[str, type[C]] = {}
        self._complete = False

    def _load(self, kind: str | None = None) -> dict[str, type[C]]:
        """Import kinode's own kinds, all or until one ``kind`` is known, and return the classes so far."""
        if not self._complete and kind not in self._classes:
            self._complete = hook("load_builtin_kinds")(lambda: kind in self._classes)
            if self._complete:
                self._classes = dict(sorted(self._classes.items(), key=lambda item: _list_position(item[1])))
        return self._classes

    def __getitem__(self, kind: str) -> type[C]:
        return self._load(kind)[kind]

    def __setitem__(self, kind: str, cls: type[C]) -> None:
        if cls.has_shortcut:
            add_shortcut(kind, cls)
        self._classes[kind] = cls

    def __delitem__(self, kind: str) -> None:
        if self._load(kind)[kind].has_shortcut:
            remove_shortcut(kind)
        del self._classes[kind]

    def __iter__(self) -> Iterator[str]:
        return iter(self._load())

    def __len__(self) -> int:
        return len(self._load())

    def add(self, kind: str, cls: type[C]) -> None:
        """Add a class; a kind has one class, which only its own module may replace."""
        old = self._classes.get(kind) if is_builtin(cls) else self.get(kind)
        if old is not None and (old.__module__, old.__qualname__) != (cls.__module__, cls.__qualname__):
            raise ModelError(f"the kind {kind!r} is taken by {old.__module__}.{old.__qualname__}", component=kind)
        self[kind] = cls


def is_builtin(cls: type[Component]) -> bool:
    """Whether a class comes with kinode."""
    return cls.__module__.startswith(BUILTIN)


def _list_position(cls: type[Component]) -> tuple[bool, float, str]:
    """Sort key of a class in lists: the ORDER of its module; kinds of plug-ins come last, as they were registered."""
    if not is_builtin(cls):
        return True, math.inf, ""
    return False, getattr(sys.modules[cls.__module__], "ORDER", math.inf), cls.__module__


# Words of the contract of version 0.1, and what they are called now.
OLD_WORDS = {
    "held": "discrete_states",
    "initial_held": "initial_discrete_states",
    "settled": "consistent_values",
    "roots": "event_functions",
    "jump": "reset",
    "samples": "clocks",
    "at_ease": "zero_by_default",
}


def adopt_old_words(cls: type[Component]) -> None:
    """Accept the words of version 0.1 in the class of a plug-in, with a warning."""
    for base in cls.__mro__:
        if not issubclass(base, Component) or is_builtin(base):
            continue
        for old, new in OLD_WORDS.items():
            if old in base.__dict__ and new not in base.__dict__:
                setattr(base, new, base.__dict__[old])
                message = f"{base.__module__}.{base.__qualname__}: {old} is now called {new}"
                warnings.warn(message, FutureWarning, stacklevel=3)


def register(kind: str, *, symbol: Symbol | str | None = None, shortcut: bool = False) -> Callable[[type[C]], type[C]]:
    """Make a class of joints, elements, parts, constraints or frames known by its kind.

    The class becomes a frozen record, so that its fields can be declared in its body.

    Parameters
    ----------
    kind : str
        Name of the kind in Python and in files.  Running the same module again replaces its own class.
    symbol : Symbol or str, optional
        What it is drawn with in diagrams: a symbol, or the name of one that comes with kinode.  Without one the
        class is drawn as its base class is, and else as a box with its kind.
    shortcut : bool, default False
        Whether ``System`` has a method of this name: ``system.rope("r1", a, b, ...)``.

    Returns
    -------
    Callable
        The decorator.

    Raises
    ------
    ModelError
        If the kind is taken, if the class is no component that has kinds, or if the equations of a part do not fit.

    Examples
    --------
    >>> import kinode as kn
    >>> @kn.register("rope", shortcut=True)
    ... class Rope(kn.Element):
    ...     "Pulls two points together."
    ...     a: object = kn.fields.frame("one end")
    ...     b: object = kn.fields.frame("the other end")
    """

    def put(cls: type[C]) -> type[C]:
        registry: Registry[Any] | None = cls.kind_registry if issubclass(cls, Component) else None
        if registry is None:
            raise ModelError(
                f"{cls.__name__} is no joint, element, constraint or frame and cannot be registered", component=kind
            )
        cls.kind, cls.has_shortcut = kind, shortcut
        if not is_builtin(cls):
            adopt_old_words(cls)
        if symbol is not None:
            cls.symbol = symbol
        for base in reversed(cls.__mro__[1:]):  # their fields count, though they are no kinds themselves
            if issubclass(base, Component) and "__dataclass_params__" not in base.__dict__:
                record(base)
        record(cls)
        if not is_builtin(cls):  # those of kinode are checked by their contract tests, not at each start
            cls.check_kind()
        registry.add(kind, cls)
        return cls

    return put
