"""Types and syntax of the loop language (``translator.py`` describes it), for all of its writers.

The types are numbers, arrays of numbers, and records.  A writer makes values of its own: of LLVM text
(``expressions.py``, ``translator.py``) or of C text (``jit/c``).  What an expression or a statement is, what a name
outside the function refers to, and how an error is told is the same for all of them, and here.
"""

from __future__ import annotations

import ast
import builtins
from abc import ABC, abstractmethod
from dataclasses import dataclass
from types import FunctionType
from typing import Any, Generic, NamedTuple, NoReturn, TypeVar

from kinode.jit.loop.memory import Floats, Ints, Struct


@dataclass(frozen=True)
class Kind:
    """A data type: its LLVM type, its description in messages, and the type of its entries or fields."""

    llvm: str
    words: str
    entry: Kind | None = None
    """The type of its entries, if it is an array."""
    record: type[Struct] | None = None
    """The class of the record, if it is one."""


INT, REAL, TRUTH = Kind("i64", "an integer"), Kind("double", "a real number"), Kind("i1", "true or false")
FLOATS, INTS = Kind("ptr", "an array of real numbers", REAL), Kind("ptr", "an array of integers", INT)
NOTHING = Kind("void", "nothing")
KINDS: dict[Any, Kind] = {int: INT, float: REAL, bool: TRUTH, Floats: FLOATS, Ints: INTS, None: NOTHING}


def find_kind(annotation: Any) -> Kind | None:
    """The data type of an annotation; None if the loop language has no such type."""
    if isinstance(annotation, type) and issubclass(annotation, Struct):
        return Kind("ptr", f"a record {annotation.__name__}", record=annotation)
    return KINDS.get(annotation)


class Value(NamedTuple):
    """An operand of an instruction: its type and its LLVM text."""

    kind: Kind
    text: str

    @property
    def typed(self) -> str:
        """LLVM type and operand."""
        return f"{self.kind.llvm} {self.text}"


Written = TypeVar("Written")
"""A value of a writer: its type, and its text."""


class TranslationError(Exception):
    """A loop contains something that cannot be compiled."""


