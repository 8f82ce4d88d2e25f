"""Terms of formulas in scalars, vectors and matrices, whose symbols have indices.

    T, e = Family("T", "{0}({1})", rank=1, unit="m"), Family("e", "{0}", rank=1)
    alpha, i = Index("alpha"), Index("i")
    Definition(T[alpha, i], e[alpha].cross(C[i] - O[alpha]), "(11)")

Indices are letters that stand for bodies and joints; a definition holds for every value of its indices, and a sum runs
over an ``IndexSet``.  So the length of a formula does not grow with the number of bodies.  ``substituted`` puts values
in the place of free indices: a definition for all joints becomes the equation of one.  ``typeset`` prints terms,
``values`` evaluates them.

SymPy has neither cross products of symbols nor sums over the bodies behind a joint; its scalar expressions are leaves
here (``ScalarFormula``), whose symbols have a ``SymbolStyle``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, NamedTuple

Value = int | str  # of an index: a number, or the name of a body or joint
Bindings = Mapping[str, Value]


@dataclass(frozen=True)
class Index:
    """An index by its letter: ``i``, ``alpha``."""

    letter: str

    def bound(self, bindings: Bindings) -> Value:
        """Its value."""
        return bindings[self.letter]


@dataclass(frozen=True)
class IndexFunction:
    """An index that follows from others: the parent of k.

    ``pattern`` is how it is written, ``{0}`` being its argument: ``"{0}-1"``, ``"p({0})"``.
    """

    pattern: str
    arguments: tuple[Any, ...]
    function: Callable[..., Value] = field(compare=False)

    def bound(self, bindings: Bindings) -> Value:
        """Its value."""
        return self.function(*(bound(x, bindings) for x in self.arguments))


def bound(place: Any, bindings: Bindings) -> Value:
    """The value of an index; a fixed one is its own."""
    if isinstance(place, Index | IndexFunction):
        return place.bound(bindings)
    fixed: Value = place
    return fixed


@dataclass(frozen=True)
class IndexSet:
    """What an index of a sum runs over.

    Attributes
    ----------
    index : Index
        The index that runs.
    pattern : str
        The condition below the sum sign, in words of indices: ``"{0} behind {1}"``; ``{0}`` is the index itself.
    arguments : tuple
        The other indices in the pattern.
    members : callable
        From the values of ``arguments`` to the values that the index takes.
    upper : str
        The pattern of what stands above the sum sign, if anything: ``"{1}"``.
    """

    index: Index
    pattern: str
    arguments: tuple[Any, ...] = ()
    members: Callable[..., Sequence[Value]] = field(default=tuple, compare=False)
    upper: str = ""

    def values(self, bindings: Bindings) -> Sequence[Value]:
        """The values that the index takes."""
        return self.members(*(bound(x, bindings) for x in self.arguments))


@dataclass(frozen=True)
class IndexCondition:
    """When a case holds, in words of indices: ``"{0} <= {1}"``."""

    pattern: str
    arguments: tuple[Any, ...] = ()
    holds: Callable[..., bool] = field(default=lambda *_: True, compare=False)

    def check(self, bindings: Bindings) -> bool:
        """Whether it holds."""
        return self.holds(*(bound(x, bindings) for x in self.arguments))


class VectorTerm:
    """A scalar (rank 0), a vector (1) or a matrix (2)."""

    rank: int
    binding: ClassVar[int] = 3  # how tightly it holds together: 0 sum, 1 cross product, 2 product, 3 symbol

    def __add__(self, other: Any) -> VectorTerm:
        return Sum((*parts_of(self), *parts_of(as_term(other))))

    def __radd__(self, other: Any) -> VectorTerm:
        return as_term(other) + self

    def __sub__(self, other: Any) -> VectorTerm:
        return self + -as_term(other)

    def __rsub__(self, other: Any) -> VectorTerm:
        return as_term(other) + -self

    def __neg__(self) -> VectorTerm:
        if isinstance(self, Negative):
            return self.term
        return Sum(tuple(-x for x in self.terms)) if isinstance(self, Sum) else Negative(self)

    def __mul__(self, other: Any) -> VectorTerm:
        return multiplied(self, as_term(other))

    def __rmul__(self, other: Any) -> VectorTerm:
        return multiplied(as_term(other), self)

    def cross(self, other: Any) -> VectorTerm:
        """The vector product."""
        return Cross(self, as_term(other))

    def dot(self, other: Any) -> VectorTerm:
        """The scalar product."""
        return Dot(self, as_term(other))

    @property
    def T(self) -> VectorTerm:
        """Transposed."""
        return Transposed(self)

    @property
    def inverse(self) -> VectorTerm:
        """The inverse matrix."""
        return Inverse(self)

    @property
    def squared(self) -> VectorTerm:
        """The square of a scalar."""
        return Power(self, 2)


@dataclass(frozen=True)
class Family:
    """A letter and how its indices are written; with indices it is a symbol: ``T[alpha, i]``.

    Attributes
    ----------
    letter : str
        A letter, or the name of a Greek one: ``omega``, ``Gamma``.
    below : str
        The pattern of the subscript: ``"{0}({1})"``.
    rank : int
        0 scalar, 1 vector, 2 matrix.
    unit : str
        SI unit of a value.
    words : str
        What it is.
    accent : str
        ``dot``, ``ddot`` (derivatives), ``ring``, ``rings`` (derivatives in the moving frame), ``bar``,
        ``tilde``, ``star``.
    above : str
        The pattern of the superscript.
    rate : bool
        Written d(...)/dt.
    """

    letter: str
    below: str = ""
    rank: int = 0
    unit: str = ""
    words: str = ""
    accent: str = ""
    above: str = ""
    rate: bool = False

    def __getitem__(self, places: Any) -> IndexedSymbol:
        return IndexedSymbol(self, places if isinstance(places, tuple) else (places,))

    def __hash__(self) -> int:
        return hash((self.letter, self.below, self.above))

    def __call__(self) -> IndexedSymbol:
        """The symbol without indices."""
        return IndexedSymbol(self, ())


@dataclass(frozen=True)
class IndexedSymbol(VectorTerm):
    """A letter with indices."""

    family: Family
    places: tuple[Any, ...] = ()

    @property
    def rank(self) -> int:  # type: ignore[override]
        return self.family.rank

    def at(self, bindings: Bindings) -> IndexedSymbol:
        """The symbol with values for its indices."""
        return IndexedSymbol(self.family, tuple(bound(x, bindings) for x in self.places))


@dataclass(frozen=True)
class Number(VectorTerm):
    """A number."""

    value: float
    rank: int = 0


@dataclass(frozen=True)
class ScalarFormula(VectorTerm):
    """A scalar expression of SymPy; ``styles`` typeset its symbols, ``value`` evaluates it."""

    expression: Any
    styles: Mapping[str, Any] = field(default_factory=dict, compare=False)
    value: Callable[[Bindings], Any] | None = field(default=None, compare=False)
    rank: int = 0

    @property
    def binding(self) -> int:  # type: ignore[override]
        """As tight as its outermost operation."""
        if self.expression.is_Add:
            return 0
        return 2 if self.expression.is_Mul else 3


@dataclass(frozen=True)
class Negative(VectorTerm):
    """A term with a minus sign."""

    term: VectorTerm
    binding: ClassVar[int] = 0

    @property
    def rank(self) -> int:  # type: ignore[override]
        return self.term.rank


@dataclass(frozen=True)
class Sum(VectorTerm):
    """A sum of terms."""

    terms: tuple[VectorTerm, ...]
    binding: ClassVar[int] = 0

    @property
    def rank(self) -> int:  # type: ignore[override]
        return max(term.rank for term in self.terms)


@dataclass(frozen=True)
class Product(VectorTerm):
    """Scalars, matrices and at most one vector, multiplied in this order."""

    factors: tuple[VectorTerm, ...]
    binding: ClassVar[int] = 2

    @property
    def rank(self) -> int:  # type: ignore[override]
        ranks = [factor.rank for factor in self.factors]
        return 1 if 1 in ranks else max(ranks)


@dataclass(frozen=True)
class Cross(VectorTerm):
    """The vector product."""

    left: VectorTerm
    right: VectorTerm
    binding: ClassVar[int] = 1
    rank: ClassVar[int] = 1  # type: ignore[misc]


@dataclass(frozen=True)
class Dot(VectorTerm):
    """The scalar product."""

    left: VectorTerm
    right: VectorTerm
    binding: ClassVar[int] = 1
    rank: ClassVar[int] = 0  # type: ignore[misc]


@dataclass(frozen=True)
class Skew(VectorTerm):
    """The matrix of a vector product: S(a) b = a x b."""

    vector: VectorTerm
    rank: ClassVar[int] = 2  # type: ignore[misc]


@dataclass(frozen=True)
class Transposed(VectorTerm):
    """A matrix transposed."""

    term: VectorTerm
    rank: ClassVar[int] = 2  # type: ignore[misc]


@dataclass(frozen=True)
class Inverse(VectorTerm):
    """An inverse matrix."""

    term: VectorTerm
    rank: ClassVar[int] = 2  # type: ignore[misc]


@dataclass(frozen=True)
class Power(VectorTerm):
    """A scalar or a square matrix to an integer power."""

    term: VectorTerm
    exponent: int

    @property
    def rank(self) -> int:  # type: ignore[override]
        return self.term.rank


@dataclass(frozen=True)
class Quotient(VectorTerm):
    """A term divided by a scalar."""

    above: VectorTerm
    below: VectorTerm
    binding: ClassVar[int] = 2

    @property
    def rank(self) -> int:  # type: ignore[override]
        return self.above.rank


@dataclass(frozen=True)
class Norm(VectorTerm):
    """The length of a vector."""

    vector: VectorTerm
    rank: ClassVar[int] = 0  # type: ignore[misc]


@dataclass(frozen=True)
class UnitVector(VectorTerm):
    """The unit vector along a vector; zero where the vector is, compared with ``size``, which does not vanish with it.

    So a product of a length and a direction is the vector, also where it vanishes.
    """

    vector: VectorTerm
    size: VectorTerm
    binding: ClassVar[int] = 2
    rank: ClassVar[int] = 1  # type: ignore[misc]


@dataclass(frozen=True)
class Call(VectorTerm):
    """A function of scalars: sin, cos, max."""

    function: str
    argument: VectorTerm
    others: tuple[VectorTerm, ...] = ()
    rank: ClassVar[int] = 0  # type: ignore[misc]


@dataclass(frozen=True)
class SumOver(VectorTerm):
    """The sum of a term over an index, or over several."""

    over: tuple[IndexSet, ...]
    term: VectorTerm
    binding: ClassVar[int] = 1

    @property
    def rank(self) -> int:  # type: ignore[override]
        return self.term.rank


@dataclass(frozen=True)
class Cases(VectorTerm):
    """One of several terms, the first whose condition holds; a last one without condition is the rest."""

    cases: tuple[tuple[VectorTerm, IndexCondition | None], ...]

    @property
    def rank(self) -> int:  # type: ignore[override]
        return max(term.rank for term, _ in self.cases)


@dataclass(frozen=True)
class Grid(VectorTerm):
    """A matrix by its entries, which may be matrices; a single column of scalars is a vector."""

    rows: tuple[tuple[VectorTerm, ...], ...]

    @property
    def rank(self) -> int:  # type: ignore[override]
        return 1 if all(len(row) == 1 and row[0].rank < 2 for row in self.rows) else 2


@dataclass(frozen=True)
class Definition:
    """A symbol for all values of its indices, and what it stands for.

    Attributes
    ----------
    left : IndexedSymbol
        The symbol; an equation that defines nothing may have any term here.
    right : VectorTerm
        What it is equal to.
    number : str
        Number of the equation in the source: ``"(11)"``.
    words : str
        What it says.
    where : IndexCondition, optional
        For which indices.
    value : str
        The number that it is at some state; in text it stands in the place of the words.
    unit : str
        SI unit of the value.
    """

    left: VectorTerm
    right: VectorTerm
    number: str = ""
    words: str = ""
    where: IndexCondition | None = None
    value: str = ""
    unit: str = ""


# -- building --------------------------------------------------------------------------------------
def as_term(x: Any) -> VectorTerm:
    """A term as it is, a number as a term, with its sign in front."""
    if isinstance(x, VectorTerm):
        return x
    value = float(x)
    return Negative(Number(-value)) if value < 0 else Number(value)


def parts_of(term: VectorTerm) -> tuple[VectorTerm, ...]:
    """The terms of a sum."""
    return term.terms if isinstance(term, Sum) else (term,)


def formula_sum(expressions: Sequence[Any], styles: Mapping[str, SymbolStyle]) -> VectorTerm:
    """The sum of expressions of SymPy: a leaf for each of their terms, with its sign in front; zeros are left out."""
    terms = [term for x in expressions for term in (x.as_ordered_terms() if x.is_Add else [x]) if term != 0]
    leaves = [
        Negative(ScalarFormula(-x, styles)) if x.could_extract_minus_sign() else ScalarFormula(x, styles) for x in terms
    ]
    if not leaves:
        return Number(0)
    return leaves[0] if len(leaves) == 1 else Sum(tuple(leaves))


def expressions_of(side: VectorTerm) -> list[Any]:
    """The expressions that a sum was made of by ``formula_sum``; none for zero."""
    leaves = [(x.term, -1) if isinstance(x, Negative) else (x, 1) for x in parts_of(side)]
    return [sign * leaf.expression for leaf, sign in leaves if isinstance(leaf, ScalarFormula)]


def multiplied(a: VectorTerm, b: VectorTerm) -> VectorTerm:
    """A product, flat, with the sign in front."""
    if isinstance(a, Negative):
        return -multiplied(a.term, b)
    if isinstance(b, Negative):
        return -multiplied(a, b.term)
    factors = [x for term in (a, b) for x in (term.factors if isinstance(term, Product) else (term,))]
    return Product(tuple(factors))


def symbols_of(term: VectorTerm) -> Iterator[IndexedSymbol]:
    """All symbols of a term."""
    if isinstance(term, IndexedSymbol):
        yield term
        return
    for value in vars(term).values():
        parts = value if isinstance(value, tuple) else (value,)
        for part in parts:
            inner = part if isinstance(part, tuple) else (part,)
            for x in inner:
                if isinstance(x, VectorTerm):
                    yield from symbols_of(x)


def substituted(definition: Definition, bindings: Bindings) -> Definition:
    """A definition for some values of its indices."""
    return replace(
        definition, left=_replaced(definition.left, bindings), right=_replaced(definition.right, bindings), where=None
    )


def _replaced(x: Any, bindings: Bindings) -> Any:
    """The same with values for indices, whatever it is that has them."""
    if isinstance(x, Index):
        return bindings.get(x.letter, x)
    if isinstance(x, IndexFunction):
        arguments = tuple(_replaced(a, bindings) for a in x.arguments)
        free = any(isinstance(a, Index | IndexFunction) for a in arguments)
        return replace(x, arguments=arguments) if free else x.function(*arguments)
    if isinstance(x, IndexSet | IndexCondition):
        return replace(x, arguments=tuple(_replaced(a, bindings) for a in x.arguments))
    if isinstance(x, SumOver):
        inner = {letter: value for letter, value in bindings.items() if letter not in {s.index.letter for s in x.over}}
        return SumOver(tuple(_replaced(s, bindings) for s in x.over), _replaced(x.term, inner))
    if isinstance(x, Cases):
        return _chosen(x, bindings)
    if isinstance(x, tuple):
        return tuple(_replaced(part, bindings) for part in x)
    return _with_parts(x, bindings) if isinstance(x, VectorTerm) else x


def _chosen(cases: Cases, bindings: Bindings) -> VectorTerm:
    """The case that holds, if that can be said; else all of them."""
    left = []
    for term, condition in cases.cases:
        bound = None if condition is None else _replaced(condition, bindings)
        if bound is None or any(isinstance(a, Index | IndexFunction) for a in bound.arguments):
            left.append((_replaced(term, bindings), bound))
        elif bound.check({}):
            left.append((_replaced(term, bindings), None))
        if left and left[-1][1] is None:
            break
    only: VectorTerm = left[0][0]
    return only if left[0][1] is None else Cases(tuple(left))


def _with_parts(term: VectorTerm, bindings: Bindings) -> VectorTerm:
    parts: Mapping[str, Any] = {f.name: getattr(term, f.name) for f in fields(term)}  # type: ignore[arg-type]
    changed = {
        name: _replaced(x, bindings)
        for name, x in parts.items()
        if isinstance(x, VectorTerm | tuple | Index | IndexFunction)
    }
    return replace(term, **changed)  # type: ignore[type-var]


GREEK = {"lam": (r"\lambda", "λ"), "w": (r"\omega", "ω"), "eps": (r"\varepsilon", "ε"), "psi": (r"\psi", "ψ"),
         "theta": (r"\theta", "θ"), "phi": (r"\varphi", "φ"), "mu": (r"\mu", "μ")}  # fmt: skip


class SymbolStyle(NamedTuple):
    """How a symbol is typeset: a letter with dots or a tilde, a subscript and a superscript.

    A ``plain`` letter stands as it is: w is no omega.
    """

    letter: str
    dots: int = 0
    below: str = ""
    above: str = ""
    tilde: bool = False
    plain: bool = False

    @property
    def latex(self) -> str:
        whole = rf"\mathit{{{self.letter}}}".replace("_", r"\_") if len(self.letter) > 1 else self.letter
        letter = whole if self.plain else GREEK.get(self.letter, (whole,))[0]
        letter = rf"\tilde{{{letter}}}" if self.tilde else letter
        letter = ("", r"\dot{%s}", r"\ddot{%s}")[self.dots] % letter if self.dots else letter
        below, above = (
            rf"\mathrm{{{word}}}".replace("_", r"\_") if len(word) > 1 else word for word in (self.below, self.above)
        )
        return letter + (f"_{{{below}}}" if below else "") + (f"^{{{above}}}" if above else "")
