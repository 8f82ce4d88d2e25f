"""What the eigenvalues of small motions say about stability, and what they leave open.

A positive real part decides: unstable.  If all are negative, every small motion dies out: stable.  Eigenvalues on the
imaginary axis decide nothing by themselves:

- Oscillations that neither grow nor die out are neutral, unless the energy decides: at rest, with no causes of energy
  but damping, a positive definite stiffness makes the energy a minimum, and the position is stable (Lagrange,
  Dirichlet).
- An eigenvalue of zero is neutral if the system, displaced by a finite amount along the eigenvector, is steady again
  there or close to it: a balanced wheel, a cart on a level track, a disc that rolls upright in another direction.
  Otherwise higher orders decide, as of a force -x^3: undecided.

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
LARGEST_ERROR = 1e-4  # of an eigenvalue, relative to the norm of A: that of double ones in moving loops
NULL_TOLERANCE = 1e-9  # singular value of the balanced A that counts as zero, relative to its norm
DISPLACEMENTS = (0.03, -0.03, 0.1, -0.1)  # rad or m, along eigenvectors of zero
STEADY_CHANGE = 1e-8  # change of accelerations by a displacement, relative to the norm of A times the displacement
CORRECTIONS = 20  # simplified Newton steps from a displacement to the steady motion next to it
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
    n_speeds: int
    displaced: Callable[[Array], State]
    apart: Callable[[State], Array]  # x_dot of a displaced motion that moves beside this one


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
    acting, n = list(range(len(motion.A))), motion.n_coordinates + motion.n_speeds
    while True:
        recording = [k for k in acting if k >= n and not motion.A[acting, k].any()]
        if not recording:
            return acting
        acting = [k for k in acting if k not in recording]


def _null_space(A: Array, size: float) -> Array:
    """Unit vectors x with A x = 0, one in each row."""
    _, sizes, V = np.linalg.svd(A)
    return np.asarray(V[sizes <= NULL_TOLERANCE * size])


def _stays(motion: SmallMotion, x: Array, size: float) -> bool:
    """Whether the system is steady again after finite displacements along x, corrected to higher order."""
    k, largest = motion.n_coordinates, float(np.abs(x).max())
    try:
        for length in DISPLACEMENTS:
            displacement, limit = x * (length / largest), STEADY_CHANGE * max(size, 1.0) * abs(length)
            for _ in range(CORRECTIONS):
                change = motion.apart(motion.displaced(displacement))
                if not np.abs(change).max(initial=0.0) > limit:
                    break
                displacement = displacement - np.linalg.lstsq(motion.A, change, rcond=NULL_TOLERANCE)[0]
            if not np.abs(change[k:]).max(initial=0.0) <= limit:
                return False
    except Error:  # a displacement that a law or a table refuses
        return False
    return True


def _has_least_energy(motion: SmallMotion) -> bool:
    """Whether the state is at rest at a strict minimum of the energy, which only damping changes."""
    n = motion.n_coordinates
    damped = all(cause.endswith(".damping") for cause in find_causes(motion.dynamics.topology))
    if motion.at.u.any() or motion.n_speeds != n or len(_acting(motion)) != 2 * n or not damped:
        return False
    squares = np.linalg.eigvals(-motion.A[n:, :n])  # of the frequencies without damping
    return bool((squares.real > 0.0).all())


def close_loops(dynamics: Dynamics, state: State, p: Array, inputs: Array) -> State:
    """The state with its loops closed, next to one where they are nearly closed."""
    if not dynamics.topology.constrained:
        return state
    layout, still = dynamics.topology.layout, np.zeros(dynamics.n_u)
    for _ in range(CLOSING_STEPS):
        point = dynamics.point_of(state.t, state.y, p, inputs)
        q, u, z = layout.split(np.asarray(dynamics.kernels.call(Kernel("projection"), point)[:-1]))
        state = replace(state, q=dynamics.topology.advance_q(q, still), u=u, z=z)  # quaternions of unit length
    return state
