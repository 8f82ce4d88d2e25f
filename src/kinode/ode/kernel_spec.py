"""A compiled model for an integrator: addresses of machine code, and sizes."""

from __future__ import annotations

from dataclasses import dataclass

from kinode.ode.event_spec import EventSpec


@dataclass(frozen=True)
class BoundSpec:
    """Compiled bounds of laws and event functions in a box of states (loops/step_bounds.py)."""

    address: int
    n_laws: int = 0
    functions: tuple[int, ...] = ()
    """Indices of the event functions that follow the laws."""
    states: tuple[int, ...] = ()
    """Indices of the states that laws and event functions depend on."""


@dataclass(frozen=True)
class KernelSpec:
    """A compiled rate: f(t, q, u, z, p, inputs, x, work, out) at an address, all interleaved over the lanes."""

    address: int
    n_q: int
    n_u: int
    n_z: int = 0
    lanes: int = 1
    n_work: int = 0
    """Size of the work array for each lane."""
    projection: int = 0
    """Address of the kernel that projects a state onto its constraints; 0 for none. ``n_work`` is enough for it."""
    bounds: BoundSpec | None = None
    """Bounds of the model's laws and event functions; ``n_work`` is enough for their kernel."""
    events: EventSpec | None = None
    """The events of the model; ``n_work`` is enough for their kernels."""

    @property
    def n_y(self) -> int:
        """Size of the state y = [q, u, z] of one lane."""
        return self.n_q + self.n_u + self.n_z
