"""Equations as source code: a Python function and a C99 function; each needs a mathematical library only.

The words in the strings of this module (comments of the generated code included) are part of the output.  Names and
notes of users are one line of a docstring or a comment, which they cannot end.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from kinode.errors import ArgumentError, ModelError
from kinode.model.base.fields import short
from kinode.sheets.text import visible_text
from kinode.symbolic.notation import RESERVED_WORDS

if TYPE_CHECKING:
    from kinode.symbolic.printed_equations import Printed


WIDTH = 110  # characters of a line of generated code
NO_BREAK = "\u00a0"

PYTHON_TABLES = {
    "math": '''
def interval(breaks, x):
    """Which interval of a table holds x."""
    return min(max(bisect.bisect_right(breaks, x) - 1, 0), len(breaks) - 2)


def fetch(values, index):
    """The number of a table in one place."""
    return values[int(index)]
''',
    "numpy": '''
def interval(breaks, x):
    """Which interval of a table holds x."""
    return numpy.clip(numpy.searchsorted(breaks, x, side="right") - 1, 0, len(breaks) - 2)


def fetch(values, index):
    """The number of a table in one place."""
    return numpy.asarray(values)[numpy.asarray(index, dtype=int)]
''',
}
C_TABLES = """
static double interval(const double *breaks, int count, double x)
{
    int k = 0;
    while (k < count - 2 && breaks[k + 1] <= x)
        k++;
    return k;
}

