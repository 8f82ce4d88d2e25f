"""A straight-line program as arrays of operations, in the order in which they were traced.

Products are fused with sums as ``jit/program_walk.py`` says, so that the numbers are those of compiled code.  An
operation refers to the result of another by its place in the list, and to a constant by a negative number.  From the
list the interpreter's bytecode is made (``operation_groups.py``), and in another process the program again, to be
compiled.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from struct import pack as pack_double
from typing import Any, NamedTuple

import numpy as np

from kinode.algebra.trace import Tape, Traced, needed_with_uses
from kinode.jit.machine_code import ARGUMENTS
from kinode.jit.program import Block, Program
from kinode.jit.program_walk import find_fused

CODES: Mapping[str, int] = {
    name: code
    for code, name in enumerate(
        (
            "end", "input", "add", "sub", "mul", "fused", "fused_minus", "minus_fused", "neg", "inv", "sqrt", "floor",
            "abs", "min", "max", "sign", "less", "less_equal", "equal", "where", "sin", "cos", "pow", "atan2",
            "exp", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "log",
        )
    )
}  # fmt: skip
"""Operations of a tape, and three of their own: a b + c, a b - c and c - a b, rounded once."""
NAMES = {code: name for name, code in CODES.items()}
TERNARY = frozenset({"fused", "fused_minus", "minus_fused", "where"})
BINARY = frozenset({"input", "add", "sub", "mul", "min", "max", "less", "less_equal", "equal", "pow", "atan2"})
WIDTH = 3  # operands at most
_NOTHING: tuple[list[int], ...] = ([0] * 3, [0] * 2, [0], [])  # in the place of the operands that an operation lacks


def count_operands(name: str) -> int:
    """The number of operands of an operation."""
    return 3 if name in TERNARY else 2 if name in BINARY else 1


class OperationList(NamedTuple):
    """The operations of a program: what they are, their operands, at which level of dependence each stands."""

    program: Program  # without its blocks
    codes: np.ndarray
    operands: np.ndarray  # WIDTH for each operation; of an input the argument's number and the position
    levels: np.ndarray  # one more than the highest of the operands
    constants: np.ndarray  # the k-th is operand -1 - k
    stores: np.ndarray  # position in ``out``, and what is stored there

    def pack(self) -> bytes:
        """The list as bytes, for another process."""
        program, arrays = self.program, (self.codes, self.operands, self.stores, self.constants)
        about = {
            "name": program.name, "sizes": dict(program.sizes), "rare": program.rare,
            "counts": [array.size for array in arrays],
        }  # fmt: skip
        return b"".join([json.dumps(about).encode(), b"\n", *(array.tobytes() for array in arrays)])


def list_operations(program: Program, fuses: bool) -> OperationList | None:
    """The operations of a program; None of one with loops, tables or vectors.  ``fuses`` as in ``llvm_program.py``."""
    if len(program.blocks) != 1 or program.blocks[0].count != 1 or program.blocks[0].views or program.finish:
        return None
    stores = program.blocks[0].cases[0 if program.blocks[0].case_of is None else int(program.blocks[0].case_of[0])]
    values = [value for _, _, value in stores]
    nodes, uses = needed_with_uses(values)
    if program.constants or any(view != "out" for view, _, _ in stores) or not {n.op for n in nodes} <= CODES.keys():
        return None
    if len({position for _, position, _ in stores}) < len(stores):
        return None
    fused, products = find_fused(nodes, uses) if fuses else ({}, frozenset())
    writer = _ListWriter(len(uses))
    writer.append(nodes, fused, products)
    places = [(position, writer.operand(value)) for _, position, value in stores]
    return OperationList(
        Program(program.name, program.sizes, rare=program.rare),
        np.array(writer.codes, dtype=np.int32), np.array(writer.operands, dtype=np.int32),
        np.array(writer.levels, dtype=np.int32), np.frombuffer(b"".join(writer.constants), dtype="<f8"),
        np.array(places, dtype=np.int32).reshape(-1, 2),
    )  # fmt: skip


class _ListWriter:
    """The list so far."""

    def __init__(self, size: int) -> None:
        self.codes: list[int] = []
        self.operands: list[int] = []
        self.levels: list[int] = []
        self.constants: dict[bytes, int] = {}  # by their bits: zero has two signs
        self._places = [0] * size  # of nodes, by index

    def append(self, nodes: Sequence[Traced], fused: Mapping[int, int], products: frozenset[int]) -> None:
        """Append operations; sums with the products that are fused with them (``find_fused``)."""
        places, codes, operands, levels = self._places, self.codes, self.operands, self.levels
        for node in nodes:
            index, op, args = node.index, node.op, node.args
            if index in products:
                continue
            level = 0
            if op == "input":
                operands += (ARGUMENTS.index(args[0]), args[1], 0)
            else:
                if index in fused:
                    product = fused[index]
                    op = "fused" if op == "add" else "minus_fused" if product == 1 else "fused_minus"
                    args = (*args[product].args, args[1 - product])
                for arg in args:
                    if type(arg) is Traced:
                        place = places[arg.index]
                        if levels[place] > level:
                            level = levels[place]
                    else:
                        place = self.operand(arg)
                    operands.append(place)
                operands += _NOTHING[len(args)]
            places[index] = len(codes)
            codes.append(CODES[op])
            levels.append(level + 1)

    def operand(self, value: Any) -> int:
        """The place of a node, or the negative number of a constant."""
        if type(value) is Traced:
            return self._places[value.index]
        return self.constants.setdefault(pack_double("<d", value), -1 - len(self.constants))


def unpack(code: bytes) -> Program:
    """The program of a list that was packed, on a tape of its own; what is compiled from it gives the same numbers."""
    head, _, body = code.partition(b"\n")
    about, arrays, at = json.loads(head), list[list[Any]](), 0
    for count, kind in zip(about["counts"], (np.int32, np.int32, np.int32, np.float64), strict=True):
        array = np.frombuffer(body, kind, count, at)
        at += array.nbytes
        arrays.append(array.tolist())
    codes, operands, stores, constants = arrays
    node, nodes = Tape().node, list[Traced]()
    for k, code_of in enumerate(codes):
        name, given = NAMES[code_of], operands[WIDTH * k : WIDTH * k + WIDTH]
        if name == "input":
            nodes.append(node(name, ARGUMENTS[given[0]], given[1]))
            continue
        a, b, c = (nodes[place] if place >= 0 else constants[-1 - place] for place in given)
        match name:
            case "fused":
                nodes.append(node("add", node("mul", a, b), c))
            case "fused_minus":
                nodes.append(node("sub", node("mul", a, b), c))
            case "minus_fused":
                nodes.append(node("sub", c, node("mul", a, b)))
            case _:
                nodes.append(node(name, *(a, b, c)[: count_operands(name)]))
    values = [nodes[place] if place >= 0 else constants[-1 - place] for place in stores[1::2]]
    out = [("out", position, value) for position, value in zip(stores[::2], values, strict=True)]
    return Program(about["name"], about["sizes"], blocks=[Block(1, {}, [out])], rare=about["rare"])
