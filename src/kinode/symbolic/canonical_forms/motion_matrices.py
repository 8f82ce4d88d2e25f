"""The matrices of A u_dot + D + G = Q."""

from __future__ import annotations

from typing import Any, NamedTuple


class _FourMatrices(NamedTuple):
    """M, C, G, Q."""

    M: Any
    C: Any
    G: Any
    Q: Any


class MotionMatrices(_FourMatrices):
    """The matrices of A u_dot + D + G = Q; as a tuple it is M, C, G, Q.

    D = C u where no motion is prescribed; prescribed motions add their inertia to D.

    Attributes
    ----------
    A, M : Matrix
        Mass matrix, by two names.
    C : Matrix
        Christoffel matrix: M_dot - 2 C is skew.
    D : Matrix
        All terms of inertia without u_dot: those of speeds, C u, and those of prescribed motions.
    G : Matrix
        Gradient of the potential energy.
    Q : Matrix
        Generalized forces: efforts, damping, loads.
    """

    D: Any

    def __new__(cls, M: Any, C: Any, G: Any, Q: Any, D: Any) -> MotionMatrices:
        """A tuple of four, which carries D beside."""
        matrices = super().__new__(cls, M, C, G, Q)
        matrices.D = D
        return matrices

    def __getnewargs__(self) -> tuple[Any, ...]:  # for pickle and copy
        return (*self, self.D)

    @property
    def A(self) -> Any:
        """The mass matrix."""
        return self.M

    def __repr__(self) -> str:
        parts = (f"{name}={getattr(self, name)!r}" for name in ("A", "C", "D", "G", "Q"))
        return f"MotionMatrices({', '.join(parts)})"