static double fetch(const double *values, double index)
{
    return values[(int)index];
}
"""
LONGEST_NAME = 40  # letters of a system's name in that of a function; C tells names apart by their first 63
C_ENDING = "_equations"  # of the function: no library of C has a function of such a name


def _law(printed: Printed) -> str:
    """The equation of the outputs, with the condition under which they hold."""
    conditions = " and ".join(f"{x} > 0" for x in printed.conditions)
    return f"{printed.law}, while {conditions}" if conditions else printed.law


# -- Python ----------------------------------------------------------------------------------------
def write_python(printed: Printed, module: str) -> str:
    """Python source of a function that returns a dictionary: matrices as lists of rows, vectors as lists, reactions."""
    if module not in PYTHON_TABLES:
        raise ArgumentError(f"module: {short(module)} is none of {', '.join(PYTHON_TABLES)}")
    write, tables = _python_writer(module), _Tables(printed)
    given = [f"{name}={value!r}" for name, value in defaults(printed).items()]
    arrays = {role: _free(printed, role) for role in printed.arguments}
    signature = [printed.symbols["t"].name, *(f"{arrays[role]}=()" if role in "z" else arrays[role] for role in arrays)]
    lines = [f"import {module}"]
    if tables.names:
        lines += ["import bisect"] * (module == "math") + [PYTHON_TABLES[module]]
        lines += [f"{name} = {tuple(float(x) for x in table)!r}" for table, name in tables.names.items()]
    head = f"def {identifier(printed)}({', '.join(signature + ['*'] * bool(given) + given)}):"
    lines += ["", "", *_python_lines(head), f"    {docstring(f'{printed.heading}: {_law(printed)}.')}"]
    for role, array in arrays.items():
        symbols = printed.notation.of(role)
        if symbols:
            lines += _python_lines(f"    ({', '.join(map(str, symbols))},) = {array}")
    for symbol, formula in printed.intermediates:
        lines += _python_lines(f"    {symbol} = {write(tables.put(formula))}")
    lines.append("    return {")
    for name, matrix in printed.outputs.items():
        entries = [write(tables.put(x)) for x in matrix]
        columns = matrix.shape[1]
        if name in VECTORS:
            lines += _python_lines(f'        "{name}": [{", ".join(entries)}],')
            continue
        lines.append(f'        "{name}": [')
        for i in range(matrix.shape[0]):
            lines += _python_lines(f"            [{', '.join(entries[i * columns : (i + 1) * columns])}],")
        lines.append("        ],")
    if printed.reactions:
        lines.append('        "reactions": {  # force, moment')
        for joint, reaction in printed.reactions.items():
            force, moment = (", ".join(write(tables.put(x)) for x in part) for part in reaction)
            lines += _python_lines(f'            "{joint}": ([{force}], [{moment}]),')
        lines.append("        },")
    needs = ["import functools"] * any("functools." in line for line in lines)
    return "\n".join([*needs, *lines, "    }", ""])


VECTORS = ("bias", "gamma", "residual", "b", "z_dot", "u", "p_dot", "H", "energy", "Q", "sigma")  # with one column


def _python_writer(module: str) -> Callable[[Any], str]:
    from sympy.printing.numpy import NumPyPrinter
    from sympy.printing.pycode import PythonCodePrinter

    settings = {"fully_qualified_modules": True, "allow_unknown_functions": True}
    kind: Any = NumPyPrinter if module == "numpy" else PythonCodePrinter
    write: Callable[[Any], str] = kind(settings).doprint
    return write


def _python_lines(text: str) -> list[str]:
    """A statement on lines of at most ``WIDTH`` characters, broken at spaces inside brackets; brackets are added."""
    if len(text) <= WIDTH:
        return [text]
    name, equals, formula = text.partition(" = ")
    if equals and not text.lstrip().startswith(("def ", "(", '"', "[")):
        text = f"{name} = ({formula})"
    start = " " * (len(text) - len(text.lstrip()) + 4)
    together = text.replace(",) = ", f",){NO_BREAK}={NO_BREAK}")  # what is unpacked stays beside its last name
    lines = textwrap.wrap(together, WIDTH, subsequent_indent=start, break_long_words=False, break_on_hyphens=False,
                          drop_whitespace=True)  # fmt: skip
    return [line.replace(NO_BREAK, " ") for line in lines]


# -- C ---------------------------------------------------------------------------------------------
def write_c(printed: Printed) -> str:
    """C99 source of the same function: parameters and inputs in one array, matrices by rows."""
    import sympy

    tables = _Tables(printed)
    counts = {name: len(table) for table, name in tables.names.items()}
    functions = {"interval": [(lambda *_: True, lambda b, x: f"interval({b}, {counts[b]}, {x})")], "fetch": "fetch"}
    code: Any = sympy.ccode
    write: Callable[[Any], str] = lambda expr: code(tables.put(expr), user_functions=functions)  # noqa: E731
    arrays = {role: [str(s) for s in printed.notation.of(role)] for role in printed.arguments}
    arrays["p"] = list(defaults(printed))
    names = {role: _free(printed, role) for role in (*arrays, *printed.outputs, "reactions")}
    lines = ["#include <math.h>"]
    if tables.names:
        lines.append(C_TABLES)
        for table, name in tables.names.items():
            lines.append(f"static const double {name}[] = {{{', '.join(repr(float(x)) for x in table)}}};")
    lines += ["", f"/* {comment(printed.heading)}: {comment(_law(printed))}.", ""]
    for role, symbols in arrays.items():
        lines += textwrap.wrap(
            f"{names[role]}: {', '.join(symbols) or 'not used'}", 100, initial_indent="   ", subsequent_indent="     "
        )
    shapes = [f"{names[name]}: {m.shape[0]} x {m.shape[1]}, by rows" for name, m in printed.outputs.items()]
    note = f"; {names['reactions']}: force, moment of {', '.join(printed.reactions)}" if printed.reactions else ""
    lines.append(f"   {'; '.join(shapes)}{note} */")
    arguments = ", ".join(f"const double *{names[role]}" for role in arrays)
    results = ", ".join(f"double *{names[name]}" for name in [*printed.outputs, "reactions"])
    lines += [f"void {identifier(printed)}{C_ENDING}(double t, {arguments}, {results})", "{"]
    for role, symbols in arrays.items():
        lines += [f"    const double {name} = {names[role]}[{i}];" for i, name in enumerate(symbols)]
    lines += [f"    const double {symbol} = {write(formula)};" for symbol, formula in printed.intermediates]
    reactions = [x for pair in printed.reactions.values() for part in pair for x in part]
    for name, entries in {**{name: list(m) for name, m in printed.outputs.items()}, "reactions": reactions}.items():
        lines += [f"    {names[name]}[{i}] = {write(x)};" for i, x in enumerate(entries)]
    return "\n".join([*lines, "}", ""])


# -- both ------------------------------------------------------------------------------------------
class _Tables:
    """The lookup tables of all formulas, each with a name."""

    def __init__(self, printed: Printed) -> None:
        import sympy

        for element in printed.system.elements.values():
            if element.doors:
                message = "it is an FMU, code of others, which source code of formulas cannot hold"
                raise ModelError(message, component=element.name)
        self.names: dict[Any, str] = {}
        for expr in _formulas(printed):
            looked_up = (call.args[0] for call in expr.atoms(sympy.core.function.AppliedUndef))
            for table in sorted(looked_up, key=str):
                self.names.setdefault(table, f"table_{len(self.names) + 1}")
        self._symbols = {table: sympy.Symbol(name) for table, name in self.names.items()}

    def put(self, expr: Any) -> Any:
        """The formula with names in place of tables."""
        return expr.xreplace(self._symbols) if self._symbols else expr


def _formulas(printed: Printed) -> Iterable[Any]:
    yield from (formula for _, formula in printed.intermediates)
    yield from (x for matrix in printed.outputs.values() for x in matrix)
    yield from (x for pair in printed.reactions.values() for part in pair for x in part)


def defaults(printed: Printed) -> dict[str, float]:
    """Parameters and inputs with their present values."""
    system, names, topology = printed.system, printed.notation.names, printed.topology
    values = system.parameter_values()
    values_of = {names["p", i]: float(values[name]) for i, name in enumerate(topology.parameters)}
    for i, name in enumerate(topology.inputs):
        values_of[names["inputs", i]] = float(system.nominal(system.inputs[name].value))
    return values_of


def _free(printed: Printed, name: str) -> str:
    """The name for an array, changed if a symbol has it."""
    taken = printed.notation.taken | {str(symbol) for symbol, _ in printed.intermediates}
    while name in taken or name in RESERVED_WORDS:
        name += "_"
    return name


def identifier(printed: Printed) -> str:
    """The name of the function: that of the system, as an identifier that no symbol has and that has no meaning."""
    word = "".join(c if c.isascii() and c.isalnum() else "_" for c in printed.system.name[:LONGEST_NAME])
    return _free(printed, word if word[:1].isalpha() else f"system_{word}")


def docstring(words: str) -> str:
    """A docstring of Python whose value is these words, quotes included."""
    return f'"""{visible_text(words.replace(chr(92), chr(92) * 2)).replace(chr(34), chr(92) + chr(34))}"""'


def comment(words: str) -> str:
    """Words for the inside of a comment of C, which they cannot end, nor open another."""
    text = visible_text(words).replace("\\", "\\\\").replace("??", "? ?")  # ??/ is a backslash in C99
    while "*/" in text or "/*" in text:
        text = text.replace("*/", "* /").replace("/*", "/ *")
    return text
