"""Layer 5: from compiled kernels to motion (integrators, simulation and what is built on them)."""
