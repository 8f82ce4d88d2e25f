"""Guesses that a start could not keep: said to the user, since the mechanism may have come out on another branch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.initialization.initial_values import find_offset, is_guessed, read_initial_values
from kinode.kernels.state import State

if TYPE_CHECKING:
    from kinode.dynamics.compiled_system import Dynamics

FAR = 0.25  # rad, or characteristic lengths


class FarGuess(NamedTuple):
    """A joint that starts far from its guess."""

    joint: str
    guess: Array
    actual: Array
    units: tuple[str, ...]  # rad, m, or nothing for quaternions

    @property
    def message(self) -> str:
        """The joint and both values, in words."""
        guess, actual = (_values(values, self.units) for values in (self.guess, self.actual))
        return (
            f"{self.joint} starts at {actual}, far from its guess {guess}: no closed position that was found keeps it"
        )


def find_far_guesses(
    dynamics: Dynamics, state: State, values: Mapping[str, Any] | None, p: Array, inputs: Array
) -> list[FarGuess]:
    """The joints that start far from their guesses; ``values`` are those that were given by name."""
    start = dynamics.start
    if not start.open_topology.constrained or not _has_guess(dynamics):
        return []
    counting = p[start.parameters_that_count]
    key = (state.t, state.q.tobytes(), counting.tobytes(), inputs.tobytes(), repr(values))
    far = start.far_guesses.get(key)
    if far is None:
        far = _find(dynamics, state, values, p, inputs)
        start.far_guesses = {key: far}  # one run after another begins alike
    return far


def _has_guess(dynamics: Dynamics) -> bool:
    known = dynamics.arguments.derived
    if "guesses" not in known:
        known["guesses"] = any(joint.guess is not None for joint in dynamics.system.joints.values())
    return bool(known["guesses"])


def _find(
    dynamics: Dynamics, state: State, values: Mapping[str, Any] | None, p: Array, inputs: Array
) -> list[FarGuess]:
    requested = read_initial_values(dynamics.arguments, values or {}, dynamics.arguments.resolver(p))
    guessed = [name for name in requested.joints if is_guessed(requested, name)]
    if not guessed:
        return []
    q_of, length, far = dynamics.start.open_topology.q_of, dynamics.start.loops.length, []
    coordinates = {name: state.q[q_of[name]] for name in guessed if name in q_of}
    if len(coordinates) < len(guessed):  # those of cut joints and followers follow from the others
        problem = dynamics.start.assembler(requested, state.t, p, inputs).problem
        coordinates = problem.coordinates(problem.position_of(state.q))
    for name in guessed:
        joint, guess, actual = dynamics.system.joints[name], requested.joints[name].q, coordinates[name]
        sizes = [1.0 if kind == "angle" else length for _, kind in joint.coordinates]
        if np.linalg.norm(find_offset(joint, actual, guess)[0] / sizes) > FAR:
            units = tuple({"angle": "rad", "length": "m"}.get(unit, "") for _, unit in joint.coordinate_names)
            far.append(FarGuess(name, guess, actual, units))
    return far


def _values(values: Array, units: tuple[str, ...]) -> str:
    texts = [f"{value:.4g} {unit}".rstrip() for value, unit in zip(values, units, strict=True)]
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"
