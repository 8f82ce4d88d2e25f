"""A compiled system as C99: its kernels, the loops of its integrator, and the functions of ``c/model_runtime.c``.

Kernels and loops are those of machine code, written by the second writer (``jit/c``).  The memory of a run is the
image of a real one (``memory_image.py``).  All that changes is in one structure, without pointers but to itself.  The
header has the functions with comments, the indices of the numbers by name, and for each parameter when a change of it
acts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.dynamics.reactions.sharing_pattern import find_start_pattern, values_kernel
from kinode.dynamics.starts.newton_loop import NOT_SOLVED
from kinode.exporters.c_code import breaks
from kinode.exporters.c_code.breaks import find_break_plan
from kinode.exporters.c_code.memory_image import MemoryImage, take_image, write_copies
from kinode.exporters.c_code.start_loops import CONTRADICTION, TORN
from kinode.exporters.c_code.start_plan import find_start_plan
from kinode.exporters.variables import Variable
from kinode.jit.c.c_loops import CLoopWriter
from kinode.jit.c.c_numbers import file_identifier, identifier, real, rows, write_helpers
from kinode.jit.c.c_programs import CProgramWriter
from kinode.jit.machine_code import ARGUMENTS
from kinode.jit.program import Program
from kinode.kernels.kernel_options import DerivativeOptions, Kernel
from kinode.kernels.rolled.rolled_programs import is_loop_code
from kinode.kernels.tree_size import is_large
from kinode.model.component_store import claim_name
from kinode.ode.compiled_loops import find_source
from kinode.ode.integrate import begin_run
from kinode.ode.kernel_spec import KernelSpec
from kinode.ode.loops import event_triggers, instants, loop_primitives
from kinode.ode.loops.run_codes import Outcome, Pending
from kinode.ode.method_table import METHODS
from kinode.ode.run import LoopRun
from kinode.simulation.run_kernels import DIRECTION
from kinode.simulation.solver import Options, Solver
from kinode.simulation.time_events import find_law_times
from kinode.tasks.start_argument import find_start

START_STATUS = 29
START_FAILED, NETWORK_FAILED, SPEEDS_FAILED = (START_STATUS + code for code in (NOT_SOLVED, CONTRADICTION, TORN))
"""Status of a start whose loops do not close, whose network does not have the initial values that it is given, or whose
exact speeds do not fit together."""


FIND_START = f"""\
        m->start.warm.time[0] = m->run.step.origin;
        const int64_t failed = KN_FIND_START(&m->start);
        if (failed) return {START_STATUS} + (int)failed;"""
"""For parameters, inputs or a time that are not the model's own."""
N_BREAKS = 16
"""Breaks of expressions of time that are known ahead."""
MOST_STEPS = 10**8
"""Steps of one call of ``<name>_advance``, as of one run of ``kn.simulate``: more of them count as endless."""
STATUS_TEXTS = {
    Outcome.NOT_FINITE: "a value is not finite: a law divides by zero or leaves its range",
    Outcome.STEP_TOO_SMALL: "the step became too small: the motion is too abrupt to be followed",
    Outcome.TOO_MANY_STEPS: "too many steps",
    Outcome.LEFT_BRANCH: "a step of fixed length ended too far from the constraints",
    Outcome.MODES_INCONSISTENT: "no modes are consistent: components change without end",
    Outcome.CHATTER: "events follow each other without end",
    Outcome.STALLED: "the simulation stalls: very many steps hardly advance it",
    Outcome.STIFF: "stability bounds the steps; export with the method for stiff systems",
    NETWORK_FAILED: "with these parameters the initial values of the network contradict each other",
    START_FAILED: "with these parameters the loops do not close near the start of the model",
    SPEEDS_FAILED: "with these parameters the given speeds would tear the loops: leave one of them free",
}
SHARED = {word: word for word in ("p", "inputs", "work")}
"""What all kernels of a run share: parameters, inputs, and room for the longest of them, by the last word of a path."""
LOOPS = {
    "KN_HANDLE_INSTANT": instants.handle_instant, "KN_BEGIN": instants.begin,
    "KN_PASS_BREAK": instants.pass_break, "KN_EVALUATE_EVENTS": event_triggers.evaluate,
    "KN_IS_ACTIVE": event_triggers.is_active, "KN_FIND_ACTIVE": event_triggers.find_active,
    "KN_ARM": event_triggers.arm, "KN_MARK_TRIGGERED": event_triggers.mark_triggered,
}  # fmt: skip
"""Loop functions of models with events, by their name in the runtime."""
PLAIN_LOOPS = {
    "KN_BEGIN_PLAIN": instants.begin_plain, "KN_START": loop_primitives.start, "KN_RATE": loop_primitives.rate,
    "KN_RUN_KERNEL": loop_primitives.run_kernel, "KN_LAW_TIME": loop_primitives.law_time,
    "KN_PROJECT": loop_primitives.project, "KN_BEGIN_PIECE": loop_primitives.begin_piece,
}  # fmt: skip
"""Those of all models."""


