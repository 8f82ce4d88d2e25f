"""``kn.export(system, "c", folder)``: a library in C99 with an example, for firmware and hardware in the loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kinode.dynamics.compile import find_compiled
from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import ArgumentError, ModelError
from kinode.exporters.c_code.breaks import find_break_plan
from kinode.exporters.c_code.method_choice import compile_for_export
from kinode.exporters.c_code.model_source import NamedIndex, comment, enumerate_names, find_parameters, write_model
from kinode.exporters.c_code.start_plan import find_start_plan
from kinode.exporters.variables import ExportedVariable, ExportedVariables, VariableSource, find_variables
from kinode.jit.c.c_numbers import file_identifier, real
from kinode.model.base.fields import unknown
from kinode.model.system import System
from kinode.tasks.start_argument import find_start

EXAMPLE_SPAN, EXAMPLE_ROWS = 10.0, 100
"""Length in s of the example where the model gives none, and rows that it prints."""


def write_library(system: System, options: Mapping[str, Any]) -> dict[str, str]:
    """The files of the library by name; what C cannot hold is refused by name."""
    refuse_functions(find_compiled(system))
    dynamics = compile_for_export(system)
    return _LibraryText(dynamics, options).files()


def refuse_functions(dynamics: Dynamics) -> None:
    """Refuse components that call functions in Python, or code of others."""
    for element in dynamics.system.elements.values():
        if element.doors:
            raise ModelError("it is an FMU, code of others, which C cannot hold", component=element.name)
    events = dynamics.topology.events
    for entry in () if events is None else events.samplers:
        if entry.sampler.call is not None:
            message = f"it calls {entry.sampler.what}, which C cannot hold; write it as a law, or as a component"
            raise ModelError(message, component=entry.owner)


@dataclass(frozen=True, eq=False)
class _Names:
    """The variables of the library by role."""

    states: tuple[NamedIndex, ...]
    parameters: tuple[NamedIndex, ...]
    inputs: tuple[NamedIndex, ...]
    outputs: tuple[NamedIndex, ...]


class _LibraryText:
    """The texts of one library."""

    def __init__(self, dynamics: Dynamics, options: Mapping[str, Any]) -> None:
        self.dynamics, self.system = dynamics, dynamics.system
        defaults = self.system.run_defaults
        self.t0 = float(defaults.get("t0") or 0.0)
        self.until = float(defaults.get("until") or self.t0 + EXAMPLE_SPAN)
        self.variables = self._find_variables(options)
        chosen = {name: options[name] for name in ("method", "step", "rtol", "atol") if options.get(name) is not None}
        jacobian = bool(options.get("jacobian", False))
        outputs = tuple(x.name for x in self.variables.results)
        start = find_start_plan(dynamics)
        self.parameters = find_parameters(dynamics, find_break_plan(dynamics), start)
        self.names = self._find_names()
        names = self._enumerations(file_identifier(self.system.name))
        self.model = write_model(dynamics, outputs=outputs, jacobian=jacobian, names=names, start=start, **chosen)
        if jacobian and not self.model.has_jacobian:
            raise ArgumentError("jacobian: the derivatives of a system of this size are not written as C")

    def _find_variables(self, options: Mapping[str, Any]) -> ExportedVariables:
        """Names, units and values; wrong names are refused."""
        start = find_start(
            self.dynamics, None, self.t0, self.dynamics.arguments.parameters, self.dynamics.arguments.inputs
        )
        outputs: Sequence[str] | None = options.get("outputs")
        for text in options.get("inputs") or ():
            if text not in self.dynamics.topology.inputs:
                raise ArgumentError(unknown("inputs: no input is called", text, self.dynamics.topology.inputs))
        if outputs is None:
            outputs = [*(c.name for c in self.dynamics.coordinates), *(["system.energy"] * bool(self.system.bodies))]
        source = VariableSource(
            self.dynamics, outputs, options.get("inputs"), start.y, frozenset(), frozenset(), 0, False, start.y
        )  # fmt: skip
        return find_variables(source)

    def _find_names(self) -> _Names:
        v, notes = self.variables, {}
        for record in self.parameters:
            words = "the start does not follow it" if record.frozen else "acts at init" if record.fixed else ""
            notes[record.name] = words
        given = {x.name: x for x in v.inputs}
        return _Names(
            tuple(_index(x) for x in (*v.states, *v.discrete)),
            tuple(_index(x, notes[x.name]) for x in v.parameters),
            tuple(
                _index(given[name]) if name in given else NamedIndex(name, note="keeps its value")
                for name in self.dynamics.topology.inputs
            ),
            tuple(NamedIndex(x.name, x.unit, note=x.note) for x in v.results),
        )  # fmt: skip

    def _enumerations(self, name: str) -> str:
        names = self.names
        return "\n".join([
            enumerate_names(name, "P", "Parameters: m->p", names.parameters),
            enumerate_names(name, "I", f"Inputs: m->inputs, held during {name}_advance", names.inputs),
            enumerate_names(name, "Y", f"States: {name}_state, with their start", names.states),
            enumerate_names(name, "O", f"Outputs: {name}_outputs", names.outputs),
        ])  # fmt: skip

    def files(self) -> dict[str, str]:
        """All files by name."""
        name = self.model.name
        return {
            f"{name}.h": self.model.header, f"{name}.c": self.model.source, "main.c": self._example(),
            "CMakeLists.txt": self._cmake(), "README.md": self._readme(),
        }  # fmt: skip

    def _example(self) -> str:
        """A program that simulates the model and prints a table."""
        name, upper = self.model.name, self.model.name.upper()
        heading = comment(",".join(["t", *(entry.name for entry in self.names.outputs)]))
        heading = heading.replace("%", "%%").replace('"', "'")
        span = (self.until - self.t0) / EXAMPLE_ROWS
        out = f"double out[{upper}_N_OUTPUTS > 0 ? {upper}_N_OUTPUTS : 1];"
        return f"""/* Simulates {comment(self.system.name)} and prints its outputs, separated by commas. */
