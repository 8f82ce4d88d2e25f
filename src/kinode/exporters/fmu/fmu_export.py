"""``kn.export(system, "fmu", path)``: Model Exchange and Co-Simulation of a system in one file.

The C of the model is that of ``exporters/c_code``; the files in ``c/`` give it the functions of the standard, and
``fmu_config.h`` says what they (``c/fmu_core.h``) need to know of one model.  Which states and inputs derivatives and
outputs depend on is read off the operations of their programs.  The archive has its files in order of their names,
without dates, so that equal contents are equal bytes.
"""

from __future__ import annotations

import io
import warnings
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array, Scalar
from kinode.algebra.trace import Traced, needed
from kinode.dynamics.compile import find_compiled
from kinode.dynamics.compiled_system import Dynamics
from kinode.dynamics.reactions.sharing_pattern import values_kernel
from kinode.errors import ArgumentError, Error, ExportWarning, ModelError, caller_depth
from kinode.exporters.c_code.method_choice import compile_for_export
from kinode.exporters.c_code.model_source import CModel, write_model
from kinode.exporters.fmu.model_description import (
    ExportedDescription,
    describe_2,
    describe_3,
    describe_build,
    find_token,
)
from kinode.exporters.fmu.shared_libraries import compile_libraries, has_zig, read_platforms
from kinode.exporters.variables import ExportedVariables, VariableSource, find_variables, with_dependencies
from kinode.kernels.kernel_options import Kernel
from kinode.kernels.tree_size import is_large
from kinode.model.system import System
from kinode.ode.ode_arguments import RTOL
from kinode.tasks.simulate import simulate
from kinode.tasks.start_argument import find_start

VERSIONS = {"2.0": describe_2, "3.0": describe_3}
SIZING_SPAN, SIZING_SAMPLES = 1.0, 101
"""Seconds and samples of the run that tells how large states become."""
FACES = {"2.0": "fmi2.c", "3.0": "fmi3.c"}
SHIMS = ("fmu_core.h", "fmu_face.h", "fmu_memory.h")


def write_fmu(system: System, options: Mapping[str, Any]) -> bytes:
    """The FMU of a system; what it cannot hold is refused by name."""
    version = options.get("version", "2.0")
    if version not in VERSIONS:
        raise ArgumentError(f'version: "2.0" or "3.0" is expected, not {version!r}')
    platforms = read_platforms(options.get("platforms"))
    _check_functions(find_compiled(system))
    dynamics = compile_for_export(system)
    parts = make_parts(make_model(dynamics, options), version)
    if options.get("platforms") is None and not has_zig():
        held = f"a library for {platforms[0].name} alone" if platforms else "sources alone: there is no C compiler here"
        message = f"the FMU holds {held}; pip install 'kinode[fmu]' brings a compiler for Linux, Windows and macOS"
        warnings.warn(message, ExportWarning, stacklevel=caller_depth())
    identifier = parts.description.identifier
    libraries = compile_libraries(
        parts.sources, FACES[version], identifier, platforms, version, options.get("optimization", "-O2"),
        host_compiler=options.get("platforms") == "host",
    )  # fmt: skip
    return pack_parts(parts, version, libraries)


@dataclass(frozen=True, eq=False)
class FmuModel:
    """What FMUs of a system have in common, of whatever version."""

    model: CModel
    variables: ExportedVariables
    facts: ModelFacts
    name: str
    span: tuple[float, float | None]
    """Start of the model's own run, and its end if it has one."""
    rtol: float


@dataclass(frozen=True, eq=False)
class FmuParts:
    """The sources of an FMU and what its description says."""

    sources: Mapping[str, str]
    description: ExportedDescription
    token: str


def make_model(dynamics: Dynamics, options: Mapping[str, Any]) -> FmuModel:
    """The C of a compiled system and its variables."""
    defaults = dynamics.system.run_defaults
    chosen = {name: options[name] for name in ("method", "step", "rtol", "atol") if options.get(name) is not None}
    source = _source(dynamics, options)
    first = find_variables(source)  # names are checked before any C is written
    model = write_model(dynamics, outputs=first.quantities, jacobian=True, **chosen)
    fixed = frozenset(record.name for record in model.parameters if record.fixed)
    frozen = frozenset(record.name for record in model.parameters if record.frozen)
    sizes = find_sizes(dynamics, source.start)
    source = replace(
        source, fixed=fixed, frozen=frozen, started_by=bool(fixed), n_indicators=model.n_events, sizes=sizes
    )
    variables = find_variables(source)
    variables = with_dependencies(variables, *find_dependencies(dynamics, variables))
    layout, until = dynamics.topology.layout, defaults.get("until")
    facts = ModelFacts(
        model.name, f"{model.name}.c", len(variables.discrete), len(layout.inputs), model.n_events,
        bool(dynamics.topology.constrained or layout.quaternions), model.has_jacobian, _left_out(dynamics),
    )  # fmt: skip
    span = (float(defaults.get("t0") or 0.0), None if until is None else float(until))
    rtol = float(chosen.get("rtol") or defaults.get("rtol") or RTOL)
    return FmuModel(model, variables, facts, dynamics.system.name, span, rtol)


