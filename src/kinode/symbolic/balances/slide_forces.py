"""The force of a slide along its axis: -K y - c y_dot of springs and dampers, or a symbol."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from kinode.formulations.frame_loads import element_loads
from kinode.multibody.snapshot import Snapshot
from kinode.symbolic.balances.balance_symbols import BalanceSymbols
from kinode.symbolic.balances.parallel_symbols import ParallelSymbols
from kinode.symbolic.balances.scalar_terms import SignedTerm, without_zeros
from kinode.symbolic.notation import SymbolStyle


class SlideForces:
    """The forces of all slides; equal stiffnesses have one symbol."""

    def __init__(self, symbols: BalanceSymbols, snapshot: Snapshot) -> None:
        self.symbols, self.snapshot, self.system = symbols, snapshot, symbols.system
        self._constants: dict[tuple[str, Any], Any] = {}

    @cached_property
    def loaded(self) -> set[str]:
        """The bodies that elements act on."""
        frame = self.system.find_frame(self.symbols.carrier.name)
        return {body for _, body in element_loads(self.snapshot, frame)}

    def on_body(self, joint: str, body: ParallelSymbols, axis: int) -> list[SignedTerm]:
        """The force of a slide on the body that it carries, along an axis of the carrier."""
        slides = body.slides_along(axis)
        sign = next(slide.sign for slide in slides if slide.joint == joint)
        record = self.system.joints[joint]
        laws = (record.effort, record.friction, record.ends)
        neutral = record.neutral is not None and any(self._is_set(x) for x in record.neutral)
        alone = len(slides) == 1 and self.snapshot.loads.outer_effort(joint) is None
        if not alone or neutral or any(law is not None for law in laws):
            return [SignedTerm(1 if sign > 0 else -1, self._effort(joint))]
        travel, speed, _ = body.travel(axis)
        terms = []
        for letter, value, by, words, unit in (
            ("K", record.stiffness, travel, "stiffness", "N/m"),
            ("c", record.damping, speed, "damping", "N*s/m"),
        ):
            if value is not None and self._is_set(value[0]):
                terms.append((-1, self._constant(letter, value[0], f"{words} of {joint}", unit, joint) * by))
        return without_zeros(terms)

    def _is_set(self, value: Any) -> bool:
        return any(float(resolve(value)) != 0.0 for resolve in self.symbols.carrier.samples)

    def _constant(self, letter: str, value: Any, words: str, unit: str, joint: str) -> Any:
        """One symbol for all slides with the same constant."""
        if (letter, value) not in self._constants:
            others = [key for key in self._constants if key[0] == letter]
            name = f"{letter}_{joint.replace('.', '_')}" if others else letter
            style = SymbolStyle(letter, below=joint if others else "", plain=True)
            symbol = self.symbols.make(name, style, words, unit, lambda m: float(m.resolve(value)))
            self._constants[letter, value] = symbol
        return self._constants[letter, value]

    def _effort(self, joint: str) -> Any:
        """The effort of a slide by a symbol."""
        style = SymbolStyle("Q", below=joint)
        name = f"Q_{joint.replace('.', '_')}"
        symbol = self.symbols.make(name, style, f"effort along {joint}", "N", lambda m: m.effort(joint))
        self._constants["Q", joint] = symbol
        return symbol

    @property
    def symbols_used(self) -> list[Any]:
        """Stiffnesses, dampings and efforts."""
        return list(self._constants.values())
