"""Symbols of a derivation: the names of the inputs of a tape, none of which is a word of Python or C."""

from __future__ import annotations

import keyword
import re
from typing import Any

from kinode.multibody.loop_constraints import loop_constraints_of
from kinode.sheets.terms import SymbolStyle
from kinode.structure.state_layout import Coordinate
from kinode.structure.topology import Topology
from kinode.symbolic.normal_form import (
    Harmonic,
)
from kinode.symbolic.square_roots import KnownSigns

# Words that generated code cannot use as names: those of the languages, what it calls itself, and macros of C.
C_WORDS = """alignas alignof asm auto bool case char const constexpr default do double enum extern false float fortran
goto inline int long main nullptr register restrict short signed sizeof static static_assert struct switch thread_local
true typedef typeof typeof_unqual union unsigned void volatile"""
C_MACROS = """DOMAIN HUGE INFINITY MAXFLOAT NAN NULL OVERFLOW PLOSS SING TLOSS UNDERFLOW X_TLOSS i386 linux
math_errhandling unix"""
CALLED = """abs acos acosh asin asinh atan atan2 atanh bisect cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs
fetch floor fma fmax fmin fmod functools hypot interval len log log10 log1p log2 math max min numpy pow sin sinh sqrt
tan tanh trunc"""
RESERVED_WORDS = frozenset([*keyword.kwlist, *f"{C_WORDS} {C_MACROS} {CALLED}".split()])
RESERVED_FAMILY = re.compile(r"(?:M|FP|HUGE|MATH|table)_[A-Z0-9_]*[A-Z0-9]\Z")  # macros, and tables of the code itself


class Notation:
    """Names of the inputs of a tape: q_elbow, u_elbow, u_dot_elbow, lam_top_1, parameters by their own names."""

    def __init__(self, topology: Topology) -> None:
        self.names: dict[tuple[str, int], str] = {}
        self.signs = KnownSigns(topology, self.names)
        self.styles: dict[str, SymbolStyle] = {}  # of symbols that are not typeset by their name
        self.taken: set[str] = set()
        self.name("t", 0, "t")
        for role, named in (("p", topology.parameters), ("inputs", topology.inputs)):
            for i, name in enumerate(named):
                self.name(role, i, name)
        rates = not topology.layout.quaternions  # with quaternions, speeds are not time derivatives of coordinates
        for c in topology.coordinates:
            letter = "q" if c.role == "z" and c.joint in topology.system.joints else c.role
            of_joint = f"{c.joint}{c.name.removeprefix(f'{c.joint}.{letter}')}"  # elbow of elbow.q, ball.x of ball.q.x
            owner = (c.name if letter == "z" else of_joint).replace(".", "_")
            dotted = SymbolStyle("q", 1, owner) if rates and letter == "u" else SymbolStyle(letter, 0, owner)
            self.name(c.role, c.index, f"{letter}_{owner}", dotted)
            if c.role == "u":
                self.name(
                    "u_dot",
                    c.index,
                    f"u_dot_{owner}",
                    SymbolStyle("q", 2, owner) if rates else SymbolStyle("u", 1, owner),
                )
        for c in other_states(topology):
            owner = c.name.replace(".", "_")
            self.name("z_dot", c.index, f"z_dot_{owner}", SymbolStyle("z", 1, owner))
        for k, (owner, part) in enumerate(independent_rows(topology)):
            self.name("lam", k, f"lam_{owner}_{part}", SymbolStyle("lam", 0, f"{owner}, {part}"))
        for k, (owner, axis) in enumerate(friction_freedoms(topology)):
            self.name("friction", k, f"friction_{owner}{axis}")

    def name(self, role: str, index: int, name: str, style: SymbolStyle | None = None) -> str:
        """Give an input of the tape a unique name, without the dots of subsystems."""
        name = name.replace(".", "_")
        while name in self.taken or name in RESERVED_WORDS or RESERVED_FAMILY.match(name):
            name += "_"
        self.taken.add(name)
        self.names[role, index] = name
        if style is not None:
            self.styles[name] = style
        return name

    @property
    def symbols(self) -> dict[str, Any]:
        """SymPy symbols by name."""
        import sympy

        return {name: sympy.Symbol(name) for name in self.names.values()}

    @property
    def harmonics(self) -> dict[tuple[str, int], Harmonic]:
        """The inputs of the tape as scalars in normal form."""
        return {entry: Harmonic.symbol(name) for entry, name in self.names.items()}

    def of(self, role: str) -> list[Any]:
        """The symbols of one array, in order."""
        import sympy

        entries = sorted((i, name) for (array, i), name in self.names.items() if array == role)
        return [sympy.Symbol(name) for _, name in entries]


def other_states(topology: Topology) -> list[Coordinate]:
    """The states of networks and controllers: z without driven joints and discrete states."""
    indices = {i for name, where in topology.z_of.items() for i in range(where.start, where.stop)}
    other = [c for c in topology.coordinates if c.role == "z" and c.joint not in topology.system.joints]
    return [c for c in other if c.index in indices]


def independent_rows(topology: Topology) -> list[tuple[str, int]]:
    """The independent constraint rows: the joint or constraint of each, and its number there, from 1."""
    if not topology.constrained:
        return []
    constraints = loop_constraints_of(topology)
    rows = [(constraint.name, k + 1) for constraint in constraints for k in range(len(constraint.units))]
    return rows if topology.rows is None else [rows[k] for k in topology.rows]


def friction_freedoms(topology: Topology) -> list[tuple[str, str]]:
    """The freedoms with friction; their efforts are symbols, because they depend on the reactions."""
    with_friction = [joint for joint in topology.system.joints.values() if joint.friction is not None]
    return [(joint.name, f"_{k + 1}" * (joint.n_u > 1)) for joint in with_friction for k in range(joint.n_u)]
