"""``modelDescription.xml`` of an FMU, for FMI 2.0 and 3.0, and the description of its sources for 3.0.

The text holds no date and no path, so that the same model gives the same bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from kinode.exporters.variables import ExportedVariable, ExportedVariables, find_exponents, structured
from kinode.expressions.dimensions import BASE_UNITS
from kinode.version import __version__

LOG_CATEGORY = "logStatusError"
SOURCE_OPTIONS = "-std=c99 -O2 -ffp-contract=off"
"""Options with which the sources were tested."""


@dataclass(frozen=True)
class ExportedDescription:
    """What the descriptions of an FMU say besides its variables."""

    model_name: str
    identifier: str
    note: str
    variables: ExportedVariables
    start_time: float
    stop_time: float | None
    step: float | None
    tolerance: float
    source: str
    """The source file that includes all others."""
    has_jacobian: bool


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


def _shown(variables: ExportedVariables, x: ExportedVariable) -> str:
    """The name of a variable in the convention of the file."""
    if not variables.is_structured or "[" in x.name:
        return x.name
    if x.derivative_of is not None:
        return f"der({structured(x.name[4:-1])})"
    return structured(x.name) or x.name


def _experiment(fmu: ExportedDescription) -> str:
    return _element(
        "DefaultExperiment",
        {"startTime": fmu.start_time, "stopTime": fmu.stop_time, "tolerance": fmu.tolerance, "stepSize": fmu.step},
    )


def _categories() -> str:
    return _element("LogCategories", {}, [_element("Category", {"name": LOG_CATEGORY}, indent=2)])


def _header(fmu: ExportedDescription, version: str, token: str) -> dict[str, object]:
    return {
        "fmiVersion": version, "modelName": fmu.model_name,
        "guid" if version == "2.0" else "instantiationToken": token, "description": fmu.note or None,
        "generationTool": f"kinode {__version__}",
        "variableNamingConvention": "structured" if fmu.variables.is_structured else "flat",
    }  # fmt: skip


def _whole(header: Mapping[str, object], parts: Iterable[str]) -> str:
    root = _element("fmiModelDescription", header, parts, 0)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{root}\n'


def _initial_unknowns(variables: ExportedVariables) -> list[ExportedVariable]:
    """What initialization computes: outputs, derivatives, and states that depend on parameters."""
    states = [x for x in variables.states if x.initial == "approx"]
    results = [x for x in variables.results if x.initial != "exact" and x not in states]
    return sorted([*states, *results, *variables.derivatives], key=lambda x: x.reference)


# -- FMI 2.0 -----------------------------------------------------------------------------------------------------------
def describe_2(fmu: ExportedDescription, token: str) -> str:
    """The description for FMI 2.0."""
    variables = fmu.variables
    number = {x.reference: k + 1 for k, x in enumerate(variables.all)}
    common = {
        "modelIdentifier": fmu.identifier, "canGetAndSetFMUstate": True, "canSerializeFMUstate": True,
        "providesDirectionalDerivative": fmu.has_jacobian or None,
    }  # fmt: skip
    sources = [_element("SourceFiles", {}, [_element("File", {"name": fmu.source}, indent=3)], 2)]

    def unknown(x: ExportedVariable) -> str:
        values: dict[str, object] = {"index": number[x.reference]}
        known = " ".join(str(number[r]) for r in x.depends_on or ())
        text = f' dependencies="{known}"' if x.depends_on is not None else ""
        return f"      <Unknown{_attributes(values)}{text}/>"

    def initial(x: ExportedVariable) -> str:
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


def _scalar_2(variables: ExportedVariables, x: ExportedVariable, number: Mapping[int, int]) -> str:
    outside = {
        "name": _shown(variables, x), "valueReference": x.reference, "causality": x.causality,
        "variability": x.variability, "initial": x.initial, "description": x.note or None,
    }  # fmt: skip
    inside = {
        "unit": x.unit, "min": x.low, "max": x.high, "nominal": x.nominal, "start": x.start,
        "derivative": None if x.derivative_of is None else number[x.derivative_of],
    }  # fmt: skip
    return _element("ScalarVariable", outside, [_element("Real", inside, indent=3)], 2)


# -- FMI 3.0 -----------------------------------------------------------------------------------------------------------
def describe_3(fmu: ExportedDescription, token: str) -> str:
    """The description for FMI 3.0."""
    variables = fmu.variables
    common = {
        "modelIdentifier": fmu.identifier, "canGetAndSetFMUState": True, "canSerializeFMUState": True,
        "providesDirectionalDerivatives": fmu.has_jacobian or None,
        "providesAdjointDerivatives": fmu.has_jacobian or None,
    }  # fmt: skip
    everything: Sequence[ExportedVariable] = (*variables.all, *variables.indicators)
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


def _scalar_3(variables: ExportedVariables, x: ExportedVariable) -> str:
    values = {
        "name": _shown(variables, x), "valueReference": x.reference, "causality": x.causality,
        "variability": x.variability, "initial": x.initial, "description": x.note or None, "unit": x.unit,
        "min": x.low, "max": x.high, "nominal": x.nominal, "start": x.start, "derivative": x.derivative_of,
    }  # fmt: skip
    return _element("Float64", values, indent=2)


def _unknown_3(name: str, x: ExportedVariable) -> str:
    known = "" if x.depends_on is None else f' dependencies="{" ".join(map(str, x.depends_on))}"'
    return f'    <{name} valueReference="{x.reference}"{known}/>'


def describe_build(fmu: ExportedDescription) -> str:
    """``sources/buildDescription.xml`` of FMI 3.0."""
    files = [_element("SourceFile", {"name": fmu.source}, indent=3)]
    sets = [_element("SourceFileSet", {"language": "C99", "compilerOptions": SOURCE_OPTIONS}, files, 2)]
    root = _element("fmiBuildDescription", {"fmiVersion": "3.0"}, [
        _element("BuildConfiguration", {"modelIdentifier": fmu.identifier}, sets)
    ], 0)  # fmt: skip
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{root}\n'
