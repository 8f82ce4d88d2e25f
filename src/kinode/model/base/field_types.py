"""What a field takes as a type: for signatures, documentation, editors and type checkers.

The aliases are for static checks alone and are not evaluated when kinode runs; ``TYPES`` names the alias of every shape
that fields have.  A field whose shape is not listed takes ``Any``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence
    from fractions import Fraction
    from typing import Any

    import numpy as np

    from kinode.expressions.syntax_tree import Expression
    from kinode.model.base.bodies import Body
    from kinode.model.base.fields import Component, Spec
    from kinode.model.base.frames import Frame
    from kinode.model.base.observers.moving_frames import Observer
    from kinode.model.base.parameters import Symbols
    from kinode.model.base.shapes import Shape
    from kinode.model.base.visuals import Visual
    from kinode.model.joints.coulomb_friction import Coulomb
    from kinode.model.joints.end_stops import Ends
    from kinode.model.joints.joint import Joint, Limits
    from kinode.model.joints.joint_compliance import Compliance

# A number, text such as "30 deg" or "2*L", or arithmetic with parameters.
NumberLike: TypeAlias = "float | np.number[Any] | str | Expression"
# A number, or a law: text, an expression, or a function of symbols.
LawLike: TypeAlias = "NumberLike | Callable[[Symbols], Any]"
VectorLike: TypeAlias = "Sequence[NumberLike] | np.ndarray[Any, Any]"
LawsLike: TypeAlias = "Sequence[LawLike] | np.ndarray[Any, Any]"
MatrixLike: TypeAlias = "NumberLike | Sequence[NumberLike] | Sequence[Sequence[NumberLike]] | np.ndarray[Any, Any]"
# One number for a joint with one coordinate, else one for each.
NumbersLike: TypeAlias = "NumberLike | VectorLike"
CoordinateLawsLike: TypeAlias = "LawLike | LawsLike"
# A body, a frame, the name of one, or {"body": ..., "at": ..., "rpy": ...}.
FrameLike: TypeAlias = "Frame | Body | Observer | str | Mapping[str, Any]"
# x, y, z, -x, -y, -z, or three numbers.
AxisLike: TypeAlias = "str | VectorLike"
AxesLike: TypeAlias = "Sequence[AxisLike]"
RotationLike: TypeAlias = "Mapping[str, Any] | tuple[str, Any]"
TurnsLike: TypeAlias = "Sequence[tuple[AxisLike, LawLike]]"
JointLike: TypeAlias = "Joint | str"
# The name of a node, gnd, or a joint or the world.
PortLike: TypeAlias = "str | Joint | Body"
InertiaLike: TypeAlias = "Mapping[str, NumberLike] | VectorLike | Sequence[Sequence[NumberLike]]"
ShapeLike: TypeAlias = "Shape | Mapping[str, Mapping[str, Any]]"
PlacesLike: TypeAlias = "Mapping[str, VectorLike | Mapping[str, Any]] | tuple[Frame, ...]"
VisualsLike: TypeAlias = "Sequence[Visual | Mapping[str, Any]]"
FrictionLike: TypeAlias = "Coulomb | Mapping[str, Mapping[str, NumberLike]]"
EndsLike: TypeAlias = "Ends | Mapping[str, NumberLike]"
LimitsLike: TypeAlias = "Limits | VectorLike | Mapping[str, NumberLike]"
ComplianceLike: TypeAlias = "Compliance | Mapping[str, NumbersLike]"
TimeLike: TypeAlias = "float | str | Fraction"
WordsLike: TypeAlias = "str | Sequence[str]"
NamedLawsLike: TypeAlias = "Mapping[str, LawLike] | tuple[tuple[str, LawLike], ...]"
NamedNumbersLike: TypeAlias = "Mapping[str, NumberLike] | tuple[tuple[str, NumberLike], ...]"
FunctionLike: TypeAlias = "Callable[..., Any]"
FileLike: TypeAlias = "str | os.PathLike[str]"
NamedVariablesLike: TypeAlias = "WordsLike | Mapping[str, str]"

# Shape of a field -> its type; a section stands before the shape where its components read it in their own way.
TYPES: Mapping[str, str] = {
    "number": "NumberLike", "law": "LawLike", "vector": "VectorLike", "laws": "LawsLike", "frame": "FrameLike",
    "text": "str", "joint": "JointLike", "port": "PortLike", "flag": "bool", "axis": "AxisLike", "axes": "AxesLike",
    "elements.axes": "FrameLike", "base": "FrameLike", "direction": "AxisLike", "turns": "TurnsLike",
    "rotation": "RotationLike", "per_coordinate": "NumbersLike", "laws_per_coordinate": "CoordinateLawsLike",
    "initial": "NumbersLike", "initial_rate": "NumbersLike", "friction": "FrictionLike", "ends": "EndsLike",
    "limits": "LimitsLike", "compliance": "ComplianceLike", "inertia": "InertiaLike", "rotor_inertia": "NumbersLike",
    "shape": "ShapeLike",
    "frames": "PlacesLike", "meshes": "VisualsLike", "times": "VectorLike", "range": "VectorLike",
    "numbers": "NumbersLike", "matrix": "MatrixLike", "input_laws": "CoordinateLawsLike", "words": "WordsLike",
    "named_laws": "NamedLawsLike", "named_numbers": "NamedNumbersLike", "function": "FunctionLike",
    "code_file": "FileLike", "fmu_outputs": "NamedVariablesLike",
    "clock": "TimeLike", "seconds": "TimeLike", "count": "int", "samples": "int", "seed": "int",
}  # fmt: skip

# Shape of a field -> what it takes, in words, where the shape itself is no word for people.
WORDS: Mapping[str, str] = {
    "vector": "3 numbers", "laws": "3 laws", "port": "node", "joint": "joint", "text": "text", "flag": "bool",
    "axes": "2 axes", "elements.axes": "frame", "base": "frame", "direction": "axis", "turns": "pairs of axis and law",
    "per_coordinate": "number for each freedom", "laws_per_coordinate": "law for each freedom",
    "initial": "number for each coordinate", "initial_rate": "number for each freedom", "friction": "kn.coulomb(...)",
    "ends": "mapping of numbers", "limits": "2 numbers, or mapping", "compliance": "mapping of numbers",
    "inertia": "numbers or mapping", "rotor_inertia": "number or 2 numbers", "shape": "shape or mapping",
    "frames": "mapping of places", "meshes": "list", "times": "numbers", "range": "2 numbers",
    "input_laws": "law or laws", "words": "names", "named_laws": "mapping of laws",
    "named_numbers": "mapping of numbers", "code_file": "path",
    "fmu_outputs": "names", "clock": "time or rate", "seconds": "time", "count": "int", "samples": "int",
    "seed": "int",
}  # fmt: skip


def type_of(cls: type[Component], spec: Spec) -> str:
    """The name of the type that a field takes."""
    if spec.shape == "choice":
        return f"Literal[{', '.join(repr(word) for word in spec.choices)}]"
    return TYPES.get(f"{cls.section}.{spec.shape}") or TYPES.get(spec.shape, "Any")


def words_of(cls: type[Component], spec: Spec) -> str:
    """What a field takes, in words, with its unit: ``number, N/m``."""
    if spec.shape == "choice":
        return "{" + ", ".join(repr(word) for word in spec.choices) + "}"
    words = WORDS.get(f"{cls.section}.{spec.shape}") or WORDS.get(spec.shape, spec.shape.replace("_", " "))
    unit = cls.field_unit(spec)
    return f"{words}, {unit}" if unit else words
