"""Shortcut methods: ``system.revolute(...)`` for ``system.joint(..., "revolute", ...)``, made from the declared fields.

A kind that is registered with ``shortcut=True`` becomes a method of ``ShortcutMethods``, from which System derives.
Signature and docstring are those of the declared fields, so that ``help(kn.System.revolute)`` and completion in a
notebook name every field.  What editors and type checkers see before anything runs is the same in
``model/shortcuts.pyi``, which ``tools/write_stubs.py`` writes.

kinode's own modules are imported at the first access to a method that is not known yet.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import MISSING
from inspect import Parameter, Signature
from typing import Any, NamedTuple

from kinode.errors import ModelError, find_close, suggest
from kinode.hooks import hook
from kinode.model.base.field_types import type_of, words_of
from kinode.model.base.fields import Component, Spec

NEEDED = Parameter.empty


class _Lazy(type):
    """A metaclass that imports kinode's kinds at the first access to an unknown shortcut."""

    def __getattr__(cls, name: str) -> Any:
        if _find(name):
            return getattr(cls, name)
        raise AttributeError(_unknown(cls.__name__, name))

    def __dir__(cls) -> list[str]:
        _find(None)
        return list(super().__dir__())


class ShortcutMethods(metaclass=_Lazy):
    """Holds one method for each kind that is registered with a shortcut."""

    def __getattr__(self, name: str) -> Any:
        if _find(name):
            return getattr(self, name)
        raise AttributeError(_unknown(type(self).__name__, name))

    def __dir__(self) -> list[str]:
        _find(None)
        return list(super().__dir__())

    def add_kind(self, section: str, name: str, kind: str, fields: dict[str, Any]) -> Any:
        """Add a component of a kind."""
        raise NotImplementedError


def _find(name: str | None) -> bool:
    """Whether there is a shortcut of that name, once kinode's own kinds are imported."""
    known = vars(ShortcutMethods)
    if name is None or not name.startswith("_"):  # copy and pickle look for names with underscores
        hook("load_builtin_kinds")(lambda: name in known)
    return isinstance(known.get(name or ""), Shortcut)


def _unknown(owner: str, name: str) -> str:
    near = [] if name.startswith("_") else find_close(name, dir(ShortcutMethods), 3)
    return suggest(f"{owner!r} object has no attribute {name!r}", name, near)


def add_shortcut(kind: str, cls: type[Component]) -> None:
    """Give System a method for a kind."""
    for owner in _owners(ShortcutMethods):
        for base in owner.__mro__:
            member = vars(base).get(kind, vars(base).get("__annotations__", {}).get(kind))
            if member is not None and not (isinstance(member, Shortcut) and member.cls.section == cls.section):
                message = f"{owner.__name__} has a member of this name; choose another kind, or no shortcut"
                raise ModelError(message, component=kind)
    setattr(ShortcutMethods, kind, Shortcut(cls))


def remove_shortcut(kind: str) -> None:
    """Take the method of a kind away again."""
    delattr(ShortcutMethods, kind)


def _owners(cls: type[ShortcutMethods]) -> Iterator[type[ShortcutMethods]]:
    yield cls
    for derived in cls.__subclasses__():
        yield from _owners(derived)


class Shortcut:
    """The method of one kind, made when it is first used."""

    def __init__(self, cls: type[Component]) -> None:
        self.cls = cls
        self._function: Callable[..., Any] | None = None

    def __get__(self, system: Any, owner: Any = None) -> Callable[..., Any]:
        if self._function is None:
            self._function = make_method(self.cls)
        return self._function if system is None else self._function.__get__(system, owner)


class Argument(NamedTuple):
    """One argument of a shortcut: a field, or an alternative to one."""

    name: str
    spec: Spec
    default: Any  # NEEDED where it has to be given
    positional: bool


def find_arguments(cls: type[Component]) -> list[Argument]:
    """The arguments of the shortcut of a kind after the name, positional ones first."""
    specs, positional = cls.specs(), cls.positional_fields()
    replaceable = {field for other in cls.alternative_fields.values() for field in other.fields}
    arguments = []
    for name in (*positional, *(name for name in specs if name not in positional)):
        field, spec = specs[name]
        default = NEEDED if field.default is MISSING or name in cls.leading_fields else field.default
        default = None if default is NEEDED and name in replaceable else default
        arguments.append(Argument(name, spec, default, name in positional))
    return [*arguments, *(Argument(name, other.spec, None, False) for name, other in cls.alternative_fields.items())]


def make_method(cls: type[Component]) -> Callable[..., Any]:
    """The shortcut of a kind as a function, with its signature and its documentation."""
    word, positional = cls.kind or cls.sort(), cls.positional_fields()

    def method(self: Any, /, name: str, *values: Any, **fields: Any) -> Any:
        if len(values) > len(positional):
            count = f"{len(values)} values are given by their position"
            taken = ", ".join(positional) or "none"
            message = f"{count}; a {word} takes {taken} so, and its other fields by their names"
            raise ModelError(message, component=name)
        given = dict(zip(positional, values, strict=False))
        for field in given.keys() & fields.keys() if not given.keys().isdisjoint(fields) else ():
            raise ModelError("is given twice, by position and by name", component=name, field=field)
        return self.add_kind(cls.section, name, cls.kind, {**given, **fields})

    method.__name__, method.__qualname__, method.__module__ = word, f"System.{word}", cls.__module__
    method.__doc__ = write_docstring(cls)
    method.__signature__ = write_signature(cls)  # type: ignore[attr-defined]
    return method


def write_signature(cls: type[Component]) -> Signature:
    """The arguments of a shortcut with their types and defaults."""
    parameters = [
        Parameter("self", Parameter.POSITIONAL_OR_KEYWORD),
        Parameter("name", Parameter.POSITIONAL_OR_KEYWORD, annotation="str"),
    ]
    for argument in find_arguments(cls):
        passing = Parameter.POSITIONAL_OR_KEYWORD if argument.positional else Parameter.KEYWORD_ONLY
        annotation = type_of(cls, argument.spec) + (" | None" if argument.default is None else "")
        parameters.append(Parameter(argument.name, passing, default=argument.default, annotation=annotation))
    # a port that may be left out may stand before one that may not
    return Signature(parameters, return_annotation=cls.shortcut_result().__name__, __validate_parameters__=False)


def write_docstring(cls: type[Component]) -> str:
    """What a kind is, and each of its fields: what it takes, its unit, its default, what it means."""
    lines = [inspect.cleandoc(cls.__doc__ or ""), "", "Parameters", "----------"]
    lines += ["name : str", "    Its name in the system."]
    for argument in find_arguments(cls):
        takes = words_of(cls, argument.spec)
        if argument.default is None:
            takes += ", optional"
        elif argument.default is not NEEDED:
            takes += f", default {show_default(argument.default)}"
        lines += [f"{argument.name} : {takes}", f"    {_sentence(argument.spec.doc)}"]
    result = cls.shortcut_result()
    lines += ["", "Returns", "-------", result.__name__, f"    The {result.sort()} as the system holds it."]
    return "\n".join(lines) + "\n"


def show_default(value: Any) -> str:
    """A default as a user would write it."""
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, tuple) and all(isinstance(item, float) for item in value):
        return f"({', '.join(f'{item:g}' for item in value)}{',' * (len(value) == 1)})"
    return repr(value) if isinstance(value, str | bool | int) else str(value)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else "."
