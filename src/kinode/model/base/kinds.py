"""Registry of kinds, and the shortcut methods of System: one declaration makes a class of components known everywhere.

    @register("resistor", symbol="resistor", shortcut=True)
    class Resistor(TwoPole):
        ...

The builder, the YAML format, the JSON schema, the documentation and the contract tests read the registries, so that a
new kind needs no other entry.  There is one registry for joints, one for constraints, one for elements and one for
frames; the base class of each family names its own in ``kind_registry``.  kinode's own kinds are found by walking the
packages of ``builtin_kinds.py``, at the first access to a kind or a method that is not known yet.  A module may set
``ORDER``, the place of its kinds in schema and documentation.

A kind that is registered with ``shortcut=True`` becomes a method of ``ShortcutMethods``, from which System derives:
``system.revolute(...)`` for ``system.joint(..., "revolute", ...)``.  Signature and docstring are those of the declared
fields.  What editors and type checkers see before anything runs is the same in ``model/shortcuts.pyi``, which
``tools/write_stubs.py`` writes.  The aliases name what the kinds of fields take as types; they are for static checks
alone and are not evaluated when kinode runs.
"""

from __future__ import annotations

import inspect
import math
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from dataclasses import MISSING
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from kinode.errors import ModelError, find_close, suggest
from kinode.hooks import hook
from kinode.model.base.fields import Component, Spec, record

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence
    from fractions import Fraction

    import numpy as np

    from kinode.expressions.syntax_tree import Expression
    from kinode.model.base.bodies import Body, Visual
    from kinode.model.base.frames import Frame
    from kinode.model.base.observers.moving_frames import Observer
    from kinode.model.base.parameters import Symbols
    from kinode.model.base.shapes import Shape
    from kinode.model.base.symbols import Symbol
    from kinode.model.joints.coulomb_friction import Coulomb
    from kinode.model.joints.end_stops import Ends
    from kinode.model.joints.joint import Compliance, Joint, Limits


# A number, text such as "30 deg" or "2*L", or arithmetic with parameters.
NumberLike: TypeAlias = "float | np.number[Any] | str | Expression"
# A number, or a law: text, an expression, or a function of symbols.
LawLike: TypeAlias = "NumberLike | Callable[[Symbols], Any]"
VectorLike: TypeAlias = "Sequence[NumberLike] | np.ndarray[Any, Any]"
LawsLike: TypeAlias = "Sequence[LawLike] | np.ndarray[Any, Any]"
MatrixLike: TypeAlias = "NumberLike | Sequence[NumberLike] | Sequence[Sequence[NumberLike]] | np.ndarray[Any, Any]"
# One number for a joint with one coordinate, else one for each.
NumbersLike: TypeAlias = "NumberLike | VectorLike"
CoordinateLawsLike: TypeAlias = "LawLike | LawsLike"
# A body, a frame, the name of one, or {"body": ..., "at": ..., "rpy": ...}.
FrameLike: TypeAlias = "Frame | Body | Observer | str | Mapping[str, Any]"
# x, y, z, -x, -y, -z, or three numbers.
AxisLike: TypeAlias = "str | VectorLike"
AxesLike: TypeAlias = "Sequence[AxisLike]"
RotationLike: TypeAlias = "Mapping[str, Any] | tuple[str, Any]"
TurnsLike: TypeAlias = "Sequence[tuple[AxisLike, LawLike]]"
JointLike: TypeAlias = "Joint | str"
# The name of a node, gnd, or a joint or the world.
PortLike: TypeAlias = "str | Joint | Body"
InertiaLike: TypeAlias = "Mapping[str, NumberLike] | VectorLike | Sequence[Sequence[NumberLike]]"
ShapeLike: TypeAlias = "Shape | Mapping[str, Mapping[str, Any]]"
PlacesLike: TypeAlias = "Mapping[str, VectorLike | Mapping[str, Any]] | tuple[Frame, ...]"
VisualsLike: TypeAlias = "Sequence[Visual | Mapping[str, Any]]"
FrictionLike: TypeAlias = "Coulomb | Mapping[str, Mapping[str, NumberLike]]"
EndsLike: TypeAlias = "Ends | Mapping[str, NumberLike]"
LimitsLike: TypeAlias = "Limits | VectorLike | Mapping[str, NumberLike]"
ComplianceLike: TypeAlias = "Compliance | Mapping[str, NumbersLike]"
TimeLike: TypeAlias = "float | str | Fraction"
WordsLike: TypeAlias = "str | Sequence[str]"
NamedLawsLike: TypeAlias = "Mapping[str, LawLike] | tuple[tuple[str, LawLike], ...]"
NamedNumbersLike: TypeAlias = "Mapping[str, NumberLike] | tuple[tuple[str, NumberLike], ...]"
FunctionLike: TypeAlias = "Callable[..., Any]"
FileLike: TypeAlias = "str | os.PathLike[str]"
NamedVariablesLike: TypeAlias = "WordsLike | Mapping[str, str]"


def words_of(cls: type[Component], spec: Spec) -> str:
    """What a field takes, in words, with its unit: ``number, N/m``."""
    unit = cls.field_unit(spec)
    return f"{spec.kind.words_for(spec)}, {unit}" if unit else spec.kind.words_for(spec)


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
        annotation = argument.spec.kind.type_for(argument.spec) + (" | None" if argument.default is None else "")
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
