"""Making joints, elements and constraints known by a kind, from this package or from a plug-in."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from kinode.errors import ModelError
from kinode.model.base.element import ELEMENTS, Element
from kinode.model.base.fields import Component, record
from kinode.model.constraints.constraint import CONSTRAINTS, Constraint
from kinode.model.joints.joint import JOINTS, Joint

C = TypeVar("C", bound=type[Component])


def register(kind: str) -> Callable[[C], C]:
    """Make a class of joint, element or constraint known by its kind: ``@kn.register("rope")``.

    The class is made a frozen record, so that its fields can be declared in its body.  A kind can be
    taken once; running the same module again replaces its own class.
    """

    def put(cls: C) -> C:
        registry: dict[str, type[Component]] | None = None
        for base, known in ((Joint, JOINTS), (Element, ELEMENTS), (Constraint, CONSTRAINTS)):
            if issubclass(cls, base):
                registry = known  # type: ignore[assignment]
        if registry is None:
            raise ModelError(
                f"{cls.__name__} is no joint, element or constraint and cannot be registered", component=kind
            )
        old = registry.get(kind)
        if old is not None and (old.__module__, old.__qualname__) != (cls.__module__, cls.__qualname__):
            raise ModelError(f"the kind {kind!r} is taken by {old.__module__}.{old.__qualname__}", component=kind)
        cls.kind = kind
        for between in reversed(cls.__mro__[1:]):  # their fields count, though they are no kinds themselves
            if issubclass(between, Component) and "__dataclass_params__" not in between.__dict__:
                record(between)
        made = record(cls)
        if issubclass(made, Element):
            made.check_kind()
        registry[kind] = made
        return cls

    return put
