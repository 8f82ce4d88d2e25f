"""Quantities of a run as columns with headings, and what a run is in a few lines: for files of other programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError
from kinode.model.base.parameters import is_hidden
from kinode.model.quantity_expressions import find_expression, unit_of
from kinode.model.quantity_names import find_quantity
from kinode.ode.runs.input_table import split_inputs
from kinode.results.known_names import table_names
from kinode.version import __version__

if TYPE_CHECKING:
    from kinode.results.trajectory import Trajectory

EXPRESSIONS = "expressions"  # where quantities belong that are calculated from those of several components


def chosen_names(run: Trajectory, names: Iterable[str] | None) -> list[str]:
    """The quantities of a table; without names those of ``table_names``."""
    if names is None:
        return table_names(run.dynamics)
    listed = [names] if isinstance(names, str) else list(names)
    if not all(isinstance(name, str) for name in listed):
        raise ArgumentError(f"names of quantities are expected, not {listed!r:.80}")
    return listed


def columns_of(run: Trajectory, name: str, values: Array) -> Iterator[tuple[str, Array]]:
    """Heading and values of each column of a quantity: ``elbow.reaction.force.x [N]``."""
    units, parts = run.units(name), run.parts(name)
    less = "".join(f", without {load}" for load in run.left_out(name))
    if values.ndim == 1:
        yield f"{name} [{units}{less}]", values
        return
    head, at, axes = name.partition("@")
    flat = values.reshape(len(values), -1)
    for k, part in enumerate(parts):
        yield f"{head}.{part}{at}{axes} [{units if isinstance(units, str) else units[k]}{less}]", flat[:, k]


def by_component(run: Trajectory, names: Iterable[str]) -> dict[str, list[str]]:
    """The names by the component that each belongs to."""
    found: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        if find_expression(run.system, name) is not None:
            owner = EXPRESSIONS
        else:
            owner = find_quantity(run.system, name).owner or name
        found.setdefault(owner, []).append(name)
    return found


def facts_of(run: Trajectory) -> dict[str, Any]:
    """What run it is: the model, how it ended, how it was computed."""
    facts: dict[str, Any] = {
        "model": run.system.name, "program": f"kinode {__version__}", "status": run.status, "message": run.message,
        "times": len(run.t),
    }  # fmt: skip
    if len(run.t):
        facts |= {"from [s]": float(run.t[0]), "to [s]": float(run.t[-1])}
    known = {key: value for key, value in run.facts.items() if isinstance(value, str | int | float)}
    return facts | known


def values_of(run: Trajectory) -> Mapping[str, list[tuple[str, float, str]]]:
    """Parameters and inputs of a run: name, value, unit; of an input over time the value at the start."""
    topology = run.dynamics.topology
    row, _ = split_inputs(run.inputs)
    given = {"parameters": (topology.parameters, run.p), "inputs": (topology.inputs, row)}
    return {
        word: [
            (name, float(value), str(unit_of(run.system, name)))
            for name, value in zip(names, values, strict=True)
            if not is_hidden(name)
        ]
        for word, (names, values) in given.items()
    }
