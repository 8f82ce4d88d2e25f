"""Live numbers: literals of a model as arguments of the compiled code."""
