"""``kn.equations(system, frame="aero")``: balances of force and moment about the origin of a frame, in its axes.

Vector forms of any system about any frame; scalar components in the symbols of the frame where there are few bodies;
and, for a body with members, the equations solved for the motion, or why they are not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from kinode.errors import ArgumentError
from kinode.formulations.free_flight import traced_snapshot
from kinode.model.base.fields import short
from kinode.model.base.observers.moving_frames import JERK, needs_jerk
from kinode.model.system import System
from kinode.sheets.sheet import FormulaSheet, SheetSection, SheetValues
from kinode.sheets.typeset import decimal
from kinode.structure.topology import find_topology
from kinode.symbolic.balances.balance_symbols import BalanceSymbols
from kinode.symbolic.balances.body_balances import BalanceLine, BodyBalances
from kinode.symbolic.balances.frame_carrier import FrameCarrier, find_carrier
from kinode.symbolic.balances.instant_in_frame import InstantInFrame
from kinode.symbolic.balances.sliding_members import MemberMotion
from kinode.symbolic.balances.vector_balances import vector_sections

if TYPE_CHECKING:
    from kinode.dynamics.compiled_system import Dynamics

MOST_BODIES = 6  # up to which scalar components are written
SHAPES = ("auto", "expanded", "vectors")
SOLVED = "Solved for the motion"


@dataclass(frozen=True)
class FrameEquations(FormulaSheet):
    """Balances about the origin of a frame, in its axes; prints as text, ``.latex()`` and ``.mathml()``.

    ``sheet["Body shell"]`` is a section of it.

    Attributes
    ----------
    system : System
        The system.
    frame : str
        The frame.
    scalars : tuple of BalanceLine
        The equations in scalars: ``.difference`` is a SymPy expression that vanishes, ``.terms`` are the terms.
    """

    system: System = field(kw_only=True)
    frame: str = field(kw_only=True)
    scalars: tuple[BalanceLine, ...] = field(kw_only=True, default=())
    notation: BalanceSymbols = field(kw_only=True, repr=False)

    @property
    def symbols(self) -> dict[str, Any]:
        """All SymPy symbols by name."""
        return {name: entry.symbol for name, entry in self.notation.known.items()}

    @property
    def equations(self) -> list[Any]:
        """One SymPy equation for each line in scalars."""
        import sympy

        return [sympy.Eq(line.difference, 0, evaluate=False) for line in self.scalars]

    @cached_property
    def _dynamics(self) -> Dynamics:
        from kinode.dynamics.compiled_system import Dynamics

        return Dynamics(self.system)

    def values(self, state: Any = None) -> SheetValues:
        """The value of every symbol at a state; default is the initial one.

        Parameters
        ----------
        state : State, optional
            A state, such as ``run.end``.

        Returns
        -------
        SheetValues
            In SI, by the name of the symbol; prints as a table.
        """
        if not self.scalars:
            message = f"balances of {len(self.system.bodies)} bodies in vectors have no values"
            raise ArgumentError(f"values: {message}; run.balance and kinode balance have those of their terms")
        start = self._dynamics.initial if state is None else state
        instant = InstantInFrame(self._dynamics.snapshot(start), self.notation.carrier)
        known = self.notation.known
        units = {name: entry.unit for name, entry in known.items()}
        return SheetValues({name: entry.value(instant) for name, entry in known.items()}, units)


def frame_equations(
    system: System, frame: Any, formulation: str | None, shape: str, reactions: Sequence[str]
) -> FrameEquations:
    """The balances of a system about the origin of a frame."""
    if formulation is not None:
        raise ArgumentError(f"frame: balances about {short(frame)} have no formulation: leave {short(formulation)} out")
    if reactions:
        raise ArgumentError(f"frame: in balances about {short(frame)} joints are outer forces: leave reactions out")
    if shape not in SHAPES:
        raise ArgumentError(f"shape: {short(shape)} is none of {', '.join(SHAPES)}, with frame")
    if not system.bodies:
        raise ArgumentError(f"frame: {system.name} has no bodies")
    place = system.find_frame(frame)
    if not isinstance(frame, str) and not (place.is_plain or place.name):
        raise ArgumentError("frame: give the place a name: body.at(..., name=...)")
    name = frame if isinstance(frame, str) else str(place)
    carrier = find_carrier(system, name)
    heading = f"{system.name}: balances about the origin of {name}, in its axes"
    if shape == "vectors" or (shape == "auto" and len(carrier.groups) > MOST_BODIES):
        symbols = BalanceSymbols(carrier)
        sections = (*vector_sections(), _bodies_section(system))
        return FrameEquations(heading, sections, system=system, frame=name, notation=symbols)
    return _with_scalars(heading, carrier)


def _bodies_section(system: System) -> SheetSection:
    return SheetSection("Bodies", "", (), (("j", "body"), [(str(k + 1), b) for k, b in enumerate(system.bodies)]))


def _with_scalars(heading: str, carrier: FrameCarrier) -> FrameEquations:
    """Vector form and scalar components."""
    balances = BodyBalances(carrier)
    symbols = balances.symbols
    parts: list[tuple[str, str, list[BalanceLine]]] = [
        (f"Body {symbols.called(group)}", _body_words(balances, group), balances.body(group))
        for group in symbols.groups
    ]
    if not symbols.alone:
        words = "Forces between bodies cancel in the sum; those on each body turn the whole about o."
        parts.append(("System", words, balances.whole()))
    solved = _solved(balances)
    parts = [(f"Frame {carrier.name}", _frame_words(carrier), balances.frame()), *parts, *solved]
    defined = balances.definitions
    if defined:
        parts.insert(1, ("Positions and tensors", "", defined))
    sections = tuple(
        SheetSection(title, words, tuple(line.definition(symbols.styles) for line in lines))
        for title, words, lines in parts
        if lines or words
    )
    scalars = tuple(line for _, _, lines in parts for line in lines)
    sections = (*vector_sections(), *sections, _symbol_table(carrier, symbols, scalars))
    return FrameEquations(
        heading, sections, system=carrier.system, frame=carrier.name, scalars=scalars, notation=symbols
    )


def _solved(balances: BodyBalances) -> list[tuple[str, str, list[BalanceLine]]]:
    """The equations of a carrier and its members, solved for the motion; why not, if the frame is fixed in a body."""
    if balances.carrier.base is None or balances.carrier.shared is not None or balances.symbols.alone:
        return []
    motion = MemberMotion(balances, traced_snapshot(find_topology(balances.carrier.system)))
    if motion.obstacle:
        return [(SOLVED, f"Not written: {motion.obstacle}.", [])]
    members = ", ".join(balances.symbols.called(group) for group in motion.groups[1:])
    lines = [*motion.slide_equations(), *motion.force_equations(), *motion.moment_equations()]
    guides = motion.guide_equations()
    words = f"Balances of {balances.carrier.body} and of {members}, the forces between them eliminated."
    if motion.turning:
        turning = ", ".join(balances.symbols.called(group) for group in motion.turning)
        words += f" What does not slide along an axis keeps place and H as symbols, and its own balances: {turning}."
    kinds = "guides, slides and hinges" if motion.turning else "guides and slides"
    return [
        (SOLVED, words, [*motion.definitions(), *lines]),
        ("Forces on members", f"Of {kinds}, without weight.", guides),
    ]


# -- words -----------------------------------------------------------------------------------------
def _frame_words(carrier: FrameCarrier) -> str:
    if carrier.shared is not None:
        return f"{carrier.name} shares axis {'XYZ'[carrier.shared]} with {carrier.base}, which rolls in it by phi."
    if carrier.base is not None:
        return f"{carrier.name} is fixed in {carrier.body}: p, q, r are its angular velocity."
    if not carrier.moving:
        return f"{carrier.name} does not move."
    if carrier.steady:
        return f"{carrier.name} moves evenly and does not turn."
    turning = " and p, q, r its angular velocity" if carrier.turning else ", and it does not turn"
    words = f"u, v, w are the velocity of the origin of {carrier.name}{turning}."
    along = needs_jerk(carrier.system, carrier.system.find_frame(carrier.name))
    return words if not along else f"{words} {along} follows a velocity: {JERK}; the symbols have no values here."


def _body_words(balances: BodyBalances, group: str) -> str:
    weight = "" if balances.symbols.gravity() == (0, 0, 0) else ", without weight"
    start = f"F and M: loads and joints on it{weight}."
    if group in balances.parallel:
        return start
    return f"{start} It turns in the frame: H is about its mass center."


def _symbol_table(carrier: FrameCarrier, symbols: BalanceSymbols, scalars: Sequence[BalanceLine]) -> SheetSection:
    """All symbols, with the values of those that are constant."""
    used = {str(x) for line in scalars for x in line.difference.free_symbols}
    defined = {line.name for line in scalars if line.defines}
    instant = _Constants(carrier)
    tags = [symbols.tag(group)[0] for group in symbols.groups]
    rows: list[tuple[str, str, str, str]] = []
    for name, entry in symbols.known.items():
        if name not in used or name in defined:
            continue
        value = _constant_value(entry.value, instant)
        if rows and rows[-1][1] == entry.words and rows[-1][3] == entry.unit:
            names, _, values, _ = rows.pop()
            name, value = f"{names}, {_without(name, tags)}", ", ".join(x for x in (values, value) if x)
        rows.append((name, entry.words, value, entry.unit))
    return SheetSection("Symbols", "", (), (("symbol", "meaning", "value", "unit"), rows))


def _without(name: str, tags: Sequence[str]) -> str:
    """A name without the body that it is of: F_Y of F_Y_shell."""
    tag = next((tag for tag in tags if tag and name.endswith(tag)), "")
    return name.removesuffix(tag)


class _Constants:
    """An instant of which nothing but the parameters is known."""

    def __init__(self, carrier: FrameCarrier) -> None:
        self.resolve = carrier.system.nominal


def _constant_value(value: Any, instant: _Constants) -> str:
    """The value of a constant as text; nothing if it depends on the motion."""
    try:
        return decimal(value(instant))
    except AttributeError:
        return ""