@dataclass(frozen=True, eq=False)
class CModel:
    """A model in C: header and source, and what is to be known of them."""

    name: str
    header: str
    source: str
    fixed: frozenset[str]
    """The parameters that move the start of a model, or the times at which expressions of time break."""
    frozen: frozenset[str]
    """Those whose effect on the start C does not compute."""
    n_events: int
    has_jacobian: bool


class ModelSource:
    """The C of a compiled system.

    Parameters
    ----------
    dynamics : Dynamics
    outputs : tuple of str
        Names of quantities that ``<name>_outputs`` gives, one after the other.
    jacobian : bool
        Whether ``<name>_jacobian`` is written; of a large system that has no loop code for it, it is not.
    options : Options
        Of ``<name>_advance``.
    """

    def __init__(self, dynamics: Dynamics, outputs: tuple[str, ...], jacobian: bool, options: Options) -> None:
        self.system, self.outputs = dynamics.system, outputs
        self.name = file_identifier(dynamics.system.name)
        self.t0 = float(dynamics.system.run_defaults.get("t0") or 0.0)
        self.options = options
        self.dynamics, self.start_plan = dynamics, find_start_plan(dynamics)
        own = dynamics.arguments
        self.start: Array = find_start(dynamics, None, self.t0, own.parameters, own.inputs).y
        self.run = self._lay_out()
        topology = self.dynamics.topology
        self.has_jacobian = jacobian and (not is_large(topology) or is_loop_code(topology, self._along()))
        self.plan = find_break_plan(self.dynamics)
        self.frozen = self.start_plan.frozen
        self.fixed = self.frozen | (frozenset() if self.plan is None else self.plan.parameters)
        if topology.constrained:
            self.fixed |= {topology.parameters[k] for k in dynamics.start.parameters_that_count}
        self.kernels: dict[Kernel, int] = {}
        self.start_numbers: dict[str, int] = {}
        self.programs: list[Program] = []
        self.eventful = METHODS[self.options.method].find_loop(self._needs_events()) not in (
            "advance_adaptive_plain", "advance_fixed_plain",
        )  # fmt: skip

    def _needs_events(self) -> bool:
        return self.kernel.events is not None or self.kernel.bounds is not None

    def _lay_out(self) -> LoopRun:
        """A real run before its first step, whose memory is the image."""
        dynamics, o = self.dynamics, self.options
        p, inputs = np.array(dynamics.arguments.parameters), np.array(dynamics.arguments.inputs)
        until = float(dynamics.system.run_defaults.get("until") or self.t0 + 10.0)
        laws = find_law_times(dynamics, p, inputs, self.t0, until)
        solver = Solver(dynamics, p, inputs, replace(o, max_step=min(o.max_step, laws.longest)))
        self.kernel, self.p, self.inputs = _one_lane(dynamics, solver.kernel), p, inputs
        run = begin_run(
            self.kernel, self.start, 0.0, 1.0, method=o.method, times=np.zeros(0), step=o.step, rtol=o.rtol,
            atol=o.atol, p=p, inputs=inputs, quaternions=solver.quaternions, max_step=solver.options.max_step,
        )  # fmt: skip
        return run

    # -- kernels -----------------------------------------------------------------------------------
    def number(self, kernel: Kernel) -> int:
        """The number of a kernel, from 1 on."""
        return self.kernels.setdefault(kernel, len(self.kernels) + 1)

    def _image(self) -> MemoryImage:
        """The image of the run, with kernels by number."""
        memory, n_events = self.run.memory, self.n_events
        if memory.events.present:
            memory.events.room = 48 + 2 * n_events
        for rows_of in (self.run.out_t, self.run.out_y):
            rows_of[...] = 0.0  # they hold what was there before; the same model gives the same text
        numbers = dict[int, int]()
        for address in _addresses(memory):
            kernel = self.dynamics.kernels.kernel_at(address)
            assert kernel is not None, "a kernel of the run is not known"
            numbers[address] = self.number(kernel)
        sizes = {
            "state.slopes": self.run.slopes.size, "events.list_numbers": 3 * (48 + 2 * n_events),
            "events.list_functions": 48 + 2 * n_events,
        }  # fmt: skip
        if self.plan is not None:
            sizes["breaks.times"] = N_BREAKS
        return take_image(memory, numbers, sizes, lambda path: SHARED.get(path.rpartition(".")[2]))

    @property
    def n_events(self) -> int:
        """The number of event functions."""
        return 0 if self.kernel.events is None else len(self.kernel.events.modes)

    # -- text --------------------------------------------------------------------------------------
    def write(self, names: str = "") -> CModel:
        """The whole; ``names`` are enumerations of indices for the header."""
        image, name = self._image(), self.name
        evaluate = self.number(values_kernel(self.dynamics, self.outputs)) if self.outputs else 0
        along = self.number(self._along()) if self.has_jacobian else 0
        with self.dynamics.kernels.tracing():
            programs = [self.dynamics.kernels.program(kernel) for kernel in self.kernels]
        labels = [f"{name}_kernel_{k + 1}_{identifier(kernel.name)}" for k, kernel in enumerate(self.kernels)]
        if self.plan is not None:
            programs.append(self.plan.program)
            labels.append(f"{name}_kernel_{len(labels) + 1}_breaks")
        for field, program in self.start_plan.programs.items():
            programs.append(program)
            self.start_numbers[field] = len(programs)
            labels.append(f"{name}_kernel_{len(programs)}_{identifier(field)}")
        loops = CLoopWriter(f"{name}_loop")
        writer = CProgramWriter(f"{name}_loop", loops.name_of)
        bodies = [writer.write(program, label) for program, label in zip(programs, labels, strict=True)]
        symbols = self._loops(loops)
        loops.record(type(self.run.memory))
        n_outputs = programs[evaluate - 1].sizes["out"] if evaluate else 0
        macros = self._macros(symbols, programs, evaluate, along, n_outputs)
        n_work = max(writer.work_of.values(), default=0)
        header = self._header(image, loops, n_work, programs, along, n_outputs, names)
        helpers = write_helpers(f"{name}_loop", {*loops.helpers, *writer.helpers} - {"call"})
        runtime = files("kinode.exporters.c_code").joinpath("c", "model_runtime.c").read_text(encoding="utf-8")
        cases = "\n".join(f'    case {int(code)}: return "{text}";' for code, text in STATUS_TEXTS.items())
        parts = [
            f"/* {comment(self.system.name)}: written by kinode. */", f'#include "{name}.h"', macros,
            write_copies(name, [image, *self.start_plan.images]), helpers, *bodies, _caller(name, labels), *loops.texts,
            image.tables(name, f"{name}_loop_int"), self._tables(),
            *(start.tables(name, f"{name}_loop_int") for start in self.start_plan.images),
            self._own_functions(image),
            runtime.replace("/* STATUS CASES */", f'    case 0: return "all is well";\n{cases}'),
            "\n".join(f"#undef {word}" for word in _defined(macros)),
        ]  # fmt: skip
        source = "\n".join(parts) + "\n"
        return CModel(name, header, source, self.fixed, self.frozen, self.n_events, self.has_jacobian)

    def _along(self) -> Kernel:
        """The kernel of derivatives of rates and outputs along one direction of states and inputs."""
        by = (("coordinates", None), ("u", None), ("z", None), ("inputs", None))
        sharing = find_start_pattern(self.dynamics, self.outputs)
        return Kernel("derivatives_along", DerivativeOptions(("rate", *self.outputs), by, sharing))

    def _loops(self, loops: CLoopWriter) -> dict[str, str]:
        """The loop functions that the runtime calls, by the names of their macros."""
        advance = find_source(METHODS[self.options.method].find_loop(self._needs_events()))
        wanted: dict[str, Any] = {"KN_ADVANCE": advance, **PLAIN_LOOPS, **(LOOPS if self.eventful else {})}
        if self.plan is not None:
            wanted["KN_NEXT_BREAK"] = breaks.next_break
        wanted |= self.start_plan.loops
        return {macro: loops.name_of(function) for macro, function in wanted.items()}

    def _macros(
        self, symbols: Mapping[str, str], programs: Sequence[Program], evaluate: int, along: int, n_outputs: int
    ) -> str:
        layout, memory = self.dynamics.topology.layout, self.run.memory
        closes = self.dynamics.topology.constrained or bool(layout.quaternions)
        numbers: dict[str, object] = {
            "KN_N_STATES": layout.n_y, "KN_N_CONTINUOUS": memory.model.n_continuous, "KN_N_POSITIONS": layout.n_q,
            "KN_N_INPUTS": len(layout.inputs), "KN_N_OUTPUTS": n_outputs, "KN_N_EVENTS": self.n_events,
            "KN_N_EFFORTS": layout.n_u, "KN_EVENTFUL": int(self.eventful), "KN_HAS_BREAKS": int(self.plan is not None),
            "KN_HAS_JACOBIAN": int(self.has_jacobian), "KN_N_BREAKS": N_BREAKS,
            "KN_MOST_STEPS": f"INT64_C({MOST_STEPS})", "KN_FIXED_STEP": real(self.options.step or 0.0),
            "KN_FIXED": int(METHODS[self.options.method].fixed), "KN_RTOL": real(self.options.rtol),
            "KN_N_TOLERANCES": layout.n_y, "KN_EVALUATE": evaluate,
            "KN_ALONG": along, "KN_SIZE(array)": "(int)(sizeof(array) / sizeof(array)[0])",
            "KN_CLOSE_LOOPS(m)": f"{self.name}_project(m)" if closes else "(void)0",
            **{f"KN_{code.name}": int(code) for code in (
                Outcome.DONE, Outcome.PAUSED, Outcome.NOT_FINITE, Outcome.NEAR_SINGULAR, Outcome.EVENTS_FULL
            )},
            **{f"KN_{code.name}": int(code) for code in (Pending.READY, Pending.EVENT, Pending.TICK, Pending.MODES)},
        }  # fmt: skip
        lines = [f"#define KN(word) {self.name}_##word"]
        lines += [f"#define {word} {value}" for word, value in {**numbers, **symbols}.items()]
        return "\n".join(lines)

    def _header(
        self, image: MemoryImage, loops: CLoopWriter, n_work: int, programs: Sequence[Program], along: int,
        n_outputs: int, names: str,
    ) -> str:  # fmt: skip
        name, layout = self.name, self.dynamics.topology.layout
        upper, kind = name.upper(), f"{name}_loop_int"
        counts = {
            "N_STATES": layout.n_y, "N_CONTINUOUS": self.run.memory.model.n_continuous,
            "N_PARAMETERS": len(layout.parameters), "N_INPUTS": len(layout.inputs), "N_OUTPUTS": n_outputs,
            "N_EVENTS": self.n_events,
        }  # fmt: skip
        search = [f"    {name}_loop_break_search search;", *self._search_members()] if self.plan is not None else []
        sizes = programs[along - 1].sizes if along else {}
        jacobian = [f"    double direction[{sizes['x']}];", f"    double along[{sizes['out']}];"] if along else []
        return "\n".join([
            f"/* {comment(self.system.name)}, as a library in C99; see the names and functions at the end. */",
            f"#ifndef {upper}_H", f"#define {upper}_H", "#include <math.h>", "#include <stdint.h>",
            *(f"#define {upper}_{word} {value}" for word, value in counts.items()),
            "#if defined(__GNUC__)", f"typedef int64_t __attribute__((may_alias)) {kind};", "#else",
            f"typedef int64_t {kind};", "#endif", loops.structures(),
            f"typedef struct {name}_model {{",
            f"    double p[{max(1, len(layout.parameters))}]; /* parameters */",
            f"    double inputs[{max(1, len(layout.inputs))}];",
            "    double rtol;", "    double t_wanted; /* all that follows is the run itself */",
            f"    double p_seen[{max(1, len(layout.parameters))}];",
            f"    double inputs_seen[{max(1, len(layout.inputs))}];",
            f"    {name}_loop_run_memory run;", *search, f"    double work[{max(1, n_work)}];",
            f"    double scratch[{max(1, layout.n_y)}];", *jacobian, image.members(kind),
            *(f"    {name}_loop_start_memory start;\n{x.members(kind)}" for x in self.start_plan.images),
            f"}} {name}_model;", names, declare_functions(name, self.has_jacobian), "#endif\n",
        ])  # fmt: skip

    def _search_members(self) -> list[str]:
        assert self.plan is not None
        sizes = self.plan.program.sizes
        return ["    double search_time[1];", f"    double search_out[{sizes['out']}];"]

    def _tables(self) -> str:
        name, parts = self.name, list[str]()
        for label, values in (
            ("default_p", self.p), ("default_inputs", self.inputs), ("start", self.start),
        ):  # fmt: skip
            numbers = values if len(values) else np.zeros(1)
            parts.append(f"static const double {name}_{label}[] = {{\n{rows(map(real, numbers.tolist()))}\n}};")
        if self.plan is not None:
            plan = self.plan
            for label, values in (("numbers", plan.numbers), ("periods", plan.periods)):
                entries = values.tolist() or [0.0]
                parts.append(f"static const double {name}_break_{label}[] = {{\n{rows(map(real, entries))}\n}};")
            for label, values in (("first_number", plan.first_number), ("first_rate", plan.first_rate)):
                kind = f"{name}_loop_int"
                parts.append(f"static const {kind} {name}_break_{label}[] = {{\n{rows(map(str, values.tolist()))}\n}};")
        return "\n".join(parts)

    def _own_functions(self, image: MemoryImage) -> str:
        """Functions that differ from model to model: the layout, the pointers, the start."""
        name = self.name
        search = []
        if self.plan is not None:
            kernel = len(self.kernels) + 1
            search = [
                f"    m->search.kernel = {kernel};", f"    m->search.count = {self.plan.count};",
                f"    m->search.look = {real(self.plan.look)};",
            ]  # fmt: skip
            pointers = [
                *(f"    m->search.{word} = (double *){name}_break_{word};" for word in ("numbers", "periods")),
                *(f"    m->search.{word} = ({name}_loop_int *){name}_break_{word};" for word in
                  ("first_number", "first_rate")),
                "    m->search.time = m->search_time;", "    m->search.p = m->p;", "    m->search.inputs = m->inputs;",
                "    m->search.empty = m->search_time;", "    m->search.work = m->work;",
                "    m->search.out = m->search_out;",
            ]  # fmt: skip
        else:
            pointers = []
        size, counting = len(self.start), self.dynamics.start.parameters_that_count.tolist()
        return "\n".join([
            f"static void {name}_lay_out({name}_model *m)", "{", image.assignments(name, "m->run"), *search,
            *(start.assignments(name, "m->start") for start in self.start_plan.images),
            *(f"    m->start.{field} = {number};" for field, number in self.start_numbers.items()), "}\n",
            f"void {name}_bind({name}_model *m)", "{", image.bindings("m->run"), *pointers,
            *(start.bindings("m->start") for start in self.start_plan.images), "}\n",
            f"static int {name}_find_start({name}_model *m)", "{",
            f"    int changed = {name}_differ(m->inputs, {name}_default_inputs, KN_SIZE(m->inputs));",
            f"    if (m->run.step.origin != {real(self.t0)}) changed = 1;",
            *([f"    {name}_copy(m->run.state.y, {name}_start, {size});"] if size else []),
            *(f"    if (m->p[{k}] != {name}_default_p[{k}]) changed = 1;" for k in counting),
            "    if (changed) {",
            FIND_START if self.start_plan.images else "        KN_CLOSE_LOOPS(m);", "    }", "    return 0;", "}\n",
        ])  # fmt: skip


