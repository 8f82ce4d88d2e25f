"""``fmu_config.h``: what the C of all FMUs (``c/fmu_core.h``) needs to know of one model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kinode.exporters.fmu.fmu_variables import ExportedVariables

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
