"""What the eigenvalues of small motions say about stability, and what they leave open.

A positive real part decides: unstable.  If all are negative, every small motion dies out: stable.  Eigenvalues on the
imaginary axis decide nothing by themselves:

- Oscillations that neither grow nor die out are neutral, unless the energy decides: at rest, with no causes of energy
  but damping, a positive definite stiffness makes the energy a minimum, and the position is stable (Lagrange,
  Dirichlet).
- An eigenvalue of zero is neutral if the system, displaced by a finite amount along the eigenvector, is steady again: a
  balanced wheel, a cart on a level track.  Otherwise higher orders decide, as of a force -x^3: undecided.

The real part is compared with the accuracy of its eigenvalue in the balanced matrix: eps |A| / |y' x| for unit left and
right eigenvectors y and x, much more for double eigenvalues.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import Error
from kinode.kernels.kernel_options import Kernel
from kinode.kernels.state import State
from kinode.multibody.power import find_causes

ENTRY_ACCURACY = 1e-9  # of A, relative to its norm: differences in moving loops
LARGEST_ERROR = 1e-6  # of an eigenvalue, relative to the norm of A: double ones are no better
NULL_TOLERANCE = 1e-9  # singular value of the balanced A that counts as zero, relative to its norm
DISPLACEMENTS = (0.03, -0.03, 0.1, -0.1)  # rad or m, along eigenvectors of zero
STEADY_CHANGE = 1e-8  # change of accelerations by a displacement, relative to the norm of A times the displacement
CLOSING_STEPS = 20  # projections that close the loops after a displacement


class Stability(Enum):
    """The verdict on small motions, with its meaning."""

    STABLE = ("stable", "small motions stay small")
    NEUTRAL = ("neutral", "small motions neither grow nor die out")
    UNDECIDED = ("undecided", "linear theory cannot tell: higher orders decide")
    UNSTABLE = ("unstable", "small motions grow")

    @property
    def word(self) -> str:
        """The verdict in a word."""
        return self.value[0]

    @property
    def meaning(self) -> str:
        """The verdict in words."""
        return self.value[1]


@dataclass(frozen=True)
class SmallMotion:
    """A matrix A and what it was made from; ``displaced`` gives the state after a small change x."""

    A: Array
    dynamics: Dynamics
    at: State
    p: Array
    inputs: Array
    n_coordinates: int
    displaced: Callable[[Array], State]


def judge(motion: SmallMotion) -> Stability:
    """The verdict on small motions about a steady state."""
    acting = _acting(motion)
    A = motion.A[np.ix_(acting, acting)]
    if not len(A):
        return Stability.STABLE
    from scipy.linalg import eig, matrix_balance

    balanced, scaling = matrix_balance(A, permute=False)
    size = float(np.abs(balanced).sum(axis=1).max())
    values, left, right = eig(balanced, left=True, right=True)
    with np.errstate(divide="ignore"):
        errors = ENTRY_ACCURACY * size / np.abs(np.sum(left.conj() * right, axis=0))
    errors = np.minimum(errors, LARGEST_ERROR * size)
    if (values.real > errors).any():
        return Stability.UNSTABLE
    critical = values.real >= -errors
    if not critical.any():
        return Stability.STABLE
    zeros = critical & (np.abs(values) <= errors)
    if zeros.any():
        changes = np.zeros((len(null := _null_space(balanced, size)), len(motion.A)))
        changes[:, acting] = null @ scaling.T
        return Stability.NEUTRAL if len(null) and all(_stays(motion, x, size) for x in changes) else Stability.UNDECIDED
    return Stability.STABLE if _has_least_energy(motion) else Stability.NEUTRAL


def _acting(motion: SmallMotion) -> list[int]:
    """The states without those that only record, such as the charge drawn from a battery: nothing depends on them."""
    acting = list(range(len(motion.A)))
    while True:
        recording = [k for k in acting if k >= 2 * motion.n_coordinates and not motion.A[acting, k].any()]
        if not recording:
            return acting
        acting = [k for k in acting if k not in recording]


def _null_space(A: Array, size: float) -> Array:
    """Unit vectors x with A x = 0, one in each row."""
    _, sizes, V = np.linalg.svd(A)
    return np.asarray(V[sizes <= NULL_TOLERANCE * size])


def _stays(motion: SmallMotion, x: Array, size: float) -> bool:
    """Whether the system is steady again after finite displacements along x."""
    largest = float(np.abs(x).max())
    try:
        here = _accelerations(motion, motion.at)
        for length in DISPLACEMENTS:
            change = _accelerations(motion, motion.displaced(x * (length / largest))) - here
            if not np.abs(change).max(initial=0.0) <= STEADY_CHANGE * max(size, 1.0) * abs(length):
                return False
    except Error:  # a displacement that a law or a table refuses
        return False
    return True


def _accelerations(motion: SmallMotion, state: State) -> Array:
    """Rates of speeds and other states."""
    dynamics = motion.dynamics
    y_dot = dynamics.rate(state.t, state.y, p=motion.p, inputs=motion.inputs)
    _, u_dot, z_dot = dynamics.topology.layout.split(y_dot)
    return np.concatenate([u_dot, z_dot])


def _has_least_energy(motion: SmallMotion) -> bool:
    """Whether the state is at rest at a strict minimum of the energy, which only damping changes."""
    n = motion.n_coordinates
    causes = find_causes(motion.dynamics.topology)
    if motion.at.u.any() or len(_acting(motion)) != 2 * n or not all(cause.endswith(".damping") for cause in causes):
        return False
    squares = np.linalg.eigvals(-motion.A[n:, :n])  # of the frequencies without damping
    return bool((squares.real > 0.0).all())


def close_loops(dynamics: Dynamics, state: State, p: Array, inputs: Array) -> State:
    """The state with its loops closed, next to one where they are nearly closed."""
    if not dynamics.topology.constrained:
        return state
    y = state.y
    for _ in range(CLOSING_STEPS):
        y = dynamics.kernels.call(Kernel("projection"), dynamics.point_of(state.t, y, p, inputs))[:-1]
    q, u, z = dynamics.topology.layout.split(np.asarray(y))
    return replace(state, q=q, u=u, z=z)
