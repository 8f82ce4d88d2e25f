"""Small motions about a state of the run, as a live page shows them: eigenvalues, mode shapes, root loci."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError
from kinode.kernels.state import State
from kinode.model.base.fields import short
from kinode.studio.live_pages.changing_run import ChosenRun
from kinode.studio.scene_data import Plain
from kinode.tasks.batches.value_sets import read_value
from kinode.tasks.vibrations.mode_shapes import ModeShape, mode_shapes
from kinode.tasks.vibrations.root_locus import root_locus

MOST_SWINGS = 60  # modes whose poses are sent
DEFAULT_POINTS, MOST_POINTS = 25, 401


def answer_modes(chosen: ChosenRun, state: State) -> tuple[Plain, dict[str, Array]]:
    """Eigenvalues and modes at a state, with the poses of each mode over a period."""
    shapes = mode_shapes(chosen.dynamics, state, parameters=chosen.run.p, inputs=chosen.run.inputs)
    arrays: dict[str, Array] = {}
    modes, eigenvalues = [], []
    for k, shape in enumerate(shapes.modes):
        swing = shapes.swing(k) if k < MOST_SWINGS else None
        name = f"mode.{k}" if swing is not None and swing.moves else ""
        if swing is not None and name:
            arrays[name] = swing.poses
        pair = _pair(shape.eigenvalue)
        eigenvalues += [pair, [pair[0], -pair[1]]] if shape.eigenvalue.imag else [pair]
        record = {"eigenvalue": pair, "frequency": shape.frequency, "damping": shape.damping, "words": _words(shape)}
        modes.append({**record, "poses": name})
    return {"t": state.t, "eigenvalues": eigenvalues, "modes": modes, "bodies": list(chosen.run.system.bodies)}, arrays


def _words(shape: ModeShape) -> str:
    """A mode in words: how it goes, and what moves most."""
    real, damping = shape.eigenvalue.real, shape.damping
    if not shape.eigenvalue.imag:
        way = "stays" if real == 0.0 else f"{'grows' if real > 0 else 'decays'} in {_number(1 / abs(real))} s"
    else:
        hertz = f"{_number(shape.frequency / (2 * math.pi))} Hz"
        way = f"{hertz}, grows" if damping < 0.0 else f"{hertz}, damping {_number(damping)}"
    most = shape.mode.largest()
    return f"{way}: {', '.join(most)}" if most else way


def answer_locus(chosen: ChosenRun, state: State, fields: Mapping[str, Any]) -> Plain:
    """Eigenvalues along the values of a number, at a state that is kept."""
    name, points, dynamics = fields.get("name"), fields.get("points", DEFAULT_POINTS), chosen.dynamics
    if isinstance(points, bool) or not isinstance(points, int) or not 2 <= points <= MOST_POINTS:
        raise ArgumentError(f"points: a number from 2 to {MOST_POINTS} is expected, not {short(points)}")
    if not isinstance(name, str) or not name:
        raise ArgumentError(f"name: the name of a number is expected, not {short(name)}")
    number = dynamics.live.get(name)
    if number is not None and number.structural:
        raise ArgumentError(f"{name}: other values need a new compilation: {number.reason}")
    low, high = (read_value(dynamics, name, fields.get(end)) for end in ("low", "high"))
    if not (math.isfinite(low) and math.isfinite(high)) or low == high:
        raise ArgumentError(f"low, high: two different values of {name} are expected")
    others = {key: value for key, value in chosen.setting.parameters.items() if key != name}
    inputs = {key: value for key, value in chosen.inputs.items() if key != name}
    found = root_locus(dynamics, state, name, np.linspace(low, high, points).tolist(), parameters=others, inputs=inputs)
    return {
        "name": name,
        "t": state.t,
        "values": found.values.tolist(),
        "eigenvalues": [[_pair(value) for value in row] for row in found.eigenvalues],
        "failed": [{"value": value, "message": message} for value, message in found.failures.items()],
    }


def _pair(value: complex) -> list[float]:
    return [float(value.real), float(value.imag)]


def _number(value: float) -> str:
    return f"{value:.3g}"