def _left_out(dynamics: Dynamics) -> tuple[str, ...]:
    """Joints and constraints of which some equations are left out, since they follow from the others."""
    if not dynamics.topology.constrained:
        return ()
    names = (name for k, (name, _) in enumerate(dynamics.loops.names) if k not in dynamics.closure.rows)
    return tuple(dict.fromkeys(names))


def make_parts(fmu: FmuModel, version: str) -> FmuParts:
    """Sources and description of the FMU of one version."""
    model, variables, facts = fmu.model, fmu.variables, fmu.facts
    description = ExportedDescription(
        fmu.name, model.name, "", variables, *fmu.span, None, fmu.rtol, FACES[version], model.has_jacobian
    )
    shims = {name: _read_shim(name) for name in (FACES[version], *SHIMS)}
    sources = {**shims, f"{model.name}.h": model.header, f"{model.name}.c": model.source}
    token = find_token(
        [version, *sources.values(), VERSIONS[version](description, ""), write_config(facts, variables, "")]
    )
    return FmuParts({**sources, "fmu_config.h": write_config(facts, variables, token)}, description, token)


def pack_parts(parts: FmuParts, version: str, libraries: Mapping[str, bytes]) -> bytes:
    """The archive; ``libraries`` by their path in it."""
    contents: dict[str, bytes] = {f"sources/{name}": text.encode() for name, text in parts.sources.items()}
    contents["modelDescription.xml"] = VERSIONS[version](parts.description, parts.token).encode()
    if version == "3.0":
        contents["sources/buildDescription.xml"] = describe_build(parts.description).encode()
    return pack({**contents, **libraries})


def _read_shim(name: str) -> str:
    return files("kinode.exporters.fmu").joinpath("c", name).read_text(encoding="utf-8")


def _source(dynamics: Dynamics, options: Mapping[str, Any]) -> VariableSource:
    own, t0 = dynamics.arguments, float(dynamics.system.run_defaults.get("t0") or 0.0)
    start = find_start(dynamics, None, t0, own.parameters, own.inputs).y
    return VariableSource(
        dynamics,
        options.get("outputs"),
        options.get("inputs"),
        start,
        frozenset(),
        frozenset(),
        0,
        False,
        np.zeros(len(start)),
    )


def find_sizes(dynamics: Dynamics, start: Array) -> Array:
    """How large each state becomes in a short run; at the start, where the model does not run by itself."""
    defaults = dynamics.system.run_defaults
    t0 = float(defaults.get("t0") or 0.0)
    until = t0 + min(SIZING_SPAN, float(defaults.get("until") or t0 + SIZING_SPAN) - t0)
    try:
        run = simulate(dynamics, until, samples=SIZING_SAMPLES, progress=False)
    except Error:
        sizes: Array = np.abs(start)
        return sizes
    return np.array([float(np.abs(run[c.name]).max()) for c in dynamics.coordinates])


def _check_functions(dynamics: Dynamics) -> None:
    """Refuse components that call functions in Python, or code of others: neither is where the FMU runs."""
    for element in dynamics.system.elements.values():
        if element.doors:
            message = "it is an FMU, which an FMU cannot hold; let the importing program connect the two"
            raise ModelError(message, component=element.name)
    events = dynamics.topology.events
    for entry in () if events is None else events.samplers:
        if entry.sampler.call is not None:
            message = f"it calls {entry.sampler.what}, which an FMU cannot hold; write it as a law, or as a component"
            raise ModelError(message, component=entry.owner)


MOST_NAMED = 3  # closures of loops in a message
DRIFT_BOUND = 1e-8
"""Drift of loops in rad or m, or of the length of quaternions, past which an FMU asks for an event to project."""


@dataclass(frozen=True)
class ModelFacts:
    """What the shims need to know of the C of a model."""

    prefix: str
    """The beginning of its function names."""
    source: str
    """The name of its source file."""
    n_discrete: int
    n_inputs: int
    n_events: int
    has_drift: bool
    has_jacobian: bool
    chosen_in: tuple[str, ...] = ()
    """Closures of loops of which some constraint equations are left out, since they follow from the others."""