def _one_lane(dynamics: Dynamics, kernel: KernelSpec) -> KernelSpec:
    """The kernels of a run with those of directional derivatives in one lane: C has no others."""
    spec = kernel.jacobian
    if spec is None or spec.lanes == 1:
        return kernel
    code = dynamics.kernels.machine(DIRECTION)
    return replace(kernel, jacobian=replace(spec, address=code.address, n_work=code.sizes["work"], lanes=1))


def _addresses(memory: Any) -> list[int]:
    """The addresses of all kernels in the memory of a run."""
    found = (
        memory.model.rate, memory.model.projection, memory.events.functions, memory.events.cheap, memory.events.reset,
        memory.clocks.sample, memory.bounds.kernel, memory.bounds.arguments, memory.bounds.laws,
        memory.newton.columns.kernel,
    )  # fmt: skip
    return [address for address in dict.fromkeys(found) if address]


def _caller(name: str, kernels: Sequence[str]) -> str:
    """The function that calls a kernel by its number."""
    arguments = ", ".join(f"{'double' if x in ('work', 'out') else 'const double'} *{x}" for x in ARGUMENTS)
    given = ", ".join(ARGUMENTS)
    cases = "\n".join(f"    case {k + 1}: {kernel}({given}); break;" for k, kernel in enumerate(kernels))
    return "\n".join([
        f"static void {name}_loop_call(int64_t kernel, {arguments})", "{", "    switch (kernel) {", cases,
        "    default: break;", "    }", "}\n",
    ])  # fmt: skip


