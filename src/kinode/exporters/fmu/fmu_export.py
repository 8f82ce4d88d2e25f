"""``kn.export(system, "fmu", path)``: Model Exchange and Co-Simulation of a system in one file.

The C of the model is that of ``exporters/c_code``; the files in ``c/`` give it the functions of the standard, and
``fmu_config.h`` says what they (``c/fmu_core.h``) need to know of one model.  Which states and inputs derivatives and
outputs depend on is read off the operations of their programs.  The archive has its files in order of their names,
without dates, so that equal contents are equal bytes.
"""

from __future__ import annotations

import io
import math
import warnings
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array, Scalar
from kinode.algebra.trace import Traced, needed
from kinode.dynamics.compile import find_compiled
from kinode.dynamics.compiled_system import Dynamics
from kinode.dynamics.reactions.sharing_pattern import values_kernel
from kinode.errors import ArgumentError, Error, ExportWarning, caller_depth
from kinode.exporters.c_code.method_choice import choose_options, compile_for_export, refuse_functions
from kinode.exporters.c_code.model_source import CModel, ModelSource
from kinode.exporters.fmu.model_description import (
    FACES,
    ExportedVariables,
    FmuModel,
    ReferenceRanges,
    describe_2,
    describe_3,
    describe_build,
    find_exponents,
    find_token,
)
from kinode.exporters.fmu.shared_libraries import compile_libraries, has_zig, read_platforms
from kinode.exporters.variables import Variable, Variables, list_variables
from kinode.expressions.dimensions import DIMENSIONLESS
from kinode.expressions.units import DIMENSIONS
from kinode.kernels.kernel_options import Kernel
from kinode.kernels.tree_size import is_large
from kinode.model.system import System
from kinode.ode.ode_arguments import RTOL
from kinode.tasks.simulate import simulate

VERSIONS = {"2.0": describe_2, "3.0": describe_3}
SIZING_SPAN, SIZING_SAMPLES = 1.0, 101
"""Seconds and samples of the run that tells how large states become."""
LEAST_NOMINAL = 1e-9
"""A state that stays smaller has no typical size."""
FROZEN_NOTE = "(The initial state does not follow it: set the states, too.)"
SHIMS = ("fmu_core.h", "fmu_face.h", "fmu_memory.h")


def write_fmu(system: System, options: Mapping[str, Any]) -> bytes:
    """The FMU of a system; what it cannot hold is refused by name."""
    version = options.get("version", "2.0")
    if version not in VERSIONS:
        raise ArgumentError(f'version: "2.0" or "3.0" is expected, not {version!r}')
    platforms = read_platforms(options.get("platforms"))
    doors = "an FMU, which an FMU cannot hold; let the importing program connect the two"
    refuse_functions(find_compiled(system), "an FMU", doors)
    fmu = make_model(compile_for_export(system), options)
    sources, descriptions, _ = make_parts(fmu, version)
    if options.get("platforms") is None and not has_zig():
        held = f"a library for {platforms[0].name} alone" if platforms else "sources alone: there is no C compiler here"
        message = f"the FMU holds {held}; pip install 'kinode[fmu]' brings a compiler for Linux, Windows and macOS"
        warnings.warn(message, ExportWarning, stacklevel=caller_depth())
    libraries = compile_libraries(
        sources, FACES[version], fmu.model.name, platforms, version, options.get("optimization", "-O2"),
        host_compiler=options.get("platforms") == "host",
    )  # fmt: skip
    return pack_parts(sources, descriptions, libraries)


def make_model(dynamics: Dynamics, options: Mapping[str, Any]) -> FmuModel:
    """The C of a compiled system and its variables."""
    defaults, topology = dynamics.system.run_defaults, dynamics.topology
    listed = list_variables(dynamics, options.get("outputs"), options.get("inputs"))
    chosen = choose_options(dynamics, *(options.get(name) for name in ("method", "step", "rtol", "atol")))
    model = ModelSource(dynamics, tuple(x.name for x in listed.outputs), True, chosen).write()
    variables = number_variables(dynamics, listed, model, find_sizes(dynamics, listed.start))
    until = defaults.get("until")
    return FmuModel(
        dynamics.system.name, model, with_dependencies(variables, *find_dependencies(dynamics, variables)),
        len(topology.layout.inputs), bool(topology.constrained or topology.layout.quaternions), _left_out(dynamics),
        float(defaults.get("t0") or 0.0), None if until is None else float(until),
        float(options.get("rtol") or defaults.get("rtol") or RTOL),
    )  # fmt: skip


def _left_out(dynamics: Dynamics) -> tuple[str, ...]:
    """Joints and constraints of which some equations are left out, since they follow from the others."""
    if not dynamics.topology.constrained:
        return ()
    names = (name for k, (name, _) in enumerate(dynamics.loops.names) if k not in dynamics.closure.rows)
    return tuple(dict.fromkeys(names))


def number_variables(dynamics: Dynamics, listed: Variables, model: CModel, sizes: Array) -> ExportedVariables:
    """The variables with value references, and those that an FMU has besides; ``sizes`` are those of states."""
    n, names = len(listed.states), dynamics.topology.inputs
    counts = (1, n, n, len(listed.discrete), len(listed.parameters), len(names), len(listed.outputs), model.n_events)
    ranges = ReferenceRanges(*np.cumsum(counts).tolist())
    initial = "approx" if model.fixed else "exact"
    states = [
        replace(x, reference=ranges.state + k, initial=initial, nominal=_nominal(float(sizes[k])))
        for k, x in enumerate(listed.states)
    ]
    return ExportedVariables(
        listed.start, tuple(states), _numbered(listed.discrete, ranges.discrete),
        _numbered([_parameter(x, model) for x in listed.parameters], ranges.parameter),
        tuple(replace(x, reference=ranges.input + names.index(x.name)) for x in listed.inputs),
        _numbered(listed.outputs, ranges.output), ranges,
        Variable("time", "s", note="time", causality="independent", initial=None),
        _numbered([_derivative(x) for x in states], ranges.derivative),
        _numbered([Variable(f"event_indicators[{k + 1}]") for k in range(model.n_events)], ranges.indicator),
    )  # fmt: skip


