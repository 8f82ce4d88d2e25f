"""The loop language: typed Python that is compiled, for integrators and other loops around kernels."""
