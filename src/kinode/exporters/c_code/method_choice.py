"""Which method an exported model has, with which tolerances, which rows close its loops, and what it cannot hold."""

from __future__ import annotations

from typing import Any

from kinode.dynamics.compile import find_compiled
from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import Error, ModelError
from kinode.model.system import System
from kinode.ode.method_table import DEFAULT_METHOD, METHODS, is_fixed
from kinode.ode.ode_arguments import ATOL, RTOL
from kinode.simulation.solver import Options, check_options, replace_former
from kinode.tasks.simulate import simulate

TRIAL_SPAN = 10.0
"""Length in s of the run that decides where the model gives none."""
TRIAL_SAMPLES = 101  # of that run: other rows are chosen from them


def refuse_functions(dynamics: Dynamics, holder: str, doors: str) -> None:
    """Refuse components that call functions in Python, or code of others (``doors``), which the holder cannot have."""
    for element in dynamics.system.elements.values():
        if element.doors:
            raise ModelError(f"it is {doors}", component=element.name)
    events = dynamics.topology.events
    for entry in () if events is None else events.samplers:
        if entry.sampler.call is not None:
            message = f"which {holder} cannot hold; write it as a law, or as a component"
            raise ModelError(f"it calls {entry.sampler.what}, {message}", component=entry.owner)


def compile_for_export(system: System) -> Dynamics:
    """A compiled system whose independent constraint rows keep their rank in the model's own run.

    Where those of the start lose it, ``kn.simulate`` goes on with others; an exported model has one choice.
    """
    dynamics = find_compiled(system)
    if not dynamics.topology.constrained or len(dynamics.closure.used) == dynamics.closure.total:
        return dynamics
    try:
        run = simulate(dynamics, _end_of_trial(dynamics), samples=TRIAL_SAMPLES, progress=False)
    except Error:
        return dynamics
    return dynamics if run.dynamics.closure.rows == dynamics.closure.rows else run.dynamics


def _end_of_trial(dynamics: Dynamics) -> float:
    """The time at which the model's own run ends."""
    defaults = dynamics.system.run_defaults
    until = defaults.get("until")
    return float(defaults.get("t0") or 0.0) + TRIAL_SPAN if until is None else float(until)


def choose_options(dynamics: Dynamics, method: str | None, step: Any, rtol: Any, atol: Any) -> Options:
    """The options of the integration; what is left out comes from the model's run section.

    An exported model has one method.  "auto", which may change within a run, is decided here by the model's own run.
    """
    defaults = dynamics.system.run_defaults
    chosen = replace_former(method or defaults.get("method") or DEFAULT_METHOD)
    if step is None and is_fixed(chosen):
        step = defaults.get("step")
    rtol = rtol if rtol is not None else defaults.get("rtol") or RTOL
    atol = atol if atol is not None else defaults.get("atol") or ATOL
    if chosen in METHODS and METHODS[chosen].then is not None and _is_taken_over(dynamics, chosen, rtol, atol):
        chosen = METHODS[chosen].then or chosen
    return check_options(chosen, step, rtol, atol, None)


def _is_taken_over(dynamics: Dynamics, method: str, rtol: Any, atol: Any) -> bool:
    """Whether another method takes over in the model's own run; a model that does not run by itself has none."""
    try:
        run = simulate(
            dynamics, _end_of_trial(dynamics), method=method, rtol=rtol, atol=atol, samples=2, progress=False
        )
    except Error:
        return False
    return bool(run.facts["method"] == method)  # where none took over, the record names the first one itself