def _numbered(variables: Sequence[Variable], first: int) -> tuple[Variable, ...]:
    return tuple(replace(x, reference=first + k) for k, x in enumerate(variables))


def _parameter(x: Variable, model: CModel) -> Variable:
    note = " ".join(text for text in (x.note, FROZEN_NOTE if x.name in model.frozen else "") if text)
    return replace(x, note=note, variability="fixed" if x.name in model.fixed else "tunable")


def _nominal(size: float) -> float | None:
    """A typical size of a state as a power of ten; importers scale their tolerances by it."""
    if not LEAST_NOMINAL < size < 1.0 / LEAST_NOMINAL:
        return None
    power = round(math.log10(size))
    return None if power == 0 else float(f"1e{power}")


def _derivative(state: Variable) -> Variable:
    unit = {"rad": "rad/s", "rad/s": "rad/s^2"}.get(state.unit) or _per_second(state.unit)
    return Variable(f"der({state.name})", unit, derivative_of=state.reference)


def _per_second(unit: str) -> str:
    """The SI unit of the rate of a quantity."""
    rate = (find_exponents(unit) if unit else DIMENSIONLESS) / DIMENSIONS["time"].dimension
    text = rate.unit
    return "" if text == "1" else text


def with_dependencies(variables: ExportedVariables, of_rates: Sequence[frozenset[int]] | None,
                      of_outputs: Sequence[frozenset[int]] | None) -> ExportedVariables:  # fmt: skip
    """The same variables with what derivatives and outputs depend on, as value references."""
    exposed = {x.reference for x in (*variables.states, *variables.inputs)}

    def add(targets: Sequence[Variable], each: Sequence[frozenset[int]] | None) -> tuple[Variable, ...]:
        if each is None:
            return tuple(targets)
        return tuple(
            replace(x, depends_on=tuple(sorted(known & exposed))) for x, known in zip(targets, each, strict=True)
        )

    return replace(
        variables, derivatives=add(variables.derivatives, of_rates), outputs=add(variables.outputs, of_outputs)
    )


def make_parts(fmu: FmuModel, version: str) -> tuple[dict[str, str], dict[str, str], str]:
    """The sources of the FMU of one version by name, its descriptions by path, and its token."""
    model, describe = fmu.model, VERSIONS[version]
    sources = {name: _read_shim(name) for name in (FACES[version], *SHIMS)}
    sources |= {f"{model.name}.h": model.header, f"{model.name}.c": model.source}
    token = find_token([version, *sources.values(), describe(fmu, ""), write_config(fmu, "")])
    sources["fmu_config.h"] = write_config(fmu, token)
    descriptions = {"modelDescription.xml": describe(fmu, token)}
    if version == "3.0":
        descriptions["sources/buildDescription.xml"] = describe_build(fmu)
    return sources, descriptions, token


def pack_parts(sources: Mapping[str, str], descriptions: Mapping[str, str], libraries: Mapping[str, bytes]) -> bytes:
    """The archive; ``libraries`` by their path in it."""
    texts = {**{f"sources/{name}": text for name, text in sources.items()}, **descriptions}
    return pack({path: text.encode() for path, text in texts.items()} | dict(libraries))


def _read_shim(name: str) -> str:
    return files("kinode.exporters.fmu").joinpath("c", name).read_text(encoding="utf-8")


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


MOST_NAMED = 3  # closures of loops in a message
DRIFT_BOUND = 1e-8
"""Drift of loops in rad or m, or of the length of quaternions, past which an FMU asks for an event to project."""


def write_config(fmu: FmuModel, token: str) -> str:
    """The text of the header."""
    model, variables, ranges = fmu.model, fmu.variables, fmu.variables.ranges
    n_outputs, n_parameters = len(variables.outputs), len(variables.parameters)
    numbers: Mapping[str, int | str] = {
        "MODEL": f"{model.name}_model",
        "N_CONTINUOUS": len(variables.states), "N_DISCRETE": len(variables.discrete), "N_PARAMETERS": n_parameters,
        "N_INPUTS": fmu.n_inputs, "N_OUTPUTS": n_outputs, "N_EVENTS": model.n_events,
        "HAS_JACOBIAN": int(model.has_jacobian), "HAS_DRIFT": int(fmu.has_drift), "DRIFT_BOUND": repr(DRIFT_BOUND),
        "REF_STATE": ranges.state, "REF_DERIVATIVE": ranges.derivative, "REF_DISCRETE": ranges.discrete,
        "REF_PARAMETER": ranges.parameter, "REF_INPUT": ranges.input, "REF_OUTPUT": ranges.output,
        "REF_INDICATOR": ranges.indicator, "REF_END": ranges.end, "FMU_GUID": f'"{token}"',
        "LOOP_HINT": f'"{_hint(fmu.chosen_in)}"',
    }  # fmt: skip
    fixed = ", ".join(str(int(x.variability == "fixed")) for x in variables.parameters) or "0"
    nominals = ", ".join(repr(x.nominal or 1.0) for x in variables.states) or "1.0"
    lines = [
        "/* What fmu_core.h needs to know of the model. */",
        f'#include "{model.name}.c"',
        f"#define NAME(word) {model.name}_##word",
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
        outputs = (
            traced.trace(values_kernel(dynamics, tuple(x.name for x in variables.outputs))) if variables.outputs else []
        )
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
