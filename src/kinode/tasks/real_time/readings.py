"""Quantities that a stepper evaluates at the end of each step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.dynamics.shared_patterns import has_start_pattern, values_kernel
from kinode.dynamics.state_batches.state_batch import split_values
from kinode.errors import ArgumentError
from kinode.model.quantity_names import find_quantity
from kinode.structure.evaluation_point import EvaluationPoint


class Readings(Mapping[str, Array]):
    """Quantities by name: arrays that each step writes into; ``array`` holds all of them one after the other.

    A value that is not defined at a state, as a direction of no length, is not a number.
    """

    def __init__(self, dynamics: Dynamics, texts: tuple[str, ...]) -> None:
        names = [find_quantity(dynamics.system, text) for text in texts]
        for name in names:
            if not has_start_pattern(dynamics, name):
                message = "equilibrium alone does not determine it, and how it is shared here takes longer than a step"
                raise ArgumentError(f"watch: {name.text}: {message}; dynamics.evaluate gives it")
        self._kernels, self._kernel = dynamics.kernels, values_kernel(dynamics, texts)
        self.machine = self._kernels.machine(self._kernel)
        self.array = np.zeros(self.machine.sizes["out"])
        self._values = dict(split_values(self.array, names))

    def read(self, point: EvaluationPoint) -> None:
        """Evaluate the quantities at a point."""
        self.array[:] = self._kernels.call(self._kernel, point)

    def __getitem__(self, name: str) -> Array:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"<Readings: {', '.join(self._values)}>"
