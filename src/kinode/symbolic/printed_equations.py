"""The common part of all printed equations: symbols, lines of text, and outputs of generated code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from kinode.algebra.normal_form import TooLongError, budget
from kinode.dynamics.left_out_loads import find_left_out
from kinode.errors import ArgumentError
from kinode.symbolic.equation_code import write_c, write_python
from kinode.symbolic.formula_text import write_latex, write_text
from kinode.symbolic.formulas.printed_text import PrintedText
from kinode.symbolic.mathml import equations_markup
from kinode.symbolic.notation import Namer, Notation, SymbolStyle, SymbolWriter

if TYPE_CHECKING:
    from kinode.model.system import System
    from kinode.structure.topology import Topology

LARGEST_BUDGET = 2_000_000  # operations that formulas which were asked for may take


class EquationLine(NamedTuple):
    """One equation: the terms of its left and right sides, in the order of writing."""

    left: list[Any]
    right: list[Any]


class Section(NamedTuple):
    """Lines under a title."""

    title: str
    lines: list[EquationLine]


class Reaction(NamedTuple):
    """Force and moment of a joint's reaction: by a on b, about b's joint point, in a's joint axes."""

    force: Any
    moment: Any


class Printed(PrintedText):
    """Equations that print as text, LaTeX, MathML, Python and C.

    ``sections`` are the lines of text, ``outputs`` the matrices that the generated code computes.  What has no such
    lines overrides ``_write_text``, ``_write_latex`` and ``_write_mathml``.
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
    def sections(self) -> list[Section]:
        """The groups of lines of the text."""
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

    def latex(self, *, document: bool = False) -> str:
        """The equations in LaTeX.

        Parameters
        ----------
        document : bool
            Whether to write a complete document; default are align environments.

        Returns
        -------
        str
        """
        return self._write_latex(document)

    def mathml(self) -> str:
        """The equations as HTML with MathML, which browsers typeset.

        Returns
        -------
        str
        """
        return self._write_mathml()

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
    def _write_text(self, width: int) -> str:
        return write_text(self, width)

    def _write_latex(self, document: bool) -> str:
        return write_latex(self, document)

    def _write_mathml(self) -> str:
        return equations_markup(self)

    def _named_lines(self) -> list[EquationLine]:
        return [EquationLine([symbol], terms_of(formula)) for symbol, formula in self.intermediates]

    def _reaction_section(self, joint: str) -> Section:
        """The components of a reaction that are not identically zero."""
        import sympy

        lines = []
        for letter, word, vector in zip("FM", ("force", "moment"), self.reactions[joint], strict=True):
            for axis, entry in zip("xyz", vector, strict=True):
                if entry != 0:
                    name = f"{joint}.reaction.{word}.{axis}"
                    self.notation.styles[name] = SymbolStyle(letter, 0, axis, joint)
                    lines.append(EquationLine([sympy.Symbol(name)], terms_of(entry)))
        rest = "" if len(lines) == 6 else ", the rest is zero" if lines else ": zero"
        left_out = "".join(f", without {load}" for load in find_left_out(self.topology).get(joint, ()))
        return Section(f"reaction of {joint}{left_out}{rest}", lines)


@contextmanager
def writing_out(system: System) -> Iterator[None]:
    """Write formulas out within the largest budget; where it does not last, say so in the user's words."""
    try:
        with budget(LARGEST_BUDGET):
            yield
    except TooLongError:
        message = "written out, the equations have thousands of terms; shape='named' gives names to what recurs"
        raise ArgumentError(f"{system.name}: {message}") from None


def terms_of(expr: Any) -> list[Any]:
    """The terms of a sum, in the order in which SymPy shows them."""
    return list(expr.as_ordered_terms()) if expr.is_Add else [expr]


def matrix(entries: Sequence[Any], columns: int) -> Any:
    """A SymPy matrix from its entries by rows."""
    import sympy

    return sympy.ImmutableMatrix(len(entries) // columns if columns else 0, columns, list(entries))
