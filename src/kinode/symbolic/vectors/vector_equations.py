"""Reactions in vectors: ``kn.equations(system, "quasi_base" or "rotators", shape="vectors")``.

The formulas are those of a ``VectorForm``; they are printed and evaluated from the same terms.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import ArgumentError
from kinode.formulations.chains import ChainKinematics, ChainLink, ChainMotion
from kinode.formulations.scope import class_five_pairs, tree_only
from kinode.formulations.vector_methods import QUASI_BASE
from kinode.model.system import System
from kinode.multibody.snapshot import Snapshot
from kinode.sheets.sheet import FormulaSheet, SheetSection, SheetValues
from kinode.sheets.terms import Definition, Family, Index, IndexedSymbol, substituted
from kinode.sheets.typeset import PLAIN, written
from kinode.sheets.values import TermValues
from kinode.structure.topology import find_topology
from kinode.symbolic.vectors.chain_vectors import ChainNumbers, J, VectorForm, k
from kinode.symbolic.vectors.vector_forms import QuasiBaseForm, RotatorForm

VECTOR_FORMS: Mapping[str, Any] = {"quasi_base": QuasiBaseForm, "rotators": RotatorForm}
VECTORS = "vectors"


@dataclass(frozen=True)
class VectorEquations(FormulaSheet):
    """Reactions as sums over bodies in vectors, for all joints at once; ``kn.equations`` returns it.

    Attributes
    ----------
    joints : tuple of str
        Joints whose equations are written out.
    numbers : dict of str to tuple of int
        The numbers of the pairs of every joint: one, or several if it is taken apart.
    formulation : str
        "quasi_base" or "rotators".
    """

    dynamics: Dynamics
    formulation: str
    form: QuasiBaseForm | RotatorForm = field(repr=False)
    joints: tuple[str, ...] = ()
    shape: ClassVar[str] = VECTORS

    def python(self, module: str = "math") -> str:
        """Refused: formulas with indices are evaluated by ``values``, not written as code."""
        raise ArgumentError("shape: vectors are printed, and evaluated by .values(); shape='named' is written as code")

    def c(self) -> str:
        """Refused, as ``python``."""
        return self.python()

    @property
    def system(self) -> System:
        """The system."""
        return self.dynamics.system

    @property
    def numbers(self) -> dict[str, tuple[int, ...]]:
        """The numbers of the pairs of each joint."""
        return {name: tuple(self.form.numbers.of_joint(name)) for name in self.system.joints}

    def values(
        self, t: Any, q: Any, u: Any, u_dot: Any = None, *, z: Any = None, p: Any = None, inputs: Any = None
    ) -> SheetValues:
        """The value of every symbol at a state.

        Parameters
        ----------
        t : float
            Time, s.
        q, u : array
            Coordinates and speeds in the order of ``kn.compile(system).coordinates``.
        u_dot : array, optional
            Accelerations; by default those that follow from the model.
        z, p, inputs : optional
            Other states, parameters and inputs, as in ``Dynamics.acceleration``.

        Returns
        -------
        SheetValues
            Name -> float or array, in the null base; ``.units``, ``.text()``.

        Examples
        --------
        >>> sheet = kn.equations(kn.load("examples/double_pendulum.yaml"), "quasi_base", shape="vectors")
        >>> sheet.values(0.0, [0.0, 0.0], [1.0, 0.0], [0.0, 0.0])["a_C1"]
        array([-0.25,  0.  ,  0.  ])
        """
        evaluated = self.evaluator(t, q, u, u_dot, z=z, p=p, inputs=inputs)
        values, units = {}, {}
        for symbol, unit in self.symbols():
            name = written(symbol, PLAIN)
            values[name], units[name] = evaluated.symbol(symbol), unit
        return SheetValues(values, units)

    def symbols(self) -> Iterator[tuple[IndexedSymbol, str]]:
        """Every symbol with numbers for its indices, and its unit."""
        for listed in self.form.listed.values():
            for places in listed.domain():
                yield IndexedSymbol(listed.family, places), listed.unit_of(*places)

    @property
    def units(self) -> dict[str, str]:
        """SI units of all symbols by name."""
        return {written(symbol, PLAIN): unit for symbol, unit in self.symbols()}

    def evaluator(
        self, t: Any, q: Any, u: Any, u_dot: Any = None, *, z: Any = None, p: Any = None, inputs: Any = None
    ) -> TermValues:
        """Evaluates the printed terms at a state."""
        dynamics, n_u = self.dynamics, self.dynamics.n_u
        point = dynamics.arguments.read_point(t, q, u, z, p, inputs, dynamics.start.initial_values.z)
        if point.n_rows is not None:
            raise ArgumentError("values: one state is expected, not a batch of them")
        own = Snapshot(dynamics.topology, point).u_dot if u_dot is None else u_dot
        given = dynamics.arguments.read_array("u_dot", own, n_u, np.zeros(n_u))
        motion = Snapshot(dynamics.topology, point, u_dot=given, formulation=QUASI_BASE).motion
        assert isinstance(motion, ChainMotion)
        return TermValues(self.form_definitions, self.form.vectors.given(motion))

    @property
    def form_definitions(self) -> list[Definition]:
        """The definitions for all indices, without those of single joints."""
        return [line for section in self.form.sections for line in section.lines]


def vector_equations(system: System, method: str, joints: Sequence[str]) -> VectorEquations:
    """The sheet of a method for a tree."""
    topology = find_topology(system)
    if method not in VECTOR_FORMS:
        raise ArgumentError(f"shape: vectors are for the formulations {' and '.join(VECTOR_FORMS)}, not {method}")
    reason = tree_only(topology) or class_five_pairs(topology)
    if reason is None and topology.meshes:
        reason = f"it does not know tooth forces ({', '.join(topology.meshes)})"
    if reason is not None:
        raise ArgumentError(f"{method} in vectors does not apply to {system.name}: {reason}")
    dynamics = Dynamics(system)
    kinematics = Snapshot(
        dynamics.topology, dynamics.snapshot(dynamics.initial).point, formulation=QUASI_BASE
    ).kinematics
    assert isinstance(kinematics, ChainKinematics)
    numbers = ChainNumbers(kinematics.links_at(lambda joint: joint.neutral_q()))
    if not numbers.moving:
        raise ArgumentError(f"{method} in vectors does not apply to {system.name}: no joint of it has a freedom")
    loaded = any(element.pushes for element in system.elements.values())
    form = VECTOR_FORMS[method](numbers, loaded=loaded)
    sections = [_bodies(numbers), _given_symbols(form), *form.sections]
    sections += [_joint_section(form, name) for name in joints]
    heading = f"{system.name}: reactions in vectors, by {method}"
    return VectorEquations(heading, tuple(sections), dynamics, method, form, tuple(joints))


def _bodies(numbers: ChainNumbers) -> SheetSection:
    rows = []
    for link in numbers.links:
        at = link.index + 1
        carrier = numbers.carrier(at)
        way = " (against its declaration)" if link.reversed else ""
        rows.append((str(at), link.body or "-", f"{link.name}{way}", _pair_word(link), str(carrier)))
    words = "Pair k carries body k; 0 is the world, whose axes are the null base."
    if any(not link.body for link in numbers.links):
        words += (
            " Joints with several freedoms are pairs in series, with massless links (-) between them; "
            "l(J) is the body of such a joint J."
        )
    if not numbers.is_chain:
        words += (
            " p(k) is the body that carries pair k; alpha to i: the pairs on the way from the world to body i; "
            "i behind k: the bodies that pair k carries."
        )
    return SheetSection(
        "Bodies and joints", words, table=(("number", "body", "joint", "pair", "carried by"), tuple(rows))
    )


def _pair_word(link: ChainLink) -> str:
    if link.freedom is None:
        return "fixed" if link.joint.quaternion is None else "placement"
    return "screw" if link.turns and link.slides else "hinge" if link.turns else "slide"


def _given_symbols(form: VectorForm) -> SheetSection:
    """Symbols without definition: letter with indices, unit, words."""
    defined = {
        line.left.family for section in form.sections for line in section.lines if isinstance(line.left, IndexedSymbol)
    }
    rows = []
    for family, listed in form.listed.items():
        if family not in defined:
            units = dict.fromkeys(listed.unit_of(*places) for places in listed.domain())
            places = tuple(Index(letter) for letter in _letters(family, form))
            rows.append((IndexedSymbol(family, places), " or ".join(units), family.words))
    words = "Vectors with an index above are those of the reference configuration, where all coordinates are zero."
    return SheetSection("Given", words, table=(("symbol", "unit", "meaning"), tuple(rows)))


def _letters(family: Family, form: VectorForm) -> tuple[str, ...]:
    count = len(next(iter(form.listed[family].domain()), ()))
    own = "i" if "body" in family.words or "C_i" in family.words or "mass center" in family.words else "k"
    return ("j", "k") if count == 2 else (own,) * count


def _joint_section(form: VectorForm, name: str) -> SheetSection:
    """The force and moment of one joint, with its number in the place of k; of several pairs, without all efforts."""
    pairs, lines = form.numbers.of_joint(name), list[Definition]()
    last = pairs[-1]
    for line in form.sections[-1].lines:
        assert isinstance(line.left, IndexedSymbol)
        letters = [place.letter for place in line.left.places if isinstance(place, Index)]
        if len(pairs) == 1 and letters == [k.letter] and _is_reaction(line):
            lines.append(substituted(line, {k.letter: last}))
        elif len(pairs) > 1 and letters == [J.letter]:
            lines.append(substituted(line, {J.letter: name}))
        elif len(pairs) > 1 and letters == [k.letter] and line.left.family.below == "{0}" and line.left.rank:
            lines.append(substituted(line, {k.letter: last}))
    behind = form.numbers.behind_each[last]
    bodies = [form.numbers.links[at - 1].body for at in behind]
    listed = ", ".join(f"{at} {body}" for at, body in zip(behind, bodies) if body)
    return SheetSection(f"Reaction of {name}", f"Bodies behind it: {listed}.", tuple(lines))


def _is_reaction(line: Definition) -> bool:
    return isinstance(line.left, IndexedSymbol) and line.left.family.below == "R{0}"
