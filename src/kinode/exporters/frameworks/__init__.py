"""Functions of a compiled system for other programs: CasADi, JAX, PyTorch."""