def _defined(macros: str) -> list[str]:
    return [line.split()[1].partition("(")[0] for line in macros.splitlines()]


def describe(x: Variable) -> str:
    """A variable in a comment."""
    parts = [f"{x.name}{f' in {x.unit}' if x.unit else ''}"]
    parts += [f"{x.value:.9g}"] if x.value is not None else []
    if (x.low, x.high) != (None, None):
        parts.append(" to ".join("any" if bound is None else f"{bound:g}" for bound in (x.low, x.high)))
    parts += [x.note] if x.note else []
    return comment("; ".join(parts))


def comment(text: str) -> str:
    """A text within a comment of C, which it does not end; without letters beyond ASCII."""
    plain = text.encode("ascii", "replace").decode()
    return plain.replace("*/", "* /").replace("/*", "/ *").replace("\n", " ").replace("\\", "/").replace("??", "? ?")


FUNCTIONS = """
/* -- Use: defaults, set parameters and inputs, init, then step or advance again and again. ------------------------

   A status of 0 means that all went well; {name}_status_text tells what another one means.
   All that changes is in the model: a copy of the structure is a copy of the simulation.
   Units are SI; angles are in rad. */

/* Lay out a model, with the parameters and inputs of the file it was exported from.  Comes first. */
void {name}_defaults({name}_model *m);
/* Relative tolerance of the integration; acts at the next {name}_init. */
void {name}_set_tolerance({name}_model *m, double rtol);
/* Begin at a time in s, with the parameters m->p and the inputs m->inputs: a consistent start.  Returns a status. */
int {name}_init({name}_model *m, double t0);
/* Integrate to a time in s, with all events on the way; parameters and inputs may be changed before each call. */
int {name}_advance({name}_model *m, double t_end);
/* The same for a length of time in s. */
int {name}_step({name}_model *m, double dt);
/* The present time in s. */
double {name}_time(const {name}_model *m);
/* The present state; the discrete states come last. */
double *{name}_state({name}_model *m);
/* Time derivatives of the continuous states at the present time and state. */
void {name}_rate({name}_model *m, double *rates);
/* The outputs at the present time and state. */
void {name}_outputs({name}_model *m, double *out);
/* Call this on a model that was copied to another place, before anything else. */
void {name}_bind({name}_model *m);
/* What a status means. */
const char *{name}_status_text(int status);

/* -- For a solver of your own: set the time and the continuous states, then ask. ---------------------------------- */

/* Set the time in s. */
void {name}_set_time({name}_model *m, double t);
/* Event functions: an event happens where one falls below zero. */
void {name}_indicators({name}_model *m, double *g);
/* After each accepted step: event functions that are clearly positive may trigger from now on. */
void {name}_arm({name}_model *m);
/* Make all changes of the present instant: resets, ticks of clocks, modes.  Returns a status. */
int {name}_update({name}_model *m);
/* The next time in s at which a clock ticks or a law jumps; infinite if there is none until a time. */
double {name}_next_time({name}_model *m, double until);
/* How far loops and quaternions are from closed: the largest change that {name}_project would make. */
double {name}_drift({name}_model *m);
/* Close loops and normalize quaternions. */
void {name}_project({name}_model *m);
"""
JACOBIAN = """/* Derivatives, row by row: rates of continuous states, then outputs; by these states, then inputs. */
void {name}_jacobian({name}_model *m, double *J);
"""


def declare_functions(name: str, with_jacobian: bool) -> str:
    """The functions of a model, with comments."""
    return (FUNCTIONS + (JACOBIAN if with_jacobian else "")).replace("{name}", name)


def enumerate_names(name: str, letter: str, words: str, entries: Sequence[Variable]) -> str:
    """An enumeration of indices by name; nothing where there are none."""
    if not entries:
        return ""
    prefix, taken = f"{name}_{letter}".upper(), set[str]()
    labels = [claim_name(f"{prefix}_{identifier(entry.name).upper()}", taken) for entry in entries]
    lines = [f"    {label}, /* {describe(entry)} */" for label, entry in zip(labels, entries, strict=True)]
    return "\n".join([f"/* {words} */", f"enum {name}_{words.partition(':')[0].lower()}_index {{", *lines, "};\n"])
