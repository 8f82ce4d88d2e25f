"""The common part of all printed equations: symbols, lines of text, and outputs of generated code.

Equations print as text for a terminal, in LaTeX and as MathML; long sums are broken between their terms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from kinode.dynamics.reactions.lost_values import find_left_out
from kinode.errors import ArgumentError
from kinode.sheets.sheet import FormulaSheet, PrintedSheet, SheetSection
from kinode.sheets.terms import Definition, SymbolStyle, expressions_of, formula_sum
from kinode.symbolic.normal_form import TooLongError, budget
from kinode.symbolic.notation import Notation
from kinode.symbolic.source_code import write_c, write_python
from kinode.symbolic.writers import Namer, SymbolWriter

if TYPE_CHECKING:
    from kinode.model.system import System
    from kinode.structure.topology import Topology


LARGEST_BUDGET = 2_000_000  # operations that formulas which were asked for may take


class Reaction(NamedTuple):
    """Force and moment of a joint's reaction: by a on b, about b's joint point, in a's joint axes."""

    force: Any
    moment: Any


class Printed(PrintedSheet):
    """Equations that print as text, LaTeX, MathML, Python and C.

    ``sections`` are the sections of its sheet, ``outputs`` the matrices that the generated code computes.
    """

    system: System
    formulation: str
    shape: str
    law = ""  # the equation that the outputs belong to

    def __init__(self, topology: Topology, notation: Notation, formulation: str, shape: str) -> None:
        self.system, self.topology, self.notation = topology.system, topology, notation
        self.formulation, self.shape = formulation, shape
        self._writer: SymbolWriter | Namer = Namer(notation) if shape == "named" else SymbolWriter(notation)

    @property
    def symbols(self) -> dict[str, Any]:
        """All SymPy symbols by name."""
        return self.notation.symbols

    @property
    def intermediates(self) -> list[tuple[Any, Any]]:
        """Named intermediate values, each with its formula, in an order in which they can be computed."""
        return self._writer.intermediates

    @property
    def conditions(self) -> list[Any]:
        """What has to stay positive for the formulas to hold, such as the length of a spring along a slide."""
        return self._writer.conditions

    @property
    def unknowns(self) -> list[Any]:
        """The symbols that the equations are solved for."""
        raise NotImplementedError

    @property
    def heading(self) -> str:
        """The first line of the text."""
        raise NotImplementedError

    @property
    def sections(self) -> list[SheetSection]:
        """The groups of lines, under their titles."""
        raise NotImplementedError

    @property
    def outputs(self) -> dict[str, Any]:
        """The matrices that the generated code computes, by name."""
        raise NotImplementedError

    @property
    def arguments(self) -> tuple[str, ...]:
        """The arrays that the generated code takes, besides time and parameters."""
        raise NotImplementedError

    @cached_property
    def reactions(self) -> dict[str, Reaction]:
        """Reactions of the requested joints."""
        return {}

    @property
    def operations(self) -> int:
        """Number of operations of all formulas."""
        parts = [expr for _, expr in self.intermediates] + [x for matrix in self.outputs.values() for x in matrix]
        parts += [x for reaction in self.reactions.values() for part in reaction for x in part]
        return int(sum(part.count_ops() for part in parts))

    def python(self, module: str = "math") -> str:
        """Python source of a function of t, q, u, ... that returns a dictionary of the outputs.

        Parameters
        ----------
        module : {"math", "numpy"}
            The library of the generated code; with "numpy" every argument may be an array.

        Returns
        -------
        str
            Source code; parameters of the system are keyword arguments with their present values.

        Examples
        --------
        >>> exec(kn.equations(kn.load("examples/pendulum.yaml")).python())
        >>> pendulum(0.0, [0.0], [0.0], L=2.0)["bias"]
        [9.81]
        """
        return write_python(self, module)

    def c(self) -> str:
        """C99 source of the same function.

        Returns
        -------
        str
        """
        return write_c(self)

    def _repr_latex_(self) -> str:
        return self.latex()

    # -- writing -----------------------------------------------------------------------------------
    @cached_property
    def _sheet(self) -> FormulaSheet:
        sections = self.sections  # whose writing finds the conditions
        positive = tuple(formula_sum([x], self.notation.styles) for x in self.conditions)
        conditions = [SheetSection("", positive=positive)] if positive else []
        return FormulaSheet(self.heading, (*sections, *conditions))

    def _line(self, left: Sequence[Any], right: Sequence[Any]) -> Definition:
        """An equation between sums of expressions."""
        styles = self.notation.styles
        return Definition(formula_sum(left, styles), formula_sum(right, styles))

    def _named(self, pairs: Iterable[tuple[Any, Any]]) -> tuple[Definition, ...]:
        """Symbols and what they stand for."""
        return tuple(self._line([symbol], [formula]) for symbol, formula in pairs)

    def _reaction_section(self, joint: str) -> SheetSection:
        """The components of a reaction that are not identically zero."""
        import sympy

        lines = []
        for letter, word, vector in zip("FM", ("force", "moment"), self.reactions[joint], strict=True):
            for axis, entry in zip("xyz", vector, strict=True):
                if entry != 0:
                    name = f"{joint}.reaction.{word}.{axis}"
                    self.notation.styles[name] = SymbolStyle(letter, 0, axis, joint)
                    lines.append(self._line([sympy.Symbol(name)], [entry]))
        rest = "" if len(lines) == 6 else ", the rest is zero" if lines else ": zero"
        left_out = "".join(f", without {load}" for load in find_left_out(self.topology).get(joint, ()))
        return SheetSection(f"reaction of {joint}{left_out}{rest}", lines=tuple(lines))


@contextmanager
def writing_out(system: System) -> Iterator[None]:
    """Write formulas out within the largest budget; where it does not last, say so in the user's words."""
    try:
        with budget(LARGEST_BUDGET):
            yield
    except TooLongError:
        message = "written out, the equations have thousands of terms; shape='named' gives names to what recurs"
        raise ArgumentError(f"{system.name}: {message}") from None


def as_equation(line: Definition) -> Any:
    """A line as a SymPy equation."""
    import sympy

    return sympy.Eq(*(sympy.Add(*expressions_of(side)) for side in (line.left, line.right)), evaluate=False)


def matrix(entries: Sequence[Any], columns: int) -> Any:
    """A SymPy matrix from its entries by rows."""
    import sympy

    return sympy.ImmutableMatrix(len(entries) // columns if columns else 0, columns, list(entries))