#include <stdio.h>

#include "{name}.h"

static {name}_model model; /* about 8 bytes for each of its numbers: not for a small stack */

int main(void)
{{
    {out}
    int status;
    {name}_defaults(&model);
    status = {name}_init(&model, {real(self.t0)});
    printf("{heading}\\n");
    for (int k = 0; status == 0 && k <= {EXAMPLE_ROWS}; ++k) {{
        {name}_outputs(&model, out);
        printf("%.17g", {name}_time(&model));
        for (int i = 0; i < {upper}_N_OUTPUTS; ++i) printf(",%.17g", out[i]);
        printf("\\n");
        if (k < {EXAMPLE_ROWS}) status = {name}_advance(&model, {real(self.t0)} + {real(span)} * (k + 1));
    }}
    if (status) fprintf(stderr, "t = %g s: %s\\n", {name}_time(&model), {name}_status_text(status));
    return status;
}}
"""

    def _cmake(self) -> str:
        name = self.model.name
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

    def _readme(self) -> str:
        """What the folder is, and how it is used."""
        name, names = self.model.name, self.names
        frozen = [record.name for record in self.parameters if record.frozen]
        parts = [
            f"# {self.system.name} as C99",
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
            _table("Parameters", f"{name.upper()}_P_...", names.parameters),
            _table("Inputs", f"{name.upper()}_I_...", names.inputs),
            _table("Outputs", f"{name.upper()}_O_...", names.outputs),
            _table("States", f"{name.upper()}_Y_...", names.states),
            "A parameter that acts at init moves the start or the times at which laws jump: set it before\n"
            f"`{name}_init`. The others may be changed between two steps.",
        ]  # fmt: skip
        if frozen:
            parts.append(
                f"The start does not follow these parameters, since it is not computed in C: {', '.join(frozen)}.\n"
                "Export the model again with other values of them, or set the state after `init`."
            )
        return "\n\n".join(part for part in parts if part) + "\n"


def _index(x: ExportedVariable, note: str = "") -> NamedIndex:
    notes = "; ".join(text for text in (x.note, note) if text)
    return NamedIndex(x.name, x.unit, x.start, x.low, x.high, notes)


def _table(title: str, label: str, entries: Sequence[NamedIndex]) -> str:
    """A table in Markdown; nothing where there are no entries."""
    if not entries:
        return ""
    rows = [f"| `{entry.name}` | {entry.unit or '1'} | {_value(entry)} | {_bar(entry.note)} |" for entry in entries]
    return "\n".join([f"## {title} (`{label}`)\n", "| name | unit | value | |", "|---|---|---|---|", *rows])


def _value(entry: NamedIndex) -> str:
    return "" if entry.value is None else f"{entry.value:.9g}"


def _bar(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
