"""``kn.export(system, "fmu", path)``: Model Exchange and Co-Simulation of a system in one file.

The C of the model is that of ``exporters/c_code``; the files in ``c/`` give it the functions of the standard.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compile import find_compiled
from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import ArgumentError, Error, ExportWarning, ModelError, caller_depth
from kinode.exporters.c_code.method_choice import compile_for_export
from kinode.exporters.c_code.model_source import CModel, write_model
from kinode.exporters.fmu.fmu_config import ModelFacts, write_config
from kinode.exporters.fmu.fmu_dependencies import find_dependencies
from kinode.exporters.fmu.fmu_packing import pack
from kinode.exporters.fmu.fmu_variables import (
    ExportedVariables,
    VariableSource,
    find_variables,
    with_dependencies,
)
from kinode.exporters.fmu.model_description import (
    ExportedDescription,
    describe_2,
    describe_3,
    describe_build,
    find_token,
)
from kinode.exporters.fmu.shared_libraries import compile_libraries, has_zig, read_platforms
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
