"""``kn.export(system, "c", folder)``: a library in C99 with an example, for firmware and hardware in the loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from kinode.dynamics.compile import find_compiled
from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import ArgumentError
from kinode.exporters.c_code.method_choice import choose_options, compile_for_export, refuse_functions
from kinode.exporters.c_code.model_source import CModel, ModelSource, comment, enumerate_names
from kinode.exporters.variables import Variable, Variables, list_variables
from kinode.jit.c.c_numbers import real
from kinode.model.system import System

EXAMPLE_SPAN, EXAMPLE_ROWS = 10.0, 100
"""Length in s of the example where the model gives none, and rows that it prints."""
INDICES = {
    "Parameters": ("P", "m->p"), "Inputs": ("I", "m->inputs, held during {name}_advance"),
    "States": ("Y", "{name}_state, with their start"), "Outputs": ("O", "{name}_outputs"),
}  # fmt: skip
"""By role what the names of indices begin with, and where the numbers are."""


def write_library(system: System, options: Mapping[str, Any]) -> dict[str, str]:
    """The files of the library by name; what C cannot hold is refused by name."""
    refuse_functions(find_compiled(system), "C", "an FMU, code of others, which C cannot hold")
    dynamics = compile_for_export(system)
    outputs: Sequence[str] | None = options.get("outputs")
    if outputs is None:
        outputs = [*(c.name for c in dynamics.coordinates), *(["system.energy"] * bool(system.bodies))]
    listed = list_variables(dynamics, outputs, options.get("inputs"))
    jacobian, results = bool(options.get("jacobian", False)), tuple(x.name for x in listed.results)
    chosen = choose_options(dynamics, *(options.get(name) for name in ("method", "step", "rtol", "atol")))
    source = ModelSource(dynamics, results, jacobian, chosen)
    if jacobian and not source.has_jacobian:
        raise ArgumentError("jacobian: the derivatives of a system of this size are not written as C")
    tables = _list_entries(dynamics, listed, source)
    name = source.name
    indices = (
        enumerate_names(name, letter, f"{role}: {where.format(name=name)}", tables[role])
        for role, (letter, where) in INDICES.items()
    )
    model = source.write("\n".join(indices))
    return {
        f"{name}.h": model.header, f"{name}.c": model.source,
        "main.c": _write_example(system, name, tables["Outputs"]), "CMakeLists.txt": _write_cmake(name),
        "README.md": _write_readme(system, model, tables),
    }  # fmt: skip


Entries = Mapping[str, Sequence[Variable]]
"""The numbers of the library by the word for their role."""


def _list_entries(dynamics: Dynamics, listed: Variables, source: ModelSource) -> Entries:
    given = {x.name: x for x in listed.inputs}
    return {
        "Parameters": [_with_note(x, _acting(source, x.name)) for x in listed.parameters],
        "Inputs": [given.get(x) or Variable(x, note="keeps its value") for x in dynamics.topology.inputs],
        "Outputs": [Variable(x.name, x.unit, note=x.note) for x in listed.results],
        "States": [*listed.states, *listed.discrete],
    }


def _acting(source: ModelSource, parameter: str) -> str:
    """When a change of a parameter acts, where that is not at once."""
    frozen = parameter in source.frozen
    return "the start does not follow it" if frozen else "acts at init" if parameter in source.fixed else ""


def _with_note(x: Variable, note: str) -> Variable:
    return replace(x, note="; ".join(text for text in (x.note, note) if text))


def _write_example(system: System, name: str, outputs: Sequence[Variable]) -> str:
    """A program that simulates the model and prints a table."""
    upper, t0 = name.upper(), float(system.run_defaults.get("t0") or 0.0)
    heading = comment(",".join(["t", *(entry.name for entry in outputs)])).replace("%", "%%").replace('"', "'")
    span = (float(system.run_defaults.get("until") or t0 + EXAMPLE_SPAN) - t0) / EXAMPLE_ROWS
    out = f"double out[{upper}_N_OUTPUTS > 0 ? {upper}_N_OUTPUTS : 1];"
    return f"""/* Simulates {comment(system.name)} and prints its outputs, separated by commas. */
#include <stdio.h>

#include "{name}.h"

static {name}_model model; /* about 8 bytes for each of its numbers: not for a small stack */

int main(void)
{{
    {out}
    int status;
    {name}_defaults(&model);
    status = {name}_init(&model, {real(t0)});
    printf("{heading}\\n");
    for (int k = 0; status == 0 && k <= {EXAMPLE_ROWS}; ++k) {{
        {name}_outputs(&model, out);
        printf("%.17g", {name}_time(&model));
        for (int i = 0; i < {upper}_N_OUTPUTS; ++i) printf(",%.17g", out[i]);
        printf("\\n");
        if (k < {EXAMPLE_ROWS}) status = {name}_advance(&model, {real(t0)} + {real(span)} * (k + 1));
    }}
    if (status) fprintf(stderr, "t = %g s: %s\\n", {name}_time(&model), {name}_status_text(status));
    return status;
}}
"""


def _write_cmake(name: str) -> str:
    return f"""cmake_minimum_required(VERSION 3.10)
project({name} C)
set(CMAKE_C_STANDARD 99)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

add_library({name} STATIC {name}.c)
target_include_directories({name} PUBLIC ${{CMAKE_CURRENT_SOURCE_DIR}})
if(NOT MSVC)
  target_compile_options({name} PRIVATE -Wall -Wextra)
  target_link_libraries({name} PUBLIC m)
endif()

add_executable({name}_example main.c)
target_link_libraries({name}_example {name})
"""


def _write_readme(system: System, model: CModel, tables: Entries) -> str:
    """What the folder is, and how it is used."""
    name, frozen = model.name, [x.name for x in tables["Parameters"] if x.name in model.frozen]
    parts = [
        f"# {system.name} as C99",
        f"Written by kinode. `{name}.h` and `{name}.c` are the model with its integrator and its events.\n"
        "They need `math.h` alone; they take no heap and have no global variables.",
        f"""```sh
cc -std=c99 -O2 -I. {name}.c main.c -lm -o {name} && ./{name}
cmake -B build && cmake --build build
```""",
        f"""```c
#include "{name}.h"

static {name}_model model;

{name}_defaults(&model);
int status = {name}_init(&model, 0.0);
while (status == 0) status = {name}_step(&model, 1e-3);
```""",
        *(_table(role, f"{name.upper()}_{INDICES[role][0]}_...", entries) for role, entries in tables.items()),
        "A parameter that acts at init moves the start or the times at which laws jump: set it before\n"
        f"`{name}_init`. The others may be changed between two steps.",
    ]  # fmt: skip
    if frozen:
        parts.append(
            f"The start does not follow these parameters, since it is not computed in C: {', '.join(frozen)}.\n"
            "Export the model again with other values of them, or set the state after `init`."
        )
    return "\n\n".join(part for part in parts if part) + "\n"


def _table(title: str, label: str, entries: Sequence[Variable]) -> str:
    """A table in Markdown; nothing where there are no entries."""
    if not entries:
        return ""
    rows = [f"| `{entry.name}` | {entry.unit or '1'} | {_value(entry)} | {_bar(entry.note)} |" for entry in entries]
    return "\n".join([f"## {title} (`{label}`)\n", "| name | unit | value | |", "|---|---|---|---|", *rows])


def _value(entry: Variable) -> str:
    return "" if entry.value is None else f"{entry.value:.9g}"


def _bar(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
