"""The small records: parameters, inputs, signals, tables, couplings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kinode.algebra.tables import Table
from kinode.algebra.units import Dimension
from kinode.errors import ModelError
from kinode.model.fields import Component, Value, number, special

CONSTRAINTS: dict[str, type[Constraint]] = {}


@dataclass(frozen=True)
class Parameter(Component):
    """A number with a name; an argument of the compiled code, so that changing it compiles nothing."""

    section: ClassVar[str] = "parameters"
    value: Value = 0.0
    dimension: Dimension | None = None
    bounds: tuple[float, float] | None = None
    note: str = ""


@dataclass(frozen=True)
class Input(Component):
    """A number that comes from outside: a control, an FMU's input; ``value`` holds until one comes."""

    section: ClassVar[str] = "inputs"
    value: Value = 0.0
    dimension: Dimension | None = None


@dataclass(frozen=True)
class Signal(Component):
    """A named law."""

    section: ClassVar[str] = "signals"
    law: Value = 0.0


@dataclass(frozen=True)
class TableRecord(Component):
    """A table that laws can call."""

    section: ClassVar[str] = "tables"
    table: Table | None = None


@dataclass(frozen=True)
class Constraint(Component):
    """Ties coordinates together beyond what joints do."""

    section: ClassVar[str] = "constraints"

    def check(self, system: Any) -> None:
        """Refuse what cannot hold."""


def register_constraint(cls: type[Constraint]) -> type[Constraint]:
    """Make a constraint known by its ``kind``."""
    CONSTRAINTS[cls.kind] = cls
    return cls


@register_constraint
@dataclass(frozen=True)
class Gear(Constraint):
    """input.q = ratio * output.q + offset, for two joints of one freedom."""

    kind: ClassVar[str] = "gear"
    input: str = special("text", "the joint that follows", ...)
    output: str = special("text", "the joint that leads", ...)
    ratio: Value = number(None, "input.q for a unit of output.q")
    offset: Value = number(None, "input.q where output.q is 0", 0.0)

    def check(self, system: Any) -> None:
        for field in ("input", "output"):
            joint = system.joints.get(getattr(self, field))
            if joint is None:
                raise ModelError(f"no joint is called {getattr(self, field)!r}", component=self.name, field=field)
            if joint.n_u != 1:
                raise ModelError(f"{joint.name} has {joint.n_u} freedoms; a gear ties joints with one", component=self.name, field=field)
        if self.input == self.output:
            raise ModelError("ties a joint to itself", component=self.name)
        if system.joints[self.input].driven:
            raise ModelError(f"{self.input} has a prescribed motion already", component=self.name, field="input")
        if self.ratio == 0.0:
            raise ModelError("must not be zero", component=self.name, field="ratio")
