"""Programs as functions in C99: the second writer beside ``llvm_program.py``.

Operations are those of ``interpret``, in its order, and products are not fused: compiled without contraction
(``-ffp-contract=off``), the function gives the bits of ``interpret``.  A value that is used once is written where it
is used, as long as lines stay readable.  Vectors of several scalars become scalars.

Long straight-line text is split into parts of bounded length.  A variable that a later part reads becomes an entry of a
memory that all parts share; entries are used again where nothing reads them any more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from kinode.algebra.scalars import OPERATIONS
from kinode.algebra.trace import Traced, needed
from kinode.jit.c.c_numbers import HelperNames, bare, identifier, real, rows
from kinode.jit.machine_code import ARGUMENTS
from kinode.jit.program import TABLES, Block, Finish, Program, Store
from kinode.jit.program_walk import count_uses, find_early, join_lanes

SLOTS = "passed"
"""The name of the memory that parts share."""
VARIABLE = re.compile(r"\bv\d+(?:_\d+)?\b")
DEFINED = re.compile(r"^(\s*)const double (v\d+(?:_\d+)?) = ")


class SplitLines(NamedTuple):
    """Lines of each part, and the size of the memory that they share."""

    texts: list[list[str]]
    n_slots: int


def split_lines(lines: Sequence[str], longest: int) -> SplitLines:
    """Split lines, each of which defines one variable at most, into parts of a number of lines."""
    made: dict[str, int] = {}
    last: dict[str, int] = {}
    for k, line in enumerate(lines):
        for name in VARIABLE.findall(line):
            made.setdefault(name, k // longest)
            last[name] = k // longest
    passed = {name: made[name] for name in made if last[name] > made[name]}
    slots, n_slots = _give_slots(passed, last, -(-len(lines) // longest))

    def write(line: str) -> str:
        defined = DEFINED.search(line)
        if defined is not None and defined[2] in slots:
            line = f"{defined[1]}{defined[2]} = {line[defined.end() :]}"
        return VARIABLE.sub(lambda found: slots.get(found[0], found[0]), line)

    texts = [list(map(write, lines[k : k + longest])) for k in range(0, len(lines), longest)]
    return SplitLines(texts, n_slots)


def _give_slots(passed: dict[str, int], last: dict[str, int], n_parts: int) -> tuple[dict[str, str], int]:
    """The place of each variable that is passed on, and how many there are."""
    free: list[int] = []
    slots: dict[str, str] = {}
    numbers: dict[str, int] = {}
    ending: list[list[str]] = [[] for _ in range(n_parts)]
    beginning: list[list[str]] = [[] for _ in range(n_parts)]
    for name, part in passed.items():
        beginning[part].append(name)
        ending[last[name]].append(name)
    count = 0
    for part in range(n_parts):
        for name in beginning[part]:
            if free:
                numbers[name] = free.pop()
            else:
                numbers[name], count = count, count + 1
            slots[name] = f"{SLOTS}[{numbers[name]}]"
        free += [numbers[name] for name in ending[part]]
    return slots, count


LONGEST = 90
"""Letters of an expression that is written where it is used."""
WRITTEN = ("work", "out")
SPLIT_FROM, PART = 1500, 700
"""Lines of straight code from which on it is split, and those of a part: compilers take long for long functions."""
WORD, TABLE_NAME = re.compile(r"\w+"), re.compile(r"(table\d+)\[")
Bases = Mapping[str, tuple[str, int]]
"""Of each view, its array shifted to the present iteration as C text, and a constant offset."""


class CProgramWriter:
    """Writes programs as functions of one file, with a prefix; ``helpers`` are the helper functions that they call.

    ``find_routine`` gives the name of a function of the loop language.  ``work_of`` has the numbers of ``work`` that
    each function needs, which may be more than those of the program: parts of a long function pass values there.
    """

    def __init__(self, prefix: str, find_routine: Callable[[Any], str]) -> None:
        self.helpers, self.find_routine = HelperNames(prefix), find_routine
        self.work_of: dict[str, int] = {}

    def write(self, program: Program, name: str) -> str:
        """The function of a program."""
        return _ProgramText(self, program).write(name)


def signature(name: str) -> str:
    """The head of the function of a program."""
    reads = ", ".join(f"const double *{x}" for x in ARGUMENTS if x not in WRITTEN)
    return f"static void {name}({reads}, double *restrict work, double *restrict out)"


class _ProgramText:
    """The function of one program: its tables and its lines."""

    def __init__(self, writer: CProgramWriter, program: Program) -> None:
        self.writer, self.program = writer, program
        self.tables: list[str] = []
        self.table_names: dict[Any, str] = {}
        self.lines: list[str] = []
        self.used: set[str] = set()
        self.parts: list[str] = []
        self.slots = 0
        self.indent = "    "

    def write(self, name: str) -> str:
        """Head, tables, statements."""
        for key, table in self.program.constants.items():
            self.table("double", map(real, np.asarray(table, dtype=float).ravel().tolist()), ("constant", key))
        for index, block in enumerate(self.program.blocks):
            if block.count == 1:
                case = 0 if block.case_of is None else int(block.case_of[0])
                bases = {
                    view: (self.array(array), 0 if at is None else int(at[0]))
                    for view, (array, at) in block.views.items()
                }
                self.straight(name, bases, block, case)
            elif block.count > 1:
                self.loop(index, block)
        if self.program.finish is not None:
            self.finish(self.program.finish)
        unused = " ".join(f"(void){x};" for x in ARGUMENTS if x not in self.used)
        body = [f"    {unused}"] if unused else []
        words = set(WORD.findall("\n".join(self.lines)))
        tables = [text for text in self.tables if TABLE_NAME.search(text)[1] in words]  # type: ignore[index]
        self.writer.work_of[name] = int(self.program.sizes.get("work", 0)) + self.slots
        return "\n".join([*self.parts, signature(name), "{", *tables, *body, *self.lines, "}\n"])

    def straight(self, name: str, bases: Bases, block: Block, case: int) -> None:
        """Straight-line code; long one in functions of its own."""
        before, self.lines = self.lines, []
        _CaseText(self, bases, self.arrays_of(block)).write(block.cases[case], early=True)
        lines, self.lines = self.lines, before
        if len(lines) <= SPLIT_FROM:
            self.put("{")
            self.lines += lines
            self.put("}")
            return
        parts = split_lines(lines, PART)
        arguments = ", ".join(ARGUMENTS)
        first = int(self.program.sizes.get("work", 0))
        self.used |= set(ARGUMENTS)
        self.slots = max(self.slots, parts.n_slots)
        for part in parts.texts:
            part_name = f"{name}_part{len(self.parts) + 1}"
            used = set(WORD.findall("\n".join(part)))
            tables = [text for text in self.tables if TABLE_NAME.search(text)[1] in used]  # type: ignore[index]
            unused = " ".join(f"(void){x};" for x in (*ARGUMENTS, SLOTS) if x not in used)
            head = signature(part_name).replace("*restrict work", "*work")[:-1] + f", double *{SLOTS})"
            self.parts.append("\n".join([head, "{", *tables, *([f"    {unused}"] if unused else []), *part, "}\n"]))
            self.put(f"{part_name}({arguments}, work + {first});")

    def put(self, text: str) -> None:
        """Write a line."""
        self.lines.append(self.indent + text)

    def table(self, kind: str, entries: Iterable[str], key: Any) -> str:
        """The name of a constant table; tables with the same key are written once."""
        if key not in self.table_names:
            texts = list(entries) or ["0"]
            name = self.table_names[key] = f"table{len(self.tables)}"
            self.tables.append(f"    static const {kind} {name}[{len(texts)}] = {{\n{rows(texts)}\n    }};")
        return self.table_names[key]

    def array(self, array: str) -> str:
        """An array as C text."""
        if array in self.program.constants:
            return self.table_names["constant", array]
        if array not in ARGUMENTS:
            raise KeyError(f"program {self.program.name!r} has no array {array!r}")
        self.used.add(array)
        return array

    def arrays_of(self, block: Block) -> dict[str, str]:
        """The array of each view that a block uses."""
        return {view: block.view(view)[0] for view in block.used_views()}

    def loop(self, index: int, block: Block) -> None:
        """A loop over the iterations, with a switch if there are several cases."""
        i = f"i{index}"
        self.put(f"for (int {i} = 0; {i} < {block.count}; ++{i}) {{")
        self.indent += "    "
        used = block.used_views()
        views = {view: entry for view, entry in block.views.items() if view in used}
        stored = {view for case in block.cases for view, _, _ in case}
        bases = {view: self.shift(i, view, *entry, view in stored) for view, entry in views.items()}
        case_of = np.zeros(block.count, dtype=int) if block.case_of is None else np.asarray(block.case_of)
        taken = sorted({int(case) for case in case_of})
        arrays = self.arrays_of(block)
        if len(taken) == 1:
            _CaseText(self, bases, arrays).write(block.cases[taken[0]], early=False)
        else:
            table = self.table("int", map(str, case_of.tolist()), ("cases", case_of.tobytes()))
            self.put(f"switch ({table}[{i}]) {{")
            for case in taken:
                self.put(f"case {case}: {{" if case != taken[-1] else "default: {")
                self.indent += "    "
                _CaseText(self, bases, arrays).write(block.cases[case], early=False)
                self.put("break;")
                self.indent = self.indent[:-4]
                self.put("}")
            self.put("}")
        self.indent = self.indent[:-4]
        self.put("}")

    def shift(self, i: str, view: str, array: str, at: np.ndarray | None, stored: bool) -> tuple[str, int]:
        """The array of a view in an iteration, and a constant offset."""
        base = self.array(array)
        offsets = np.zeros(1, dtype=np.int64) if at is None else np.asarray(at, dtype=np.int64)
        steps = np.diff(offsets)
        if not steps.any():
            return base, int(offsets[0])
        if (steps == steps[0]).all():
            shift, first = f"{int(steps[0])} * {i}", int(offsets[0])
        else:
            table = self.table("int", map(str, offsets.tolist()), ("offsets", offsets.tobytes()))
            shift, first = f"{table}[{i}]", 0
        name = f"at_{identifier(view)}"
        self.put(f"{'' if stored else 'const '}double *const {name} = {base} + {shift};")
        return name, first

    def finish(self, finish: Finish) -> None:
        """Call a function of the loop language."""
        entries = [str(x) for x in finish.table]
        table = self.table("int64_t", entries, ("finish", finish.table))
        self.used |= {"work", "out"}
        self.put(f"{self.writer.find_routine(finish.routine)}((int64_t *){table}, work, out);")


class _CaseText:
    """The statements of one case of one block."""

    def __init__(self, owner: _ProgramText, bases: Bases, arrays: Mapping[str, str]) -> None:
        self.owner, self.bases, self.arrays = owner, bases, arrays
        self.values: dict[int, str] = {}
        self.vectors: dict[int, list[str]] = {}
        self.uses: list[int] = []

    def write(self, stores: Sequence[Store], early: bool) -> None:
        """Operations in the order of the tape, then the stores; with ``early``, stores as soon as that is allowed."""
        stores = join_lanes(stores)
        values = [value for _, _, value in stores]
        nodes = needed(values)
        self.uses = count_uses(nodes, values)
        waiting = find_early(stores, nodes, lambda view: self.arrays.get(view, view)) if early else {}
        for node in nodes:
            self.evaluate(node)
            for store in waiting.get(node.index, ()):
                self.store(store)
        done = {id(store) for several in waiting.values() for store in several}
        late = [store for store in stores if id(store) not in done]
        for _, _, value in late:
            self.settle(value)
        for store in late:
            self.store(store)

    def place(self, view: str, position: int) -> str:
        """An entry of a view."""
        if view in self.bases:
            base, first = self.bases[view]
        else:
            base, first = self.owner.array(view), 0
        return f"{base}[{position + first}]"

    def store(self, store: Store) -> None:
        """One store; of a vector, into neighboring entries."""
        view, position, value = store
        several = self.vectors.get(value.index) if type(value) is Traced else None
        for k, text in enumerate([self.operand(value)] if several is None else several):
            self.owner.put(f"{self.place(view, position + k)} = {bare(text)};")

    def settle(self, value: Any) -> None:
        """Put a value that reads memory into a variable before the stores."""
        if type(value) is Traced and value.index not in self.vectors:
            text = self.operand(value)
            if not text.startswith("v") or not text[1:].isdigit():
                self.name(value, text)

    def name(self, node: Traced, text: str) -> None:
        """Give a value a variable."""
        self.values[node.index] = f"v{node.index}"
        self.owner.put(f"const double v{node.index} = {bare(text)};")

    def operand(self, value: Any) -> str:
        """A value as an operand."""
        if type(value) is not Traced:
            text = real(float(value))
            return f"({text})" if text.startswith("-") else text
        return self.values[value.index]

    def evaluate(self, node: Traced) -> None:
        """Write one operation: into a variable, or kept for the place where it is used once."""
        if node.op == "pack" or any(type(arg) is Traced and arg.index in self.vectors for arg in node.args):
            self.spread(node)
            return
        text = self.place(*node.args) if node.op == "input" else self.operation(node.op, node.args)
        if self.uses[node.index] > 1 or len(text) > LONGEST:
            self.name(node, text)
        else:
            self.values[node.index] = text

    def spread(self, node: Traced) -> None:
        """An operation on vectors, entry by entry; an entry of a vector is a name already."""
        if node.op == "lane":
            vector, k, _ = node.args
            self.values[node.index] = self.vectors[vector.index][k]
            return
        if node.op == "pack":
            texts = [self.operand(arg) for arg in node.args]
        else:
            width = max(len(self.vectors[a.index]) for a in node.args if type(a) is Traced and a.index in self.vectors)
            entries = [
                self.vectors[a.index] if type(a) is Traced and a.index in self.vectors else [a] * width
                for a in node.args
            ]
            texts = [self.operation(node.op, args) for args in zip(*entries, strict=True)]
        names = self.vectors[node.index] = [f"v{node.index}_{k}" for k in range(len(texts))]
        for name, text in zip(names, texts, strict=True):
            self.owner.put(f"const double {name} = {bare(text)};")

    def text_of(self, arg: Any) -> str:
        """An operand, which may be text already."""
        return arg if isinstance(arg, str) else self.operand(arg)

    def operation(self, op: str, args: Sequence[Any]) -> str:
        """One operation as text."""
        if op in TABLES:
            numbers = args[0]
            table = self.owner.table("double", map(real, numbers), ("table", tuple(numbers)))
            return f"{self.owner.writer.helpers[op]}({table}, {len(numbers)}, {bare(self.text_of(args[1]))})"
        texts = [self.text_of(arg) for arg in args]
        bares = list(map(bare, texts))
        text = OPERATIONS[op].c or f"{op}({', '.join(bares)})"
        return text.format(*texts, bare=bares, call=self.owner.writer.helpers)
