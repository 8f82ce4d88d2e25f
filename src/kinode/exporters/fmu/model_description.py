"""``modelDescription.xml`` of an FMU, for FMI 2.0 and 3.0, and the description of its sources for 3.0.

Value references are ranges, one after the other: the time, continuous states, their derivatives, discrete states,
parameters, inputs, outputs, event indicators.  The C code finds a value by its range alone (``c/fmu_core.h``).  The
text holds no date and no path, so that the same model gives the same bytes.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from kinode.exporters.c_code.model_source import CModel
from kinode.exporters.variables import Variable, Variables
from kinode.expressions.dimensions import BASE_UNITS, Dimension
from kinode.expressions.units import DIMENSIONS, parse_si_unit
from kinode.version import __version__

FACES = {"2.0": "fmi2.c", "3.0": "fmi3.c"}
"""By version the source file that includes all others."""
LOG_CATEGORY = "logStatusError"
SOURCE_OPTIONS = "-std=c99 -O2 -ffp-contract=off"
"""Options with which the sources were tested."""


PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
QUOTED_NAME = re.compile(r"[A-Za-z0-9_!#$%&()*+,\-./:;<>=?@\[\]^{}|~ ]+\Z")


@dataclass(frozen=True)
class ReferenceRanges:
    """Where the value references of each role begin; they are in this order."""

    state: int
    derivative: int
    discrete: int
    parameter: int
    input: int
    output: int
    indicator: int
    end: int


@dataclass(frozen=True, eq=False)
class ExportedVariables(Variables):
    """All variables of an FMU."""

    ranges: ReferenceRanges
    time: Variable
    derivatives: tuple[Variable, ...]
    indicators: tuple[Variable, ...]

    @property
    def all(self) -> tuple[Variable, ...]:
        """All variables but event indicators, which FMI 2.0 does not list."""
        return (
            self.time, *self.states, *self.derivatives, *self.discrete, *self.parameters, *self.inputs, *self.outputs
        )  # fmt: skip

    @cached_property
    def is_structured(self) -> bool:
        """Whether all names follow the convention for structured names."""
        return all(structured(text) is not None for text in self._texts)

    @property
    def _texts(self) -> Iterable[str]:
        return (x.name for x in (*self.states, *self.discrete, *self.parameters, *self.inputs, *self.outputs))


def structured(text: str) -> str | None:
    """A name by the convention for structured names; None if it has letters that the convention does not know."""
    head, at, axes = text.partition("@")
    parts = head.split(".")
    if at:
        parts = [*parts[:-1], f"{parts[-1]}@{axes}"]
    if not all(QUOTED_NAME.match(part) for part in parts):
        return None
    return ".".join(part if PLAIN_NAME.match(part) else f"'{part}'" for part in parts)


def find_exponents(unit: str) -> Dimension:
    """The exponents of the SI base units in a unit."""
    known = next((named for named in DIMENSIONS.values() if named.unit == unit), None)
    return parse_si_unit(unit) if known is None else known.dimension


@dataclass(frozen=True, eq=False)
class FmuModel:
    """What FMUs of a system have in common, of whatever version."""

    name: str
    model: CModel
    variables: ExportedVariables
    n_inputs: int
    has_drift: bool
    chosen_in: tuple[str, ...]
    """Closures of loops of which some constraint equations are left out, since they follow from the others."""
    start_time: float
    stop_time: float | None
    rtol: float


def find_token(texts: Iterable[str]) -> str:
    """An identifier that follows from the contents, in the form of a GUID."""
    digest = hashlib.sha256("\0".join(texts).encode()).hexdigest()
    return f"{{{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:32]}}}"


def _attributes(values: Mapping[str, object]) -> str:
    """Attributes of an element; those without a value are left out."""
    return "".join(f' {name}="{_text(value)}"' for name, value in values.items() if value is not None and value != "")


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    text = repr(value) if isinstance(value, float) else str(value)
    for old, new in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("\n", "&#10;"), ("\t", "&#9;")):
        text = text.replace(old, new)
    return "".join(x for x in text if x >= " ")


def _element(name: str, values: Mapping[str, object], inside: Iterable[str] = (), indent: int = 1) -> str:
    lines, space = list(inside), "  " * indent
    if not lines:
        return f"{space}<{name}{_attributes(values)}/>"
    return "\n".join([f"{space}<{name}{_attributes(values)}>", *lines, f"{space}</{name}>"])


def _units(variables: ExportedVariables) -> Iterator[str]:
    for unit in sorted({x.unit for x in variables.all if x.unit}):
        exponents = find_exponents(unit).exponents
        if all(Fraction(x).denominator == 1 for x in exponents):
            powers: dict[str, object] = {name: int(x) or None for name, x in zip(BASE_UNITS, exponents, strict=True)}
            powers["rad"] = _power_of_radian(unit) or None
            yield _element("Unit", {"name": unit}, [_element("BaseUnit", powers, indent=3)], 2)
        else:
            yield _element("Unit", {"name": unit}, indent=2)


def _power_of_radian(unit: str) -> int:
    """The power of a radian in an SI unit: 1 in rad/s, -1 in N*m/rad."""
    above, _, below = unit.partition("/")
    return ("rad" in above.split("*")) - ("rad" in below.replace("(", "").replace(")", "").replace("*", "/").split("/"))


def _shown(variables: ExportedVariables, x: Variable) -> str:
    """The name of a variable in the convention of the file."""
    if not variables.is_structured or "[" in x.name:
        return x.name
    if x.derivative_of is not None:
        return f"der({structured(x.name[4:-1])})"
    return structured(x.name) or x.name


def _experiment(fmu: FmuModel) -> str:
    return _element(
        "DefaultExperiment",
        {"startTime": fmu.start_time, "stopTime": fmu.stop_time, "tolerance": fmu.rtol},
    )


def _categories() -> str:
    return _element("LogCategories", {}, [_element("Category", {"name": LOG_CATEGORY}, indent=2)])


def _header(fmu: FmuModel, version: str, token: str) -> dict[str, object]:
    return {
        "fmiVersion": version, "modelName": fmu.name,
        "guid" if version == "2.0" else "instantiationToken": token,
        "generationTool": f"kinode {__version__}",
        "variableNamingConvention": "structured" if fmu.variables.is_structured else "flat",
    }  # fmt: skip


def _whole(header: Mapping[str, object], parts: Iterable[str]) -> str:
    root = _element("fmiModelDescription", header, parts, 0)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{root}\n'


def _initial_unknowns(variables: ExportedVariables) -> list[Variable]:
    """What initialization computes: outputs, derivatives, and states that depend on parameters."""
    states = [x for x in variables.states if x.initial == "approx"]
    results = [x for x in variables.results if x.initial != "exact" and x not in states]
    return sorted([*states, *results, *variables.derivatives], key=lambda x: x.reference)


# -- FMI 2.0 -----------------------------------------------------------------------------------------------------------
def describe_2(fmu: FmuModel, token: str) -> str:
    """The description for FMI 2.0."""
    variables = fmu.variables
    number = {x.reference: k + 1 for k, x in enumerate(variables.all)}
    common = {
        "modelIdentifier": fmu.model.name, "canGetAndSetFMUstate": True, "canSerializeFMUstate": True,
        "providesDirectionalDerivative": fmu.model.has_jacobian or None,
    }  # fmt: skip
    sources = [_element("SourceFiles", {}, [_element("File", {"name": FACES["2.0"]}, indent=3)], 2)]

    def unknown(x: Variable) -> str:
        values: dict[str, object] = {"index": number[x.reference]}
        known = " ".join(str(number[r]) for r in x.depends_on or ())
        text = f' dependencies="{known}"' if x.depends_on is not None else ""
        return f"      <Unknown{_attributes(values)}{text}/>"

    def initial(x: Variable) -> str:
        return f'      <Unknown index="{number[x.reference]}"/>'

    structure = [
        _element("Outputs", {}, map(unknown, variables.results), 2) if variables.results else "",
        _element("Derivatives", {}, map(unknown, variables.derivatives), 2) if variables.derivatives else "",
        _element("InitialUnknowns", {}, map(initial, _initial_unknowns(variables)), 2)
        if _initial_unknowns(variables)
        else "",
    ]
    parts = [
        _element("ModelExchange", common, sources),
        _element("CoSimulation", {**common, "canHandleVariableCommunicationStepSize": True}, sources),
        _element("UnitDefinitions", {}, _units(variables)) if any(x.unit for x in variables.all) else "",
        _categories(),
        _experiment(fmu),
        _element("ModelVariables", {}, (_scalar_2(variables, x, number) for x in variables.all)),
        _element("ModelStructure", {}, [part for part in structure if part]),
    ]
    header = _header(fmu, "2.0", token) | {"numberOfEventIndicators": len(variables.indicators)}
    return _whole(header, [part for part in parts if part])


def _scalar_2(variables: ExportedVariables, x: Variable, number: Mapping[int, int]) -> str:
    outside = {
        "name": _shown(variables, x), "valueReference": x.reference, "causality": x.causality,
        "variability": x.variability, "initial": x.initial, "description": x.note or None,
    }  # fmt: skip
    inside = {
        "unit": x.unit, "min": x.low, "max": x.high, "nominal": x.nominal, "start": x.value,
        "derivative": None if x.derivative_of is None else number[x.derivative_of],
    }  # fmt: skip
    return _element("ScalarVariable", outside, [_element("Real", inside, indent=3)], 2)


# -- FMI 3.0 -----------------------------------------------------------------------------------------------------------
def describe_3(fmu: FmuModel, token: str) -> str:
    """The description for FMI 3.0."""
    variables = fmu.variables
    common = {
        "modelIdentifier": fmu.model.name, "canGetAndSetFMUState": True, "canSerializeFMUState": True,
        "providesDirectionalDerivatives": fmu.model.has_jacobian or None,
        "providesAdjointDerivatives": fmu.model.has_jacobian or None,
    }  # fmt: skip
    everything: Sequence[Variable] = (*variables.all, *variables.indicators)
    structure = [
        *(_unknown_3("Output", x) for x in variables.results),
        *(_unknown_3("ContinuousStateDerivative", x) for x in variables.derivatives),
        *(f'    <InitialUnknown valueReference="{x.reference}"/>' for x in _initial_unknowns(variables)),
        *(f'    <EventIndicator valueReference="{x.reference}"/>' for x in variables.indicators),
    ]
    parts = [
        _element("ModelExchange", {**common, "needsCompletedIntegratorStep": True}),
        _element("CoSimulation", {**common, "canHandleVariableCommunicationStepSize": True}),
        _element("UnitDefinitions", {}, _units(variables)) if any(x.unit for x in variables.all) else "",
        _categories(),
        _experiment(fmu),
        _element("ModelVariables", {}, (_scalar_3(variables, x) for x in everything)),
        _element("ModelStructure", {}, structure),
    ]
    return _whole(_header(fmu, "3.0", token), [part for part in parts if part])


def _scalar_3(variables: ExportedVariables, x: Variable) -> str:
    values = {
        "name": _shown(variables, x), "valueReference": x.reference, "causality": x.causality,
        "variability": x.variability, "initial": x.initial, "description": x.note or None, "unit": x.unit,
        "min": x.low, "max": x.high, "nominal": x.nominal, "start": x.value, "derivative": x.derivative_of,
    }  # fmt: skip
    return _element("Float64", values, indent=2)


def _unknown_3(name: str, x: Variable) -> str:
    known = "" if x.depends_on is None else f' dependencies="{" ".join(map(str, x.depends_on))}"'
    return f'    <{name} valueReference="{x.reference}"{known}/>'


def describe_build(fmu: FmuModel) -> str:
    """``sources/buildDescription.xml`` of FMI 3.0."""
    files = [_element("SourceFile", {"name": FACES["3.0"]}, indent=3)]
    sets = [_element("SourceFileSet", {"language": "C99", "compilerOptions": SOURCE_OPTIONS}, files, 2)]
    root = _element("fmiBuildDescription", {"fmiVersion": "3.0"}, [
        _element("BuildConfiguration", {"modelIdentifier": fmu.model.name}, sets)
    ], 0)  # fmt: skip
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{root}\n'