def write_config(facts: ModelFacts, variables: ExportedVariables, token: str) -> str:
    """The text of the header."""
    ranges = variables.ranges
    n_outputs, n_parameters = len(variables.outputs), len(variables.parameters)
    numbers: Mapping[str, int | str] = {
        "MODEL": f"{facts.prefix}_model",
        "N_CONTINUOUS": len(variables.states), "N_DISCRETE": facts.n_discrete, "N_PARAMETERS": n_parameters,
        "N_INPUTS": facts.n_inputs, "N_OUTPUTS": n_outputs, "N_EVENTS": facts.n_events,
        "HAS_JACOBIAN": int(facts.has_jacobian), "HAS_DRIFT": int(facts.has_drift), "DRIFT_BOUND": repr(DRIFT_BOUND),
        "REF_STATE": ranges.state, "REF_DERIVATIVE": ranges.derivative, "REF_DISCRETE": ranges.discrete,
        "REF_PARAMETER": ranges.parameter, "REF_INPUT": ranges.input, "REF_OUTPUT": ranges.output,
        "REF_INDICATOR": ranges.indicator, "REF_END": ranges.end, "FMU_GUID": f'"{token}"',
        "LOOP_HINT": f'"{_hint(facts.chosen_in)}"',
    }  # fmt: skip
    fixed = ", ".join(str(int(x.variability == "fixed")) for x in variables.parameters) or "0"
    nominals = ", ".join(repr(x.nominal or 1.0) for x in variables.states) or "1.0"
    lines = [
        "/* What fmu_core.h needs to know of the model. */",
        f'#include "{facts.source}"',
        f"#define NAME(word) {facts.prefix}_##word",
        *(f"#define {name} {value}" for name, value in numbers.items()),
        f"#define FMU_NOMINALS {{{nominals}}}",
        f"static const unsigned char fmu_fixed[] = {{{fixed}}};",
        "#define IS_FIXED(k) (fmu_fixed[k])",
    ]
    return "\n".join(lines) + "\n"


def _hint(names: tuple[str, ...]) -> str:
    """What may be wrong where a run with such loops cannot go on."""
    if not names:
        return ""
    shown = ", ".join(names[:MOST_NAMED]) + (" ..." if len(names) > MOST_NAMED else "")
    return f"; the equations of the loops at {shown} that were chosen at export may have lost their rank there"


def find_dependencies(
    dynamics: Dynamics, variables: ExportedVariables
) -> tuple[list[frozenset[int]] | None, list[frozenset[int]] | None]:
    """Value references that each derivative, and each output, depends on; None for systems whose code is loops."""
    if is_large(dynamics.topology):
        return None, None
    places = _places(dynamics, variables)
    with dynamics.kernels.tracing() as find_traced:
        traced = find_traced()
        rates = traced.trace(Kernel("rate"))[: len(variables.states)]
        outputs = traced.trace(values_kernel(dynamics, variables.quantities)) if variables.quantities else []
        return _reached(rates, places), _reached(outputs, places)


def _places(dynamics: Dynamics, variables: ExportedVariables) -> Mapping[tuple[str, int], int]:
    """The value reference of each entry of the arguments of a kernel that is a continuous state or an input."""
    layout, ranges = dynamics.topology.layout, variables.ranges
    places, n = {}, len(variables.states)
    for role, where in layout.role_slices.items():
        for k in range(where.start, min(where.stop, n)):
            places[role, k - where.start] = ranges.state + k
    return places | {("inputs", k): ranges.input + k for k in range(len(layout.inputs))}


def _reached(results: Sequence[Scalar], places: Mapping[tuple[str, int], int]) -> list[frozenset[int]]:
    """The value references that each result depends on: sets of bits, passed from operation to operation."""
    bits: dict[int, int] = {}
    for node in needed(results):
        if node.op == "input":
            place = places.get((str(node.args[0]), int(node.args[1])))
            bits[node.index] = 0 if place is None else 1 << place
        else:
            found = 0
            for argument in node.args:
                if type(argument) is Traced:
                    found |= bits[argument.index]
            bits[node.index] = found
    return [_members(bits[x.index] if type(x) is Traced else 0) for x in results]


def _members(bits: int) -> frozenset[int]:
    return frozenset(k for k in range(bits.bit_length()) if bits >> k & 1)


EARLIEST = (1980, 1, 1, 0, 0, 0)
"""The date of every file: the first that archives know."""


def pack(files: Mapping[str, bytes]) -> bytes:
    """The archive of files by their paths."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path in sorted(files, key=lambda path: (path != "modelDescription.xml", path)):
            entry = zipfile.ZipInfo(path, EARLIEST)
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3
            entry.external_attr = (0o755 if path.startswith("binaries/") else 0o644) << 16
            archive.writestr(entry, files[path])
    return stream.getvalue()
