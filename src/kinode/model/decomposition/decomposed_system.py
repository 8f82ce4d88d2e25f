"""Joints with several freedoms taken apart into hinges and slides: ``System.decomposed``.

Joint ``heel`` with the coordinates x, y, angle becomes the joints ``heel.x``, ``heel.y`` and ``heel.angle`` in series,
with the massless bodies ``heel.link1`` and ``heel.link2`` between them.  Accelerations and wrenches stay what they are.

A ball and the turning of a free joint become three hinges, with angles.  The sequence z, y, x (yaw, pitch, roll) is
singular where the second angle is 90 degrees; z, x, z (precession, nutation, spin) is singular elsewhere, so that one
of the two always serves.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

from kinode.errors import LawError, ModelError
from kinode.expressions.syntax_tree import Expression, symbol
from kinode.model.base.fields import Component
from kinode.model.base.parameters import Parameter, Signal, TableRecord
from kinode.model.decomposition.pair_series import PairSeries
from kinode.model.joints.joint import Joint
from kinode.model.network.joint_sources import find_freedom
from kinode.model.quantity_names import split_owner

if TYPE_CHECKING:
    from kinode.model.system import System


def decompose(system: System, sequences: Mapping[str, str]) -> System:
    """The system with all joints of several freedoms taken apart."""
    for name in sequences:
        joint = system.joints.get(name)
        if joint is None or joint.quaternion is None:
            known = [key for key, x in system.joints.items() if x.quaternion is not None]
            message = f"sequences: {name} is no joint that a quaternion turns; these are {', '.join(known) or 'none'}"
            raise ModelError(message)
    for joint in system.joints.values():
        if not joint.has_pairs:
            message = f"a {joint.kind} joint does not say which hinges and slides it is made of"
            raise ModelError(message, component=joint.name)
    system = system.as_declared()
    series = {
        name: PairSeries(system, joint, sequences.get(name)) for name, joint in system.joints.items() if joint.n_u > 1
    }
    return Decomposition(system, series).run()


class Decomposition:
    """One system in the making, whose laws name the pairs."""

    def __init__(self, system: System, series: Mapping[str, PairSeries]) -> None:
        self.system, self.series = system, series

    def run(self) -> System:
        new = self.system.copy()
        if not self.series:
            return new
        made: list[Component] = []
        for old in self.system.components.values():
            if old.name in self.series:
                joint = self.joint_laws(self.series[old.name].joint)
                made += self.series[old.name].joints(joint)
            else:
                made.append(self._rewritten(old))
        new.fill(made)
        new.check()
        return new

    def joint_laws(self, joint: Joint) -> Callable[[Any], Any]:
        """Rewrites the laws of a joint that is taken apart."""
        return lambda value: self._law(value, joint, "", ()) if isinstance(value, Expression) else value

    def _rewritten(self, old: Component) -> Component:
        if isinstance(old, TableRecord | Parameter):
            return old
        if isinstance(old, Signal):
            return dataclasses.replace(old, law=self._value(old.law, old, "law", ()))
        changed: dict[str, Any] = {}
        for field, spec in old.specs().values():
            value = getattr(old, field.name)
            if spec.shape == "joint" and value in self.series:
                pairs = ", ".join(self.series[value].names)
                message = f"names {value}, which is taken apart into {pairs}"
                raise ModelError(message, component=old.name, field=field.name)
            new = self._value(value, old, field.name, old.local.get(field.name, ()))
            new = self._port(value, old, field.name) if spec.shape == "port" else new
            if new is not value:
                changed[field.name] = new
        return dataclasses.replace(old, **changed) if changed else old

    def _port(self, node: str, old: Component, field: str) -> str:
        """What a port is connected to: a freedom of a joint is a pair of its own, but for quasi-velocities."""
        joint, freedom = find_freedom(self.system.joints, node) or (None, None)
        if joint is None or joint.name not in self.series:
            return node
        if joint.quaternion is None and f"{joint.name}.{freedom}" in self.series[joint.name].names:
            return f"{joint.name}.{freedom}"
        pairs = ", ".join(self.series[joint.name].names)
        raise ModelError(f"acts on {node}, which is no freedom of {pairs}", component=old.name, field=field)

    def _value(self, value: Any, old: Component, field: str, local: Collection[str]) -> Any:
        """A value of a field with its laws rewritten; the same object if there is nothing to rewrite."""
        if isinstance(value, Expression):
            return self._law(value, old, field, local)
        if isinstance(value, tuple):
            items = tuple(self._value(x, old, field, local) for x in value)
            return items if any(a is not b for a, b in zip(items, value, strict=True)) else value
        if dataclasses.is_dataclass(value) and not isinstance(value, type | Component):
            parts = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
            new = {name: self._value(x, old, field, local) for name, x in parts.items()}
            changed = {name: x for name, x in new.items() if x is not parts[name]}
            return dataclasses.replace(value, **changed) if changed else value
        return value

    def _law(self, law: Expression, old: Component, field: str, local: Collection[str]) -> Any:
        meanings = {text: self._meaning(text, old, field) for text in law.names().difference(local)}
        changed = {text: new for text, new in meanings.items() if new is not None}
        return law.substitute(changed) if changed else law

    def _meaning(self, text: str, old: Component, field: str) -> Any:
        """What a name of a law becomes; None if it stays."""
        head, _, axes = text.partition("@")
        renamed = self._frame_name(axes)
        owner, rest = self._owner(head)
        if owner not in self.series:
            return symbol(f"{head}@{renamed}") if renamed != axes else None
        meaning = self.series[owner].meaning(rest, renamed)
        if meaning is None:
            message = f"names {text}, which {owner} does not have once it is taken apart"
            raise ModelError(message, component=old.name, field=field or None)
        return meaning

    def _frame_name(self, axes: str) -> str:
        owner, rest = self._owner(axes) if axes else ("", "")
        if owner not in self.series:
            return axes
        return f"{self.series[owner].names[0 if rest == 'parent' else -1]}.{rest}"

    def _owner(self, head: str) -> tuple[str, str]:
        try:
            return split_owner(self.system, head, head)
        except LawError:
            return "", ""