class LoopSyntax(ABC, Generic[Written]):
    """The expressions and statements of one function; ``kinds`` are the types of its variables that are known."""

    def __init__(self, function: FunctionType, node: ast.FunctionDef) -> None:
        self.function, self.node = function, node
        self.constants = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        self.kinds: dict[str, Kind] = {}

    def refuse(self, node: ast.AST, why: str) -> NoReturn:
        """Raise an error that says what cannot be compiled, and where."""
        line = getattr(node, "lineno", self.node.lineno)
        raise TranslationError(f"{self.function.__code__.co_filename}:{line}: in '{self.node.name}': {why}")

    # -- names -------------------------------------------------------------------------------------
    def is_variable(self, name: str) -> bool:
        """Whether a name is one of the function's own."""
        return name in self.kinds or name in self.function.__code__.co_varnames

    def is_field(self, node: ast.Attribute) -> bool:
        """Whether an attribute is a field of a record (it begins with a variable), and not of a module."""
        owner = node.value
        while isinstance(owner, ast.Attribute):
            owner = owner.value
        return isinstance(owner, ast.Name) and self.is_variable(owner.id)

    def static(self, node: ast.expr) -> Any:
        """The object that a name outside the function, or an attribute of a module, refers to."""
        match node:
            case ast.Name(id=name):
                if name in self.constants:
                    return self.constants[name].cell_contents
                scope = self.function.__globals__
                if name in scope or hasattr(builtins, name):
                    return scope.get(name, getattr(builtins, name, None))
            case ast.Attribute(value=ast.Name() as owner, attr=attribute):
                owned = self.static(owner)
                if hasattr(owned, attribute):
                    return getattr(owned, attribute)
        self.refuse(node, f"'{ast.unparse(node)}' is not known")

    # -- expressions -------------------------------------------------------------------------------
    def value(self, node: ast.expr) -> Written:
        """The value of an expression."""
        match node:
            case ast.Constant():
                return self.constant(node, node.value)
            case ast.Name(id=name) if self.is_variable(name):
                return self.variable(node)
            case ast.Attribute() if self.is_field(node):
                return self.read_field(node)
            case ast.Name() | ast.Attribute():
                return self.constant(node, self.static(node))
            case ast.Subscript():
                return self.read_entry(node)
            case ast.UnaryOp():
                return self.unary(node)
            case ast.BinOp():
                return self.binary(node)
            case ast.BoolOp():
                return self.all_or_any(node)
            case ast.Compare():
                return self.comparison(node)
            case ast.IfExp():
                return self.choice(node)
            case ast.Call(keywords=[]):
                return self.call(node)
        self.refuse(node, f"'{ast.unparse(node)}' is not part of the loop language")

    @abstractmethod
    def constant(self, node: ast.expr, value: Any) -> Written:
        """A Python number."""

    @abstractmethod
    def variable(self, node: ast.Name) -> Written:
        """A variable of the function."""

    @abstractmethod
    def read_field(self, node: ast.Attribute) -> Written:
        """A field of a record."""

    @abstractmethod
    def read_entry(self, node: ast.Subscript) -> Written:
        """An entry of an array."""

    @abstractmethod
    def unary(self, node: ast.UnaryOp) -> Written:
        """A sign, or a negation."""

    @abstractmethod
    def binary(self, node: ast.BinOp) -> Written:
        """An operation of two values."""

    @abstractmethod
    def all_or_any(self, node: ast.BoolOp) -> Written:
        """``and``, ``or``."""

    @abstractmethod
    def comparison(self, node: ast.Compare) -> Written:
        """A comparison, or a chain of them."""

    @abstractmethod
    def choice(self, node: ast.IfExp) -> Written:
        """``a if c else b``."""

    @abstractmethod
    def call(self, node: ast.Call) -> Written:
        """A call."""

    # -- statements --------------------------------------------------------------------------------
    def statement(self, node: ast.stmt) -> None:
        """Write a statement."""
        match node:
            case ast.Expr(value=ast.Constant(value=str())) | ast.Pass():
                pass
            case ast.Expr(value=ast.Call() as call):
                self.evaluate(call)
            case ast.Assign(targets=[target]):
                self.assign(target, node.value)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as source):
                kind = self.annotation(node, node.annotation)
                self.store(node, name, self.convert(node, self.value(source), kind, f"'{name}'"))
            case ast.AugAssign():
                self.update(node)
            case ast.If():
                self.choose(node)
            case ast.While(orelse=[]):
                self.repeat(node)
            case ast.For(orelse=[], target=ast.Name()):
                self.for_range(node)
            case ast.Break() | ast.Continue():
                self.leave_loop(node)
            case ast.Return():
                self.write_return(node)
            case _:
                self.refuse(node, f"'{ast.unparse(node).splitlines()[0]}' is not part of the loop language")

    @abstractmethod
    def evaluate(self, node: ast.Call) -> None:
        """A call whose result is not used."""

    @abstractmethod
    def assign(self, target: ast.expr, source: ast.expr) -> None:
        """Assign to a variable, an entry or a field; to several after all values are computed."""

    @abstractmethod
    def annotation(self, owner: ast.AST, node: ast.expr | None) -> Kind:
        """The data type that an annotation names."""

    @abstractmethod
    def convert(self, node: ast.AST, value: Written, kind: Kind, what: str) -> Written:
        """A value as one of a type that it fits into."""

    @abstractmethod
    def store(self, node: ast.AST, name: str, value: Written) -> None:
        """Set a variable; its first value decides its type."""

    @abstractmethod
    def update(self, node: ast.AugAssign) -> None:
        """An assignment in place."""

    @abstractmethod
    def choose(self, node: ast.If) -> None:
        """``if``."""

    @abstractmethod
    def repeat(self, node: ast.While) -> None:
        """``while``."""

    @abstractmethod
    def for_range(self, node: ast.For) -> None:
        """``for`` over ``range``."""

    @abstractmethod
    def leave_loop(self, node: ast.Break | ast.Continue) -> None:
        """``break``, ``continue``."""

    @abstractmethod
    def write_return(self, node: ast.Return) -> None:
        """``return``."""
